"""Random and mutated GGUF files give an InspectorError or a header whose regions partition the file."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import gguf as reference
from fuzzing import examples
from gguf_bytes import ARRAY, STRING, Array, Info, Recipe
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory import Growing

from inspector.errors import FormatError
from inspector.formats import gguf
from inspector.formats.ggml import TYPES
from inspector.formats.gguf.values import KeyValues
from inspector.sources.local import LocalFile


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


@settings(max_examples=examples(400), deadline=None)
@given(recipe, st.lists(info, max_size=4))
def test_nothing_escapes_whatever_the_fields_say(made: Recipe, infos: list[Info]) -> None:
    check(bytes_of(made, infos))


@settings(max_examples=examples(400), deadline=None)
@given(st.data())
def test_nothing_escapes_from_a_mutated_file(data: st.DataObject) -> None:
    """Bytes changed, cut out or inserted anywhere in a sound file."""
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


@settings(max_examples=examples(200), deadline=None)
@given(recipe, st.lists(info, max_size=3), st.integers(0, 64))
def test_the_answer_does_not_depend_on_how_bytes_arrive(made: Recipe, infos: list[Info], slack: int) -> None:
    """A source that grows byte by byte gives the same as a mapped file."""
    content = bytes_of(made, infos)
    assert check(content, slack) == check(content, len(content))


values = st.one_of(
    st.tuples(st.just(4), st.integers(0, 2**32 - 1)),
    st.tuples(st.just(11), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just(12), st.floats(allow_nan=False)),
    st.tuples(st.just(7), st.booleans()),
    st.tuples(st.just(STRING), st.text(max_size=20)),
    st.lists(st.text(max_size=5), min_size=1, max_size=5).map(lambda items: (ARRAY, Array(STRING, items))),
    st.lists(st.integers(0, 255), min_size=1, max_size=9).map(lambda items: (ARRAY, Array(0, items))),
)
names = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=1, max_size=15)


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([2, 3]),
    st.sampled_from("<>"),
    st.dictionaries(names, values, max_size=5),
    st.dictionaries(
        names, st.tuples(st.lists(st.integers(1, 4), max_size=4), st.sampled_from([0, 1, 8, 12])), max_size=4
    ),
)
def test_sound_files_are_read_as_the_package_reads_them(
    tmp_path: Path, version: int, order: str, pairs: dict[str, Any], tensors: dict[str, Any]
) -> None:
    """Whatever the keys, values, names, shapes and types, both readers agree."""
    infos, end = [], 0
    for name, (dims, kind) in tensors.items():
        block, size = TYPES[kind].block, TYPES[kind].nbytes
        dims = [block * 2, *dims[1:]]
        infos.append(Info(name, dims, kind, end))
        end += -(-prod(dims) // block * size // 32) * 32
    made = Recipe(version, order, pairs=[(k, *value) for k, value in pairs.items()], infos=infos, data=bytes(end))
    path = tmp_path / "sound.gguf"
    path.write_bytes(made.file())
    header, theirs = gguf.read(LocalFile(path), "sound.gguf"), reference.GGUFReader(path)
    assert {k: f.contents() for k, f in theirs.fields.items() if not k.startswith("GGUF.")} == dict(header.metadata)
    assert [(t.name, t.shape, t.offset, t.nbytes) for t in header.tensors] == [
        (t.name, tuple(int(d) for d in reversed(t.shape)), t.data_offset, t.n_bytes) for t in theirs.tensors
    ]
    # Odd characters in names are reported, and read all the same.
    assert {f.severity for f in header.findings if f.rule != "control-character"} <= {"info"}


@settings(max_examples=examples(300), deadline=None)
@given(st.binary(max_size=300))
def test_nothing_escapes_from_random_bytes(tail: bytes) -> None:
    check(b"GGUF" + tail)
