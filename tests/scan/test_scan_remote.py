"""The Hub and object stores: organisations, commits, one rate for all workers, servers that throttle and cut."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from loopback import s3
from loopback.server import Handler, Hub, Repo

import inspector
from inspector.scanning.work import Turns
from scan.conftest import gguf, llama, make, table, tables

pytestmark = pytest.mark.gate


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A Hub that this process and its children use in place of the real one."""
    from huggingface_hub import constants

    with Hub() as server:
        monkeypatch.setattr(constants, "ENDPOINT", server.endpoint)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
        for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE"):
            monkeypatch.delenv(name, raising=False)
        yield server


def organisation(hub: Hub, tree: Path, **models: dict[str, Any]) -> None:
    for name, folder in ((name, make(tree, **{name: recipe}) / name) for name, recipe in models.items()):
        hub.repos[f"team/{name}"] = Repo(folder)


def test_an_organisation_is_scanned_by_commits(hub: Hub, tmp_path: Path) -> None:
    """Each repository and each of its GGUFs is read at the listed commit; a second scan reads only new commits."""
    both = {"files": {**gguf("F16")["files"], **gguf("F32")["files"]}}
    organisation(hub, tmp_path / "tree", plain=llama(), two=both, cut=llama(cut=9))
    out = tmp_path / "out"
    done = inspector.scan(["hf://team"], out, workers=1)
    found = {row["target"]: row for row in table(out, "checkpoints")}
    assert sorted(found) == [
        "hf://team/cut",
        "hf://team/plain",
        "hf://team/two/tiny-F16.gguf",
        "hf://team/two/tiny-F32.gguf",
    ]
    assert found["hf://team/plain"]["revision"] == found["hf://team/plain"]["stamp"]
    assert len(found["hf://team/plain"]["stamp"]) == 40
    assert all(row["digest"].startswith("sha256:") for row in table(out, "files") if row["weights"])
    assert found["hf://team/plain"]["same_data"] is not None
    assert done.requests > 0
    asked = len(hub.settled())
    hub.repos["team/plain"] = Repo(make(tmp_path / "new", plain=llama("F32", "float32")) / "plain")
    again = inspector.scan([], out, resume=True, workers=1)
    assert (again.inspected, again.units) == (1, {"inspected": 1, "kept": 2, "changed": 1})
    assert not [each for each in hub.settled()[asked:] if "/team/two" in each.path]


def test_all_workers_wait_where_the_hub_says_so(hub: Hub, tmp_path: Path) -> None:
    """After a 429 with Retry-After no worker asks for that long, and the tables are those of an undisturbed run."""
    organisation(hub, tmp_path / "tree", **{f"m{at}": llama() for at in range(12)})
    inspector.scan(["hf://team"], tmp_path / "quiet", workers=2)
    seen: list[tuple[float, int]] = []
    refused: list[float] = []
    lock = Lock()

    def fault(handler: Handler) -> bool:
        if "/team/" not in handler.path:
            return False  # the library's own doing: it looks up which program it runs in
        with lock:
            now = monotonic()
            seen.append((now, len(refused)))
            if len(seen) < 15 or refused:
                return False
            refused.append(now)
        handler.refuse(429, "too many requests", headers={"retry-after": "2"})
        return True

    hub.fault("/", fault)
    inspector.scan(["hf://team"], tmp_path / "out", workers=2)
    assert refused
    # Requests sent before the refusal came may still arrive: one of each worker, and one of this program.
    assert sum(reported > 0 and at < refused[0] + 1.9 for at, reported in seen) <= 3
    assert tables(tmp_path / "out") == tables(tmp_path / "quiet")


def test_requests_are_spread_over_time(hub: Hub, tmp_path: Path) -> None:
    """At 20 a second, each 20 requests take a second, however many workers there are."""
    organisation(hub, tmp_path / "tree", **{f"m{at}": llama() for at in range(12)})
    times: list[float] = []

    def note(_: Handler) -> bool:
        times.append(monotonic())
        return False

    hub.fault("/resolve/", note)
    began = monotonic()
    done = inspector.scan(["hf://team"], tmp_path / "out", workers=2, requests_per_second=20)
    assert done.requests >= 24
    assert [at - began >= number / 20 for number, at in enumerate(sorted(times))] == [True] * len(times)


