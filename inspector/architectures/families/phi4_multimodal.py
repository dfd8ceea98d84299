"""Model type phi4_multimodal.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer}"
IMG_PROCESSOR_ENCODER = "model.embed_tokens_extend.image_embed.img_processor.encoder.layers.{layer}"
ENCODER_ENCODERS = "model.embed_tokens_extend.audio_embed.encoder.encoders.{layer}"

FAMILY = Family(
    name="phi4_multimodal",
    types={"phi4_multimodal": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", ""),
        Row(
            "global_img_feature_extensor",
            "model.embed_tokens_extend.image_embed.global_img_feature_extensor",
            "",
            leaf="",
            group="embedding",
        ),
        Row(
            "sub_img_feature_extensor",
            "model.embed_tokens_extend.image_embed.sub_img_feature_extensor",
            "",
            leaf="",
            group="embedding",
        ),
        Row("embed_patches", "model.embed_tokens_extend.image_embed.img_processor.embeddings.patch_embedding", ""),
        Row(
            "position_embedding",
            "model.embed_tokens_extend.image_embed.img_processor.embeddings.position_embedding",
            "",
        ),
        Row("post_layernorm", "model.embed_tokens_extend.image_embed.img_processor.post_layernorm", ""),
        Row("probe", "model.embed_tokens_extend.image_embed.img_processor.head.probe", "", leaf="", group="embedding"),
        Row(
            "qkv_proj", "model.embed_tokens_extend.image_embed.img_processor.head.attention.in_proj_weight", "", leaf=""
        ),
        Row("o_proj", "model.embed_tokens_extend.image_embed.img_processor.head.attention.out_proj", ""),
        Row("layernorm", "model.embed_tokens_extend.image_embed.img_processor.head.layernorm", ""),
        Row("up_proj", "model.embed_tokens_extend.image_embed.img_processor.head.mlp.fc1", ""),
        Row("down_proj", "model.embed_tokens_extend.image_embed.img_processor.head.mlp.fc2", ""),
        Row("img_projection_up", "model.embed_tokens_extend.image_embed.img_projection_up", "", group="embedding"),
        Row("img_projection_down", "model.embed_tokens_extend.image_embed.img_projection_down", "", group="embedding"),
        Row("out", "model.embed_tokens_extend.audio_embed.encoder.embed.out", "", group="embedding"),
        Row(
            "bias_values",
            "model.embed_tokens_extend.audio_embed.encoder.relative_attention_bias_layer.bias_values",
            "",
            group="embedding",
        ),
        Row("up_proj_for_speech", "model.embed_tokens_extend.audio_embed.up_proj_for_speech", "", group="embedding"),
        Row(
            "down_proj_for_speech", "model.embed_tokens_extend.audio_embed.down_proj_for_speech", "", group="embedding"
        ),
        Row(
            "up_proj_for_vision_speech",
            "model.embed_tokens_extend.audio_embed.up_proj_for_vision_speech",
            "",
            group="embedding",
        ),
        Row(
            "down_proj_for_vision_speech",
            "model.embed_tokens_extend.audio_embed.down_proj_for_vision_speech",
            "",
            group="embedding",
        ),
        Row("input_layernorm", LAYER + ".input_layernorm", ""),
        Row("qkv_proj", LAYER + ".self_attn.qkv_proj", ""),
        Row("o_proj", LAYER + ".self_attn.o_proj", ""),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", ""),
        Row("gate_up_proj", LAYER + ".mlp.gate_up_proj", ""),
        Row("down_proj", LAYER + ".mlp.down_proj", ""),
        Row("q_proj", IMG_PROCESSOR_ENCODER + ".self_attn.q_proj", ""),
        Row("k_proj", IMG_PROCESSOR_ENCODER + ".self_attn.k_proj", ""),
        Row("v_proj", IMG_PROCESSOR_ENCODER + ".self_attn.v_proj", ""),
        Row("layer_norm1_input_layernorm", IMG_PROCESSOR_ENCODER + ".layer_norm1", ""),
        Row("out_proj_o_proj", IMG_PROCESSOR_ENCODER + ".self_attn.out_proj", ""),
        Row("layer_norm2_post_attention_layernorm", IMG_PROCESSOR_ENCODER + ".layer_norm2", ""),
        Row("fc2_down_proj", IMG_PROCESSOR_ENCODER + ".mlp.fc2", ""),
        Row("up_proj", IMG_PROCESSOR_ENCODER + ".mlp.fc1", ""),
        Row("conv", "model.embed_tokens_extend.audio_embed.encoder.embed.conv.{layer}", "", group="embedding"),
        Row("layer_norm", ENCODER_ENCODERS + ".feed_forward_in.layer_norm", ""),
        Row("feed_forward_in_gate_up_proj", ENCODER_ENCODERS + ".feed_forward_in.gate_up_proj", ""),
        Row("feed_forward_in_down_proj", ENCODER_ENCODERS + ".feed_forward_in.down_proj", ""),
        Row("self_attn_q_proj", ENCODER_ENCODERS + ".self_attn.q_proj", ""),
        Row("self_attn_k_proj", ENCODER_ENCODERS + ".self_attn.k_proj", ""),
        Row("self_attn_v_proj", ENCODER_ENCODERS + ".self_attn.v_proj", ""),
        Row("self_attn_o_proj", ENCODER_ENCODERS + ".self_attn.o_proj", ""),
        Row("conv_layer_norm", ENCODER_ENCODERS + ".conv.layer_norm", ""),
        Row("b1", ENCODER_ENCODERS + ".conv.glu.b1", "", leaf="", group="embedding"),
        Row("b2", ENCODER_ENCODERS + ".conv.glu.b2", "", leaf="", group="embedding"),
        Row("ext_pw_conv_1d", ENCODER_ENCODERS + ".conv.glu.ext_pw_conv_1d", "", group="embedding"),
        Row("dw_conv", ENCODER_ENCODERS + ".conv.dw_sep_conv_1d.dw_conv", "", group="embedding"),
        Row("pw_conv", ENCODER_ENCODERS + ".conv.dw_sep_conv_1d.pw_conv", "", group="embedding"),
        Row("conv_ext_pw_conv_1d", ENCODER_ENCODERS + ".conv.ext_pw_conv_1d", "", group="embedding"),
        Row("feed_forward_out_layer_norm", ENCODER_ENCODERS + ".feed_forward_out.layer_norm", ""),
        Row("feed_forward_out_gate_up_proj", ENCODER_ENCODERS + ".feed_forward_out.gate_up_proj", ""),
        Row("feed_forward_out_down_proj", ENCODER_ENCODERS + ".feed_forward_out.down_proj", ""),
        Row("layer_norm_att", ENCODER_ENCODERS + ".layer_norm_att", ""),
        Row("encoders_layer_norm", ENCODER_ENCODERS + ".layer_norm", ""),
        Row("norm", "model.norm", ""),
        Row("lm_head", "lm_head", ""),
        Row(
            "global_mean",
            "model.embed_tokens_extend.audio_embed.encoder.encoder_embedding.global_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "global_invstd",
            "model.embed_tokens_extend.audio_embed.encoder.encoder_embedding.global_invstd",
            "",
            leaf="",
            buffer=True,
        ),
    ),
    prefix="model.",
    names_only=True,
)
