"""Swin: attention within windows, whose patches are merged from stage to stage."""

from __future__ import annotations

from inspector.architectures.data.families.convolutions import STAGES_GIVEN
from inspector.architectures.table import Family, Row

SWIN_ENCODER = "swin.encoder.layers.{layer<len(depths)}"
SWIN_ENCODER_ = "swin.encoder.layers.{layer<len(depths)}.blocks.{block<depths[layer]}"

LAST_WIDTH = "2 ** (len(depths) - 1) * embed_dim"
#: A backbone keeps the prefix of this one norm, and norms each stage that it gives besides.
LAST_NORM = {
    "body Model ForImageClassification ForMaskedImageModeling": "swin.layernorm",
    "Backbone": "swin.swin.layernorm",
}

FAMILY = Family(
    name="swin",
    types={"swin": {}},
    rows=(
        Row("embed_norm", "swin.embeddings.norm", "embed_dim", bias="True"),
        Row(
            "embed_patches",
            "swin.embeddings.patch_embeddings.projection",
            "embed_dim, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "embed_positions",
            "swin.embeddings.position_embeddings",
            "1, image_size // patch_size * (image_size // patch_size), embed_dim",
            when="use_absolute_embeddings",
            leaf="",
        ),
        Row("input_layernorm", SWIN_ENCODER_ + ".layernorm_before", "2 ** layer * embed_dim", bias="True"),
        Row(
            "q_proj",
            SWIN_ENCODER_ + ".attention.self.query",
            "2 ** layer * embed_dim, 2 ** layer * embed_dim",
            bias="qkv_bias",
        ),
        Row(
            "k_proj",
            SWIN_ENCODER_ + ".attention.self.key",
            "2 ** layer * embed_dim, 2 ** layer * embed_dim",
            bias="qkv_bias",
        ),
        Row(
            "v_proj",
            SWIN_ENCODER_ + ".attention.self.value",
            "2 ** layer * embed_dim, 2 ** layer * embed_dim",
            bias="qkv_bias",
        ),
        Row(
            "o_proj",
            SWIN_ENCODER_ + ".attention.output.dense",
            "2 ** layer * embed_dim, 2 ** layer * embed_dim",
            bias="True",
        ),
        Row(
            "relative_position_bias_table",
            SWIN_ENCODER_ + ".attention.self.relative_position_bias_table",
            "(2 * window_size - 1) * (2 * window_size - 1), num_heads[layer]",
            leaf="",
            group="attention",
        ),
        Row(
            "norm",
            SWIN_ENCODER + ".downsample.norm",
            "4 * 2 ** layer * embed_dim",
            bias="True",
            when="(layer + 1) % num_layers != 0",
        ),
        Row(
            "reduction",
            SWIN_ENCODER + ".downsample.reduction",
            "2 * 2 ** layer * embed_dim, 4 * 2 ** layer * embed_dim",
            when="(layer + 1) % num_layers != 0",
        ),
        Row("post_attention_layernorm", SWIN_ENCODER_ + ".layernorm_after", "2 ** layer * embed_dim", bias="True"),
        Row(
            "up_proj",
            SWIN_ENCODER_ + ".intermediate.dense",
            "scaled(2 ** layer * embed_dim, mlp_ratio), 2 ** layer * embed_dim",
            bias="True",
        ),
        Row(
            "down_proj",
            SWIN_ENCODER_ + ".output.dense",
            "2 ** layer * embed_dim, scaled(2 ** layer * embed_dim, mlp_ratio)",
            bias="True",
        ),
        *(Row("layernorm", name, LAST_WIDTH, bias="True", heads=heads) for heads, name in LAST_NORM.items()),
        *(
            Row(
                f"stage{stage}_norm",
                f"hidden_states_norms.stage{stage}",
                f"{2 ** (stage - 1)} * embed_dim",
                bias="True",
                when=f"{stage} in out_indices",
                heads="Backbone",
            )
            for stage in (1, 2, 3, 4)
        ),
        Row(
            "classifier",
            "classifier",
            "num_labels, 2 ** (len(depths) - 1) * embed_dim",
            bias="True",
            heads="ForImageClassification",
        ),
    ),
    prefix="swin.",
    defaults={
        "depths": [2, 2, 6, 2],
        "embed_dim": 96,
        "image_size": 224,
        "mlp_ratio": 4.0,
        "num_channels": 3,
        "num_heads": [3, 6, 12, 24],
        "out_features": [],
        "patch_size": 4,
        "qkv_bias": True,
        "use_absolute_embeddings": False,
        "window_size": 7,
    },
    derived={
        "num_layers": "len(depths)",
        "hidden_size": "embed_dim * 2 ** (len(depths) - 1)",
        "out_indices": STAGES_GIVEN["out_indices"],
        "channels": "[embed_dim * 2 ** max(out_indices[at] - 1, 0) for at in range(len(out_indices))]",
    },
    fields={"num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"},
    head="Model",
)
