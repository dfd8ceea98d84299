"""What Python source would do if it were run, by its syntax tree: what it calls that runs, loads or sends something.

Nothing is run. A name is followed through imports, assignments, `getattr` and the dictionaries of modules to what it
stands for (`__import__("o" + "s").system` is os.system). Which names matter is data (`data/overlay.json`, `python`).
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import translate
from functools import cache, lru_cache
from typing import NamedTuple

from inspector.auditing import data

#: Bytes of one file that are parsed: the longest of Transformers has 280,000.
MAX_SOURCE = 400_000
#: How far a name is followed through assignments, and a constant through additions.
DEEPEST = 12
#: Expressions looked at in one file, the same one again and again: modules of Transformers take up to 60,000.
MOST_STEPS = 500_000


class Act(NamedTuple):
    """Something that source does, which no model needs to do."""

    line: int
    what: str  # "calls os.system"
    kind: str  # of overlay.json; "hidden" for what has no innocent use: code that is unpacked or fetched and run


def acts_in(source: str | bytes, *, installing: bool = False) -> tuple[Act, ...]:
    """What the source does, gravest kinds first; `installing` if it may start compilers.

    Raises:
        ValueError: Python cannot parse it.
        RecursionError: it is nested deeper, or takes more work, than any program.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, MemoryError, UnicodeError, LookupError) as error:
        raise ValueError(str(error).partition(" (")[0]) from error
    found = set(_Source(tree, installing=installing).acts())
    order = {kind: at for at, kind in enumerate(("hidden", *_table()))}
    return tuple(sorted(found, key=lambda act: (order[act.kind], act.line, act.what)))


@cache
def _table() -> dict[str, list[str]]:
    found: dict[str, list[str]] = data.overlay("python")["calls"]
    return found


@cache
def _words(name: str) -> tuple[str, ...]:
    return tuple(data.overlay("python")[name])


@lru_cache(maxsize=4096)
def _kind(path: str) -> str | None:
    """The kind of calls that a dotted name belongs to."""
    return next((kind for kind, names in _patterns() if names.match(path)), None)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile("|".join(map(translate, names)))) for kind, names in _table().items())


_BUILTINS = frozenset(
    ("eval", "exec", "compile", "open", "__import__", "getattr", "globals", "locals", "vars", "object")
)
#: Keys of dictionaries whose value is called: by `logging.config`, and by Hydra.
_CALLED = frozenset(("()", "_target_"))


