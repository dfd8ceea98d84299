"""The weights in other quantizations: the packings of libraries, and which to advise for a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

from inspector.model import Prediction
from inspector.quantization.declaration import declaration_of
from inspector.sizing.model import Model
from inspector.sizing.weights import Weights, as_declared
from inspector.sizing.widths import WIDTHS

#: Packings by other libraries, of all linear layers but the head: name → how. Sources: the docstrings of `schemes`.
PACKINGS: Mapping[str, Mapping[str, Any]] = {
    "gptq-4bit": {"quant_method": "gptq", "bits": 4, "group_size": 128},
    "awq-4bit": {"quant_method": "awq", "bits": 4, "group_size": 128},
    "nf4": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
    "nf4-dq": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4",
               "bnb_4bit_use_double_quant": True},
    "mxfp4": {"quant_method": "mxfp4"},
    "fp8": {"quant_method": "compressed-tensors", "format": "float-quantized", "ignore": ["lm_head"],
            "config_groups": {"g": {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}}},
    "int8": {"quant_method": "bitsandbytes", "load_in_8bit": True},
}  # fmt: skip
#: The release of Transformers with which bitsandbytes packs a model.
RELEASE = "5.24"
#: The names of types in bitsandbytes' description of a weight.
_TORCH = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
#: Other names of packings.
ALIASES = {"f8": "fp8", "i8": "int8", "gptq": "gptq-4bit", "awq": "awq-4bit"}
#: Who writes those that are listed.
LIBRARIES = {
    "gptq-4bit": "GPTQModel, groups of 128", "awq-4bit": "AutoAWQ, groups of 128",
    "fp8": "llm-compressor, FP8 by channel", "mxfp4": "the experts in MXFP4, as gpt-oss has them",
    "nf4": "bitsandbytes", "int8": "bitsandbytes",
}  # fmt: skip

#: Engine → the quantizations to advise if a model does not fit, from large to small.
ADVISED: Mapping[str, tuple[str, ...]] = {
    "llama.cpp": ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q3_K_M", "Q2_K"),
    "transformers": ("int8", "nf4"),
    "vllm": ("fp8", "awq-4bit"),
}


def smaller(
    model: Model, engine: str, weights: Weights, room: int, fits: Callable[[Weights], bool]
) -> tuple[str, Weights] | None:
    """The largest advised quantization that is smaller than the weights and fits, or the smallest if none does.

    None if none is smaller, or the model's tensors as a quantizer would be given them are unknown.

    Args:
        engine, weights: that runs the model, and the present ones.
        room: about how many bytes the weights may have: those that are far larger are not computed.
    """
    found = None
    for found in _advised(model, engine, weights.nbytes, room):
        if fits(found[1]):
            break
    return found


def _advised(model: Model, engine: str, present: int, room: int) -> Iterator[tuple[str, Weights]]:
    """The model in the engine's advised quantizations, from large to small, as far as they are smaller than it is."""
    names, room = ADVISED.get(engine, ()), min(room, present)
    if engine != "llama.cpp":
        found = ((name, weights_in(model, name)) for name in names)
        yield from ((name, each) for name, each in found if each and each.nbytes < present)
        return
    from inspector.sizing.requantized import in_mixture, source_of  # for this engine alone

    if (source := source_of(model, [])) is not None:
        elements = sum(prod(shape) for _, shape, _ in source.entries)
        bits = {name: WIDTHS[name].bits for name in names}
        names = tuple(name for name in names if elements * bits[name] <= room * 8 * 1.1) or names[-1:]
        made_of = ((name, in_mixture(model, source, name)) for name in names)
        yield from ((name, weights) for name, weights in made_of if weights.nbytes < present)


def weights_in(model: Model, name: str) -> Weights | None:
    """The weights in a quantization, as its library writes them; None if it is none, or the tensors are unknown."""
    word = name.lower().replace("_", "-")
    packing = ALIASES.get(word, word)
    if packing in PACKINGS and model.prediction is not None and model.format != "gguf":
        return _packed(model, model.prediction, packing)
    from inspector.sizing.requantized import in_mixture, is_mixture, source_of  # only if it is none of these

    source = source_of(model, []) if is_mixture(name) else None
    return in_mixture(model, source, name.upper()) if source else None


def _packed(model: Model, prediction: Prediction, name: str) -> Weights | None:
    own = model.computes_in
    code = "" if model.config and "auto_map" in model.config.values else RELEASE
    declared = declaration_of(PACKINGS[name], _TORCH.get(own.name, "bfloat16"), exact=False, release=code)
    if declared is None or not any(declared.form.only in row.name for row in prediction.expected):
        return None
    return as_declared(prediction, declared, own)


def of_libraries(model: Model) -> Iterator[tuple[str, Weights]]:
    """The weights in each of the libraries' packings, if it packs any of them."""
    for name in LIBRARIES:
        if (
            model.prediction is not None
            and model.format != "gguf"
            and (found := _packed(model, model.prediction, name))
        ):
            yield name, found
