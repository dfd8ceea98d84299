"""Can any module have pieces of these shapes, by the adapter's own fields?

Some methods cut a module into blocks or factors, so that no single size of a piece is the module's. The sizes that a
module may have follow from those of its pieces and from the numbers of the configuration; each is tried.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from math import isqrt
from typing import Any

from inspector.adapters import prediction
from inspector.adapters.methods import Method
from inspector.adapters.tensors import PROMPTS
from inspector.architectures import formula
from inspector.auditing.rule import Found, NotJudged
from inspector.errors import ConfigError
from inspector.model import Config, Expected, Header, Prediction
from inspector.units import times

Shape = tuple[int, ...]
Pieces = Mapping[tuple[str, str], tuple[str, Shape]]

#: Sums of both sizes, shares of their product, and numbers of the whole model: no module's pieces determine them.
_OF_MANY = re.compile(r"outputs \+ inputs|experts|scaled")
#: The most different modules that are tried, and the most sizes for each side of one.
_MOST, _MOST_SIZES = 50, 20
#: The largest number of the configuration that may count or measure blocks.
_MOST_BLOCKS = 4096
#: Fields that choose modules, which are chosen here.
_CHOICES = ("exclude_modules", "layers_to_transform", "modules_to_save", "layer_replication", "trainable_token_indices")


def impossible_shapes(
    header: Header, pieces: Pieces, method: Method, config: Mapping[str, Any]
) -> Iterator[Found | NotJudged]:
    """Pieces whose shapes no module has."""
    parts = {piece.part: len(formula.dimensions(piece.shape)) for piece in method.pieces}
    if any(_OF_MANY.search(piece.shape) for piece in method.pieces) or config.get(method.pattern):
        return
    if config.get("proportional_parameters"):  # counted for all modules together
        return
    modules: defaultdict[str, dict[str, tuple[str, Shape]]] = defaultdict(dict)
    for (weight, part), (name, shape) in pieces.items():
        known = next((length for own, length in parts.items() if re.fullmatch(own, part)), None)
        if known == len(shape) and weight.endswith(".weight") and part not in PROMPTS:
            modules[weight][part] = (name, shape)
    tried: dict[frozenset[tuple[str, Shape]], None] = {}
    for weight, own in modules.items():
        shapes = {part: shape for part, (_, shape) in own.items()}
        if frozenset(shapes.items()) in tried:
            continue
        if len(tried) == _MOST:
            yield NotJudged(f"modules of more shapes than {_MOST}", header.path)
            return
        tried[frozenset(shapes.items())] = None
        yield from _wrong_module(header, weight, own, shapes, config)


def _wrong_module(
    header: Header,
    weight: str,
    own: Mapping[str, tuple[str, Shape]],
    shapes: Mapping[str, Shape],
    config: Mapping[str, Any],
) -> Iterator[Found]:
    nearest: dict[str, Shape] = {}
    other_parts = False
    for size in product(*[_possible_sizes(shapes.values(), config)] * 2):
        made = _created_shapes(weight, size, config)
        wrong = {part: made[part] for part, shape in shapes.items() if part in made and made[part] != shape}
        if not wrong and shapes.keys() <= made.keys():
            return
        other_parts = other_parts or (bool(made) and not wrong and bool(shapes.keys() & made.keys()))
        if wrong and (not nearest or len(wrong) < len(nearest)):
            nearest = wrong
    if other_parts:
        what = f"the method would make other pieces than {', '.join(sorted(shapes))} here, so PEFT drops some"
        yield Found(what, header.path, next(iter(own.values()))[0], "warning")
    elif nearest:
        part = min(nearest)
        what = f"{times(shapes[part])} stored; by its fields the method makes no such {part} of any module"
        yield Found(what, header.path, own[part][0])


def _possible_sizes(shapes: Collection[Shape], config: Mapping[str, Any]) -> Sequence[int]:
    """Possible sizes of a side of the module: the stored ones, and their products with numbers of the configuration."""
    sides = {size for shape in shapes for size in shape}
    blocks = {side for size in sides if (side := (isqrt(8 * size + 1) + 1) // 2) * (side - 1) == 2 * size}
    stored = sorted(sides | blocks)  # a rotation has the part of a block above its diagonal
    numbers = sorted({value for value in config.values() if type(value) is int and 1 < value <= _MOST_BLOCKS} | {2})
    by_number = {size * number for size in stored for number in numbers}
    by_each = {one * other for one, other in product(stored, stored)}
    halves = {size // number for size in stored for number in numbers if size % number == 0}
    found = dict.fromkeys((*stored, *sorted(by_each, reverse=True), *sorted(by_number), *sorted(halves)))
    return [size for size in found if size > 1][:_MOST_SIZES] or [1]


def _created_shapes(weight: str, size: tuple[int, ...], config: Mapping[str, Any]) -> dict[str, Shape]:
    """The method's pieces of a module of this size; none if its fields allow none."""
    module = weight.removesuffix(".weight")
    rows = (_weight_row(weight, size, ""), _weight_row("embed_tokens.weight", (1, 1), "embed_tokens"))
    chosen = {**config, **dict.fromkeys(_CHOICES), "target_modules": [module], "bias": "none", "fan_in_fan_out": False}
    try:
        made = prediction.predict(chosen, Prediction(Config({}, "config.json"), "", "", rows)).expected
    except (ConfigError, ArithmeticError, TypeError, ValueError):
        return {}
    return {each.part: each.shape for each in made if f".{module}." in each.name}


def _weight_row(weight: str, size: tuple[int, ...], role: str) -> Expected:
    return Expected(role, "embedding" if role else "attention", "text", "weight", weight, size, (), ())
