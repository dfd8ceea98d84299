"""The grammar of weight files' names, on names that real tools write."""

from __future__ import annotations

import pytest

from inspector.sources.filenames import numbered, shard_of


@pytest.mark.parametrize(
    ("path", "stem", "number", "total", "suffix"),
    [
        ("model-00001-of-00002.safetensors", "model", 1, 2, ".safetensors"),
        ("pytorch_model-00033-of-00033.bin", "pytorch_model", 33, 33, ".bin"),
        ("bf16/llama-00002-of-00005.gguf", "bf16/llama", 2, 5, ".gguf"),
        ("model_00000-of-000157.safetensors", "model", 0, 157, ".safetensors"),
        ("model.safetensors-00001-of-00003.safetensors", "model.safetensors", 1, 3, ".safetensors"),
    ],
)
def test_shards_are_recognised_by_their_names(path: str, stem: str, number: int, total: int, suffix: str) -> None:
    """The text before the number identifies the set; numbers are kept as written."""
    shard = shard_of(path)
    assert shard is not None
    assert (shard.stem, shard.number, shard.total, shard.suffix) == (stem, number, total, suffix)
    assert shard.sibling(number) == path


@pytest.mark.parametrize(
    "path",
    [
        "model.safetensors",
        "model-1-of-2.safetensors",
        "model-00001-of-00002",
        "model-00001-of-00002.safetensors.incomplete",
        "set-00001-of-00002/model.safetensors",
        f"model-{'1' * 5000}-of-00002.safetensors",
    ],
)
def test_other_names_are_not_shards(path: str) -> None:
    """Short numbers, unfinished downloads, folders, and numbers that no set has."""
    assert shard_of(path) is None


def test_a_set_is_complete_with_every_number() -> None:
    """Numbers start from 0 if there is a file of that number, otherwise from 1."""
    first = shard_of("m-00001-of-00003.gguf")
    assert first is not None
    from_one = {f"m-0000{number}-of-00003.gguf" for number in (1, 2, 3)}
    from_zero = {f"m-0000{number}-of-00003.gguf" for number in (0, 1, 2)}
    assert first.is_complete(from_one)
    assert first.is_complete(from_zero)
    assert not first.is_complete(from_one - {"m-00003-of-00003.gguf"})
    assert not first.is_complete(from_zero - {"m-00002-of-00003.gguf"})


@pytest.mark.parametrize(
    ("name", "written"), [("m.gguf", "m-00002-of-00012.gguf"), ("params", "params-00002-of-00012")]
)
def test_names_of_a_set_are_read_as_they_are_written(name: str, written: str) -> None:
    """A file outside a set keeps its name."""
    assert (numbered(name, 2, 12), numbered(name, 1, 1)) == (written, name)
    shard = shard_of(written)
    assert shard is None or (shard.number, shard.total, f"{shard.stem}{shard.suffix}") == (2, 12, name)
