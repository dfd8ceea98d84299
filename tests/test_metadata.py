"""`inspect metadata`: the metadata in files, by the command and by the library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from gguf_bytes import ARRAY, FLOAT32, FLOAT64, STRING, UINT32, Array, Recipe
from sparse import write_safetensors

import inspector
from inspector.cli import commands as cli

PAIRS: list[tuple[str | bytes, int, Any]] = [
    ("general.architecture", STRING, "llama"),
    ("llama.block_count", UINT32, 7),
    ("llama.eps", FLOAT32, 1e-5),
    ("x.infinite", FLOAT64, float("inf")),
    ("tokenizer.ggml.tokens", ARRAY, Array(STRING, [f"t{n}" for n in range(5000)])),
    ("tokenizer.chat_template", STRING, "{% for m in messages %}\nline two\x1b[31m\n" + "x" * 70_000),
]


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.gguf"
    path.write_bytes(Recipe(pairs=PAIRS).file())
    return str(path)


def output(*arguments: str) -> str:
    result = CliRunner().invoke(cli.inspect, ["metadata", *arguments], catch_exceptions=False, standalone_mode=False)
    assert result.exit_code == 0
    return result.output


def test_a_line_a_key_with_its_type(model: str) -> None:
    """Long arrays by their count and first items, long texts by their beginning, controls escaped."""
    lines = {line.split()[0]: line.split(maxsplit=1)[1] for line in output(model).splitlines()}
    assert lines["llama.block_count"].split() == ["uint32", "7"]
    assert lines["llama.eps"].split() == ["float32", "1e-05"]
    assert lines["tokenizer.ggml.tokens"].endswith("array[string] × 5,000    t0, t1, t2, t3, t4, t5, t6, t7 …")
    template = lines["tokenizer.chat_template"]
    assert template.endswith("…") and "\\n" in template and "\x1b" not in template and len(template) < 200


def test_one_key_in_full(model: str) -> None:
    """An array with an item per line; a text line by line, its controls escaped."""
    assert output(model, "tokenizer.ggml.tokens").splitlines() == [f"t{n}" for n in range(5000)]
    lines = output(model, "tokenizer.chat_template").splitlines()
    assert lines[:2] == ["{% for m in messages %}", "line two\\x1b[31m"] and lines[2] == "x" * 70_000


def test_a_glob_lists_the_keys_that_match(model: str) -> None:
    assert [line.split()[0] for line in output(model, "llama.*").splitlines()] == ["llama.block_count", "llama.eps"]
    assert [each["key"] for each in json.loads(output(model, "*.e[po]s", "--json"))["metadata"]] == ["llama.eps"]


def test_json_says_what_is_complete(model: str) -> None:
    listed = json.loads(output(model, "--json"))["metadata"]
    by_key = {entry["key"]: entry for entry in listed}
    assert list(by_key) == [key for key, _, _ in PAIRS]
    assert by_key["tokenizer.ggml.tokens"] == {
        "files": ["model.gguf"],
        "key": "tokenizer.ggml.tokens",
        "type": "array[string]",
        "items": 5000,
        "complete": False,
        "value": [f"t{n}" for n in range(8)],
    }
    assert by_key["x.infinite"]["value"] == "inf"
    assert not by_key["tokenizer.chat_template"]["complete"]
    (whole,) = json.loads(output(model, "tokenizer.chat_template", "--json"))["metadata"]
    assert whole["complete"] and whole["value"] == PAIRS[-1][2]


def test_an_unknown_key_names_its_neighbours(model: str) -> None:
    with pytest.raises(inspector.UsageError, match=r"no key 'block_count' among 6 keys; near it: llama\.block_count"):
        inspector.metadata(inspector.open(model), "block_count")


def test_shards_that_say_the_same_say_it_once(tmp_path: Path) -> None:
    """safetensors' `__metadata__` is shown once for all files that share it."""
    for number in (1, 2):
        path = tmp_path / f"model-0000{number}-of-00002.safetensors"
        write_safetensors(path, [("F16", [2], f"t{number}")], {"format": "pt", "part": str(number)})
    entries = inspector.metadata(inspector.open(tmp_path))
    assert [(entry.key, entry.value(), len(entry.files)) for entry in entries] == [
        ("format", "pt", 2),
        ("part", "1", 1),
        ("part", "2", 1),
    ]
    assert "and 1 more file:" in output(str(tmp_path))


def test_values_outlive_the_file(model: str) -> None:
    """The key-values can be read after the checkpoint is closed."""
    checkpoint = inspector.open(model)
    Path(model).unlink()
    assert checkpoint.files[0].metadata["llama.block_count"] == 7
