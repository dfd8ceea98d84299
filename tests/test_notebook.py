"""The nouns in Python: short in a traceback, readable in a notebook, exact as a table."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Ran, write
from safetensors.numpy import save_file

import inspector

Made = Callable[[str], Path]


def test_nouns_are_short(made: Made) -> None:
    """The representation of a result is one line, however many tensors it has."""
    checkpoint = inspector.open(made("llama-7b"))
    assert repr(checkpoint) == "<Checkpoint llama-7b: 2 safetensors files, 323 tensors, 13.48 GB>"
    assert repr(checkpoint.files[1]) == "<Header model-00002-of-00002.safetensors: 82 tensors, 3.50 GB>"
    assert repr(checkpoint.index) == "<Index model.safetensors.index.json: 323 tensors>"
    result = inspector.reconcile(checkpoint)
    assert repr(result) == "<Reconciliation llama-7b: 6,738,415,616 parameters, 13.48 GB, 0 bytes unexplained>"
    assert repr(result.prediction) == "<Prediction llama ForCausalLM: 6,738,415,616 parameters in 291 tensors>"
    assert repr(inspector.predict("gpt2").config).startswith("<Config gpt2: ")


def test_results_are_short(made: Made, tmp_path: Path) -> None:
    """Of two models of thousands of tensors: a line, at most 60 lines for a notebook, a table, and the command's text."""
    a, b = made("llama-7b"), made("qwen3-0.6b")
    shown: dict[str, Any] = {
        "<Diff llama-7b → qwen3-0.6b: 379 of 379 tensors differ>": inspector.diff(a, b),  # 323 + 311 − 28 · 9 − 3
        "<Audit of 2 models: 0 errors, 0 warnings, 1 note>": inspector.audit([a, b]),  # a tied head is stored
        "<Memory llama-7b: 15.83 GB at 4,096 tokens by transformers>": inspector.memory("llama-7b", context=4096),
        "<Quants llama-3.1-8b: 37, 23 fit 8GB>": inspector.quants("llama-3.1-8b", gpu="8GB", context=16384),
        "<Models: 2 models, 2 read>": inspector.models(a.parent),
        f"<Folder {a}: 13.48 GB in 4 files: 13.48 GB of weights, 27.05 kB else>": inspector.folder(a),
        "<Results for 2 targets: Checkpoint>": inspector.open([a, b]),
        "<Metadata: 1 key in 2 files>": inspector.metadata(a),
        "<Variants: 1 checkpoint: model>": inspector.variants(a),
    }
    for line, result in shown.items():
        if "Models" not in line:  # of a folder that other tests use, too
            assert repr(result) == line
        assert "\n" not in repr(result) and len(repr(result)) < 200
        assert result._repr_html_().count("\n") <= 60 * (1 + line.startswith("<Results"))
        assert len(result.overview()) > 20
        assert len(result.to_pandas().columns) > 3


PUBLIC = re.findall(r" as (\w+)", Path(inspector.__file__).with_suffix(".pyi").read_text("utf-8"))
#: What no target is given to: names of errors and nouns, tables, versions; and `learn`, `scan`, which ask or write.
OTHERS = {"ROLES", "__version__", "add_tables", "Results", "learn", "scan"}


