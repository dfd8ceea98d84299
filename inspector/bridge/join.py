"""Stored tensors matched with predicted ones, by key.

Each pattern of names is matched as a whole where it fills a row of the prediction, tensor by tensor
otherwise; fused and stacked layouts are matched at the coarser key. What remains on either side goes
to a named cause, or is unexplained.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, repeat
from math import prod
from operator import itemgetter

from inspector import units
from inspector.architectures.data.fusions import COARSE
from inspector.architectures.naming import Named, Slot
from inspector.architectures.prediction import size_of
from inspector.bridge import causes
from inspector.bridge.causes import Surplus
from inspector.bridge.ledger import Ledger
from inspector.bridge.tally import Kind
from inspector.formats.safetensors.dtypes import DTYPE_BITS
from inspector.model import STACKED, Expected, Finding, Key, Packing, Prediction, Severity, Tensor
from inspector.units import integer, plural


class _Row:
    """A row of the prediction while tensors are matched with it."""

    def __init__(self, expected: Expected) -> None:
        self.expected = expected
        self.layers = None if expected.layers is None else frozenset(expected.layers)
        self.complete = False  # every tensor of it is matched
        self._taken: set[Key] = set()

    def has(self, key: Key) -> bool:
        """Whether the row predicts a tensor of this key."""
        layer, expert = key.layer, key.expert
        if self.layers is None:
            if layer is not None:
                return False
        elif layer not in self.layers:
            return False
        if self.expected.experts is None:
            return expert == (None if self.expected.stacked is None else STACKED)
        return expert is not None and expert in self.expected.expert_numbers

    def is_taken(self, key: Key) -> bool:
        return self.complete or key in self._taken

    def take(self, key: Key) -> None:
        self._taken.add(key)

    @property
    def untouched(self) -> bool:
        return not self.complete and not self._taken

    def missing(self) -> Iterator[Key]:
        """Keys of predicted tensors that no stored one has matched."""
        if not self.complete and len(self._taken) < self.expected.tensors:
            yield from (key for key in self.expected.keys() if key not in self._taken)


class Join:
    """Stored tensors matched with predicted ones; `settle` books the differences."""

    def __init__(
        self,
        tensors: Sequence[Tensor],
        shapes: Sequence[tuple[int, ...]],  # logical
        named: Named,
        kinds: Sequence[Counter[Kind]],  # of each of the groups
        prediction: Prediction | None,
        packing: Packing | None,
    ) -> None:
        self.tensors = tensors
        self.shapes = shapes
        self.named = named
        self.kinds = kinds
        self.prediction = prediction
        self.packing = packing
        self.parameters: list[int] = []  # logical, a number a tensor
        self.findings: list[Finding] = []
        self.unexplained: list[str] = []
        self._rows: dict[tuple[object, ...], list[_Row]] = {}
        self._predicted: set[tuple[str, str, str]] = set()  # tower, role and part of any row
        self._surplus: list[int] = []
        self._copies: list[int] = []
        self._all_distinct: bool | None = None  # whether no two names are equal, once it was asked
        self._weights: set[str] = set()  # names of packed weights, made when asked for

    def settle(self, ledger: Ledger, bits: int) -> None:
        """Match everything, and book what differs; `bits` are those of the predicted dtype."""
        self.parameters = list(map(prod, self.shapes))
        for expected in self.prediction.expected if self.prediction else ():
            row = _Row(expected)
            self._rows.setdefault(_place(expected), []).append(row)
            self._predicted.add((expected.tower, expected.role, expected.part))
        for (slot, members), kinds in zip(self.named.groups, self.kinds, strict=True):
            self._match(slot, members, kinds, ledger, bits)
        if not self.tensors:
            self.findings.append(Finding("no-tensors", "info", "no tensors at all: a vocabulary, or an empty file"))
        missing = self._match_coarse(self._missing(), ledger, bits)
        self._book_copies(ledger)
        self._book_surplus(ledger)
        self._book_missing(missing, ledger, bits)
        self._book_unstored_ties(ledger)

    def _match(self, slot: Slot, members: Sequence[int], kinds: Counter[Kind], ledger: Ledger, bits: int) -> None:
        """Tensors of one pattern with their own rows, by key. Shapes and dtypes that differ are booked."""
        unpredicted = (slot.tower, slot.role, slot.part) not in self._predicted
        if slot.group in ("buffer", "quantization") or (unpredicted and self._distinct(members)):
            self._surplus += members
            return
        if self.packing is None and self._match_whole(slot, members, kinds):
            plain: dict[tuple[str, int, int, int | None], int] = {
                (kind.dtype, prod(kind.shape), kind.nbytes, None): number for kind, number in kinds.items()
            }
            self._book_kinds(slot, plain, ledger, bits)
        else:
            self._book_dtypes(slot, self._match_each(members, ledger, bits), ledger, bits)

    def _distinct(self, members: Sequence[int]) -> bool:
        """Whether no name stands twice, as one may in two files."""
        if self._all_distinct is None:
            self._all_distinct = len(set(self.named.names)) == len(self.named.names)
        return self._all_distinct or len({self.tensors[at].name for at in members}) == len(members)

    def _match_whole(self, slot: Slot, members: Sequence[int], kinds: Counter[Kind]) -> bool:
        """A group whose names and shape are those of one row: the usual case, and nobody need read the numbers."""
        rows = [
            row
            for row in self._rows.get((slot.tower, slot.role, slot.part, slot.branch, ()), ())
            if row.untouched and row.expected.tensors == len(members)
        ]
        shapes = {kind.shape for kind in kinds}
        for row in rows:
            if shapes == {row.expected.shape}:
                names = {self.named.names[at] for at in members}
                row.complete = names == set(row.expected.names())
                if row.complete:
                    return True
        return False

    def _match_each(self, members: Sequence[int], ledger: Ledger, bits: int) -> list[int]:
        """One tensor after the other; those with a row of their own."""
        matched: list[int] = []
        names: set[str] = set()
        for at in members:
            key = self.named.key(at)
            row = next((r for r in self._rows.get(_place(key), ()) if r.has(key)), None)
            name = self.tensors[at].name
            if (row is None and name in names) or (row is not None and row.is_taken(key)):
                self._copies.append(at)
            elif row is None:
                self._surplus.append(at)
            else:
                row.take(key)
                matched.append(at)
                if self.shapes[at] != row.expected.shape:
                    self._book_shape(at, row.expected, ledger, bits)
            names.add(name)
        return matched

    def _book_shape(self, at: int, expected: Expected, ledger: Ledger, bits: int) -> None:
        """A tensor of another size than its row's; another order of dimensions is none."""
        name, shape = self.tensors[at].name, self.shapes[at]
        if _alike(shape, expected.shape) or (self._flat(name, shape) and prod(shape) == expected.elements):
            return
        cause = _shape_cause(self.named.slots[at].role, shape, expected.shape)
        ledger.add(cause, size_of(prod(shape), bits) - size_of(expected.elements, bits), short(name))
        what = f"{_times(shape)} stored, {_times(expected.shape)} = {' × '.join(expected.formula)} predicted"
        severity: Severity = "warning" if cause == "vocab_padding" else "error"
        self.findings.append(Finding(cause.replace("_", "-"), severity, what, None, name))

    def _flat(self, name: str, shape: tuple[int, ...]) -> bool:
        """Whether only the number of a packed weight's elements is known."""
        return self.packing is not None and len(shape) == 1 and name in self.packing.shapes

    def _missing(self) -> list[tuple[Expected, Key]]:
        """Predicted tensors that no stored one has matched."""
        return [(row.expected, key) for rows in self._rows.values() for row in rows for key in row.missing()]

    def _match_coarse(
        self, missing: list[tuple[Expected, Key]], ledger: Ledger, bits: int
    ) -> list[tuple[Expected, Key]]:
        """Stacked experts, then fused projections: compared by the sum of their elements."""
        for coarse in ({}, COARSE):
            if not missing or not self._surplus:
                break
            stored: dict[tuple[object, ...], list[int]] = defaultdict(list)
            for at in self._surplus:
                slot = self.named.slots[at]
                if slot.role and slot.group not in ("buffer", "quantization"):
                    stored[_unit(self.named.key(at), coarse)].append(at)
            wanted: dict[tuple[object, ...], list[tuple[Expected, Key]]] = defaultdict(list)
            for expected, key in missing:
                wanted[_unit(key, coarse)].append((expected, key))
            both = stored.keys() & wanted.keys()
            for unit in both:
                self._book_unit(stored[unit], [expected for expected, _ in wanted[unit]], ledger, bits)
                for at in stored[unit]:
                    self._book_dtypes(self.named.slots[at], [at], ledger, bits)
            missing = [pair for unit, pairs in wanted.items() if unit not in both for pair in pairs]
            joined = {at for unit in both for at in stored[unit]}
            self._surplus = [at for at in self._surplus if at not in joined]
        return missing

    def _book_unit(self, stored: list[int], wanted: list[Expected], ledger: Ledger, bits: int) -> None:
        """A fused or stacked group: equal in elements, or a step for the difference."""
        have = sum(size_of(self.parameters[at], bits) for at in stored)
        want = sum(size_of(expected.elements, bits) for expected in wanted)
        if have != want:
            first = self.tensors[stored[0]]
            ledger.add("shape", have - want, short(first.name), len(stored))
            elements = sum(self.parameters[at] for at in stored), sum(e.elements for e in wanted)
            what = f"{integer(elements[0])} elements stored, {integer(elements[1])} predicted for {wanted[0].role}"
            self.findings.append(Finding("shape", "error", what, None, first.name))

    def _book_dtypes(self, slot: Slot, members: Sequence[int], ledger: Ledger, bits: int) -> None:
        """Tensors of another width than the prediction counts with; equal ones are booked together."""
        kinds = Counter(
            (self.tensors[at].dtype, self.parameters[at], self.tensors[at].nbytes, self._packed_bits(at))
            for at in members
        )
        self._book_kinds(slot, kinds, ledger, bits)

    def _book_kinds(
        self, slot: Slot, kinds: Mapping[tuple[str, int, int, int | None], int], ledger: Ledger, bits: int
    ) -> None:
        """(dtype, elements, bytes, bits if packed) → how many."""
        widths = self.packing.widths if self.packing else {}
        for (dtype, elements, nbytes, packed_bits), number in kinds.items():
            counted = size_of(elements, bits)
            if packed_bits is not None:
                own = size_of(elements, packed_bits)
                self._book_packed(slot, (counted, own, nbytes), packed_bits, ledger, number)
                continue
            width = widths.get(dtype, DTYPE_BITS.get(dtype))
            own = nbytes if width is None else size_of(elements, width)
            what = slot.role
            if width != bits and own != counted:
                cause = "unquantized" if self.packing and not widths else "mixed_dtype"
                ledger.add(cause, number * (own - counted), f"{what} in {dtype}", number)
            if own != nbytes and dtype in widths:
                what = f"{dtype} at {units.bits(nbytes * 8 / elements)} bits for {width}"
                ledger.add("quantization_overhead", number * (nbytes - own), what, number)
            elif own != nbytes:
                ledger.add("size_mismatch", number * (nbytes - own), what, number)

    def _packed_bits(self, at: int) -> int | None:
        """Bits of a packed weight; None for a plain tensor."""
        name = self.tensors[at].name
        if self.packing is None or name not in self.packing.shapes:
            return None
        return self.packing.odd_bits.get(name, self.packing.bits)

    def _book_packed(
        self, slot: Slot, sizes: tuple[int, int, int], packed_bits: int, ledger: Ledger, number: int
    ) -> None:
        """Packed weights: of another width than most, filled up to whole words, or without their zeros.

        `sizes` are the bytes of each as counted, at its own width, and as stored.
        """
        counted, own, stored = sizes
        width = str(packed_bits)
        if self.packing is not None and self.packing.uneven:
            own, width = stored, units.bits(stored * packed_bits / own) if own else width
        if own != counted:
            what = f"{slot.role} packed at {width} bits"
            ledger.add("mixed_dtype", number * (own - counted), what, number)
        if stored < own:
            ledger.add("sparsity", number * (stored - own), f"{slot.role} without its zeros", number)
        elif stored > own:
            ledger.add("quantization_overhead", number * (stored - own), f"{slot.role} filled up", number)

    def _book_copies(self, ledger: Ledger) -> None:
        for at in self._copies:
            self.parameters[at] = 0
            ledger.add("duplicate", self.tensors[at].nbytes, short(self.tensors[at].name))

    def _book_surplus(self, ledger: Ledger) -> None:
        """Stored tensors that nothing predicts: a cause claims them, or they stay unexplained."""
        known: dict[tuple[int, int | None], tuple[causes.Cause | None, str]] = {}
        for unit, pairs in groupby(zip(self._surplus, self._units(), strict=True), itemgetter(1)):
            members = [at for at, _ in pairs]
            if unit not in known:
                known[unit] = self._cause_of(members[0])
            cause, what = known[unit]
            if cause is None and self.packing and self.prediction:
                members = self._without_added_biases(members, ledger)
            if cause is None:
                self.unexplained += [self.tensors[at].name for at in members]
                continue
            if not cause.parameters:
                for at in members:
                    self.parameters[at] = 0
            ledger.add(cause.name, sum(self.tensors[at].nbytes for at in members), what, len(members))
        if self.unexplained and self.prediction:
            what = f"{plural(len(self.unexplained), 'tensor')} that the configuration does not predict"
            self.findings.append(Finding("unexplained", "warning", what, None, self.unexplained[0]))

    def _units(self) -> Iterator[tuple[int, int | None]]:
        """Of each surplus tensor its slot and layer: one cause has all that share them."""
        slots = (id(self.named.slots[at]) for at in self._surplus)
        # Only beside a prediction can a layer be one too many.
        layers = (self.named.key(at).layer for at in self._surplus) if self.prediction else repeat(None)
        return zip(slots, layers, strict=False)

    def _cause_of(self, at: int) -> tuple[causes.Cause | None, str]:
        """What claims a tensor and those like it, and the words for it."""
        tensor = self.tensors[at]
        kind = self.packing.kinds.get(tensor.name) if self.packing else None
        surplus = Surplus(tensor, self.named.key(at), self.named.slots[at].group, self.prediction)
        return causes.cause_of(surplus), kind or short(tensor.name)

    def _without_added_biases(self, members: list[int], ledger: Ledger) -> list[int]:
        """The tensors that are no biases which packing added; those are booked, and are no parameters."""
        added = {at for at in members if self._added_bias(self.tensors[at].name)}
        for at in added:
            self.parameters[at] = 0
            ledger.add("quantization_overhead", self.tensors[at].nbytes, "biases that packing added")
        return [at for at in members if at not in added]

    def _added_bias(self, name: str) -> bool:
        """A bias of a packed weight, where the configuration has none: AutoGPTQ wrote zeros for it."""
        if self.packing is None or not name.endswith(".bias"):
            return False
        if not self._weights:
            self._weights = set(self.packing.names.values())
        return name.removesuffix("bias") + "weight" in self._weights

    def _book_missing(self, missing: list[tuple[Expected, Key]], ledger: Ledger, bits: int) -> None:
        """Predicted tensors that are nowhere."""
        absent: dict[str, tuple[Expected, Key, int]] = {}
        for expected, key in missing:
            cause = "tied_embeddings" if expected.role == "lm_head" else "missing"
            ledger.add(cause, -size_of(expected.elements, bits), f"{short(expected.name)} not stored")
            first, first_key, number = absent.get(expected.name, (expected, key, 0))
            absent[expected.name] = first, first_key, number + 1
        if not self.tensors:  # one finding says it all
            return
        for expected, key, number in absent.values():
            if expected.role == "lm_head":
                what = "the configuration has a head of its own, and none is stored: tied after all, or left out"
                self.findings.append(Finding("head-not-stored", "warning", what, None, expected.name_of(key)))
            else:
                # Loaders make a buffer themselves, and newer writers leave some out.
                severity: Severity = "info" if expected.buffer else "error"
                what = f"{plural(number, 'tensor')} of {expected.role} predicted and not stored"
                self.findings.append(Finding("missing", severity, what, None, expected.name_of(key)))

    def _book_unstored_ties(self, ledger: Ledger) -> None:
        """Say that a head is shared, where it costs nothing."""
        for expected in self.prediction.tied if self.prediction else ():
            if expected.part == "weight" and "tied_embeddings" not in ledger.bytes:
                ledger.tell("tied_embeddings", 0, f"{expected.role} is the token embedding: not stored again")


