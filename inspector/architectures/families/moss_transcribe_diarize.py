"""Model type moss_transcribe_diarize: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "model.audio_tower.layers.{layer<audio_config.num_hidden_layers}"

FAMILY = Family(
    name="moss_transcribe_diarize",
    types={"moss_transcribe_diarize": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="qwen3"),
        Row(
            "embed_patches",
            "model.audio_tower.conv1",
            "audio_config.hidden_size, audio_config.num_mel_bins, 3",
            bias="True",
            tower="audio",
        ),
        Row(
            "embed_positions",
            "model.audio_tower.embed_positions",
            "audio_config.max_source_positions, audio_config.hidden_size",
            tower="audio",
        ),
        Row("input_layernorm", LAYER + ".self_attn_layer_norm", "audio_config.hidden_size", bias="True", tower="audio"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "audio_config.hidden_size, audio_config.hidden_size",
            bias="True",
            tower="audio",
        ),
        Row("k_proj", LAYER + ".self_attn.k_proj", "audio_config.hidden_size, audio_config.hidden_size", tower="audio"),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "audio_config.hidden_size, audio_config.hidden_size",
            bias="True",
            tower="audio",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.out_proj",
            "audio_config.hidden_size, audio_config.hidden_size",
            bias="True",
            tower="audio",
        ),
        Row("norm", LAYER + ".final_layer_norm", "audio_config.hidden_size", bias="True", tower="audio"),
        Row(
            "up_proj",
            LAYER + ".fc1",
            "audio_config.intermediate_size, audio_config.hidden_size",
            bias="True",
            tower="audio",
        ),
        Row(
            "down_proj",
            LAYER + ".fc2",
            "audio_config.hidden_size, audio_config.intermediate_size",
            bias="True",
            tower="audio",
        ),
        Row(
            "conv2",
            "model.audio_tower.conv2",
            "audio_config.hidden_size, audio_config.hidden_size, 3",
            bias="True",
            tower="audio",
        ),
        Row("layer_norm", "model.audio_tower.layer_norm", "audio_config.hidden_size", bias="True", tower="audio"),
        Row(
            "linear_1",
            "model.multi_modal_projector.linear_1",
            "text_config.hidden_size, audio_config.hidden_size * audio_merge_size",
            bias="projector_bias",
            tower="projector",
        ),
        Row(
            "linear_2",
            "model.multi_modal_projector.linear_2",
            "text_config.hidden_size, text_config.hidden_size",
            bias="projector_bias",
            tower="projector",
        ),
        Row("norm", "model.multi_modal_projector.norm", "text_config.hidden_size", bias="True", tower="projector"),
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
        "audio_config": {
            "hidden_size": 1024,
            "intermediate_size": 4096,
            "max_source_positions": 1500,
            "num_hidden_layers": 24,
            "num_mel_bins": 80,
        },
        "audio_merge_size": 4,
        "projector_bias": True,
        "text_config": {"hidden_size": 1024, "vocab_size": 151936},
        "tie_word_embeddings": True,
    },
    head="ForConditionalGeneration",
)
