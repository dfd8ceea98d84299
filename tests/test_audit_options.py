"""Each option of `inspect audit` is one of `inspector.audit`, with the same result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import hostile
import pytest
import spoilt
from conftest import Ran
from loopback.server import Hub, Repo
from test_audit import cached

import inspector
from inspector.auditing.run import Audit
from inspector.cli import audit as command
from inspector.report import audit as report

Run = Callable[..., Ran]
#: Options of the command that concern its own output and exit code.
OF_OUTPUT = {"list_rules", "full", "fail_on", "wide", "html", "forms", "parquet"}


class Case(NamedTuple):
    """An option, as words of the command and as keywords of the library."""

    targets: list[Path]
    words: tuple[str | Path, ...]
    keywords: dict[str, Any]


def ignore(at: Path) -> Case:
    return Case([hostile.make(hostile.CASES["pickle"].trips, at)], ("--ignore", "pickle"), {"ignore": ["pickle"]})


def alone(at: Path) -> Case:
    return Case([hostile.make(hostile.nothing, at) / hostile.FIRST], ("--alone",), {"alone": True})


def config(at: Path) -> Case:
    folder = hostile.make(hostile.nothing, at / "model")
    values = json.loads((folder / "config.json").read_text())
    named = at / "other.json"
    named.write_text(json.dumps({**values, "intermediate_size": 2 * values["intermediate_size"]}))
    return Case([folder], ("--config", named), {"config": named})


def cache(at: Path) -> Case:
    cached(at, "org/one", hostile.sound())
    cached(at, "org/two", hostile.sound())
    return Case([at], ("--cache",), {"cache": True})


def data(at: Path) -> Case:
    return Case([spoilt.make("nan", 5, at)], ("--data",), {"data": True})


def deep(at: Path) -> Case:
    folder = hostile.make(hostile.put("chat_template.jinja", b"{{ messages.append(1) }}"), at)
    return Case([folder], ("--deep",), {"deep": True})


def checksum(at: Path) -> Case:
    snapshot = cached(at, "org/one", hostile.sound())
    blob = (snapshot / hostile.FIRST).resolve()
    blob.write_bytes(blob.read_bytes()[:-1] + b"\1")
    return Case([snapshot], ("--checksum",), {"checksum": True})


def manifest(at: Path) -> Case:
    folder = hostile.make(hostile.nothing, at / "model")
    named = at / "sums"
    named.write_text(f"{'0' * 64} *model/{hostile.FIRST}\n")
    return Case([folder], ("--manifest", named), {"manifest": named})


@pytest.mark.parametrize("make", [ignore, alone, config, cache, data, deep, checksum, manifest])
def test_an_option_does_the_same_in_python(inspect: Run, tmp_path: Path, make: Callable[[Path], Case]) -> None:
    """The function gives the same document as the command, and a different one without the option."""
    case = make(tmp_path)
    ran = inspect("audit", *case.targets, *case.words, "--json")
    assert ran.json == report.document(inspector.audit(case.targets, **case.keywords))
    assert ran.json != report.document(inspector.audit(case.targets))


def test_one_target_needs_no_list(tmp_path: Path) -> None:
    """A path as text or as a Path is one target, not a list of letters."""
    folder = hostile.make(hostile.nothing, tmp_path)
    listed = report.document(inspector.audit([folder]))
    assert report.document(inspector.audit(folder)) == report.document(inspector.audit(str(folder))) == listed


def test_a_manifest_is_written(inspect: Run, tmp_path: Path) -> None:
    """Both write the same lines for all files, from one reading of the tensors."""
    folder = hostile.make(hostile.nothing, tmp_path / "model")
    ran = inspect("audit", folder, "--write-manifest", tmp_path / "by-command", "--data", "--json")
    result = inspector.audit([folder], write_manifest=tmp_path / "by-library", data=True)
    assert ran.json == report.document(result)
    lines = (tmp_path / "by-library").read_text()
    assert lines == (tmp_path / "by-command").read_text()
    raw = (folder / hostile.FIRST).read_bytes()
    assert f"{hashlib.sha256(raw).hexdigest()} *model/{hostile.FIRST}\n" in lines


def test_the_hub_is_asked(hub: Hub, inspect: Run, tmp_path: Path) -> None:
    """It is asked for a repository's files at a revision, and for its checksums."""
    hub.repos["demo/sound"] = Repo(hostile.make(hostile.nothing, tmp_path / "hub"))
    ran = inspect("audit", "demo/sound", "--revision", "main", "--json")
    assert ran.json == report.document(inspector.audit(["demo/sound"], revision="main"))
    folder = hostile.make(hostile.nothing, tmp_path / "model")
    (folder / hostile.FIRST).write_bytes((folder / hostile.FIRST).read_bytes()[:-1] + b"\1")
    ran = inspect("audit", folder, "--hub", "demo/sound", "--json")
    assert ran.json == report.document(inspector.audit([folder], hub="demo/sound"))
    assert rules(inspector.audit([folder], hub="demo/sound")) - rules(inspector.audit([folder])) == {"checksum"}


def rules(result: Audit) -> set[str]:
    return {finding.rule for model in result.checkpoints for finding in model.findings}


def test_no_option_is_missing_in_python() -> None:
    """Each parameter of the command that does not concern its output is one of the function, by the same name."""
    options = {str(option.name) for option in command.audit.params} - OF_OUTPUT
    assert options <= signature(inspector.audit).parameters.keys()


def test_progress_is_reported(tmp_path: Path) -> None:
    """There is a context for each model, with the number of bytes that will be read."""
    folder = hostile.make(hostile.nothing, tmp_path / "model")
    begun: list[tuple[int, str]] = []
    read: list[int] = []

    @contextmanager
    def progress(total: int, target: str) -> Iterator[Callable[[int], object]]:
        begun.append((total, target))
        yield read.append

    inspector.audit([folder], checksum=True, progress=progress)
    sizes = sum((folder / name).stat().st_size for name in (hostile.FIRST, hostile.SECOND))
    assert begun == [(sizes, str(folder))]
    assert sum(read) == sizes
