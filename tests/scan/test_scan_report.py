"""Reports on the tables: sums, broken checkpoints, duplicates, derived and new ones; SQL that can only read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyarrow import parquet
from test_diff_data import in_gguf, saved
from test_parents import BASE, ONE, WORDS, model

from inspector.errors import TargetError, UsageError
from inspector.scanning.queries import QUERIES, ask, report
from scan.conftest import Scan, gguf, llama, make, rows

if TYPE_CHECKING:
    from conftest import Ran

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory, one_cluster: str) -> Path:
    """A store of ten checkpoints, each of which is in some report; a second scan finds two more."""
    import inspector

    home = tmp_path_factory.mktemp("zoo")
    tree = make(
        home / "tree", plain=llama(), copy=llama(), bf16=llama("BF16", "bfloat16"), cut=llama(cut=5), quant=gguf()
    )
    adapter = {"peft_type": "LORA", "r": 2, "target_modules": ["q_proj"], "base_model_name_or_path": "tree/plain"}
    pair = [("F32", [2, 32], "base_model.model.model.layers.{0..1}.self_attn.q_proj.lora_A.weight"),
            ("F32", [32, 2], "base_model.model.model.layers.{0..1}.self_attn.q_proj.lora_B.weight")]  # fmt: skip
    make(
        tree,
        lora={"beside": {"adapter_config.json": adapter}, "files": {"adapter_model.safetensors": {"tensors": pair}}},
    )
    evil = make(tree, evil=llama()) / "evil"
    (evil / "training_args.bin").write_bytes(b"cposix\nsystem\n(S'true'\ntR.")
    (tree / "page").mkdir()
    (tree / "page/model.safetensors").write_text("<!DOCTYPE html><html></html>")
    for commit, size in (("a" * 40, 48), ("b" * 40, 48)):
        cached(tree, "org/base" if commit[0] == "a" else "org/tuned", commit, llama_of(size), commit[0] * 64)
    out = home / "out"
    inspector.scan([tree], out, scheduler=one_cluster)
    make(tree, new=llama(), more=llama("F32", "float32"))
    inspector.scan([], out, resume=True, scheduler=one_cluster)
    return out


def llama_of(vocabulary: int) -> dict[str, Any]:
    return {**llama(), "files": {"model.safetensors": {"tensors": rows(vocabulary=vocabulary)}}}


def cached(tree: Path, repository: str, commit: str, recipe: dict[str, Any], digest: str) -> None:
    """A snapshot in the Hub's cache, whose weights' blob is named by a digest."""
    store = tree / "hub" / f"models--{repository.replace('/', '--')}"
    snapshot = store / "snapshots" / commit
    make(snapshot.parent, **{commit: recipe})
    (store / "blobs").mkdir()
    (snapshot / "model.safetensors").rename(store / "blobs" / digest)
    (snapshot / "model.safetensors").symlink_to(f"../../blobs/{digest}")


def last(targets: list[str]) -> list[str]:
    return sorted(Path(target).name for target in targets)


def answered(out: Path, name: str) -> list[dict[str, Any]]:
    found = ask(out, name)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_sums(zoo: Path) -> None:
    """12 checkpoints: 8 safetensors of Llama beside a GGUF, an adapter, a page and one that is cut."""
    (total,) = answered(zoo, "total")
    assert (total["checkpoints"], total["broken"], total["unreadable"]) == (12, 3, 1)
    by_format = {row["format"]: row["checkpoints"] for row in answered(zoo, "formats")}
    assert by_format["gguf"] == 1
    by_dtype = {row["dtype"]: row["checkpoints"] for row in answered(zoo, "dtypes")}
    assert by_dtype["BF16"] == 1
    assert by_dtype["F32"] == 2  # the adapter is the other one
    assert {row["family"] for row in answered(zoo, "families")} >= {"llama"}
    (small,) = answered(zoo, "sizes")
    assert small["parameters"] == "below 100M"


def test_broken_and_unsafe(zoo: Path) -> None:
    assert {row["rule"]: last([row["example"]]) for row in answered(zoo, "broken")}["truncated"] == ["cut"]
    assert [(row["rule"], last([row["example"]])) for row in answered(zoo, "unsafe")] == [("pickle", ["evil"])]
    assert [Path(row["target"]).name for row in answered(zoo, "unreadable")] == ["page"]


def test_twice(zoo: Path) -> None:
    """Copies are found by their tensors; one model in F16, BF16, F32 and as a GGUF by the roles of its tensors."""
    (same,) = [row for row in answered(zoo, "same_tensors") if row["dtype"] == "F16"]
    assert same["checkpoints"] == 7  # plain, copy, cut, evil, new and two in the cache
    (model,) = answered(zoo, "same_model")
    assert model["formats"] == ["gguf", "safetensors"]
    assert model["dtypes"] == ["BF16", "F16", "F32"]
    assert model["checkpoints"] >= 9


def test_derived(zoo: Path) -> None:
    """The adapter names its base, which is there; two models in the cache have one shape and two contents."""
    (lora,) = answered(zoo, "derived")
    assert (last([lora["target"]]), lora["base"], last([lora["found"]])) == (["lora"], "tree/plain", ["plain"])
    (tuned,) = answered(zoo, "fine_tunes")
    assert (tuned["checkpoints"], tuned["contents"]) == (2, 2)
    assert answered(zoo, "same_data") == []


def test_the_same_content_twice(tmp_path: Path, scan: Scan) -> None:
    for name in ("org/one", "org/two"):
        cached(tmp_path / "tree", name, "c" * 40, llama(), "d" * 64)
    scan([tmp_path / "tree"], tmp_path / "out")
    (same,) = answered(tmp_path / "out", "same_data")
    assert (same["checkpoints"], same["bytes_again"]) == (2, same["bytes_each"])
    (file,) = [row for row in answered(tmp_path / "out", "same_files") if row["path"] == "model.safetensors"]
    assert file["digest"] == f"sha256:{'d' * 64}"


def test_families(tmp_path: Path, scan: Scan, inspect: Callable[..., Ran]) -> None:
    """Models with values in common; a stranger of the same shapes is in no family, and shapes alone are shown no more."""
    for name, tensors in {"base": BASE, "tuned": ONE, "stranger": model(9)}.items():
        saved(tmp_path / "tree" / name, tensors, WORDS)
    in_gguf(tmp_path / "tree" / "base.gguf", BASE)
    scan([tmp_path / "tree"], tmp_path / "out")
    sections = inspect("scan", "--report", tmp_path / "out", "--json").json
    (family,) = sections["relatives"]
    assert (family["checkpoints"], family["same_values"], family["near"]) == (3, 2, 1)
    assert "stranger" not in "".join(family["targets"])
    assert "same_model" not in sections
    assert "Families: related by samples of their values" in inspect("scan", "--report", tmp_path / "out").out


def test_grown(zoo: Path) -> None:
    (grown,) = answered(zoo, "grown")
    files = [zoo.parent / "tree" / name / "model.safetensors" for name in ("new", "more")]
    assert (grown["new"], grown["changed"], grown["bytes_more"]) == (2, 0, sum(path.stat().st_size for path in files))


@pytest.mark.parametrize("name", QUERIES)
def test_each_named_query_is_answered(name: str, zoo: Path) -> None:
    assert ask(zoo, name).columns


@pytest.mark.parametrize(
    "query",
    [
        "COPY checkpoints TO 'stolen.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_text('/etc/passwd')",
        "ATTACH 'other.db'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SELECT 1; SELECT 2",
        "DROP VIEW checkpoints",
        "CREATE TABLE t AS SELECT 1",
        "SELECT * FROM nothing",
        "SELEC",
        "",
    ],
)
def test_sql_reads_the_tables_and_nothing_else(
    query: str, zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError):
        ask(zoo, query)
    assert not [*tmp_path.iterdir()]


def test_variables_of_this_program_are_not_tables(zoo: Path) -> None:
    """DuckDB would read a data frame in the caller's variables as a table."""
    import pyarrow as pa

    secret = pa.table({"x": [1]})
    assert secret.num_rows == 1
    with pytest.raises(UsageError, match="does not exist"):
        ask(zoo, "SELECT * FROM secret")


