"""Model type kosmos-2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

TEXT_MODEL = "text_model.model.layers.{layer<text_config.layers}"
VISION_MODEL_ENCODER = "vision_model.model.encoder.layers.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="kosmos-2",
    types={"kosmos-2": {}},
    rows=(
        Row("embed_tokens", "text_model.model.embed_tokens", "text_config.vocab_size, text_config.embed_dim"),
        Row(
            "embed_class",
            "vision_model.model.embeddings.class_embedding",
            "vision_config.hidden_size",
            tower="vision",
            leaf="",
        ),
        Row(
            "embed_patches",
            "vision_model.model.embeddings.patch_embedding",
            "vision_config.hidden_size, vision_config.num_channels, vision_config.patch_size, vision_config.patch_size",
            tower="vision",
        ),
        Row(
            "position_embedding",
            "vision_model.model.embeddings.position_embedding",
            "(vision_config.image_size // vision_config.patch_size) ** 2 + 1, vision_config.hidden_size",
            tower="vision",
        ),
        Row("input_layernorm", TEXT_MODEL + ".self_attn_layer_norm", "text_config.embed_dim", bias="True"),
        Row("q_proj", TEXT_MODEL + ".self_attn.q_proj", "text_config.embed_dim, text_config.embed_dim", bias="True"),
        Row("k_proj", TEXT_MODEL + ".self_attn.k_proj", "text_config.embed_dim, text_config.embed_dim", bias="True"),
        Row("v_proj", TEXT_MODEL + ".self_attn.v_proj", "text_config.embed_dim, text_config.embed_dim", bias="True"),
        Row("o_proj", TEXT_MODEL + ".self_attn.out_proj", "text_config.embed_dim, text_config.embed_dim", bias="True"),
        Row(
            "inner_attn_ln", TEXT_MODEL + ".self_attn.inner_attn_ln", "text_config.embed_dim", bias="True", group="norm"
        ),
        Row(
            "cross_k_proj",
            TEXT_MODEL + ".encoder_attn.k_proj",
            "text_config.embed_dim, text_config.embed_dim",
            bias="True",
            when="text_config.add_cross_attention",
        ),
        Row(
            "cross_v_proj",
            TEXT_MODEL + ".encoder_attn.v_proj",
            "text_config.embed_dim, text_config.embed_dim",
            bias="True",
            when="text_config.add_cross_attention",
        ),
        Row(
            "cross_q_proj",
            TEXT_MODEL + ".encoder_attn.q_proj",
            "text_config.embed_dim, text_config.embed_dim",
            bias="True",
            when="text_config.add_cross_attention",
        ),
        Row(
            "cross_o_proj",
            TEXT_MODEL + ".encoder_attn.out_proj",
            "text_config.embed_dim, text_config.embed_dim",
            bias="True",
            when="text_config.add_cross_attention",
        ),
        Row(
            "cross_encoder_attn_layer_norm",
            TEXT_MODEL + ".encoder_attn_layer_norm",
            "text_config.embed_dim",
            bias="True",
            when="text_config.add_cross_attention",
        ),
        Row("ffn_layernorm", TEXT_MODEL + ".ffn.ffn_layernorm", "text_config.ffn_dim", bias="True"),
        Row("norm", TEXT_MODEL + ".final_layer_norm", "text_config.embed_dim", bias="True"),
        Row("up_proj", TEXT_MODEL + ".ffn.fc1", "text_config.ffn_dim, text_config.embed_dim", bias="True"),
        Row("down_proj", TEXT_MODEL + ".ffn.fc2", "text_config.embed_dim, text_config.ffn_dim", bias="True"),
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
        Row("layer_norm", "text_model.model.layer_norm", "text_config.embed_dim", bias="True"),
        Row(
            "latent_query", "image_to_text_projection.latent_query", "latent_query_num, text_config.embed_dim", leaf=""
        ),
        Row(
            "dense",
            "image_to_text_projection.dense",
            "text_config.embed_dim, vision_config.hidden_size",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "k_proj",
            "image_to_text_projection.x_attn.k_proj",
            "text_config.embed_dim, text_config.embed_dim",
            bias="True",
        ),
        Row(
            "v_proj",
            "image_to_text_projection.x_attn.v_proj",
            "text_config.embed_dim, text_config.embed_dim",
            bias="True",
        ),
        Row(
            "q_proj",
            "image_to_text_projection.x_attn.q_proj",
            "text_config.embed_dim, text_config.embed_dim",
            bias="True",
        ),
        Row(
            "out_proj",
            "image_to_text_projection.x_attn.out_proj",
            "text_config.embed_dim, text_config.embed_dim",
            bias="True",
        ),
        Row(
            "pre_layrnorm", "vision_model.model.pre_layrnorm", "vision_config.hidden_size", bias="True", tower="vision"
        ),
        Row("norm", "vision_model.model.post_layernorm", "vision_config.hidden_size", bias="True", tower="vision"),
        Row(
            "lm_head",
            "text_model.lm_head",
            "text_config.vocab_size, text_config.embed_dim",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings or text_config.tie_word_embeddings",
        ),
    ),
    defaults={
        "latent_query_num": 64,
        "text_config": {
            "add_cross_attention": False,
            "embed_dim": 2048,
            "ffn_dim": 8192,
            "layers": 24,
            "tie_word_embeddings": True,
            "vocab_size": 65037,
        },
        "vision_config": {
            "hidden_size": 1024,
            "image_size": 224,
            "intermediate_size": 4096,
            "num_channels": 3,
            "num_hidden_layers": 24,
            "patch_size": 14,
        },
    },
    head="ForConditionalGeneration",
)
