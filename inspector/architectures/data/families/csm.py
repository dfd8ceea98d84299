"""CSM: a Llama over text and audio, a smaller one over the codebooks of a frame, and Mimi."""

from __future__ import annotations

from inspector.architectures.data.families.shared import (
    ATTENTION,
    DECODER_DEFAULTS,
    DECODER_DERIVED,
    FEED_FORWARD,
    NORMS,
)
from inspector.architectures.table import Family, Include, Row

WHOLE = "ForConditionalGeneration"

FAMILY = Family(
    name="csm",
    types={"csm": {}},
    rows=(
        Row("embed_text_tokens", "embed_text_tokens", "text_vocab_size, hidden_size", heads=WHOLE),
        Row(
            "embed_tokens",
            "model.embed_tokens.embed_audio_tokens",
            "num_codebooks * vocab_size, hidden_size",
            tied="tie_codebooks_embeddings",
        ),
        *ATTENTION,
        *FEED_FORWARD,
        *NORMS,
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads=WHOLE),
        Include(
            "depth_decoder_config",
            "depth_decoder.",
            tower="depth_decoder",
            head="ForCausalLM",
            default_type="csm_depth_decoder_model",
            heads=WHOLE,
        ),
        Include("codec_config", "codec_model.", tower="audio", head="Model", default_type="mimi", heads=WHOLE),
    ),
    prefix="model.",
    prefixes={WHOLE: "backbone_model."},
    head=WHOLE,
    defaults={
        **DECODER_DEFAULTS,
        "num_codebooks": 32,
        "vocab_size": 2051,
        "text_vocab_size": 128256,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "tie_codebooks_embeddings": True,
    },
    derived=DECODER_DERIVED,
    fields={"codebook_size": "vocab_size"},
)
