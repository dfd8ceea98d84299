"""What a template's expressions look up, call and evaluate to."""

from __future__ import annotations

import operator
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from jinja2 import nodes

from inspector.auditing.readers.jinja import values
from inspector.auditing.readers.jinja.values import ANY, DATA, MADE, Value

#: Nodes that are visited, a loop's body more than once.
MAX_STEPS = 60_000
#: Nesting of nodes: Python's own limit is not far beyond.
MAX_DEPTH = 150
#: Separators of nested attributes, and of several attributes to sort by.
_PARTS = re.compile(r"[.,]")
#: Characters that one `join`, `replace` or product may produce from the template's own strings.
MOST_WOVEN = 10_000_000
#: Characters of a word of `lipsum`, with the space after it: the longest of Jinja's is `pellentesque`.
LONGEST_WORD = 13
#: Operators that produce numbers only.
_ARITHMETIC: Mapping[type[nodes.Node], Callable[..., Any]] = {
    nodes.Sub: operator.sub,
    nodes.Div: operator.truediv,
    nodes.FloorDiv: operator.floordiv,
    nodes.Neg: operator.neg,
    nodes.Pos: operator.pos,
}


class Reach(NamedTuple):
    """Something a template does that no chat template needs."""

    what: str
    words: str


class Enough(Exception):  # noqa: N818  the end of the walk, no error
    """The walk has reached its limit."""


