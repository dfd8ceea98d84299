"""What a configuration predicts: tensors by key."""

from __future__ import annotations

from math import prod

from inspector.model.checkpoint import Config
from inspector.tabular import NamedTuple, Tabular
from inspector.units import integer, plural

STACKED = -1  # `Key.expert` of a tensor that holds all experts of its layer


class Key(NamedTuple):
    """A tensor's purpose, independent of its name: the key on which file and prediction are joined."""

    tower: str  # "text" if there is only one; "encoder", "decoder", "vision", "audio", "projector", …
    layer: int | None  # None outside the stack of layers
    expert: int | None  # None outside the experts; STACKED for all of them in one tensor
    role: str  # Llama's names: "q_proj", "gate_proj", "norm", …
    part: str  # "weight", "bias" or a piece of quantization side data
    branch: str = ""  # distinguishes several of a role in a layer: "cross", "temporal", …; "" for the main one
    indexes: tuple[int, ...] = ()  # further numbers in the name: stages, copies, …


class Expected(NamedTuple):
    """One row of a prediction: tensors of one role and shape, across layers and experts."""

    role: str
    group: str
    tower: str
    part: str  # "weight" or "bias"
    name: str  # template with {layer} and {expert}, as Transformers writes the tensor
    shape: tuple[int, ...]  # of each tensor
    formula: tuple[str, ...]  # the same in configuration fields, one string per dimension
    numbers: tuple[str, ...]  # the same with the configuration's numbers
    layers: tuple[int, ...] | None = None  # None outside the stack of layers
    experts: int | None = None  # experts per layer; None outside the experts
    first_expert: int = 0  # the number of the first of them
    active: int | None = None  # active experts per token
    branch: str = ""  # as in `Key`
    indexes: tuple[int, ...] = ()  # further numbers in the name
    stacked: int | None = None  # experts in the first dimension of each tensor
    buffer: bool = False  # stored, but not a parameter
    spare: bool = False  # created by its class and never used: published files lack it

    @property
    def elements(self) -> int:
        """Elements of each tensor."""
        return prod(self.shape)

    @property
    def tensors(self) -> int:
        return (1 if self.layers is None else len(self.layers)) * (1 if self.experts is None else self.experts)

    @property
    def expert_numbers(self) -> range:
        """The numbers of the row's experts in names."""
        return range(self.first_expert, self.first_expert + (self.experts or 0))

    @property
    def parameters(self) -> int:
        return 0 if self.buffer else self.tensors * self.elements

    @property
    def active_parameters(self) -> int:
        experts = self.experts or self.stacked
        if not experts or self.active is None:
            return self.parameters
        return self.parameters // experts * min(self.active, experts)

    def keys(self) -> list[Key]:
        """One key per tensor, layer by layer."""
        one = (None if self.stacked is None else STACKED,)
        experts = one if self.experts is None else self.expert_numbers
        return [
            Key(self.tower, layer, expert, self.role, self.part, self.branch, self.indexes)
            for layer in ((None,) if self.layers is None else self.layers)
            for expert in experts
        ]

    def names(self) -> list[str]:
        """Transformers' name for each tensor, in the order of `keys`."""
        parts = self.name.split("{layer}")
        names = [self.name] if self.layers is None else [str(layer).join(parts) for layer in self.layers]
        if self.experts is None:
            return names
        halves = [name.partition("{expert}") for name in names]
        return [f"{head}{expert}{tail}" for head, _, tail in halves for expert in self.expert_numbers]

    def name_of(self, key: Key) -> str:
        """Transformers' name for one of the tensors."""
        return self.name.replace("{layer}", str(key.layer)).replace("{expert}", str(key.expert))


class _Prediction(NamedTuple):
    config: Config
    family: str
    head: str  # suffix of the class: "ForCausalLM", "Model", …
    expected: tuple[Expected, ...]  # stored tensors, except buffers
    tied: tuple[Expected, ...] = ()  # shared with the token embedding, so not stored
    buffers: tuple[Expected, ...] = ()  # what a checkpoint may also hold
    optional: tuple[Expected, ...] = ()  # tensors whose presence the configuration does not determine
    base: Prediction | None = None  # of an adapter: the model that it changes
    ahead: tuple[Expected, ...] = ()  # layers that predict further tokens, stored with the model


class Prediction(_Prediction, Tabular):
    """The tensors that a checkpoint should contain, according to a configuration."""

    __slots__ = ()

    @property
    def parameters(self) -> int:
        return sum(row.parameters for row in self.expected)

    @property
    def active(self) -> int:
        """Parameters used for one token; equals `parameters` for a dense model."""
        return sum(row.active_parameters for row in self.expected)

    @property
    def tensors(self) -> int:
        return sum(row.tensors for row in self.expected)

    def __repr__(self) -> str:
        of = f"{self.family} {self.head}".strip()
        of += f", for {self.config.model_type!s:.60} by analogy" if self.config.relative else ""
        return f"<Prediction {of}: {integer(self.parameters)} parameters in {plural(self.tensors, 'tensor')}>"


class RoleForecast(NamedTuple):
    """All predicted tensors of one role in one branch of one tower."""

    role: str
    group: str
    tower: str
    branch: str
    tensors: int
    parameters: int
    formula: str  # distinct shapes in configuration fields, biases after a plus
    numbers: str  # the same with the configuration's numbers
