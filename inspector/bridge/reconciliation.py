"""The bridge from the stated size, via the configuration's prediction, to the bytes on disk.

Each model goes through the steps; `pipeline` adds several. Files, labels and what files claim concern them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from itertools import compress, islice
from math import prod

from inspector.architectures.counts import conventions, embeddings_of
from inspector.architectures.naming import Named
from inspector.architectures.prediction import bytes_at
from inspector.bridge import labels, summary
from inspector.bridge import name as naming
from inspector.bridge.book import Account, account
from inspector.bridge.classes import is_unnamed, saved_class
from inspector.bridge.forecast import by_analogy, forecast, read_as, with_base
from inspector.bridge.identify import Stored, identify
from inspector.bridge.join import Kind, join, kinds_of
from inspector.bridge.ledger import Ledger, book_files, short
from inspector.formats import training
from inspector.formats.safetensors.dtypes import DTYPE_BITS
from inspector.model import (
    Checkpoint,
    Claim,
    ComponentSum,
    Config,
    Count,
    DtypeSum,
    Finding,
    Index,
    Model,
    Nominal,
    Prediction,
    Reconciliation,
    RoleSum,
)
from inspector.opening import configs
from inspector.quantization import contradictions
from inspector.sources.filenames import Shard, shard_of
from inspector.units import escape, integer

#: Findings that files of a set are missing, or were not asked for.
LACKING = ("missing-shard", "missing-part", "lone-shard")


def reconcile(checkpoint: Checkpoint, label: str | None = None, *, analogy: bool = True) -> Reconciliation:
    """Join a checkpoint with what its configuration predicts: `inspector.reconcile`.

    Raises UsageError if `label` is not a size. With `analogy`, a type without a table is read as its relative.
    """
    ledger = Ledger()
    checkpoint, model, components = _models(checkpoint, ledger, analogy=analogy)
    checkpoint = checkpoint._replace(config=model.config)
    book_files(ledger, checkpoint.files)
    nominal = labels.from_text(label, model.bits) if label else _in_names(ledger, checkpoint, model, components)
    if nominal and model.prediction and model.predicted is not None:
        labels.book_label(ledger, nominal, model.prediction, model.predicted)
    start = nominal.bytes if nominal else model.predicted or 0
    return Reconciliation(
        checkpoint,
        model,
        nominal,
        ledger.steps(),
        checkpoint.size - start - ledger.total,
        tuple(claims(checkpoint, model.logical, model.dtype)),
        components,
    )


def _models(
    checkpoint: Checkpoint, ledger: Ledger, *, analogy: bool
) -> tuple[Checkpoint, Model, tuple[ComponentSum, ...]]:
    """The one model, or the pipeline that contains it."""
    if not checkpoint.components:
        return checkpoint, _model(checkpoint, ledger, analogy=analogy), ()
    from inspector.bridge import pipeline  # only composite repositories need it

    parts = pipeline.parts_of(checkpoint)
    if not parts:
        models = [_model(each.checkpoint, Ledger()) for each in checkpoint.components]
        sums = tuple(map(pipeline.component_sum, checkpoint.components, models))
        return checkpoint, _model(checkpoint, ledger), sums
    models = [_model(part.checkpoint, ledger) for part in parts]
    sums = tuple(map(pipeline.component_sum, checkpoint.components, models))
    return pipeline.whole(checkpoint, parts), pipeline.together(parts, models), sums


def _in_names(
    ledger: Ledger, checkpoint: Checkpoint, model: Model, components: Sequence[ComponentSum]
) -> Nominal | None:
    """The size in the checkpoint's names; if what looks like one is none, a finding reports it."""
    if model.adapter:
        return None  # its name states its base's size
    if checkpoint.components and model.prediction is None:
        return None  # if not all parts of a pipeline are known, a label cannot be related to the sum
    found = list(labels.from_names(labels.names_of(checkpoint), model.bits))
    fitting = next((each for each in found if labels.fits(each, model, components)), None)
    if found and fitting is None:
        labels.book_dropped(ledger, found[0], model)
    return fitting


