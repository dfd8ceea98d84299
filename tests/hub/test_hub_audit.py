"""`inspect audit` of a repository on the Hub, and of a download that is compared with the Hub."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import folders
import hostile
import pytest
import spoilt
from conftest import Ran
from huggingface_hub import HfApi
from loopback.server import Hub, Repo

Run = Callable[..., Ran]


@pytest.fixture
def published(hub: Hub, tmp_path: Path) -> Path:
    """The sound model, as `demo/sound` on the Hub and as a download."""
    hub.repos["demo/sound"] = Repo(hostile.make(hostile.nothing, tmp_path / "hub"))
    return Path(shutil.copytree(tmp_path / "hub", tmp_path / "download"))


def found(ran: Ran) -> set[tuple[str, str | None]]:
    return {(each["rule"], each["path"]) for model in ran.json["checkpoints"] for each in model["findings"]}


@pytest.mark.parametrize("target", ["demo/sound", "hf://demo/sound", "demo/sound@main"])
def test_a_repository_is_audited(hub: Hub, published: Path, inspect: Run, target: str) -> None:
    """A Hub id that is not a local path is looked up on the Hub, as by other commands; only headers are fetched."""
    ran = inspect("audit", target, "--json")
    assert (ran.code, found(ran)) == (0, set())
    hub.repos["demo/sound"] = Repo(hostile.make(hostile.CASES["template-code"].trips, published.parent / "evil"))
    ran = inspect("audit", target, "--json")
    assert (ran.code, found(ran)) == (1, {("template-code", "tokenizer_config.json")})


def test_the_data_of_a_repository_is_read_by_ranges(hub: Hub, inspect: Run, tmp_path: Path) -> None:
    """Each tensor is read once, and judged by the same rules as on disk; with `--checksum` from the same bytes."""
    hub.repos["demo/spoilt"] = Repo(spoilt.make("nan", 5, tmp_path / "hub"))
    size = (tmp_path / "hub" / "model.safetensors").stat().st_size
    ran = inspect("audit", "demo/spoilt", "--data", "--json")
    assert (ran.code, found(ran)) == (1, {("not-finite", "model.safetensors")})
    assert size * 0.9 < sum(each.sent for each in hub.log) < size + (1 << 20)  # meanwhile headers are read in advance


def test_a_folder_of_that_name_comes_first(
    hub: Hub, published: Path, inspect: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path that exists is local, and the Hub is not asked."""
    hostile.make(hostile.CASES["truncated"].trips, published / "demo" / "sound")
    monkeypatch.chdir(published)
    assert ("truncated", hostile.SECOND) in found(inspect("audit", "demo/sound", "--json"))
    assert hub.settled() == []


def test_a_repository_that_is_not_there(hub: Hub, inspect: Run) -> None:
    """A missing repository is one line on stderr, and exit code 2."""
    ran = inspect("audit", "demo/nothing")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_a_download_is_what_the_hub_has(hub: Hub, published: Path, inspect: Run) -> None:
    """SHA-256 of weights and git's SHA-1 of other files are compared, after one request that downloads no file."""
    ran = inspect("audit", published, "--checksum", "--hub", "demo/sound", "--json")
    assert (ran.code, found(ran)) == (0, set())
    assert [entry.path.split("?")[0] for entry in hub.settled()] == ["/api/models/demo/sound"]


@pytest.mark.parametrize("name", [hostile.FIRST, hostile.SECOND, "config.json", "tokenizer.json", "README.md"])
def test_a_changed_file_is_found(hub: Hub, published: Path, inspect: Run, name: str) -> None:
    """One changed byte in any file, of the same size, is found, as by huggingface_hub's own verification."""
    raw = (published / name).read_bytes()
    (published / name).write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    ran = inspect("audit", published, "--hub", "demo/sound", "--json")
    theirs = HfApi(hub.endpoint).verify_repo_checksums("demo/sound", local_dir=published)
    assert ran.code == 1
    assert {path for rule, path in found(ran) if rule == "checksum"} == {each["path"] for each in theirs.mismatches}
    assert ("checksum", name) in found(ran)


@pytest.mark.parametrize(
    ("options", "stated"),
    [
        (("--hub", "demo/nothing"), "the Hub has no information on demo/nothing"),
        (("--hub", "demo/sound", "--revision", "v9"), "the Hub has no information on demo/sound"),
        (("--hub", "../etc"), "the Hub has no information on ../etc"),
    ],
)
def test_an_unknown_repository_is_a_usage_error(
    hub: Hub, published: Path, inspect: Run, options: tuple[str, ...], stated: str
) -> None:
    """What the Hub does not know is a usage error in one line; nothing is reported as sound."""
    ran = inspect("audit", published, "--checksum", *options)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert stated in ran.err


def test_without_the_network(hub: Hub, published: Path, inspect: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Hub that cannot be reached is an error in one line."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    ran = inspect("audit", published, "--hub", "demo/sound")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "the Hub has no information on demo/sound: 127.0.0.1:9 refuses the connection" in ran.err


def test_checksums_are_of_local_files(hub: Hub, published: Path, inspect: Run) -> None:
    """A repository is not downloaded to be hashed."""
    ran = inspect("audit", "hf://demo/sound", "--checksum")
    assert (ran.code, ran.err.count("\n")) == (2, 1)


@pytest.mark.parametrize("name", ["five", "quantizations", "trainer_unfinished"])
def test_a_repository_has_a_row_for_each_checkpoint(name: str, hub: Hub, inspect: Run, tmp_path: Path) -> None:
    """The same as in a folder of the same files, under names that can be typed."""
    root, _ = folders.made(name, tmp_path / "folder")
    hub.repos["demo/several"] = Repo(root)
    local = [each["target"].removeprefix(str(root)) for each in inspect("audit", root, "--json").json["checkpoints"]]
    assert len(local) > 1
    for target, start in (
        ("demo/several", "demo/several"),
        ("https://huggingface.co/demo/several/tree/main", "hf://demo/several@main"),
    ):
        names = [each["target"] for each in inspect("audit", target, "--json").json["checkpoints"]]
        assert sorted(each.removeprefix(start) for each in names) == sorted(local)
        (again,) = inspect("audit", names[0], "--json").json["checkpoints"]
        assert again["target"] == names[0]
