"""Model type aria: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="aria",
    types={"aria": {}},
    rows=(
        Include(
            "text_config",
            "language_model.",
            head="ForCausalLM",
            default_type="aria_text",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Include("text_config", "language_model.model.", head="Model", default_type="aria_text", heads="Model"),
        Include(
            "vision_config",
            "vision_tower.",
            tower="vision",
            head="Idefics3VisionTransformer",
            default_type="idefics3_vision",
        ),
        Row(
            "cross_k_proj",
            "multi_modal_projector.cross_attn.k_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            tower="projector",
        ),
        Row(
            "cross_layer_norm",
            "multi_modal_projector.cross_attn.layer_norm",
            "vision_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "cross_layer_norm_kv",
            "multi_modal_projector.cross_attn.layer_norm_kv",
            "vision_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "cross_linear",
            "multi_modal_projector.cross_attn.linear",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="projector",
            group="attention",
        ),
        Row(
            "cross_qkv_proj",
            "multi_modal_projector.cross_attn.multihead_attn.in_proj_weight",
            "3 * vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="projector",
            leaf="",
        ),
        Row(
            "cross_out_proj",
            "multi_modal_projector.cross_attn.multihead_attn.out_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="projector",
            group="state_space",
        ),
        Row(
            "cross_q_proj",
            "multi_modal_projector.cross_attn.q_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            tower="projector",
        ),
        Row(
            "cross_v_proj",
            "multi_modal_projector.cross_attn.v_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            tower="projector",
        ),
        Row(
            "linear_in",
            "multi_modal_projector.feed_forward.linear_in",
            "text_config.hidden_size, vision_config.hidden_size",
            tower="projector",
            group="feed_forward",
        ),
        Row(
            "linear_out",
            "multi_modal_projector.feed_forward.linear_out",
            "text_config.hidden_size, text_config.hidden_size",
            tower="projector",
            group="feed_forward",
        ),
        Row(
            "layer_norm",
            "multi_modal_projector.layer_norm",
            "vision_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "q_proj",
            "multi_modal_projector.query",
            "max_value_projector_patch_to_query_dict, vision_config.hidden_size",
            tower="projector",
            leaf="",
        ),
    ),
    defaults={
        "max_value_projector_patch_to_query_dict": 256,
        "text_config": {"hidden_size": 4096},
        "vision_config": {"hidden_size": 1152},
    },
    head="ForConditionalGeneration",
)
