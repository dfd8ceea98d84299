"""Model type pe_audio: audio_config, text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="pe_audio",
    types={"pe_audio": {}},
    rows=(
        Include(
            "audio_config", "audio_encoder.", tower="audio", head="PeAudioEncoder", default_type="pe_audio_encoder"
        ),
        Include("text_config", "text_model.", head="Model", default_type="modernbert"),
        Row("text_audio_logit_scale", "text_audio_logit_scale", "1", leaf="", group="head"),
        Row("text_audio_logit_bias", "text_audio_logit_bias", "1", leaf="", group="head"),
        Row("layer_norm", "text_audio_head.layer_norm", "text_config.hidden_size", bias="True"),
        Row("proj", "text_audio_head.proj", "text_config.hidden_size, text_config.hidden_size", group="head"),
        Row("audio_head_layer_norm", "audio_head.layer_norm", "audio_config.hidden_size", bias="True"),
        Row("audio_head_proj", "audio_head.proj", "text_config.hidden_size, audio_config.hidden_size"),
    ),
    defaults={"audio_config": {"hidden_size": 1792}, "text_config": {"hidden_size": 1024}},
    head="Model",
)