def test_too_many_rows(zoo: Path) -> None:
    with pytest.raises(UsageError, match="more than 100,000 rows"):
        ask(zoo, "SELECT * FROM range(200000)")


def test_a_folder_that_is_not_a_scan(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="is not a scan's folder"):
        report(tmp_path)


def test_a_report_is_one_screen_of_a_terminal(zoo: Path) -> None:
    """What is wrong first; the tables that do not fit are counted. A pipe has them all."""
    from inspector.report import scan as text

    found = report(zoo)
    shown = text.lines(found, str(zoo), 80).split("\n")
    assert len(shown) <= text.HEIGHT and "Broken: rules with errors" in shown
    assert max(map(len, shown)) <= 80  # the terminal makes no two lines of one
    whole = text.lines(found, str(zoo)).split("\n")
    left = sum(line in text.TITLES.values() for line in whole) - sum(line in text.TITLES.values() for line in shown)
    assert shown[-1] == f"… {left} more tables: --wide" and left > 1


def test_the_command(zoo: Path, inspect: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, JSON, CSV and tabulate's forms."""
    ran = inspect("scan", "--report", zoo)
    assert (ran.code, ran.err) == (0, "")
    title, verdict, *_ = ran.out.splitlines()
    assert (title, verdict.partition(",")[0]) == (str(zoo), "damaged: 12 checkpoints")
    assert ran.out.index("Broken: ") < ran.out.index("Unreadable") < ran.out.index("By format")
    assert f"targets are below {zoo.parent}/tree/" in ran.out
    assert "█" in next(line for line in ran.out.splitlines() if line.startswith("safetensors  "))
    assert "since scan 1: +2 checkpoints" in ran.out
    document = inspect("scan", "--report", zoo, "--json").json
    assert (document["total"]["checkpoints"], document["scans"][-1]["number"]) == (12, 2)
    query = "SELECT format, count(*) AS n FROM checkpoints WHERE format = 'gguf' GROUP BY 1"
    assert inspect("scan", "--sql", query, zoo).out == "format  n\ngguf    1\n"
    assert inspect("scan", "--sql", query, zoo, "--csv").out == "format,n\ngguf,1\n"
    assert inspect("scan", "--sql", query, zoo, "--json").json["rows"] == [{"format": "gguf", "n": 1}]
    assert "| gguf" in inspect("scan", "--sql", query, zoo, "--format", "github").out
    assert inspect("scan", "--sql", query, zoo, "--jsonl").out == '{"format": "gguf", "n": 1}\n'
    assert "same_model" in inspect("scan", "--queries").out
    assert inspect("scan", "--report", zoo, "--html", zoo.parent / "page.html").code == 0
    page = (zoo.parent / "page.html").read_text(encoding="utf-8")
    assert "Equal shapes in several formats or types (values were not compared)" in page
    assert "12 checkpoints" in page
    assert json.loads((zoo / "scan.json").read_text())["tables"] == 1


def test_a_query_has_types_as_its_values(zoo: Path, inspect: Callable[..., Ran], tmp_path: Path) -> None:
    """Sums beyond 63 bits stay whole, negative numbers have a sign, lists are lists, dates are text."""
    query = "SELECT 18446744073709551615::HUGEINT AS n, -1 AS m, [1, 2] AS l, 1.5::DECIMAL(4, 2) AS d, DATE '2026-01-02' AS t"
    assert not inspect("scan", "--sql", query, zoo, "--parquet", tmp_path / "rows.parquet").err
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert table.to_pylist() == [{"n": 2**64 - 1, "m": -1, "l": [1, 2], "d": 1.5, "t": "2026-01-02"}]
    assert [str(field.type).partition("<")[0] for field in table.schema] == [
        "uint64",
        "int64",
        "list",
        "double",
        "string",
    ]


@pytest.mark.parametrize(
    ("arguments", "stated"),
    [
        ((), "--out DIR, --report DIR, --sql QUERY or --watch"),
        (("--out", "a", "--report", "b"), "choose what to do: --out"),
        (("--out", "{tmp}/out"), "name what to scan"),
        (("--sql", "SELECT 1"), "one folder of tables"),
        (("--sql", "SELECT 1", "{tmp}"), "is not a scan's folder"),
        (("--watch",), "name the folder to watch"),
        (("--watch", "{tmp}/absent"), "is not a folder to watch"),
        (("--report", "{tmp}", "--csv"), "only --sql returns rows"),
        (("--report", "{tmp}"), "is not a scan's folder"),
    ],
)
def test_misuse_is_one_line(
    arguments: tuple[str, ...], stated: str, tmp_path: Path, inspect: Callable[..., Ran]
) -> None:
    ran = inspect("scan", *(each.replace("{tmp}", str(tmp_path)) for each in arguments))
    assert ran.code == 2
    assert stated in ran.err
    assert ran.err.count("\n") == 1


def test_a_bill_of_materials_when_it_ends_and_later_from_its_tables(
    scan: Scan, inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """The same bytes; 21,664 parameters; what could not be read is stated."""
    pytest.importorskip("cyclonedx")
    make(tmp_path, m=llama())
    own, tables, later = (tmp_path / name for name in ("own.cdx.json", "tables", "later.cdx.json"))
    scan([tmp_path / "m", tmp_path / "absent"], tables, sbom=own)
    assert inspect("scan", "--report", tables, "--sbom", later).code == 0
    assert later.read_bytes() == own.read_bytes()
    document = json.loads(later.read_text())
    (component,) = document["components"]
    facts = {each["name"].partition(":")[2]: each["value"] for each in component["properties"]}
    assert (component["name"], facts["parameters"], facts["family"]) == (str(tmp_path / "m"), "21664", "llama")
    (failed,) = document["metadata"]["properties"]
    assert failed["value"].startswith(f"{tmp_path / 'absent'}: ")
    assert inspect("scan", "--sql", "broken", tables, "--sbom", later).code == 2
