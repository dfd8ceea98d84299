"""What happened between two checkpoints, in one sentence with its evidence.

    of_headers(result)               the same structure, another one, or a part
    of_values(result, comparison)    a copy, rounded, fine-tuned, merged with an adapter, pruned, damaged, unrelated, …

The judges are asked in order, from what explains most to what explains least; the first that answers is right. Their
thresholds are measured by `tools/relations`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from inspector.architectures.data.roles import group_of
from inspector.comparing.agreement import Data, Kind, Relation, added
from inspector.comparing.diff import Diff
from inspector.comparing.pairing import Pair, Side
from inspector.model import Reconciliation
from inspector.units import bits, decimal, integer, plural

if TYPE_CHECKING:
    from inspector.comparing.data import Comparison
    from inspector.comparing.probing import Fault, Unit

#: Models of which a smaller share has a counterpart in the same shape are not compared tensor by tensor.
FOREIGN = 0.1
#: Below this cosine matrices have nothing in common: fine-tunes stay above 0.3, strangers below 0.1.
STRANGE = 0.15
#: Elements from which on a tensor's cosine says something.
TELLING = 1024
#: Values that a fault changes, where training changes thousands.
FEW = 16
#: Roles at both ends of a model, whose rows are the vocabulary's.
ENDS = frozenset({"embed_tokens", "lm_head"})


def of_headers(result: Diff) -> Relation:
    """What headers alone say: whether the two have the same weights in the same shapes."""
    facts = Facts(result)
    a, b = (side.checkpoint for side in (result.a, result.b))
    if a.origin[:3] == b.origin[:3] and [each.path for each in a.files] == [each.path for each in b.files]:
        return Relation("identical", "b is a: both are the same files", ("one place was named twice",))
    undecided = "--data compares the values"
    if not facts.lost and not facts.gained and not facts.reshaped:
        both = f"{plural(sum(bool(pair.a and pair.b) for pair in result.pairs), 'weight')} of the same shapes"
        return Relation("same_structure", "b has the structure of a", (both,), undecided)
    if not facts.reshaped and not (facts.lost and facts.gained) and result.shared:
        of, whole, rest = ("b", "a", facts.lost) if facts.lost else ("a", "b", facts.gained)
        return Relation("part", f"{of} has a part of {whole}'s weights", (f"without {_places(rest)}",), undecided)
    share = f"{result.shared * 100:.1f} % of the smaller one's parameters have a counterpart of the same shape"
    if result.shared < FOREIGN:
        shapes = [Counter(each.tensor.shape for each in side.tensors) for side in (result.a, result.b)]
        if shapes[0] == shapes[1]:
            return Relation("other_structure", "b has a's shapes under other names", (share,), undecided)
        return Relation("other_structure", "b has another structure than a: two unrelated models", (share,))
    rows = list(_vocabularies(facts))
    if len(rows) == len(facts.reshaped) and not facts.lost and not facts.gained:
        words = f"{integer(rows[0][0])} → {integer(rows[0][1])} rows"
        return Relation(
            "other_structure", f"b has the structure of a with another vocabulary: {words}", (share,), undecided
        )
    evidence = [share, *(f"{what}: {_places(pairs)}" for what, pairs in facts.unlike if pairs)]
    return Relation("other_structure", "b has another structure than a", tuple(evidence), undecided)


def of_values(result: Diff, comparison: Comparison) -> Relation:
    """What the values say. Reads samples of tensors that differ. Raises SourceError."""
    facts = Facts(result, comparison)
    for judge in _JUDGES:
        found = judge(facts)
        if found is not None:
            return found
    return of_headers(result)._replace(undecided="no values could be compared")


class Member(NamedTuple):
    """A pair whose values were compared."""

    pair: Pair
    data: Data


class Facts:
    """What is known about two checkpoints, in groups that the judges ask for."""

    def __init__(self, result: Diff, comparison: Comparison | None = None) -> None:
        self.result = result
        self._comparison = comparison
        data = result.data or (None,) * len(result.pairs)
        self.members = [Member(pair, each) for pair, each in zip(result.pairs, data, strict=True) if each is not None]
        self.lost = [pair for pair in result.pairs if pair.status == "only_a" and not pair.converter]
        self.gained = [pair for pair in result.pairs if pair.status == "only_b" and not pair.converter]
        self.reshaped = [pair for pair in result.pairs if pair.status == "shape"]

    @property
    def comparison(self) -> Comparison:
        assert self._comparison is not None
        return self._comparison

    @property
    def unlike(self) -> tuple[tuple[str, list[Pair]], ...]:
        return ("in another shape", self.reshaped), ("only in a", self.lost), ("only in b", self.gained)

    @cached_property
    def different(self) -> list[Member]:
        return [each for each in self.members if each.data.status == "different"]

    @cached_property
    def rounded(self) -> list[Member]:
        return [each for each in self.members if each.data.status == "rounded"]

    @cached_property
    def incomparable(self) -> list[Member]:
        return [each for each in self.members if each.data.status is None and each.pair.status != "shape"]

    @cached_property
    def is_whole(self) -> bool:
        """Whether both have the same weights."""
        return not (self.lost or self.gained or self.reshaped or self.incomparable)

    @property
    def is_strange(self) -> bool:
        """Whether most matrices have nothing in common with those that they are compared with."""
        return (
            self.cosine is not None
            and abs(self.cosine) < STRANGE
            and 2 * sum(_is_telling(each) for each in self.different) >= sum(_is_telling(each) for each in self.members)
        )

    @cached_property
    def cosine(self) -> float | None:
        """The cosine of all matrices that differ; None if there are none."""
        telling = [each.data.sums for each in self.different if _is_telling(each)]
        return added(telling).cosine if telling else None


def _is_telling(each: Member) -> bool:
    """Whether a tensor is a matrix: norms of strangers are alike."""
    shape = each.pair.a.shapes[0] if each.pair.a else ()
    return len(shape) > 1 and each.data.sums.elements >= TELLING


def _renamed(facts: Facts) -> Relation | None:
    """Tensors whose names say nothing here are known by their values."""
    from inspector.comparing import probing

    result = facts.result
    if result.shared >= FOREIGN:
        return None
    cosines = probing.found_by_values(facts.comparison.weights(), (result.a.tensors, result.b.tensors))
    known = [each for each in cosines if each >= probing.ALIKE]
    if not cosines:
        return None
    if len(known) < AGREEING * len(cosines):
        why = f"of {plural(len(cosines), 'matrix', 'matrices')} examined {len(known)} are like one of a's in that shape"
        return Relation("unrelated", "b is unrelated to a: their values have nothing in common", (why,))
    least = min(known)
    evidence = (
        f"{len(known)} of {plural(len(cosines), 'matrix', 'matrices')} examined are in a, cosine at least {least:.4f}",
    )
    if least >= SAME and len(known) == len(cosines):
        return Relation("same_values", "b is a, with other names: the same values", evidence, "samples were compared")
    return Relation("finetuned", "b is a, fine-tuned, with other names", evidence, "samples were compared")


# --- copies ------------------------------------------------------------------------------------------


def _copy(facts: Facts) -> Relation | None:
    if not facts.is_whole or facts.different or facts.rounded or not facts.members:
        return None
    evidence = (f"{plural(len(facts.members), 'weight')} equal in every value",)
    unlike = list(_unlike_storage(facts.result))
    if not unlike:
        return Relation("identical", "b is a: the same values under the same names", evidence)
    return Relation("same_values", f"b is a, with {' and '.join(unlike)}: the same values", evidence)


def _unlike_storage(result: Diff) -> Iterable[str]:
    a, b = result.a.checkpoint, result.b.checkpoint
    if a.format != b.format:
        yield f"another format ({a.format} → {b.format})"
    if any(pair.status == "dtype" for pair in result.pairs):
        yield f"other dtypes ({_storage_of(result.a)} → {_storage_of(result.b)})"
    names = [[each.tensor.name for each in side.tensors] for side in (result.a, result.b)]
    if a.format == b.format and set(names[0]) != set(names[1]):
        yield "other names"
    files = [[header.path for header in side.files] for side in (a, b)]
    if len(files[0]) != len(files[1]):
        yield f"other files ({len(files[0])} → {len(files[1])})"
    elif names[0] != names[1] and set(names[0]) == set(names[1]):
        yield "another order"


def _rounded(facts: Facts) -> Relation | None:
    if not facts.is_whole or facts.different or not facts.rounded:
        return None
    a, b = facts.result.a, facts.result.b
    width = [sum(side.nbytes for each in facts.rounded if (side := pick(each.pair))) for pick in _SIDES]
    one, other, coarse, fine = ("b", "a", b, a) if width[1] <= width[0] else ("a", "b", a, b)
    size = f"{decimal(fine.on_disk)} → {decimal(coarse.on_disk)}"
    width_text = bits(coarse.bits_per_weight(coarse.weight_bytes))
    evidence = [f"{plural(len(facts.rounded), 'weight')} within the rounding of {_storage_of(coarse)}"]
    equal = len(facts.members) - len(facts.rounded)
    evidence += [f"{integer(equal)} equal"] if equal else []
    return Relation(
        "rounded", f"{one} is {other}, rounded to {_storage_of(coarse)} ({width_text} bits): {size}", tuple(evidence)
    )


#: Floats that values may have been rounded to before they were stored as finer ones, the finest first.
PASSED = ("F16", "BF16", "F8_E4M3", "F8_E5M2")


def _passed(facts: Facts) -> Relation | None:
    """One has the other's values as a coarser float has them: it was converted there and back."""
    from inspector.comparing import probing

    if not facts.is_whole or added(each.data.sums for each in facts.different).share < SPREAD:
        return None
    for names, of_b in (("ba", True), ("ab", False)):
        for dtype in PASSED:
            if all(probing.is_rounding(facts.comparison, each.pair, dtype, of_b=of_b) for each in facts.different):
                stored = _storage_of(facts.result.b if of_b else facts.result.a)
                evidence = (
                    f"{plural(len(facts.different), 'weight')} at the numbers of {dtype} nearest to {names[1]}'s",
                )
                sentence = f"{names[0]} is {names[1]}, rounded to {dtype} and stored as {stored}"
                return Relation("rounded", sentence, evidence)
    return None


