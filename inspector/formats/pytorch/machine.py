"""Python's pickle machine without side effects: a stack, marks and a memo, and the names that are reached.

Where an unpickler would import or call, the name or the call is recorded instead. So every name that it would resolve
is known, however it came onto the stack. A `Stream` reads the bytes forwards, a window at a time, long runs unread;
`opcodes` moves the values, `program` runs one pickle.
"""

from __future__ import annotations

import re
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from inspector.formats.pytorch import constructors
from inspector.formats.pytorch.values import Blob, Dictionary, Global, Made, Persistent, Reached, Use
from inspector.formats.zips import Read

#: Bytes of the first fetch, and of the largest: most files that are not pickles show it immediately.
FIRST, WINDOW = 1 << 12, 1 << 20
#: A string or bytes longer than this is skipped, and represented by a `Blob`.
LONGEST = 1 << 16
#: Bytes of a line with a name; and of one with a text or a number, which may be skipped.
LONGEST_LINE, MAX_LINE = 1 << 16, 1 << 28
#: Bytes of a long line that distinguish a name from numbers that are not a pickle, and characters that no name has.
NAME_START = 256
_CONTROL = re.compile(rb"[\0-\x1f]")


class PickleError(ValueError):
    """A pickle that no unpickler would read to its end, or that exceeds the limits here."""


class EndError(PickleError):
    """The bytes end before a value does."""


class BeyondError(PickleError):
    """More work than one file may take."""


class Stream:
    """Bytes by position; `read` returns the available bytes of a range."""

    def __init__(self, read: Read, size: int, start: int = 0) -> None:
        self.size = size
        self._read = read
        self.window = b""  # bytes at hand
        self.at = 0  # position of the next byte in the window
        self._base = start  # position of the window in the stream
        self._ahead = FIRST

    @classmethod
    def of(cls, data: bytes) -> Stream:
        """A stream over bytes in memory."""
        return cls(lambda start, length: data[start : start + length], len(data))

    @classmethod
    def part(cls, read: Read, start: int, end: int) -> Stream:
        """A stream over a range of a file."""
        return cls(lambda at, length: read(start + at, min(length, end - start - at)), end - start)

    @property
    def position(self) -> int:
        return self._base + self.at

    def seek(self, position: int) -> None:
        """Go to a position, also backwards."""
        if self._base <= position <= self._base + len(self.window):
            self.at = position - self._base
        else:
            self.window, self._base, self.at, self._ahead = b"", min(position, self.size), 0, FIRST

    def take(self, length: int) -> bytes:
        """Exactly this many bytes, at most `LONGEST`."""
        end = self.at + length
        if end > len(self.window):
            self.fill(length)
            end = self.at + length
        found = self.window[self.at : end]
        self.at = end
        return found

    def run(self, length: int) -> bytes | Blob:
        """This many bytes, or their position if there are too many to keep."""
        if length <= LONGEST:
            return self.take(length)
        start = self.position
        if length > self.size - start:
            raise EndError("it ends in the middle of a value")
        self.seek(start + length)
        return Blob(start, length)

    def line(self) -> bytes:
        """The bytes up to the next newline, as unpicklers read them; the last line may lack one."""
        end = self.window.find(b"\n", self.at)
        if end < 0:
            self.fill(min(LONGEST_LINE, self.size - self.position))
            end = self.window.find(b"\n", self.at, self.at + LONGEST_LINE)
            if end < 0 and len(self.window) - self.at < LONGEST_LINE:
                raise EndError("a line without an end")
            if end < 0 and _CONTROL.search(self.window, self.at, self.at + NAME_START):
                raise PickleError("a name with control characters")
            if end < 0:
                raise BeyondError("an overlong name")
        found = self.window[self.at : end]
        self.at = end + 1
        return found

    def line_or_blob(self) -> bytes | Blob:
        """A line, or where it lies if it is too long to be kept."""
        start = self.position
        with suppress(PickleError):
            return self.line()
        for at in range(start, min(self.size, start + MAX_LINE), WINDOW):
            self.seek(at)
            self.fill(min(WINDOW, self.size - at))
            end = self.window.find(b"\n")
            if end >= 0:
                self.seek(at + end + 1)
                return Blob(start, at + end - start)
        self.seek(start)
        if self.size - start < MAX_LINE:
            raise EndError("a line without an end")
        raise BeyondError("an implausibly long line")

    def again(self, blob: Blob, length: int) -> bytes:
        """The first bytes of what was passed over."""
        return self._read(blob.start, min(blob.size, length))

    def fill(self, length: int) -> None:
        """Fetch until this many bytes are in the window."""
        position = self.position
        if not 0 < length <= self.size - position:
            raise EndError("it ends in the middle of a value" if length > 1 else "it has no end")
        self.window = self._read(position, min(max(length, self._ahead), self.size - position))
        self._ahead = min(2 * self._ahead, WINDOW)
        self._base, self.at = position, 0
        if len(self.window) < length or not self.window:
            raise PickleError("its bytes cannot be read")


#: Characters of a name that is imported.
MAX_NAME = 1_000
#: Different names that one program reaches.
MAX_REACHED = 10_000


class Budget:
    """The remaining work allowed: for one file, or for all files of a model."""

    __slots__ = ("kept", "steps")

    def __init__(self, steps: int, kept: int = 64 << 20) -> None:
        self.steps = steps  # opcodes
        self.kept = kept  # bytes of strings and numbers


