"""What the page asks of the library. Every answer is JSON: a page's markup and tables, or one line on what is wrong.

Runs in the app's worker, and unchanged in CPython, where the tests compare it with the command.
"""

from __future__ import annotations

import json
import os
import re
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from inspector import api
from inspector.cli import overviews
from inspector.cli.output import Output
from inspector.errors import InspectorError
from inspector.report.pages import render
from inspector.report.pages.parts import Findings, Page, Part, Report, Section, Text, of_rows
from inspector.sizing import machine
from inspector.units import escape
from inspector.version import __version__

if TYPE_CHECKING:
    from inspector.model import Reconciliation
    from inspector.sizing.model import Model as Sized

#: Target → what was read of it. A worker ends with its page.
_read: dict[str, Reconciliation] = {}
_sized: dict[str, Sized] = {}


class Kept(Output):
    """The output of a command: its page, which is kept instead of written, and its document."""

    page: Page | None = None
    document: Callable[[], dict[str, Any]]
    lines: Callable[[], Iterable[str]]

    def show(self, lines: Any, document: Any, rows: Any, *, titled: bool = False) -> None:  # noqa: ARG002
        """Keep the result's forms; each is made when it is asked for."""
        self.lines, self.document = lines, document

    def write_page(self, page: Callable[[], Page]) -> None:
        """Keep the page."""
        self.page = page()


def begin(folder: str) -> None:
    """Names are relative to the folder of all that was opened."""
    os.chdir(folder)


def borrow(wanted: Callable[[int, int, int], Any]) -> None:
    """Files of an editor, whose bytes come by messages, as all reading of this library expects them.

    Args:
        wanted: of a descriptor, a length and an offset: what to wait for before the bytes can be read, or None.
    """
    from pyodide.ffi import run_sync

    def pread(descriptor: int, length: int, offset: int) -> bytes:
        if (slice_ := wanted(descriptor, length, offset)) is not None:
            run_sync(slice_)
        return read(descriptor, length, offset)

    if (read := os.pread).__module__ == "posix":
        os.pread = pread


def forget() -> None:
    """Keep nothing of what was read."""
    _read.clear()
    _sized.clear()


def about() -> str:
    """What the page's settings offer."""
    from inspector.sizing.devices import DEVICES

    return json.dumps({"version": __version__, "devices": list(DEVICES)})


def log_in(hub: str, token: str) -> None:
    """The Hub to ask, and the token for it."""
    os.environ["HF_ENDPOINT"], os.environ["HF_TOKEN"] = hub, token
    if not token:
        del os.environ["HF_TOKEN"]
    from huggingface_hub import constants

    if (hub := hub.rstrip("/")) != constants.ENDPOINT:
        constants.ENDPOINT = hub
        forget()


def view(name: str, targets: str, options: str) -> str:
    """A view of what was opened.

    Args:
        name: one of `VIEWS`.
        targets: a JSON list of targets, relative to the folder that `begin` was given.
        options: a JSON object; empty values are left out.

    Returns:
        JSON: {head, body, tables} of a page, {document}, or {problem: one line}.
    """
    wanted = {key: value for key, value in json.loads(options).items() if value not in ("", None)}
    try:
        found = VIEWS[name](*json.loads(targets), **wanted)
    except InspectorError as error:
        return json.dumps({"problem": escape(_here(str(error)))})
    except RecursionError:
        return json.dumps({"problem": "something in the input is nested too deeply"})
    except MemoryError:
        return json.dumps({"problem": "not enough memory for this input"})
    if isinstance(found, Page):
        head, body, tables = render.contents(_page_here(found))
        found = {"title": escape(found.title, 200), "head": head, "body": body, "tables": tables}
    return json.dumps(found)


#: What the command's messages advise → what there is to do here. No text of a file is among them.
_HERE = {
    "no device of this machine was found, --gpu names one": "a card, entered above, says whether it fits",
    "--gpu says which fit": "a card, entered above, says which fit",
    "(--config)": "(choose its config.json together with the adapter's files)",
    "values were not read: --data": "values were not read: that takes the command, `inspect audit --data`",
    "values were not compared (--data)": "values were not compared: that takes the command, `inspect diff --data`",
    "--data compares the values": "values are compared by the command, `inspect diff --data`",
    "for a configuration use `inspect predict`": "for a configuration alone there is the command, `inspect predict`",
    "(--max-num-batched-tokens, --batch here)": "(--max-num-batched-tokens)",
    " (--batch)": "",
    " (--source)": "",
}
_ADVICE = re.compile("|".join(map(re.escape, _HERE)))


