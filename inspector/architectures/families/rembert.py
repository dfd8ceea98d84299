"""Model type rembert.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "rembert.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="rembert",
    types={"rembert": {}},
    rows=(
        Row("embed_tokens", "rembert.embeddings.word_embeddings", "vocab_size, input_embedding_size"),
        Row(
            "embed_positions", "rembert.embeddings.position_embeddings", "max_position_embeddings, input_embedding_size"
        ),
        Row("embed_token_types", "rembert.embeddings.token_type_embeddings", "type_vocab_size, input_embedding_size"),
        Row("embed_norm", "rembert.embeddings.LayerNorm", "input_embedding_size", bias="True"),
        Row(
            "embedding_hidden_mapping_in",
            "rembert.encoder.embedding_hidden_mapping_in",
            "hidden_size, input_embedding_size",
            bias="True",
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
        Row(
            "dense",
            "cls.predictions.dense",
            "output_embedding_size, hidden_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM",
            group="head",
        ),
        Row(
            "LayerNorm",
            "cls.predictions.LayerNorm",
            "output_embedding_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM",
            group="norm",
        ),
        Row(
            "pooler",
            "rembert.pooler.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="Model ForMultipleChoice ForSequenceClassification",
        ),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row("qa_outputs", "qa_outputs", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row(
            "lm_head",
            "cls.predictions.decoder",
            "vocab_size, output_embedding_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM",
            tower="decoder",
        ),
    ),
    prefix="rembert.",
    defaults={
        "add_cross_attention": False,
        "hidden_size": 1152,
        "input_embedding_size": 256,
        "intermediate_size": 4608,
        "max_position_embeddings": 512,
        "num_attention_heads": 18,
        "num_hidden_layers": 32,
        "output_embedding_size": 1664,
        "type_vocab_size": 2,
        "vocab_size": 250300,
    },
)
