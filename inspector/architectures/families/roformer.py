"""Model type roformer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "roformer.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="roformer",
    types={"roformer": {}},
    rows=(
        Row("embed_tokens", "roformer.embeddings.word_embeddings", "vocab_size, embedding_size"),
        Row("embed_token_types", "roformer.embeddings.token_type_embeddings", "type_vocab_size, embedding_size"),
        Row("embed_norm", "roformer.embeddings.LayerNorm", "embedding_size", bias="True"),
        Row(
            "embeddings_project",
            "roformer.embeddings_project",
            "hidden_size, embedding_size",
            bias="True",
            when="embedding_size != hidden_size",
        ),
        Row(
            "embed_positions",
            "roformer.encoder.embed_positions",
            "max_position_embeddings, hidden_size // num_attention_heads",
            tower="encoder",
        ),
        Row(
            "q_proj",
            LAYER + ".attention.self.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.self.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.self.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row(
            "cross_q_proj",
            LAYER + ".crossattention.self.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_k_proj",
            LAYER + ".crossattention.self.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_v_proj",
            LAYER + ".crossattention.self.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_down_proj",
            LAYER + ".crossattention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_post_feedforward_layernorm",
            LAYER + ".crossattention.output.LayerNorm",
            "hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "post_attention_layernorm",
            LAYER + ".attention.output.LayerNorm",
            "hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True", tower="encoder"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True", tower="encoder"),
        Row("post_feedforward_layernorm", LAYER + ".output.LayerNorm", "hidden_size", bias="True", tower="encoder"),
        Row("mlm_bias", "cls.predictions", "vocab_size", heads="ForCausalLM ForMaskedLM", leaf="bias"),
        Row(
            "mlm_dense",
            "cls.predictions.transform.dense",
            "embedding_size, hidden_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM",
        ),
        Row(
            "mlm_norm",
            "cls.predictions.transform.LayerNorm",
            "embedding_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM",
        ),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
        Row("qa_outputs", "qa_outputs", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row(
            "dense",
            "classifier.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForSequenceClassification",
            group="head",
        ),
        Row(
            "out_proj", "classifier.out_proj", "num_labels, hidden_size", bias="True", heads="ForSequenceClassification"
        ),
        Row(
            "lm_head",
            "cls.predictions.decoder",
            "vocab_size, embedding_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    prefix="roformer.",
    defaults={
        "add_cross_attention": False,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 1536,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "tie_word_embeddings": True,
        "type_vocab_size": 2,
        "vocab_size": 50000,
    },
    derived={"embedding_size": "hidden_size"},
)
