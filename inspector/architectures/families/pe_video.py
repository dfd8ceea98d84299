"""Model type pe_video: text_config, video_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="pe_video",
    types={"pe_video": {}},
    rows=(
        Include("text_config", "text_model.", head="Model", default_type="modernbert"),
        Include(
            "video_config", "video_encoder.", tower="video", head="PeVideoEncoder", default_type="pe_video_encoder"
        ),
        Row("text_video_logit_scale", "text_video_logit_scale", "1", leaf="", group="head"),
        Row("text_video_logit_bias", "text_video_logit_bias", "1", leaf="", group="head"),
        Row("layer_norm", "text_video_head.layer_norm", "text_config.hidden_size", bias="True"),
        Row("proj", "text_video_head.proj", "text_config.hidden_size, text_config.hidden_size", group="head"),
        Row("video_head_layer_norm", "video_head.layer_norm", "video_config.hidden_size", bias="True"),
        Row("video_head_proj", "video_head.proj", "text_config.hidden_size, video_config.hidden_size"),
    ),
    defaults={"text_config": {"hidden_size": 1024}, "video_config": {"hidden_size": 1792}},
    head="Model",
)
