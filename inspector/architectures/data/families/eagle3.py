"""EAGLE-3: one layer that drafts tokens from three of its target's hidden states, for the target to verify.

After SafeAILab's `eagle/model/cnets.py`: attention reads the token's embedding and the fused state side by side,
and the head knows only the commoner tokens (`d2t` and `t2d` translate).
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ATTENTION, MLP = "midlayer.self_attn", "midlayer.mlp"

FAMILY = Family(
    name="eagle3",
    types={"eagle3": {}},
    rows=(
        Row("embed_tokens", "embed_tokens", "vocab_size, hidden_size", optional=True),
        Row("fc", "fc", "hidden_size, 3 * target_hidden_size", group="other"),
        Row("input_layernorm", "midlayer.input_layernorm", "hidden_size"),
        Row("hidden_norm", "midlayer.hidden_norm", "hidden_size", group="norm"),
        Row("q_proj", ATTENTION + ".q_proj", "num_attention_heads * head_dim, 2 * hidden_size", bias="attention_bias"),
        Row("k_proj", ATTENTION + ".k_proj", "num_key_value_heads * head_dim, 2 * hidden_size", bias="attention_bias"),
        Row("v_proj", ATTENTION + ".v_proj", "num_key_value_heads * head_dim, 2 * hidden_size", bias="attention_bias"),
        Row("o_proj", ATTENTION + ".o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"),
        Row("post_attention_layernorm", "midlayer.post_attention_layernorm", "hidden_size"),
        Row("gate_proj", MLP + ".gate_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("up_proj", MLP + ".up_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("down_proj", MLP + ".down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row("norm", "norm", "hidden_size"),
        Row("lm_head", "lm_head", "draft_vocab_size, hidden_size"),
        Row("draft_to_target", "d2t", "draft_vocab_size", leaf="", buffer=True, group="buffer"),
        Row("target_to_draft", "t2d", "vocab_size", leaf="", buffer=True, group="buffer"),
    ),
    defaults={"attention_bias": False, "mlp_bias": False},
    derived={
        "target_hidden_size": "hidden_size",
        "num_key_value_heads": "num_attention_heads",
        "head_dim": "hidden_size // num_attention_heads",
        "draft_vocab_size": "vocab_size",
    },
)
