"""An audit as text, and as JSON for scripts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from inspector.auditing import data
from inspector.auditing.catalogue import all_rules
from inspector.auditing.examination import SEVERITIES, Audited
from inspector.auditing.run import Audit
from inspector.auditing.targets import Failed
from inspector.auditing.verdicts import NOT_INSTALLED, Verdict
from inspector.model import Finding, Severity
from inspector.report.columns import folded, shortened, table, text_width, wrapped
from inspector.report.documents import SCHEMA, fields, finding
from inspector.report.pages.parts import Cell, Column, Findings, Page, Section, Table, mood, of_rows, word_of
from inspector.report.tables import Rows, columns
from inspector.report.words import public
from inspector.units import decimal, escape, integer, plural, size

#: Lines of a screen: a terminal's 24, without the prompt.
HEIGHT = 23
_PATH, _MESSAGE = 80, 300
#: Columns by which a message is indented below its cause.
_INDENT = 9


def text(result: Audit, width: int | None = None, *, full: bool = False, exits: str = "") -> str:
    """Each model's verdict, and what was found by cause, the gravest first: for a terminal's `width` on one screen.

    Args:
        width: columns and so lines are limited; None, as for a pipe: every cause has one line.
        full: each finding by itself.
        exits: what the exit code means.
    """
    last = [*_last(result, None if full else width, exits)]
    room = None if width is None or full else HEIGHT - len(last) - 1
    if len(result.checkpoints) == 1:
        first = _model(result.checkpoints[0], width, room, full=full)
    else:
        first = [*_folder(result, width, room, full=full)]
    return "\n".join((*first, "", *last))


def _model(model: Audited, width: int | None, room: int | None, *, full: bool) -> list[str]:
    """A model's name, verdict and causes, in at most `room` lines."""
    what = plural(model.files, "file") if model.files else "the cache itself"
    what = what if model.is_model or not model.files else f"{what} of no model"
    name = shortened(escape(title(model), 120), max(20, (width or 999) - len(what) - 14))
    lines = [f"{name}: {what}, {decimal(model.size)}", *wrapped(sentence(model), width).split("\n")]
    if model.findings:
        lines += ["", *_causes(model, width, room and room - len(lines) - 1, full=full)]
    return lines


