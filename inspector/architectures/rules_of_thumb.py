"""Other ways to count parameters, with a name for the difference from the exact count.

Articles and model cards omit parts: the head, the position embedding, biases, the shift of a norm. `explain` finds the
parts whose sum is nearest to the gap between a stated number and ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

from inspector.architectures.prediction import scope_of
from inspector.architectures.scope import Scope
from inspector.errors import ConfigError
from inspector.model import Expected, Prediction

#: The largest error, as a share of a stated count, that counts as a slip.
NEAR = 1e-5


@dataclass(frozen=True, slots=True)
class Omission:
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


@dataclass(frozen=True, slots=True)
class Explanation:
    """The reason why a stated number of parameters differs from the exact one."""

    stated: int
    exact: int
    omitted: tuple[tuple[str, int], ...]  # part, its parameters
    residual: int  # stated − (exact − omitted): a slip, or rounding


def explain(prediction: Prediction, stated: int) -> Explanation:
    """The omitted parts that reduce the exact count to a stated one.

    An exact match wins; then the fewest parts within `NEAR`, since a slip in somebody's sum is likelier than one more
    omission; then whatever is nearest.
    """
    parts = [(o.name, sum(row.parameters for row in prediction.expected if o.covers(row))) for o in OMISSIONS]
    parts = [part for part in parts if part[1]]
    exact = prediction.parameters
    choices = (chosen for length in range(len(parts) + 1) for chosen in combinations(parts, length))

    def rank(chosen: tuple[tuple[str, int], ...]) -> tuple[bool, bool, int, int]:
        off = abs(_residual(stated, exact, chosen))
        near = off <= stated * NEAR
        return off != 0, not near, len(chosen) if near else 0, off

    best = min(choices, key=rank)
    return Explanation(stated, exact, best, _residual(stated, exact, best))


def _residual(stated: int, exact: int, omitted: tuple[tuple[str, int], ...]) -> int:
    return stated - (exact - sum(count for _, count in omitted))


@dataclass(frozen=True, slots=True)
class RuleOfThumb:
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


@dataclass(frozen=True, slots=True)
class TrainingState:
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
