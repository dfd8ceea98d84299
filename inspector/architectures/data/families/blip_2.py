"""Model type blip-2: qformer_config, text_config by their own types' tables.

The text model is OPT or Flan-T5.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "vision_model.encoder.layers.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="blip-2",
    types={"blip-2": {}},
    rows=(
        Include("qformer_config", "qformer.", tower="projector", head="Model", default_type="blip_2_qformer"),
        Include(
            "text_config",
            "language_model.",
            head="ForCausalLM",
            default_type="opt",
            when="use_decoder_only_language_model",
        ),
        Include(
            "text_config",
            "language_model.",
            head="ForConditionalGeneration",
            default_type="opt",
            when="not use_decoder_only_language_model",
        ),
        Row(
            "embed_class",
            "vision_model.embeddings.class_embedding",
            "1, 1, vision_config.hidden_size",
            tower="vision",
            leaf="",
        ),
        Row(
            "position_embedding",
            "vision_model.embeddings.position_embedding",
            "1, (vision_config.image_size // vision_config.patch_size) ** 2 + 1, vision_config.hidden_size",
            tower="vision",
            leaf="",
        ),
        Row(
            "embed_patches",
            "vision_model.embeddings.patch_embedding",
            "vision_config.hidden_size, 3, vision_config.patch_size, vision_config.patch_size",
            bias="True",
            tower="vision",
        ),
        Row("input_layernorm", LAYER + ".layer_norm1", "vision_config.hidden_size", bias="True", tower="vision"),
        Row(
            "qkv",
            LAYER + ".self_attn.qkv",
            "3 * vision_config.hidden_size, vision_config.hidden_size",
            bias="vision_config.qkv_bias",
            tower="vision",
        ),
        Row(
            "projection",
            LAYER + ".self_attn.projection",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
            group="attention",
        ),
        Row(
            "post_attention_layernorm", LAYER + ".layer_norm2", "vision_config.hidden_size", bias="True", tower="vision"
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.fc1",
            "vision_config.intermediate_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.fc2",
            "vision_config.hidden_size, vision_config.intermediate_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "query_tokens",
            "query_tokens",
            "1, num_query_tokens, qformer_config.hidden_size",
            leaf="",
            group="convolution",
        ),
        Row(
            "language_projection",
            "language_projection",
            "text_config.hidden_size, qformer_config.hidden_size",
            bias="True",
        ),
        Row("norm", "vision_model.post_layernorm", "vision_config.hidden_size", bias="True", tower="vision"),
    ),
    prefix="query_tokens.",
    prefixes={"Model": "query_tokens."},
    defaults={
        "num_query_tokens": 32,
        "qformer_config": {"hidden_size": 768},
        "text_config": {"hidden_size": 768},
        "vision_config": {
            "hidden_size": 1408,
            "image_size": 224,
            "intermediate_size": 6144,
            "num_hidden_layers": 39,
            "patch_size": 14,
            "qkv_bias": True,
        },
    },
    derived={"use_decoder_only_language_model": "text_config.model_type != 't5'"},
    head="ForConditionalGeneration",
)
