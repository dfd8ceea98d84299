"""The join of checkpoint and prediction, and the bridge between them.

Every stored tensor is matched with a row of the prediction by its key; fused and stacked layouts are
matched at the coarser key. What remains on either side goes to a named cause, or is unexplained.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import overload

from inspector import causes, configs, labels
from inspector.architectures import family_of
from inspector.architectures.fusions import COARSE
from inspector.causes import Surplus
from inspector.errors import ConfigError
from inspector.formats.safetensors import DTYPE_BITS
from inspector.infer import infer
from inspector.model import (
    Checkpoint,
    Claim,
    Config,
    DtypeSum,
    Expected,
    Finding,
    Key,
    Labelled,
    Nominal,
    Packing,
    Prediction,
    Reconciliation,
    RoleSum,
    Severity,
    Step,
    Tensor,
)
from inspector.naming import Namer, Slot
from inspector.prediction import by_role, bytes_at, predict
from inspector.quantization import packing_of
from inspector.units import integer, plural


def reconcile(checkpoint: Checkpoint, label: str | None = None) -> Reconciliation:
    """Join a checkpoint with what its configuration predicts.

    Args:
        label: the size that people say, "7B"; by default read from the checkpoint's name.

    Raises:
        UsageError: `label` is no size.
    """
    tensors = [tensor for header in checkpoint.files for tensor in header.tensors]
    packing = packing_of(checkpoint.config, checkpoint.files)
    names, shapes = _logical(tensors, packing)
    config = checkpoint.config or infer(_weights(names, shapes, packing))
    prediction, notes = _predict(config)
    family = family_of(config.values) if config else None
    slots, keys = Namer(family, config.values if config else None).name(names, packing.side if packing else None)
    join = _Join(tensors, shapes, slots, keys, prediction, packing)
    dtype = packing.scheme if packing else configs.dtype_of(config) or _most_common(tensors)
    bits = packing.bits if packing else DTYPE_BITS.get(dtype or "", 16)
    ledger = _Ledger()
    join.settle(ledger, bits)
    _file_steps(checkpoint, ledger)
    nominal = labels.given(label, bits) if label else labels.from_names(_names(checkpoint, config), bits)
    predicted = bytes_at(prediction, bits) if prediction else None
    _label_steps(nominal, prediction, predicted, ledger)
    on_disk = checkpoint.size
    start = nominal.bytes if nominal else predicted or 0
    logical = sum(join.parameters)
    roles = _roles(tensors, slots, join.parameters, prediction)
    dtypes = _dtypes(tensors)
    return Reconciliation(
        checkpoint=replace(checkpoint, config=config),
        prediction=prediction,
        packing=packing,
        dtype=dtype,
        nominal=nominal,
        predicted=predicted,
        on_disk=on_disk,
        steps=ledger.steps(),
        unexplained_bytes=on_disk - start - ledger.total,
        unexplained=tuple(join.unexplained),
        logical=logical,
        active=_active(prediction, logical),
        stored_elements=sum(each.elements for each in dtypes),
        roles=roles,
        dtypes=dtypes,
        findings=(*checkpoint.all_findings, *notes, *(packing.findings if packing else ()), *join.findings),
        claims=tuple(_claims(checkpoint, tensors, logical)),
        tensors=_Labels(checkpoint, slots, keys, join.parameters),
    )


def _logical(tensors: Sequence[Tensor], packing: Packing | None) -> tuple[list[str], list[tuple[int, ...]]]:
    """Each tensor's name and shape as the model has it, before packing."""
    if packing is None:
        return [tensor.name for tensor in tensors], [tensor.shape for tensor in tensors]
    names, shapes = packing.names, packing.shapes
    return [names.get(t.name, t.name) for t in tensors], [shapes.get(t.name, t.shape) for t in tensors]


def _weights(
    names: Iterable[str], shapes: Iterable[tuple[int, ...]], packing: Packing | None
) -> dict[str, tuple[int, ...]]:
    """Logical shapes by name, side data left out."""
    side = packing.side if packing else {}
    return {name: shape for name, shape in zip(names, shapes, strict=True) if name not in side}


def _predict(config: Config | None) -> tuple[Prediction | None, tuple[Finding, ...]]:
    if config is None:
        what = "no configuration, and no known family explains the tensors: no prediction"
        return None, (Finding("no-prediction", "info", what),)
    try:
        return predict(config), ()
    except ConfigError as error:
        return None, (Finding("no-prediction", "info", str(error), config.path),)


