"""Published parameter counts by other conventions, each with what it counts: see docs/counting.md.

Ours are Transformers' `num_parameters()` of the existing tensors: buffers do not count, and a tensor with two names
counts once. Model cards, papers and other libraries count otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from inspector.model import Count, Expected, Prediction, RoleSum

#: The name of the count that includes layers which predict further tokens.
WITH_HEADS = "with_prediction_heads"
#: The role of the bias that a mixture's router adds to its scores.
CORRECTION = "router_bias"
#: Roles of the tensors that map tokens to vectors and back.
EMBEDDINGS = ("embed_tokens", "embed_positions", "lm_head")


def conventions(
    parameters: int, rows: Sequence[Expected], tied: Sequence[Expected] = (), *, embeddings: int = 0, further: int = 0
) -> tuple[Count, ...]:
    """Counts that differ from `parameters`.

    Args:
        rows: predicted tensors; tied: predicted tensors that share another.
        embeddings: parameters of token and position embeddings and of a separate head.
        further: parameters of multi-token prediction layers, which Transformers does not load and `parameters`
            excludes.
    """
    return tuple(each for each in _all(parameters, rows, tied, embeddings, further) if each.parameters != parameters)


def _all(
    parameters: int, rows: Sequence[Expected], tied: Sequence[Expected], embeddings: int, further: int
) -> Iterator[Count]:
    yield Count(
        WITH_HEADS, parameters + further, "with layers that predict further tokens, which Transformers does not load"
    )
    corrections = sum(row.tensors * row.elements for row in rows if row.role == CORRECTION and row.buffer)
    if corrections:
        what = "with the router's correction bias, a parameter in its authors' code and a buffer in Transformers"
        yield Count("with_router_bias", parameters + corrections, what)
    again = sum(row.tensors * row.elements for row in tied if row.part == "weight")
    yield Count("tied_head_again", parameters + again, "with the tied head counted again")
    yield Count("without_embeddings", parameters - embeddings, "without embeddings and head")


def of_prediction(prediction: Prediction) -> tuple[Count, ...]:
    """The counts by other conventions that differ for this configuration."""
    rows, tied = prediction.expected, prediction.tied
    further = sum(row.parameters for row in prediction.ahead)
    return conventions(prediction.parameters, rows, tied, embeddings=embeddings_of(rows), further=further)


def in_heads(counts: Iterable[Count], parameters: int) -> int:
    """Parameters of multi-token prediction layers, in addition to the model's own."""
    return next((each.parameters for each in counts if each.name == WITH_HEADS), parameters) - parameters


def embeddings_of(roles: Iterable[RoleSum | Expected]) -> int:
    """Parameters of embeddings and head, stored or predicted."""
    return sum(role.parameters for role in roles if role.role in EMBEDDINGS and role.tower == "text")
