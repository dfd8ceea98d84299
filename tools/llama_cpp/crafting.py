"""GGUF files that a writer would not write: any key-value, any tensor, any head, in a file of zeros.

    craft = Craft(pairs, entries)
    craft.pairs[3].kind = "float64"
    craft.write(path)

A tokenizer of each kind is made for a number of tokens.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from inspector.formats.ggml import TYPES

#: Value type → (id, `struct` code).
KINDS = {
    "uint8": (0, "B"), "int8": (1, "b"), "uint16": (2, "H"), "int16": (3, "h"), "uint32": (4, "I"), "int32": (5, "i"),
    "float32": (6, "f"), "bool": (7, "B"), "string": (8, ""), "uint64": (10, "Q"), "int64": (11, "q"),
    "float64": (12, "d"),
}  # fmt: skip
CODES = {each.name: code for code, each in TYPES.items()}
#: Bytes of the longest file, which is sparse: a tensor may claim any size.
MOST = 1 << 30
SIZES = {each.name: (each.block, each.nbytes) for each in TYPES.values()}


@dataclass
class Pair:
    """A key-value: a value of this kind, or a list of such items."""

    key: str | bytes
    kind: str
    value: Any

    @property
    def listed(self) -> bool:
        return isinstance(self.value, list)


@dataclass
class Entry:
    """A tensor: dimensions row-major. `moved` bytes are added to its offset; `code` replaces its type's."""

    dtype: str
    shape: list[int]
    name: str | bytes
    moved: int = 0
    code: int | None = None

    @property
    def nbytes(self) -> int:
        block, size = SIZES[self.dtype]
        return max(0, prod(self.shape)) // block * size


