"""Model type qwen4_exp_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<num_experts}"

FAMILY = Family(
    name="qwen4_exp_text",
    types={"qwen4_exp_text": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "2 * num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="layer_types[layer] == 'indexed_attention'",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="layer_types[layer] == 'indexed_attention'",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="layer_types[layer] == 'indexed_attention'",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
            when="layer_types[layer] == 'indexed_attention'",
        ),
        Row(
            "block_inject_weight",
            LAYER + ".attn_hyper_connection.block_inject_weight",
            "hc_count, hc_count * hidden_size",
            group="attention",
        ),
        Row("hc_norm", LAYER + ".attn_hyper_connection.hc_norm", "hc_count * hidden_size"),
        Row(
            "input_mix_weight_down",
            LAYER + ".attn_hyper_connection.input_mix_weight_down",
            "hc_lowrank, hc_count * hidden_size",
            group="attention",
        ),
        Row(
            "input_mix_weight_up",
            LAYER + ".attn_hyper_connection.input_mix_weight_up",
            "hc_count * hidden_size, hc_lowrank",
            group="attention",
        ),
        Row(
            "in_proj_a",
            LAYER + ".linear_attn.in_proj_a",
            "linear_num_value_heads, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
            group="state_space",
        ),
        Row(
            "in_proj_b",
            LAYER + ".linear_attn.in_proj_b",
            "linear_num_value_heads, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
            group="state_space",
        ),
        Row(
            "in_proj_qkv",
            LAYER + ".linear_attn.in_proj_qkv",
            "2 * linear_num_key_heads * linear_key_head_dim + linear_num_value_heads * linear_value_head_dim, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
            group="state_space",
        ),
        Row(
            "in_proj_z",
            LAYER + ".linear_attn.in_proj_z",
            "linear_num_value_heads * linear_value_head_dim, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
            group="state_space",
        ),
        Row(
            "mlp_hyper_connection_block_inject_weight",
            LAYER + ".mlp_hyper_connection.block_inject_weight",
            "hc_count, hc_count * hidden_size",
        ),
        Row("mlp_hyper_connection_hc_norm", LAYER + ".mlp_hyper_connection.hc_norm", "hc_count * hidden_size"),
        Row(
            "mlp_hyper_connection_input_mix_weight_down",
            LAYER + ".mlp_hyper_connection.input_mix_weight_down",
            "hc_lowrank, hc_count * hidden_size",
        ),
        Row(
            "mlp_hyper_connection_input_mix_weight_up",
            LAYER + ".mlp_hyper_connection.input_mix_weight_up",
            "hc_count * hidden_size, hc_lowrank",
        ),
        Row(
            "index_qk_proj",
            LAYER + ".self_attn.indexer.index_qk_proj",
            "(indexer_n_heads + indexer_kv_heads) * indexer_head_dim, hidden_size",
            when="layer_types[layer] == 'indexed_attention'",
        ),
        Row(
            "self_attn_k_norm",
            LAYER + ".self_attn.k_norm",
            "head_dim",
            when="layer_types[layer] == 'indexed_attention'",
        ),
        Row(
            "self_attn_q_norm",
            LAYER + ".self_attn.q_norm",
            "head_dim",
            when="layer_types[layer] == 'indexed_attention'",
        ),
        Row(
            "q_norm",
            LAYER + ".self_attn.indexer.q_layernorm",
            "indexer_head_dim",
            when="layer_types[layer] == 'indexed_attention'",
        ),
        Row(
            "k_norm",
            LAYER + ".self_attn.indexer.k_layernorm",
            "indexer_head_dim",
            when="layer_types[layer] == 'indexed_attention'",
        ),
        Row(
            "conv1d",
            LAYER + ".linear_attn.conv1d",
            "2 * linear_num_key_heads * linear_key_head_dim + linear_num_value_heads * linear_value_head_dim, 1, linear_conv_kernel_dim",
            when="layer_types[layer] == 'linear_attention'",
        ),
        Row(
            "A_log",
            LAYER + ".linear_attn.A_log",
            "linear_num_value_heads",
            when="layer_types[layer] == 'linear_attention'",
            leaf="",
        ),
        Row(
            "dt_bias",
            LAYER + ".linear_attn.dt_bias",
            "linear_num_value_heads",
            when="layer_types[layer] == 'linear_attention'",
            leaf="",
        ),
        Row(
            "ssm_norm",
            LAYER + ".linear_attn.norm",
            "linear_value_head_dim",
            when="layer_types[layer] == 'linear_attention'",
        ),
        Row(
            "out_proj",
            LAYER + ".linear_attn.out_proj",
            "hidden_size, linear_num_value_heads * linear_value_head_dim",
            when="layer_types[layer] == 'linear_attention'",
        ),
        Row("router", LAYER + ".mlp.gate", "num_experts, hidden_size"),
        Row("gate_proj", EXPERT + ".gate_proj", "moe_intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("up_proj", EXPERT + ".up_proj", "moe_intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("down_proj", EXPERT + ".down_proj", "hidden_size, moe_intermediate_size", active="num_experts_per_tok"),
        Row("shared_expert_gate", LAYER + ".mlp.shared_expert_gate", "1, hidden_size"),
        Row("shared_gate_proj", LAYER + ".mlp.shared_expert.gate_proj", "shared_expert_intermediate_size, hidden_size"),
        Row("shared_up_proj", LAYER + ".mlp.shared_expert.up_proj", "shared_expert_intermediate_size, hidden_size"),
        Row("shared_down_proj", LAYER + ".mlp.shared_expert.down_proj", "hidden_size, shared_expert_intermediate_size"),
        Row("hc_norm", "model.hyper_connection_mixer.hc_norm", "hc_count * hidden_size"),
        Row(
            "input_mix_weight_down",
            "model.hyper_connection_mixer.input_mix_weight_down",
            "hc_lowrank, hc_count * hidden_size",
            group="state_space",
        ),
        Row(
            "input_mix_weight_up",
            "model.hyper_connection_mixer.input_mix_weight_up",
            "hc_count * hidden_size, hc_lowrank",
            group="state_space",
        ),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "hc_count": 4,
        "hc_lowrank": 320,
        "head_dim": 256,
        "hidden_size": 2048,
        "indexer_head_dim": 256,
        "indexer_kv_heads": 1,
        "indexer_n_heads": 4,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 32,
        "linear_value_head_dim": 128,
        "moe_intermediate_size": 512,
        "num_attention_heads": 16,
        "num_experts": 512,
        "num_experts_per_tok": 10,
        "num_hidden_layers": 40,
        "num_key_value_heads": 2,
        "shared_expert_intermediate_size": 512,
        "tie_word_embeddings": False,
        "vocab_size": 248320,
    },
    derived={
        "layer_types": "['indexed_attention' if (layer + 1) % 4 == 0 else 'linear_attention' for layer in range(num_hidden_layers)]"
    },
)
