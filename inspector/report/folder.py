"""What a folder's bytes are → a clause for the second line, a table, and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.model import Copy, Folder, Share
from inspector.report.columns import table
from inspector.units import decimal, escape, plural

if TYPE_CHECKING:
    from inspector.report.tables import Rows

#: A part that is less than this share of the folder is not in the clause: a configuration, a tokenizer.
_LEAST = 0.01
#: What lies beside every model: reported only if it is large.
_ORDINARY = frozenset({"config", "tokenizer", "index", "document", "code", "log", "other", ".cache", ".gitattributes"})
_LARGE = 1_000_000
#: Characters of a name, and of a detail, that are shown; the most lines of one table.
_NAME, _DETAIL = 100, 200
MOST_LINES = 40


def clause(folder: Folder | None) -> str:
    """`; the folder is 50.41 GB: 26.95 GB in 2 more copies (PyTorch), 9.9 GB in .git/lfs`; or nothing."""
    if folder is None:
        return ""
    parts = [text for size, text in _parts(folder) if size >= _LEAST * folder.size]
    return f"; the folder is {decimal(folder.size)}: {', '.join(parts)}" if parts else ""


def _parts(folder: Folder) -> list[tuple[int, str]]:
    """What is beside the weights: bytes and a phrase for each."""
    plain = [each for each in folder.copies if not each.what.startswith(".")]
    parts = []
    if plain:
        kinds = ", ".join(dict.fromkeys(escape(each.what, 20) for each in plain))
        size = sum(each.size for each in plain)
        parts.append((size, f"{decimal(size)} in {_more(plain)} ({kinds})"))
    for each in folder.copies:
        if each not in plain:
            parts.append((each.size, f"{decimal(each.size)} in {escape(each.what, 20)}"))
    if folder.checkpoints:
        size = sum(each.size for each in folder.checkpoints)
        what = plural(len(folder.checkpoints), "other checkpoint")
        parts.append((size, f"{decimal(size)} in {what}"))
    shown = (each for each in folder.rest if each.name not in _ORDINARY or each.size >= _LARGE)
    return parts + [(each.size, _beside(each)) for each in shown]


def _beside(share: Share) -> str:
    """`9.9 GB in .git`, `5 MB of importance matrix`."""
    return f"{decimal(share.size)} {'in' if share.name.startswith('.') else 'of'} {escape(share.name, 40)}"


def _more(copies: list[Copy]) -> str:
    return "1 more copy" if len(copies) == 1 else f"{len(copies)} more copies"


def lines(folder: Folder | None, width: int | None = None) -> str:
    """Each part of a folder, where it holds more than one checkpoint's weights and small files."""
    if folder is None or not clause(folder):
        return ""
    rows = [("the inspected weights", decimal(folder.weights), "")] if folder.weights else []
    for copy in folder.copies:
        rows.append((_files(copy), decimal(copy.size), _what(copy)))
    for each in folder.checkpoints:
        rows.append(
            (escape(each.name, _NAME), decimal(each.size), escape(each.detail, _DETAIL) or "another checkpoint")
        )
    rows += [(each.name, decimal(each.size), _of_rest(each.files, each.detail)) for each in folder.rest]
    if len(rows) > MOST_LINES:
        rows = [*rows[:MOST_LINES], (f"… {plural(len(rows) - MOST_LINES, 'more line')}", "", "")]
    headers = (f"the folder: {decimal(folder.size)}", "size", "")
    return table([*map(_escaped, rows)], headers, "lrl", width=width, give=((2, 24), (0, 20)))


def _escaped(row: tuple[str, str, str]) -> tuple[str, str, str]:
    return row[0], row[1], escape(row[2], _DETAIL)


def _files(copy: Copy) -> str:
    """A copy's file, or what its files have in common."""
    if copy.what.startswith("."):
        return escape(copy.what, _NAME)
    more = f" and {plural(len(copy.files) - 1, 'more file')}" if len(copy.files) > 1 else ""
    return escape(copy.files[0], _NAME) + more


def _what(copy: Copy) -> str:
    of = "" if copy.of == "." else f" of {copy.of}"
    return f"a copy{of}: {copy.evidence}"


def _of_rest(files: int, detail: str) -> str:
    return "; ".join(filter(None, (plural(files, "file"), detail)))


def document(folder: Folder | None) -> dict[str, Any] | None:
    """`folder` in JSON: weights, copies, checkpoints and other sum to its size."""
    if folder is None:
        return None
    return {
        "size": folder.size,
        "files": folder.files,
        "weights": folder.weights,
        "copies": [
            {"files": list(each.files), "size": each.size, "of": each.of, "evidence": each.evidence, "what": each.what}
            for each in folder.copies
        ],
        "checkpoints": [
            {"name": each.name, "size": each.size, "files": each.files, "detail": each.detail or None}
            for each in folder.checkpoints
        ],
        "other": folder.other,
        "rest": [
            {"kind": each.name, "files": each.files, "size": each.size, "detail": each.detail or None}
            for each in folder.rest
        ],
    }


def rows(folder: Folder) -> Rows:
    """One row per part: the weights, each copy and other checkpoint, the rest by kind."""
    from inspector.report.tables import Rows, columns  # the screen needs none

    parts = [("weights", Share(folder.path, 0, folder.weights))] if folder.weights else []
    parts += [("copy", Share(each.files[0], len(each.files), each.size, each.evidence)) for each in folder.copies]
    parts += [("checkpoint", each) for each in folder.checkpoints]
    parts += [("rest", each) for each in folder.rest]
    names = columns("part name files:uint64 size:uint64 detail")
    return Rows(names, [{"part": part, **share._asdict(), "files": share.files or None} for part, share in parts])
