"""docs/scale.md: what the Hub's two million model repositories would take, computed from what scans measured.

    PYTHONPATH=tests python benchmarks/scale.py            measures, and writes docs/scale.md
    python benchmarks/scale.py --again --milliseconds 8.5    writes it again from the numbers in benchmarks/scale.json,
        with the processor time that benchmarks/scan.py says a checkpoint takes

Repositories of four kinds are put on a Hub on this machine and scanned; requests are counted there by the class that the
Hub's limits know. The mix of kinds, the Hub's size and its limits are stated below, each with where it is from.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures"), str(ROOT / "tests")]

import many  # noqa: E402  found through the path above
import sparse  # noqa: E402  the same

MEASURED = ROOT / "benchmarks" / "scale.json"
PAGE = ROOT / "docs" / "scale.md"
#: Model repositories on the Hub: "over 2M models", huggingface.co/docs/hub, 2025.
REPOSITORIES = 2_000_000
#: Requests in five minutes by plan: (API, resolvers). huggingface.co/docs/hub/rate-limits, September 2025 and after.
LIMITS = {
    "anonymous, an address": (500, 3_000),
    "free account": (1_000, 5_000),
    "PRO": (2_500, 12_000),
    "Team": (3_000, 20_000),
    "Enterprise": (6_000, 50_000),
    "Enterprise Plus": (10_000, 100_000),
}
WINDOW = 300  # seconds
#: Shares of the kinds: an assumption, since the Hub publishes none; the page says what another mix would change.
MIX = {"safetensors": 0.45, "adapter": 0.25, "gguf": 0.10, "shards": 0.05, "nothing": 0.15}
#: Repositories of each kind that are scanned.
EACH = 8
#: Repositories on a page of an organisation's list.
ON_A_PAGE = 1000


def measure() -> dict[str, Any]:
    """Scan a Hub on this machine, one kind at a time: requests by class, bytes, and bytes of rows per repository."""
    from huggingface_hub import constants
    from loopback.server import Hub, Repo

    import inspector

    found: dict[str, Any] = {}
    with Hub() as hub, tempfile.TemporaryDirectory() as scratch:
        os.environ |= {"HF_ENDPOINT": hub.endpoint, "HF_HUB_CACHE": f"{scratch}/cache"}
        constants.ENDPOINT, constants.HF_HUB_CACHE = hub.endpoint, f"{scratch}/cache"
        for kind, recipe in recipes().items():
            folder = sparse.make(recipe, _new(Path(scratch) / kind))
            hub.repos = {f"{kind}/m{number}": Repo(folder) for number in range(EACH)}
            before, out = len(hub.settled()), Path(scratch) / f"tables-{kind}"
            done = inspector.scan([f"hf://{kind}"], out, requests_per_second=10_000, workers=2)
            asked = [each for each in hub.settled()[before:] if "author=" not in each.path]
            tables = sum(path.stat().st_size for path in out.rglob("*.parquet"))
            found[kind] = {
                "api": sum("/api/models/" in each.path for each in asked) / EACH,
                "resolvers": sum("/resolve/" in each.path for each in asked) / EACH,
                "bytes": sum(each.sent for each in asked) / EACH,
                "tables": tables / EACH,
                "checkpoints": done.checkpoints / EACH,
            }
            print(kind, found[kind], flush=True)
    return found


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def recipes() -> dict[str, dict[str, Any]]:
    """A repository of each kind."""
    models = many.models()
    return {
        "safetensors": models["f16"],
        "shards": models["shards"],
        "adapter": models["adapter"],
        "gguf": models["gguf"],
        "nothing": {"beside": {"README.md": "# Nothing yet"}, "files": {}},
    }


def page(kinds: dict[str, Any], milliseconds: float) -> str:
    """The text of the page: measured, assumed, computed."""
    mean = {name: sum(MIX[kind] * each[name] for kind, each in kinds.items()) for name in next(iter(kinds.values()))}
    total = {name: value * REPOSITORIES for name, value in mean.items()}
    lists = REPOSITORIES / ON_A_PAGE
    machine = REPOSITORIES * milliseconds / 1000 / 3600
    rows = [f"| {kind} | {MIX[kind]:.0%} | {each['api']:.1f} | {each['resolvers']:.1f} | {each['bytes'] / 1000:,.0f} kB | {each['tables'] / 1000:,.1f} kB |" for kind, each in kinds.items()]  # fmt: skip
    plans = []
    for name, (api, resolvers) in LIMITS.items():
        hours = [(total["api"] + lists) / api * WINDOW / 3600, total["resolvers"] / resolvers * WINDOW / 3600]
        first = "API" if hours[0] >= hours[1] else "resolvers"
        plans.append(f"| {name} | {api:,} | {resolvers:,} | {hours[0]:,.0f} h | {hours[1]:,.0f} h | {max(hours) / 24:,.1f} days, {first} |")  # fmt: skip
    best = max((total["api"] + lists) / 10_000, total["resolvers"] / 100_000) * WINDOW
    return f"""# What scanning the Hub would take

