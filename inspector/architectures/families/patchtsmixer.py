"""Model type patchtsmixer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.mlp_mixer_encoder.mixers.{layer<num_layers}"

FAMILY = Family(
    name="patchtsmixer",
    types={"patchtsmixer": {}},
    rows=(
        Row("q_proj", LAYER + ".patch_mixer.self_attn_layer.q_proj", "d_model, d_model", bias="True", when="self_attn"),
        Row("k_proj", LAYER + ".patch_mixer.self_attn_layer.k_proj", "d_model, d_model", bias="True", when="self_attn"),
        Row("v_proj", LAYER + ".patch_mixer.self_attn_layer.v_proj", "d_model, d_model", bias="True", when="self_attn"),
        Row("norm", LAYER + ".patch_mixer.norm.norm", "d_model", bias="True"),
        Row("norm_norm", LAYER + ".feature_mixer.norm.norm", "d_model", bias="True"),
        Row("fc1_up_proj", LAYER + ".feature_mixer.mlp.fc1", "d_model * expansion_factor, d_model", bias="True"),
        Row("fc2_down_proj", LAYER + ".feature_mixer.mlp.fc2", "d_model, d_model * expansion_factor", bias="True"),
        Row(
            "attn_layer",
            LAYER + ".patch_mixer.gating_block.attn_layer",
            "num_patches, num_patches",
            bias="True",
            when="gated_attn",
        ),
        Row("norm_attn_norm", LAYER + ".patch_mixer.norm_attn.norm", "d_model", bias="True", when="self_attn"),
        Row(
            "gating_block_attn_layer",
            LAYER + ".feature_mixer.gating_block.attn_layer",
            "d_model, d_model",
            bias="True",
            when="gated_attn",
        ),
        Row(
            "channel_feature_mixer_norm_norm",
            LAYER + ".channel_feature_mixer.norm.norm",
            "d_model",
            bias="True",
            when="mode == 'mix_channel'",
        ),
        Row(
            "mlp_fc1_up_proj",
            LAYER + ".channel_feature_mixer.mlp.fc1",
            "expansion_factor, 1",
            bias="True",
            when="mode == 'mix_channel'",
        ),
        Row(
            "mlp_fc2_down_proj",
            LAYER + ".channel_feature_mixer.mlp.fc2",
            "1, expansion_factor",
            bias="True",
            when="mode == 'mix_channel'",
        ),
        Row(
            "channel_feature_mixer_gating_block_attn_layer",
            LAYER + ".channel_feature_mixer.gating_block.attn_layer",
            "1, 1",
            bias="True",
            when="mode == 'mix_channel' and channel_consistent_masking",
        ),
        Row(
            "out_proj",
            LAYER + ".patch_mixer.self_attn_layer.out_proj",
            "d_model, d_model",
            bias="True",
            when="self_attn",
        ),
        Row("up_proj", LAYER + ".patch_mixer.mlp.fc1", "num_patches * expansion_factor, num_patches", bias="True"),
        Row("down_proj", LAYER + ".patch_mixer.mlp.fc2", "num_patches, num_patches * expansion_factor", bias="True"),
        Row("patcher", "encoder.patcher", "d_model, patch_length", bias="True"),
        Row(
            "position_enc",
            "encoder.positional_encoder.position_enc",
            "num_patches, d_model",
            when="use_positional_encoding",
            leaf="",
        ),
    ),
    defaults={
        "channel_consistent_masking": True,
        "d_model": 8,
        "expansion_factor": 2,
        "gated_attn": True,
        "mode": "common_channel",
        "num_layers": 3,
        "num_patches": 4,
        "patch_length": 8,
        "self_attn": False,
        "use_positional_encoding": False,
    },
    fields={"hidden_size": "d_model", "num_hidden_layers": "num_layers"},
    head="Model",
)
