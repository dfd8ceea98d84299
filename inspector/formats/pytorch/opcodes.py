"""The effect of each opcode of protocols 0 to 5 on the machine, as in CPython's `_pickle.c`."""

from __future__ import annotations

import codecs
import re
import struct
from collections.abc import Callable
from typing import Any

from inspector.formats.pytorch.machine import BeyondError, Machine, PickleError
from inspector.formats.pytorch.values import Blob, Dictionary, Global, Opaque, Persistent

#: Digits of a number written as text, as many as Python reads by default: reading takes quadratic time.
MAX_DIGITS = 4_300

# --- arguments ----------------------------------------------------------------------------------


def _fixed_number(form: str) -> Callable[[Machine], Any]:
    """A number of fixed width."""
    layout = struct.Struct(form)

    def read(machine: Machine) -> Any:
        return layout.unpack(machine.stream.take(layout.size))[0]

    return read


_U1, _U2, _I4, _U4, _U8 = (_fixed_number(form) for form in ("<B", "<H", "<i", "<I", "<Q"))


def _number_line(machine: Machine) -> bytes:
    """A number's line, up to a zero byte: `_pickle.c` reads it as C's functions read a text. Raises PickleError."""
    line = machine.stream.line_or_blob()
    start = machine.stream.again(line, MAX_DIGITS + 1) if isinstance(line, Blob) else line
    start = start.partition(b"\0")[0]
    if len(start) <= MAX_DIGITS:
        return start
    if start[:MAX_DIGITS].translate(None, b"0123456789+-_.eExXL "):
        raise PickleError("a number with characters that are not digits")
    raise BeyondError("an implausibly long number")


def _decimal(machine: Machine) -> int | bool:
    """`I` and `L`: digits on a line; `00` and `01` are booleans."""
    line = _number_line(machine)
    if line in (b"00", b"01"):
        return line == b"01"
    line = line.removesuffix(b"L")
    try:
        return int(line, 0) if line.strip() else 0
    except ValueError:
        return int(line, 8)  # C's `strtol` reads digits after a zero as octal


def _memo_index(machine: Machine) -> int:
    return int(_number_line(machine))


def _run_of_bytes(machine: Machine, length: int) -> bytes | Blob:
    if length < 0:
        raise PickleError("a length below zero")
    found = machine.stream.run(length)
    machine.keep(len(found) if isinstance(found, bytes) else 0)
    return found


def _run(
    width: Callable[[Machine], Any],
    convert: Callable[[bytes], Any] = lambda raw: raw,
    unread: Callable[[Blob], Any] = lambda blob: blob,
) -> Callable[[Machine], Any]:
    """Bytes after their number, converted; what is too long to keep is represented by its position in the stream."""

    def read(machine: Machine) -> Any:
        raw = _run_of_bytes(machine, width(machine))
        return convert(raw) if isinstance(raw, bytes) else unread(raw)

    return read


def _long_number(width: Callable[[Machine], Any]) -> Callable[[Machine], Any]:
    """A number of any size, little-endian in two's complement."""
    return _run(width, lambda raw: int.from_bytes(raw, "little", signed=True), lambda _: Opaque())


def _utf8_text(width: Callable[[Machine], Any]) -> Callable[[Machine], Any]:
    return _run(width, lambda raw: raw.decode("utf-8", "surrogatepass"))


def _python_2_text(width: Callable[[Machine], Any]) -> Callable[[Machine], Any]:
    """Python 2's strings: the loader chooses their encoding, and names are ASCII."""
    return _run(width, lambda raw: raw.decode("utf-8", "replace"))


def _quoted_text(machine: Machine) -> str | Blob:
    """`S`: a quoted string, with escapes; one that is too long to keep is represented by its bytes."""
    line = machine.stream.line_or_blob()
    if isinstance(line, Blob):
        return line
    line = line.strip()
    machine.keep(len(line))
    if len(line) < 2 or line[:1] != line[-1:] or line[:1] not in (b"'", b'"'):
        raise PickleError("a string without its quotes")
    return codecs.escape_decode(_ESCAPE.sub(_escape_without_warning, line[1:-1]))[0].decode("utf-8", "replace")


_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)


def _escape_without_warning(escape: re.Match[bytes]) -> bytes:
    """An escape without Python's warnings: an unknown one stands for itself, an octal one has eight bits."""
    if len(escape[1]) == 3:
        return b"\\%03o" % (int(escape[1], 8) & 0xFF)
    return escape[0] if escape[1] in b"\\'\"abfnrtvx01234567\n" else b"\\" + escape[0]


def _raw_text(machine: Machine) -> str | Blob:
    line = machine.stream.line_or_blob()
    if isinstance(line, Blob):
        return line
    machine.keep(len(line))
    return line.decode("raw-unicode-escape")


def _float_text(machine: Machine) -> float:
    return float(_number_line(machine))


def _name_line(machine: Machine) -> str:
    return machine.stream.line().decode("utf-8")


# --- opcodes ------------------------------------------------------------------------------------

Action = Callable[[Machine], None]


def _pushes(read: Callable[[Machine], Any]) -> Action:
    return lambda machine: machine.stack.append(read(machine))


def _pushes_tuple(length: int) -> Action:
    def act(machine: Machine) -> None:
        machine.stack.append(tuple(machine.popped(length)))

    return act


