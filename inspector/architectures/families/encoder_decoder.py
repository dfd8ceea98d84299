"""An encoder of any type and a decoder of any type, which attends to it: bert2bert, TrOCR, Donut, wav2vec2 with BART."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="encoder-decoder",
    types={"encoder-decoder": {}, "vision-encoder-decoder": {}, "speech-encoder-decoder": {}},
    rows=(
        Include("encoder", "encoder.", tower="encoder", head="Model", default_type="bert"),
        Include("decoder", "decoder.", tower="decoder", head="ForCausalLM", default_type="bert"),
        Row(
            "enc_to_dec_proj",
            "enc_to_dec_proj",
            "decoder.hidden_size, encoder.hidden_size",
            bias="True",
            when=(
                "(encoder.output_hidden_size or encoder.hidden_size) != decoder.hidden_size"
                " and decoder.cross_attention_hidden_size is None"
            ),
            tower="projector",
        ),
    ),
    defaults={"encoder": {}, "decoder": {}},
    head="Model",
)