class Machine:
    """The stack, its marks and the memo, with what the program reaches."""

    def __init__(
        self, stream: Stream, budget: Budget, after_state: Callable[[Stream, Made], None] | None = None
    ) -> None:
        self.stream = stream
        self.after_state = after_state
        self.budget = budget
        self.stack: list[Any] = []
        self.marks: list[int] = []  # height of the stack at each mark
        self.memo: dict[int, Any] = {}
        self.reached: dict[tuple[str, str, Use, bool], Reached] = {}
        self.steps = 0
        self.shared = 0  # containers that were taken from the memo, or doubled

    # --- the stack ----------------------------------------------------------------------------

    def pop(self) -> Any:
        """Pop the topmost value above the last mark."""
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise PickleError("it pops from an empty stack")
        return self.stack.pop()

    def top(self) -> Any:
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise PickleError("it pops from an empty stack")
        return self.stack[-1]

    def popped(self, count: int) -> list[Any]:
        """Pop as many values above the last mark, the lowest first."""
        at = len(self.stack) - count
        if at < (self.marks[-1] if self.marks else 0):
            raise PickleError("it pops from an empty stack")
        found = self.stack[at:]
        del self.stack[at:]
        return found

    def marked(self) -> list[Any]:
        """Pop everything above the last mark, and the mark."""
        if not self.marks:
            raise PickleError("it goes back to a mark that it did not set")
        at = self.marks.pop()
        found = self.stack[at:]
        del self.stack[at:]
        return found

    def again(self, value: Any) -> None:
        """Push a value that is already somewhere else."""
        self.shared += isinstance(value, list | tuple | Dictionary)
        self.stack.append(value)

    def keep(self, size: int) -> None:
        """Count bytes that are kept. Raises BeyondError for too many."""
        self.budget.kept -= size
        if self.budget.kept < 0:
            raise BeyondError("too much text")

    # --- names and calls ------------------------------------------------------------------------

    def reach(self, found: Global, use: Use, known: bool) -> None:
        key = (found.module, found.name, use, known)
        if key not in self.reached:
            if len(self.reached) >= MAX_REACHED:
                raise BeyondError("too many names")
            self.reached[key] = Reached(*key)

    def name(self, module: Any, name: Any) -> Global:
        """The name an unpickler imports for two strings; Python 2's names are mapped to Python 3's, as it does.

        Raises:
            PickleError: one is certainly not text: Python's unpicklers, in C and in Python, import nothing then.
        """
        if not isinstance(module, str) or not isinstance(name, str):
            if constructors.is_no_text(module) or constructors.is_no_text(name):
                raise PickleError("a name that is not text")
            found = Global("", "a name that is computed during loading")
        elif len(module) + len(name) > MAX_NAME:
            raise BeyondError("an overlong name")
        elif (module, name) in NAME_MAPPING:
            found = Global(*NAME_MAPPING[module, name])
        else:
            found = Global(IMPORT_MAPPING.get(module, module), name)
        self.reach(found, "name", constructors.known(found))
        return found

    def call(self, what: Any, arguments: Any, named: Any = None) -> Made | Global:
        """The result of a call; recorded with whether it is a known constructor's usual call."""
        inner_class = constructors.attribute(what, arguments) if named is None else None
        if inner_class is not None:
            self.reached.pop((what.module, what.name, "name", False), None)
            self.reach(inner_class, "name", known=True)
            return inner_class
        inner, handed = _class_of(what), arguments
        while isinstance(inner, Global):
            self.reach(inner, "call", named is None and constructors.fits(inner, handed))
            deeper = constructors.calls(inner, handed)
            if deeper is None:
                break
            self._count_step()
            inner, handed = deeper
        else:
            self.reach(Global("", "the result of another call"), "call", False)
        return Made(_class_of(what), arguments, named)

    def _count_step(self) -> None:
        self.steps += 1
        if self.steps > self.budget.steps:
            raise BeyondError("too many calls")

    def set_state(self, what: Any, state: Any) -> None:
        """`BUILD`: sets attributes of an object, or of a class or function itself."""
        if isinstance(what, Made):
            what.state = state
            if isinstance(what.what, Global) and not constructors.known(what.what):
                self.reach(what.what, "call", False)
            if self.after_state is not None:
                self.after_state(self.stream, what)
        elif isinstance(what, Global):
            self.reach(what, "change", False)

    def extend(self, what: Any, items: list[Any]) -> None:
        """Append to a list, or to an object that acts as one."""
        if isinstance(what, list):
            what += items
        elif isinstance(what, Made):
            what.items += items
        elif isinstance(what, Global):
            self.reach(what, "change", False)

    def set_items(self, what: Any, flat: list[Any]) -> None:
        """Put alternating keys and values into a dictionary, or an object that acts as one."""
        if len(flat) % 2:
            raise PickleError("a key without a value")
        pairs = list(zip(flat[::2], flat[1::2], strict=True))
        if isinstance(what, Dictionary):
            what.pairs += pairs
        elif isinstance(what, Made):
            what.items += pairs
        elif isinstance(what, Global):
            self.reach(what, "change", False)


def _class_of(what: Any) -> Any:
    """A class that PyTorch's first format stores with its source: `("module", class, file, source)`."""
    if isinstance(what, Persistent) and isinstance(what.key, tuple) and len(what.key) > 1 and what.key[0] == "module":
        return what.key[1]
    return what