#: Schemes whose quantizers balance errors over calibration data (GPTQ, Frantar et al., 2022), so that values need not
#: be at the levels nearest to the original; how much more the mean square of their errors is, at most.
BALANCED, BALANCE = ("gptq", "compressed-tensors", "quark", "qqq"), 6.0


def _balanced(facts: Facts) -> Relation | None:
    """Packed weights that are as near as such quantizers leave them, where all others are equal."""
    packing = facts.result.b.packing
    if not facts.is_whole or packing is None or not packing.scheme.startswith(BALANCED) or not facts.different:
        return None
    packed = [each for each in facts.members if each.pair.b and each.pair.b.dtype == packing.scheme]
    if len(packed) == len(facts.members) or any(each not in packed for each in facts.different):
        return None
    sums = added(each.data.sums for each in facts.different)
    nearest = sums.steps / 12
    if not nearest or sums.difference > BALANCE * nearest or any(each.data.sums.faulty for each in facts.different):
        return None
    a, b = facts.result.a, facts.result.b
    size = f"{decimal(a.on_disk)} → {decimal(b.on_disk)}"
    evidence = (
        f"an error {(sums.difference / nearest) ** 0.5:.2g} × that of rounding to nearest, as calibration leaves it",
        f"{integer(len(facts.members) - len(packed))} other weights equal or only rounded",
    )
    return Relation(
        "rounded", f"b is a, rounded to {packing.scheme} ({bits(b.bits_per_weight(b.weight_bytes))} bits): {size}",
        evidence, "if only the packed weights had been trained, by less than that, it would look the same",
    )  # fmt: skip


