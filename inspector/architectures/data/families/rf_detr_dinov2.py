"""RF-DETR's backbone: DINOv2 within windows, with a gated feed-forward whose projections are apart."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.dinov2 import FAMILY as DINOV2
from inspector.architectures.data.families.dinov2 import LAYER
from inspector.architectures.table import Row

#: What the backbone by itself calls the projections; the detectors keep DINOv2's words.
OWN_WORDS = {
    "attention.attention.query": "attention.q_proj",
    "attention.attention.key": "attention.k_proj",
    "attention.attention.value": "attention.v_proj",
    "attention.output.dense": "attention.o_proj",
}
GATED = "use_swiglu_ffn"
WIDTH = "ceil_to(2 * hidden_size * mlp_ratio // 3, 8)"


def renamed() -> Iterator[Row]:
    """DINOv2's rows but for its gated feed-forward, the projections under both names."""
    for row in DINOV2.rows:
        assert isinstance(row, Row)
        word = row.name.removeprefix(LAYER + ".")
        if word in OWN_WORDS:
            yield row._replace(heads="body")
            yield row._replace(name=f"{LAYER}.{OWN_WORDS[word]}", heads="Backbone")
        elif row.role not in ("weights_in", "weights_out"):
            yield row


FAMILY = DINOV2._replace(
    name="rf_detr_dinov2",
    types={"rf_detr_dinov2": {}},
    rows=(
        *renamed(),
        Row("gate_proj", LAYER + ".mlp.gate_proj", f"{WIDTH}, hidden_size", bias="True", when=GATED),
        Row("up_proj", LAYER + ".mlp.up_proj", f"{WIDTH}, hidden_size", bias="True", when=GATED),
        Row("down_proj", LAYER + ".mlp.down_proj", f"hidden_size, {WIDTH}", bias="True", when=GATED),
    ),
    derived={**DINOV2.derived, "out_indices": "[num_hidden_layers]"},
    head="Backbone",
)
