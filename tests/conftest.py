"""Fixtures: checkpoints made from recipes once a session, and runs of the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fuzzing  # noqa: F401  hypothesis is asked for its profile before any test is read
import pytest
import sparse

from inspector import __main__ as main
from inspector import architectures

if TYPE_CHECKING:
    from loopback.server import Hub

#: The caches of whoever runs the tests must not influence them.
os.environ["HF_HUB_CACHE"] = os.environ["OLLAMA_MODELS"] = os.devnull

# Each worker's threads of linear algebra would wait in loops for the other worker's: six times the work of one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Whatever is not a local path might be a repository: no test may ask the real Hub. Tests of the loopback Hub lift this.
os.environ["HF_HUB_OFFLINE"] = "1"


def pytest_collection(session: pytest.Session) -> None:
    """Let the second of parallel workers begin at the end, so that each compiles half of the tests after a change."""
    if os.environ.get("PYTEST_XDIST_WORKER") != "gw1":
        return
    paths = sorted(Path(__file__).parent.rglob("test_*.py"))
    for path in reversed(paths[len(paths) // 2 :]):
        with suppress(pytest.skip.Exception):
            import_module(".".join(path.relative_to(Path(__file__).parent).with_suffix("").parts))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--cases`, for a second Python that needs every test but not all of its cases, and `--only`."""
    parser.addoption(
        "--cases", type=int, metavar="N", help="Of a test with more cases only N, spread over all of them."
    )
    parser.addoption("--only", metavar="TEXT", help="Of tests by `@every`, the cases with this text in their names.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases beyond `--cases`: always the same ones, so that parallel workers agree."""
    most = config.getoption("--cases")
    if not most:
        return
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(item.nodeid.split("[")[0], []).append(item)
    kept = {
        cases[number * len(cases) // most].nodeid if len(cases) > most else cases[number].nodeid
        for cases in tests.values()
        for number in range(min(most, len(cases)))
    }
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in kept])
    items[:] = [item for item in items if item.nodeid in kept]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Name of a recipe → its folder of full-size sparse files."""
    root = tmp_path_factory.mktemp("checkpoints")

    def make(name: str) -> Path:
        folder = root / name
        return folder if folder.exists() else sparse.make(sparse.load(name), folder)

    return make


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A loopback Hub that `huggingface_hub` takes for the real one, with an empty cache and nobody logged in."""
    from huggingface_hub import constants
    from loopback.server import Hub

    from inspector.sources import http

    with Hub() as server:
        monkeypatch.setattr(constants, "ENDPOINT", server.endpoint)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(http, "FIRST_WAIT", 0.01)
        for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE"):
            monkeypatch.delenv(name, raising=False)
        yield server


@dataclass(frozen=True)
class Ran:
    """The result of a command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def _no_tables_of_others(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Remove the tables that a test adds, as `--tables` and `--ask` do for one command, after the test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.getbasetemp() / "nobody"))
    before = list(architectures._ADDED)
    yield
    architectures._ADDED[:] = before
    architectures._LIBRARY.clear()


@pytest.fixture
def inspect(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run the command line within this process."""

    def run(*arguments: object) -> Ran:
        code = main.run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


def write(path: Path, header: object, data: int = 0, *, raw: bytes | None = None) -> Path:
    """Write a safetensors file with the given header and `data` zero bytes after it."""
    text = json.dumps(header, separators=(",", ":")).encode() if raw is None else raw
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    with path.open("r+b") as file:
        file.truncate(8 + len(text) + data)
    return path


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and modification time of everything below a folder."""
    paths = [Path(root, name) for root, folders, names in os.walk(folder) for name in (*folders, *names)]
    paths = [path for path in paths if len(str(path)) < 4000]  # as far as a path can be looked up
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in paths}
