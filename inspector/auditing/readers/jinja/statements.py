"""Analyse a chat template's syntax tree, as parsed by Jinja: what it accesses, and how much work it causes.

The tree is walked as it would be rendered, with abstract values for the conversation (`values`). Reported is what
Jinja's sandbox would refuse, and what relies on its absence: attributes and items whose names begin with two
underscores, however the name is assembled; other templates; functions that no template needs; nested loops, recursion
and texts that keep doubling.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, nodes
from jinja2.defaults import DEFAULT_NAMESPACE
from jinja2.ext import Extension, do, loopcontrols
from jinja2.filters import FILTERS
from jinja2.tests import TESTS

from inspector.auditing.readers.jinja import values
from inspector.auditing.readers.jinja.expressions import Enough, Expressions, Reach, is_range
from inspector.auditing.readers.jinja.values import ANY, DATA, MADE, Value

if TYPE_CHECKING:
    from jinja2.parser import Parser

#: Iterations of nested loops, if their number is written in the template.
MAX_ROUNDS = 1_000_000
#: The same including loops over the conversation: messages times messages, and their contents.
MAX_ALL_ROUNDS = 10**8
#: Assumed iterations of a loop over the conversation, and of one over a part of another loop's items.
OVER_DATA, OVER_PART = 1_000, 10
#: The initial weight of a variable when a loop is tested for growth, and a factor that is more than a sum.
TEST_WEIGHT, GROWTH = 100_000, 1.5
#: The most pieces of text in one value.
MAX_WEIGHT = 10_000_000


class Generation(Extension):
    """`{% generation %}`, with which Transformers marks an assistant's words."""

    tags = {"generation"}  # noqa: RUF012  as Jinja has it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def tree_of(text: str) -> nodes.Template | None:
    """A template's syntax tree; None if it is nested more deeply than Python allows.

    Raises:
        TemplateSyntaxError: Jinja does not accept it as a template.
    """
    environment = Environment(extensions=[loopcontrols, do, Generation])  # noqa: S701  nothing is rendered
    try:
        return environment.parse(text)
    except RecursionError:
        return None


def judge(tree: nodes.Template | None) -> list[Reach]:
    """Everything a template does that none needs, each once."""
    if tree is None:
        return [Reach("expressions nested implausibly deep", "")]
    walk = Walk()
    try:
        walk.text_of(tree.body)
        walk.check_recursion()
    except Enough:
        walk.tell("more work than is followed", "")
    except RecursionError:
        walk.tell("expressions nested implausibly deep", "")
    return list(walk.found)


