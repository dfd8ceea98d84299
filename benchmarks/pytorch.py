"""Listing the shapes in a checkpoint of 13.5 GB: `python benchmarks/pytorch.py PYTHON`, where PYTHON has torch.

    inspect tensors FILE                                        without PyTorch, without reading storages
    torch.load(FILE, mmap=True, weights_only=True)              and a line for each tensor

Whole processes alternate on the same sparse file, which both read from memory: wall and processor seconds, and peak
memory, medians of 7. The output goes into benchmarks/pytorch.txt.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROUNDS = 7
#: Runs a command; prints wall seconds, processor seconds and megabytes of memory.
METER = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
cost = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.perf_counter() - start, cost.ru_utime + cost.ru_stime, cost.ru_maxrss / 1024)
"""
LOAD = """
import sys, torch
for name, tensor in torch.load(sys.argv[1], mmap=True, weights_only=True).items():
    print(name, tensor.dtype, tuple(tensor.shape))
"""


def measured(command: list[str]) -> tuple[float, ...]:
    reported = subprocess.run([sys.executable, "-c", METER, *command], capture_output=True, text=True, check=True)
    return tuple(map(float, reported.stdout.split()))


def main() -> None:
    torch_python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, ROOT / "fixtures" / "sparse_torch.py", "llama-7b", folder], check=True)
        file = str(Path(folder) / "llama-7b" / "pytorch_model.bin")
        commands = {
            "inspect tensors": [sys.executable, "-m", "inspector", "tensors", file],
            "inspect": [sys.executable, "-m", "inspector", file],
            "torch.load(mmap=True)": [torch_python, "-c", LOAD, file],
        }
        runs: dict[str, list[tuple[float, ...]]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                runs[name].append(measured(command))
        print(f"{Path(file).stat().st_size:,} bytes, 323 tensors; medians of {ROUNDS}, {os.cpu_count()} cores")
        print(f"{'':24}{'seconds':>10}{'processor':>11}{'memory':>11}")
        for name, found in runs.items():
            clock, processor, memory = (statistics.median(each) for each in zip(*found, strict=True))
            print(f"{name:24}{clock:8.2f} s{processor:9.2f} s{memory:8.0f} MB")


if __name__ == "__main__":
    main()
