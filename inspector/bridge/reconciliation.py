"""The bridge from what people say over what a configuration predicts to what the disk holds.

`join` matches the tensors; here are the steps that are about files and labels, and the sums.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import prod
from typing import overload

from inspector.adapters.tensors import adapter_of, base_names, resolved
from inspector.architectures import family_of
from inspector.architectures.data.classes import DRAFT_TYPES
from inspector.architectures.naming import MOST_PATTERNS, Named, Namer, by_pattern
from inspector.architectures.prediction import by_role, bytes_at, predict, size_of
from inspector.bridge import causes, labels
from inspector.bridge.join import Join
from inspector.bridge.ledger import Ledger
from inspector.bridge.tally import Kind, kinds_of
from inspector.errors import ConfigError, CostError
from inspector.formats.safetensors.dtypes import DTYPE_BITS
from inspector.model import (
    Adapter,
    Checkpoint,
    Claim,
    Component,
    ComponentSum,
    Config,
    Dimension,
    DtypeSum,
    Finding,
    Labelled,
    Nominal,
    Packing,
    Prediction,
    Reconciliation,
    RoleSum,
    Tensor,
)
from inspector.opening import configs
from inspector.quantization import contradictions, packing_of
from inspector.units import escape, integer, plural

#: Words in the names of classes that draft for a model whose `model_type` they bear.
DRAFTS = ("Eagle", "Medusa", "Hydra", "Speculator")


def reconcile(checkpoint: Checkpoint, label: str | None = None) -> Reconciliation:
    """Join a checkpoint with what its configuration predicts.

    Args:
        label: the size that people say, "7B"; by default read from the checkpoint's name.

    Raises:
        UsageError: `label` is no size.
    """
    tensors = [tensor for header in checkpoint.files for tensor in header.tensors]
    patterns = by_pattern([tensor.name for tensor in tensors])
    adapter = adapter_of(tensors, checkpoint.adapter, patterns)
    packing = None if adapter else packing_of(checkpoint.config, checkpoint.files, patterns)
    names, shapes = _logical(tensors, packing)
    if adapter:
        adapter = _resolved(adapter, checkpoint.config)
        config, named = checkpoint.config, _name_adapter(adapter, checkpoint.config, names)
    else:
        config, named = _name(checkpoint.config, names, shapes, packing, patterns)
    prediction, notes = _predict(config, adapter)
    kinds = kinds_of(tensors, named.groups)
    dtypes = _dtypes(kinds)
    join = Join(tensors, shapes, named, kinds, prediction, packing)
    dtype = packing.scheme if packing else (None if adapter else configs.dtype_of(config)) or _most_common(dtypes)
    bits = packing.bits if packing else DTYPE_BITS.get(dtype or "", 16)
    ledger = Ledger()
    join.settle(ledger, bits)
    _file_steps(checkpoint, ledger)
    named_after = () if adapter else _names(checkpoint, config)  # an adapter's name tells its base's size
    nominal = labels.given(label, bits) if label else labels.from_names(named_after, bits)
    predicted = bytes_at(prediction, bits) if prediction else None
    _label_steps(nominal, prediction, predicted, ledger)
    on_disk = checkpoint.size
    start = nominal.bytes if nominal else predicted or 0
    logical = sum(join.parameters)
    explained = None
    if prediction is None and adapter is None:
        from inspector.architectures import explained_sizes as dimensions  # only a model that no table knows needs it

        explained = dimensions.explain(config.values if config else None, named.groups, shapes)
    roles = _roles(kinds, named, join.parameters, prediction, explained or {})
    return Reconciliation(
        checkpoint=checkpoint._replace(config=config),
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
        findings=(
            *checkpoint.all_findings,
            *notes,
            *_packing_findings(checkpoint, packing, adapter),
            *_naming_findings(named),
            *join.findings,
        ),
        claims=tuple(_claims(checkpoint, tensors, logical, dtype)),
        tensors=_Labels(checkpoint, named, join.parameters),
        adapter=adapter,
        components=tuple(map(_component, checkpoint.components)),
    )


def _component(component: Component) -> ComponentSum:
    """A composite repository's part, joined with its own prediction."""
    result = reconcile(component.checkpoint)
    return ComponentSum(
        component.name,
        component.kind,
        len(component.checkpoint.files),
        component.checkpoint.size,
        component.copies,
        result.logical,
        result.prediction.parameters if result.prediction else None,
        tuple(each.dtype for each in result.dtypes),
    )


