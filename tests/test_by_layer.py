"""Layers one by one: which are alike, and what the others add, lack or store otherwise."""

from __future__ import annotations

import pytest

from inspector.bridge.breakdown import LETTERS, Layer, Strip, by_layer
from inspector.model import Key, Labelled, Tensor
from inspector.units import ranges

SIZES = {"F32": 4, "BF16": 2, "I8": 1}


def tensor(
    layer: int | None,
    role: str,
    dtype: str = "BF16",
    elements: int = 8,
    *,
    tower: str = "text",
    group: str = "attention",
) -> Labelled:
    parameters = 0 if group in ("quantization", "buffer") else elements
    stored = Tensor(f"{layer}.{role}", dtype, (elements,), 0, elements * SIZES[dtype])
    return Labelled(stored, "f", Key(tower, layer, None, role, "weight"), group, parameters)


def test_layers_that_are_alike_share_a_letter() -> None:
    """Three layers alike, one wider, one empty."""
    labelled = [tensor(at, role) for at in (0, 1, 4) for role in ("q_proj", "up_proj")]
    labelled += [tensor(3, "q_proj", "F32"), tensor(3, "up_proj"), tensor(None, "norm")]
    (strip,) = by_layer(labelled)
    assert (strip.tower, strip.letters) == ("text", "AA·BA")
    usual, other = strip.kinds
    assert (usual.letter, usual.layers, usual.bytes, usual.parameters, usual.differs) == ("A", (0, 1, 4), 32, 16, ())
    assert (other.letter, other.layers, other.bytes, other.dtypes) == ("B", (3,), 48, {"F32": 32, "BF16": 16})
    assert other.differs == ("q_proj 8 × F32 at 32 bits, elsewhere 8 × BF16 at 16 bits",)
    assert strip.layers[2] == Layer("text", 3, "B", 2, 16, 48, {"F32": 32, "BF16": 16})


def test_a_kind_of_layer_names_roles_it_alone_has_and_lacks() -> None:
    labelled = [tensor(at, "q_proj") for at in range(3)] + [
        tensor(0, "up_proj"),
        tensor(1, "up_proj"),
        tensor(2, "router"),
    ]
    (strip,) = by_layer(labelled)
    assert [kind.differs for kind in strip.kinds] == [(), ("router only here", "no up_proj")]


def test_the_most_frequent_kind_is_the_usual_one_wherever_it_begins() -> None:
    """A first layer that is unlike the others is the exception."""
    (strip,) = by_layer([tensor(0, "up_proj"), *(tensor(at, "router") for at in (1, 2))])
    assert strip.letters == "ABB"
    assert [kind.differs for kind in strip.kinds] == [("up_proj only here", "no router"), ()]


def test_side_data_counts_with_its_weight() -> None:
    """Scales change a layer's kind by their bytes, and are not listed; a buffer is listed without bits."""
    usual = [tensor(at, "q_proj") for at in range(3)]
    scales = tensor(2, "q_proj", "F32", 2, group="quantization")
    (strip,) = by_layer([*usual, scales])
    assert [(kind.bytes, kind.differs) for kind in strip.kinds] == [(16, ()), (24, ())]
    (strip,) = by_layer([*usual, tensor(2, "mask", "F32", 2, group="buffer")])
    assert strip.kinds[1].differs == ("mask only here",)


def test_one_role_in_two_types() -> None:
    """Both types of a mixture whose experts differ are shown, joined."""
    labelled = [*(tensor(at, "up_proj") for at in (0, 1, 2)), tensor(2, "up_proj", "I8")]
    (strip,) = by_layer(labelled)
    assert strip.kinds[1].differs == ("up_proj 8 × BF16 at 16 bits + 8 × I8 at 8 bits, elsewhere 8 × BF16 at 16 bits",)


def test_a_role_without_parameters_is_shown_with_its_type() -> None:
    labelled = [tensor(at, "mask", group="buffer") for at in (0, 1)] + [tensor(2, "mask", "F32", group="buffer")]
    (strip,) = by_layer(labelled)
    assert strip.kinds[1].differs == ("mask F32, elsewhere BF16",)


def test_tensors_without_a_role_are_others() -> None:
    (strip,) = by_layer([tensor(0, "q_proj"), tensor(1, "q_proj"), tensor(2, "")])
    assert strip.kinds[1].differs == ("other only here", "no q_proj")


def test_each_tower_has_its_strip() -> None:
    strips = by_layer([tensor(1, "q_proj", tower="vision"), tensor(0, "q_proj"), tensor(2, "q_proj", tower="vision")])
    assert [(strip.tower, strip.letters) for strip in strips] == [("vision", "AA"), ("text", "A")]


def test_more_kinds_than_letters_share_the_last() -> None:
    """26 capitals, 26 small letters, then stars."""
    assert (LETTERS[0], LETTERS[25], LETTERS[26], LETTERS[51:]) == ("A", "Z", "a", "z*")
    (strip,) = by_layer([tensor(at, "q_proj", elements=at + 1) for at in range(55)])
    assert strip.letters == LETTERS + "**"
    assert isinstance(strip, Strip)


def test_layers_are_in_order_however_they_come() -> None:
    (strip,) = by_layer([tensor(2, "q_proj"), tensor(0, "q_proj", "F32"), tensor(1, "q_proj")])
    assert [each.layer for each in strip.layers] == [0, 1, 2]
    assert strip.letters == "ABB"


@pytest.mark.parametrize(
    ("numbers", "reported"),
    [([], ""), ([3], "3"), ([0, 1], "0–1"), ([0, 1, 2, 5, 7, 8], "0–2, 5, 7–8"), ([0, 2, 4], "0, 2, 4")],
)
def test_ranges(numbers: list[int], reported: str) -> None:
    assert ranges(numbers) == reported


def test_experts_of_a_role_are_summed() -> None:
    """Two experts a layer, wider in the last: 16 parameters of each type; scales that come first hide nothing."""
    labelled = [tensor(at, "up_proj") for at in (0, 0, 1, 1)]
    scales = tensor(2, "up_proj", "I8", 2, group="quantization")
    (strip,) = by_layer([*labelled, scales, *(tensor(2, "up_proj", "F32") for _ in range(2))])
    assert strip.kinds[1].differs == ("up_proj 16 × F32 at 32 bits, elsewhere 16 × BF16 at 16 bits",)
    assert [(kind.bytes, kind.parameters) for kind in strip.kinds] == [(32, 16), (66, 16)]
