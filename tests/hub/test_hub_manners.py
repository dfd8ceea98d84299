"""Failing servers are asked again, politely; nothing that arrived is fetched twice."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from email.utils import formatdate
from pathlib import Path

import pytest
from costs import HANGS
from loopback import faults, samples
from loopback.server import Handler, Hub, Repo

from inspector import api, formats
from inspector.errors import InspectorError, NetworkError, TargetError, UsageError
from inspector.scanning.discovery import organisation
from inspector.sources import answers, http, remote
from inspector.sources import hub as hub_source
from inspector.sources.answers import Link
from inspector.sources.http import Wire
from inspector.sources.local import LocalFile
from inspector.sources.remote import FIRST, STEP, RemoteFile


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504])
def test_a_passing_failure_is_tried_again(hub: Hub, single: str, code: int) -> None:
    """Each kind of request (listing, configuration, weights) is repeated; every try is counted."""
    for part in ("/api/models/demo/single?", "/resolve-cache/", "/storage/"):
        hub.fault(part, faults.status(code), times=2)
    checkpoint = api.open(single)
    assert len(checkpoint.files) == 1
    assert checkpoint.origin.requests == 3 + 6 == len(hub.answered())


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 418])
def test_a_final_refusal_is_not_tried_again(hub: Hub, single: str, code: int) -> None:
    hub.fault("/api/models/", faults.status(code))
    with pytest.raises(InspectorError):
        api.open(single)
    assert len(hub.answered()) == 1


def test_a_lasting_failure_is_reported(hub: Hub, single: str) -> None:
    """After five tries the error is reported, in the server's own words."""
    hub.fault("/storage/", faults.status(503))
    with pytest.raises(NetworkError, match=r"/storage/demo/single/.*/model.safetensors answered 503 .*as you wished"):
        api.open(single)
    assert len(hub.answered("/storage/")) == http.TRIES


@pytest.mark.parametrize(
    ("code", "header", "value"),
    [
        (429, "retry_after", "1"),
        (503, "retry_after", "1"),
        (429, "ratelimit", '"api";r=0;t=1'),
    ],
)
def test_a_server_that_asks_for_time_gets_it(hub: Hub, single: str, code: int, header: str, value: str) -> None:
    """Retry-After and the Hub's own header are respected."""
    hub.fault("/storage/", faults.status(code, **{header: value}), times=1)
    start = time.monotonic()
    api.open(single)
    assert time.monotonic() - start >= 1


