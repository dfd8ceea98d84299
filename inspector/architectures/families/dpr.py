"""Model type dpr.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "question_encoder.bert_model.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="dpr",
    types={"dpr": {}},
    rows=(
        Row("embed_tokens", "question_encoder.bert_model.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row(
            "embed_positions",
            "question_encoder.bert_model.embeddings.position_embeddings",
            "max_position_embeddings, hidden_size",
        ),
        Row(
            "embed_token_types",
            "question_encoder.bert_model.embeddings.token_type_embeddings",
            "type_vocab_size, hidden_size",
        ),
        Row("embed_norm", "question_encoder.bert_model.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row(
            "q_proj",
            LAYER + ".attention.self.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.self.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.self.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True"),
        Row(
            "cross_q_proj",
            LAYER + ".crossattention.self.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_k_proj",
            LAYER + ".crossattention.self.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_v_proj",
            LAYER + ".crossattention.self.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_down_proj",
            LAYER + ".crossattention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_post_feedforward_layernorm",
            LAYER + ".crossattention.output.LayerNorm",
            "hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row("post_attention_layernorm", LAYER + ".attention.output.LayerNorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("post_feedforward_layernorm", LAYER + ".output.LayerNorm", "hidden_size", bias="True"),
        Row("encode_proj", "question_encoder.encode_proj", "1, hidden_size", bias="True", when="projection_dim"),
    ),
    prefix="question_encoder.",
    classes={"DPRQuestionEncoder": "DPRQuestionEncoder"},
    defaults={
        "add_cross_attention": False,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "projection_dim": 0,
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
    head="DPRQuestionEncoder",
)
