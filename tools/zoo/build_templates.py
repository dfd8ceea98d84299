"""The default configuration of each type, with the fields that it needs to build a model."""

from __future__ import annotations

import contextlib
import copy
from typing import TYPE_CHECKING, Any

from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from zoo.build_configurations import Overrides, construct, nested_configs
from zoo.build_models import Unbuildable, build_model, builds

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

# Values for fields without which the default configuration of a type builds no model.
ROPE = {"rope_type": "default", "rope_theta": 10000.0}
IMAGE_TOKENS = {"<image>": 10, "<|image token|>": 10, "IMGIMG": 11, "<|visual token 000000|>": 12}
GENERIC_REPAIRS: list[Overrides] = [
    {("head_dim",): 128},
    {("num_key_value_heads",): 8},
    {("num_key_value_heads",): 8, ("head_dim",): 128},
    {("text_config", "head_dim"): 128},
    {("text_config", "num_key_value_heads"): 8},
    {("rope_parameters",): {"full_attention": ROPE, "sliding_attention": ROPE}},
    {("vocabulary_map",): IMAGE_TOKENS},
]
REPAIRS: dict[str, Overrides] = {
    "dots1": {
        ("n_routed_experts",): 128,
        ("n_shared_experts",): 2,
        ("num_experts_per_tok",): 6,
        ("first_k_dense_replace",): 1,
    },
    "lfm2_moe": {("layer_types",): (["conv", "conv", "full_attention", "conv"] * 8)},
    "cohere_compass_text": {("rope_parameters",): {"full_attention": ROPE, "sliding_attention": ROPE}},
    "cohere_compass": {("text_config", "rope_parameters"): {"full_attention": ROPE, "sliding_attention": ROPE}},
    "dbrx": {("attn_config", "rope_theta"): 10000.0},
    "emu3": {("vocabulary_map",): IMAGE_TOKENS},
    "chameleon": {("vocabulary_map",): IMAGE_TOKENS},
    "deepseek_ocr2": {
        ("text_config", "mlp_layer_types"): ["dense"] + ["sparse"] * 31,
    },
    "reformer": {("is_decoder",): True},
    "qwen4_exp_text": {
        ("indexer_n_heads",): 4,
        ("indexer_kv_heads",): 1,
        ("indexer_head_dim",): 256,
        ("indexer_budget",): 2048,
        ("indexer_compress_ratio",): 16,
    },
    "qwen4_exp": {
        (
            "text_config",
            "indexer_n_heads",
        ): 4,
        (
            "text_config",
            "indexer_kv_heads",
        ): 1,
        (
            "text_config",
            "indexer_head_dim",
        ): 256,
        (
            "text_config",
            "indexer_budget",
        ): 2048,
        (
            "text_config",
            "indexer_compress_ratio",
        ): 16,
    },
    "aya_vision": {("vision_config", "num_attention_heads"): 16},
    "autoformer": {("prediction_length",): 24},
    "informer": {("prediction_length",): 24},
    "time_series_transformer": {("prediction_length",): 24},
    "esm": {("vocab_size",): 33, ("pad_token_id",): 1},
    "granite4_vision": {
        ("downsample_rate",): "4/8",
        ("deepstack_layer_map",): [[-1, 0], [-2, 1]],
    },
    "qwen3_omni_moe": {("talker_config", "text_config", "shared_expert_intermediate_size"): 768},
    "perception_lm": {("vision_config", "model_args"): {"embed_dim": 1024, "img_size": [448, 448]}},
    "diffusion_gemma": {
        ("text_config", "num_experts"): 16,
        ("text_config", "top_k_experts"): 2,
        ("text_config", "moe_intermediate_size"): 704,
    },
}
ASSISTANT = {"hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0}
CONSTRUCTOR_ARGUMENTS: dict[str, dict[str, Any]] = {
    "gemma4_assistant": {"text_config": {"model_type": "gemma4_text", **ASSISTANT}},
    "gemma4_unified_assistant": {"text_config": {"model_type": "gemma4_unified_text", **ASSISTANT}},
}


def template_for(model_type: str, cls: type[PreTrainedModel]) -> tuple[PreTrainedConfig, str]:
    """The default configuration from which a class of this type is built, and a note."""
    arguments = CONSTRUCTOR_ARGUMENTS.get(model_type, {})
    config = CONFIG_MAPPING[model_type](**copy.deepcopy(arguments))
    notes = [f"default configuration with {arguments}"] if arguments else []
    wanted = cls.config_class
    if wanted is not None and not isinstance(config, wanted):
        inner = [child for child in nested_configs(config).values() if isinstance(child, wanted)]
        if inner:
            config = inner[0]
            notes.append(f"built from a nested configuration of {model_type}")
    if builds(cls, config):
        return config, "; ".join(notes)
    for repair in [REPAIRS[model_type]] if model_type in REPAIRS else GENERIC_REPAIRS:
        with contextlib.suppress(Unbuildable):
            repaired = construct(config, repair)
            build_model(cls, repaired)
            shown_repair = ", ".join(f"{'.'.join(p)}={str(v)[:60]}" for p, v in repair.items())
            notes.append(f"the default configuration does not build; set {shown_repair}")
            return repaired, "; ".join(notes)
    return config, "; ".join(notes)
