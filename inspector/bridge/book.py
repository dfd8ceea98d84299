"""Step 5: the cost of each difference between stored and predicted tensors, and the findings about it.

Matched tensors may differ in size or type, one by one or in another layout. Of the others, stored ones are surplus, and
a cause may claim them; predicted ones are missing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, repeat
from math import prod
from operator import itemgetter

from inspector import units
from inspector.architectures.data.roles import group_of
from inspector.architectures.naming import Named
from inspector.architectures.prediction import size_of
from inspector.architectures.table import BARE
from inspector.bridge.classes import kept_of
from inspector.bridge.identify import Stored
from inspector.bridge.join import APART, Joined, Kind, Unit, Wanted
from inspector.bridge.ledger import BY_NAME, Cause, Ledger, Surplus, cause_of, short
from inspector.formats import training
from inspector.formats.safetensors.dtypes import DTYPE_BITS
from inspector.model import Expected, Finding, Packing, Prediction, Severity, Tensor
from inspector.tabular import NamedTuple
from inspector.units import integer, plural, ranges, times


class Account(NamedTuple):
    """The result of the join, apart from the bytes in the ledger."""

    parameters: Sequence[int]  # logical, one number per tensor; 0 for buffers, side data and second copies
    unexplained: tuple[str, ...]  # names of tensors
    findings: tuple[Finding, ...]
    claimed: Mapping[str, Sequence[int]]  # cause → positions of the tensors beyond the prediction that it explains


def account(
    ledger: Ledger,
    stored: Stored,
    named: Named,
    kinds: Sequence[Counter[Kind]],
    joined: Joined,
    prediction: Prediction | None,
    bits: int,
) -> Account:
    """Book every difference.

    Args:
        bits: bits per element at which the prediction's bytes are counted.
    """
    head = _head_alone(stored, named, joined, prediction)
    if head is not None:
        (at,), embedding = head.stored, head.wanted[0]
        joined = joined._replace(
            matched=[*joined.matched, (named.slots[at], [at])],
            surplus=[each for each in joined.surplus if each != at],
            missing=[each for each in joined.missing if each != embedding],
        )
    parameters = list(map(prod, stored.shapes))
    resized = _of_another_size(stored, joined.resized)
    findings = [*_book_resized(ledger, stored, named, resized, bits)]
    findings += _book_units(ledger, stored, joined.units, bits)
    for role, widths in _widths(stored, named, kinds, joined, parameters):
        book_widths(ledger, role, widths, bits, stored.packing)
    for at in joined.copies:
        name = stored.tensors[at].name
        cause, word = ("training_state", training.kind_of(name)) if training.is_state(name) else ("duplicate", "")
        ledger.add(cause, stored.tensors[at].nbytes, word or short(name))
    surplus = _book_surplus(ledger, stored, named, joined.surplus, prediction)
    if surplus.unexplained and prediction:
        _book_kept(ledger, stored, named, surplus, prediction)
    for at in (*joined.copies, *surplus.no_parameters):
        parameters[at] = 0
    unexplained = tuple(stored.tensors[at].name for at in surplus.unexplained)
    if unexplained and prediction:
        what = f"{plural(len(unexplained), 'tensor')} that the configuration does not predict"
        findings.append(Finding("unexplained", "warning", what, None, unexplained[0]))
    if prediction and not any(each.rule in ("shape", "vocab-padding") for each in findings):
        findings += _unlike_ties(stored, named, surplus.by_cause.get("tied_embeddings", ()), prediction)
    same = {other: kept for kept, others in stored.shared.items() for other in others}
    without_pooler = prediction is not None and prediction.head in BARE
    rows = prediction.expected if prediction else ()
    findings += book_missing(ledger, joined.missing, same, bits, stored.is_lost, rows, without_pooler=without_pooler)
    _book_ties(ledger, prediction)
    claimed = {**surplus.by_cause, "duplicate": [*surplus.by_cause.get("duplicate", ()), *joined.copies]}
    matched = sum(len(named.groups[number][1]) for number in joined.whole) + sum(
        len(members) for _, members in joined.matched
    )
    return Account(parameters, unexplained, _findings(stored, len(resized), matched, findings), claimed)


def _findings(stored: Stored, resized: int, matched: int, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """All findings; a single one if the configuration is another model's.

    Args:
        resized: tensors whose size differs from the prediction, out of those `matched`.
    """
    if not stored.tensors:
        return (Finding("no-tensors", "info", "no tensors: a vocabulary, or an empty file"),)
    first = next((each for each in findings if each.rule == "shape"), None)
    if first is None or resized * 2 <= matched:
        return tuple(findings)
    what = f"{integer(resized)} of {integer(matched)} tensors differ in size from what the configuration predicts"
    return (first._replace(message=f"{what}, so it is another model's. The first: {first.message}"),)


# --- tensors of another size ------------------------------------------------------------------

#: Roles whose first dimension counts a vocabulary.
VOCABULARY = ("embed_tokens", "embed_tokens_per_layer", "lm_head")

Resized = tuple[int, Expected]


def _of_another_size(stored: Stored, resized: Iterable[Resized]) -> list[Resized]:
    """The tensors whose size differs: another order of dimensions is only another layout."""
    packing = stored.packing

    def differs(at: int, expected: Expected) -> bool:
        shape = stored.shapes[at]
        # For some packed weights only the number of elements is known.
        flat = packing is not None and len(shape) == 1 and stored.tensors[at].name in packing.shapes
        return not alike(shape, expected.shape) and not (flat and prod(shape) == expected.elements)

    return [(at, expected) for at, expected in resized if differs(at, expected)]


def alike(stored: tuple[int, ...], predicted: tuple[int, ...]) -> bool:
    """Whether the dimensions are the same, ignoring order and dimensions of 1."""
    return sorted(d for d in stored if d != 1) == sorted(d for d in predicted if d != 1)


def cause_of_size(role: str, stored: tuple[int, ...], predicted: tuple[int, ...]) -> str:
    """`vocab_padding` if only the vocabulary differs."""
    vocabulary = role in VOCABULARY and len(stored) == len(predicted)
    return "vocab_padding" if vocabulary and stored[1:] == predicted[1:] else "shape"


def _book_resized(
    ledger: Ledger, stored: Stored, named: Named, resized: Sequence[Resized], bits: int
) -> Iterator[Finding]:
    """Book the difference in size, and return a finding for each row and shape."""
    alike_ones: dict[tuple[str, int, tuple[int, ...]], list[int]] = defaultdict(list)
    rows: dict[int, Expected] = {}
    for at, expected in resized:
        shape = stored.shapes[at]
        cause = cause_of_size(named.slots[at].role, shape, expected.shape)
        difference = size_of(prod(shape), bits) - size_of(expected.elements, bits)
        ledger.add(cause, difference, short(stored.tensors[at].name))
        alike_ones[cause, id(expected), shape].append(at)
        rows[id(expected)] = expected
    for (cause, row, shape), members in alike_ones.items():
        expected = rows[row]
        what = f"{times(shape)} stored, {times(expected.shape)} = {' × '.join(expected.formula)} predicted"
        more = f", and {plural(len(members) - 1, 'tensor')} like it" if len(members) > 1 else ""
        name = stored.tensors[members[0]].name
        if cause == "vocab_padding":
            yield Finding("vocab-padding", "warning", what + more, None, name)
        else:
            yield Finding("shape", "error", what + more, None, name)


def _book_units(ledger: Ledger, stored: Stored, layouts: Iterable[Unit], bits: int) -> Iterator[Finding]:
    """Book the difference, if any, of fused and stacked layouts."""
    for unit in layouts:
        elements = [prod(stored.shapes[at]) for at in unit.stored]
        predicted = [wanted.row.elements for wanted in unit.wanted]
        have, want = (sum(size_of(each, bits) for each in side) for side in (elements, predicted))
        if have != want:
            name = stored.tensors[unit.stored[0]].name
            ledger.add("shape", have - want, short(name), len(unit.stored))
            what = f"{integer(sum(elements))} elements stored, {integer(sum(predicted))} predicted for "
            yield Finding("shape", "error", what + unit.wanted[0].row.role, None, name)


# --- types of another width -------------------------------------------------------------------


class Width(NamedTuple):
    """How a tensor is stored: everything its size depends on."""

    dtype: str
    parameters: int  # logical elements
    nbytes: int
    packed_bits: int | None = None  # bits of a packed weight; None for a plain tensor


_DTYPE_OF, _BYTES_OF = (itemgetter(Tensor._fields.index(field)) for field in ("dtype", "nbytes"))


def _widths(
    stored: Stored, named: Named, kinds: Sequence[Counter[Kind]], joined: Joined, parameters: Sequence[int]
) -> Iterator[tuple[str, Mapping[Width, int]]]:
    """Role → how many of its tensors are stored in each way, for all predicted roles."""

    def of(members: Sequence[int]) -> Counter[Width]:
        own = [*map(stored.tensors.__getitem__, members)]
        packed = map(stored.packed_bits, members) if stored.packing else repeat(None, len(own))
        columns = map(_DTYPE_OF, own), map(parameters.__getitem__, members), map(_BYTES_OF, own), packed
        found = Counter(zip(*columns, strict=True))
        return Counter({Width(*each): number for each, number in found.items()})

    for number in joined.whole:
        counted = kinds[number].items()
        yield (
            named.groups[number][0].role,
            {Width(kind.dtype, kind.elements, kind.nbytes): tensors for kind, tensors in counted},
        )
    for slot, members in joined.matched:
        yield slot.role, of(members)
    for unit in joined.units:
        for at in unit.stored:
            yield named.slots[at].role, of((at,))


def book_widths(ledger: Ledger, role: str, widths: Mapping[Width, int], bits: int, packing: Packing | None) -> None:
    """Book what tensors of one role cost beyond `bits` per element. Equal ones are booked together."""
    for width, number in widths.items():
        if width.packed_bits is None:
            _book_plain(ledger, role, width, number, bits, packing)
        else:
            _book_packed(ledger, role, width, number, bits, uneven=packing is not None and packing.uneven)


def _book_plain(ledger: Ledger, role: str, width: Width, number: int, bits: int, packing: Packing | None) -> None:
    """A type of another width, and the block headers of types that pack by themselves, as GGUF's do."""
    dtype, elements, nbytes, _ = width
    self_packed = packing.widths if packing else {}
    own_bits = self_packed.get(dtype, DTYPE_BITS.get(dtype))
    own = nbytes if own_bits is None else size_of(elements, own_bits)
    if own_bits != bits and (more := own - size_of(elements, bits)):
        cause = "unquantized" if packing and not self_packed else "mixed_dtype"
        ledger.add(cause, number * more, f"{role} in {dtype}", number)
    if own != nbytes and dtype in self_packed:
        what = f"{dtype} at {units.bits(nbytes * 8 / elements)} bits for {own_bits}"
        ledger.add("quantization_overhead", number * (nbytes - own), what, number)
    elif own != nbytes:
        ledger.add("size_mismatch", number * (nbytes - own), role, number)