@dataclass
class Craft:
    """A file to be written."""

    pairs: list[Pair]
    entries: list[Entry]
    alignment: int = 32
    magic: bytes = b"GGUF"
    version: int = 3
    order: str = "<"
    more_tensors: int = 0
    more_pairs: int = 0
    tail: int = 0  # bytes more, or fewer, at the end
    flips: list[tuple[int, int]] = field(default_factory=list)
    beside: dict[str, bytes] = field(default_factory=dict)
    name: str = "model.gguf"

    def find(self, key: str) -> Pair | None:
        """A key-value by its key, with or without the architecture's prefix."""
        own = f"{self.architecture}.{key}"
        return next((each for each in self.pairs if each.key in (key, own)), None)

    def put(self, key: str, kind: str, value: Any) -> None:
        """Set a key-value, or add it."""
        if (found := self.find(key)) is not None:
            found.kind, found.value = kind, value
        else:
            self.pairs.append(Pair(key, kind, value))

    @property
    def architecture(self) -> str:
        found = next((each.value for each in self.pairs if each.key == "general.architecture"), "")
        return found if isinstance(found, str) else ""

    def write(self, folder: Path) -> Path:
        """Write the file, and those beside it."""
        path = folder / self.name
        for name, data in self.beside.items():
            (folder / name).write_bytes(data)
        head = bytearray(self.header())
        for at, byte in self.flips:
            head[at % len(head)] = byte
        end = self._end()
        with path.open("wb") as out:
            out.write(head)
            whole = (
                -(-len(head) // max(1, self.alignment)) * max(1, self.alignment) + end if self.entries else len(head)
            )
            out.truncate(min(MOST, max(0, whole + self.tail)))
        return path

    def _end(self) -> int:
        step = max(1, self.alignment)
        return sum(-(-each.nbytes // step) * step for each in self.entries)

    def header(self) -> bytes:
        """All bytes before the data."""
        order, step = self.order, max(1, self.alignment)
        counts = (len(self.entries) + self.more_tensors) % 2**64, (len(self.pairs) + self.more_pairs) % 2**64
        out = self.magic + struct.pack(f"{order}IQQ", self.version, *counts)
        for each in self.pairs:
            out += self._text(each.key) + self._value(each)
        at = 0
        for entry in self.entries:
            shape = entry.shape[::-1]
            code = CODES[entry.dtype] if entry.code is None else entry.code
            sizes = struct.pack(f"{order}I{len(shape)}q", len(shape), *shape)
            out += self._text(entry.name) + sizes + struct.pack(f"{order}IQ", code, (at + entry.moved) % 2**64)
            at += -(-entry.nbytes // step) * step
        return out

    def _text(self, text: str | bytes) -> bytes:
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        return struct.pack(f"{self.order}Q", len(data)) + data

    def _value(self, pair: Pair) -> bytes:
        code, _ = KINDS[pair.kind]
        if not pair.listed:
            return struct.pack(f"{self.order}I", code) + self._item(pair.kind, pair.value)
        head = struct.pack(f"{self.order}IIQ", 9, code, len(pair.value))
        return head + b"".join(self._item(pair.kind, each) for each in pair.value)

    def _item(self, kind: str, value: Any) -> bytes:
        if kind == "string":
            return self._text(value)
        return struct.pack(self.order + KINDS[kind][1], value)


# --- tokenizers -------------------------------------------------------------------------------------

#: Kinds of llama.cpp's tokenizers, with the pre-tokenizer that each may name.
TOKENIZERS = ("none", "no_vocab", "llama", "gpt2", "bert", "t5", "rwkv", "plamo2", "gemma4")
_BYTES = [f"<0x{number:02X}>" for number in range(256)]


def _letters() -> list[str]:
    """The characters that stand for bytes in GPT-2's tokenizer."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spare = iter(range(256, 512))
    return [chr(byte if byte in plain else next(spare)) for byte in range(256)]


def tokenizer(model: str, tokens: int) -> list[Pair]:
    """The key-values of a tokenizer with as many tokens."""
    pairs = [Pair("tokenizer.ggml.model", "string", model)]
    if model in ("none", "no_vocab"):
        return [*pairs, Pair("vocab_size", "uint32", tokens)]
    words, types, scores = _vocabulary(model)
    filler = [f"w{number}" for number in range(max(0, tokens - len(words)))]
    words, types = (words + filler)[:tokens], (types + [1] * len(filler))[:tokens]
    pairs.append(Pair("tokenizer.ggml.tokens", "string", words))
    if scores:
        pairs.append(Pair("tokenizer.ggml.scores", "float32", [-float(number) for number in range(tokens)]))
    pairs.append(Pair("tokenizer.ggml.token_type", "int32", types))
    if model in ("gpt2", "gemma4"):
        pairs.append(Pair("tokenizer.ggml.merges", "string", [f"{words[5]} {words[6]}", f"{words[7]} {words[8]}"]))
    if model == "gpt2":
        pairs.append(Pair("tokenizer.ggml.pre", "string", "qwen2"))
    for at, name in enumerate(("bos", "eos", "unknown", "padding")):
        pairs.append(Pair(f"tokenizer.ggml.{name}_token_id", "uint32", min(at + 1, tokens - 1)))
    return pairs


def _vocabulary(model: str) -> tuple[list[str], list[int], bool]:
    if model == "llama":
        return ["<unk>", "<s>", "</s>", *_BYTES, "▁", "a"], [2, 3, 3, *[6] * 256, 1, 1], True
    if model == "plamo2":
        return ["<unk>", "<s>", "</s>", "<pad>", *_BYTES, "▁", "a"], [2, 3, 3, 3, *[6] * 256, 1, 1], True
    if model == "gpt2":
        return [*_letters(), "<|endoftext|>"], [*[1] * 256, 3], False
    if model == "gemma4":
        return (
            ["<pad>", "<eos>", "<bos>", "<unk>", *_BYTES, "▁", "a", "b", "\n"],
            [3, 3, 3, 2, *[6] * 256, 1, 1, 1, 1],
            True,
        )
    if model == "bert":
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        return [*words, *(f"▁{chr(97 + at)}" for at in range(26)), *map(chr, range(97, 123))], [3] * 5 + [1] * 52, False
    if model == "t5":
        return ["<pad>", "</s>", "<unk>", "▁", "a", "b"], [3, 3, 2, 1, 1, 1], True
    return [f"\\x{number:02x}" for number in range(256)], [1] * 256, False


def rows(entries: Sequence[Entry], old: int, new: int) -> None:
    """Give the tensors that have a row for each token as many rows as there are tokens."""
    for each in entries:
        if str(each.name).startswith(("token_embd.", "output.", "per_layer_token_embd.")) and each.shape[0] == old:
            each.shape = [new, *each.shape[1:]]
