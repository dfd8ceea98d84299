"""Model type pe_audio_video_encoder: audio_config, video_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="pe_audio_video_encoder",
    types={"pe_audio_video_encoder": {}},
    rows=(
        Include(
            "audio_config",
            "embedder.audio_encoder.",
            tower="audio",
            head="PeAudioEncoder",
            default_type="pe_audio_encoder",
        ),
        Include(
            "video_config",
            "embedder.video_encoder.",
            tower="video",
            head="PeVideoEncoder",
            default_type="pe_video_encoder",
        ),
        Row(
            "video_proj",
            "embedder.video_proj",
            "audio_config.hidden_size, video_config.hidden_size, 1",
            bias="True",
            group="embedding",
        ),
        Row("video_norm", "embedder.video_norm", "audio_config.hidden_size", bias="True"),
        Row(
            "concat_modality_proj",
            "embedder.concat_modality_proj",
            "hidden_size, audio_config.hidden_size + video_config.hidden_size",
            bias="True",
            group="embedding",
        ),
        Row("data_proj", "embedder.data_proj", "hidden_size, hidden_size", bias="True", group="embedding"),
        Row("embed_class", "patch_embedder.class_embedding", "1, 1, hidden_size", leaf=""),
        Row("groupnorm", "patch_embedder.resnet_block.block1.groupnorm", "hidden_size", bias="True"),
        Row(
            "project",
            "patch_embedder.resnet_block.block1.project",
            "hidden_size, hidden_size, 3",
            bias="True",
            group="embedding",
        ),
        Row("block2_groupnorm", "patch_embedder.resnet_block.block2.groupnorm", "hidden_size", bias="True"),
        Row(
            "block2_project",
            "patch_embedder.resnet_block.block2.project",
            "hidden_size, hidden_size, 3",
            bias="True",
            group="embedding",
        ),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"
        ),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size"),
        Row("norm", "norm", "hidden_size"),
        Row("lm_head", "output", "hidden_size, hidden_size"),
    ),
    classes={"PeAudioVideoEncoder": "PeAudioVideoEncoder"},
    defaults={
        "attention_bias": False,
        "audio_config": {"hidden_size": 1792},
        "head_dim": 128,
        "hidden_size": 1792,
        "intermediate_size": 4800,
        "num_attention_heads": 14,
        "num_hidden_layers": 6,
        "video_config": {"hidden_size": 1792},
    },
    derived={"num_key_value_heads": "num_attention_heads"},
    head="PeAudioVideoEncoder",
)
