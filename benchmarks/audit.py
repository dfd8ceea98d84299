"""What `inspect audit`, `modelaudit` and `hf cache verify` find in the hostile fixtures, and what it costs.

    python benchmarks/audit.py [FOLDER-OF-COMMANDS]     where `modelaudit` and `hf` are, if not on the path

`hf cache verify` compares a local folder with what the Hub says, so without the network it can only be
listed: it knows checksums and nothing else.
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
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

import hostile  # noqa: E402  found through the path above

COMMANDS = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(sys.executable).parent
OFFLINE = {**os.environ, "HF_HUB_OFFLINE": "1", "PROMPTFOO_DISABLE_TELEMETRY": "1", "NO_ANALYTICS": "1"}


def run(*command: str) -> tuple[int, str, float]:
    """Exit code, output and seconds."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=OFFLINE, cwd=ROOT)
    return done.returncode, done.stdout, time.perf_counter() - start


def ours(folder: Path) -> tuple[bool, float]:
    """Whether `inspect audit` has an error or a warning."""
    _, out, seconds = run(sys.executable, "-m", "inspector", "audit", str(folder), "--json")
    counts = json.loads(out)["counts"] if out else {"error": 1}
    return bool(counts["error"] or counts.get("warning")), seconds


def theirs(folder: Path) -> tuple[bool, float]:
    """Whether `modelaudit` has an issue graver than information."""
    _, out, seconds = run(str(COMMANDS / "modelaudit"), "scan", str(folder), "--format", "json")
    try:
        issues = json.loads(out[out.index("{") :]).get("issues", [])
    except ValueError:
        return False, seconds
    return any(issue.get("severity") in ("critical", "warning") for issue in issues), seconds


def main() -> None:
    """One line a rule, then the sums."""
    compare = (COMMANDS / "modelaudit").exists()
    told: dict[str, list[bool]] = {}
    spent = [0.0, 0.0]
    with tempfile.TemporaryDirectory() as root:
        for code, case in hostile.CASES.items():
            if case.trips is hostile.nothing:
                continue
            for kind, change in (("damaged", case.trips), ("sound", case.misses)):
                folder = hostile.make(change, Path(root, kind, code))
                answers = [ours(folder), theirs(folder) if compare else (False, 0.0)]
                told[f"{kind} {code}"] = [found for found, _ in answers]
                spent = [total + seconds for total, (_, seconds) in zip(spent, answers, strict=True)]
    print(f"{'':32} inspect audit  modelaudit")
    for name, (own, other) in told.items():
        if name.startswith("damaged"):
            print(f"{name[8:]:32} {'found' if own else '-':13}  {'found' if other else '-' if compare else 'not run'}")
    for kind in ("damaged", "sound"):
        rows = [found for name, found in told.items() if name.startswith(kind)]
        own, other = (sum(row[at] for row in rows) for at in (0, 1))
        print(f"{kind + ': told of ' + str(len(rows)):32} {own:<13}  {other}")
    print(f"{'seconds':32} {spent[0]:<13.1f}  {spent[1]:.1f}")


if __name__ == "__main__":
    main()
