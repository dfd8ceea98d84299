"""Rows in every form, with exact types, and the page docs/tables.md, run as it is."""

from __future__ import annotations

import csv
import doctest
import io
import json
import os
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sparse
from every import every
from pyarrow import parquet

import inspector
from inspector import api
from inspector.report.tables import Column, Rows

if TYPE_CHECKING:
    import pytest
    from conftest import Ran

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/tables.md").read_text()
#: Command → the JSON with its rows, as a path into it, and a column that both have.
COMMANDS: dict[str, tuple[str, str]] = {
    "{gpt2}": ("roles", "parameters"),
    "{gpt2} --layers": ("layers", "bytes"),
    "{gpt2} --tensors": ("tensors", "offset"),
    "tensors {gpt2}": ("tensors", "bytes"),
    "diff {gpt2} {gpt2-xl}": ("tensors", "role"),
    "audit {stranger}": ("checkpoints.0.findings", "rule"),
    "memory {gpt2} --sweep": ("sweep", "total"),
    "architectures qwen": ("model_types", "model_type"),
    "architectures --roles norm": ("roles", "role"),
    "metadata {mistral-7b-instruct-v0.2-q4_k_m}": ("metadata", "key"),
    "predict gpt2 --tensors": ("tensors", "name"),
}


def words_of(command: str, made: Callable[[str], Path]) -> list[str]:
    return [str(made(word[1:-1])) if word[0] == "{" else word for word in command.split()]


def within(document: Any, path: str) -> Any:
    for step in path.split("."):
        document = document[int(step) if step.isdigit() else step]
    return document


@every("command", COMMANDS)
def test_rows_are_the_jsons_in_every_form(
    command: str, made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """The same number in the same order, with the same values."""
    words, (path, column) = words_of(command, made), COMMANDS[command]
    reported = [row[column] for row in within(inspect(*words, "--json").json, path)]
    assert reported
    lines = [json.loads(line) for line in inspect(*words, "--jsonl").out.splitlines()]
    assert [row[column] for row in lines] == reported
    cells = list(csv.DictReader(io.StringIO(inspect(*words, "--csv").out)))
    assert [row[column] for row in cells] == list(map(str, reported))
    assert inspect(*words, "--parquet", tmp_path / "rows.parquet").out == ""
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert table.column(column).to_pylist() == reported
    assert table.column_names == list(lines[0]) == list(cells[0])
    shown = inspect(*words, "--format", "github").out
    assert shown.count("\n") == len(reported) + 2


def test_types_are_exact(made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path) -> None:
    """Unsigned sizes, shapes as lists; for a pair, the values of each side."""
    inspect("diff", made("gpt2"), made("gpt2-xl"), "--parquet", tmp_path / "diff.parquet")
    schema = parquet.read_schema(tmp_path / "diff.parquet")
    kinds = {"layer": pa.int64(), "a_bytes": pa.uint64(), "relative": pa.float64(), "status": pa.string()}
    assert {name: schema.field(name).type for name in kinds} == kinds
    assert schema.field("b_shape").type.value_type == pa.uint64()


def test_numbers_beyond_floats_stay_whole() -> None:
    """Also beside an absent one, where pandas' own numbers would be floats."""
    largest = 2**64 - 1
    rows = Rows(
        (Column("n", "uint64"), Column("shape", "list<uint64>")), [{"n": largest, "shape": [largest]}, {"n": None}]
    )
    assert rows.to_pandas()["n"].tolist()[0] == largest
    assert rows.to_arrow().to_pylist() == [{"n": largest, "shape": [largest]}, {"n": None, "shape": None}]
    assert rows.to_polars().rows() == [(largest, [largest]), (None, None)]


def test_results_are_tables_in_python(made: Callable[[str], Path], tmp_path: Path) -> None:
    """They have the columns of the command's own forms, in each of the three libraries."""
    for name in ("gpt2", "qwen3-0.6b"):
        shutil.copytree(made(name), tmp_path / name, copy_function=os.link)
    found: list[tuple[Any, int]] = [
        (inspector.diff(made("gpt2"), made("gpt2-xl")), 12 * 48 + 4 + 12),  # and the masks that the smaller one has
        (inspector.audit([made("stranger")]), 3),
        (inspector.predict("gpt2"), 148),
        (inspector.memory("gpt2"), 1),
        (api.sweep(api.sized("gpt2")), 3),  # one context, in F32, F16 and BF16
        (inspector.models(tmp_path), 2),
    ]
    for result, number in found:
        arrow = result.to_arrow()
        assert arrow.num_rows == number
        assert arrow.column_names == list(result.to_pandas().columns) == result.to_polars().columns


def test_without_a_sweep_there_is_one_row(inspect: Callable[..., Ran]) -> None:
    """It has the columns of a sweep: for 1,024 tokens 12 layers keep 2 × 768 numbers in 4 bytes."""
    (row,) = csv.DictReader(io.StringIO(inspect("memory", "gpt2", "--context", 1024, "--csv").out))
    assert (row["context"], row["cache"]) == ("1024", str(1024 * 12 * 2 * 768 * 4))


def test_rows_of_several_targets_name_them(
    made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """A first column names them; if one cannot be read the others' rows are there, and the exit code reflects it."""
    ran = inspect(made("gpt2"), tmp_path / "absent.gguf", made("qwen3-0.6b"), "--csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert ran.code == 2
    assert list(dict.fromkeys(row["target"] for row in rows)) == [str(made("gpt2")), str(made("qwen3-0.6b"))]
    assert sum(int(row["parameters"]) for row in rows if "gpt2" in row["target"]) == 124_439_808


def test_a_folder_of_models_has_a_row_a_model(
    made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    for name in ("gpt2", "qwen3-0.6b"):
        shutil.copytree(made(name), tmp_path / name, copy_function=os.link)
    lines = [json.loads(line) for line in inspect(tmp_path, "--jsonl").out.splitlines()]
    assert [(row["name"], row["complete"]) for row in lines] == [("gpt2", True), ("qwen3-0.6b", True)]
    assert lines == [{name: row[name] for name in lines[0]} for row in inspect(tmp_path, "--json").json["models"]]


def test_the_page_of_tables_is_so(inspect: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of the page make the files that its examples read."""
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        for line in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
            program, *arguments = shlex.split(line)
            if program == "python":
                sparse.make(sparse.load(arguments[1]), Path(arguments[2]) / arguments[1])
            else:
                assert not inspect(*arguments).err
    examples = "\n".join(re.findall(r"^```pycon\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(examples, {}, "docs/tables.md", "docs/tables.md", 0))
    assert (runner.failures, runner.tries > 7) == (0, True)
