"""Step 3: what the configuration predicts, or why nothing is predicted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from inspector.architectures import formula, refusal
from inspector.architectures.data.dialects import DRAFTS
from inspector.architectures.naming import Namer
from inspector.architectures.prediction import by_relatives, predict, unread_experts
from inspector.bridge.identify import Stored
from inspector.errors import ConfigError, CostError, ShortListError
from inspector.model import Adapter, Config, Finding, Prediction
from inspector.units import count, escape, percent


def forecast(config: Config | None, adapter: Adapter | None = None) -> tuple[Prediction | None, tuple[Finding, ...]]:
    """The prediction of a model, or of an adapter from its own configuration and its base's."""
    if adapter and not (config and adapter.config):
        return _none("an adapter: its size is predicted if its own configuration and its base's are known (--config)")
    if config is None:
        return _none("no prediction: there is no configuration, and no known family explains the tensors")
    if called_draft(config) and not has_draft_table(config):
        named = escape(config.architecture or "", 60)
        return _none(f"{named} is a draft for speculative decoding, not a model of its type", config)
    try:
        base = predict(config)
        return (_of_adapter(adapter, base) if adapter else base), tuple(_unread_experts(base))
    except CostError as error:
        return None, (Finding("costly", "error", str(error), config.path),)
    except ShortListError as error:  # the model's own constructor would meet it as well
        return None, (Finding("no-prediction", "warning", str(error), config.path),)
    except ConfigError as error:
        return _none(str(error), config)


#: The least share of a file's parameters that a relative predicts by name and shape, and a share that decides nothing.
LEAST_ALIKE, NO_MATTER = 0.8, 0.02


def by_analogy(config: Config, stored: Stored) -> Prediction | None:
    """What the relative with most of the stored tensors predicts, for a type without a table; the nearest of equals.

    A norm of queries is small, and tells a Qwen3 from a Llama: where sizes are alike, the number of tensors decides.
    """
    with formula.bounded():  # together they may take what one model may: those after that are left out
        near = _near(by_relatives(config, by_tensors=True), stored)
        beside = [other for _, each in near for other in by_relatives(config, beside=each.config.relative)]
        near += _near(beside, stored)
    best = max(near, key=lambda each: each[0], default=(0.0, None))[1]
    return best and best._replace(config=best.config._replace(notes=config.notes))


def _near(found: Iterable[Prediction], stored: Stored) -> list[tuple[float, Prediction]]:
    """Those of which sizes are most alike, each with the share of tensors that are."""
    alike = [(*_alike(each, stored), each) for each in found]
    most = max((size for size, *_ in alike), default=0.0)
    return [(tensors, each) for size, tensors, each in alike if size >= max(most - NO_MATTER, LEAST_ALIKE)]


def _alike(prediction: Prediction, stored: Stored) -> tuple[float, float]:
    """The share of the larger of both that is the same by key and shape: of parameters, and of tensors."""
    named = Namer(prediction.config.family, prediction.config.values).name(stored.names, stored.side)
    expected = {key: row.shape for row in prediction.expected for key in row.keys()}
    pairs = zip(named.keys(), stored.shapes, strict=True)
    same = [prod(shape) for key, shape in pairs if expected.get(key) == tuple(shape)]
    of_both = max(prediction.parameters, sum(map(prod, stored.shapes)), 1)
    return sum(same) / of_both, len(same) / max(len(expected), len(stored.shapes), 1)


def read_as(prediction: Prediction, logical: int) -> Finding:
    """That a type was read as another, and how far the sizes are apart."""
    config, off = prediction.config, prediction.parameters - logical
    apart = (
        f"{percent(abs(off), logical).lstrip('+')} {'more' if off > 0 else 'less'} than is stored"
        if off
        else "as is stored"
    )
    named = f"no table for {escape(config.model_type or '', 60)}; read as {config.relative}"
    refused = f"; {why}" if (why := refusal(config.values)) else ""
    return Finding("no-prediction", "info", f"{named}: {count(prediction.parameters)}, {apart}{refused}", config.path)


def _unread_experts(base: Prediction) -> Iterator[Finding]:
    if note := unread_experts(base):
        yield Finding("unread-experts", "info", note, base.config.path)


def called_draft(config: Config) -> bool:
    """Whether the class's name is that of a draft model."""
    architecture = config.architecture or ""
    return any(word in architecture for word in DRAFTS)


def has_draft_table(config: Config) -> bool:
    """Whether the table that predicts it is that of a draft model."""
    return config.family is not None and config.family.drafts


def _none(why: str, config: Config | None = None) -> tuple[None, tuple[Finding, ...]]:
    return None, (Finding("no-prediction", "info", why, config.path if config else None),)


def _of_adapter(adapter: Adapter, base: Prediction) -> Prediction:
    from inspector.adapters import prediction  # only adapters need it

    return prediction.predict(adapter.config, base)


def with_base(stored: Stored, config: Config | None) -> tuple[Stored, Config | None]:
    """An adapter's tensors under its base's names, and its base as the class that was adapted, if it has a table."""
    if stored.adapter is None or config is None:
        return stored, config
    from inspector.adapters.modules import as_trained  # likewise
    from inspector.adapters.tensors import labels_stored, resolved

    try:
        base = predict(config)
        trained = as_trained(stored.adapter, base)
        if trained is not base.config:
            config = config._replace(values=trained.values)
            base = predict(config)
            labels = labels_stored(stored.adapter, base, stored.tensors)
            if labels is not None:
                config = config._replace(values={**config.values, "num_labels": labels})
                base = predict(config)
        return stored._replace(adapter=resolved(stored.adapter, base)), config
    except ConfigError:
        return stored, config
