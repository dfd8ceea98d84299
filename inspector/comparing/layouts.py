"""How the elements of one side's tensors correspond to the other's: a pair as pieces with matching order.

    pieces(pair, Sides(a, b)) → q_proj, k_proj and v_proj, each a view of either side, with possible transformations

Projections that one side fuses are split, and so are stacked experts if the other side has single ones; matrices stored
as [in, out] are transposed. Anything else a converter does is an option of each piece, for the data to decide: a file
from an older converter may lack it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isqrt, prod
from typing import Any, NamedTuple

from inspector.architectures.conversions import EXPERTS, Conversion, key_text
from inspector.architectures.data.projections import BRANCHED, PARTS
from inspector.comparing.formulas import INDEX, MEANS, words
from inspector.comparing.pairing import Pair, Side
from inspector.comparing.sides import Known, Sides, is_turned
from inspector.comparing.strided import Digit, View, loops, whole
from inspector.model import STACKED, Key


class Made(NamedTuple):
    """Rows that are computed from one tensor's rows and from whole tensors: `linear(x, w, b)`."""

    value: str  # the formula
    x: int  # the index of the tensor whose rows it takes
    whole: Mapping[str, int]  # its other letters: indexes of tensors
    columns: int  # of a computed row


class Option(NamedTuple):
    """A possible transformation of the model's elements, and both sides after it, with matching elements."""

    name: str  # "" for nothing
    a: View
    b: View
    value: str = ""  # the formula for each number x: "x + 1"
    numbers: Mapping[str, float] = {}  # values of the names in the formula
    beside: Mapping[str, View] = {}  # the model's other tensors that it names, in the same layout
    made: Made | None = None  # the model's elements are computed
    rest: str = ""  # what the file's rows beyond the model's are


class Piece(NamedTuple):
    """Corresponding elements of both sides."""

    role: str
    options: tuple[Option, ...]  # the identity comes first


class _Elements(NamedTuple):
    """The elements of one role, and of one expert if experts are separate."""

    view: View
    base: int  # axes before the rows: 1 for stacked experts
    key: Key  # of the tensor that contains it, as named in the file


#: Role, and index among separate experts or layers → elements.
_ByRole = dict[tuple[str, int], _Elements]


def pieces(pair: Pair, sides: Sides) -> tuple[Piece, ...]:
    """Which elements of the two sides to compare. Raises ValueError if unknown."""
    if pair.a is None or pair.b is None:
        raise ValueError("only one side has it")
    folded = tuple(_folded_pieces(pair.a, pair.b, sides))
    if folded:
        return folded
    apart = _has_separate_items(pair.a) or _has_separate_items(pair.b)
    fine = _needs_parts(pair.a, pair.b, sides)
    sizes = _rows_of_separate(pair.a, pair.b, sides) if fine else {}
    a, b = (
        _elements_by_role(own, other, known, _fused_layout(at, sides) if fine else None, sizes, sides, apart)
        for at, (own, other, known) in enumerate(((pair.a, pair.b, sides.a), (pair.b, pair.a, sides.b)))
    )
    if a.keys() != b.keys():
        raise ValueError(f"{sorted(a.keys() ^ b.keys())[:3]} on one side only")
    return tuple(
        piece for role, number in a for piece in _pieces_of_role(role, a[role, number], b[role, number], pair, sides)
    )


def _pieces_of_role(role: str, a: _Elements, b: _Elements, pair: Pair, sides: Sides) -> Iterator[Piece]:
    """The elements of one role, and those that the file has beyond the model's."""
    made = _computed_piece(role, a, b, pair, sides)
    if made is not None:
        yield made
        return
    piece = _piece_with_options(role, a, b, sides)
    yield piece
    if any(option.rest for option in piece.options):
        yield from _rows_of_zeros(role, a, b, sides)


