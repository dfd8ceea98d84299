"""Gemma 4's text models: layers of two widths of head, shared keys and values, embeddings per layer, experts.

Older files give the full-attention layers' width as `global_head_dim`, newer ones in `per_layer_config`
(`configuration_gemma4.py`).
"""

from __future__ import annotations

from inspector.architectures.data.families.shared import DECODER_HEADS, EMBED_TOKENS, LAYER
from inspector.architectures.table import Family, Row

ATTENTION = LAYER + ".self_attn"
PER_LAYER = "hidden_size_per_layer_input"
OWN_KEYS = "layer < num_hidden_layers - num_kv_shared_layers"
OWN_VALUES = f"{OWN_KEYS} and not (attention_k_eq_v and full)"
HEADS, KEYS = "num_attention_heads * layer_head_dim", "layer_key_value_heads * layer_head_dim"

FAMILY = Family(
    name="gemma4_text",
    types={"gemma4_text": {}, "gemma4_unified_text": {"hidden_size_per_layer_input": 0}},
    rows=(
        EMBED_TOKENS,
        Row(
            "embed_tokens_per_layer",
            "model.embed_tokens_per_layer",
            f"vocab_size_per_layer_input, num_hidden_layers * {PER_LAYER}",
            when=PER_LAYER,
        ),
        Row(
            "per_layer_model_projection",
            "model.per_layer_model_projection",
            f"num_hidden_layers * {PER_LAYER}, hidden_size",
            when=PER_LAYER,
            group="embedding",
        ),
        Row("per_layer_projection_norm", "model.per_layer_projection_norm", PER_LAYER, when=PER_LAYER),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row("q_proj", ATTENTION + ".q_proj", f"{HEADS}, hidden_size", bias="attention_bias"),
        Row("k_proj", ATTENTION + ".k_proj", f"{KEYS}, hidden_size", bias="attention_bias", when=OWN_KEYS),
        Row("v_proj", ATTENTION + ".v_proj", f"{KEYS}, hidden_size", bias="attention_bias", when=OWN_VALUES),
        Row("o_proj", ATTENTION + ".o_proj", f"hidden_size, {HEADS}", bias="attention_bias"),
        Row("q_norm", ATTENTION + ".q_norm", "layer_head_dim"),
        Row("k_norm", ATTENTION + ".k_norm", "layer_head_dim", when=OWN_KEYS),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("pre_feedforward_layernorm", LAYER + ".pre_feedforward_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "layer_intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "layer_intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, layer_intermediate_size"),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", "hidden_size"),
        Row("router", LAYER + ".router.proj", "num_experts, hidden_size", when="enable_moe_block"),
        Row("router_scale", LAYER + ".router.scale", "hidden_size", leaf="", when="enable_moe_block"),
        Row("router_expert_scale", LAYER + ".router.per_expert_scale", "num_experts", leaf="", when="enable_moe_block"),
        Row(
            "gate_up_proj",
            LAYER + ".experts.gate_up_proj",
            "num_experts, 2 * moe_intermediate_size, hidden_size",
            when="enable_moe_block",
            active="top_k_experts",
            leaf="",
            stacked="num_experts",
        ),
        Row(
            "down_proj",
            LAYER + ".experts.down_proj",
            "num_experts, hidden_size, moe_intermediate_size",
            when="enable_moe_block",
            active="top_k_experts",
            leaf="",
            stacked="num_experts",
        ),
        *(
            Row(f"{norm}_layernorm", f"{LAYER}.{name}", "hidden_size", when="enable_moe_block")
            for norm, name in (
                ("post_mlp", "post_feedforward_layernorm_1"),
                ("post_experts", "post_feedforward_layernorm_2"),
                ("pre_experts", "pre_feedforward_layernorm_2"),
            )
        ),
        Row("per_layer_input_gate", LAYER + ".per_layer_input_gate", f"{PER_LAYER}, hidden_size", when=PER_LAYER),
        Row("per_layer_projection", LAYER + ".per_layer_projection", f"hidden_size, {PER_LAYER}", when=PER_LAYER),
        Row("post_per_layer_input_norm", LAYER + ".post_per_layer_input_norm", "hidden_size", when=PER_LAYER),
        Row("layer_scalar", LAYER + ".layer_scalar", "1", leaf="", buffer=True, persistent=True),
        Row("norm", "model.norm", "hidden_size"),
        *DECODER_HEADS,
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "attention_k_eq_v": False,
        "enable_moe_block": False,
        "global_head_dim": 512,
        "head_dim": 256,
        "hidden_size": 2304,
        "hidden_size_per_layer_input": 256,
        "intermediate_size": 9216,
        "num_attention_heads": 8,
        "num_global_key_value_heads": None,
        "num_hidden_layers": 30,
        "num_key_value_heads": 4,
        "num_kv_shared_layers": 0,
        "per_layer_config": None,
        "tie_word_embeddings": True,
        "use_double_wide_mlp": False,
        "vocab_size": 262144,
        "vocab_size_per_layer_input": 262144,
    },
    derived={
        "layer_types": (
            "['sliding_attention' if (layer + 1) % 6 and layer + 1 < num_hidden_layers else 'full_attention'"
            " for layer in range(num_hidden_layers)]"
        ),
        "full": "layer_types[layer] == 'full_attention' or layer == num_hidden_layers - 1",
        "uniform": "per_layer_config is not None or not full",
        "layer_head_dim": "head_dim if uniform else global_head_dim",
        "layer_key_value_heads": (
            "num_key_value_heads if uniform or not attention_k_eq_v or num_global_key_value_heads is None"
            " else num_global_key_value_heads"
        ),
        "layer_intermediate_size": (
            "2 * intermediate_size if use_double_wide_mlp and layer >= num_hidden_layers - num_kv_shared_layers"
            " else intermediate_size"
        ),
    },
)