def test_turns_of_requests() -> None:
    """Turns are evenly spaced for each server; a pause delays the next one, an absurd pause by a quarter of an hour."""
    turns = Turns()
    assert [turns.wait("a", 4, 100.0) for _ in range(3)] == [0.0, 0.25, 0.5]
    assert turns.wait("b", 4, 100.0) == 0.0
    turns.pause("a", 10, 100.0)
    assert turns.wait("a", 4, 100.0) == 10.0
    turns.pause("b", 1e9, 100.0)
    assert turns.wait("b", 4, 100.0) == 900.0


class Proxy(BaseHTTPRequestHandler):
    """A proxy in front of S3: of the reads of objects, it refuses every third and cuts every fifth."""

    protocol_version = "HTTP/1.1"
    upstream = ""
    rough = False
    numbers = count()
    faults: list[str] = []  # noqa: RUF012  of the one server that there is

    def do_GET(self) -> None:
        number = next(self.numbers) if self.rough and "range" in self.headers else 1
        if number % 3 == 0:
            self.faults.append("slow down")
            body = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
            self._answer(503, {"content-type": "application/xml"}, body)
            return
        request = Request(
            self.upstream + self.path, headers={k: v for k, v in self.headers.items() if k.lower() != "host"}
        )
        request.add_header("host", self.headers["host"])
        try:
            with urlopen(request) as answer:
                status, headers, body = answer.status, dict(answer.headers), answer.read()
        except HTTPError as error:
            status, headers, body = error.code, dict(error.headers), error.read()
        if number % 5 == 0:
            self.faults.append("cut")
            self._answer(status, headers, body, sent=len(body) // 2)
            self.close_connection = True
        else:
            self._answer(status, headers, body)

    do_HEAD = do_GET  # noqa: N815  the standard library's name

    def _answer(self, status: int, headers: dict[str, str], body: bytes, sent: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        length = headers.get("Content-Length", str(len(body))) if self.command == "HEAD" else str(len(body))
        self.send_header("content-length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:sent])

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """moto's S3 behind the proxy, with six models of which one is damaged."""
    boto3 = pytest.importorskip("boto3")
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    proxy.daemon_threads = True
    with s3.server() as endpoint, proxy:
        Proxy.upstream, Proxy.rough = endpoint, False
        Thread(target=proxy.serve_forever, args=(0.02,), daemon=True).start()
        led = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.server_port}", "AWS_RETRY_MODE": "standard"}
        for name, value in {**s3.ENVIRONMENT, **led}.items():
            monkeypatch.setenv(name, value)
        client = boto3.client("s3", endpoint_url=Proxy.upstream)
        client.create_bucket(Bucket="models")
        tree = make(
            tmp_path / "tree", a=llama(), b=gguf(), c=llama(cut=9), d=llama("BF16", "bfloat16"), e__f=llama(), g=llama()
        )
        for path in (path for path in tree.rglob("*") if path.is_file()):
            client.upload_file(str(path), "models", f"zoo/{path.relative_to(tree).as_posix()}")
        yield "s3://models/zoo"
        proxy.shutdown()


def test_a_store_that_throttles_and_cuts(bucket: str, tmp_path: Path) -> None:
    """The tables are those of an undisturbed run, and those of the same folder on a disk but for its location."""
    inspector.scan([bucket], tmp_path / "quiet", workers=1)
    Proxy.rough, Proxy.numbers, Proxy.faults[:] = True, count(), []
    done = inspector.scan([bucket], tmp_path / "out", workers=1)
    assert {"slow down", "cut"} <= set(Proxy.faults)
    assert (done.checkpoints, done.broken, done.unreadable) == (6, 1, 0)
    assert tables(tmp_path / "out") == tables(tmp_path / "quiet")
    Proxy.rough = False
    assert inspector.scan([], tmp_path / "out", resume=True, workers=1).inspected == 0
    inspector.scan([tmp_path / "tree"], tmp_path / "local", workers=1)
    keys = ("family", "logical", "on_disk", "errors", "same_tensors", "same_model", "unexplained")
    there, here = (
        [[row[key] for key in keys] for row in table(tmp_path / name, "checkpoints")] for name in ("out", "local")
    )
    assert sorted(map(str, there)) == sorted(map(str, here))
