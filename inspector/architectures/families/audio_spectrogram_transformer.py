"""Model type audio-spectrogram-transformer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "audio_spectrogram_transformer.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="audio-spectrogram-transformer",
    types={"audio-spectrogram-transformer": {}},
    rows=(
        Row("embed_class", "audio_spectrogram_transformer.embeddings.cls_token", "1, 1, hidden_size", leaf=""),
        Row(
            "distillation_token",
            "audio_spectrogram_transformer.embeddings.distillation_token",
            "1, 1, hidden_size",
            leaf="",
            group="embedding",
        ),
        Row(
            "embed_patches",
            "audio_spectrogram_transformer.embeddings.patch_embeddings.projection",
            "hidden_size, 1, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "embed_positions",
            "audio_spectrogram_transformer.embeddings.position_embeddings",
            "1, ((max_length - patch_size) // time_stride + 1) * ((num_mel_bins - patch_size) // frequency_stride + 1) + 2, hidden_size",
            leaf="",
        ),
        Row("input_layernorm", LAYER + ".layernorm_before", "hidden_size", bias="True"),
        Row(
            "q_proj",
            LAYER + ".attention.attention.query",
            "num_attention_heads * head_dim, hidden_size",
            bias="qkv_bias",
        ),
        Row(
            "k_proj", LAYER + ".attention.attention.key", "num_attention_heads * head_dim, hidden_size", bias="qkv_bias"
        ),
        Row(
            "v_proj",
            LAYER + ".attention.attention.value",
            "num_attention_heads * head_dim, hidden_size",
            bias="qkv_bias",
        ),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, num_attention_heads * head_dim", bias="True"),
        Row("post_attention_layernorm", LAYER + ".layernorm_after", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("layernorm", "audio_spectrogram_transformer.layernorm", "hidden_size", bias="True"),
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
    prefix="audio_spectrogram_transformer.",
    defaults={
        "frequency_stride": 10,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_length": 1024,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "num_mel_bins": 128,
        "patch_size": 16,
        "qkv_bias": True,
        "time_stride": 10,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    head="Model",
)