class _Source:
    """One module, with what its names stand for wherever they are bound."""

    def __init__(self, tree: ast.Module, *, installing: bool) -> None:
        self.installing = installing
        self.nodes = list(ast.walk(tree))
        self.bound: defaultdict[str, list[str | ast.expr]] = defaultdict(list)
        self.starred: list[str] = []
        self.own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        self.left = MOST_STEPS
        self._known: dict[str, str | None] = {}  # what names stand for; None while it is being found out
        self._cut = 0  # how often that was met, or followed no further
        self._function: dict[ast.AST, ast.AST] = {}  # a node → the innermost function that it is in
        self._shared: set[str] = set()  # names that a function binds for others
        for node in self.nodes:  # outer functions come first
            self._bind(node)
            if isinstance(node, ast.Global | ast.Nonlocal):
                self._shared.update(node.names)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                inner = [each for each in ast.walk(node) if each is not node]
                self._step(len(inner))
                self._function |= dict.fromkeys(inner, node)

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.Import():
                for each in node.names:
                    first = each.name.partition(".")[0]
                    self.bound[each.asname or first].append(each.name if each.asname else first)
            case ast.ImportFrom(module=str(module), level=0):
                self.starred += [module for each in node.names if each.name == "*"]
                for each in node.names:
                    self.bound[each.asname or each.name].append(f"{module}.{each.name}")
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ):
                self.bound[name].append(value)
            case ast.withitem(context_expr=value, optional_vars=ast.Name(id=name)):
                self.bound[name].append(value)

    def _step(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise RecursionError

    # --- what an expression stands for ---------------------------------------------------------------

    def path(self, node: ast.AST | None, depth: int = 0) -> str | None:
        """The dotted name that an expression stands for, with `()` for the result of a call; None if unknown."""
        self._step()
        if depth > DEEPEST:
            self._cut += 1
            return None
        match node:
            case ast.Name(id=name):
                return self._of_name(name, depth)
            case ast.Attribute(value=value, attr=attribute):
                base = self.path(value, depth + 1)
                return base if base is None or attribute == "__dict__" else f"{base}.{attribute}"
            case ast.Subscript(value=value, slice=key):
                base = self.path(value, depth + 1)
                item = None if base is None else self.text(key)
                if base in ("sys.modules", "builtins.globals()"):
                    return "builtins" if item == "__builtins__" else item
                return item and f"{base}.{item}"
            case ast.BinOp(left=value, op=ast.Div()) | ast.NamedExpr(value=value) | ast.Await(value=value):
                return self.path(value, depth + 1)  # `/` is pathlib's
            case ast.IfExp(body=value, orelse=other):
                return self.path(value, depth + 1) or self.path(other, depth + 1)
            case ast.Call():
                return self._of_call(node, depth)
        return None

    def _of_name(self, name: str, depth: int) -> str | None:
        if name in self._known:
            self._cut += self._known[name] is None
            return self._known[name]
        if name in self.bound:
            self._known[name], before = None, self._cut
            values = (each if isinstance(each, str) else self.path(each, depth + 1) for each in self.bound[name][:9])
            found = next(filter(None, values), None)
            if found is None and self._cut > before:  # perhaps only because of where it was asked for
                del self._known[name]
            else:
                self._known[name] = found
            return found
        if name in ("__builtins__", "builtins"):
            return "builtins"
        starred = (f"{module}.{name}" for module in self.starred)
        return next((each for each in starred if _kind(each)), f"builtins.{name}" if name in _BUILTINS else None)

    def _of_call(self, node: ast.Call, depth: int) -> str | None:
        called = self.path(node.func, depth + 1)
        first = self.path(node.args[0], depth + 1) if node.args else None
        match called:
            case "builtins.__import__" | "importlib.import_module" | "importlib.__import__" | "pydoc.locate":
                return self.text(node.args[0]) if node.args else None
            case "builtins.getattr" | "builtins.object.__getattribute__" if first is not None and len(node.args) > 1:
                return f"{first}.{self.text(node.args[1]) or '?'}"
            case "functools.reduce" if first == "builtins.getattr" and len(node.args) > 2:
                words = getattr(node.args[1], "elts", [])
                base = self.path(node.args[2], depth + 1)
                return base and ".".join([base, *(self.text(each) or "?" for each in words)])
            case "builtins.vars" | "functools.partial" if node.args:
                return first
            case "operator.methodcaller()" | "operator.attrgetter()" if first and isinstance(node.func, ast.Call):
                return f"{first}.{self.text(node.func.args[0]) if node.func.args else '?'}"
        return called and f"{called}()"

    def text(self, node: ast.AST, depth: int = 0) -> str | None:
        """A constant text, also one that is put together; None if it is not constant."""
        if depth > DEEPEST:
            return None
        self._step()
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id=name):
                values = self.bound.get(name, [""])
                return None if len(values) > 1 or isinstance(values[0], str) else self.text(values[0], depth + 1)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                parts = [self.text(left, depth + 1), self.text(right, depth + 1)]
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=""), attr="join"),
                args=[ast.List(elts=listed) | ast.Tuple(elts=listed)],
            ):
                parts = [self.text(each, depth + 1) for each in listed]
            case ast.Call(func=ast.Name(id="chr"), args=[ast.Constant(value=int(number))]):
                return chr(number) if 0 <= number < 0x110000 else None
            case ast.Subscript(value=value, slice=ast.Slice(step=ast.UnaryOp(op=ast.USub()))):
                reverse = self.text(value, depth + 1)
                return reverse and reverse[::-1]
            case ast.JoinedStr(values=values):
                inner = (each.value if isinstance(each, ast.FormattedValue) else each for each in values)
                parts = [self.text(each, depth + 1) for each in inner]
            case _:
                return None
        return None if None in parts else "".join(map(str, parts))

    # --- what it does --------------------------------------------------------------------------------

    def acts(self) -> Iterator[Act]:
        reached: set[str] = set()
        called = {id(node.func): node for node in self.nodes if isinstance(node, ast.Call)}
        secret = next((act for node in self.nodes if (act := self._secret(node))), None)
        for node in self.nodes:
            if isinstance(node, ast.Call | ast.Dict):
                yield from self._handed_on(node)
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
                path = self.path(node)
                if path is not None and (kind := _kind(path)):
                    reached.add(kind)
                    start = path.partition("()")[0]
                    if path == start or _kind(start) != kind:  # what is done with the result is the same act
                        yield from self._act(node, path, kind, called.get(id(node)))
                elif isinstance(node, ast.Attribute | ast.Subscript) and _is_inside(node):
                    yield Act(node.lineno, f"reaches Python's internals: {ast.unparse(node):.60}", "hidden")
        if secret and reached & {"sockets", "requests"}:
            yield secret

    def _handed_on(self, node: ast.Call | ast.Dict) -> Iterator[Act]:
        """What runs something and is given to what calls it: `map(eval, …)`, `{"()": "os.system"}`."""
        for each in node.args if isinstance(node, ast.Call) else ():
            foreign = isinstance(each, ast.Name) and each.id not in self.own
            if foreign and _kind(path := self.path(each) or "") == "evaluation":
                yield Act(node.lineno, f"hands {path.removeprefix('builtins.')} on", "hidden")
        for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            named = self.text(value) if key is not None and self.text(key) in _CALLED else None
            if named and _kind(named) in ("programs", "evaluation"):
                yield Act(node.lineno, f"names {named} to be called", "hidden")

    def _act(self, node: ast.AST, path: str, kind: str, call: ast.Call | None) -> Iterator[Act]:
        line = getattr(node, "lineno", 0)
        name = path.removeprefix("builtins.")
        if kind == "evaluation":
            if isinstance(node, ast.Subscript | ast.Call):  # looked up, so that its name is not seen
                yield Act(line, f"looks up {name}", "hidden")
            elif call is not None and call.args:
                yield from self._evaluated(call, name, line)
        elif kind == "writes":
            if call is not None and (where := self._outside(call)):
                yield Act(line, f"calls {name} on {where!r:.60}", "programs")
        elif kind == "programs" and call is not None and self._is_usual(call):
            yield Act(line, f"calls {name} for a usual tool", "requests")
        elif kind != "pickles" or _unpickles(call, name):
            hidden = kind == "pickles" and (_of_constant(call) or self._is_unpacked(call, name))
            yield Act(line, f"calls {name}", "hidden" if hidden else kind)

    def _is_unpacked(self, call: ast.Call | None, name: str) -> bool:
        """Whether a pickle is a constant that is unpacked, or is Python's own compiled code."""
        first = call.args[0] if call and call.args else None
        constant = (getattr(each, "value", None) for each in ast.walk(first)) if first else ()
        long = any(isinstance(each, str | bytes) and len(each) > 16 for each in constant)
        packed = long and first and any(_kind(each) == "unpacking" for each in self._paths_in(first))
        return bool(packed) or name.startswith("marshal.")

    def _evaluated(self, call: ast.Call, name: str, line: int) -> Iterator[Act]:
        """`eval`, `exec` or `compile` of a text: what the text does if it is constant, and whether it was unpacked."""
        text = self.text(call.args[0])
        if text is not None:
            self._step(5 * len(text))
            try:
                yield from (act._replace(line=line, kind="hidden") for act in acts_in(text) if act.kind != "evaluation")
            except ValueError:  # no source
                return
            return
        sources = (each for each in self._paths_in(call.args[0]) if _kind(each) in ("unpacking", "requests"))
        if source := next(sources, None):
            yield Act(line, f"runs what {source.partition('()')[0]} returns, by {name}", "hidden")
        else:
            yield Act(line, f"calls {name}", "evaluation")

    def _paths_in(self, node: ast.AST, depth: int = 0) -> Iterator[str]:
        """What an expression, and those assigned to its names, reaches."""
        for each in ast.walk(node):
            self._step()
            values = self.bound.get(each.id, [])[:9] if isinstance(each, ast.Name) else []
            seen = [value for value in values if isinstance(each, ast.Name) and self._sees(each, value)]
            if isinstance(each, ast.Name | ast.Attribute) and len(seen) == len(values) and (path := self.path(each)):
                yield path
            if isinstance(each, ast.Name) and depth < 3:
                if each.id == "chr":
                    yield "chr"
                for value in seen[:2]:
                    if isinstance(value, ast.AST) and value is not node:
                        yield from self._paths_in(value, depth + 1)
            if isinstance(each, ast.Attribute) and each.attr in ("fromhex", "decompress"):
                yield f"bytes.{each.attr}"

    def _sees(self, name: ast.Name, value: str | ast.AST) -> bool:
        """Whether a name may stand for a value: that is not another function's own variable."""
        owner = None if isinstance(value, str) or name.id in self._shared else self._function.get(value)
        inner: ast.AST | None = name
        while owner is not None and inner is not None and inner is not owner:
            inner = self._function.get(inner)
        return owner is None or inner is owner

    def _outside(self, call: ast.Call) -> str | None:
        """The place outside the model's folder that a call writes to or deletes; None for any other."""
        if self.path(call.func) == "builtins.open" and not _writes(call):
            return None
        parts = [*call.args[:1], call.func]
        values = (each.value for part in parts for each in ast.walk(part) if isinstance(each, ast.Constant))
        texts = [each for each in values if isinstance(each, str)]
        home = any(path.endswith(("home", "expanduser")) for part in parts for path in self._paths_in(part))
        outside = (each for each in texts if each.startswith(("/", "~", "..", "C:\\")))
        return next(outside, f"~/{''.join(texts[:1])}" if home else None)

    def _is_usual(self, call: ast.Call) -> bool:
        """Whether a program is one that models' code starts, such as ffmpeg, given as a list."""
        first = call.args[0] if call.args else None
        word = self.text(first.elts[0]) if isinstance(first, ast.List) and first.elts else None
        usual = word in _words("usual_programs") or (self.installing and word in _words("build_programs"))
        return usual and not any(each.arg == "shell" for each in call.keywords)

    def _secret(self, node: ast.AST) -> Act | None:
        """A text or call that gets at what a user keeps secret, wherever it is sent."""
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = next((each for each in _words("secrets") if each in node.value), None)
            return Act(line, f"sends {found}", "hidden") if found and len(node.value) < 200 else None
        if isinstance(node, ast.Call):
            whole = [self.path(each) for each in node.args]
            if "os.environ" in whole or self.path(node) in ("os.environ.copy()", "os.environ.items()"):
                return Act(line, "sends the environment", "hidden")
        return None


