"""Model type resnet: blocks of three convolutions with a narrow one in the middle, or of two (`layer_type`)."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

BLOCK = "resnet.encoder.stages.{layer<len(depths)}.layers.{sublayer<depths[layer]}"
NARROW, BASIC = "layer_type != 'basic'", "layer_type == 'basic'"
BEFORE = "(hidden_sizes[layer - 1] if layer > 0 else embedding_size)"
#: A first block whose input differs from its output, in width or in side.
SHORTCUT = f"sublayer == 0 and ({BEFORE} != hidden_sizes[layer] or layer > 0 or downsample_in_first_stage)"


def _convolution(name: str, outer: str, inner: str, side: int, *, when: str = "", group: str = "") -> tuple[Row, ...]:
    """A convolution and the norm that follows it."""

    def statistic(role: str, shape: str) -> Row:
        leaf = name + ".normalization." + role
        return Row(role, leaf, shape, when=when, leaf="", buffer=True, persistent=True)

    return (
        Row("convolution", name + ".convolution", f"{outer}, {inner}, {side}, {side}", when=when, group=group),
        Row("normalization", name + ".normalization", outer, bias="True", when=when),
        statistic("running_mean", outer),
        statistic("running_var", outer),
        statistic("num_batches_tracked", ""),
    )


_WIDE = "hidden_sizes[layer]"
_THIN = "hidden_sizes[layer] // 4"
_INPUT = f"({_WIDE} if sublayer > 0 else {BEFORE})"

FAMILY = Family(
    name="resnet",
    types={"resnet": {}},
    rows=(
        *_convolution("resnet.embedder.embedder", "embedding_size", "num_channels", 7, group="embedding"),
        *_convolution(BLOCK + ".shortcut", _WIDE, BEFORE, 1, when=SHORTCUT),
        *_convolution(BLOCK + ".layer.0", _THIN, _INPUT, 1, when=NARROW),
        *_convolution(BLOCK + ".layer.1", _THIN, _THIN, 3, when=NARROW),
        *_convolution(BLOCK + ".layer.2", _WIDE, _THIN, 1, when=NARROW),
        *_convolution(BLOCK + ".layer.0", _WIDE, _INPUT, 3, when=BASIC),
        *_convolution(BLOCK + ".layer.1", _WIDE, _WIDE, 3, when=BASIC),
        Row("classifier", "classifier.1", "num_labels, hidden_sizes[-1]", bias="True", heads="ForImageClassification"),
    ),
    prefix="resnet.",
    defaults={
        "depths": [3, 4, 6, 3],
        "downsample_in_first_stage": False,
        "embedding_size": 64,
        "hidden_sizes": [256, 512, 1024, 2048],
        "layer_type": "bottleneck",
        "num_channels": 3,
    },
    head="Model",
)
