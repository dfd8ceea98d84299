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
from jinja2.ext import Extension, do, loopcontrols

from inspector.auditing.readers.jinja import trees, values
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
        self.inner.append({each.name for each in node.target.find_all(nodes.Name)} | trees.own_names(node.target))
        self.variables["loop"] = DATA
        own = self._source_variable(node.iter)
        if any(self._source_variable(each) == own for each in trees.growing(node.body)):
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
        inner = (call for each in node.body for call in trees.all_calls(each))
        again = [call for call in inner if getattr(call.node, "name", None) == "loop"]
        own = trees.parts_set(node, trees.own_names(node.target))
        if len(again) > 1:
            self.tell("work without end", "a loop that calls itself more than once a round")
        elif any(not trees.descends(call, own) for call in again):
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
        own = {"loop", *trees.own_names(node.target)}
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
            name: {getattr(call.node, "name", "") for each in macro.body for call in trees.all_calls(each)}
            & self.macros.keys()
            for name, macro in self.macros.items()
        }
        for name, macro in self.macros.items():
            again = {other for other in called[name] if name in trees.reachable(other, called)}
            loops = [*macro.find_all(nodes.For)]
            targets = trees.parts_set(macro, {own for each in loops for own in trees.own_names(each.target)})
            blind = [
                call
                for call in macro.find_all(nodes.Call)
                if getattr(call.node, "name", None) in again and not trees.descends(call, targets)
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
        used = trees.free_names(macro)
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
