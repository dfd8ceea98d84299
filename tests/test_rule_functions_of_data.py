"""Small decisions of the rules on data and on programs: runs of bytes, usual sizes, names that Python imports."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from every import every
from made_up import seen

from inspector.auditing.readers import document_objects
from inspector.auditing.safety import programs
from inspector.auditing.values import lost_bits, misplaced_bytes, plausibility
from inspector.auditing.values.numbers.facts import Run
from inspector.auditing.values.numbers.peers import PAGE, TensorData
from inspector.sources.listing import Entry

P = PAGE


@pytest.mark.parametrize(
    ("run", "parts"),
    [
        (Run(0, P), [Run(0, P)]),
        (Run(0, P + 1), [Run(0, P + 1), Run(0, P), Run(P, 2 * P)]),
        (Run(0, 2 * P), [Run(0, 2 * P), Run(0, P), Run(P, 2 * P)]),
        (Run(P, 4 * P), [Run(P, 4 * P), Run(2 * P, 3 * P), Run(P, 2 * P), Run(2 * P, 3 * P), Run(3 * P, 4 * P)]),
        (Run(0, 4 * P), [Run(0, 4 * P), Run(P, 3 * P)]),
    ],
)
def test_parts_of_a_run_of_pages(run: Run, parts: list[Run]) -> None:
    assert list(lost_bits._likely_noise(run)) == parts


@pytest.mark.parametrize(("mask", "verb"), [(1, "is"), (2, "is"), (3, "are"), (0x81, "are")])
def test_one_bit_or_several(mask: int, verb: str) -> None:
    assert lost_bits._is_or_are(mask) == verb


def test_the_data_beside_a_range() -> None:
    one = seen(shape=(128, 128))
    start, end, part = one.extent.start, one.extent.end, lost_bits.PART
    assert lost_bits._longer_side(one, Run(start, start + 64, 0, 0)) == Run(start + 64, end)
    assert lost_bits._longer_side(one, Run(end - 64, end, 0, 0)) == Run(max(start, end - 64 - part), end - 64)
    middle = (start + end) // 2
    assert lost_bits._longer_side(one, Run(middle - 64, middle + 64, 0, 0)) == Run(middle + 64, end)  # as long


def test_the_longest_ranges_first() -> None:
    held = [Run(100 * at, 100 * at + at, 0, 0) for at in range(1, 12)]
    assert [each.size for each in lost_bits._longest(held)] == [11, 10, 9, 8, 7, 6, 5, 4]


@pytest.mark.parametrize(
    ("place", "near", "ends"),
    [(0, 0, True), (1, 0, False), (1, 1, True), (-1, 1, True), (-2, 1, False), (-1, 0, False)],
)
def test_the_end_of_a_row(place: int, near: int, ends: bool) -> None:
    one = seen(shape=(128, 128), offset=640)
    assert one.is_row_end(640 + one.row + place, near) == ends


@pytest.mark.parametrize(
    ("cells", "evenness", "share"), [(4, 2.0, 0.5), (4, 4.0, 1.0), (0, 3.0, 1.0), (0, 0.0, 1.0), (2, 0.0, 0.0)]
)
def test_the_share_of_noise(cells: int, evenness: float, share: float) -> None:
    facts = SimpleNamespace(cells=cells, evenness=evenness)
    own: Any = SimpleNamespace(facts=facts)
    assert lost_bits._share(own) == share


@every(
    ("factor", "others", "other_way"),
    [
        (-4.0, [4.0, 4.0, 4.0], True), (4.0, [4.0, 4.0, 4.0], False), (-4.0, [-4.0, -4.0, -4.0], False),
        (-4.0, [4.0, -4.0, 4.0], False), (0.0, [4.0, 4.0, 4.0], False), (4.0, [-4.0, -4.0, -4.0], True),
        (-4.0, [0.0, 4.0, 4.0], False), (-0.01, [0.01, 0.01, 0.01], False),
    ],
)  # fmt: skip
def test_an_order_the_other_way_round(factor: float, others: list[float], other_way: bool) -> None:
    assert misplaced_bytes._is_other_way(factor, others) == other_way


def test_the_larger_of_two_comes_first() -> None:
    one, other = seen("q_proj"), seen("k_proj")
    assert misplaced_bytes._larger_first(one, other, 2.0) == (one, other, 2.0)
    assert misplaced_bytes._larger_first(one, other, -2.0) == (other, one, 2.0)


@pytest.mark.parametrize(
    ("values", "usual"),
    [
        ([4.0], (2.0, 0.0)), ([1.0, 4.0, 16.0], (2.0, 2 * 1.4826)), ([4.0, 4.0, 4.0, 1024.0], (2.0, 0.0)), ([], None),
        ([0.0], None), ([0.0, 8.0], (3.0, 0.0)),
    ],
)  # fmt: skip
def test_usual_sizes_in_powers_of_two(values: list[float], usual: tuple[float, float] | None) -> None:
    found = plausibility._median_and_deviation(values)
    assert found == (None if usual is None else pytest.approx(usual))


@pytest.mark.parametrize(("value", "apart"), [(16.0, 2.0), (1.0, -2.0), (4.0, 0.0), (0.0, -2.0)])
def test_how_far_a_size_is_apart(value: float, apart: float) -> None:
    assert plausibility._octaves_above(value, (2.0, 1.0)) == apart


def test_an_adapter_is_one_throughout() -> None:
    inner: list[TensorData] = [seen(group="adapter"), seen("k_proj", group="adapter")]
    assert plausibility._is_adapter(inner)
    assert not plausibility._is_adapter([*inner, seen("v_proj")])


def test_the_largest_in_words() -> None:
    assert plausibility._the_largest(seen()) == "the largest magnitude"
    assert plausibility._the_largest(seen(dtype="Q8_0", shape=(128, 256))) == "the largest scale of a block"


@every(
    ("path", "name"),
    [
        ("torch.py", "torch"), ("torch.pyc", "torch"), ("torch.cpython-311-x86_64-linux-gnu.so", "torch"), ("torch.pyd", "torch"),
        ("torch.txt", ""), ("a/torch.py", ""), ("torch/__init__.py", "torch"), ("a/torch/__init__.py", ""), ("__init__.py", "__init__"),
        ("torch", ""),
    ],
)  # fmt: skip
def test_names_under_which_python_imports_a_file(path: str, name: str) -> None:
    assert programs._import_name(Entry(path, "file", 1)) == name


@pytest.mark.parametrize(
    ("path", "source"),
    [("a/__pycache__/b.cpython-311.pyc", "a/b.py"), ("__pycache__/b.pyc", "b.py"), ("a/b.pyc", "a/b.py")],
)
def test_the_source_of_compiled_python(path: str, source: str) -> None:
    assert programs._source_of(Entry(path, "file", 1)) == source


@every(
    ("raw", "text"),
    [
        (b"abc", "abc"), ("größe".encode(), "größe"), (b"\xff\xfea\0", "a"), (b"\xfe\xff\0a", "a"), (b"\xff", "\ufffd"),
        (b"\xff\xfe\0\0a\0\0\0", "a"), (b"\0\0\xfe\xff\0\0\0a", "a"), (b"", ""),
    ],
)  # fmt: skip
def test_encodings_of_yaml(raw: bytes, text: str) -> None:
    assert document_objects.text_of(raw).lstrip("\ufeff") == text


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("_target_: os.system", ["`_target_` names os.system, which can run anything"]),
        ("_target_: mine.Model", []),
        ("target: os.system", ["`target` names os.system, which can run anything"]),  # latent diffusion creates it
        ("targets: os.system", []),
        ("x: &a os.system\n_target_: *a", ["`_target_` names os.system, which can run anything"]),
        ("x: &b os.system\n_target_: *a", []),
    ],
)
def test_targets_of_hydra(text: str, stated: list[str]) -> None:
    assert list(document_objects.in_text(text, is_json=False)) == stated
