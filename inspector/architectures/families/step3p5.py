"""Step 3.5's text model: more heads in layers that see a window, a mixture with one shared expert."""

from __future__ import annotations

from inspector.architectures.families.shared import DENSE, EMBED_TOKENS, SPARSE, gated
from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}."
ATTENTION = LAYER + "self_attn."
SHARED = LAYER + "share_expert"


def stacked(role: str, shape: str) -> Row:
    """A projection of all experts in one tensor."""
    return Row(
        role,
        LAYER + "moe." + role,
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
        Row("input_layernorm", LAYER + "input_layernorm", "hidden_size"),
        Row("q_proj", ATTENTION + "q_proj", "heads_of_layer * head_dim, hidden_size", bias="attention_bias"),
        Row("k_proj", ATTENTION + "k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"),
        Row("v_proj", ATTENTION + "v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"),
        Row("o_proj", ATTENTION + "o_proj", "hidden_size, heads_of_layer * head_dim", bias="attention_bias"),
        Row("gate_attn", ATTENTION + "g_proj", "heads_of_layer, hidden_size"),
        Row("q_norm", ATTENTION + "q_norm", "head_dim"),
        Row("k_norm", ATTENTION + "k_norm", "head_dim"),
        Row("post_attention_layernorm", LAYER + "post_attention_layernorm", "hidden_size"),
        *gated(LAYER + "mlp", "intermediate_size", bias="mlp_bias", when=DENSE),
        Row("router", LAYER + "moe.gate", "n_routed_experts, hidden_size", when=SPARSE),
        Row(
            "router_bias",
            LAYER + "moe.router_bias",
            "n_routed_experts",
            when=SPARSE,
            leaf="",
            buffer=True,
            persistent=True,
        ),
        stacked("gate_proj", "moe_intermediate_size, hidden_size"),
        stacked("up_proj", "moe_intermediate_size, hidden_size"),
        stacked("down_proj", "hidden_size, moe_intermediate_size"),
        *gated(SHARED, "share_expert_dim", bias="mlp_bias", when=SPARSE, prefix="shared_"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "attention_other_setting": None,
        "head_dim": 128,
        "hidden_size": 4096,
        "intermediate_size": 11264,
        "mlp_bias": False,
        "moe_intermediate_size": 1280,
        "n_routed_experts": 288,
        "num_attention_heads": 64,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 45,
        "num_key_value_heads": 8,
        "per_layer_config": None,
        "share_expert_dim": 1280,
        "tie_word_embeddings": False,
        "vocab_size": 128815,
    },
    derived={
        "layer_types": "['full_attention' for layer in range(num_hidden_layers)]",
        "mlp_layer_types": "['sparse' if layer >= 3 else 'dense' for layer in range(num_hidden_layers)]",
        "num_sliding_attention_heads": "attention_other_setting.num_attention_heads or num_attention_heads",
        # Today's files give each layer its own number; older ones tell it for all that see a window.
        "heads_of_layer": (
            "num_sliding_attention_heads if per_layer_config is None and layer_types[layer] == 'sliding_attention'"
            " else num_attention_heads"
        ),
    },
)