_SIDES: tuple[Callable[[Pair], Side | None], ...] = (lambda pair: pair.a, lambda pair: pair.b)


def _storage_of(result: Reconciliation) -> str:
    """How most weights are stored: a scheme, or a dtype."""
    if result.packing:
        return result.packing.scheme
    largest = max(result.dtypes, key=lambda each: each.elements, default=None)
    return largest.dtype if largest else result.checkpoint.format


# --- what has nothing in common ----------------------------------------------------------------------


def _unrelated(facts: Facts) -> Relation | None:
    if not facts.is_strange:
        return None
    cosine, strange = facts.cosine, [each for each in facts.different if _is_telling(each)]
    evidence = (f"cosine {cosine:.3f} over {plural(len(strange), 'matrix', 'matrices')} of the same shapes",)
    return Relation("unrelated", "b is unrelated to a: their values have nothing in common", evidence)


def _rearranged(facts: Facts) -> Relation | None:
    """Heads, neurons or hidden dimensions in another order, or rotated: matrices look strange that are not."""
    from inspector.comparing import rearranging

    strange = [each for each in facts.different if _is_telling(each) and abs(each.data.sums.cosine or 0) < STRANGE]
    if not strange:
        return None
    embedding = next((each.pair for each in facts.members if each.pair.key.role == "embed_tokens"), None)
    order = rearranging.order_of_columns(facts.comparison, embedding) if embedding else None
    chosen = [each.pair for each in _spread([each for each in facts.different if _is_telling(each)])]
    found = rearranging.moved(facts.comparison, chosen, order)
    if len(found) < AGREEING * len(chosen):
        alike = rearranging.turned(facts.comparison, embedding, chosen) if embedding and facts.is_strange else 0.0
        if alike < TURNED:
            return None
        why = f"cosine {alike:.4f} of the products of embeddings, which no rotation changes"
        return Relation("finetuned", "b is a, its hidden dimensions rotated", (why,), "what else changed is not known")
    groups = {group_of(each.pair.key.role) for each in found if each.elsewhere}
    words = [word for group, word in REORDERED.items() if group in groups]
    words += ["hidden dimensions"] if order is not None else []
    if not words:
        return None
    least = min(each.cosine for each in found)
    evidence = (
        f"{plural(len(found), 'matrix', 'matrices')} examined: a's rows or columns, cosine at least {least:.4f}",
        _places([each.pair for each in strange]),
    )
    sentence = f"b is a, its {' and '.join(words)} in another order"
    if least >= EQUAL:
        return Relation("same_values", f"{sentence}: the same values", evidence)
    if any(each.pair.status == "dtype" for each in facts.different):
        return Relation("rounded", f"{sentence}, and rounded to {_storage_of(facts.result.b)}", evidence)
    return Relation("finetuned", f"{sentence}, and trained further", evidence)


