"""Rows of convolutional networks: convolutions, the norms over batches that follow them, and what is built of both."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.formula import dimensions
from inspector.architectures.table import Family, Row

#: What a norm over batches counts its batches in, and a frozen one has not.
COUNTER = "num_batches_tracked"


def convolution(
    role: str, name: str, shape: str, *, bias: str = "", when: str = "", heads: str = "", tower: str = "text"
) -> Row:
    """A convolution: out, in over groups, height, width."""
    return Row(role, name, shape, bias=bias, when=when, heads=heads, tower=tower, group="convolution")


def batch_norm(
    role: str, name: str, size: str, *, when: str = "", heads: str = "", tower: str = "text"
) -> Iterator[Row]:
    """A norm with the statistics that it keeps."""
    yield Row(role, name, size, bias="True", when=when, heads=heads, group="norm", tower=tower)
    statistics = {"running_mean": size, "running_var": size, COUNTER: ""}
    for statistic, shape in statistics.items():
        yield Row(
            f"{role}_{statistic}",
            f"{name}.{statistic}",
            shape,
            when=when,
            heads=heads,
            leaf="",
            buffer=True,
            persistent=True,
            tower=tower,
        )


def normed(
    role: str,
    name: str,
    shape: str,
    *,
    words: tuple[str, str] = ("convolution", "normalization"),
    when: str = "",
    heads: str = "",
    tower: str = "text",
    statistics: bool = True,
) -> Iterator[Row]:
    """A convolution, or a linear layer, without a bias, and its norm, which the two words are the names of.

    Args:
        statistics: whether the norm is one over batches, which keeps statistics.
    """
    linear, norm = (f"{name}.{word}" for word in words)
    dims = dimensions(shape)
    group = "convolution" if len(dims) > 2 else ""
    yield Row(role, linear, shape, when=when, heads=heads, tower=tower, group=group)
    if statistics:
        yield from batch_norm(role + "_norm", norm, dims[0], when=when, heads=heads, tower=tower)
    else:
        yield Row(role + "_norm", norm, dims[0], bias="True", when=when, heads=heads, tower=tower)


def affine(role: str, name: str, when: str = "") -> Iterator[Row]:
    """A learned factor and a learned offset for all that passes."""
    for leaf in ("scale", "bias"):
        yield Row(role, name, "1", when=when, leaf=leaf, group="other")


def inverted_residual(name: str, before: str, inside: str, after: str, when: str = "") -> Iterator[Row]:
    """MobileNetV2's block: made wider, convolved channel by channel, made narrow again."""
    yield from normed("expand", f"{name}.expand_1x1", f"{inside}, {before}, 1, 1", when=when)
    yield from normed("depthwise", f"{name}.conv_3x3", f"{inside}, 1, 3, 3", when=when)
    yield from normed("reduce", f"{name}.reduce_1x1", f"{after}, {inside}, 1, 1", when=when)


def in_sequence(role: str, name: str, shape: str, *, when: str = "", tower: str = "text") -> Iterator[Row]:
    """A convolution without a bias and its norm, numbered 0 and 1."""
    yield convolution(role, f"{name}.0", shape, when=when, tower=tower)
    yield from batch_norm(f"{role}_norm", f"{name}.1", dimensions(shape)[0], when=when, tower=tower)


#: What a backbone gives, for its `derived`: the stages that are asked for, the stem being stage 0, and their channels.
STAGES_GIVEN = {
    "out_indices": "[place(['stem', 'stage1', 'stage2', 'stage3', 'stage4'], out_features[at])"
    " for at in range(len(out_features))] if out_features else [len(depths)]",
    "channels": "[hidden_sizes[out_indices[at] - 1] if out_indices[at] > 0 else embedding_size"
    " for at in range(len(out_indices))]",
}


def counters(family: Family) -> str:
    """The roles of a family that a model leaves out which freezes the norms of its backbone."""
    return " ".join(row.role for row in family.rows if isinstance(row, Row) and row.role.endswith(COUNTER))
