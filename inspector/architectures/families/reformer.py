"""Model type reformer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "reformer.encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="reformer",
    types={"reformer": {}},
    rows=(
        Row("embed_tokens", "reformer.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row(
            "embedding_embed_tokens",
            "reformer.embeddings.position_embeddings.embedding",
            "max_position_embeddings, hidden_size",
            when="not axial_pos_embds",
        ),
        Row(
            "weights",
            "reformer.embeddings.position_embeddings.weights.{layer<len(axial_pos_embds_dim)}",
            "1 if layer > 0 else axial_pos_shape[0], axial_pos_shape[1] if layer > 0 else 1, axial_pos_embds_dim[layer]",
            when="axial_pos_embds",
            leaf="",
            group="embedding",
        ),
        Row(
            "q_proj",
            LAYER + ".attention.self_attention.query",
            "num_attention_heads * attention_head_size, hidden_size",
            when="attn_layers[layer] == 'local'",
            tower="encoder",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.self_attention.key",
            "num_attention_heads * attention_head_size, hidden_size",
            when="attn_layers[layer] == 'local'",
            tower="encoder",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.self_attention.value",
            "num_attention_heads * attention_head_size, hidden_size",
            tower="encoder",
        ),
        Row(
            "o_proj",
            LAYER + ".attention.output.dense",
            "hidden_size, num_attention_heads * attention_head_size",
            tower="encoder",
        ),
        Row("layer_norm", LAYER + ".attention.layer_norm", "hidden_size", bias="True", tower="encoder"),
        Row("feed_forward_layer_norm", LAYER + ".feed_forward.layer_norm", "hidden_size", bias="True", tower="encoder"),
        Row(
            "dense",
            LAYER + ".feed_forward.dense.dense",
            "feed_forward_size, hidden_size",
            bias="True",
            tower="encoder",
            group="feed_forward",
        ),
        Row(
            "query_key",
            LAYER + ".attention.self_attention.query_key",
            "num_attention_heads * attention_head_size, hidden_size",
            when="attn_layers[layer] == 'lsh'",
            tower="encoder",
            group="attention",
        ),
        Row(
            "down_proj",
            LAYER + ".feed_forward.output.dense",
            "hidden_size, feed_forward_size",
            bias="True",
            tower="encoder",
        ),
        Row("layer_norm", "reformer.encoder.layer_norm", "2 * hidden_size", bias="True", tower="encoder"),
        Row("lm_head", "lm_head", "vocab_size", heads="ReformerModelWithLMHead ForMaskedLM", leaf="bias"),
        Row("qa_outputs", "qa_outputs", "num_labels, 2 * hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row(
            "dense",
            "classifier.dense",
            "hidden_size, 2 * hidden_size",
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
            "vocab_size, 2 * hidden_size",
            heads="ReformerModelWithLMHead ForMaskedLM",
            tower="decoder",
        ),
    ),
    prefix="reformer.",
    classes={"ReformerModelWithLMHead": "ReformerModelWithLMHead"},
    defaults={
        "attention_head_size": 64,
        "attn_layers": ["local", "lsh", "local", "lsh", "local", "lsh"],
        "axial_pos_embds": True,
        "axial_pos_embds_dim": [64, 192],
        "axial_pos_shape": [64, 64],
        "feed_forward_size": 512,
        "hidden_size": 256,
        "max_position_embeddings": 4096,
        "num_attention_heads": 12,
        "vocab_size": 320,
    },
    derived={"num_hidden_layers": "len(attn_layers)"},
    head="ReformerModelWithLMHead",
)
