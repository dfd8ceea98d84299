"""The console blocks of the README and of some of docs/, run as they stand: every line of output that they show is what the command prints.

A line of `…` stands for any lines, `…` within a line for any text. `TARGET` and a comment make a line one to read.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sparse
import sparse_torch

if TYPE_CHECKING:
    from conftest import Ran

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sessions(page: Path) -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
    """Each block by its first command: its commands, with the lines that each is shown to print."""
    for block in _BLOCK.findall(page.read_text()):
        steps: list[tuple[str, list[str]]] = []
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:].partition("  #")[0].strip(), []))
            else:
                steps[-1][1].append(line)
        yield steps[0][0], steps


def as_pattern(shown: list[str]) -> re.Pattern[str]:
    """What output has to be to begin with the lines that are shown."""
    parts = [r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + r" *\n" for line in shown]
    return re.compile("".join(parts))


SESSIONS = {
    first: steps
    for page in ("README.md", "docs/pytorch.md", "docs/values.md", "docs/diff.md")
    for first, steps in sessions(ROOT / page)
}
RUN = [first for first, steps in SESSIONS.items() if any(shown for _, shown in steps)]


@pytest.mark.parametrize("first", RUN)
def test_console_blocks_show_what_is_printed(
    first: str, inspect: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty folder, where each block begins with the commands that make what it looks at."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    for command, shown in SESSIONS[first]:
        program, *arguments = shlex.split(command)
        if program == "python":
            script, recipe, folder = arguments
            if script == "fixtures/sparse_torch.py":
                sparse_torch.make(recipe, Path(folder) / recipe)
                continue
            assert script == "fixtures/sparse.py"
            sparse.make(sparse.load(recipe), Path(folder) / recipe)
        else:
            assert program == "inspect"
            ran = inspect(*arguments)
            assert not ran.err
            assert as_pattern(shown).match(ran.out), f"{command} prints:\n{ran.out}"


@pytest.mark.parametrize("command", [command for steps in SESSIONS.values() for command, _ in steps])
def test_commands_have_their_options(command: str, inspect: Callable[..., Ran]) -> None:
    """Each option that the README names is one of its command's."""
    program, *words = shlex.split(command)
    if program != "inspect" or not any(word.startswith("--") for word in words):
        return
    name = words[0] if words[0].islower() and "." not in words[0] and "/" not in words[0] else "overview"
    listed = inspect(name, "--help").out
    assert [word for word in words if word.startswith("--") and word.split("=")[0] not in listed] == []
