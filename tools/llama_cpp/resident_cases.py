"""The memory that processes of llama.cpp really take → `fixtures/resident_llama_cpp.jsonl`, and how far off ours is.

    python tools/llama_cpp/resident_cases.py [--seed N] [--number N] [--write] [MODEL.gguf…]     # needs xllamacpp

Each model has a process of its own on the CPU: it is loaded as by default, its context is filled with prompts of one batch,
and its resident memory is read (Linux), without that of the program before. Models named are real ones; others are drawn:
layers of Llama with random bytes as weights, 0.1 to 1 GB, of types that the CPU's backend repacks and of others.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

from graphs import Graphs  # noqa: E402
from library import in_child  # noqa: E402
from sparse_gguf import write_gguf  # noqa: E402

import inspector  # noqa: E402
from inspector.sizing.resident import instructions  # noqa: E402

OUT = ROOT / "fixtures" / "resident_llama_cpp.jsonl"
#: Types that are drawn.
TYPES = ("F16", "Q8_0", "Q4_0", "Q4_0", "Q4_K", "Q4_K", "Q6_K", "Q2_K", "F32", "BF16")
TYPES_OF_CACHE = {"f16": 1, "q8_0": 8}


class _Batch(ctypes.Structure):
    """`llama_batch` of llama.h."""

    _fields_ = (
        ("n_tokens", ctypes.c_int32),
        *((name, ctypes.c_void_p) for name in ("token", "embd", "pos", "n_seq_id", "seq_id", "logits")),
    )


def resident() -> int:
    """Bytes of this process."""
    text = Path("/proc/self/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) << 10


def run(path: Path, options: dict[str, Any]) -> dict[str, Any]:
    """MiB of the printed buffers and of the process, once its context is full."""
    graphs = Graphs()
    lib, before = graphs.lib, resident()
    params = lib.llama_model_default_params()
    params.n_gpu_layers = 0
    model = lib.llama_model_load_from_file(str(path).encode(), params)
    loaded = {what: sum(graphs.printed(what)) for what in ("CPU_Mapped model", "CPU_REPACK model")}
    kind, tokens, batch = TYPES_OF_CACHE[options["cache_dtype"]], options["context"], options["batch"]
    context = graphs.context(
        model,
        n_ctx=tokens,
        n_ubatch=batch,
        n_seq_max=1,
        n_outputs_max=1,
        n_outputs_max_per_seq=1,
        type_k=kind,
        type_v=kind,
    )
    lib.llama_batch_get_one.restype = _Batch
    lib.llama_batch_get_one.argtypes = [ctypes.c_void_p, ctypes.c_int32]
    lib.llama_decode.argtypes = [ctypes.c_void_p, _Batch]
    prompt = (ctypes.c_int32 * batch)(*(each % 30 for each in range(batch)))
    for _ in range(tokens // batch):
        assert lib.llama_decode(context, lib.llama_batch_get_one(prompt, batch)) == 0
    printed = {**loaded, **{what: sum(graphs.printed(what)) for what in ("KV", "compute", "output")}}
    return {"printed": printed, "resident": round((resident() - before) / 2**20, 2)}


def drawn(pick: random.Random, path: Path) -> None:
    """A model of random bytes: finite ones, as scales are small numbers of 16 bits."""
    heads, kv, head = pick.choice([8, 12, 16]), pick.choice([1, 2, 4]), pick.choice([64, 128])
    hidden, wide, layers = 256 * pick.randint(4, 7), 256 * pick.randint(12, 20), pick.choice([12, 16])
    words, kind, other = pick.choice([256, 4096, 32000]), pick.choice(TYPES), pick.choice(TYPES)
    pairs = [
        ("general.architecture", "string", "llama"), ("tokenizer.ggml.model", "string", "none"),
        ("llama.context_length", "uint32", 4096), ("llama.embedding_length", "uint32", hidden),
        ("llama.block_count", "uint32", layers), ("llama.feed_forward_length", "uint32", wide),
        ("llama.attention.head_count", "uint32", heads), ("llama.attention.head_count_kv", "uint32", kv),
        ("llama.attention.key_length", "uint32", head), ("llama.attention.value_length", "uint32", head),
        ("llama.attention.layer_norm_rms_epsilon", "float32", 1e-5), ("llama.vocab_size", "uint32", words),
        ("llama.rope.dimension_count", "uint32", head),
    ]  # fmt: skip
    entries = [("token_embd.weight", other, [words, hidden]), ("output_norm.weight", "F32", [hidden])]
    entries += [("output.weight", kind, [words, hidden])] if pick.random() < 0.5 else []
    for at in range(layers):
        entries += [
            (f"blk.{at}.attn_norm.weight", "F32", [hidden]), (f"blk.{at}.ffn_norm.weight", "F32", [hidden]),
            (f"blk.{at}.attn_q.weight", kind, [heads * head, hidden]), (f"blk.{at}.attn_k.weight", kind, [kv * head, hidden]),
            (f"blk.{at}.attn_v.weight", other, [kv * head, hidden]), (f"blk.{at}.attn_output.weight", kind, [hidden, heads * head]),
            (f"blk.{at}.ffn_gate.weight", kind, [wide, hidden]), (f"blk.{at}.ffn_up.weight", kind, [wide, hidden]),
            (f"blk.{at}.ffn_down.weight", other, [hidden, wide]),
        ]  # fmt: skip
    write_gguf(path, pairs, [(dtype, shape, name) for name, dtype, shape in entries])
    size = path.stat().st_size
    with path.open("r+b") as file:  # holes are filled: a page of a hole is a page of the process, too, but of no file
        start = size - sum(each.tensor.nbytes for each in inspector.reconcile(path).tensors)
        file.seek(start // 4096 * 4096 + 4096)
        page = b"\x01" * 4096
        while file.tell() + 4096 <= size:
            file.write(page)


def main() -> None:
    """Measure the named models, or drawn ones."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, default=8)
    parser.add_argument("--write", action="store_true", help="append to the fixture")
    parser.add_argument("model", nargs="*", type=Path)
    given, lines = parser.parse_args(), []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(len(given.model) or given.number):
            pick, path = random.Random(f"{given.seed} {number}"), Path(folder, "model.gguf")
            path = given.model[number] if given.model else path
            if not given.model:
                drawn(pick, path)
            options: dict[str, Any] = {
                "context": pick.choice([256, 512, 1024]),
                "batch": pick.choice([128, 256]),
                "cache_dtype": pick.choice(list(TYPES_OF_CACHE)),
            }
            found = in_child(lambda at=path, asked=options: run(at, asked), 500)
            if not found:
                print(number, "was not run")
                continue
            result = inspector.memory(path, engine="llama.cpp", **options)
            assert result.model.result is not None
            parts = {each.name: each.nbytes / 2**20 for each in result.touched or ()}
            print(
                number,
                f"{sum(parts.values()) / found['resident']:.3f}",
                found,
                {k: round(v, 2) for k, v in parts.items()},
            )
            tensors = [
                each.tensor[:3] for each in sorted(result.model.result.tensors, key=lambda each: each.tensor.offset)
            ]
            lines.append(
                {
                    "name": path.stem,
                    "options": options,
                    "cpu": instructions(),
                    **found,
                    "parts": parts,
                    "tensors": tensors,
                }
            )
    if given.write:
        with OUT.open("a") as file:
            file.writelines(json.dumps(each, separators=(",", ":")) + "\n" for each in lines)


if __name__ == "__main__":
    main()
