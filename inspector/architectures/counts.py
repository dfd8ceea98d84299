"""Counts of parameters by conventions other than ours, which is that of Transformers' `num_parameters()`.

There buffers do not count, and a tensor with two names counts once. Model cards, papers and other libraries count
otherwise (`conventions`, see docs/counting.md); articles omit parts: the head, the position embedding, biases, the
shift of a norm; or add some: a tied head, layers that predict further tokens, a padded vocabulary. `explain` finds the
parts whose sum is nearest to the gap between a stated number and ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from inspector.architectures.prediction import scope_of
from inspector.architectures.scope import Scope
from inspector.errors import ConfigError
from inspector.model import Count, Expected, Prediction, RoleSum
from inspector.tabular import NamedTuple

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


# --- what people omit -----------------------------------------------------------------------------

#: The largest error, as a share of a stated count, that counts as a slip.
NEAR = 1e-5


class Omission(NamedTuple):
    """A part that people omit from a count."""

    name: str
    covers: Callable[[Expected], bool]


OMISSIONS: tuple[Omission, ...] = (
    Omission("the output head", lambda row: row.role == "lm_head"),
    Omission("the token embedding", lambda row: row.role == "embed_tokens"),
    Omission("the position embedding", lambda row: row.role == "embed_positions"),
    Omission("biases of projections", lambda row: row.part == "bias" and row.group != "norm"),
    Omission("shifts (biases) of norms", lambda row: row.part == "bias" and row.group == "norm"),
    Omission(
        "scales (weights) of norms in layers",
        lambda row: row.part == "weight" and row.group == "norm" and row.layers is not None,
    ),
    Omission(
        "the scale of the final norm", lambda row: row.part == "weight" and row.group == "norm" and row.layers is None
    ),
    Omission("the router", lambda row: row.group == "router"),
)


#: Part, its parameters.
Part = tuple[str, int]
#: What people add to a count, by the bridge's cause for it.
TIED, AHEAD, PADDED = "the tied head, counted again", "layers that predict further tokens", "padding of the vocabulary"
ADDED_BY: Mapping[str, str] = {TIED: "tied_embeddings", AHEAD: "prediction_head", PADDED: "vocab_padding"}
#: Multiples to which training programs pad a vocabulary (Megatron's `make_vocab_size_divisible_by` × devices).
PADDED_TO = (64, 128, 256, 512, 1024)


def _additions(prediction: Prediction) -> Iterator[Part]:
    """The parts that a count may have beyond ours; of the padding, each that differs."""
    yield TIED, sum(row.tensors * row.elements for row in prediction.tied if row.part == "weight")
    yield AHEAD, sum(row.parameters for row in prediction.ahead)
    vocabularies = [
        row for row in prediction.expected if row.role in ("embed_tokens", "lm_head") and len(row.shape) == 2
    ]
    rows = max((max(row.shape) for row in vocabularies), default=0)
    for padding in sorted({-rows % multiple for multiple in PADDED_TO}):
        yield PADDED, sum(padding * row.elements // rows for row in vocabularies if max(row.shape) == rows)


class Explanation(NamedTuple):
    """The reason why a stated number of parameters differs from the exact one."""

    stated: int
    exact: int
    omitted: tuple[Part, ...]
    added: tuple[Part, ...]
    residual: int  # stated − (exact − omitted + added): a slip, or rounding

    @property
    def near(self) -> bool:
        """Whether what remains is small enough for a slip."""
        return abs(self.residual) <= self.stated * NEAR


def explain(prediction: Prediction, stated: int) -> Explanation:
    """The parts that were omitted from the exact count, or added to it, to reach a stated one.

    An exact match wins; then the fewest parts within `NEAR`, since a slip in somebody's sum is likelier than one more
    omission; then whatever is nearest.
    """
    omitted = [(o.name, sum(row.parameters for row in prediction.expected if o.covers(row))) for o in OMISSIONS]
    omitted = [part for part in omitted if part[1]]
    added = [part for part in _additions(prediction) if part[1]]
    exact = prediction.parameters
    choices = ((less, more) for less in _subsets(omitted) for more in _subsets(added) if _each_once(more))

    def rank(chosen: tuple[tuple[Part, ...], tuple[Part, ...]]) -> tuple[bool, bool, int, int]:
        off = abs(_residual(stated, exact, *chosen))
        near = off <= stated * NEAR
        return off != 0, not near, len(chosen[0]) + len(chosen[1]) if near or not off else 0, off

    less, more = min(choices, key=rank)
    return Explanation(stated, exact, less, more, _residual(stated, exact, less, more))


def _subsets(parts: Sequence[Part]) -> Iterator[tuple[Part, ...]]:
    return (chosen for length in range(len(parts) + 1) for chosen in combinations(parts, length))


def _each_once(parts: Sequence[Part]) -> bool:
    return len({name for name, _ in parts}) == len(parts)


def _residual(stated: int, exact: int, omitted: Sequence[Part], added: Sequence[Part]) -> int:
    return stated - exact + sum(count for _, count in omitted) - sum(count for _, count in added)


class RuleOfThumb(NamedTuple):
    """12·L·h² + V·h: a decoder with feed-forward layers four times as wide, and one embedding."""

    layers: int
    hidden: int
    vocabulary: int
    estimate: int
    exact: int


def rule_of_thumb(prediction: Prediction) -> RuleOfThumb | None:
    """The rule's estimate for a text model; None if the configuration lacks one of its three numbers."""
    scope = scope_of(prediction)
    try:
        layers, hidden, vocabulary = (
            _field(scope, name) for name in ("num_hidden_layers", "hidden_size", "vocab_size")
        )
    except ConfigError:
        return None
    return RuleOfThumb(layers, hidden, vocabulary, 12 * layers * hidden**2 + vocabulary * hidden, prediction.parameters)


def _field(scope: Scope, common: str) -> int:
    value = scope[scope.family.fields.get(common, common)]
    if not isinstance(value, int):
        raise ConfigError(f"`{common}` is not a number")
    return value


class TrainingState(NamedTuple):
    """Bytes that training keeps per parameter, besides activations."""

    weights: int
    gradients: int
    optimizer: int  # Adam's two moments, and the F32 master weights if the weights are narrower

    @property
    def total(self) -> int:
        return self.weights + self.gradients + self.optimizer


def training_state(parameters: int, bits: int) -> TrainingState:
    """Memory for training with Adam: weights and gradients at `bits`, moments and master copy in F32."""
    width = bits // 8
    master = 4 * parameters if width < 4 else 0
    return TrainingState(width * parameters, width * parameters, 8 * parameters + master)
