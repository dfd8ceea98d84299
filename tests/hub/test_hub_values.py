"""Values over the network: only the requested tensors are fetched, by ranges."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from loopback.server import Hub, Repo
from safetensors.numpy import save_file

import inspector
from inspector.measuring.stored import Stored


@pytest.fixture
def two(hub: Hub, tmp_path: Path) -> str:
    """A repository of two tensors of 4 MB each."""
    folder = tmp_path / "two"
    folder.mkdir()
    values = np.arange(1 << 20, dtype=np.float32)
    save_file({"a.weight": values, "b.weight": -values}, folder / "model.safetensors")
    (folder / "config.json").write_text("{}")
    hub.repos["demo/two"] = Repo(folder)
    return "demo/two"


@pytest.mark.parametrize("at", ["", "@main", "/model.safetensors"])
def test_only_what_is_asked_for_is_read(two: str, at: str) -> None:
    """For one tensor of two, its 4 MB are read."""
    found = inspector.values(two + at, "b.weight")
    assert found.bytes_read == 1 << 22
    (row,) = found.rows
    assert (row.summary.min, row.summary.max, row.summary.zeros) == (-(2.0**20) + 1, 0.0, 1)


def test_a_few_elements_take_a_few_bytes(two: str, hub: Hub) -> None:
    """A few elements are read by their own range, and not from the tensor's beginning."""
    checkpoint = inspector.open(two)
    tensor = next(each for each in checkpoint.files[0].tensors if each.name == "b.weight")
    with closing(Stored(checkpoint)) as data:
        assert data.values(tensor, "model.safetensors", 1000, 1003).tolist() == [-1000, -1001, -1002]
        assert data.bytes_read == 12