def _logical(tensors: Sequence[Tensor], packing: Packing | None) -> tuple[list[str], list[tuple[int, ...]]]:
    """Each tensor's name and shape as the model has it, before packing."""
    if packing is None:
        return [tensor.name for tensor in tensors], [tensor.shape for tensor in tensors]
    names, shapes = packing.names, packing.shapes
    return [names.get(t.name, t.name) for t in tensors], [shapes.get(t.name, t.shape) for t in tensors]


def _packing_findings(checkpoint: Checkpoint, packing: Packing | None, adapter: Adapter | None) -> tuple[Finding, ...]:
    if adapter:
        return ()  # the configuration is that of the base
    return packing.findings if packing else contradictions(checkpoint.config)


def _naming_findings(named: Named) -> tuple[Finding, ...]:
    if not named.beyond:
        return ()
    what = f"more than {integer(MOST_PATTERNS)} patterns of names, where models have hundreds: " + (
        f"what {plural(named.beyond, 'tensor')} are for was not looked into"
    )
    return (Finding("many-names", "warning", what),)


def _resolved(adapter: Adapter, config: Config | None) -> Adapter:
    """The adapter with its base's names, where the base has a table."""
    if config is None:
        return adapter
    try:
        return resolved(adapter, predict(config))
    except ConfigError:
        return adapter


def _name_adapter(adapter: Adapter, config: Config | None, names: Sequence[str]) -> Named:
    """What each tensor of an adapter is for: the role of the weight that it changes."""
    whole = base_names(name for name in names if name not in adapter.served)
    pieces = {
        name: (part, "buffer" if name in adapter.constants else "adapter") for name, part in adapter.parts.items()
    }
    namer = Namer(family_of(config.values), config.values) if config else Namer()
    return namer.name([whole.get(name, name) for name in names], adapter.served, pieces)


def _name(
    config: Config | None,
    names: Sequence[str],
    shapes: Sequence[tuple[int, ...]],
    packing: Packing | None,
    patterns: dict[str, list[int]],
) -> tuple[Config | None, Named]:
    """What each tensor is for; without a configuration, one is inferred if a family explains the tensors."""
    side = packing.side if packing else {}
    known = None if packing else patterns
    if config is None:
        from inspector.architectures.inference import infer

        named = Namer().name(names, side, patterns=known)
        weights = ((name, shape) for name, shape in zip(names, shapes, strict=True) if name not in side)
        config = infer(weights, {slot.role for slot, _ in named.groups})
        if config is None:
            return None, named
    return config, Namer(family_of(config.values), config.values).name(names, side, patterns=known)


def _predict(config: Config | None, adapter: Adapter | None = None) -> tuple[Prediction | None, tuple[Finding, ...]]:
    if adapter and not (config and adapter.config):
        what = "an adapter: its size is predicted where its own configuration and its base's are known (--config)"
        return None, (Finding("no-prediction", "info", what),)
    if config is None:
        what = "no configuration, and no known family explains the tensors: no prediction"
        return None, (Finding("no-prediction", "info", what),)
    if any(word in (config.architecture or "") for word in DRAFTS) and config.model_type not in DRAFT_TYPES:
        what = f"{escape(config.architecture or '', 60)} is a draft for speculative decoding, and no model of its type"
        return None, (Finding("no-prediction", "info", what, config.path),)
    try:
        base = predict(config)
        return (_predict_adapter(adapter, base) if adapter else base), ()
    except CostError as error:
        return None, (Finding("costly", "error", str(error), config.path),)
    except ConfigError as error:
        return None, (Finding("no-prediction", "info", str(error), config.path),)


