"""Model type sam2: vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

MASK_DECODER_TRANSFORMER = "mask_decoder.transformer.layers.{layer<mask_decoder_config.num_hidden_layers}"
MASK_DECODER_OUTPUT_HYPERNETWORKS_MLPS = (
    "mask_decoder.output_hypernetworks_mlps.{layer<mask_decoder_config.num_multimask_outputs + 1}"
)

FAMILY = Family(
    name="sam2",
    types={"sam2": {}},
    rows=(
        Include("vision_config", "vision_encoder.", tower="vision", head="Model", default_type="sam2_vision_model"),
        Row("no_memory_embedding", "no_memory_embedding", "1, 1, vision_config.fpn_hidden_size", leaf=""),
        Row(
            "embed_patches",
            "prompt_encoder.mask_embed.conv1",
            "prompt_encoder_config.mask_input_channels // 4, 1, 2, 2",
            bias="True",
        ),
        Row(
            "conv2",
            "prompt_encoder.mask_embed.conv2",
            "prompt_encoder_config.mask_input_channels, prompt_encoder_config.mask_input_channels // 4, 2, 2",
            bias="True",
            group="embedding",
        ),
        Row(
            "conv3",
            "prompt_encoder.mask_embed.conv3",
            "prompt_encoder_config.hidden_size, prompt_encoder_config.mask_input_channels, 1, 1",
            bias="True",
            group="embedding",
        ),
        Row(
            "input_layernorm",
            "prompt_encoder.mask_embed.layer_norm1",
            "prompt_encoder_config.mask_input_channels // 4",
            bias="True",
        ),
        Row(
            "post_attention_layernorm",
            "prompt_encoder.mask_embed.layer_norm2",
            "4 * (prompt_encoder_config.mask_input_channels // 4)",
            bias="True",
        ),
        Row("no_mask_embed", "prompt_encoder.no_mask_embed", "1, prompt_encoder_config.hidden_size"),
        Row(
            "point_embed",
            "prompt_encoder.point_embed",
            "prompt_encoder_config.num_point_embeddings, prompt_encoder_config.hidden_size",
        ),
        Row("not_a_point_embed", "prompt_encoder.not_a_point_embed", "1, prompt_encoder_config.hidden_size"),
        Row(
            "input_layernorm", MASK_DECODER_TRANSFORMER + ".layer_norm1", "mask_decoder_config.hidden_size", bias="True"
        ),
        Row(
            "q_proj",
            MASK_DECODER_TRANSFORMER + ".self_attn.q_proj",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "k_proj",
            MASK_DECODER_TRANSFORMER + ".self_attn.k_proj",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "v_proj",
            MASK_DECODER_TRANSFORMER + ".self_attn.v_proj",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "o_proj",
            MASK_DECODER_TRANSFORMER + ".self_attn.o_proj",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "cross_q_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_token_to_image.q_proj",
            "mask_decoder_config.hidden_size // mask_decoder_config.attention_downsample_rate, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "cross_k_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_token_to_image.k_proj",
            "mask_decoder_config.hidden_size // mask_decoder_config.attention_downsample_rate, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "cross_v_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_token_to_image.v_proj",
            "mask_decoder_config.hidden_size // mask_decoder_config.attention_downsample_rate, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "cross_o_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_token_to_image.o_proj",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size // mask_decoder_config.attention_downsample_rate",
            bias="True",
        ),
        Row(
            "proj_in",
            MASK_DECODER_TRANSFORMER + ".mlp.proj_in",
            "mask_decoder_config.mlp_dim, mask_decoder_config.hidden_size",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "proj_out",
            MASK_DECODER_TRANSFORMER + ".mlp.proj_out",
            "mask_decoder_config.hidden_size, mask_decoder_config.mlp_dim",
            bias="True",
            group="feed_forward",
        ),
        Row("layer_norm3", MASK_DECODER_TRANSFORMER + ".layer_norm3", "mask_decoder_config.hidden_size", bias="True"),
        Row("layer_norm4", MASK_DECODER_TRANSFORMER + ".layer_norm4", "mask_decoder_config.hidden_size", bias="True"),
        Row(
            "q_proj_cross_q_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_image_to_token.q_proj",
            "mask_decoder_config.hidden_size // mask_decoder_config.attention_downsample_rate, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "k_proj_cross_k_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_image_to_token.k_proj",
            "mask_decoder_config.hidden_size // mask_decoder_config.attention_downsample_rate, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "v_proj_cross_v_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_image_to_token.v_proj",
            "mask_decoder_config.hidden_size // mask_decoder_config.attention_downsample_rate, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "o_proj_cross_o_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_image_to_token.o_proj",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size // mask_decoder_config.attention_downsample_rate",
            bias="True",
        ),
        Row(
            "post_attention_layernorm",
            MASK_DECODER_TRANSFORMER + ".layer_norm2",
            "mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "output_hypernetworks_mlps_proj_in",
            MASK_DECODER_OUTPUT_HYPERNETWORKS_MLPS + ".proj_in",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "output_hypernetworks_mlps_proj_out",
            MASK_DECODER_OUTPUT_HYPERNETWORKS_MLPS + ".proj_out",
            "mask_decoder_config.hidden_size // 8, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "output_hypernetworks_mlps",
            MASK_DECODER_OUTPUT_HYPERNETWORKS_MLPS + ".layers.0",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "iou_prediction_head",
            "mask_decoder.iou_prediction_head.layers.{layer<mask_decoder_config.iou_head_depth - 2}",
            "mask_decoder_config.iou_head_hidden_dim, mask_decoder_config.iou_head_hidden_dim",
            bias="True",
        ),
        Row("iou_token", "mask_decoder.iou_token", "1, mask_decoder_config.hidden_size"),
        Row(
            "mask_tokens",
            "mask_decoder.mask_tokens",
            "mask_decoder_config.num_multimask_outputs + 1, mask_decoder_config.hidden_size",
            group="embedding",
        ),
        Row(
            "q_proj",
            "mask_decoder.transformer.final_attn_token_to_image.q_proj",
            "mask_decoder_config.hidden_size // mask_decoder_config.attention_downsample_rate, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "k_proj",
            "mask_decoder.transformer.final_attn_token_to_image.k_proj",
            "mask_decoder_config.hidden_size // mask_decoder_config.attention_downsample_rate, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "v_proj",
            "mask_decoder.transformer.final_attn_token_to_image.v_proj",
            "mask_decoder_config.hidden_size // mask_decoder_config.attention_downsample_rate, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "o_proj",
            "mask_decoder.transformer.final_attn_token_to_image.o_proj",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size // mask_decoder_config.attention_downsample_rate",
            bias="True",
        ),
        Row(
            "layer_norm_final_attn",
            "mask_decoder.transformer.layer_norm_final_attn",
            "mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "upscale_conv1",
            "mask_decoder.upscale_conv1",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size // 4, 2, 2",
        ),
        Row("upscale_conv1", "mask_decoder.upscale_conv1", "mask_decoder_config.hidden_size // 4", leaf="bias"),
        Row(
            "upscale_conv2",
            "mask_decoder.upscale_conv2",
            "mask_decoder_config.hidden_size // 4, mask_decoder_config.hidden_size // 8, 2, 2",
        ),
        Row("upscale_conv2", "mask_decoder.upscale_conv2", "mask_decoder_config.hidden_size // 8", leaf="bias"),
        Row(
            "upscale_layer_norm", "mask_decoder.upscale_layer_norm", "mask_decoder_config.hidden_size // 4", bias="True"
        ),
        Row(
            "proj_in",
            "mask_decoder.iou_prediction_head.proj_in",
            "mask_decoder_config.iou_head_hidden_dim, mask_decoder_config.hidden_size",
            bias="True",
            group="head",
        ),
        Row(
            "proj_out",
            "mask_decoder.iou_prediction_head.proj_out",
            "mask_decoder_config.num_multimask_outputs + 1, mask_decoder_config.iou_head_hidden_dim",
            bias="True",
            group="head",
        ),
        Row(
            "conv_s0",
            "mask_decoder.conv_s0",
            "mask_decoder_config.hidden_size // 8, mask_decoder_config.hidden_size, 1, 1",
            bias="True",
        ),
        Row(
            "conv_s1",
            "mask_decoder.conv_s1",
            "mask_decoder_config.hidden_size // 4, mask_decoder_config.hidden_size, 1, 1",
            bias="True",
        ),
        Row("obj_score_token", "mask_decoder.obj_score_token", "1, mask_decoder_config.hidden_size", group="head"),
        Row(
            "pred_obj_score_head_proj_in",
            "mask_decoder.pred_obj_score_head.proj_in",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "pred_obj_score_head_proj_out",
            "mask_decoder.pred_obj_score_head.proj_out",
            "1, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "pred_obj_score_head",
            "mask_decoder.pred_obj_score_head.layers.0",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "positional_embedding",
            "shared_image_embedding.positional_embedding",
            "2, prompt_encoder_config.hidden_size // 2",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "shared_embedding_positional_embedding",
            "prompt_encoder.shared_embedding.positional_embedding",
            "2, prompt_encoder_config.hidden_size // 2",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    defaults={
        "mask_decoder_config": {
            "attention_downsample_rate": 2,
            "hidden_size": 256,
            "iou_head_depth": 3,
            "iou_head_hidden_dim": 256,
            "mlp_dim": 2048,
            "num_hidden_layers": 2,
            "num_multimask_outputs": 3,
        },
        "prompt_encoder_config": {"hidden_size": 256, "mask_input_channels": 16, "num_point_embeddings": 4},
        "vision_config": {"fpn_hidden_size": 256},
    },
    head="Model",
)