def _folder(result: Audit, width: int | None, room: int | None, *, full: bool) -> Iterator[str]:
    """A table of the models, the gravest first, then the causes of those with errors or warnings."""
    head = wrapped(_counts(result), width).split("\n")
    yield from head
    room = room and room - len(head) - 1
    models = sorted(result.checkpoints, key=lambda model: _STATES.index(state(model)))
    wrong = [model for model in models if state(model) != "sound"]
    below = min(9, sum(2 + 2 * len(causes(model.findings)) for model in wrong[:3]))
    most = len(models) if room is None else min(len(models), max(room - 1 - below, min(len(wrong), room - 3)))
    rows = [(escape(title(model), 120), decimal(model.size), state(model), _codes(model)) for model in models[:most]]
    yield ""
    if rows:
        yield from table(rows, (), "lrll", width=width, give=((3, 20), (0, 30), (3, 8)), names=0).split("\n")
    if most < len(models):
        left = Counter(map(state, models[most:]))
        yield f"… {integer(len(models) - most)} more: " + ", ".join(f"{integer(n)} {word}" for word, n in left.items())
    room = room and room - most - (most < len(models))
    for number, model in enumerate(wrong):
        others = len(wrong) - number
        if room is not None and room < (6 if others > 1 else 5):
            yield f"… what is wrong with {plural(others, 'more model')}: --full, or name one"
            return
        name = shortened(f"{state(model)}: {escape(title(model), 120)}", width or 999)
        lines = _causes(
            model,
            width,
            room and max(3, (room - 1) // others - 2),
            full=full,
            notes=full or state(model) == "not judged",
        )
        room = room and room - len(lines) - 2
        yield from ("", name, *lines)


def summary(result: Audit) -> str:
    """How many models are what, all findings, and what was left out, in one line."""
    return "; ".join((_counts(result), *_left_out(result)))


def _counts(result: Audit) -> str:
    states = Counter(state(model) for model in result.checkpoints if model.is_model)
    listed = ", ".join(f"{integer(states[each])} {each}" for each in _STATES if states[each])
    found = ", ".join(plural(result.counts[severity], word) for severity, word in _WORDS.items())
    return f"{plural(states.total(), 'model')}: {listed + '; ' if listed else ''}{found}"


def _left_out(result: Audit) -> Iterator[str]:
    """What is not in the counts: ignored rules, targets that could not be judged, values."""
    if result.ignored:
        listed = ", ".join(f"{number} × {escape(code)}" for code, number in sorted(result.ignored.items()))
        yield f"ignored: {listed}"
    if unjudged := len([each for each in result.failed if not each.examined]):
        yield f"{plural(unjudged, 'target')} not audited"
    if not result.data and any(each.is_model for each in result.checkpoints):
        yield "values were not read: --data"


def _last(result: Audit, width: int | None, exits: str) -> Iterator[str]:
    """What to do next, what was left out, the loaders' releases that the rules are of, and what the exit code means."""
    if any(model.findings for model in result.checkpoints):
        yield "next: --full shows every place, `inspect audit --rules` what the codes mean"
    readers = {each.reader for model in result.checkpoints for each in model.verdicts}
    known = [name for name in data.table("seen")["fails"] if _is_of(name.partition(" ")[0], readers)]
    left = "; ".join(_left_out(result))
    if width is not None and len(_last_line(left, known, 1)) > width:
        yield from wrapped(left, width).split("\n") if left else ()
        left = ""
    fitting = [n for n in range(len(known), 1, -1) if width is None or len(_last_line(left, known, n)) <= width]
    yield from wrapped(_last_line(left, known, max(fitting, default=1)), width).split("\n")
    if exits:
        yield exits


def _last_line(left: str, known: Sequence[str], most: int) -> str:
    """What was left out, and the first releases."""
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return "; ".join(filter(None, (left, f"rules as of {', '.join(known[:most])}{more}" if known else "")))


def _is_of(loader: str, readers: Collection[str]) -> bool:
    """Whether it is a release of loaders whose rules were applied where these readers read the files."""
    if loader in ("safetensors", "huggingface_hub", "PyTorch", "Pillow"):
        return False
    return (
        ("llama.cpp" in readers) if loader == "llama.cpp" else (not readers or bool({*readers} - {"llama.cpp", "gguf"}))
    )


def line(found: Audited | Failed) -> str:
    """`inspect scan --watch`: one line per model, with its most severe finding."""
    if isinstance(found, Failed):
        return f"{escape(found.target, 120)}: {escape(str(found.reason), _MESSAGE)}"
    first = next((each for each in found.findings if each.severity != "info"), None)
    why = f": {first.rule}: {escape(first.message, 120)}" if first else ""
    return f"{escape(title(found), 120)}: {plural(found.files, 'file')}, {size(found.size)}: {verdict(found)}{why}"


def title(model: Audited) -> str:
    """A display name: for `.` and the like, the folder's own name."""
    unnamed = model.root is not None and PurePath(model.target).name in ("", "..")
    return Path(model.root or "").resolve().name if unnamed else model.target


# --- the verdict --------------------------------------------------------------------------------------

#: What a model is to whoever loads it, the worst first.
_STATES = ("unsafe", "faulty", "not judged", "doubtful", "sound")
_WORDS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


def state(model: Audited) -> str:
    """One of `_STATES`, by the gravest findings."""
    errors = [each for each in model.findings if each.severity == "error"]
    if any(map(_is_unsafe, errors)):
        return "unsafe"
    if any(each.rule != "not-judged" for each in errors):
        return "faulty"
    unread = not model.verdicts and any(each.rule == "not-judged" for each in model.findings)
    return (
        "not judged"
        if errors or unread
        else "doubtful"
        if any(each.severity == "warning" for each in model.findings)
        else "sound"
    )


def _is_unsafe(each: Finding) -> bool:
    """Whether it is about what loading would run or reach."""
    return all_rules()[each.rule].group == "safe" and bool(_loaders_seen(each, "runs"))


def sentence(model: Audited) -> str:
    """`faulty: would fail in Transformers; safetensors opens all 2; 2 errors, 1 note`."""
    errors = [each for each in model.findings if each.severity == "error"]
    parts = ["loading it may run code or reach outside"] if state(model) == "unsafe" else []
    failing = dict.fromkeys(
        loader for each in errors for loader in _loaders_seen(each, "fails") if _reads(loader, model)
    )
    parts += [f"would fail in {', '.join(failing)}"] if failing else []
    parts += ["would compute with wrong numbers"] if any(_loaders_seen(each, "spoils") for each in errors) else []
    return f"{state(model)}: " + "; ".join(
        (*parts, *_opened(model, asked_only=True), _numbers_by_severity(model.findings))
    )


def _loaders_seen(each: Finding, *kinds: str) -> list[str]:
    """The loaders in which a case of the finding's rule was seen to do one of these."""
    table = data.table("seen")
    return [name.partition(" ")[0] for kind in kinds for name, codes in table[kind].items() if each.rule in codes]


#: Loaders whose own verdict on each file is known.
_ASKED = frozenset({"safetensors", "llama.cpp", "huggingface_hub"})


def _reads(loader: str, model: Audited) -> bool:
    """Whether it reads files of this format, and its verdict is not stated already."""
    return loader not in _ASKED and not any(each.reader == "llama.cpp" for each in model.verdicts)


def verdict(model: Audited) -> str:
    """Our verdict in numbers, then the reference readers'."""
    return "; ".join((_numbers_by_severity(model.findings), *_opened(model)))


def _numbers_by_severity(findings: Sequence[Finding]) -> str:
    numbers = Counter(each.severity for each in findings)
    return ", ".join(plural(numbers[s], word) for s, word in _WORDS.items() if numbers[s]) or "nothing found"


def _codes(model: Audited) -> str:
    """What the errors and warnings are, or how many notes there are."""
    codes = dict.fromkeys(each.rule for each in model.findings if each.severity != "info")
    return ", ".join(codes) or _numbers_by_severity(model.findings)


def _opened(model: Audited, *, asked_only: bool = False) -> Iterator[str]:
    absent = any(finding.rule in _ABSENT for finding in model.findings)
    verdicts = [each for each in model.verdicts if not asked_only or each.reason != NOT_INSTALLED]
    return _readers(tuple(verdicts), whole=not absent)


#: Rules about missing files of a set.
_ABSENT = frozenset({"missing-shard", "missing-part"})


def _readers(verdicts: tuple[Verdict, ...], *, whole: bool) -> Iterator[str]:
    """The readers' verdicts: "opens all 4" is a reader's own; "would open" follows its rules, if it was not run."""
    for reader in sorted({verdict.reader for verdict in verdicts}):
        own = [verdict for verdict in verdicts if verdict.reader == reader]
        opened = sum(verdict.accepts is True for verdict in own)
        if all(verdict.reason == NOT_INSTALLED for verdict in own):
            yield f"the {reader} package is not installed, so it was not run"
            continue
        if all(verdict.accepts is None for verdict in own):
            reasons = ", ".join(sorted({verdict.reason for verdict in own if verdict.reason}))
            yield f"whether {reader} opens {'it' if len(own) == 1 else 'them'} is unknown ({escape(reasons, 80)})"
            continue
        opens = "opens" if all(verdict.asked for verdict in own) else "would open"
        if opened == len(own) and not whole:
            yield f"{reader} {opens} the {plural(opened, 'file')} that {'is' if opened == 1 else 'are'} present"
        elif opened == len(own):
            yield f"{reader} {opens} {'it' if opened == 1 else f'all {opened}'}"
        elif len(own) == 1:
            yield f"{reader} {opens.replace('opens', 'does not open').replace('would', 'would not')} it"
        else:
            yield f"{reader} {opens} {opened} of {plural(len(own), 'file')}"


# --- what was found -----------------------------------------------------------------------------------


class Cause(NamedTuple):
    """A rule's findings of one severity."""

    severity: Severity
    rule: str
    findings: list[Finding]
    more: int = 0  # further ones, which the audit only counted

    @property
    def place(self) -> str:
        """Where it is, or in how many tensors and files."""
        paths, tensors = (
            dict.fromkeys(filter(None, map(attrgetter(name), self.findings))) for name in ("path", "tensor")
        )
        number = len(self.findings) + self.more
        parts = [escape(path, _PATH) for path in paths] if len(paths) < 2 else [plural(len(paths), "file")]
        if number == 1:
            parts += [escape(name, _PATH) for name in tensors]
        elif number > max(1, len(paths)):
            parts.append(plural(number, "tensor") if tensors else f"{integer(number)} times")
        return ": ".join(parts)

    def messages(self, most: int = 1) -> list[str]:
        """The first different messages, and how many more there are."""
        different = [*dict.fromkeys(each.message for each in self.findings)]
        shown = [escape(message, _MESSAGE) for message in different[:most]]
        left = len(different) - len(shown) + self.more
        return [*shown[:-1], shown[-1] + (f" (and {integer(left)} more)" if left else "")]


def causes(findings: Sequence[Finding]) -> list[Cause]:
    """Findings by rule and severity, the gravest first, and of these what makes a model unsafe."""
    groups: dict[tuple[str, str], Cause] = {}
    for each in sorted(findings, key=lambda each: (SEVERITIES.index(each.severity), not _is_unsafe(each))):
        cause = groups.setdefault((each.severity, each.rule), Cause(each.severity, each.rule, []))
        if cause.findings and (counted := _MORE.fullmatch(each.message)):
            groups[each.severity, each.rule] = cause._replace(more=int(counted[1]))
        else:
            cause.findings.append(each)
    return [*groups.values()]


#: What the audit says instead of listing a rule's findings any further.
_MORE = re.compile(r"(\d+) more of this kind")


def _causes(model: Audited, width: int | None, room: int | None, *, full: bool, notes: bool = True) -> list[str]:
    """A line for each cause, or for each finding; on a screen messages stand below, in at most `room` lines."""
    findings = [each for each in model.findings if notes or each.severity != "info"]
    found = [Cause(f.severity, f.rule, [f]) for f in findings] if full else causes(findings)
    heads = [(_WORDS[each.severity], each.rule, each.place) for each in found]
    whole = table([(*head, *each.messages()) for head, each in zip(heads, found, strict=True)], (), "llll").split("\n")
    fits = width is None or max(map(text_width, whole)) <= width
    if fits and (room is None or (len(whole) <= room and len(found) == len(findings))):
        return whole
    shown = found if room is None or 2 * len(found) <= room else found[: max(1, (room - 1) // 2)]
    extra = 0 if room is None else max(0, room - 2 * len(shown) - (len(shown) < len(found)))
    heads_of = table(heads[: len(shown)], (), "lll", width=width, give=((2, 12),)).split("\n")
    lines = list[str]()
    for number, (head, each) in enumerate(zip(heads_of, shown, strict=True)):
        below = _below(each, width, None if room is None else 1 + -(-extra // (len(shown) - number)))
        extra -= len(below) - 1
        lines += [head, *below]
    return [
        *lines,
        *([f"… {plural(len(found) - len(shown), 'more cause')}: --full"] if len(shown) < len(found) else []),
    ]


def _below(cause: Cause, width: int | None, room: int | None) -> list[str]:
    """As many messages of a cause as fit into this many lines; of the first, as much as fits."""
    lines = list[str]()
    for most in range(room or 1, 0, -1):
        texts = [" " * _INDENT + message for message in cause.messages(most)]
        lines = [line for text in texts for line in folded(text, width, room if most == 1 else None, _INDENT)]
        if room is None or len(lines) <= room:
            break
    return lines


def document(result: Audit) -> dict[str, Any]:
    """`inspect audit --json`."""
    return {
        "schema": SCHEMA,
        "checkpoints": [
            {
                **fields(model, "target files size"),
                "findings": [finding(each) for each in model.findings],
                "verdicts": [fields(each, "path reader accepts rule=reason asked") for each in model.verdicts],
            }
            for model in result.checkpoints
        ],
        "counts": dict(result.counts),
        "rules_as_of": [*data.table("seen")["fails"]],
        "ignored": dict(result.ignored),
        "failed": [{"target": each.target, "message": str(each.reason)} for each in result.failed],
    }


#: Columns of a table with one row per finding.
COLUMNS = columns("target severity rule path tensor message")


def rows(result: Audit) -> Rows:
    """One row per finding."""
    found = [{"target": model.target, **finding(each)} for model in result.checkpoints for each in model.findings]
    return Rows(COLUMNS, found)


def rules() -> str:
    """`inspect audit --rules`: one line each."""
    rows = [(rule.code, rule.severity, rule.group, rule.title) for rule in all_rules().values()]
    return table(rows, (), "llll")


# --- the page ----------------------------------------------------------------------------------------

_COUNTS = {"error": "errors", "warning": "warnings", "info": "notes"}
_MODEL_COLUMNS = (
    Column("model"),
    Column("is", filtered=True),
    *(Column(name, "number") for name in _COUNTS.values()),
    Column("files", "number"),
    Column("size", "bytes"),
    Column("what was found"),
)
#: Models that have their own section; the table of all findings also has the others.
MOST_SECTIONS = 100


def page(result: Audit) -> Page:
    """`inspect audit TARGET… --html FILE`: every model with its verdict, and all findings."""
    result = replace(
        result,
        checkpoints=tuple(replace(each, target=public(each.target)) for each in result.checkpoints),
        failed=tuple(replace(each, target=public(each.target)) for each in result.failed),
    )
    return Page(
        "Audit" if len(result.checkpoints) != 1 else f"Audit of {title(result.checkpoints[0])}",
        summary(result),
        list(_sections(result)),
        mood="bad" if result.failed else mood(each for model in result.checkpoints for each in model.findings),
    )


def _sections(result: Audit) -> Iterator[Section]:
    models = [_row(each) for each in sorted(result.checkpoints, key=lambda model: _STATES.index(state(model)))]
    yield Section("Models", [Table(plural(len(models), "model"), _MODEL_COLUMNS, models)])
    if result.failed:
        failed = [(each.target, str(each.reason)) for each in result.failed]
        yield Section("Not audited", [Table("Targets", (Column("target"), Column("why")), failed)])
    found = [model for model in result.checkpoints if model.findings]
    if len(found) > 1:
        every = rows(result)
        spoken = every._replace(rows=[{**row, "severity": word_of(row["severity"])} for row in every.rows])
        yield Section("All findings", [of_rows("All findings", spoken, ("severity", "rule", "target"))])
    yield from (Section(title(model), [Findings(model.findings)]) for model in found[:MOST_SECTIONS])


def _row(model: Audited) -> tuple[Cell, ...]:
    counts = (sum(each.severity == severity for each in model.findings) for severity in _COUNTS)
    return (title(model), state(model), *counts, model.files, model.size, verdict(model))