def _book_packed(ledger: Ledger, role: str, width: Width, number: int, bits: int, *, uneven: bool) -> None:
    """Packed weights: wider or narrower than most, padded to whole words, or without their zeros."""
    assert width.packed_bits is not None
    counted = size_of(width.parameters, bits)
    own, shown = size_of(width.parameters, width.packed_bits), str(width.packed_bits)
    if uneven:  # the bits are rounded to a whole number: use what is stored instead
        own, shown = width.nbytes, units.bits(width.nbytes * width.packed_bits / own) if own else shown
    if own != counted:
        ledger.add("mixed_dtype", number * (own - counted), f"{role} packed at {shown} bits", number)
    if width.nbytes < own:
        ledger.add("sparsity", number * (width.nbytes - own), f"{role} without its zeros", number)
    elif width.nbytes > own:
        ledger.add("quantization_overhead", number * (width.nbytes - own), f"{role} padded", number)


# --- stored tensors that are not predicted ----------------------------------------------------


class _Claims(NamedTuple):
    """Positions of surplus tensors."""

    by_cause: dict[str, list[int]]
    no_parameters: list[int]  # those among them that the model does not count
    unexplained: list[int]


def _book_surplus(
    ledger: Ledger, stored: Stored, named: Named, surplus: Sequence[int], prediction: Prediction | None
) -> _Claims:
    """Book each tensor's bytes under the first cause that claims it; without one, it stays unexplained."""
    claims = _Claims(defaultdict(list), [], [])
    packed = frozenset(stored.packing.names.values()) if stored.packing and prediction else frozenset()
    known: dict[tuple[int, int | None], tuple[Cause | None, str]] = {}

    def take(members: Sequence[int], cause: Cause, what: str) -> None:
        if members:
            claims.by_cause[cause.name].extend(members)
            if not cause.parameters:
                claims.no_parameters.extend(members)
            ledger.add(cause.name, sum(stored.tensors[at].nbytes for at in members), what, len(members))

    def place_of(at: int) -> tuple[int, int | None]:
        """A tensor's slot and layer: all that share them have one cause."""
        slot = named.slots[at]
        by_layer = prediction is not None and slot.group not in APART  # in other cases no layer can be surplus
        return id(slot), named.key(at).layer if by_layer else None

    for place, positions in groupby(surplus, place_of):
        members = list(positions)
        if place not in known:
            known[place] = _cause_and_text(stored, named, members[0], prediction)
        cause, what = known[place]
        if cause is None and packed:  # AutoGPTQ wrote zeros for biases that the configuration does not have
            is_added = {at: _is_bias_of(packed, stored.tensors[at].name) for at in members}
            added = [at for at in members if is_added[at]]
            take(added, BY_NAME["quantization_overhead"], "biases that packing added")
            members = [at for at in members if not is_added[at]]
        if cause is None:
            claims.unexplained.extend(members)
        else:
            take(members, cause, what)
    return claims