#: The least cosine of rows that are the same ones, as computed.
EQUAL = 1 - 1e-6
#: The least cosine of the products of rows that says that they were rotated: those of strangers have some in common.
TURNED = 0.98
#: Groups of roles → what is in another order.
REORDERED = {"attention": "attention heads", "feed_forward": "feed-forward neurons"}


def _rescaled(facts: Facts) -> Relation | None:
    """Rows and columns times factors, of matrices and the vectors before them, as AWQ and SmoothQuant do."""
    from inspector.comparing import rearranging

    chosen = _spread([each for each in facts.different if _is_telling(each)])
    found = []
    for each in chosen:
        fit = rearranging.scaled(facts.comparison, each.pair)
        if fit is None or fit.left > BALANCE * fit.nearest:
            return None
        found.append(fit)
    if not found or not any(fit.uneven for fit in found):
        return None
    b = facts.result.b
    storage = (
        f", and rounded to {_storage_of(b)}" if any(each.pair.status == "dtype" for each in facts.different) else ""
    )
    evidence = (
        f"{plural(len(found), 'matrix', 'matrices')} examined, within rounding but for a factor of each row and column",
        _places([each.pair for each in facts.different]),
    )
    return Relation(
        "rounded", f"b is a, rows and columns times factors, as AWQ and SmoothQuant do{storage}", evidence,
        "whether the factors cancel out is not known, nor whether matrices were trained by less than rounding leaves",
    )  # fmt: skip


