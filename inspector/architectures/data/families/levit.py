"""LeViT: attention over fewer and fewer patches, with norms over batches; linear layers without biases."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import batch_norm, normed
from inspector.architectures.table import Family, Row

BODY = "levit."
STAGE = BODY + "encoder.stages.{layer<len(depths)}."
#: After its blocks a stage but the last halves the patches' rows, and has one more feed-forward.
LAYER = STAGE + "layers.{block<blocks + (2 if halves else 0)}."
LINEAR = ("linear", "batch_norm")
CLASSES = "ForImageClassification ForImageClassificationWithTeacher"
TEACHER = "ForImageClassificationWithTeacher"

#: Stages' own heads and those between stages, each of their key's width.
WIDTH, HEADS = "num_attention_heads[layer] * key_dim[layer]", "hidden_sizes[layer] // key_dim[0]"
BETWEEN = f"{HEADS} * key_dim[0]"


def embeddings() -> Iterator[Row]:
    """Four convolutions, each twice as wide as the one before."""
    widths = ["num_channels", *(f"hidden_sizes[0] // {part}" for part in (8, 4, 2)), "hidden_sizes[0]"]
    for at in (1, 2, 3, 4):
        yield from normed(
            f"embed_patches{at}",
            f"{BODY}patch_embeddings.embedding_layer_{at}",
            f"{widths[at]}, {widths[at - 1]}, kernel_size, kernel_size",
            words=("convolution", "batch_norm"),
        )


def biases(name: str, heads: str, when: str) -> Row:
    """What attention adds by how far apart two patches are, in rows and in columns."""
    return Row(
        "attention_biases",
        f"{name}attention_biases",
        f"{heads}, resolution ** 2",
        when=when,
        leaf="",
        group="attention",
    )


def attention() -> Iterator[Row]:
    when = "block < blocks and block % parts == 0"
    name = LAYER + "module."
    yield from normed(
        "qkv_proj",
        name + "queries_keys_values",
        f"(attention_ratio[layer] + 2) * {WIDTH}, hidden_sizes[layer]",
        words=LINEAR,
        when=when,
    )
    yield from normed(
        "o_proj", name + "projection", f"hidden_sizes[layer], attention_ratio[layer] * {WIDTH}", words=LINEAR, when=when
    )
    yield biases(name, "num_attention_heads[layer]", when)


def halving() -> Iterator[Row]:
    """Attention whose queries are every second patch in each direction."""
    when = "block == blocks"
    yield from normed(
        "kv_proj", LAYER + "keys_values", f"5 * ({BETWEEN}), hidden_sizes[layer]", words=LINEAR, when=when
    )
    yield from normed("q_proj", LAYER + "queries", f"{BETWEEN}, hidden_sizes[layer]", words=LINEAR, when=when)
    yield from normed(
        "o_proj", LAYER + "projection", f"hidden_sizes[layer + 1], 4 * ({BETWEEN})", words=LINEAR, when=when
    )
    yield biases(LAYER, HEADS, when)


def feed_forward() -> Iterator[Row]:
    when = "block % parts == 1 if block < blocks else block == blocks + 1"
    width = "hidden_sizes[layer if block < blocks else layer + 1]"
    inner = f"{width} * (mlp_ratio[layer] if block < blocks else 2)"
    name = LAYER + "module."
    yield from normed("up_proj", name + "linear_up", f"{inner}, {width}", words=LINEAR, when=when)
    yield from normed("down_proj", name + "linear_down", f"{width}, {inner}", words=LINEAR, when=when)


def classifier(name: str, heads: str) -> Iterator[Row]:
    yield from batch_norm(f"{name}_norm", f"{name}.batch_norm", "hidden_sizes[-1]", heads=heads)
    yield Row(name, f"{name}.linear", "num_labels, hidden_sizes[-1]", bias="True", heads=heads)


FAMILY = Family(
    name="levit",
    types={"levit": {}},
    rows=(
        *embeddings(),
        *attention(),
        *halving(),
        *feed_forward(),
        *classifier("classifier", CLASSES),
        *classifier("classifier_distill", TEACHER),
    ),
    prefix=BODY,
    head="Model",
    defaults={
        "image_size": 224,
        "num_channels": 3,
        "kernel_size": 3,
        "patch_size": 16,
        "hidden_sizes": [128, 256, 384],
        "num_attention_heads": [4, 8, 12],
        "depths": [4, 4, 4],
        "key_dim": [16, 16, 16],
        "mlp_ratio": [2, 2, 2],
        "attention_ratio": [2, 2, 2],
    },
    derived={
        "parts": "2 if mlp_ratio[layer] > 0 else 1",
        "blocks": "depths[layer] * parts",
        "halves": "layer < 2",
        "resolution": "(image_size // patch_size - 1) // 2 ** layer + 1",
    },
)
