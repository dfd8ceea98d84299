"""Model type qwen2_moe.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<num_experts}"

FAMILY = Family(
    name="qwen2_moe",
    types={"qwen2_moe": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="qkv_bias"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="qkv_bias"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="qkv_bias"),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row(
            "router",
            LAYER + ".mlp.gate",
            "num_experts, hidden_size",
            when="layer not in mlp_only_layers and num_experts and (layer + 1) % decoder_sparse_step == 0",
        ),
        Row(
            "gate_proj",
            EXPERT + ".gate_proj",
            "moe_intermediate_size, hidden_size",
            when="layer not in mlp_only_layers and (layer + 1) % decoder_sparse_step == 0",
            active="num_experts_per_tok",
        ),
        Row(
            "gate_proj",
            LAYER + ".mlp.gate_proj",
            "intermediate_size, hidden_size",
            when="layer in mlp_only_layers or (layer + 1) % decoder_sparse_step != 0 or not num_experts",
        ),
        Row(
            "up_proj",
            EXPERT + ".up_proj",
            "moe_intermediate_size, hidden_size",
            when="layer not in mlp_only_layers and (layer + 1) % decoder_sparse_step == 0",
            active="num_experts_per_tok",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.up_proj",
            "intermediate_size, hidden_size",
            when="layer in mlp_only_layers or (layer + 1) % decoder_sparse_step != 0 or not num_experts",
        ),
        Row(
            "down_proj",
            EXPERT + ".down_proj",
            "hidden_size, moe_intermediate_size",
            when="layer not in mlp_only_layers and (layer + 1) % decoder_sparse_step == 0",
            active="num_experts_per_tok",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.down_proj",
            "hidden_size, intermediate_size",
            when="layer in mlp_only_layers or (layer + 1) % decoder_sparse_step != 0 or not num_experts",
        ),
        Row(
            "shared_expert_gate",
            LAYER + ".mlp.shared_expert_gate",
            "1, hidden_size",
            when="layer not in mlp_only_layers and num_experts and (layer + 1) % decoder_sparse_step == 0",
        ),
        Row(
            "shared_gate_proj",
            LAYER + ".mlp.shared_expert.gate_proj",
            "shared_expert_intermediate_size, hidden_size",
            when="layer not in mlp_only_layers and num_experts and (layer + 1) % decoder_sparse_step == 0",
        ),
        Row(
            "shared_up_proj",
            LAYER + ".mlp.shared_expert.up_proj",
            "shared_expert_intermediate_size, hidden_size",
            when="layer not in mlp_only_layers and num_experts and (layer + 1) % decoder_sparse_step == 0",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".mlp.shared_expert.down_proj",
            "hidden_size, shared_expert_intermediate_size",
            when="layer not in mlp_only_layers and num_experts and (layer + 1) % decoder_sparse_step == 0",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("qa_outputs", "qa_outputs", "2, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("score", "score", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
    ),
    prefix="model.",
    defaults={
        "decoder_sparse_step": 1,
        "hidden_size": 2048,
        "intermediate_size": 5632,
        "mlp_only_layers": [],
        "moe_intermediate_size": 1408,
        "num_attention_heads": 16,
        "num_experts": 60,
        "num_experts_per_tok": 4,
        "num_hidden_layers": 24,
        "num_key_value_heads": 16,
        "qkv_bias": True,
        "shared_expert_intermediate_size": 5632,
        "tie_word_embeddings": False,
        "vocab_size": 151936,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    gguf=("qwen2moe",),
)
