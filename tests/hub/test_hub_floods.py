"""Response heads, interim responses, codings, chunks and ranges that cost time or memory, or feign something else."""

from __future__ import annotations

import re
import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from costs import HANGS
from huggingface_hub import constants
from loopback import faults

from inspector import api
from inspector.errors import InspectorError
from inspector.sources import http

if TYPE_CHECKING:
    from loopback.server import Fault, Handler, Hub

pytestmark = [pytest.mark.gate, pytest.mark.usefixtures("impatient")]
API, FILE, WEIGHTS = "/api/models/", "/resolve", "/storage/"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow one try."""
    monkeypatch.setattr(http, "TRIES", 1)
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 5)


def wait_briefly(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Wait a second where waiting is what is refused; any other answer may take as long as a busy machine needs."""
    if "begin to respond" in line or "too slowly" in line:
        monkeypatch.setattr(http, "PATIENCE", 1)


def refused(target: str) -> str:
    """The error's one line; the run may take 60 MB of memory."""
    tracemalloc.start()
    start = time.monotonic()
    with pytest.raises(InspectorError) as caught:
        api.open(target)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert time.monotonic() - start < HANGS
    assert peak < 60_000_000
    assert str(caught.value).isprintable()
    return str(caught.value)


@pytest.mark.parametrize("where", [API, FILE])
@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (faults.many_fields, "Receive buffer too long|does not begin to respond"),
        (faults.long_field, "Receive buffer too long"),
        (faults.hints, "does not begin to respond"),
        (faults.circle, "more than 10 redirects"),
        (faults.redirect("file:///etc/passwd"), "redirects to `file:`, which is not followed"),
        # Older clients refuse this address themselves, when they read it.
        (faults.redirect("data:application/json,{}"), "redirects to `data:`, which is not followed|not a URL that can be requested"),
        (faults.raw(b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n{}"), "bad Content-Length"),
        (faults.raw(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{}"), "conflicting Content-Length"),
        (faults.raw(b"HTTP/1.1 200 OK\r\ncontent-length: " + b"9" * 5000 + b"\r\n\r\n{}"), "bad Content-Length"),
        (faults.raw(b"HTTP/1.1 200 \xff\xfe\x1b[31m\r\n\xe9: x\r\n\r\n{}"), "illegal header line"),
        (faults.raw(b"HTTP/1.1 302 \x9b\r\nlocation: http://\xff\xfe/\r\ncontent-length: 0\r\n\r\n"), "the name (?!127).+ cannot be looked up|redirects"),
        (faults.raw(b"HTTP/1.1 999 \xff\r\ncontent-length: 0\r\n\r\n"), "answered 999"),
        (faults.raw(b"\0" * 100), "illegal request line"),
    ],
)  # fmt: skip
def test_a_head(hub: Hub, single: str, where: str, fault: Fault, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile response head, for a document and for a file."""
    wait_briefly(monkeypatch, line)
    hub.fault(where, fault)
    assert re.search(line, refused(single))


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (faults.encoded("br"), "sends `br`, which was not requested"),
        (faults.encoded("zstd"), "sends `zstd`, which was not requested"),
        (faults.encoded("deflate"), "sends `deflate`, which was not requested"),
        (faults.encoded("gzip, gzip"), "sends `gzip, gzip`, which was not requested"),
        (faults.tiny_chunks, "sends too slowly"),
        (faults.drips_body, "sends too slowly"),
        (faults.long_chunk_head, "Receive buffer too long"),
        (faults.endless_trailer, "Receive buffer too long"),
    ],
)
def test_a_body(hub: Hub, single: str, fault: Fault, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies in codings that nobody requested, or in pieces that cost more than they carry."""
    wait_briefly(monkeypatch, line)
    hub.fault(API, fault)
    assert re.search(line, refused(single))


@pytest.mark.parametrize(
    "fault",
    [
        faults.partial("bytes {asked}/50000000", 7),
        faults.partial("bytes {asked}/50000000", 0),
        faults.partial(None),
        faults.partial("bytes {asked}/*"),
        faults.partial("bytes {end}-{start}/50000000"),
        faults.partial("bytes {asked}/5"),
        faults.partial("bytes {asked}/-5"),
        faults.partial("bytes {asked}/" + "9" * 5000),
        faults.partial("bytes \u0661-\u0662/50000000".encode().decode("latin-1")),
        faults.partial("lines {asked}/50000000"),
        faults.partial("bytes */50000000", code=416),
        faults.partial("bytes {asked}/50000000, bytes 0-1/2"),
    ],
)
def test_a_range(hub: Hub, single: str, fault: Fault) -> None:
    """None of these answers is the requested range: the zeros that come with it are not used."""
    hub.fault(WEIGHTS, fault)
    refused(single)


def test_a_token_goes_nowhere_else(hub: Hub, single: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token is not sent from documents of its host to another port, nor to the same machine by another name."""
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    seen: list[str | None] = []

    def asked(handler: Handler) -> bool:
        seen.append(handler.headers.get("authorization"))
        return False

    port = hub.endpoint.rpartition(":")[2]
    hub.fault("/elsewhere", asked)
    for target in (f"{hub.storage}/elsewhere", f"http://localhost:{port}/elsewhere"):
        hub.fault(API, faults.redirect(target), times=1)
        refused(single)
    assert seen == [None, None]
