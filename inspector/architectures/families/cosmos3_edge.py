"""Model type cosmos3_edge.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<text_config.num_hidden_layers}"
LANGUAGE_MODEL = "model.language_model.layers.{layer<text_config.num_hidden_layers}"
VISUAL_ENCODER = "model.visual.encoder.layers.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="cosmos3_edge",
    types={"cosmos3_edge": {}},
    rows=(
        Row(
            "embed_patches",
            "model.visual.embeddings.patch_embedding",
            "vision_config.hidden_size, vision_config.num_channels * vision_config.patch_size * vision_config.patch_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "position_embedding",
            "model.visual.embeddings.position_embedding",
            "vision_config.num_patches, vision_config.hidden_size",
            tower="vision",
        ),
        Row("input_layernorm", LAYER + ".input_layernorm", "text_config.hidden_size", heads="ForConditionalGeneration"),
        Row(
            "q_proj",
            LAYER + ".self_attn.to_q",
            "text_config.num_attention_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.to_k",
            "text_config.num_key_value_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.to_v",
            "text_config.num_key_value_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.to_out",
            "text_config.hidden_size, text_config.num_attention_heads * text_config.head_dim",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row(
            "post_attention_layernorm",
            LAYER + ".post_attention_layernorm",
            "text_config.hidden_size",
            heads="ForConditionalGeneration",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.up_proj",
            "text_config.intermediate_size, text_config.hidden_size",
            bias="text_config.mlp_bias",
            heads="ForConditionalGeneration",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.down_proj",
            "text_config.hidden_size, text_config.intermediate_size",
            bias="text_config.mlp_bias",
            heads="ForConditionalGeneration",
        ),
        Row(
            "language_model_input_layernorm",
            LANGUAGE_MODEL + ".input_layernorm",
            "text_config.hidden_size",
            heads="Model",
        ),
        Row(
            "mlp_up_proj",
            LANGUAGE_MODEL + ".mlp.up_proj",
            "text_config.intermediate_size, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row(
            "mlp_down_proj",
            LANGUAGE_MODEL + ".mlp.down_proj",
            "text_config.hidden_size, text_config.intermediate_size",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row(
            "language_model_post_attention_layernorm",
            LANGUAGE_MODEL + ".post_attention_layernorm",
            "text_config.hidden_size",
            heads="Model",
        ),
        Row(
            "to_k_k_proj",
            LANGUAGE_MODEL + ".self_attn.to_k",
            "text_config.num_key_value_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row(
            "to_out_o_proj",
            LANGUAGE_MODEL + ".self_attn.to_out",
            "text_config.hidden_size, text_config.num_attention_heads * text_config.head_dim",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row(
            "to_q_q_proj",
            LANGUAGE_MODEL + ".self_attn.to_q",
            "text_config.num_attention_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row(
            "to_v_v_proj",
            LANGUAGE_MODEL + ".self_attn.to_v",
            "text_config.num_key_value_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row(
            "input_layernorm", VISUAL_ENCODER + ".layer_norm1", "vision_config.hidden_size", bias="True", tower="vision"
        ),
        Row(
            "q_proj",
            VISUAL_ENCODER + ".self_attn.to_q",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "k_proj",
            VISUAL_ENCODER + ".self_attn.to_k",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "v_proj",
            VISUAL_ENCODER + ".self_attn.to_v",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "o_proj",
            VISUAL_ENCODER + ".self_attn.out_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "post_attention_layernorm",
            VISUAL_ENCODER + ".layer_norm2",
            "vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "up_proj",
            VISUAL_ENCODER + ".mlp.up_proj",
            "vision_config.intermediate_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "down_proj",
            VISUAL_ENCODER + ".mlp.down_proj",
            "vision_config.hidden_size, vision_config.intermediate_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "linear_fc1",
            "model.projector.linear_fc1",
            "projector_hidden_size, vision_config.hidden_size * vision_config.spatial_merge_size ** 2",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_fc2",
            "model.projector.linear_fc2",
            "text_config.hidden_size, projector_hidden_size",
            bias="True",
            tower="projector",
        ),
        Row("norm", "model.projector.norm", "vision_config.hidden_size", bias="True", tower="projector"),
        Row("norm", "model.visual.post_layernorm", "vision_config.hidden_size", bias="True", tower="vision"),
        Row("lm_head", "lm_head", "text_config.vocab_size, text_config.hidden_size", heads="ForConditionalGeneration"),
        Row(
            "embed_tokens",
            "embed_tokens",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
        ),
        Row("norm", "norm", "text_config.hidden_size", heads="ForConditionalGeneration"),
        Row(
            "language_model_embed_tokens",
            "model.language_model.embed_tokens",
            "text_config.vocab_size, text_config.hidden_size",
            heads="Model",
        ),
        Row("language_model_norm", "model.language_model.norm", "text_config.hidden_size", heads="Model"),
    ),
    prefix="model.",
    defaults={
        "projector_hidden_size": 11520,
        "text_config": {
            "attention_bias": False,
            "head_dim": 128,
            "hidden_size": 2048,
            "intermediate_size": 9216,
            "mlp_bias": False,
            "num_attention_heads": 16,
            "num_hidden_layers": 28,
            "num_key_value_heads": 8,
            "vocab_size": 131072,
        },
        "vision_config": {
            "hidden_size": 1152,
            "intermediate_size": 4304,
            "num_channels": 3,
            "num_hidden_layers": 27,
            "num_patches": 256,
            "patch_size": 16,
            "spatial_merge_size": 2,
        },
    },
    head="ForConditionalGeneration",
)