def _computed_piece(role: str, a: _Elements, b: _Elements, pair: Pair, sides: Sides) -> Piece | None:
    """What a converter computes row by row from several tensors; None for others."""
    model, file = sides.model_and_file(a, b)
    step = sides.conversion.computed.get(f"{key_text(file.key)}.{role}")
    side = sides.model_and_file(pair.a, pair.b)[0]
    if step is None or side is None:
        return None
    places = {key_text(key): number for number, key in enumerate(side.keys)}
    asked = {letter: text for letter, text in step.items() if letter not in ("value", "name")}
    if not asked.keys() or not all(text in places for text in asked.values()):
        raise ValueError(f"{role} without what it is computed with")
    columns = file.view.shape[-1]
    whole_ones = {letter: places[text] for letter, text in asked.items()}
    rows = file.view.elements // columns
    view = whole((rows, columns), model.view.store).flat()
    made = Made(step["value"], model.view.store, whole_ones, columns)
    one, other = sides.model_and_file(view, file.view.flat())
    return Piece(role, (Option(step["name"], one, other, made=made),))


def _rows_of_zeros(role: str, a: _Elements, b: _Elements, sides: Sides) -> Iterator[Piece]:
    """The file's rows beyond the model's, which its converter fills with zeros."""
    model, file = sides.model_and_file(a, b)
    step = next(step for step in _steps_for(role, file.key, sides.conversion) if "rest" in step)
    rows, total = model.view.shape[model.base], file.view.shape[file.base]
    start, stop = (rows, total) if step["rows"] == "first" else (0, total - rows)
    if stop > start:
        theirs = file.view.taken(file.base, 0, start, stop).flat()
        first = View(model.view.store, model.view.offset, ((Digit(theirs.elements, 0),),))
        one, other = sides.model_and_file(first, theirs)
        yield Piece(f"{role} rest", (Option("", one, other, "0"),))


def _folded_pieces(a: Side, b: Side, sides: Sides) -> Iterator[Piece]:
    """What a converter computed from several tensors; empty for others."""
    if not sides.conversion.folded:
        return
    model, file = sides.model_and_file(a, b)
    places = {key_text(key): number for number, key in enumerate(model.keys)}
    for name, formulas in sides.conversion.folded.items():
        for number, tensor in enumerate(file.tensors):
            terms = formulas.get(key_text(tensor.key), {})
            asked = {letter: text.partition("@") for letter, text in terms.items() if letter != "value"}
            views = {
                letter: _share_of_columns(whole(model.shapes[places[text]], places[text]), part).flat()
                for letter, (text, _, part) in asked.items()
                if text in places
            }
            made = whole(file.shapes[number], number).flat()
            if asked and len(views) == len(asked) and all(view.shape == made.shape for view in views.values()):
                x = views.pop("x")
                one, other = sides.model_and_file(x, made)
                yield Piece(str(number), (Option(name, one, other, terms["value"], beside=views),))


def _share_of_columns(view: View, part: str) -> View:
    """A share of a matrix's columns: `1/2` is the first half; all without a part."""
    number, _, count = part.partition("/")
    if not part:
        return view
    width = view.shape[-1] // int(count)
    return view.taken(len(view.axes) - 1, 0, (int(number) - 1) * width, int(number) * width)


def _fused_layout(at: int, sides: Sides) -> Mapping[str, Mapping[str, str]]:
    """The table's layout for one side's fused tensors."""
    return sides.conversion.file if sides.file == at else sides.conversion.model


def _elements_by_role(
    side: Side,
    other: Side,
    known: Known,
    layout: Mapping[str, Mapping[str, str]] | None,
    sizes: Mapping[str, int],
    sides: Sides,
    apart: bool,
) -> _ByRole:
    """The elements of one side, split as far as both sides are."""
    found: _ByRole = {}
    beside = _operands_of_other(side, other, sides)
    for number, (tensor, key, shape) in enumerate(zip(side.tensors, side.keys, side.shapes, strict=True)):
        if key_text(key) in beside:
            continue
        view = whole(shape, number)
        if is_turned(tensor, key, shape, known, sides):
            view = view.transposed([*range(len(shape) - 2), len(shape) - 1, len(shape) - 2])
        together = _is_stack(key, shape, other)
        base = int(together and not apart and _has_axis_of_items(shape, other))
        text = key_text(tensor.key._replace(part="weight"))
        given = layout and (layout.get(text + EXPERTS * (key.expert == STACKED)) or layout.get(text))
        parts = {} if layout is None else given or dict.fromkeys(_usually_fused(key), "")
        parts = _without_lacking(parts, other)
        for index, single in _items_of_stack(view, key, apart, together):
            role = "" if len(side.tensors) == len(other.tensors) == 1 else _name_within_fused(key, sides)
            held = _split_fused(single, base, parts, sizes, sides, key.layer) if parts else [(role, single)]
            for role, piece in held:
                if (role, index) in found:
                    raise ValueError(f"several tensors are {role or key_text(key)}")
                found[role, index] = _Elements(piece, base, tensor.key)
    return found


