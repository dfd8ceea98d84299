"""What Diffusers asks of a pipeline: the section `diffusers` of `inspector/auditing/data/fields.json`.

Which parts each pipeline must be given, its signature says. Which kinds of value a scheduler's or a model's field takes
is found as for PEFT: the class is made with one field of another kind at a time; models on the device that holds no
data, as shallow as they can be.
"""

from __future__ import annotations

import ast
import inspect
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import diffusers
import torch
from diffusers import DiffusionPipeline, ModelMixin, SchedulerMixin

#: Fields that are only a count: one is enough.
_DEPTHS = (
    *("num_layers", "num_single_layers", "num_dual_layers", "num_refiner_layers", "depth", "n_layers"),
    *("layers_per_block", "num_double_layers", "num_decoder_layers", "num_encoder_layers"),
)
#: Seconds for making one class; a slower one is left out.
_SLOW = 0.2
#: Kinds that models are tried with: a null, a text, an object, a list.
_TRIED = "nsdI"


def _classes(kind: type) -> dict[str, Any]:
    found = {}
    for name in dir(diffusers):
        own = getattr(diffusers, name, None) if name[:1].isupper() else None
        if inspect.isclass(own) and issubclass(own, kind) and own is not kind:
            found[name] = own
    return found


def pipelines() -> dict[str, list[str]]:
    """Pipeline → its required parts."""
    found = {}
    for name, own in _classes(DiffusionPipeline).items():
        try:
            expected, _ = own._get_signature_keys(own)
        except Exception as error:
            print(f"{name} left out: {type(error).__name__}")
            continue
        found[name] = sorted({*expected} - {"self", *own._optional_components})
    return found


def _fields(kind: Any) -> dict[str, Any]:
    """Field → default, of the arguments of a class."""
    own = inspect.signature(kind.__init__).parameters.values()
    return {each.name: each.default for each in own if each.name != "self" and each.kind is not each.VAR_KEYWORD}


def _made(kind: Any, values: dict[str, Any]) -> Any:
    with torch.device("meta") if issubclass(kind, ModelMixin) else torch.device("cpu"):
        return kind(**values)


def _shallow(kind: Any, fields: dict[str, Any]) -> dict[str, Any] | None:
    """Values with which a class is made quickly; None if it cannot be."""
    less = {name: 1 for name in _DEPTHS if isinstance(fields.get(name), int) and fields[name] > 1}
    for values in (less, {}):
        began = time.process_time()
        try:
            _made(kind, values)
        except Exception:
            continue
        if time.process_time() - began < _SLOW:
            return values
    return None


def of_classes(letters: Callable[..., str], samples: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Class → field → kinds."""
    found: dict[str, dict[str, str]] = {}
    for name, kind in {**_classes(SchedulerMixin), **_classes(ModelMixin)}.items():
        fields = _fields(kind)
        values = _shallow(kind, fields)
        if values is None:
            print(f"{name} left out: slow, or not made from its defaults")
            continue
        tried = samples if issubclass(kind, SchedulerMixin) else {key: samples[key] for key in _TRIED}
        found[name] = {}
        for field, default in fields.items():

            def take(value: Any, field: str = field, kind: Any = kind, values: dict[str, Any] = values) -> None:
                _made(kind, {**values, field: value})

            taken = letters(partial(take), default, tried)
            alike = "" if "I" in taken else "FL"  # a list of other numbers is no better than one of whole ones
            untried = "".join(letter for letter in samples if letter not in tried and letter not in alike)
            found[name][field] = "".join(letter for letter in samples if letter in taken + untried)
        print(name, flush=True)
    return found


def checked(kinds: dict[str, Any]) -> dict[str, list[str]]:
    """Class → fields whose words it checks: their default with a letter appended is refused."""
    found: dict[str, list[str]] = {}
    for name in kinds:
        kind = getattr(diffusers, name)
        fields = _fields(kind)
        values = _shallow(kind, fields) or {}
        for field, default in fields.items():
            listed = isinstance(default, list | tuple) and default and all(isinstance(each, str) for each in default)
            if listed or isinstance(default, str):
                wrong: Any = [*default[:-1], default[-1] + "x"] if listed else default + "x"
                try:
                    _made(kind, {**values, field: wrong})
                except Exception:
                    found.setdefault(name, []).append(field)
    return found


def words() -> list[str]:
    """Every word with which Diffusers compares something, and the names of its blocks."""
    found: set[str] = set()
    for path in sorted(Path(diffusers.__file__).parent.rglob("*.py")):
        if not {"models", "schedulers"} & {*path.parts}:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found |= {*_compared(node)}
            if isinstance(node, ast.ClassDef) and "Block" in node.name:
                found.add(node.name)
    return sorted(each for each in found if 1 < len(each) < 60 and " " not in each and each.isprintable())


def _compared(node: ast.AST) -> Iterator[str]:
    """Texts in comparisons, keys of tables, and defaults."""
    inner: list[Any] = []
    if isinstance(node, ast.Compare):
        inner = [node.left, *node.comparators]
    elif isinstance(node, ast.Dict):
        inner = [each for each in node.keys if each is not None]
    elif isinstance(node, ast.arguments):
        inner = [each for each in (*node.defaults, *node.kw_defaults) if each is not None]
    for each in inner:
        items = each.elts if isinstance(each, ast.List | ast.Tuple | ast.Set) else [each]
        yield from (item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str))
