"""One pickle, followed from its first opcode to its `STOP`, or to where any unpickler would fail."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from inspector.formats.pytorch.machine import Budget, Machine
from inspector.formats.pytorch.opcodes import ACTIONS, STOP
from inspector.formats.pytorch.stream import BeyondError, PickleError, Stream
from inspector.formats.pytorch.values import Made, Opaque, Reached


class Program(NamedTuple):
    """One pickle, read as far as possible."""

    value: Any  # its result; an Opaque if it was not read to its end
    reached: tuple[Reached, ...]  # each once, in order
    damage: str | None  # why it was not read to its end
    beyond: bool  # whether the budget was the reason
    start: int  # offset of its first byte
    end: int


_DAMAGE = (PickleError, ValueError, IndexError, TypeError, OverflowError, struct.error)


def run(stream: Stream, budget: Budget, after_state: Callable[[Stream, Made], None] | None = None) -> Program:
    """One pickle, from the stream's position. Raises nothing: the result reports damage.

    Args:
        after_state: called when an object has received its state, for readers that then consume more of the stream.
    """
    start = stream.position
    machine = Machine(stream, budget, after_state)
    try:
        value = _steps(machine)
    except _DAMAGE as error:
        told = str(error) if isinstance(error, PickleError) else "a value that does not fit its opcode"
        beyond = isinstance(error, BeyondError)
        return Program(Opaque(), tuple(machine.reached.values()), told, beyond, start, stream.position)
    finally:
        budget.steps -= machine.steps
    return Program(value, tuple(machine.reached.values()), None, False, start, stream.position)


def _steps(machine: Machine) -> Any:
    """The program's result. Raises PickleError, or whatever a damaged value raises."""
    stream = machine.stream
    for _ in range(machine.budget.steps):
        if stream.at >= len(stream.window):
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
    raise BeyondError("too many opcodes")
