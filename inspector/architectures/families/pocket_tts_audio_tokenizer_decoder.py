"""Model type pocket_tts_audio_tokenizer_decoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "decoder_transformer.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="pocket_tts_audio_tokenizer_decoder",
    types={"pocket_tts_audio_tokenizer_decoder": {}},
    rows=(
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim"),
        Row("scale", LAYER + ".self_attn_layer_scale.scale", "hidden_size", leaf="", group="attention"),
        Row("mlp_layer_scale_scale", LAYER + ".mlp_layer_scale.scale", "hidden_size", leaf=""),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size"),
        Row("conv", "upsample.conv", "hidden_size, hidden_size // upsample_groups, 2 * latent_stride"),
        Row(
            "conv",
            "decoder_seanet.layers.0.conv",
            "num_filters * 2 ** len(upsampling_ratios), hidden_size, kernel_size",
        ),
        Row(
            "conv",
            "decoder_seanet.layers.2.conv",
            "num_filters * 2 ** len(upsampling_ratios), num_filters * 2 ** len(upsampling_ratios) // 2, 2 * upsampling_ratios[0]",
        ),
        Row(
            "conv",
            "decoder_seanet.layers.5.conv",
            "num_filters * (2 ** len(upsampling_ratios) // 2), num_filters * (2 ** len(upsampling_ratios) // 2) // 2, 2 * upsampling_ratios[1]",
        ),
        Row(
            "conv",
            "decoder_seanet.layers.8.conv",
            "num_filters * (2 ** len(upsampling_ratios) // 2 // 2), num_filters * (2 ** len(upsampling_ratios) // 2 // 2) // 2, 2 * upsampling_ratios[2]",
        ),
        Row("conv", "decoder_seanet.layers.11.conv", "audio_channels, num_filters, last_kernel_size"),
        Row("conv", "decoder_seanet.layers.0.conv", "num_filters * 2 ** len(upsampling_ratios)", leaf="bias"),
        Row("conv", "decoder_seanet.layers.2.conv", "num_filters * 2 ** len(upsampling_ratios) // 2", leaf="bias"),
        Row(
            "conv", "decoder_seanet.layers.5.conv", "num_filters * (2 ** len(upsampling_ratios) // 2) // 2", leaf="bias"
        ),
        Row(
            "conv",
            "decoder_seanet.layers.8.conv",
            "num_filters * (2 ** len(upsampling_ratios) // 2 // 2) // 2",
            leaf="bias",
        ),
        Row("conv", "decoder_seanet.layers.11.conv", "audio_channels", leaf="bias"),
        Row(
            "conv",
            "decoder_seanet.layers.3.block.1.conv",
            "num_filters * 2 ** len(upsampling_ratios) // 2 // compress, num_filters * 2 ** len(upsampling_ratios) // 2, residual_kernel_size",
            bias="True",
        ),
        Row(
            "conv",
            "decoder_seanet.layers.3.block.3.conv",
            "num_filters * 2 ** len(upsampling_ratios) // 2, num_filters * 2 ** len(upsampling_ratios) // 2 // compress, 1",
            bias="True",
        ),
        Row(
            "conv",
            "decoder_seanet.layers.6.block.1.conv",
            "num_filters * (2 ** len(upsampling_ratios) // 2) // 2 // compress, num_filters * (2 ** len(upsampling_ratios) // 2) // 2, residual_kernel_size",
            bias="True",
        ),
        Row(
            "conv",
            "decoder_seanet.layers.6.block.3.conv",
            "num_filters * (2 ** len(upsampling_ratios) // 2) // 2, num_filters * (2 ** len(upsampling_ratios) // 2) // 2 // compress, 1",
            bias="True",
        ),
        Row(
            "conv",
            "decoder_seanet.layers.9.block.1.conv",
            "num_filters * (2 ** len(upsampling_ratios) // 2 // 2) // 2 // compress, num_filters * (2 ** len(upsampling_ratios) // 2 // 2) // 2, residual_kernel_size",
            bias="True",
        ),
        Row(
            "conv",
            "decoder_seanet.layers.9.block.3.conv",
            "num_filters * (2 ** len(upsampling_ratios) // 2 // 2) // 2, num_filters * (2 ** len(upsampling_ratios) // 2 // 2) // 2 // compress, 1",
            bias="True",
        ),
    ),
    defaults={
        "audio_channels": 1,
        "compress": 2,
        "hidden_size": 512,
        "intermediate_size": 2048,
        "kernel_size": 7,
        "last_kernel_size": 3,
        "latent_stride": 16,
        "num_attention_heads": 8,
        "num_filters": 64,
        "num_hidden_layers": 2,
        "num_key_value_heads": 8,
        "residual_kernel_size": 3,
        "upsample_groups": 512,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "upsampling_ratios": "[4 if layer >= num_hidden_layers else 5 if (layer + 1) % num_hidden_layers == 0 else 6 for layer in range(3)]",
    },
    head="Model",
)
