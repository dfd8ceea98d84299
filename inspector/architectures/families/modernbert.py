"""Model type modernbert.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="modernbert",
    types={"modernbert": {}},
    rows=(
        Row("embed_tokens", "model.embeddings.tok_embeddings", "vocab_size, hidden_size"),
        Row("embed_norm", "model.embeddings.norm", "hidden_size", bias="norm_bias"),
        Row("input_layernorm", LAYER + ".attn_norm", "hidden_size", bias="norm_bias", when="layer > 0"),
        Row("qkv_proj", LAYER + ".attn.Wqkv", "3 * hidden_size, hidden_size", bias="attention_bias"),
        Row("Wo", LAYER + ".attn.Wo", "hidden_size, hidden_size", bias="attention_bias", group="attention"),
        Row("mlp_norm", LAYER + ".mlp_norm", "hidden_size", bias="norm_bias"),
        Row("Wi", LAYER + ".mlp.Wi", "2 * intermediate_size, hidden_size", bias="mlp_bias", group="feed_forward"),
        Row("mlp_Wo", LAYER + ".mlp.Wo", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row("norm", "model.final_norm", "hidden_size", bias="norm_bias"),
        Row(
            "dense",
            "head.dense",
            "hidden_size, hidden_size",
            bias="classifier_bias",
            heads="ForMaskedLM ForMultipleChoice ForQuestionAnswering ForSequenceClassification ForTokenClassification",
            group="head",
        ),
        Row(
            "head_norm",
            "head.norm",
            "hidden_size",
            bias="norm_bias",
            heads="ForMaskedLM ForMultipleChoice ForQuestionAnswering ForSequenceClassification ForTokenClassification",
        ),
        Row("decoder", "decoder", "vocab_size", when="decoder_bias", heads="ForMaskedLM", leaf="bias"),
        Row("decoder", "decoder", "vocab_size, hidden_size", heads="ForMaskedLM", tied="tie_word_embeddings"),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForQuestionAnswering ForSequenceClassification ForTokenClassification",
        ),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "classifier_bias": False,
        "decoder_bias": True,
        "hidden_size": 768,
        "intermediate_size": 1152,
        "mlp_bias": False,
        "norm_bias": False,
        "num_hidden_layers": 22,
        "tie_word_embeddings": True,
        "vocab_size": 50368,
    },
    gguf=("modern-bert",),
    head="ForMaskedLM",
)
