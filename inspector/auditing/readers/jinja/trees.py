"""Questions about a template's syntax tree that need no values: which names, calls and parts are in it."""

from __future__ import annotations

from jinja2 import nodes
from jinja2.defaults import DEFAULT_NAMESPACE
from jinja2.filters import FILTERS
from jinja2.tests import TESTS


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
