"""A configuration as llama.cpp's converter would write it: every tensor of the files that the converter wrote.

`fixtures/converted.jsonl` has drawn configurations, and names, shapes and types of the BF16 files that the converter of
xllamacpp 2026.10.11549's source made of the models that Transformers saved (`tools/llama_cpp/convert_cases.py --half`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import pytest

from inspector import api
from inspector.sizing.requantized import source_of

FIXTURE = Path(__file__).parents[1] / "fixtures" / "converted.jsonl"
CASES = [json.loads(line) for line in FIXTURE.read_text().splitlines()]


def sizes(shape: Sequence[int], kind: str) -> tuple[int, ...]:
    """What types and bytes depend on: the shape; for numbers in 32 bits only how many there are."""
    return (prod(shape),) if kind == "F32" else tuple(shape)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["class"])
def test_tensors_are_those_of_the_converter(case: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(case["config"]))
    source = source_of(api.sized(str(tmp_path / "config.json")), [])
    assert source
    expected = {
        name.replace("{}", str(layer), 1): (sizes(shape, kind), kind)
        for kind, rows in case["tensors"].items()
        for name, shape, *layers in rows
        for layer in (layers[0] if layers else [0])
    }
    assert {name: (sizes(shape, kind), kind) for name, shape, kind in source.entries} == expected


def test_a_model_with_a_tensor_that_has_no_place_is_unknown(tmp_path: Path) -> None:
    """HRM's two stacks are numbered as one in its GGUF: the mixtures are left out, rather than guessed."""
    config = {"model_type": "hrm_text", "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 160}
    (tmp_path / "config.json").write_text(json.dumps(config))
    notes: list[str] = []
    assert source_of(api.sized(str(tmp_path / "config.json")), notes) is None
    assert notes == ["llama.cpp's mixtures are left out: no table knows the model's tensors in a GGUF"]
