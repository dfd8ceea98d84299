"""Model type kolibri1.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<num_local_experts}"

FAMILY = Family(
    name="kolibri1",
    types={"kolibri1": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim"),
        Row("post_ffn_norm", LAYER + ".post_ffn_norm", "hidden_size"),
        Row("post_attn_norm", LAYER + ".post_attn_norm", "hidden_size"),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".mlp.gate", "num_local_experts, hidden_size"),
        Row("router_bias", LAYER + ".moe.router.expert_bias", "num_local_experts", leaf=""),
        Row("gate_proj", EXPERT + ".gate_proj", "moe_intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("up_proj", EXPERT + ".up_proj", "moe_intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("down_proj", EXPERT + ".down_proj", "hidden_size, moe_intermediate_size", active="num_experts_per_tok"),
        Row(
            "shared_gate_proj", LAYER + ".mlp.shared_experts.gate_proj", "shared_expert_intermediate_size, hidden_size"
        ),
        Row("shared_up_proj", LAYER + ".mlp.shared_experts.up_proj", "shared_expert_intermediate_size, hidden_size"),
        Row(
            "shared_down_proj", LAYER + ".mlp.shared_experts.down_proj", "hidden_size, shared_expert_intermediate_size"
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "head_dim": 128,
        "hidden_size": 2560,
        "moe_intermediate_size": 512,
        "num_attention_heads": 48,
        "num_experts_per_tok": 6,
        "num_hidden_layers": 50,
        "num_key_value_heads": 4,
        "num_local_experts": 384,
        "shared_expert_intermediate_size": 512,
        "tie_word_embeddings": False,
        "vocab_size": 128000,
    },
    fields={"num_experts": "num_local_experts"},
)
