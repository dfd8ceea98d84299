"""The places of tensors in PyTorch's files, and the interpreter of pickles: small cases worked out by hand."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Sequence
from typing import Any

import pytest
from every import every

from inspector.formats import zips
from inspector.formats.findings import Findings
from inspector.formats.pytorch import layout
from inspector.formats.pytorch.layout import Frame, Storage, View, frame_of, in_a_row, of_members, place
from inspector.formats.pytorch.machine import LONGEST_LINE, BeyondError, Budget, Machine, PickleError, Stream
from inspector.formats.pytorch.values import Blob, Dictionary, Global, Made, Persistent, Reached, is_count
from inspector.formats.zips import Member

Reported = list[tuple[str, str, str, str | None]]


def reported(findings: Findings) -> Reported:
    return [(each.rule, each.severity, each.message, each.tensor) for each in findings.all()]


def view(name: str, shape: Sequence[int], stride: Sequence[int], offset: int = 0, storage: str | None = "0") -> View:
    return View(name, "F32", 4, tuple(shape), tuple(stride), offset, storage, 100)


# --- views ------------------------------------------------------------------------------------


@every(
    ("shape", "stride", "extent", "contiguous"),
    [
        ((), (), 1, True),
        ((5,), (1,), 5, True),
        ((5,), (2,), 9, False),
        ((2, 3), (3, 1), 6, True),
        ((2, 3), (1, 2), 6, False),
        ((2, 3), (10, 1), 13, False),
        ((1, 3), (99, 1), 3, True),
        ((3, 1), (1, 99), 3, True),
        ((4,), (0,), 1, False),
        ((0, 4), (9, 9), 0, True),
        ((4, 0), (1, 2), 0, True),
        ((2, 3, 4), (12, 4, 1), 24, True),
    ],
)
def test_a_views_extent_and_contiguity_follow_its_strides(
    shape: tuple[int, ...], stride: tuple[int, ...], extent: int, contiguous: bool
) -> None:
    found = view("a", shape, stride)
    assert (found.extent, found.contiguous) == (extent, contiguous)


def placed(
    *views: View, **storages: Storage
) -> tuple[list[tuple[str, int, int]], dict[str, str], list[tuple[int, int]], Reported]:
    findings = Findings("a")
    tensors, kept, shared, claimed = place(views, {key.strip("_"): each for key, each in storages.items()}, findings)
    assert [each.name for each in tensors] == [each.name for each in kept]
    return [(each.name, each.offset, each.nbytes) for each in tensors], shared, claimed, reported(findings)


HERE = Storage(100, 40)


def test_tensors_at_their_storages() -> None:
    """Four bytes for each element, from the storage's start."""
    assert placed(view("a", [2, 3], [3, 1]), view("b", [4], [1], 6), _0=HERE) == (
        [("a", 100, 24), ("b", 124, 16)],
        {},
        [(100, 140)],
        [],
    )


def test_the_same_elements_twice_are_one() -> None:
    """The same place, shape and strides in one storage; another shape is another tensor, without bytes of its own."""
    views = [view("a", [2, 3], [3, 1]), view("b", [2, 3], [3, 1]), view("c", [6], [1]), view("d", [6], [1], 1)]
    assert placed(*views, _0=HERE) == ([("a", 100, 24), ("c", 100, 0), ("d", 104, 4)], {"b": "a"}, [(100, 128)], [])


def test_empty_tensors_are_not_the_same() -> None:
    assert placed(view("a", [0], [1]), view("b", [0], [1]), _0=HERE)[:3] == ([("a", 100, 0), ("b", 100, 0)], {}, [])


def test_a_view_within_another_has_no_bytes() -> None:
    """Whichever comes first, each byte belongs to one tensor."""
    within, around = view("within", [2], [1], 2), view("around", [6], [1])
    assert placed(within, around, _0=HERE)[0] == [("within", 108, 0), ("around", 100, 24)]
    assert placed(view("left", [4], [1]), view("right", [4], [1], 2), _0=HERE)[0] == [
        ("left", 100, 16),
        ("right", 108, 8),
    ]


