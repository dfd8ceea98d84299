"""The house rules that no other tool checks."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import click
import pytest

import inspector

PACKAGE = Path(inspector.__file__).parent

#: Folder or module → floor. Imports point down only.
FLOORS = {
    "errors": 0,
    "units": 0,
    "model": 1,
    "settings": 2,
    "sources": 2,
    "formats": 3,
    "architectures": 4,
    "quantization": 4,
    "adapters": 5,
    "opening": 6,
    "bridge": 7,
    "measuring": 8,
    "comparing": 8,
    "auditing": 8,
    "sizing": 8,
    "scanning": 9,
    "plots": 10,
    "report": 10,
    "browsing": 11,
    "api": 11,
    "cli": 12,
    "__main__": 13,
}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def home(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def dotted(path: Path) -> str:
    """The name under which a module is imported: `inspector.formats.gguf`."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {dotted(path) for path in MODULES}


def imported(path: Path) -> set[str]:
    """The modules of the package that a module imports, late imports included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "inspector":
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in NAMES else node.module for name in names}
    return found & NAMES


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    """No module imports from a floor above its own."""
    own = FLOORS[home(path)]
    above = {name for name in imported(path) if FLOORS[name.split(".")[1]] > own}
    assert not above


def test_no_circles() -> None:
    """No module needs itself through others, not even by a late import."""
    graph = {dotted(path): imported(path) - {dotted(path)} for path in MODULES}
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_few_modules_lie_flat() -> None:
    """The tree is the map: what is not a floor of its own lives in a folder."""
    assert len(list(PACKAGE.glob("*.py"))) <= 8
    assert {home(path) for path in MODULES} == set(FLOORS)


#: What several formats need, and which knows none of them.
SHARED = ("dtypes", "findings", "regions", "training", "zips")


def test_formats_do_not_know_each_other() -> None:
    """One format's modules import nothing of another's."""
    for path in MODULES:
        parts = dotted(path).split(".")
        if parts[1] == "formats" and len(parts) > 2 and parts[2] not in SHARED:
            others = {name for name in imported(path) if name.startswith("inspector.formats.")}
            assert not {name for name in others if name.split(".")[2] not in (parts[2], *SHARED)}


def test_all_is_complete() -> None:
    """Every public name resolves, and nothing else is promised."""
    assert len(set(inspector.__all__)) == len(inspector.__all__)  # ruff holds their order
    for name in inspector.__all__:
        assert getattr(inspector, name).__doc__


def test_readme_has_every_command() -> None:
    """A command that the README does not show does not exist for a reader."""
    from inspector.__main__ import COMMANDS
    from inspector.cli.commands import inspect

    assert list(COMMANDS) == inspect.list_commands(click.Context(inspect))
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    for name in COMMANDS:
        if name != "overview":
            assert f"inspect {name}" in readme
