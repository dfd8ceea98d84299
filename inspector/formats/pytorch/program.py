"""One pickle, followed from its first opcode to its `STOP`, or to where any unpickler would fail; and all of a file.

PyTorch's first format has five pickles in a row, joblib puts arrays between opcodes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

from inspector.formats.pytorch.machine import BeyondError, Budget, EndError, Machine, PickleError, Stream
from inspector.formats.pytorch.opcodes import ACTIONS, STOP
from inspector.formats.pytorch.values import Dictionary, Global, Made, Opaque, Reached


class Program(NamedTuple):
    """One pickle, read as far as possible."""

    value: Any  # its result; an Opaque if it was not read to its end
    reached: tuple[Reached, ...]  # each once, in order
    damage: str | None  # why it was not read to its end
    beyond: bool  # whether the budget was the reason
    start: int  # offset of its first byte
    end: int
    unfinished: bool = False  # whether the bytes end before the program does
    oddity: str | None = None  # what no pickler writes, though an unpickler reads it


_DAMAGE = (PickleError, ValueError, IndexError, TypeError, OverflowError, struct.error)


def run(stream: Stream, budget: Budget, after_state: Callable[[Stream, Made], None] | None = None) -> Program:
    """One pickle, from the stream's position. Raises nothing: the result reports damage.

    Args:
        after_state: called when an object has received its state, for readers that then consume more of the stream.
    """
    start = stream.position
    machine = Machine(stream, budget, after_state)
    try:
        value = _run_to_end(machine)
    except _DAMAGE as error:
        damage = str(error) if isinstance(error, PickleError) else "a value that does not fit its opcode"
        beyond = isinstance(error, BeyondError)
        unfinished = isinstance(error, EndError)
        return Program(Opaque(), tuple(machine.reached.values()), damage, beyond, start, stream.position, unfinished)
    finally:
        budget.steps -= machine.steps
    reached = tuple(machine.reached.values())
    return Program(value, reached, None, False, start, stream.position, oddity=_oddity(machine, value))


#: Values that one program leaves in its containers, each counted as often as a reader meets it: a program of 1 MB that
#: uses none twice has a million.
MAX_VALUES = 100_000_000


def _oddity(machine: Machine, value: Any) -> str | None:
    """What no pickler writes: values left behind on the stack, or containers that are within each other without end."""
    if len(machine.stack) > 0:
        return f"it leaves {len(machine.stack)} values behind"
    if machine.shared > MANY_SHARED and values_in(value) > MAX_VALUES:
        return "lists within lists, named again and again, which unfold to more than any memory holds"
    return None


#: Containers that are taken from the memo or doubled: with fewer, nothing unfolds to many values.
MANY_SHARED = 20


#: The deepest nesting of containers: Python's pickler stops far earlier, because each level takes some of its calls.
MAX_NESTED = 20_000


def values_in(value: Any) -> int:
    """The number of values that a reader meets by following every container; more than `MAX_VALUES` if one contains
    itself, or if more than `MAX_NESTED` are within each other."""
    counted: dict[int, int] = {}
    pending = [(value, False)]
    nested = 0
    while pending and nested <= MAX_NESTED:
        each, done = pending.pop()
        inner = _parts_of(each)
        if done:
            nested -= 1
            counted[id(each)] = min(MAX_VALUES + 1, 1 + sum(counted.get(id(one), 1) for one in inner))
        elif inner and id(each) not in counted:
            counted[id(each)] = MAX_VALUES + 1  # met only if it contains itself
            nested += 1
            pending.append((each, True))
            pending += [(one, False) for one in inner]
    return MAX_VALUES + 1 if pending else counted.get(id(value), 1)


def _parts_of(value: Any) -> Sequence[Any]:
    if isinstance(value, Dictionary):
        return [one for pair in value.pairs for one in pair]
    return value if isinstance(value, list | tuple) else ()


#: The message about a program that needs more opcodes than the budget allows.
TOO_LONG = "too many opcodes"


def _run_to_end(machine: Machine) -> Any:
    """The program's result. Raises PickleError, or whatever a damaged value raises."""
    stream = machine.stream
    for _ in range(machine.budget.steps):
        try:  # asking for the window's length each time would double the calls
            code = stream.window[stream.at]
        except IndexError:
            stream.fill(1)
            code = stream.window[stream.at]
        stream.at += 1
        machine.steps += 1
        action = ACTIONS[code]
        if action is None:
            raise PickleError(f"no opcode has the number {code}")
        action(machine)
        if code == STOP:
            return machine.pop()
    raise BeyondError(TOO_LONG)


# --- pickles in a row ---------------------------------------------------------------------------

#: The first pickle of PyTorch's first format (`torch/serialization.py`, MAGIC_NUMBER).
MAGIC = 0x1950A86A20F9469CFC6C
#: Pickles of that format: magic, version, system, what was saved, keys of the storages that follow as raw bytes.
IN_A_ROW = 5
#: joblib's, and the copy of it in scikit-learn before 0.23.
_WRAPPERS = ("joblib.numpy_pickle.NumpyArrayWrapper", "sklearn.externals.joblib.numpy_pickle.NumpyArrayWrapper")


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
        if any(each.path in _WRAPPERS for each in program.reached):
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
    """joblib's reader consumes an array from the file as soon as the wrapper has its state.

    An array of numbers is their bytes, one of objects a pickle of its own, which pickle.load reads
    (`NumpyArrayWrapper.read_array`). Both readings count: a name reached in either is reached.
    """
    stream.seek(plain.start)
    reached = dict.fromkeys(plain.reached)

    def consume(stream: Stream, what: Made) -> None:
        state = what.state
        if what.path not in _WRAPPERS or not isinstance(state, Dictionary):
            return
        code, shape = _code_of(state.get("dtype")), state.get("shape")
        if code.startswith("O"):
            objects = run(stream, budget)
            reached.update(dict.fromkeys(objects.reached))
            if objects.damage is not None:
                raise (BeyondError if objects.beyond else PickleError)(objects.damage)
        elif (
            (width := _width_of(code)) is not None
            and isinstance(shape, tuple)
            and all(isinstance(each, int) for each in shape)
        ):
            padded = isinstance(state.get("numpy_array_alignment_bytes"), int)
            padding = stream.take(1)[0] if padded else 0
            stream.seek(stream.position + padding + max(0, prod(shape)) * width)

    again = run(stream, budget, after_state=consume)
    return again._replace(reached=tuple(reached | dict.fromkeys(again.reached)))


def _code_of(dtype: Any) -> str:
    """How NumPy writes a type: `f4`, `O8`; empty for anything else."""
    named = isinstance(dtype, Made) and isinstance(dtype.what, Global) and dtype.arguments
    return code.lstrip("<>|=") if named and isinstance(code := dtype.arguments[0], str) else ""


def _width_of(code: str) -> int | None:
    """Bytes of a number; None for what is not a number."""
    digits = code.lstrip("?bhilqpefdgFDGSUVMmcu")
    if not digits.isdecimal() or len(digits) > 6:
        return None
    return int(digits) * (4 if "U" in code else 1)