def _here(text: str) -> str:
    return _ADVICE.sub(lambda found: _HERE[found[0]], text)


def _page_here(page: Page) -> Page:
    """The page with what a person does here instead of options."""
    sections = [section._replace(parts=[_part_here(part) for part in section.parts]) for section in page.sections]
    return page._replace(verdict=_here(page.verdict), lines=[*map(_here, page.lines)], sections=sections)


def _part_here(part: Part) -> Part:
    match part:
        case Text(lines):
            return Text([*map(_here, lines)])
        case Report(text):
            return Report(_here(text))
        case Findings(found):
            return part._replace(found=[each._replace(message=_here(each.message)) for each in found])
    return part


def _opened(target: str, **opening: Any) -> Reconciliation:
    """As `console.reconciled`, once for each target."""
    if target not in _read:
        _read[target] = api.reconcile(api.open(target, **opening))
    return _read[target]


#: JSON that is nested more deeply is refused, as Python does elsewhere: here it would exhaust the browser's stack.
_DEPTH = 900
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


def _depth(text: bytes) -> int:
    return max(accumulate(array("b", text.translate(None, _NO_BRACKETS).translate(_STEPS))), default=0)


def _bounded(decoder: json.JSONDecoder, text: str, idx: int = 0) -> tuple[Any, int]:
    """As `JSONDecoder.raw_decode`, which all of `json` ends in."""
    raw = text.encode("utf-8", "surrogatepass")
    if _depth(raw) > _DEPTH and _depth(_STRING.sub(b"", raw)) > _DEPTH:
        raise RecursionError
    return _decode(decoder, text, idx)


_decode = json.JSONDecoder.raw_decode
if sys.platform == "emscripten":
    json.JSONDecoder.raw_decode = _bounded  # type: ignore[method-assign]

# The memory of a browser's Python says nothing about the machine on which a model would run.
vars(machine)["found"] = tuple
vars(overviews)["reconciled"] = _opened  # without a progress bar, and so that other views need not read again


def _model(target: str) -> Sized:
    if target not in _sized:
        _sized[target] = api.sized(_read.get(target, target))
    return _sized[target]


def _overview(target: str) -> Page:
    kept = _kept(target)
    if kept.page is not None:
        return kept.page
    first, *rest = "\n".join(kept.lines()).strip("\n").split("\n")
    return Page(target.rpartition("/")[2], first, [Section("Report", [Report("\n".join(rest).strip("\n"))])])


def _kept(target: str, shown: overviews.Shown = overviews.PLAIN) -> Kept:
    kept = Kept(("json",), html="")
    overviews.overview(target, shown, kept)
    return kept


def _memory(target: str, **options: Any) -> Page:
    from inspector.report import memory

    return memory.page(api.memory(_model(target), **options))


def _quants(target: str, **options: Any) -> Page:
    from inspector.report import quants

    found = api.quants(_model(target), **options)
    table = of_rows("The size of each quantization", quants.rows(found))
    notes = [*found.notes, f"Bytes: {quants.includes(found)}."]
    return Page(f"Quantizations of {found.target}", quants.answer(found), [Section("Sizes", [table, Text(notes)])])


def _audit(target: str) -> Page:
    from inspector.auditing import run
    from inspector.report import audit

    found = run.audit([target])
    for failed in found.failed:
        if not found.checkpoints:
            return Page(f"Audit of {target}", str(failed.reason), [Section("Findings", [Findings(())])], mood="bad")
    return audit.page(found)


def _diff(target: str, other: str) -> Page:
    from inspector.report import diff

    return diff.page(api.diff(_opened(target), _opened(other)))


#: View → its page, or its document.
VIEWS: Mapping[str, Callable[..., Page | dict[str, Any]]] = {
    "overview": _overview,
    "memory": _memory,
    "quants": _quants,
    "audit": _audit,
    "diff": _diff,
    "json": lambda target, tensors=False: {"document": _kept(target, overviews.Shown(tensors=tensors)).document()},
}
