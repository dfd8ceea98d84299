"""Object stores through fsspec: a real S3 server on loopback, and fsspec's own memory."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sparse
from loopback import s3

import inspector
from inspector.sources.filesystem import FilesystemPlace

if TYPE_CHECKING:
    from conftest import Ran

Made = Callable[[str], Path]


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A bucket of moto's server with a small model; the environment points every S3 client to it."""
    boto3 = pytest.importorskip("boto3")
    with s3.server() as endpoint, pytest.MonkeyPatch.context() as patch:
        for name, value in {**s3.ENVIRONMENT, "AWS_ENDPOINT_URL": endpoint}.items():
            patch.setenv(name, value)
        client = boto3.client("s3")
        client.create_bucket(Bucket="models")
        folder = sparse.make(small(), tmp_path_factory.mktemp("s3") / "small")
        for path in folder.rglob("*"):
            client.upload_file(str(path), "models", f"zoo/small/{path.name}")
        yield str(folder)


def small() -> dict[str, Any]:
    """A Llama of one layer in two shards."""
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_attention_heads": 4,
        "num_hidden_layers": 1,
        "vocab_size": 1000,
        "torch_dtype": "bfloat16",
    }
    layer = "model.layers.0."
    first = [("embed_tokens", [1000, 64]), *((f"layers.0.self_attn.{name}_proj", [64, 64]) for name in "qkvo")]
    rest = [("mlp.gate_proj", [96, 64]), ("mlp.up_proj", [96, 64]), ("mlp.down_proj", [64, 96])]
    norms = ["input_layernorm", "post_attention_layernorm"]
    second = [
        *(["BF16", shape, f"{layer}{name}.weight"] for name, shape in rest),
        *(["BF16", [64], f"{layer}{name}.weight"] for name in norms),
        ["BF16", [64], "model.norm.weight"],
        ["BF16", [1000, 64], "lm_head.weight"],
    ]
    return {
        "beside": {"config.json": config},
        "files": {
            "model-00001-of-00002.safetensors": {
                "tensors": [["BF16", shape, f"model.{name}.weight"] for name, shape in first]
            },
            "model-00002-of-00002.safetensors": {"tensors": second},
        },
    }


#: Two tables of 1000×64, four projections of 64×64, three of 96×64, three norms of 64.
PARAMETERS = 2 * 1000 * 64 + 4 * 64 * 64 + 3 * 96 * 64 + 3 * 64


@pytest.mark.parametrize(
    "target",
    ["s3://models/zoo/small", "s3://models/zoo/small/", "s3://models/zoo/small/model-00001-of-00002.safetensors"],
)
def test_a_bucket_is_read_as_a_folder_is(bucket: str, target: str) -> None:
    """Files, numbers and explanations are the same; a shard stands for its set there, too."""
    local = inspector.reconcile(inspector.open(bucket))
    remote = inspector.reconcile(inspector.open(target))
    assert remote.logical == local.logical == PARAMETERS
    assert (remote.on_disk, remote.steps, remote.unexplained_bytes) == (local.on_disk, local.steps, 0)
    assert [header.path for header in remote.checkpoint.files] == [header.path for header in local.checkpoint.files]


