"""Transformers: the tensors of `DynamicCache`, and of what models without attention keep instead.

Sources: transformers/cache_utils.py of release 5.23, and running its models.
"""

from __future__ import annotations

from collections.abc import Sequence

from inspector.architectures.caches import PER_SEQUENCE, Kept
from inspector.sizing.engines.engine import Engine, Held, Request, tokens_of
from inspector.sizing.widths import WIDTHS


def hold(groups: Sequence[Kept], request: Request) -> tuple[Held, ...]:
    """Keys and values of each token; for a window, of all its tokens except the next one."""
    return tuple(_held_by(group, request) for group in groups if group.elements)


def _held_by(group: Kept, request: Request) -> Held:
    own = WIDTHS[group.dtype] if group.dtype else None
    share = request.tp if group.heads else 1  # devices that share a layer have some of its heads each, latents whole
    tokens = tokens_of(group, request)
    if group.window:
        # DynamicSlidingWindowLayer keeps the last `window - 1`; for a window of 1 it drops nothing.
        tokens = min(tokens, group.window - 1 or tokens)
    if group.kind in PER_SEQUENCE:
        nbytes = (own or request.model).bytes_of(group.elements * (group.kernel or 1))
    else:
        nbytes = tokens * sum(
            (own or each).bytes_of(size // share)
            for each, size in ((request.keys, group.keys), (request.values, group.values))
            if size
        )
    total = nbytes * len(group.layers) * request.sequences
    name = (own or (request.model if group.kind in PER_SEQUENCE else request.keys)).name
    return Held(group.kind, group.layers, tokens, total, name, group.formula)


ENGINE = Engine(
    "transformers",
    "Transformers' DynamicCache",
    hold,
    ("F32", "F16", "BF16"),
    "",
    (
        "DynamicCache as generate() makes it from the configuration: a layer with a window holds window − 1 tokens",
        "latent attention keeps the latent, as Transformers does from release 5 on; older ones keep all heads",
        "each new token makes a new tensor per layer: for a moment the old one exists as well",
    ),
    batch=2048,
    prefills=True,
    whole_heads=True,
)
