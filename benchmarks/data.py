"""The cost of reading tensors: `inspect audit --data` beside `sha256sum` and a loop over tensors in NumPy.

    python benchmarks/data.py [MEGABYTES] [TIMES] > benchmarks/data.txt

A BF16 checkpoint of this many megabytes (by default 1,024) is made, read once so that it is in the page cache, and then
read by each program in turn. Whole processes: wall and processor seconds, and peak memory.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

ROOT = Path(__file__).parents[1]
ROWS, COLUMNS = 4096, 2048  # 16 MiB for each tensor
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}

#: A usual loop: each tensor as float32, with NumPy's own functions.
LOOP = """
import json, sys
import numpy as np
raw = open(sys.argv[1], "rb")
length = int.from_bytes(raw.read(8), "little")
header = json.loads(raw.read(length))
for name, entry in header.items():
    begin, end = entry["data_offsets"]
    raw.seek(8 + length + begin)
    bits = np.frombuffer(raw.read(end - begin), "<u2")
    values = (bits.astype(np.uint32) << 16).view(np.float32)
    found = np.isnan(values).any(), np.isinf(values).any(), values.min(), values.max(), values.mean(), values.std()
"""


def make(path: Path, megabytes: int) -> None:
    """A Llama's random projections, made in a process of its own, so that later ones do not inherit its memory."""
    import numpy as np

    names = ("self_attn.q_proj", "self_attn.o_proj", "mlp.up_proj", "mlp.gate_proj")
    count = max(1, megabytes * 2**20 // (ROWS * COLUMNS * 2))
    header: dict[str, Any] = {}
    for number in range(count):
        layer, which = divmod(number, len(names))
        begin = number * ROWS * COLUMNS * 2
        entry = {"dtype": "BF16", "shape": [ROWS, COLUMNS], "data_offsets": [begin, begin + ROWS * COLUMNS * 2]}
        header[f"model.layers.{layer}.{names[which]}.weight"] = entry
    text = json.dumps(header).encode()
    draw = np.random.default_rng(1)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _ in range(count):
            values = draw.standard_normal((ROWS, COLUMNS), np.float32) * np.float32(0.02)
            file.write((values.view(np.uint32) >> 16).astype("<u2").tobytes())


def cost(command: list[str]) -> tuple[float, float, float]:
    """Wall seconds, processor seconds, and megabytes of memory of a command."""
    began = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT) as process:
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def main() -> None:
    megabytes, times = map(int, (sys.argv[1:] + ["1024", "5"][len(sys.argv) - 1 :])[:2])
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "model.safetensors"
        subprocess.run([sys.executable, __file__, "--make", str(path), str(megabytes)], check=True)
        inspect = [sys.executable, "-m", "inspector"]
        commands = {
            "sha256sum": [shutil.which("sha256sum") or "sha256sum", str(path)],
            "inspect audit --checksum": [*inspect, "audit", place, "--checksum"],
            "inspect audit --data": [*inspect, "audit", place, "--data"],
            "inspect audit --data --checksum": [*inspect, "audit", place, "--data", "--checksum"],
            "a loop in NumPy": [sys.executable, "-c", LOOP, str(path)],
            "inspect values": [*inspect, "values", str(path), "--json"],
        }
        found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
        cost(commands["sha256sum"])
        for _ in range(times):
            for name, command in commands.items():
                found[name].append(cost(command))
        first = median(seconds for seconds, _, _ in found["sha256sum"])
        print(f"{path.stat().st_size:,} bytes of BF16, warm; {os.cpu_count()} processors; medians of {times}\n")
        print(f"{'':34}{'seconds':>9}{'× sha256sum':>13}{'processor seconds':>19}{'MB of memory':>14}")
        for name, costs in found.items():
            seconds, processor, memory = (median(column) for column in zip(*costs, strict=True))
            print(f"{name:34}{seconds:9.2f}{seconds / first:13.2f}{processor:19.2f}{memory:14.0f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        make(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
