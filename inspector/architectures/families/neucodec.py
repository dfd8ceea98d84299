"""Model type neucodec: semantic_model_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

ACOUSTIC_ENCODER_BLOCK = "acoustic_encoder.block.{layer<len(downsampling_ratios)}"
ACOUSTIC_DECODER = "acoustic_decoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="neucodec",
    types={"neucodec": {}},
    rows=(
        Include(
            "semantic_model_config",
            "semantic_encoder.",
            tower="semantic_model",
            head="Model",
            default_type="wav2vec2-bert",
        ),
        Row(
            "embed_patches",
            "semantic_adapter.conv1",
            "semantic_model_config.hidden_size, semantic_model_config.hidden_size, 3",
        ),
        Row("conv1_embed_patches", "acoustic_encoder.conv1", "encoder_hidden_size, 1, 7", bias="True"),
        Row("embed", "acoustic_decoder.embed", "hidden_size, hidden_size, 7", bias="True"),
        Row("embed_patches", "acoustic_decoder.prior_net.0.conv1", "hidden_size, hidden_size, 3", bias="True"),
        Row("embed_patches", "acoustic_decoder.prior_net.1.conv1", "hidden_size, hidden_size, 3", bias="True"),
        Row("conv1_embed_patches", "acoustic_decoder.post_net.0.conv1", "hidden_size, hidden_size, 3", bias="True"),
        Row("conv1_embed_patches", "acoustic_decoder.post_net.1.conv1", "hidden_size, hidden_size, 3", bias="True"),
        Row(
            "embed_patches",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit1.conv1",
            "2 ** (layer + 1) * encoder_hidden_size // 2, 2 ** (layer + 1) * encoder_hidden_size // 2, 7",
            bias="True",
        ),
        Row(
            "alpha",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit1.snake1.act.alpha",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "beta",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit1.snake1.act.beta",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "act_alpha",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit1.snake2.act.alpha",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "act_beta",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit1.snake2.act.beta",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "conv2",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit1.conv2",
            "2 ** (layer + 1) * encoder_hidden_size // 2, 2 ** (layer + 1) * encoder_hidden_size // 2, 1",
            bias="True",
        ),
        Row(
            "snake1_act_alpha",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit2.snake1.act.alpha",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "snake1_act_beta",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit2.snake1.act.beta",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "conv1_embed_patches",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit2.conv1",
            "2 ** (layer + 1) * encoder_hidden_size // 2, 2 ** (layer + 1) * encoder_hidden_size // 2, 7",
            bias="True",
        ),
        Row(
            "snake2_act_alpha",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit2.snake2.act.alpha",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "snake2_act_beta",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit2.snake2.act.beta",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "res_unit2_conv2",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit2.conv2",
            "2 ** (layer + 1) * encoder_hidden_size // 2, 2 ** (layer + 1) * encoder_hidden_size // 2, 1",
            bias="True",
        ),
        Row(
            "res_unit3_snake1_act_alpha",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit3.snake1.act.alpha",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "res_unit3_snake1_act_beta",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit3.snake1.act.beta",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "res_unit3_conv1_embed_patches",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit3.conv1",
            "2 ** (layer + 1) * encoder_hidden_size // 2, 2 ** (layer + 1) * encoder_hidden_size // 2, 7",
            bias="True",
        ),
        Row(
            "res_unit3_snake2_act_alpha",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit3.snake2.act.alpha",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "res_unit3_snake2_act_beta",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit3.snake2.act.beta",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "res_unit3_conv2",
            ACOUSTIC_ENCODER_BLOCK + ".res_unit3.conv2",
            "2 ** (layer + 1) * encoder_hidden_size // 2, 2 ** (layer + 1) * encoder_hidden_size // 2, 1",
            bias="True",
        ),
        Row(
            "acoustic_encoder_snake1_act_alpha",
            ACOUSTIC_ENCODER_BLOCK + ".snake1.act.alpha",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "acoustic_encoder_snake1_act_beta",
            ACOUSTIC_ENCODER_BLOCK + ".snake1.act.beta",
            "2 ** (layer + 1) * encoder_hidden_size // 2",
            leaf="",
        ),
        Row(
            "acoustic_encoder_conv1_embed_patches",
            ACOUSTIC_ENCODER_BLOCK + ".conv1",
            "2 ** (layer + 1) * encoder_hidden_size, 2 ** (layer + 1) * encoder_hidden_size // 2, 2 * downsampling_ratios[layer]",
            bias="True",
        ),
        Row("input_layernorm", ACOUSTIC_DECODER + ".input_layernorm", "hidden_size"),
        Row("q_proj", ACOUSTIC_DECODER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size"),
        Row("k_proj", ACOUSTIC_DECODER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("v_proj", ACOUSTIC_DECODER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("o_proj", ACOUSTIC_DECODER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim"),
        Row("post_attention_layernorm", ACOUSTIC_DECODER + ".post_attention_layernorm", "hidden_size"),
        Row("up_proj", ACOUSTIC_DECODER + ".mlp.fc1", "intermediate_size, hidden_size"),
        Row("down_proj", ACOUSTIC_DECODER + ".mlp.fc2", "hidden_size, intermediate_size"),
        Row(
            "conv2",
            "semantic_adapter.conv2",
            "semantic_model_config.hidden_size, semantic_model_config.hidden_size, 3",
            bias="True",
        ),
        Row(
            "conv3",
            "semantic_adapter.conv3",
            "semantic_model_config.hidden_size, semantic_model_config.hidden_size, 3",
            bias="True",
        ),
        Row(
            "conv4", "semantic_adapter.conv4", "semantic_model_config.hidden_size, semantic_model_config.hidden_size, 3"
        ),
        Row(
            "alpha", "acoustic_encoder.snake1.act.alpha", "2 ** len(downsampling_ratios) * encoder_hidden_size", leaf=""
        ),
        Row("beta", "acoustic_encoder.snake1.act.beta", "2 ** len(downsampling_ratios) * encoder_hidden_size", leaf=""),
        Row(
            "acoustic_encoder_conv2",
            "acoustic_encoder.conv2",
            "hidden_size, 2 ** len(downsampling_ratios) * encoder_hidden_size, 3",
            bias="True",
        ),
        Row(
            "fc_encoder",
            "fc_encoder",
            "hidden_size + semantic_model_config.hidden_size, hidden_size + semantic_model_config.hidden_size",
            bias="True",
        ),
        Row("project_in", "quantizer.project_in", "len(quantization_levels), quantization_dim", bias="True"),
        Row("project_out", "quantizer.project_out", "quantization_dim, len(quantization_levels)", bias="True"),
        Row("fc", "acoustic_decoder.fc", "hidden_size, hidden_size + semantic_model_config.hidden_size", bias="True"),
        Row("input_layernorm", "acoustic_decoder.prior_net.0.norm1", "hidden_size", bias="True"),
        Row("input_layernorm", "acoustic_decoder.prior_net.1.norm1", "hidden_size", bias="True"),
        Row("post_attention_layernorm", "acoustic_decoder.prior_net.0.norm2", "hidden_size", bias="True"),
        Row("post_attention_layernorm", "acoustic_decoder.prior_net.1.norm2", "hidden_size", bias="True"),
        Row("conv2", "acoustic_decoder.prior_net.0.conv2", "hidden_size, hidden_size, 3", bias="True"),
        Row("conv2", "acoustic_decoder.prior_net.1.conv2", "hidden_size, hidden_size, 3", bias="True"),
        Row("norm1_input_layernorm", "acoustic_decoder.post_net.0.norm1", "hidden_size", bias="True"),
        Row("norm1_input_layernorm", "acoustic_decoder.post_net.1.norm1", "hidden_size", bias="True"),
        Row("norm2_post_attention_layernorm", "acoustic_decoder.post_net.0.norm2", "hidden_size", bias="True"),
        Row("norm2_post_attention_layernorm", "acoustic_decoder.post_net.1.norm2", "hidden_size", bias="True"),
        Row("post_net_conv2", "acoustic_decoder.post_net.0.conv2", "hidden_size, hidden_size, 3", bias="True"),
        Row("post_net_conv2", "acoustic_decoder.post_net.1.conv2", "hidden_size, hidden_size, 3", bias="True"),
        Row("norm", "acoustic_decoder.norm", "hidden_size", bias="True"),
        Row(
            "linear",
            "acoustic_decoder.head.linear",
            "4 * (320 * output_sampling_rate // input_sampling_rate) + 2, hidden_size",
            bias="True",
            group="head",
        ),
    ),
    defaults={
        "downsampling_ratios": [2, 2, 4, 4, 5],
        "encoder_hidden_size": 48,
        "head_dim": 64,
        "hidden_size": 1024,
        "input_sampling_rate": 16000,
        "intermediate_size": 4096,
        "num_attention_heads": 16,
        "num_hidden_layers": 12,
        "num_key_value_heads": 16,
        "output_sampling_rate": 24000,
        "quantization_dim": 2048,
        "quantization_levels": [4, 4, 4, 4, 4, 4, 4, 4],
        "semantic_model_config": {"hidden_size": 1024},
    },
    head="Model",
)
