"""Python's pickle machine, taken step by step without doing what it says.

All opcodes of protocols 0 to 5 move values on a stack, as CPython's `_pickle.c` does; a memo keeps them. Where an
unpickler would import, the name is noted; where it would call, the call is. So each name that it would
resolve is known, whichever way it came onto the stack.
"""

from __future__ import annotations

import codecs
import struct
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections.abc import Callable
from typing import Any, NamedTuple

from inspector.formats.pytorch import constructors
from inspector.formats.pytorch.stream import BeyondError, PickleError, Stream
from inspector.formats.pytorch.values import Blob, Dictionary, Global, Made, Opaque, Persistent, Reached, Use

#: Digits of a number written as text: the work to read one grows with their square.
MAX_DIGITS = 1_000
#: Characters of a name that is imported.
MAX_NAME = 1_000
#: Different names that one program reaches.
MAX_REACHED = 10_000


class Budget:
    """What may still be spent: on one file, or on all of a model's."""

    __slots__ = ("kept", "steps")

    def __init__(self, steps: int, kept: int = 64 << 20) -> None:
        self.steps = steps  # opcodes
        self.kept = kept  # bytes of texts and numbers


class Program(NamedTuple):
    """One pickle, read as far as it could be."""

    value: Any  # what it leaves; an Opaque where it was not read to its end
    reached: tuple[Reached, ...]  # each once, in order
    damage: str | None  # why it was not read to its end
    beyond: bool  # whether that is for the budget
    start: int  # of its bytes
    end: int


_DAMAGE = (PickleError, ValueError, IndexError, TypeError, OverflowError, struct.error)


def run(stream: Stream, budget: Budget, after_state: Callable[[Stream, Made], None] | None = None) -> Program:
    """One pickle, from where the stream stands. Raises nothing: damage is told in the result.

    Args:
        after_state: called when an object has got its state, for readers that take more from the stream then.
    """
    start = stream.position
    machine = _Machine(stream, budget, after_state)
    try:
        value = machine.run()
    except _DAMAGE as error:
        told = str(error) if isinstance(error, PickleError) else "a value that does not fit its opcode"
        beyond = isinstance(error, BeyondError)
        return Program(Opaque(), tuple(machine.reached.values()), told, beyond, start, stream.position)
    finally:
        budget.steps -= machine.steps
    return Program(value, tuple(machine.reached.values()), None, False, start, stream.position)


