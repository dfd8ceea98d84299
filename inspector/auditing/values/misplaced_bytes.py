"""Bytes and tensors in the wrong places: shifted, never written, written twice, exchanged. Only with `--data`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.auditing.values.numbers import peers
from inspector.auditing.values.numbers.facts import Run
from inspector.auditing.values.numbers.peers import InFile, Peers, TensorData, all_tensors, each_tensor, octaves
from inspector.bridge.ledger import Surplus, is_tied
from inspector.model import Labelled, Reconciliation
from inspector.units import escape, integer, plural

#: Bytes of a scrambled tensor that are tried as other dtypes and byte orders.
PART = 32768
#: The fewest duplicated rows that count.
LEAST_ROWS = 8
#: The fewest bytes of zeros that count as a hole if they begin or end within a row.
LEAST_HOLE = 1024
#: The most bytes of padding between two tensors: GGUF aligns to 32.
PADDING = 64
#: The fewest rows with zeros in the same place for these to count as columns of the matrix.
COLUMNS = 4
#: Share of a vocabulary that may be rows of zeros, and that may be one run followed by other rows.
UNUSED, AMID = 0.3, 0.05
#: The fewest allocation units of a file system in a run.
LEAST_PAGES = 8
#: Share of zeros in the rest of a tensor above which only a run of at least this many bytes means anything.
THINNED, LONG = 0.1, 65536


@rule("scrambled-tensor", "data", "error")
@each_tensor
def scrambled_tensor(seen: TensorData, found: Peers, subject: Subject) -> str | None:
    """Numbers of every possible magnitude: a tensor's bytes are shifted, swapped or not numbers at all.

    A byte lost in transit, a wrong offset, big-endian data, or noise. Where the bytes make sense once shifted or
    swapped, the message says so. Download the file again, or convert it again.
    """
    if not seen.is_scrambled or seen.is_packed:  # bitsandbytes keeps codes as any float (`bnb_4bit_quant_storage`)
        return None
    what = f"magnitudes spread over {seen.facts.spread:.0f} powers of two; a sound layer's span about 2"
    return f"{what}: {_explanation(seen, subject)}"


def _explanation(seen: TensorData, subject: Subject) -> str:
    """The transformation after which a sample of the bytes would be plausible numbers."""
    from inspector.auditing.values.numbers.pieces import repair  # needs NumPy

    tensor = seen.labelled.tensor
    if seen.is_block:
        return "no plausible block scales"
    start = tensor.offset + tensor.nbytes * 3 // 4 // 64 * 64
    raw = subject.span(seen.path, start, min(PART, tensor.offset + tensor.nbytes - start))
    return repair(raw, tensor.dtype, start - tensor.offset) or "not numbers that training produces"


@rule("zero-block", "data", "error")
@all_tensors
def zero_block(found: Peers, subject: Subject) -> Iterator[Found]:
    """A run of zeros, or of another number, that begins or ends within a row of a tensor.

    A download interrupted after the file had been given its full size, or a disk that lost a part: bytes that were
    never written read as zeros. Whole rows of zeros (unused tokens, pruned heads) and whole columns are sound. Download
    the file again.
    """
    for header in found.headers:
        own = found.files[header.path]
        for run in runs_of_zeros(own.tensors):
            touched = own.touched(run)
            if run.size < LEAST_HOLE or not is_hole(run, touched, found):
                if what := _amid_rows(run, touched):
                    yield Found(what, header.path, touched[0].name, "warning")
                continue
            inside = [each for each in touched if each.is_weight] or touched
            beyond = f" and {plural(len(touched) - 1, 'other tensor')}" if len(touched) > 1 else ""
            to_end = " to the end of the file" if run.end >= header.size - 8 else ""
            of = "zeros" if _are_zeros(inside[0], run) else "one repeated number"
            what = f"{plural(run.size, 'byte')} of {of} from byte {integer(run.start)}{to_end}"
            yield Found(f"{what}, within it{beyond}: never written", header.path, inside[0].name)


def runs_of_zeros(seen: Sequence[TensorData]) -> Iterator[Run]:
    """Runs of zeros, or of another number, including those that continue across the padding into the next tensor."""
    starts = {each.extent.start for each in seen}
    last: Run | None = None
    for run in sorted(run for each in seen for run in each.facts.runs):
        if last is not None and run.start <= last.end + (PADDING if run.start in starts else 0):
            last = Run(last.start, max(last.end, run.end))
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last


def is_hole(run: Run, touched: Sequence[TensorData], found: Peers) -> bool:
    """Whether a run of zeros in these tensors was never written."""
    weights = [each for each in touched if each.is_weight]
    cut = [each for each in weights if not each.is_covered_by(run) and not _is_pattern(each, run)]
    if not cut or any(each.is_covered_by(run) for each in weights):
        return bool(cut)
    if _is_of_pages(run) and any(each.row % peers.PAGE or each.extent.start % peers.PAGE for each in cut):
        return True
    return any(_is_cut_in_row(run, each) or _has_lost_rows(run, each, found) for each in cut)


def _is_of_pages(run: Run) -> bool:
    """Whether a run begins and ends at page boundaries of the file, where rows only end by chance."""
    return run.size >= LEAST_PAGES * peers.PAGE and all(
        min(at % peers.PAGE, -at % peers.PAGE) < 8 for at in (run.start, run.end)
    )


def _is_cut_in_row(run: Run, each: TensorData) -> bool:
    """Whether a range begins or ends within a row of a tensor."""
    return any(each.has_within(place) and not each.is_row_end(place) for place in (run.start, run.end))


def _is_pattern(each: TensorData, run: Run) -> bool:
    """Whether such runs are everywhere in the tensor: it is sparse, has few values, or the same columns in many
    rows."""
    facts, part = each.facts, each.overlap(run)
    beside = facts.sparsity - part / max(each.nbytes, 1)
    if beside > peers.SPARSE or (facts.middle is not None and facts.spread == 0):
        return True
    if beside > THINNED and part < LONG and not _is_of_pages(run):
        return True
    place = (run.start - each.extent.start) % each.row
    alike = (abs((other.start - each.extent.start) % each.row - place) < 8 for other in facts.runs)
    return sum(alike) >= COLUMNS


def _has_lost_rows(run: Run, each: TensorData, found: Peers) -> bool:
    """Whether whole rows are zero that are not in other layers, or more of a table than is reserved for new tokens."""
    part = each.overlap(run)
    if each.is_table:
        return part > UNUSED * each.nbytes
    if not each.is_learnt or each.key.layer is None:
        return False
    others = found.of(each)
    alike = sum(any(other.size >= LEAST_HOLE for other in peer.facts.runs) for peer in others)
    return part >= 8 * each.row and len(others) >= peers.LEAST_PEERS and alike * 4 < len(others)


def _amid_rows(run: Run, touched: Sequence[TensorData]) -> str | None:
    """Describes many rows of zeros within a table: rows reserved for new tokens are at its end."""
    seen = touched[0]
    share = run.size / max(seen.nbytes, 1)
    if len(touched) > 1 or not seen.is_table or not seen.is_weight or not _are_zeros(seen, run):
        return None
    if share < AMID or run.size < LEAST_ROWS * seen.row or not seen.has_within(run.end) or _is_pattern(seen, run):
        return None
    what = f"{plural(run.size // seen.row, 'row')} of zeros, {share:.0%} of the table, followed by other rows"
    return f"{what}: unused tokens, or a part that was never written"


def _are_zeros(seen: TensorData, run: Run) -> bool:
    """Whether the numbers of a run are zeros, according to the sample."""
    share = seen.overlap(run) / max(seen.nbytes, 1)
    return seen.facts.sampled == 0 or seen.facts.sparsity > share / 2


@rule("repeated-block", "data", "error")
@all_tensors
def repeated_block(found: Peers, subject: Subject) -> Iterator[Found]:
    """The same bytes in two places that are neither whole tensors nor whole rows.

    Part of a download was written twice, the second time over another part. Tensors that are equal as a whole (tied
    embeddings, repeated layers, copied experts) are sound. Download the file again.
    """
    own = found.files
    patterned = _patterned(found)
    for copy in found.measured.copies:
        if copy.size < peers.PAGE and _starts_in(own[found.measured.paths[copy.other_file]], copy.other) in patterned:
            continue
        path, other_path = found.measured.paths[copy.file], found.measured.paths[copy.other_file]
        source, target = Run(copy.start, copy.start + copy.size), Run(copy.other, copy.other + copy.size)
        cut = [*_cut_weights(target, own[other_path]), *_cut_weights(source, own[path])]
        cut = cut or _weight_of_one_layer(source, target, own[path], own[other_path], found)
        if not cut:
            continue
        there = f" of {escape(path, 100)}" if path != other_path else ""
        places = f"from byte {integer(copy.other)} equal those from byte {integer(copy.start)}{there}"
        written = own[other_path].touched(target)
        named = next((each.name for each in (*cut, *written) if each in written), None)
        yield Found(f"{plural(copy.size, 'byte')} {places}: written twice", other_path, named)


def _patterned(found: Peers) -> Collection[tuple[str, str]]:
    """Tensors in which many short pieces recur, as a table of sines has them: rows 9 and 16 at related frequencies."""
    counted: Counter[tuple[str, str] | None] = Counter()
    for copy in found.measured.copies:
        there = _starts_in(found.files[found.measured.paths[copy.other_file]], copy.other)
        here = _starts_in(found.files[found.measured.paths[copy.file]], copy.start)
        counted[there if here == there and copy.size < peers.PAGE else None] += 1
    return {each for each, number in counted.items() if each is not None and number >= COLUMNS}


def _starts_in(file: InFile, start: int) -> tuple[str, str] | None:
    """The file and the name of the tensor that a byte is in."""
    inside = file.touched(Run(start, start + 1))
    return (inside[0].path, inside[0].name) if inside else None


def _cut_weights(run: Run, file: InFile) -> list[TensorData]:
    """The weights that a copy begins or ends in, within a row."""
    return [each for each in file.touched(run) if each.is_weight and _is_cut_in_row(run, each)]


def _weight_of_one_layer(source: Run, target: Run, own: InFile, other: InFile, found: Peers) -> list[TensorData]:
    """The weight with duplicated whole rows, if no other layer has any: repeated heads occur in all layers."""
    inside = [each for each in other.touched(target) if each.is_learnt and not each.is_table]
    inside = [each for each in inside if target.size >= LEAST_ROWS * each.row and not each.is_covered_by(target)]
    if len(inside) != 1 or any(each.is_covered_by(source) for each in own.touched(source)):
        return []
    extents = [each.extent for each in found.of(inside[0])]
    copies = found.measured.copies
    alike = sum(any(run.start < copy.other + copy.size and copy.other < run.end for copy in copies) for run in extents)
    return inside if len(extents) >= peers.LEAST_PEERS and alike * 4 < len(extents) else []


@rule("text-in-tensor", "data", "error")
@each_tensor
def text_in_tensor(seen: TensorData, found: Peers, subject: Subject) -> str | None:
    """Readable text within a tensor's numbers.

    A server's error page, or a program's log, was written into the file in place of data. Byte buffers, such as a
    tokenizer kept beside the weights, are sound. Download the file again.
    """
    if seen.facts.text is None or not (seen.is_weight or seen.is_float or seen.side == "scales"):
        return None
    at, start = seen.facts.text
    return f"text at byte {integer(at)} of the file: `{escape(' '.join(start.decode('ascii', 'replace').split()), 50)}`"


#: The smallest tensor, in bytes, that is not equal to another by chance; and the bytes compared at a time.
LEAST, STEP = 1024, 1 << 20
#: The fewest layers for one to stand out from; the largest share of a role's tensors that are copies by mistake.
LAYERS, MISTAKES = 3, 4
#: For exchanged tensors: the fewest layers, and the least quotient of their size ratio and its spread over the layers.
ORDERED_LAYERS, APART = 5, 3.0
#: Least difference, in powers of two, that is more than the sample's error.
DIFFERENT = 0.2
#: The most twins that are compared byte by byte.
MOST_COMPARED = 32


@rule("repeated-tensor", "data", "error")
@all_tensors
def repeated_tensor(found: Peers, subject: Subject) -> Iterator[Found | NotJudged]:
    """A tensor is byte for byte equal to one of another layer or role, although no others are equal.

    One tensor was written twice, the second time in place of another. Layers repeated as a whole, roles shared by all
    layers, and experts initialized as copies are not reported. Download the file again, or convert it again.
    """
    twins = _Twins(found)
    suspects = (pair for pair in twins.pairs if twins.are_odd(*pair))
    for number, (one, other) in enumerate(suspects):
        if number == MOST_COMPARED:
            yield NotJudged(f"more than {MOST_COMPARED} pairs of tensors with equal statistics", other.path, "info")
            break
        if _are_equal(one, other, subject):
            what = f"byte for byte equal to {escape(one.name, 120)}: one of the two is lost"
            yield Found(what, other.path, other.name)


class _Place(NamedTuple):
    """The properties that tensors of one kind share, in any layer."""

    tower: str
    branch: str
    role: str
    part: str


def _place(seen: TensorData) -> _Place:
    return _Place(seen.key.tower, seen.key.branch, seen.key.role, seen.key.part)


class _Twins:
    """Weights with identical statistics."""

    def __init__(self, found: Peers) -> None:
        weights = [each for each in found.all if each.is_learnt and each.key.layer is not None and each.nbytes >= LEAST]
        varied = [each for each in weights if not each.facts.constant and each.facts.numbers]
        self._layers = peers.grouped(weights, lambda each: (each.key.tower, each.key.layer))
        self._kinds = peers.grouped(weights, _place)
        self._groups = [group for group in peers.grouped(varied, _statistics).values() if len(group) > 1]
        self._alike = Counter(frozenset(map(_place, group)) for group in self._groups)
        self._twin = {id(each): group for group in self._groups for each in group}

    @property
    def pairs(self) -> Iterator[tuple[TensorData, TensorData]]:
        """Pairs of equal weights; more equal ones would be intended."""
        return ((group[0], group[1]) for group in self._groups if len(group) == 2)

    def are_odd(self, one: TensorData, other: TensorData) -> bool:
        """Whether no other tensors are equal in the same way."""
        here, there = _place(one), _place(other)
        if here.tower != there.tower or (here == there and one.key[:3] == other.key[:3]):  # tower, layer, expert
            return False  # another copy of the model, such as an average or a teacher
        if len(self._kinds[here]) < LAYERS or self._share_of_layer(one, other) * 2 >= 1:
            return False
        alike = self._alike[frozenset({here, there})]
        return alike == 1 or alike * MISTAKES * 2 <= len(self._kinds[here])

    def _share_of_layer(self, one: TensorData, other: TensorData) -> float:
        """The share of a layer's other weights that equal those of the other layer."""
        if one.key.layer == other.key.layer:
            return 0.0
        rest = [each for each in self._layers[one.key.tower, one.key.layer] if each is not one]
        twinned = sum(
            any(twin.key.layer == other.key.layer for twin in self._twin.get(id(each), ()) if twin is not each)
            for each in rest
        )
        return twinned / len(rest) if rest else 1.0


