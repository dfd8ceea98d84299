"""Model type minimax.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.block_sparse_moe.experts.{expert<num_local_experts}"

FAMILY = Family(
    name="minimax",
    types={"minimax": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "qkv_proj",
            LAYER + ".self_attn.qkv_proj",
            "3 * num_attention_heads * head_dim if head_dim is not None else 3 * hidden_size, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
        ),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * head_dim if head_dim is not None else hidden_size, hidden_size",
            when="layer_types[layer] != 'linear_attention'",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            when="layer_types[layer] != 'linear_attention'",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            when="layer_types[layer] != 'linear_attention'",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim if head_dim is not None else hidden_size",
            when="layer_types[layer] != 'linear_attention'",
        ),
        Row(
            "norm",
            LAYER + ".self_attn.norm",
            "num_attention_heads * head_dim if head_dim is not None else hidden_size",
            when="layer_types[layer] == 'linear_attention'",
        ),
        Row(
            "out_proj_o_proj",
            LAYER + ".self_attn.out_proj",
            "hidden_size, num_attention_heads * head_dim if head_dim is not None else hidden_size",
            when="layer_types[layer] == 'linear_attention'",
        ),
        Row(
            "output_gate",
            LAYER + ".self_attn.output_gate",
            "num_attention_heads * head_dim if head_dim is not None else hidden_size, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
            group="attention",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".block_sparse_moe.gate", "num_local_experts, hidden_size"),
        Row("gate_proj", EXPERT + ".w1", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("up_proj", EXPERT + ".w3", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("down_proj", EXPERT + ".w2", "hidden_size, intermediate_size", active="num_experts_per_tok"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("qa_outputs", "qa_outputs", "2, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("score", "score", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
        Row(
            "diagonal_decay",
            LAYER + ".self_attn.diagonal_decay",
            "1, num_attention_heads, block_size, block_size",
            when="layer_types[layer] == 'linear_attention'",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "key_decay",
            LAYER + ".self_attn.key_decay",
            "num_attention_heads, block_size, 1",
            when="layer_types[layer] == 'linear_attention'",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "query_decay",
            LAYER + ".self_attn.query_decay",
            "num_attention_heads, block_size, 1",
            when="layer_types[layer] == 'linear_attention'",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "slope_rate",
            LAYER + ".self_attn.slope_rate",
            "num_attention_heads, 1, 1",
            when="layer_types[layer] == 'linear_attention'",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="model.",
    defaults={
        "block_size": 256,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "num_local_experts": 8,
        "tie_word_embeddings": False,
        "vocab_size": 32000,
    },
    derived={
        "head_dim": "num_key_value_heads * hidden_size // num_attention_heads",
        "layer_types": "['linear_attention' if (layer + 1) % 2 == 0 else 'full_attention' for layer in range(num_hidden_layers)]",
    },
    fields={"num_experts": "num_local_experts"},
)
