"""Tensors as a grid and as a tree, for charts: eight tensors whose sums are easy to check."""

from __future__ import annotations

import pytest

from inspector.bridge.breakdown import OUTSIDE, Axes, Cell, Node, axes, byte_tree, grid, place_of, role_of
from inspector.model import Key, Labelled, RoleSum, Tensor


def labelled(
    name: str, role: str, layer: int | None, parameters: int, nbytes: int, dtype: str = "BF16", **more: str
) -> Labelled:
    group = more.pop("group", "attention")
    key = Key(more.pop("tower", "text"), layer, None, role, more.pop("part", "weight"), more.pop("branch", ""))
    return Labelled(Tensor(name, dtype, (parameters,), 0, nbytes), "a", key, group, parameters)


#: A packed weight with its scales in layer 1, plain ones in layer 0, and two outside.
TENSORS = [
    labelled("embed", "embed_tokens", None, 40, 80, group="embedding"),
    labelled("norm", "norm", None, 4, 8, group="norm"),
    labelled("1.q", "q_proj", 1, 16, 8, "U8"),
    labelled("1.q_scales", "q_proj", 1, 0, 4, "F32", part="scales"),
    labelled("0.q", "q_proj", 0, 16, 32),
    labelled("0.k", "k_proj", 0, 8, 16),
    labelled("v0.q", "q_proj", 0, 6, 12, tower="vision"),
    labelled("v0.c", "q_proj", 0, 5, 10, tower="vision", branch="cross"),
]


@pytest.mark.parametrize(
    ("key", "role", "place"),
    [
        (Key("text", 3, None, "q_proj", "weight"), "q_proj", ("3", "q_proj")),
        (Key("vision", 3, None, "q_proj", "weight"), "vision q_proj", ("vision 3", "vision q_proj")),
        (Key("vision", None, None, "norm", "weight"), "vision norm", (OUTSIDE, "vision norm")),
        (Key("text", 0, None, "norm", "weight", "cross"), "cross norm", ("0", "cross norm")),
        (Key("text", None, None, "", "weight"), "other", (OUTSIDE, "other")),
        (Key("audio", 1, 2, "", "weight", "b"), "audio b other", ("audio 1", "audio b other")),
    ],
)
def test_rows_columns_and_words_for_them(key: Key, role: str, place: tuple[str, str]) -> None:
    assert (role_of(key), place_of(key)) == (role, place)


def test_cells_of_a_grid() -> None:
    """16 weights in 12 bytes have 6 bits each; the type of most bytes comes first."""
    found = grid(TENSORS, [])
    assert found.axes == Axes(
        (OUTSIDE, "0", "1", "vision 0"),
        ("embed_tokens", "norm", "q_proj", "k_proj", "vision q_proj", "vision cross q_proj"),
    )
    assert found.cells["1", "q_proj"] == Cell(2, 16, 12, ("U8", "F32"))
    assert found.cells["1", "q_proj"].bits == 6.0
    assert found.cells["0", "q_proj"] == Cell(1, 16, 32, ("BF16",))
    assert found.cells[OUTSIDE, "embed_tokens"].bits == 16.0
    assert len(found.cells) == 7
    assert grid([TENSORS[3]], []).cells["1", "q_proj"].bits is None


def test_rows_stand_in_order() -> None:
    """Outside rows come first, then the towers in order of appearance, each by its layers: 2 before 10."""
    keys = [
        Key(tower, layer, None, "q", "weight")
        for tower, layer in (("b", 10), ("b", 2), ("a", 1), ("b", None), ("text", 0))
    ]
    assert axes(keys, []).rows == (OUTSIDE, "b 2", "b 10", "a 1", "0")
    roles = [RoleSum(role, "norm", "text", "", 1, 4, 8, None, None) for role in ("k_proj", "unheard", "q_proj")]
    met = [Key("text", 0, None, role, "weight") for role in ("a", "q_proj", "k_proj", "a")]
    assert axes(met, roles).columns == ("k_proj", "q_proj", "a")  # the model's order, then others
    assert axes([], []) == Axes((), ())


def _single(name: str, nbytes: int, parameters: int, dtype: str) -> Node:
    return Node(name, nbytes, 1, parameters, (dtype,))


def test_a_tree_of_bytes() -> None:
    """Groups, their roles, then layers; tensors outside the layers by name. 170 bytes in all."""
    root = byte_tree(TENSORS)
    assert root[:5] == ("all tensors", 170, 8, 95, ("BF16", "U8", "F32"))
    assert [(each.name, each.bytes, each.tensors) for each in root.children] == [
        ("embedding", 80, 1),
        ("norm", 8, 1),
        ("attention", 82, 6),
    ]
    attention = root.children[2]
    assert [(each.name, each.bytes) for each in attention.children] == [
        ("q_proj", 44),
        ("k_proj", 16),
        ("vision q_proj", 12),
        ("vision cross q_proj", 10),
    ]
    assert attention.children[0].children == (
        Node("layer 0", 32, 1, 16, ("BF16",)),
        Node("layer 1", 12, 2, 16, ("U8", "F32"), (_single("1.q", 8, 16, "U8"), _single("1.q_scales", 4, 0, "F32"))),
    )
    assert root.children[0].children[0].children == (Node("embed", 80, 1, 40, ("BF16",)),)


def test_tensors_below_a_fifth_share_one_square() -> None:
    """A fifth of 100 bytes is 20: layers of 19 have no squares of their own, nor have tensors within a layer."""
    tensors = [
        labelled("0.a", "q", 0, 0, 20),
        labelled("0.b", "q", 0, 0, 1),
        labelled("0.c", "q", 0, 0, 1),
        labelled("1.a", "q", 1, 0, 20),
        labelled("2.a", "q", 2, 0, 19),
        labelled("3.a", "q", 3, 0, 19),
        labelled("4.a", "q", 4, 0, 20),
    ]
    (group,) = byte_tree(tensors, 5).children
    (role,) = group.children
    assert [(each.name, each.bytes, each.tensors) for each in role.children] == [
        ("layer 0", 22, 3),
        ("layer 1", 20, 1),
        ("layer 4", 20, 1),
        ("2 smaller tensors", 38, 2),
    ]
    assert [(each.name, each.bytes) for each in role.children[0].children] == [("0.a", 20), ("2 smaller tensors", 2)]
    # 101 bytes: a part below a fifth, 20.2, is below 21
    (group,) = byte_tree([*tensors, labelled("5.a", "q", 5, 0, 1)], 5).children
    assert [each.name for each in group.children[0].children] == ["layer 0", "5 smaller tensors"]


def test_nothing_stands_out() -> None:
    """If all layers are too small none is shown, and one tensor has no parts."""
    tensors = [labelled(f"{at}.a", "q", at, 0, 1) for at in range(9)]
    (group,) = byte_tree(tensors, 5).children
    assert group.children == (Node("q", 9, 9, 0, ("BF16",)),)
    assert byte_tree([]) == Node("all tensors", 0, 0, 0, ())


def test_the_smallest_square_is_a_five_thousandth() -> None:
    tensors = [labelled("0.a", "q", 0, 0, 4_999), labelled("1.a", "q", 1, 0, 1)]
    (group,) = byte_tree(tensors).children
    assert [each.name for each in group.children[0].children] == ["layer 0", "layer 1"]
    (group,) = byte_tree([*tensors, labelled("2.a", "q", 2, 0, 1)]).children
    assert [each.name for each in group.children[0].children] == ["layer 0", "2 smaller tensors"]
