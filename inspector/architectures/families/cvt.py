"""Model type cvt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "cvt.encoder.stages.{layer<len(depth)}"
ENCODER_STAGES_ = "cvt.encoder.stages.{layer<len(depth)}.layers.{sublayer<depth[layer]}"

FAMILY = Family(
    name="cvt",
    types={"cvt": {}},
    rows=(
        Row("embed_class", ENCODER_STAGES + ".cls_token", "1, 1, embed_dim[-1]", when="cls_token[layer]", leaf=""),
        Row("input_layernorm", ENCODER_STAGES_ + ".layernorm_before", "embed_dim[layer]", bias="True"),
        Row("o_proj", ENCODER_STAGES_ + ".attention.output.dense", "embed_dim[layer], embed_dim[layer]", bias="True"),
        Row(
            "projection",
            ENCODER_STAGES + ".embedding.convolution_embeddings.projection",
            "embed_dim[layer], embed_dim[layer - 1] if layer > 0 else num_channels, patch_sizes[layer], patch_sizes[layer]",
            bias="True",
            group="embedding",
        ),
        Row(
            "normalization",
            ENCODER_STAGES + ".embedding.convolution_embeddings.normalization",
            "embed_dim[layer]",
            bias="True",
        ),
        Row(
            "convolution",
            ENCODER_STAGES_ + ".attention.attention.convolution_projection_query.convolution_projection.convolution",
            "embed_dim[layer], 1, kernel_qkv[layer], kernel_qkv[layer]",
            when="'dw_bn' in qkv_projection_method",
            group="attention",
        ),
        Row(
            "normalization",
            ENCODER_STAGES_ + ".attention.attention.convolution_projection_query.convolution_projection.normalization",
            "embed_dim[layer]",
            bias="True",
            when="'dw_bn' in qkv_projection_method",
        ),
        Row(
            "convolution_projection_convolution",
            ENCODER_STAGES_ + ".attention.attention.convolution_projection_key.convolution_projection.convolution",
            "embed_dim[layer], 1, kernel_qkv[layer], kernel_qkv[layer]",
            when="'dw_bn' in qkv_projection_method",
            group="attention",
        ),
        Row(
            "convolution_projection_normalization",
            ENCODER_STAGES_ + ".attention.attention.convolution_projection_key.convolution_projection.normalization",
            "embed_dim[layer]",
            bias="True",
            when="'dw_bn' in qkv_projection_method",
        ),
        Row(
            "convolution_projection_value_convolution_projection_convolution",
            ENCODER_STAGES_ + ".attention.attention.convolution_projection_value.convolution_projection.convolution",
            "embed_dim[layer], 1, kernel_qkv[layer], kernel_qkv[layer]",
            when="'dw_bn' in qkv_projection_method",
            group="attention",
        ),
        Row(
            "convolution_projection_value_convolution_projection_normalization",
            ENCODER_STAGES_ + ".attention.attention.convolution_projection_value.convolution_projection.normalization",
            "embed_dim[layer]",
            bias="True",
            when="'dw_bn' in qkv_projection_method",
        ),
        Row(
            "projection_query",
            ENCODER_STAGES_ + ".attention.attention.projection_query",
            "embed_dim[layer], embed_dim[layer]",
            bias="True",
            group="attention",
        ),
        Row(
            "projection_key",
            ENCODER_STAGES_ + ".attention.attention.projection_key",
            "embed_dim[layer], embed_dim[layer]",
            bias="True",
            group="attention",
        ),
        Row(
            "projection_value",
            ENCODER_STAGES_ + ".attention.attention.projection_value",
            "embed_dim[layer], embed_dim[layer]",
            bias="True",
            group="attention",
        ),
        Row("post_attention_layernorm", ENCODER_STAGES_ + ".layernorm_after", "embed_dim[layer]", bias="True"),
        Row(
            "up_proj",
            ENCODER_STAGES_ + ".intermediate.dense",
            "scaled(embed_dim[layer], mlp_ratio[layer]), embed_dim[layer]",
            bias="True",
        ),
        Row(
            "down_proj",
            ENCODER_STAGES_ + ".output.dense",
            "embed_dim[layer], scaled(embed_dim[layer], mlp_ratio[layer])",
            bias="True",
        ),
        Row("layernorm", "layernorm", "embed_dim[-1]", bias="True", heads="ForImageClassification"),
        Row("classifier", "classifier", "num_labels, embed_dim[-1]", bias="True", heads="ForImageClassification"),
        Row(
            "running_mean",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_query.convolution_projection.normalization.running_mean",
            "embed_dim[layer]",
            when="'dw_bn' in qkv_projection_method",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_query.convolution_projection.normalization.running_var",
            "embed_dim[layer]",
            when="'dw_bn' in qkv_projection_method",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "num_batches_tracked",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_query.convolution_projection.normalization.num_batches_tracked",
            "",
            when="'dw_bn' in qkv_projection_method",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "normalization_running_mean",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_key.convolution_projection.normalization.running_mean",
            "embed_dim[layer]",
            when="'dw_bn' in qkv_projection_method",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "normalization_running_var",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_key.convolution_projection.normalization.running_var",
            "embed_dim[layer]",
            when="'dw_bn' in qkv_projection_method",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "normalization_num_batches_tracked",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_key.convolution_projection.normalization.num_batches_tracked",
            "",
            when="'dw_bn' in qkv_projection_method",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "convolution_projection_normalization_running_mean",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_value.convolution_projection.normalization.running_mean",
            "embed_dim[layer]",
            when="'dw_bn' in qkv_projection_method",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "convolution_projection_normalization_running_var",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_value.convolution_projection.normalization.running_var",
            "embed_dim[layer]",
            when="'dw_bn' in qkv_projection_method",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "convolution_projection_normalization_num_batches_tracked",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_value.convolution_projection.normalization.num_batches_tracked",
            "",
            when="'dw_bn' in qkv_projection_method",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="cvt.",
    defaults={
        "cls_token": [False, False, True],
        "depth": [1, 2, 10],
        "embed_dim": [64, 192, 384],
        "kernel_qkv": [3, 3, 3],
        "mlp_ratio": [4.0, 4.0, 4.0],
        "num_channels": 3,
        "patch_sizes": [7, 3, 3],
        "qkv_projection_method": ["dw_bn", "dw_bn", "dw_bn"],
    },
    head="Model",
)