# --- one model: identify → name → predict → join → account → summarise -------------------------


def _model(checkpoint: Checkpoint, ledger: Ledger, *, analogy: bool = False) -> Model:
    """Run the steps; what the tensors cost beyond the prediction goes into the ledger."""
    stored = identify(checkpoint.wholes, checkpoint.config, checkpoint.adapter)
    if any(found.rule in LACKING for found in checkpoint.all_findings):
        stored = stored._replace(incomplete=True, listed=_listed_modules(checkpoint.index))
    for name, nbytes in checkpoint.joined.copies.items() if checkpoint.joined else ():
        ledger.add("duplicate", nbytes, f"{short(name)} of other ranks")
    config = checkpoint.config or naming.infer_config(stored)
    stored, config = with_base(stored, config)
    prediction, notes = forecast(config, stored.adapter)
    if analogy and prediction is None and config and not stored.adapter:
        prediction = by_analogy(config, stored)
        config, notes = (prediction.config, ()) if prediction else (config, notes)
    relative = config.relative if config else None
    stored = naming.under_the_models_names(stored, config, prediction)
    named = naming.name(stored, config)
    kinds = kinds_of(stored.tensors, named.groups)
    dtypes = summary.dtypes(kinds)
    dtype, bits = _width(stored, config, _of_weights(named, stored, kinds, dtypes))
    packed = bool(stored.packing and stored.packing.shapes)
    joined = join(named, stored.shapes, kinds, prediction.expected if prediction else (), packed=packed)
    if prediction and (joined.missing or is_unnamed(prediction)) and not stored.incomplete:
        saved = saved_class(prediction, named, stored.shapes)
        if saved is not prediction:
            prediction, config = saved, saved.config
            joined = join(named, stored.shapes, kinds, prediction.expected, packed=packed)
    booked = account(ledger, stored, named, kinds, joined, prediction, bits)
    logical = sum(booked.parameters)
    if prediction and relative:  # what an analogy lacks is not a fault of the files
        booked = booked._replace(findings=(read_as(prediction, logical),))
    roles = summary.roles(
        stored, named, kinds, booked.parameters, prediction, _size_meanings(stored, named, config, prediction)
    )
    return Model(
        config=config,
        prediction=prediction,
        predicted=bytes_at(prediction, bits) if prediction else None,
        dtype=dtype,
        bits=bits,
        logical=logical,
        active=summary.active(prediction, logical),
        roles=roles,
        dtypes=dtypes,
        packing=stored.packing,
        packed=summary.packed(stored),
        adapter=stored.adapter,
        unexplained=booked.unexplained,
        findings=(
            *notes,
            *_packing_findings(stored, checkpoint.config),
            *naming.findings(named),
            *_with_shards(booked.findings, checkpoint),
        ),
        tensors=summary.Labels(checkpoint.wholes, named, booked.parameters),
        family=prediction.family if prediction else None,
        counts=_counts(logical, roles, stored, booked, prediction),
    )


def _with_shards(findings: Sequence[Finding], checkpoint: Checkpoint) -> Iterator[Finding]:
    """The findings, and of tensors that are missing the absent shard that has them, by the index or as the only one."""
    shards = {
        path: shard for path in (each.path.rpartition("/")[2] for each in checkpoint.files) if (shard := shard_of(path))
    }
    first = next(iter(shards.values()), None)
    absent = [first.sibling(n) for n in _numbers(first, shards)] if first and len(shards) < first.total else []
    for each in findings if absent else ():
        index = checkpoint.index.weight_map if checkpoint.index else {}
        file = index.get(each.tensor or "") if index else absent[0] if len(absent) == 1 else None
        lost = file is not None and each.rule == "missing" and each.severity == "error" and file not in shards
        yield each._replace(message=f"{each.message}: {escape(file or '', 120)}?") if lost else each
    yield from () if absent else findings


