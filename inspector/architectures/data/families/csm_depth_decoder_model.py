"""CSM's depth decoder: a Llama over the codebooks of one frame, each of which has a head of its own."""

from __future__ import annotations

from inspector.architectures.data.families.shared import (
    ATTENTION,
    DECODER_DEFAULTS,
    DECODER_DERIVED,
    FEED_FORWARD,
    NORMS,
)
from inspector.architectures.table import Family, Row

FAMILY = Family(
    name="csm_depth_decoder_model",
    types={"csm_depth_decoder_model": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "num_codebooks * vocab_size, backbone_hidden_size"),
        Row(
            "inputs_embeds_projector",
            "model.inputs_embeds_projector",
            "hidden_size, backbone_hidden_size",
            group="embedding",
        ),
        *ATTENTION,
        *FEED_FORWARD,
        *NORMS,
        # The first codebook is the backbone's to predict.
        Row("codebooks_head", "codebooks_head", "num_codebooks - 1, hidden_size, vocab_size", heads="ForCausalLM"),
    ),
    prefix="model.",
    defaults={
        **DECODER_DEFAULTS,
        "num_codebooks": 32,
        "backbone_hidden_size": 2048,
        "vocab_size": 2051,
        "hidden_size": 1024,
        "intermediate_size": 8192,
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
    },
    derived=DECODER_DERIVED,
    fields={"codebook_size": "vocab_size"},
)
