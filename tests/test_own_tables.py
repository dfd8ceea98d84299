"""Private architectures: a folder of tables, named on the command line, in pyproject.toml or by a package."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import cases
import hostile
import pytest
from click.testing import CliRunner
from every import every

import inspector
from inspector import architectures
from inspector.__main__ import run
from inspector.architectures import family_of, listed, load, model_types
from inspector.architectures.store import store
from inspector.architectures.table_check import fault, formulas
from inspector.errors import InspectorError, TableError

CONFIG = {
    "model_type": "newmodel",
    "hidden_size": 64,
    "intermediate_size": 128,
    "vocab_size": 100,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
}
#: A Llama of these sizes, by hand: embedding and head, then a layer's attention, feed-forward and norms.
LLAMA = 2 * 100 * 64 + 2 * (4 * 64 * 64 + 3 * 64 * 128 + 2 * 64) + 64
GATE = ["gate_attn", "$LAYER.self_attn.gate_proj", "num_attention_heads * head_dim, hidden_size"]
TABLE = {
    "about": "Llama, and a gate on what its attention gives.",
    "like": "llama",
    "types": {"newmodel": {}},
    "after": {"$LAYER.self_attn.o_proj": [GATE]},
}


@pytest.fixture(autouse=True)
def _nothing_added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(architectures, "_ADDED", [])
    forget_folders()
    yield
    forget_folders()


def forget_folders() -> None:
    architectures._in_working_directory.cache_clear()
    architectures._in_folders.cache_clear()


def folder(place: Path, table: Any = TABLE, name: str = "newmodel") -> Path:
    place.mkdir(exist_ok=True)
    (place / f"{name}.json").write_text(table if isinstance(table, str) else json.dumps(table))
    return place


def test_a_relative_of_llama(tmp_path: Path) -> None:
    """One more projection in each layer, after the stated one; before, it is read as another; listed afterwards."""
    assert inspector.predict(CONFIG).config.relative
    inspector.add_tables(folder(tmp_path / "own"))
    prediction = inspector.predict(CONFIG)
    assert prediction.parameters == LLAMA + 2 * 64 * 64
    names = [row.name for row in prediction.expected]
    after = names.index("model.layers.{layer}.self_attn.o_proj.weight") + 1
    assert names[after] == "model.layers.{layer}.self_attn.gate_proj.weight"
    assert [(each.table, each.default) for each in listed() if each.model_type == "newmodel"] == [("newmodel", None)]


def test_the_example_of_the_handbook(tmp_path: Path) -> None:
    """CONTRIBUTING's table predicts CONTRIBUTING's case, which was worked out without it."""
    handbook = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text()
    table, case = re.findall(r"   ```\w*\n(.*?)   ```", handbook.partition("## Adding a family")[2], re.DOTALL)[:2]
    (tmp_path / "newmodel.txt").write_text(dedent(case))
    inspector.add_tables(folder(tmp_path / "own", table))
    (known,) = cases.load(tmp_path / "newmodel.txt")
    predicted = inspector.predict(known.config)
    assert {row.name_of(key): row.shape for row in predicted.expected for key in row.keys()} == known.shapes


def test_rows_instead_of_others_and_at_the_end(tmp_path: Path) -> None:
    """A relative's changes: a norm removed, a head of another width, an additional buffer."""
    table = {
        "like": "llama",
        "types": {"newmodel": {}},
        "defaults": {"head_width": 7},
        "instead": {"model.norm": [], "lm_head": [["lm_head", "lm_head", "head_width, hidden_size"]]},
        "after": {"lm_head": [["classifier", "after_lm_head", "hidden_size"]]},
        "rows": [["inv_freq", "model.freqs", "hidden_size", {"leaf": "", "buffer": True, "persistent": True}]],
    }
    inspector.add_tables(folder(tmp_path / "own", table))
    shapes = {row.name: row.shape for row in inspector.predict(CONFIG).expected}
    assert "model.norm.weight" not in shapes
    assert shapes["lm_head.weight"] == (7, 64)
    assert shapes["after_lm_head.weight"] == (64,)
    assert shapes["model.freqs"] == (64,)


def test_a_block_is_used_with_its_parameters(tmp_path: Path) -> None:
    """A table's own block, used twice: under two paths, with a width for one, and columns for the other."""
    table = {
        "types": {"newmodel": {}},
        "blocks": {
            "pair": {"with": {"WIDTH": "hidden_size"}, "rows": [["(q|k)_proj", "(q|k)", "$WIDTH, hidden_size"]]}
        },
        "rows": [
            {"use": "pair", "at": "a."},
            {"use": "pair", "at": "b.", "with": {"WIDTH": "2 * hidden_size"}, "columns": {"bias": "True"}},
        ],
    }
    inspector.add_tables(folder(tmp_path / "own", table))
    shapes = {row.name: row.shape for row in inspector.predict(CONFIG).expected}
    assert shapes == {
        "a.q.weight": (64, 64),
        "a.k.weight": (64, 64),
        "b.q.weight": (128, 64),
        "b.q.bias": (128,),
        "b.k.weight": (128, 64),
        "b.k.bias": (128,),
    }


