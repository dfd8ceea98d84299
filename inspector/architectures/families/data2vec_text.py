"""Model type data2vec-text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "data2vec_text.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="data2vec-text",
    types={"data2vec-text": {}},
    rows=(
        Row("embed_tokens", "data2vec_text.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_token_types", "data2vec_text.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "data2vec_text.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row("embed_positions", "data2vec_text.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
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
        Row("lm_head", "lm_head", "vocab_size", heads="ForCausalLM ForMaskedLM", leaf="bias"),
        Row("mlm_dense", "lm_head.dense", "hidden_size, hidden_size", bias="True", heads="ForCausalLM ForMaskedLM"),
        Row("mlm_norm", "lm_head.layer_norm", "hidden_size", bias="True", heads="ForCausalLM ForMaskedLM"),
        Row(
            "pooler",
            "data2vec_text.pooler.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="Model ForMultipleChoice",
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
            "lm_head.decoder",
            "vocab_size, hidden_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    prefix="data2vec_text.",
    defaults={
        "add_cross_attention": False,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "tie_word_embeddings": True,
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
)