def _numbers(shard: Shard, there: Container[str]) -> Iterator[int]:
    """The first two numbers of a set whose shards are absent."""
    start = shard.start(there)
    return islice((n for n in range(start, start + shard.total) if shard.sibling(n) not in there), 2)


def _listed_modules(index: Index | None) -> frozenset[str] | None:
    """The modules whose tensors an index lists."""
    return frozenset(name.rpartition(".")[0] for name in index.weight_map) if index else None


def _of_weights(
    named: Named, stored: Stored, kinds: Sequence[Counter[Kind]], dtypes: Sequence[DtypeSum]
) -> Sequence[DtypeSum]:
    """Tensors by dtype, without buffers and a training run's state, which is wider than the model."""
    weights = [
        slot.group != "buffer"
        and stored.tensors[members[0]].name not in stored.numbers
        and not training.is_state(stored.tensors[members[0]].name)
        for slot, members in named.groups
    ]
    if all(weights) or not any(weights):
        return dtypes
    return summary.dtypes([*compress(kinds, weights)])


def _width(stored: Stored, config: Config | None, dtypes: Sequence[DtypeSum]) -> tuple[str | None, int]:
    """The type at which a prediction's bytes are counted, and its bits."""
    if stored.packing:
        return stored.packing.scheme, stored.packing.bits
    declared = None if stored.adapter else configs.dtype_of(config)  # an adapter's configuration is its base's
    dtype = declared or summary.most_common(dtypes)
    return dtype, DTYPE_BITS.get(dtype or "", 16)


def _packing_findings(stored: Stored, config: Config | None) -> tuple[Finding, ...]:
    if stored.adapter:
        return ()  # the configuration is the base's
    return stored.packing.findings if stored.packing else contradictions(config)


def _counts(
    logical: int, roles: Sequence[RoleSum], stored: Stored, booked: Account, prediction: Prediction | None
) -> tuple[Count, ...]:
    """What other conventions count, for a known model; not for an adapter."""
    if prediction is None or prediction.base is not None:
        return ()
    further = sum(prod(stored.shapes[at]) for at in booked.claimed.get("prediction_head", ()))
    rows, tied = prediction.expected, prediction.tied
    return conventions(logical, rows, tied, embeddings=embeddings_of(roles), further=further)


def _size_meanings(
    stored: Stored, named: Named, config: Config | None, prediction: Prediction | None
) -> summary.Explained:
    """Sizes explained by configuration fields, for a model without a table."""
    if prediction is not None or stored.adapter is not None:
        return {}
    from inspector.architectures import explained_sizes  # only such models need it

    return explained_sizes.explain(config.values if config else None, named.groups, stored.shapes)


# --- files' claims about themselves, next to the counts -----------------------------------------


def claims(checkpoint: Checkpoint, logical: int, scheme: str | None) -> Iterator[Claim]:
    """GGUF's key-values, and the totals in an index."""
    tensors = [tensor for header in checkpoint.wholes for tensor in header.tensors]
    if checkpoint.format == "gguf":
        from inspector.opening import gguf  # needed only for GGUF files

        for claim in gguf.claims(checkpoint.files, logical, scheme):
            yield with_note(claim, sum(tensor.elements for tensor in tensors), logical)
    stated = checkpoint.index.metadata if checkpoint.index else {}
    counted = {"total_size": sum(tensor.nbytes for tensor in tensors), "total_parameters": logical}
    for name, count in counted.items():
        if stated.get(name) is not None:
            yield Claim(name, str(stated[name])[:40], count)


def with_note(claim: Claim, elements: int, logical: int) -> Claim:
    """Converters count all stored elements, constants included: Llama 3's 32 rope frequencies are not parameters."""
    if claim.name != "general.parameter_count" or claim.claimed != str(elements) or elements == logical:
        return claim
    return claim._replace(note=f"{integer(abs(elements - logical))} stored elements are not parameters")
