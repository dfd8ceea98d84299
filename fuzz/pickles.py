"""Coverage-guided fuzzing of the pickle machine, compared with Python's own: `make fuzz`, or `python fuzz/pickles.py`.

Python's unpickler runs the same bytes with names that have no effect: its imports are recorded and not performed. Each
such name must be among those that the machine reached, unless the machine reports that it could not follow the program.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures"), str(ROOT / "tests")]

with atheris.instrument_imports(include=["inspector"]):
    from inspector.auditing.readers import archives, pickles
    from inspector.formats.pytorch.machine import Budget, Stream
    from inspector.formats.pytorch.program import programs

from hostile.opcodes import HIDDEN  # noqa: E402  found through the path above
from unpickling import imported, known_as  # noqa: E402  the same

#: Steps for one input: libFuzzer makes none that is longer.
STEPS = 10_000
#: Bytes of a seed: a long one is long for a single reason.
LONGEST = 1_000


def one_input(data: bytes) -> None:
    """Read the input by both: the machine has reached whatever Python's would import."""
    program = programs(Stream.of(data), Budget(STEPS), most=1)[0]
    judge(data)
    if program.damage is not None or any(not each.module for each in program.reached):
        return  # reported as an error, whatever it reaches
    own = {(each.module, each.name) for each in program.reached}
    theirs = imported(data)
    assert all(known_as(name, own) for name in theirs), (theirs, own)


def judge(data: bytes) -> None:
    """Run all of the audit's judgement, archives included."""
    piece = archives.Piece("", lambda start, length: data[start : start + length], len(data))
    pickles.judge(piece, pickles.Budgets(), likely=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as corpus:
        for number, each in enumerate(HIDDEN.values()):
            if len(each) <= LONGEST:
                Path(corpus, str(number)).write_bytes(each)
        atheris.Setup([*sys.argv, corpus], one_input)
        atheris.Fuzz()
