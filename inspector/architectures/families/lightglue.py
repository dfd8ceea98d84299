"""Model type lightglue.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer_layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="lightglue",
    types={"lightglue": {}},
    rows=(
        Row(
            "conv_a",
            "keypoint_detector.encoder.conv_blocks.{layer<4}.conv_a",
            "keypoint_detector_config.encoder_hidden_sizes[layer], keypoint_detector_config.encoder_hidden_sizes[layer - 1] if layer > 0 else 1, 3, 3",
            bias="True",
        ),
        Row(
            "conv_b",
            "keypoint_detector.encoder.conv_blocks.{layer<4}.conv_b",
            "keypoint_detector_config.encoder_hidden_sizes[layer], keypoint_detector_config.encoder_hidden_sizes[layer], 3, 3",
            bias="True",
        ),
        Row("q_proj", LAYER + ".self_attention.q_proj", "hidden_size, hidden_size", bias="attention_bias"),
        Row(
            "k_proj",
            LAYER + ".self_attention.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attention.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row("o_proj", LAYER + ".self_attention.o_proj", "hidden_size, hidden_size", bias="attention_bias"),
        Row("layer_norm", LAYER + ".self_mlp.layer_norm", "intermediate_size", bias="True"),
        Row("cross_q_proj", LAYER + ".cross_attention.q_proj", "hidden_size, hidden_size", bias="attention_bias"),
        Row(
            "cross_k_proj",
            LAYER + ".cross_attention.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "cross_v_proj",
            LAYER + ".cross_attention.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row("cross_o_proj", LAYER + ".cross_attention.o_proj", "hidden_size, hidden_size", bias="attention_bias"),
        Row("fc1_up_proj", LAYER + ".cross_mlp.fc1", "intermediate_size, intermediate_size", bias="True"),
        Row("fc2_down_proj", LAYER + ".cross_mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("cross_mlp_layer_norm", LAYER + ".cross_mlp.layer_norm", "intermediate_size", bias="True"),
        Row("up_proj", LAYER + ".self_mlp.fc1", "intermediate_size, intermediate_size", bias="True"),
        Row("down_proj", LAYER + ".self_mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row(
            "final_projection",
            "match_assignment_layers.{layer<num_hidden_layers}.final_projection",
            "hidden_size, hidden_size",
            bias="True",
        ),
        Row(
            "matchability",
            "match_assignment_layers.{layer<num_hidden_layers}.matchability",
            "1, hidden_size",
            bias="True",
        ),
        Row(
            "token",
            "token_confidence.{layer<num_hidden_layers - 1}.token",
            "1, hidden_size",
            bias="True",
            when="num_hidden_layers",
        ),
        Row(
            "conv_score_a",
            "keypoint_detector.keypoint_decoder.conv_score_a",
            "keypoint_detector_config.decoder_hidden_size, keypoint_detector_config.encoder_hidden_sizes[-1], 3, 3",
            bias="True",
            group="head",
        ),
        Row(
            "conv_score_b",
            "keypoint_detector.keypoint_decoder.conv_score_b",
            "keypoint_detector_config.keypoint_decoder_dim, keypoint_detector_config.decoder_hidden_size, 1, 1",
            bias="True",
            group="head",
        ),
        Row(
            "conv_descriptor_a",
            "keypoint_detector.descriptor_decoder.conv_descriptor_a",
            "keypoint_detector_config.decoder_hidden_size, keypoint_detector_config.encoder_hidden_sizes[-1], 3, 3",
            bias="True",
        ),
        Row(
            "conv_descriptor_b",
            "keypoint_detector.descriptor_decoder.conv_descriptor_b",
            "keypoint_detector_config.descriptor_decoder_dim, keypoint_detector_config.decoder_hidden_size, 1, 1",
            bias="True",
        ),
        Row(
            "input_projection",
            "input_projection",
            "hidden_size, keypoint_detector_config.descriptor_decoder_dim",
            bias="True",
            when="num_labels > 2",
        ),
        Row("projector", "positional_encoder.projector", "head_dim // 2, 2", tower="projector"),
    ),
    defaults={
        "attention_bias": True,
        "descriptor_dim": 256,
        "keypoint_detector_config": {
            "decoder_hidden_size": 256,
            "descriptor_decoder_dim": 256,
            "encoder_hidden_sizes": [64, 64, 128, 128],
            "keypoint_decoder_dim": 65,
        },
        "num_attention_heads": 4,
        "num_hidden_layers": 9,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "hidden_size": "descriptor_dim",
        "intermediate_size": "2 * hidden_size",
        "num_key_value_heads": "num_attention_heads",
    },
    head="ForKeypointMatching",
)
