"""Servers that fail or attack: one clear line, in bounded memory and time."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from costs import HANGS
from huggingface_hub import constants
from listening import LISTENING
from loopback import faults, samples
from loopback.server import Fault, Handler, Hub, Repo

from inspector import api
from inspector.errors import InspectorError
from inspector.sources import http

WEIGHTS = "/storage/"


@pytest.fixture
def one_try(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "TRIES", 1)


@pytest.fixture
def large(hub: Hub, tmp_path: Path) -> str:
    """A weight file of `faults.LARGE` bytes."""
    head, _ = samples.safetensors_head(samples.llama(1, 1024, 1024, 1000))
    samples.sparse(tmp_path / "large" / "model.safetensors", head, faults.LARGE - len(head))
    hub.repos["demo/large"] = Repo(tmp_path / "large")
    return "demo/large"


def refused(target: str) -> str:
    """The error's one line, which must come soon and take little memory."""
    tracemalloc.start()
    start = time.monotonic()
    with pytest.raises(InspectorError) as caught:
        api.open(target)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert time.monotonic() - start < HANGS  # not for as long as the server wants
    assert peak < 100_000_000
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (faults.ignores_range, "ignores range requests"),
        (faults.endless, "ignores range requests"),
        (faults.endless_range, "sends more than the 262,144 bytes allowed"),
        (faults.other_range, "was asked for bytes 0 to .* and sent another range: `bytes 5-104/1000000`"),
        (faults.packed_range, "sends a range as `gzip`, which was not requested"),
        (faults.truncated, "without sending complete message body|131,072 bytes short"),
        (faults.circle, "more than 10 redirects"),
        (faults.redirect("ftp://localhost/model.safetensors"), "redirects to `ftp:`, which is not followed"),
        (faults.redirect("file:///etc/passwd"), "redirects to `file:`, which is not followed"),
        (faults.redirect("http://[broken"), r"redirects to `http://\[broken`, which is not an address"),
        (faults.status(418), "answered 418"),
    ],
)
@pytest.mark.usefixtures("one_try")
def test_a_bad_answer_is_one_line(hub: Hub, large: str, fault: Fault, line: str) -> None:
    """Whatever the storage sends in place of the requested range is an error in one line."""
    hub.fault(WEIGHTS, fault)
    assert re.search(line, refused(large))


def test_a_server_without_ranges_is_noticed_at_once(hub: Hub, large: str) -> None:
    """The body of the whole file is not downloaded, and there is no second try."""
    hub.fault(WEIGHTS, faults.ignores_range)
    assert "download it and inspect it locally" in refused(large)
    time.sleep(0.2)
    assert len(hub.answered(WEIGHTS)) <= 1
    assert sum(entry.sent for entry in hub.answered(WEIGHTS)) < faults.LARGE / 4


