"""Folders of unrelated models: a table, and folders that are something else."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran, write
from every import every

import inspector
from inspector.opening.named import models_at, unrelated_at

Made = Callable[[str], Path]


def linked(source: Path, folder: Path) -> Path:
    """A folder's files under another name, as links."""
    return shutil.copytree(source, folder, copy_function=lambda a, b: Path(b).hardlink_to(a))


@pytest.fixture
def tree(made: Made, tmp_path: Path) -> Path:
    """Models as stored by LM Studio (publisher, repository, files), and one stored by hand."""
    linked(made("mistral-7b-instruct-v0.2-q4_k_m"), tmp_path / "TheBloke" / "Mistral-GGUF")
    linked(made("llama-3.2-1b-q8_0"), tmp_path / "bartowski" / "Llama-GGUF")
    linked(made("gpt2"), tmp_path / "gpt2")
    return tmp_path


@pytest.mark.parametrize("command", ["memory", "tensors", "values", "metadata", "quants", "diff"])
def test_a_command_about_one_model_does_not_choose_among_several(
    tree: Path, inspect: Callable[..., Ran], command: str
) -> None:
    """`values` would begin to read one of them, however large."""
    ran = inspect(command, tree, *([tree / "gpt2"] if command == "diff" else []))
    assert (ran.code, ran.out) == (2, "")
    assert "holds 3 models that can be read: name one of them" in ran.err and "` lists them" in ran.err


def test_a_command_reads_the_one_that_options_pick(tree: Path, inspect: Callable[..., Ran]) -> None:
    """`wte` of GPT-2 has 50,257 tokens of 768 dimensions."""
    assert "50257×768" in inspect("tensors", tree, "--include", "gpt2/*").out


def test_unrelated_models_are_a_table(tree: Path, inspect: Callable[..., Ran]) -> None:
    """Name, architecture, parameters, type, bits, size, complete."""
    lines = inspect(tree).out.splitlines()
    assert lines[0] == tree.name
    assert lines[1] == "3 models, 6.24 GB; name one to inspect it"
    assert lines[3].split() == ["model", "architecture", "parameters", "type", "bits", "size"]
    cells = [line.split() for line in lines[4:]]
    assert [row[1:] for row in cells] == [
        ["llama", "1.24B", "Q8_0", "8.5", "1.32", "GB", "complete"],
        ["GPT2", "124.44M", "F32", "32", "548.11", "MB", "complete"],
        ["llama", "7.24B", "Q4_K_M", "4.83", "4.37", "GB", "complete"],
    ]


def test_the_same_for_scripts(tree: Path, inspect: Callable[..., Ran]) -> None:
    """Each row has the path that opens its model alone."""
    document = inspect(tree, "--json").json
    assert [row["parameters"] for row in document["models"]] == [1_235_814_400, 124_439_808, 7_241_732_096]
    for row in document["models"]:
        assert inspector.reconcile(inspector.open(row["target"])).logical == row["parameters"]


def test_one_that_is_broken_hides_no_other(tree: Path, inspect: Callable[..., Ran]) -> None:
    (tree / "gpt2" / "model.safetensors").unlink()
    (tree / "gpt2" / "model.safetensors").write_bytes(b"x" * 100)
    lines = inspect(tree).out.splitlines()[4:]
    assert [("complete" in line, "unreadable" in line) for line in lines] == [
        (True, False),
        (False, True),
        (True, False),
    ]


def test_the_hubs_cache_goes_by_repositories(made: Made, tmp_path: Path) -> None:
    commit = "c" * 40
    for name in ("org--one", "org--two"):
        linked(made("gpt2"), tmp_path / f"models--{name}" / "snapshots" / commit)
    assert [each.name for each in models_at(tmp_path)] == [f"org/one@{commit[:12]}", f"org/two@{commit[:12]}"]