def _without_lacking(parts: Mapping[str, str], other: Side) -> Mapping[str, str]:
    """A layout without the other side's whole tensors that this model lacks; a layout of anything else unchanged."""
    theirs = {key_text(key) for key in other.keys}
    lacking = {name for name in parts if " " in name and name not in theirs}
    return {name: rows for name, rows in parts.items() if name not in lacking} if theirs & parts.keys() else parts


def _operands_of_other(side: Side, other: Side, sides: Sides) -> frozenset[str]:
    """The keys of tensors that are not part of the other side's, but are used to compute one of them."""
    if len(side.tensors) < 2:
        return frozenset()
    return frozenset(text for key in other.keys for text in sides.conversion.operands(key_text(key)))


def _name_within_fused(key: Key, sides: Sides) -> str:
    """The name of a tensor's elements within the other side's fused tensor."""
    text, place = key_text(key), f"{key.branch} {key.role}"
    if any(text in parts for parts in sides.conversion.file.values()):
        return text
    return place if place in BRANCHED else key.role


def _usually_fused(key: Key) -> Sequence[str]:
    """The projections that a tensor usually fuses; empty for one that is itself a projection."""
    return () if f"{key.branch} {key.role}" in BRANCHED else PARTS.get(key.role, ())


def _has_separate_items(side: Side) -> bool:
    return len({(key.layer, key.expert) for key in side.keys}) > 1


def _is_stack(key: Key, shape: Sequence[int], other: Side) -> bool:
    """Whether a tensor's first axis counts experts, or layers that the other side stores separately."""
    if key.expert == STACKED:
        return len(shape) > 1
    layers = {each.layer for each in other.keys}
    return key.layer is None and len(layers) > 1 and bool(shape) and shape[0] % len(layers) == 0


def _has_axis_of_items(shape: Sequence[int], other: Side) -> bool:
    """Whether the first axis of a stack is the other side's: DBRX has the rows of all experts in one axis."""
    theirs = other.shapes[0]
    return (
        len(other.shapes) > 1 or other.keys[0].expert != STACKED or len(theirs) <= len(shape) or shape[0] == theirs[0]
    )


def _items_of_stack(view: View, key: Key, apart: bool, together: bool) -> Iterator[tuple[int, View]]:
    """Each element of a stack with its index; other tensors unchanged."""
    if not (together and apart):
        number = key.expert if key.expert is not None and key.expert >= 0 else key.layer or 0
        yield number if apart else 0, view
        return
    for index in range(view.shape[0]):
        single = view.taken(0, 0, index, index + 1)
        yield index, single._replace(axes=single.axes[1:])


def _needs_parts(a: Side, b: Side, sides: Sides) -> bool:
    """Whether fused projections must be split: one side has single ones, or a converter reorders them."""
    alone = len(a.tensors) == len(b.tensors) == 1
    if any(len(set(side.keys)) < len(side.keys) for side in (a, b)):  # several that are parts of one
        return True
    if not alone and {(key.branch, key.role) for key in a.keys} != {(key.branch, key.role) for key in b.keys}:
        return True
    texts = {key_text(tensor.key._replace(part="weight")) for side in (a, b) for tensor in side.tensors}
    conversion = sides.conversion
    return any(
        "by" in conversion.model.get(text, {}) or any(name.startswith(f"{text}.") for name in conversion.converted)
        for text in texts
    )


