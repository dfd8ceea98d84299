"""Model type zaya.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="zaya",
    types={"zaya": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.qkv_proj.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.qkv_proj.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"
        ),
        Row(
            "v_proj_current",
            LAYER + ".self_attn.qkv_proj.v_proj_current",
            "num_key_value_heads * head_dim // 2, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "v_proj_delayed",
            LAYER + ".self_attn.qkv_proj.v_proj_delayed",
            "num_key_value_heads * head_dim // 2, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "conv_qk_depthwise",
            LAYER + ".self_attn.qkv_proj.conv_qk_depthwise",
            "num_key_value_heads * head_dim + num_attention_heads * head_dim, 1, cca_time0",
            bias="True",
            group="attention",
        ),
        Row(
            "conv_qk_grouped",
            LAYER + ".self_attn.qkv_proj.conv_qk_grouped",
            "num_key_value_heads * head_dim + num_attention_heads * head_dim, (num_key_value_heads * head_dim + num_attention_heads * head_dim) // (num_key_value_heads + num_attention_heads), cca_time1",
            bias="True",
            group="attention",
        ),
        Row("temp", LAYER + ".self_attn.qk_norm.temp", "num_key_value_heads", leaf="", group="attention"),
        Row("norm", LAYER + ".mlp.gate.router_mlp.norm", "router_hidden_size"),
        Row("fc2_down_proj", LAYER + ".mlp.gate.router_mlp.fc2", "router_hidden_size, router_hidden_size", bias="True"),
        Row(
            "hidden_states_scale",
            LAYER + ".post_attention_residual_scale.hidden_states_scale",
            "hidden_size",
            leaf="",
            group="attention",
        ),
        Row(
            "hidden_states_bias",
            LAYER + ".post_attention_residual_scale.hidden_states_bias",
            "hidden_size",
            leaf="",
            group="attention",
        ),
        Row(
            "residual_scale",
            LAYER + ".post_attention_residual_scale.residual_scale",
            "hidden_size",
            leaf="",
            group="attention",
        ),
        Row(
            "residual_bias",
            LAYER + ".post_attention_residual_scale.residual_bias",
            "hidden_size",
            leaf="",
            group="attention",
        ),
        Row(
            "post_mlp_residual_scale_hidden_states_scale",
            LAYER + ".post_mlp_residual_scale.hidden_states_scale",
            "hidden_size",
            leaf="",
        ),
        Row(
            "post_mlp_residual_scale_hidden_states_bias",
            LAYER + ".post_mlp_residual_scale.hidden_states_bias",
            "hidden_size",
            leaf="",
        ),
        Row(
            "post_mlp_residual_scale_residual_scale",
            LAYER + ".post_mlp_residual_scale.residual_scale",
            "hidden_size",
            leaf="",
        ),
        Row(
            "post_mlp_residual_scale_residual_bias",
            LAYER + ".post_mlp_residual_scale.residual_bias",
            "hidden_size",
            leaf="",
        ),
        Row(
            "router_states_scale",
            LAYER + ".mlp.gate.router_states_scale",
            "router_hidden_size",
            when="layer > 0",
            leaf="",
            group="feed_forward",
        ),
        Row("out_proj", LAYER + ".mlp.gate.router_mlp.out_proj", "num_experts + 1, router_hidden_size"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row(
            "gate_up_proj",
            LAYER + ".mlp.experts.gate_up_proj",
            "num_experts, 2 * moe_intermediate_size, hidden_size",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_experts",
        ),
        Row("up_proj", LAYER + ".mlp.gate.router_mlp.fc1", "router_hidden_size, router_hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.gate.down_proj", "router_hidden_size, hidden_size", bias="True"),
        Row(
            "down_proj",
            LAYER + ".mlp.experts.down_proj",
            "num_experts, hidden_size, moe_intermediate_size",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_experts",
        ),
        Row("input_hidden_states_scale", "model.input_hidden_states_scale", "hidden_size", leaf=""),
        Row("input_hidden_states_bias", "model.input_hidden_states_bias", "hidden_size", leaf=""),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size", when="lm_head_bias", heads="ForCausalLM", leaf="bias"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row(
            "balancing_biases",
            LAYER + ".mlp.gate.balancing_biases",
            "num_experts + 1",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "cca_time0": 2,
        "cca_time1": 2,
        "head_dim": 128,
        "hidden_size": 2048,
        "lm_head_bias": False,
        "moe_intermediate_size": 2048,
        "num_attention_heads": 8,
        "num_experts": 16,
        "num_experts_per_tok": 1,
        "num_hidden_layers": 40,
        "num_key_value_heads": 2,
        "router_hidden_size": 256,
        "tie_word_embeddings": True,
        "vocab_size": 262272,
    },
)
