"""Comparisons other than of two models: adapters on a base, two derived from one base, ranks and merges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inspector.comparing.attachment import Attached, Attachment
from inspector.comparing.diff import Change, Third, Three
from inspector.comparing.pairing import Pair
from inspector.model import Labelled, Reconciliation
from inspector.report.columns import table, wrapped
from inspector.report.documents import SCHEMA, about, fields, key
from inspector.report.pages.parts import Column, Page, Section, Table, of_rows
from inspector.report.tables import Rows, columns
from inspector.report.words import layers_text, place_of, public, shape_text
from inspector.units import count, escape, integer, plural, size

if TYPE_CHECKING:
    from inspector.comparing.derivation import Merge, Rank
    from inspector.comparing.diff import Diff
    from inspector.comparing.effects import Effect

#: Rows of a table, and lines of each other list, on a screen of 23 lines with what stands around them.
_ROWS, _SHOWN = 13, 7
#: Misfitting tensors of an adapter that are listed, in two lines each on a terminal: usually all have one reason.
_MISFITS = 4


def _first(
    rows: Sequence[tuple[str, ...]], full: bool, most: int = _ROWS
) -> tuple[Sequence[tuple[str, ...]], list[str]]:
    """The rows that a screen has room for, and a line about the others."""
    if full or len(rows) <= most:
        return rows, []
    return rows[: most - 1], [f"… {integer(len(rows) - most + 1)} more: --full"]


# --- an adapter and its base ----------------------------------------------------------------------


def attachment_lines(
    result: Attachment, effects: Sequence[Effect] = (), width: int | None = None, *, full: bool = False
) -> Iterator[str]:
    """Which modules an adapter changes, what does not fit, what it adds; with `effects`, how large each change is.

    On one screen; `full` has every role and misfit.
    """
    found = result.adapter.adapter
    method = found.method if found else "weights"
    ranks = "/".join(map(str, sorted(found.ranks))) if found and found.ranks else ""
    what = f"{method}{f', rank {ranks}' if ranks else ''}"
    (target, _, nbytes), base = _identity(result.adapter), _identity(result.base)
    misfits = [each for each in result.tensors if not each.fits]
    share = f" ({result.parameters / result.base.logical * 100:.3g} %)" if result.base.logical else ""
    changed = f"{plural(len(result.modules), 'weight')} changed, {integer(result.parameters)} parameters added{share}"
    yield (
        f"does not fit: {integer(len(misfits))} of {plural(len(result.tensors), 'tensor')}"
        if misfits
        else f"fits: {changed}"
    )
    yield ""
    sides = [("base", *base), ("adapter", target, what, nbytes)]
    yield table(sides, (), "lllr", width=width, give=((1, 20), (2, 12)), names=1)
    known = {each.base.tensor.name: each for each in effects}
    most = _ROWS - 2 * _MISFITS if misfits else _ROWS
    rows, more = _first([_touched(role, each, known) for role, each in _by_role(result).items()], full, most)
    heads = ("changes", "tensors", "base weights", "parameters added", "‖ΔW‖ / ‖W‖")
    yield ""
    yield table(
        [row if known else row[:-1] for row in rows], heads if known else heads[:-1], "lrlrr" if known else "lrlr",
        width=width, give=((0, 20), (2, 12)),
    )  # fmt: skip
    yield from more
    if misfits:
        yield ""
        yield from _misfits(misfits, len(misfits) if full else _MISFITS)
    if untold := [*_untold(effects)]:
        yield from ("", *untold)


def _untold(effects: Sequence[Effect]) -> Iterator[str]:
    """What an adapter leaves unchanged, and what could not be compared."""
    idle = [each for each in effects if each.relative == 0]
    if idle:
        yield f"{plural(len(idle), 'weight')} of these stay unchanged: the adapter adds zero"
    for why in dict.fromkeys(each.why for each in effects if each.why):
        number = sum(each.why == why for each in effects)
        yield f"values of {plural(number, 'weight')} not compared: {escape(why, 200)}"


def _by_role(result: Attachment) -> dict[tuple[str, str], list[Attached]]:
    groups: dict[tuple[str, str], list[Attached]] = {}
    for each in result.tensors:
        shape = "not in the base" if each.base is None else shape_text([each.base.tensor.shape])
        groups.setdefault((place_of(each.piece.key._replace(part="weight")), shape), []).append(each)
    return groups


def _touched(role: tuple[str, str], members: Sequence[Attached], effects: Mapping[str, Effect]) -> tuple[str, ...]:
    layers = layers_text(each.piece.key.layer for each in members)
    added = sum(each.piece.parameters for each in members)
    found = [effects.get(each.base.tensor.name) for each in members if each.base]
    changes = sorted(each.relative for each in found if each and each.relative is not None)
    change = f"{changes[0]:.3g}" if changes else "–"
    change += f" to {changes[-1]:.3g}" if changes and changes[0] != changes[-1] else ""
    return f"{role[0]}{layers}", integer(len(members)), role[1], integer(added), change


# --- a base, an adapter, and an allegedly merged model ----------------------------------------------


def is_merged(changes: Diff, effects: Sequence[Effect]) -> bool:
    """Whether a model is its base with the adapter merged, and nothing else."""
    touched = {each.base.tensor.name for each in effects}
    return all(each.merged and each.merged.status in ("equal", "rounded") for each in effects) and not any(
        _others(changes, touched)
    )


def _others(changes: Diff, touched: Collection[str]) -> Iterator[str]:
    """Tensors that differ although the adapter does not change them."""
    for pair, data in zip(changes.pairs, changes.data or (), strict=True):
        side = pair.a or pair.b
        name = side.tensors[0].tensor.name if side else ""
        if name not in touched and (
            pair.status in ("shape", "only_a", "only_b") or (data and data.status not in ("equal", "rounded"))
        ):
            yield name


def merged_lines(
    adapter: Reconciliation, changes: Diff, effects: Sequence[Effect], *, full: bool = False
) -> Iterator[str]:
    """Whether a model is its base with an adapter merged into it, and what differs; `full` has all of it."""
    base, model = (escape(public(side.checkpoint.target), 60) for side in (changes.a, changes.b))
    own, touched = escape(public(adapter.checkpoint.target), 60), {each.base.tensor.name for each in effects}
    counted = Counter(each.merged.status if each.merged else None for each in effects)
    agreements = ", ".join(
        f"{integer(counted[status])} {status}" for status in ("equal", "rounded", "different") if counted[status]
    )
    yield f"{model} is {'' if is_merged(changes, effects) else 'not '}{base} with {own} merged into it"
    yield f"{base} with {own} added, against {model}: {plural(len(effects), 'weight')}, {agreements or 'none compared'}"
    wrong = [
        (f"{escape(each.base.tensor.name, 100)}: differs by up to {each.merged.sums.max_abs:.3g}",)
        for each in effects
        if each.merged and each.merged.status == "different"
    ]
    others = [
        (f"{escape(name, 100)}: differs from {base}, although the adapter does not change it",)
        for name in _others(changes, touched)
    ]
    for listed in (wrong, others):
        shown, more = _first(listed, full, _SHOWN)
        yield from (*(line for (line,) in shown), *more)
    yield from _untold([each for each in effects if each.why])


def merged_document(adapter: Reconciliation, changes: Diff, effects: Sequence[Effect]) -> dict[str, Any]:
    """`inspect diff BASE MODEL ADAPTER --data --json`: a is the base, b the model."""
    touched = {each.base.tensor.name for each in effects}
    return {
        "schema": SCHEMA,
        "target": [side.checkpoint.target for side in (changes.a, changes.b, adapter)],
        "a": about(changes.a),
        "b": about(changes.b),
        "adapter": about(adapter),
        "merged": is_merged(changes, effects),
        "others": list(_others(changes, touched)),
        "tensors": [effect(each) for each in effects],
    }


def effect(each: Effect) -> dict[str, Any]:
    """The effect on one weight."""
    sums = each.merged.sums if each.merged else None
    return {
        **key(each.base.key),
        "name": each.base.tensor.name,
        "change": each.relative,
        "data": each.merged.status if each.merged else None,
        "max_abs": sums.max_abs if sums else None,
        "relative": sums.relative if sums else None,
        "why": each.why or None,
    }


def _misfits(found: Sequence[Attached], most: int) -> Iterator[str]:
    for each in found[:most]:
        name, own = escape(each.piece.tensor.name, 100), shape_text([each.piece.tensor.shape])
        if each.base is None:
            yield f"{name}: the base has no such weight"
        else:
            expected = shape_text([each.expected or ()])
            yield f"{name}: {own} does not fit {escape(each.base.tensor.name, 80)}: expected {expected}"
    if len(found) > most:
        yield f"… {plural(len(found) - most, 'more tensor')} that do not fit: --full"


def attachment_document(result: Attachment, effects: Sequence[Effect] = ()) -> dict[str, Any]:
    """`inspect diff BASE ADAPTER --json`: a is the base, b the adapter."""
    found = result.adapter.adapter
    statuses = [_attached(each) for each in result.tensors]
    kinds = ("same", "dtype", "shape", "only_a", "only_b")
    return {
        "schema": SCHEMA,
        "target": [result.base.checkpoint.target, result.adapter.checkpoint.target],
        "a": about(result.base),
        "b": about(result.adapter),
        "config": [],
        "counts": {**{kind: sum(each["status"] == kind for each in statuses) for kind in kinds}, "data": None},
        "adapter": {
            "method": found.method if found else None,
            "ranks": sorted(found.ranks) if found else [],
            "modules": len(result.modules),
            "parameters": result.parameters,
            "fits": result.fits,
        },
        "tensors": statuses,
        **({"effects": [effect(each) for each in effects]} if effects else {}),
    }


def _attached(each: Attached) -> dict[str, Any]:
    """`only_b` for additions, `shape` for a misfit; `a` is the weight that it changes."""
    piece, base = each.piece, each.base
    return {
        **key(piece.key),
        "status": "shape" if base is not None and not each.fits else "only_b",
        "a": base and _tensor(base),
        "b": _tensor(piece),
        "expected_shape": list(each.expected) if each.expected is not None else None,
        **dict.fromkeys(("data", "transform", "max_abs", "relative")),
    }


def _tensor(each: Labelled) -> dict[str, Any]:
    return {**fields(each.tensor, "name dtype"), "shape": list(each.tensor.shape)}


_KEY = "role tower branch layer:int64 expert:int64 part"
_SIDES = ("name", "dtype", "shape")
#: Columns of an adapter on its base: `a_` is the weight that a tensor changes, `b_` the adapter's tensor.
ATTACHED = columns(
    f"status {_KEY} a_name a_dtype a_shape:list<uint64> b_name b_dtype b_shape:list<uint64>"
    " expected_shape:list<uint64> change:double"
)


def attached_rows(result: Attachment, effects: Sequence[Effect] = ()) -> Rows:
    """One row per tensor of the adapter, with the weight that it changes; with `effects`, by how much."""
    changes = {each.base.tensor.name: each.relative for each in effects}
    rows = list[dict[str, Any]]()
    for each in map(_attached, result.tensors):
        weight = each["a"] or {}
        sides = {f"{side}_{name}": own.get(name) for side, own in (("a", weight), ("b", each["b"])) for name in _SIDES}
        rows.append({**each, **sides, "change": changes.get(weight.get("name", ""))})
    return Rows(ATTACHED, rows)


#: Columns of the weights that an adapter changes, compared with an allegedly merged model.
MERGED = columns(f"{_KEY} name change:double data max_abs:double relative:double why")


def merged_rows(effects: Sequence[Effect]) -> Rows:
    """One row per weight that an adapter changes, and how the merged model's weight agrees with it."""
    return Rows(MERGED, list(map(effect, effects)))


