"""The floor of tested branches."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "branches.py"


def stated(folder: Path, taken: int, missing: list[tuple[int, int]], *options: str) -> subprocess.CompletedProcess[str]:
    """The tool's output on one file."""
    report = folder / "branches.json"
    files = {"a.py": {"executed_branches": [[n, n + 1] for n in range(taken)], "missing_branches": missing}}
    report.write_text(json.dumps({"files": files}))
    return subprocess.run([sys.executable, TOOL, report, *options], capture_output=True, text=True, check=False)


def test_fewer_branches_than_the_floor_fail(tmp_path: Path) -> None:
    """Half of the branches are below any floor of ours; all of them are above."""
    low = stated(tmp_path, 2, [(7, 8), (9, 0)], "--missing")
    assert low.returncode == 1
    assert low.stdout.startswith("a.py: 2 of 4: 7→8, 9→end\n50.00 % of the branches are tested; the floor is ")
    assert low.stdout.endswith(": test what was added (--missing lists it)\n")


@pytest.mark.parametrize("taken", [4, 400])
def test_all_branches_pass(tmp_path: Path, taken: int) -> None:
    """And the message says to raise the floor."""
    high = stated(tmp_path, taken, [])
    assert (high.returncode, high.stderr) == (0, "")
    assert high.stdout.startswith("100.00 % ")
    assert high.stdout.endswith(": raise it in pyproject.toml\n")