def _predict_adapter(adapter: Adapter, base: Prediction) -> Prediction:
    from inspector.adapters import prediction as adapter_prediction  # only adapters need it

    return adapter_prediction.predict(adapter.config, base)


def _most_common(dtypes: Iterable[DtypeSum]) -> str | None:
    """The dtype of most elements."""
    return max(dtypes, key=lambda each: each.elements, default=DtypeSum("", 0, 0, 0)).dtype or None


def _active(prediction: Prediction | None, logical: int) -> int | None:
    if prediction is None:
        return None
    return prediction.active if any(row.active is not None for row in prediction.expected) else logical


def _names(checkpoint: Checkpoint, config: Config | None) -> Iterator[str]:
    """Names in which people put a model's size, the nearest first."""
    if len(checkpoint.files) == 1:
        yield checkpoint.files[0].path.rsplit("/", 1)[-1]
    if checkpoint.other is not None or checkpoint.origin.kind == "hub":
        yield checkpoint.name  # of a lone file it is only the folder that it happens to lie in
    origin = config.values.get("_name_or_path") if config else None
    if isinstance(origin, str):
        yield origin.rstrip("/").rsplit("/", 1)[-1]


# --- steps that are about files and labels ----------------------------------------------------


def _file_steps(checkpoint: Checkpoint, ledger: Ledger) -> None:
    """Header, padding and the like; and what tensors claim beyond, or twice within, a file."""
    formats = Counter(header.format for header in checkpoint.files)
    for header in checkpoint.files:
        stored = 0
        for region in header.regions:
            cause = causes.REGION_CAUSES.get(region.label)
            if cause is None:
                stored += region.size
            else:
                ledger.tell(cause, region.size, "" if cause == "header" else causes.BY_NAME[cause].meaning)
        claimed = sum(tensor.nbytes for tensor in header.tensors)
        if claimed != stored:
            beyond = sum(max(0, t.offset + t.nbytes - max(header.size, t.offset)) for t in header.tensors)
            if beyond:
                ledger.tell("truncated", -beyond, f"{plural(beyond, 'byte')} beyond the end of {header.path}")
            if stored - claimed + beyond:
                ledger.tell("overlap", stored - claimed + beyond, causes.BY_NAME["overlap"].meaning)
    for name, number in formats.items():
        if "header" in ledger.bytes:
            ledger.tell("header", 0, plural(number, f"{name} header"))


def _label_steps(nominal: Nominal | None, prediction: Prediction | None, predicted: int | None, ledger: Ledger) -> None:
    """From what people say to what the configuration predicts."""
    if nominal is None or prediction is None or predicted is None:
        return
    shared = 0
    outside = sum(row.parameters for row in prediction.expected if not row.experts and not row.stacked)
    if nominal.experts > 1 and outside < prediction.parameters:
        shared = -size_of((nominal.experts - 1) * outside, nominal.bits)
        what = f"{nominal.experts - 1} × {integer(outside)} parameters that the experts share, counted again"
        ledger.tell("label_experts", shared, what)
    what = f"the configuration says {integer(prediction.parameters)} parameters"
    ledger.tell("label_rounding", predicted - nominal.bytes - shared, what)


def _claims(checkpoint: Checkpoint, tensors: Sequence[Tensor], logical: int, scheme: str | None) -> Iterator[Claim]:
    """What key-values and totals that the index state, beside what was counted."""
    if checkpoint.format == "gguf":
        from inspector.opening import gguf_config  # knows of key-values what only GGUF files need

        for claim in gguf_config.claims(checkpoint.files, logical, scheme):
            yield _with_note(claim, sum(tensor.elements for tensor in tensors), logical)
    stated = checkpoint.index.metadata if checkpoint.index else {}
    counted = {"total_size": sum(tensor.nbytes for tensor in tensors), "total_parameters": logical}
    for name, count in counted.items():
        if stated.get(name) is not None:
            yield Claim(name, str(stated[name])[:40], count)