class Walk(Expressions):
    """Statements: what they output, assign and repeat."""

    def text_of(self, body: Iterable[nodes.Node]) -> Value:
        """The text that statements write, in order."""
        return values.joined([self._statement(node) for node in body])

    def _statement(self, node: nodes.Node) -> Value:
        self._step()
        method = getattr(self, f"_do_{type(node).__name__.lower()}", None)
        if method is None:
            for child in node.iter_child_nodes():
                if isinstance(child, nodes.Expr):
                    self.value(child)
                else:
                    self._statement(child)
            return MADE
        found: Value = method(node)
        self._check_weight(found)
        return found

    def _check_weight(self, value: Value) -> None:
        if value.weight > MAX_WEIGHT:
            self.tell("a text that doubles and doubles", "")
            raise Enough

    def _do_output(self, node: nodes.Output) -> Value:
        return values.joined([values.quoted_items(self.value(child)) for child in node.nodes])

    def _do_templatedata(self, node: nodes.TemplateData) -> Value:
        return values.of(node.data)

    def _do_scope(self, node: nodes.Scope) -> Value:
        return self.text_of(node.body)

    def _do_exprstmt(self, node: nodes.ExprStmt) -> Value:
        self.value(node.node)
        return values.constant("")

    def _do_break(self, _: nodes.Node) -> Value:
        return values.constant("")

    _do_continue = _do_break

    def _do_assign(self, node: nodes.Assign) -> Value:
        if isinstance(node.target, nodes.Name) and isinstance(node.node, nodes.Call):
            self._new_namespace(node.target.name, node.node)
            if is_range(node.node):
                self.ranges[node.target.name] = self._range_of(node.node)
        if isinstance(node.target, nodes.Name) and isinstance(node.node, nodes.Name):
            self.aliases[node.target.name] = self._source_variable(node.node)
        if isinstance(node.target, nodes.NSRef):
            self.contain([node.node])
        self._bind(node.target, self.value(node.node))
        return values.constant("")

    def _source_variable(self, node: nodes.Node) -> str:
        """The variable that a variable was set to, or its own name; anything else unchanged."""
        return self.aliases.get(node.name, node.name) if isinstance(node, nodes.Name) else repr(node)

    def _do_assignblock(self, node: nodes.AssignBlock) -> Value:
        found = self.text_of(node.body)
        self._bind(node.target, self._filter_result(node.filter, found) if node.filter else found)
        return values.constant("")

    def _new_namespace(self, name: str, call: nodes.Call) -> None:
        """`namespace(a=…)`: its attributes are variables."""
        if isinstance(call.node, nodes.Name) and call.node.name == "namespace":
            self.namespaces[name] = {each.key for each in call.kwargs}
            for each in call.kwargs:
                self.variables[f"{name}.{each.key}"] = self.value(each.value)

    def _bind(self, target: nodes.Node, value: Value) -> None:
        if isinstance(target, nodes.Name):
            self._set_variable(target.name, value)
        elif isinstance(target, nodes.NSRef):
            self.namespaces.setdefault(target.name, set()).add(target.attr)
            self._set_variable(f"{target.name}.{target.attr}", value)
            if values.is_internal(target.attr):
                self.tell("an internal attribute", target.attr)
        elif isinstance(target, nodes.Tuple):
            inner = value.items or ()
            for number, each in enumerate(target.items):
                whole = value if values.is_known(value) else values.part_of(value)
                self._bind(each, inner[number] if number < len(inner) and not value.data else whole)

    def _set_variable(self, name: str, value: Value) -> None:
        self._check_weight(value)
        self.variables[name] = value
        if self.inner:
            self.inner[-1].add(name.partition(".")[0])

    def _do_if(self, node: nodes.If) -> Value:
        self.value(node.test)
        branches = [node.body, *([each.body for each in node.elif_]), node.else_]
        for each in node.elif_:
            self.value(each.test)
        before = dict(self.variables)
        written, after = [], []
        for branch in branches:
            self.variables = dict(before)
            written.append(self.text_of(branch))
            after.append(self.variables)
        self._merge(after)
        return values.either(written)

    def _merge(self, states: list[dict[str, Value]]) -> None:
        """Variables after alternative branches; those that a branch did not set keep their value."""
        merged: dict[str, Value] = {}
        for name in {name: None for state in states for name in state}:
            own = [state[name] for state in states if name in state]
            merged[name] = own[0] if all(each is own[0] for each in own) else values.either(own)
        self.variables = merged

    def _do_for(self, node: nodes.For) -> Value:
        over = self.value(node.iter)
        known = over.items is not None and over.made is None and not over.data and len(over.items) <= 64
        rounds = self._count(node, over)
        outer = self.rounds, self.all_rounds
        self.all_rounds *= max(1, rounds)
        written_out = over.items is not None or is_range(node.iter) or self._is_kept_range(node.iter)
        written_out = written_out or (not self.testing and rounds == over.weight > OVER_DATA)
        self.rounds *= max(1, rounds) if written_out else 1
        if self.rounds > MAX_ROUNDS or self.all_rounds > MAX_ALL_ROUNDS or node.recursive:
            self._check_rounds(node)
        self.inner.append({each.name for each in node.target.find_all(nodes.Name)} | own_names(node.target))
        self.variables["loop"] = DATA
        own = self._source_variable(node.iter)
        if any(self._source_variable(each) == own for each in growing(node.body)):
            self.tell("work without end", "a list that grows while it is looped over")
        if known and over.items is not None:
            written = [self._round(node, each) for each in over.items]
        else:
            one = values.part_of(over)
            written = self._repeated(node, replace(one, weight=max(1, one.weight // 1_000)))
        self.inner.pop()
        self.rounds, self.all_rounds = outer
        written.append(self.text_of(node.else_))
        if known:
            return values.joined(written)
        found = values.either([*written, values.constant("")])
        return replace(found, weight=found.weight * max(1, rounds)) if written_out and not self.testing else found

    def _check_rounds(self, node: nodes.For) -> None:
        if self.rounds > MAX_ROUNDS or self.all_rounds > MAX_ALL_ROUNDS:
            self.tell("work without end", "loops within loops")
        if not node.recursive:
            return
        inner = (call for each in node.body for call in all_calls(each))
        again = [call for call in inner if getattr(call.node, "name", None) == "loop"]
        own = parts_set(node, own_names(node.target))
        if len(again) > 1:
            self.tell("work without end", "a loop that calls itself more than once a round")
        elif any(not descends(call, own) for call in again):
            self.tell("work without end", "a loop that calls itself on something that is not part of its items")

    def _count(self, node: nodes.For, over: Value) -> int:
        """Iterations of one loop."""
        if is_range(node.iter):
            return self._range_of(node.iter)
        if isinstance(node.iter, nodes.Name) and self._is_kept_range(node.iter):
            return self.ranges[node.iter.name]
        if over.items is not None and not over.data:
            return len(over.items)
        if not self.testing and not over.data and over.weight > OVER_DATA:  # its own text, character by character
            return over.weight
        root = next(iter(node.iter.find_all(nodes.Name)), node.iter)
        part = isinstance(root, nodes.Name) and any(root.name in names for names in self.inner)
        return OVER_PART if part else OVER_DATA

    def _is_kept_range(self, node: nodes.Node) -> bool:
        """Whether it is a variable that was set to `range(…)`."""
        return isinstance(node, nodes.Name) and node.name in self.ranges

    def _range_of(self, call: Any) -> int:
        """Iterations of `range(…)`, if written with numbers."""
        numbers = [max((abs(each) for each in self.value(argument).numbers), default=0) for argument in call.args]
        found = [self.value(argument) for argument in call.args]
        if all(values.is_known(each) for each in found):
            return max([*numbers, 0])
        return max([OVER_PART, *numbers])

    def _round(self, node: nodes.For, each: Value) -> Value:
        self._bind(node.target, each)
        if node.test is not None:
            self.value(node.test)
        return self.text_of(node.body)

    def _repeated(self, node: nodes.For, part: Value) -> list[Value]:
        """A loop with any number of iterations: repeated, to see the effect of its own results, and what grows."""
        before = dict(self.variables)
        written = [self._round(node, part)]
        own = {"loop", *own_names(node.target)}
        changed = [name for name, value in self.variables.items() if before.get(name) is not value and name not in own]
        self._merge([before, self.variables])
        if not changed:
            return [values.loosened(each) for each in written]
        kept = {**self.variables, **{name: values.loosened(self.variables[name]) for name in changed}}
        self.variables = {**kept, **{name: replace(kept[name], weight=TEST_WEIGHT) for name in changed}}
        self.testing += 1
        written.append(self._round(node, part))
        sizes = {name: self.variables[name].weight for name in changed}
        if any(_grows(TEST_WEIGHT, size) for size in sizes.values()):
            self._round(node, part)
            grown = (name for name in changed if _grows(TEST_WEIGHT, sizes[name], self.variables[name].weight))
            if name := next(grown, None):
                self.tell("work without end", f"{name} doubles in a loop")
        self.testing -= 1
        self.variables = kept
        return [values.loosened(each) for each in written]

    def _do_macro(self, node: nodes.Macro) -> Value:
        self.macros[node.name] = node
        self.parameters[node.name] = frozenset(each.name for each in node.args)
        before = dict(self.variables)
        for each in node.args:
            self.variables[each.name] = DATA
        self._in_macro(node.name, node.body)
        self.variables = before
        return values.constant("")

    def _in_macro(self, name: str, body: list[nodes.Node]) -> Value:
        self.running.append(name)
        self.inner.append(set(self.parameters.get(name, ())))
        found = self.text_of(body)
        self.inner.pop()
        self.running.pop()
        return found

    def check_recursion(self) -> None:
        """Recursive macros, direct or indirect, must recurse on a part of their argument, or only once."""
        called = {
            name: {getattr(call.node, "name", "") for each in macro.body for call in all_calls(each)}
            & self.macros.keys()
            for name, macro in self.macros.items()
        }
        for name, macro in self.macros.items():
            again = {other for other in called[name] if name in reachable(other, called)}
            loops = [*macro.find_all(nodes.For)]
            targets = parts_set(macro, {own for each in loops for own in own_names(each.target)})
            blind = [
                call
                for call in macro.find_all(nodes.Call)
                if getattr(call.node, "name", None) in again and not descends(call, targets)
            ]
            looped = {id(call) for loop in loops for call in loop.find_all(nodes.Call)}
            if len(blind) > 1 or any(id(call) in looped for call in blind):
                self.tell("work without end", f"{name} calls itself again and again")

    def _do_callblock(self, node: nodes.CallBlock) -> Value:
        self._caller_text(node, [])
        self.callers.append(node)
        found = self.value(node.call)
        self.callers.pop()
        return found

    def _caller_text(self, block: nodes.CallBlock, arguments: list[Value]) -> Value:
        before = dict(self.variables)
        for number, each in enumerate(block.args):
            self.variables[each.name] = arguments[number] if number < len(arguments) else DATA
        outer, self.callers = self.callers, self.callers[:-1]
        found = self.text_of(block.body)
        self.callers = outer
        self.variables = before
        return found

    def _do_filterblock(self, node: nodes.FilterBlock) -> Value:
        return self._filter_result(node.filter, self.text_of(node.body))

    def _do_with(self, node: nodes.With) -> Value:
        for target, value in zip(node.targets, node.values, strict=True):
            self._bind(target, self.value(value))
        return self.text_of(node.body)

    def _do_include(self, node: nodes.Node) -> Value:
        self.tell("a tag that loads another template", type(node).__name__.lower())
        return MADE

    _do_import = _do_fromimport = _do_extends = _do_include

    def _macro_text(self, macro: nodes.Macro, arguments: list[Value], named: dict[str, Value]) -> Value:
        """A macro's text with its arguments; one that is already running is not entered again."""
        if macro.name in self.running or len(self.running) > 6:
            return Value(made=ANY, weight=1)
        before = dict(self.variables)
        defaults = [self.value(each) for each in macro.defaults]
        for number, each in enumerate(reversed(macro.args)):
            self.variables[each.name] = defaults[-1 - number] if number < len(defaults) else DATA
        for each, value in zip(macro.args, arguments, strict=False):
            self.variables[each.name] = value
        self.variables |= {name: value for name, value in named.items() if any(a.name == name for a in macro.args)}
        used = free_names(macro)
        key = (macro.name, self.all_rounds, *((name, self.variables.get(name)) for name in used))
        if key not in self.expansions:
            self.expansions[key] = self._in_macro(macro.name, macro.body)
        found = self.expansions[key]
        kept = {name: value for name, value in self.variables.items() if "." in name}
        self.variables = {**before, **kept}
        return found


def _grows(*sizes: int) -> bool:
    """Whether the sizes grow faster than by repeated addition."""
    return all(after >= GROWTH * before for before, after in itertools.pairwise(sizes))


# --- questions that need no values: which names, calls and parts are in a tree ---------------------------------


def own_names(target: nodes.Node) -> set[str]:
    """Names that an assignment sets; `find_all` does not return the node itself."""
    own = {target.name} if isinstance(target, (nodes.Name, nodes.NSRef)) else set()
    return own | {each.name for each in target.find_all(nodes.Name)}


def free_names(macro: nodes.Macro) -> list[str]:
    """Variables, and attributes of namespaces, that a macro mentions."""
    found = {each.name for each in macro.find_all(nodes.Name)}
    found |= {f"{each.node.name}.{each.attr}" for each in macro.find_all(nodes.Getattr) if hasattr(each.node, "name")}
    return sorted(found)


def all_calls(node: nodes.Node) -> list[nodes.Call]:
    """A node's calls, including itself."""
    return [*([node] if isinstance(node, nodes.Call) else []), *node.find_all(nodes.Call)]


def growing(body: list[nodes.Node]) -> list[nodes.Node]:
    """The variables that are appended to."""
    methods = (call.node for each in body for call in all_calls(each) if isinstance(call.node, nodes.Getattr))
    return [method.node for method in methods if method.attr in ("append", "extend", "insert")]


def reachable(start: str, called: dict[str, set[str]]) -> set[str]:
    """Macros that one calls, directly or indirectly, including itself."""
    found, pending = {start}, [start]
    while pending:
        for other in called[pending.pop()] - found:
            found.add(other)
            pending.append(other)
    return found


def descends(call: nodes.Call, parts: set[str]) -> bool:
    """Whether a call receives a part of something, as in recursion over a structure."""
    return any(_is_part(each, parts) for each in (*call.args, *(each.value for each in call.kwargs)))


#: Nodes that wrap a part, or several, in a new value. A dictionary is how a schema is passed on: `{"type": each}`.
_WRAPPING = (nodes.List, nodes.Tuple, nodes.Add, nodes.Mul, nodes.Concat)


def _is_part(node: nodes.Node, parts: set[str], *, wrapped: bool = False) -> bool:
    """Whether a value is a part of a variable, or made from one: `x.y`, `[x.y]`; names in `parts` are parts."""
    if isinstance(node, (nodes.Getattr, nodes.Getitem)):
        root: nodes.Node = node
        while isinstance(root, (nodes.Getattr, nodes.Getitem)):
            root = root.node
        return isinstance(root, nodes.Name) or _is_part(root, parts, wrapped=wrapped)
    if isinstance(node, nodes.Name):
        return node.name in parts and not wrapped
    inside = wrapped or isinstance(node, _WRAPPING)
    return any(_is_part(each, parts, wrapped=inside) for each in node.iter_child_nodes())


def parts_set(within: nodes.Node, parts: set[str]) -> set[str]:
    """The names of parts: the given ones, and variables that are never set to anything else."""
    found, others = set(parts), set[str]()
    for each in within.find_all(nodes.Assign):
        (found if _is_part(each.node, found) else others).update(own_names(each.target))
    return found - others


# --- filters, tests and functions that a template uses in every conversation, but that Jinja does not have -------

# Jinja looks them up when it compiles a template, except within `{% if %}` and `a if b else c`: there only when they
# are reached (`jinja2.compiler`, `Frame.soft_frame`). A block with variables of its own, such as a loop, is compiled
# strictly again.

#: Jinja's functions, what Transformers adds (utils/chat_template_utils.py), and what macros, loops and blocks have.
_FUNCTIONS = frozenset({*DEFAULT_NAMESPACE, "raise_exception", "strftime_now", "caller", "loop", "super"})
#: Blocks with variables of their own.
_SCOPES = (nodes.Macro, nodes.CallBlock, nodes.FilterBlock, nodes.With, nodes.AssignBlock)
#: Blocks among them that may be rendered later, or not at all.
_LATER = (nodes.Macro, nodes.CallBlock)


def absent(tree: nodes.Template | None) -> tuple[str, ...]:
    """The kind and name of each, in the order of the template, such as "the filter 'nope'"."""
    if tree is None:
        return ()
    own = _own_names(tree)
    found: dict[str, None] = {}
    left: list[tuple[nodes.Node, bool, bool]] = [(tree, True, True)]  # compiled strictly; always rendered
    while left:
        node, strict, always = left.pop()
        if (what := _unknown(node, own, strict=strict, always=always)) is not None:
            found[what] = None
        left += reversed(_within(node, strict=strict, always=always))
    return tuple(found)


def _own_names(tree: nodes.Template) -> frozenset[str]:
    """Every name that the template itself gives to something."""
    names: set[str] = set()
    left: list[nodes.Node] = [tree]
    while left:  # not by recursion: a chain of attributes may be long
        node = left.pop()
        if isinstance(node, nodes.Macro) or (isinstance(node, nodes.Name) and node.ctx != "load"):
            names.add(node.name)
        left += node.iter_child_nodes()
    return frozenset(names)


def _unknown(node: nodes.Node, own: frozenset[str], *, strict: bool, always: bool) -> str | None:
    if isinstance(node, nodes.Filter) and (strict or always) and node.name not in FILTERS:
        return f"the filter {node.name!r:.40}"
    if isinstance(node, nodes.Test) and (strict or always) and node.name not in TESTS:
        return f"the test {node.name!r:.40}"
    if isinstance(node, nodes.Call) and always and isinstance(node.node, nodes.Name):
        name = node.node.name
        return None if name in own or name in _FUNCTIONS else f"the function {name!r:.40}"
    return None


def _within(node: nodes.Node, *, strict: bool, always: bool) -> list[tuple[nodes.Node, bool, bool]]:
    """The nodes directly within a node: is each compiled strictly, and is it always rendered?"""
    if isinstance(node, nodes.If | nodes.CondExpr):
        others = [each for each in node.iter_child_nodes() if each is not node.test]
        return [(node.test, False, always), *((each, False, False) for each in others)]
    if isinstance(node, nodes.And | nodes.Or):
        return [(node.left, strict, always), (node.right, strict, False)]
    children = list(node.iter_child_nodes())
    if isinstance(node, nodes.For):
        rest = [each for each in children if each is not node.iter]
        return [(node.iter, strict, always), *((each, True, False) for each in rest)]
    later = isinstance(node, _LATER)
    return [(each, strict or isinstance(node, _SCOPES), always and not later) for each in children]