# --- three-way comparisons ------------------------------------------------------------------------

_CHANGES: Mapping[Change, str] = {
    "same": "neither",
    "a": "only a",
    "b": "only b",
    "alike": "both, equally",
    "apart": "both, differently",
}
#: What a merge has to decide comes first.
_RANK: tuple[Change, ...] = ("apart", "a", "b", "alike", "same")


def three_lines(
    result: Three, width: int | None = None, *, everything: bool = False, full: bool = False
) -> Iterator[str]:
    """What two models changed in one base: counts, then roles, those first that both changed.

    On one screen; `everything` also has what neither changed, and `full` every role.
    """
    yield wrapped(_three_verdict(result), width)
    yield ""
    yield table(_three_sides(result), (), "lllr", width=width, give=((1, 20),), names=1)
    rows, more = _first(_thirds(result, everything=everything), everything or full)
    if rows:
        yield ""
        yield table(rows, ("changed by", "", "in a", "in b"), "llll", width=width, give=((1, 20), (2, 8), (3, 8)))
    yield from more


def _three_verdict(result: Three) -> str:
    numbers = (f"{integer(number)} {_CHANGES[change]}" for change, number in result.counts.items() if number)
    return f"of {plural(len(result.tensors), 'tensor')} changed by: " + ", ".join(numbers)


