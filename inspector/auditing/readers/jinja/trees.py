"""Questions about a template's syntax tree that need no values: which names, calls and parts are in it."""

from __future__ import annotations

from jinja2 import nodes


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


def calls_of(body: list[nodes.Node], name: str) -> int:
    return sum(getattr(call.node, "name", None) == name for node in body for call in all_calls(node))


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
