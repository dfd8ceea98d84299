"""Repositories on the Hub are reported as if they were local, with few requests and few bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import sparse_torch
import torch_files
from hostile.torch_files import Saved, Tensors, torch_zip
from loopback import samples
from loopback.reading import but_source, download, report
from loopback.server import Hub, Repo, commit_of

from inspector import api
from inspector.errors import InspectorError, TargetError
from inspector.sources.remote import FIRST

RANKS = {each["case"]: each for each in torch_files.cases(torch_files.FIXTURES.with_name("rank_files.jsonl"))}

Folders = Callable[[str], Path]


def test_llama_7b_from_the_hub_is_what_its_folder_says(hub: Hub, llama: str, folders: Folders) -> None:
    """The JSON is the same but for the source, by one request for all headers or by ranges; sizes are the published."""
    here = but_source(report(str(folders("llama-7b"))))
    for all_headers in (True, False):
        hub.repos[llama].all_headers = all_headers
        there = report(llama)
        assert but_source(there) == here
        assert there["source"]["kind"] == "hub"
        assert there["source"]["revision"] == commit_of(folders("llama-7b"))
    assert sum(d["bytes"] for d in here["dtypes"]) == 13_476_835_328
    assert here["reconciliation"]["unexplained"]["bytes"] == 0


def test_the_cache_is_read_without_a_request(hub: Hub, llama: str, folders: Folders, tmp_path: Path) -> None:
    """After a download, the same JSON comes from the cache without any request."""
    small = tmp_path / "small"
    samples.sharded(small, list(samples.llama(2, 64, 128, 100)), 2)
    (small / "config.json").write_text("{}")
    hub.repos["demo/small"] = Repo(small)
    online = report("demo/small")
    download(hub, "demo/small")
    hub.settled().clear()
    cached = report("demo/small")
    assert hub.log == []
    assert but_source(cached) == but_source(online) == but_source(report(str(small)))
    assert cached["source"]["kind"] == "hub"
    assert cached["source"]["requests"] == 0
    assert cached["source"]["revision"] == commit_of(small)


def test_a_partial_snapshot_is_read_where_it_can_be(hub: Hub, tmp_path: Path) -> None:
    """One of two shards is in the cache: only the other is fetched."""
    small = tmp_path / "small"
    samples.sharded(small, list(samples.llama(2, 64, 128, 100)), 2)
    hub.repos["demo/small"] = Repo(small, all_headers=False)
    download(hub, "demo/small", "*00001*", "*.json")
    hub.settled().clear()
    assert but_source(report("demo/small")) == but_source(report(str(small)))
    fetched = [entry.path for entry in hub.settled() if "/resolve/" in entry.path]
    assert len(fetched) == 1
    assert "model-00002-of" in fetched[0]


def test_without_a_network_a_partial_snapshot_is_reported_as_it_is(hub: Hub, tmp_path: Path) -> None:
    """The missing shard is a finding when the Hub cannot be reached."""
    small = tmp_path / "small"
    samples.sharded(small, list(samples.llama(2, 64, 128, 100)), 2)
    hub.repos["demo/small"] = Repo(small)
    download(hub, "demo/small", "*00001*", "*.json")
    hub.__exit__()
    found = report("demo/small")
    assert [f["rule"] for f in found["findings"] if f["severity"] == "error"] == ["missing-shard"]


@pytest.mark.gate
def test_deepseek_v3_by_range(hub: Hub, folders: Folders) -> None:
    """157 shards, 1.34 TB: one request a shard and four more, and no more bytes than promised."""
    hub.repos["demo/deepseek-v3"] = Repo(folders("deepseek-v3"), all_headers=False)
    checkpoint = api.open("demo/deepseek-v3")
    headers = sum(header.bytes_in("header") for header in checkpoint.files)
    assert len(checkpoint.files) == 157
    assert checkpoint.size == 1_342_058_567_784
    asked = [(each.path, each.range) for each in hub.answered()]
    assert checkpoint.origin.requests == len(asked)
    assert len(set(asked)) <= 4 + 157  # requests that a busy server dropped are repeated
    assert checkpoint.origin.redirects == len(hub.settled()) - len(hub.answered())
    assert hub.sent() <= 1.3 * headers + 300_000 * 157


@pytest.mark.gate
def test_deepseek_v3_by_one_request(hub: Hub, folders: Folders) -> None:
    """One request returns all headers, and each file's bytes are still accounted for exactly."""
    hub.repos["demo/deepseek-v3"] = Repo(folders("deepseek-v3"))
    there = api.open("demo/deepseek-v3")
    assert there.origin.requests == len(hub.answered()) <= 5
    here = api.open(str(folders("deepseek-v3")))
    assert [(f.path, f.size, f.regions, tuple(f.tensors)) for f in there.files] == [
        (f.path, f.size, f.regions, tuple(f.tensors)) for f in here.files
    ]