# --- layers and experts ------------------------------------------------------------------------------


def _reordered(facts: Facts) -> Relation | None:
    """Layers or experts that b has from elsewhere in a, or no longer."""
    moved = [*facts.lost, *facts.gained, *facts.reshaped]
    strange = [each for each in facts.different if _is_telling(each) and abs(each.data.sums.cosine or 0) < STRANGE]
    moved += [each.pair for each in strange]
    layers = any(pair.key.layer is not None and pair.key.expert is None for pair in moved)
    experts = any(pair.key.expert is not None for pair in moved)
    found = _recut(facts, experts=False) if layers else None
    return found or (_recut(facts, experts=True) if experts else None)


def _recut(facts: Facts, *, experts: bool) -> Relation | None:
    """What became of a's layers, or of each layer's experts."""
    from inspector.comparing import probing

    sides = (facts.result.a, facts.result.b)
    a, b = (
        probing.samples(weights, side.tensors, experts=experts)
        for weights, side in zip(facts.comparison.weights(), sides, strict=True)
    )
    found = probing.aligned(a, b, within_layers=experts)
    known = {unit: like for unit, (like, _) in found.items() if like is not None}
    in_place = len(a) == len(b) and all(unit == like for unit, like in known.items())
    if in_place or not known or len(known) * 2 < len(found):
        return None
    used = Counter(known.values())
    gone, again = [unit for unit in a if unit not in used], [unit for unit, times in used.items() if times > 1]
    new = [unit for unit in b if unit not in known]
    what = "expert" if experts else "layer"
    counts = f"{plural(len(a), what)} → {integer(len(b))}"
    done = [f"without {what}s {_numbers(gone)}"] if gone else []
    done += [f"with {what}s {_numbers(again)} more than once"] if again else []
    done += [f"with new {what}s {_numbers(new)}"] if new else []
    kind: Kind = "pruned" if len(b) <= len(a) else "extended"
    least = min(cosine for like, cosine in found.values() if like is not None)
    more = "" if least > SAME else ", and trained further"
    evidence = (counts, f"cosine of each {what} with its own at least {least:.4f}")
    return Relation(kind, f"b is a, {kind}: {'; '.join(done) or f'{what}s in another order'}{more}", evidence)


#: A cosine of equal values, or of values that were only rounded: 2 bits leave 0.9.
SAME = 0.9999


def _numbers(units: Sequence[Unit]) -> str:
    """Numbers of layers; of experts, those that all layers have in common, or how many."""
    if units[0].expert is None:
        return ranges(sorted({each.layer for each in units}))
    by_layer: dict[int, list[int]] = {}
    for each in units:
        by_layer.setdefault(each.layer, []).append(each.expert or 0)
    if len({tuple(found) for found in by_layer.values()}) == 1:
        return ranges(sorted(next(iter(by_layer.values()))))
    return f"{ranges(sorted(by_layer[min(by_layer)]))} in layer {min(by_layer)}, others in other layers"


