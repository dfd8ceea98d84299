"""Model type efficientloftr.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

BACKBONE_STAGES = "backbone.stages.{layer<len(stage_stride)}"
BACKBONE_STAGES_ = "backbone.stages.{layer<len(stage_stride)}.blocks.{block<stage_num_blocks[layer]}"
LOCAL_FEATURE_TRANSFORMER = "local_feature_transformer.layers.{layer<num_attention_layers}"

FAMILY = Family(
    name="efficientloftr",
    types={"efficientloftr": {}},
    rows=(
        Row(
            "conv",
            BACKBONE_STAGES_ + ".conv1.conv",
            "stage_block_out_channels[layer][block], stage_block_in_channels[layer][block], 3, 3",
        ),
        Row("norm", BACKBONE_STAGES_ + ".conv1.norm", "stage_block_out_channels[layer][block]", bias="True"),
        Row(
            "conv2_conv",
            BACKBONE_STAGES_ + ".conv2.conv",
            "stage_block_out_channels[layer][block], stage_block_in_channels[layer][block], 1, 1",
        ),
        Row("conv2_norm", BACKBONE_STAGES_ + ".conv2.norm", "stage_block_out_channels[layer][block]", bias="True"),
        Row(
            "identity",
            BACKBONE_STAGES_ + ".identity",
            "stage_block_in_channels[layer][block]",
            bias="True",
            when="block > 0 or stage_stride[layer] == 1",
            group="norm",
        ),
        Row(
            "q_proj",
            LOCAL_FEATURE_TRANSFORMER + ".self_attention.attention.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "k_proj",
            LOCAL_FEATURE_TRANSFORMER + ".self_attention.attention.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "v_proj",
            LOCAL_FEATURE_TRANSFORMER + ".self_attention.attention.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "o_proj",
            LOCAL_FEATURE_TRANSFORMER + ".self_attention.attention.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
        ),
        Row(
            "q_aggregation",
            LOCAL_FEATURE_TRANSFORMER + ".self_attention.aggregation.q_aggregation",
            "hidden_size, 1, q_aggregation_kernel_size, q_aggregation_kernel_size",
            group="attention",
        ),
        Row("norm", LOCAL_FEATURE_TRANSFORMER + ".self_attention.aggregation.norm", "hidden_size", bias="True"),
        Row("layer_norm", LOCAL_FEATURE_TRANSFORMER + ".self_attention.mlp.layer_norm", "hidden_size", bias="True"),
        Row(
            "cross_q_aggregation",
            LOCAL_FEATURE_TRANSFORMER + ".cross_attention.aggregation.q_aggregation",
            "hidden_size, 1, q_aggregation_kernel_size, q_aggregation_kernel_size",
            group="attention",
        ),
        Row("cross_norm", LOCAL_FEATURE_TRANSFORMER + ".cross_attention.aggregation.norm", "hidden_size", bias="True"),
        Row(
            "cross_q_proj",
            LOCAL_FEATURE_TRANSFORMER + ".cross_attention.attention.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "cross_k_proj",
            LOCAL_FEATURE_TRANSFORMER + ".cross_attention.attention.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "cross_v_proj",
            LOCAL_FEATURE_TRANSFORMER + ".cross_attention.attention.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "cross_o_proj",
            LOCAL_FEATURE_TRANSFORMER + ".cross_attention.attention.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
        ),
        Row(
            "cross_up_proj",
            LOCAL_FEATURE_TRANSFORMER + ".cross_attention.mlp.fc1",
            "intermediate_size, 2 * hidden_size",
        ),
        Row(
            "cross_down_proj", LOCAL_FEATURE_TRANSFORMER + ".cross_attention.mlp.fc2", "hidden_size, intermediate_size"
        ),
        Row(
            "cross_layer_norm",
            LOCAL_FEATURE_TRANSFORMER + ".cross_attention.mlp.layer_norm",
            "hidden_size",
            bias="True",
        ),
        Row("up_proj", LOCAL_FEATURE_TRANSFORMER + ".self_attention.mlp.fc1", "intermediate_size, 2 * hidden_size"),
        Row("down_proj", LOCAL_FEATURE_TRANSFORMER + ".self_attention.mlp.fc2", "hidden_size, intermediate_size"),
        Row(
            "running_mean",
            BACKBONE_STAGES_ + ".conv1.norm.running_mean",
            "stage_block_out_channels[layer][block]",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            BACKBONE_STAGES_ + ".conv1.norm.running_var",
            "stage_block_out_channels[layer][block]",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "num_batches_tracked",
            BACKBONE_STAGES_ + ".conv1.norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "norm_running_mean",
            BACKBONE_STAGES_ + ".conv2.norm.running_mean",
            "stage_block_out_channels[layer][block]",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "norm_running_var",
            BACKBONE_STAGES_ + ".conv2.norm.running_var",
            "stage_block_out_channels[layer][block]",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "norm_num_batches_tracked",
            BACKBONE_STAGES_ + ".conv2.norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "identity_running_mean",
            BACKBONE_STAGES_ + ".identity.running_mean",
            "stage_block_in_channels[layer][block]",
            when="block > 0 or stage_stride[layer] == 1",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "identity_running_var",
            BACKBONE_STAGES_ + ".identity.running_var",
            "stage_block_in_channels[layer][block]",
            when="block > 0 or stage_stride[layer] == 1",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "identity_num_batches_tracked",
            BACKBONE_STAGES_ + ".identity.num_batches_tracked",
            "",
            when="block > 0 or stage_stride[layer] == 1",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    defaults={
        "attention_bias": False,
        "hidden_size": 256,
        "num_attention_heads": 8,
        "num_attention_layers": 4,
        "q_aggregation_kernel_size": 4,
        "stage_block_in_channels": [
            [1],
            [64, 64],
            [64, 128, 128, 128],
            [128, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256],
        ],
        "stage_block_out_channels": [
            [64],
            [64, 64],
            [128, 128, 128, 128],
            [256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256],
        ],
    },
    derived={
        "intermediate_size": "2 * hidden_size",
        "num_key_value_heads": "num_attention_heads",
        "head_dim": "hidden_size // num_attention_heads",
        "stage_num_blocks": "[1 if layer == 0 else 14 if layer > 2 else 2 if layer == 1 else 4 for layer in range(4)]",
        "stage_stride": "[1 if layer == 1 else 2 for layer in range(4)]",
    },
    head="Model",
)
