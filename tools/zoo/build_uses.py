"""What a model does with each tensor: its module's class, and which map of a feed-forward network is which.

A role is a claim about use, and names are only a hint: `embed_tokens` looks rows up (torch.nn.Embedding), `gate_proj`
is the map whose output an activation function gets before it is multiplied with the other's. The class is read from the
model; what is activated is seen by running each kind of block once, on the meta device.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What a tensor is used for: the kind of its module, its class, and its place in a block: gate, up, down or nothing.
Use = tuple[str, str, str]

#: Functions of torch that are an activation.
_ACTIVATIONS = frozenset(
    [
        "silu",
        "gelu",
        "relu",
        "sigmoid",
        "tanh",
        "softplus",
        "relu6",
        "leaky_relu",
        "elu",
        "selu",
        "hardswish",
        "mish",
        "erf",
        "relu_",
        "sigmoid_",
        "tanh_",
        "prelu",
        "softsign",
        "hardsigmoid",
        "logsigmoid",
        "hardtanh",
        "celu",
    ]
)
_PRODUCTS = frozenset({"mul", "__mul__", "__rmul__", "__imul__", "mul_", "multiply"})
#: Functions after which a tensor is no longer a map's output.
_ENDS = frozenset(
    {"softmax", "matmul", "bmm", "__matmul__", "linear", "addmm", "scaled_dot_product_attention", "einsum"}
)


def kind_of(module: nn.Module) -> str:
    """lookup, linear, conv, norm, recurrent, or other."""
    name = type(module).__name__
    if isinstance(module, (nn.Embedding, nn.EmbeddingBag)):
        return "lookup"
    if isinstance(module, nn.modules.conv._ConvNd):
        return "conv"
    if isinstance(module, (nn.Linear, nn.Bilinear)) or name in ("Conv1D", "NonDynamicallyQuantizableLinear"):
        return "linear"
    if isinstance(module, nn.RNNBase):
        return "recurrent"
    return "norm" if "norm" in name.lower() and not list(module.children()) else "other"


def uses(model: nn.Module) -> dict[str, Use]:
    """The use of each tensor in memory."""
    places = _places(model)
    found: dict[str, Use] = {}
    for prefix, module in model.named_modules(remove_duplicate=False):
        own = (*module._parameters, *module._buffers)
        place = places.get(prefix, "")
        for name in own:
            found[f"{prefix}.{name}" if prefix else name] = kind_of(module), type(module).__name__, place
    return found


def saved_uses(model: nn.Module, sources: Mapping[str, set[str]]) -> dict[str, Use]:
    """The same by the names in a checkpoint, each with the names in memory that it comes from."""
    found = uses(model)
    return {name: use for name, inner in sources.items() for use in [found.get(min(inner, default=""))] if use}


# --- where the tensors of a checkpoint come from ------------------------------------------------


class Followed(TorchFunctionMode):
    """Follows tensors through the conversions between a model in memory and its file."""

    def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        given = [each._sources for each in _tensors((*args, kwargs)) if hasattr(each, "_sources")]
        if given:
            inner = given[0].union(*given[1:]) if len(given) > 1 else given[0]
            for each in _tensors(result):
                if not hasattr(each, "_sources"):
                    each._sources = inner  # type: ignore[attr-defined]
        return result


def sources_of(state: Mapping[str, torch.Tensor]) -> dict[str, set[str]]:
    """The names that each followed tensor comes from."""
    return {name: getattr(tensor, "_sources", set()) for name, tensor in state.items()}


def marked(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same tensors, which know their names."""
    for name, tensor in state.items():
        tensor._sources = {name}  # type: ignore[attr-defined]
    return state


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        return []
    found: list[torch.Tensor] = []
    for item in value:
        if isinstance(item, torch.Tensor):
            found.append(item)
        elif isinstance(item, (tuple, list, dict)):
            found += _tensors(item)
    return found


# --- blocks -------------------------------------------------------------------------------------


class _Watched(TorchFunctionMode):
    """Sees which map's output is activated, and which two are multiplied."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs: dict[str, str] = {}  # gate → up

    def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        with contextlib.suppress(Exception), torch._C.DisableTorchFunction():
            self._tag(getattr(function, "__name__", ""), result, args, kwargs)
        return result

    def _tag(self, name: str, result: Any, args: Any, kwargs: Any) -> None:
        tags = [tag for each in _tensors((args, kwargs)) if (tag := getattr(each, "_tag", None))]
        if not tags or name in _ENDS:
            return
        after = tags[0]
        if name in _ACTIVATIONS:
            after = "activated", after[1]
        elif name in _PRODUCTS and len(tags) == 2:
            after = self._multiplied(*tags)
        for each in _tensors(result):
            each._tag = after  # type: ignore[attr-defined]

    def _multiplied(self, one: tuple[str, str], two: tuple[str, str]) -> tuple[str, str]:
        if one[1] == two[1]:  # x * sigmoid(x), or halves of one map
            return "activated", one[1]
        gate, up = (one, two) if one[0] == "activated" else (two, one)
        if gate[0] == "activated" and up[0] != "activated":
            self.pairs[gate[1]] = up[1]
        return "multiplied", up[1]


def _places(model: nn.Module) -> dict[str, str]:
    """Module → gate, up or down, in every block whose kind could be run."""
    seen: dict[Any, dict[str, str]] = {}
    found: dict[str, str] = {}
    for prefix, module in model.named_modules():
        inner = {name: child for name, child in module.named_modules() if name and kind_of(child) in ("linear", "conv")}
        direct = [name for name, child in inner.items() if "." not in name and kind_of(child) == "linear"]
        if not 2 <= len(direct) <= 4 or len(inner) > 6:
            continue
        key = type(module), tuple(inner)
        if key not in seen:
            seen[key] = _run(module, inner)
        found |= {f"{prefix}.{name}": place for name, place in seen[key].items()}
    return found


def _run(block: nn.Module, maps: Mapping[str, nn.Module]) -> dict[str, str]:
    """The places of a block's maps, by running it; none if it takes more than one tensor."""
    watch = _Watched()
    places: dict[str, str] = {}

    def before(name: str) -> Any:
        def hook(_: Any, inputs: Any) -> None:
            tag = getattr(inputs[0], "_tag", None)
            if tag and tag[0] in ("activated", "multiplied"):
                places.setdefault(name, "down")
                places.setdefault(tag[1], "up")

        return hook

    def after(name: str) -> Any:
        def hook(_: Any, __: Any, output: Any) -> None:
            output._tag = "plain", name

        return hook

    hooks = [
        h for n, m in maps.items() for h in (m.register_forward_pre_hook(before(n)), m.register_forward_hook(after(n)))
    ]
    first = next(iter(maps.values()))
    width = getattr(first, "in_features", None) or first.weight.shape[0]
    try:
        with torch.device("meta"), torch.no_grad(), watch, contextlib.suppress(Exception):
            block(torch.empty((1, 3, width), dtype=first.weight.dtype))
    finally:
        for hook in hooks:
            hook.remove()
    return {**places, **dict.fromkeys(watch.pairs, "gate"), **dict.fromkeys(watch.pairs.values(), "up")}