def _cut(facts: Facts) -> Relation | None:
    """Weights that only one has, where nothing else differs; a longer or shorter vocabulary."""
    if facts.different or facts.incomparable or not facts.members or facts.is_whole:
        return None
    rows = list(_vocabularies(facts))
    others = [pair for pair in facts.reshaped if pair.key.role not in ENDS]
    if others or (facts.lost and facts.gained):
        return None
    equal = f"{plural(len(facts.members) - len(facts.reshaped), 'weight')} equal or only rounded"
    if not facts.reshaped and (stored := _tied_head(facts)):
        own: Kind = "rounded" if facts.rounded else "same_values"
        return Relation(own, f"b is a, its head {stored}: the same values", (equal, "it is the embeddings"))
    if facts.reshaped and not (facts.lost or facts.gained):
        old, new = rows[0]
        kind: Kind = "extended" if new > old else "pruned"
        return Relation(kind, f"b is a, its vocabulary {kind}: {integer(old)} → {integer(new)} rows", (equal,))
    kind = "pruned" if facts.lost else "extended"
    word = "without" if facts.lost else "and more:"
    return Relation(kind, f"b is a, {word} {_places(facts.lost or facts.gained)}", (equal,))


def _tied_head(facts: Facts) -> str:
    """What became of the head, if it is only a copy of the embeddings; "" otherwise."""
    only = [*facts.lost, *facts.gained]
    side = facts.result.a if facts.lost else facts.result.b
    weights = facts.comparison.weights()[0 if facts.lost else 1]
    embedding = next((each for each in side.tensors if each.key.role == "embed_tokens"), None)
    if len(only) != 1 or only[0].key.role != "lm_head" or embedding is None:
        return ""
    own = only[0].a or only[0].b
    if own is None or len(own.tensors) != 1 or own.elements != embedding.parameters:
        return ""
    chunks = zip(weights.chunks(own.tensors[0]), weights.chunks(embedding), strict=True)
    equal = all(x[1].shape == y[1].shape and (x[1] == y[1]).all() for x, y in chunks)
    return ("no longer stored" if facts.lost else "stored once more") if equal else ""


def _vocabularies(facts: Facts) -> Iterable[tuple[int, int]]:
    """Rows of the embeddings on both sides, where they differ."""
    for pair in facts.reshaped:
        if pair.key.role in ENDS and pair.a and pair.b and pair.a.shapes[0][1:] == pair.b.shapes[0][1:]:
            yield pair.a.shapes[0][0], pair.b.shapes[0][0]


# --- faults ------------------------------------------------------------------------------------------


