"""Model type video_llama_3: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="video_llama_3",
    types={"video_llama_3": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="qwen2"),
        Include(
            "vision_config", "model.vision_model.", tower="vision", head="Model", default_type="video_llama_3_vision"
        ),
        Row(
            "readout",
            "model.projector.readout.{layer<3}",
            "text_config.hidden_size, text_config.hidden_size if layer > 0 else vision_config.hidden_size",
            bias="True",
            when="layer % 2 == 0",
            tower="projector",
        ),
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
        "text_config": {"hidden_size": 4096, "vocab_size": 151936},
        "tie_word_embeddings": False,
        "vision_config": {"hidden_size": 768},
    },
    head="ForConditionalGeneration",
)