def test_findings_about_views() -> None:
    meta = "on the meta device: it has a shape, but no bytes"
    assert placed(view("a", [2], [1], storage=None), view("b", [2], [1], storage=None)) == (
        [("a", 0, 0), ("b", 0, 0)],
        {},
        [],
        [("pickled-object", "info", meta, "a"), ("pickled-object", "info", meta, "b")],
    )
    assert placed(view("a", [2], [1], storage="9" * 60))[3] == [
        ("storage", "error", f"its storage '{'9' * 39} is not in the file", "a")
    ]
    assert placed(view("a", [2, 3], [1, 2]), _0=HERE)[3] == [
        ("view", "info", "stored with the strides (1, 2): not in the order of its shape", "a")
    ]
    assert placed(view("a", [11], [1]), _0=HERE) == (
        [("a", 100, 40)],
        {},
        [(100, 140)],
        [("storage", "error", "it reaches 4 bytes beyond its storage", "a")],
    )
    assert placed(view("a", [1], [1], 11), _0=HERE)[:3] == ([("a", 144, 0)], {}, [])
    assert placed(view("a", [10], [1]), _0=HERE)[3] == []


def test_a_compressed_storage_lies_nowhere() -> None:
    assert placed(view("a", [10], [1]), _0=Storage(100, 40, readable=False)) == ([("a", 100, 0)], {}, [], [])


# --- regions ----------------------------------------------------------------------------------


def regions(
    claimed: list[tuple[int, int]], frame: Frame, size: int, **storages: Storage
) -> tuple[list[tuple[str, int, int]], Reported]:
    findings = Findings("a")
    found = layout.regions(claimed, storages, frame, size, findings)
    return [(each.label, each.start, each.end) for each in found], reported(findings)


UNUSED = "bytes of storages that no tensor uses: a view was saved with its whole storage"


def test_every_byte_of_an_archive() -> None:
    """A member of 35 bytes of header and name, padding to 64, a storage of 40, of which 8 are unclaimed."""
    frame = Frame(members=[(0, 35, 64, 104)], pickles=[(120, 150)])
    assert regions([(64, 80), (88, 104)], frame, 200, _0=Storage(64, 40)) == (
        [
            ("archive", 0, 35),
            ("padding", 35, 64),
            ("tensors", 64, 80),
            ("hole", 80, 88),
            ("tensors", 88, 104),
            ("archive", 104, 120),
            ("pickle", 120, 150),
            ("archive", 150, 200),
        ],
        [("view", "info", f"8 {UNUSED}", None)],
    )


def test_every_byte_of_a_row_of_pickles() -> None:
    """Unmarked bytes are header; those beyond the file are cut off; compressed storages have no holes."""
    frame = Frame(pickles=[(0, 10), (10, 30)])
    assert regions([(40, 60)], frame, 50, _0=Storage(40, 20), _1=Storage(70, 20, readable=False)) == (
        [("pickle", 0, 10), ("pickle", 10, 30), ("header", 30, 40), ("tensors", 40, 50)],
        [],
    )
    assert regions([], Frame(), 7) == ([("header", 0, 7)], [])
    assert regions([], Frame(), 8, _0=Storage(2, 1)) == (
        [("header", 0, 2), ("hole", 2, 3), ("header", 3, 8)],
        [("view", "info", "1 byte" + UNUSED.removeprefix("bytes"), None)],
    )


def test_holes_at_both_ends_of_a_storage() -> None:
    assert regions([(0, 4), (12, 16), (18, 30)], Frame(), 30, a=Storage(4, 4), b=Storage(10, 12)) == (
        [("tensors", 0, 4), ("hole", 4, 8), ("header", 8, 10), ("hole", 10, 12), ("tensors", 12, 16), ("hole", 16, 18), ("tensors", 18, 30)],
        [("view", "info", f"8 {UNUSED}", None)],
    )  # fmt: skip


def test_a_frame_within_a_file() -> None:
    assert Frame([(1, 2, 3, 4)], [(5, 6)]).moved(10) == Frame([(11, 2, 13, 14)], [(15, 16)])


# --- members ----------------------------------------------------------------------------------


