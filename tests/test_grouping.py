"""Several checkpoints in one place are distinguished by their files' names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from every import every
from loopback import samples

import inspector
from inspector.opening import variants as grouping


def names(*files: str) -> list[tuple[str, str | None, int]]:
    """(name, type, files) of the checkpoints among some files, in order."""
    return [(v.name, v.type, len(v.paths)) for v in grouping.variants(dict.fromkeys(files, 10))]


@every(
    ("stem", "type_"),
    [
        ("Llama-3.2-1B-Instruct-Q4_K_M", "Q4_K_M"),
        ("llama-3.2-1b-instruct-q4_k_m", "Q4_K_M"),
        ("model.IQ2_XXS", "IQ2_XXS"),
        ("gemma-UD-Q2_K_XL", "UD-Q2_K_XL"),
        ("gpt-oss-20b-mxfp4", "MXFP4"),
        ("bitnet-TQ1_0", "TQ1_0"),
        ("ggml-model-f16", "F16"),
        ("model.fp16", "F16"),
        ("BF16/model", "BF16"),
        ("Quill-F-8B", None),
        ("model", None),
    ],
)
def test_types_in_names(stem: str, type_: str | None) -> None:
    """As people write them, in any case; a model's own name is not a type."""
    assert names(f"{stem}.gguf") == [(stem, type_, 1)]


def test_shards_are_one() -> None:
    """Numbered parts belong together, separately for each number of parts."""
    assert names(
        *(f"m-Q8_0-0000{n}-of-00002.gguf" for n in (1, 2)), *(f"m-Q8_0-0000{n}-of-00003.gguf" for n in (1, 2, 3))
    ) == [("m-Q8_0", "Q8_0", 3), ("m-Q8_0", "Q8_0", 2)]


def test_the_main_one_of_many_quantizations() -> None:
    """llama.cpp's default; never an image encoder or an importance matrix."""
    files = [f"m-{type_}.gguf" for type_ in ("BF16", "Q2_K", "Q4_K_M", "Q8_0")]
    assert names("mmproj-m-F16.gguf", "imatrix.gguf", *files)[0] == ("m-Q4_K_M", "Q4_K_M", 1)
    assert names("mmproj-m-F16.gguf", *files[:2])[0] == ("m-BF16", "BF16", 1)


def test_the_main_one_of_two_precisions() -> None:
    """The file without a type in its name, in the folder itself."""
    found = names("fp32/model.safetensors", "model.fp16.safetensors", "model.safetensors", "consolidated.safetensors")
    assert found[0] == ("model", None, 1)


def test_the_main_part_of_a_pipeline(tmp_path: Path) -> None:
    """The part that names a diffusion model, at the precision without a suffix; the rest is listed."""
    for name in ("vae/diffusion_pytorch_model", "unet/diffusion_pytorch_model", "unet/diffusion_pytorch_model.fp16"):
        samples.safetensors(tmp_path / f"{name}.safetensors", samples.llama(1, 64, 128, 100))
    checkpoint = inspector.open(tmp_path)
    assert [header.path for header in checkpoint.files] == ["unet/diffusion_pytorch_model.safetensors"]
    assert "several-checkpoints" in {finding.rule for finding in checkpoint.findings}
    assert [v.name for v in checkpoint.variants] == [
        "unet/diffusion_pytorch_model",
        "unet/diffusion_pytorch_model.fp16",
        "vae/diffusion_pytorch_model",
    ]


def test_second_copies_are_not_read_together(tmp_path: Path) -> None:
    """Files that differ by a type in the name hold the same tensors, whatever they are called."""
    for name in ("weights.safetensors", "weights.fp16.safetensors"):
        samples.safetensors(tmp_path / name, samples.llama(1, 64, 128, 100))
    assert [header.path for header in inspector.open(tmp_path).files] == ["weights.safetensors"]


def test_one_checkpoint_has_no_variants(made: Callable[[str], Path]) -> None:
    assert inspector.open(made("llama-7b")).variants == ()


@pytest.fixture
def twenty(tmp_path: Path) -> Path:
    return samples.twenty_gguf(tmp_path / "Sample-GGUF")


def test_a_table_of_twenty_quantizations(twenty: Path, inspect: Callable[..., Any]) -> None:
    """Sizes, types and bits per weight of all; the inspected one is marked and first, and others can be picked."""
    ran = inspect(twenty, "--json")
    variants = ran.json["variants"]
    assert len(variants) == 20
    assert [v["type"] for v in variants if v["inspected"]] == ["Q4_K_M"] == [variants[0]["type"]]
    by_type = {v["type"]: v for v in variants}
    assert (by_type["F16"]["bits_per_weight"], by_type["Q4_0"]["bits_per_weight"]) == ("16.01", "4.51")
    assert sum(v["size"] for v in variants) == sum(path.stat().st_size for path in twenty.glob("*.gguf"))
    out = inspect(twenty, "--full").out
    assert "20 checkpoints here; --include GLOB or the path selects another" in out
    picked = inspect(twenty, "--include", "*-Q8_0*", "--json").json
    assert [file["path"] for file in picked["files"]] == ["Sample-1B-Q8_0.gguf"]
    assert picked["variants"][0]["type"] == "Q8_0"


def test_bits_a_weight_are_those_of_the_tensors(twenty: Path) -> None:
    """For a variant that was not read they are inferred, and equal what reading it gives."""
    for_all = inspector.reconcile(inspector.open(twenty))
    for variant in for_all.checkpoint.variants:
        alone = inspector.reconcile(inspector.open(twenty, include=variant.paths[0]))
        exact = sum(dtype.bytes for dtype in alone.dtypes) * 8 / alone.logical
        inferred = for_all.bits_of(variant)
        assert inferred is not None
        assert abs(inferred - exact) < 0.001 * exact


def test_variants_are_listed_without_reading_weights(twenty: Path) -> None:
    """The library's own function; broken files do not affect it."""
    for path in twenty.glob("*.gguf"):
        path.write_bytes(b"broken")
    assert inspector.variants(twenty)[0].type == "Q4_K_M"
    assert len(inspector.variants(twenty)) == 20
