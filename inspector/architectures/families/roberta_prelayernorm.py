"""Model type roberta-prelayernorm.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "roberta_prelayernorm.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="roberta-prelayernorm",
    types={"roberta-prelayernorm": {}},
    rows=(
        Row("embed_tokens", "roberta_prelayernorm.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row(
            "embed_token_types", "roberta_prelayernorm.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"
        ),
        Row("embed_norm", "roberta_prelayernorm.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row(
            "embed_positions",
            "roberta_prelayernorm.embeddings.position_embeddings",
            "max_position_embeddings, hidden_size",
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
        Row("LayerNorm", LAYER + ".attention.LayerNorm", "hidden_size", bias="True", tower="encoder", group="norm"),
        Row(
            "intermediate_LayerNorm",
            LAYER + ".intermediate.LayerNorm",
            "hidden_size",
            bias="True",
            tower="encoder",
            group="norm",
        ),
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
            "cross_LayerNorm",
            LAYER + ".crossattention.LayerNorm",
            "hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
            group="norm",
        ),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True", tower="encoder"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True", tower="encoder"),
        Row("LayerNorm", "roberta_prelayernorm.LayerNorm", "hidden_size", bias="True", group="norm"),
        Row("lm_head", "lm_head", "vocab_size", heads="ForCausalLM ForMaskedLM", leaf="bias"),
        Row("mlm_dense", "lm_head.dense", "hidden_size, hidden_size", bias="True", heads="ForCausalLM ForMaskedLM"),
        Row("mlm_norm", "lm_head.layer_norm", "hidden_size", bias="True", heads="ForCausalLM ForMaskedLM"),
        Row(
            "pooler",
            "roberta_prelayernorm.pooler.dense",
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
    prefix="roberta_prelayernorm.",
    defaults={
        "add_cross_attention": False,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "tie_word_embeddings": True,
        "type_vocab_size": 2,
        "vocab_size": 50265,
    },
)
