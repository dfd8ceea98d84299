"""A repository against a folder, or against another revision: headers alone, and ranges for `--data`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import inspector

if TYPE_CHECKING:
    from loopback.server import Hub


def test_a_repository_against_a_copy_reads_headers_alone(llama: str, hub: Hub, tmp_path: Path) -> None:
    """LLaMA-7B of 13.5 GB: 291 tensors and 32 buffers are the same, for less than a megabyte."""
    copy = tmp_path / "copy"
    shutil.copytree(hub.repos[llama].folder, copy, copy_function=linked)
    result = inspector.diff(llama, copy)
    assert (result.counts["same"], result.differs) == (291 + 32, False)
    assert result.a.checkpoint.origin.kind == "hub"
    assert result.a.checkpoint.origin.bytes_read < 1_000_000


def linked(source: str, target: str) -> str:
    """In place of a copy, which would not be sparse."""
    Path(target).hardlink_to(source)
    return target


def test_values_over_the_network(single: str, hub: Hub, tmp_path: Path) -> None:
    """Every tensor of a small model is read by ranges, and equal to the copy's but for one byte."""
    copy = tmp_path / "copy"
    shutil.copytree(hub.repos[single].folder, copy)
    weights = copy / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-2] ^= 1
    weights.write_bytes(data)
    result = inspector.diff(single, copy, data=True)
    assert result.agreements is not None
    assert result.agreements["different"] == 1
    assert sum(result.agreements.values()) == len(result.pairs)