def _alike(stored: tuple[int, ...], predicted: tuple[int, ...]) -> bool:
    """The same dimensions, whatever their order and dimensions of 1: another layout, not another size."""
    return sorted(d for d in stored if d != 1) == sorted(d for d in predicted if d != 1)


def _shape_cause(role: str, stored: tuple[int, ...], predicted: tuple[int, ...]) -> str:
    vocabulary = role in ("embed_tokens", "lm_head") and len(stored) == len(predicted)
    return "vocab_padding" if vocabulary and stored[1:] == predicted[1:] else "shape"


def _place(of: Key | Expected) -> tuple[object, ...]:
    """What a row and its tensors have in common, whatever their layers and experts."""
    return of.tower, of.role, of.part, of.branch, of.indexes


def _unit(key: Key, coarse: Mapping[str, str]) -> tuple[object, ...]:
    return (
        key.tower,
        key.layer,
        coarse.get(key.role, key.role),
        key.part,
        key.expert is not None,
        key.branch,
        key.indexes,
    )


def _times(shape: Iterable[int]) -> str:
    return "×".join(map(str, shape)) or "scalar"


def short(name: str) -> str:
    """The last words of a tensor's name that tell what it is: `rotary_emb.inv_freq`, `q_proj.bias`."""
    words = [word for word in name.split(".") if not word.isdigit() and not word.startswith("{")]
    if words[-1:] == ["weight"] and len(words) > 1:
        words.pop()
    return ".".join(words[-2:])
