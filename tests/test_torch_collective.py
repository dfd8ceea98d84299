"""`.metadata` of `torch.distributed.checkpoint` by hand, and the model within a saved value."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import pytest
from every import every
from hostile.torch_files import Saved, torch_zip

from inspector.errors import FormatError
from inspector.formats.pytorch import distributed
from inspector.formats.pytorch.distributed import Item, described
from inspector.formats.pytorch.layout import Found, Frame, View
from inspector.formats.pytorch.reader import MAX_FACT, MAX_FACTS, facts, named
from inspector.formats.pytorch.values import Dictionary, Global, Made
from inspector.model import Header, Piece

PATH = "x/.metadata"


class Bare:
    """An object of an unimportant class, with a state; or only a name, without one."""

    def __init__(self, state: Any) -> None:
        self.state = state


def opcodes(value: Any) -> bytes:
    """A value as protocol 2 writes it."""
    if isinstance(value, Bare):
        return b"cmine\nC\n)\x81" + opcodes(value.state) + b"b"
    if isinstance(value, Global):
        return f"c{value.module}\n{value.name}\n".encode()
    if isinstance(value, dict):
        return b"}(" + b"".join(opcodes(key) + opcodes(each) for key, each in value.items()) + b"u"
    if isinstance(value, (list, tuple)):
        ends = (b"](", b"e") if isinstance(value, list) else (b"(", b"t")
        return ends[0] + b"".join(map(opcodes, value)) + ends[1]
    return pickle.dumps(value, protocol=2)[2:-1]


def bare(**state: Any) -> Bare:
    return Bare(state)


def whole(size: Sequence[int], *chunks: tuple[Sequence[int], Sequence[int]], dtype: Any = "float32") -> Bare:
    """A tensor's entry: its size, and each chunk's offsets and sizes."""
    kind = Global("torch", dtype) if isinstance(dtype, str) else dtype
    listed = [bare(offsets=tuple(start), sizes=tuple(shape)) for start, shape in chunks]
    return bare(size=tuple(size), properties=bare(dtype=kind), chunks=listed)


def place(name: str, file: str, offset: Any, length: Any, start: Any = None) -> tuple[Bare, Bare]:
    return bare(fqn=name, offset=start), bare(relative_path=file, offset=offset, length=length)


def read(tensors: Any, places: Sequence[tuple[Any, Any]], **more: Any) -> dict[str, list[Item]]:
    stored = b"}(" + b"".join(opcodes(index) + opcodes(each) for index, each in places) + b"u"
    state = b"}(" + opcodes("state_dict_metadata") + opcodes(tensors) + opcodes("storage_data") + stored
    state += b"".join(opcodes(key) + opcodes(each) for key, each in more.items())
    found = described(b"\x80\x02cmine\nMetadata\n)\x81" + state + b"ub.", PATH)
    return {file: list(items) for file, items in found.items.items()}


F32 = ("F32", 4)


def test_chunks_and_their_places() -> None:
    """A tensor of 6×4 in two halves, one in a single piece, and an object; in the order of their offsets."""
    tensors = {
        "a": whole((6, 4), ((0, 0), (3, 4)), ((3, 0), (3, 4))),
        "b": whole((5,), ((0,), (5,)), dtype="bfloat16"),
        "o": bare(),
    }
    places = [
        place("o", "0.distcp", 900, 50),
        place("a", "0.distcp", 0, 400, (0, 0)),
        place("b", "0.distcp", 400, 300, (0,)),
        place("a", "1.distcp", 0, 410, [3, 0]),
    ]
    assert read(tensors, places) == {
        "0.distcp": [
            Item("a", 0, 400, F32, (3, 4), Piece((0, 0), (6, 4))),
            Item("b", 400, 300, ("BF16", 2), (5,), None),
            Item("o", 900, 50),
        ],
        "1.distcp": [Item("a", 0, 410, F32, (3, 4), Piece((3, 0), (6, 4)))],
    }


def test_an_overlapping_tensor_is_passed_over() -> None:
    """The same offset of another file is another place; a file's first offset may be omitted."""
    tensors = {"a": whole((2,)), "b": whole((2,))}
    places = [place("a", "0", 8, 9), place("b", "0", 8, 9), place("b", "1", 8, 9), place("a", "1", None, 3)]
    assert read(tensors, places) == {
        "0": [Item("a", 8, 9, F32, (2,))],
        "1": [Item("a", 0, 3, F32, (2,)), Item("b", 8, 9, F32, (2,))],
    }


