"""Model type jina_embeddings_v3.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "roberta.encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="jina_embeddings_v3",
    types={"jina_embeddings_v3": {}},
    rows=(
        Row("embed_norm", "roberta.emb_ln", "hidden_size", bias="True"),
        Row("embed_token_types", "roberta.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_tokens", "roberta.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True", tower="encoder"),
        Row(
            "qkv_proj",
            LAYER + ".mixer.Wqkv",
            "3 * num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "out_proj",
            LAYER + ".mixer.out_proj",
            "hidden_size, num_attention_heads * (hidden_size // num_attention_heads)",
            bias="True",
            tower="encoder",
        ),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True", tower="encoder"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True", tower="encoder"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True", tower="encoder"),
        Row("lm_head", "lm_head", "vocab_size", heads="ForMaskedLM", leaf="bias"),
        Row("mlm_dense", "lm_head.dense", "hidden_size, hidden_size", bias="True", heads="ForMaskedLM"),
        Row("mlm_norm", "lm_head.layer_norm", "hidden_size", bias="True", heads="ForMaskedLM"),
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
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
        Row("pooler", "roberta.pooler.dense", "hidden_size, hidden_size", bias="True", heads="Model"),
        Row(
            "lm_head",
            "lm_head.decoder",
            "vocab_size, hidden_size",
            bias="True",
            heads="ForMaskedLM",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    derived={"head_dim": "hidden_size // num_attention_heads"},
    prefix="roberta.",
    defaults={
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_attention_heads": 16,
        "num_hidden_layers": 24,
        "tie_word_embeddings": True,
        "type_vocab_size": 1,
        "vocab_size": 250002,
    },
    head="ForMaskedLM",
)