def _three_sides(result: Three) -> list[tuple[str, ...]]:
    sides = (("base", result.a.a), ("a", result.a.b), ("b", result.b.b))
    return [(mark, *_identity(each)) for mark, each in sides]


def _thirds(result: Three, *, everything: bool) -> list[tuple[str, ...]]:
    groups: dict[tuple[Change, str], list[Third]] = {}
    for each in result.tensors:
        if everything or each.change != "same":
            groups.setdefault((each.change, place_of(each.key)), []).append(each)
    ranked = sorted(groups.items(), key=lambda group: _RANK.index(group[0][0]))
    return [_third(change, what, members) for (change, what), members in ranked]


def three_page(result: Three) -> Page:
    """`inspect diff BASE A B --html FILE`: what both changed first, and each tensor."""
    headers = [Column(name) for name in ("changed by", "tensors of", "in a", "in b")]
    sides = [Column(name) for name in ("", "target", "parameters", "size")]
    found = three_rows(result)
    found = found._replace(rows=[{**row, "change": _CHANGES[row["change"]]} for row in found.rows])
    first = "role change layer a_status b_status"
    return Page(
        " → ".join(each.checkpoint.title for each in (result.a.a, result.a.b, result.b.b)),
        _three_verdict(result),
        [
            Section("What changed", [Table("By role", headers, _thirds(result, everything=True))]),
            Section("What is compared", [Table("The base and both", sides, _three_sides(result))]),
            Section("Tensors", [of_rows(plural(len(found.rows), "tensor"), found, ("change", "role"), first)]),
        ],
        mood="warning" if result.differs else "good",
    )