@pytest.mark.parametrize(
    "entry",
    [
        bare(size=(4,), properties=bare(dtype=Global("torch", "strange")), chunks=[]),
        bare(size=(4,), properties=bare(dtype="float32"), chunks=[]),
        bare(size=(4,), chunks=[]),
        bare(size=(-4,), properties=bare(dtype=Global("torch", "float32")), chunks=[]),
        bare(properties=bare(dtype=Global("torch", "float32"))),
    ],
)
def test_entries_that_describe_no_tensor(entry: Bare) -> None:
    assert read({"a": entry}, [place("a", "0", 0, 9)]) == {"0": [Item("a", 0, 9)]}


def test_properties_may_be_a_tuple() -> None:
    """The first item of the tuple is the type."""
    entry = bare(size=(4,), properties=Bare((Global("torch", "float16"), 0, False)), chunks=[])
    assert read({"a": entry}, [place("a", "0", 0, 9)]) == {"0": [Item("a", 0, 9, ("F16", 2), (4,))]}


@pytest.mark.parametrize("chunk", [((0,), None), (None, (2,)), ((1,), (2,))])
def test_a_chunk_that_is_not_in_the_list_is_the_whole(chunk: tuple[Any, Any]) -> None:
    start, shape = chunk
    entry = bare(
        size=(4,),
        properties=bare(dtype=Global("torch", "float32")),
        chunks=[bare(offsets=start, sizes=shape)],
    )
    assert read({"a": entry}, [place("a", "0", 0, 9, (0,))]) == {"0": [Item("a", 0, 9, F32, (4,))]}


@every(
    "odd",
    [
        place("a", "0", -1, 9),
        place("a", "0", "8", 9),
        place("a", "0", 0, None),
        place("a", "0", 0, 1.5),
        (bare(fqn=5), bare(relative_path="0", offset=0, length=9)),
        (bare(fqn="a"), bare(relative_path=0, offset=0, length=9)),
        (bare(fqn="a"), bare(offset=0, length=9)),
        ("a", bare(relative_path="0", offset=0, length=9)),
    ],
)
def test_places_that_are_none(odd: tuple[Any, Any]) -> None:
    with pytest.raises(FormatError, match=r"^x/\.metadata: its list has an invalid location$") as raised:
        read({"a": whole((2,))}, [odd])
    assert raised.value.rule == "unreadable-file"


@pytest.mark.parametrize("state", [{}, {"state_dict_metadata": {}}, {"storage_data": {}}, {"storage_data": []}])
def test_a_pickle_that_is_no_metadata_is_refused(state: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=r"^x/\.metadata is not metadata of torch\.distributed\.checkpoint$"):
        described(b"\x80\x02" + opcodes(Bare(state)) + b".", PATH)
    with pytest.raises(FormatError, match=r"^x/\.metadata: its pickle cannot be followed: it has no end$"):
        described(b"\x80\x02" + opcodes(Bare(state)), PATH)


@every(
    ("paths", "names"),
    [
        ({}, ["model.a", "model.b", "optimizer.s"]),
        ({"model.a": ("model", "a"), "model.b": ("model", "b")}, ["a", "b", "optimizer.s"]),
        ({"model.a": ("model", "a"), "model.b": ("model.b",)}, ["model.a", "model.b", "optimizer.s"]),
        ({"model.a": ("model", "a")}, ["model.a", "model.b", "optimizer.s"]),
        ({"model.a": ("model", "a"), "model.b": ("other", "b")}, ["model.a", "model.b", "optimizer.s"]),
        ({"model.a": ("model", "a"), "model.b": ["model", "b"]}, ["model.a", "model.b", "optimizer.s"]),
        ({"model.a": (0, "a"), "model.b": (0, "b")}, ["model.a", "model.b", "optimizer.s"]),
        ({"model.a": ("mod", "a"), "model.b": ("mod", "b")}, ["model.a", "model.b", "optimizer.s"]),
    ],
)
def test_weights_that_were_saved_under_a_key(paths: dict[str, Any], names: list[str]) -> None:
    """If the planner says that all of them are under one key, they have their own names; state keeps its key."""
    stored = ["model.a", "model.b", "optimizer.s"]
    places = [place(name, "0", at, 1) for at, name in enumerate(stored)]
    found = read({name: whole((2,)) for name in stored}, places, planner_data=paths)
    assert [each.name for each in found["0"]] == names


def test_a_name_that_would_be_anothers_is_kept() -> None:
    """`optimizer.s` under the key `model` would collide with the training state beside it."""
    stored = ["model.optimizer.s", "optimizer.s"]
    places = [place(name, "0", at, 1) for at, name in enumerate(stored)]
    paths = {"model.optimizer.s": ("model", "optimizer.s")}
    found = read({name: whole((2,)) for name in stored}, places, planner_data=paths)
    assert [each.name for each in found["0"]] == stored


