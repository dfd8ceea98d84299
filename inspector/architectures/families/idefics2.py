"""Model type idefics2: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

VISION_MODEL_ENCODER = "model.vision_model.encoder.layers.{layer<vision_config.num_hidden_layers}"
CONNECTOR_PERCEIVER_RESAMPLER = "model.connector.perceiver_resampler.layers.{layer<perceiver_config.resampler_depth}"

FAMILY = Family(
    name="idefics2",
    types={"idefics2": {}},
    rows=(
        Include("text_config", "model.text_model.", head="Model", default_type="mistral"),
        Row(
            "embed_patches",
            "model.vision_model.embeddings.patch_embedding",
            "vision_config.hidden_size, vision_config.num_channels, vision_config.patch_size, vision_config.patch_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "position_embedding",
            "model.vision_model.embeddings.position_embedding",
            "(vision_config.image_size // vision_config.patch_size) ** 2, vision_config.hidden_size",
            tower="vision",
        ),
        Row(
            "input_layernorm",
            VISION_MODEL_ENCODER + ".layer_norm1",
            "vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "q_proj",
            VISION_MODEL_ENCODER + ".self_attn.q_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "k_proj",
            VISION_MODEL_ENCODER + ".self_attn.k_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "v_proj",
            VISION_MODEL_ENCODER + ".self_attn.v_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "o_proj",
            VISION_MODEL_ENCODER + ".self_attn.out_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "post_attention_layernorm",
            VISION_MODEL_ENCODER + ".layer_norm2",
            "vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "up_proj",
            VISION_MODEL_ENCODER + ".mlp.fc1",
            "vision_config.intermediate_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "down_proj",
            VISION_MODEL_ENCODER + ".mlp.fc2",
            "vision_config.hidden_size, vision_config.intermediate_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "q_proj",
            CONNECTOR_PERCEIVER_RESAMPLER + ".self_attn.q_proj",
            "perceiver_config.resampler_n_heads * perceiver_config.resampler_head_dim, perceiver_config.hidden_size",
            tower="projector",
        ),
        Row(
            "k_proj",
            CONNECTOR_PERCEIVER_RESAMPLER + ".self_attn.k_proj",
            "perceiver_config.num_key_value_heads * perceiver_config.resampler_head_dim, perceiver_config.hidden_size",
            tower="projector",
        ),
        Row(
            "v_proj",
            CONNECTOR_PERCEIVER_RESAMPLER + ".self_attn.v_proj",
            "perceiver_config.num_key_value_heads * perceiver_config.resampler_head_dim, perceiver_config.hidden_size",
            tower="projector",
        ),
        Row(
            "o_proj",
            CONNECTOR_PERCEIVER_RESAMPLER + ".self_attn.o_proj",
            "perceiver_config.hidden_size, perceiver_config.resampler_n_heads * perceiver_config.resampler_head_dim",
            tower="projector",
        ),
        Row(
            "input_latents_norm",
            CONNECTOR_PERCEIVER_RESAMPLER + ".input_latents_norm",
            "perceiver_config.hidden_size",
            tower="projector",
        ),
        Row(
            "input_context_norm",
            CONNECTOR_PERCEIVER_RESAMPLER + ".input_context_norm",
            "perceiver_config.hidden_size",
            tower="projector",
        ),
        Row(
            "post_attention_layernorm",
            CONNECTOR_PERCEIVER_RESAMPLER + ".post_attention_layernorm",
            "perceiver_config.hidden_size",
            tower="projector",
        ),
        Row(
            "gate_proj",
            CONNECTOR_PERCEIVER_RESAMPLER + ".mlp.gate_proj",
            "4 * perceiver_config.hidden_size, perceiver_config.hidden_size",
            tower="projector",
        ),
        Row(
            "up_proj",
            CONNECTOR_PERCEIVER_RESAMPLER + ".mlp.up_proj",
            "4 * perceiver_config.hidden_size, perceiver_config.hidden_size",
            tower="projector",
        ),
        Row(
            "down_proj",
            CONNECTOR_PERCEIVER_RESAMPLER + ".mlp.down_proj",
            "perceiver_config.hidden_size, 4 * perceiver_config.hidden_size",
            tower="projector",
        ),
        Row("norm", "model.vision_model.post_layernorm", "vision_config.hidden_size", bias="True", tower="vision"),
        Row(
            "gate_proj",
            "model.connector.modality_projection.gate_proj",
            "text_config.intermediate_size, vision_config.hidden_size",
            tower="projector",
        ),
        Row(
            "up_proj",
            "model.connector.modality_projection.up_proj",
            "text_config.intermediate_size, vision_config.hidden_size",
            tower="projector",
        ),
        Row(
            "down_proj",
            "model.connector.modality_projection.down_proj",
            "text_config.hidden_size, text_config.intermediate_size",
            tower="projector",
        ),
        Row(
            "latents",
            "model.connector.perceiver_resampler.latents",
            "perceiver_config.resampler_n_latents, perceiver_config.hidden_size",
            tower="projector",
            leaf="",
            group="embedding",
        ),
        Row("norm", "model.connector.perceiver_resampler.norm", "perceiver_config.hidden_size", tower="projector"),
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
        "perceiver_config": {
            "hidden_size": 4096,
            "num_key_value_heads": 4,
            "resampler_depth": 3,
            "resampler_head_dim": 96,
            "resampler_n_heads": 16,
            "resampler_n_latents": 64,
        },
        "text_config": {"hidden_size": 4096, "intermediate_size": 14336, "vocab_size": 32000},
        "tie_word_embeddings": False,
        "vision_config": {
            "hidden_size": 768,
            "image_size": 224,
            "intermediate_size": 3072,
            "num_channels": 3,
            "num_hidden_layers": 12,
            "patch_size": 32,
        },
    },
    head="ForConditionalGeneration",
)
