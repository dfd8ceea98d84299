"""Phi-3 and Phi-3.5 Vision, whose code comes with their checkpoints: Phi-3, CLIP's ViT-L/14 at 336, two layers.

The code fixes the tower's sizes; the configuration only names it. Two learned separators, `glb_GN` and
`sub_GN`, stand between the views of an image, each as wide as four patches.
"""

from __future__ import annotations

from inspector.architectures.data.families import phi3
from inspector.architectures.data.families.shared import CLIP_LARGE, clip_large
from inspector.architectures.table import Family, Row

IMAGE = "model.vision_embed_tokens."
_MERGED = "4 * img_processor.image_dim_out"


def _projector(role: str, name: str, shape: str, *, bias: str = "", leaf: str = "weight") -> Row:
    return Row(role, IMAGE + name, shape, bias=bias, leaf=leaf, tower="projector", group="other")


FAMILY = Family(
    name="phi3_v",
    types={"phi3_v": {}},
    rows=(
        *phi3.FAMILY.rows,
        *clip_large(IMAGE + "img_processor.vision_model."),
        _projector("glb_GN", "glb_GN", f"1, 1, {_MERGED}", leaf=""),
        _projector("sub_GN", "sub_GN", f"1, 1, 1, {_MERGED}", leaf=""),
        _projector("linear_1", "img_projection.0", f"hidden_size, {_MERGED}", bias="True"),
        _projector("linear_2", "img_projection.2", "hidden_size, hidden_size", bias="True"),
    ),
    prefix="model.",
    defaults={
        **phi3.FAMILY.defaults,
        **CLIP_LARGE,
        "img_processor": {"image_dim_out": 1024},
    },
    derived=phi3.FAMILY.derived,
)
