"""The house rules that no other tool checks."""

from __future__ import annotations

import ast
from pathlib import Path

import click
import pytest

import inspector

PACKAGE = Path(inspector.__file__).parent

#: Module or folder → floor. Imports point down only; on one floor they may not make a circle.
FLOORS = {
    "errors": 0,
    "units": 0,
    "workers": 0,
    "grouping": 4,
    "model": 1,
    "sources": 2,
    "formats": 3,
    "architectures": 3,
    "quantization": 3,
    "targets": 4,
    "presets": 4,
    "selection": 4,
    "indexes": 4,
    "configs": 4,
    "gguf_config": 4,
    "gguf_splits": 4,
    "checkpoint": 4,
    "naming": 4,
    "prediction": 4,
    "adapters": 4,
    "components": 4,
    "adapter_metadata": 4,
    "adapter_methods": 4,
    "adapter_prediction": 4,
    "labels": 4,
    "infer": 5,
    "counts": 5,
    "dimensions": 5,
    "causes": 5,
    "ledger": 5,
    "layers": 5,
    "join": 5,
    "kinds": 5,
    "reconciliation": 5,
    "key_values": 5,
    "rules": 5,
    "auditing": 5,
    "cache": 5,
    "checksums": 5,
    "settings": 5,
    "report": 6,
    "api": 7,
    "audit_command": 7,
    "console": 8,
    "cli": 9,
    "__main__": 10,
}
FORMATS = ("safetensors", "gguf")
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def home(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """First names below `inspector` that a module imports, late imports included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "inspector":
            parts = node.module.split(".")[1:]
            found |= {parts[0]} if parts else {alias.name for alias in node.names}
    return found - {"__version__"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    """No module imports from a floor above its own."""
    own = FLOORS[home(path)]
    above = {name for name in imported(path) if FLOORS[name] > own}
    assert not above


def test_formats_do_not_know_each_other() -> None:
    """One format's modules import nothing of another's."""
    parts = {"gguf": {"ggml_types"}}
    stems = {path.stem for path in (PACKAGE / "formats").glob("*.py")} - {"__init__", "findings"}
    formats = [parts.get(name, set()) | {stem for stem in stems if stem.startswith(name)} for name in FORMATS]
    assert stems == set().union(*formats)
    for own in formats:
        for stem in own:
            text = (PACKAGE / "formats" / f"{stem}.py").read_text()
            assert not {name for name in stems - own if f"inspector.formats.{name}" in text}


def test_all_is_complete() -> None:
    """Every public name resolves, and nothing else is promised."""
    assert sorted(inspector.__all__) == inspector.__all__
    for name in inspector.__all__:
        assert getattr(inspector, name).__doc__


def test_readme_has_every_command() -> None:
    """A command that the README does not show does not exist for a reader."""
    from inspector.__main__ import COMMANDS
    from inspector.cli import inspect

    assert list(COMMANDS) == inspect.list_commands(click.Context(inspect))
    readme = (PACKAGE.parent / "README.md").read_text()
    for name in COMMANDS:
        if name != "overview":
            assert f"inspect {name}" in readme
