"""`inspect quants`: sizes beside the files that llama.cpp's quantizer wrote, what fits, and every form of the result.

`fixtures/quantized.jsonl` has drawn models (key-values and tensors) and the bytes of the files that
`llama_model_quantize` of llama.cpp 0.5.0, as in node-llama-cpp 3.22.1, made of them; `+` is with an importance matrix.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sparse import load, make
from sparse_gguf import write_gguf

import inspector
from inspector.errors import UsageError
from inspector.quantization import mixtures

if TYPE_CHECKING:
    from conftest import Ran

FIXTURE = Path(__file__).parents[1] / "fixtures" / "quantized.jsonl"
DRAWN = [json.loads(line) for line in FIXTURE.read_text().splitlines()]


def written(case: dict[str, Any], path: Path) -> Path:
    """The drawn model as a file with a hole for its data."""
    architecture = case["architecture"]
    pairs: list[tuple[str, str, Any]] = [("general.architecture", "string", architecture)]
    for key, value in case["keys"].items():
        full = key if key.split(".")[0] in ("tokenizer", "general") else f"{architecture}.{key}"
        pairs.append((full, _kind(value), value))
    entries = [
        (kind, shape, name.replace("{}", str(layer), 1) if layer is not None else name)
        for name, shape, kind, *layers in case["tensors"]
        for layer in (layers[0] if layers else [None])
    ]
    write_gguf(path, pairs, entries)
    return path


def _kind(value: Any) -> str:
    first = value[0] if isinstance(value, list) and value else value
    name = {bool: "bool", int: "uint32", float: "float32", str: "string"}[type(first)]
    return f"array[{name}]" if isinstance(value, list) else name


@pytest.mark.parametrize("case", DRAWN, ids=lambda case: case["architecture"])
def test_sizes_are_those_of_llama_cpps_quantizer(case: dict[str, Any], tmp_path: Path) -> None:
    path = written(case, tmp_path / "drawn.gguf")
    for imatrix in (False, True):
        expected = {
            name.removesuffix("+"): each for name, each in case["sizes"].items() if name.endswith("+") is imatrix
        }
        found = {each.name: each.nbytes for each in inspector.quants(path, imatrix=imatrix).quants} if expected else {}
        assert {name: found[name] for name in expected} == expected


def test_size_of_a_published_file(tmp_path: Path) -> None:
    """Llama 3.1 8B in Q4_K_M, as published: 4,920,448,768 bytes with its tokenizer."""
    path = make(load("llama-3.1-8b-q4_k_m"), tmp_path)
    found = {each.name: each for each in inspector.quants(path).quants}
    assert found["Q4_K_M"].nbytes == 4_920_448_768
    assert {each.dtype for each in found["Q4_K_M"].kinds} == {"Q4_K", "Q6_K", "F32"}


def test_largest_that_fits(inspect: Callable[..., Ran]) -> None:
    first = inspect("quants", "llama-3.1-8b", "--gpu", "8GB", "--context", "16384").out.splitlines()[0]
    assert first == "llama-3.1-8b: the largest that fits 8GB at 16,384 tokens: Q4_1, 5.12 GB"
    none = inspect("quants", "llama-3.1-70b", "--gpu", "8GB", "--context", "16384").out.splitlines()[0]
    assert "none fits 8GB at 16,384 tokens; the smallest, IQ1_S" in none


def test_the_first_line_names_the_best_that_fits_with_a_shorter_context(inspect: Callable[..., Ran]) -> None:
    """Without a context it is the model's own, 131,072 tokens of 131,072 bytes: none. Q6_K is 6.59 GB of 7.46."""
    first = inspect("quants", "llama-3.1-8b", "--gpu", "8GB").out.splitlines()[0]
    assert first.startswith("llama-3.1-8b: none fits 8GB at 131,072 tokens; Q6_K, 6.59 GB, up to 5,")


def test_document(inspect: Callable[..., Ran]) -> None:
    found = json.loads(inspect("quants", "llama-7b", "--gpu", "24GB", "--context", "2048", "--json").out)
    assert found["largest_that_fits"] in ("F16", "BF16")
    by_name = {each["name"]: each for each in found["quants"]}
    assert by_name["F16"]["bytes"] == 2 * 6_738_149_376 + 4 * 266_240  # matrices, and norms in 32 bits
    assert all(sum(kind["bytes"] for kind in each["types"]) <= each["bytes"] for each in found["quants"])
    assert [each["bytes"] for each in found["quants"]] == sorted(each["bytes"] for each in found["quants"])


def test_bitsandbytes_by_hand() -> None:
    """Linear layers of Llama 7B have 6,476,005,376 weights in 224 matrices; the rest are 16 bits."""
    found = {each.name: each.nbytes for each in inspector.quants("llama-7b").quants}
    linear, rest = 6_476_005_376, 6_738_415_616 - 6_476_005_376
    rows = 32 * (5 * 4096 + 2 * 11008)
    assert found["int8"] == linear + 4 * rows + 224 + 2 * rest
    states = 128 * 81 + 96 * 82  # {"quant_type": "nf4", …, "shape": [4096, 4096]}; 11008 has one digit more
    assert found["nf4"] == linear // 2 + 4 * (linear // 64) + 224 * 64 + states + 2 * rest


def test_without_mixtures_or_a_known_cache(tmp_path: Path) -> None:
    """A model that no GGUF has: other libraries' packings alone; one whose cache is unknown: no verdict."""
    fits = inspector.quants("gpt2", gpu="8GB")
    assert fits.best
    path = written(DRAWN[0], tmp_path / "a.gguf")
    assert inspector.quants(path).best is None


def test_seventy_by_layers() -> None:
    """llama.cpp 0.5.0 gives Q5_K to the values of these in Q3_K_S, and Q3_K to those of Llama 65B."""
    for architecture, layers, shared, kind in (
        ("llama", 80, 8, "Q5_K"), ("llama", 80, 1, "Q3_K"), ("llama", 32, 4, "Q3_K"), ("qwen2", 80, 1, "Q5_K"),
        ("deci", 80, 8, "Q5_K"), ("jais2", 68, 2, "Q5_K"),
    ):  # fmt: skip
        facts = mixtures.Facts(architecture, layers, shared)
        assert mixtures.types("Q3_K_S", [("blk.0.attn_v.weight", (32, 256), "F16")], facts) == [kind]


def test_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "unheard-of"}')
    with pytest.raises((UsageError, inspector.InspectorError)):
        inspector.quants(tmp_path / "config.json")
