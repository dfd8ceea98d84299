"""Model type sam_hq: vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

MASK_DECODER_TRANSFORMER = "mask_decoder.transformer.layers.{layer<mask_decoder_config.num_hidden_layers}"
MASK_DECODER_OUTPUT_HYPERNETWORKS_MLPS = (
    "mask_decoder.output_hypernetworks_mlps.{layer<mask_decoder_config.num_multimask_outputs + 1}"
)

FAMILY = Family(
    name="sam_hq",
    types={"sam_hq": {}},
    rows=(
        Include("vision_config", "", tower="vision", head="Model", default_type="sam_hq_vision_model"),
        Row(
            "positional_embedding",
            "shared_image_embedding.positional_embedding",
            "2, vision_config.num_pos_feats",
            leaf="",
        ),
        Row(
            "shared_embedding_positional_embedding",
            "prompt_encoder.shared_embedding.positional_embedding",
            "2, vision_config.num_pos_feats",
            tied="tie_word_embeddings",
            leaf="",
        ),
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
        Row("not_a_point_embed", "prompt_encoder.not_a_point_embed", "1, prompt_encoder_config.hidden_size"),
        Row(
            "point_embed",
            "prompt_encoder.point_embed.{layer<prompt_encoder_config.num_point_embeddings}",
            "1, prompt_encoder_config.hidden_size",
        ),
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
            MASK_DECODER_TRANSFORMER + ".self_attn.out_proj",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "cross_q_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_token_to_image.q_proj",
            "mask_decoder_config.hidden_size // 2, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "cross_k_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_token_to_image.k_proj",
            "mask_decoder_config.hidden_size // 2, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "cross_v_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_token_to_image.v_proj",
            "mask_decoder_config.hidden_size // 2, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "cross_out_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_token_to_image.out_proj",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size // 2",
            bias="True",
            group="state_space",
        ),
        Row(
            "lin1",
            MASK_DECODER_TRANSFORMER + ".mlp.lin1",
            "mask_decoder_config.mlp_dim, mask_decoder_config.hidden_size",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "lin2",
            MASK_DECODER_TRANSFORMER + ".mlp.lin2",
            "mask_decoder_config.hidden_size, mask_decoder_config.mlp_dim",
            bias="True",
            group="feed_forward",
        ),
        Row("layer_norm3", MASK_DECODER_TRANSFORMER + ".layer_norm3", "mask_decoder_config.hidden_size", bias="True"),
        Row("layer_norm4", MASK_DECODER_TRANSFORMER + ".layer_norm4", "mask_decoder_config.hidden_size", bias="True"),
        Row(
            "q_proj_cross_q_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_image_to_token.q_proj",
            "mask_decoder_config.hidden_size // 2, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "k_proj_cross_k_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_image_to_token.k_proj",
            "mask_decoder_config.hidden_size // 2, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "v_proj_cross_v_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_image_to_token.v_proj",
            "mask_decoder_config.hidden_size // 2, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "out_proj",
            MASK_DECODER_TRANSFORMER + ".cross_attn_image_to_token.out_proj",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size // 2",
            bias="True",
        ),
        Row(
            "post_attention_layernorm",
            MASK_DECODER_TRANSFORMER + ".layer_norm2",
            "mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "proj_in",
            MASK_DECODER_OUTPUT_HYPERNETWORKS_MLPS + ".proj_in",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "proj_out",
            MASK_DECODER_OUTPUT_HYPERNETWORKS_MLPS + ".proj_out",
            "mask_decoder_config.hidden_size // 8, mask_decoder_config.hidden_size",
            bias="True",
            group="feed_forward",
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
            "out_proj",
            "mask_decoder.transformer.final_attn_token_to_image.out_proj",
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
        Row("hq_token", "mask_decoder.hq_token", "1, mask_decoder_config.hidden_size"),
        Row(
            "hq_mask_mlp_proj_in",
            "mask_decoder.hq_mask_mlp.proj_in",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "hq_mask_mlp_proj_out",
            "mask_decoder.hq_mask_mlp.proj_out",
            "mask_decoder_config.hidden_size // 8, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "hq_mask_mlp",
            "mask_decoder.hq_mask_mlp.layers.0",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size",
            bias="True",
        ),
        Row(
            "compress_vit_conv1",
            "mask_decoder.compress_vit_conv1",
            "mask_decoder_config.vit_dim, mask_decoder_config.hidden_size, 2, 2",
        ),
        Row("compress_vit_conv1", "mask_decoder.compress_vit_conv1", "mask_decoder_config.hidden_size", leaf="bias"),
        Row("compress_vit_norm", "mask_decoder.compress_vit_norm", "mask_decoder_config.hidden_size", bias="True"),
        Row(
            "compress_vit_conv2",
            "mask_decoder.compress_vit_conv2",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size // 8, 2, 2",
        ),
        Row(
            "compress_vit_conv2", "mask_decoder.compress_vit_conv2", "mask_decoder_config.hidden_size // 8", leaf="bias"
        ),
        Row(
            "encoder_conv1",
            "mask_decoder.encoder_conv1",
            "mask_decoder_config.hidden_size, mask_decoder_config.hidden_size // 4, 2, 2",
        ),
        Row("encoder_conv1", "mask_decoder.encoder_conv1", "mask_decoder_config.hidden_size // 4", leaf="bias"),
        Row("encoder_norm", "mask_decoder.encoder_norm", "mask_decoder_config.hidden_size // 4", bias="True"),
        Row(
            "encoder_conv2",
            "mask_decoder.encoder_conv2",
            "mask_decoder_config.hidden_size // 4, mask_decoder_config.hidden_size // 8, 2, 2",
        ),
        Row("encoder_conv2", "mask_decoder.encoder_conv2", "mask_decoder_config.hidden_size // 8", leaf="bias"),
        Row(
            "mask_conv1",
            "mask_decoder.mask_conv1",
            "mask_decoder_config.hidden_size // 4, mask_decoder_config.hidden_size // 8, 3, 3",
            bias="True",
        ),
        Row("mask_norm", "mask_decoder.mask_norm", "mask_decoder_config.hidden_size // 4", bias="True"),
        Row(
            "mask_conv2",
            "mask_decoder.mask_conv2",
            "mask_decoder_config.hidden_size // 8, mask_decoder_config.hidden_size // 4, 3, 3",
            bias="True",
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
            "vit_dim": 768,
        },
        "prompt_encoder_config": {"hidden_size": 256, "mask_input_channels": 16, "num_point_embeddings": 4},
        "tie_word_embeddings": True,
        "vision_config": {"num_pos_feats": 128},
    },
    head="Model",
)
