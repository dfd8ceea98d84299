"""Model type ultrabert.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "ultrabert.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="ultrabert",
    types={"ultrabert": {}},
    rows=(
        Row("embed_tokens", "ultrabert.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row("norm", "ultrabert.norm", "hidden_size"),
        Row("cls", "cls", "vocab_size, hidden_size", heads="ForMaskedLM", tied="tie_word_embeddings"),
        Row("linear1", "head.linear1", "prediction_head_size, hidden_size", heads="ForMaskedLM", group="head"),
        Row("linear2", "head.linear2", "hidden_size, prediction_head_size", heads="ForMaskedLM", group="head"),
        Row("qa_outputs", "qa_outputs", "2, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
    ),
    prefix="ultrabert.",
    defaults={
        "attention_bias": False,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "mlp_bias": False,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "prediction_head_size": 768,
        "tie_word_embeddings": False,
        "vocab_size": 32000,
    },
    derived={"head_dim": "hidden_size // num_attention_heads", "num_key_value_heads": "num_attention_heads"},
    head="ForMaskedLM",
)