class _Machine:
    def __init__(
        self, stream: Stream, budget: Budget, after_state: Callable[[Stream, Made], None] | None = None
    ) -> None:
        self.stream = stream
        self.after_state = after_state
        self.budget = budget
        self.stack: list[Any] = []
        self.marks: list[int] = []  # heights of the stack
        self.memo: dict[int, Any] = {}
        self.reached: dict[tuple[str, str, Use, bool], Reached] = {}
        self.steps = 0

    def run(self) -> Any:
        """Raises PickleError, or what a damaged value raises."""
        stream = self.stream
        for _ in range(self.budget.steps):
            if stream.at >= len(stream.window):
                stream.fill(1)
            code = stream.window[stream.at]
            stream.at += 1
            self.steps += 1
            action = ACTIONS[code]
            if action is None:
                raise PickleError(f"no opcode has the number {code}")
            action(self)
            if code == _STOP:
                return self.pop()
        raise BeyondError("more opcodes than are read")

    # --- the stack ----------------------------------------------------------------------------

    def pop(self) -> Any:
        """The topmost value above the last mark."""
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise PickleError("it takes from an empty stack")
        return self.stack.pop()

    def top(self) -> Any:
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise PickleError("it takes from an empty stack")
        return self.stack[-1]

    def marked(self) -> list[Any]:
        """What lies above the last mark, taken with it."""
        if not self.marks:
            raise PickleError("it goes back to a mark that it did not set")
        at = self.marks.pop()
        found = self.stack[at:]
        del self.stack[at:]
        return found

    def keep(self, size: int) -> None:
        """Count bytes of what is kept. Raises BeyondError for too many."""
        self.budget.kept -= size
        if self.budget.kept < 0:
            raise BeyondError("more text than is read")

    # --- names and calls ------------------------------------------------------------------------

    def reach(self, found: Global, use: Use, known: bool) -> None:
        key = (found.module, found.name, use, known)
        if key not in self.reached:
            if len(self.reached) >= MAX_REACHED:
                raise BeyondError("more names than are read")
            self.reached[key] = Reached(*key)

    def name(self, module: Any, name: Any) -> Global:
        """What an unpickler imports under two texts; names of Python 2 are Python 3's, as it maps them."""
        if not isinstance(module, str) or not isinstance(name, str):
            found = Global("", "a name that is made while it is loaded")
        elif len(module) + len(name) > MAX_NAME:
            raise PickleError("a name longer than any")
        elif (module, name) in NAME_MAPPING:
            found = Global(*NAME_MAPPING[module, name])
        else:
            found = Global(IMPORT_MAPPING.get(module, module), name)
        self.reach(found, "name", constructors.known(found))
        return found

    def call(self, what: Any, arguments: Any, named: Any = None) -> Made:
        """What calling would make; noted with whether it is a known constructor's usual call."""
        inner, handed = what, arguments
        while isinstance(inner, Global):
            self.reach(inner, "call", named is None and constructors.fits(inner, handed))
            deeper = constructors.calls(inner, handed)
            if deeper is None:
                break
            self._spend()
            inner, handed = deeper
        else:
            self.reach(Global("", "what another call returned"), "call", False)
        return Made(what, arguments, named)

    def _spend(self) -> None:
        self.steps += 1
        if self.steps > self.budget.steps:
            raise BeyondError("more calls than are read")

    def set_state(self, what: Any, state: Any) -> None:
        """`BUILD`: attributes of a made object, or of a class or function itself."""
        if isinstance(what, Made):
            what.state = state
            if isinstance(what.what, Global) and not constructors.known(what.what):
                self.reach(what.what, "call", False)
            if self.after_state is not None:
                self.after_state(self.stream, what)
        elif isinstance(what, Global):
            self.reach(what, "change", False)

    def extend(self, what: Any, items: list[Any]) -> None:
        """Append to a list, or to an object that says it is one."""
        if isinstance(what, list):
            what += items
        elif isinstance(what, Made):
            what.items += items
        elif isinstance(what, Global):
            self.reach(what, "change", False)

    def set_items(self, what: Any, flat: list[Any]) -> None:
        """Keys and values in turn, into a dictionary or what says it is one."""
        if len(flat) % 2:
            raise PickleError("a key without a value")
        pairs = list(zip(flat[::2], flat[1::2], strict=True))
        if isinstance(what, Dictionary):
            what.pairs += pairs
        elif isinstance(what, Made):
            what.items += pairs
        elif isinstance(what, Global):
            self.reach(what, "change", False)


# --- arguments ----------------------------------------------------------------------------------


def _number(form: str) -> Callable[[_Machine], Any]:
    """A number of fixed width."""
    layout = struct.Struct(form)

    def read(machine: _Machine) -> Any:
        return layout.unpack(machine.stream.take(layout.size))[0]

    return read


_U1, _U2, _I4, _U4, _U8 = (_number(form) for form in ("<B", "<H", "<i", "<I", "<Q"))


def _decimal(machine: _Machine) -> int | bool:
    """`I` and `L`: digits on a line; `00` and `01` are truths."""
    line = machine.stream.line()
    if line in (b"00", b"01"):
        return line == b"01"
    if len(line) > MAX_DIGITS:
        raise PickleError("a number longer than any")
    return int(line.removesuffix(b"L"), 0)


def _index(machine: _Machine) -> int:
    line = machine.stream.line()
    if len(line) > 20:
        raise PickleError("a number longer than any")
    return int(line)


def _long(width: Callable[[_Machine], Any]) -> Callable[[_Machine], Any]:
    """A number of any size, little-endian in two's complement."""

    def read(machine: _Machine) -> Any:
        raw = _sized(machine, width(machine))
        return int.from_bytes(raw, "little", signed=True) if isinstance(raw, bytes) else Opaque()

    return read


def _sized(machine: _Machine, length: int) -> bytes | Blob:
    if length < 0:
        raise PickleError("a length below zero")
    found = machine.stream.run(length)
    machine.keep(len(found) if isinstance(found, bytes) else 0)
    return found


def _bytes(width: Callable[[_Machine], Any]) -> Callable[[_Machine], Any]:
    return lambda machine: _sized(machine, width(machine))


