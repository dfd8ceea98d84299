"""The tools' writer of tables: its output is read back as the same family, and is shorter than the rows."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from every import every

from inspector.architectures import load, model_types, table_file
from inspector.architectures.table import Family, Include, Row

TOOL = Path(__file__).parent.parent / "tools" / "table_text.py"
#: As a person edits them: an installed package has them in one file.
TABLES = Path(__file__).parents[1] / "inspector" / "architectures" / "data" / "tables"


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("table_text", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["table_text"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def back(text: str, name: str) -> Family:
    return table_file.read("families", name, lambda _kind, _name: json.loads(text))


@every("table", sorted(set(model_types().values()))[::12])
def test_a_table_is_read_as_it_is_written(writer: ModuleType, table: str) -> None:
    """Except for what layers keep, which only people write."""
    family = load(table)._replace(cache=None, uncached="", cache_defaults={}, cache_derived={})
    assert back(writer.text(family, table, about="some"), table) == family


def test_rows_that_differ_in_a_word_are_one(writer: ModuleType) -> None:
    """Repeated prefixes become a word; rows that differ in more stay separate."""
    layer = "model.layers.{layer<num_hidden_layers}"
    rows = [Row(f"{word}_proj", f"{layer}.attn.{word}", "width, width", bias="True") for word in "qkv"]
    rows.append(Row("o_proj", f"{layer}.attn.out", "2 * heads, width // 2", bias="True"))
    text = writer.text(Family("some", {"some": {}}, tuple(rows)), "some")
    assert json.loads(text)["let"] == {"LAYER": layer}
    assert json.loads(text)["rows"] == [
        ["(q|k|v)_proj", "$LAYER.attn.(q|k|v)", "width, width", {"bias": "True"}],
        ["o_proj", "$LAYER.attn.out", "2 * heads, width // 2", {"bias": "True"}],
    ]


def test_common_columns_stand_before_their_rows(writer: ModuleType) -> None:
    shapes = ["width", "2, width", "width, 3", "4, width, 4"]
    rows = [Row(f"role_{at}", f"name_{at}", shape, tower="vision") for at, shape in enumerate(shapes)]
    family = Family("some", {"some": {}}, (*rows, Include("text_config", "text.")))
    group, include = json.loads(writer.text(family, "some"))["rows"]
    assert (group["columns"], include) == ({"tower": "vision"}, {"scope": "text_config", "prefix": "text."})
    assert [len(row) for row in group["rows"]] == [3] * 4


TABLE = """{"about": "some", "types": {"a": {}}, "head": "Model", "coverage": {"a": [100, 98, null, 97]}, "outside": ["b"], "rows": [["q_proj", "q", "1"]]}
"""


@pytest.mark.parametrize(
    ("field", "value", "changed"),
    [
        ("coverage", {"a": [100, 98, None, 97]}, {}),
        ("coverage", {"a": [1, 2, 3, 4]}, {'"a": [100, 98, null, 97]': '"a": [1, 2, 3, 4]'}),
        ("coverage", {}, {', "coverage": {"a": [100, 98, null, 97]}': ""}),
        ("outside", [], {', "outside": ["b"]': ""}),
        ("about", "", {'"about": "some", ': ""}),
        ("inferable", {"a": 1}, {'{"a": {}},': '{"a": {}}, "inferable": {"a": 1},'}),
        ("notes", [], {}),
    ],
)
def test_a_field_is_put_into_a_table(writer: ModuleType, field: str, value: Any, changed: dict[str, str]) -> None:
    """It is put in its old place, or after the types; nothing else changes, and an empty value is removed."""
    expected = TABLE
    for before, after in changed.items():
        assert before in expected
        expected = expected.replace(before, after, 1)
    assert writer.put(TABLE, field, value) == expected
    assert json.loads(expected).get(field) == (value or None)


@pytest.mark.parametrize(
    ("name", "branch", "reported"),
    [
        ("attn.to_gate.0", "to_gate", "attn.[to_gate].0"),
        ("$LAYER.crossattention.query", "cross", "$LAYER.[cross]attention.query"),
        ("decoder.up.{layer<n[0]}.conv", "decoder.conv", "[decoder].up.{layer<n[0]}.[conv]"),
        ("norm_(1|2)", "(1|2)", "norm_[(1|2)]"),
        ("conv11", "1", None),
        ("$LAYER.norm", "layer", None),
        ("to_(q|k)", "q", None),
    ],
)
def test_a_branch_that_a_name_says_is_marked_there(
    writer: ModuleType, name: str, branch: str, reported: str | None
) -> None:
    """If each row of the alternatives is read back with its branch; otherwise the column states it."""
    assert writer.marked(name, branch) == reported
    if reported:
        assert [table_file.unmarked(each["name"])[1] for each in table_file.alternatives({"name": reported})] == [
            each["branch"] for each in table_file.alternatives({"name": name, "branch": branch})
        ]


def test_brackets_in_names_are_branches() -> None:
    """Also in those of a group and of a block's use; a row's own column takes precedence, a group's column does not."""
    document = {
        "types": {"some": {}},
        "blocks": {"mlp": {"rows": [["up_proj", "[up]", "2 * width, width"], ["down_proj", "down", "width"]]}},
        "rows": [
            ["conv", "[decoder].{layer<n[0]}.[conv_(1|2)]", "width", {"batch": True}],
            ["proj", "[a].proj", "width", {"branch": "own"}],
            {"at": "[audio].", "columns": {"branch": "group"}, "rows": [["norm", "norm", "width"]]},
            {"use": "mlp", "at": "[audio].mlp."},
        ],
    }
    rows = [row for row in back(json.dumps(document), "some").rows if isinstance(row, Row)]
    assert [(row.name, row.branch) for row in rows if row.role == "conv"] == [
        ("decoder.{layer<n[0]}.conv_1", "decoder.conv_1"),
        ("decoder.{layer<n[0]}.conv_2", "decoder.conv_2"),
    ]
    assert {(row.branch, row.name.rpartition(".")[0]) for row in rows if row.role == "running_mean"} == {
        (f"decoder.conv_{number}", f"decoder.{{layer<n[0]}}.conv_{number}") for number in (1, 2)
    }
    assert [(row.name, row.branch) for row in rows[-4:]] == [
        ("a.proj", "own"),
        ("audio.norm", "audio"),
        ("audio.mlp.up", "audio.up"),
        ("audio.mlp.down", "audio"),
    ]


