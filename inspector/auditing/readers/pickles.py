"""What the pickles in a file would do if loaded, determined without executing anything.

`formats.pytorch.machine` interprets the opcodes and records each name that would be resolved, whose severity is rated
here; `archives` finds the pickles.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Literal, NamedTuple

from inspector.auditing import data
from inspector.auditing.limits import MAX_DOCUMENT, START
from inspector.auditing.readers import document_objects
from inspector.auditing.readers.archives import MAGICS, TOO_LARGE, Limits, Outside, Piece, Unopened, pieces, program_of
from inspector.auditing.subject import Subject
from inspector.formats.pytorch.machine import Budget, Stream
from inspector.formats.pytorch.opcodes import ACTIONS
from inspector.formats.pytorch.program import TOO_LONG, Program, is_legacy, programs
from inspector.formats.pytorch.values import Reached
from inspector.sources.filenames import WEIGHTS

#: The most opcodes read from all pickles of a model: a graph network's file with its lookup table has 3 million.
MAX_OPCODES = 4_000_000
#: The most files of one model that have a pickle's name.
MAX_PICKLES = 2_000

_NAMES = data.names("files")
#: Suffixes of files, and of archive members, that are loaded as pickles.
PICKLES = tuple(_NAMES["pickles"])
#: Suffixes of archive members that are models themselves, which the rules examine only in a folder.
MODELS = tuple(_NAMES["models"])
#: Members of the tar archives that PyTorch wrote before 0.1.10.
_IN_TAR = ("pickle", "sys_info", "storages", "tensors")
#: Names of compressed texts: a pickle in one has to look like one.
_TEXTS = re.compile(r"\.(?:csv|tsv|txt|jsonl?|xml|html?|fasta|fa|fastq|vcf|bed|pdb|cif|nii|md)\.(?:gz|bz2|xz)$")


class PickleVerdict(NamedTuple):
    """All pickles of one file."""

    pickles: int  # that were read, or that the file's name announces
    dangerous: tuple[str, ...]  # names that run, open or fetch
    unusual: tuple[str, ...]  # names that are not known
    unread: tuple[str, ...]  # pickles that were not read to their end, and why
    unopened: tuple[Unopened, ...]  # archives and compressed data that are not opened
    outside: tuple[Outside, ...] = ()  # members of archives that lead out of the folder
    programs: tuple[tuple[str, str], ...] = ()  # members that are programs, and their kind
    odd: tuple[str, ...] = ()  # constructs that no pickler writes
    named: tuple[str, ...] = ()  # what documents and constants in it make their reader call
    cut: tuple[str, ...] = ()  # pickles longer than the audit reads, and where it stopped


class Budgets:
    """The budget that remains for a model's pickles."""

    def __init__(self) -> None:
        self.limits = Limits()
        self.steps = MAX_OPCODES


def pickle_verdicts(subject: Subject) -> Mapping[str, PickleVerdict | None]:
    """Every file of a model with pickles or archives; None represents the first of those that are not read."""
    if "pickles" not in subject.memo:
        subject.memo["pickles"] = dict(_verdicts_on_files(subject))
    found: Mapping[str, PickleVerdict | None] = subject.memo["pickles"]
    return found


def _verdicts_on_files(subject: Subject) -> Iterator[tuple[str, PickleVerdict | None]]:
    budgets = Budgets()
    opened = 0
    for entry in subject.regular():
        if not entry.size or entry.name.lower().endswith(WEIGHTS):
            continue
        likely = entry.name.lower().endswith(PICKLES)
        if not likely and not _may_hold(subject.head(entry.path, START)):
            continue
        opened += likely
        if opened > MAX_PICKLES:
            yield entry.path, None
            return
        with subject.reading(entry.path) as read:
            found = judge(Piece("", read, entry.size), budgets, likely=likely, name=entry.name.lower())
        if found.pickles or found.unopened or found.outside or found.programs or found.named:
            yield entry.path, found


def _may_hold(first: bytes) -> bool:
    """Whether a file with another name may be a pickle, or an archive with some, by its first bytes."""
    archive = first[:2] == b"PK" or first.startswith(MAGICS) or b"\0" in first[:START]
    return bool(first) and (archive or is_marked(first) or (ACTIONS[first[0]] is not None and _may_be(first)))