def test_the_index_decides_how_much_is_requested(hub: Hub, tmp_path: Path) -> None:
    """Headers far larger or smaller than the usual first request: one request a shard, and hardly a byte too many."""
    folder = tmp_path / "uneven"
    specs = [(f"model.layers.{n}.mlp.experts.{n}.gate_proj.weight", "BF16", (64, 64)) for n in range(6000)]
    samples.sharded(folder, [("model.embed_tokens.weight", "BF16", (6000, 4096)), *specs], 2)
    hub.repos["demo/uneven"] = Repo(folder, all_headers=False)
    checkpoint = api.open("demo/uneven")
    small, large = (header.bytes_in("header") for header in checkpoint.files)
    assert small < 200 < 2 * FIRST < large
    assert len(hub.answered("/storage/")) == 2
    assert sum(entry.sent for entry in hub.answered("/storage/")) <= 1.3 * (small + large)


def test_a_single_file_takes_few_requests(hub: Hub, single: str) -> None:
    """At most four requests, as counted by the server; the bytes are those that it sent."""
    origin = api.open(single).origin
    assert origin.requests == len(hub.answered()) <= 4
    assert origin.bytes_read == hub.sent() - sum(entry.sent for entry in hub.settled() if entry.status // 100 == 3)
    assert origin.bytes_read <= FIRST + 1000


def test_a_gated_repository_says_how_to_get_in(hub: Hub, llama: str) -> None:
    """Without a token the message says to accept the terms and log in; with one that has no access, to ask for it."""
    hub.repos[llama].gated = True
    with pytest.raises(TargetError, match=r"demo/llama-7b is gated: accept .* `hf auth login` or set HF_TOKEN"):
        api.open(llama)


def test_a_token_opens_a_gated_repository(hub: Hub, llama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a token that lacks access the message says to ask for it; a valid one is never sent to the storage."""
    hub.repos[llama].gated = True
    hub.repos[llama].readers = ("hf_good",)
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    with pytest.raises(TargetError, match="gated: ask for access"):
        api.open(llama)
    monkeypatch.setenv("HF_TOKEN", "hf_good")
    hub.repos[llama].all_headers = False
    hub.settled().clear()
    assert len(api.open(llama).files) == 2
    assert {entry.token for entry in hub.settled() if entry.host == "127.0.0.1"} == {"hf_good"}
    assert {entry.token for entry in hub.log if entry.host == "localhost"} == {None}


def test_a_private_repository_looks_absent(hub: Hub, llama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the right token it looks as if it did not exist, and the message says how it was read."""
    hub.repos[llama].private = True
    hub.repos[llama].readers = ("hf_good",)
    with pytest.raises(TargetError, match=r"no such file or folder here.* no model demo/llama-7b.*if it is private"):
        api.open(llama)
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    with pytest.raises(TargetError, match="or your token has no access to it"):
        api.open(llama)
    monkeypatch.setenv("HF_TOKEN", "hf_good")
    assert len(api.open(llama).files) == 2


def test_a_renamed_repository_is_followed_to_its_name_of_today(hub: Hub, llama: str) -> None:
    """The report gives the new name, and only the listing took the detour."""
    hub.renamed["former/llama"] = llama
    hub.repos[llama].all_headers = False
    checkpoint = api.open("former/llama")
    assert checkpoint.origin.location == f"{hub.endpoint}/{llama}"
    assert sum("former/llama" in entry.path for entry in hub.settled()) == 1


@pytest.mark.parametrize("target", ["demo/single@refs/pr/3", "hf://demo/single@refs/pr/3"])
def test_a_pull_request_is_a_revision(hub: Hub, single: str, tmp_path: Path, target: str) -> None:
    """`refs/pr/3` is read at its own commit."""
    proposed = tmp_path / "proposed"
    samples.safetensors(proposed / "model.safetensors", samples.llama(2, 64, 128, 100))
    hub.repos[single].revisions["refs/pr/3"] = proposed
    assert api.open(target).origin.revision == commit_of(proposed)
    assert api.open(single, revision="refs/pr/3").origin.revision == commit_of(proposed)


def test_an_unknown_revision_is_reported(hub: Hub, single: str) -> None:
    with pytest.raises(TargetError, match="demo/single has no revision v9"):
        api.open(f"{single}@v9")


def test_a_revision_other_than_main_takes_the_range_way(hub: Hub, single: str, tmp_path: Path) -> None:
    """The single request for all headers only knows the default branch."""
    proposed = tmp_path / "proposed"
    samples.sharded(proposed, list(samples.llama(2, 64, 128, 100)), 2)
    hub.repos[single].revisions["v2"] = proposed
    assert len(api.open(f"{single}@v2").files) == 2
    assert not hub.answered("safetensors-metadata")


def test_a_repository_without_weights_says_what_it_has(hub: Hub, tmp_path: Path) -> None:
    """The files of a training run are counted, and not opened."""
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / "optimizer.pt").write_bytes(b"PK\x03\x04")
    hub.repos["demo/state"] = Repo(folder)
    with pytest.raises(TargetError, match="no weights, only 1 file of a training run's state"):
        api.open("demo/state")


def test_pytorchs_files_are_read_where_there_is_nothing_else(hub: Hub, tmp_path: Path) -> None:
    """The archive's end and its pickle are read, a twentieth of its bytes, and nothing of a storage."""
    folder = tmp_path / "pickles"
    folder.mkdir()
    tensors: Tensors = {f"layers.{at}.weight": Saved((1000, 100), str(at)) for at in range(20)}
    (folder / "pytorch_model.bin").write_bytes(torch_zip(tensors))
    hub.repos["demo/pickles"] = Repo(folder)
    found = api.open("demo/pickles")
    assert [tensor.shape for tensor in found.files[0].tensors] == [(1000, 100)] * 20
    assert found.origin.bytes_read < 0.05 * found.files[0].size


def test_thirteen_gigabytes_of_pickles_take_a_few_requests(hub: Hub, tmp_path: Path) -> None:
    """Of LLaMA-7B in one archive, the beginning with the pickle and the end with the list of records are read."""
    sparse_torch.make("llama-7b", tmp_path / "llama-7b")
    hub.repos["demo/llama"] = Repo(tmp_path / "llama-7b")
    found = api.open("demo/llama")
    assert (found.size, len(found.files[0].tensors)) == (13_476_945_424, 323)
    assert found.origin.bytes_read < 500_000
    assert len(hub.answered("pytorch_model.bin")) <= 3


def test_ranks_files_are_read_by_ranges(hub: Hub, tmp_path: Path) -> None:
    """A folder of torch.distributed.checkpoint: its index is read, and both ends of each tensor's archive."""
    folder = torch_files.unpack(RANKS["fully sharded, collective"], tmp_path)
    hub.repos["demo/ranks"] = Repo(folder)
    found = api.open("demo/ranks")
    assert [each.tensor.shape for each in api.reconcile(found).tensors if each.tensor.name == "embed.weight"] == [
        (11, 6)
    ]


def test_a_mirror_without_sizes_is_listed_by_its_tree(hub: Hub, llama: str, tmp_path: Path) -> None:
    """A listing of several pages is read to the end, and nothing is lost."""
    folder = tmp_path / "many"
    samples.safetensors(folder / "model.safetensors", samples.llama(1, 64, 128, 100))
    for number in range(1500):
        (folder / f"note-{number}.txt").touch()
    hub.repos["demo/many"] = Repo(folder, sizes=False)
    checkpoint = api.open("demo/many")
    assert sum(other.files for other in checkpoint.other or ()) == 1500
    assert len(hub.answered("/tree/")) == 2


def test_a_subfolder_and_a_file_can_be_named(hub: Hub, tmp_path: Path) -> None:
    """`org/name/folder` and `org/name/folder/file` give the same as the local folder and file."""
    folder = tmp_path / "both"
    samples.safetensors(folder / "model.safetensors", samples.llama(2, 64, 128, 100))
    samples.safetensors(
        folder / "fp32" / "model.safetensors", [(n, "F32", s) for n, _, s in samples.llama(1, 64, 128, 100)]
    )
    hub.repos["demo/both"] = Repo(folder)
    for path in ("fp32", "fp32/model.safetensors", "model.safetensors"):
        assert but_source(report(f"demo/both/{path}")) == but_source(report(str(folder / path)))


def test_a_misspelt_path_gets_a_suggestion(hub: Hub, single: str) -> None:
    with pytest.raises(TargetError, match=r"no file or folder modle\.safetensors; did you mean model\.safetensors"):
        api.open(f"{single}/modle.safetensors")


def test_offline_mode_reads_the_cache_and_says_when_it_cannot(
    hub: Hub, single: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With HF_HUB_OFFLINE the cache answers; without a cached copy there is one line of error."""
    from huggingface_hub import constants

    online = report(single)
    download(hub, single)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert but_source(report(single)) == but_source(online)
    with pytest.raises(InspectorError, match=r"demo/other is neither a local path nor in .*cache.*offline mode"):
        api.open("demo/other")


def test_an_unreachable_hub_is_reported_in_one_line(hub: Hub) -> None:
    """Without a server, the line says what was tried, and that there is no local copy."""
    hub.__exit__()
    with pytest.raises(
        InspectorError, match=r"neither a local path nor in the Hub's cache, and 127\.0\.0\.1:\d+ refuses the "
    ) as caught:
        api.open("demo/other")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("[Errno -2] Name or service not known", "there is no network: the name hub.example cannot be looked up"),
        ("[Errno -3] Temporary failure in name resolution", "there is no network: the name hub.example cannot be"),
        ("[Errno 8] nodename nor servname provided, or not known", "there is no network: the name hub.example"),
        ("[Errno 11001] getaddrinfo failed", "there is no network: the name hub.example cannot be looked up"),
        ("[Errno 101] Network is unreachable", "there is no network: hub.example cannot be reached"),
        ("[Errno 113] No route to host", "there is no network: hub.example cannot be reached"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed", "the certificate of hub.example is not accepted"),
        ("something new", "something new"),
    ],
)
def test_a_missing_network_is_a_sentence(reason: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages are those of Linux, macOS, Windows and OpenSSL; an unknown one is passed on."""
    from inspector.sources.answers import client_library, unreached

    monkeypatch.setenv("no_proxy", "*")
    assert unreached(client_library().ConnectError(reason), "https://hub.example/api").startswith(sentence)
