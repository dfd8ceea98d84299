"""All pickles in a file: PyTorch's first format has five in a row, joblib puts arrays between opcodes."""

from __future__ import annotations

from math import prod
from typing import Any

from inspector.formats.pytorch.machine import Budget
from inspector.formats.pytorch.program import Program, run
from inspector.formats.pytorch.stream import Stream
from inspector.formats.pytorch.values import Dictionary, Global, Made

#: The first pickle of PyTorch's first format (`torch/serialization.py`, MAGIC_NUMBER).
MAGIC = 0x1950A86A20F9469CFC6C
#: Pickles of that format: magic, version, system, what was saved, keys of the storages that follow as raw bytes.
IN_A_ROW = 5
_WRAPPER = "joblib.numpy_pickle.NumpyArrayWrapper"


def programs(stream: Stream, budget: Budget, most: int | None = None) -> list[Program]:
    """The pickles from the stream's position: the first five, and any later ones that reach a name.

    Only the last one may be damaged: if the bytes that follow are not a pickle, it is the result of reading them as
    one.
    """
    found: list[Program] = []
    read = 0
    while most is None or read < most:
        read += 1
        program = run(stream, budget)
        if program.damage is not None and any(each.path == _WRAPPER for each in program.reached):
            program = _with_arrays(stream, program, budget)
        if read <= IN_A_ROW or program.reached or program.damage is not None:
            found.append(program)
        if program.damage is not None or stream.position >= stream.size:
            return found
    return found


def is_legacy(found: list[Program]) -> bool:
    """Whether the pickles are those of PyTorch's first format."""
    return bool(found) and found[0].damage is None and isinstance(found[0].value, int) and found[0].value == MAGIC


def _with_arrays(stream: Stream, plain: Program, budget: Budget) -> Program:
    """joblib's reader consumes an array's bytes from the file as soon as the wrapper has its state.

    Both readings count: a name reached in either is reached.
    """
    stream.seek(plain.start)
    again = run(stream, budget, after_state=_pass_over)
    reached = dict.fromkeys((*plain.reached, *again.reached))
    return again._replace(reached=tuple(reached))


def _pass_over(stream: Stream, what: Made) -> None:
    """Skip an array's bytes, as `NumpyArrayWrapper.read_array` consumes them; objects are a pickle in the stream."""
    if what.path != _WRAPPER or not isinstance(what.state, Dictionary):
        return
    state = what.state
    shape, width = state.get("shape"), _width(state.get("dtype"))
    if width is None or not isinstance(shape, tuple) or not all(isinstance(each, int) for each in shape):
        return
    if isinstance(state.get("numpy_array_alignment_bytes"), int):
        padding = stream.take(1)[0]
        stream.seek(stream.position + padding)
    stream.seek(stream.position + max(0, prod(shape)) * width)


def _width(dtype: Any) -> int | None:
    """Bytes of a number of NumPy's type; None for objects, and for anything that is not such a type."""
    code = dtype.arguments[0] if isinstance(dtype, Made) and isinstance(dtype.what, Global) and dtype.arguments else ""
    digits = str(code).lstrip("<>|=?bhilqpefdgFDGSUVMmcu")
    if not isinstance(code, str) or not digits.isdecimal() or len(digits) > 6:
        return None
    return int(digits) * (4 if "U" in code else 1)
