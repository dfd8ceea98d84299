"""An audit on a failing disk, a closed terminal or among other programs: one line, no traceback, no leftovers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hostile
import pytest
from conftest import Ran
from costs import HANGS
from listening import LISTENING

import inspector
from inspector.auditing import run as auditing
from inspector.auditing import targets
from inspector.errors import SourceError
from inspector.sources.listing import Entry, entries
from inspector.sources.local import LocalFile

Run = Callable[..., Ran]
ROOT = Path(inspector.__file__).parents[1]
UNIX = pytest.mark.skipif(sys.platform == "win32", reason="the shell and its devices are Unix's")
FORMS = pytest.mark.parametrize("form", [(), ("--json",), ("--sarif",)], ids=["text", "json", "sarif"])
ODD = "\x1b]0;x\x07\u202e\n\r"


def started(*arguments: object, **more: Any) -> subprocess.Popen[bytes]:
    """The command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more.pop("env", {})}
    command = [sys.executable, "-c", LISTENING, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, **more)


def found(result: auditing.Audit) -> set[str]:
    return {finding.rule for model in result.checkpoints for finding in model.findings}


# --- other programs -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [hostile.FIRST, hostile.INDEX, "config.json", "tokenizer.json", "tokenizer_config.json"]
)
@pytest.mark.parametrize("change", [Path.unlink, lambda path: os.truncate(path, 20)], ids=["vanishes", "shrinks"])
def test_a_file_changes_after_it_was_listed(
    name: str, change: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is gone or has become shorter has a finding; the others are audited."""
    folder = hostile.make(hostile.CASES["pickle"].trips, tmp_path)

    def meddled(root: Path, **more: Any) -> Iterator[Entry]:
        known = list(entries(root, **more))
        change(folder / name)
        return iter(known)

    monkeypatch.setattr(targets, "entries", meddled)
    codes = found(inspector.audit([folder]))
    assert "pickle" in codes
    assert codes & {"unreadable-file", "truncated", "index", "config", "document", "no-access"}


def test_a_file_shrinks_while_it_is_read(tmp_path: Path) -> None:
    """A GGUF header that another program cuts is an error of ours, where a memory map would end the process."""
    path = tmp_path / "model.gguf"
    path.write_bytes(bytes(1 << 22))
    source = LocalFile(path)
    before = source.prefix(100)
    os.truncate(path, 1000)
    with pytest.raises(SourceError, match="while it was being read"):
        source.prefix(1 << 21)
    assert bytes(before[:100]) == bytes(100)
    source.close()


# --- the terminal -------------------------------------------------------------------------------


#: The command in each form, one after the other, in one process; the exit code is each one's.
THRICE = """
import sys
from inspector.__main__ import run
sys.exit(sum(run([*sys.argv[1:], *form]) != 1 for form in ([], ["--json"], ["--sarif"])))
"""


@pytest.mark.gate
@pytest.mark.parametrize(
    "environment",
    [
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "utf-16"},
        {"TERM": "dumb", "COLUMNS": "5"},
        {"HOME": "/nonexistent", "TMPDIR": "/nonexistent", "PYTHONWARNINGS": "error"},
    ],
    ids=lambda each: next(iter(each)),
)
@UNIX
def test_environments(environment: dict[str, str], tmp_path: Path) -> None:
    """In any locale, encoding and terminal: the findings are printed in every form, and nothing on stderr."""
    links = hostile.both(
        hostile.put("l", hostile.Link("/etc/\u202e")), hostile.put("x.bin", hostile.calls("os", "größe"))
    )
    index = hostile.put("model_index.json", hostile.dump({ODD: [ODD, ODD], "größe": ["a", "b"]}))
    folder = hostile.make(hostile.both(links, index), tmp_path)
    command = [sys.executable, "-c", THRICE, "audit", str(folder)]
    ran = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT), **environment}, capture_output=True)  # noqa: PLW1510
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout and b"\x1b" not in ran.stdout


@pytest.mark.gate
@FORMS
@UNIX
def test_output_that_is_closed_or_full(form: tuple[str, ...], tmp_path: Path) -> None:
    """No output, a reader that goes away, a full disk."""
    folder = hostile.make(hostile.CASES["pickle"].trips, tmp_path)
    command = f"'{sys.executable}' -m inspector audit '{folder}' {' '.join(form)}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def shell(line: str) -> tuple[int, str]:
        ran = subprocess.run(["sh", "-c", line], check=False, env=environment, capture_output=True, text=True)
        return ran.returncode, ran.stderr

    assert shell(f"{command} >&-") == (1, "")
    assert shell(f"{command} | head -c 5")[1] == ""
    assert shell(f"{{ {command}; echo $? >'{tmp_path}/code'; }} | true")[1] == ""
    assert (tmp_path / "code").read_text() == "1\n"  # the exit code does not depend on who reads the output
    if Path("/dev/full").exists():
        code, reported = shell(f"{command} >/dev/full")
        assert code == 2 and reported.count("\n") == 1 and "cannot write the output" in reported


@UNIX
def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    """A model elsewhere is audited; the missing directory itself is an error in one line."""
    folder = hostile.make(hostile.CASES["pickle"].trips, tmp_path / "model")
    command = f"'{sys.executable}' -m inspector audit"
    gone = tmp_path / "gone"
    for target, code in ((folder, 1), (".", 2)):
        gone.mkdir()
        line = f"cd '{gone}' && rmdir '{gone}' && {command} '{target}' --sarif"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        ran = subprocess.run(["sh", "-c", line], check=False, env=environment, capture_output=True, text=True)
        assert ran.returncode == code and ran.stderr.count("\n") == (code == 2), ran.stderr


@pytest.mark.gate
@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="Linux says how much a process has read")
def test_an_interrupt_ends_checksums(tmp_path: Path) -> None:
    """Ctrl-C in the middle of 80 GB ends it at once, with exit code 130, one line, and no partial manifest."""
    folder = hostile.make(hostile.nothing, tmp_path / "model")
    os.truncate(folder / hostile.FIRST, 40 << 30)
    os.truncate(folder / hostile.SECOND, 40 << 30)
    manifest = tmp_path / "SHA256SUMS"
    process = started("audit", folder, "--write-manifest", manifest, stdout=subprocess.DEVNULL)
    read = Path(f"/proc/{process.pid}/io")
    while int(read.read_text().split()[1]) < 1 << 28:  # in the middle of the files
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    try:
        _, reported = process.communicate(timeout=HANGS)
    finally:
        process.kill()
    assert process.returncode == 130
    assert reported.strip() == b"inspect: interrupted"
    assert not manifest.exists()


# --- names --------------------------------------------------------------------------------------


@UNIX
def test_manifests_hold_any_name(inspect: Run, tmp_path: Path) -> None:
    """A name that is no UTF-8 is written as it is, as by sha256sum, and read again."""
    folder = hostile.make(hostile.nothing, tmp_path)
    (folder / "x\udcff.bin").write_bytes(b"numbers")
    assert inspect("audit", folder, "--write-manifest", folder / "SHA256SUMS", "--ignore", "file-name").code == 0
    assert b"x\xff.bin\n" in (folder / "SHA256SUMS").read_bytes()
    (folder / "x\udcff.bin").write_bytes(b"others")
    ran = inspect("audit", folder, "--checksum", "--ignore", "file-name", "--json")
    assert [finding["rule"] for finding in ran.json["checkpoints"][0]["findings"]] == ["checksum"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not hold for root")
@pytest.mark.parametrize("name", ["README.md", "tokenizer.json", hostile.FIRST, hostile.INDEX])
def test_an_unreadable_file_is_reported(name: str, inspect: Run, tmp_path: Path) -> None:
    """Each unreadable file is a finding, and the rest is audited, with checksums too."""
    folder = hostile.make(hostile.CASES["pickle"].trips, tmp_path)
    (folder / name).chmod(0)
    for options in ((), ("--checksum",)):
        codes = {f["rule"] for f in inspect("audit", folder, "--json", *options).json["checkpoints"][0]["findings"]}
        assert {"pickle", "no-access"} <= codes


def test_a_pickle_that_takes_from_an_empty_stack(inspect: Run, tmp_path: Path) -> None:
    """It cannot be followed from its first opcode on, but the names further on are still reported."""
    folder = hostile.make(hostile.nothing, tmp_path)
    (folder / "extra.bin").write_bytes(b"\x80\x04\x93cos\nsystem\n.")
    ran = inspect("audit", folder, "--json")
    found = {f["rule"]: f["severity"] for f in ran.json["checkpoints"][0]["findings"] if f["path"] == "extra.bin"}
    assert (ran.code, found.get("pickle")) == (1, "error")
