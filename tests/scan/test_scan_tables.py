"""The tables of a scan: a row for each checkpoint, file, tensor and finding, with the numbers a person would count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import inspector
from inspector.errors import SourceError
from inspector.scanning.schema import TABLES, arrow_schema
from inspector.units import decimal
from scan.conftest import Scan, gguf, llama, make, table

if TYPE_CHECKING:
    from typing import Any

#: Elements of the model of `conftest`: 2 layers, the embedding, the head and the norm.
ELEMENTS = 2 * (2 * 32 * 32 + 2 * 16 * 32 + 3 * 64 * 32 + 2 * 32) + 2 * 48 * 32 + 32


def by_name(out: Path, tree: Path) -> dict[str, dict[str, Any]]:
    return {Path(row["target"]).relative_to(tree).as_posix(): row for row in table(out, "checkpoints")}


def test_each_table_has_the_rows_of_each_checkpoint(tmp_path: Path, scan: Scan) -> None:
    """Sizes, counts and roles of a sound model, a GGUF and a cut file, as counted by hand."""
    tree = make(tmp_path / "tree", plain=llama(), cut=llama(cut=100), lm__pub__tiny=gguf())
    done = scan([tree], tmp_path / "out")
    found = by_name(tmp_path / "out", tree)
    assert sorted(found) == ["cut", "lm/pub/tiny", "plain"]
    assert (done.checkpoints, done.broken, done.unreadable) == (3, 1, 0)
    assert repr(done) == f"<Scan {tmp_path / 'out'}: 3 checkpoints, {decimal(done.on_disk)}, 1 broken>"
    assert done.overview().startswith(f"{tmp_path / 'out'}: 3 checkpoints, ")
    assert done._repr_html_().startswith("<pre>")
    assert sorted(done.to_pandas()["errors"]) == [0, 0, 1]
    plain, header = found["plain"], (tree / "plain/model.safetensors").stat().st_size - 2 * ELEMENTS
    assert (plain["logical"], plain["predicted"], plain["tensors"]) == (ELEMENTS, ELEMENTS, 21)
    assert (plain["on_disk"], plain["unexplained"], plain["errors"]) == (2 * ELEMENTS + header, 0, 0)
    assert (plain["format"], plain["family"], plain["dtype"]) == ("safetensors", "llama", "F16")
    assert (found["lm/pub/tiny"]["format"], found["lm/pub/tiny"]["logical"]) == ("gguf", ELEMENTS)
    assert found["cut"]["errors"] == 1
    files = [row for row in table(tmp_path / "out", "files") if row["checkpoint"] == plain["checkpoint"]]
    assert [(row["path"], row["header"], row["data"]) for row in files if row["weights"]] == [
        ("model.safetensors", header, 2 * ELEMENTS)
    ]
    assert {row["path"] for row in files} == {"config.json", "model.safetensors"}
    tensors = [row for row in table(tmp_path / "out", "tensors") if row["checkpoint"] == plain["checkpoint"]]
    assert sum(row["parameters"] for row in tensors) == ELEMENTS
    assert [row["shape"] for row in tensors if row["name"] == "model.layers.1.mlp.up_proj.weight"] == [[64, 32]]
    findings = table(tmp_path / "out", "findings")
    assert [row["rule"] for row in findings if row["severity"] == "error"] == ["truncated"]


def test_the_tables_agree_with_the_inspection_of_each(tmp_path: Path, scan: Scan) -> None:
    """The row of a target has what `inspect` and `inspect audit` report on it."""
    tree = make(tmp_path / "tree", a=llama(), b=gguf(), c=llama("BF16", "bfloat16"))
    scan([tree], tmp_path / "out")
    for row in table(tmp_path / "out", "checkpoints"):
        result = inspector.reconcile(inspector.open(row["target"]))
        (audited,) = inspector.audit([row["target"]]).checkpoints
        assert (row["logical"], row["on_disk"], row["format"]) == (
            result.logical,
            result.on_disk,
            result.checkpoint.format,
        )
        assert row["warnings"] == sum(each.severity == "warning" for each in audited.findings)
        named = [each.name for each in result.checkpoint.files[0].tensors]
        own = [each["name"] for each in table(tmp_path / "out", "tensors") if each["checkpoint"] == row["checkpoint"]]
        assert sorted(own) == sorted(named)


def test_an_unreadable_file_is_a_row_with_its_reason(tmp_path: Path, scan: Scan) -> None:
    """Web pages, pointers, empty and missing files each have a row with the reason, beside the sound ones."""
    tree = make(tmp_path / "tree", sound=llama())
    for name, content in {
        "page": b"<!DOCTYPE html><html>not found</html>",
        "pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n",
        "empty": b"",
        "noise": bytes(range(256)) * 8,
    }.items():
        (tree / name).mkdir()
        (tree / name / "model.safetensors").write_bytes(content)
    done = scan([tree, tmp_path / "absent"], tmp_path / "out")
    found = {Path(row["target"]).name: row for row in table(tmp_path / "out", "checkpoints")}
    assert done.unreadable == 5
    assert found["sound"]["error"] is None
    assert {
        name: bool(found[name]["error"]) for name in ("page", "pointer", "empty", "noise", "absent")
    } == dict.fromkeys(("page", "pointer", "empty", "noise", "absent"), True)
    assert found["pointer"]["error_kind"] == "lfs-pointer"


def test_names_that_no_table_could_hold(tmp_path: Path, scan: Scan) -> None:
    """Half a surrogate pair, a name of two lines, and sizes beyond 64 bits do not stop the other checkpoints."""
    from conftest import write

    tree = make(tmp_path / "tree", sound=llama())
    (tree / "odd").mkdir()
    header = {"half \ud83d": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, "a\nb": {"dtype": "F32", "shape": [2**63, 2**63], "data_offsets": [4, 8]}}  # fmt: skip
    write(tree / "odd" / "model.safetensors", header, 8)
    (tree / os_name(b"caf\xe9")).mkdir()
    write(
        tree / os_name(b"caf\xe9") / "model.safetensors",
        {"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}},
        4,
    )
    done = scan([tree], tmp_path / "out")
    assert done.checkpoints == 3
    assert [row["errors"] for row in table(tmp_path / "out", "checkpoints") if row["target"].endswith("/sound")] == [0]


def os_name(raw: bytes) -> str:
    import os

    return os.fsdecode(raw)


def test_the_schema_is_a_promise() -> None:
    """Names, types and order of the columns are fixed; new ones come last."""
    promised = json.loads((Path(__file__).parent / "schema.json").read_text())
    for name in TABLES:
        schema = arrow_schema(name)
        assert [[field.name, str(field.type)] for field in schema][: len(promised[name])] == promised[name]


def test_parts_have_the_schema(tmp_path: Path, scan: Scan) -> None:
    from pyarrow import parquet

    scan([make(tmp_path / "tree", a=llama())], tmp_path / "out")
    for name in TABLES:
        (path,) = (tmp_path / "out" / name).glob("*.parquet")
        assert parquet.read_schema(path).remove_metadata() == arrow_schema(name)


@pytest.mark.parametrize("query", ["SELECT sum(parameters) FROM tensors", "SELECT logical FROM checkpoints"])
def test_duckdb_counts_the_same(query: str, tmp_path: Path, scan: Scan) -> None:
    from inspector.scanning.queries import ask

    scan([make(tmp_path / "tree", a=llama())], tmp_path / "out")
    assert ask(tmp_path / "out", query).rows == [(ELEMENTS,)]


def test_the_users_own_tables_reach_the_workers(tmp_path: Path, scan: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    """A private architecture is predicted; a worker that cannot find its folder reports that, and the scan ends."""
    from inspector import architectures

    monkeypatch.setattr(architectures, "_ADDED", [])
    own = tmp_path / "own" / "families" / "mine.json"
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps({"like": "llama", "types": {"mine": {}}, "instead": {"lm_head": []}}))
    tree = make(tmp_path / "tree", a=llama())
    described = json.loads((tree / "a/config.json").read_text())
    (tree / "a/config.json").write_text(json.dumps({**described, "model_type": "mine"}))
    inspector.add_tables(tmp_path / "own")
    scan([tree], tmp_path / "out")
    (row,) = table(tmp_path / "out", "checkpoints")
    assert (row["family"], row["predicted"]) == ("mine", ELEMENTS - 48 * 32)
    own.parent.rename(tmp_path / "gone")
    own.parent.parent.rmdir()
    with pytest.raises(SourceError, match="own is not a folder of tables"):
        scan([tree], tmp_path / "none")