class Expressions:
    """The state of a walk through a template, and the outcomes of its expressions."""

    def __init__(self) -> None:
        self.found: dict[Reach, None] = {}
        self.steps = 0
        self.depth = 0
        self.variables: dict[str, Value] = {}
        self.macros: dict[str, nodes.Macro] = {}
        self.parameters: dict[str, frozenset[str]] = {}  # of each macro
        self.expansions: dict[Any, Value] = {}  # macro with everything it depends on → its text
        self.running: list[str] = []  # macros, the innermost last
        self.testing = 0  # enclosing loops that are repeated to detect growth
        self.rounds = 1  # iterations of the enclosing loops, as written
        self.all_rounds = 1
        self.inner: list[set[str]] = []  # names of parts of what is looped over
        self.callers: list[nodes.CallBlock] = []
        self.aliases: dict[str, str] = {}  # variable → the variable that it was set to
        self.namespaces: dict[str, set[str]] = {}  # variable → its attributes, which are variables as well
        self.ranges: dict[str, int] = {}  # variable set to `range(…)` → its iterations

    def tell(self, what: str, words: str) -> None:
        self.found[Reach(what, words[:60])] = None

    def _step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Enough

    # --- expressions ----------------------------------------------------------------------------

    def value(self, node: nodes.Node) -> Value:
        """The possible values of an expression."""
        self._step()
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.tell("expressions nested implausibly deep", "")
            raise Enough
        method = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        found: Value = method(node) if method else self._of_other(node)
        self.depth -= 1
        return found

    def _of_other(self, node: nodes.Node) -> Value:
        """Comparisons, tests, arithmetic: they produce no text, but their operands are checked."""
        for child in node.iter_child_nodes():
            self.value(child)
        return DATA

    def _of_const(self, node: nodes.Const) -> Value:
        return values.of(node.value)

    def _of_templatedata(self, node: nodes.TemplateData) -> Value:
        return values.of(node.data)

    def _of_name(self, node: nodes.Name) -> Value:
        if own := self._namespace(node):  # its text has all its attributes, quoted
            parts = [self.variables.get(f"{own}.{each}", DATA) for each in sorted(self.namespaces[own])]
            return replace(DATA, weight=1 + 2 * sum(each.weight for each in parts))
        if node.name in self.variables:
            return self.variables[node.name]
        if node.name in self.macros:
            return Value(frozenset((("macro", values.MacroName(node.name)),)))
        return MADE if node.name.endswith("_token") else DATA  # a repository defines its own special tokens

    def _of_nsref(self, node: nodes.NSRef) -> Value:
        return self.variables.get(f"{node.name}.{node.attr}", DATA)

    def _of_list(self, node: nodes.List) -> Value:
        self.contain(node.items)
        found = tuple(self.value(each) for each in node.items)
        return Value(items=found, weight=max(1, sum(each.weight for each in found)))

    _of_tuple = _of_list

    def contain(self, nodes_within: Sequence[nodes.Node]) -> None:
        """Report a namespace that is part of something else, whose text would grow with it unseen."""
        for each in nodes_within:
            if name := self._namespace(each):
                self.tell("work without end", f"{name} is part of something else, which grows with it")

    def _namespace(self, node: nodes.Node) -> str | None:
        """The namespace that a name stands for; None for anything else."""
        own = self.aliases.get(node.name, node.name) if isinstance(node, nodes.Name) else None
        return own if own in self.namespaces else None

    def _of_dict(self, node: nodes.Dict) -> Value:
        self.contain([each for pair in node.items for each in (pair.key, pair.value)])
        return values.table([self.value(each) for pair in node.items for each in (pair.key, pair.value)])

    def _of_condexpr(self, node: nodes.CondExpr) -> Value:
        self.value(node.test)
        branches = [self.value(node.expr1)]
        if node.expr2 is not None:
            branches.append(self.value(node.expr2))
        return values.either(branches)

    def _of_and(self, node: nodes.And) -> Value:
        return values.either([self.value(node.left), self.value(node.right)])

    _of_or = _of_and

    def _of_concat(self, node: nodes.Concat) -> Value:
        return values.joined([values.quoted_items(self.value(each)) for each in node.nodes])

    def _of_add(self, node: nodes.Add) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if left.items is not None and right.items is not None:
            return Value(items=(left.items + right.items)[: values.MAX_LENGTH], weight=left.weight + right.weight)
        if values.is_known(left) and values.is_known(right):
            return values.worked_out(lambda a, b: a + b, left, right)
        if values.is_foreign(left) and values.is_foreign(right):
            return Value(data=True, weight=left.weight + right.weight)
        if left.items is not None or right.items is not None:
            return Value(made=ANY, weight=left.weight + right.weight)
        return values.joined([left, right])

    def _of_mul(self, node: nodes.Mul) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if values.is_huge(left, right):
            self.tell("work without end", "a text or number times a large number")
            return MADE
        times = max((abs(each) for value in (left, right) for each in value.numbers), default=1)
        weight = left.weight * right.weight * times
        if weight > MOST_WOVEN and any(not values.is_known(each) or any(each.texts) for each in (left, right)):
            self.tell("work without end", "a text times a large number")
            return MADE
        return replace(values.worked_out(lambda a, b: a * b, left, right), weight=weight)

    def _of_sub(self, node: nodes.BinExpr | nodes.UnaryExpr) -> Value:
        """The result of arithmetic on constants; on anything else, it produces no text."""
        found = [self.value(each) for each in node.iter_child_nodes()]
        return values.worked_out(_ARITHMETIC[type(node)], *found) if all(map(values.is_known, found)) else DATA

    _of_div = _of_floordiv = _of_neg = _of_pos = _of_sub

    def _of_pow(self, node: nodes.Pow) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if any(abs(each) > 64 for each in right.numbers) or any(abs(each) > 2**31 for each in left.numbers):
            self.tell("work without end", "a power")
            return DATA
        return values.worked_out(lambda a, b: a**b, left, right)

    def _of_mod(self, node: nodes.Mod) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        self._check_format(left, right)
        return self._format_result(left, right)

    def _format_result(self, left: Value, right: Value) -> Value:
        if any(map(values.is_wide, left.texts)):
            return MADE
        wrapped = right.items is not None
        made = values.worked_out(lambda a, b: a % (tuple(b) if wrapped else b), left, right)
        return replace(made, weight=max(made.weight, _format_weight(left, [*(right.items or (right,))])))

    def _check_format(self, text: Value, *arguments: Value) -> None:
        """Widths that fill memory, fields that access internals."""
        if any(map(values.is_wide, text.texts)) or values.is_huge(*arguments):
            self.tell("work without end", "a width in a format")
        for each in text.texts:
            if field := values.looks_inside(each):
                self.tell("a format string that reaches inside an object", field)

    def _of_getattr(self, node: nodes.Getattr) -> Value:
        found = self.value(node.node)
        if values.is_internal(node.attr):
            self.tell("an internal attribute", node.attr)
        if isinstance(node.node, nodes.Name):
            own = self.variables.get(f"{node.node.name}.{node.attr}")
            if own is not None:
                return own
        return values.part_of(found)

    def _of_getitem(self, node: nodes.Getitem) -> Value:
        found = self.value(node.node)
        if isinstance(node.arg, nodes.Slice):
            return self._slice(found, node.arg)
        key = self.value(node.arg)
        self._look_up(key, "an item")
        if values.is_known(key) and (values.is_known(found) or found.items is not None):
            at = values.single(key)
            if (
                found.items is not None
                and not found.data
                and isinstance(at, int)
                and -len(found.items) <= at < len(found.items)
            ):
                return found.items[at]
            if found.items is None:
                return values.worked_out(lambda text, index: text[index], found, key)
        return values.part_of(found)

    def _slice(self, found: Value, part: nodes.Slice) -> Value:
        bounds = [self.value(each) if each else values.constant(None) for each in (part.start, part.stop, part.step)]
        if found.items is not None and values.python_of(found) is None:
            return values.loosened(found)
        return values.worked_out(lambda text, *at: text[slice(*at)], found, *bounds)

    def _look_up(self, name: Value, what: str) -> None:
        """A name that is looked up at run time: none of its possible values may be an internal."""
        for each_item in name.items or ():
            self._look_up(each_item, what)
        for text in name.texts:
            for each in (text, *_PARTS.split(text)):
                if values.is_internal(each):
                    self.tell(f"{what} that is an internal", text)
        if name.made is not None and ("_" in name.made or "" in name.made):
            self.tell(f"{what} whose name is put together from pieces", "")

    def _of_filter(self, node: nodes.Filter) -> Value:
        return self._filter_result(node, self.value(node.node) if node.node is not None else DATA)

    def _filter_result(self, node: nodes.Filter, found: Value) -> Value:
        made = self._filter_value(node, found)
        if node.name in values.QUOTING or (node.name in values.TEXTUAL and found.items is not None):
            return replace(made, weight=max(made.weight, 2 * found.weight))
        return made

    def _filter_value(self, node: nodes.Filter, found: Value) -> Value:
        arguments = [self.value(each) for each in node.args]
        named = {str(each.key): self.value(each.value) for each in node.kwargs}
        self._check_filter(node.name, found, arguments, named)
        if node.name in values.PASSING:
            return values.either([found, *arguments])
        if node.name in values.COUNTING and not values.is_known(found):
            return DATA
        if node.name in values.PARTS and (found.data or values.is_foreign(found)):
            return values.any_part(found)
        if node.name == "map":
            return self._map_filter(found, arguments, named)
        if node.name == "format" and arguments:
            return self._format_result(found, Value(items=tuple(arguments)))
        if node.name == "sum" and values.grown("sum", found, *arguments, *named.values()) > MOST_WOVEN:
            self.tell("work without end", "a sum of lists")
        if node.name in ("join", "replace"):
            return self._join_or_replace(node.name, found, arguments, named)
        function = values.FILTERS.get(node.name)
        if function is None or named or values.is_huge(*arguments):
            return values.unknown([found, *arguments, *named.values()])
        made = values.worked_out(function, found, *arguments)
        return replace(made, weight=max(made.weight, found.weight)) if node.name in values.WHOLE else made

    def _join_or_replace(self, name: str, found: Value, arguments: list[Value], named: dict[str, Value]) -> Value:
        """`join` and `replace`, whose result may be as long as the product of their texts' lengths."""
        weight = values.grown(name, found, *arguments)
        if weight > MOST_WOVEN:
            self.tell("work without end", f"{name} of long texts")
            return MADE
        if named or values.is_huge(*arguments):
            made = values.unknown([found, *arguments, *named.values()])
        elif name == "replace" and values.is_foreign(found) and len(arguments) > 1 and values.is_bare(arguments[1]):
            made = DATA  # what a user wrote, without something
        elif name == "join" and found.items is not None and values.python_of(found) is None:
            between = [arguments[0]] if arguments else []
            parts = [part for each in found.items for part in (*between, each)][len(between) :]
            made = values.unknown([found, *arguments]) if found.data else values.joined(map(values.quoted_items, parts))
        else:
            made = values.worked_out(values.FILTERS[name], found, *arguments)
        return replace(made, weight=max(made.weight, weight))

    def _check_filter(self, name: str, found: Value, arguments: list[Value], named: dict[str, Value]) -> None:
        position, keyword = values.LOOKING.get(name, (None, None))
        looked_up = [named[keyword]] if keyword in named and keyword else []
        if position is not None and position < len(arguments):
            looked_up.append(arguments[position])
        for each in looked_up:
            self._look_up(each, "an attribute")
        if name == "map" and arguments and "attr" in set(arguments[0].texts):
            for each in arguments[1:]:
                self._look_up(each, "an attribute")
        if name in ("map", "select", "reject") and arguments and arguments[0].made is not None:
            self.tell("a filter whose name is put together from pieces", "")
        if name == "format":
            self._check_format(found, *arguments, *named.values())
        elif values.is_huge(*arguments, *named.values()) or values.is_widened(name, found, *arguments, *named.values()):
            self.tell("work without end", f"a large number for the filter {name}")

    def _map_filter(self, found: Value, arguments: list[Value], named: dict[str, Value]) -> Value:
        """A filter applied to each item, if named by a constant."""
        name = values.single(arguments[0]) if arguments else None
        if found.items is None or not isinstance(name, str) or name not in values.FILTERS:
            return values.unknown([found, *arguments, *named.values()])
        function = values.FILTERS[name]
        return Value(items=tuple(values.worked_out(function, each, *arguments[1:]) for each in found.items))

    def _of_call(self, node: nodes.Call) -> Value:
        arguments = [self.value(each) for each in node.args]
        named = {each.key: self.value(each.value) for each in node.kwargs}
        if isinstance(node.node, nodes.Name) and node.node.name in ("dict", "namespace"):
            self.contain([*node.args, *(each.value for each in node.kwargs)])
        given = [
            name for each in (*node.args, *(each.value for each in node.kwargs)) if (name := self._namespace(each))
        ]
        if len(given) > len(set(given)):
            self.tell("work without end", f"{given[0]} under two names")
        for each in (node.dyn_args, node.dyn_kwargs):
            if each is not None:
                arguments.append(values.loosened(self.value(each)))
        if isinstance(node.node, nodes.Getattr):
            return self._method(node.node, arguments, named)
        if isinstance(node.node, nodes.Name):
            return self._function(node.node.name, arguments, named)
        return self._call_of_value(node.node, arguments, named)

    def _call_of_value(self, what: nodes.Node, arguments: list[Value], named: dict[str, Value]) -> Value:
        """A call of an expression's value: one of the template's macros, or a method named by a constant."""
        found = self.value(what)
        own = [each.name for _, each in found.known if isinstance(each, values.MacroName)]
        if own and len(own) == len(found.known) and found.made is None:
            return values.either([self._macro_text(self.macros[name], arguments, named) for name in own])
        if not (isinstance(what, nodes.Getitem) and isinstance(what.arg, nodes.Const)):  # `messages[0]['items']()`
            self.tell("a call of what another expression returns", "")
        return values.unknown([*arguments, *named.values()])

    def _method(self, node: nodes.Getattr, arguments: list[Value], named: dict[str, Value]) -> Value:
        found = self.value(node.node)
        if values.is_internal(node.attr):
            self.tell("an internal attribute", node.attr)
        if node.attr in values.ACTING:
            self.tell("a call that no chat template needs", node.attr)
        self._check_method(node.attr, found, arguments, named)
        if node.attr in ("append", "extend", "insert", "update") and isinstance(node.node, nodes.Name):
            own = self.variables.get(node.node.name, DATA)
            self.variables[node.node.name] = values.loosened(values.either([own, *map(values.loosened, arguments)]))
            return values.constant(None)
        return self._method_value(node.attr, found, arguments, named)

    def _check_method(self, name: str, found: Value, arguments: list[Value], named: dict[str, Value]) -> None:
        known = name in values.TEXT_METHODS or name in values.OTHER_METHODS or name in values.PARTS
        if not known and values.is_known(found):
            self.tell("a call that no chat template needs", name)
        if name in ("format", "format_map"):
            self._check_format(found, *arguments, *named.values())
            if found.made is not None and not all(values.is_known(each) for each in (*arguments, *named.values())):
                self.tell("a format that is put together from pieces", "")
        elif values.is_huge(*arguments):
            self.tell("work without end", f"a large number for {name}")

    def _method_value(self, name: str, found: Value, arguments: list[Value], named: dict[str, Value]) -> Value:
        if name in values.PARTS and (found.data or values.is_foreign(found)):
            return values.any_part(found)
        if name in ("get", "setdefault"):
            for each in arguments[:1]:
                self._look_up(each, "an item")
            return values.either([values.part_of(found), *arguments[1:]])
        function = values.TEXT_METHODS.get(name)
        if function is not None:
            return self._text_method(function, name, found, arguments, named)
        return values.unknown([found, *arguments, *named.values()])

    def _text_method(
        self, function: Any, name: str, found: Value, arguments: list[Value], named: dict[str, Value]
    ) -> Value:
        if named or values.is_huge(*arguments) or any(map(values.is_wide, found.texts)):
            return values.unknown([found, *arguments, *named.values()])
        if name == "replace" or (name == "join" and arguments and arguments[0].items is None):
            inner, *others = (found, *arguments) if name == "replace" else (arguments[0], found)
            return self._join_or_replace(name, inner, others, named)
        if name == "join" and arguments and arguments[0].items is not None and not arguments[0].data:
            parts = [part for each in arguments[0].items for part in (found, each)]
            return values.joined(parts[1:])
        made = values.worked_out(function, found, *arguments)
        if name in ("format", "format_map"):
            return replace(made, weight=max(made.weight, _format_weight(found, arguments)))
        return made

    def _function(self, name: str, arguments: list[Value], named: dict[str, Value]) -> Value:
        if name in values.ACTING:
            self.tell("a Python built-in", name)
        if name == "range":
            if values.is_huge(*arguments):
                self.tell("work without end", "a large range")
            known = arguments and all(map(values.is_known, arguments)) and not values.is_huge(*arguments)
            count = max((abs(each) for value in arguments for each in value.numbers), default=1)
            first = values.worked_out(lambda *at: list(range(*at)[:100]), *arguments) if known else DATA
            return replace(first, weight=max(1, count)) if known else first
        if name == "lipsum":
            return self._lipsum(arguments, named)
        if name == "caller" and self.callers:
            return self._caller_text(self.callers[-1], arguments)
        if name == "dict":
            return values.table([*arguments, *map(values.of, named), *named.values()])
        macro = self.macros.get(name)
        if macro is not None:
            return self._macro_text(macro, arguments, named)
        own = [self.variables[name]] if name in self.variables else []  # `joiner`, which returns its argument
        return values.unknown([*own, *arguments, *named.values()])

    def _lipsum(self, arguments: list[Value], named: dict[str, Value]) -> Value:
        """The random text of `lipsum(n=5, html=True, min=20, max=100)`: `n` paragraphs of at most `max` words."""
        given = {**dict(zip(("n", "html", "min", "max"), arguments, strict=False)), **named}
        paragraphs, words = (
            max((abs(each) for each in given[field].numbers), default=usual) if field in given else usual
            for field, usual in (("n", 5), ("max", 100))
        )
        weight = int(paragraphs * max(words, 1)) * LONGEST_WORD
        if weight > MOST_WOVEN or values.is_huge(*given.values()) or self.rounds > 1000:
            self.tell("work without end", "lipsum")
            weight = 1  # reported once
        return replace(values.unknown([*arguments, *named.values()]), weight=max(1, weight))

    @abstractmethod
    def _caller_text(self, block: nodes.CallBlock, arguments: list[Value]) -> Value:
        """The text of a block that calls a macro, with the macro's arguments for it."""

    @abstractmethod
    def _macro_text(self, macro: nodes.Macro, arguments: list[Value], named: dict[str, Value]) -> Value:
        """A macro's text with its arguments."""


def is_range(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name == "range"


def _format_weight(text: Value, arguments: list[Value]) -> int:
    """The weight of a format's result; one that is not known may quote as well."""
    quotes = any(values.QUOTED.search(each) for each in text.texts)
    return sum((2 if quotes or each.items is not None else 1) * each.weight for each in arguments)
