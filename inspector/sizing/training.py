"""Memory for training: weights, gradients, the optimizer's states and a 32-bit copy, optionally divided among devices.

Sources: ZeRO, arXiv:1910.02054 (16 bytes a parameter, and what each stage divides); LoRA, arXiv:2106.09685; QLoRA,
arXiv:2305.14314; Adafactor, arXiv:1804.04235 (a row and a column for each matrix); bitsandbytes' 8-bit optimizers (a
scale in 32 bits for 256 elements, tensors below 4,096 elements in 32 bits); Muon (momentum of hidden matrices, AdamW
for the others); activations after arXiv:2205.05198, without a matrix of attention's scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import NamedTuple

from inspector.errors import ConfigError, UsageError
from inspector.model import Expected, Prediction
from inspector.quantization.declaration import declaration_of
from inspector.sizing.model import Model
from inspector.sizing.weights import as_declared
from inspector.sizing.widths import WIDTHS

METHODS = ("full", "lora", "qlora")
PRECISIONS = ("mixed", "bf16", "fp32")
#: peft's default targets for a Llama.
TARGETS = ("q_proj", "v_proj")
ALL_LINEAR = "all-linear"
#: The largest rank and number of devices that are accepted.
MOST = 2**16


class Plan(NamedTuple):
    """How a model is trained."""

    method: str = "full"
    optimizer: str = "adamw"
    precision: str = "mixed"
    rank: int = 16
    targets: tuple[str, ...] = TARGETS
    zero: int = 0  # what is divided among the devices: 1 optimizer states, 2 gradients too, 3 weights too (FSDP)
    devices: int = 1
    checkpointing: bool = False  # whether a layer's activations are recomputed


class Training(NamedTuple):
    """Bytes on each device."""

    trained: int  # parameters that change
    weights: int
    gradients: int
    optimizer: int
    master: int
    activations: int | None
    formulas: Mapping[str, str]
    assumes: tuple[str, ...]

    @property
    def total(self) -> int:
        return self.weights + self.gradients + self.optimizer + self.master + (self.activations or 0)


class Matrix(NamedTuple):
    """A number of trained tensors of one shape."""

    shape: tuple[int, ...]
    number: int
    hidden: bool  # whether it is a matrix within the layers

    @property
    def elements(self) -> int:
        """Elements of each."""
        return prod(self.shape)


def _adamw(each: Matrix, width: int) -> int:
    return 2 * width * each.elements


def _adamw8(each: Matrix, _: int) -> int:
    if each.elements < 4096:
        return 8 * each.elements
    return 2 * (each.elements + 4 * -(-each.elements // 256))


def _adafactor(each: Matrix, width: int) -> int:
    if len(each.shape) < 2:
        return width * each.elements
    *others, rows, columns = each.shape
    return width * prod(others) * (rows + columns)


class Optimizer(NamedTuple):
    """Bytes of states for a tensor, given the width of a state; and the formula."""

    states: Callable[[Matrix, int], int]
    formula: str


OPTIMIZERS: Mapping[str, Optimizer] = {
    "adamw": Optimizer(_adamw, "2 states × {width} bytes"),
    "adamw-8bit": Optimizer(_adamw8, "2 × (1 byte + 4 bytes for 256); 8 bytes in tensors below 4,096 elements"),
    "adafactor": Optimizer(_adafactor, "{width} bytes × (rows + columns) of a matrix; vectors whole"),
    "sgd": Optimizer(lambda *_: 0, "no state (no momentum)"),
    "muon": Optimizer(
        lambda each, width: width * each.elements * (1 if each.hidden else 2),
        "{width} bytes of momentum for matrices in layers; 2 × {width} for the others (AdamW)",
    ),
}


def plan_of(plan: Plan, lora: str | None) -> Plan:
    """A plan with its adapter's settings as typed: `r=16,targets=q_proj+v_proj`. Raises UsageError."""
    for what, word, words in (
        ("training", plan.method, METHODS),
        ("optimizer", plan.optimizer, OPTIMIZERS),
        ("precision", plan.precision, PRECISIONS),
    ):
        if word not in words:
            raise UsageError(f"no {what} is called {word!r:.40}; known: {', '.join(words)}")
    if not 0 < plan.devices <= MOST or not 0 <= plan.zero <= 3:
        raise UsageError(f"ZeRO has stages 0 to 3, among 1 to {MOST:,} devices")
    for word in (lora or "").split(","):
        name, _, value = word.partition("=")
        if name in ("r", "rank") and value.isdecimal() and 0 < int(value[:6]) <= MOST:
            plan = plan._replace(rank=int(value[:6]))
        elif name == "targets" and value:
            plan = plan._replace(targets=tuple(value.split("+")))
        elif word:
            raise UsageError(
                f"--lora {word!r:.60}: the settings are r=16, and targets=q_proj+v_proj or targets=all-linear"
            )
    return plan


