"""The console blocks of the README and of docs/, run as they are: the command prints every line that they show.

Each runs in a folder of its own: a reader may begin anywhere.

A line of `…` stands for any lines, `…` within a line for any text. `TARGET` and a comment mark a line that is not run.
`make demo-hub SERVE=--serve &` starts the sample Hub, on a port of its own.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import many
import numpy as np
import pytest
import sparse
import sparse_torch
from every import every
from loopback import demo
from safetensors.numpy import save_file

import inspector

if TYPE_CHECKING:
    from conftest import Ran

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sessions(page: Path) -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
    """Each block by its first command: its commands, with the output shown for each."""
    for block in _BLOCK.findall(page.read_text()):
        steps: list[tuple[str, list[str]]] = []
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:].partition("  #")[0].strip(), []))
            else:
                steps[-1][1].append(line)
        yield steps[0][0], steps


def as_pattern(shown: list[str]) -> re.Pattern[str]:
    """The pattern of an output that begins with these lines."""
    parts = [r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + r" *\n" for line in shown]
    return re.compile("".join(parts))


PAGES = ("README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")))
#: A cluster, and all values of a model.
_SLOW = re.compile("^inspect (scan models|diff .* --data)")
#: Page and number of each block → its commands.
SESSIONS = {f"{page}-{number}": steps for page in PAGES for number, (_, steps) in enumerate(sessions(ROOT / page), 1)}
RUN = [
    pytest.param(place, False, id=place, marks=[pytest.mark.gate] * any(_SLOW.search(command) for command, _ in steps))
    for place, steps in SESSIONS.items()
    if any(shown for _, shown in steps)
]
#: What blocks make in the reader's folder, under the names of presets: a block that means a preset is read beside it, too.
MADE = {
    command.split()[2]
    for steps in SESSIONS.values()
    for command, _ in steps
    if command.startswith("python fixtures/sparse.py") and command.endswith(" .")
}
BESIDE = {
    place: names
    for place, steps in SESSIONS.items()
    if (names := {word for command, _ in steps if command.startswith("inspect") for word in command.split()} & MADE)
    and not any(command.startswith("python") for command, _ in steps)
}
RUN += [pytest.param(place, True, id=f"{place} beside others") for place in sorted(BESIDE)]
Random(len(RUN)).shuffle(RUN)
#: A command with one of these needs a shell.
_SHELL = re.compile(r"[|>&*]")


@pytest.fixture
def reader(tmp_path: Path) -> Path:
    """The folder in which somebody tries a block."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    return tmp_path


