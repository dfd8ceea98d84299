"""Ollama's store: models by their names, and the audit of their blobs."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import inspector
from inspector.sources.ollama import OllamaPlace, ollama_place

if TYPE_CHECKING:
    from conftest import Ran

Made = Callable[[str], Path]


def blob(store: Path, data: bytes | Path, media: str) -> dict[str, object]:
    """A layer as Ollama stores and describes it."""
    raw = data.read_bytes() if isinstance(data, Path) else data
    digest = hashlib.sha256(raw).hexdigest()
    (store / "blobs").mkdir(parents=True, exist_ok=True)
    (store / "blobs" / f"sha256-{digest}").write_bytes(raw)
    return {"mediaType": f"application/vnd.ollama.image.{media}", "digest": f"sha256:{digest}", "size": len(raw)}


def manifest(store: Path, name: str, *layers: dict[str, object]) -> Path:
    path = store / "manifests" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"schemaVersion": 2, "config": {}, "layers": list(layers)}))
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF file of a few tensors."""
    from gguf import GGUFWriter
    from numpy import zeros

    path = tmp_path_factory.mktemp("gguf") / "small.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_head_count(4)
    writer.add_vocab_size(16)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("no_vocab")
    for tensor, shape in {
        "token_embd.weight": (16, 32),
        "output_norm.weight": (32,),
        "blk.0.attn_norm.weight": (32,),
        "blk.0.attn_q.weight": (32, 32),
        "blk.0.attn_k.weight": (32, 32),
        "blk.0.attn_v.weight": (32, 32),
        "blk.0.attn_output.weight": (32, 32),
        "blk.0.ffn_norm.weight": (32,),
        "blk.0.ffn_gate.weight": (64, 32),
        "blk.0.ffn_up.weight": (64, 32),
        "blk.0.ffn_down.weight": (32, 64),
    }.items():
        writer.add_tensor(tensor, zeros(shape, dtype="float32"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def store(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two models: one from Ollama's library with a template and two licences, one from the Hub."""
    folder = tmp_path / "ollama"
    model = blob(folder, small, "model")
    texts = [
        blob(folder, b"{{ .Prompt }}", "template"),
        blob(folder, b"MIT", "license"),
        blob(folder, b"more", "license"),
    ]
    manifest(folder, "registry.ollama.ai/library/tiny/1b", model, *texts)
    manifest(folder, "hf.co/org/Tiny-GGUF/Q4_K_M", model)
    monkeypatch.setenv("OLLAMA_MODELS", str(folder))
    return folder


#: 16×32 embeddings, 3 norms of 32, 4 projections of 32×32, 3 of 64×32.
PARAMETERS = 16 * 32 + 3 * 32 + 4 * 32 * 32 + 3 * 64 * 32


@pytest.mark.parametrize(
    ("target", "title"),
    [
        ("ollama:tiny:1b", "tiny:1b"),
        ("ollama:library/tiny:1b", "tiny:1b"),
        ("ollama:registry.ollama.ai/library/tiny:1b", "tiny:1b"),
        ("ollama:hf.co/org/Tiny-GGUF:Q4_K_M", "hf.co/org/Tiny-GGUF:Q4_K_M"),
        ("{store}/manifests/registry.ollama.ai/library/tiny/1b", "tiny:1b"),
        ("{store}/blobs/sha256-{digest}", "hf.co/org/Tiny-GGUF:Q4_K_M"),
    ],
)
def test_a_model_goes_by_its_name(store: Path, small: Path, target: str, title: str) -> None:
    """Whatever the form of its name, the name is the title, and the blob is read as the GGUF that it is."""
    digest = hashlib.sha256(small.read_bytes()).hexdigest()
    result = inspector.reconcile(inspector.open(target.format(store=store, digest=digest)))
    assert result.checkpoint.title == title
    assert (result.logical, result.unexplained_bytes) == (PARAMETERS, 0)
    assert result.on_disk == small.stat().st_size


def test_layers_go_by_what_they_are(store: Path) -> None:
    """Two licences are two files."""
    place = ollama_place("tiny:1b")
    assert sorted(place.files) == ["LICENSE-00001-of-00002", "LICENSE-00002-of-00002", "model.gguf", "template.txt"]
    assert place.read_text("template.txt", 100) == "{{ .Prompt }}"


def test_a_name_that_does_not_exist_is_reported_with_those_that_do(store: Path, inspect: Callable[..., Ran]) -> None:
    """Without a tag, `latest` is meant, as in Ollama; the error lists the names that exist."""
    ran = inspect("ollama:tiny")
    assert ran.code == 2
    assert "has no tiny; there is tiny:1b" in ran.err


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "a/b/c/d:e", "tiny:..", "tiny:a b", "tiny:1b/../../x"])
def test_a_malformed_ollama_name_reaches_no_path(store: Path, inspect: Callable[..., Ran], name: str) -> None:
    """A name has words and slashes, and leads nowhere else."""
    ran = inspect(f"ollama:{name}")
    assert ran.code == 2
    assert "is not the name of an Ollama model" in ran.err


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"layers": [{}]}', '{"layers": [{"mediaType": "a", "digest": "sha256:../../x", "size": 1}]}'],
)
def test_a_malformed_manifest_is_one_line(store: Path, inspect: Callable[..., Ran], text: str) -> None:
    (store / "manifests/registry.ollama.ai/library/tiny/1b").write_text(text)
    ran = inspect("ollama:tiny:1b")
    assert ran.code == 2
    assert ran.err.count("\n") == 1


