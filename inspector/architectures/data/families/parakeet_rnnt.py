"""Parakeet's and Nemotron's transducers: an encoder, an LSTM over the tokens so far, and what joins the two.

modeling_parakeet.py, modeling_nemotron_asr_streaming.py, modeling_nemotron3_5_asr.py. TDT tells how many frames to skip too.
"""

from __future__ import annotations

from inspector.architectures.data.families.shared import lstm
from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="parakeet_rnnt",
    types={
        "parakeet_rnnt": {"vocab_size": 8193},
        "parakeet_tdt": {"vocab_size": 8193, "durations": [0, 1, 2, 3, 4]},
        "nemotron_asr_streaming": {"vocab_size": 1025, "streaming": True},
        "nemotron3_5_asr": {"vocab_size": 13088, "streaming": True, "prompted": True},
    },
    rows=(
        Include(
            "encoder_config",
            "encoder.",
            tower="encoder",
            head="ParakeetEncoder",
            default_type="parakeet_encoder",
            when="not streaming",
        ),
        Include(
            "encoder_config",
            "encoder.",
            tower="encoder",
            head="NemotronAsrStreamingEncoder",
            default_type="nemotron_asr_streaming_encoder",
            when="streaming",
        ),
        Row(
            "linear_1",
            "prompt_projector.linear_1",
            "prompt_intermediate_size, encoder_config.hidden_size + num_prompts",
            bias="True",
            when="prompted",
            tower="projector",
        ),
        Row(
            "linear_2",
            "prompt_projector.linear_2",
            "encoder_config.hidden_size, prompt_intermediate_size",
            bias="True",
            when="prompted",
            tower="projector",
        ),
        Row(
            "encoder_projector",
            "encoder_projector",
            "decoder_hidden_size, encoder_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row("embed_tokens", "decoder.embedding", "vocab_size, decoder_hidden_size", tower="decoder"),
        *lstm("decoder.lstm", "decoder_hidden_size", "num_decoder_layers", tower="decoder"),
        Row(
            "decoder_projector",
            "decoder.decoder_projector",
            "decoder_hidden_size, decoder_hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row("lm_head", "joint.head", "vocab_size + len(durations), decoder_hidden_size", bias="True"),
    ),
    head="ForRNNT",
    defaults={
        "decoder_hidden_size": 640,
        "num_decoder_layers": 2,
        "durations": [],
        "streaming": False,
        "prompted": False,
        "num_prompts": 128,
        "prompt_intermediate_size": 2048,
        "encoder_config": {},
    },
)
