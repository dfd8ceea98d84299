"""Filters, tests and functions that a template uses in every conversation, but that Jinja does not have.

Jinja looks them up when it compiles a template, except within `{% if %}` and `a if b else c`: there only when they are
reached (`jinja2.compiler`, `Frame.soft_frame`). A block with variables of its own, such as a loop, is compiled
strictly again.
"""

from __future__ import annotations

from jinja2 import nodes
from jinja2.defaults import DEFAULT_NAMESPACE
from jinja2.filters import FILTERS
from jinja2.tests import TESTS

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
