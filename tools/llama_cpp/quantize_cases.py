"""`inspect diff --data` on what llama.cpp's own quantizer makes of drawn tensors: `rounded`, and one spoilt block `different`.

    python tools/llama_cpp/quantize_cases.py SOURCE [--seed N] [--draws 10] [TYPE…]     # needs numpy, gguf and xllamacpp

SOURCE is llama.cpp's. Each draw is a model of Qwen 2's names in F32 or BF16, whose layers have numbers of several
distributions, and a GGUF of the type by `ggml_quantize_chunk`. Then one block of one tensor gets other bytes, and exactly
that tensor must be different. Types of which only a part of the numbers is kept (TQ, Q1_0) say how far they are from the
source; a source of such numbers alone must be rounded.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from library import Library
from numpy.typing import NDArray

import inspector

Numbers = NDArray[np.float32]
#: Weights that special quantizers are made for, of two or three values.
COARSE = {"TQ1_0": (-1, 0, 1), "TQ2_0": (-1, 0, 1), "Q1_0": (-1, 1), "Q2_0": (-1, 0, 1, 2)}
NAMES = ("gate_proj", "up_proj", "down_proj")
FILE = {"gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down"}


def drawn(kind: str, rows: int, columns: int, draw: np.random.Generator) -> Numbers:
    """A random matrix: normal, with few large numbers, sparse, or shifted; with the values of a coarse type."""
    if kind in COARSE:
        scales = np.abs(draw.standard_normal((rows, 1))) + 0.1
        return (draw.choice(COARSE[kind], (rows, columns)) * scales).astype(np.float32)
    values = draw.standard_normal((rows, columns)) * 10.0 ** draw.uniform(-1 if kind == "NVFP4" else -4, 1)
    spread = draw.integers(0, 4)
    if spread == 1:
        values *= np.where(draw.random((rows, columns)) < 0.002, 8.0, 1.0)
    elif spread == 2:
        values *= draw.random((rows, columns)) < 0.5
    elif spread == 3:
        values += np.abs(values).mean() * draw.uniform(-1, 1)
    return values.astype(np.float32)


def quantized(library: Any, number: int, values: Numbers, size: int) -> bytes:
    """The bytes of a matrix in a type, by llama.cpp."""
    out = ctypes.create_string_buffer(size)
    weights = np.ones(values.shape[1], np.float32)  # an importance matrix, without which some types refuse
    written = library.ggml_quantize_chunk(
        number, values.ctypes.data, out, 0, values.shape[0], values.shape[1], weights.ctypes.data
    )
    if written != size:
        raise ValueError(f"{written} bytes, not {size}")
    return out.raw


def saved(folder: Path, tensors: Mapping[str, Numbers], half: bool) -> None:
    """The source: configuration and safetensors, in F32 or BF16 (numbers that BF16 represents)."""
    folder.mkdir()
    rows, columns = tensors["model.layers.0.mlp.gate_proj.weight"].shape
    config = {"model_type": "qwen2", "hidden_size": columns, "intermediate_size": rows, "num_hidden_layers": 2,
              "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 32}  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    entries: dict[str, Any] = {}
    data = b""
    for name, values in tensors.items():
        raw = (values.view(np.uint32) >> 16).astype(np.uint16).tobytes() if half else values.tobytes()
        place = [len(data), len(data) + len(raw)]
        entries[name] = {"dtype": "BF16" if half else "F32", "shape": list(values.shape), "data_offsets": place}
        data += raw
    head = json.dumps(entries).encode()
    (folder / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + data)


def one(library: Any, gguf: Any, kind: Any, seed: int, folder: Path) -> Counter[str]:
    """One draw: the number of tensors of each status, and whether the damaged block was found."""
    draw = np.random.default_rng([seed, int(kind)])
    block, size = gguf.GGML_QUANT_SIZES[kind]
    rows, columns = int(draw.integers(1, 6)) * max(block, 32), int(draw.integers(1, 5)) * max(block, 32)
    half = bool(draw.integers(2))
    sources: dict[str, Numbers] = {}
    path = folder / "model.gguf"
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_block_count(2)
    writer.add_embedding_length(columns)
    writer.add_feed_forward_length(rows)
    writer.add_head_count(4)
    for layer in range(2):
        for name in NAMES:
            shape = (columns, rows) if name == "down_proj" else (rows, columns)
            values = drawn(kind.name, *shape, draw)
            if half:
                values = (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
            sources[f"model.layers.{layer}.mlp.{name}.weight"] = values
            raw = quantized(library, int(kind), values, values.size // block * size)
            stored = np.frombuffer(raw, np.uint8).reshape(shape[0], -1)
            writer.add_tensor(f"blk.{layer}.{FILE[name]}.weight", stored, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    saved(folder / "source", sources, half)
    found = inspector.diff(folder / "source", path, data=True)
    counts = Counter(str(data.status if data else "only one") for data in found.data or ())
    return counts + Counter({f"spoilt {'found' if _is_found(folder / 'source', path, size, seed) else 'missed'}": 1})


def _is_found(source: Path, path: Path, size: int, seed: int) -> bool:
    """Whether a block with other bytes is found, and nothing else."""
    result = inspector.diff(source, path)
    draw = random.Random(seed)
    at = draw.randrange(len(result.pairs))
    side = result.pairs[at].b
    assert side is not None
    tensor = side.tensors[0].tensor
    place = tensor.offset + draw.randrange(tensor.nbytes // size) * size
    with path.open("r+b") as file:
        file.seek(place)
        held = file.read(size)
        file.seek(place)
        file.write(bytes(byte ^ 0x55 for byte in held))
    after = inspector.diff(source, path, data=True).data or ()
    return [number for number, data in enumerate(after) if data and data.status == "different"] == [at]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("types", nargs="*")
    given = parser.parse_intermixed_args()
    sys.path.insert(0, str(given.source / "gguf-py"))
    import gguf

    library = Library().lib
    library.ggml_quantize_chunk.restype = ctypes.c_size_t
    library.ggml_quantize_chunk.argtypes = (
        ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, *(ctypes.c_int64,) * 3, ctypes.c_void_p
    )  # fmt: skip
    plain = {"F64", "I8", "I16", "I32", "I64", "Q8_1", "Q8_K", "F32"}
    for kind in gguf.GGMLQuantizationType:
        if kind.name in plain or (given.types and kind.name not in given.types):
            continue
        counts = Counter[str]()
        for number in range(given.draws):
            with tempfile.TemporaryDirectory() as folder:
                counts += one(library, gguf, kind, given.seed * 1000 + number, Path(folder))
        print(kind.name, dict(counts), flush=True)


if __name__ == "__main__":
    main()
