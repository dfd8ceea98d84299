"""What `inspect audit`, `modelaudit` and `hf cache verify` find in the hostile fixtures, and at what cost.

    PYTHONPATH=tests python benchmarks/audit.py [FOLDER-OF-COMMANDS] [NUMBER]

The folder contains `modelaudit` and `hf`, if they are not beside Python; NUMBER limits the number of rules. `hf cache
verify` compares a folder with the Hub: it uses a Hub on this machine that has the sound model, so it calls each changed
file damaged, including the near misses.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures"), str(ROOT / "tests")]

import hostile  # noqa: E402  found through the path above
from loopback.server import serving  # noqa: E402  the same

COMMANDS = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(sys.executable).parent
OFFLINE = {**os.environ, "HF_HUB_OFFLINE": "1", "PROMPTFOO_DISABLE_TELEMETRY": "1", "NO_ANALYTICS": "1"}

#: Seconds after which a tool counts as having found nothing.
PATIENCE = 60


def run(*command: str, env: dict[str, str] | None = None) -> tuple[int, str, float]:
    """Exit code, output and seconds."""
    start = time.perf_counter()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=env or OFFLINE, cwd=ROOT, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return 0, "", time.perf_counter() - start
    return done.returncode, done.stdout, time.perf_counter() - start


def ours(folder: Path) -> tuple[bool, float]:
    """Whether `inspect audit` has an error or a warning."""
    _, out, seconds = run(sys.executable, "-m", "inspector", "audit", str(folder), "--json")
    counts = json.loads(out)["counts"] if out else {"error": 1}
    return bool(counts["error"] or counts.get("warning")), seconds


def theirs(folder: Path) -> tuple[bool, float]:
    """Whether `modelaudit` has an issue above the level of information."""
    _, out, seconds = run(str(COMMANDS / "modelaudit"), "scan", str(folder), "--format", "json")
    try:
        issues = json.loads(out[out.index("{") :]).get("issues", [])
    except ValueError:
        return False, seconds
    return any(issue.get("severity") in ("critical", "warning") for issue in issues), seconds


def verified(folder: Path, endpoint: str) -> tuple[bool, float]:
    """Whether `hf cache verify` finds a file that differs from the Hub's, or is missing."""
    online = {key: value for key, value in OFFLINE.items() if key != "HF_HUB_OFFLINE"} | {"HF_ENDPOINT": endpoint}
    command = (str(COMMANDS / "hf"), "cache", "verify", "demo/model", "--fail-on-missing-files", "--local-dir")
    code, _, seconds = run(*command, str(folder), env=online)
    return code != 0, seconds


def main() -> None:
    """A line for each rule, then the sums."""
    tools = ["inspect audit", *(name for name in ("modelaudit", "hf") if (COMMANDS / name).exists())]
    most = int(sys.argv[2]) if len(sys.argv) > 2 else None
    cases = [item for item in hostile.CASES.items() if item[1].options == ("{}",)][:most]
    reported: dict[str, list[bool]] = {}
    spent = dict.fromkeys(tools, 0.0)
    with tempfile.TemporaryDirectory() as root, serving({"demo/model": hostile.make(lambda _: 0, Path(root))}) as hub:
        ask = {"inspect audit": ours, "modelaudit": theirs, "hf": lambda folder: verified(folder, hub.endpoint)}
        for code, case in cases:
            for kind, change in (("damaged", case.trips), ("sound", case.misses)):
                with tempfile.TemporaryDirectory() as own:
                    folder = hostile.make(change, Path(own))
                    answers = {tool: ask[tool](folder) for tool in tools}
                print(f"{kind} {code}", [found for found, _ in answers.values()], file=sys.stderr, flush=True)
                reported[f"{kind} {code}"] = [found for found, _ in answers.values()]
                spent = {tool: spent[tool] + seconds for tool, (_, seconds) in answers.items()}
    _show(reported, spent)


def _show(reported: dict[str, list[bool]], spent: dict[str, float]) -> None:
    print(f"{'':32} " + " ".join(f"{tool:15}" for tool in spent))
    for name, found in reported.items():
        if name.startswith("damaged"):
            print(f"{name[8:]:32} " + " ".join(f"{'found' if each else '-':15}" for each in found))
    for kind in ("damaged", "sound"):
        rows = [found for name, found in reported.items() if name.startswith(kind)]
        sums = [sum(column) for column in zip(*rows, strict=True)]
        print(f"{kind + ': reported of ' + str(len(rows)):32} " + " ".join(f"{number:<15}" for number in sums))
    print(f"{'seconds':32} " + " ".join(f"{seconds:<15.1f}" for seconds in spent.values()))


if __name__ == "__main__":
    main()