def _statistics(seen: TensorData) -> object:
    """All statistics of a tensor; sums only as far as they do not depend on the order of summation."""
    facts, tensor = seen.facts, seen.labelled.tensor
    bits = (facts.least_bits, facts.most_bits, facts.ever, facts.always)
    sums = (f"{facts.total:.6g}", f"{facts.squares:.6g}", f"{facts.evenness:.6g}")
    return (tensor.dtype, tensor.shape, facts.largest, facts.middle, *bits, *sums)


def _are_equal(one: TensorData, other: TensorData, subject: Subject) -> bool:
    with subject.reading(one.path) as first, subject.reading(other.path) as second:
        for at in range(0, one.nbytes, STEP):
            length = min(STEP, one.nbytes - at)
            if first(one.extent.start + at, length) != second(other.extent.start + at, length):
                return False
    return True


@rule("copies-differ", "data", "warning")
def copies_differ(subject: Subject) -> Iterator[Found | NotJudged]:
    """A stored copy of the embedding, which the configuration ties to it, has other values.

    Transformers 5.24 then does not tie them and computes with both (`PreTrainedModel.tie_weights`); a loader that ties
    whatever the values are ignores the copy. Set `tie_word_embeddings` to false if the copy is meant, or leave it out.
    """
    pairs = [pair for result in subject.results for pair in _copies(result)] if subject.measured else []
    for one, other in pairs[:MOST_COMPARED]:
        rows = other.tensor.shape[0]
        if differing := _differing_rows(one, other, rows, subject):
            what = f"differs from {escape(one.tensor.name, 120)}, to which the configuration ties it"
            yield Found(f"{what}, in {integer(differing)} of {plural(rows, 'row')}", other.file, other.tensor.name)
    if len(pairs) > MOST_COMPARED:
        yield NotJudged(f"more than {MOST_COMPARED} copies of the embedding", pairs[MOST_COMPARED][1].file)


