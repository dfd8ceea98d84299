"""Model type kosmos-2.5.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

TEXT_MODEL = "text_model.model.layers.{layer<text_config.layers}"
VISION_MODEL_ENCODER = "vision_model.encoder.layer.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="kosmos-2.5",
    types={"kosmos-2.5": {}},
    rows=(
        Row("embed_tokens", "text_model.model.embed_tokens", "text_config.vocab_size, text_config.embed_dim"),
        Row(
            "patch_projection",
            "vision_model.embeddings.patch_projection",
            "vision_config.hidden_size, vision_config.patch_embed_hidden_size",
            bias="True",
            tower="vision",
            group="embedding",
        ),
        Row(
            "row_embedder",
            "vision_model.embeddings.row_embedder",
            "vision_config.max_num_patches, vision_config.hidden_size",
            tower="vision",
        ),
        Row(
            "column_embedder",
            "vision_model.embeddings.column_embedder",
            "vision_config.max_num_patches, vision_config.hidden_size",
            tower="vision",
        ),
        Row("input_layernorm", TEXT_MODEL + ".self_attn_layer_norm", "text_config.embed_dim", bias="True"),
        Row("q_proj", TEXT_MODEL + ".self_attn.q_proj", "text_config.embed_dim, text_config.embed_dim", bias="True"),
        Row("k_proj", TEXT_MODEL + ".self_attn.k_proj", "text_config.embed_dim, text_config.embed_dim", bias="True"),
        Row("v_proj", TEXT_MODEL + ".self_attn.v_proj", "text_config.embed_dim, text_config.embed_dim", bias="True"),
        Row("o_proj", TEXT_MODEL + ".self_attn.out_proj", "text_config.embed_dim, text_config.embed_dim", bias="True"),
        Row("ffn_layernorm", TEXT_MODEL + ".ffn.ffn_layernorm", "text_config.ffn_dim", bias="True"),
        Row("norm", TEXT_MODEL + ".final_layer_norm", "text_config.embed_dim", bias="True"),
        Row("up_proj", TEXT_MODEL + ".ffn.fc1", "text_config.ffn_dim, text_config.embed_dim", bias="True"),
        Row("down_proj", TEXT_MODEL + ".ffn.fc2", "text_config.embed_dim, text_config.ffn_dim", bias="True"),
        Row(
            "q_proj",
            VISION_MODEL_ENCODER + ".attention.query",
            "vision_config.num_attention_heads * vision_config.head_dim, vision_config.hidden_size",
            tower="vision",
        ),
        Row(
            "k_proj",
            VISION_MODEL_ENCODER + ".attention.key",
            "vision_config.num_attention_heads * vision_config.head_dim, vision_config.hidden_size",
            tower="vision",
        ),
        Row(
            "v_proj",
            VISION_MODEL_ENCODER + ".attention.value",
            "vision_config.num_attention_heads * vision_config.head_dim, vision_config.hidden_size",
            tower="vision",
        ),
        Row(
            "o_proj",
            VISION_MODEL_ENCODER + ".mlp.wo",
            "vision_config.hidden_size, vision_config.intermediate_size",
            tower="vision",
        ),
        Row(
            "lm_head",
            VISION_MODEL_ENCODER + ".attention.output",
            "vision_config.hidden_size, vision_config.num_attention_heads * vision_config.head_dim",
            tower="vision",
        ),
        Row(
            "pre_mlp_layer_norm",
            VISION_MODEL_ENCODER + ".pre_mlp_layer_norm",
            "vision_config.hidden_size",
            tower="vision",
        ),
        Row(
            "pre_attention_layer_norm",
            VISION_MODEL_ENCODER + ".pre_attention_layer_norm",
            "vision_config.hidden_size",
            tower="vision",
        ),
        Row(
            "gate_proj",
            VISION_MODEL_ENCODER + ".mlp.wi_0",
            "vision_config.intermediate_size, vision_config.hidden_size",
            tower="vision",
        ),
        Row(
            "up_proj",
            VISION_MODEL_ENCODER + ".mlp.wi_1",
            "vision_config.intermediate_size, vision_config.hidden_size",
            tower="vision",
        ),
        Row("segment_emb", "text_model.model.segment_emb", "2, text_config.embed_dim"),
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
        Row("layernorm", "vision_model.layernorm", "vision_config.hidden_size", tower="vision"),
        Row(
            "lm_head",
            "text_model.lm_head",
            "text_config.vocab_size, text_config.embed_dim",
            heads="ForConditionalGeneration",
            tied="text_config.tie_word_embeddings",
        ),
    ),
    defaults={
        "latent_query_num": 2048,
        "text_config": {
            "embed_dim": 1536,
            "ffn_dim": 6144,
            "layers": 24,
            "tie_word_embeddings": True,
            "vocab_size": 108481,
        },
        "vision_config": {
            "head_dim": 64,
            "hidden_size": 1536,
            "intermediate_size": 3968,
            "max_num_patches": 4096,
            "num_attention_heads": 24,
            "num_hidden_layers": 18,
            "patch_embed_hidden_size": 768,
        },
    },
    head="ForConditionalGeneration",
)