# --- a rank's file --------------------------------------------------------------------------------


class Held:
    """A file's bytes, and a record of those that were read."""

    def __init__(self, data: bytes) -> None:
        self.data, self.size = data, len(data)
        self.asked: list[tuple[int, int]] = []

    def read(self, offset: int, length: int) -> bytes:
        assert offset >= 0 and length >= 0 and offset + length <= self.size
        self.asked.append((offset, length))
        return self.data[offset : offset + length]

    def prefix(self, length: int) -> memoryview:
        return memoryview(self.data)[:length]

    def close(self) -> None:
        """Do nothing: no file is open."""


def tensor_archive(*shape: int) -> bytes:
    """The archive that `torch.save` makes of one tensor."""
    return torch_zip({"": Saved(shape, "0")})


def reported(data: bytes, *items: Item) -> tuple[Header, list[tuple[str, str, str, str | None]], Held]:
    held = Held(data)
    found = distributed.read(held, "0.distcp", items, {"step": 3})
    assert [region.start for region in found.regions[1:]] == [region.end for region in found.regions[:-1]]
    return found, [(each.rule, each.severity, each.message, each.tensor) for each in found.findings], held


def test_tensors_of_a_ranks_file() -> None:
    """Two archives and an object one after the other; the second is 12 bytes of a whole of 48."""
    one, two = tensor_archive(2, 3), tensor_archive(3)
    data = one + two + b"object"
    piece = Piece((3,), (12,))
    items = [
        Item("a", 0, len(one), F32, (2, 3)),
        Item("b", len(one), len(two), F32, (3,), piece),
        Item("o", len(one) + len(two), 6),
    ]
    found, stated, _ = reported(data, *items)
    assert [(each.name, each.shape, each.nbytes) for each in found.tensors] == [("a", (2, 3), 24), ("b", (3,), 12)]
    assert [data[each.offset : each.offset + each.nbytes] for each in found.tensors] == [
        bytes(range(24)),
        bytes(range(12)),
    ]
    assert (dict(found.pieces), found.metadata, stated) == ({1: piece}, {"step": 3}, [])
    last = found.regions[-1]
    assert (last.label, last.start, last.end) == ("pickle", len(data) - 6, len(data))


def test_a_place_without_its_tensor() -> None:
    """Another shape or type, or no archive: reported, with the shape in `.metadata` and no bytes."""
    data = tensor_archive(2, 3)
    what = ("storage", "error", ".metadata puts this tensor where there is no archive of it", "a")
    meta = ("pickled-object", "info", "on the meta device: it has a shape, but no bytes", "a")
    for item in (
        Item("a", 0, len(data), F32, (3, 2)),
        Item("a", 0, len(data), ("F16", 2), (2, 3)),
        Item("a", 3, 50, F32, (2, 3)),
    ):
        found, stated, _ = reported(data, item)
        assert [(each.name, each.shape, each.dtype, each.nbytes) for each in found.tensors] == [
            ("a", item.shape, item.dtype[0] if item.dtype else "", 0)
        ]
        after = [f"{len(data) - 53} bytes after the end of the contents, from byte 53: no reader uses them"]
        assert stated == [what, meta, *(("trailing", "warning", each, None) for each in after if item.length == 50)]


def test_a_part_of_a_whole_without_its_tensor() -> None:
    """It stays a part: its missing bytes are counted in the whole."""
    piece = Piece((2, 0), (4, 3))
    found, _, _ = reported(b"no archive", Item("a", 0, 10, F32, (2, 3), piece))
    assert dict(found.pieces) == {0: piece}


def test_places_beyond_the_end() -> None:
    """5 announced bytes are missing; an object that begins after the end has none."""
    data = tensor_archive(2, 3)
    size = len(data)
    what = f"the contents end at byte {size + 5}, the file at {size}: 5 bytes missing; download it again"
    beyond = ("truncated", "error", what, None)
    assert reported(data, Item("o", 0, len(data) + 5))[1] == [beyond]
    cut, stated, _ = reported(data, Item("a", 0, size + 5, F32, (2, 3)))
    assert (stated, [each.shape for each in cut.tensors]) == ([beyond], [(2, 3)])
    assert reported(data, Item("o", 0, len(data)))[1] == []
    assert reported(data, Item("o", len(data) + 2, 3))[1] == [beyond]
    assert reported(data)[1] == []


