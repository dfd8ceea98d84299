"""A comparison as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from inspector.comparing.agreement import Data, Relation, added
from inspector.comparing.companions import Companion
from inspector.comparing.diff import Diff
from inspector.comparing.pairing import Pair, Side, Status, is_transposed
from inspector.comparing.relation import FOREIGN
from inspector.model import Reconciliation
from inspector.report.columns import GO, cut, folded, table, wrapped
from inspector.report.documents import SCHEMA, about, fields
from inspector.report.documents import key as key_document
from inspector.report.pages.parts import Cell, Column, Page, Part, Report, Section, Table, Text, of_rows
from inspector.report.tables import Rows, columns
from inspector.report.words import layers_text, place_of, public, shape_text
from inspector.units import bits, count, decimal, escape, integer, plural, size

_SHOWN_FIELDS = 40


def lines(
    result: Diff,
    *,
    stat: bool = False,
    everything: bool = False,
    full: bool = False,
    by: str = "role",
    width: int | None = None,
    more: Sequence[str] = (),
) -> Iterator[str]:
    """What b is to a, then what differs: on a terminal on one screen, unless one of the options asks for more.

    Args:
        stat: only totals by role.
        everything: also what is the same.
        full: each role by itself, every field, and bytes to the unit.
        by: what a line covers: a role over its layers, a layer, or a tensor.
        width: terminal columns, for which long lists of layers and then bytes give way; None for no limit.
        more: what else was asked, whose answers stand below what b is to a: ranks, parents.
    """
    if not (stat or everything or full or by != "role"):
        yield from _screen(result, width, more)
        return
    yield from relation_lines(result.relation, width)
    yield from (*more, "") if more else ()
    yield _sides(result, width)
    if result.shared < FOREIGN and not everything:
        yield "--all lists every tensor"
        return
    if result.config:
        yield ""
        yield from _fields(result, width, _SHOWN_FIELDS)
    others = [each for each in result.beside if everything or each.status != "same"]
    if others:
        yield ""
        yield _beside(others)
    rows = [row for row in _grouped(result, by) if everything or row.differs]
    if rows:
        yield ""
        if stat:
            yield table(_stat(rows), _STAT, "lrrrrl", width=width, give=((5, 0), (0, 24)))
        else:
            yield _table(rows, width, values=result.data is not None)
    if result.data is not None:
        yield from _trained(result)
    yield ""
    yield verdict(result)


#: Lines of a screen: a terminal's 24, without the prompt.
HEIGHT = 23
#: The most rows of what the configuration and what accompanies the weights are changed in, on a screen.
_FEW = 4


def _screen(result: Diff, width: int | None, more: Sequence[str]) -> Iterator[str]:
    """Relation, sides, what changed: roles that changed alike are one row, the largest first."""
    blocks = [[*relation_lines(result.relation, width, 4), *more, *[""][: len(more)], _sides(result, width)]]
    if result.shared < FOREIGN:
        yield from (*blocks[0], "--all lists every tensor")
        return
    others = [each for each in result.beside if each.status != "same"]
    last = [*_trained(result), verdict(result)] if result.data is not None else [verdict(result)]
    rows = _alike([row for row in _grouped(result, "role") if row.differs])
    few = _FEW if width is not None else _SHOWN_FIELDS
    blocks.append([*_fields(result, width, few)] if result.config else [])
    blocks.append([_beside(others[:few])] if others else [])
    if rows:
        taken = "\n\n".join("\n".join(block) for block in (*blocks, last) if block).split("\n")
        room = HEIGHT - sum(len(wrapped(line, width).split("\n")) for line in taken) - 2
        shown = rows if width is None or len(rows) <= room else _largest(rows, max(1, room - 1))
        blocks.append([_changes(shown, width, values=result.data is not None)])
        if len(shown) < len(rows):
            blocks[-1].append(f"… {plural(len(rows) - len(shown), 'smaller change')}: --full")
    for number, block in enumerate(filter(None, (*blocks, last))):
        yield from ("", *block) if number else block


def _largest(rows: Sequence[_Row], most: int) -> list[_Row]:
    """So many rows in their order: those of lost, added and reshaped tensors before those of other types."""
    ranked = sorted(rows, key=lambda row: (row.status in ("dtype", "same"), -max(row.a, row.b)))[:most]
    return [row for row in rows if row in ranked]


def _sides(result: Diff, width: int | None) -> str:
    sides = [(mark, *identity(each)) for mark, each in (("a", result.a), ("b", result.b))]
    return table(sides, (), "lllrrr", width=width, give=((2, 20), (1, 16)))


def _beside(found: Iterable[Companion]) -> str:
    return table([(escape(each.what, 40), _BESIDE[each.status], escape(each.detail, 80)) for each in found], (), "lll")


def _alike(rows: Iterable[_Row]) -> list[_Row]:
    """Rows of the same change in the same layers as one, the largest first."""
    groups: dict[tuple[Any, ...], list[_Row]] = {}
    for row in rows:
        found = row.members[0][1]
        alike = (row.status, row.change, row.layers, found and (found.status, found.transform))
        groups.setdefault((*alike, row.values if found is None else ""), []).append(row)
    joined = [_as_one_row(group) for group in groups.values()]
    return sorted(joined, key=lambda row: -max(row.a, row.b))


def _as_one_row(rows: Sequence[_Row]) -> _Row:
    rows = sorted(rows, key=lambda row: -max(row.a, row.b))
    members = [member for row in rows for member in row.members]
    return rows[0]._replace(
        what=", ".join(dict.fromkeys(row.what for row in rows)),
        tensors=sum(row.tensors for row in rows),
        a=sum(row.a for row in rows),
        b=sum(row.b for row in rows),
        values=rows[0].values if members[0][1] is None else compared(members),
        members=members,
    )


def _changes(rows: Sequence[_Row], width: int | None, *, values: bool) -> str:
    """A row for each change: what, in which layers, from which type to which, how large on either side."""
    columns = [
        [_WORDS[row.status] for row in rows],
        [""],
        [row.change for row in rows],
        *(
            [decimal(size) if size else "–" for size in sizes]
            for sizes in zip(*((row.a, row.b) for row in rows), strict=True)
        ),
    ]
    headers, align = ["", "tensors of", "a → b", "size in a", "size in b"], "lllrr"
    if values:  # they say more than sizes do
        columns[3:], headers[3:], align = [[row.values for row in rows]], ["values"], "llll"
    room = (
        None
        if width is None
        else width
        - sum(
            2 + max(map(len, (head, *column))) for head, column in zip(headers, columns, strict=True) if column != [""]
        )
    )
    if room is not None and room < _NAMES and not values:
        del columns[3], headers[3]
        room, align = room + 11, "lllr"
    names = [layers_text(row.layers) for row in rows]
    if room is not None:
        names = [
            f", {len(row.layers)} layers" if len(name) > _LAYERS else name
            for row, name in zip(rows, names, strict=True)
        ]
    columns[1] = [
        cut(row.what, None if room is None else max(14, room - len(layers))) + layers
        for row, layers in zip(rows, names, strict=True)
    ]
    return table(
        zip(*columns, strict=True),
        headers,
        align,
        width=width,
        give=((1, 24), (3, 20), (2, 18)) if values else ((1, 20), (2, 18)),
    )


#: Columns for names, below which sizes in a give way.
_NAMES = 30
#: Columns for a list of layers; a longer list becomes a count.
_LAYERS = 16


def relation_lines(relation: Relation | None, width: int | None, most: int | None = None) -> Iterator[str]:
    """What b is to a, and how that is known: on a terminal in up to this many lines each."""
    if relation is None:
        return
    most = most if width is not None else None
    yield from folded(escape(relation.sentence, 300), width, most)
    known = "; ".join(filter(None, (*relation.evidence, relation.undecided)))
    if known:
        yield from folded(f"  {escape(known, 600)}", width, most)
    yield ""


_BESIDE = {"same": "same", "different": "different", "only_a": "only in a", "only_b": "only in b"}
_HEADERS = ("", "tensors of", "a → b", "bytes in a", "bytes in b")


def _table(rows: Iterable[_Row], width: int | None, *, values: bool) -> str:
    """The rows, narrowed to the width: names are shortened, bytes are dropped, and the change itself always stays."""
    if not values:
        give = ((1, 37), (3, GO), (1, 24), (4, GO))
        return table(map(_cells, rows), _HEADERS, "lllrr", width=width, give=give)
    cells = [(*_cells(row), row.values) for row in rows]
    return table(cells, (*_HEADERS, "values"), "lllrrl", width=width, give=((3, GO), (4, GO), (1, 24), (5, 20)))


_STAT = ("role", "tensors", "bytes in a", "bytes in b", "bits", "")


def identity(result: Reconciliation) -> tuple[str, ...]:
    """One side: target, family and type, parameters, bits per parameter, bytes."""
    checkpoint = result.checkpoint
    width = f"{bits(result.bits_per_weight(result.on_disk))} bits" if result.logical else ""
    family = result.prediction.family if result.prediction else "unknown architecture"
    return (
        escape(public(checkpoint.target), 60),
        f"{family}, {escape(result.dtype or checkpoint.format, 40)}",
        count(result.logical),
        width,
        size(result.on_disk).partition(",")[0],
    )


def _fields(result: Diff, width: int | None, most: int) -> Iterator[str]:
    shown = result.config[:most]
    yield table(
        [(_ending(escape(each.field, 60), width), field_value(each.a), "→", field_value(each.b)) for each in shown],
        ("configuration", "a", "", "b"),
        "llll",
        width=width,
        give=((0, 36), (1, 12), (3, 16)),
    )
    if len(result.config) > len(shown):
        yield f"and {plural(len(result.config) - len(shown), 'further field')}"


def _ending(field: str, width: int | None) -> str:
    """A field's dotted name; of a long one, a terminal shows the end, which is the field itself."""
    return field if width is None or len(field) <= width // 2 else f"…{field[1 - width // 2 :]}"


