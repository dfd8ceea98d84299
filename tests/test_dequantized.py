"""Packed weights as numbers agree with those of the libraries."""

from __future__ import annotations

import json
from base64 import b64decode
from contextlib import closing
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sparse
from every import every
from test_stored import safetensors

import inspector
from inspector.errors import FormatError
from inspector.measuring.weights import Weights
from inspector.model import Labelled, Reconciliation

CASES: dict[str, dict[str, Any]] = {
    case["name"]: case
    for case in map(json.loads, (Path(sparse.__file__).parent / "dequantized.jsonl").read_text().splitlines())
}


def opened(case: dict[str, Any], folder: Path) -> tuple[Reconciliation, Labelled]:
    """The case as a checkpoint, and its packed tensor."""
    tensors = {name: (dtype, shape, b64decode(raw)) for name, (dtype, shape, raw) in case["tensors"].items()}
    width = case["shape"][-1]
    tensors["model.norm.weight"] = ("F32", [width], b"\0\0\x80\x3f" * width)
    safetensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "hidden_size": width, **case["config"]}))
    result = inspector.reconcile(inspector.open(folder))
    assert result.packing
    return result, next(each for each in result.tensors if each.tensor.name in result.packing.names)


@every("name", CASES)
def test_the_numbers_are_the_libraries_own(name: str, tmp_path: Path) -> None:
    """They agree to the last bit but one, whatever the pieces in which they are read."""
    case = CASES[name]
    expected = np.frombuffer(b64decode(case["values"]), "<f4")
    result, packed = opened(case, tmp_path)
    with closing(Weights(result)) as weights:
        assert weights.is_packed(packed)
        assert weights.is_defined(packed)
        assert list(weights.shape(packed)) == case["shape"]
        for elements in (1, 100, 1 << 20):
            pieces = list(weights.chunks(packed, elements))
            assert [start for start, _ in pieces] == list(np.cumsum([0, *(len(part) for _, part in pieces[:-1])]))
            np.testing.assert_allclose(np.concatenate([part for _, part in pieces]), expected, rtol=2e-7, atol=1e-9)
        np.testing.assert_allclose(weights.values(packed, 7, 150), expected[7:150], rtol=2e-7, atol=1e-9)


def test_a_layout_without_a_definition_is_an_error(tmp_path: Path) -> None:
    """Marlin's layout is permuted for a GPU: an error in one line, and its words are not shown as numbers."""
    result = inspector.reconcile(
        inspector.open(
            sparse.make(
                json.loads((Path(sparse.__file__).parent / "packed" / "gptq-marlin.json").read_text()), tmp_path / "m"
            )
        )
    )
    packed = next(each for each in result.tensors if result.packing and each.tensor.name in result.packing.names)
    with closing(Weights(result)) as weights:
        assert not weights.is_defined(packed)
        with pytest.raises(FormatError, match="weights packed by gptq-marlin cannot be dequantized"):
            weights.values(packed, 0, 4)


NAMES = sorted(path.stem for path in (Path(sparse.__file__).parent / "packed").glob("*.json"))


@every("name", NAMES, parts=2)
def test_no_packed_checkpoint_surprises(name: str, tmp_path: Path) -> None:
    """Each weight in the libraries' checkpoints has as many numbers as its shape, or no definition."""
    recipe = json.loads((Path(sparse.__file__).parent / "packed" / f"{name}.json").read_text())
    result = inspector.reconcile(inspector.open(sparse.make(recipe, tmp_path / "m")))
    with closing(Weights(result)) as weights:
        for each in result.tensors:
            if weights.is_packed(each) and weights.is_defined(each):
                shape = weights.shape(each)
                assert len(weights.values(each, 0, shape[-1])) == shape[-1]
                assert len(weights.values(each, prod(shape) - 3)) == 3