def test_a_bucket_is_read_by_ranges(bucket: str, inspect: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first bytes of each weight file are read, and the small files."""
    from inspector.sources import filesystem

    monkeypatch.setattr(filesystem, "FIRST", 4096)
    source = inspect("s3://models/zoo/small", "--json").json["source"]
    beside = sum((Path(bucket) / name).stat().st_size for name in ("config.json", "model.safetensors.index.json"))
    assert source["kind"] == "url"
    assert source["location"] == "s3://models/zoo/small"
    assert source["bytes_read"] == beside + 2 * 4096
    assert source["requests"] < 10


@pytest.mark.parametrize(
    "target", ["s3://models/zoo/nothing", "s3://nobody/zoo", "s3://models/zoo/small/x.safetensors"]
)
def test_a_missing_object_is_one_line(bucket: str, inspect: Callable[..., Ran], target: str) -> None:
    ran = inspect(target)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "no such file or folder" in ran.err


def test_the_audit_reads_a_bucket_too(bucket: str, inspect: Callable[..., Ran]) -> None:
    found = inspect("audit", "s3://models/zoo/small", "--json").json
    assert [each["target"] for each in found["checkpoints"]] == ["s3://models/zoo/small"]
    assert found["counts"]["error"] == 0


def test_a_folder_of_models_in_a_store_is_the_table_that_it_is_on_a_disk(
    bucket: str, inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """The rows are the same; each has the URL of its model."""
    import boto3

    narrow = small()
    narrow["beside"]["config.json"]["tie_word_embeddings"] = True
    narrow["files"]["model-00002-of-00002.safetensors"]["tensors"].pop()  # the head
    shelf = {"small": Path(bucket), "tied": sparse.make(narrow, tmp_path / "tied")}
    client = boto3.client("s3")
    for name, folder in shelf.items():
        for path in folder.rglob("*"):
            client.upload_file(str(path), "models", f"shelf/{name}/{path.name}")
    rows = inspect("s3://models/shelf", "--json").json["models"]
    assert [(row["target"], row["parameters"]) for row in rows] == [
        ("s3://models/shelf/small", PARAMETERS),
        ("s3://models/shelf/tied", PARAMETERS - 64_000),
    ]
    lines = inspect("s3://models/shelf").out.splitlines()
    assert lines[0] == "s3://models/shelf"
    assert lines[1].startswith("2 models")
    audited = inspect("audit", "s3://models/shelf", "--json").json
    assert [each["target"] for each in audited["checkpoints"]] == ["s3://models/shelf/small", "s3://models/shelf/tied"]
    assert audited["counts"]["error"] == 0


def test_a_folder_in_memory_has_subfolders(tmp_path: Path) -> None:
    """Any file system of fsspec works; hidden files and folders are left out, as on a disk."""
    import fsspec

    memory = fsspec.filesystem("memory")
    for name in ("unet/model.safetensors", ".hidden/model.safetensors", "unet/.part", "README.md"):
        memory.pipe_file(f"/pipe/{name}", b"x" * len(name))
    place = FilesystemPlace("memory://pipe")
    assert dict(place.files) == {"unet/model.safetensors": 22, "README.md": 9}


def test_a_file_url_is_a_path(made: Made, inspect: Callable[..., Ran], tmp_path: Path) -> None:
    """`file:///a%20b` is `/a b` on this machine."""
    (tmp_path / "a b").symlink_to(made("gpt2"))
    target = f"file://{tmp_path}/a%20b/model.safetensors"
    assert inspect(target, "--json").json["parameters"]["logical"] == 124_439_808
    ran = inspect(f"file://elsewhere{tmp_path}/x")
    assert (ran.code, "on another machine" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("target", "reported"),
    [
        ("warp://models/x", "not known|not in"),
        ("abfs://container/x", r"`.+ install .*'adlfs>=2024.7'`"),
    ],
)
def test_a_scheme_that_cannot_be_opened_says_why(inspect: Callable[..., Ran], target: str, reported: str) -> None:
    import re

    if target.startswith("abfs"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "adlfs", None)
            ran = inspect(target)
    else:
        ran = inspect(target)
    assert ran.code == 2
    assert re.search(reported, ran.err), ran.err


def test_json_is_what_the_disk_gives(bucket: str, inspect: Callable[..., Ran]) -> None:
    """The JSON differs only in the location, and in the account of a folder, which only one on this machine has."""
    here, there = (inspect(target, "--json", "--tensors").json for target in (bucket, "s3://models/zoo/small"))
    for each in (here, there):
        del each["source"], each["target"], each["folder"]
    assert json.dumps(here, sort_keys=True) == json.dumps(there, sort_keys=True)
    assert os.environ["AWS_ENDPOINT_URL"].startswith("http://127.0.0.1:")
