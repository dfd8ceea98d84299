"""A tool that nobody can find is not kept."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.architectures.table import Family, Include

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[1]
#: Where a person, a test or a build would find the name of a tool.
NAMING = ("*.md", "docs/**/*.md", "tests/**/*.py", "benchmarks/*", "Makefile", "mkdocs.yml", "pyproject.toml", ".ci/*")


def imported(path: Path) -> set[str]:
    """The last words of the modules that a tool imports, by name or by text; tools find each other by their folder."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(aliases):
                names.update(alias.name for alias in aliases)
            case ast.ImportFrom(module, aliases):
                names.update((module or "", *(alias.name for alias in aliases)))
            case ast.Constant(str(text)):
                names.add(text)
    return {name.rpartition(".")[2] for name in names}


def _names(path: Path, name: str) -> tuple[str, str, str]:
    """The names of a tool: a file, a module of the zoo, or a step of it."""
    return name, name.removeprefix("tools/").removesuffix(".py").replace("/", "."), f"`{path.stem}"


def test_every_tool_is_named_by_a_document_a_test_or_the_makefile() -> None:
    """Or is imported by one that is named."""
    tools = {path: path.relative_to(ROOT).as_posix() for path in (ROOT / "tools").rglob("*.py")}
    naming = [path for pattern in NAMING for path in ROOT.glob(pattern) if path.is_file() and path != Path(__file__)]
    text = "\n".join(path.read_text(encoding="utf-8") for path in naming if path.name != "CHANGELOG.md")
    found = {path for path, name in tools.items() if any(each in text for each in _names(path, name))}
    uses = {path: imported(path) for path in tools}
    while more := {path for path in tools.keys() - found if any(path.stem in uses[each] for each in found)}:
        found |= more
    assert sorted(tools[path] for path in tools.keys() - found) == []


def test_a_derived_table_says_what_it_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its class with the most specific head, and its parts; never by its type alone."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    about = import_module("zoo.write").about
    head, body = {"DoryForCausalLM": ("CausalLM", True)}, {"DoryModel": ("base", True)}
    family = Family("dory", {"dory": {}}, ())
    assert about(family, {**head, **body}) == "Dory: a language model (DoryForCausalLM)."
    assert about(family, body) == "Dory: a model without a head of its own (DoryModel)."
    assert about(family, {}) == "dory: a part of another model."
    whole = family._replace(rows=(Include("vision_config", "vision."), Include("text_config", "")))
    assert about(whole, {"DoryVLForConditionalGeneration": ("ImageTextToText", True)}) == (
        "DoryVL: a model that answers about images (DoryVLForConditionalGeneration), "
        "with vision_config, text_config by tables of their own."
    )