@pytest.mark.parametrize("verb", sorted(name for name in PUBLIC if name.islower() and name not in OTHERS))
def test_every_verb_takes_one_or_several_and_shows_its_result(verb: str, tmp_path: Path) -> None:
    """As text and as path; a result is a line in a prompt, and has a text, markup and a table; errors are the library's."""
    names = ("model.layers.0.mlp.up_proj.weight", "model.embed_tokens.weight")
    for file, factor in (("a", 1.0), ("b", 1.5)):
        (tmp_path / file).mkdir()
        tensors = {name: factor + np.arange(64, dtype="f4").reshape(8, 8) for name in names}
        save_file(tensors, tmp_path / file / "model.safetensors")
        index = {"metadata": {"total_size": 32}, "weight_map": dict.fromkeys(names, "model.safetensors")}
        (tmp_path / file / "model.safetensors.index.json").write_text(json.dumps(index))
        (tmp_path / file / "config.json").write_text(
            '{"model_type": "gpt2", "n_layer": 1, "n_embd": 8, "n_head": 2, "vocab_size": 9, "n_positions": 4}'
        )
    one, other = tmp_path / "a", tmp_path / "b"
    if verb == "outline":
        one, other = (each / "model.safetensors.index.json" for each in (one, other))
    function, more = getattr(inspector, verb), [str(other)] if verb in ("diff", "parents") else []
    for targets in (one, str(one), [one], (str(one), str(other)), iter([one])):
        result = function(targets, *more)
        assert "\n" not in repr(result) and len(repr(result)) < 300
        assert isinstance(result.overview(), str)
        assert result._repr_html_().startswith("<")
        assert len(result.to_pandas().columns) > 1
        several = not isinstance(targets, (str, Path)) and verb != "audit"
        assert isinstance(result, inspector.Results) == several
    if verb not in ("audit", "folder", "models"):  # which report that there is none
        with pytest.raises(inspector.InspectorError):
            function([one, tmp_path / "nothing.safetensors"], *more)
    with pytest.raises(inspector.InspectorError):
        function("", *more)
    options = signature(function).parameters.values()
    assert not any(each.kind is Parameter.VAR_KEYWORD or each.annotation == "Any" for each in options)


def test_a_comparison_is_with_one(made: Made) -> None:
    with pytest.raises(inspector.UsageError, match="several can only be the first"):
        inspector.diff(made("gpt2"), [made("gpt2"), made("gpt2")])  # type: ignore[call-overload]


