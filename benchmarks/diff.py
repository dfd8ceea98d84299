"""Comparing values: `inspect diff --data`, `cmp`, hashes, and a NumPy loop over `safe_open`.

    python benchmarks/diff.py [--big] [--gguf-hash PROGRAM]     # needs xxhash; goes into benchmarks/diff.txt

PROGRAM is llama.cpp's tool, of `examples/gguf-hash` in its source: it hashes each tensor of a GGUF, here of both files.

Two copies of random numbers in F16, the same with 1 % added, and with --big two sparse copies of LLaMA-7B (13.5 GB).
Seconds of wall and of processor, and peak memory, each of a process of its own; the files are in the page cache.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

from sparse_gguf import write_gguf  # noqa: E402  found through the path above

import inspector  # noqa: E402  the same

METER = """
import resource, subprocess, sys, time
began = time.perf_counter()
ran = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
if ran.returncode not in (0, 1) or b"Traceback" in ran.stderr:  # 1: they differ
    sys.exit(ran.stderr)
cost = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.perf_counter() - began, cost.ru_utime + cost.ru_stime, cost.ru_maxrss / 1024)
"""
LOOP = """
import sys, glob, numpy as np
from safetensors import safe_open
for path in sorted(glob.glob(sys.argv[1] + "/*.safetensors")):
    with safe_open(path, "np") as a, safe_open(path.replace(sys.argv[1], sys.argv[2]), "np") as b:
        for name in a.keys():
            x, y = a.get_tensor(name), b.get_tensor(name)
            print(name, np.array_equal(x, y), np.abs(x.astype(np.float32) - y.astype(np.float32)).max())
"""
#: A hash of each tensor of both files: XXH64, the default of `gguf-hash`, by the package `xxhash`, or SHA-256.
HASHES = """
import glob, hashlib, sys
from safetensors import safe_open
if sys.argv[1] == "sha256":
    digest = hashlib.sha256
else:
    from xxhash import xxh64 as digest
for folder in sys.argv[2:]:
    for path in sorted(glob.glob(folder + "/*.safetensors")):
        with safe_open(path, "np") as file:
            for name in file.keys():
                print(name, digest(file.get_tensor(name)).hexdigest())
"""
TENSORS, SIDE = 24, 4096


def written(folder: Path, noise: float) -> Path:
    """Matrices of random numbers in F16, which NumPy reads without conversion."""
    folder.mkdir()
    entries, offset = {}, 0
    for number in range(TENSORS):
        size = SIDE * SIDE * 2
        name = f"model.layers.{number}.self_attn.q_proj.weight"
        entries[name] = {"dtype": "F16", "shape": [SIDE, SIDE], "data_offsets": [offset, offset + size]}
        offset += size
    head = json.dumps(entries).encode()
    head += b" " * (-len(head) % 8)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for number in range(TENSORS):
            values = np.random.default_rng(number).standard_normal((SIDE, SIDE), np.float32)
            file.write((values * np.float32(1 + noise)).astype(np.float16).tobytes())
    return folder


def metered(*command: str) -> str:
    ran = subprocess.run([sys.executable, "-c", METER, *command], capture_output=True, text=True, check=True)
    wall, processor, memory = map(float, ran.stdout.split())
    return f"{wall:>8.2f} s {processor:>8.2f} s {memory:>8.0f} MiB"


def compared(title: str, a: Path, b: Path) -> None:
    size = sum(path.stat().st_size for path in a.glob("*.safetensors"))
    print(f"{title}, 2 × {size / 1e9:.2f} GB{'wall':>30}{'processor':>12}{'memory':>12}")
    inspect = str(Path(sys.executable).parent / "inspect")
    pairs = " && ".join(f"cmp {path} {b / path.name}" for path in sorted(a.glob("*.safetensors")))
    for name, command in {
        "inspect diff --data": (inspect, "diff", str(a), str(b), "--data"),
        "inspect diff --data --workers 2": (inspect, "diff", str(a), str(b), "--data", "--workers", "2"),
        "cmp": ("sh", "-c", pairs),
        "XXH64 of each tensor": (sys.executable, "-c", HASHES, "xxh64", str(a), str(b)),
        "SHA-256 of each tensor": (sys.executable, "-c", HASHES, "sha256", str(a), str(b)),
        "safe_open and NumPy": (sys.executable, "-c", LOOP, str(a), str(b)),
    }.items():
        print(f"  {name:<34}{metered(*command)}", flush=True)


def as_gguf(folder: Path, out: Path) -> Path:
    """The same tensors as a GGUF; of a sparse model, zeros that take no room."""
    tensors, at = [], []
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            entries = json.loads(file.read(size))
        entries.pop("__metadata__", None)
        for name, entry in entries.items():
            tensors.append((entry["dtype"], entry["shape"], name))
            at.append((path, 8 + size + entry["data_offsets"][0]))
    write_gguf(out, [("general.architecture", "string", "llama")], tensors)
    if folder.name != "llama-7b":
        places = {tensor.name: tensor.offset for tensor in inspector.open(out).files[0].tensors}
        for (_, shape, name), (path, offset) in zip(tensors, at, strict=True):
            values = np.fromfile(path, np.uint8, 2 * int(np.prod(shape)), offset=offset)
            with out.open("r+b") as file:
                file.seek(places[name])
                file.write(values.tobytes())
    return out


def hashed(title: str, program: str, a: Path, b: Path) -> None:
    """Compare two GGUFs, by `inspect diff` and by llama.cpp's tool."""
    print(f"{title}, as GGUF")
    inspect = str(Path(sys.executable).parent / "inspect")
    for name, command in {
        "inspect diff --data": (inspect, "diff", str(a), str(b), "--data"),
        "gguf-hash --xxh64": ("sh", "-c", f"{program} --xxh64 {a} && {program} --xxh64 {b}"),
        "gguf-hash --sha256": ("sh", "-c", f"{program} --sha256 {a} && {program} --sha256 {b}"),
    }.items():
        print(f"  {name:<34}{metered(*command)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--big", action="store_true", help="LLaMA-7B, sparse, too")
    parser.add_argument("--gguf-hash", metavar="PROGRAM", help="llama.cpp's tool, built")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        base = written(folder / "a", 0.0)
        compared("equal", base, written(folder / "b", 0.0))
        if arguments.gguf_hash:
            a, b = (as_gguf(folder / side, folder / f"{side}.gguf") for side in "ab")
            hashed("equal", arguments.gguf_hash, a, b)
        compared("different", base, written(folder / "c", 0.01))
        if arguments.big:
            for copy in ("x", "y"):
                subprocess.run([sys.executable, ROOT / "fixtures" / "sparse.py", "llama-7b", folder / copy], check=True)
            compared("sparse", folder / "x" / "llama-7b", folder / "y" / "llama-7b")
            if arguments.gguf_hash:
                a, b = (as_gguf(folder / side / "llama-7b", folder / f"{side}.gguf") for side in "xy")
                hashed("sparse", arguments.gguf_hash, a, b)


if __name__ == "__main__":
    main()
