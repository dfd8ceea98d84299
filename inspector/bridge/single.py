"""One model through the steps: identify → name → predict → join → account → summarise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import compress
from math import prod
from typing import NamedTuple

from inspector.architectures.counts import conventions, embeddings_of
from inspector.architectures.naming import Named
from inspector.architectures.prediction import bytes_at
from inspector.bridge import name as naming
from inspector.bridge import summary
from inspector.bridge.account import Account, account
from inspector.bridge.forecast import forecast, with_base
from inspector.bridge.identify import Stored, identify
from inspector.bridge.join import join
from inspector.bridge.ledger import Ledger
from inspector.bridge.tally import Kind, kinds_of
from inspector.bridge.words import short
from inspector.formats import training
from inspector.formats.safetensors.dtypes import DTYPE_BITS
from inspector.model import (
    Adapter,
    Checkpoint,
    Config,
    Count,
    DtypeSum,
    Finding,
    Index,
    Labelled,
    PackedSum,
    Packing,
    Prediction,
    RoleSum,
)
from inspector.opening import configs
from inspector.quantization import contradictions

#: Findings that files of a set are missing, or were not asked for.
LACKING = ("missing-shard", "missing-part", "lone-shard")


class Model(NamedTuple):
    """A model joined with its prediction."""

    config: Config | None  # inferred, if there is none
    prediction: Prediction | None
    predicted: int | None  # bytes
    dtype: str | None  # the dtype or packing scheme at which these are counted
    bits: int  # bits per element of that dtype
    logical: int
    active: int | None
    roles: tuple[RoleSum, ...]
    dtypes: tuple[DtypeSum, ...]
    packing: Packing | None
    packed: PackedSum | None
    adapter: Adapter | None
    unexplained: tuple[str, ...]
    findings: tuple[Finding, ...]
    tensors: Sequence[Labelled]
    family: str | None = None
    counts: tuple[Count, ...] = ()


def reconcile(checkpoint: Checkpoint, ledger: Ledger) -> Model:
    """Run the steps; what the tensors cost beyond the prediction goes into the ledger."""
    stored = identify(checkpoint.wholes, checkpoint.config, checkpoint.adapter)
    if any(found.rule in LACKING for found in checkpoint.all_findings):
        stored = stored._replace(incomplete=True, listed=_listed(checkpoint.index))
    for name, nbytes in checkpoint.joined.copies.items() if checkpoint.joined else ():
        ledger.add("duplicate", nbytes, f"{short(name)} of other ranks")
    config = checkpoint.config or naming.inferred(stored)
    stored = with_base(stored, config)
    prediction, notes = forecast(config, stored.adapter)
    stored = naming.under_the_models_names(stored, config, prediction)
    named = naming.name(stored, config)
    kinds = kinds_of(stored.tensors, named.groups)
    dtypes = summary.dtypes(kinds)
    dtype, bits = _width(stored, config, _of_weights(named, stored, kinds, dtypes))
    rows = prediction.expected if prediction else ()
    joined = join(named, stored.shapes, kinds, rows, packed=bool(stored.packing and stored.packing.shapes))
    booked = account(ledger, stored, named, kinds, joined, prediction, bits)
    logical = sum(booked.parameters)
    roles = summary.roles(
        stored, named, kinds, booked.parameters, prediction, _explained(stored, named, config, prediction)
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
        findings=(*notes, *_packing_findings(stored, checkpoint.config), *naming.findings(named), *booked.findings),
        tensors=summary.Labels(checkpoint.wholes, named, booked.parameters),
        family=prediction.family if prediction else None,
        counts=_counts(logical, roles, stored, booked, prediction),
    )


def _listed(index: Index | None) -> frozenset[str] | None:
    """The modules whose tensors an index lists."""
    return frozenset(name.rpartition(".")[0] for name in index.weight_map) if index else None


def _of_weights(
    named: Named, stored: Stored, kinds: Sequence[Counter[Kind]], dtypes: Sequence[DtypeSum]
) -> Sequence[DtypeSum]:
    """Tensors by dtype, without a training run's state, which is wider than the model."""
    weights = [not training.is_state(stored.tensors[members[0]].name) for _, members in named.groups]
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


def _explained(stored: Stored, named: Named, config: Config | None, prediction: Prediction | None) -> summary.Explained:
    """Sizes explained by configuration fields, for a model without a table."""
    if prediction is not None or stored.adapter is not None:
        return {}
    from inspector.architectures import explained_sizes  # only such models need it

    return explained_sizes.explain(config.values if config else None, named.groups, stored.shapes)