def test_rows_that_come_in_turns(tmp_path: Path) -> None:
    """Numbers that are part of a word, and the tensors of each."""
    table = {
        "types": {"newmodel": {}},
        "rows": [
            {
                "each": {"N": "0..2", "SIZE": ["7", "8", "hidden_size"]},
                "at": "a.",
                "rows": [["q_proj", "q_$N", "$SIZE"]],
            }
        ],
    }
    inspector.add_tables(folder(tmp_path / "own", table))
    shapes = {row.name: row.shape for row in inspector.predict(CONFIG).expected}
    assert shapes == {"a.q_0.weight": (7,), "a.q_1.weight": (8,), "a.q_2.weight": (64,)}


def test_a_block_around_rows(tmp_path: Path) -> None:
    """They are placed where it says, and read as if they stood alone, without its prefix, words and columns."""
    block = {"with": {"WIDTH": "8"}, "rows": [["norm", "first", "$WIDTH"], "...", ["norm", "last", "$WIDTH"]]}
    around = {"use": "frame", "at": "a.", "columns": {"bias": "True"}, "rows": [["q_proj", "$IN.q", "4"]]}
    table = {"types": {"newmodel": {}}, "let": {"IN": "inner"}, "blocks": {"frame": block}}
    inspector.add_tables(folder(tmp_path / "own", {**table, "rows": [around]}))
    shapes = [(row.name, row.shape) for row in inspector.predict(CONFIG).expected]
    biased = [(f"a.{name}.{part}", (8,)) for name in ("first", "last") for part in ("weight", "bias")]
    assert shapes == [*biased[:2], ("inner.q.weight", (4,)), *biased[2:]]


def test_an_added_table_comes_before_the_packages(tmp_path: Path) -> None:
    table = {"like": "llama", "types": {"llama": {}}, "instead": {"lm_head": []}}
    inspector.add_tables(folder(tmp_path / "own", table, "mine"))
    assert inspector.predict({**CONFIG, "model_type": "llama"}).parameters == LLAMA - 100 * 64


def test_the_command_takes_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before the command or after it."""
    own, config = folder(tmp_path / "own"), tmp_path / "config.json"
    config.write_text(json.dumps(CONFIG))
    for words in (["--tables", str(own), "predict", str(config)], ["predict", str(config), f"--tables={own}"]):
        architectures._ADDED.clear()
        assert run([*words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["parameters"]["predicted"] == LLAMA + 2 * 64 * 64
    assert run(["predict", str(config), "--tables"]) == 2
    assert capsys.readouterr().err == "inspect: --tables needs a folder\n"


def test_a_projects_settings_name_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is beside pyproject.toml, in any folder above the current one; a target's settings are ignored."""
    folder(tmp_path / "own")
    (tmp_path / "pyproject.toml").write_text('[tool.checkpoint-inspector]\ntables = "own"\n')
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert inspector.predict(CONFIG).parameters == LLAMA + 2 * 64 * 64
    forget_folders()
    monkeypatch.chdir("/")
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    assert inspector.predict(str(tmp_path / "config.json")).config.relative


def test_a_downloads_own_tables_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A download with weights in a subfolder: the current folder is its root, and its own tables are ignored."""
    folder(tmp_path / "own")
    (tmp_path / "pyproject.toml").write_text('[tool.checkpoint-inspector]\ntables = "own"\n')
    hostile.write(
        {"config.json": hostile.dump(CONFIG), "model.safetensors": hostile.safetensors({"a": [1]})},
        tmp_path / "weights",
    )
    monkeypatch.chdir(tmp_path)
    for target, known in (("weights", True), (".", False), (str(tmp_path), False)):
        found = {each.rule for model in inspector.audit([target]).checkpoints for each in model.findings}
        assert ("missing" in found) is known, target
    assert inspector.predict(CONFIG).parameters == LLAMA + 2 * 64 * 64


def test_a_package_brings_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point names the package that contains them."""
    folder(tmp_path / "their_tables")
    info = tmp_path / "theirs-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[checkpoint_inspector.tables]\ntheirs = their_tables\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert inspector.predict(CONFIG).parameters == LLAMA + 2 * 64 * 64


