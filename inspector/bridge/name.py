"""Step 2: the purpose of each tensor, from the family's table if the configuration names one, else by conventions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inspector.architectures.naming import MOST_PATTERNS, Named, Namer, Names
from inspector.bridge.identify import Stored
from inspector.formats import training
from inspector.model import Adapter, Config, Expected, Finding, Prediction
from inspector.units import integer, plural


def name(stored: Stored, config: Config | None) -> Named:
    """Each tensor's key, under the known configuration."""
    namer = Namer(config.family, config.values) if config else Namer()
    if stored.adapter:
        return _name_adapter(namer, stored.adapter, stored.names)
    return namer.name(stored.names, stored.side)


def infer_config(stored: Stored) -> Config | None:
    """A configuration inferred from a few tensors; None if no family explains them, or for an adapter."""
    if stored.adapter:
        return None
    stored = under_the_models_names(stored, None, None)
    from inspector.architectures.inference import infer  # only checkpoints without a configuration need it

    states = {at for each, places in stored.names.patterns.items() if training.is_state(each) for at in places}
    others = stored.side.keys() | stored.numbers
    of_model = [*zip(stored.names, stored.shapes, strict=True)]
    names: Sequence[str] = stored.names
    if states or others:
        of_model = [each for at, each in enumerate(of_model) if at not in states and each[0] not in others]
        names = [name for name, _ in of_model]
    named = Namer().name(names)
    return infer(of_model, {slot.role for slot, _ in named.groups}, stored.names.patterns)


def _name_adapter(namer: Namer, adapter: Adapter, names: Names) -> Named:
    """The purpose of each tensor of an adapter: the role of the weight that it changes."""
    from inspector.adapters.tensors import base_names  # only adapters need it

    whole = base_names((name for name in names if name not in adapter.served), adapter.in_files)
    pieces = {
        name: (part, "buffer" if name in adapter.constants else "adapter") for name, part in adapter.parts.items()
    }
    return namer.name([whole.get(name, name) for name in names], adapter.served, pieces)


def findings(named: Named) -> tuple[Finding, ...]:
    """A finding if there are too many patterns of names."""
    if not named.beyond:
        return ()
    what = f"more than {integer(MOST_PATTERNS)} patterns of names, although models have hundreds: " + (
        f"the purpose of {plural(named.beyond, 'tensor')} was not determined"
    )
    return (Finding("many-names", "warning", what),)


# --- a tensor with several names ----------------------------------------------------------------


def under_the_models_names(stored: Stored, config: Config | None, prediction: Prediction | None) -> Stored:
    """Tensors stored for several names, each under the name under which the model stores it.

    A file has the alphabetically first: `lm_head.weight` for a tied embedding. The prediction decides which name is
    right; without one, any that is not a head: a tied head is the embedding's copy, never the other way round.
    """
    if not stored.shared:
        return stored
    rows = prediction.expected if prediction else ()
    ranks = _ranks([name for kept, others in stored.shared.items() for name in (kept, *others)], config, rows)
    sets = [sorted((kept, *others), key=ranks.__getitem__) for kept, others in stored.shared.items()]
    renamed = {kept: names[0] for kept, names in zip(stored.shared, sets, strict=True)}
    return stored._replace(
        names=Names(renamed.get(each, each) for each in stored.names),
        shared={first: tuple(others) for first, *others in sets},
    )


def _ranks(names: Sequence[str], config: Config | None, rows: Iterable[Expected]) -> dict[str, int]:
    """How suitable each name is: predicted ones first, heads last."""
    namer = Namer(config.family, config.values) if config else Namer()
    named = namer.name(names)
    predicted = {key for row in rows for key in row.keys()}
    return {
        name: 0 if key in predicted else 2 if slot.group == "head" else 1
        for name, key, slot in zip(names, named.keys(), named.slots, strict=True)
    }