def test_a_text_of_a_notebook_is_escaped(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>.weight"
    paths = [
        write(
            tmp_path / f"{each}.safetensors", {name: {"dtype": "U8", "shape": [each], "data_offsets": [0, each]}}, each
        )
        for each in (4, 5)
    ]
    assert "<script" not in inspector.diff(*paths)._repr_html_()


def test_one_target_or_several(made: Made) -> None:
    """As texts or paths, in a list or any iterable; a result of one is what the verb returns, of several a tuple."""
    a, b = made("gpt2"), made("qwen3-0.6b")
    assert inspector.audit(str(a)).counts == inspector.audit([a]).counts
    assert inspector.reconcile(str(a)).logical == inspector.reconcile(inspector.open(a)).logical == 124_439_808
    assert [each.logical for each in inspector.reconcile(map(str, (a, b)))] == [124_439_808, 596_049_920]
    assert [each.parameters for each in inspector.predict(("gpt2", a / "config.json"))] == [124_439_808] * 2
    assert inspector.memory(inspector.open(a), context=64).total == inspector.memory([a, b], context=64)[0].total
    frame = inspector.open([a, b]).to_pandas()
    assert frame.groupby("target")["name"].count().to_dict() == {
        str(a): len(inspector.open(a).tensors),
        str(b): 311,
    }
    with pytest.raises(inspector.TargetError, match=r"nothing\.gguf"):
        inspector.open([a, "nothing.gguf"])


UNREADABLE = [
    "\0",
    "x" * 5000,
    "~nobody-here/x",
    "/dev/null",
    "no/such/file.gguf",
    "a:b:c",
    "s3://",
    "http://",
    "hf://",
]


@pytest.mark.parametrize("verb", ["open", "reconcile", "predict", "memory", "models", "folder", "variants", "audit"])
def test_errors_are_the_librarys_own(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is named, and whatever the system refuses; `folder` and `models` say that there is none."""
    locked = tmp_path / "locked"

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(locked))

    with pytest.raises(inspector.InspectorError, match="the target is empty"):
        getattr(inspector, verb)("")
    for target in UNREADABLE:
        with suppress(inspector.InspectorError):
            getattr(inspector, verb)(target)
    locked.mkdir()
    monkeypatch.setattr(Path, "is_dir", refused)
    monkeypatch.setattr(Path, "exists", refused)
    with suppress(inspector.InspectorError):
        getattr(inspector, verb)(locked / "below")


def test_names_in_a_repr_are_escaped(tmp_path: Path) -> None:
    """The name of a file cannot clear the screen of whoever debugs."""
    path = write(tmp_path / "\x1b[2Jx.safetensors", {"t": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}, 4)
    assert "\x1b" not in repr(inspector.open(path))
    assert "\x1b" not in repr(inspector.open(path).files)


def test_the_overview_is_what_the_command_prints(made: Made, inspect: Callable[..., Ran]) -> None:
    folder = made("gpt2")
    printed = inspect(folder).out.rstrip("\n")
    assert inspector.open(folder).overview() == printed
    assert inspector.reconcile(inspector.open(folder)).overview() == printed
    assert inspector.predict("gpt2").overview() == inspect("predict", "gpt2").out.rstrip("\n")


@pytest.mark.parametrize("noun", ["checkpoint", "result", "prediction"])
def test_a_notebook_shows_a_table_of_roles(made: Made, noun: str) -> None:
    """The verdict is above it, and it has the numbers of the roles."""
    checkpoint = inspector.open(made("llama-7b"))
    shown: dict[str, Any] = {
        "checkpoint": checkpoint,
        "result": inspector.reconcile(checkpoint),
        "prediction": inspector.predict("llama-7b"),
    }
    html = shown[noun]._repr_html_()
    assert len(html) < 20_000
    assert "536,870,912" in html  # q_proj: 32 × 4096 × 4096
    assert ("complete, every byte explained" in html) == (noun != "prediction")


def test_a_notebook_runs_nothing_of_a_file(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>.weight"
    path = write(tmp_path / "x.safetensors", {name: {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}, 4)
    html = inspector.open(path)._repr_html_()
    assert "<script" not in html


def test_tables_hold_what_the_json_holds(made: Made, inspect: Callable[..., Ran]) -> None:
    """Row by row, in pandas, Arrow and Polars; sums are the command's."""
    checkpoint = inspector.open(made("mistral-7b-instruct-v0.2-q4_k_m"))
    rows = inspect(made("mistral-7b-instruct-v0.2-q4_k_m"), "--json", "--tensors").json["tensors"]
    arrow, frame, polars = checkpoint.to_arrow(), checkpoint.to_pandas(), checkpoint.to_polars()
    assert arrow.to_pylist() == rows
    assert frame["parameters"].sum() == polars["parameters"].sum() == 7_241_732_096
    assert frame.loc[frame["role"] == "down_proj"].shape[0] == 32
    assert [list(shape) for shape in frame["shape"]] == [row["shape"] for row in rows]
    assert polars["layer"].null_count() == frame["layer"].isna().sum() == 3


def test_types_are_exact(made: Made) -> None:
    """Unsigned 64-bit sizes, lists for shapes, and null for missing values."""
    import pyarrow as pa

    schema = inspector.open(made("gpt2")).to_arrow().schema
    assert schema.field("bytes").type == schema.field("offset").type == pa.uint64()
    assert schema.field("shape").type == pa.list_(pa.uint64())
    assert schema.field("layer").type == pa.int64()


def test_a_prediction_is_a_table_too() -> None:
    frame = inspector.predict("llama-7b").to_pandas()
    assert sum(rows * columns for rows, columns in (shape for shape in frame["shape"] if len(shape) == 2)) == (
        6_738_415_616 - 65 * 4096
    )


@pytest.mark.parametrize(
    ("library", "method"), [("pandas", "to_pandas"), ("pyarrow", "to_arrow"), ("polars", "to_polars")]
)
def test_a_missing_library_is_reported_in_one_line(
    made: Made, monkeypatch: pytest.MonkeyPatch, library: str, method: str
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, library, None)
    noun: Any = inspector.open(made("gpt2"))
    with pytest.raises(inspector.InspectorError, match=f"^{library} is not installed: `.* install .*{library}"):
        getattr(noun, method)()


def test_tensors_are_found_by_name_and_findings_of_all_models_by_one(made: Made) -> None:
    """The card's shapes of Llama 7B; a slice is a plain tuple. The stranger's template, pickle and cut shard are errors."""
    tensors = inspector.open(made("llama-7b")).tensors
    assert repr(tensors) == "<323 tensors, 13.48 GB>"
    assert tensors["lm_head.weight"].shape == (32000, 4096) == tensors[0].shape
    assert [each.name for each in tensors[:1]] == ["model.embed_tokens.weight"]
    with pytest.raises(KeyError, match=r"lm_head\.bias"):
        tensors["lm_head.bias"]
    findings = inspector.audit([made("llama-7b"), made("stranger")]).findings
    assert {each.rule for each in findings if each.severity == "error"} == {"truncated", "pickle", "template-code"}
