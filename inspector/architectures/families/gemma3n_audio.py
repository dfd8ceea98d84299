"""Model type gemma3n_audio.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "conformer.{layer<conf_num_hidden_layers}"

FAMILY = Family(
    name="gemma3n_audio",
    types={"gemma3n_audio": {}},
    rows=(
        Row(
            "q_proj",
            LAYER + ".attention.attn.q_proj",
            "conf_num_attention_heads * (hidden_size // conf_num_attention_heads), hidden_size",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.attn.k_proj",
            "conf_num_attention_heads * (hidden_size // conf_num_attention_heads), hidden_size",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.attn.v_proj",
            "conf_num_attention_heads * (hidden_size // conf_num_attention_heads), hidden_size",
        ),
        Row("pre_layer_norm", LAYER + ".ffw_layer_start.pre_layer_norm", "hidden_size"),
        Row("ffw_layer_1", LAYER + ".ffw_layer_start.ffw_layer_1", "4 * hidden_size, hidden_size"),
        Row("ffw_layer_2", LAYER + ".ffw_layer_start.ffw_layer_2", "hidden_size, 4 * hidden_size"),
        Row("post_layer_norm", LAYER + ".ffw_layer_start.post_layer_norm", "hidden_size"),
        Row("pre_attn_norm", LAYER + ".attention.pre_attn_norm", "hidden_size"),
        Row(
            "per_dim_scale",
            LAYER + ".attention.attn.per_dim_scale",
            "hidden_size // conf_num_attention_heads",
            leaf="",
            group="attention",
        ),
        Row(
            "pos_proj",
            LAYER + ".attention.attn.relative_position_embedding.pos_proj",
            "conf_num_attention_heads * (hidden_size // conf_num_attention_heads), hidden_size",
            group="embedding",
        ),
        Row("post", LAYER + ".attention.post", "hidden_size, hidden_size", group="attention"),
        Row("post_norm", LAYER + ".attention.post_norm", "hidden_size"),
        Row("lconv1d_pre_layer_norm", LAYER + ".lconv1d.pre_layer_norm", "hidden_size"),
        Row("linear_start", LAYER + ".lconv1d.linear_start", "2 * hidden_size, hidden_size", group="convolution"),
        Row("depthwise_conv1d", LAYER + ".lconv1d.depthwise_conv1d", "hidden_size, 1, conf_conv_kernel_size"),
        Row("conv_norm", LAYER + ".lconv1d.conv_norm", "hidden_size"),
        Row("linear_end", LAYER + ".lconv1d.linear_end", "hidden_size, hidden_size", group="convolution"),
        Row("ffw_layer_end_pre_layer_norm", LAYER + ".ffw_layer_end.pre_layer_norm", "hidden_size"),
        Row("ffw_layer_end_ffw_layer_1", LAYER + ".ffw_layer_end.ffw_layer_1", "4 * hidden_size, hidden_size"),
        Row("ffw_layer_end_ffw_layer_2", LAYER + ".ffw_layer_end.ffw_layer_2", "hidden_size, 4 * hidden_size"),
        Row("ffw_layer_end_post_layer_norm", LAYER + ".ffw_layer_end.post_layer_norm", "hidden_size"),
        Row("norm", LAYER + ".norm", "hidden_size"),
        Row(
            "conv",
            "subsample_conv_projection.conv_0.conv",
            "sscp_conv_channel_size[0], 1, sscp_conv_kernel_size[0][0], sscp_conv_kernel_size[0][1]",
        ),
        Row("norm", "subsample_conv_projection.conv_0.norm", "sscp_conv_channel_size[0]"),
        Row(
            "conv_1_conv",
            "subsample_conv_projection.conv_1.conv",
            "sscp_conv_channel_size[1], sscp_conv_channel_size[0], sscp_conv_kernel_size[1][0], sscp_conv_kernel_size[1][1]",
        ),
        Row("conv_1_norm", "subsample_conv_projection.conv_1.norm", "sscp_conv_channel_size[1]"),
        Row(
            "input_proj_linear",
            "subsample_conv_projection.input_proj_linear",
            "hidden_size, (((input_feat_size + 2 - sscp_conv_kernel_size[0][1]) // sscp_conv_stride_size[0][1] + 3 - sscp_conv_kernel_size[1][1]) // sscp_conv_stride_size[1][1] + 1) * sscp_conv_channel_size[-1]",
            group="convolution",
        ),
    ),
    classes={"Gemma3nAudioEncoder": "Gemma3nAudioEncoder"},
    defaults={
        "conf_conv_kernel_size": 5,
        "conf_num_attention_heads": 8,
        "conf_num_hidden_layers": 12,
        "hidden_size": 1536,
        "input_feat_size": 128,
        "sscp_conv_channel_size": [128, 32],
        "sscp_conv_kernel_size": [(3, 3), (3, 3)],
        "sscp_conv_stride_size": [(2, 2), (2, 2)],
    },
    head="Gemma3nAudioEncoder",
)
