"""Medusa: heads beside a model's own that each draft a further token, as vLLM's `medusa.py` loads them."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

FAMILY = Family(
    name="medusa",
    types={"medusa": {}},
    rows=(
        Row(
            "medusa_linear",
            "blocks.{head<num_heads}.layers.{layer<num_hidden_layers}",
            "hidden_size, hidden_size",
            bias="medusa_fc_bias",
            group="head",
        ),
        Row("lm_head", "lm_heads.{head<num_heads}", "truncated_vocab_size, hidden_size", when="not original_lm_head"),
        Row("lm_head", "lm_head", "truncated_vocab_size, hidden_size", when="original_lm_head"),
    ),
    head="Model",
    defaults={
        "hidden_size": 4096,
        "vocab_size": 32001,
        "num_heads": 5,
        "num_hidden_layers": 1,
        "medusa_fc_bias": False,
        "original_lm_head": False,
    },
    derived={"truncated_vocab_size": "vocab_size"},
)
