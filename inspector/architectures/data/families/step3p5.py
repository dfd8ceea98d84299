"""Step 3.5's text model: gated attention with more heads in the layers that slide, and stacked experts."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import DENSE, EMBED_TOKENS, LAYER, NORMS, SPARSE, gated
from inspector.architectures.table import Family, Row

ATTENTION, MIXTURE = LAYER + ".self_attn", LAYER + ".moe"


def attention() -> Iterator[Row]:
    """Grouped queries with norms, and a gate for each head."""
    keys = "num_key_value_heads * head_dim, hidden_size"
    yield Row("q_proj", ATTENTION + ".q_proj", "heads * head_dim, hidden_size", bias="attention_bias")
    yield Row("k_proj", ATTENTION + ".k_proj", keys, bias="attention_bias")
    yield Row("v_proj", ATTENTION + ".v_proj", keys, bias="attention_bias")
    yield Row("o_proj", ATTENTION + ".o_proj", "hidden_size, heads * head_dim", bias="attention_bias")
    yield Row("q_norm", ATTENTION + ".q_norm", "head_dim")
    yield Row("k_norm", ATTENTION + ".k_norm", "head_dim")
    yield Row("gate_attn", ATTENTION + ".g_proj", "heads, hidden_size")


def experts() -> Iterator[Row]:
    """All experts of a layer in one tensor for each of their matrices."""
    inner, outer = "moe_intermediate_size, hidden_size", "hidden_size, moe_intermediate_size"
    for role, shape in (("gate_proj", inner), ("up_proj", inner), ("down_proj", outer)):
        yield Row(
            role,
            f"{MIXTURE}.{role}",
            f"n_routed_experts, {shape}",
            when=SPARSE,
            active="num_experts_per_tok",
            stacked="n_routed_experts",
        )


FAMILY = Family(
    name="step3p5",
    types={"step3p5": {}},
    rows=(
        EMBED_TOKENS,
        *attention(),
        *gated(LAYER + ".mlp", "intermediate_size", bias="mlp_bias", when=DENSE),
        Row("router", MIXTURE + ".gate", "n_routed_experts, hidden_size", when=SPARSE),
        Row(
            "router_bias",
            MIXTURE + ".router_bias",
            "n_routed_experts",
            when=SPARSE,
            leaf="",
            buffer=True,
            persistent=True,
        ),
        *experts(),
        *gated(LAYER + ".share_expert", "share_expert_dim", bias="mlp_bias", when=SPARSE, prefix="shared_"),
        *NORMS,
    ),
    prefix="model.",
    head="Model",
    defaults={
        "attention_bias": False,
        "attention_other_setting": {},
        "head_dim": 128,
        "hidden_size": 4096,
        "intermediate_size": 11264,
        "mlp_bias": False,
        "moe_intermediate_size": 1280,
        "moe_layers_enum": None,
        "n_routed_experts": 288,
        "norm_bias": False,
        "num_attention_heads": 64,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 45,
        "num_key_value_heads": 8,
        "share_expert_dim": 1280,
        "vocab_size": 128815,
    },
    derived={
        "heads": "num_sliding_attention_heads if layer_types[layer] == 'sliding_attention' else num_attention_heads",
        "layer_types": "['full_attention' for layer in range(num_hidden_layers)]",
        "mlp_layer_types": (
            "['sparse' if (layer in numbers(moe_layers_enum) if moe_layers_enum else layer >= 3) else 'dense'"
            " for layer in range(num_hidden_layers)]"
        ),
        "num_sliding_attention_heads": "attention_other_setting.num_attention_heads or num_attention_heads",
    },
    fields={  # words of the published configuration
        "moe_num_experts": "n_routed_experts",
        "moe_top_k": "num_experts_per_tok",
        "num_attention_groups": "num_key_value_heads",
        "num_local_experts": "n_routed_experts",
        "share_expert_dims": "share_expert_dim",
    },
)
