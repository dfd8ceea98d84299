"""What a pickle's program puts on its stack, as plain data: nothing named in it is imported, nothing called.

None, numbers, strings, bytes, tuples and lists represent themselves; a set is a list, a frozenset a tuple.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

#: How a program uses a name: imports it, calls it, or sets attributes of the named object.
Use = Literal["name", "call", "change"]


class Global:
    """Something imported by name: a class, a function, a constant."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    @property
    def path(self) -> str:
        """`module.name`."""
        return f"{self.module}.{self.name}"


class Made:
    """What a call would have returned, with every later change to it."""

    __slots__ = ("arguments", "items", "named", "state", "what")

    def __init__(self, what: Any, arguments: Any, named: Any = None) -> None:
        self.what = what  # Global, if it was called by name
        self.arguments = arguments  # a tuple, unless the program is damaged
        self.named = named  # keyword arguments: a Dictionary, or None
        self.state: Any = None  # the last state passed by `BUILD`
        self.items: list[Any] = []  # appended, or pairs of key and value that were set

    @property
    def path(self) -> str:
        """`module.name` of the callee; empty if it has none."""
        return self.what.path if isinstance(self.what, Global) else ""


class Dictionary:
    """A dictionary as pairs in the order of writing: keys are never hashed, because they may be anything."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        self.pairs = pairs

    def get(self, key: str) -> Any:
        """The last value under a string key; None if there is none."""
        return next((value for own, value in reversed(self.pairs) if isinstance(own, str) and own == key), None)


class Blob(NamedTuple):
    """Bytes too many to keep: their position in the stream."""

    start: int
    size: int


class Persistent:
    """An object kept outside of the pickle: a storage, as PyTorch writes them."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key


class Opaque:
    """An unknown value."""

    __slots__ = ()


class Reached(NamedTuple):
    """A name that an unpickler would resolve."""

    module: str
    name: str
    use: Use
    known: bool  # whether `constructors` has it, and its arguments fit

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"


def is_count(value: Any) -> bool:
    """Whether a value can be a size or an offset: an integer of 63 bits."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def attribute(value: Any, name: str) -> Any:
    """An attribute of a reconstructed object, from its state; None if it has none."""
    state = value.state if isinstance(value, Made) else value
    for each in state if isinstance(state, tuple) else (state,):  # a pair if the class has slots
        if isinstance(each, Dictionary) and (found := each.get(name)) is not None:
            return found
    return None