def _identity(result: Reconciliation) -> tuple[str, str, str]:
    target = escape(public(result.checkpoint.target), 60)
    return target, count(result.logical), size(result.on_disk).partition(",")[0]


def _third(change: Change, what: str, members: Sequence[Third]) -> tuple[str, ...]:
    layers = layers_text(each.key.layer for each in members)
    return _CHANGES[change], f"{what}{layers}", _differences(members, 0), _differences(members, 1)


def _differences(members: Sequence[Third], side: int) -> str:
    """What was changed, in a few words."""
    sides = (((each.a, each.data_a), (each.b, each.data_b))[side] for each in members)
    return ", ".join(dict.fromkeys(_word(pair, data.status if data else None) for pair, data in sides))


def _word(pair: Pair | None, status: str | None) -> str:
    if pair is None:
        return "absent"
    if pair.status in ("only_a", "only_b"):
        return {"only_a": "removed", "only_b": "added"}[pair.status]
    difference = {"same": "", "dtype": "dtype", "shape": "shape"}[pair.status]
    return " ".join(filter(None, (difference, status or ""))) or "same"


def three_document(result: Three) -> dict[str, Any]:
    """`inspect diff BASE A B --json`."""
    return {
        "schema": SCHEMA,
        "target": [each.checkpoint.target for each in (result.a.a, result.a.b, result.b.b)],
        "base": about(result.a.a),
        "a": about(result.a.b),
        "b": about(result.b.b),
        "config": {
            side: [fields(each, "field a b") for each in found.config]
            for side, found in (("a", result.a), ("b", result.b))
        },
        "counts": result.counts,
        "tensors": [
            {
                **key(each.key),
                "change": each.change,
                "a": {"status": each.a and each.a.status, "data": each.data_a and each.data_a.status},
                "b": {"status": each.b and each.b.status, "data": each.data_b and each.data_b.status},
            }
            for each in result.tensors
        ],
    }


