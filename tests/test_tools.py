"""A tool that nobody can find is not kept."""

from __future__ import annotations

import ast
import gzip
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import cases
import pytest

from inspector.architectures.table import Family, Include, Row

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


# --- a release taken over ---------------------------------------------------------------------------


@pytest.fixture
def zoo(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Any]]:
    """The modules that take over a release and adopt its tables, without the libraries that they build models with."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] in ("zoo", "transformers")}
    for name in before:
        monkeypatch.delitem(sys.modules, name)
    auto = ModuleType("transformers.models.auto.configuration_auto")
    auto.CONFIG_MAPPING = auto.CONFIG_MAPPING_NAMES = {}  # type: ignore[attr-defined]
    library = ModuleType("transformers")
    library.__version__ = "9.9"  # type: ignore[attr-defined]
    models = ModuleType("zoo.build_models")
    models.auto_classes = models.exported_classes = None  # type: ignore[attr-defined]
    for module in (auto, library, models):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    yield import_module("zoo.release"), import_module("zoo.adopt")
    for name in [name for name in sys.modules if name.split(".")[0] == "zoo"]:
        del sys.modules[name]  # those before are put back


def record(
    folder: Path, model_type: str, variant: str, change: dict[str, list[int]] | None = None, number: int = 0
) -> None:
    """A record as `zoo.build` writes it: a case of a type, with tensors of other shapes."""
    case = cases.load(cases.FOLDER / f"{model_type}.txt")[number]
    cls = case.config["architectures"][0]
    shapes = {name: list(shape) for name, shape in case.shapes.items()} | (change or {})
    folder.mkdir(exist_ok=True, parents=True)
    with gzip.open(folder / f"{model_type}__{cls}__{variant}.json.gz", "wt") as stream:
        tensors = {name: [shape, "float32", "param"] for name, shape in shapes.items()}
        whole = {"model_type": model_type, "class": cls, "auto": "CausalLM", "variant": variant, "tensors": tensors}
        json.dump({**whole, "config": dict(case.config), "config_full": {}, "note": "built from a case"}, stream)


def test_a_table_is_adopted_if_all_that_was_asked_for_is_exact(
    zoo: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With drawn configurations that deriving never saw; a class that could not be built leaves it for a hand."""
    _, adopt = zoo
    record(tmp_path / "truth", "arcee", "default")
    assert adopt.proof("arcee", tmp_path, {})[:-1] == ("arcee", 1, 1, 0, 0, 0, 0)
    assert adopt.proof("arcee", tmp_path, {}).against == "no drawn configuration could be built"
    record(tmp_path / "held", "arcee", "h1")
    record(tmp_path / "held", "arcee", "t0_head_dim.1", number=1)
    assert adopt.proof("arcee", tmp_path, {}).against.startswith("not proven: `attention_bias`: seen only where")
    monkeypatch.setattr(adopt, "doubts", lambda *_: [])
    assert adopt.proof("arcee", tmp_path, {}) == ("arcee", 3, 3, 1, 1, 1, 1, "")
    assert adopt.proof("arcee", tmp_path, {"arcee": "ArceeModel default: refused"}).against.endswith("refused")
    record(tmp_path / "held", "arcee", "h2", {"model.norm.weight": [7]})
    proof = adopt.proof("arcee", tmp_path, {})
    assert proof[1:5] == (4, 3, 2, 1)
    assert "1 other shapes: model.norm.weight" in proof.against
    assert adopt.proof("nowhere", tmp_path, {}).against == "no class could be built"


def doubted(rows: Sequence[Row], configurations: Sequence[Mapping[str, Any]]) -> list[str]:
    """What speaks against rows of an invented type, of which models with these configurations were seen."""
    found = [
        import_module("zoo.records").Record(
            "dory", "DoryModel", "base", "", "", fields, fields, {}, {}, {}, frozenset()
        )
        for fields in configurations
    ]
    reasons: list[str] = import_module("zoo.doubts").doubts(Family("dory", {"dory": {}}, tuple(rows)), found)
    return reasons


def test_a_formula_that_was_seen_with_one_value_proves_nothing(zoo: tuple[Any, Any]) -> None:
    """4 * 256 of a layer that only the defaults have may be any field that is 4; with two values of each it may not."""
    row = Row("q_proj", "attention", "blocks * channels, channels", when="side == 16")
    seen = [{"blocks": 4, "channels": 256, "side": 16}, {"blocks": 5, "channels": 64, "side": 8}]
    once = ["blocks is 4", "channels is 256"]
    assert doubted([row], seen) == [
        *(f"`blocks * channels`: seen only where {each}" for each in once),
        "`channels`: seen only where channels is 256",
    ]
    assert doubted([row], [*seen, {"blocks": 6, "channels": 32, "side": 16}]) == []
    assert doubted([row._replace(name="never", when="side == 7")], seen)[-1] == "`side == 7`: never seen to hold"


def test_a_formula_with_a_field_that_changes_nothing_is_doubted(zoo: tuple[Any, Any]) -> None:
    """`least + (most - least)` is the most; a loop's first layer needs other loops to be told from a multiple."""
    seen = [{"least": 3, "most": 7, "start": 2, "layers": 6}, {"least": 2, "most": 9, "start": 2, "layers": 8}]
    rows = [
        Row("embed_tokens", "embed", "least + (most - least), 8"),
        Row("k_proj", "layers.{layer<layers}.k", "8", when="(layer + 1) % start == 0"),
    ]
    assert doubted(rows, seen) == [
        "`least + (most - least)`: least changes nothing",
        "`(layer + 1) % start == 0`: seen only where start is 2",
    ]


