"""What a scan costs: a plain loop against the engine, one worker against two, 1,000 checkpoints against 100,000.

    python benchmarks/scan.py                    ratios in pairs, then the curve up to 100,000 (some 40 minutes)
    python benchmarks/scan.py --most 10000       the curve up to 10,000
    python benchmarks/scan.py --pairs 1          a single pair of each

Each checkpoint is a sparse Llama of 300 tensors in a folder of its own (`fixtures/many.py`). `processor` is that of all
processes together, by which a busy machine can be told from a slow program. Peak memory is proportional set size: of a
worker with its reading process, and of the process that runs the scan with Dask's scheduler in it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

import many  # noqa: E402  found through the path above

_LOOP = """
import gc, json, resource, sys, time
from pathlib import Path
from inspector.scanning.discovery import discover
from inspector.scanning.inspection import inspect
from inspector.scanning.rows import Rows
from inspector.scanning.storage import Writer
gc.disable(); gc.freeze()
began = time.perf_counter()
work = Path(sys.argv[2]); work.mkdir()
rows, number = Rows(1), 0
writer = Writer(work, "0")
for number, unit in enumerate(discover([sys.argv[1]]), 1):
    inspect(unit, rows)
    if number % 128 == 0:
        writer.write(rows.taken()); writer.close(); writer = Writer(work, str(number))
    if number % 32 == 0:
        gc.collect(1)
writer.write(rows.taken()); writer.close()
print(json.dumps({"seconds": time.perf_counter() - began, "checkpoints": number}))
"""


class Cost(NamedTuple):
    """Of one run."""

    wall: float  # seconds from the first checkpoint to the last one written, starting left out
    whole: float  # seconds from the command to its end
    processor: float  # seconds of all processes
    worker: int  # bytes of the largest worker, its reading process included; 0 where it was not measured
    head: int  # bytes of the process with the scheduler


def loop(tree: Path, out: Path) -> Cost:
    """One process without an engine: the same work, the same tables."""
    began, before = time.perf_counter(), os.times()
    done = subprocess.run(
        [sys.executable, "-c", _LOOP, str(tree), str(out)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return Cost(json.loads(done.stdout)["seconds"], time.perf_counter() - began, _spent(before), 0, 0)


def engine(tree: Path, out: Path, workers: int) -> Cost:
    """`inspect scan`."""
    began, before = time.perf_counter(), os.times()
    command = [
        sys.executable,
        "-m",
        "inspector",
        "scan",
        str(tree),
        "--out",
        str(out),
        "--workers",
        str(workers),
        "--json",
    ]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    peaks, over = [0, 0], Event()
    watcher = Thread(target=_watch, args=(running.pid, peaks, over), daemon=True)
    watcher.start()
    told = json.loads(running.communicate()[0])
    over.set()
    watcher.join()
    return Cost(told["seconds"], time.perf_counter() - began, _spent(before), peaks[0], peaks[1])


def _spent(before: os.times_result) -> float:
    now = os.times()
    return now.children_user + now.children_system - before.children_user - before.children_system


def _watch(pid: int, peaks: list[int], over: Event) -> None:
    """The most memory of any worker with its children, and of the scan itself."""
    while not over.wait(1.0):
        parents: dict[int, list[int]] = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
            parents.setdefault(parent, []).append(int(folder.name))
        peaks[1] = max(peaks[1], _memory(pid))
        for worker in parents.get(pid, []):
            peaks[0] = max(peaks[0], _memory(worker) + sum(_memory(child) for child in parents.get(worker, [])))


def _memory(pid: int) -> int:
    try:
        line = next(
            line for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() if line.startswith("Pss:")
        )
    except (OSError, StopIteration):
        return 0
    return int(line.split()[1]) * 1024


def run(what: str, tree: Path, count: int, scratch: Path) -> Cost:
    """One run into a folder of its own, shown."""
    out = scratch / "out"
    shutil.rmtree(out, ignore_errors=True)
    cost = loop(tree, out) if what == "loop" else engine(tree, out, int(what))
    each = f"{cost.wall / count * 1000:7.2f} ms wall, {cost.processor / count * 1000:6.2f} ms processor each"
    memory = f"; worker {cost.worker / 1e6:.0f} MB, scan {cost.head / 1e6:.0f} MB" if cost.worker else ""
    name = "plain loop" if what == "loop" else f"{what} worker{'s' if what != '1' else ''}"
    print(f"{count:>7,}  {name:10}  {cost.wall:7.1f} s ({cost.whole:7.1f} with starting)  {each}{memory}", flush=True)
    return cost


def main() -> None:
    """Pairs, then the curve."""
    options = argparse.ArgumentParser()
    options.add_argument("--pairs", type=int, default=3)
    options.add_argument("--count", type=int, default=2000)
    options.add_argument("--most", type=int, default=100_000)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("SCRATCH")) as folder:
        scratch = Path(folder)
        tree = many.make(asked.count, scratch / "tree", alike=True)
        rounds = [
            {what: run(what, tree, asked.count, scratch) for what in ("loop", "1", "2")} for _ in range(asked.pairs)
        ]
        overhead = median(each["1"].processor / each["loop"].processor for each in rounds)
        walls = median(each["1"].wall / each["loop"].wall for each in rounds)
        gain = median(each["1"].wall / each["2"].wall for each in rounds)
        best = min(each["2"].wall for each in rounds)
        print(
            f"engine, one worker, against the loop: {walls:.2f} × wall, {overhead:.2f} × processor (starting included)"
        )
        print(f"two workers against one: {gain:.2f} ×; {asked.count / best * 60:,.0f} checkpoints a minute")
        for count in (1_000, 10_000, 100_000):
            if count <= asked.most:
                shutil.rmtree(tree)
                run("2", many.make(count, tree, alike=True), count, scratch)


if __name__ == "__main__":
    main()