def test_a_large_archive_is_read_at_its_ends() -> None:
    """Of 40,000 bytes two times 8,192 are read; a small one is read whole, once."""
    large, small = tensor_archive(10_000), tensor_archive(3)
    found, stated, held = reported(small + large, Item("b", len(small), len(large), F32, (10_000,)))
    assert (stated, found.tensors[0].nbytes) == ([], 40_000)
    assert held.asked == [(len(small), 8192), (held.size - 8192, 8192)]
    _, stated, held = reported(large + small, Item("b", len(large), len(small), F32, (3,)))
    assert (stated, held.asked) == ([], [(len(large), len(small))])


def test_reads_near_an_items_ends() -> None:
    """A range between the ends is read separately, and nothing beyond the file."""
    held = Held(bytes(at % 251 for at in range(30_000)))
    read = distributed._reads_near(held, 1_000, 28_000)
    assert held.asked == [(1_000, 8_192), (20_808, 8_192)]
    for at, size in ((1_000, 10), (9_190, 2), (20_808, 8_192), (28_999, 1)):
        assert read(at, size) == held.data[at : at + size]
    assert len(held.asked) == 2
    for at, size in ((9_190, 3), (20_807, 2), (0, 5), (999, 2)):
        assert read(at, size) == held.data[at : at + size]
        assert held.asked[-1] == (at, size)
    assert (read(-1, 5), read(10_000, 0)) == (b"", b"")
    assert read(20_000, 20_000) == held.data[20_000:]


# --- the model within a value --------------------------------------------------------------------------


def mapping(**pairs: Any) -> Dictionary:
    return Dictionary(list(pairs.items()))


def ordered(*pairs: Any) -> Made:
    found = Made(Global("collections", "OrderedDict"), ())
    found.items = list(pairs)
    return found


def names(value: Any, *views: str) -> list[str]:
    made = (View(name, "F32", 4, (2,), (1,), 0, "0", 2) for name in views)
    return [view.name for view in named(Found(tuple(made), {}, Frame(), value)).views]


def test_weights_under_a_key() -> None:
    """At most four keys deep, and not if two tensors would then share a name."""
    inner = mapping(w=1)
    assert names(mapping(model=inner, step=3), "model.w", "optimizer.m") == ["w", "optimizer.m"]
    assert names(mapping(state_dict=ordered(("w", 1))), "state_dict.w") == ["w"]
    assert names(mapping(model=mapping(module=inner)), "model.module.w") == ["w"]
    assert names(mapping(models=inner), "models.w") == ["models.w"]
    assert names(mapping(model=inner), "model.w", "w") == ["model.w", "w"]
    assert names(mapping(model=5), "model.w") == ["model.w"]
    assert names(mapping(model=inner), "modelled.w") == ["modelled.w"]
    deep: Any = inner
    for _ in range(5):
        deep = mapping(model=deep)
    assert names(deep, "model.model.model.model.model.w") == ["model.w"]
    assert names(ordered(("model", inner), ["module", inner], ("net",)), "model.w") == ["w"]


def test_a_whole_module_under_a_key() -> None:
    """An object with a state may hold weights; one without holds none."""
    module = Made(Global("mine", "Net"), ())
    assert names(mapping(model=module), "model.w") == ["model.w"]
    module.state = mapping(w=1)
    assert names(mapping(model=module), "model.w") == ["w"]


def test_facts_beside_the_tensors() -> None:
    """Numbers and short texts; 500 characters at most, and 100 facts."""
    value = mapping(step=3, loss=0.5, name="x" * MAX_FACT, long="x" * (MAX_FACT + 1), model=mapping(), none=None)
    assert facts(value) == {"step": 3, "loss": 0.5, "name": "x" * 500}
    assert (MAX_FACTS, len(facts(mapping(**{f"k{at}": at for at in range(101)})))) == (100, 100)
    assert facts([1, 2]) == {}


def test_how_deepspeed_shares_out_the_weights() -> None:
    """The shapes of each group, and the largest number of ranks."""
    groups = [mapping(a=(2, 3), b=Made(Global("torch", "Size"), ((4,),))), mapping(c=(5,), d="no shape")]
    shapes = {"a": (2, 3), "b": (4,), "c": (5,)}
    assert facts(mapping(param_shapes=groups)) == {"param_shapes": shapes}
    assert facts(mapping(frozen_param_shapes=mapping(a=(2, 3)), param_shapes=[])) == {
        "frozen_param_shapes": {"a": (2, 3)}
    }
    for count, reported in ((4, 4), ([2, 8, "9", 3], 8), ([], None), (0, None), ("4", None), (True, None)):
        found = facts(mapping(optimizer_state_dict=mapping(partition_count=count)))
        assert found == ({} if reported is None else {"partition_count": reported})