def field_value(value: Any) -> str:
    """A configuration's value, briefly."""
    return "absent" if value is None else escape(str(value), 40)


class _Row(NamedTuple):
    """Pairs that differ in the same way, over the layers in which they do."""

    status: str
    what: str  # role, with tower and part unless they are the defaults
    change: str
    layers: tuple[int, ...]
    tensors: int
    a: int  # bytes
    b: int
    elements: tuple[int, int]
    values: str  # how these compare; "" if they were not read
    differs: bool
    members: Sequence[_Member]


_Member = tuple[Pair, Data | None]


def _grouped(result: Diff, by: str) -> list[_Row]:
    """The pairs in groups: by role, by layer, or each separately."""
    groups: dict[tuple[Any, ...], list[_Member]] = {}
    for number, (pair, data) in enumerate(zip(result.pairs, result.data or [None] * len(result.pairs), strict=True)):
        found = (data.status, data.transform) if data else ()
        key = pair.key
        of_role = (key.tower, key.branch, key.role, key.part)
        place = {"role": of_role, "layer": (key.tower, key.layer), "tensor": (number,)}[by]
        change = _sides_of(pair) if by != "layer" else ()
        groups.setdefault((*place, pair.status, pair.converter, change, *found), []).append((pair, data))
    rows = [_row(members, by) for members in groups.values()]
    return sorted(rows, key=lambda row: row.layers) if by == "layer" else rows  # files list layer 10 before layer 2


