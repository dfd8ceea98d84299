"""Any encoder and any decoder, of text, images or speech: each by its own type's table.

modeling_encoder_decoder.py, modeling_vision_encoder_decoder.py, modeling_speech_encoder_decoder.py: the encoder's width
is brought to the decoder's where they differ, unless the decoder's attention to the encoder does that itself.
"""

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
            when="encoder_width != decoder.hidden_size and decoder.cross_attention_hidden_size is None",
            tower="projector",
        ),
    ),
    head="Model",
    defaults={"encoder": {}, "decoder": {}},
    # An adapter after a speech encoder has a width of its own.
    derived={"encoder_width": "encoder.output_hidden_size or encoder.hidden_size"},
)
