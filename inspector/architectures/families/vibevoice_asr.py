"""Model type vibevoice_asr: acoustic_tokenizer_encoder_config, semantic_tokenizer_encoder_config, text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="vibevoice_asr",
    types={"vibevoice_asr": {}},
    rows=(
        Include(
            "acoustic_tokenizer_encoder_config",
            "acoustic_tokenizer_encoder.",
            tower="acoustic_tokenizer_encoder",
            head="Model",
            default_type="vibevoice_acoustic_tokenizer_encoder",
        ),
        Include(
            "semantic_tokenizer_encoder_config",
            "semantic_tokenizer_encoder.",
            tower="semantic_tokenizer_encoder",
            head="Model",
            default_type="vibevoice_acoustic_tokenizer_encoder",
        ),
        Include(
            "text_config",
            "language_model.",
            head="ForCausalLM",
            default_type="qwen2",
            heads="ForConditionalGeneration",
            tied="False",
        ),
        Include(
            "text_config",
            "language_model.model.",
            head="Model",
            default_type="qwen2",
            heads="Model",
            tied="False",
        ),
        Row(
            "acoustic_linear_1",
            "multi_modal_projector.acoustic_linear_1",
            "text_config.hidden_size, acoustic_tokenizer_encoder_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "acoustic_linear_2",
            "multi_modal_projector.acoustic_linear_2",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row("acoustic_norm", "multi_modal_projector.acoustic_norm", "text_config.hidden_size", tower="projector"),
        Row(
            "semantic_linear_1",
            "multi_modal_projector.semantic_linear_1",
            "text_config.hidden_size, semantic_tokenizer_encoder_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "semantic_linear_2",
            "multi_modal_projector.semantic_linear_2",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row("semantic_norm", "multi_modal_projector.semantic_norm", "text_config.hidden_size", tower="projector"),
    ),
    defaults={
        "acoustic_tokenizer_encoder_config": {"hidden_size": 64},
        "semantic_tokenizer_encoder_config": {"hidden_size": 128},
        "text_config": {"hidden_size": 4096, "tie_word_embeddings": False, "vocab_size": 151936},
    },
    head="ForConditionalGeneration",
)