def member(name: str, header: int, size: int, method: int = zips.STORED, compressed: int | None = None) -> Member:
    return Member(name, method, False, size if compressed is None else compressed, size, header)


def local(name: str, extra: int) -> bytes:
    return struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 0, 0, 0, 0, len(name), extra) + name.encode() + bytes(extra)


def test_members_are_reckoned_from_the_alignment() -> None:
    """30 bytes, the name and 4 of padding: 37 for `x/0`, so data at 64; after a descriptor of 16 the next is at 120."""
    read: list[int] = []

    def at(start: int, length: int) -> bytes:
        read.append(start)
        return (bytes(120) + local("x/1", 5) + bytes(99))[start : start + length]

    members = [member("x/1", 120, 8), member("x/0", 0, 40)]
    assert frame_of(at, members) == Frame([(0, 37, 64, 104), (120, 37, 158, 166)])
    assert read == [120]  # nothing shows whether the last one was aligned
    unfit = [member("x/0", 0, 40), member("x/1", 121, 8)]
    assert frame_of(at, unfit).members == []  # neither is where the directory says
    assert 0 in read


@pytest.mark.parametrize("beside", [0, 12, 16, 20, 24])
def test_records_after_a_member(beside: int) -> None:
    members = [member("x/0", 0, 40), member("x/1", 104 + beside, 8)]
    assert frame_of(lambda *_: b"", members).members == [(0, 37, 64, 104)]


def test_storages_among_members() -> None:
    """Only those in their folder; a compressed one has its unpacked size, and no offset."""
    members = [
        member("x/data/0", 0, 40),
        member("x/data/1", 200, 40, 8, 10),
        member("x/other/2", 300, 5),
        member("x/data/3", 400, 5),
    ]
    frame = Frame([(0, 42, 64, 104), (200, 42, 256, 266), (300, 43, 384, 389)])
    findings = Findings("a")
    assert of_members(members, "x/data", frame, 260, findings) == {
        "0": Storage(64, 40, True),
        "1": Storage(256, 40, False),
    }
    assert reported(findings) == [
        ("pickled-object", "info", "a compressed storage: PyTorch's writer never compresses them", None),
        ("truncated", "error", "6 bytes of a storage beyond the end", None),
    ]


def test_storages_in_a_row() -> None:
    """8 bytes before each, wherever the file ends: what is beyond that is reported as missing."""
    sizes = {"a": 10, "b": 4}
    assert in_a_row(["a", "c", "b"], sizes, 100) == {
        "a": Storage(108, 10),
        "c": Storage(126, 0),
        "b": Storage(134, 4),
    }


# --- the stream -------------------------------------------------------------------------------


def test_a_stream_fetches_twice_as_much_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    data = bytes(range(256)) * 64

    def read(start: int, length: int) -> bytes:
        asked.append((start, length))
        return data[start : start + length]

    source = Stream(read, len(data), 3)
    assert (source.take(2), source.position) == (b"\3\4", 5)
    assert len(source.take(4095)) == 4095  # beyond the first window of 4,096 bytes
    assert asked == [(3, 4096), (5, 8192)]
    source.seek(6)
    assert (source.position, source.take(1), len(asked)) == (6, b"\6", 2)
    source.seek(1)
    assert (source.take(1), asked[-1]) == (b"\1", (1, 4096))
    source.seek(len(data) + 5)
    assert source.position == len(data)


@pytest.mark.parametrize(("length", "message"), [(9, "it ends in the middle of a value"), (1, "it has no end")])
def test_a_stream_that_ends(length: int, message: str) -> None:
    source = Stream.of(b"12345678")
    if length == 1:
        source.take(8)
    with pytest.raises(PickleError, match=rf"^{message}$"):
        source.take(length)


def test_bytes_that_cannot_be_read() -> None:
    with pytest.raises(PickleError, match=r"^its bytes cannot be read$"):
        Stream(lambda *_: b"123", 8).take(4)
    assert Stream(lambda *_: b"1234", 8).take(4) == b"1234"