def _row(members: Sequence[_Member], by: str) -> _Row:
    first, data = members[0]
    layers = sorted({pair.key.layer for pair, _ in members if pair.key.layer is not None})
    what = place_of(first.key)
    if by == "layer":
        what = plural(len(members), "tensor") + ("" if layers else " outside the layers")
    return _Row(
        first.status,
        what if by != "tensor" or first.key.expert is None or first.key.expert < 0 else f"{what} {first.key.expert}",
        change_of(first) if by != "layer" else "",
        tuple(layers),
        sum(len((pair.a or pair.b or _NOTHING).tensors) for pair, _ in members),
        sum(pair.a.nbytes for pair, _ in members if pair.a),
        sum(pair.b.nbytes for pair, _ in members if pair.b),
        (
            sum(pair.a.elements for pair, _ in members if pair.a),
            sum(pair.b.elements for pair, _ in members if pair.b),
        ),
        _CONVERTER.get(first.converter, "") if data is None else compared(members),
        first.status != "same" or (data is not None and data.status == "different"),
        members,
    )


_CONVERTER = {
    "leaves out": "the converter omits it",
    "makes": "the converter generates it",
    "adds": "the converter takes it from another folder",
}


def compared(members: Sequence[_Member]) -> str:
    """How the values of several pairs compare, briefly."""
    found = [data for _, data in members if data]
    first = found[0]
    if first.status is None:
        return f"not compared: {escape(first.why, 80)}"
    sums = added(data.sums for data in found)
    phrases = [first.status + (f" ({first.transform})" if first.transform else "")]
    if first.status != "equal" and sums.relative is not None:
        phrases.append(f"‖a−b‖/‖a‖ {sums.relative:.3g}")
    if first.status == "different":
        phrases.append(f"at most {sums.max_abs:.3g}")
        phrases += [f"cosine {sums.cosine:.6f}"] if sums.cosine is not None else []
        phrases.append(f"{sums.share * 100:.3g} % of the elements")
    phrases += [f"NaN {integer(sums.nan_a)} → {integer(sums.nan_b)}"] if sums.nan_a or sums.nan_b else []
    return ", ".join(phrases)


