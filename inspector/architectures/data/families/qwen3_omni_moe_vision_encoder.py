"""Qwen3-Omni's vision tower: Qwen3-VL's, with other names for its mergers."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.qwen3_vl_vision import BLOCKS, DEEPSTACK, MERGED, PATCHES
from inspector.architectures.data.families.qwen3_vl_vision import FAMILY as QWEN3_VL
from inspector.architectures.table import Family, Row


def merger(at: str, width: str) -> Iterator[Row]:
    """As Qwen3-VL's; its layers are numbers of one list, with an activation between them."""
    yield Row("merger_norm", at + ".ln_q", width, bias="True", tower="projector")
    yield Row("merger_linear", at + ".mlp.0", f"{MERGED}, {MERGED}", bias="True", tower="projector")
    yield Row("merger_linear", at + ".mlp.2", f"out_hidden_size, {MERGED}", bias="True", tower="projector")


FAMILY = Family(
    name="qwen3_omni_moe_vision_encoder",
    types={"qwen3_omni_moe_vision_encoder": {}},
    rows=(
        *PATCHES,
        *BLOCKS,
        *merger("merger_list." + DEEPSTACK, MERGED),
        *merger("merger", "hidden_size"),
    ),
    defaults=QWEN3_VL.defaults,
    fields=QWEN3_VL.fields,
    head="Model",
)
