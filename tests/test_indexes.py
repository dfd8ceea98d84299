"""The index's own reader against `json.loads`: the same map of any document, or an error where JSON has none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fuzzing import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.errors import FormatError
from inspector.formats.findings import Findings
from inspector.model import Finding, Index
from inspector.opening.index import MAX_FILES, read_index
from inspector.sources.local import LocalPlace

NAME = "model.safetensors.index.json"
QUICK = settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
Read = Callable[[bytes], tuple[Index, tuple[Finding, ...]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Bytes of an index → its content, and the findings."""

    def reader(raw: bytes) -> tuple[Index, tuple[Finding, ...]]:
        (tmp_path / NAME).write_bytes(raw)
        place, findings = LocalPlace(tmp_path), Findings(NAME)
        try:
            return read_index(place, NAME, findings), findings.all()
        finally:
            place.close()

    return reader


texts = st.text(alphabet=st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["weight_map", "metadata", "\0", "{}"]
)
scalars = st.none() | st.booleans() | st.integers() | texts
documents = st.fixed_dictionaries(
    {"weight_map": st.dictionaries(texts, texts, max_size=6)},
    optional={
        "metadata": st.dictionaries(texts, scalars, max_size=3),
        "before": st.fixed_dictionaries({"weight_map": st.dictionaries(texts, texts, max_size=2)}),
        "x": scalars,
    },
)


@QUICK
@given(documents, st.sampled_from([None, 1, "\t"]), st.booleans(), st.randoms())
def test_reads_as_json_does(read: Read, document: dict[str, Any], indent: Any, ascii_only: bool, random: Any) -> None:
    """Any names, white space, escapes and order of fields."""
    fields = list(document.items())
    random.shuffle(fields)
    index, findings = read(json.dumps(dict(fields), indent=indent, ensure_ascii=ascii_only).encode())
    assert index.weight_map == document["weight_map"]
    assert index.metadata == document.get("metadata", {})
    assert findings == ()


@QUICK
@given(st.binary(max_size=6), st.integers(0, 90), st.integers(0, 6))
def test_damage_is_not_an_index(read: Read, noise: bytes, at: int, cut: int) -> None:
    """Whatever bytes change, the result is JSON's or an error."""
    raw = b'{"metadata": {"total_size": 12}, "weight_map": {"a.b": "x.safetensors", "c\\u0041": "y.safetensors"}}'
    raw = raw[:at] + noise + raw[at + cut :]
    try:
        expected = json.loads(raw.decode("utf-8-sig"))["weight_map"]
        assert all(isinstance(file, str) for file in expected.values())
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError):
        with pytest.raises(FormatError):
            read(raw)
    else:
        assert read(raw)[0].weight_map == expected


def test_names_that_stand_twice(read: Read) -> None:
    """The last one counts, as in JSON; differing ones are a warning."""
    index, findings = read(b'{"weight_map": {"a": "x", "b": "y", "a": "z", "b": "y"}}')
    assert index.weight_map == {"a": "z", "b": "y"}
    assert [(finding.rule, finding.severity, finding.tensor) for finding in findings] == [
        ("duplicate-field", "warning", "a"),
        ("duplicate-field", "info", "b"),
    ]


def test_more_files_than_any_model(read: Read) -> None:
    """A map that names more files than are ever read is refused before they are looked for."""
    names = {f"{number}": f"{number}.safetensors" for number in range(MAX_FILES + 1)}
    with pytest.raises(FormatError, match="10,000 files"):
        read(json.dumps({"weight_map": names}).encode())
