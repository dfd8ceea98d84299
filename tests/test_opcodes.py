"""The interpreter of pickles against Python's own: what plain values become, and what any bytes may not do."""

from __future__ import annotations

import pickle
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.formats.pytorch.machine import Budget
from inspector.formats.pytorch.sequence import programs
from inspector.formats.pytorch.stream import Stream
from inspector.formats.pytorch.values import Dictionary

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
    """The interpreter's value in Python's own containers; of a key that is written twice, the last value."""
    if isinstance(value, Dictionary):
        return {plain(key): plain(each) for key, each in value.pairs}
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    return value


@settings(max_examples=400, deadline=None)
@given(VALUES, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_plain_values_are_what_python_makes_of_them(value: Any, protocol: int) -> None:
    """By any protocol, shared parts and memo included; and nothing is reached."""
    shared = [value, value]
    program = programs(Stream.of(pickle.dumps(shared, protocol)), Budget(100_000), most=1)[0]
    assert program.damage is None
    assert {each.path for each in program.reached} <= {"_codecs.encode", "__builtin__.bytes", "builtins.bytes"}
    if not program.reached:  # below protocol 3, bytes are a call
        assert plain(program.value) == shared


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_end_in_a_value_or_in_damage(data: bytes) -> None:
    """Nothing is raised, whatever a stranger writes."""
    for program in programs(Stream.of(data), Budget(10_000)):
        assert program.damage is None or isinstance(program.damage, str)


@settings(max_examples=300, deadline=None)
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
