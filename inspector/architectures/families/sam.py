"""Model type sam: vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

MASK_DECODER_TRANSFORMER = "mask_decoder.transformer.layers.{layer}"
MASK_DECODER_OUTPUT_HYPERNETWORKS_MLPS = "mask_decoder.output_hypernetworks_mlps.{layer}"

FAMILY = Family(
    name="sam",
    types={"sam": {}},
    rows=(
        Include(
            "vision_config",
            "",
            tower="vision",
            head="Model",
            default_type="sam_vision_model",
            without="rel_pos_h rel_pos_w",
        ),
        Row("positional_embedding", "shared_image_embedding.positional_embedding", "", leaf=""),
        Row(
            "shared_embedding_positional_embedding", "prompt_encoder.shared_embedding.positional_embedding", "", leaf=""
        ),
        Row("embed_patches", "prompt_encoder.mask_embed.conv1", ""),
        Row("conv2", "prompt_encoder.mask_embed.conv2", "", group="embedding"),
        Row("conv3", "prompt_encoder.mask_embed.conv3", "", group="embedding"),
        Row("input_layernorm", "prompt_encoder.mask_embed.layer_norm1", ""),
        Row("post_attention_layernorm", "prompt_encoder.mask_embed.layer_norm2", ""),
        Row("no_mask_embed", "prompt_encoder.no_mask_embed", ""),
        Row("not_a_point_embed", "prompt_encoder.not_a_point_embed", ""),
        Row(
            "rel_pos_h", "vision_encoder.layers.{layer}.attn.rel_pos_h", "", tower="vision", leaf="", group="attention"
        ),
        Row(
            "rel_pos_w", "vision_encoder.layers.{layer}.attn.rel_pos_w", "", tower="vision", leaf="", group="attention"
        ),
        Row("point_embed", "prompt_encoder.point_embed.{layer}", ""),
        Row("input_layernorm", MASK_DECODER_TRANSFORMER + ".layer_norm1", ""),
        Row("q_proj", MASK_DECODER_TRANSFORMER + ".self_attn.q_proj", ""),
        Row("k_proj", MASK_DECODER_TRANSFORMER + ".self_attn.k_proj", ""),
        Row("v_proj", MASK_DECODER_TRANSFORMER + ".self_attn.v_proj", ""),
        Row("o_proj", MASK_DECODER_TRANSFORMER + ".self_attn.out_proj", ""),
        Row("cross_q_proj", MASK_DECODER_TRANSFORMER + ".cross_attn_token_to_image.q_proj", ""),
        Row("cross_k_proj", MASK_DECODER_TRANSFORMER + ".cross_attn_token_to_image.k_proj", ""),
        Row("cross_v_proj", MASK_DECODER_TRANSFORMER + ".cross_attn_token_to_image.v_proj", ""),
        Row(
            "cross_out_proj", MASK_DECODER_TRANSFORMER + ".cross_attn_token_to_image.out_proj", "", group="state_space"
        ),
        Row("lin1", MASK_DECODER_TRANSFORMER + ".mlp.lin1", "", group="feed_forward"),
        Row("lin2", MASK_DECODER_TRANSFORMER + ".mlp.lin2", "", group="feed_forward"),
        Row("layer_norm3", MASK_DECODER_TRANSFORMER + ".layer_norm3", ""),
        Row("layer_norm4", MASK_DECODER_TRANSFORMER + ".layer_norm4", ""),
        Row("q_proj_cross_q_proj", MASK_DECODER_TRANSFORMER + ".cross_attn_image_to_token.q_proj", ""),
        Row("k_proj_cross_k_proj", MASK_DECODER_TRANSFORMER + ".cross_attn_image_to_token.k_proj", ""),
        Row("v_proj_cross_v_proj", MASK_DECODER_TRANSFORMER + ".cross_attn_image_to_token.v_proj", ""),
        Row("out_proj", MASK_DECODER_TRANSFORMER + ".cross_attn_image_to_token.out_proj", ""),
        Row("post_attention_layernorm", MASK_DECODER_TRANSFORMER + ".layer_norm2", ""),
        Row("proj_in", MASK_DECODER_OUTPUT_HYPERNETWORKS_MLPS + ".proj_in", "", group="feed_forward"),
        Row("proj_out", MASK_DECODER_OUTPUT_HYPERNETWORKS_MLPS + ".proj_out", "", group="feed_forward"),
        Row("output_hypernetworks_mlps", MASK_DECODER_OUTPUT_HYPERNETWORKS_MLPS + ".layers.{sublayer}", ""),
        Row("iou_prediction_head", "mask_decoder.iou_prediction_head.layers.{layer}", ""),
        Row("iou_token", "mask_decoder.iou_token", ""),
        Row("mask_tokens", "mask_decoder.mask_tokens", "", group="embedding"),
        Row("q_proj", "mask_decoder.transformer.final_attn_token_to_image.q_proj", ""),
        Row("k_proj", "mask_decoder.transformer.final_attn_token_to_image.k_proj", ""),
        Row("v_proj", "mask_decoder.transformer.final_attn_token_to_image.v_proj", ""),
        Row("out_proj", "mask_decoder.transformer.final_attn_token_to_image.out_proj", ""),
        Row("layer_norm_final_attn", "mask_decoder.transformer.layer_norm_final_attn", ""),
        Row("upscale_conv1", "mask_decoder.upscale_conv1", ""),
        Row("upscale_conv1", "mask_decoder.upscale_conv1", "", leaf="bias"),
        Row("upscale_conv2", "mask_decoder.upscale_conv2", ""),
        Row("upscale_conv2", "mask_decoder.upscale_conv2", "", leaf="bias"),
        Row("upscale_layer_norm", "mask_decoder.upscale_layer_norm", ""),
        Row("proj_in", "mask_decoder.iou_prediction_head.proj_in", "", group="head"),
        Row("proj_out", "mask_decoder.iou_prediction_head.proj_out", "", group="head"),
    ),
    names_only=True,
    head="Model",
)