def _pop(machine: Machine) -> None:
    """`POP` also takes a mark if nothing is above it."""
    if machine.marks and machine.marks[-1] == len(machine.stack):
        machine.marks.pop()
    else:
        machine.pop()


def _marked_dictionary(machine: Machine) -> None:
    made = Dictionary([])
    machine.set_items(made, machine.marked())
    machine.stack.append(made)


def _append(machine: Machine) -> None:
    value = machine.pop()
    machine.extend(machine.top(), [value])


def _appends(machine: Machine) -> None:
    values = machine.marked()
    machine.extend(machine.top(), values)


def _set_item(machine: Machine) -> None:
    value, key = machine.pop(), machine.pop()
    machine.set_items(machine.top(), [key, value])


def _set_items(machine: Machine) -> None:
    values = machine.marked()
    machine.set_items(machine.top(), values)


def _put(read: Callable[[Machine], Any]) -> Action:
    def act(machine: Machine) -> None:
        number = read(machine)
        if number < 0:
            raise PickleError("a negative memo index")
        machine.memo[number] = machine.top()

    return act


def _get(read: Callable[[Machine], Any]) -> Action:
    def act(machine: Machine) -> None:
        number = read(machine)
        if number not in machine.memo:
            raise PickleError("it reads a memo entry that it did not store")
        machine.again(machine.memo[number])

    return act


def _memoize(machine: Machine) -> None:
    machine.memo[len(machine.memo)] = machine.top()


def _global(machine: Machine) -> None:
    module = _name_line(machine)
    machine.stack.append(machine.name(module, _name_line(machine)))


def _stack_global(machine: Machine) -> None:
    name, module = machine.pop(), machine.pop()
    machine.stack.append(machine.name(module, name))


def _extension(read: Callable[[Machine], Any]) -> Action:
    """A name by number, from a registry that any module may have filled."""

    def act(machine: Machine) -> None:
        found = Global("", f"extension code {read(machine)}")
        machine.reach(found, "name", False)
        machine.stack.append(found)

    return act


def _reduce(machine: Machine) -> None:
    arguments, what = machine.pop(), machine.pop()
    machine.stack.append(machine.call(what, arguments))


def _new_object(machine: Machine) -> None:
    arguments, what = machine.pop(), machine.pop()
    machine.stack.append(machine.call(what, arguments))


def _new_object_ex(machine: Machine) -> None:
    named, arguments, what = machine.pop(), machine.pop(), machine.pop()
    empty = named is None or (isinstance(named, Dictionary) and not named.pairs)
    machine.stack.append(machine.call(what, arguments, None if empty else named))


def _object(machine: Machine) -> None:
    values = machine.marked()
    if not values:
        raise PickleError("it pops from an empty stack")
    machine.stack.append(machine.call(values[0], tuple(values[1:])))


def _instance(machine: Machine) -> None:
    module = _name_line(machine)
    found = machine.name(module, _name_line(machine))
    machine.stack.append(machine.call(found, tuple(machine.marked())))


def _build(machine: Machine) -> None:
    state = machine.pop()
    machine.set_state(machine.top(), state)


def _persistent_text(machine: Machine) -> None:
    machine.stack.append(Persistent(_name_line(machine)))


def _protocol(machine: Machine) -> None:
    if _U1(machine) > 5:
        raise PickleError("a protocol that Python does not have")


def _out_of_band(_: Machine) -> None:
    raise PickleError("it needs buffers that are not in the file")


def _nothing(_: Machine) -> None:
    """`STOP`, and opcodes that change no value."""


STOP = b"."[0]
_BY_OPCODE: dict[bytes, Action] = {
    # mark, pop and duplicate
    b"(": lambda machine: machine.marks.append(len(machine.stack)),
    b".": _nothing,
    b"0": _pop,
    b"1": lambda machine: void(machine.marked()),
    b"2": lambda machine: machine.again(machine.top()),
    # constants and numbers
    b"N": _pushes(lambda _: None),
    b"\x88": _pushes(lambda _: True),
    b"\x89": _pushes(lambda _: False),
    b"I": _pushes(_decimal),
    b"L": _pushes(_decimal),
    b"J": _pushes(_I4),
    b"K": _pushes(_U1),
    b"M": _pushes(_U2),
    b"\x8a": _pushes(_long_number(_U1)),
    b"\x8b": _pushes(_long_number(_I4)),
    b"F": _pushes(_float_text),
    b"G": _pushes(_fixed_number(">d")),
    # strings and bytes
    b"S": _pushes(_quoted_text),
    b"T": _pushes(_python_2_text(_I4)),
    b"U": _pushes(_python_2_text(_U1)),
    b"V": _pushes(_raw_text),
    b"X": _pushes(_utf8_text(_U4)),
    b"\x8c": _pushes(_utf8_text(_U1)),
    b"\x8d": _pushes(_utf8_text(_U8)),
    b"B": _pushes(_run(_U4)),
    b"C": _pushes(_run(_U1)),
    b"\x8e": _pushes(_run(_U8)),
    b"\x96": _pushes(_run(_U8)),
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
    b"p": _put(_memo_index),
    b"q": _put(_U1),
    b"r": _put(_U4),
    b"\x94": _memoize,
    b"g": _get(_memo_index),
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
    """A value to discard."""


#: The action of each byte; None if no protocol has it.
ACTIONS: tuple[Action | None, ...] = tuple(_BY_OPCODE.get(bytes([code])) for code in range(256))
