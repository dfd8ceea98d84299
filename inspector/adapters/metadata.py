"""An adapter's own description in its file's header, with the field names of PEFT's adapter_config.json.

    diffusers   `lora_adapter_metadata`: PEFT's own fields as JSON, each prefixed with the name of its part: `unet.r`
    kohya       `ss_network_module`, `ss_network_dim`, `ss_network_args`, and `ss_base_model_version` for the base

kohya's default modules are those of `networks/lora.py` in sd-scripts: everything in the denoiser's transformers and
in the text encoder's layers, with `conv_dim` also its residual blocks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from inspector.adapters import DIFFUSERS, KOHYA
from inspector.model import Config, Header

#: Parts of a pipeline that diffusers adapts, the denoiser first.
PARTS = ("unet", "transformer", "text_encoder", "text_encoder_2")
TRANSFORMERS = ("proj_in", "proj_out", "to_q", "to_k", "to_v", "to_out.0", "ff.net.0.proj", "ff.net.2")
TEXT = ("q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2")
LINEAR = ("time_emb_proj", "conv_shortcut")
CONVOLUTIONS = ("conv1", "conv2", "downsamplers.0.conv", "upsamplers.0.conv")
SD_2: Mapping[str, Any] = {"cross_attention_dim": 1024, "use_linear_projection": True}
#: `ss_base_model_version` → the denoiser's published configuration, if it is not diffusers' default.
BASES: Mapping[str, Mapping[str, Any]] = {
    "sd_v1": {"cross_attention_dim": 768},
    "sd_v2": SD_2,
    "sd_v2_v": SD_2,
    "sd_v2_768_v": SD_2,
    "sdxl_base_v1-0": {
        "block_out_channels": [320, 640, 1280],
        "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
        "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
        "transformer_layers_per_block": [1, 2, 10],
        "cross_attention_dim": 2048,
        "use_linear_projection": True,
        "addition_embed_type": "text_time",
        "projection_class_embeddings_input_dim": 2816,
    },
}


def configuration(files: Iterable[Header]) -> Mapping[str, Any] | None:
    """The adapter's fields; None if the headers have none."""
    for header in files:
        if DIFFUSERS in header.metadata:
            return _of_diffusers(_parsed_object(header.metadata[DIFFUSERS]))
        if KOHYA in header.metadata:
            return _of_kohya(header.metadata)
    return None


def base(files: Iterable[Header]) -> Config | None:
    """The configuration of the denoiser that the adapter was trained for; None if the headers name none."""
    for header in files:
        version = header.metadata.get("ss_base_model_version")
        if KOHYA in header.metadata and version in BASES:
            model_type = "UNet2DConditionModel"
            values = {"_class_name": model_type, "model_type": model_type, **BASES[str(version)]}
            note = f"the published configuration of the base that the file names, {version}"
            return Config(values, "config.json", "ss_base_model_version", (note,))
    return None


def _parsed_object(text: Any) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _of_diffusers(fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for part in PARTS:
        own = {key.removeprefix(part + "."): value for key, value in fields.items() if key.startswith(part + ".")}
        if own:
            return {"peft_type": "LORA", **own}
    return None


def _of_kohya(metadata: Mapping[str, Any]) -> Mapping[str, Any] | None:
    arguments = _parsed_object(metadata.get("ss_network_args"))
    if metadata[KOHYA] != "networks.lora":
        return None
    targets, ranks = [*TRANSFORMERS, *TEXT], {}
    if "conv_dim" in arguments:
        targets += [*LINEAR, *CONVOLUTIONS]
        ranks = dict.fromkeys(CONVOLUTIONS, _as_integer(arguments["conv_dim"]))
    rank = _as_integer(metadata.get("ss_network_dim"))
    return {"peft_type": "LORA", "r": rank, "target_modules": targets, "rank_pattern": ranks}


def _as_integer(value: Any) -> Any:
    """kohya writes its numbers as strings."""
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 9 else value
