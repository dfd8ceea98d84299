"""Hypothesis against whatever the audit parses: it ends, and raises only its own errors."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import hostile
from fuzzing import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import inspector
from inspector.auditing.readers.archives import Piece
from inspector.auditing.readers.pickles import Budgets, PickleVerdict, judge
from inspector.auditing.readers.templates import judge as judge_template
from inspector.errors import InspectorError
from inspector.opening import configs

QUICK = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])

scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=12)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner))
FIELDS = st.sampled_from(
    [*hostile.CONFIG, "auto_map", "quantization_config", "text_config", "rope_scaling", "head_dim"]
)


def audited(files: hostile.Files) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return inspector.audit([hostile.write(files, Path(folder))])


def judged(data: bytes) -> PickleVerdict:
    return judge(Piece("", lambda start, length: data[start : start + length], len(data)), Budgets(), likely=True)


@QUICK
@given(st.dictionaries(FIELDS, values, max_size=6))
def test_configurations(fields: dict[str, Any]) -> None:
    """Any value in any field of a configuration."""
    files = hostile.sound()
    files["config.json"] = json.dumps({**hostile.CONFIG, **fields}).encode("utf-8", "surrogatepass")
    assert audited(files).checkpoints


@QUICK
@given(st.sampled_from(["config.json", "tokenizer.json", "tokenizer_config.json", "modules.json"]), values)
def test_documents(name: str, value: Any) -> None:
    """Any JSON in place of a document."""
    files = hostile.sound()
    files[name] = json.dumps(value).encode()
    assert audited(files).checkpoints


@QUICK
@given(
    st.dictionaries(st.text(max_size=20), st.text(max_size=20) | scalars, max_size=8) | st.lists(scalars, max_size=2),
    values,
)
def test_indexes(weight_map: Any, metadata: Any) -> None:
    """Any map and any metadata in an index."""
    files = hostile.sound()
    files[hostile.INDEX] = json.dumps({"weight_map": weight_map, "metadata": metadata}).encode()
    assert audited(files).checkpoints


@QUICK
@given(st.data())
def test_bytes_changed(data: st.DataObject) -> None:
    """A few bytes of any file changed, cut or added."""
    files = hostile.sound()
    name = data.draw(st.sampled_from(sorted(files)))
    content = files[name]
    assert isinstance(content, bytes)
    raw = bytearray(content)
    for at, byte in data.draw(st.lists(st.tuples(st.integers(0, len(raw) - 1), st.integers(0, 255)), max_size=4)):
        raw[at] = byte
    files[name] = bytes(raw[: data.draw(st.integers(0, len(raw)))]) + data.draw(st.binary(max_size=8))
    assert audited(files).checkpoints


@QUICK
@given(st.binary(max_size=200), st.integers(0, 60))
def test_pickles(noise: bytes, at: int) -> None:
    """Any bytes as a pickle, and a dangerous one that is broken somewhere."""
    judged(noise)
    whole = hostile.calls("posix", "system")
    judged(whole[:at] + noise[:3] + whole[at:])
    assert "posix.system" in judged(whole + noise).dangerous


@QUICK
@given(st.text(alphabet="{%}|_.'\"\\x5f attrclass()[]~\n", max_size=200))
def test_templates(text: str) -> None:
    """Any template is judged or refused; text before a dunder does not hide it."""
    judge_template(text)
    assert judge_template("{# x #}" + text.replace("{", "") + "{{ a.__class__ }}").reaches


@QUICK
@given(st.text(max_size=200))
def test_configuration_texts(text: str) -> None:
    """Any text as a configuration is read, or raises ConfigError."""
    try:
        configs.parse(text, "config.json")
    except InspectorError as error:
        assert "\n" not in str(error)
