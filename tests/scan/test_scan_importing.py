"""Whatever Python modules a download contains, no process of a scan imports them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import inspector
from inspector.errors import UsageError
from inspector.scanning import process

pytestmark = pytest.mark.gate

ROOT = Path(inspector.__file__).parents[1]
#: A process of Dask's, started as Dask starts it; a hostile module takes a standard module's place.
SPAWNED = """
import sys
sys.path[:] = filter(None, sys.path)
from multiprocessing import get_context
from inspector.scanning.process import not_from_here
if __name__ == "__main__":
    with not_from_here():
        child = get_context("spawn").Process(target=print, args=("started",))
        child.start()
        child.join()
"""


@pytest.fixture
def download(tmp_path: Path) -> Path:
    """A model's folder with modules named like Python's own, each of which leaves a file behind."""
    for name in ("re", "json", "struct", "pickle", "selectors", "threading", "distributed", "msgpack", "click"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    return tmp_path


def run(folder: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONSAFEPATH", None)
    ran = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return ran.stdout + ran.stderr


def test_the_trap_works(download: Path) -> None:
    run(download, "-m", "inspector.scanning.child", "x", "x", "x")
    assert (download / "ran").exists()


def test_the_reading_process(download: Path) -> None:
    assert "invalid literal" in run(download, "-c", process._START, "x", "x", "x")  # its first argument is not a handle
    assert not (download / "ran").exists()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there the folder is refused")
def test_processes_of_dask(download: Path) -> None:
    assert run(download, "-c", SPAWNED) == "started\n"
    assert not (download / "ran").exists()


@pytest.mark.parametrize("before", [None, "", "1"])
def test_the_environment_is_as_before(before: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    with process.not_from_here():
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert os.environ.get("PYTHONSAFEPATH") == before


@pytest.mark.parametrize("name", ["re.py", "json/__init__.py", "numpy/__init__.py", "pytest.py"])
def test_a_folder_is_refused_where_python_cannot_leave_it_out(name: str, tmp_path: Path) -> None:
    """Modules of other names do no harm, nor folders without any, nor modules that this process loaded from there."""
    (tmp_path / "modeling_mine.py").touch()
    (tmp_path / "pickle").mkdir()
    process._check(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    with pytest.raises(UsageError, match=rf"{name} would run in the scan's processes"):
        process._check(tmp_path)


def test_a_folder_of_modules_in_use_is_not_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program's own folder is not refused, as when it runs from its sources."""
    (tmp_path / "pytest.py").touch()
    monkeypatch.setitem(sys.modules, "pytest", ModuleType("pytest"))
    sys.modules["pytest"].__file__ = str(tmp_path / "pytest.py")
    process._check(tmp_path)