#: Columns of a three-way comparison.
THREE = columns(f"{_KEY} change a_status a_data b_status b_data")


def three_rows(result: Three) -> Rows:
    """One row per tensor of the base."""
    return Rows(
        THREE,
        [
            {**each, **{f"{side}_{name}": each[side][name] for side in "ab" for name in ("status", "data")}}
            for each in three_document(result)["tensors"]
        ],
    )


# --- forensics ------------------------------------------------------------------------------------

Ranks = Sequence[tuple[Pair, "Rank"]]


def rank_lines(ranks: Ranks, width: int | None = None, *, full: bool = False) -> Iterator[str]:
    """The ranks of the differences, by role; `full` has every role."""
    if not ranks:
        yield "no matrix with the same layout on both sides has different values"
        return
    groups: dict[tuple[str, str], list[tuple[Pair, Rank]]] = {}
    for pair, each in ranks:
        whole = f"of {integer(each.full)}"
        ranked = f"{integer(each.rank)} {whole}" if each.rank is not None else f"more than can be determined, {whole}"
        groups.setdefault((place_of(pair.key), ranked), []).append((pair, each))
    known = [each.rank for _, each in ranks]
    if all(rank is not None and rank < each.full // 2 for rank, (_, each) in zip(known, ranks, strict=True)):
        most = max(rank for rank in known if rank is not None)
        yield f"apart from rounding, b differs by at most rank {integer(most)}, as after merging an adapter"
    found = [
        (f"{what}{layers_text(pair.key.layer for pair, _ in members)}", ranked, _largest(members), _left(members))
        for (what, ranked), members in groups.items()
    ]
    rows, more = _first(found, full, _SHOWN - 2)
    heads = ("difference of", "rank", "largest singular values", "unexplained")
    yield table(rows, heads, "lllr", width=width, give=((2, 0), (0, 20)))
    yield from more


def _largest(members: Sequence[tuple[Pair, Rank]]) -> str:
    return " ".join(f"{value:.3g}" for value in members[0][1].values[:6])


def _left(members: Sequence[tuple[Pair, Rank]]) -> str:
    return f"{max(each.residual for _, each in members) * 100:.2g} %"


def rank_documents(ranks: Ranks) -> list[dict[str, Any]]:
    """`ranks` of `inspect diff --rank --json`."""
    return [
        {**key(pair.key), **fields(each, "rank full"), "singular_values": list(each.values), "residual": each.residual}
        for pair, each in ranks
    ]


def merge_lines(parents: Sequence[str], merge: Merge | None) -> Iterator[str]:
    """Whether b is a weighted sum of two parents."""
    if merge is None:
        yield "no tensor is in b and in both parents, so a merge cannot be determined"
        return
    first, second = (escape(parent, 60) for parent in parents)
    verdict = "b is a linear merge" if merge.is_merge else "b is not a linear merge of these two"
    yield f"{verdict}: the nearest sum is {merge.first:.4f} · {first} + {merge.second:.4f} · {second}"
    yield f"unexplained: {merge.residual * 100:.3g} % of b's norm, over {integer(merge.elements)} sampled elements"
    if merge.rounding:
        yield f"rounding to b's dtype accounts for up to {merge.rounding * 100:.3g} %"
    ranges_of = " and ".join(f"{least:.4f} to {most:.4f}" for least, most in merge.spread)
    yield f"weights of each of {integer(merge.tensors)} tensors: {ranges_of}"


def merge_document(parents: Sequence[str], merge: Merge | None) -> dict[str, Any] | None:
    """`merge` of `inspect diff --parents … --json`."""
    if merge is None:
        return None
    return {
        "parents": list(parents),
        "weights": [merge.first, merge.second],
        **fields(merge, "residual rounding is_merge"),
        "weights_by_tensor": [list(each) for each in merge.spread],
        **fields(merge, "tensors elements"),
    }
