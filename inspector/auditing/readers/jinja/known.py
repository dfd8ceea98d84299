"""Is a chat template a public one but for something? Compared piece by piece, by its syntax tree.

A piece is what a template tests, sets, repeats or writes, without its layout; a text has one for each sentence.
`data/templates.json` has the digests of the pieces of public templates, not their words.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple

from jinja2 import nodes

from inspector.auditing import data
from inspector.model import Severity
from inspector.units import integer, plural

#: Bytes of a digest, and the fewest pieces of a template that is compared.
DIGEST, FEWEST = 3, 8
#: Share of a template's pieces that are a known one's if it is a version of it: of 145 public ones without each other,
#: and 98 further ones, 3 then have a sentence more than the one they are most like, and 75 differ otherwise.
ALIKE = 0.8
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")
#: Three words of a language in a row.
_WORDS = re.compile(r"[^\W\d_]{2,}(?:[\s,'-]+[^\W\d_]{2,}){2}")


class Piece(NamedTuple):
    """One thing that a template does."""

    line: int
    form: str  # the kind, and what is tested, set or written: the same in templates that do the same
    text: str | None = None  # a sentence that is written; None for an expression

    @property
    def digest(self) -> bytes:
        return blake2b(self.form.encode("utf-8", "replace"), digest_size=DIGEST).digest()

    @property
    def says(self) -> bool:
        return self.text is not None and _WORDS.search(self.text) is not None

    def __str__(self) -> str:
        named = ", ".join(re.findall(r"'([^']+)'", self.form)[:4]) if self.text is None else repr(self.text)
        return f"line {integer(self.line)}: {self.form.partition(' ')[0]} {named:.80}"


def differences(tree: nodes.Template) -> Iterator[tuple[str, Severity]]:
    """What a version of a known template has or lacks: a warning if it does more than that one."""
    try:
        own = list(pieces(tree))
    except RecursionError:  # judged elsewhere
        return
    counted = Counter(each.digest for each in own)
    alike = ((sum((counted & pieces).values()), -pieces.total(), name) for name, pieces in _known().items())
    shared, _, name = max(alike)
    if len(own) < FEWEST or shared < ALIKE * len(own):
        return
    left, added = _known()[name].copy(), list[Piece]()
    for each in own:
        if left[each.digest] > 0:
            left[each.digest] -= 1
        elif each.digest not in _anywhere():
            added.append(each)
    lacking = left.total() - sum(left[each] for each in counted)
    stated = [each for each in added if each.says]
    first = [*stated, *(each for each in added if not each.says)]
    if not first:
        return
    where = "; ".join(map(str, first[:3])) + (f"; and {integer(len(first) - 3)} more" if len(first) > 3 else "")
    without = f", without {plural(lacking, 'piece')} of it" if lacking else ""
    yield f"{name} but for {where}{without}", "warning" if len(stated) > lacking or not lacking else "info"


@cache
def _known() -> dict[str, Counter[bytes]]:
    """The pieces of each known template."""
    found = {}
    for name, text in data.table("templates")["templates"].items():
        raw = b64decode(text)
        found[name] = Counter(raw[at : at + DIGEST] for at in range(0, len(raw), DIGEST))
    return found


@cache
def _anywhere() -> frozenset[bytes]:
    return frozenset().union(*_known().values())


def pieces(tree: nodes.Template) -> Iterator[Piece]:
    """Everything that a template does, in its order."""
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        inner = [each for each in node.iter_child_nodes() if isinstance(each, nodes.Stmt)]
        pending += reversed(inner)
        if isinstance(node, nodes.Output):
            for each in node.nodes:
                yield from _sentences(each) if isinstance(each, nodes.TemplateData) else _of(each, "writes", [each])
        elif not isinstance(node, nodes.Template):
            fields = (getattr(node, name) for name in node.fields if name not in ("body", "elif_", "else_"))
            yield from _of(node, f"{type(node).__name__.lower()}", list(fields))


def _of(node: nodes.Node, kind: str, values: list[Any]) -> Iterator[Piece]:
    texts: list[nodes.Const] = []
    yield Piece(node.lineno, f"{kind} {_form(values, texts)}")
    for each in texts:
        yield from _sentences(each)


def _form(value: Any, texts: list[nodes.Const]) -> str:
    """An expression as text; of its long texts, which are collected, only that they are there."""
    if isinstance(value, nodes.Const) and isinstance(value.value, str):
        if not _WORDS.search(value.value):
            return repr(value.value.strip())
        texts.append(value)
        return "text"
    if isinstance(value, nodes.Node):
        inner = (_form(getattr(value, name), texts) for name in value.fields if name != "ctx")
        return f"{type(value).__name__}({','.join(inner)})"
    return f"[{','.join(_form(each, texts) for each in value)}]" if isinstance(value, list) else repr(value)


def _sentences(node: nodes.TemplateData | nodes.Const) -> Iterator[Piece]:
    text = node.data if isinstance(node, nodes.TemplateData) else node.value
    for part in _SENTENCE.split(text):
        if plain := " ".join(part.split()):
            yield Piece(node.lineno, f"text {plain}", plain)
