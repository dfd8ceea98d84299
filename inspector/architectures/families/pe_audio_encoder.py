"""Model type pe_audio_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

DAC_ENCODER_BLOCK = "embedder.dac_encoder.block.{layer<4}"
LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="pe_audio_encoder",
    types={"pe_audio_encoder": {}},
    rows=(
        Row("embed_patches", "embedder.dac_encoder.conv1", "dac_config.encoder_hidden_size, 1, 7", bias="True"),
        Row("alpha", "embedder.dac_encoder.snake1.alpha", "1, dac_config.hidden_size, 1", leaf="", group="embedding"),
        Row(
            "conv2",
            "embedder.dac_encoder.conv2",
            "dac_config.hidden_size, dac_config.hidden_size, 3",
            bias="True",
            group="embedding",
        ),
        Row(
            "bottleneck",
            "embedder.bottleneck",
            "dac_config.codebook_dim, dac_config.hidden_size, 1",
            bias="True",
            group="embedding",
        ),
        Row("data_proj", "embedder.data_proj", "hidden_size, dac_config.codebook_dim", bias="True", group="embedding"),
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
        Row(
            "embed_patches",
            DAC_ENCODER_BLOCK + ".res_unit1.conv1",
            "dac_config.encoder_hidden_size * 2 ** layer, dac_config.encoder_hidden_size * 2 ** layer, 7",
            bias="True",
        ),
        Row(
            "alpha",
            DAC_ENCODER_BLOCK + ".res_unit1.snake1.alpha",
            "1, dac_config.encoder_hidden_size * 2 ** layer, 1",
            leaf="",
            group="embedding",
        ),
        Row(
            "snake2_alpha",
            DAC_ENCODER_BLOCK + ".res_unit1.snake2.alpha",
            "1, dac_config.encoder_hidden_size * 2 ** layer, 1",
            leaf="",
            group="embedding",
        ),
        Row(
            "conv2",
            DAC_ENCODER_BLOCK + ".res_unit1.conv2",
            "dac_config.encoder_hidden_size * 2 ** layer, dac_config.encoder_hidden_size * 2 ** layer, 1",
            bias="True",
            group="embedding",
        ),
        Row(
            "snake1_alpha",
            DAC_ENCODER_BLOCK + ".res_unit2.snake1.alpha",
            "1, dac_config.encoder_hidden_size * 2 ** layer, 1",
            leaf="",
            group="embedding",
        ),
        Row(
            "conv1_embed_patches",
            DAC_ENCODER_BLOCK + ".res_unit2.conv1",
            "dac_config.encoder_hidden_size * 2 ** layer, dac_config.encoder_hidden_size * 2 ** layer, 7",
            bias="True",
        ),
        Row(
            "res_unit2_snake2_alpha",
            DAC_ENCODER_BLOCK + ".res_unit2.snake2.alpha",
            "1, dac_config.encoder_hidden_size * 2 ** layer, 1",
            leaf="",
            group="embedding",
        ),
        Row(
            "res_unit2_conv2",
            DAC_ENCODER_BLOCK + ".res_unit2.conv2",
            "dac_config.encoder_hidden_size * 2 ** layer, dac_config.encoder_hidden_size * 2 ** layer, 1",
            bias="True",
            group="embedding",
        ),
        Row(
            "res_unit3_snake1_alpha",
            DAC_ENCODER_BLOCK + ".res_unit3.snake1.alpha",
            "1, dac_config.encoder_hidden_size * 2 ** layer, 1",
            leaf="",
            group="embedding",
        ),
        Row(
            "res_unit3_conv1_embed_patches",
            DAC_ENCODER_BLOCK + ".res_unit3.conv1",
            "dac_config.encoder_hidden_size * 2 ** layer, dac_config.encoder_hidden_size * 2 ** layer, 7",
            bias="True",
        ),
        Row(
            "res_unit3_snake2_alpha",
            DAC_ENCODER_BLOCK + ".res_unit3.snake2.alpha",
            "1, dac_config.encoder_hidden_size * 2 ** layer, 1",
            leaf="",
            group="embedding",
        ),
        Row(
            "res_unit3_conv2",
            DAC_ENCODER_BLOCK + ".res_unit3.conv2",
            "dac_config.encoder_hidden_size * 2 ** layer, dac_config.encoder_hidden_size * 2 ** layer, 1",
            bias="True",
            group="embedding",
        ),
        Row(
            "dac_encoder_snake1_alpha",
            DAC_ENCODER_BLOCK + ".snake1.alpha",
            "1, dac_config.encoder_hidden_size * 2 ** layer, 1",
            leaf="",
            group="embedding",
        ),
        Row(
            "dac_encoder_conv1_embed_patches",
            DAC_ENCODER_BLOCK + ".conv1",
            "dac_config.encoder_hidden_size * 2 ** (layer + 1), dac_config.encoder_hidden_size * 2 ** layer, 2 * dac_config.downsampling_ratios[layer]",
            bias="True",
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
    classes={"PeAudioEncoder": "PeAudioEncoder"},
    defaults={
        "attention_bias": False,
        "dac_config": {
            "codebook_dim": 128,
            "downsampling_ratios": [2, 8, 10, 12],
            "encoder_hidden_size": 64,
            "hidden_size": 1024,
        },
        "head_dim": 128,
        "hidden_size": 1792,
        "intermediate_size": 4800,
        "num_attention_heads": 14,
        "num_hidden_layers": 6,
    },
    derived={"num_key_value_heads": "num_attention_heads"},
    head="PeAudioEncoder",
)
