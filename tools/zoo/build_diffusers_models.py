"""diffusers' model classes: their constructors' arguments, and their models on the meta device."""

from __future__ import annotations

import contextlib
import inspect
import json
import re
from typing import TYPE_CHECKING, Any

import diffusers
import torch
from diffusers import ModelMixin

if TYPE_CHECKING:
    from collections.abc import Mapping

Arguments = dict[str, Any]

#: Arguments without which a class does not build, from its published configurations, or a relative's.
NEEDED: Mapping[str, Arguments] = {
    "AudioLDM2ProjectionModel": {"text_encoder_dim": 1024, "text_encoder_1_dim": 512, "langauge_model_dim": 768},
    "AutoencoderKLHunyuanImage": {
        "in_channels": 3,
        "out_channels": 3,
        "latent_channels": 64,
        "block_out_channels": [128, 256, 512, 512, 1024, 1024],
        "layers_per_block": 2,
        "spatial_compression_ratio": 32,
        "sample_size": 384,
    },
    "ControlNetUnionModel": {"projection_class_embeddings_input_dim": 2816, "addition_time_embed_dim": 256},
    "DreamLiteTransformer2DModel": {"in_channels": 320, "cross_attention_dim": 768},
    "EasyAnimateTransformer3DModel": {"in_channels": 16, "out_channels": 16, "patch_size": 2},
    "HiDreamImageTransformer2DModel": {
        "patch_size": 2,
        "in_channels": 16,
        "caption_channels": [4096, 4096],
        "llama_layers": [0, 1, 2, 3],
    },
    "HunyuanDiT2DControlNetModel": {"in_channels": 4, "patch_size": 2},
    "HunyuanDiT2DModel": {"in_channels": 4, "patch_size": 2},
    "LatteTransformer3DModel": {
        "in_channels": 4,
        "patch_size": 2,
        "norm_type": "ada_norm_single",
        "num_embeds_ada_norm": 1000,
        "caption_channels": 4096,
    },
    "LuminaNextDiT2DModel": {"num_kv_heads": 8},
    "OmniGenTransformer2DModel": {"rope_scaling": {"long_factor": [1.0], "short_factor": [1.0], "type": "su"}},
    "RFD4ProteinaAutoencoder": {
        "atom37_mask": [[True] * 37] * 147,
        "allowed_residue_types": [[True] * 147] * 7,
    },
    "StableAudioProjectionModel": {"text_encoder_dim": 768, "conditioning_dim": 768, "min_value": 0, "max_value": 512},
    "Transformer2DModel": {"in_channels": 320, "cross_attention_dim": 768},
    "TransformerTemporalModel": {"in_channels": 320},
    "UniDiffuserModel": {"in_channels": 4, "out_channels": 4, "patch_size": 2, "sample_size": 64},
    "UniDiffuserTextDecoder": {"prefix_length": 77, "prefix_inner_dim": 768, "prefix_hidden_dim": 64},
    "ZImageControlNetModel": {
        "control_layers_places": [0, 5, 10, 15, 20, 25],
        "control_refiner_layers_places": [0, 1],
        "control_in_dim": 16,
    },
}


# On the meta device there is nothing to initialize, and skipping it saves half of the time.
def _left_alone(_: torch.nn.Module) -> None:
    """Replaces a module's initialization."""


for _kind in (torch.nn.Linear, torch.nn.modules.conv._ConvNd, torch.nn.Embedding):
    _kind.reset_parameters = _left_alone  # type: ignore[method-assign]


class Unbuildable(Exception):  # noqa: N818
    """A class refused its arguments."""


def model_classes() -> dict[str, type[Any]]:
    """Every public class of a model that has a configuration, except those that only hold several other models."""
    found = {name: getattr(diffusers, name) for name in dir(diffusers) if not name.startswith("_")}
    models = {
        n: c for n, c in found.items() if inspect.isclass(c) and issubclass(c, ModelMixin) and c is not ModelMixin
    }
    return {name: cls for name, cls in models.items() if hasattr(cls, "from_config") and not _holds_others(cls)}


def _holds_others(cls: type[Any]) -> bool:
    return bool({"controlnets", "adapters"} & inspect.signature(cls.__init__).parameters.keys())


def declared(cls: type[Any]) -> Arguments:
    """Each argument of a class with its default; required ones with a usual value."""
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    named = [p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    values = {p.name: None if p.default is p.empty else p.default for p in named}
    return {**values, **NEEDED.get(cls.__name__, {})}


def annotated(cls: type[Any]) -> dict[str, str]:
    """Each argument's annotation as text."""
    parameters = inspect.signature(cls.__init__).parameters.values()
    return {p.name: "" if p.annotation is p.empty else str(p.annotation) for p in parameters}


def build(cls: type[Any], arguments: Arguments) -> Any:
    """A model on the meta device. Raises Unbuildable."""
    try:
        with torch.device("meta"):
            model = cls(**arguments)
        if not model.state_dict():
            raise Unbuildable("a model of no tensors")
    except Exception as error:
        raise Unbuildable(f"{type(error).__name__}: {error}") from error
    return model


def shapes(model: Any) -> dict[str, tuple[int, ...]]:
    """Name → shape of what `save_pretrained` writes."""
    return {name: tuple(map(int, tensor.shape)) for name, tensor in model.state_dict().items()}


def tensors(model: Any) -> dict[str, list[Any]]:
    """Name → shape, dtype and kind, as `build.py` writes it."""
    parameters = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    return {
        name: [
            list(map(int, tensor.shape)),
            str(tensor.dtype).removeprefix("torch."),
            "param" if name in parameters else "buffer",
        ]
        for name, tensor in model.state_dict().items()
    }


def configuration(model: Any) -> dict[str, Any]:
    """The config.json that `save_pretrained` writes, with the class as its model type too."""
    values = json.loads(json.dumps(plain(dict(model.config)), default=str))
    values = {key: value for key, value in values.items() if not key.startswith("_")}
    # A class may have an argument `model_type` of its own, as Cosmos 3's audio tokenizer has.
    return {**values, "_class_name": type(model).__name__, "model_type": type(model).__name__}


def plain(value: Any) -> Any:
    """A value without traced numbers."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


_QUOTED = re.compile(r"[\"']([\w\-]+)[\"']")


def words_for(cls: type[Any], field: str, annotation: str) -> list[str]:
    """The texts that an argument may be, from its annotation and the code of its module."""
    import sys

    found = _QUOTED.findall(annotation) if "Literal" in annotation else []
    with contextlib.suppress(Exception):
        source = inspect.getsource(sys.modules[cls.__module__])
        for tail in re.findall(rf"\b{re.escape(field)}\s*(?:==|!=|in|not in)\s*([\[\(\{{]?[^:\n]*)", source):
            found += _QUOTED.findall(tail)
    return list(dict.fromkeys(found))[:12]
