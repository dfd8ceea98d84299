"""Model type llama4: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "vision_model.model.layers.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="llama4",
    types={"llama4": {}},
    rows=(
        Include("text_config", "language_model.", head="ForCausalLM", default_type="llama4_text"),
        Row("embed_class", "vision_model.class_embedding", "vision_config.hidden_size", tower="vision", leaf=""),
        Row(
            "positional_embedding_vlm",
            "vision_model.positional_embedding_vlm",
            "(vision_config.image_size // vision_config.patch_size) ** 2 + 1, vision_config.hidden_size",
            tower="vision",
            leaf="",
        ),
        Row(
            "linear",
            "vision_model.patch_embedding.linear",
            "vision_config.hidden_size, vision_config.num_channels * vision_config.patch_size * vision_config.patch_size",
            tower="vision",
            group="embedding",
        ),
        Row("input_layernorm", LAYER + ".input_layernorm", "vision_config.hidden_size", bias="True", tower="vision"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "vision_config.hidden_size // vision_config.num_attention_heads * vision_config.num_attention_heads, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "vision_config.hidden_size // vision_config.num_attention_heads * vision_config.num_attention_heads, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "vision_config.hidden_size // vision_config.num_attention_heads * vision_config.num_attention_heads, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "vision_config.hidden_size, vision_config.hidden_size // vision_config.num_attention_heads * vision_config.num_attention_heads",
            bias="True",
            tower="vision",
        ),
        Row(
            "post_attention_layernorm",
            LAYER + ".post_attention_layernorm",
            "vision_config.hidden_size",
            bias="True",
            tower="vision",
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
        Row("layernorm_pre", "vision_model.layernorm_pre", "vision_config.hidden_size", bias="True", tower="vision"),
        Row("layernorm_post", "vision_model.layernorm_post", "vision_config.hidden_size", bias="True", tower="vision"),
        Row(
            "up_proj",
            "vision_model.vision_adapter.mlp.fc1",
            "vision_config.projector_input_dim, vision_config.intermediate_size",
            tower="vision",
        ),
        Row(
            "down_proj",
            "vision_model.vision_adapter.mlp.fc2",
            "vision_config.projector_output_dim, vision_config.projector_output_dim",
            tower="vision",
        ),
        Row(
            "linear_1",
            "multi_modal_projector.linear_1",
            "text_config.hidden_size, vision_config.vision_output_dim",
            tower="projector",
        ),
    ),
    defaults={
        "text_config": {"hidden_size": 5120},
        "vision_config": {
            "hidden_size": 768,
            "image_size": 448,
            "intermediate_size": 5632,
            "num_attention_heads": 16,
            "num_channels": 3,
            "num_hidden_layers": 34,
            "patch_size": 14,
            "projector_input_dim": 4096,
            "projector_output_dim": 4096,
            "vision_output_dim": 7680,
        },
    },
    head="ForConditionalGeneration",
)