@pytest.mark.parametrize("fault", [faults.endless, faults.bomb])
def test_an_endless_listing_is_bounded(hub: Hub, single: str, fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an endless body nor one that unpacks endlessly is read to its end."""
    monkeypatch.setattr("inspector.sources.hub_api.MAX_LISTING", 2_000_000)
    hub.fault("/api/models/", fault)
    assert "sends more than" in refused(single)


@pytest.mark.parametrize("fault", [faults.endless, faults.bomb])
def test_an_endless_configuration_is_bounded(hub: Hub, single: str, fault: Fault) -> None:
    """A file may not be longer than its listing says."""
    hub.fault("/resolve-cache/", fault)
    assert "sends more than the 2 bytes allowed" in refused(single)


@pytest.mark.parametrize("body", [b"[]", b"{}", b"null", b"<html>", b'{"sha": 1, "siblings": []}', b"[" * 100_000])
def test_a_response_that_is_not_a_listing_is_reported(hub: Hub, single: str, body: bytes) -> None:
    def fault(handler: Handler) -> bool:
        handler.answer(200, body)
        return True

    hub.fault("/api/models/", fault)
    assert "is the endpoint right?" in refused(single)


def test_a_list_of_agents_that_is_none_does_no_harm(hub: Hub, single: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub's library asks the endpoint for it, and fails on another kind of JSON."""

    def none() -> None:
        raise AttributeError("'list' object has no attribute 'get'")

    monkeypatch.setattr("huggingface_hub.utils._headers.detect_agent", none, raising=False)
    assert api.open(single).files


def test_paths_that_lead_out_of_the_repository_are_not_taken(hub: Hub, single: str, tmp_path: Path) -> None:
    """Such paths are neither read nor looked up in the cache."""
    listing = {"id": single, "sha": "0" * 40, "siblings": [{"rfilename": "../../x/model.safetensors", "size": 100}]}

    def fault(handler: Handler) -> bool:
        handler.json(listing)
        return True

    hub.fault("/api/models/", fault)
    assert "has no weights among its 0 files" in refused(single)


def test_a_commit_that_is_a_path_leads_nowhere(hub: Hub, single: str, tmp_path: Path) -> None:
    """The cache is searched by commit hash only, whatever a server calls a commit."""
    size = (hub.repos[single].folder / "model.safetensors").stat().st_size
    outside = tmp_path / "cache" / "outside"
    samples.sparse(outside / "model.safetensors", b"secret", size - 6)
    (tmp_path / "cache" / "models--demo--single" / "snapshots").mkdir(parents=True)
    for commit in ("../../outside", "..\\..\\outside", str(outside)):
        listing = {"id": single, "sha": commit, "siblings": [{"rfilename": "model.safetensors", "size": size}]}

        def fault(handler: Handler, listing: object = listing) -> bool:
            handler.json(listing)
            return True

        hub.fault("/api/models/", fault, times=1)
        assert "no revision" in refused(single) or "has no such file" in refused(single)


@pytest.mark.usefixtures("one_try")
def test_a_drip_is_given_up(hub: Hub, large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An occasional byte keeps any read from timing out; the whole answer has a limit of its own."""
    monkeypatch.setattr(http, "PATIENCE", 0.5)
    hub.fault(WEIGHTS, faults.drips)
    assert "sends too slowly" in refused(large)


@pytest.mark.usefixtures("one_try")
def test_silence_is_given_up(hub: Hub, large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 0.3)
    hub.fault(WEIGHTS, faults.silent(2))
    assert "no answer within the time limit" in refused(large)


@pytest.mark.usefixtures("one_try")
@pytest.mark.parametrize("fault", [faults.drips_head, faults.continues])
def test_a_head_without_end_is_given_up(hub: Hub, large: str, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    """No single read of the head takes long; the whole head has a limit of its own."""
    monkeypatch.setattr(http, "PATIENCE", 0.5)
    hub.fault(WEIGHTS, fault)
    assert "does not begin to respond within" in refused(large)


@pytest.mark.usefixtures("one_try")
def test_a_header_in_any_encoding_is_text(hub: Hub, large: str) -> None:
    """A header that cannot be decoded is not an error."""
    hub.fault(WEIGHTS, faults.any_encoding)
    assert "answered 418" in refused(large)


@pytest.mark.usefixtures("one_try")
def test_a_listing_is_bounded_before_it_is_parsed(hub: Hub, large: str) -> None:
    """21 MB of empty lists would take more than a gigabyte when parsed."""
    hub.fault("/api/models/", faults.brackets)
    assert "more than any repository has" in refused(large)


def test_names_that_cannot_be_asked_for_are_left_out(hub: Hub, large: str) -> None:
    """Half a surrogate pair, and a shard number of 5,000 digits, in the Hub's listing."""
    size = faults.LARGE
    odd = ["\ud800.safetensors", f"model-{'1' * 5000}-of-00002.safetensors"]
    files = [{"rfilename": name, "size": size} for name in ("model.safetensors", *odd)]

    def fault(handler: Handler) -> bool:
        handler.json({"id": large, "sha": "main", "siblings": files})
        return True

    hub.fault("/api/models/", fault, times=1)
    assert [(file.path, file.size) for file in api.open(large).files] == [("model.safetensors", size)]


def test_a_redirect_to_a_third_host_gets_no_token(hub: Hub, large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirect to a third host carries no token, even if it leads back to the Hub."""
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setattr(http, "TRIES", 1)
    port = hub.endpoint.rpartition(":")[2]
    hub.fault("/resolve/", faults.redirect(f"{hub.storage}/detour"))
    hub.fault("/detour", faults.redirect(f"http://127.0.0.1:{port}/home"))
    refused(large)
    tokens = {entry.path: entry.token for entry in hub.settled()}
    assert tokens[f"/api/models/{large}?blobs=true"] == "hf_secret"
    assert tokens["/detour"] is None
    assert tokens["/home"] is None


def test_secrets_in_addresses_are_not_shown(hub: Hub, single: str) -> None:
    """Neither a signature nor a password appears in a message or a report."""
    url = f"http://user:password@127.0.0.1:{hub.endpoint.rpartition(':')[2]}/storage/{single}/nothing?signature=secret"
    for line in (refused(url), refused(url.replace("nothing", "else"))):
        assert "password" not in line
        assert "secret" not in line


def test_terminal_codes_in_a_refusal_are_escaped(hub: Hub, single: str) -> None:
    hub.fault("/api/models/", faults.status(418, x_error_message="\u009b31m red \u202e"))
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", refused(single))


def test_ctrl_c_leaves_at_once(hub: Hub, tmp_path: Path) -> None:
    """Ctrl-C ends the command while every shard waits for a server that does not answer for minutes."""
    samples.sharded(tmp_path / "many", list(samples.llama(8, 64, 128, 100)), 8)
    hub.repos["demo/many"] = Repo(tmp_path / "many", all_headers=False)
    hub.fault(WEIGHTS, faults.silent(HANGS))
    environment = {**os.environ, "HF_ENDPOINT": hub.endpoint, "HF_HUB_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-c", LISTENING, "demo/many"]
    with subprocess.Popen(
        command,
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + HANGS
        while not any("/resolve/" in entry.path for entry in hub.log) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=HANGS)
    assert process.returncode == 130
    assert stderr.strip() == "inspect: interrupted"
