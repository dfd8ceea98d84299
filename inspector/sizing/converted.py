"""A model as llama.cpp's converter would write it: the tensors of its GGUF, predicted from another configuration."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from inspector.architectures import GGUF_ARCHITECTURE, GgufArchitecture, predicted_gguf
from inspector.architectures.data.gguf_keys import CONVERTED_AS, MODEL_TYPES
from inspector.architectures.prediction import predict
from inspector.errors import ConfigError
from inspector.model import Config, Prediction
from inspector.sizing.model import Model
from inspector.sizing.weights import MAIN

#: Fields of the GGUF tables → what other configurations call them.
_FIELDS = {
    "hidden_size": "n_embd d_model",
    "num_hidden_layers": "n_layer n_layers",
    "num_attention_heads": "n_head n_heads",
    "intermediate_size": "n_inner ffn_dim ffn_hidden_size",
    "vocab_size": "",
    "max_position_embeddings": "n_positions",
    "num_local_experts": "num_experts n_routed_experts moe_num_experts",
    "moe_intermediate_size": "",
}


def converted(model: Model) -> Prediction | None:
    """The prediction of the model's GGUF, if it has the same parameters."""
    if model.scope is None or model.prediction is None:
        return None
    values = {
        **{field: number for field, names in _FIELDS.items() if (number := number_of(model, field, *names.split()))},
        **model.scope.config,
        "tie_word_embeddings": not any(row.role == "lm_head" for row in model.prediction.expected),
    }
    expected = sum(row.parameters for row in model.prediction.expected if row.tower in MAIN)
    for architecture in _architectures(values.get("model_type")):
        config = Config({**values, GGUF_ARCHITECTURE: GgufArchitecture(architecture)}, "gguf")
        with suppress(ConfigError, ArithmeticError, TypeError, ValueError):
            found = predict(config)
            if found.parameters == expected:
                return found
    return None


def _architectures(model_type: object) -> Iterator[str]:
    known = predicted_gguf()
    if isinstance(model_type, str):
        others = (each for each, of in MODEL_TYPES.items() if of == model_type)
        named = (CONVERTED_AS.get(model_type), model_type, model_type.removesuffix("_text"), *others)
        yield from (each for each in dict.fromkeys(named) if each in known)


def number_of(model: Model, *names: str) -> int:
    """The first of these fields that is a number, or a list of numbers, whose first it then is; 0 if none is."""
    for name in names:
        with suppress(ConfigError):
            value = model.scope[name] if model.scope is not None else None
            first = value[0] if isinstance(value, (list, tuple)) and value else value
            if isinstance(first, int) and not isinstance(first, bool):
                return first
    return 0
