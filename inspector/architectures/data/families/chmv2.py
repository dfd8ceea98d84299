"""CHMv2: the height of a canopy, by DINOv3's features and DPT's neck."""

from __future__ import annotations

from inspector.architectures.data.families.depth_anything import convolution, fusion, reassemble
from inspector.architectures.table import Family, Include

HEAD = "head.conv_depth.head."
WIDTH = "fusion_hidden_size"

FAMILY = Family(
    name="chmv2",
    types={"chmv2": {}},
    rows=(
        Include("backbone_config", "backbone.", tower="vision", head="Model", default_type="dinov3_vit"),
        *reassemble("head.reassemble_stage", "post_process_channels", readout="readout_type == 'project'"),
        convolution(
            "convs",
            "head.convs.{layer<len(post_process_channels)}",
            f"{WIDTH}, post_process_channels[layer], 3, 3",
            bias="",
        ),
        *fusion("head.fusion_layers.{layer<len(post_process_channels)}", joins="layer > 0"),
        convolution("head", HEAD + "0", f"{WIDTH} // 2, {WIDTH}, 3, 3", group="head"),
        convolution("head", HEAD + "2", f"head_hidden_size, {WIDTH} // 2, 3, 3", group="head"),
        convolution("head", HEAD + "4", "number_output_channels, head_hidden_size, 1, 1", group="head"),
    ),
    defaults={
        "backbone_config": {
            "hidden_size": 1024,
            "image_size": 416,
            "intermediate_size": 4096,
            "key_bias": True,
            "num_attention_heads": 16,
            "num_hidden_layers": 24,
            "num_register_tokens": 4,
        },
        "fusion_hidden_size": 256,
        "head_hidden_size": 128,
        "number_output_channels": 256,
        "readout_type": "project",
    },
    derived={"post_process_channels": "[128, 256, 512, 1024]", "reassemble_factors": "[4, 2, 1, 0.5]"},
    head="ForDepthEstimation",
)