#: A faulty table → its error line after the file's name.
BAD: dict[str, tuple[Any, str]] = {
    "no JSON": ("{", "Expecting property name"),
    "a list": ([], "one JSON object is expected"),
    "no types": ({"rows": []}, "`types` is missing"),
    "an unknown field": ({**TABLE, "roows": []}, "a table has no field `roows`"),
    "like nothing": ({**TABLE, "like": "lama"}, "there is no table lama"),
    "like itself": ({**TABLE, "like": "newmodel"}, "newmodel inherits from itself"),
    "after nothing": ({**TABLE, "after": {"model.nrom": [GATE]}}, "no inherited row is called model.nrom"),
    "two texts": ({**TABLE, "rows": [["q_proj", "q"]]}, '["q_proj", "q"]: a row is a role, a name, a shape'),
    "a number": ({**TABLE, "rows": [["q_proj", "q", 3]]}, "`3` is not a formula"),
    "an unknown word": ({**TABLE, "rows": [["q_proj", "$LYER.q", "1"]]}, "$LYER is not defined"),
    "an unknown column": ({**TABLE, "rows": [["q_proj", "q", "1", {"bais": "1"}]]}, "there is no column `bais`"),
    "an unknown block": ({**TABLE, "rows": [{"use": "attn"}]}, "there is no block attn"),
    "a missing parameter": (
        {**TABLE, "blocks": {"b": {"with": {"W": None}, "rows": []}}, "rows": [{"use": "b"}]},
        "the block b needs W",
    ),
    "alternatives": ({**TABLE, "rows": [["(q|k)_proj", "(q|k|v)", "1"]]}, "different numbers of alternatives"),
    "turns": (
        {**TABLE, "rows": [{"each": {"N": "0..2", "M": "1..2"}, "rows": []}]},
        "each: the words have different numbers of values",
    ),
    "no end of turns": ({**TABLE, "rows": [{"each": {"N": "0..99999"}, "rows": []}]}, "more than 1000 turns"),
    "no formula": ({**TABLE, "rows": [["q_proj", "q", "hidden size"]]}, "the row of q: `hidden size` is not a formula"),
    "a call": ({**TABLE, "rows": [["q_proj", "q", "open('x')"]]}, "`open('x')` is not supported in formulas"),
    "a lambda": ({**TABLE, "derived": {"x": "lambda: 1"}}, "derived x: `lambda: 1`"),
    "a loop over a list": (
        {**TABLE, "derived": {"x": "[word for word in words]"}},
        "`[word for word in words]` is not supported in formulas",
    ),
    "an index named like a function": (
        {**TABLE, "rows": [["q_proj", "q.{stage<2}", "1"]]},
        "the index {stage} has the name of a formula function",
    ),
}


@every("case", BAD)
def test_faults_are_reported_in_one_line(case: str, tmp_path: Path) -> None:
    """The line says which file, which row, and why."""
    table, reported = BAD[case]
    with pytest.raises(TableError, match=r"^[^\n]+$") as caught:
        inspector.add_tables(folder(tmp_path / "own", table))
        inspector.predict(CONFIG)
    assert reported in str(caught.value)
    assert str(tmp_path / "own" / "newmodel.json") in str(caught.value)


def test_a_path_that_is_not_a_folder_is_reported() -> None:
    with pytest.raises(InspectorError, match="/nowhere is not a folder of tables"):
        inspector.add_tables("/nowhere")


@every("table", sorted(set(model_types().values())), parts=9)
def test_the_packages_own_formulas_are_in_the_language(table: str) -> None:
    """The checks of added tables hold for the package's own."""
    assert [(where, wrong) for where, text in formulas(load(table)) if (wrong := fault(text))] == []


def test_every_table_names_its_source() -> None:
    """Its source, or the table that it is part of or like."""
    found = store()
    places = [(kind, name) for kind in ("families", "gguf") for name in found.names(kind)]
    reported = {place: found.find(*place) for place in places}
    assert [place for place, table in reported.items() if not table.keys() & {"source", "part", "like"}] == []
    assert [
        place for place, table in reported.items() if table.get("about", "Model type").startswith("Model type")
    ] == []


def test_notes_explain_words_that_tables_have() -> None:
    """`WIDTH: why it is so` explains a word of `let`; a wheel's tables come without notes."""
    folder = Path(__file__).parent.parent / "inspector/architectures/data/tables"
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*/*.json"))]
    tables = [table for file in found for table in (file, *file.values()) if isinstance(table, dict)]
    notes = [(note.partition(": ")[0], table) for table in tables for note in table.get("notes", ())]
    explained = [(word, table) for words, table in notes if words.isupper() for word in words.split(", ")]
    assert len(explained) > 20
    assert [(word, table["about"]) for word, table in explained if word not in table.get("let", ())] == []


def test_a_type_without_a_table_stays_unknown() -> None:
    assert family_of({"model_type": "no-such-thing"}) is None
    assert family_of({}) is None


def test_the_help_mentions_it() -> None:
    from inspector.cli.commands import inspect

    assert "--tables DIR" in CliRunner().invoke(inspect, ["--help"]).output
