"""Tiny models for images or sound, and others with parts, with the settings that `convert_cases` does not draw.

build(name, seed, folder)      config.json, preprocessor_config.json and tensors under the names of published models
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convert_cases import VOCABULARY, Small

if TYPE_CHECKING:
    from structure import Structure

#: The content of a processor's file.
PREPROCESSOR = {
    "image_mean": [0.5] * 3, "image_std": [0.5] * 3, "max_pixels": 3136, "min_pixels": 784, "patch_size": 14,
    "size": {"longest_edge": 56, "shortest_edge": 28, "height": 56, "width": 56},
    "max_image_size": {"longest_edge": 56},
}  # fmt: skip
#: Transformers' names → those of published checkpoints, which the converter knows.
_OLD_TOWER = (r"^(model\.)?vision_tower\.(?!vision_model)", r"\1vision_tower.vision_model.")
PUBLISHED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "Gemma3ForConditionalGeneration": (_OLD_TOWER,),
    "Granite4VisionForConditionalGeneration": (_OLD_TOWER,),
    "Lfm2VlForConditionalGeneration": (_OLD_TOWER,),
    "HYV4ForCausalLM": (
        (r"^model\.hc_pre\.hc_head", "model.hc_head"),
        (r"\.hc_pre\.(hc_(?:attn|mlp)_layer)\.", r".\1.hc_pre."),
        (r"(\.mlp\.(?:shared_experts\.)?)linear_gate\.", r"\1gate_proj."),
    ),
    "Qwen3ASRForConditionalGeneration": (
        (r"^(model\.)?", "thinker."),
        (r"multi_modal_projector\.linear_", "audio_tower.proj"),
    ),
}
_DEEPSTACK = {"vision_config": {"deepstack_visual_indexes": [1, 3]}}
#: Fields that a class ties to others, or for which it has no default.
_QWEN4 = {
    "indexer_n_heads": 4,
    "indexer_kv_heads": 1,
    "indexer_head_dim": 32,
    "indexer_budget": 32,
    "indexer_compress_ratio": 4,
    "hc_lowrank": 16,
    "ple_embed_dim": 32,
    "ngram_vocab_size_base": 1000,
    "split_ngram_parts": 4,
    "heads_per_ngram": 4,
}
_SLIDING = {
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "kv_lora_rank": 24,
    "q_lora_rank": 24,
    "qk_nope_head_dim": 24,
    "qk_rope_head_dim": 8,
    "v_head_dim": 20,
    "head_dim": 32,
}
_SHARED = {
    "text_config": {
        "num_hidden_layers": 4,
        "num_kv_shared_layers": 4,
        "hidden_size_per_layer_input": 0,
        "vocab_size_per_layer_input": 0,
    }
}
_LABELS = {"id2label": {0: "bad", 1: "good"}, "label2id": {"bad": 0, "good": 1}}
FIELDS: Mapping[str, Mapping[str, Any]] = {
    "ChameleonForConditionalGeneration": {"vocabulary_map": {"<image>": 3, "IMGIMGAI": 4}},
    "DistilBertForSequenceClassification": _LABELS,
    "ModernBertForMaskedLM": {"decoder_bias": False},
    "ModernBertForSequenceClassification": _LABELS,
    "Dots3NoteForCausalLM": {
        "num_key_value_heads": 4, "num_hidden_layers": 4,
        "layer_types": ["indexed_attention", "sliding_attention", "indexed_attention", "sliding_attention"],
        "per_layer_config": dict.fromkeys(("01", "03"), _SLIDING),
    },
    "Gemma4AssistantForCausalLM": _SHARED,
    "Gemma4UnifiedAssistantForCausalLM": _SHARED,
    "Qwen4ExpForCausalLM": _QWEN4,
    "Qwen4ExpForConditionalGeneration": {"text_config": _QWEN4},
    "Qwen3OmniMoeForConditionalGeneration": {
        "talker_config": {"spatial_merge_size": 2, "text_config": {"shared_expert_intermediate_size": 48}}},
    "Dots3NoteForConditionalGeneration": {
        "text_config": {"num_key_value_heads": 4, "mlp_layer_types": None, "layer_types": None},
        "vision_config": {"mlp_layer_types": ["dense", "dense", "sparse", "sparse"], "num_hidden_layers": 4,
                          "adapter_in_dim": "hidden", "adapter_out_dim": "hidden", "num_local_experts": 4,
                          "per_layer_config": None},
        "audio_config": {"num_key_value_heads": 4, "adapter_input_size": "hidden", "adapter_out_dim": "hidden"},
    },
    "Gemma4ForConditionalGeneration": {
        "vision_config": {"model_type": "gemma4_vision", "hidden_size": 96, "intermediate_size": 104,
                          "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 24,
                          "patch_size": 14, "position_embedding_size": 64},
        "audio_config": {"model_type": "gemma4_audio", "hidden_size": 96, "num_hidden_layers": 3,
                         "num_attention_heads": 4, "subsampling_conv_channels": [16, 8], "output_proj_dims": 80},
    },
    "Gemma4UnifiedForConditionalGeneration": {
        "vision_config": {"model_type": "gemma4_unified_vision", "patch_size": 4, "pooling_kernel_size": 3,
                          "mm_embed_dim": 72, "mm_posemb_size": 24, "output_proj_dims": 72},
        "audio_config": {"model_type": "gemma4_unified_audio", "audio_embed_dim": 40},
    },
    "Glm5NextForConditionalGeneration": {
        "text_config": {"num_key_value_heads": 4, "index_kpool": 4, "qk_rope_head_dim": 0, "head_dim": 0,
                        "linear_head_dim": 24, "linear_num_heads": 4}},
    "Granite4VisionForConditionalGeneration": {
        "downsample_rate": "1/2", "deepstack_layer_map": [[-2, 0], [-1, 2]], "spatial_target_layers": [1, 3, 4, 5],
        "text_config": {"num_hidden_layers": 6, "layer_types": None},
        "vision_config": {"model_type": "siglip_vision_model", "image_size": 56, "patch_size": 14, "num_hidden_layers": 7},
        "qformer_config": {"encoder_hidden_size": "hidden", "num_hidden_layers": 1},
    },
    "HunYuanVLForConditionalGeneration": {"vision_config": {"max_image_size": 56, "img_max_token_num": 16,
                                                            "text_hidden_size": "hidden"},
                                          "text_config": {"head_dim": 24}},
    "Lfm2VlForConditionalGeneration": {"vision_config": {"patch_size": 16, "vision_use_head": False}},
    "LlavaForConditionalGeneration": {"vision_config": {"model_type": "pixtral", "head_dim": None}},
    "MiniMaxM3SparseForConditionalGeneration": {"vision_config": {"hidden_size": 320, "num_attention_heads": 4}},
    "Gemma3nForCausalLM#padded": {"vocab_size": VOCABULARY + 32},
    "Gemma4ForCausalLM#experts": {"enable_moe_block": True, "moe_intermediate_size": 40, "num_experts": 4, "top_k_experts": 2},
    "Glm4vForConditionalGeneration#sections": {"text_config": {"rope_parameters": {
        "rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "mrope_section": [1, 1, 1]}}},
    "Phi3ForCausalLM#long": {"head_dim": None, "original_max_position_embeddings": 32, "rope_parameters": {
        "rope_type": "longrope", "rope_theta": 10000.0, "long_factor": "factors", "short_factor": "factors",
        "original_max_position_embeddings": 32}},
    "Qwen3VLForConditionalGeneration": _DEEPSTACK,
    "Qwen3VLMoeForConditionalGeneration": _DEEPSTACK,
}  # fmt: skip
#: Fields without which a configuration cannot be made at all.
START: Mapping[str, Mapping[str, Any]] = dict.fromkeys(
    ("Gemma4AssistantForCausalLM", "Gemma4UnifiedAssistantForCausalLM"), _SHARED
)
#: Fields that published configurations have and Transformers does not write.
WRITTEN: Mapping[str, Mapping[str, Any]] = {
    "LlavaForConditionalGeneration": {},
}


def fields(name: str, config_class: Any, seed: int, structure: Structure | None = None) -> dict[str, Any]:
    """The arguments of the class's configuration."""
    small = Small(seed, structure)
    made = small.fields(config_class, START.get(name.partition("#")[0], {}))
    for each in dict.fromkeys((name.partition("#")[0], name)):
        _merge(made, FIELDS.get(each, {}), small)
    return made


