"""Completion in the shell: files, cached models, commands, options and their values."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Ran

WORDS = [
    ("inspect ", ["audit", "diff", "memory", "tensors"]),
    ("inspect a", ["architectures", "audit"]),
    ("inspect --la", ["--label", "--layers"]),
    ("inspect x.gguf --js", ["--json"]),
    ("inspect org/", ["org/one", "org/two"]),
    ("inspect tensors org/t", ["org/two"]),
    ("inspect tensors x --role q_pr", ["q_proj"]),
    ("inspect tensors x --sort s", ["size", "shape"]),
    ("inspect tensors x --dtype q4_k", ["Q4_K"]),
    ("inspect tensors x --format git", ["github"]),
    ("inspect predict llama-3.1-4", ["llama-3.1-405b"]),
    ("inspect memory x --gpu rtx-4090", ["rtx-4090"]),
    ("inspect memory x --engine ll", ["llama.cpp"]),
    ("inspect quants x --gpu rtx-4090", ["rtx-4090"]),
    ("inspect audit x --ignore missing-sh", ["missing-shard"]),
    ("inspect audit x --fail-on w", ["warning"]),
]


def completed(line: str, cache: Path) -> tuple[list[str], bool]:
    """Bash's words for completing a line, and whether file names are requested, too."""
    words = line.split(" ")
    environment = {
        **os.environ,
        "_INSPECT_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "HF_HUB_CACHE": str(cache),
    }
    ran = subprocess.run(
        [sys.executable, "-m", "inspector"], env=environment, capture_output=True, text=True, check=True
    )
    lines = [each.split(",", 1) for each in ran.stdout.splitlines()]
    return [value for kind, value in lines if kind == "plain"], any(kind == "file" for kind, _ in lines)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    for name in ("org--one", "org--two", "other--x"):
        (tmp_path / f"models--{name}").mkdir()
    return tmp_path


@pytest.mark.parametrize(("line", "words"), WORDS, ids=[line for line, _ in WORDS])
def test_completion_offers_words_that_continue_the_line(cache: Path, line: str, words: list[str]) -> None:
    found, _ = completed(line, cache)
    assert set(words) <= set(found)
    assert all(each.lower().startswith(line.rsplit(" ", 1)[-1]) for each in found)


@pytest.mark.parametrize(
    "line",
    ["inspect ", "inspect mod", "inspect tensors mod", "inspect audit mod", "inspect diff a m", "inspect x --config c"],
)
def test_file_names_are_always_offered(cache: Path, line: str) -> None:
    """Wherever a target or a file is expected."""
    assert completed(line, cache)[1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(inspect: Callable[..., Ran], shell: str) -> None:
    """The script is valid for the shell itself, where it is installed."""
    ran = inspect("completion", shell)
    assert "_INSPECT_COMPLETE" in ran.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=ran.out, text=True, check=True)


def test_bash_completes_with_it(cache: Path, tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """The documented line works in a real shell: it completes a file by its name and a command by its beginning."""
    if not shutil.which("bash"):
        pytest.skip("needs bash")
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    command = bin_ / "inspect"
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m inspector \"$@\"\n")
    command.chmod(0o755)
    lines = [
        inspect("completion", "bash").out,
        'COMP_WORDS=(inspect te) COMP_CWORD=1; _inspect_completion inspect; echo "${COMPREPLY[@]}"',
    ]
    ran = subprocess.run(
        ["bash", "--norc", "-c", "\n".join(lines)],
        env={**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", "HF_HUB_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == ["tensors"]


def test_the_manual_has_every_command_and_option(tmp_path: Path) -> None:
    """It is made from the help, so that it is always up to date; `man`, where installed, does not complain about it."""
    import click

    from inspector.cli.commands import inspect as group
    from inspector.cli.shell import page

    text = page(group)
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        assert f"inspect {name}" in text
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.opts[0].replace("-", "\\-") in text, (name, parameter.opts)
    if shutil.which("groff"):
        ran = subprocess.run(
            ["groff", "-k", "-man", "-Tutf8", "-ww"], input=text, capture_output=True, text=True, check=True
        )
        assert ran.stderr == ""


def test_the_wheel_brings_the_manual() -> None:
    """The manual is in an installed wheel, with which `make test` runs the tests."""
    from importlib.metadata import distribution

    own = distribution("checkpoint-inspector")
    if "editable" in (own.read_text("direct_url.json") or ""):
        pytest.skip("an editable install has no files of its own")
    assert any(str(each).endswith("share/man/man1/inspect.1") for each in own.files or ())