def _most_common(tensors: Iterable[Tensor]) -> str | None:
    """The dtype of most elements."""
    elements: Counter[str] = Counter()
    for tensor in tensors:
        elements[tensor.dtype] += prod(tensor.shape)
    return elements.most_common(1)[0][0] if elements else None


def _size(elements: int, bits: int) -> int:
    """Bytes of so many elements, the last byte filled up."""
    return -(-elements * bits // 8)


def _active(prediction: Prediction | None, logical: int) -> int | None:
    if prediction is None:
        return None
    return prediction.active if any(row.experts for row in prediction.expected) else logical


def _names(checkpoint: Checkpoint, config: Config | None) -> Iterator[str]:
    """Names in which people put a model's size, the nearest first."""
    if len(checkpoint.files) == 1:
        yield checkpoint.files[0].path.rsplit("/", 1)[-1]
    yield checkpoint.name
    yield checkpoint.target
    origin = config.values.get("_name_or_path") if config else None
    if isinstance(origin, str):
        yield origin


# --- the join ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _Ledger:
    """Bytes by cause, with what they are about."""

    bytes: Counter[str] = field(default_factory=Counter)
    tensors: Counter[str] = field(default_factory=Counter)
    details: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    texts: dict[str, str] = field(default_factory=dict)

    def add(self, cause: str, nbytes: int, what: str = "", tensors: int = 1) -> None:
        """Book a tensor's (or several tensors') bytes; equal `what` are counted together."""
        self.bytes[cause] += nbytes
        self.tensors[cause] += tensors
        if what:
            self.details[cause][what] += tensors

    def tell(self, cause: str, nbytes: int, detail: str) -> None:
        """Book bytes that are about no tensor, with the whole sentence."""
        self.bytes[cause] += nbytes
        self.texts[cause] = detail

    @property
    def total(self) -> int:
        return sum(self.bytes.values())

    def steps(self) -> tuple[Step, ...]:
        booked = sorted(self.bytes, key=lambda cause: causes.ORDER[cause])
        return tuple(
            Step(cause, self.bytes[cause], self.tensors[cause], self._detail(cause))
            for cause in booked
            if self.bytes[cause] or self.tensors[cause] or cause in self.texts
        )

    def _detail(self, cause: str) -> str:
        told = [f"{integer(n)} × {what}" for what, n in self.details[cause].most_common(4)]
        more = len(self.details[cause]) - len(told)
        if more:
            told.append(f"{more} more kinds")
        return "; ".join(filter(None, (self.texts.get(cause), ", ".join(told)))) or causes.BY_NAME[cause].meaning


@dataclass(slots=True)
class _Row:
    """A row of the prediction while tensors are matched with it."""

    expected: Expected
    layers: frozenset[int] | None
    matched: int = 0

    def has(self, key: Key) -> bool:
        layer, expert = key.layer, key.expert
        if self.layers is None:
            if layer is not None:
                return False
        elif layer not in self.layers:
            return False
        experts = self.expected.experts
        return expert is None if experts is None else expert is not None and 0 <= expert < experts


@dataclass(slots=True)
class _Join:
    """Stored tensors matched with predicted ones; `settle` books the differences."""

    tensors: Sequence[Tensor]
    shapes: Sequence[tuple[int, ...]]  # logical
    slots: Sequence[Slot]
    keys: Sequence[Key]
    prediction: Prediction | None
    packing: Packing | None
    parameters: list[int] = field(default_factory=list)  # logical, a number a tensor
    findings: list[Finding] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    _rows: dict[tuple[object, ...], list[_Row]] = field(default_factory=dict)
    _matched: list[tuple[int, int]] = field(default_factory=list)  # (tensor, predicted elements), equal ones left out
    _surplus: list[int] = field(default_factory=list)
    _copies: list[int] = field(default_factory=list)
    _seen: set[Key] = field(default_factory=set)

    def settle(self, ledger: _Ledger, bits: int) -> None:
        """Match everything, and book what differs; `bits` are those of the predicted dtype."""
        self.parameters = [prod(shape) for shape in self.shapes]
        for expected in self.prediction.expected if self.prediction else ():
            row = _Row(expected, None if expected.layers is None else frozenset(expected.layers))
            self._rows.setdefault((expected.tower, expected.role, expected.part, expected.branch), []).append(row)
        matched = self._match(ledger, bits)
        missing = self._missing()
        missing, coarse = self._match_coarse(missing, ledger, bits)
        self._book_dtypes(matched + coarse, ledger, bits)
        self._book_copies(ledger)
        self._book_surplus(ledger)
        self._book_missing(missing, ledger, bits)
        self._book_unstored_ties(ledger)

    def _match(self, ledger: _Ledger, bits: int) -> list[int]:
        """Tensors with their own row, by key. Shapes that differ are booked here."""
        matched: list[int] = []
        seen = self._seen
        rows_of: dict[int, list[_Row]] = {}
        names: set[str] = set()
        for at, (tensor, slot, key) in enumerate(zip(self.tensors, self.slots, self.keys, strict=True)):
            rows = rows_of.get(id(slot))
            if rows is None or slot.branch_at:
                unit = key.tower, key.role, key.part, key.branch
                rows = rows_of[id(slot)] = [] if slot.group == "buffer" else self._rows.get(unit, [])
            for row in rows:
                if row.has(key):
                    break
            else:
                (self._copies if tensor.name in names else self._surplus).append(at)
                names.add(tensor.name)
                continue
            if key in seen:
                self._copies.append(at)
                continue
            seen.add(key)
            row.matched += 1
            matched.append(at)
            if self.shapes[at] != row.expected.shape:
                self._book_shape(at, row.expected, ledger, bits)
        return matched

    def _book_shape(self, at: int, expected: Expected, ledger: _Ledger, bits: int) -> None:
        """A tensor of another size than its row's; another order of dimensions is none."""
        name, shape = self.tensors[at].name, self.shapes[at]
        if _alike(shape, expected.shape):
            return
        cause = _shape_cause(self.keys[at], shape, expected.shape)
        ledger.add(cause, _size(prod(shape), bits) - _size(expected.elements, bits), _short(name))
        what = f"{_times(shape)} stored, {_times(expected.shape)} = {' × '.join(expected.formula)} predicted"
        severity: Severity = "warning" if cause == "vocab_padding" else "error"
        self.findings.append(Finding(cause.replace("_", "-"), severity, what, None, name))

    def _missing(self) -> list[tuple[Expected, Key]]:
        """Predicted tensors that no stored one has matched."""
        return [
            (row.expected, key)
            for rows in self._rows.values()
            for row in rows
            if row.matched < row.expected.tensors
            for key in row.expected.keys()
            if key not in self._seen
        ]

    def _match_coarse(
        self, missing: list[tuple[Expected, Key]], ledger: _Ledger, bits: int
    ) -> tuple[list[tuple[Expected, Key]], list[int]]:
        """Stacked experts, then fused projections: compared by the sum of their elements."""
        joined: list[int] = []
        for coarse in ({}, COARSE):
            if not missing or not self._surplus:
                break
            stored: dict[tuple[object, ...], list[int]] = defaultdict(list)
            for at in self._surplus:
                if self.slots[at].group != "buffer" and self.keys[at].role:
                    stored[_unit(self.keys[at], coarse)].append(at)
            wanted: dict[tuple[object, ...], list[tuple[Expected, Key]]] = defaultdict(list)
            for expected, key in missing:
                wanted[_unit(key, coarse)].append((expected, key))
            both = stored.keys() & wanted.keys()
            for unit in both:
                self._book_unit(stored[unit], [expected for expected, _ in wanted[unit]], ledger, bits)
                joined += stored[unit]
            missing = [pair for unit, pairs in wanted.items() if unit not in both for pair in pairs]
            gone = set(joined)
            self._surplus = [at for at in self._surplus if at not in gone]
        return missing, joined

    def _book_unit(self, stored: list[int], wanted: list[Expected], ledger: _Ledger, bits: int) -> None:
        """A fused or stacked group: equal in elements, or a step for the difference."""
        have = sum(_size(self.parameters[at], bits) for at in stored)
        want = sum(_size(expected.elements, bits) for expected in wanted)
        if have != want:
            first = self.tensors[stored[0]]
            ledger.add("shape", have - want, _short(first.name), len(stored))
            elements = sum(self.parameters[at] for at in stored), sum(e.elements for e in wanted)
            what = f"{integer(elements[0])} elements stored, {integer(elements[1])} predicted for {wanted[0].role}"
            self.findings.append(Finding("shape", "error", what, None, first.name))

    def _book_dtypes(self, matched: list[int], ledger: _Ledger, bits: int) -> None:
        """Tensors of another width than the prediction counts with."""
        packed = self.packing.shapes if self.packing else {}
        for at in matched:
            tensor = self.tensors[at]
            counted = _size(self.parameters[at], bits)
            if tensor.name in packed:
                ledger.add("quantization_overhead", tensor.nbytes - counted, f"{self.keys[at].role} packed")
                continue
            width = DTYPE_BITS.get(tensor.dtype)
            own = tensor.nbytes if width is None else _size(self.parameters[at], width)
            if width != bits and own != counted:
                cause = "unquantized" if self.packing else "mixed_dtype"
                ledger.add(cause, own - counted, f"{self.keys[at].role or _short(tensor.name)} in {tensor.dtype}")
            if own != tensor.nbytes:
                ledger.add("size_mismatch", tensor.nbytes - own, _short(tensor.name))

    def _book_copies(self, ledger: _Ledger) -> None:
        for at in self._copies:
            self.parameters[at] = 0
            ledger.add("duplicate", self.tensors[at].nbytes, _short(self.tensors[at].name))

    def _book_surplus(self, ledger: _Ledger) -> None:
        """Stored tensors that nothing predicts: a cause claims them, or they stay unexplained."""
        for at in self._surplus:
            tensor = self.tensors[at]
            cause = causes.cause_of(Surplus(tensor, self.keys[at], self.slots[at].group, self.prediction))
            if cause is None:
                self.unexplained.append(tensor.name)
                continue
            if not cause.parameters:
                self.parameters[at] = 0
            ledger.add(cause.name, tensor.nbytes, _short(tensor.name))
        if self.unexplained and self.prediction:
            what = f"{plural(len(self.unexplained), 'tensor')} that the configuration does not predict"
            self.findings.append(Finding("unexplained", "warning", what, None, self.unexplained[0]))

    def _book_missing(self, missing: list[tuple[Expected, Key]], ledger: _Ledger, bits: int) -> None:
        """Predicted tensors that are nowhere."""
        absent: dict[str, tuple[Expected, Key, int]] = {}
        for expected, key in missing:
            cause = "tied_embeddings" if expected.role == "lm_head" else "missing"
            ledger.add(cause, -_size(expected.elements, bits), f"{_short(expected.name)} not stored")
            first, first_key, number = absent.get(expected.name, (expected, key, 0))
            absent[expected.name] = first, first_key, number + 1
        for expected, key, number in absent.values():
            if expected.role == "lm_head":
                what = "the configuration has a head of its own, and none is stored: tied after all, or left out"
                self.findings.append(Finding("head-not-stored", "warning", what, None, expected.name_of(key)))
            else:
                what = f"{plural(number, 'tensor')} of {expected.role} predicted and not stored"
                self.findings.append(Finding("missing", "error", what, None, expected.name_of(key)))

    def _book_unstored_ties(self, ledger: _Ledger) -> None:
        """Say that a head is shared, where it costs nothing."""
        for expected in self.prediction.tied if self.prediction else ():
            if expected.part == "weight" and "tied_embeddings" not in ledger.bytes:
                ledger.tell("tied_embeddings", 0, f"{expected.role} is the token embedding: not stored again")


def _alike(stored: tuple[int, ...], predicted: tuple[int, ...]) -> bool:
    """The same dimensions, whatever their order and dimensions of 1: another layout, not another size."""
    return sorted(d for d in stored if d != 1) == sorted(d for d in predicted if d != 1)


def _shape_cause(key: Key, stored: tuple[int, ...], predicted: tuple[int, ...]) -> str:
    vocabulary = key.role in ("embed_tokens", "lm_head") and len(stored) == len(predicted)
    return "vocab_padding" if vocabulary and stored[1:] == predicted[1:] else "shape"


def _unit(key: Key, coarse: Mapping[str, str]) -> tuple[object, ...]:
    return key.tower, key.layer, coarse.get(key.role, key.role), key.part, key.expert is not None, key.branch


def _times(shape: Iterable[int]) -> str:
    return "×".join(map(str, shape)) or "scalar"


def _short(name: str) -> str:
    """The last words of a tensor's name that tell what it is: `rotary_emb.inv_freq`, `q_proj.bias`."""
    words = [word for word in name.split(".") if not word.isdigit() and not word.startswith("{")]
    if words[-1:] == ["weight"] and len(words) > 1:
        words.pop()
    return ".".join(words[-2:])


# --- steps that are about files and labels ----------------------------------------------------


def _file_steps(checkpoint: Checkpoint, ledger: _Ledger) -> None:
    """Header, padding and the like; and what tensors claim beyond, or twice within, a file."""
    formats = Counter(header.format for header in checkpoint.files)
    for header in checkpoint.files:
        stored = 0
        for region in header.regions:
            cause = causes.REGION_CAUSES.get(region.label)
            if cause is None:
                stored += region.size
            else:
                ledger.tell(cause, region.size, causes.BY_NAME[cause].meaning)
        claimed = sum(tensor.nbytes for tensor in header.tensors)
        if claimed != stored:
            beyond = sum(max(0, t.offset + t.nbytes - max(header.size, t.offset)) for t in header.tensors)
            if beyond:
                ledger.tell("truncated", -beyond, f"{integer(beyond)} bytes beyond the end of {header.path}")
            if stored - claimed + beyond:
                ledger.tell("overlap", stored - claimed + beyond, causes.BY_NAME["overlap"].meaning)
    if "header" in ledger.bytes:
        ledger.texts["header"] = ", ".join(plural(n, f"{name} header") for name, n in formats.items())


def _label_steps(
    nominal: Nominal | None, prediction: Prediction | None, predicted: int | None, ledger: _Ledger
) -> None:
    """From what people say to what the configuration predicts."""
    if nominal is None or prediction is None or predicted is None:
        return
    shared = 0
    if nominal.experts > 1:
        outside = sum(row.parameters for row in prediction.expected if not row.experts)
        shared = -_size((nominal.experts - 1) * outside, nominal.bits)
        what = f"{nominal.experts - 1} × {integer(outside)} parameters that the experts share, counted again"
        ledger.tell("label_experts", shared, what)
    what = f"the configuration says {integer(prediction.parameters)} parameters"
    ledger.tell("label_rounding", predicted - nominal.bytes - shared, what)


def _claims(checkpoint: Checkpoint, tensors: Sequence[Tensor], logical: int) -> Iterator[Claim]:
    """Totals that the index states, beside what was counted."""
    stated = checkpoint.index.metadata if checkpoint.index else {}
    counted = {"total_size": sum(tensor.nbytes for tensor in tensors), "total_parameters": logical}
    for name, count in counted.items():
        if stated.get(name) is not None:
            yield Claim(name, str(stated[name])[:40], count)


# --- sums -------------------------------------------------------------------------------------


def _roles(
    tensors: Sequence[Tensor], slots: Sequence[Slot], parameters: Sequence[int], prediction: Prediction | None
) -> tuple[RoleSum, ...]:
    """Tensors by role: in the prediction's order, then in the files'."""
    forecasts = {(line.role, line.group, line.tower): line for line in by_role(prediction)} if prediction else {}
    sums: dict[tuple[str, str, str], list[int]] = {key: [0, 0, 0] for key in forecasts}
    dtypes: dict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)
    lines: dict[int, tuple[list[int], dict[str, None]]] = {}
    for tensor, slot, count in zip(tensors, slots, parameters, strict=True):
        line = lines.get(id(slot))
        if line is None:
            key = (slot.role or "other", slot.group, slot.tower)
            line = lines[id(slot)] = sums.setdefault(key, [0, 0, 0]), dtypes[key]
        total, kinds = line
        total[0] += 1
        total[1] += count
        total[2] += tensor.nbytes
        kinds[tensor.dtype] = None
    return tuple(
        RoleSum(
            role=key[0],
            group=key[1],
            tower=key[2],
            tensors=total[0],
            parameters=total[1],
            bytes=total[2],
            predicted_parameters=forecasts[key].parameters if key in forecasts else 0 if prediction else None,
            formula=forecasts[key].formula if key in forecasts else None,
            dtypes=tuple(dtypes[key]),
        )
        for key, total in sums.items()
    )


def _dtypes(tensors: Iterable[Tensor]) -> tuple[DtypeSum, ...]:
    sums: dict[str, list[int]] = {}
    for tensor in tensors:
        total = sums.setdefault(tensor.dtype, [0, 0, 0])
        total[0] += 1
        total[1] += prod(tensor.shape)
        total[2] += tensor.nbytes
    return tuple(DtypeSum(dtype, *total) for dtype, total in sorted(sums.items(), key=lambda item: -item[1][2]))


class _Labels(Sequence[Labelled]):
    """The tensors with their keys, one made when asked for."""

    def __init__(
        self, checkpoint: Checkpoint, slots: Sequence[Slot], keys: Sequence[Key], parameters: Sequence[int]
    ) -> None:
        self._places = [(header, at) for header in checkpoint.files for at in range(len(header.tensors))]
        self._slots, self._keys, self._parameters = slots, keys, parameters

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, at: int) -> Labelled: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Labelled]: ...
    def __getitem__(self, at: int | slice) -> Labelled | Sequence[Labelled]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        header, within = self._places[at]
        return Labelled(
            header.tensors[within], header.path, self._keys[at], self._slots[at].group, self._parameters[at]
        )
