"""What the documents name exists: every command, option, make target, script and file.

Blocks of `console` are run by `test_readme`; here are the commands within sentences, and the examples in docstrings.
"""

from __future__ import annotations

import doctest
import inspect as inspect_module
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from every import every

import inspector
from inspector import api

if TYPE_CHECKING:
    from conftest import Ran

ROOT = Path(__file__).parents[1]
PAGES = [path.relative_to(ROOT) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))]
HISTORY = Path("CHANGELOG.md")  # it also mentions what no longer exists
_QUOTED = re.compile(r"`([^`\n]+)`")
_FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
#: A name with one of these is a placeholder.
_OPEN = re.compile(r"[<>*{}…]|\bNAME\b|newmodel")


def quoted() -> Iterator[tuple[Path, str]]:
    """Each text in backticks, in the sentences of a page."""
    for page in PAGES:
        if page != HISTORY:
            yield from (
                (page, text) for text in dict.fromkeys(_QUOTED.findall(_FENCED.sub("", (ROOT / page).read_text())))
            )


def commands(program: str) -> list[tuple[str, list[str]]]:
    """Every command of a program, with its page."""
    found = ((page, shlex.split(text)) for page, text in quoted() if text.startswith(program + " "))
    return [(str(page), words[1:]) for page, words in found]


def named(each: str | list[str]) -> str:
    return each if isinstance(each, str) else " ".join(each)


@every(("page", "words"), commands("inspect"), ids=named)
def test_inspects_commands_have_their_options(page: str, words: list[str], inspect: Callable[..., Ran]) -> None:
    """The command exists, and so does each of its options."""
    from inspector.__main__ import COMMANDS

    name = next((word for word in words if word in COMMANDS), "overview")
    listed = inspect(name, "--help").out + inspect("--help").out
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    assert [option for option in options if not re.search(rf"{option}\b", listed)] == []


@pytest.mark.parametrize(("page", "words"), commands("make"), ids=named)
def test_targets_of_make_are_there(page: str, words: list[str]) -> None:
    makefile = (ROOT / "Makefile").read_text()
    for word in words:
        variable, assigned, _ = word.partition("=")
        wanted = rf"\$[({{]{variable}\b" if assigned else rf"^{word}:"
        assert re.search(wanted, makefile, re.MULTILINE), f"{page}: make {' '.join(words)}"


@pytest.mark.parametrize(("page", "words"), commands("python"), ids=named)
def test_scripts_are_there(page: str, words: list[str]) -> None:
    """They have the options that the pages give them."""
    script = next((ROOT / word for word in words if word.endswith(".py")), None)
    assert script is None or script.exists()
    if script is not None and "-m" not in words:
        options = [word for word in words if word.startswith("--")]
        assert [option for option in options if option not in script.read_text()] == []


FOLDERS = tuple(f"{path.name}/" for path in ROOT.iterdir() if path.is_dir() and path.name[0] != ".")
FILES = [(str(page), text) for page, text in quoted() if text.startswith(FOLDERS) and not _OPEN.search(text)]


@every(("page", "name"), FILES)
def test_files_that_pages_name_are_there(page: str, name: str) -> None:
    assert (ROOT / name.partition(" ")[0].partition("::")[0]).exists()


def test_pages_have_commands() -> None:
    """Otherwise the tests above would check nothing."""
    assert (len(commands("inspect")) > 5, len(commands("make")) > 8, len(FILES) > 20) == (True, True, True)


# --- examples in docstrings -------------------------------------------------------------------


#: The library's functions, each with an example: the public ones, and those behind the commands' options.
VERBS = {
    **{name: each for name, each in vars(api).items() if getattr(each, "__module__", "") == api.__name__},
    **{name: getattr(inspector, name) for name in dir(inspector)},
}


@every(
    "verb", sorted(name for name, each in VERBS.items() if inspect_module.isfunction(each) and name[0] != "_"), parts=16
)
def test_examples_of_the_librarys_verbs(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has one, which prints what it shows, in a folder with the fixtures."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(tmp_path)
    found = doctest.DocTestFinder(recurse=False).find(VERBS[verb], verb, globs={"inspector": inspector})
    runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    for example in found:
        runner.run(example)
    results = runner.summarize()
    assert (results.failed, results.attempted > 0) == (0, True)


def test_a_releases_changes_fit_a_screen_or_two() -> None:
    """At most 60 lines for each; what else changed is in the commits."""
    sections = re.split(r"^## ", (ROOT / HISTORY).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert {each.partition("\n")[0]: each.count("\n") for each in sections if each.count("\n") > 60} == {}
