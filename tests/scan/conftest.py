"""Small trees of checkpoints, and access to the tables that a scan of them writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sparse

if TYPE_CHECKING:
    import inspector

Table = list[dict[str, Any]]


def config(**changed: object) -> dict[str, object]:
    """A Llama of two layers."""
    return {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "num_hidden_layers": 2,
        "vocab_size": 48,
        "torch_dtype": "float16",
        "tie_word_embeddings": False,
        **changed,
    }


def rows(dtype: str = "F16", names: str = "model.layers.{0..1}.", vocabulary: int = 48) -> list[Any]:
    """Its 21 tensors: 2 × (32 × 32 × 2 + 16 × 32 × 2 + 64 × 32 × 3 + 64) + 48 × 32 × 2 + 32 = 21,664 elements."""
    layer = {
        "self_attn.q_proj": [32, 32], "self_attn.k_proj": [16, 32], "self_attn.v_proj": [16, 32], "self_attn.o_proj": [32, 32],
        "mlp.gate_proj": [64, 32], "mlp.up_proj": [64, 32], "mlp.down_proj": [32, 64],
        "input_layernorm": [32], "post_attention_layernorm": [32],
    }  # fmt: skip
    ends = {"model.embed_tokens": [vocabulary, 32], "model.norm": [32], "lm_head": [vocabulary, 32]}
    return [
        (dtype, shape, f"{start}{part}.weight")
        for start, group in ((names, layer), ("", ends))
        for part, shape in group.items()
    ]


def llama(dtype: str = "F16", word: str = "float16", **file: object) -> dict[str, Any]:
    """Its recipe, as `sparse` reads it."""
    return {
        "beside": {"config.json": config(torch_dtype=word)},
        "files": {"model.safetensors": {"tensors": rows(dtype), **file}},
    }


def gguf(dtype: str = "F16") -> dict[str, Any]:
    """The same model in the form of llama.cpp."""
    layer = {"attn_q": [32, 32], "attn_k": [16, 32], "attn_v": [16, 32], "attn_output": [32, 32],
             "ffn_gate": [64, 32], "ffn_up": [64, 32], "ffn_down": [32, 64]}  # fmt: skip
    tensors = [(dtype, shape, f"blk.{{0..1}}.{part}.weight") for part, shape in layer.items()]
    tensors += [("F32", [32], f"blk.{{0..1}}.{part}.weight") for part in ("attn_norm", "ffn_norm")]
    tensors += [
        (dtype, [48, 32], "token_embd.weight"),
        ("F32", [32], "output_norm.weight"),
        (dtype, [48, 32], "output.weight"),
    ]
    numbers = {"block_count": 2, "context_length": 128, "embedding_length": 32, "feed_forward_length": 64,
               "attention.head_count": 4, "attention.head_count_kv": 2, "rope.dimension_count": 8, "vocab_size": 48}  # fmt: skip
    values: list[Any] = [["general.architecture", "string", "llama"], ["tokenizer.ggml.model", "string", "no_vocab"]]
    values += [[f"llama.{name}", "uint32", value] for name, value in numbers.items()]
    values += [["llama.attention.layer_norm_rms_epsilon", "float32", 1e-5]]
    return {"files": {f"tiny-{dtype}.gguf": {"key_values": values, "tensors": tensors}}}


def make(tree: Path, **models: dict[str, Any]) -> Path:
    """Create the folders of a tree, each from its recipe; `a__b` is the folder b in a."""
    for name, recipe in models.items():
        folder = tree / name.replace("__", "/")
        folder.mkdir(parents=True, exist_ok=True)
        sparse.make(recipe, folder)
    return tree


def table(folder: Path, name: str) -> Table:
    """A table of a scan, in the order of its checkpoints."""
    from pyarrow import parquet

    found = [row for path in sorted((folder / name).glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]
    return sorted(found, key=lambda row: (row["checkpoint"], str(row.get("name")), str(row.get("path")), str(row)))


#: Columns that describe the scan rather than the checkpoint.
OF_THE_SCAN = ("scan", "first_scan", "bytes_before")


def tables(folder: Path, *, without: tuple[str, ...] = ()) -> dict[str, Table]:
    """All four tables."""
    return {
        name: [{key: value for key, value in row.items() if key not in without} for row in table(folder, name)]
        for name in ("checkpoints", "files", "tensors", "findings")
    }


@pytest.fixture(scope="session")
def one_cluster() -> Iterator[str]:
    """The address of a scheduler with two workers, for all scans that need no cluster of their own."""
    from distributed import LocalCluster

    from inspector.scanning import engine

    engine._configure()
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        memory_limit=0,
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as cluster:
        yield cluster.scheduler_address


Scan = Callable[..., "inspector.Scan"]


@pytest.fixture
def scan(one_cluster: str) -> Scan:
    """Run a scan on that cluster."""
    import inspector as library

    def run(roots: list[Any], out: Path, **options: Any) -> inspector.Scan:
        return library.scan(roots, out, scheduler=one_cluster, **options)

    return run
