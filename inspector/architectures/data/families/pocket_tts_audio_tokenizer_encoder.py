"""Either half of Pocket TTS' audio tokenizer alone."""

from __future__ import annotations

from inspector.architectures.data.families.mimi import SIZES, STAGES, decoder_half, encoder_half, only
from inspector.architectures.table import Family

TOKENIZER = {**SIZES, "num_hidden_layers": 2, "latent_stride": 16, "latent_dim": 32}

FAMILY = Family(
    name="pocket_tts_audio_tokenizer_encoder",
    types={
        "pocket_tts_audio_tokenizer_encoder": {"half": "encoder"},
        "pocket_tts_audio_tokenizer_decoder": {"half": "decoder"},
    },
    rows=(*only("half == 'encoder'", encoder_half()), *only("half == 'decoder'", decoder_half())),
    head="Model",
    defaults=TOKENIZER,
    derived={
        **STAGES,
        "upsampling_ratios": "[6, 5, 4]",
        "frame_rate": "sampling_rate / (product(upsampling_ratios) * latent_stride)",
    },
)
