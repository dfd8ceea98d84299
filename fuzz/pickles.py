"""Coverage-guided fuzzing of the pickle machine, held against Python's own: `make fuzz`, or `python fuzz/pickles.py`.

Python's unpickler runs the same bytes with names that mean nothing: what it would import is noted, and nothing is. Each
such name must be among those that the machine reached, unless the machine says that it could not follow the program.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import atheris

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

with atheris.instrument_imports(include=["inspector"]):
    from inspector.auditing.rules import archives, pickles
    from inspector.formats.pytorch.machine import Budget
    from inspector.formats.pytorch.sequence import programs
    from inspector.formats.pytorch.stream import Stream

from hostile.opcodes import HIDDEN  # noqa: E402  found through the path above

#: Steps for one input: none is longer than libFuzzer makes them.
STEPS = 10_000
#: Bytes of a seed: what is long is so for one reason.
LONGEST = 1_000


class Nothing:
    """What stands for every name: called, built and filled without any effect."""

    def __init__(self, *_: Any, **__: Any) -> None: ...
    def __setstate__(self, _: Any) -> None: ...
    def append(self, _: Any) -> None: ...
    def extend(self, _: Any) -> None: ...
    def __setitem__(self, _: Any, __: Any) -> None: ...
    def __call__(self, *_: Any, **__: Any) -> Nothing:
        return self


class Noting(pickle._Unpickler):  # type: ignore[name-defined]
    """Python's unpickler, which imports nothing."""

    def __init__(self, data: bytes) -> None:
        super().__init__(BytesIO(data), encoding="utf-8", errors="replace")
        self.names: set[tuple[str, str]] = set()

    def find_class(self, module: str, name: str) -> type:
        if (module, name) in NAME_MAPPING and getattr(self, "proto", 0) < 3:
            module, name = NAME_MAPPING[module, name]
        elif getattr(self, "proto", 0) < 3:
            module = IMPORT_MAPPING.get(module, module)
        self.names.add((module, name))
        return Nothing

    def persistent_load(self, _: Any) -> Nothing:
        return Nothing()


def one_input(data: bytes) -> None:
    """Both read it; what Python's would import, the machine has reached."""
    program = programs(Stream.of(data), Budget(STEPS), most=1)[0]
    judge(data)
    if program.damage is not None or any(not each.module for each in program.reached):
        return  # told as an error, whatever it reaches
    theirs = Noting(data)
    with suppress(Exception):  # what it refuses, it imports no more of
        theirs.load()
    own = {(each.module, each.name) for each in program.reached}
    mapped = {(IMPORT_MAPPING.get(module, module), name) for module, name in theirs.names}
    assert theirs.names <= own or mapped <= own, (theirs.names, own)


def judge(data: bytes) -> None:
    """The whole of the audit's judgement, archives included."""
    piece = archives.Piece("", lambda start, length: data[start : start + length], len(data))
    pickles.judge(piece, pickles.Budgets(), likely=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as corpus:
        for number, each in enumerate(HIDDEN.values()):
            if len(each) <= LONGEST:
                Path(corpus, str(number)).write_bytes(each)
        atheris.Setup([*sys.argv, corpus], one_input)
        atheris.Fuzz()
