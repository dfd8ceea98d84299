"""Model type lfm2_vl: text_config, vision_config by their own types' tables.

The text model's feed-forward is LFM2's own.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="lfm2_vl",
    types={"lfm2_vl": {}},
    rows=(
        Include(
            "text_config",
            "model.language_model.",
            head="Model",
            default_type="lfm2",
        ),
        Include(
            "vision_config", "model.vision_tower.", tower="vision", head="Model", default_type="siglip2_vision_model"
        ),
        Row(
            "layer_norm",
            "model.multi_modal_projector.layer_norm",
            "vision_config.hidden_size * downsample_factor * downsample_factor",
            bias="True",
            when="projector_use_layernorm",
            tower="projector",
        ),
        Row(
            "linear_1",
            "model.multi_modal_projector.linear_1",
            "projector_hidden_size, vision_config.hidden_size * downsample_factor * downsample_factor",
            bias="projector_bias",
            tower="projector",
        ),
        Row(
            "linear_2",
            "model.multi_modal_projector.linear_2",
            "text_config.hidden_size, projector_hidden_size",
            bias="projector_bias",
            tower="projector",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={
        "downsample_factor": 2,
        "projector_bias": True,
        "projector_hidden_size": 2560,
        "projector_use_layernorm": True,
        "text_config": {
            "block_auto_adjust_ff_dim": True,
            "block_multiple_of": 256,
            "hidden_size": 2560,
            "intermediate_size": 12288,
            "num_hidden_layers": 32,
            "vocab_size": 65536,
        },
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 768},
    },
    head="ForConditionalGeneration",
)
