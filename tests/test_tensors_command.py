"""`inspect tensors`: selection, order and form, and the message when nothing matches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from every import every

if TYPE_CHECKING:
    from conftest import Ran

Made = Callable[[str], Path]


@every(
    ("words", "number"),
    [
        (("q_proj",), 32),  # a role, and a part of the names
        (("*.q_proj.weight",), 32),
        (("F16",), 323),
        (("feed_forward",), 96),  # a group: three projections of 32 layers
        (("--role", "norm", "--role", "lm_head"), 2),
        (("--group", "norm"), 65),
        (("--layer", "3-7"), 50),  # ten tensors of each layer, its buffer among them
        (("--layer", "0,30-31", "--group", "attention"), 12),
        (("--dtype", "f16", "--tower", "text", "--role", "v_proj", "--layer", "5"), 1),
        (("--limit", "3"), 3),
    ],
)
def test_tensors_are_found(words: tuple[str, ...], number: int, made: Made, inspect: Callable[..., Ran]) -> None:
    """By name, glob, role, group, dtype, tower and layer, and by all of them at once."""
    assert len(inspect("tensors", made("llama-7b"), *words, "--json").json["tensors"]) == number


def test_order_and_its_reverse(made: Made, inspect: Callable[..., Ran]) -> None:
    """The largest are the embedding and the head, of 262,144,000 bytes each; the smallest the frequencies."""
    first = inspect("tensors", made("llama-7b"), "--sort", "size", "--limit", "2", "--json").json["tensors"]
    assert {each["bytes"] for each in first} == {262_144_000}
    last = inspect("tensors", made("llama-7b"), "--sort", "size", "--reverse", "--limit", "1", "--json").json["tensors"]
    assert last[0]["role"] == "inv_freq"


def test_the_shard_is_shown_if_there_are_several(made: Made, inspect: Callable[..., Ran]) -> None:
    """It is the last column, which is missing for a single file."""
    listed = inspect("tensors", made("llama-7b"), "norm.weight").out.splitlines()
    assert listed[0].split() == ["dtype", "bytes", "offset", "role", "shape", "name", "file"]
    assert listed[-1].endswith("model.norm.weight                                model-00002-of-00002.safetensors")
    assert "file" not in inspect("tensors", made("gpt2"), "wte").out.splitlines()[0].split()


@pytest.mark.parametrize("words", [("nothing",), ("--role", "nothing"), ("--layer", "99"), ("--dtype", "Q4_K")])
def test_nothing_found_says_what_there_is(words: tuple[str, ...], made: Made, inspect: Callable[..., Ran]) -> None:
    """One line on stderr lists roles, dtypes and layers."""
    ran = inspect("tensors", made("llama-7b"), *words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "roles: down_proj, embed_tokens" in ran.err and "dtypes: F16; layers: 0 to 31" in ran.err


def test_misuse(made: Made, inspect: Callable[..., Ran]) -> None:
    """Two outputs, an invalid list of layers, an unknown format: a line each."""
    for words, reported in (
        (("--csv", "--json"), "one output at a time: csv and json"),
        (("--layer", "3-x"), "3-x is not a list of layers"),
        (("--format", "word"), "unknown format 'word'; known: "),
    ):
        ran = inspect("tensors", made("gpt2"), *words)
        assert ran.code == 2 and reported in ran.err


def test_tables_for_documents(made: Made, inspect: Callable[..., Ran]) -> None:
    """tabulate's formats, with the columns of the CSV."""
    lines = inspect("tensors", made("gpt2"), "wte", "--format", "github").out.splitlines()
    assert [cell.strip() for cell in lines[2].strip("|").split("|")][:6] == [
        "wte.weight", "model.safetensors", "F32", "50257×768", lines[2].split("|")[5].strip(), "154389504"
    ]  # fmt: skip


def test_rows_as_parquet(made: Callable[[str], Path], tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """The JSON's rows, with exact types, in a file that pandas, DuckDB and Polars open."""
    from pyarrow import parquet

    rows = inspect("tensors", made("gpt2"), "--json").json["tensors"]
    ran = inspect("tensors", made("gpt2"), "--parquet", tmp_path / "rows.parquet")
    assert (ran.code, ran.out) == (0, "")
    assert parquet.read_table(tmp_path / "rows.parquet").to_pylist() == rows
    ran = inspect("tensors", made("gpt2"), "--parquet", tmp_path / "nowhere" / "rows.parquet")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    ran = inspect("tensors", made("gpt2"), "--parquet", tmp_path / "x", "--csv")
    assert "one output at a time" in ran.err
