"""Model type xcodec2: semantic_model_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

ACOUSTIC_ENCODER_BLOCK = "acoustic_encoder.block.{layer}"
ACOUSTIC_DECODER_PRIOR_NET = "acoustic_decoder.prior_net.{layer}"
ACOUSTIC_DECODER = "acoustic_decoder.layers.{layer}"
ACOUSTIC_DECODER_POST_NET = "acoustic_decoder.post_net.{layer}"

FAMILY = Family(
    name="xcodec2",
    types={"xcodec2": {}},
    rows=(
        Include(
            "semantic_model_config",
            "semantic_encoder.",
            tower="semantic_model",
            head="Model",
            default_type="wav2vec2-bert",
            without="distance_embedding self_attn_distance_embedding",
        ),
        Row("embed_patches", "semantic_adapter.conv1", ""),
        Row("conv1_embed_patches", "acoustic_encoder.conv1", ""),
        Row("embed", "acoustic_decoder.embed", ""),
        Row("distance_embedding", "semantic_encoder.encoder.layers.{layer}.self_attn.distance_embedding", ""),
        Row("embed_patches", ACOUSTIC_ENCODER_BLOCK + ".res_unit1.conv1", ""),
        Row("alpha", ACOUSTIC_ENCODER_BLOCK + ".res_unit1.snake1.act.alpha", "", leaf=""),
        Row("beta", ACOUSTIC_ENCODER_BLOCK + ".res_unit1.snake1.act.beta", "", leaf=""),
        Row("act_alpha", ACOUSTIC_ENCODER_BLOCK + ".res_unit1.snake2.act.alpha", "", leaf=""),
        Row("act_beta", ACOUSTIC_ENCODER_BLOCK + ".res_unit1.snake2.act.beta", "", leaf=""),
        Row("conv2", ACOUSTIC_ENCODER_BLOCK + ".res_unit1.conv2", ""),
        Row("snake1_act_alpha", ACOUSTIC_ENCODER_BLOCK + ".res_unit2.snake1.act.alpha", "", leaf=""),
        Row("snake1_act_beta", ACOUSTIC_ENCODER_BLOCK + ".res_unit2.snake1.act.beta", "", leaf=""),
        Row("conv1_embed_patches", ACOUSTIC_ENCODER_BLOCK + ".res_unit2.conv1", ""),
        Row("snake2_act_alpha", ACOUSTIC_ENCODER_BLOCK + ".res_unit2.snake2.act.alpha", "", leaf=""),
        Row("snake2_act_beta", ACOUSTIC_ENCODER_BLOCK + ".res_unit2.snake2.act.beta", "", leaf=""),
        Row("res_unit2_conv2", ACOUSTIC_ENCODER_BLOCK + ".res_unit2.conv2", ""),
        Row("res_unit3_snake1_act_alpha", ACOUSTIC_ENCODER_BLOCK + ".res_unit3.snake1.act.alpha", "", leaf=""),
        Row("res_unit3_snake1_act_beta", ACOUSTIC_ENCODER_BLOCK + ".res_unit3.snake1.act.beta", "", leaf=""),
        Row("res_unit3_conv1_embed_patches", ACOUSTIC_ENCODER_BLOCK + ".res_unit3.conv1", ""),
        Row("res_unit3_snake2_act_alpha", ACOUSTIC_ENCODER_BLOCK + ".res_unit3.snake2.act.alpha", "", leaf=""),
        Row("res_unit3_snake2_act_beta", ACOUSTIC_ENCODER_BLOCK + ".res_unit3.snake2.act.beta", "", leaf=""),
        Row("res_unit3_conv2", ACOUSTIC_ENCODER_BLOCK + ".res_unit3.conv2", ""),
        Row("acoustic_encoder_snake1_act_alpha", ACOUSTIC_ENCODER_BLOCK + ".snake1.act.alpha", "", leaf=""),
        Row("acoustic_encoder_snake1_act_beta", ACOUSTIC_ENCODER_BLOCK + ".snake1.act.beta", "", leaf=""),
        Row("acoustic_encoder_conv1_embed_patches", ACOUSTIC_ENCODER_BLOCK + ".conv1", ""),
        Row("input_layernorm", ACOUSTIC_DECODER_PRIOR_NET + ".norm1", ""),
        Row("prior_net_conv1_embed_patches", ACOUSTIC_DECODER_PRIOR_NET + ".conv1", ""),
        Row("prior_net_conv2", ACOUSTIC_DECODER_PRIOR_NET + ".conv2", ""),
        Row("post_attention_layernorm", ACOUSTIC_DECODER_PRIOR_NET + ".norm2", ""),
        Row("q_proj", ACOUSTIC_DECODER + ".self_attn.q_proj", ""),
        Row("k_proj", ACOUSTIC_DECODER + ".self_attn.k_proj", ""),
        Row("v_proj", ACOUSTIC_DECODER + ".self_attn.v_proj", ""),
        Row("o_proj", ACOUSTIC_DECODER + ".self_attn.o_proj", ""),
        Row("acoustic_decoder_input_layernorm", ACOUSTIC_DECODER + ".input_layernorm", ""),
        Row("acoustic_decoder_post_attention_layernorm", ACOUSTIC_DECODER + ".post_attention_layernorm", ""),
        Row("up_proj", ACOUSTIC_DECODER + ".mlp.fc1", ""),
        Row("down_proj", ACOUSTIC_DECODER + ".mlp.fc2", ""),
        Row("norm1_input_layernorm", ACOUSTIC_DECODER_POST_NET + ".norm1", ""),
        Row("post_net_conv1_embed_patches", ACOUSTIC_DECODER_POST_NET + ".conv1", ""),
        Row("norm2_post_attention_layernorm", ACOUSTIC_DECODER_POST_NET + ".norm2", ""),
        Row("post_net_conv2", ACOUSTIC_DECODER_POST_NET + ".conv2", ""),
        Row("conv2", "semantic_adapter.conv2", ""),
        Row("conv3", "semantic_adapter.conv3", ""),
        Row("conv4", "semantic_adapter.conv4", ""),
        Row("alpha", "acoustic_encoder.snake1.act.alpha", "", leaf=""),
        Row("beta", "acoustic_encoder.snake1.act.beta", "", leaf=""),
        Row("acoustic_encoder_conv2", "acoustic_encoder.conv2", ""),
        Row("fc_encoder", "fc_encoder", ""),
        Row("project_in", "quantizer.project_in", ""),
        Row("project_out", "quantizer.project_out", ""),
        Row("fc", "acoustic_decoder.fc", ""),
        Row("norm", "acoustic_decoder.norm", ""),
        Row("linear", "acoustic_decoder.head.linear", "", group="head"),
    ),
    names_only=True,
    head="Model",
)