def _text(width: Callable[[_Machine], Any]) -> Callable[[_Machine], Any]:
    """UTF-8; a text that is too long to be kept stands as its bytes."""

    def read(machine: _Machine) -> Any:
        raw = _sized(machine, width(machine))
        return raw.decode("utf-8", "surrogatepass") if isinstance(raw, bytes) else raw

    return read


def _eight_bit(width: Callable[[_Machine], Any]) -> Callable[[_Machine], Any]:
    """Python 2's texts: what encoding they are in is the loader's to say, and names are ASCII."""

    def read(machine: _Machine) -> Any:
        raw = _sized(machine, width(machine))
        return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw

    return read


def _quoted(machine: _Machine) -> str:
    """`S`: a text in quotes, with escapes."""
    line = machine.stream.line().strip()
    machine.keep(len(line))
    if len(line) < 2 or line[:1] != line[-1:] or line[:1] not in (b"'", b'"'):
        raise PickleError("a text without its quotes")
    return codecs.escape_decode(line[1:-1])[0].decode("utf-8", "replace")


def _raw_text(machine: _Machine) -> str:
    line = machine.stream.line()
    machine.keep(len(line))
    return line.decode("raw-unicode-escape")


def _float_text(machine: _Machine) -> float:
    line = machine.stream.line()
    if len(line) > MAX_DIGITS:
        raise PickleError("a number longer than any")
    return float(line)


def _name(machine: _Machine) -> str:
    return machine.stream.line().decode("utf-8")


# --- opcodes ------------------------------------------------------------------------------------

Action = Callable[[_Machine], None]


def _pushes(read: Callable[[_Machine], Any]) -> Action:
    return lambda machine: machine.stack.append(read(machine))


def _pushes_tuple(length: int) -> Action:
    def act(machine: _Machine) -> None:
        values = [machine.pop() for _ in range(length)]
        machine.stack.append(tuple(reversed(values)))

    return act


def _pop(machine: _Machine) -> None:
    """`POP` takes a mark as well, where nothing lies above it."""
    if machine.marks and machine.marks[-1] == len(machine.stack):
        machine.marks.pop()
    else:
        machine.pop()


def _marked_dictionary(machine: _Machine) -> None:
    made = Dictionary([])
    machine.set_items(made, machine.marked())
    machine.stack.append(made)


def _append(machine: _Machine) -> None:
    value = machine.pop()
    machine.extend(machine.top(), [value])


def _appends(machine: _Machine) -> None:
    values = machine.marked()
    machine.extend(machine.top(), values)


def _set_item(machine: _Machine) -> None:
    value, key = machine.pop(), machine.pop()
    machine.set_items(machine.top(), [key, value])


def _set_items(machine: _Machine) -> None:
    values = machine.marked()
    machine.set_items(machine.top(), values)


def _put(read: Callable[[_Machine], Any]) -> Action:
    def act(machine: _Machine) -> None:
        number = read(machine)
        if number < 0:
            raise PickleError("a place in the memo below zero")
        machine.memo[number] = machine.top()

    return act


def _get(read: Callable[[_Machine], Any]) -> Action:
    def act(machine: _Machine) -> None:
        number = read(machine)
        if number not in machine.memo:
            raise PickleError("it takes from the memo what it did not put there")
        machine.stack.append(machine.memo[number])

    return act


def _memoize(machine: _Machine) -> None:
    machine.memo[len(machine.memo)] = machine.top()


def _global(machine: _Machine) -> None:
    module = _name(machine)
    machine.stack.append(machine.name(module, _name(machine)))


def _stack_global(machine: _Machine) -> None:
    name, module = machine.pop(), machine.pop()
    machine.stack.append(machine.name(module, name))


def _extension(read: Callable[[_Machine], Any]) -> Action:
    """A name behind a number, out of a registry that any module may have filled."""

    def act(machine: _Machine) -> None:
        found = Global("", f"extension code {read(machine)}")
        machine.reach(found, "name", False)
        machine.stack.append(found)

    return act


def _reduce(machine: _Machine) -> None:
    arguments, what = machine.pop(), machine.pop()
    machine.stack.append(machine.call(what, arguments))


def _new_object(machine: _Machine) -> None:
    arguments, what = machine.pop(), machine.pop()
    machine.stack.append(machine.call(what, arguments))


def _new_object_ex(machine: _Machine) -> None:
    named, arguments, what = machine.pop(), machine.pop(), machine.pop()
    empty = named is None or (isinstance(named, Dictionary) and not named.pairs)
    machine.stack.append(machine.call(what, arguments, None if empty else named))