def training_of(model: Model, plan: Plan, context: int, sequences: int) -> Training:
    """What training takes on each device.

    Raises:
        UsageError: no table knows the architecture, or it has none of the targets.
    """
    if model.prediction is None:
        raise UsageError("training is computed from the configuration, and no table knows this architecture")
    trained = tuple(_trained_tensors(model.prediction, plan))
    if not trained:
        raise UsageError(f"no weight is called {' or '.join(plan.targets)}: nothing would be trained")
    state = 2 if plan.precision == "bf16" else 4
    loaded = 4 if plan.precision == "fp32" else 2
    number = sum(each.number * each.elements for each in trained)
    optimizer = OPTIMIZERS[plan.optimizer]
    frozen = plan.method != "full"
    adapter = loaded * number if frozen else 0
    mixed = plan.precision == "mixed"
    terms = {
        "weights": _base_weights(model.prediction, plan, loaded) + adapter,
        "gradients": loaded * number,
        "optimizer": sum(each.number * optimizer.states(each, state) for each in trained),
        "master": 4 * number if mixed else 0,
    }
    divided = {"weights": 3, "gradients": 2, "optimizer": 1, "master": 1}
    parts = {
        term: -(-nbytes // plan.devices) if plan.zero >= divided[term] else nbytes for term, nbytes in terms.items()
    }
    moment, how = _stored_activations(model, plan, context, sequences, loaded)
    formulas = {
        "weights": f"{loaded} bytes × parameters" + (" (linear layers in NF4)" if plan.method == "qlora" else ""),
        "gradients": f"{loaded} bytes × {number:,} trained parameters",
        "optimizer": optimizer.formula.format(width=state),
        "master": "4 bytes × trained parameters" if mixed else "none",
        "activations": how,
    }
    assumes = ["activations are an estimate", "without communication buffers and fragmentation"]
    if plan.zero:
        assumes.append(
            f"ZeRO {plan.zero}: " + ", ".join(t for t, at in divided.items() if plan.zero >= at) + f" ÷ {plan.devices}"
        )
    return Training(number, **parts, activations=moment, formulas=formulas, assumes=tuple(assumes))


def _trained_tensors(prediction: Prediction, plan: Plan) -> Iterable[Matrix]:
    """The tensors that change: all, or the two low-rank matrices for each target."""
    for row in prediction.expected:
        if row.buffer:
            continue
        if plan.method == "full":
            hidden = len(row.shape) > 1 and row.layers is not None and row.group not in ("embedding", "head")
            yield Matrix(row.shape, row.tensors, hidden)
        elif _is_target(row, plan):
            *stacked, outputs, inputs = row.shape
            number = row.tensors * prod(stacked)
            yield Matrix((plan.rank, inputs), number, True)
            yield Matrix((outputs, plan.rank), number, True)


def _is_target(row: Expected, plan: Plan) -> bool:
    if (
        len(row.shape) < 2
        or row.part != "weight"
        or row.group in ("embedding", "head", "convolution", "norm", "router")
    ):
        return False
    return ALL_LINEAR in plan.targets or row.role in plan.targets


def _base_weights(prediction: Prediction, plan: Plan, loaded: int) -> int:
    if plan.method == "qlora":
        from inspector.sizing.packings import PACKINGS, RELEASE  # for this method alone

        declared = declaration_of(PACKINGS["nf4-dq"], exact=False, release=RELEASE)
        assert declared
        return as_declared(prediction, declared, WIDTHS["BF16"]).nbytes
    return loaded * prediction.parameters


def _stored_activations(model: Model, plan: Plan, context: int, sequences: int, width: int) -> tuple[int | None, str]:
    """34 bytes per token, layer and hidden element in 16 bits; with checkpointing each layer's input, and one layer."""
    scope = model.scope
    if scope is None:
        return None, "not known"
    try:
        hidden, layers = scope["hidden_size"], scope["num_hidden_layers"]
    except ConfigError:
        return None, "not known: the configuration has no hidden_size or num_hidden_layers"
    if not isinstance(hidden, int) or not isinstance(layers, int):
        return None, "not known"
    tokens = context * sequences
    if plan.checkpointing:
        return tokens * hidden * (width * layers + 17 * width), f"tokens × hidden × {width} × (layers + 17)"
    return tokens * hidden * 17 * width * layers, f"tokens × hidden × {17 * width} × layers"