def _merge(into: dict[str, Any], more: Mapping[str, Any], small: Small) -> None:
    for key, value in more.items():
        if isinstance(value, Mapping):
            _merge(into.setdefault(key, {}), value, small)
        elif value is None:
            into.pop(key, None)
        else:
            into[key] = getattr(small, value) if isinstance(value, str) and hasattr(small, value) else value


def publish(name: str, folder: Path) -> None:
    """Give a saved model's tensors the names of published ones, and write the processor's file."""
    rename(name, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    if name == "Qwen3ASRForConditionalGeneration":
        config["thinker_config"] = {key: value for key, value in config.items() if key.endswith("_config")}
    (folder / "config.json").write_text(json.dumps({**config, **WRITTEN.get(name, {})}))
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPROCESSOR))
    added = [{"id": VOCABULARY - 1, "content": "[IMG_BREAK]"}]
    words = {f"token {number}": number for number in range(VOCABULARY)}
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": words, "type": "x"}, "added_tokens": added}))
    (folder / "tokenizer_config.json").write_text("{}")


def rename(name: str, path: Path) -> None:
    """Give the tensors of a file the names of published ones."""
    from safetensors.torch import load_file, save_file

    if name in PUBLISHED:
        tensors = {_renamed(name, each): tensor for each, tensor in load_file(path).items()}
        save_file(tensors, path, metadata={"format": "pt"})


def _renamed(name: str, tensor: str) -> str:
    for pattern, replacement in PUBLISHED[name]:
        tensor = re.sub(pattern, replacement, tensor)
    return tensor