def _unlike_ties(stored: Stored, named: Named, copies: Sequence[int], prediction: Prediction) -> Iterator[Finding]:
    """A copy of a tied head in another shape than the embedding's: Transformers 5.24 refuses to load such a file."""
    want = next((row.shape for row in prediction.tied if row.role == HEAD and row.part == "weight"), ())
    for at in copies:
        own = stored.shapes[at]
        is_head = named.slots[at].role == HEAD and named.key(at).part == "weight" and len(own) == len(want)
        if is_head and own not in (want, want[::-1]):  # another rule reports what is transposed
            what = f"{times(own)} stored, {times(want)} = the embedding's, to which the configuration ties it"
            yield Finding("shape", "error", what, None, stored.tensors[at].name)


def _head_alone(stored: Stored, named: Named, joined: Joined, prediction: Prediction | None) -> Unit | None:
    """A tied head that stands for the embedding, which is not stored: None if there is none.

    safetensors' `save_model` keeps the first name of a tensor that has several. Transformers 5.24 then ties the other
    way round (`PreTrainedModel.tie_weights`); llama.cpp does not.
    """
    if prediction is None or prediction.config.kind != "config.json" or not prediction.tied:
        return None
    shapes = {row.shape for row in prediction.tied if row.role == HEAD and row.part == "weight"}
    embeddings = [each for each in joined.missing if each.row.role == EMBEDDING and not stored.is_lost(each.name)]
    heads = [at for at in joined.surplus if named.slots[at].role == HEAD and named.key(at).part == "weight"]
    alone = len(heads) == len(embeddings) == 1 and shapes == {stored.shapes[heads[0]]} == {embeddings[0].row.shape}
    return Unit((heads[0],), (embeddings[0],)) if alone else None


