"""Answers whose fields have the wrong type, and response heads that misstate their bodies."""

from __future__ import annotations

import gzip
import json
import time
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from costs import HANGS
from huggingface_hub import constants
from loopback import faults

from inspector import api
from inspector.errors import InspectorError
from inspector.sources import http

if TYPE_CHECKING:
    from loopback.server import Fault, Handler, Hub

API, FILE, WEIGHTS = "/api/models/", "/resolve", "/storage/"
SHA = "0" * 40
SOUND = {"rfilename": "model.safetensors", "size": 100}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow one try, and two seconds."""
    monkeypatch.setattr(http, "TRIES", 1)
    monkeypatch.setattr(http, "PATIENCE", 2)
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 2)


def refused(target: str) -> str:
    """The error's one line, which must come soon."""
    start = time.monotonic()
    with pytest.raises(InspectorError) as caught:
        api.open(target)
    assert time.monotonic() - start < HANGS
    assert str(caught.value).isprintable()
    return str(caught.value)


def answers(body: object, **headers: str) -> Fault:
    """Answer with a document, or with these bytes."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()

    def fault(handler: Handler) -> bool:
        stated = {name.replace("_", "-"): value for name, value in headers.items()}
        handler.head(200, {"content-type": "application/json", "content-length": str(len(raw)), **stated})
        handler.write(raw)
        return True

    return fault


#: A field of the description, or after a dot of its file, and values of the wrong type.
KINDS: dict[str, list[Any]] = {
    "sha": [1, None, [], {}, True, "", "main", "g" * 40, "0" * 41, 1e300],
    "siblings": [1, "a", {}, None, True, [1], [None], ["a"], [[]], [[SOUND]], [{}]],
    "file.rfilename": [1, None, [], {}, "", ".", "..", "/etc/passwd.gguf", "a\0.gguf", True, "../x.safetensors"],
    "file.size": [-1, "100", 1.5, True, [], {}, 10**30, 2**63, "9" * 5_000],
    "file.lfs": [1, "a", [], {"size": "x"}, {"size": -5}, {"oid": 7}, {"oid": "../.."}],
    "gated": [1, "x", [], {}],
    "id": [1, None, [], "../..", "a" * 9_000],
}


def listing(field: str, value: object) -> dict[str, Any]:
    """A description of one file of 100 bytes, one of its fields replaced."""
    _, of_file, name = field.partition("file.")
    sound: dict[str, Any] = {"id": "demo/single", "sha": SHA, "siblings": [SOUND]}
    return {**sound, "siblings": [{**SOUND, name: value}]} if of_file else {**sound, field: value}


@pytest.mark.parametrize(
    ("field", "value"),
    [(field, value) for field, values in KINDS.items() for value in values],
    ids=lambda value: str(value)[:20],
)
def test_a_field_of_another_kind(hub: Hub, single: str, field: str, value: object) -> None:
    """A listing of unexpected types leads to one line, whatever it contains."""
    hub.fault(API, answers(listing(field, value)))
    refused(single)


@pytest.mark.parametrize("charset", ["utf-16", "none", "\u00e9"])
@pytest.mark.parametrize("body", [b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}", b"NaN", b""])
def test_a_wrong_charset(hub: Hub, single: str, charset: str, body: bytes) -> None:
    hub.fault(API, answers(body, content_type=f"application/json; charset={charset}"))
    assert "is the endpoint right?" in refused(single)


#: A body, and the coding that it claims.
CODED: dict[str, tuple[Callable[[], bytes], str]] = {
    "spaces": (lambda: gzip.compress(b" " * 60_000_000), "gzip"),
    "brackets": (lambda: gzip.compress(b"[" * 60_000_000), "gzip"),
    "spaces, twice": (lambda: gzip.compress(gzip.compress(b" " * 60_000_000)), "gzip"),
    "cut": (lambda: gzip.compress(b"{}")[:-4], "gzip"),
    "many members": (lambda: gzip.compress(b"{}") * 50_000, "gzip"),
    "a head alone": (lambda: b"\x1f\x8b\x08" + b"\0" * 500, "gzip"),
    "plain": (lambda: b"{}", "gzip"),
    "spaces, deflated": (lambda: zlib.compress(b" " * 60_000_000), "deflate"),
    "zstd": (lambda: b"(\xb5/\xfd" + b"\0" * 50, "zstd"),
    "a long coding": (lambda: b"{}", "x" * 5_000),
    "many codings": (lambda: b"{}", "gzip, identity, gzip, br"),
}


@pytest.mark.parametrize("kind", CODED)
def test_a_wrong_content_encoding(hub: Hub, single: str, kind: str) -> None:
    """Neither a decompression bomb nor half a stream is accepted as an answer."""
    body, coding = CODED[kind]
    hub.fault(API, answers(body(), content_encoding=coding))
    refused(single)


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:1/x", "http://[::1]:1/x", "http://0.0.0.0:1/", "http://169.254.1.1:1/" + "x" * 90_000, "//127.0.0.1:1/x",
        "javascript:alert(1)", "unix:///var/run/docker.sock", "gopher://127.0.0.1:1/_x", "\\\\host\\share", "http://:80",
        "http://127.0.0.1:99999/", "http://127.0.0.1:-1/", "http://a b/", "", "http://user:hf_secret@127.0.0.1:1/",
    ],
    ids=lambda location: location[:24],
)  # fmt: skip
@pytest.mark.parametrize("where", [API, WEIGHTS])
def test_a_redirect_that_leads_nowhere(
    hub: Hub, single: str, where: str, location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redirects to other schemes, to local addresses or to nothing: one line, without the token or a password."""
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub.fault(where, faults.redirect(location))
    assert "hf_secret" not in refused(single)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-2\r\n{}\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffffff\r\n{}\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n{}",
        b"HTTP/2 200\r\n\r\n{}",
        b"HTTP/1.1 2000 OK\r\n\r\n{}",
        b"HTTP/1.1 200 OK\n\n{}",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x15\x03\x01\x00\x02\x02\x46",
    ],
    ids=lambda head: head[9:40].decode("latin-1"),
)
@pytest.mark.parametrize("where", [API, WEIGHTS])
def test_a_head_that_contradicts_itself(hub: Hub, single: str, where: str, head: bytes) -> None:
    hub.fault(where, faults.raw(head))
    refused(single)