def test_a_loop_may_name_words() -> None:
    document = {
        "types": {"some": {}},
        "let": {"FIRST": "one.{layer<depth}", "SECOND": "two.{layer<depth}"},
        "rows": [{"each": {"OF": ["$FIRST", "$SECOND"]}, "rows": [["norm", "$OF.norm", "width"]]}],
    }
    names = [row.name for row in back(json.dumps(document), "some").rows if isinstance(row, Row)]
    assert names == ["one.{layer<depth}.norm", "two.{layer<depth}.norm"]


def test_every_table_is_in_the_one_layout(writer: ModuleType) -> None:
    """`python tools/table_text.py` writes it: no line is wider than 200 columns, and none is needlessly short."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(TABLES.glob("*/*.json"))}
    assert len(texts) > 1000
    assert [path.name for path, table in texts.items() if writer.layout(json.loads(table)) != table] == []
    assert [path.name for path, table in texts.items() if max(map(len, table.splitlines())) > writer.WIDTH] == []


def test_a_text_too_long_for_a_line_is_a_list_of_its_lines(writer: ModuleType) -> None:
    shape = ", ".join(f"some_number_of_channels_{at} * 2" for at in range(9))
    table = {"types": {"some": {}}, "rows": [["conv", "conv", shape, {"branch": "a"}], ["norm", "norm", "1"]]}
    text = writer.layout(table)
    assert max(map(len, text.splitlines())) <= writer.WIDTH
    assert [len(row[2]) for row in json.loads(text)["rows"]] == [2, 1]
    assert [row.shape for row in back(text, "some").rows if isinstance(row, Row)] == [shape, "1"]


def test_a_norm_over_batches_is_one_row(writer: ModuleType) -> None:
    """It includes the running mean and variance, of the same width, and the scalar count."""
    norm: dict[str, Any] = {"tower": "vision", "branch": "1", "batch": True}
    kept: dict[str, Any] = {**norm, "leaf": "", "buffer": True, "persistent": True}
    rows = (
        Row("conv_norm", "stem.norm", "width", bias="True", **norm),
        Row("running_mean", "stem.norm.running_mean", "width", **kept),
        Row("running_var", "stem.norm.running_var", "width", **kept),
        Row("num_batches_tracked", "stem.norm.num_batches_tracked", "", **kept),
    )
    text = writer.text(Family("some", {"some": {}}, rows), "some")
    assert json.loads(text)["rows"] == [["conv_norm", "stem.norm", "width", {"bias": "True", **norm}]]
    assert back(text, "some").rows == rows
    assert len(json.loads(writer.text(Family("some", {"some": {}}, rows[:3]), "some"))["rows"]) > 1
