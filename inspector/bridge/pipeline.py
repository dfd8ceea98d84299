"""A repository of several models: each joined separately, then summed.

A diffusers pipeline's size is that of its denoiser, its text encoders and its autoencoder together: no part alone
answers "how large is it".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from inspector.bridge.summary import OnRequest, added
from inspector.model import (
    Checkpoint,
    Component,
    ComponentSum,
    Expected,
    Labelled,
    Model,
    PackedSum,
    Prediction,
)

#: The finding that other parts' files are not counted, which does not apply here.
OTHERS = "several-checkpoints"


class Part(NamedTuple):
    """One of a pipeline's models."""

    component: Component
    checkpoint: Checkpoint
    is_main: bool  # whether the pipeline's name refers to it


def parts_of(checkpoint: Checkpoint) -> tuple[Part, ...]:
    """The models of a pipeline; empty if the checkpoint is not one of them, such as a single-file copy next to them."""
    paths = {header.path for header in checkpoint.files}
    parts = tuple(
        Part(each, checkpoint if main else each.checkpoint, main)
        for each in checkpoint.components
        for main in [{header.path for header in each.checkpoint.files} == paths]
    )
    return parts if any(part.is_main for part in parts) else ()


def whole(checkpoint: Checkpoint, parts: Sequence[Part]) -> Checkpoint:
    """The pipeline as one checkpoint: the files of all its models."""
    own = tuple(found for found in checkpoint.findings if found.rule != OTHERS)
    return checkpoint._replace(
        files=tuple(header for part in parts for header in part.checkpoint.files),
        other=None if checkpoint.other is None else tuple(o for o in checkpoint.other if o.kind != "component"),
        findings=(*own, *(found for part in parts if not part.is_main for found in part.checkpoint.findings)),
    )


def component_sum(component: Component, model: Model) -> ComponentSum:
    """A part's line in the overview."""
    return ComponentSum(
        component.name,
        component.kind,
        len(component.checkpoint.files),
        component.checkpoint.size,
        component.copies,
        model.logical,
        model.prediction.parameters if model.prediction else None,
        tuple(each.dtype for each in model.dtypes),
    )


def together(parts: Sequence[Part], models: Sequence[Model]) -> Model:
    """The sums of several models. What cannot be summed, such as the configuration, is the main one's."""
    main = next(model for part, model in zip(parts, models, strict=True) if part.is_main)
    names = [part.component.name for part in parts]
    known = [model.predicted for model in models if model.predicted is not None]
    return main._replace(
        prediction=_prediction(main, names, models),
        predicted=sum(known) if known else None,
        logical=sum(model.logical for model in models),
        active=_total([model.active for model in models]),
        roles=tuple(
            role._replace(tower=_tower(name, role.tower))
            for name, model in zip(names, models, strict=True)
            for role in model.roles
        ),
        dtypes=added(each for model in models for each in model.dtypes),
        packing=main.packing or next((model.packing for model in models if model.packing), None),
        packed=_packed_sum([model.packed for model in models if model.packed]),
        unexplained=tuple(name for model in models for name in model.unexplained),
        findings=tuple(found for model in models for found in model.findings),
        counts=(),  # conventions concern one model
        tensors=_Tensors(names, [model.tensors for model in models]),
    )


def _tower(part: str, tower: str) -> str:
    """A tower of one of the parts: `vae encoder`, or the part's name if it has only one."""
    return part if tower == "text" else f"{part} {tower}"


def _total(numbers: Sequence[int | None]) -> int | None:
    """The sum; None if any is unknown."""
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _prediction(main: Model, names: Sequence[str], models: Sequence[Model]) -> Prediction | None:
    """All predictions in one; None if a part has none."""
    found = [(name, model.prediction) for name, model in zip(names, models, strict=True) if model.prediction]
    if main.prediction is None or len(found) < len(models):
        return None
    return main.prediction._replace(
        expected=tuple(row for name, each in found for row in _rows_under(name, each.expected)),
        tied=tuple(row for name, each in found for row in _rows_under(name, each.tied)),
        buffers=tuple(row for name, each in found for row in _rows_under(name, each.buffers)),
        optional=tuple(row for name, each in found for row in _rows_under(name, each.optional)),
    )


def _rows_under(name: str, rows: Sequence[Expected]) -> Iterator[Expected]:
    return (row._replace(tower=_tower(name, row.tower)) for row in rows)


def _packed_sum(sums: Sequence[PackedSum]) -> PackedSum | None:
    if not sums:
        return None
    return PackedSum(*(sum(numbers) for numbers in zip(*sums, strict=True)))


class _Tensors(OnRequest):
    """The tensors of all parts, each in its part's tower."""

    def __init__(self, names: Sequence[str], parts: Sequence[Sequence[Labelled]]) -> None:
        self._names, self._parts = names, parts
        self._ends = [*accumulate(map(len, parts))]

    def __len__(self) -> int:
        return self._ends[-1]

    def label(self, at: int) -> Labelled:
        part = next(number for number, end in enumerate(self._ends) if at < end)
        found = self._parts[part][at - self._ends[part]]
        return found._replace(key=found.key._replace(tower=_tower(self._names[part], found.key.tower)))
