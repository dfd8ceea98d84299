"""Steps from the stated size, "7B", to what the configuration predicts."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures import PROJECTOR
from inspector.architectures.prediction import NO_MODEL, size_of
from inspector.bridge import forecast
from inspector.bridge.ledger import Ledger
from inspector.model import Checkpoint, Config, Nominal, Prediction
from inspector.sources.filenames import shard_of
from inspector.units import integer

#: Fields that only files have whose model is in another file.
ACCOMPANYING = frozenset((NO_MODEL, PROJECTOR))


def names_of(checkpoint: Checkpoint) -> Iterator[str]:
    """Names that may contain the model's size, the most specific first.

    None for what accompanies a model (a projector, an importance matrix, a draft model): it is named after that model.
    """
    if checkpoint.config and _accompanies(checkpoint.config):
        return
    if len(checkpoint.files) == 1:
        yield checkpoint.files[0].path.rsplit("/", 1)[-1]
    elif checkpoint.files and (shard := shard_of(checkpoint.files[0].path)):
        yield shard.stem.rsplit("/", 1)[-1]
    if checkpoint.other is not None or checkpoint.origin.kind == "hub":
        yield checkpoint.name  # for a single file this is only the folder that it happens to be in
    origin = checkpoint.config.values.get("_name_or_path") if checkpoint.config else None
    if isinstance(origin, str):
        yield origin.rstrip("/").rsplit("/", 1)[-1]


def _accompanies(config: Config) -> bool:
    return (
        not ACCOMPANYING.isdisjoint(config.values) or forecast.called_draft(config) or forecast.has_draft_table(config)
    )


def book(ledger: Ledger, nominal: Nominal, prediction: Prediction, predicted: int) -> None:
    """Book what a label counts twice, and what it rounds.

    Args:
        predicted: bytes of the prediction.
    """
    outside = sum(row.parameters for row in prediction.expected if not row.experts and not row.stacked)
    twice = 0
    if nominal.experts > 1 and outside < prediction.parameters:
        twice = size_of((nominal.experts - 1) * outside, nominal.bits)
        what = f"{nominal.experts - 1} × {integer(outside)} parameters shared by the experts, counted again"
        ledger.tell("label_experts", -twice, what)
    what = f"the configuration says {integer(prediction.parameters)} parameters"
    ledger.tell("label_rounding", predicted - nominal.bytes + twice, what)