def _object(machine: _Machine) -> None:
    values = machine.marked()
    if not values:
        raise PickleError("it takes from an empty stack")
    machine.stack.append(machine.call(values[0], tuple(values[1:])))


def _instance(machine: _Machine) -> None:
    module = _name(machine)
    found = machine.name(module, _name(machine))
    machine.stack.append(machine.call(found, tuple(machine.marked())))


def _build(machine: _Machine) -> None:
    state = machine.pop()
    machine.set_state(machine.top(), state)


def _persistent_text(machine: _Machine) -> None:
    machine.stack.append(Persistent(_name(machine)))


def _protocol(machine: _Machine) -> None:
    if _U1(machine) > 5:
        raise PickleError("a protocol that Python does not have")


def _out_of_band(_: _Machine) -> None:
    raise PickleError("it wants buffers that are not in the file")


def _nothing(_: _Machine) -> None:
    """`STOP`, and what changes no value."""


_STOP = b"."[0]
_BY_OPCODE: dict[bytes, Action] = {
    # what marks, takes and doubles
    b"(": lambda machine: machine.marks.append(len(machine.stack)),
    b".": _nothing,
    b"0": _pop,
    b"1": lambda machine: void(machine.marked()),
    b"2": lambda machine: machine.stack.append(machine.top()),
    # constants and numbers
    b"N": _pushes(lambda _: None),
    b"\x88": _pushes(lambda _: True),
    b"\x89": _pushes(lambda _: False),
    b"I": _pushes(_decimal),
    b"L": _pushes(_decimal),
    b"J": _pushes(_I4),
    b"K": _pushes(_U1),
    b"M": _pushes(_U2),
    b"\x8a": _pushes(_long(_U1)),
    b"\x8b": _pushes(_long(_I4)),
    b"F": _pushes(_float_text),
    b"G": _pushes(_number(">d")),
    # texts and bytes
    b"S": _pushes(_quoted),
    b"T": _pushes(_eight_bit(_I4)),
    b"U": _pushes(_eight_bit(_U1)),
    b"V": _pushes(_raw_text),
    b"X": _pushes(_text(_U4)),
    b"\x8c": _pushes(_text(_U1)),
    b"\x8d": _pushes(_text(_U8)),
    b"B": _pushes(_bytes(_U4)),
    b"C": _pushes(_bytes(_U1)),
    b"\x8e": _pushes(_bytes(_U8)),
    b"\x96": _pushes(_bytes(_U8)),
    b"\x97": _out_of_band,
    b"\x98": _nothing,
    # containers
    b")": _pushes(lambda _: ()),
    b"]": _pushes(lambda _: []),
    b"}": _pushes(lambda _: Dictionary([])),
    b"\x8f": _pushes(lambda _: []),
    b"t": _pushes(lambda machine: tuple(machine.marked())),
    b"l": _pushes(lambda machine: machine.marked()),
    b"d": _marked_dictionary,
    b"\x91": _pushes(lambda machine: tuple(machine.marked())),
    b"\x85": _pushes_tuple(1),
    b"\x86": _pushes_tuple(2),
    b"\x87": _pushes_tuple(3),
    b"a": _append,
    b"e": _appends,
    b"\x90": _appends,
    b"s": _set_item,
    b"u": _set_items,
    # the memo
    b"p": _put(_index),
    b"q": _put(_U1),
    b"r": _put(_U4),
    b"\x94": _memoize,
    b"g": _get(_index),
    b"h": _get(_U1),
    b"j": _get(_U4),
    # names and calls
    b"c": _global,
    b"\x93": _stack_global,
    b"\x82": _extension(_U1),
    b"\x83": _extension(_U2),
    b"\x84": _extension(_I4),
    b"R": _reduce,
    b"\x81": _new_object,
    b"\x92": _new_object_ex,
    b"o": _object,
    b"i": _instance,
    b"b": _build,
    b"P": _persistent_text,
    b"Q": _pushes(lambda machine: Persistent(machine.pop())),
    # the rest
    b"\x80": _protocol,
    b"\x95": lambda machine: void(_U8(machine)),
}


def void(_: object) -> None:
    """A value that is not wanted."""


#: What each byte does; None where no protocol has it.
ACTIONS: tuple[Action | None, ...] = tuple(_BY_OPCODE.get(bytes([code])) for code in range(256))