def two(
    folder: Path, first: str, second: str, *, tensors: tuple[str, str] = ("t", "t"), beside: tuple[str, ...] = ()
) -> Path:
    for path, tensor in zip((first, second), tensors, strict=True):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write(folder / path, {tensor: {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}, 4)
    for path in beside:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("{}")
    return folder


@every(
    ("first", "second", "beside"),
    [
        ("model.safetensors", "model.fp16.safetensors", ()),
        ("model.safetensors", "consolidated.safetensors", ()),
        ("model.safetensors", "checkpoint-500/model.safetensors", ()),
        ("checkpoint-500/model.safetensors", "checkpoint-1000/model.safetensors", ()),
        ("unet/model.safetensors", "vae/model.safetensors", ("model_index.json",)),
        ("model.safetensors", "2_Dense/model.safetensors", ("modules.json",)),
        ("model.safetensors", "draft/model.safetensors", ()),
        ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", ()),
    ],
)
def test_files_of_one_model_are_not_unrelated(tmp_path: Path, first: str, second: str, beside: tuple[str, ...]) -> None:
    """Precisions, layouts, a run's checkpoints, a pipeline's parts, a draft, shards."""
    assert unrelated_at(two(tmp_path, first, second, beside=beside)) == ()


def test_loose_files_are_pieces_unless_they_share_a_name(tmp_path: Path) -> None:
    """A tensor is in one piece only: two files that both have it are two models."""
    assert models_at(two(tmp_path / "pieces", "a.safetensors", "b.safetensors", tensors=("t", "u"))) == ()
    found = models_at(two(tmp_path / "models", "a.safetensors", "b.safetensors"))
    assert [Path(each.target).name for each in found] == ["a.safetensors", "b.safetensors"]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_table_fits(tree: Path, columns: int) -> None:
    """It fits into any terminal."""
    from inspector import api
    from inspector.report import models

    assert max(map(len, models.lines("models", api.models(tree), columns).splitlines())) <= columns


INDEXES = Path(__file__).parents[1] / "fixtures" / "real"


def index_alone(folder: Path, name: str) -> Path:
    """A real index with its configuration, and none of its files."""
    index = next((INDEXES / "index").glob(f"{name}*"))
    (folder / "config.json").write_bytes(next((INDEXES / "config").glob(f"{name}*")).read_bytes())
    path = folder / index.name.rpartition("__")[2]
    path.write_bytes(index.read_bytes())
    return path


def test_an_index_alone_shows_what_it_can(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """Mistral's Devstral: 363 tensors, whose predicted bytes are those that the index claims."""
    path = index_alone(tmp_path, "fetchwiki+mistralai-Devstral")
    document = inspect(path, "--json").json
    assert document["index"] == {"path": path.name, "files": 10, "tensors": 363, "total_size": 47_144_806_400}
    assert document["parameters"]["predicted"] * 2 == document["bytes"]["predicted"] == 47_144_806_400
    assert (document["absent"], document["surplus"]) == ([], [])
    shown = inspect(path).out
    assert "as total_size says" in shown
    lines = shown.splitlines()
    assert lines[1].startswith(
        "incomplete: an index alone: 363 tensors in 10 files, none of which is present; 47.14 GB"
    )
    assert lines[-2] == "47.14  GB by its total_size, every byte explained"
    assert ["attention", "160"] in [
        [line.split()[0], line.split()[-1]] for line in lines if line
    ]  # 4 in each of 40 layers
    assert "input_layernorm" in inspect(path, "--full").out


@every("index", sorted(path.name for path in (INDEXES / "index").iterdir()))
def test_an_index_alone_is_one_screen(index: str, tmp_path: Path) -> None:
    """Of whatever model, with or without its configuration: 80 columns, the state in the second line."""
    from inspector.report import outline

    path = tmp_path / index.rpartition("__")[2]
    path.write_bytes((INDEXES / "index" / index).read_bytes())
    for config in (INDEXES / "config").glob(f"{index.partition('__')[0]}__config.json"):
        (tmp_path / "config.json").write_bytes(config.read_bytes())
    lines = outline.lines(str(path), inspector.outline(path), 80).split("\n")
    assert len(lines) <= 23 and max(map(len, lines)) <= 80
    assert lines[1].startswith("incomplete: an index alone: ")


def test_an_index_of_another_model_is_reported(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """A tensor that it lacks, and one that nothing predicts."""
    import json

    path = index_alone(tmp_path, "fetchwiki+mistralai-Devstral")
    document = json.loads(path.read_text())
    weights = document["weight_map"]
    weights["model.layers.0.self_attn.x_proj.weight"] = weights.pop("model.layers.3.self_attn.q_proj.weight")
    path.write_text(json.dumps(document))
    found = inspect(path, "--json").json
    assert found["absent"] == ["model.layers.3.self_attn.q_proj.weight"]
    assert found["surplus"] == ["model.layers.0.self_attn.x_proj.weight"]


def test_an_index_of_pickles_without_a_configuration_has_names(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    path = index_alone(tmp_path, "drcege+RedPajama")
    (tmp_path / "config.json").unlink()
    out = inspect(path).out
    assert "484 tensors in 2 files, none of which is present" in out
    assert "qkv_proj" in out


def test_a_training_run_without_a_configuration_is_still_a_model(tmp_path: Path) -> None:
    """An optimizer's moments have the shapes of weights, but the model is identified by the weights alone."""
    from test_filesystem import PARAMETERS, small

    layers = [entry for file in small()["files"].values() for entry in file["tensors"]]
    entries = {name: {"dtype": dtype, "shape": shape} for dtype, shape, name in layers}
    for moment in ("exp_avg", "exp_avg_sq"):
        for at, (dtype, shape, _) in enumerate(layers):
            entries[f"optimizer.state.{at}.{moment}"] = {"dtype": dtype, "shape": shape}
    end = 0
    for entry in entries.values():
        size = 2 * entry["shape"][0] * (entry["shape"][1] if len(entry["shape"]) == 2 else 1)
        entry["data_offsets"], end = [end, end + size], end + size
    result = inspector.reconcile(inspector.open(write(tmp_path / "run.safetensors", entries, end)))
    assert result.prediction is not None
    assert result.prediction.parameters == result.logical == PARAMETERS
    assert {step.cause: step.bytes for step in result.steps}["training_state"] == 2 * 2 * PARAMETERS