def judge(file: Piece, budgets: Budgets, *, likely: bool, name: str = "") -> PickleVerdict:
    """The contents of a file; `likely` if it has the name of a pickle."""
    collected = _Collected()
    keras = file.start(4)[:2] == b"PK" and name.endswith(".keras")  # its weights are examined
    budget = Budget(budgets.steps)
    before = budget.steps
    for found in pieces(file, budgets.limits, likely=likely):
        if isinstance(found, Unopened):
            collected.unopened.append(found)
            continue
        if isinstance(found, Outside):
            collected.outside.append(found)
            continue
        if found.name.lower().endswith(MODELS) and not keras:
            collected.unopened.append(Unopened(found.name, "a model of another format, in an archive"))
        if found.name and (program := program_of(found.start(8))):
            collected.programs.append((found.name, program))
        elif found.name.endswith(".pth") and found.start(7) == b"import ":
            collected.programs.append((found.name, "a line that Python runs at its start, once it is installed"))
        collected.named += _calls_named_in(found, name)
        named = likely if not found.name else _is_named_so(found.name)
        named = named and not (found.name == "unpacked" and _TEXTS.search(name))
        cut = bool(collected.unopened) and collected.unopened[-1].why is TOO_LARGE
        collected.take(found, _programs_in(found, budget, named), named, cut=cut)
    budgets.steps -= before - budget.steps
    return collected.pickle_verdicts()


def _calls_named_in(piece: Piece, file: str) -> list[str]:
    """What a document in an archive, a pickle's constants, or a compressed list of data make their reader call."""
    if piece.name == "unpacked" and file.endswith(".jsonl.gz"):
        return list(document_objects.commands_in(document_objects.text_of(piece.start(MAX_DOCUMENT)), file))
    if piece.name.lower().endswith((".yaml", ".yml", ".json")):
        text = document_objects.text_of(piece.start(MAX_DOCUMENT))
        return list(document_objects.in_text(text, is_json=piece.name.endswith(".json")))
    return list(document_objects.in_pickle(piece.start(MAX_DOCUMENT))) if is_marked(piece.start(2)) else []


def _is_named_so(name: str) -> bool:
    return name.lower().endswith(PICKLES) or name.rsplit("/", 1)[-1] in _IN_TAR or name.rpartition("/")[2] == "unpacked"


def _programs_in(piece: Piece, budget: Budget, named: bool) -> list[Program]:
    """The pickles at the start of a piece, if any, and those further on that act: after a gap or another format."""
    first = piece.start(64)
    begun = first and ACTIONS[first[0]] is not None and (named or is_marked(first) or _may_be(first))
    found = programs(Stream(piece.read, piece.size), budget) if begun else []
    ahead = found[-1].end if found else 1
    for start in islice(_BEGINNING.finditer(piece.start(MAX_APART), ahead), MOST_APART) if named else ():
        (apart,) = programs(Stream.part(piece.read, start.start(), piece.size), budget, 1)
        acting = (each for each in apart.reached if each.use != "name" and importable(each))
        if apart.damage is None and any(danger(each) == "error" for each in acting):
            found.append(apart)
    return found


def _may_be(first: bytes) -> bool:
    """Whether the first bytes of a file with another name can begin a pickle: most text fails immediately."""
    probe = programs(Stream.of(first), Budget(len(first)))[0]
    begun = probe.unfinished or probe.damage is None or probe.end >= min(len(first), 24)
    return begun or any(map(importable, probe.reached))


def is_marked(first: bytes) -> bool:
    """Whether bytes begin like a pickle of protocol 2 or later; earlier ones have no signature."""
    return first[:1] == b"\x80" and first[1:2] in (b"\0", b"\1", b"\2", b"\3", b"\4", b"\5")


#: How pickles begin: with a frame's length, or with what picklers write first.
_BEGINNING = re.compile(rb"\x80(?:[\4\5]\x95.{5}\0{3}|[\2\3][c(}\]\x8c])", re.DOTALL)
#: The first bytes of a file in which further pickles are looked for, and the most beginnings that are tried.
MAX_APART, MOST_APART = 1024 * 1024, 100
#: A protocol that does not exist yet.
_UNKNOWN_PROTOCOL = re.compile(rb"\x80[\x06-\x0f]")