def _copies(result: Reconciliation) -> Iterator[tuple[Labelled, Labelled]]:
    """The embedding, and each stored copy of it with the same shape and type."""
    tables = [each for each in result.tensors if each.key.role in peers.TABLES and each.key.layer is None]
    own = [each for each in tables if each.parameters and each.key.role == "embed_tokens"]
    for each in tables:
        tensor, key = each.tensor, each.key
        if each.parameters or len(tensor.shape) < 2 or not tensor.nbytes:
            continue
        alike = [one for one in own if one.tensor[1:3] == tensor[1:3] and one.key.part == key.part]
        if alike and is_tied(Surplus(tensor, key, each.group, result.prediction)):
            yield max(alike, key=lambda one: one.key.tower == key.tower), each


def _differing_rows(one: Labelled, other: Labelled, rows: int, subject: Subject) -> int:
    import numpy as np

    width = other.tensor.nbytes // rows
    step = max(1, STEP // width)
    found = 0
    with subject.reading(one.file) as first, subject.reading(other.file) as second:
        for at in range(0, rows, step):
            length = min(step, rows - at) * width
            parts = first(one.tensor.offset + at * width, length), second(other.tensor.offset + at * width, length)
            if parts[0] != parts[1]:
                left, right = (np.frombuffer(part, np.uint8).reshape(-1, width) for part in parts)
                found += int((left != right).any(axis=1).sum())
    return found


@rule("exchanged-tensors", "data", "error")
@all_tensors
def exchanged_tensors(found: Peers, subject: Subject) -> Iterator[Found]:
    """Two tensors of a layer were exchanged, as their magnitudes show.

    In all other layers the numbers of one role are larger than those of the other by nearly the same factor, and in
    this layer smaller by that factor: keys in place of values, a gate in place of its projection. The writer of the
    file gave two tensors each other's names: convert the model again.
    """
    reported: set[str] = set()
    for one, other, factor in sorted(_exchanged(found), key=lambda each: -each[2]):
        if reported.isdisjoint((one.name, other.name)):
            reported |= {one.name, other.name}
            what = f"numbers {2**factor:.3g} times those of {escape(other.name, 120)}; in all other layers it is the"
            yield Found(f"{what} other way round: the two were exchanged", one.path, one.name)


def _exchanged(found: Peers) -> Iterator[tuple[TensorData, TensorData, float]]:
    """Pairs that differ the other way round than in all other layers, and by how much, in powers of two."""
    kinds: defaultdict[tuple[object, ...], dict[int, TensorData]] = defaultdict(dict)
    for each in found.all:
        group, layer = each.labelled.group, each.key.layer
        if not (each.is_norm or each.is_learnt) or layer is None or each.key.expert is not None:
            continue
        if each.is_float and each.facts.size and not each.is_scrambled:
            kind = (group, each.dtype, each.labelled.tensor.shape, *_place(each))
            kinds[kind][layer] = each
    for (one_kind, ones), (other_kind, others) in combinations(kinds.items(), 2):
        layers = sorted(ones.keys() & others.keys())
        if one_kind[:4] == other_kind[:4] and len(layers) >= ORDERED_LAYERS:
            sizes = {at: [octaves(each[at].facts.size) or 0.0 for each in (ones, others)] for at in layers}
            factors = {layer: one - other for layer, (one, other) in sizes.items()}
            for layer in layers:
                if _is_other_way(factors[layer], [factors[each] for each in layers if each != layer]):
                    yield _larger_first(ones[layer], others[layer], factors[layer])


def _is_other_way(factor: float, others: Sequence[float]) -> bool:
    low, high = min(others), max(others)
    if low * high <= 0:
        return False
    width, least = high - low, min(abs(low), abs(high))
    near = width / 2 + DIFFERENT / 4
    return least >= max(DIFFERENT, APART * width) and low - near <= -factor <= high + near


def _larger_first(one: TensorData, other: TensorData, factor: float) -> tuple[TensorData, TensorData, float]:
    return (one, other, factor) if factor > 0 else (other, one, -factor)