def _damaged(facts: Facts) -> Relation | None:
    """Differences that no training makes: a few values, or values that are not at all what they were."""
    few = facts.different
    trained = (facts.cosine or 0) > UNHARMED and not any(
        each.data.sums.faulty or each.data.sums.share <= SPREAD for each in few
    )
    if not few or trained or len(few) > max(LOCATED, len(facts.members) // 2):
        return None
    places, total = [], 0
    for each in few[:LOCATED]:
        text, number = _stray_text(facts, each) if each.data.sums.faulty else _fault_text(facts, each)
        if not number:
            return None
        places.append(f"{_name(each)}: {text}")
        total += number
    number_text = plural(total, "value") if len(few) == len(places) else plural(len(few), "weight")
    rest = "all else is within rounding" if facts.rounded else "all else is equal"
    return Relation("damaged", f"b is a, damaged: {number_text} of {places[0]}", (*places[1:], rest))


def _stray_text(facts: Facts, each: Member) -> tuple[str, int]:
    """Where values are that are not at the level of their format that is nearest to the original, and how many."""
    found = facts.comparison.strays(each.pair)
    numbers = sorted(number for _, number in found)
    if not numbers:
        return "", 0
    where = f"element {integer(numbers[0])}" + (f" to {integer(numbers[-1])}" if len(numbers) > 1 else "")
    return (
        f"{where}, further from the original than rounding to {each.pair.b.dtype if each.pair.b else ''} leaves",
        len(numbers),
    )


#: Tensors in which faults are located; the cosine, and the share of elements that changed, of what was trained.
LOCATED, UNHARMED, SPREAD = 8, 0.98, 0.05


def _is_fault(found: Fault) -> bool:
    return found.elements <= FEW or found.constant or found.cosine is None or abs(found.cosine) < 0.5


def _fault_text(facts: Facts, each: Member) -> tuple[str, int]:
    """Where a tensor's values are others, and how many; 0 if training may have changed them."""
    from inspector.comparing import probing

    found = probing.fault(facts.comparison, each.pair)
    if found is None or not _is_fault(found):
        return "", 0
    where = f"{integer(found.first)} to {integer(found.last)}"
    if found.bits is not None and found.elements <= FEW:
        where = integer(found.first) if found.last == found.first else where
        return f"{plural(found.bits, 'bit')} in element {where}", found.elements
    whole = found.elements == each.data.sums.elements
    text = "all elements" if whole else f"{plural(found.elements, 'element')} from {where}"
    return f"{text}{', all one value' if found.constant else ''}", found.elements


def _name(each: Member) -> str:
    return each.pair.b.tensors[0].tensor.name if each.pair.b else ""


# --- low ranks ---------------------------------------------------------------------------------------


#: Matrices that are examined; the share of them that must agree; how many must, where other weights changed, too.
EXAMINED, AGREEING, CERTAIN = 12, 0.75, 3


def _low_rank(facts: Facts) -> Relation | None:
    """An adapter that was merged, or a direction that was removed."""
    from inspector.comparing import probing

    chosen = _spread([each for each in facts.different if _is_telling(each) and each.pair.key.role not in ENDS])
    if not chosen:
        return None
    ranks: list[tuple[Member, probing.LowRank]] = []
    for each in chosen:
        found = probing.low_rank(facts.comparison, each.pair)
        if found is not None:
            ranks.append((each, found))
        if sum(not rank.exact for _, rank in ranks) > len(chosen) * (1 - AGREEING):
            return None
    low = [(each, found.rank) for each, found in ranks if found.exact and found.rank]
    if not low or len(low) < AGREEING * len(ranks):
        return None
    sizes = sorted(rank for _, rank in low)
    most = sizes[-1]
    # Adapters have one rank, and change nothing else; what rounding leaves of training has any rank.
    alone = all(_is_telling(each) and each.pair.key.role not in ENDS for each in facts.different)
    if most - sizes[0] > (max(2, most // 3) if alone else 0) or (not alone and len(low) < CERTAIN):
        return None
    if most <= DIRECTIONS:
        removed = _removed(facts, low)
        if removed is not None:
            return removed
    roles = sorted({each.pair.key.role for each in facts.different if _is_telling(each)})
    least = min(rank for _, rank in low)
    evidence = (
        f"{plural(len(low), 'difference')} examined, of rank {least if least == most else f'{least} to {most}'}",
        f"in {plural(len(facts.different), 'weight')}: {', '.join(roles)}",
    )
    return Relation("adapter_merged", f"b is a, with an adapter of rank {most} merged in", evidence)


#: Directions that are removed together, at most.
DIRECTIONS = 4


def _removed(facts: Facts, low: Sequence[tuple[Member, int]]) -> Relation | None:
    from inspector.comparing import probing

    found = [probing.direction(facts.comparison, each.pair, rank) for each, rank in low[:6]]
    own = [each for each in found if each is not None]
    if len(own) < AGREEING * len(found):
        return None
    outputs = [each for each in own if each.of_outputs] or own
    same = probing.shared(outputs)
    count = outputs[0].vectors.shape[1]
    what = "a direction" if count == 1 else f"{count} directions"
    how = "the same one in all of them" if same else "of each layer's own"
    layers = _layers(each.pair for each in facts.different)
    where = f" from layers {ranges(layers)}" if layers else ""
    evidence = (
        f"{plural(len(own), 'difference')} examined: what the weight itself has in that direction, {how}",
        _places([each.pair for each in facts.different]),
    )
    return Relation("direction_removed", f"b is a, with {what} removed{where}, as in abliteration", evidence)


def _spread(members: Sequence[Member]) -> list[Member]:
    """Some of many: of each role the first, the last and those between."""
    by_role: dict[str, list[Member]] = {}
    for each in members:
        by_role.setdefault(each.pair.key.role, []).append(each)
    each_of = max(1, EXAMINED // max(len(by_role), 1))
    found = []
    for own in by_role.values():
        places = sorted({len(own) * at // each_of for at in range(each_of)} | {len(own) - 1})[:each_of]
        found += [own[place] for place in places if place < len(own)]
    return found[:EXAMINED]


# --- what was trained --------------------------------------------------------------------------------


def _trained(facts: Facts) -> Relation | None:
    if not facts.different:
        return None
    sums = added(each.data.sums for each in facts.different)
    where = _where(facts.different, facts.members)
    b = facts.result.b
    rounded = (
        f", and stored as {_storage_of(b)}" if any(each.pair.status == "dtype" for each in facts.different) else ""
    )
    vocabulary = next(
        (f", its vocabulary {integer(old)} → {integer(new)} rows" for old, new in _vocabularies(facts)), ""
    )
    evidence = [f"{integer(len(facts.different))} of {plural(len(facts.members), 'weight')} differ"]
    evidence += [f"‖b−a‖/‖a‖ {sums.relative:.2g}"] if sums.relative is not None else []
    evidence += [f"cosine {facts.cosine:.4f}"] if facts.cosine is not None else []
    evidence += [f"{what}: {_places(pairs)}" for what, pairs in facts.unlike if pairs]
    return Relation("finetuned", f"b is a, fine-tuned{where}{vocabulary}{rounded}", tuple(evidence))


def _where(changed: Sequence[Member], among: Sequence[Member]) -> str:
    """Where changes are: in all layers, in some, in some roles."""
    layers = [_layers(each.pair for each in members) for members in (changed, among)]
    if not layers[1]:
        return ""
    if layers[0] == layers[1]:
        return f" in all {plural(len(layers[1]), 'layer')}"
    if not layers[0]:
        return f" outside the layers: {_places([each.pair for each in changed])}"
    return f" in {'layer' if len(layers[0]) == 1 else 'layers'} {ranges(layers[0])} of {len(layers[1])}"


def _layers(pairs: Iterable[Pair]) -> list[int]:
    return sorted({pair.key.layer for pair in pairs if pair.key.layer is not None})


def ranges(numbers: Sequence[int]) -> str:
    """Sorted numbers as ranges: "0–3, 7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("–".join(map(str, run)) for run in runs)


_SHOWN = 4


def _places(pairs: Sequence[Pair]) -> str:
    """The roles of some pairs, the most frequent first."""
    counted = Counter(" ".join(filter(None, (pair.key.branch, pair.key.role))) or "unnamed" for pair in pairs)
    layers = _layers(pairs)
    named = ", ".join(role for role, _ in counted.most_common(_SHOWN))
    more = f" and {len(counted) - _SHOWN} more" if len(counted) > _SHOWN else ""
    inside = f", {'layer' if len(layers) == 1 else 'layers'} {ranges(layers)}" if layers else ""
    return f"{plural(len(pairs), 'weight')} ({named}{more}{inside})"


#: In this order: what explains everything first.
_JUDGES: tuple[Callable[[Facts], Relation | None], ...] = (
    _renamed, _copy, _rounded, _passed, _reordered, _rearranged, _rescaled, _unrelated, _cut, _balanced, _damaged,
    _low_rank, _trained,
)  # fmt: skip
