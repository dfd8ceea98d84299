"""VideoMAE: a vision transformer over tubes of frames, with a decoder for pretraining."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import vit_layers
from inspector.architectures.table import Family, Row

ENCODER = "videomae.encoder.layer.{layer<num_hidden_layers}"
DECODER = "decoder.decoder_layers.{layer<decoder_num_hidden_layers}"
PRETRAINING, VIDEO = "ForPreTraining", "ForVideoClassification"


def attention_biases(at: str, width: str, heads: str, tower: str) -> Iterator[Row]:
    """The biases of queries and values, which are parameters of the attention itself; keys have none."""
    for word in ("q_bias", "v_bias"):
        name = f"{at}.attention.attention.{word}"
        yield Row(word, name, width, when="qv_bias", heads=heads, tower=tower, leaf="", group="attention")


FAMILY = Family(
    name="videomae",
    types={"videomae": {}},
    rows=(
        Row(
            "embed_patches",
            "videomae.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, tubelet_size, patch_size, patch_size",
            bias="True",
        ),
        *vit_layers(
            DECODER,
            bias="",
            width="decoder_hidden_size",
            attention="decoder_hidden_size",
            inner="decoder_intermediate_size",
            heads=PRETRAINING,
            tower="decoder",
        ),
        *attention_biases(DECODER, "decoder_hidden_size", PRETRAINING, "decoder"),
        *vit_layers(ENCODER, bias="", tower="encoder"),
        *attention_biases(ENCODER, "hidden_size", "", "encoder"),
        Row("layernorm", "videomae.layernorm", "hidden_size", bias="True", when="not use_mean_pooling"),
        Row(
            "head",
            "decoder.head",
            "num_channels * tubelet_size * patch_size ** 2, decoder_hidden_size",
            bias="True",
            heads=PRETRAINING,
            tower="decoder",
        ),
        Row("norm", "decoder.norm", "decoder_hidden_size", bias="True", heads=PRETRAINING, tower="decoder"),
        Row("encoder_to_decoder", "encoder_to_decoder", "decoder_hidden_size, hidden_size", heads=PRETRAINING),
        Row("mask_token", "mask_token", "1, 1, decoder_hidden_size", heads=PRETRAINING, leaf="", group="embedding"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads=VIDEO),
        Row("fc_norm", "fc_norm", "hidden_size", bias="True", when="use_mean_pooling", heads=VIDEO),
    ),
    prefix="videomae.",
    defaults={
        "decoder_hidden_size": 384,
        "decoder_intermediate_size": 1536,
        "decoder_num_hidden_layers": 4,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "patch_size": 16,
        "qv_bias": True,
        "tubelet_size": 2,
        "use_mean_pooling": True,
    },
    fields={"qkv_bias": "qv_bias"},
    head=PRETRAINING,
)
