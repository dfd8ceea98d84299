"""Is a chat template a public one but for something, and what does it do with a user's words? By its syntax tree.

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


#: Expressions looked at in one template, the same one again and again: the longest of 170 takes 20,000.
MOST_STEPS = 300_000
#: Attributes of a message that are a user's words; what is under other names (`role`, `type`, `tool_calls`) is not.
_OF_USERS = ("content", "text")
#: Methods and filters that find a literal in a text, and those that replace one.
_FINDING = ("startswith", "endswith", "find", "rfind", "index", "count", "split", "rsplit", "partition", "rpartition")
_REPLACING = ("replace", "translate")
_SHAPING = (
    *("strip", "lstrip", "rstrip", "lower", "upper", "title", "casefold", "removeprefix", "removesuffix", "splitlines"),
)
_SEARCH, _REPLACE = "a test of what a user wrote for", "a replacement in what a user wrote of"
#: A word of a language: what has marks, or no three letters in a row, is of a format.
_WORD = re.compile(r"[^\W\d_]{3}")
_MARKS = re.compile(r"[<>\[\]{}|#*/\\\n=`▁｜]|^\W|:$")


def findings(tree: nodes.Template) -> Iterator[tuple[str, str]]:
    """Each thing that no template needs to do with words, and the words."""
    try:
        walk = _Words(tree)
        yield from walk.tested()
        for text in dict.fromkeys(walk.written()):
            for kind, pattern in _patterns():
                if found := pattern.search(text):
                    yield kind, found[0]
    except RecursionError:
        yield "more in it than is followed", ""


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    added = data.overlay("wording")["added"]
    return tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in added.items())


@cache
def _usual() -> frozenset[str]:
    return frozenset(data.overlay("wording")["usual"])


class _Words:
    def __init__(self, tree: nodes.Template) -> None:
        self.nodes = list(tree.find_all(nodes.Node))
        self.left = MOST_STEPS
        self.users: set[str] = set()  # variables with a user's words
        self.values: dict[str, list[nodes.Node]] = {}
        for node in self.nodes:
            if isinstance(node, nodes.Assign | nodes.For) and isinstance(node.target, nodes.Name | nodes.NSRef):
                value = node.node if isinstance(node, nodes.Assign) else node.iter
                self.values.setdefault(_name(node.target), []).append(value)
            if isinstance(node, nodes.AssignBlock) and isinstance(node.target, nodes.Name):
                self.values.setdefault(node.target.name, []).extend(node.body)
        macros = {node.name: [each.name for each in node.args] for node in self.nodes if isinstance(node, nodes.Macro)}
        for node in self.nodes:
            if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name in macros:
                for name, value in zip(macros[node.node.name], node.args, strict=False):
                    self.values.setdefault(name, []).append(value)
        self.is_users = cache(self._is_users)
        self._texts = cache(lambda node, depth=0: tuple(dict.fromkeys(self._texts_of(node, depth))))
        for _ in range(4):  # through so many assignments
            self.users |= {name for name, values in self.values.items() if any(map(self.is_users, values))}
            self.is_users.cache_clear()

    def _step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise RecursionError

    def _is_users(self, node: nodes.Node) -> bool:
        """Whether a value is, or has in it, what a user wrote."""
        self._step()
        match node:
            case nodes.Getattr(attr=name):
                of_users = name in _FINDING + _REPLACING + _SHAPING and self.is_users(node.node)
                return name in _OF_USERS or of_users or _name(node) in self.users
            case nodes.Getitem(arg=nodes.Const(value=str(name))):
                return name in _OF_USERS
            case nodes.Name(name=name):
                return name in self.users
            case nodes.Compare() | nodes.Test() | nodes.Not() | nodes.And() | nodes.Const():
                return False
            case nodes.CondExpr(expr1=first, expr2=second):
                return self.is_users(first) or (second is not None and self.is_users(second))
            case nodes.Filter(
                name="map", args=[], kwargs=[nodes.Keyword(key="attribute", value=nodes.Const(value=name))]
            ):
                return name in _OF_USERS
            case nodes.Filter(name="length" | "count"):
                return False
            case nodes.Call(node=nodes.Name()):
                return False  # a macro: what it does with its arguments is judged in its body
        return any(map(self.is_users, node.iter_child_nodes()))

    def tested(self) -> Iterator[tuple[str, str]]:
        """Literals that a user's words are compared with, and dates."""
        for node in self.nodes:
            what, sides = self._comparison(node)
            yield from ((what, each) for side in sides for each in self._words_of(side))
            if isinstance(node, nodes.Compare) and self._counts(node):
                yield "a test of how long a text or the conversation is", ""
            if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice) and node.arg.step:
                yield from [("another order of what a user wrote", "")] if self.is_users(node.node) else ()
            if isinstance(node, nodes.Compare) and "strftime_now" in {each.name for each in node.find_all(nodes.Name)}:
                yield "a test of the date", ""

    def _counts(self, node: nodes.Compare) -> bool:
        """Whether the length of a user's words, or of all messages, is compared with more than four."""
        sides = [node.expr, *(each.expr for each in node.ops)]
        counted = (each.node for each in sides if isinstance(each, nodes.Filter) and each.name in ("length", "count"))
        many = any(isinstance(each, nodes.Const) and type(each.value) is int and each.value > 4 for each in sides)
        texts = (each for each in counted if each is not None)
        return many and any(getattr(each, "name", "") == "messages" or self.is_users(each) for each in texts)

    def _comparison(self, node: nodes.Node) -> tuple[str, list[nodes.Expr]]:
        """What a user's words are compared with, or what is replaced in them."""
        match node:
            case nodes.Compare(expr=left, ops=operands):
                sides = [left, *(each.expr for each in operands)]
                return _SEARCH, sides if any(map(self.is_users, sides)) else []
            case nodes.Call(node=nodes.Getattr(node=base, attr=name), args=arguments) if name in _FINDING + _REPLACING:
                return _REPLACE if name in _REPLACING else _SEARCH, arguments[:1] if self.is_users(base) else []
            case nodes.Filter(name="selectattr" | "rejectattr", args=[nodes.Const(value=name), _, *arguments]):
                return _SEARCH, arguments if name in _OF_USERS else []
            case nodes.Filter(node=nodes.Expr() as base, name="replace", args=arguments):
                return _REPLACE, arguments[:1] if self.is_users(base) else []
            case nodes.Test(node=base, name="in" | "eq" | "equalto" | "sameas" | "==", args=arguments):
                return _SEARCH, arguments if self.is_users(base) else []
        return "", []

    def _texts_of(self, node: nodes.Node, depth: int) -> Iterator[str]:
        """The constant texts that a value may be, put together where it is a sum."""
        self._step()
        match node:
            case nodes.Const(value=str(text)):
                yield text
            case nodes.TemplateData(data=text):
                yield text
            case nodes.List(items=items) | nodes.Tuple(items=items):
                yield from (text for each in items for text in self._texts(each, depth))
            case nodes.Dict(items=items):
                yield from (text for each in items for text in self._texts(each.key, depth))
            case nodes.Concat() | nodes.Add():
                parts = node.nodes if isinstance(node, nodes.Concat) else [node.left, node.right]
                texts = [list(self._texts(each, depth)) for each in parts]
                if all(len(each) == 1 for each in texts):
                    yield "".join(each[0] for each in texts)
                else:
                    yield from (text for each in texts for text in each)
            case nodes.Name(name=name) if depth < 3 and name not in self.users:
                yield from (text for each in self.values.get(name, ())[:20] for text in self._texts(each, depth + 1))
            case nodes.Filter(node=base) if base is not None:
                yield from self._texts(base, depth)

    def _words_of(self, node: nodes.Node) -> Iterator[str]:
        """Literals that are a language's words, not a format's."""
        for text in self._texts(node):
            plain = text.strip()
            marked = _MARKS.search(plain) or ("_" in plain and plain.isupper())
            if _WORD.search(plain) and not marked and plain.lower() not in _usual():
                yield text

    def written(self) -> Iterator[str]:
        """Constant texts, wherever they are: what is written may be put together elsewhere."""
        for node in self.nodes:
            if isinstance(node, nodes.TemplateData | nodes.Const | nodes.Concat | nodes.Add):
                yield from self._texts(node)


def _name(node: Any) -> str:
    """The name of a variable, or of a namespace's attribute: `ns.found`."""
    if isinstance(node, nodes.Getattr):
        return f"{getattr(node.node, 'name', '')}.{node.attr}"
    return f"{node.name}.{node.attr}" if isinstance(node, nodes.NSRef) else str(node.name)