class _Collected:
    def __init__(self) -> None:
        self.pickles = 0
        self.reached: dict[Reached, None] = {}
        self.unread: dict[str, None] = {}
        self.cut: dict[str, None] = {}
        self.unopened: list[Unopened] = []
        self.outside: list[Outside] = []
        self.programs: list[tuple[str, str]] = []
        self.odd: dict[str, None] = {}
        self.named: list[str] = []

    def take(self, piece: Piece, read: list[Program], named: bool, *, cut: bool) -> None:
        """Add the names that a piece's pickles reach; `cut` if only the beginning of the piece is there."""
        if not read:
            return
        certain = is_marked(piece.start(2)) or (named and _UNKNOWN_PROTOCOL.match(piece.start(2)) is not None)
        kept = dict.fromkeys(each for program in read for each in program.reached if certain or importable(each))
        whole = read[0].damage is None
        acting = (each for each in kept if each.use != "name" or (named and is_known_to_act(each)))
        grave = any(danger(each) == "error" for each in acting)
        beyond = named and any(program.beyond for program in read)
        if not (certain or grave or beyond or (whole and (named or kept))):
            return
        self.pickles += 1
        self.reached |= kept
        self.odd |= dict.fromkeys(program.oddity for program in read if program.oddity)
        last = read[-1]
        follows = len(read) > 1 and not any(map(importable, last.reached)) and (not last.beyond or is_legacy(read))
        if last.damage is not None and not follows:
            place = f"{piece.name}: " if piece.name else ""
            own = self.cut if last.damage == TOO_LONG or (cut and last.unfinished) else self.unread
            own[f"{place}{last.damage} (at byte {last.end})"] = None

    def pickle_verdicts(self) -> PickleVerdict:
        names: dict[str, list[str]] = {"error": [], "warning": []}
        for each in self.reached:
            grave = danger(each)
            name = each.path if each.module else each.name
            if grave is not None and name not in names["error"] + names["warning"]:
                names[grave].append(name)
            elif grave == "error" and name in names["warning"]:
                names["warning"].remove(name)
                names["error"].append(name)
        kinds: tuple[Any, ...] = (names["error"], names["warning"], self.unread, self.unopened, self.outside)
        kinds += (self.programs, self.odd, dict.fromkeys(self.named), self.cut)
        return PickleVerdict(self.pickles, *map(tuple, kinds))


# --- what a name can do -------------------------------------------------------------------------

# No list of dangerous names is ever complete, so anything not known to be harmless is reported; the tables here
# determine the severity. Python's library runs programs, opens files and uses the network in hundreds of places: all of
# it is an error except for modules of plain values.

Danger = Literal["error", "warning"]
_KNOWN = data.names("pickles")
#: Modules of Python's library that exist in older or newer releases but perhaps not in this one.
_OTHER_RELEASES = frozenset(_KNOWN["other_releases"])
STANDARD = frozenset(sys.stdlib_module_names) | _OTHER_RELEASES
#: Modules with plain values only: an unknown class from them is merely unusual.
_PLAIN = frozenset(_KNOWN["plain"])
#: Packages, and modules of packages, that can run, fetch or build any program, or turn off a scanner.
_RUNNING = frozenset(_KNOWN["running"])
#: Packages whose classes occur in checkpoints; a call of an unknown function in them may do anything.
_FRAMEWORKS = frozenset(_KNOWN["frameworks"])
#: Last components of names that run, fetch, open or look up something, whichever module they are in.
_ACTING = frozenset(_KNOWN["acting"])
#: Words of functions that run something, in packages of which nothing else is known: mlflow's `_run_entry_point`.
_ACTING_WORDS = frozenset(_KNOWN["acting_words"])
#: Parts of names of classes that run a program when they are made: Airflow's `BashOperator`, paramiko's `ProxyCommand`.
_PROGRAMS = tuple(_KNOWN["programs"])
#: Functions that recreate compiled classes: as harmless as the class.
_REBUILDING = tuple(_KNOWN["rebuilding"])


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