def test_a_row_of_several_names_gets_the_role_of_all_of_them(
    zoo: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What follows from the use of one stage's norms is not written for all stages, of which the others are right."""
    roles, use = import_module("zoo.check_roles"), import_module("zoo.derive_uses").Use("norm", "LayerNorm", "")
    wrong: list[str] = []
    monkeypatch.setattr(roles, "fitted", lambda role, name, *_: "layer_norm" if name in wrong else role)
    path = tmp_path / "table.json"
    (table,) = (ROOT / "inspector").rglob("apertus1p5_vision_tokenizer.json")
    path.write_bytes(table.read_bytes())
    monkeypatch.setattr(roles, "_file_of", lambda _: path)
    names = [f"encoder.stages.{stage}.layers.0.resnet.norm2.weight" for stage in range(5)]
    seen = [roles.Seen("apertus1p5_vision_tokenizer", name, "post_attention_layernorm", "", use, 1) for name in names]
    for more, written in ((names[:1], False), (names[1:], True)):
        wrong += more
        roles.write(seen, tmp_path)
        row = next(line for line in path.read_text().splitlines() if "resnet.norm2" in line)
        assert ('"layer_norm"' in row) == written


def derived(
    zoo: Any, built: Sequence[tuple[str, Mapping[str, Any], Mapping[str, tuple[int, ...]]]], bounds: tuple[str, ...]
) -> Any:
    """The table of an invented type, derived from models by hand: variant, fields, tensors; and its loops' bounds."""
    records, trace = import_module("zoo.records"), import_module("zoo.trace_formulas").Trace
    fixed = ("dory", "DoryModel", "base", "")
    found = [
        records.Record(
            *fixed[:3],
            variant,
            "",
            fields,
            fields,
            {},
            {},
            shapes,
            frozenset(),
            {"width": 8},
            trace(ranges=dict.fromkeys(bounds, 0)),
        )
        for variant, fields, shapes in built
    ]
    return import_module("zoo.derive_drafts").derive("dory", found, {}, {})


def test_the_bound_of_two_loops_is_told_by_a_flag(zoo: tuple[Any, Any]) -> None:
    """`range(depth - 1) if short else range(depth)`, as some towers leave out their last layer."""
    models = [
        (
            variant,
            {"depth": depth, "short": short},
            {f"blocks.{layer}.proj.weight": (7, 3) for layer in range(depth - short)},
        )
        for variant, depth, short in (("default", 4, True), ("p1", 5, True), ("p2", 6, False), ("p3", 3, False))
    ]
    draft = derived(zoo, models, ("depth", "depth - 1"))
    assert not draft.missed
    assert [row.name for row in draft.family.rows] == ["blocks.{layer<depth - 1 if short else depth}.proj"]


def test_classes_that_were_not_built_are_named(zoo: tuple[Any, Any], tmp_path: Path) -> None:
    """Of a class that has a record, a variant that fails is counted; one without any stands against its type."""
    _, adopt = zoo
    record(tmp_path / "truth", "arcee", "default")
    (tmp_path / "failures.tsv").write_text(
        "arcee\tArceeForCausalLM\tp1\tno\narcee\tArceeForQA\tdefault\tnever\narcee\tArceeForQA\tp1\tno\n"
    )
    assert adopt.unbuilt_classes(tmp_path) == {"arcee": "ArceeForQA default: never"}
    assert adopt.failures(tmp_path) == {"arcee": {"ArceeForCausalLM": 1, "ArceeForQA": 2}}


def test_an_unconfirmed_type_keeps_its_older_release(
    zoo: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A type that differs, and one of which nothing was built: both keep the release that confirmed them last."""
    release, _ = zoo
    record(tmp_path / "defaults", "arcee", "default")
    record(tmp_path / "defaults", "cohere", "default", {"model.norm.weight": [7]})
    found = release.compared(tmp_path / "defaults", {"arcee", "cohere", "gemma"})
    assert found == ([], ["cohere"], ["gemma"], ["cohere"])
    assert found.behind == ["cohere", "gemma"]
    path = tmp_path / "releases.json"
    path.write_text(
        json.dumps({"transformers": {"release": "Transformers 9.8", "behind": {"gemma": "Transformers 9.1"}}})
    )
    monkeypatch.setattr(release, "RELEASES", path)
    for _ in range(2):  # again, it changes nothing
        release.dated({"transformers": "9.9"}, {"transformers": found.behind})
        stated = json.loads(path.read_text())["transformers"]
        assert stated["release"] == "Transformers 9.9"
        assert stated["behind"] == {"cohere": "Transformers 9.8", "gemma": "Transformers 9.1"}


def test_records_of_another_release_are_removed(zoo: tuple[Any, Any], tmp_path: Path) -> None:
    """A run that was cut off goes on with what it has; one of a newer library begins anew."""
    release, _ = zoo
    for _ in range(2):
        release.prepared(tmp_path, {"transformers": "9.8"})
        record(tmp_path / "truth", "arcee", "default")
        (tmp_path / "failures.tsv").write_text("")
    assert len(list((tmp_path / "truth").iterdir())) == 1
    release.prepared(tmp_path, {"transformers": "9.9"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["versions.json"]
