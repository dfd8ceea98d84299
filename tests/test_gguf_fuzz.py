"""Random and mutated GGUF files: an InspectorError or a header whose regions partition the file, and nothing else."""

from __future__ import annotations

from typing import Any

from gguf_bytes import ARRAY, STRING, Array, Info, Recipe
from hypothesis import given, settings
from hypothesis import strategies as st
from memory import Growing

from inspector.errors import FormatError
from inspector.formats import gguf
from inspector.formats.gguf_values import KeyValues


def check(content: bytes, slack: int = 0) -> Any:
    source = Growing(content, slack)
    try:
        header = gguf.read(source, "x.gguf")
    except FormatError as error:
        assert "\n" not in str(error)
        return str(error)
    at = 0
    for region in header.regions:
        assert region.start == at < region.end
        at = region.end
    assert at == len(content)
    assert isinstance(header.metadata, KeyValues)
    return header, {key: repr(header.metadata[key]) for key in header.metadata}


small = st.integers(0, 40) | st.integers(0, 2**64 - 1)
scalar = st.sampled_from([(0, 7), (4, 9), (7, 1), (10, 2**40), (STRING, "text"), (STRING, b"\xff\x00"), (STRING, "")])
array = st.sampled_from(
    [Array(0, [1, 2]), Array(STRING, ["a", ""]), Array(ARRAY, [Array(4, [1])]), Array(STRING, [], 2**62), Array(77, [])]
)
pair = st.tuples(
    st.sampled_from(["", "a", "general.alignment", "tokenizer.x", "x" * 300]), scalar | array.map(lambda a: (ARRAY, a))
)
info = st.builds(
    Info,
    st.sampled_from(["a", "blk.0.attn_q.weight", "", b"\xfe"]),
    st.lists(small, max_size=6),
    st.sampled_from([0, 1, 2, 12, 4, 99]),
    small.map(lambda offset: offset * 32 % 2**64) | small,
    st.none() | st.integers(0, 2**32 - 1),
    st.none() | small,
)
recipe = st.builds(
    Recipe,
    version=st.sampled_from([1, 2, 3, 3, 3, 0, 4]),
    order=st.sampled_from("<>"),
    pairs=st.lists(pair.map(lambda p: (p[0], *p[1])), max_size=4),
    infos=st.just([]),
    data=st.binary(max_size=200),
    n_tensors=st.none() | small,
    n_pairs=st.none() | small,
)


def bytes_of(made: Recipe, infos: list[Info]) -> bytes:
    if made.version == 1:  # its fields are narrow
        infos = [Info(i.name, [d % 2**32 for d in i.dims], i.type, i.offset, i.n_dims) for i in infos]
        made.pairs = [(k, t, v) for k, t, v in made.pairs if not (isinstance(v, Array) and v.count)]
        made.n_tensors, made.n_pairs = None, None
    made.infos = infos
    return made.file()


@settings(max_examples=400, deadline=None)
@given(recipe, st.lists(info, max_size=4))
def test_nothing_escapes_whatever_the_fields_say(made: Recipe, infos: list[Info]) -> None:
    check(bytes_of(made, infos))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_nothing_escapes_from_a_mutated_file(data: st.DataObject) -> None:
    """Bytes changed, cut out or put in anywhere in a sound file."""
    pairs = [
        ("general.alignment", 4, 32),
        ("t", ARRAY, Array(STRING, ["ab", "c"])),
        ("n", ARRAY, Array(ARRAY, [Array(0, [1])])),
    ]
    content = bytearray(
        Recipe(pairs=pairs, infos=[Info("a", [32, 2], 2), Info("b", [4], 0, 64)], data=bytes(96)).file()
    )
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.sampled_from([0, 1, 1, 1, 8]))] = data.draw(st.binary(max_size=9))
    check(bytes(content))


@settings(max_examples=200, deadline=None)
@given(recipe, st.lists(info, max_size=3), st.integers(0, 64))
def test_the_answer_does_not_depend_on_how_bytes_arrive(made: Recipe, infos: list[Info], slack: int) -> None:
    """A source that grows byte by byte gives what a mapped file gives."""
    content = bytes_of(made, infos)
    assert check(content, slack) == check(content, len(content))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_nothing_escapes_from_random_bytes(tail: bytes) -> None:
    check(b"GGUF" + tail)