def test_a_date_to_retry_after_is_understood(hub: Hub, single: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP dates are whole seconds: two seconds ahead means at least one, on a stopped clock."""
    now = time.time()
    monkeypatch.setattr(answers, "time", lambda: now)
    hub.fault("/storage/", faults.status(503, retry_after=formatdate(now + 2, usegmt=True)), times=1)
    start = time.monotonic()
    api.open(single)
    assert time.monotonic() - start >= 1


def test_nobody_waits_for_an_hour(hub: Hub, single: str) -> None:
    """A Retry-After that is too long is reported at once."""
    hub.fault("/api/models/", faults.status(429, retry_after="3600"))
    start = time.monotonic()
    with pytest.raises(NetworkError, match="allows no more requests for now"):
        api.open(single)
    assert time.monotonic() - start < HANGS


def test_a_cut_answer_is_continued_where_it_ended(hub: Hub, tmp_path: Path) -> None:
    """After half of a long header arrived, only the rest is requested."""
    specs = [(f"tensor.{n}", "F16", (8, 8)) for n in range(20_000)]
    path = samples.safetensors(tmp_path / "long" / "model.safetensors", specs)
    hub.repos["demo/long"] = Repo(tmp_path / "long")
    hub.fault("/storage/", faults.cut(100_000), times=1)
    checkpoint = api.open("demo/long")
    header = checkpoint.files[0].bytes_in("header")
    assert list(checkpoint.files[0].tensors) == list(formats.read(LocalFile(path), "model.safetensors").tensors)
    starts = [int((entry.range or "").removeprefix("bytes=").split("-")[0]) for entry in hub.answered("/storage/")]
    assert starts == sorted(set(starts))
    assert starts[0] == 0 < starts[1] <= 100_000
    assert checkpoint.origin.bytes_read == header  # each byte once


@pytest.mark.parametrize("streamed", [True, False])
def test_a_gguf_header_is_read_once_and_no_further(hub: Hub, tmp_path: Path, streamed: bool) -> None:
    """Megabytes of vocabulary take two requests, the second as long as the vocabulary seems to be; reading stops after
    the last tensor, and the server has sent at most a tenth and the least step in vain."""
    path = samples.gguf(tmp_path / "large" / "large.gguf", tokens=60_000, merges=60_000)
    hub.repos["demo/large"] = Repo(tmp_path / "large")
    wire = Wire()
    link = Link(f"{hub.endpoint}/demo/large/resolve/main/large.gguf", path.stat().st_size)
    source = RemoteFile(wire, link, streamed=streamed)
    there, here = formats.read(source, "large.gguf"), formats.read(LocalFile(path), "large.gguf")
    source.close()
    header = here.bytes_in("header")
    assert header > 2_000_000
    assert (there.regions, list(there.tensors)) == (here.regions, list(here.tensors))
    assert header <= wire.bytes_read <= 1.3 * header + 300_000
    assert wire.requests == 2
    assert hub.sent() <= 1.1 * header + STEP


def test_a_broken_stream_goes_on_where_it_broke(hub: Hub, tmp_path: Path) -> None:
    path = samples.gguf(tmp_path / "large" / "large.gguf", tokens=60_000)
    hub.repos["demo/large"] = Repo(tmp_path / "large")
    hub.fault("/storage/", faults.cut(500_000), times=2)
    checkpoint = api.open("demo/large/large.gguf")
    assert checkpoint.files[0].regions == formats.read(LocalFile(path), "large.gguf").regions
    starts = [int((entry.range or "").removeprefix("bytes=").split("-")[0]) for entry in hub.answered("/storage/")]
    assert starts == sorted(set(starts))
    assert len(starts) == 3


@pytest.mark.parametrize("length", [*range(99_990, 100_011), *(FIRST + d for d in (-10, -9, -8, -7, -1, 0, 1, 8))])
def test_headers_at_the_edges_of_a_prefix(hub: Hub, tmp_path: Path, length: int) -> None:
    """A byte more or less than the first request brings changes nothing but the number of requests."""
    folder = tmp_path / "edge"
    path = samples.safetensors(folder / "model.safetensors", samples.llama(1, 64, 128, 100), exactly=length)
    hub.repos["demo/edge"] = Repo(folder)
    checkpoint = api.open("demo/edge")
    assert checkpoint.files == (formats.read(LocalFile(path), "model.safetensors"),)
    assert len(hub.answered("/storage/")) == (1 if 8 + length <= FIRST else 2)
    assert checkpoint.origin.bytes_read == max(8 + length, min(FIRST, path.stat().st_size))


def test_a_header_of_126_mb_is_refused_and_not_fetched(hub: Hub, tmp_path: Path) -> None:
    """The reference reader's limit is reported with both numbers, after the first request."""
    folder = tmp_path / "huge"
    samples.sparse(folder / "model.safetensors", (126_000_000).to_bytes(8, "little") + b"{", 200_000_000)
    hub.repos["demo/huge"] = Repo(folder)
    with pytest.raises(InspectorError, match=r"header of 126,000,000 bytes, over the format's limit of 100,000,000"):
        api.open("demo/huge")
    assert hub.sent() <= FIRST + 1000


def test_a_signature_that_runs_out_is_renewed(hub: Hub, tmp_path: Path) -> None:
    """When the storage refuses the address that it gave, the Hub is asked for a new one."""
    specs = [(f"tensor.{n}", "F16", (8, 8)) for n in range(20_000)]
    samples.safetensors(tmp_path / "long" / "model.safetensors", specs)
    hub.repos["demo/long"] = Repo(tmp_path / "long")
    served = []

    def once(handler: Handler) -> bool:
        served.append(handler.path)
        if len(served) != 2:
            return False
        handler.refuse(403, "expired")
        return True

    hub.fault("/storage/", once)
    assert len(api.open("demo/long").files[0].tensors) == 20_000
    assert len([entry for entry in hub.settled() if "/resolve/" in entry.path]) == 2


def test_a_file_replaced_meanwhile_is_noticed(hub: Hub, tmp_path: Path) -> None:
    """If ETag or size change between two requests, no header is assembled from two files."""
    specs = [(f"tensor.{n}", "F16", (8, 8)) for n in range(20_000)]
    samples.safetensors(tmp_path / "long" / "model.safetensors", specs)
    hub.repos["demo/long"] = Repo(tmp_path / "long")
    link = Link(f"{hub.endpoint}/demo/long/resolve/main/model.safetensors")
    source = RemoteFile(Wire(), link)
    link.etag = '"another"'
    with pytest.raises(NetworkError, match="replaced while it was being read"):
        source.read(8, 600_000)


def test_reading_far_behind_the_header_fetches_just_that(hub: Hub, single: str) -> None:
    """Checks of tensor data that a user requests read far behind the header."""
    folder = hub.repos[single].folder
    size = (folder / "model.safetensors").stat().st_size
    wire = Wire()
    link = Link(f"{hub.endpoint}/{single}/resolve/main/model.safetensors", size)
    source = RemoteFile(wire, link, first=100)
    assert bytes(source.prefix(8)) == (folder / "model.safetensors").read_bytes()[:100]
    assert source.read(size - 10, 10) == bytes(10)
    assert wire.bytes_read == 110


def test_an_old_view_of_a_growing_prefix_stays_valid(hub: Hub, tmp_path: Path) -> None:
    path = samples.gguf(tmp_path / "large" / "large.gguf", tokens=60_000)
    hub.repos["demo/large"] = Repo(tmp_path / "large")
    link = Link(f"{hub.endpoint}/demo/large/resolve/main/large.gguf", path.stat().st_size)
    source = RemoteFile(Wire(), link, first=1000)
    view = source.prefix(4)
    start = bytes(view)
    longer = source.prefix(500_000)
    assert bytes(view) == start == bytes(longer[: len(start)])
    source.close()


def test_no_header_is_kept_without_limit(hub: Hub, single: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MAX_KEPT", 1000)
    size = (hub.repos[single].folder / "model.safetensors").stat().st_size
    source = RemoteFile(Wire(), Link(f"{hub.endpoint}/{single}/resolve/main/model.safetensors", size))
    with pytest.raises(InspectorError, match="a header of more than 1,000 bytes is not read"):
        source.prefix(2000)


ENDPOINTS = (
    "hub.example", "127.0.0.1:8080", "http://my hub", " http://hub.example ", "http://hub.example\n", '"http://hub.example"',
    "http://::1:9", "http://[::1", "http://hub.example:http", "http://hub.example:70000", "ftp://hub.example", "http://", "",
    "http:\\\\hub.example", "http://hub.example/\x1b[31m", f"http://{'a' * 70}.example", "http://hub.example?a=b", "http://a..b", "http://https://hub.example",
)  # fmt: skip


@pytest.mark.parametrize("address", ENDPOINTS)
def test_an_address_that_is_none_is_a_sentence(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No request is sent, and control characters are escaped."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
    for ask in (lambda: api.open("demo/single"), lambda: list(organisation("demo", "hf://demo"))):
        with pytest.raises(
            UsageError, match=r"^HF_ENDPOINT is (`|empty).*not the address of a server: https://HOST"
        ) as error:
            ask()
        assert str(error.value).isprintable()


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:8080/api/hub", "https://h\u00fcb.example", "http://[::1]:80", "http://user:pw@a_b.example."],
)
def test_an_address_may_have(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path, letters of any alphabet, IPv6, a user, an underscore."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
    assert hub_source.endpoint() == address


def test_a_library_that_cannot_be_imported_for_an_address(tmp_path: Path) -> None:
    """`huggingface_hub` takes the address apart when it is imported: the command has a sentence all the same."""
    environment = {**os.environ, "HF_ENDPOINT": "http://user:secret@[::1", "HF_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "inspector", "demo/single"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=HANGS)
    assert ran.returncode == 2
    assert ran.stderr.startswith("inspect: HF_ENDPOINT is `http://[::1`, which is not the address of a server")


def test_a_listed_file_that_is_not_there(hub: Hub, single: str) -> None:
    """As behind a mirror whose redirects lead elsewhere: the file's address, not that there is no such model."""
    hub.fault("/api/resolve-cache/", faults.status(404))
    with pytest.raises(TargetError, match=r"config\.json answered 404 .*, but demo/single lists that file"):
        api.open(single)
