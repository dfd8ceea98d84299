"""The bridge from the stated size, via the configuration's prediction, to the bytes on disk.

`single` joins one model, `pipeline` several; this module adds files and labels, and puts everything together.
"""

from __future__ import annotations

from inspector.bridge import claims, file_steps, label_steps, labels, single
from inspector.bridge.ledger import Ledger
from inspector.bridge.single import Model
from inspector.model import Checkpoint, ComponentSum, Nominal, Reconciliation


def reconcile(checkpoint: Checkpoint, label: str | None = None) -> Reconciliation:
    """Join a checkpoint with what its configuration predicts, and account for every byte of the difference.

    Args:
        label: the model's stated size, "7B"; by default read from the checkpoint's name.

    Raises:
        UsageError: `label` is not a size.

    Example:
        >>> checkpoint = inspector.open("fixtures/real/safetensors/burn/complex_nested.safetensors")
        >>> result = inspector.reconcile(checkpoint)
        >>> result.logical, result.on_disk
        (1816, 9248)
        >>> [(step.cause, step.bytes) for step in result.steps]
        [('buffer', 152), ('header', 1832)]
    """
    ledger = Ledger()
    checkpoint, model, components = _joined(checkpoint, ledger)
    checkpoint = checkpoint._replace(config=model.config)
    file_steps.book(ledger, checkpoint.files)
    nominal = _nominal(checkpoint, model, label)
    if nominal and model.prediction and model.predicted is not None:
        label_steps.book(ledger, nominal, model.prediction, model.predicted)
    start = nominal.bytes if nominal else model.predicted or 0
    tensors = [tensor for header in checkpoint.wholes for tensor in header.tensors]
    return Reconciliation(
        checkpoint=checkpoint,
        prediction=model.prediction,
        packing=model.packing,
        dtype=model.dtype,
        nominal=nominal,
        predicted=model.predicted,
        on_disk=checkpoint.size,
        steps=ledger.steps(),
        unexplained_bytes=checkpoint.size - start - ledger.total,
        unexplained=model.unexplained,
        logical=model.logical,
        active=model.active,
        stored_elements=sum(each.elements for each in model.dtypes),
        roles=model.roles,
        dtypes=model.dtypes,
        findings=(*checkpoint.all_findings, *model.findings),
        claims=tuple(claims.claims(checkpoint, tensors, model.logical, model.dtype)),
        tensors=model.tensors,
        adapter=model.adapter,
        packed=model.packed,
        components=components,
        family=model.family,
        counts=model.counts,
    )


def _joined(checkpoint: Checkpoint, ledger: Ledger) -> tuple[Checkpoint, Model, tuple[ComponentSum, ...]]:
    """The one model, or the pipeline that contains it."""
    if not checkpoint.components:
        return checkpoint, single.reconcile(checkpoint, ledger), ()
    from inspector.bridge import pipeline  # only composite repositories need it

    parts = pipeline.parts_of(checkpoint)
    if not parts:
        models = [single.reconcile(each.checkpoint, Ledger()) for each in checkpoint.components]
        sums = tuple(map(pipeline.component_sum, checkpoint.components, models))
        return checkpoint, single.reconcile(checkpoint, ledger), sums
    models = [single.reconcile(part.checkpoint, ledger) for part in parts]
    sums = tuple(map(pipeline.component_sum, checkpoint.components, models))
    return pipeline.whole(checkpoint, parts), pipeline.together(parts, models), sums


def _nominal(checkpoint: Checkpoint, model: Model, label: str | None) -> Nominal | None:
    """The stated size: as given, or from the checkpoint's names."""
    if label:
        return labels.given(label, model.bits)
    if model.adapter:
        return None  # its name states its base's size
    if checkpoint.components and model.prediction is None:
        return None  # if not all parts of a pipeline are known, a label cannot be related to the sum
    return labels.from_names(label_steps.names_of(checkpoint), model.bits)