def _book_kept(ledger: Ledger, stored: Stored, named: Named, claims: _Claims, prediction: Prediction) -> None:
    """Book what other classes of the family have, of what would stay unexplained."""
    tensors = {at: (named.key(at), prod(stored.shapes[at])) for at in claims.unexplained}
    names = {at: stored.names[at] for at in tensors}
    for sentence, members in kept_of(prediction, tensors, names):
        ledger.add("another_class", sum(stored.tensors[at].nbytes for at in members), tensors=len(members))
        ledger.add_bytes("another_class", 0, sentence)
        claims.by_cause["another_class"].extend(members)
        claims.no_parameters.extend(members)
        claims.unexplained[:] = [at for at in claims.unexplained if at not in frozenset(members)]


def _cause_and_text(stored: Stored, named: Named, at: int, prediction: Prediction | None) -> tuple[Cause | None, str]:
    """The cause that claims a tensor and others like it, and its text."""
    tensor = stored.tensors[at]
    kind = stored.packing.kinds.get(tensor.name) if stored.packing else None
    cause = cause_of(Surplus(tensor, named.key(at), named.slots[at].group, prediction, tensor.name in stored.numbers))
    word = cause.word(tensor.name) if cause and cause.word else ""
    return cause, kind or word or short(tensor.name)


def _is_bias_of(weights: frozenset[str], name: str) -> bool:
    return name.endswith(".bias") and name.removesuffix("bias") + "weight" in weights


# --- predicted tensors that are not stored ----------------------------------------------------

#: The roles of the output head, and of the token embedding that may replace it.
HEAD, EMBEDDING = "lm_head", "embed_tokens"
#: The role of a body's last map, which its classes with heads are made without (`add_pooling_layer=False`).
POOLER = "pooler"
WITHOUT_POOLER = "stored without its pooler: Transformers creates one at random, which only `pooler_output` uses"
#: Statistics of training: without them a batch norm starts with zeros and ones, after a one-line warning.
MEASURED = ("running_mean", "running_var")


