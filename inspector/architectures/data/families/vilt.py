"""ViLT: one encoder over the words of a text and the patches of an image."""

from __future__ import annotations

from inspector.architectures.data.families.shared import vit_layers
from inspector.architectures.table import Family, Row

WORDS = "vilt.embeddings.text_embeddings."
MASKED, QUESTIONS, PAIRS, RETRIEVAL, TOKENS = (
    "ForMaskedLM",
    "ForQuestionAnswering",
    "ForImagesAndTextClassification",
    "ForImageAndTextRetrieval",
    "ForTokenClassification",
)


def classifier(heads: str, width: str, inner: str) -> tuple[Row, ...]:
    """A perceptron with a norm between its two layers."""
    return (
        Row("classifier", "classifier.0", f"{inner}, {width}", bias="True", heads=heads),
        Row("classifier_norm", "classifier.1", inner, bias="True", heads=heads),
        Row("classifier", "classifier.3", f"num_labels, {inner}", bias="True", heads=heads),
    )


FAMILY = Family(
    name="vilt",
    types={"vilt": {}},
    rows=(
        Row("embed_class", "vilt.embeddings.cls_token", "1, 1, hidden_size", leaf=""),
        Row(
            "embed_positions",
            "vilt.embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, hidden_size",
            leaf="",
        ),
        Row("embed_tokens", WORDS + "word_embeddings", "vocab_size, hidden_size"),
        Row(
            "position_embeddings_embed_positions",
            WORDS + "position_embeddings",
            "max_position_embeddings, hidden_size",
        ),
        Row("embed_token_types", WORDS + "token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("LayerNorm", WORDS + "LayerNorm", "hidden_size", bias="True", group="norm"),
        Row(
            "embed_patches",
            "vilt.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "token_type_embeddings_embed_token_types",
            "vilt.embeddings.token_type_embeddings",
            "modality_type_vocab_size, hidden_size",
        ),
        *vit_layers("vilt.encoder.layer.{layer<num_hidden_layers}"),
        Row("layernorm", "vilt.layernorm", "hidden_size", bias="True"),
        Row(
            "pooler",
            "vilt.pooler.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads=f"Model {MASKED} {QUESTIONS} {PAIRS} {RETRIEVAL}",
        ),
        Row("mlm_dense", "mlm_score.transform.dense", "hidden_size, hidden_size", bias="True", heads=MASKED),
        Row("mlm_norm", "mlm_score.transform.LayerNorm", "hidden_size", bias="True", heads=MASKED),
        Row("mlm_bias", "mlm_score.decoder", "vocab_size", heads=MASKED, leaf="bias"),
        *classifier(QUESTIONS, "hidden_size", "2 * hidden_size"),
        *classifier(PAIRS, "num_images * hidden_size", "num_images * hidden_size"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads=TOKENS),
        Row("rank_output", "rank_output", "1, hidden_size", bias="True", heads=RETRIEVAL, group="head"),
    ),
    prefix="vilt.",
    defaults={
        "hidden_size": 768,
        "image_size": 384,
        "intermediate_size": 3072,
        "max_position_embeddings": 40,
        "modality_type_vocab_size": 2,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "patch_size": 32,
        "qkv_bias": True,
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
    head="Model",
)
