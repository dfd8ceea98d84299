"""Model type audio-spectrogram-transformer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layer.{layer<num_hidden_layers}"
AUDIO_SPECTROGRAM_TRANSFORMER_ENCODER = "audio_spectrogram_transformer.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="audio-spectrogram-transformer",
    types={"audio-spectrogram-transformer": {}},
    rows=(
        Row("input_layernorm", ENCODER + ".layernorm_before", "hidden_size", bias="True", heads="Model"),
        Row(
            "q_proj",
            ENCODER + ".attention.attention.query",
            "num_attention_heads * hidden_size // num_attention_heads, hidden_size",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "k_proj",
            ENCODER + ".attention.attention.key",
            "num_attention_heads * hidden_size // num_attention_heads, hidden_size",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "v_proj",
            ENCODER + ".attention.attention.value",
            "num_attention_heads * hidden_size // num_attention_heads, hidden_size",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "o_proj",
            ENCODER + ".attention.output.dense",
            "hidden_size, num_attention_heads * hidden_size // num_attention_heads",
            bias="True",
            heads="Model",
        ),
        Row("post_attention_layernorm", ENCODER + ".layernorm_after", "hidden_size", bias="True", heads="Model"),
        Row("up_proj", ENCODER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True", heads="Model"),
        Row("down_proj", ENCODER + ".output.dense", "hidden_size, intermediate_size", bias="True", heads="Model"),
        Row(
            "key_k_proj",
            AUDIO_SPECTROGRAM_TRANSFORMER_ENCODER + ".attention.attention.key",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForAudioClassification",
        ),
        Row(
            "dense_o_proj",
            AUDIO_SPECTROGRAM_TRANSFORMER_ENCODER + ".attention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForAudioClassification",
        ),
        Row(
            "query_q_proj",
            AUDIO_SPECTROGRAM_TRANSFORMER_ENCODER + ".attention.attention.query",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForAudioClassification",
        ),
        Row(
            "value_v_proj",
            AUDIO_SPECTROGRAM_TRANSFORMER_ENCODER + ".attention.attention.value",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForAudioClassification",
        ),
        Row(
            "layernorm_after_post_attention_layernorm",
            AUDIO_SPECTROGRAM_TRANSFORMER_ENCODER + ".layernorm_after",
            "hidden_size",
            bias="True",
            heads="ForAudioClassification",
        ),
        Row(
            "layernorm_before_input_layernorm",
            AUDIO_SPECTROGRAM_TRANSFORMER_ENCODER + ".layernorm_before",
            "hidden_size",
            bias="True",
            heads="ForAudioClassification",
        ),
        Row(
            "dense_up_proj",
            AUDIO_SPECTROGRAM_TRANSFORMER_ENCODER + ".intermediate.dense",
            "intermediate_size, hidden_size",
            bias="True",
            heads="ForAudioClassification",
        ),
        Row(
            "dense_down_proj",
            AUDIO_SPECTROGRAM_TRANSFORMER_ENCODER + ".output.dense",
            "hidden_size, intermediate_size",
            bias="True",
            heads="ForAudioClassification",
        ),
        Row("embed_class", "embeddings.cls_token", "1, 1, hidden_size", heads="Model", leaf=""),
        Row(
            "distillation_token",
            "embeddings.distillation_token",
            "1, 1, hidden_size",
            heads="Model",
            leaf="",
            group="embedding",
        ),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "hidden_size, 1, patch_size, patch_size",
            bias="True",
            heads="Model",
        ),
        Row("embed_positions", "embeddings.position_embeddings", "1, 128, hidden_size", heads="Model", leaf=""),
        Row("layernorm", "layernorm", "hidden_size", bias="True", heads="Model"),
        Row(
            "cls_token_embed_class",
            "audio_spectrogram_transformer.embeddings.cls_token",
            "1, 1, hidden_size",
            heads="ForAudioClassification",
            leaf="",
        ),
        Row(
            "embeddings_distillation_token",
            "audio_spectrogram_transformer.embeddings.distillation_token",
            "1, 1, hidden_size",
            heads="ForAudioClassification",
            leaf="",
        ),
        Row(
            "projection_embed_patches",
            "audio_spectrogram_transformer.embeddings.patch_embeddings.projection",
            "hidden_size, 1, patch_size, patch_size",
            bias="True",
            heads="ForAudioClassification",
        ),
        Row(
            "position_embeddings_embed_positions",
            "audio_spectrogram_transformer.embeddings.position_embeddings",
            "1, 1214, hidden_size",
            heads="ForAudioClassification",
            leaf="",
        ),
        Row(
            "audio_spectrogram_transformer_layernorm",
            "audio_spectrogram_transformer.layernorm",
            "hidden_size",
            bias="True",
            heads="ForAudioClassification",
        ),
        Row(
            "dense",
            "classifier.dense",
            "num_labels, hidden_size",
            bias="True",
            heads="ForAudioClassification",
            group="head",
        ),
        Row("classifier_layernorm", "classifier.layernorm", "hidden_size", bias="True", heads="ForAudioClassification"),
    ),
    derived={"head_dim": "hidden_size // num_attention_heads"},
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "patch_size": 16,
        "qkv_bias": True,
    },
    head="Model",
)