_NOTHING = Side((), (), (), "", 0, 0)


def _sides_of(pair: Pair) -> tuple[Any, ...]:
    """What `change_of` shows of a pair, as data."""
    sides = [
        side and (side.dtype, () if pair.status in ("same", "dtype") else side.shapes) for side in (pair.a, pair.b)
    ]
    return (pair.status, *sides)


def change_of(pair: Pair) -> str:
    """Both sides of a pair: `BF16 → Q6_K`, two shapes if they differ, one if only one side has it."""
    if pair.a is None or pair.b is None:
        side = pair.a or pair.b or _NOTHING
        return f"{shape_text(side.shapes)} {escape(side.dtype, 40)}"
    if pair.status == "shape":
        return f"{shape_text(pair.a.shapes)} → {shape_text(pair.b.shapes)}"
    ours, theirs = (escape(side.dtype, 40) for side in (pair.a, pair.b))
    return ours if pair.status == "same" else f"{ours} → {theirs}"


_WORDS = {"same": "same", "dtype": "dtype", "shape": "shape", "only_a": "only in a", "only_b": "only in b"}


def _cells(row: _Row) -> tuple[str, ...]:
    return (_WORDS[row.status], f"{row.what}{layers_text(row.layers)}", row.change, _bytes(row.a), _bytes(row.b))


def _bytes(number: int) -> str:
    return integer(number) if number else "–"


_WIDEST = 30  # characters of the bar of `--stat`


