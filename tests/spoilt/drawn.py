"""A small random Llama: its numbers, how they are stored, and where they lie in the file."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


Tensors = dict[str, Array]


BF16 = np.dtype([("bf16", "<u2")])


WORDS = {np.dtype("f4"): "F32", np.dtype("f2"): "F16", np.dtype("u1"): "U8", np.dtype("i4"): "I32", np.dtype("i8"): "I64",
         np.dtype("?"): "BOOL", BF16: "BF16", np.dtype("i1"): "I8"}  # fmt: skip


def bf16(values: Array) -> Array:
    return (values.astype("<f4").view("<u4") + 0x8000 >> 16).astype("<u2").view(BF16)


class Drawn:
    """A random model: its numbers, how they are stored, and where they lie."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.draw = np.random.default_rng(seed)
        self.folder = folder
        self.layers = int(self.draw.integers(3, 7))
        self.hidden = int(self.draw.choice([64, 96, 128]))
        self.inner, self.vocabulary = self.hidden * 3 - 8, int(self.draw.choice([512, 1000, 1024]))
        self.dtype = str(self.draw.choice(["BF16", "BF16", "F16", "F32"]))
        self.deviation = float(self.draw.uniform(0.01, 0.05))
        self.tensors: Tensors = self.llama()
        self.kept: dict[str, Array] = {}  # tensors with a dtype of their own
        self.config: dict[str, Any] = {
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": self.hidden,
            "intermediate_size": self.inner, "num_hidden_layers": self.layers, "num_attention_heads": 4,
            "num_key_value_heads": 4, "vocab_size": self.vocabulary, "tie_word_embeddings": False,
        }  # fmt: skip

    def normal(self, *shape: int) -> Array:
        return self.draw.normal(0, self.deviation * self.draw.uniform(0.6, 1.6), shape).astype(np.float32)

    def llama(self) -> Tensors:
        h, i, made = self.hidden, self.inner, {"model.embed_tokens.weight": self.normal(self.vocabulary, self.hidden)}
        for layer in range(self.layers):
            stem = f"model.layers.{layer}."
            for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
                made[f"{stem}self_attn.{name}.weight"] = self.normal(h, h)
            made |= {f"{stem}mlp.{name}.weight": self.normal(i, h) for name in ("gate_proj", "up_proj")}
            made[f"{stem}mlp.down_proj.weight"] = self.normal(h, i)
            for name in ("input_layernorm", "post_attention_layernorm"):
                made[f"{stem}{name}.weight"] = self.draw.normal(0.5 + 0.1 * layer, 0.05, h).astype(np.float32)
        made["model.norm.weight"] = self.draw.normal(2, 0.1, h).astype(np.float32)
        made["lm_head.weight"] = self.normal(self.vocabulary, h)
        return made

    def some(self, *ends: str) -> str:
        """A random tensor's name among those with one of these endings."""
        return str(self.draw.choice([name for name in self.tensors if name.endswith(ends or MATRICES)]))

    def some_kept(self, end: str) -> str:
        return str(self.draw.choice([name for name in self.kept if name.endswith(end)]))

    # --- files ------------------------------------------------------------------------------------

    def stored(self, name: str) -> Array:
        if name in self.kept:
            return self.kept[name]
        values = self.tensors[name]
        with np.errstate(over="ignore"):
            return bf16(values) if self.dtype == "BF16" else values.astype("<f2" if self.dtype == "F16" else "<f4")

    def save(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "config.json").write_text(json.dumps(self.config))
        self.path = self.folder / "model.safetensors"
        self.places = safetensors(self.path, {name: self.stored(name) for name in {**self.tensors, **self.kept}})

    def data(self) -> memoryview:
        """The file's bytes, to be changed in place."""
        if not hasattr(self, "path"):
            self.save()
        self.raw = bytearray(self.path.read_bytes())
        return memoryview(self.raw)

    def put(self) -> None:
        self.path.write_bytes(self.raw)

    def spot(self, size: int, align: int = 1, within: str | None = None) -> int:
        """A random place within a matrix for damage of this many bytes."""
        big = [name for name in self.places if name.endswith(MATRICES) and self.places[name][1] >= size + 2 * align]
        start, length = self.places[within or str(self.draw.choice(big))]
        at = int(self.draw.integers(start, start + length - size - align + 1))
        return -(-at // align) * align


MATRICES = ("_proj.weight", "embed_tokens.weight", "lm_head.weight", ".qweight", "attn_q.weight", "ffn_down.weight")


def safetensors(path: Path, tensors: Tensors) -> dict[str, tuple[int, int]]:
    """A file, and where each tensor lies."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    places, end = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": WORDS[values.dtype], "shape": values.shape, "data_offsets": [end, end + values.nbytes]}
        places[name] = (end, values.nbytes)
        end += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(each.tobytes() for each in tensors.values()))
    return {name: (at + 8 + len(text), size) for name, (at, size) in places.items()}
