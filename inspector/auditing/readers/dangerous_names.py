"""What a name resolved by an unpickler can do: known constructors are harmless; others are rated by their origin.

No list of dangerous names is ever complete, so anything not known to be harmless is reported; the tables here determine
the severity. Python's library runs programs, opens files and uses the network in hundreds of places: all of it is an
error except for modules of plain values.
"""

from __future__ import annotations

import re
import sys
from typing import Literal

from inspector.auditing import data
from inspector.formats.pytorch.values import Reached

Danger = Literal["error", "warning"]
_NAMES = data.names("pickles")
#: Modules of Python's library that exist in older or newer releases but perhaps not in this one.
_OTHER_RELEASES = frozenset(_NAMES["other_releases"])
STANDARD = frozenset(sys.stdlib_module_names) | _OTHER_RELEASES
#: Modules with plain values only: an unknown class from them is merely unusual.
_PLAIN = frozenset(_NAMES["plain"])
#: Packages, and modules of packages, that can run, fetch or build any program, or turn off a scanner.
_RUNNING = frozenset(_NAMES["running"])
#: Packages whose classes occur in checkpoints; a call of an unknown function in them may do anything.
_FRAMEWORKS = frozenset(_NAMES["frameworks"])
#: Last components of names that run, fetch, open or look up something, whichever module they are in.
_ACTING = frozenset(_NAMES["acting"])
#: Words of functions that run something, in packages of which nothing else is known: mlflow's `_run_entry_point`.
_ACTING_WORDS = frozenset(_NAMES["acting_words"])
#: Parts of names of classes that run a program when they are made: Airflow's `BashOperator`, paramiko's `ProxyCommand`.
_PROGRAMS = tuple(_NAMES["programs"])
#: Functions that recreate compiled classes: as harmless as the class.
_REBUILDING = tuple(_NAMES["rebuilding"])


def danger(reached: Reached) -> Danger | None:
    """How severe it is that an unpickler resolves a name; None for a known constructor's usual call."""
    if reached.use == "change" or not reached.module:
        return "error"
    if reached.known:
        return None
    parts = reached.path.split(".")
    if _acts(reached, parts) or _is_running(parts):
        return "error"
    last = parts[-1].lstrip("_")
    is_function = last[:1].islower()
    if parts[0] in STANDARD:
        soft = parts[0] in _PLAIN or (parts[0] in ("builtins", "copyreg", "_codecs") and not is_function)
        return "warning" if soft or _is_misused(reached) else "error"
    rebuilds = parts[-1].startswith(_REBUILDING)
    called = is_function and reached.use == "call" and not rebuilds and not _is_misused(reached)
    acting = not _ACTING_WORDS.isdisjoint(last.lower().split("_"))
    programs = any(word in parts[-1] for word in _PROGRAMS)
    return "error" if programs or (called and (acting or parts[0] in _FRAMEWORKS)) else "warning"


def _acts(reached: Reached, parts: list[str]) -> bool:
    """Whether the name itself shows that it acts: it ends in a word for an action, or goes through another module."""
    words = reached.name.split(".")
    through = len(words) > 1 and (words[-1][:1].islower() or not _ACTING.isdisjoint(words) or words[0] in STANDARD)
    return through or parts[-1] in _ACTING


def _is_running(parts: list[str]) -> bool:
    return any(".".join(parts[:length]) in _RUNNING for length in range(1, len(parts) + 1))


def runs(path: str) -> bool:
    """Whether a dotted name belongs to Python's library, or to a package that can run any program."""
    parts = path.split(".")
    return parts[0] in STANDARD or _is_running(parts)


def is_known_to_act(reached: Reached) -> bool:
    """Whether the name runs, fetches or opens something, in a module that can do so: too specific to be chance."""
    return reached.name in _ACTING and runs(reached.module)


def _is_misused(reached: Reached) -> bool:
    """Whether it is a known constructor, though called in an unusual way: that cannot be exploited."""
    from inspector.formats.pytorch import constructors
    from inspector.formats.pytorch.values import Global

    return constructors.known(Global(reached.module, reached.name))


_IMPORTABLE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def importable(reached: Reached) -> bool:
    """Whether Python could import or create such a name: random bytes rarely spell one."""
    whole = _IMPORTABLE.fullmatch(reached.module) and _IMPORTABLE.fullmatch(reached.name)
    return not reached.module or whole is not None
