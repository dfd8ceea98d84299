"""Model type hrm_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

H_MODULE = "model.H_module.layers.{layer<num_layers_per_stack}"
L_MODULE = "model.L_module.layers.{layer<num_layers_per_stack}"

FAMILY = Family(
    name="hrm_text",
    types={"hrm_text": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row(
            "q_proj",
            H_MODULE + ".self_attn.q_proj",
            "num_attention_heads * head_dim",
            when="attention_bias",
            leaf="bias",
        ),
        Row(
            "k_proj",
            H_MODULE + ".self_attn.k_proj",
            "num_attention_heads * head_dim",
            when="attention_bias",
            leaf="bias",
        ),
        Row(
            "v_proj",
            H_MODULE + ".self_attn.v_proj",
            "num_attention_heads * head_dim",
            when="attention_bias",
            leaf="bias",
        ),
        Row("o_proj", H_MODULE + ".attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"),
        Row("gqkv_proj", H_MODULE + ".attn.gqkv_proj", "4 * num_attention_heads * head_dim, hidden_size"),
        Row("mlp_gate_proj", H_MODULE + ".mlp.gate_proj", "intermediate_size", when="mlp_bias", leaf="bias"),
        Row("gate_up_proj", H_MODULE + ".mlp.gate_up_proj", "2 * intermediate_size, hidden_size"),
        Row(
            "gate_proj",
            H_MODULE + ".self_attn.gate_proj",
            "num_attention_heads * head_dim",
            when="attention_bias",
            leaf="bias",
        ),
        Row("up_proj", H_MODULE + ".mlp.up_proj", "intermediate_size", when="mlp_bias", leaf="bias"),
        Row("down_proj", H_MODULE + ".mlp.down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row("mlp_down_proj", L_MODULE + ".mlp.down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row("mlp_gate_up_proj", L_MODULE + ".mlp.gate_up_proj", "2 * intermediate_size, hidden_size"),
        Row(
            "self_attn_gate_proj",
            L_MODULE + ".self_attn.gate_proj",
            "num_attention_heads * head_dim",
            when="attention_bias",
            leaf="bias",
            group="feed_forward",
        ),
        Row("attn_gqkv_proj", L_MODULE + ".attn.gqkv_proj", "4 * num_attention_heads * head_dim, hidden_size"),
        Row(
            "self_attn_k_proj",
            L_MODULE + ".self_attn.k_proj",
            "num_attention_heads * head_dim",
            when="attention_bias",
            leaf="bias",
        ),
        Row(
            "attn_o_proj",
            L_MODULE + ".attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
        ),
        Row(
            "self_attn_q_proj",
            L_MODULE + ".self_attn.q_proj",
            "num_attention_heads * head_dim",
            when="attention_bias",
            leaf="bias",
        ),
        Row(
            "self_attn_v_proj",
            L_MODULE + ".self_attn.v_proj",
            "num_attention_heads * head_dim",
            when="attention_bias",
            leaf="bias",
        ),
        Row("L_module_mlp_gate_proj", L_MODULE + ".mlp.gate_proj", "intermediate_size", when="mlp_bias", leaf="bias"),
        Row("mlp_up_proj", L_MODULE + ".mlp.up_proj", "intermediate_size", when="mlp_bias", leaf="bias"),
        Row("z_L_init", "model.z_L_init", "hidden_size", leaf=""),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "head_dim": 128,
        "hidden_size": 1536,
        "intermediate_size": 4096,
        "mlp_bias": False,
        "num_attention_heads": 12,
        "num_hidden_layers": 16,
        "tie_word_embeddings": False,
        "vocab_size": 151808,
    },
    derived={"num_layers_per_stack": "num_hidden_layers // 8"},
)