@pytest.mark.parametrize(("place", "beside"), RUN)
def test_console_blocks_show_what_is_printed(
    place: str,
    beside: bool,
    inspect: Callable[..., Ran],
    reader: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Each block starts with the commands that create its files, and prints the same beside the folders of other blocks."""
    monkeypatch.chdir(reader)
    for name in BESIDE[place] if beside else ():
        sparse.make(sparse.load(name), reader / name)
    endpoint = served = f"http://127.0.0.1:{demo.PORT}"
    for command, shown in SESSIONS[place]:
        if command == "make demo-hub SERVE=--serve &":
            hub = request.getfixturevalue("hub")
            hub.repos, served = demo.repositories(tmp_path_factory.mktemp("hub")), hub.endpoint
            continue
        if command == f"export HF_ENDPOINT={endpoint}":
            assert served != endpoint, "which Hub?"
            continue
        program, *arguments = shlex.split(command)
        if program == "export":
            name, _, value = arguments[0].partition("=")
            monkeypatch.setenv(name, value.replace("$PWD", str(reader)))
        elif program == "python":
            script, recipe, folder = arguments
            if script == "fixtures/sparse_torch.py":
                sparse_torch.make(recipe, Path(folder) / recipe)
                continue
            if script == "fixtures/many.py":
                many.make(int(recipe), Path(folder))
                continue
            assert script == "fixtures/sparse.py"
            sparse.make(sparse.load(recipe), Path(folder) / recipe)
        elif program == "inspect" and not _SHELL.search(command):
            ran = inspect(*arguments)
            out = (ran.out + ran.err).replace(served, endpoint)
            assert bool(ran.err) == (ran.code == 2)
            assert as_pattern(shown).match(out), f"{command} prints:\n{out}"
        else:
            out = in_shell(command)
            assert as_pattern(shown).match(out), f"{command} prints:\n{out}"


def in_shell(command: str) -> str:
    """The output of a command with pipes, with the `inspect` and the `python` that run the tests."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    # The output is a pipe's, in UTF-8 whatever the encoding of whoever runs the tests.
    environment = {**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(["bash", "-c", command], capture_output=True, check=True, env=environment).stdout.decode()


_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Page and number of each block → its code.
CODE = {
    f"{page}-{number}": code
    for page in PAGES
    for number, code in enumerate(_PYTHON.findall((ROOT / page).read_text()), 1)
}


@pytest.fixture
def examples(made: Callable[[str], Path], tmp_path: Path) -> Path:
    """A folder with the files that blocks name: LLaMA-7B twice, a fine-tune of a small model, a malicious model."""
    shutil.copytree(made("llama-7b"), tmp_path / "llama-7b", copy_function=os.link)
    shutil.copytree(made("llama-7b"), tmp_path / "path/to/model", copy_function=os.link)
    shutil.copytree(made("stranger"), tmp_path / "models/stranger", copy_function=os.link)
    weights = {"model.norm.weight": np.ones(8, np.float32), "lm_head.weight": np.ones((16, 8), np.float32)}
    for name, times in (("base", 1), ("tuned", 2)):
        (tmp_path / name).mkdir()
        save_file({each: times * values for each, values in weights.items()}, tmp_path / name / "model.safetensors")
    return tmp_path


@pytest.mark.parametrize("place", CODE)
def test_python_blocks_give_the_results_beside_them(
    place: str, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each statement runs; an expression equals the literal at the start of its comment, if there is one."""
    monkeypatch.chdir(examples)
    code, names = CODE[place], {"inspector": inspector}
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        text = ast.get_source_segment(code, statement)
        assert text is not None
        if not isinstance(statement, ast.Expr):
            exec(compile(text, place, "exec"), names)
            continue
        value = eval(compile(text, place, "eval"), names)
        comment = lines[(statement.end_lineno or 0) - 1].partition("  # ")[2]
        if reported := literal(comment):
            assert value == reported[0], text


def literal(comment: str) -> list[object]:
    """The value at the beginning of a comment, before a colon or alone; none if the comment is prose."""
    for text in (comment, comment.rpartition(": ")[0], comment.partition(":")[0]):
        with suppress(ValueError, SyntaxError):
            return [ast.literal_eval(text)]
    return []


def test_the_picture_is_what_the_command_prints() -> None:
    """docs/screen.svg has the words of `inspect llama-7b` on a terminal of 80 columns; `make screen` makes it again."""
    spec = importlib.util.spec_from_file_location("screen", ROOT / "tools" / "site" / "screen.py")
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(screen := importlib.util.module_from_spec(spec))
    shown, printed = screen.PICTURE.read_text(encoding="utf-8"), screen.fresh()
    assert screen.words(shown) == screen.words(printed)
    assert "6.74B" in screen.words(shown)
    assert "http" not in shown.partition("<defs>")[2]  # it loads nothing


def test_the_readme_is_short() -> None:
    """150 lines; it states both names of the command, and that nothing is sent."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 150
    assert "checkpoint-inspect`" in text and "Nothing is sent anywhere" in text


def test_a_comment_is_a_value_or_prose() -> None:
    assert literal("6738415616: parameters that the model has") == [6738415616]
    assert literal('{"error": 3, "warning": 0}') == [{"error": 3, "warning": 0}]
    assert literal("memory over the context") == literal("") == []


@every("command", [command for steps in SESSIONS.values() for command, _ in steps], parts=2)
def test_commands_have_their_options(command: str, inspect: Callable[..., Ran]) -> None:
    """Each option that the README names belongs to its command."""
    program, *words = shlex.split(command.partition(" | ")[0])
    if program != "inspect" or not any(word.startswith("--") for word in words):
        return
    name = words[0] if words[0].islower() and "." not in words[0] and "/" not in words[0] else "overview"
    listed = inspect(name, "--help").out
    mistyped = "laebl"  # deliberately wrong, to show the error
    assert [
        word for word in words if word.startswith("--") and word.split("=")[0] not in listed and mistyped not in word
    ] == []