def test_the_store_is_a_table(store: Path, inspect: Callable[..., Ran]) -> None:
    """A line for each model, by name; and the same for scripts."""
    lines = inspect(store).out.splitlines()
    assert lines[1].startswith("2 models, ")
    assert [line.split()[0] for line in lines[4:]] == ["hf.co/org/Tiny-GGUF:Q4_K_M", "tiny:1b"]
    rows = inspect(store, "--json").json["models"]
    assert [(row["name"], row["parameters"], row["complete"]) for row in rows] == [
        ("hf.co/org/Tiny-GGUF:Q4_K_M", PARAMETERS, True),
        ("tiny:1b", PARAMETERS, True),
    ]


def test_a_store_adds_up(store: Path, tmp_path: Path) -> None:
    """Each model under its manifest's path; a blob that two have counts once. So does Ollama's home, above the store."""
    (store / "blobs" / "sha256-partial").write_bytes(bytes(77))
    weights = max(path.stat().st_size for path in (store / "blobs").iterdir())
    account = inspector.folder(store)
    assert account is not None
    files = [path for path in store.rglob("*") if path.is_file()]
    assert (account.size, account.files) == (sum(path.stat().st_size for path in files), len(files))
    assert [(each.name, each.size) for each in account.checkpoints] == [
        ("manifests/hf.co/org/Tiny-GGUF/Q4_K_M", weights),
        ("manifests/registry.ollama.ai/library/tiny/1b", len("{{ .Prompt }}MITmore")),
    ]
    home = tmp_path / ".ollama"
    home.mkdir()
    store.rename(home / "models")
    above = inspector.folder(home)
    assert above is not None
    assert [each.name for each in above.checkpoints] == [f"models/{each.name}" for each in account.checkpoints]
    assert [named.name for named, _ in inspector.models(home)] == ["hf.co/org/Tiny-GGUF:Q4_K_M", "tiny:1b"]
    assert all(inspector.open(home / each.name).files for each in above.checkpoints)


def test_the_audit_compares_blobs_with_their_names(store: Path, inspect: Callable[..., Ran]) -> None:
    """All models of the store; a flipped bit in shared weights is an error of both."""
    sound = inspect("audit", store, "--checksum", "--json")
    assert [(each["target"], each["findings"]) for each in sound.json["checkpoints"]] == [
        ("hf.co/org/Tiny-GGUF:Q4_K_M", []),
        ("tiny:1b", []),
    ]
    weights = max((store / "blobs").iterdir(), key=lambda path: path.stat().st_size)
    raw = bytearray(weights.read_bytes())
    raw[-1] ^= 1
    weights.write_bytes(raw)
    found = inspect("audit", store, "--checksum", "--json")
    assert found.code == 1
    assert [finding["rule"] for each in found.json["checkpoints"] for finding in each["findings"]] == ["checksum"] * 2


@pytest.mark.parametrize("damage", ["gone", "cut"])
def test_the_audit_misses_blobs(store: Path, inspect: Callable[..., Ran], damage: str) -> None:
    """A manifest whose blob is missing, or incomplete."""
    weights = max((store / "blobs").iterdir(), key=lambda path: path.stat().st_size)
    if damage == "gone":
        weights.unlink()
    else:
        weights.write_bytes(weights.read_bytes()[:-100])
    ran = inspect("audit", "ollama:tiny:1b", "--json")
    assert ran.code == 1
    assert "missing-blob" in [finding["rule"] for finding in ran.json["checkpoints"][0]["findings"]]


def test_other_folders_of_blobs_are_not_a_store(store: Path, tmp_path: Path) -> None:
    """The Hub's cache has a folder `blobs`, too."""
    shutil.rmtree(store / "manifests")
    blobs = next(path for path in (store / "blobs").iterdir() if path.stat().st_size > 1000)
    assert inspector.open(blobs).title == blobs.name
    assert not isinstance(inspector.open(blobs), OllamaPlace)
