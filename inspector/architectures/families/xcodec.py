"""Model type xcodec: semantic_model_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

ACOUSTIC_ENCODER_BLOCK = "acoustic_encoder.block.{layer<len(acoustic_model_config.upsampling_ratios)}"
ACOUSTIC_DECODER_BLOCK = "acoustic_decoder.block.{layer<len(acoustic_model_config.upsampling_ratios)}"
ENCODER_SEMANTIC_CONV_BLOCKS = "encoder_semantic.conv_blocks.{layer<len(block_dilations)}"
DECODER_SEMANTIC_CONV_BLOCKS = "decoder_semantic.conv_blocks.{layer<len(block_dilations)}"
QUANTIZER_QUANTIZERS = "quantizer.quantizers.{layer<8}"

FAMILY = Family(
    name="xcodec",
    types={"xcodec": {}},
    rows=(
        Include(
            "semantic_model_config", "semantic_model.", tower="semantic_model", head="Model", default_type="hubert"
        ),
        Row("embed_patches", "acoustic_encoder.conv1", "acoustic_model_config.encoder_hidden_size, 1, 7", bias="True"),
        Row(
            "conv1_embed_patches",
            "acoustic_decoder.conv1",
            "acoustic_model_config.decoder_hidden_size, acoustic_model_config.hidden_size, 7",
            bias="True",
        ),
        Row(
            "decoder_semantic_conv1_embed_patches",
            "decoder_semantic.conv1",
            "768, semantic_model_config.hidden_size, kernel_size",
        ),
        Row(
            "embed_patches",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit1.conv1",
            "(2 ** layer) * acoustic_model_config.encoder_hidden_size, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 7",
            bias="True",
        ),
        Row(
            "alpha",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit1.snake1.alpha",
            "1, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "snake2_alpha",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit1.snake2.alpha",
            "1, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "conv2",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit1.conv2",
            "(2 ** layer) * acoustic_model_config.encoder_hidden_size, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 1",
            bias="True",
        ),
        Row(
            "snake1_alpha",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit2.snake1.alpha",
            "1, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "conv1_embed_patches",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit2.conv1",
            "(2 ** layer) * acoustic_model_config.encoder_hidden_size, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 7",
            bias="True",
        ),
        Row(
            "res_unit2_snake2_alpha",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit2.snake2.alpha",
            "1, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "res_unit2_conv2",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit2.conv2",
            "(2 ** layer) * acoustic_model_config.encoder_hidden_size, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 1",
            bias="True",
        ),
        Row(
            "res_unit3_snake1_alpha",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit3.snake1.alpha",
            "1, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "res_unit3_conv1_embed_patches",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit3.conv1",
            "(2 ** layer) * acoustic_model_config.encoder_hidden_size, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 7",
            bias="True",
        ),
        Row(
            "res_unit3_snake2_alpha",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit3.snake2.alpha",
            "1, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "res_unit3_conv2",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit3.conv2",
            "(2 ** layer) * acoustic_model_config.encoder_hidden_size, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 1",
            bias="True",
        ),
        Row(
            "acoustic_encoder_snake1_alpha",
            ACOUSTIC_ENCODER_BLOCK + ".snake1.alpha",
            "1, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "acoustic_encoder_conv1_embed_patches",
            ACOUSTIC_ENCODER_BLOCK + ".conv1",
            "(2 ** (layer + 1)) * acoustic_model_config.encoder_hidden_size, (2 ** layer) * acoustic_model_config.encoder_hidden_size, 2 * acoustic_model_config.downsampling_ratios[layer]",
            bias="True",
        ),
        Row(
            "acoustic_decoder_snake1_alpha",
            ACOUSTIC_DECODER_BLOCK + ".snake1.alpha",
            "1, acoustic_model_config.decoder_hidden_size // (2 ** layer), 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "conv_t1",
            ACOUSTIC_DECODER_BLOCK + ".conv_t1",
            "acoustic_model_config.decoder_hidden_size // (2 ** layer), acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), 2 * acoustic_model_config.upsampling_ratios[layer]",
        ),
        Row(
            "conv_t1",
            ACOUSTIC_DECODER_BLOCK + ".conv_t1",
            "acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1))",
            leaf="bias",
        ),
        Row(
            "res_unit1_snake1_alpha",
            ACOUSTIC_DECODER_BLOCK + ".res_unit1.snake1.alpha",
            "1, acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "res_unit1_conv1_embed_patches",
            ACOUSTIC_DECODER_BLOCK + ".res_unit1.conv1",
            "acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), 7",
            bias="True",
        ),
        Row(
            "res_unit1_snake2_alpha",
            ACOUSTIC_DECODER_BLOCK + ".res_unit1.snake2.alpha",
            "1, acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "res_unit1_conv2",
            ACOUSTIC_DECODER_BLOCK + ".res_unit1.conv2",
            "acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), 1",
            bias="True",
        ),
        Row(
            "res_unit2_snake1_alpha",
            ACOUSTIC_DECODER_BLOCK + ".res_unit2.snake1.alpha",
            "1, acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "res_unit2_conv1_embed_patches",
            ACOUSTIC_DECODER_BLOCK + ".res_unit2.conv1",
            "acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), 7",
            bias="True",
        ),
        Row(
            "acoustic_decoder_res_unit2_snake2_alpha",
            ACOUSTIC_DECODER_BLOCK + ".res_unit2.snake2.alpha",
            "1, acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "acoustic_decoder_res_unit2_conv2",
            ACOUSTIC_DECODER_BLOCK + ".res_unit2.conv2",
            "acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), 1",
            bias="True",
        ),
        Row(
            "acoustic_decoder_res_unit3_snake1_alpha",
            ACOUSTIC_DECODER_BLOCK + ".res_unit3.snake1.alpha",
            "1, acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "acoustic_decoder_res_unit3_conv1_embed_patches",
            ACOUSTIC_DECODER_BLOCK + ".res_unit3.conv1",
            "acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), 7",
            bias="True",
        ),
        Row(
            "acoustic_decoder_res_unit3_snake2_alpha",
            ACOUSTIC_DECODER_BLOCK + ".res_unit3.snake2.alpha",
            "1, acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "acoustic_decoder_res_unit3_conv2",
            ACOUSTIC_DECODER_BLOCK + ".res_unit3.conv2",
            "acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), acoustic_model_config.decoder_hidden_size // (2 ** (layer + 1)), 1",
            bias="True",
        ),
        Row(
            "embed_patches",
            ENCODER_SEMANTIC_CONV_BLOCKS + ".res_units.{res_unit<len(block_dilations)}.conv1",
            "semantic_model_config.hidden_size, semantic_model_config.hidden_size, unit_kernel_size",
        ),
        Row(
            "conv2",
            ENCODER_SEMANTIC_CONV_BLOCKS + ".res_units.{res_unit<len(block_dilations)}.conv2",
            "semantic_model_config.hidden_size, semantic_model_config.hidden_size, 1",
        ),
        Row("conv", ENCODER_SEMANTIC_CONV_BLOCKS + ".conv", "768, semantic_model_config.hidden_size, 3", bias="True"),
        Row("conv_blocks_conv", DECODER_SEMANTIC_CONV_BLOCKS + ".conv", "768, 768, 3", bias="True"),
        Row(
            "conv1_embed_patches",
            DECODER_SEMANTIC_CONV_BLOCKS + ".res_units.{res_unit<len(block_dilations)}.conv1",
            "768, 768, unit_kernel_size",
        ),
        Row(
            "res_units_conv2",
            DECODER_SEMANTIC_CONV_BLOCKS + ".res_units.{res_unit<len(block_dilations)}.conv2",
            "768, 768, 1",
        ),
        Row(
            "alpha",
            "acoustic_encoder.snake1.alpha",
            "1, 16 * acoustic_model_config.encoder_hidden_size, 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "conv2",
            "acoustic_encoder.conv2",
            "acoustic_model_config.hidden_size, 16 * acoustic_model_config.encoder_hidden_size, 3",
            bias="True",
        ),
        Row(
            "snake1_alpha",
            "acoustic_decoder.snake1.alpha",
            "1, acoustic_model_config.decoder_hidden_size // 16, 1",
            leaf="",
            group="convolution",
        ),
        Row(
            "acoustic_decoder_conv2",
            "acoustic_decoder.conv2",
            "1, acoustic_model_config.decoder_hidden_size // 16, 7",
            bias="True",
        ),
        Row(
            "conv",
            "encoder_semantic.conv",
            "semantic_model_config.hidden_size, semantic_model_config.hidden_size, kernel_size",
        ),
        Row(
            "decoder_semantic_conv2",
            "decoder_semantic.conv2",
            "semantic_model_config.hidden_size, semantic_model_config.hidden_size, kernel_size",
        ),
        Row(
            "fc",
            "fc",
            "acoustic_model_config.hidden_size + semantic_model_config.hidden_size, acoustic_model_config.hidden_size + semantic_model_config.hidden_size",
            bias="True",
        ),
        Row(
            "up_proj",
            "fc1",
            "semantic_model_config.hidden_size, acoustic_model_config.hidden_size + semantic_model_config.hidden_size",
            bias="True",
        ),
        Row(
            "down_proj",
            "fc2",
            "acoustic_model_config.hidden_size, acoustic_model_config.hidden_size + semantic_model_config.hidden_size",
            bias="True",
        ),
        Row("inited", QUANTIZER_QUANTIZERS + ".codebook.inited", "1", leaf="", buffer=True, persistent=True),
        Row(
            "cluster_size",
            QUANTIZER_QUANTIZERS + ".codebook.cluster_size",
            "codebook_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "embed",
            QUANTIZER_QUANTIZERS + ".codebook.embed",
            "codebook_size, codebook_dim",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "embed_avg",
            QUANTIZER_QUANTIZERS + ".codebook.embed_avg",
            "codebook_size, codebook_dim",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    defaults={
        "acoustic_model_config": {
            "decoder_hidden_size": 1024,
            "downsampling_ratios": [8, 5, 4, 2],
            "encoder_hidden_size": 64,
            "hidden_size": 256,
            "upsampling_ratios": [8, 5, 4, 2],
        },
        "block_dilations": [1, 1],
        "codebook_size": 1024,
        "kernel_size": 3,
        "semantic_model_config": {"hidden_size": 768},
        "unit_kernel_size": 3,
    },
    derived={"codebook_dim": "acoustic_model_config.hidden_size + semantic_model_config.hidden_size"},
    head="Model",
)
