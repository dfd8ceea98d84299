"""Model type layoutlm.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layoutlm.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="layoutlm",
    types={"layoutlm": {}},
    rows=(
        Row("embed_tokens", "layoutlm.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "layoutlm.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row(
            "x_position_embeddings",
            "layoutlm.embeddings.x_position_embeddings",
            "max_2d_position_embeddings, hidden_size",
        ),
        Row(
            "y_position_embeddings",
            "layoutlm.embeddings.y_position_embeddings",
            "max_2d_position_embeddings, hidden_size",
        ),
        Row(
            "h_position_embeddings",
            "layoutlm.embeddings.h_position_embeddings",
            "max_2d_position_embeddings, hidden_size",
        ),
        Row(
            "w_position_embeddings",
            "layoutlm.embeddings.w_position_embeddings",
            "max_2d_position_embeddings, hidden_size",
        ),
        Row("embed_token_types", "layoutlm.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "layoutlm.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".attention.self.query", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row("k_proj", LAYER + ".attention.self.key", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row("v_proj", LAYER + ".attention.self.value", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True", tower="encoder"),
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
        Row("pooler", "layoutlm.pooler.dense", "hidden_size, hidden_size", bias="True"),
        Row("mlm_bias", "cls.predictions", "vocab_size", heads="ForMaskedLM", leaf="bias"),
        Row(
            "mlm_dense", "cls.predictions.transform.dense", "hidden_size, hidden_size", bias="True", heads="ForMaskedLM"
        ),
        Row("mlm_norm", "cls.predictions.transform.LayerNorm", "hidden_size", bias="True", heads="ForMaskedLM"),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row(
            "lm_head",
            "cls.predictions.decoder",
            "vocab_size, hidden_size",
            bias="True",
            heads="ForMaskedLM",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    prefix="layoutlm.",
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_2d_position_embeddings": 1024,
        "max_position_embeddings": 512,
        "num_hidden_layers": 12,
        "tie_word_embeddings": True,
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
    head="ForMaskedLM",
)