def book_missing(
    ledger: Ledger,
    missing: Sequence[Wanted],
    shared: Mapping[str, str],
    bits: int,
    is_lost: Callable[[str], bool],
    predicted: Sequence[Expected] = (),
    *,
    without_pooler: bool = False,
) -> Iterator[Finding]:
    """A step for their bytes, a finding for layers of which nothing is stored, and one for each other row.

    Args:
        shared: name → the stored tensor that is the same according to the file.
        is_lost: whether a tensor of this name is in a file that is missing: such a head is not tied.
        predicted: all rows, which show what a layer has.
        without_pooler: whether the model is a body, which its own class may have been saved without a pooler.
    """
    rows: dict[str, list[Wanted]] = {}
    may_be_tied = _may_be_tied(missing, is_lost)
    for each in missing:
        same = shared.get(each.name) if shared else None
        if not each.row.buffer:
            head = each.row.role == HEAD and may_be_tied
            why = f" again: it is {short(same)}" if same else ", which nothing uses" if each.row.spare else ""
            what = f"{short(each.row.name)} not stored{why}"
            ledger.add("tied_embeddings" if head or same else "missing", -size_of(each.row.elements, bits), what)
        if not same:
            rows.setdefault(each.row.name, []).append(each)
    absent = _absent_layers([each for members in rows.values() for each in members], predicted) if rows else {}
    for tower, layers in absent.items():
        yield _missing_layers(tower, layers, [each for members in rows.values() for each in members])
    for members in ([each for each in those if not _is_in(each, absent)] for those in rows.values()):
        if not members:
            continue
        if without_pooler and members[0].row.role == POOLER and not any(is_lost(each.name) for each in members):
            yield Finding("missing", "info", WITHOUT_POOLER, None, members[0].name)
        else:
            yield _missing(members, may_be_tied=may_be_tied)


def _absent_layers(missing: Sequence[Wanted], predicted: Sequence[Expected]) -> Mapping[str, Sequence[int]]:
    """Tower → its layers of which several kinds of tensors are predicted, and none is stored."""
    lost = Counter((each.key.tower, each.key.layer) for each in missing if each.key.layer is not None)
    tensors, kinds = Counter[tuple[str, int | None]](), Counter[tuple[str, int | None]]()
    for row in predicted:
        for place in ((row.tower, layer) for layer in row.layers or ()):
            tensors[place] += 1 if row.experts is None else row.experts
            kinds[place] += 1
    found: dict[str, list[int]] = {}
    for (tower, layer), number in lost.items():
        if layer is not None and kinds[tower, layer] > 1 and number == tensors[tower, layer]:
            found.setdefault(tower, []).append(layer)
    return found


def _is_in(each: Wanted, layers: Mapping[str, Sequence[int]]) -> bool:
    return each.key.layer is not None and each.key.layer in layers.get(each.key.tower, ())


def _missing_layers(tower: str, layers: Sequence[int], missing: Sequence[Wanted]) -> Finding:
    """One finding for layers that are missing as a whole, as when a shard was lost."""
    members = [each for each in missing if _is_in(each, {tower: layers})]
    which = f"layer{'s' if len(layers) > 1 else ''} {ranges(layers)}" + (f" of {tower}" if tower != "text" else "")
    what = f"{which} predicted and not stored, with {plural(len(members), 'tensor')}"
    return Finding("missing", "error", what, None, members[0].name)


def _may_be_tied(missing: Iterable[Wanted], is_lost: Callable[[str], bool]) -> bool:
    """Whether an absent head may be the embedding, which is present or in a missing file; the head is in none."""
    embeddings = (each.name for each in missing if each.row.role == EMBEDDING)
    heads = (each.name for each in missing if each.row.role == HEAD)
    return all(map(is_lost, embeddings)) and not any(map(is_lost, heads))


def _missing(members: Sequence[Wanted], *, may_be_tied: bool) -> Finding:
    """The finding for the tensors of one row."""
    first = members[0]
    if first.row.role == HEAD and may_be_tied:
        what = "the configuration has a separate head, but none is stored: it is tied after all, or left out"
        return Finding("head-not-stored", "warning", what, None, first.name)
    # Loaders create buffers, and what nothing uses, themselves, and newer writers omit some; but they cannot recreate
    # measurements, or the weights of a frozen norm.
    made = first.row.spare or (first.row.buffer and group_of(first.row.role) != "norm")
    severity: Severity = "warning" if first.row.role in MEASURED else "info" if made else "error"
    what = f"{plural(len(members), 'tensor')} of {first.row.role} predicted and not stored"
    return Finding("missing", severity, what, None, first.name)


def _book_ties(ledger: Ledger, prediction: Prediction | None) -> None:
    """Report a tied head even when it costs no bytes."""
    for expected in prediction.tied if prediction else ():
        if expected.part == "weight" and "tied_embeddings" not in ledger.bytes:
            ledger.add_bytes("tied_embeddings", 0, f"{expected.role} is the token embedding: not stored twice")
