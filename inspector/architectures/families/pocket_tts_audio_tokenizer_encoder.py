"""Model type pocket_tts_audio_tokenizer_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder_transformer.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="pocket_tts_audio_tokenizer_encoder",
    types={"pocket_tts_audio_tokenizer_encoder": {}},
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
        Row("conv", "encoder_seanet.layers.0.conv", "num_filters, audio_channels, kernel_size", bias="True"),
        Row(
            "conv",
            "encoder_seanet.layers.3.conv",
            "2 * num_filters, num_filters, 2 * upsampling_ratios[2]",
            bias="True",
        ),
        Row(
            "conv",
            "encoder_seanet.layers.6.conv",
            "4 * num_filters, 2 * num_filters, 2 * upsampling_ratios[1]",
            bias="True",
        ),
        Row(
            "conv",
            "encoder_seanet.layers.9.conv",
            "8 * num_filters, 4 * num_filters, 2 * upsampling_ratios[0]",
            bias="True",
        ),
        Row("conv", "encoder_seanet.layers.11.conv", "hidden_size, 8 * num_filters, last_kernel_size", bias="True"),
        Row(
            "conv",
            "encoder_seanet.layers.1.block.1.conv",
            "num_filters // compress, num_filters, residual_kernel_size",
            bias="True",
        ),
        Row("conv", "encoder_seanet.layers.1.block.3.conv", "num_filters, num_filters // compress, 1", bias="True"),
        Row(
            "conv",
            "encoder_seanet.layers.4.block.1.conv",
            "2 * num_filters // compress, 2 * num_filters, residual_kernel_size",
            bias="True",
        ),
        Row(
            "conv",
            "encoder_seanet.layers.4.block.3.conv",
            "2 * num_filters, 2 * num_filters // compress, 1",
            bias="True",
        ),
        Row(
            "conv",
            "encoder_seanet.layers.7.block.1.conv",
            "4 * num_filters // compress, 4 * num_filters, residual_kernel_size",
            bias="True",
        ),
        Row(
            "conv",
            "encoder_seanet.layers.7.block.3.conv",
            "4 * num_filters, 4 * num_filters // compress, 1",
            bias="True",
        ),
        Row("conv", "downsample.conv", "latent_dim, hidden_size, 2 * latent_stride"),
    ),
    defaults={
        "audio_channels": 1,
        "compress": 2,
        "head_dim": 64,
        "hidden_size": 512,
        "intermediate_size": 2048,
        "kernel_size": 7,
        "last_kernel_size": 3,
        "latent_dim": 32,
        "latent_stride": 16,
        "num_attention_heads": 8,
        "num_filters": 64,
        "num_hidden_layers": 2,
        "num_key_value_heads": 8,
        "residual_kernel_size": 3,
    },
    derived={
        "upsampling_ratios": "[4 if layer >= num_hidden_layers else 5 if (layer + 1) % num_hidden_layers == 0 else 6 for layer in range(3)]"
    },
    head="Model",
)
