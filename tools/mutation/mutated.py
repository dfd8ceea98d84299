"""A module with mutmut's faults in it, and the place of each."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mutmut.mutation.file_mutation import mutate_file_contents

_ORIGINAL = "__mutmut_orig"
_MANGLED = re.compile(r"x_(?=\w+__mutmut)|xǁ\w+ǁ(?=\w+__mutmut)|__mutmut_\w+")
#: Decorators that stay: mutmut supports the last two.
_LEFT = ("overload", ".setter", "staticmethod", "classmethod")


@dataclass(frozen=True)
class Fault:
    """One mutant of a module."""

    name: str  # the name of mutmut's switch in the module
    module: str  # the file
    lines: range  # of its statement, in the original file
    body: range  # lines of the function around it, without its head
    difference: str  # the lines removed and inserted


def put_into(work: Path, module: str) -> list[Fault]:
    """Rewrite the file so that each mutant can be switched on, and list them."""
    path = work / module
    source = path.read_text()
    plain, homes = _undecorated(source)
    changed = mutate_file_contents(module, plain)
    path.write_text(changed.code)
    dotted = module.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    lines, spans = changed.code.splitlines(), changed.line_span_by_function_name
    statements = sorted(_statements(ast.parse(source)), key=len)
    found = []
    for name in changed.mutant_names:
        function = name.partition("__mutmut_")[0]
        whole = spans[function + _ORIGINAL]
        original = lines[whole.start - 1 : whole.end]
        mutant = lines[spans[name].start - 1 : spans[name].end]
        start = next(at for at, line in enumerate(original) if line.lstrip().startswith(("def ", "async def ")))
        first = next((at for at, (old, new) in enumerate(zip(original, mutant)) if at > start and old != new), start)  # noqa: B905
        line = homes[function].start + first - start
        head = next(each for each in statements if each.start == homes[function].start)
        body = range(head.stop, homes[function].stop)
        within = next((each for each in statements if line in each), range(line, line + 1))
        if within.start == homes[function].start:  # a default: the function's own line runs when it is defined
            within = homes[function]
        found.append(Fault(f"{dotted}.{name}", module, within, body, _difference(original, mutant)))
    return found


def _difference(original: list[str], mutant: list[str]) -> str:
    before, after = ([_MANGLED.sub("", line) for line in lines] for lines in (original, mutant))
    changes = difflib.unified_diff(before, after, n=1, lineterm="")
    return "\n".join(line for line in changes if not line.startswith(("---", "+++", "@@")))


def _undecorated(source: str) -> tuple[str, dict[str, range]]:
    """The module with `f = decorator(f)` after a function instead of `@decorator`, since mutmut skips decorated ones.

    And the lines of each function from its `def` on, by mutmut's name of it.
    """
    lines, homes = source.splitlines(), dict[str, range]()
    after: dict[int, list[str]] = {}
    for owner, function in _functions(ast.parse(source)):
        assert function.end_lineno is not None
        name = f"xǁ{owner}ǁ{function.name}" if owner else f"x_{function.name}"
        homes[name] = range(function.lineno, function.end_lineno + 1)
        decorators = [ast.unparse(each) for each in function.decorator_list]
        if not decorators or any(each.endswith(_LEFT) for each in decorators):
            continue
        for at in range(min(each.lineno for each in function.decorator_list) - 1, function.lineno - 1):
            lines[at] = ""
        called = function.name
        for decorator in reversed(decorators):
            called = f"{decorator}({called})"
        after[function.end_lineno] = [" " * function.col_offset + f"{function.name} = {called}"]
    text = (line for at, line in enumerate(lines, 1) for line in (line, *after.get(at, ())))
    return "\n".join(text) + "\n", homes


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield "", node
        elif isinstance(node, ast.ClassDef):
            yield from ((node.name, each) for each in node.body if isinstance(each, ast.FunctionDef))


def _statements(tree: ast.Module) -> Iterator[range]:
    """The lines of each statement; for a compound statement, those of its head."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno if body else (node.end_lineno or node.lineno) + 1
            yield range(node.lineno, max(end, node.lineno + 1))
