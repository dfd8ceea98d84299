"""Temporary memory: an estimate that states its assumptions."""

from __future__ import annotations

from typing import NamedTuple

from inspector.architectures.scope import Scope
from inspector.errors import ConfigError
from inspector.sizing.engines.engine import Engine, Request


class Activations(NamedTuple):
    """Peak bytes of intermediate results."""

    nbytes: int
    assumes: tuple[str, ...]


def activations(scope: Scope, engine: Engine, request: Request) -> Activations | None:
    """Intermediate results of one batch; None if the configuration does not give the widths."""
    hidden, vocabulary = (_first(scope, names) for names in ("hidden_size n_embd d_model", "vocab_size"))
    if not hidden or not vocabulary:
        return None
    wide = _first(scope, "intermediate_size n_inner ffn_hidden_size d_ff decoder_ffn_dim") or 4 * hidden
    batch = min(request.batch or engine.batch, request.context)
    if engine.full_vocabulary:
        # llama.cpp's compute buffer for the worst batch holds logits and states in 32 bits; its output buffer the rest.
        nbytes = 4 * (batch * (vocabulary + hidden) + request.sequences * vocabulary)
        told = f"4 bytes × (batch {batch:,} × (vocab_size + hidden_size) + sequences × vocab_size)"
    else:
        nbytes = (
            batch * (2 * hidden + 3 * wide // request.tp) * request.model.nbytes + 4 * request.sequences * vocabulary
        )
        told = (
            f"batch {batch:,} × (2·hidden_size + 3·intermediate_size) × {request.model.nbytes} bytes"
            " + sequences × vocab_size × 4 bytes; attention without a full score matrix"
        )
    return Activations(nbytes, (told,))


def _first(scope: Scope, names: str) -> int | None:
    for name in names.split():
        try:
            value = scope[name]
        except ConfigError:
            continue
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        if isinstance(value, list) and value and all(isinstance(each, int) for each in value):
            return int(max(value))
    return None
