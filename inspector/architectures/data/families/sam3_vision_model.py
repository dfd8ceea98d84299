"""SAM 3's vision tower: a transformer, and a neck that brings its features to several resolutions."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row

SCALE_FACTORS = [4.0, 2.0, 1.0, 0.5]


def neck(prefix: str, scope: str = "", heads: str = "", tower: str = "vision") -> Iterator[Row]:
    """A layer a resolution: transposed convolutions (in, out, height, width) that double it, and two plain ones.

    Args:
        scope: where the vision tower's fields are: "vision_config."
    """
    layer = f"{prefix}fpn_layers.{{layer<len({scope}scale_factors)}}."
    factor, hidden, width = (
        scope + name for name in ("scale_factors[layer]", "backbone_config.hidden_size", "fpn_hidden_size")
    )
    name = layer + "scale_layers.{part<3}"
    when = f"{factor} == 4 and part != 1 or {factor} == 2 and part == 0"
    before, after = f"{hidden} // (1 if part == 0 else 2)", f"{hidden} // (2 if part == 0 else 4)"
    yield Row(
        "scale_layers", name, f"{before}, {after}, 2, 2", when=when, group="convolution", tower=tower, heads=heads
    )
    yield Row("scale_layers", name, after, when=when, leaf="bias", group="convolution", tower=tower, heads=heads)
    given = f"{hidden} // (4 if {factor} == 4 else 2 if {factor} == 2 else 1)"
    for role, shape in {"proj1": f"{width}, {given}, 1, 1", "proj2": f"{width}, {width}, 3, 3"}.items():
        yield Row(role, layer + role, shape, bias="True", group="convolution", tower=tower, heads=heads)


FAMILY = Family(
    name="sam3_vision_model",
    types={"sam3_vision_model": {}},
    rows=(
        Include("backbone_config", "backbone.", tower="vision", head="Model", default_type="sam3_vit_model"),
        *neck("neck."),
    ),
    defaults={"backbone_config": {"hidden_size": 1024}, "fpn_hidden_size": 256, "scale_factors": SCALE_FACTORS},
    head="Model",
)