def _with_note(claim: Claim, elements: int, logical: int) -> Claim:
    """Converters count all stored elements, constants too: Llama 3's 32 rope frequencies are no parameters."""
    if claim.name != "general.parameter_count" or claim.claimed != str(elements) or elements == logical:
        return claim
    return claim._replace(note=f"{integer(abs(elements - logical))} stored elements are no parameters")


# --- sums -------------------------------------------------------------------------------------


def _roles(
    kinds: Sequence[Counter[Kind]],
    named: Named,
    parameters: Sequence[int],
    prediction: Prediction | None,
    explained: Mapping[tuple[str, str, str, str], tuple[str, tuple[Dimension, ...]]],
) -> tuple[RoleSum, ...]:
    """Tensors by role: in the prediction's order, then in the files'."""
    forecasts = (
        {(line.role, line.group, line.tower, line.branch): line for line in by_role(prediction)} if prediction else {}
    )
    sums: dict[tuple[str, str, str, str], list[int]] = {key: [0, 0, 0] for key in forecasts}
    dtypes: dict[tuple[str, str, str, str], dict[str, None]] = defaultdict(dict)
    for (slot, members), counts in zip(named.groups, kinds, strict=True):
        key = (slot.role or "other", slot.group, slot.tower, slot.branch)
        total = sums.setdefault(key, [0, 0, 0])
        total[0] += len(members)
        total[1] += sum(parameters[at] for at in members)
        total[2] += sum(number * kind.nbytes for kind, number in counts.items())
        dtypes[key].update(dict.fromkeys(kind.dtype for kind in counts))
    return tuple(
        RoleSum(
            role=key[0],
            group=key[1],
            tower=key[2],
            branch=key[3],
            tensors=total[0],
            parameters=total[1],
            bytes=total[2],
            predicted_parameters=forecasts[key].parameters if key in forecasts else 0 if prediction else None,
            formula=forecasts[key].formula if key in forecasts else None,
            dtypes=tuple(dtypes[key]),
            explained=explained.get(key, ("", ()))[0],
            dimensions=None if prediction else explained.get(key, ("", ()))[1],
        )
        for key, total in sums.items()
    )


def _dtypes(kinds: Iterable[Counter[Kind]]) -> tuple[DtypeSum, ...]:
    """Tensors by dtype, the one with most bytes first."""
    sums: dict[str, list[int]] = {}
    for counts in kinds:
        for kind, number in counts.items():
            total = sums.setdefault(kind.dtype, [0, 0, 0])
            total[0] += number
            total[1] += number * prod(kind.shape)
            total[2] += number * kind.nbytes
    return tuple(DtypeSum(dtype, *total) for dtype, total in sorted(sums.items(), key=lambda item: -item[1][2]))


class _Labels(Sequence[Labelled]):
    """The tensors with their keys, one made when asked for."""

    def __init__(self, checkpoint: Checkpoint, named: Named, parameters: Sequence[int]) -> None:
        self._checkpoint, self._named, self._parameters = checkpoint, named, parameters
        self._starts = [0, *accumulate(len(header.tensors) for header in checkpoint.files)]

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, at: int) -> Labelled: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Labelled]: ...
    def __getitem__(self, at: int | slice) -> Labelled | Sequence[Labelled]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        file = bisect_right(self._starts, at) - 1
        header = self._checkpoint.files[file]
        tensor = header.tensors[at - self._starts[file]]
        return Labelled(tensor, header.path, self._named.key(at), self._named.slots[at].group, self._parameters[at])
