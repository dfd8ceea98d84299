"""Model type vilt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layer.{layer<num_hidden_layers}"
VILT_ENCODER = "vilt.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="vilt",
    types={"vilt": {}},
    rows=(
        Row("input_layernorm", ENCODER + ".layernorm_before", "hidden_size", bias="True", heads="Model"),
        Row(
            "q_proj", ENCODER + ".attention.attention.query", "hidden_size, hidden_size", bias="qkv_bias", heads="Model"
        ),
        Row("k_proj", ENCODER + ".attention.attention.key", "hidden_size, hidden_size", bias="qkv_bias", heads="Model"),
        Row(
            "v_proj", ENCODER + ".attention.attention.value", "hidden_size, hidden_size", bias="qkv_bias", heads="Model"
        ),
        Row("o_proj", ENCODER + ".attention.output.dense", "hidden_size, hidden_size", bias="True", heads="Model"),
        Row("post_attention_layernorm", ENCODER + ".layernorm_after", "hidden_size", bias="True", heads="Model"),
        Row("up_proj", ENCODER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True", heads="Model"),
        Row("down_proj", ENCODER + ".output.dense", "hidden_size, intermediate_size", bias="True", heads="Model"),
        Row(
            "query_q_proj",
            VILT_ENCODER + ".attention.attention.query",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForQuestionAnswering",
        ),
        Row(
            "key_k_proj",
            VILT_ENCODER + ".attention.attention.key",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForQuestionAnswering",
        ),
        Row(
            "value_v_proj",
            VILT_ENCODER + ".attention.attention.value",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForQuestionAnswering",
        ),
        Row(
            "dense_o_proj",
            VILT_ENCODER + ".attention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForQuestionAnswering",
        ),
        Row(
            "dense_up_proj",
            VILT_ENCODER + ".intermediate.dense",
            "intermediate_size, hidden_size",
            bias="True",
            heads="ForQuestionAnswering",
        ),
        Row(
            "dense_down_proj",
            VILT_ENCODER + ".output.dense",
            "hidden_size, intermediate_size",
            bias="True",
            heads="ForQuestionAnswering",
        ),
        Row(
            "layernorm_before_input_layernorm",
            VILT_ENCODER + ".layernorm_before",
            "hidden_size",
            bias="True",
            heads="ForQuestionAnswering",
        ),
        Row(
            "layernorm_after_post_attention_layernorm",
            VILT_ENCODER + ".layernorm_after",
            "hidden_size",
            bias="True",
            heads="ForQuestionAnswering",
        ),
        Row("embed_class", "embeddings.cls_token", "1, 1, hidden_size", heads="Model", leaf=""),
        Row(
            "embed_positions",
            "embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, hidden_size",
            heads="Model",
            leaf="",
        ),
        Row("embed_tokens", "embeddings.text_embeddings.word_embeddings", "vocab_size, hidden_size", heads="Model"),
        Row(
            "position_embeddings_embed_positions",
            "embeddings.text_embeddings.position_embeddings",
            "max_position_embeddings, hidden_size",
            heads="Model",
        ),
        Row(
            "embed_token_types",
            "embeddings.text_embeddings.token_type_embeddings",
            "type_vocab_size, hidden_size",
            heads="Model",
        ),
        Row(
            "LayerNorm", "embeddings.text_embeddings.LayerNorm", "hidden_size", bias="True", heads="Model", group="norm"
        ),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "token_type_embeddings_embed_token_types",
            "embeddings.token_type_embeddings",
            "modality_type_vocab_size, hidden_size",
            heads="Model",
        ),
        Row("layernorm", "layernorm", "hidden_size", bias="True", heads="Model"),
        Row("pooler", "pooler.dense", "hidden_size, hidden_size", bias="True", heads="Model"),
        Row(
            "cls_token_embed_class",
            "vilt.embeddings.cls_token",
            "1, 1, hidden_size",
            heads="ForQuestionAnswering",
            leaf="",
        ),
        Row(
            "embeddings_position_embeddings_embed_positions",
            "vilt.embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, hidden_size",
            heads="ForQuestionAnswering",
            leaf="",
        ),
        Row(
            "word_embeddings_embed_tokens",
            "vilt.embeddings.text_embeddings.word_embeddings",
            "vocab_size, hidden_size",
            heads="ForQuestionAnswering",
        ),
        Row(
            "text_embeddings_position_embeddings_embed_positions",
            "vilt.embeddings.text_embeddings.position_embeddings",
            "max_position_embeddings, hidden_size",
            heads="ForQuestionAnswering",
        ),
        Row(
            "text_embeddings_token_type_embeddings_embed_token_types",
            "vilt.embeddings.text_embeddings.token_type_embeddings",
            "type_vocab_size, hidden_size",
            heads="ForQuestionAnswering",
        ),
        Row(
            "text_embeddings_LayerNorm",
            "vilt.embeddings.text_embeddings.LayerNorm",
            "hidden_size",
            bias="True",
            heads="ForQuestionAnswering",
            group="norm",
        ),
        Row(
            "projection_embed_patches",
            "vilt.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            heads="ForQuestionAnswering",
        ),
        Row(
            "embeddings_token_type_embeddings_embed_token_types",
            "vilt.embeddings.token_type_embeddings",
            "modality_type_vocab_size, hidden_size",
            heads="ForQuestionAnswering",
        ),
        Row("vilt_layernorm", "vilt.layernorm", "hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row(
            "dense_pooler",
            "vilt.pooler.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForQuestionAnswering",
            group="head",
        ),
    ),
    defaults={
        "hidden_size": 768,
        "image_size": 384,
        "intermediate_size": 3072,
        "max_position_embeddings": 40,
        "modality_type_vocab_size": 2,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "patch_size": 32,
        "qkv_bias": True,
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
    head="Model",
)