def test_long_runs_are_passed_over() -> None:
    """Up to 64 kB are kept; of longer runs only the place."""
    source = Stream.of(bytes(200_000))
    assert source.run(65_536) == bytes(65_536)
    assert (source.run(65_537), source.position) == (Blob(65_536, 65_537), 131_073)
    assert source.run(200_000 - 131_073) == Blob(131_073, 68_927)
    with pytest.raises(PickleError, match=r"^it ends in the middle of a value$"):
        Stream.of(bytes(65_537)).run(65_538)


def test_lines() -> None:
    source = Stream.of(b"one\n\ntwo\nthree")
    assert [source.line(), source.line(), source.line(), source.position] == [b"one", b"", b"two", 9]
    with pytest.raises(PickleError, match=r"^a line without an end$"):
        source.line()
    assert len(Stream.of(b"x" * 65_535 + b"\n").line()) == 65_535
    with pytest.raises(PickleError, match=r"^a line without an end$"):
        Stream.of(b"x" * 65_535).line()
    with pytest.raises(BeyondError, match=r"^an overlong name$"):
        Stream.of(b"x" * 65_536 + b"\n").line()
    with pytest.raises(PickleError, match=r"^a name with control characters$"):
        Stream.of(b"x\0" * 32_768 + b"\n").line()
    source = Stream.of(b"x" * 3_000_000 + b"\ntwo\n")
    assert source.line_or_blob() == Blob(0, 3_000_000)
    assert source.line_or_blob() == b"two"
    assert LONGEST_LINE == 65_536
    source = Stream.of(b"x" * 4_096 + b"\ntwo\n")  # the first window ends where an empty line begins
    source.take(4_096)
    assert [source.line(), source.line()] == [b"", b"two"]


# --- the machine ------------------------------------------------------------------------------


def machine(steps: int = 100, kept: int = 100) -> Machine:
    return Machine(Stream.of(b""), Budget(steps, kept))


def test_the_stack_and_its_marks() -> None:
    one = machine()
    one.stack += [1, 2]
    one.marks.append(2)
    for take in (one.pop, one.top):
        with pytest.raises(PickleError, match=r"^it pops from an empty stack$"):
            take()
    one.stack += [3, 4]
    assert (one.top(), one.pop(), one.top()) == (4, 4, 3)
    assert (one.marked(), one.stack, one.marks) == ([3], [1, 2], [])
    with pytest.raises(PickleError, match=r"^it goes back to a mark that it did not set$"):
        one.marked()
    assert (one.pop(), one.pop(), one.stack) == (2, 1, [])
    with pytest.raises(PickleError):
        one.pop()


def test_kept_text_beyond_the_budget_is_refused() -> None:
    one = machine(kept=10)
    one.keep(4)
    one.keep(6)
    with pytest.raises(BeyondError, match=r"^too much text$"):
        one.keep(1)
    assert Budget(1).kept == 64 * 1024 * 1024


def reached(one: Machine) -> list[tuple[str, str, bool]]:
    return [(each.path, each.use, each.known) for each in one.reached.values()]


def test_names_are_noted_once() -> None:
    one = machine()
    for _ in range(2):
        assert one.name("os", "system").path == "os.system"
    assert one.name("__builtin__", "set").path == "builtins.set"  # Python 2's
    assert one.name("cPickle", "x").path == "pickle.x"
    assert one.name("collections", "OrderedDict").path == "collections.OrderedDict"
    assert reached(one) == [
        ("os.system", "name", False),
        ("builtins.set", "name", True),
        ("pickle.x", "name", False),
        ("collections.OrderedDict", "name", True),
    ]
    assert one.name(1, "x").path == one.name("x", b"y").path == ".a name that is computed during loading"
    assert one.name("m" * 500, "n" * 500).name == "n" * 500
    with pytest.raises(PickleError, match=r"^an overlong name$"):
        one.name("m" * 500, "n" * 501)


ORDERED = Global("collections", "OrderedDict")


