"""The interpreter of pickles against Python's own: values of plain pickles, and safety on any bytes."""

from __future__ import annotations

import io
import pickle
from typing import Any

import pytest
from every import every
from fuzzing import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.formats.pytorch.machine import Budget, Stream
from inspector.formats.pytorch.program import MAGIC, is_legacy, programs, run
from inspector.formats.pytorch.values import Blob, Dictionary, Global, Made, Opaque, Persistent, Reached

ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
)
KEYS = st.one_of(st.integers(), st.text(), st.binary(), st.tuples(st.integers(), st.text()))
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(st.lists(inner), st.tuples(inner, inner), st.dictionaries(KEYS, inner), st.tuples()),
    max_leaves=20,
)


def plain(value: Any) -> Any:
    """The interpreter's value in Python's own containers; for a repeated key, the last value."""
    if isinstance(value, Dictionary):
        return {plain(key): plain(each) for key, each in value.pairs}
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    return value


@settings(max_examples=examples(400), deadline=None)
@given(VALUES, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_plain_values_are_what_python_makes_of_them(value: Any, protocol: int) -> None:
    """In any protocol, shared parts and memo included; and no name is reached."""
    shared = [value, value]
    program = programs(Stream.of(pickle.dumps(shared, protocol)), Budget(100_000), most=1)[0]
    assert program.damage is None
    assert {each.path for each in program.reached} <= {"_codecs.encode", "__builtin__.bytes", "builtins.bytes"}
    if not program.reached:  # below protocol 3, bytes are a call
        assert plain(program.value) == shared


@settings(max_examples=examples(400), deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_end_in_a_value_or_in_damage(data: bytes) -> None:
    """No exception is raised, whatever a stranger writes."""
    for program in programs(Stream.of(data), Budget(10_000)):
        assert program.damage is None or isinstance(program.damage, str)


@settings(max_examples=examples(300), deadline=None)
@given(VALUES, st.integers(0, pickle.HIGHEST_PROTOCOL), st.data())
def test_a_pickle_that_is_cut_or_changed_raises_nothing(value: Any, protocol: int, data: st.DataObject) -> None:
    raw = bytearray(pickle.dumps(value, protocol))
    at = data.draw(st.integers(0, len(raw) - 1))
    if data.draw(st.booleans()):
        del raw[at:]
    else:
        raw[at] = data.draw(st.integers(0, 255))
    found = programs(Stream.of(bytes(raw)), Budget(10_000), most=1)
    assert len(found) == 1


# --- one opcode after the other -------------------------------------------------------------------


class _Outside(pickle.Unpickler):
    """Python's own unpickler, which keeps persistent objects as their ids."""

    def persistent_load(self, pid: Any) -> Any:
        return ("outside", pid)


#: Written by hand from the comments of CPython's `pickletools.py`; Python's own unpickler reads them, too.
SOUND = [
    *(b"I00\n.", b"I01\n.", b"I12\n.", b"I-7\n.", b"L12L\n.", b"L-3\n.", b"L0x10L\n.", b"F-1.5\n."),
    *(b"J\xff\xff\xff\xff.", b"J\0\0\0\x80.", b"K\xff.", b"M\x01\x02.", b"\x8a\0.", b"\x8a\x02\0\x80."),
    *(b"\x8b\x03\0\0\0\x01\x02\x03.", b"\x8b\0\0\0\0.", b"G\x3f\xf8\0\0\0\0\0\0."),
    *(b"N.", b"\x88.", b"\x89."),
    *(b"S'a'\n.", b'S"it\'s"\n.', b"S''\n.", b"S'\\x41\\n\\'\\\\'\n.", b"S'\\101\\60'\n."),
    *(b"Vsyste\\u006d\n.", b"V\n.", b"U\x02ab.", b"T\x02\0\0\0ab.", b"X\x03\0\0\0a\xc3\xa9.", b"\x8c\x01a."),
    *(b"\x8d\x01\0\0\0\0\0\0\0a.", b"\x8c\x03\xed\xa0\x80."),
    *(b"B\x02\0\0\0\0\xff.", b"C\x01\xff.", b"\x8e\x01\0\0\0\0\0\0\0x."),
    *(b").", b"].", b"}.", b"(t.", b"(l.", b"(d.", b"(K\1K\2t.", b"(K\1K\2l.", b"(K\1K\2K\1K\3d."),
    *(b"K\1\x85.", b"K\1K\2\x86.", b"K\1K\2K\3\x87.", b"]K\1a.", b"](K\1K\2e.", b"}K\1K\2s.", b"}(K\1K\2K\3K\4u."),
    *(b"K\1K\x020.", b"(K\1K\2" + b"1N.", b"K\1(0.", b"K\1K\2" + b"2\x87.", b"(K\1(K\2t0t."),
    *(b"K\1p3\nK\2q\4r\5\0\0\x010g3\n.", b"K\1q\x070h\7.", b"K\1r\0\1\0\x000j\0\1\0\0."),
    *(b"K\7\x94K\x08\x9400h\1.", b"K\7q\1K\x09\x940h\1."),
    *(b"K\7q\1K\x08q\x010h\1.", b"\x80\5N.", b"\x80\0N.", b"\x95\1\0\0\0\0\0\0\0N.", b"C\1a\x98."),
    *(b"Pkey 1\n.", b"K\1K\2\x86Q."),
]  # fmt: skip


def python(data: bytes) -> Any:
    return _Outside(io.BytesIO(data), encoding="latin1").load()


def spelled(value: Any) -> Any:
    return ("outside", value.key) if isinstance(value, Persistent) else plain(value)


@every("data", SOUND)
def test_each_opcode_is_pythons(data: bytes) -> None:
    program = run(Stream.of(data), Budget(100))
    assert (program.damage, program.start, program.end) == (None, 0, len(data))
    found, own = spelled(program.value), python(data)
    assert (found, type(found)) == (own, type(own))


@every(
    ("data", "value"),
    [
        (b"\x8f(K\1K\2\x90.", [1, 2]),  # sets are lists here: their items may be anything
        (b"(K\1K\2\x91.", (1, 2)),
        (b"\x96\2\0\0\0\0\0\0\0ab.", b"ab"),
        (b"S'\\q'\n.", "\\q"),  # Python warns about these
        (b"S'\\501'\n.", "A"),  # 0o501 in eight bits is 0o101
        (b"I010\n.", 8),  # C's `strtol` decides, in `_pickle.c`
        (b"I\n.", 0),
        (b"L7\0x\n.", 7),
        (b"F0.5\0x\n.", 0.5),
        (b"U\1\xff.", "�"),
        (b"U\2\xc3\xa9.", "é"),
    ],
)
def test_literals_of_other_writers_have_the_values_that_unpicklers_give(data: bytes, value: Any) -> None:
    assert run(Stream.of(data), Budget(100)).value == value


EMPTY, DIGITS = "it pops from an empty stack", "an implausibly long number"
UNFIT, ENDS = "a value that does not fit its opcode", "it ends in the middle of a value"


@every(
    ("data", "damage"),
    [
        (b"", "it has no end"),
        (b"N", "it has no end"),
        (b".", EMPTY),
        (b"\xff.", "no opcode has the number 255"),
        (b"\x80\6N.", "a protocol that Python does not have"),
        (b"\x97.", "it needs buffers that are not in the file"),
        (b"I" + b"1" * 4300 + b"\n.", None),
        (b"I" + b"1" * 4301 + b"\n.", DIGITS),
        (b"I" + b"1" * 70_000 + b"\n.", DIGITS),
        (b"I" + b"1" * 4200 + b"y" + b"1" * 200 + b"\n.", "a number with characters that are not digits"),
        (b"F" + b"1" * 4300 + b"\n.", None),
        (b"F" + b"1" * 4301 + b"\n.", DIGITS),
        (b"Np" + b"0" * 4300 + b"\n.", None),
        (b"Np" + b"0" * 4301 + b"\n.", DIGITS),
        (b"I09\n.", UNFIT),
        (b"Ix\n.", UNFIT),
        (b"I1.", "a line without an end"),
        (b"T\xff\xff\xff\xff.", "a length below zero"),
        (b"\x8b\xff\xff\xff\xff.", "a length below zero"),
        (b"T\0\0\0\0.", None),
        (b"X\4\0\0\0abc", ENDS),
        (b"K.", "it has no end"),
        (b"M.", ENDS),
        (b"S'a\n.", "a string without its quotes"),
        (b"S'a\"\n.", "a string without its quotes"),
        (b"S'\n.", "a string without its quotes"),
        (b"Saa\n.", "a string without its quotes"),
        (b"Np-1\n.", "a negative memo index"),
        (b"Np0\n.", None),
        (b"h\0.", "it reads a memo entry that it did not store"),
        (b"t.", "it goes back to a mark that it did not set"),
        (b"(o.", EMPTY),
        (b"(N(a.", EMPTY),
        (b"K\1\x86.", EMPTY),
        (b"}K\1s.", EMPTY),
        (b"}(K\1u.", "a key without a value"),
        (b"(N(.", EMPTY),
        (b"N\x85R.", EMPTY),
    ],
)
def test_an_invalid_program_is_damaged_and_its_valid_neighbour_not(data: bytes, damage: str | None) -> None:
    """Invalid programs, each beside the nearest valid one."""
    assert run(Stream.of(data), Budget(100)).damage == damage


def test_numbers_of_more_bytes_than_are_kept() -> None:
    """65,536 bytes are a number; of one byte more only the place is known."""
    long = run(Stream.of(b"\x8b\0\0\1\0" + b"\1" * 65_536 + b"."), Budget(9))
    assert long.value == int.from_bytes(b"\1" * 65_536, "little")
    longer = run(Stream.of(b"\x8b\1\0\1\0" + b"\1" * 65_537 + b"."), Budget(9))
    assert (type(longer.value), longer.damage) == (Opaque, None)
    text = run(Stream.of(b"X\1\0\1\0" + b"a" * 65_537 + b"."), Budget(9))
    assert text.value == Blob(5, 65_537)


@pytest.mark.parametrize("data", [b"X\x0a\0\0\0" + b"a" * 10, b"S'aaaaaaaa'\n", b"Vaaaaaaaaaa\n", b"C\x0a" + b"a" * 10])
def test_ten_bytes_are_kept_where_ten_may_be(data: bytes) -> None:
    """The limit is exact: 9 bytes are too few."""
    assert run(Stream.of(data + b"."), Budget(9, kept=10)).damage is None
    beyond = run(Stream.of(data + b"."), Budget(9, kept=9))
    assert (beyond.damage, beyond.beyond) == ("too much text", True)


def test_the_most_opcodes() -> None:
    """`N` and `STOP` are two; opcodes of one pickle count against the next."""
    budget = Budget(3)
    assert run(Stream.of(b"N."), budget).damage is None
    beyond = run(Stream.of(b"N."), budget)
    assert (beyond.damage, beyond.beyond, budget.steps) == ("too many opcodes", True, 0)
    assert run(Stream.of(b"t."), Budget(9)).beyond is False


CALLS = {
    "reduce": b"cmine\nf\nK\1\x85R.",
    "new object": b"cmine\nf\nK\1\x85\x81.",
    "names from the stack": b"\x8c\4mine\x8c\1f\x93K\1\x85R.",
    "object": b"(cmine\nf\nK\1o.",
    "instance": b"(K\1imine\nf\n.",
    "new object without names": b"cmine\nf\nK\1\x85}\x92.",
    "new object, names None": b"cmine\nf\nK\1\x85N\x92.",
}


@pytest.mark.parametrize("how", CALLS)
def test_ways_to_call(how: str) -> None:
    program = run(Stream.of(CALLS[how]), Budget(99))
    assert isinstance(program.value, Made)
    assert (program.value.path, program.value.arguments, program.value.named) == ("mine.f", (1,), None)
    assert [(each.path, each.use, each.known) for each in program.reached] == [
        ("mine.f", "name", False),
        ("mine.f", "call", False),
    ]


def test_an_object_keeps_its_state_items_and_named_arguments() -> None:
    """A state, items and pairs; and arguments with names."""
    made = run(Stream.of(b"cmine\nf\n)R}K\1K\2sbK\3a(K\4e(K\5K\6u."), Budget(99)).value
    assert (plain(made.state), made.items) == ({1: 2}, [3, 4, (5, 6)])
    named = run(Stream.of(b"cmine\nf\n)}K\1K\2s\x92."), Budget(99)).value
    assert plain(named.named) == {1: 2}
    assert run(Stream.of(b"cmine\nf\n)N\x92."), Budget(99)).value.named is None


@pytest.mark.parametrize(("data", "number"), [(b"\x82\7.", 7), (b"\x83\1\2.", 513), (b"\x84\1\0\0\1.", 16_777_217)])
def test_names_behind_a_number(data: bytes, number: int) -> None:
    program = run(Stream.of(data), Budget(9))
    assert isinstance(program.value, Global)
    assert [*program.reached] == [Reached("", f"extension code {number}", "name", False)]


# --- pickles in a row ---------------------------------------------------------------------------


def joblib(array: bytes, dtype: bytes, aligned: bytes = b"") -> bytes:
    """A dictionary with an array of three numbers, whose bytes follow its wrapper, and a text after them."""
    wrapper = b"cjoblib.numpy_pickle\nNumpyArrayWrapper\n)\x81}(U\x05shapeK\3\x85U\5dtypecnumpy\ndtype\n" + dtype
    return b"\x80\x02}(U\1a" + wrapper + b"\x85R" + aligned + b"ub" + array + b"U\1bU\4lastu."


ALIGNED = b"U\x1bnumpy_array_alignment_bytesK\x10"


@pytest.mark.parametrize(
    ("array", "dtype", "aligned"),
    [
        (b"\xff" * 12, b"U\2f4", b""),
        (b"\xff" * 24, b"U\3<i8", b""),
        (b"\xff" * 60, b"U\2U5", b""),  # five characters of four bytes
        (b"\xff" * 15, b"U\2S5", b""),
        (b"\5" + b"\xff" * 5 + b"\xff" * 12, b"U\2f4", ALIGNED),  # a byte gives the length of the padding
        (b"\0" + b"\xff" * 12, b"U\2f4", ALIGNED),
        (b"\x80\x02]U\1xa.", b"U\2O8", b""),  # objects are a pickle of its own, with a memo and an end of its own
    ],
)
def test_arrays_between_opcodes_are_passed_over(array: bytes, dtype: bytes, aligned: bytes) -> None:
    (found,) = programs(Stream.of(joblib(array, dtype, aligned)), Budget(999))
    assert found.damage is None
    assert isinstance(found.value, Dictionary)
    assert found.value.get("b") == "last"


@pytest.mark.parametrize("dtype", [b"U\2xx", b"K\4", b"U\x08f1234567", b"U\2f-"])
def test_arrays_of_no_width_are_read_as_opcodes(dtype: bytes) -> None:
    """Nothing is skipped: what the bytes reach is reported."""
    (found,) = programs(Stream.of(joblib(b"cos\nsystem\n0\xff", dtype)), Budget(999))
    assert found.damage == "no opcode has the number 255"
    assert "os.system" in {each.path for each in found.reached}


def test_a_joblib_array_of_objects_has_a_memo_of_its_own() -> None:
    """pickle.load reads on in the outer one, meets a dictionary instead of the text "mine", and ends."""
    data = joblib(b"\x80\x04\x8c\4mine\x940h\0\x8c\1f\x93.", b"U\1O").replace(b"}(", b"}\x94(", 1)
    (found,) = programs(Stream.of(data), Budget(999))
    assert (found.damage, found.oddity) == (None, None)
    assert {each.path for each in found.reached} == {"joblib.numpy_pickle.NumpyArrayWrapper", "numpy.dtype", "mine.f"}


def test_names_in_a_joblib_array_of_objects_are_reached() -> None:
    """joblib's read_array calls pickle.load for it: what joblib.dump(np.array(["a"], dtype=object)) writes."""
    for code in (b"cmine\nf\n.", b"\x80\x04\x8c\4mine\x8c\1f\x93."):
        (found,) = programs(Stream.of(joblib(code, b"U\1O")), Budget(999))
        assert (found.damage, found.oddity) == (None, None)
        assert "mine.f" in {each.path for each in found.reached}
    (found,) = programs(Stream.of(joblib(b"cmine\nf\n\xff", b"U\1O")), Budget(999))
    assert found.damage == "no opcode has the number 255"
    (found,) = programs(Stream.of(joblib(b"]" * 50 + b".", b"U\1O")), Budget(40))
    assert found.beyond


def test_names_of_both_readings_of_an_array_are_reached() -> None:
    """Four bytes of an array that are valid opcodes: a list, which an unpickler of another kind would see."""
    (found,) = programs(Stream.of(joblib(b"cm\nf\n0\xff.....", b"U\2f4")), Budget(999))
    assert found.damage is None
    assert "m.f" in {each.path for each in found.reached}


def test_how_many_pickles_are_kept() -> None:
    """The first five; of others those that reach a name, and the last if it is damaged."""
    one, name = b"K\1.", b"cm\nf\n."
    assert len(programs(Stream.of(one * 9), Budget(999))) == 5
    assert [len(each.reached) for each in programs(Stream.of(one * 7 + name + one), Budget(999))] == [0] * 5 + [1]
    assert [each.damage for each in programs(Stream.of(one * 7 + b"\xff"), Budget(999))][5:] == [
        "no opcode has the number 255"
    ]
    assert len(programs(Stream.of(one * 9), Budget(999), most=3)) == 3
    assert [each.start for each in programs(Stream.of(one * 2), Budget(999))] == [0, 3]


@pytest.mark.parametrize(
    ("value", "legacy"),
    [(MAGIC, True), (MAGIC + 1, False), (5, False), (float(MAGIC), False), ("x", False), (None, False)],
)
def test_the_first_number_of_pytorchs_first_format(value: Any, legacy: bool) -> None:
    found = programs(Stream.of(pickle.dumps(value, 2)), Budget(99))
    assert is_legacy(found) is legacy
    assert not is_legacy([])
    assert not is_legacy([found[0]._replace(damage="cut")])
