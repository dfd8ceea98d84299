"""MusicGen and MusicGen Melody: T5's encoder, EnCodec, and a decoder of its codebooks.

modeling_musicgen.py, modeling_musicgen_melody.py: the encoder's width is brought to the decoder's where they differ.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

WIDTHS_DIFFER = "text_encoder.hidden_size != decoder.hidden_size"

FAMILY = Family(
    name="musicgen",
    types={"musicgen": {"melody": False}, "musicgen_melody": {"melody": True}},
    rows=(
        Include("text_encoder", "text_encoder.", tower="encoder", head="T5EncoderModel", default_type="t5"),
        Include("audio_encoder", "audio_encoder.", tower="audio", head="Model", default_type="encodec"),
        Include(
            "decoder",
            "decoder.",
            tower="decoder",
            head="ForCausalLM",
            default_type="musicgen_decoder",
            when="not melody",
        ),
        Include(
            "decoder",
            "decoder.",
            tower="decoder",
            head="ForCausalLM",
            default_type="musicgen_melody_decoder",
            when="melody",
        ),
        Row(
            "enc_to_dec_proj",
            "enc_to_dec_proj",
            "decoder.hidden_size, text_encoder.hidden_size",
            bias="True",
            when=f"{WIDTHS_DIFFER} and (melody or decoder.cross_attention_hidden_size is None)",
            tower="projector",
        ),
        Row(
            "audio_enc_to_dec_proj",
            "audio_enc_to_dec_proj",
            "decoder.hidden_size, num_chroma",
            bias="True",
            when="melody and num_chroma != decoder.hidden_size",
            tower="projector",
        ),
    ),
    head="ForConditionalGeneration",
    defaults={"text_encoder": {}, "audio_encoder": {}, "decoder": {}, "num_chroma": 12},
)
