"""Python's pickle machine without side effects: a stack, marks and a memo, and the names that are reached.

Where an unpickler would import or call, the name or the call is recorded instead. So every name that it would resolve
is known, however it came onto the stack. `opcodes` moves the values, `program` runs one pickle.
"""

from __future__ import annotations

from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections.abc import Callable
from typing import Any

from inspector.formats.pytorch import constructors
from inspector.formats.pytorch.stream import BeyondError, PickleError, Stream
from inspector.formats.pytorch.values import Dictionary, Global, Made, Persistent, Reached, Use

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
        self.marks: list[int] = []  # heights of the stack
        self.memo: dict[int, Any] = {}
        self.reached: dict[tuple[str, str, Use, bool], Reached] = {}
        self.steps = 0
        self.shared = 0  # containers that were taken from the memo, or doubled

    # --- the stack ----------------------------------------------------------------------------

    def pop(self) -> Any:
        """Pop the topmost value above the last mark."""
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise PickleError("it takes from an empty stack")
        return self.stack.pop()

    def top(self) -> Any:
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise PickleError("it takes from an empty stack")
        return self.stack[-1]

    def marked(self) -> list[Any]:
        """Pop everything above the last mark, and the mark."""
        if not self.marks:
            raise PickleError("it goes back to a mark that it did not set")
        at = self.marks.pop()
        found = self.stack[at:]
        del self.stack[at:]
        return found

    def again(self, value: Any) -> None:
        """Push what is somewhere else already."""
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
        """The name an unpickler imports for two strings; Python 2's names are mapped to Python 3's, as it does."""
        if not isinstance(module, str) or not isinstance(name, str):
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
            self._spend()
            inner, handed = deeper
        else:
            self.reach(Global("", "the result of another call"), "call", False)
        return Made(_class_of(what), arguments, named)

    def _spend(self) -> None:
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