Computed by `benchmarks/scale.py` from what scans measured; nothing here was run against the Hub.

## Measured, each repository

| kind | share (assumed) | API requests | resolver requests | bytes received | tables, compressed |
|---|---|---|---|---|---|
{chr(10).join(rows)}

Repositories of four kinds and an empty one, {EACH} of each, on a Hub on this machine; a model has 300 tensors. A GGUF is
read along with its parsing, for a vocabulary may take megabytes, and what is on its way when parsing ends counts as
received. The tables of {EACH} repositories are larger each than those of thousands. Processor time:
{milliseconds:.1f} ms a checkpoint of 300 tensors, of all processes together, on a machine with two cores (benchmarks/scan.py).

## Two million repositories

| | |
|---|---|
| requests | {(total["api"] + lists) / 1e6:,.1f} million to the API ({lists:,.0f} of them lists), {total["resolvers"] / 1e6:,.1f} million to resolvers |
| bytes received | {total["bytes"] / 1e12:,.2f} TB |
| processor | {machine:,.1f} hours of one core: {machine / 2:,.1f} hours of a machine with two |
| tables | at most {total["tables"] / 1e9:,.1f} GB |

## Under the Hub's limits

A window is five minutes, and a limit is one account's, whatever the number of machines.

| plan | API | resolvers | API alone | resolvers alone | the scan takes |
|---|---|---|---|---|---|
{chr(10).join(plans)}

## What breaks first

1. **The Hub's limit on API requests**, a listing for each repository ({mean["api"]:.1f}). With the largest plan the scan takes
   {best / 3600:,.0f} hours, in which one core would do the work {best / 3600 / machine:,.0f} times over: more machines do not help, and two workers are enough.
   `--requests-per-second` should be the plan's limit divided by 300: {10_000 / WINDOW:,.0f} for the largest.
2. **The network**: {total["bytes"] / best / 1e6:,.1f} MB/s at that pace, which any line carries.
3. **The tables** are {total["tables"] / 1e9:,.1f} GB at most, in some {REPOSITORIES // 4096:,} files for each of the four; DuckDB reads them from a disk.
4. **Dask's scheduler** sees {REPOSITORIES // 128:,} batches in all, and never more than two for each worker.
5. A second scan asks for the lists ({lists:,.0f} requests) and for what has a new commit.

On disks and in object stores there is no such limit, and processor time decides: {machine:,.1f} core hours for two million
checkpoints of 300 tensors.
"""


def main() -> None:
    """Measure, unless an option says not to, and write the page."""
    options = argparse.ArgumentParser()
    options.add_argument("--again", action="store_true")
    options.add_argument("--milliseconds", type=float, help="processor time a checkpoint, from benchmarks/scan.py")
    asked = options.parse_args()
    known: dict[str, Any] = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    kinds = known["kinds"] if asked.again else measure()
    milliseconds = asked.milliseconds or known["milliseconds"]
    MEASURED.write_text(json.dumps({"milliseconds": milliseconds, "kinds": kinds}, indent=1) + "\n")
    PAGE.write_text(page(kinds, milliseconds))
    print(PAGE)


if __name__ == "__main__":
    main()
