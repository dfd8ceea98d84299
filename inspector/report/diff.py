"""A comparison as text and as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from inspector.bridge.by_layer import ranges
from inspector.comparing.diff import Diff
from inspector.comparing.pairing import Pair, Side, Status, is_transposed
from inspector.model import Reconciliation
from inspector.report.columns import table
from inspector.report.documents import SCHEMA
from inspector.units import bits, count, escape, integer, plural, size

#: Below this share of equal shapes two models are not compared tensor by tensor.
UNRELATED = 0.1
_SHOWN_FIELDS = 40


def lines(result: Diff, *, stat: bool = False, everything: bool = False) -> Iterator[str]:
    """What differs; with `stat` only sums by role, with `everything` also what is the same."""
    yield from _identities(result)
    if result.shared < UNRELATED and not everything:
        share = f"{result.shared * 100:.1f} % of the smaller one's parameters have a counterpart of the same shape"
        yield f"two unrelated models: {share}; --all lists every tensor"
        return
    if result.config:
        yield ""
        yield from _fields(result)
    rows = [row for row in _rows(result.pairs) if everything or row.status != "same"]
    if rows:
        yield ""
        yield table(_stat(rows), _STAT, "lrrr") if stat else table(map(_cells, rows), _HEADERS, "lllrr")
    yield ""
    yield _verdict(result)


_HEADERS = ("", "tensors of", "a → b", "bytes in a", "bytes in b")
_STAT = ("role", "tensors", "bytes in a", "bytes in b")


def _identities(result: Diff) -> Iterator[str]:
    rows = [(mark, *_identity(each)) for mark, each in (("a", result.a), ("b", result.b))]
    yield table(rows, (), "lllrrr")


def _identity(result: Reconciliation) -> tuple[str, ...]:
    checkpoint = result.checkpoint
    width = f"{bits(result.bits_per_weight(result.on_disk))} bits" if result.logical else ""
    family = result.prediction.family if result.prediction else "unknown architecture"
    return (
        escape(checkpoint.target, 60),
        f"{family}, {result.dtype or checkpoint.format}",
        count(result.logical),
        width,
        size(result.on_disk).partition(",")[0],
    )


def _fields(result: Diff) -> Iterator[str]:
    shown = result.config[:_SHOWN_FIELDS]
    yield table(
        [(escape(each.field, 60), _value(each.a), "→", _value(each.b)) for each in shown],
        ("configuration", "a", "", "b"),
        "llll",
    )
    if len(result.config) > len(shown):
        yield f"and {plural(len(result.config) - len(shown), 'further field')}"


def _value(value: Any) -> str:
    return "absent" if value is None else escape(str(value), 40)


class _Row(NamedTuple):
    """Pairs that differ alike, over the layers in which they do."""

    status: str
    what: str  # role, with tower and part where they are not the usual ones
    change: str
    layers: tuple[int, ...]
    tensors: int
    a: int  # bytes
    b: int


def _rows(found: Iterable[Pair]) -> list[_Row]:
    groups: dict[tuple[str, str, str], list[Pair]] = {}
    for pair in found:
        groups.setdefault((pair.status, _what(pair), _change(pair)), []).append(pair)
    return [
        _Row(
            status,
            what,
            change,
            tuple(sorted({pair.key.layer for pair in members if pair.key.layer is not None})),
            sum(len((pair.a or pair.b or _NOTHING).tensors) for pair in members),
            sum(pair.a.nbytes for pair in members if pair.a),
            sum(pair.b.nbytes for pair in members if pair.b),
        )
        for (status, what, change), members in groups.items()
    ]


_NOTHING = Side((), (), "", 0)


def _what(pair: Pair) -> str:
    key = pair.key
    place = [key.tower if key.tower != "text" else "", key.branch, key.role, key.part if key.part != "weight" else ""]
    return " ".join(filter(None, place))


def _change(pair: Pair) -> str:
    if pair.a is None or pair.b is None:
        side = pair.a or pair.b or _NOTHING
        return f"{_shape(side)} {side.dtype}"
    if pair.status == "shape":
        return f"{_shape(pair.a)} → {_shape(pair.b)}"
    return pair.a.dtype if pair.status == "same" else f"{pair.a.dtype} → {pair.b.dtype}"


def _shape(side: Side) -> str:
    shapes = dict.fromkeys(side.shapes)
    return " + ".join("×".join(map(str, shape)) or "scalar" for shape in shapes)


_WORDS = {"same": "same", "dtype": "dtype", "shape": "shape", "only_a": "only in a", "only_b": "only in b"}


def _cells(row: _Row) -> tuple[str, ...]:
    return (_WORDS[row.status], f"{row.what}{_layers(row.layers)}", row.change, _bytes(row.a), _bytes(row.b))


def _layers(numbers: tuple[int, ...]) -> str:
    if not numbers:
        return ""
    return f", layer {numbers[0]}" if len(numbers) == 1 else f", layers {ranges(numbers)}"


def _bytes(number: int) -> str:
    return integer(number) if number else "–"


def _stat(rows: Iterable[_Row]) -> Iterator[tuple[str, ...]]:
    sums: dict[str, list[int]] = {}
    for row in rows:
        total = sums.setdefault(row.what, [0, 0, 0])
        for at, number in enumerate((row.tensors, row.a, row.b)):
            total[at] += number
    for what, (tensors, a, b) in sums.items():
        yield what, integer(tensors), _bytes(a), _bytes(b)


def _verdict(result: Diff) -> str:
    counts = result.counts
    told = [f"{plural(counts['same'], 'tensor')} the same in dtype and shape"]
    told += [f"{integer(counts[status])} {words}" for status, words in _VERDICTS.items() if counts[status]]
    if result.config:
        told.append(plural(len(result.config), "configuration field") + " different")
    return ", ".join(told) + ("" if result.differs else ": nothing differs")


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
        "a": _about(result.a),
        "b": _about(result.b),
        "config": [{"field": each.field, "a": each.a, "b": each.b} for each in result.config],
        "counts": {**result.counts, "data": None},
        "shared": round(result.shared, 6),
        "tensors": [_pair(pair) for pair in result.pairs],
    }


def _about(result: Reconciliation) -> dict[str, Any]:
    checkpoint = result.checkpoint
    return {
        "target": checkpoint.target,
        "format": checkpoint.format,
        "family": result.prediction.family if result.prediction else None,
        "dtype": result.dtype,
        "parameters": result.logical,
        "bytes": result.on_disk,
        "revision": checkpoint.origin.revision,
    }


def _pair(pair: Pair) -> dict[str, Any]:
    key = pair.key
    return {
        "role": key.role,
        "tower": key.tower,
        "branch": key.branch or None,
        "layer": key.layer,
        "expert": None if key.expert is None or key.expert < 0 else key.expert,
        "part": key.part,
        "status": pair.status,
        "a": _side(pair.a),
        "b": _side(pair.b),
        "data": None,
        "transform": "transposed" if is_transposed(pair) else None,
        "max_abs": None,
        "relative": None,
    }


def _side(side: Side | None) -> dict[str, Any] | None:
    """One tensor; where the other side fuses or stacks several, the first, and the names of all."""
    if side is None:
        return None
    names = [each.tensor.name for each in side.tensors]
    told: dict[str, Any] = {"name": names[0], "dtype": side.dtype, "shape": list(side.shapes[0]), "bytes": side.nbytes}
    return told if len(names) == 1 else {**told, "names": names}
