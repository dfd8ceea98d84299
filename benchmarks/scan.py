"""What a scan costs: a plain loop against the engine, one worker against two, 1,000 checkpoints against 100,000.

    python benchmarks/scan.py --tree FOLDER      all of it: some 17 minutes on two idle cores, and first the tree if need be
    python benchmarks/scan.py --most 10000       the curve up to 10,000
    python benchmarks/scan.py --pairs 1          a single round of loop, one worker and two

The tree (`fixtures/many.py`, 0.4 GB with 100,000 folders) has 1,000 different sparse models of ten families, some 300
tensors each, a folder of its own for each checkpoint: after a thousand they come again, as links to the same files. So
headers are in the page cache, and no two of the same configuration are near each other; families do repeat. FOLDER is
kept, and used again where it is there.

`processor` is that of all processes together, which distinguishes a busy machine from a slow program. `rate` counts
from the command to its end: starting, and putting small parts together, are in it. Peak memory is proportional set
size: of a worker with its reading process, and of the process that runs the scan with Dask's scheduler in it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

import many  # noqa: E402  found through the path above

#: How many checkpoints the curve is measured at.
CURVE = (1_000, 3_000, 10_000, 30_000, 100_000)
#: Linux's number for "orphaned descendants become my children", so that their processor time can be read.
PR_SET_CHILD_SUBREAPER = 36
_LOOP = """
import gc, json, resource, sys, time
from pathlib import Path
from inspector.scanning.child import _WithoutPandas
from inspector.scanning.discovery import discover
from inspector.scanning.inspection import inspect
from inspector.scanning.rows import Rows
from inspector.scanning.storage import Writer
sys.meta_path.insert(0, _WithoutPandas())
gc.disable(); gc.freeze()
began = time.perf_counter()
work = Path(sys.argv[1]); work.mkdir()
rows, number = Rows(1), 0
writer = Writer(work, "0")
for number, unit in enumerate(discover(sys.argv[2:]), 1):
    inspect(unit, rows)
    if number % 128 == 0:
        writer.write(rows.take()); writer.close(); writer = Writer(work, str(number))
    if number % 32 == 0:
        gc.collect(1)
writer.write(rows.take()); writer.close()
print(json.dumps({"seconds": time.perf_counter() - began, "checkpoints": number}))
"""


class Cost(NamedTuple):
    """The cost of one run."""

    checkpoints: int
    wall: float  # seconds from the first checkpoint to the last one written, without the start
    whole: float  # seconds from the command to its end
    processor: float  # processor seconds of all processes
    worker: int  # bytes of the largest worker, including its reading process; 0 if not measured
    head: int  # bytes of the process with the scheduler


def loop(roots: Sequence[str], out: Path) -> Cost:
    """One process without an engine: the same work, the same tables."""
    began, before = time.perf_counter(), os.times()
    command = [sys.executable, "-c", _LOOP, str(out), *roots]
    reported = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)
    return Cost(reported["checkpoints"], reported["seconds"], time.perf_counter() - began, _spent(before), 0, 0)


def engine(roots: Sequence[str], out: Path, workers: int) -> Cost:
    """`inspect scan`."""
    began, before = time.perf_counter(), os.times()
    how = ["--out", str(out), "--workers", str(workers), "--json"]
    command = [sys.executable, "-m", "inspector", "scan", *roots, *how]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    peaks, over = [0, 0], Event()
    watcher = Thread(target=_watch, args=(running.pid, peaks, over), daemon=True)
    watcher.start()
    reported = json.loads(running.communicate()[0])
    whole = time.perf_counter() - began
    over.set()
    watcher.join()
    return Cost(reported["inspected"], reported["seconds"], whole, _spent(before), *peaks)


def _spent(before: os.times_result) -> float:
    """Processor seconds of processes started since, including reading processes that outlived their workers."""
    until = time.monotonic() + 10
    with suppress(ChildProcessError):
        while time.monotonic() < until:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.05)
    now = os.times()
    return now.children_user + now.children_system - before.children_user - before.children_system


def _watch(pid: int, peaks: list[int], over: Event) -> None:
    """The peak memory of any worker with its children, and of the scan itself."""
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


def roots(tree: Path, count: int) -> list[str]:
    """The folders that hold the first `count` checkpoints."""
    return [str(tree / f"team-{number:03}") for number in range(-(-count // many.TEAM))]


_HEADING = "checkpoints  what         seconds    whole     rate/min   wall each  processor each    worker      scan"


def run(what: str, tree: Path, count: int, scratch: Path) -> Cost:
    """One run into a folder of its own, shown as a row."""
    out = scratch / "out"
    shutil.rmtree(out, ignore_errors=True)
    cost = loop(roots(tree, count), out) if what == "loop" else engine(roots(tree, count), out, int(what))
    name = "plain loop" if what == "loop" else f"{what} worker{'s' if what != '1' else ''}"
    each = f"{cost.wall / count * 1000:7.2f} ms      {cost.processor / count * 1000:7.2f} ms"
    memory = f"{cost.worker / 1e6:7.0f} MB{cost.head / 1e6:7.0f} MB" if cost.worker else ""
    rate = f"{count / cost.whole * 60:12,.0f}"
    print(f"{cost.checkpoints:11,}  {name:11}{cost.wall:9.1f}{cost.whole:9.1f}{rate}  {each}{memory}", flush=True)
    return cost


def compare(rounds: Sequence[dict[str, Cost]]) -> None:
    """The result of the rounds: each is a median of pairs that ran one after the other."""
    overhead = median(each["1"].processor / each["loop"].processor for each in rounds)
    walls = median(each["1"].wall / each["loop"].wall for each in rounds)
    gain = median(each["1"].wall / each["2"].wall for each in rounds)
    print(f"engine, one worker, against the loop: {walls:.2f} × wall, {overhead:.2f} × processor (starting included)")
    print(f"two workers against one: {gain:.2f} ×\n{_HEADING}", flush=True)


def main() -> None:
    """Rounds, then the curve."""
    options = argparse.ArgumentParser()
    options.add_argument("--tree", type=Path, help="kept, and used again where it is there")
    options.add_argument("--pairs", type=int, default=3)
    options.add_argument("--count", type=int, default=3000)
    options.add_argument("--most", type=int, default=CURVE[-1])
    asked = options.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(dir=os.environ.get("SCRATCH")) as folder:
        scratch = Path(folder)
        began = time.perf_counter()
        tree = many.make(max(asked.count, asked.most), asked.tree or scratch / "tree", different=many.DIFFERENT)
        print(f"the tree took {time.perf_counter() - began:.0f} s\n{_HEADING}", flush=True)
        whats = ("loop", "1", "2")
        rounds = [{what: run(what, tree, asked.count, scratch) for what in whats} for _ in range(asked.pairs)]
        if rounds:
            compare(rounds)
        for count in CURVE:
            if count <= asked.most:
                run("2", tree, count, scratch)


if __name__ == "__main__":
    main()
