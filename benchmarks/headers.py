"""Time and memory of a header by its length: `python benchmarks/headers.py`. A curve that bends upwards is a bug.

Each file is read by `inspect` in a process of its own; a `-` marks a refused file, with the time until the refusal.
The output goes into benchmarks/headers.txt.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
MEGABYTES = (4, 8, 16, 32, 64, 100)
#: Runs a command; prints seconds of processor and megabytes of memory.
METER = """
import resource, subprocess, sys
ran = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
cost = resource.getrusage(resource.RUSAGE_CHILDREN)
print(cost.ru_utime + cost.ru_stime, cost.ru_maxrss / 1024, ran.returncode)
"""


def gguf(length: int, size: int) -> bytes:
    """A GGUF of one list of texts, each `size` bytes long, until the header has `length` bytes."""
    number = length // (size + 8)
    key = b"tokenizer.ggml.tokens"
    head = b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, len(key)) + key + struct.pack("<IIQ", 9, 8, number)
    return head + (struct.pack("<Q", size) + b"x" * size) * number


def safetensors(length: int, metadata: bool) -> bytes:
    """A safetensors header of one long text, or of as many tensors as fill it, at most 160,000."""
    own: dict[str, object] = {"__metadata__": {"x": "y" * (length - 1000)}} if metadata else {}
    if not metadata:
        number = min(length // 100, 160_000)
        name = "n" * (length // number - 60)
        own = {f"{name}{at}": {"dtype": "U8", "shape": [1], "data_offsets": [at, at + 1]} for at in range(number)}
    raw = json.dumps(own, separators=(",", ":")).encode()
    return struct.pack("<Q", len(raw)) + raw + bytes(0 if metadata else len(own))


def one_name(length: int, word: str) -> bytes:
    """A safetensors header of one tensor, whose name is a repeated word."""
    name = word * ((length - 100) // len(word))
    raw = json.dumps({name: {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}).encode()
    return struct.pack("<Q", len(raw)) + raw + b"x"


KINDS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "GGUF, a vocabulary of words": ("gguf", lambda length: gguf(length, 24)),
    "GGUF, long texts": ("gguf", lambda length: gguf(length, 100_000)),
    "safetensors, tensors": ("safetensors", lambda length: safetensors(length, False)),
    "safetensors, one text": ("safetensors", lambda length: safetensors(length, True)),
    "safetensors, one name": ("safetensors", lambda length: one_name(length, "layers.0.")),
    "safetensors, one long word": ("safetensors", lambda length: one_name(length, "x")),
}


def main() -> None:
    """A row for each kind, a column for each length."""
    print(f"{'seconds (MB)':<30}" + "".join(f"{megabytes:>11} MB" for megabytes in MEGABYTES))
    for name, (end, make) in KINDS.items():
        reported = []
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"model.{end}")
            for megabytes in MEGABYTES:
                path.write_bytes(make(megabytes * 1_000_000 - 100))
                command = [sys.executable, "-c", METER, sys.executable, "-m", "inspector", str(path), "--json"]
                ran = subprocess.run(
                    command, cwd=ROOT, capture_output=True, text=True, check=True, env=dict(os.environ)
                )
                seconds, memory, code = map(float, ran.stdout.split())
                reported.append(f"{'-' if code == 2 else ''}{seconds:>.2f} ({memory:>3.0f})")
        print(f"{name:<30}" + " ".join(f"{each:>13}" for each in reported))


if __name__ == "__main__":
    main()