def _writes(call: ast.Call) -> bool:
    """Whether `open` is called with a mode that writes."""
    modes = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "mode")]
    return any(
        isinstance(each, ast.Constant) and isinstance(each.value, str) and set("wax+") & set(each.value)
        for each in modes
    )


def _unpickles(call: ast.Call | None, name: str) -> bool:
    """Whether a call creates objects of any class: some do only with `weights_only=False` or `allow_pickle=True`."""
    asked = {each.arg: getattr(each.value, "value", None) for each in call.keywords} if call else {}
    always = name not in _words("pickles_if_asked")
    return call is not None and (always or asked.get("weights_only") is False or asked.get("allow_pickle") is True)


def _of_constant(call: ast.Call | None) -> bool:
    """Whether a call's first argument is bytes in the source itself."""
    return call is not None and isinstance(getattr(next(iter(call.args), None), "value", None), bytes)


def _is_inside(node: ast.Attribute | ast.Subscript) -> bool:
    """Whether an expression leads from any object to Python's internals, by `__subclasses__` or `__globals__`."""
    names = set()
    inner: ast.AST = node
    while isinstance(inner, ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(inner, ast.Attribute):
            names.add(inner.attr)
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
    return isinstance(node, ast.Subscript) and (
        {"__globals__", "__init__"} <= names or {"__subclasses__", "__class__"} <= names
    )
