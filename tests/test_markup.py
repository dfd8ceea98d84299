"""Texts from files in every kind of output: no terminal, spreadsheet, browser or wiki interprets them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import hostile
import pytest
from conftest import Ran
from tabulate import tabulate_formats

from inspector.cli import console
from inspector.report.tables import cell, inert

Run = Callable[..., Ran]
BAD = (
    *("=cmd|'/C calc'!A1", "+1+cmd", "-2+3", "@SUM(1)", " =1", "\tx", "\rx", "<script>alert(1)</script>", "a|b`c`"),
    *(
        "\uff1d1+1",
        "\uff0b1",
        "\uff0d1",
        "\uff201",
        '"=1+1',
        '"+1"',
        "::stop-commands::x",
        " ::add-mask::y",
        "##[group]z",
    ),
    *("\u180e\u034f\u115f", "\U000e0041tag", "\ufeffbom", "\u00adsoft", "\u061c\u200fright", "\u2029z"),
    *("\x1b[2J\x1b]0;x\x07", "\u202egnp", "a\nb", "\u2028z", "[x](javascript:1)", "\x9b2J", "a\x85b", "a\\|b", "{{x}}"),
)
#: Sequences that rewrite a terminal, or end a line too early.
CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
#: Output that GitHub's runner interprets as a command.
ACTIONS = re.compile(r"(?m)^\s*::|##\[")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Names, metadata, a dtype, a file and a configuration, all of them hostile."""
    entries = {name: {"dtype": "U8", "shape": [1], "data_offsets": [at, at + 1]} for at, name in enumerate(BAD)}
    header = {"__metadata__": {name: name for name in BAD}, **entries}
    config = {"model_type": "\x1b[31m=<b>", "architectures": list(BAD), "_name_or_path": BAD[7], "torch_dtype": BAD[0]}
    card = f"---\nlicense: '{BAD[7]}'\nbase_model: '=1+1'\n---\n"
    files = {"config.json": hostile.dump(config), "README.md": card.encode()}
    return hostile.write(
        {**files, "=cmd\x1b[2J<b>.safetensors": hostile.framed(hostile.dump(header), len(BAD))}, tmp_path / "model"
    )


COMMANDS = (
    *(["overview"], ["overview", "--json"], ["tensors"], ["tensors", "--json"], ["tensors", "--jsonl"], ["audit"]),
    *(["audit", "--json"], ["audit", "--sarif"], ["metadata"], ["metadata", "--json"], ["tensors", "--csv"]),
    *(["tensors", f"--format={form}"] for form in tabulate_formats),
    *(
        [name, f"--{form}"]
        for name in ("audit", "values", "metadata", "overview", "diff")
        for form in ("csv", "jsonl", "format=tsv")
    ),
    *([name, *form] for name in ("values", "diff", "predict", "memory") for form in ((), ("--json",))),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_output_has_controls(command: list[str], model: Path, inspect: Run) -> None:
    """Every command in every form."""
    other = (hostile.make(hostile.nothing, model.parent / "other"),) if command[0] == "diff" else ()
    ran = inspect(command[0], model, *other, *command[1:])
    assert (ran.out or ran.code == 2) and "Traceback" not in ran.err
    assert CONTROLS.search(ran.out + ran.err) is None
    for text in ran.out.splitlines() if {"--json", "--jsonl", "--sarif"}.intersection(command) else ():
        json.loads(text)
    if not {"--csv", "--json", "--jsonl", "--sarif"}.intersection(command):
        assert ACTIONS.search(ran.out + ran.err) is None


@pytest.mark.parametrize(
    "command",
    [["overview"], ["tensors"], ["tensors", "--wide"], ["memory"], ["diff"], ["values"], ["overview", "--layers"]],
    ids=" ".join,
)
def test_no_dtype_reaches_the_terminal(command: list[str], tmp_path: Path, inspect: Run) -> None:
    """A dtype comes from the file, too, in tables of any command."""
    dtype = "\x1b[31m\u202e<b>"
    header = {"model.norm.weight": {"dtype": dtype, "shape": [1], "data_offsets": [0, 1]}}
    config = hostile.dump({"model_type": "llama", "architectures": ["\x9b2J"], "_name_or_path": "\u202ex"})
    model = hostile.write(
        {"config.json": config, "model.safetensors": hostile.framed(hostile.dump(header), 1)}, tmp_path / "model"
    )
    other = (hostile.make(hostile.nothing, tmp_path / "other"),) if command[0] == "diff" else ()
    ran = inspect(command[0], model, *other, *command[1:])
    assert CONTROLS.search(ran.out + ran.err) is None
    assert "\\x1b[31m" in ran.out + ran.err


@pytest.mark.parametrize("text", ["\x1b[2J", "a\u202eb", "a\x08b", "\u2028::error::x", "\x9b2J\x00"])
def test_nothing_unescaped_is_printed(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """If a report forgets to escape: lines and columns stay, controls do not."""
    console.print_lines([f"a\t{text}\nb", "c → é"], wide=True)
    out = capsys.readouterr().out
    assert CONTROLS.search(out) is None and ACTIONS.search(out) is None
    assert (out.count("\n"), out.count("\t"), out.splitlines()[-1]) == (3, 1, "c → é")


@pytest.mark.parametrize("form", ["--csv", "--format=tsv"])
@pytest.mark.parametrize(("command", "columns"), [("tensors", 14), ("metadata", 6), ("audit", 6)])
def test_no_cell_is_a_formula(command: str, columns: int, form: str, model: Path, inspect: Run) -> None:
    """In a file for spreadsheets; and each cell ends where we end it."""
    out = inspect(command, model, form).out
    rows = list(csv.reader(io.StringIO(out), delimiter="\t" if "tsv" in form else ","))
    assert {len(row) for row in rows} == {columns} and len(rows) > 20
    assert [
        each for row in rows for each in row if each.lstrip()[:1] in ("=", "+", "-", "@", *"＝＋－＠") and each
    ] == []
    assert [inert(text) for text in ("-1.5", "+2", "-1e-05", "-a", "=1")] == ["-1.5", "+2", "-1e-05", "'-a", "'=1"]


class Tags(HTMLParser):
    """The tags of a document."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, _: object) -> None:
        self.found.add(tag)


@pytest.mark.parametrize("form", ["html", "unsafehtml", "github", "pipe", "mediawiki", "textile", "asciidoc", "jira"])
def test_no_name_is_a_tag(form: str, model: Path, inspect: Run) -> None:
    """In whatever a browser may display in the end."""
    assert Tags(inspect("tensors", model, f"--format={form}").out).found <= {
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }


@pytest.mark.parametrize("form", ["github", "pipe"])
def test_each_row_has_its_columns(form: str, model: Path, inspect: Run) -> None:
    """A bar in a name ends no cell of a Markdown table: after an odd number of backslashes it is text (GFM 4.10)."""
    for line in inspect("tensors", model, f"--format={form}").out.splitlines():
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 15, line


def test_usual_names_are_left_alone() -> None:
    """Names of real models are unescaped, underscores included."""
    for form in tabulate_formats:
        assert form == "rst" or cell("model.layers.0.self_attn.q_proj.weight", form) == (
            "model.layers.0.self_attn.q_proj.weight"
        )


def test_sarif_is_text(model: Path, inspect: Run) -> None:
    """A SARIF viewer shows `text` as it is; it contains no Markdown."""
    assert '"markdown"' not in inspect("audit", model, "--sarif").out
    assert json.loads(inspect("audit", model, "--sarif").out)["version"] == "2.1.0"
