"""Headers from the single request for all shards are the files' own bytes, or are read from the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from huggingface_hub import HfApi
from hypothesis import given
from hypothesis import strategies as st
from loopback import faults, samples
from loopback.server import Handler, Hub, Repo
from safetensors.numpy import save

from inspector import api, formats
from inspector.sources.hub_api import header_bytes
from inspector.sources.local import LocalFile

NAMES = st.text(st.characters(codec="utf-8"), max_size=20)


@given(st.dictionaries(NAMES, st.integers(0, 5), max_size=8), st.dictionaries(NAMES, NAMES, max_size=3))
def test_written_again_to_the_byte(shapes: dict[str, int], metadata: dict[str, str]) -> None:
    """Whatever the reference writer writes, its header is rebuilt from JSON byte for byte, or not at all."""
    file = save({name: np.zeros(n, np.float16) for name, n in shapes.items()}, metadata=metadata or None)
    length = int.from_bytes(file[:8], "little")
    again = header_bytes(json.loads(file[8 : 8 + length]), len(file))
    assert again == file[: 8 + length] or (again is None and any(name.isdecimal() for name in shapes))


HEADER = {"a": {"dtype": "U8", "shape": [8], "data_offsets": [0, 8]}}
START = header_bytes(HEADER, 8 + 56 + 8)


@pytest.mark.parametrize("surplus", [*range(1, 8), 8, 16, -1, -8, 1000])
def test_unknown_bytes_are_not_made_up(surplus: int) -> None:
    """Trailing bytes or a cut end would be mistaken for header: such files are read by range."""
    assert START is not None
    assert header_bytes(HEADER, len(START) + 8) == START
    assert header_bytes(HEADER, len(START) + 8 + surplus) is None


@pytest.mark.parametrize(
    "header",
    [
        None,
        [],
        "x",
        {"a": None},
        {"a": {}},
        {"a": {"data_offsets": []}},
        {"a": {"data_offsets": [0, "8"]}},
        {"7": HEADER["a"]},
    ],
)
def test_a_malformed_header_is_not_used(header: Any) -> None:
    assert header_bytes(header, 1000) is None


def two_shards(hub: Hub, folder: Path) -> str:
    samples.sharded(folder, list(samples.llama(2, 64, 128, 100)), 2)
    hub.repos["demo/two"] = Repo(folder)
    return "demo/two"


def spaced(path: Path) -> None:
    """The same header with spaces in its JSON, as older writers left them."""
    file = path.read_bytes()
    length = int.from_bytes(file[:8], "little")
    text = json.dumps(json.loads(file[8 : 8 + length])).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + file[8 + length :])


def surplus(path: Path) -> None:
    """Bytes after the last tensor."""
    path.write_bytes(path.read_bytes() + b"more")


def cut(path: Path) -> None:
    """Half of the data is missing."""
    path.write_bytes(path.read_bytes()[:-1000])


@pytest.mark.parametrize("change", [spaced, surplus, cut])
def test_an_unusual_shard_is_read_from_the_file(hub: Hub, tmp_path: Path, change: Any) -> None:
    """Only that shard is read; regions and findings are those of the file itself."""
    repo = two_shards(hub, tmp_path / "two")
    path = tmp_path / "two" / "model-00002-of-00002.safetensors"
    change(path)
    there = api.open(repo).files[1]
    assert there == formats.read(LocalFile(path), path.name)
    assert [entry.path.split("?")[0].rpartition("/")[2] for entry in hub.answered("/storage/")] == [path.name]


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"headers": 1}', b'{"headers": {"x": {}}}', b"<html>"])
def test_an_odd_answer_is_as_none(hub: Hub, tmp_path: Path, body: bytes) -> None:
    """If a mirror answers something else, headers are read by range, after one useless request."""

    def fault(handler: Handler) -> bool:
        handler.answer(200, body)
        return True

    repo = two_shards(hub, tmp_path / "two")
    hub.fault("/safetensors-metadata/", fault)
    assert api.open(repo).files == api.open(str(tmp_path / "two")).files
    assert len(hub.answered("/safetensors-metadata/")) == 1
    assert len(hub.answered("/storage/")) == 2


@pytest.mark.parametrize("fault", [faults.status(404), faults.status(503), faults.bomb])
def test_a_failing_answer_is_as_none(hub: Hub, tmp_path: Path, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing answer is not requested again, since headers can be read by range."""
    monkeypatch.setattr("inspector.sources.hub_api.MAX_HEADERS", 2_000_000)
    repo = two_shards(hub, tmp_path / "two")
    hub.fault("/safetensors-metadata/", fault)
    assert api.open(repo).files == api.open(str(tmp_path / "two")).files
    assert len(hub.answered("/safetensors-metadata/")) == 1


@pytest.mark.skipif(
    not hasattr(HfApi, "get_sharded_safetensors_metadata"),
    reason="older clients ask the real Hub for headers, whatever the endpoint",
)
def test_the_loopback_hub_answers_as_the_client_expects(hub: Hub, tmp_path: Path) -> None:
    """`huggingface_hub` itself reads our server's answers, and finds the same as we do."""
    repo = two_shards(hub, tmp_path / "two")
    files = {header.path: header for header in api.open(repo).files}
    reported = HfApi(endpoint=hub.endpoint).get_sharded_safetensors_metadata(repo).files_metadata
    assert {name: set(each.tensors) for name, each in reported.items()} == {
        name: {tensor.name for tensor in header.tensors} for name, header in files.items()
    }
    listed = HfApi(endpoint=hub.endpoint).model_info(repo, files_metadata=True)
    assert {s.rfilename: s.size for s in listed.siblings or ()} == {
        path.name: path.stat().st_size for path in (tmp_path / "two").iterdir()
    }
