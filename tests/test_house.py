"""The rules of the house that no other tool checks.

grimp reads the imports, including late ones and those for types. Modules named in strings are added to its graph.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import click
import grimp
import pytest

import inspector
from inspector.auditing import catalogue

PACKAGE = Path(inspector.__file__).parent
#: Public name → its module.
HOMES: dict[str, str] = vars(inspector)["_homes"]()
REAL = Path(__file__).parents[1] / "fixtures/real/safetensors"

#: Folders and modules, from the highest floor to the lowest. Imports point down only, or within a floor.
FLOORS = (
    ("__main__",),
    ("cli",),
    ("api", "browsing"),
    ("report",),
    ("plots",),
    ("scanning",),
    ("auditing", "comparing", "measuring", "sizing"),
    ("bridge",),
    ("opening",),
    ("adapters",),
    ("architectures", "quantization"),
    ("formats",),
    ("settings", "sources"),
    ("errors",),
    ("model",),
    ("tabular", "units", "version"),
)
#: Modules that start processes of their own.
STARTED = {"inspector.__main__", "inspector.auditing.readers.jinja.rendered"}


def dotted(path: Path) -> str:
    """The name under which a module is imported: `inspector.formats.gguf`."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def named(module: str, source: str, modules: set[str]) -> Iterator[str]:
    """The modules in the strings of one with `import_module`: a whole name, or all below the head of an f-string."""
    for node in ast.walk(ast.parse(source)) if "import_module" in source else ():
        match node:
            case ast.Constant(value=str(text)) if text in modules:
                yield text
            case ast.JoinedStr(values=[ast.Constant(value=str(head)), *_]):
                yield from (name for name in modules if name.startswith(head))
            case ast.JoinedStr(values=[ast.FormattedValue(value=ast.Name(id="__name__")), *_]):
                yield from (name for name in modules if name.startswith(f"{module}."))


def whole_graph() -> grimp.ImportGraph:
    """The imports of the package, including those by strings."""
    graph = grimp.build_graph("inspector", cache_dir=None)
    for path in PACKAGE.rglob("*.py"):
        for name in {*named(dotted(path), path.read_text(), graph.modules)} - {dotted(path)}:
            graph.add_import(importer=dotted(path), imported=name)
    for name in HOMES.values():
        graph.add_import(importer="inspector", imported=name)
    for folder in catalogue.FOLDERS:  # it imports all modules in them
        for name in graph.find_children(folder.__name__):
            graph.add_import(importer=catalogue.__name__, imported=name)
    return graph


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return whole_graph()


def upwards(graph: grimp.ImportGraph) -> list[str]:
    """Imports from a lower floor to a higher one, and of the package's root, which is above all."""
    layers = [grimp.Layer(*names, independent=False) for names in FLOORS]
    broken = graph.find_illegal_dependencies_for_layers(layers, containers={"inspector"})
    chains = [f"{each.importer} needs {each.imported}" for each in broken]
    return chains + [f"{name} needs inspector" for name in graph.find_modules_that_directly_import("inspector")]


def circle(graph: grimp.ImportGraph) -> list[str]:
    """The modules of a circle, if there is one."""
    needs = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_imports_point_down(graph: grimp.ImportGraph) -> None:
    """No module imports from a floor above its own, and each has a floor."""
    assert upwards(graph) == []
    assert graph.find_children("inspector") == {f"inspector.{name}" for names in FLOORS for name in names}


def test_no_circles(graph: grimp.ImportGraph) -> None:
    """No module needs itself through others: late imports, those for types, the root and strings are counted."""
    assert circle(graph) == []


@pytest.mark.parametrize(
    "source",
    [
        'import_module("inspector.report.notebook")',
        'import_module(f"inspector.report.{kind}")',
        '_HOMES = {"html": "inspector.report.notebook"}\nimport_module(_HOMES[name])',
    ],
)
def test_an_import_by_a_string_would_be_seen(source: str) -> None:
    """A noun that imports its renderer by name: a circle, and an import that points up."""
    planted = whole_graph()
    for name in named("inspector.model.checkpoint", source, planted.modules):
        planted.add_import(importer="inspector.model.checkpoint", imported=name)
    assert "inspector.model.checkpoint" in circle(planted)
    assert "inspector.model needs inspector.report" in upwards(planted)


def test_the_package_itself_is_above_all() -> None:
    """Imports from the package's root, which imports every verb, are found, too."""
    planted = whole_graph()
    planted.add_import(importer="inspector.sources.hub", imported="inspector")
    assert "inspector.sources.hub needs inspector" in upwards(planted)
    assert "inspector" in circle(planted)


def test_every_module_is_imported(graph: grimp.ImportGraph) -> None:
    """Each is imported by another module of the package: helpers of tests belong to the tests."""
    used = {name for name in graph.modules if graph.find_modules_that_directly_import(name)}
    folders = {name for name in graph.modules if graph.find_children(name)}
    assert graph.modules - used - folders == STARTED


@pytest.mark.parametrize(
    ("arguments", "most"),
    [(["--version"], 4), ([str(REAL / "burn" / "conv1d.safetensors")], 69)],
    ids=["version", "file"],
)
def test_a_start_imports_few_modules(arguments: list[str], most: int) -> None:
    """Each further module that a command needs makes its start slower."""
    code = f"import sys; from inspector.__main__ import main; sys.argv[1:] = {arguments}; main()"
    ran = subprocess.run([sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True)
    names = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
    own = {name for name in names if name.partition(".")[0] == "inspector"}
    assert len(own) <= most, sorted(own)
    assert arguments != ["--version"] or not names & {"typing", "re", "json", "click", "dataclasses"}


def test_few_modules_lie_flat() -> None:
    """The tree is the map: a module that is not a floor of its own is in a folder."""
    assert len(list(PACKAGE.glob("*.py"))) <= 8


#: Modules that several formats need, and that know none of them.
SHARED = ("dtypes", "findings", "ggml", "regions", "training", "zips")


def test_formats_do_not_know_each_other(graph: grimp.ImportGraph) -> None:
    """One format's modules import nothing of another's."""
    formats = graph.find_children("inspector.formats")
    own = sorted(name for name in formats if name.rpartition(".")[2] not in SHARED)
    layers = [grimp.Layer(*own, independent=True)]
    assert not graph.find_illegal_dependencies_for_layers(layers)


def test_all_is_complete() -> None:
    """Every public name resolves, is documented, and is listed for completion and for `import *`."""
    assert [name for name in HOMES if not getattr(inspector, name).__doc__] == []
    assert {*dir(inspector)} == {*HOMES, "__version__"}
    starred: dict[str, object] = {}
    exec("from inspector import *", starred)
    assert starred.keys() - {"__builtins__"} == HOMES.keys()


def test_type_checkers_know_every_public_name() -> None:
    """The stub that they read imports each from its home, as itself, and nothing else is public."""
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    assert len(imports) == len(stub.body)
    known = {alias.asname: node.module for node in imports for alias in node.names if alias.name == alias.asname}
    assert known == {**HOMES, "__version__": "inspector.version"}


def test_readme_has_every_command() -> None:
    """Every command is shown in the README."""
    from inspector.__main__ import COMMANDS
    from inspector.cli.commands import inspect

    assert list(COMMANDS) == inspect.list_commands(click.Context(inspect))
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    for name in COMMANDS:
        if name != "overview":
            assert f"inspect {name}" in readme