@pytest.mark.parametrize("value", [(), [], Dictionary([]), ORDERED, Made(ORDERED, ())])
def test_a_name_that_is_not_text_ends_every_unpickler(value: object) -> None:
    for module, name in ((value, "x"), ("x", value)):
        with pytest.raises(PickleError, match=r"^a name that is not text$"):
            machine().name(module, name)
    for data in (b"\x80\4)\x8c\1x\x93.", b"\x80\4]\x8c\1x\x93.", b"\x80\4ccollections\nOrderedDict\n)\x81\x8c\1x\x93."):
        with pytest.raises(pickle.UnpicklingError, match="requires str"):
            pickle.loads(data)


STR = Global("builtins", "str")


@pytest.mark.parametrize(
    "value",
    [Global("os", "name"), Made(STR, ("os",)), Made(STR, ()), Made(STR, (), Dictionary([("object", "os")])), Made(ORDERED, ((),)),
     Made(Global("torch.jit._pickle", "restore_type_tag"), ("os", "x")), Made(Made(STR, ()), ()), b"os"],
)  # fmt: skip
def test_what_may_be_text_is_a_computed_name(value: object) -> None:
    assert machine().name(value, "system").path == ".a name that is computed during loading"


def test_the_most_names() -> None:
    one = machine()
    for at in range(10_000):
        one.name("m", str(at))
    one.name("m", "5")
    with pytest.raises(BeyondError, match=r"^too many names$"):
        one.name("m", "one more")


def test_calls_are_noted() -> None:
    one = machine()
    made = one.call(Global("os", "system"), ("true",))
    assert isinstance(made, Made)
    assert (made.path, made.arguments, made.named, made.state, made.items) == ("os.system", ("true",), None, None, [])
    assert reached(one) == [("os.system", "call", False)]
    usual, odd = machine(), machine()
    usual.call(Global("collections", "OrderedDict"), ())
    assert reached(usual) == [("collections.OrderedDict", "call", True)]
    odd.call(Global("collections", "OrderedDict"), (), Dictionary([]))
    assert reached(odd) == [("collections.OrderedDict", "call", False)]
    returned = machine()
    returned.call(made, ())
    assert reached(returned) == [(".the result of another call", "call", False)]


def test_a_class_that_is_kept_with_its_source() -> None:
    inner = Global("mine", "Net")
    made = machine().call(Persistent(("module", inner, "net.py", "class Net: ...")), ())
    assert isinstance(made, Made)
    assert made.what is inner
    for key in (("storage", inner), ("module",), "module"):
        other = machine().call(Persistent(key), ())
        assert isinstance(other, Made)
        assert isinstance(other.what, Persistent)


def test_states_items_and_changes() -> None:
    """The state of a created object; items of a list or dictionary; for a class or function, that it is changed."""
    one = machine()
    after: list[Any] = []
    one.after_state = lambda source, made: after.append((source, made))
    mine, ordered = Made(Global("mine", "Net"), ()), Made(Global("collections", "OrderedDict"), ())
    for made in (mine, ordered):
        one.set_state(made, {"a": 1})
        assert made.state == {"a": 1}
    assert after == [(one.stream, mine), (one.stream, ordered)]
    assert reached(one) == [("mine.Net", "call", False)]
    changed = machine()
    changed.set_state(Global("os", "environ"), 1)
    changed.extend(Global("a", "b"), [1])
    changed.set_items(Global("c", "d"), [1, 2])
    assert reached(changed) == [("os.environ", "change", False), ("a.b", "change", False), ("c.d", "change", False)]
    items, pairs = [1], Dictionary([("a", 1)])
    one.extend(items, [2, 3])
    one.extend(mine, [2, 3])
    one.set_items(pairs, ["b", 2, "a", 3])
    one.set_items(ordered, ["b", 2])
    assert (items, mine.items, ordered.items) == ([1, 2, 3], [2, 3], [("b", 2)])
    assert (pairs.pairs, pairs.get("a"), pairs.get("c")) == ([("a", 1), ("b", 2), ("a", 3)], 3, None)
    with pytest.raises(PickleError, match=r"^a key without a value$"):
        one.set_items(pairs, [1])


def test_counts() -> None:
    assert [is_count(value) for value in (0, 2**63 - 1, 2**63, -1, True, 1.0, "1", None)] == [True, True, *[False] * 6]
    assert Reached("a", "b", "name", True).path == "a.b"