def _rows_of_separate(a: Side, b: Side, sides: Sides) -> dict[str, int]:
    """The rows of projections that are separate on either side."""
    found: dict[str, int] = {}
    for side in (a, b):
        for key, shape in zip(side.keys, side.shapes, strict=True):
            if not _usually_fused(key) and shape:
                rest = shape[1:] if key.expert == STACKED and len(shape) > 1 else shape
                found[_name_within_fused(key, sides)] = prod(rest[:-1]) if key.part == "weight" else prod(rest)
    return found


def _split_fused(
    view: View, base: int, parts: Mapping[str, str], sizes: Mapping[str, int], sides: Sides, layer: int | None
) -> Iterator[tuple[str, View]]:
    """The projections of a fused tensor."""
    base = int(parts.get("axis", base))
    if base >= len(view.axes):
        raise ValueError(f"{len(view.axes)} axes")
    total = view.shape[base]
    names = [name for name in parts if name not in ("by", "axis")]
    groups = (sides.size(parts["by"], layer) if "by" in parts else None) or 1
    rows = {name: sides.size(parts[name], layer) if parts[name] else sizes.get(name) for name in names}
    unknown = [name for name in names if rows[name] is None]
    left = total - sum(size or 0 for size in rows.values())
    for name in unknown:
        rows[name] = left // len(unknown)
    counts = [(rows[name] or 0) // groups for name in names]
    if groups < 1 or sum(counts) * groups != total:
        raise ValueError(f"{total} rows are not {' + '.join(map(str, counts))} in {groups} groups")
    grouped, start = view.digits(base, (groups, total // groups)), 0
    at = len(grouped.axes[base]) - 1 if groups > 1 or len(grouped.axes[base]) > 1 else 0
    for name, count in zip(names, counts, strict=True):
        yield name, grouped.taken(base, at, start, start + count)
        start += count


def _piece_with_options(role: str, a: _Elements, b: _Elements, sides: Sides) -> Piece:
    plain = _both_cut(a, b, "first") if a.view.elements == b.view.elements else None
    options = [Option("", *plain)] if plain else []
    *before, rows, columns = a.view.shape if len(a.view.axes) > 1 else (0, 0)
    if rows != columns and b.view.shape == (*before, columns, rows):
        turned = _both_flat(a.view.transposed([*range(len(before)), len(before) + 1, len(before)]), b.view)
        options = [Option("transposed", *turned)] if turned else []
    if sides.file is not None:
        model, file = sides.model_and_file(a, b)
        for step in _steps_for(role, file.key, sides.conversion):
            made, value = _after_step(step, model, file, sides), step.get("value", "")
            known = _numbers_named(value, file.key.layer, sides)
            if made is not None and known is not None:
                one, other = sides.model_and_file(*made)
                options.append(Option(_name_of_step(step), one, other, value, known, rest=step.get("rest", "")))
    if not options:
        raise ValueError(f"{a.view.shape} and {b.view.shape}")
    return Piece(role, tuple(options))


def _steps_for(role: str, key: Key, conversion: Conversion) -> Iterator[Mapping[str, str]]:
    """What a converter may do to a tensor, or to a part of it."""
    text, bare = key_text(key), key_text(key._replace(part="weight"))
    for name in dict.fromkeys((text, bare, f"{text}.{role}", f"{bare}.{role}")):
        for number in ("", " 2", " 3"):
            if name + number in conversion.converted:
                yield conversion.converted[name + number]


def _numbers_named(value: str, layer: int | None, sides: Sides) -> Mapping[str, float] | None:
    """The numbers named in a formula of x, except those from the tensor itself; None if one is unknown."""
    asked = words(value) - MEANS.keys() - {INDEX}
    known = {"layer": layer, **{name: sides.number(name, layer) for name in asked - {"layer"}}}
    found = {name: number for name, number in known.items() if number is not None}
    return found if asked <= found.keys() else None


def _name_of_step(step: Mapping[str, str]) -> str:
    parts = [step.get("name", "reordered" if "order" in step else "")]
    parts += [step["value"]] if "value" in step and "name" not in step else []
    parts += [f"{step['rows']} rows"] if "rows" in step else []
    return ", ".join(filter(None, parts))


def _after_step(step: Mapping[str, str], model: _Elements, file: _Elements, sides: Sides) -> tuple[View, View] | None:
    """The model's elements in the file's order, and the file's; None if the step does not fit them."""
    try:
        changed = model._replace(view=_in_order_of_step(step, model, sides)) if "order" in step else model
        if "axes" in step:
            changed = changed._replace(view=changed.view.transposed(list(map(int, step["axes"].split()))))
        cut = "rows" in step and ("rest" in step or changed.view.elements > file.view.elements)
        return _both_cut(changed, file, step["rows"]) if cut else _both_flat(changed.view, file.view)
    except (ValueError, IndexError):  # axes that differ from the step's
        return None


def _both_flat(a: View, b: View) -> tuple[View, View] | None:
    """Both as one row of elements; None if they cannot be traversed together."""
    if a.elements != b.elements:
        return None
    own, other = a.flat(), b.flat()
    try:
        loops(own, other)
    except ValueError:
        return None
    return own, other


def _both_cut(a: _Elements, b: _Elements, which: str) -> tuple[View, View] | None:
    """Both with as many rows as the shorter has: its `first` or its `last`."""
    if a.view.elements == b.view.elements:
        return _both_flat(a.view, b.view)
    rows = min(a.view.shape[a.base], b.view.shape[b.base])
    return _both_flat(*(_some_rows(each, rows, which) for each in (a, b)))


def _some_rows(atom: _Elements, rows: int, which: str) -> View:
    total = atom.view.shape[atom.base]
    start = 0 if which == "first" else total - rows
    return atom.view.taken(atom.base, 0, start, start + rows)


def _in_order_of_step(step: Mapping[str, str], atom: _Elements, sides: Sides) -> View:
    """The model's elements in the order of a step."""
    before, _, after = (text.split() for text in step["order"].partition("->"))
    view, axis = atom.view, int(step.get("axis", atom.base))
    if "..." not in before:
        flat = tuple(digit for each in view.axes[axis:] for digit in each)
        view = view._replace(axes=(*view.axes[:axis], flat))
    elif before[0] == "...":
        axis = len(view.axes) - 1
    names, wanted = ([name for name in text if name != "..."] for text in (before, after))
    sizes = _sizes_of(names, step, view.shape[axis], sides, atom.key.layer)
    fine = view.digits(axis, sizes)
    return fine.ordered(axis, _digit_places(fine.axes[axis], names, sizes, wanted))


def _sizes_of(names: Sequence[str], step: Mapping[str, str], total: int, sides: Sides, layer: int | None) -> list[int]:
    """The size of each digit. The size of one digit may follow from the others, and so may that of two equal ones."""
    sizes = [int(name) if name.isdecimal() else sides.size(step[name], layer) if name in step else 0 for name in names]
    if any(size is None for size in sizes):
        raise ValueError("a size that the configuration does not give")
    product = 1
    for size in sizes:
        product *= size or 1
    if sizes.count(0) == 2 and isqrt(total // product) ** 2 * product == total:
        return [size or isqrt(total // product) for size in sizes]
    if sizes.count(0) > 1 or total % product:
        raise ValueError(f"{total} in digits of {sizes}")
    return [size or total // product for size in sizes]


def _digit_places(axis: Sequence[Any], names: Sequence[str], sizes: Sequence[int], wanted: Sequence[str]) -> list[int]:
    """The position of each wanted digit among an axis's digits, which may divide it further."""
    groups: dict[str, list[int]] = {}
    at = 0
    for name, size in zip(names, sizes, strict=True):
        held = 1
        groups[name] = []
        while held < size:
            groups[name].append(at)
            held *= axis[at].size
            at += 1
        while at < len(axis) and axis[at].size == 1:
            at += 1
    return [place for name in wanted for place in groups[name]]
