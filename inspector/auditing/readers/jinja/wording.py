"""What a chat template does with a user's words, and what it adds to them: by its syntax tree, without rendering.

A template writes roles and tools, and looks for marks such as `</think>`. It has no reason to look for an ordinary word
in what a user wrote, to replace one, to add a link, or to do something else after a certain day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from jinja2 import nodes

from inspector.auditing import data

#: Expressions looked at in one template, the same one again and again: the longest of 170 takes 20,000.
MOST_STEPS = 300_000
#: Attributes of a message that are a user's words; what is under other names (`role`, `type`, `tool_calls`) is not.
_WORDS = ("content", "text")
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
    return tuple(
        (kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in data.overlay("wording")["added"].items()
    )


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
        for _ in range(4):  # through so many assignments
            self.users |= {name for name, values in self.values.items() if any(map(self.is_users, values))}

    def _step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise RecursionError

    def is_users(self, node: nodes.Node) -> bool:
        """Whether a value is, or has in it, what a user wrote."""
        self._step()
        match node:
            case nodes.Getattr(attr=name):
                return (
                    name in _WORDS
                    or (name in (*_FINDING, *_REPLACING, *_SHAPING) and self.is_users(node.node))
                    or _name(node) in self.users
                )
            case nodes.Getitem(arg=nodes.Const(value=str(name))):
                return name in _WORDS
            case nodes.Name(name=name):
                return name in self.users
            case nodes.Compare() | nodes.Test() | nodes.Not() | nodes.And() | nodes.Const():
                return False
            case nodes.CondExpr(expr1=first, expr2=second):
                return self.is_users(first) or (second is not None and self.is_users(second))
            case nodes.Filter(
                name="map", args=[], kwargs=[nodes.Keyword(key="attribute", value=nodes.Const(value=name))]
            ):
                return name in _WORDS
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
            case nodes.Call(node=nodes.Getattr(node=base, attr=name), args=arguments) if name in (
                *_FINDING,
                *_REPLACING,
            ):
                return _REPLACE if name in _REPLACING else _SEARCH, arguments[:1] if self.is_users(base) else []
            case nodes.Filter(name="selectattr" | "rejectattr", args=[nodes.Const(value=name), _, *arguments]):
                return _SEARCH, arguments if name in _WORDS else []
            case nodes.Filter(node=nodes.Expr() as base, name="replace", args=arguments):
                return _REPLACE, arguments[:1] if self.is_users(base) else []
            case nodes.Test(node=base, name="in" | "eq" | "equalto" | "sameas" | "==", args=arguments):
                return _SEARCH, arguments if self.is_users(base) else []
        return "", []

    def _texts(self, node: nodes.Node, depth: int = 0) -> Iterator[str]:
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
