"""A watched folder: new models are audited when they are complete, one line each, until Ctrl-C."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from subprocess import PIPE, Popen
from threading import Thread
from time import sleep

import pytest
from costs import HANGS

from inspector.units import size
from scan.conftest import llama, make

pytestmark = pytest.mark.gate


class Watching:
    """The running command, with its lines as they come."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-u", "-m", "inspector", "scan", "--watch", str(folder)]
        self.process = Popen(command, stdout=PIPE, stderr=PIPE, text=True, env={**os.environ, "COLUMNS": "200"})
        self._lines: SimpleQueue[str] = SimpleQueue()
        streams = [stream for stream in (self.process.stdout, self.process.stderr) if stream is not None]
        self._readers = [Thread(target=self._read, args=(stream,), daemon=True) for stream in streams]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: Iterable[str]) -> None:
        for line in stream:
            self._lines.put(line.rstrip())

    def close(self) -> None:
        self.process.kill()
        self.process.wait(HANGS)
        for reader in self._readers:
            reader.join(HANGS)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def line(self, seconds: float = HANGS) -> str | None:
        try:
            return self._lines.get(timeout=seconds)
        except Empty:
            return None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "downloads", there=llama())


@pytest.fixture
def watching(folder: Path) -> Iterator[Watching]:
    found = Watching(folder)
    assert found.line() == "inspect: watching 1 folder with 1 model; Ctrl-C ends it"
    yield found
    found.close()


def test_a_new_model_is_audited_once_it_is_complete(folder: Path, watching: Watching, tmp_path: Path) -> None:
    """A download that is renamed at its end, and one that is cut; older models are left alone."""
    new = make(tmp_path / "elsewhere", model=llama()) / "model"
    (folder / "new").mkdir()
    shutil.copy(new / "config.json", folder / "new")
    unfinished = folder / "new" / "model.safetensors.incomplete"
    shutil.copy(new / "model.safetensors", unfinished)
    sleep(2.5)
    assert watching.line(0.1) is None
    unfinished.rename(folder / "new" / "model.safetensors")
    nbytes = sum(path.stat().st_size for path in (folder / "new").iterdir())
    assert watching.line() == f"{folder}/new: 2 files, {size(nbytes)}: nothing found; safetensors opens it"
    make(folder, cut=llama(cut=5))
    stated = watching.line()
    assert stated is not None
    assert stated.startswith(f"{folder}/cut: 2 files")
    assert ": truncated: the file ends 5 bytes too early" in stated
    watching.process.send_signal(signal.SIGINT)
    assert watching.process.wait(HANGS) == 0
    assert watching.line(0.2) is None