def _stat(rows: Iterable[_Row]) -> Iterator[tuple[str, ...]]:
    """Totals by role, with the difference from a to b as a bar."""
    sums: dict[str, list[int]] = {}
    for row in rows:
        total = sums.setdefault(row.what, [0, 0, 0, 0, 0])
        for at, number in enumerate((row.tensors, row.a, row.b, *row.elements)):
            total[at] += number
    most = max((abs(b - a) for _, a, b, *_ in sums.values()), default=0) or 1
    for what, (tensors, a, b, *elements) in sums.items():
        bar = ("+" if b > a else "-") * -(-abs(b - a) * _WIDEST // most)
        yield what, integer(tensors), _bytes(a), _bytes(b), _widths((a, b), elements), bar


def _widths(nbytes: tuple[int, int], elements: Sequence[int]) -> str:
    """Bits per element on either side: `16 → 4.5`."""
    if not any(elements):
        return ""
    widths = [bits(total * 8 / number) if number else "–" for total, number in zip(nbytes, elements, strict=True)]
    return widths[0] if widths[0] == widths[1] else " → ".join(widths)


def _trained(result: Diff) -> Iterator[str]:
    """Which layers have changed values, if some have and some have not."""
    changed: dict[str, dict[int, bool]] = {}
    for pair, data in zip(result.pairs, result.data or (), strict=True):
        if data and data.status and pair.key.layer is not None:
            layers = changed.setdefault(pair.key.tower, {})
            layers[pair.key.layer] = layers.get(pair.key.layer, False) or data.status == "different"
    for tower, layers in changed.items():
        own = sorted(layer for layer, differs in layers.items() if differs)
        if own and len(own) < len(layers):
            rest = sorted(layers.keys() - set(own))
            name = "" if tower == "text" else f"{tower}: "
            yield ""
            changed_in, none_in = (layers_text(each).removeprefix(", ") for each in (own, rest))
            yield f"{name}changed values in {changed_in}; none in {none_in}"


def verdict(result: Diff) -> str:
    """How many tensors are equal, and how the others differ, in one line."""
    counts = result.counts
    parts = [f"{plural(counts['same'], 'tensor')} the same in dtype and shape"]
    parts += [f"{integer(counts[status])} {words}" for status, words in _VERDICTS.items() if counts[status]]
    agreements = result.agreements
    if agreements is not None:
        parts.append("values: " + ", ".join(f"{integer(n)} {word}" for word, n in agreements.items() if n))
    others = sum(each.status != "same" for each in result.beside)
    parts += [f"{plural(others, 'other item')} different"] if others else []
    if result.config:
        parts.append(plural(len(result.config), "configuration field") + " different")
    text = ", ".join(parts)
    if result.differs or (agreements and agreements["incomparable"]):
        return text
    same = agreements is not None or (result.relation and result.relation.kind == "identical")
    return text + (": nothing differs" if same else "; values were not compared (--data)")


_VERDICTS: Mapping[Status, str] = {
    "dtype": "in another dtype",
    "shape": "in another shape",
    "only_a": "only in a",
    "only_b": "only in b",
}  # fmt: skip


def document(result: Diff) -> dict[str, Any]:
    """`inspect diff A B --json`."""
    return {
        "schema": SCHEMA,
        "target": [result.a.checkpoint.target, result.b.checkpoint.target],
        "relation": relation(result.relation),
        "a": about(result.a),
        "b": about(result.b),
        "config": [fields(each, "field a b") for each in result.config],
        "counts": {**result.counts, "data": result.agreements},
        "beside": [each._asdict() for each in result.beside],
        "shared": round(result.shared, 6),
        "tensors": [
            _pair(pair, data)
            for pair, data in zip(result.pairs, result.data or [None] * len(result.pairs), strict=True)
        ],
    }


def relation(found: Relation | None) -> dict[str, Any] | None:
    """What b is to a; null if that was not asked."""
    return found and {
        **fields(found, "kind sentence"),
        "evidence": list(found.evidence),
        "undecided": found.undecided or None,
    }


_SIDES = ("name", "dtype", "shape", "bytes")
#: Columns of a table with one row per pair; `a_` and `b_` are the sides.
COLUMNS = columns(
    "status role tower branch layer:int64 expert:int64 part"
    " a_name a_dtype a_shape:list<uint64> a_bytes:uint64 b_name b_dtype b_shape:list<uint64> b_bytes:uint64"
    " data transform reason max_abs:double relative:double cosine:double"
    " differing:uint64 elements:uint64 nan_a:uint64 nan_b:uint64"
)


def rows(result: Diff) -> Rows:
    """One row per pair; for a side with several fused or stacked tensors, the first one's name and shape."""
    return Rows(COLUMNS, [_flat(each) for each in document(result)["tensors"]])


def _flat(pair: Mapping[str, Any]) -> dict[str, Any]:
    sides = {f"{side}_{name}": (pair[side] or {}).get(name) for side in "ab" for name in _SIDES}
    nan = pair.get("nan") or {}
    return {**pair, **sides, "nan_a": nan.get("a"), "nan_b": nan.get("b")}


def _pair(pair: Pair, data: Data | None) -> dict[str, Any]:
    sums = data.sums if data and data.status else None
    done = {"leaves out": "left out", "makes": "made", "adds": "added"}.get(pair.converter)
    transform = done or (data.transform if data else None)
    compared = {
        **key_document(pair.key),
        "status": pair.status,
        "a": _side(pair.a),
        "b": _side(pair.b),
        "data": data.status if data else None,
        "transform": transform or ("transposed" if data is None and is_transposed(pair) else None),
        "max_abs": _number(sums.max_abs) if sums else None,
        "relative": _number(sums.relative) if sums else None,
    }
    if sums is None:
        return {**compared, "reason": data.why} if data else compared
    measured = {"cosine": _number(sums.cosine), "differing": sums.differing, "elements": sums.elements}
    return {**compared, **measured, "nan": {"a": sums.nan_a, "b": sums.nan_b}}


def _number(value: float | None) -> float | None:
    """A number that JSON can express: not an infinity."""
    return value if value is not None and isfinite(value) else None


def _side(side: Side | None) -> dict[str, Any] | None:
    """One tensor; if the other side fuses or stacks several, the first, and the names of all."""
    if side is None:
        return None
    names = [each.tensor.name for each in side.tensors]
    first: dict[str, Any] = {"name": names[0], "dtype": side.dtype, "shape": list(side.shapes[0]), "bytes": side.nbytes}
    return first if len(names) == 1 else {**first, "names": names}


# --- the page ----------------------------------------------------------------------------------------

_FILTERED = ("status", "role", "tower", "branch", "part", "a_dtype", "b_dtype", "data", "transform")


def page(result: Diff, more: Sequence[str] = ()) -> Page:
    """`inspect diff A B --html FILE`: the differences, with every pair of tensors.

    Args:
        more: lines for further requests: ranks, parents.
    """
    names = [each.checkpoint.title for each in (result.a, result.b)]
    found = result.relation
    return Page(
        " → ".join(names),
        found.sentence if found else verdict(result),
        list(_sections(result, more)),
        [*found.evidence, *filter(None, [found.undecided]), verdict(result)] if found else [],
        mood="warning" if result.differs else "good",
    )


def _sections(result: Diff, more: Sequence[str]) -> Iterator[Section]:
    from inspector.plots import difference_map  # for a page alone

    sides = (Column(""), Column("target"), Column("family"), Column("parameters"), Column("bits"), Column("size"))
    both: list[Part] = [
        Table("Both sides", sides, [(mark, *identity(each)) for mark, each in (("a", result.a), ("b", result.b))])
    ]
    if result.config:
        changed = [(each.field, field_value(each.a), field_value(each.b)) for each in result.config]
        both.append(Table("Configuration fields that differ", (Column("field"), Column("a"), Column("b")), changed))
    others = [(each.what, each.status, each.detail) for each in result.beside if each.status != "same"]
    if others:
        both.append(
            Table("Other differences", (Column("what"), Column("status", filtered=True), Column("detail")), others)
        )
    statuses = {_WORDS[pair.status] for pair in result.pairs}
    one = result.data is None and len(statuses) == 1 and f"all {plural(len(result.pairs), 'pair')}: {statuses.pop()}"
    yield Section("By layer and role", [Text([one]) if one else difference_map.chart(result)])
    changed_rows = _alike([row for row in _grouped(result, "role") if row.differs])
    if changed_rows:
        yield Section("What changed, the largest first", [_changed_table(changed_rows)])
    yield Section("What is compared", both)
    if more:
        yield Section("Where b comes from", [Report("\n".join(more))])
    first = "a_name status b_name a_dtype b_dtype data a_bytes b_bytes"
    yield Section("Tensors", [of_rows(plural(len(result.pairs), "pair"), rows(result), _FILTERED, first)])


def _changed_table(rows: Sequence[_Row]) -> Table:
    """A row for each change, with the bytes of both sides."""
    columns = [Column("tensors of"), Column("layers"), Column("change"), Column("a → b")]
    columns += [Column("size in a", "bytes"), Column("size in b", "bytes"), Column("values")]
    cells: list[tuple[Cell, ...]] = [
        (row.what, layers_text(row.layers).removeprefix(", "), _WORDS[row.status], row.change, row.a, row.b, row.values)
        for row in rows
    ]
    if not any(row.values for row in rows):
        columns, cells = columns[:-1], [row[:-1] for row in cells]
    return Table(plural(len(rows), "change"), columns, cells)


def text_page(title: str, shown: Sequence[str], found: Rows, *, differs: bool) -> Page:
    """The page of an adapter on its base: as shown on a terminal, and each tensor."""
    verdict, *report_lines = [line for line in shown if line] or [""]
    sections = [Section("What differs", [Report("\n".join(report_lines))])]
    if found.rows:
        sections.append(Section("Tensors", [of_rows(plural(len(found.rows), "tensor"), found, _FILTERED)]))
    return Page(title, verdict, sections, mood="warning" if differs else "good")
