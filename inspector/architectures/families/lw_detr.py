"""Model type lw_detr.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

BACKBONE_ENCODER = "backbone.backbone.encoder.layer.{layer}"
BACKBONE_ENCODER_ = "model.backbone.backbone.encoder.layer.{layer}"
DECODER = "decoder.layers.{layer}"
DECODER_ = "model.decoder.layers.{layer}"

FAMILY = Family(
    name="lw_detr",
    types={"lw_detr": {}},
    rows=(
        Row("embed_positions", "backbone.backbone.embeddings.position_embeddings", "", leaf=""),
        Row("projection", "backbone.backbone.embeddings.projection", "", group="embedding"),
        Row("reference_point_embed", "reference_point_embed", ""),
        Row("class_embed", "class_embed", ""),
        Row(
            "position_embeddings_embed_positions", "model.backbone.backbone.embeddings.position_embeddings", "", leaf=""
        ),
        Row("embeddings_projection", "model.backbone.backbone.embeddings.projection", ""),
        Row("reference_point_embed_128", "model.reference_point_embed", ""),
        Row("enc_out_bbox_embed", "enc_out_bbox_embed.{layer}.layers.{sublayer}", ""),
        Row("enc_out_class_embed", "enc_out_class_embed.{layer}", ""),
        Row("enc_output", "enc_output.{layer}", ""),
        Row("enc_output_norm", "enc_output_norm.{layer}", ""),
        Row("bbox_embed", "bbox_embed.layers.{layer}", ""),
        Row("enc_out_bbox_embed_118", "model.enc_out_bbox_embed.{layer}.layers.{sublayer}", ""),
        Row("enc_out_class_embed_120", "model.enc_out_class_embed.{layer}", ""),
        Row("enc_output_122", "model.enc_output.{layer}", ""),
        Row("enc_output_norm_124", "model.enc_output_norm.{layer}", ""),
        Row("input_layernorm", BACKBONE_ENCODER + ".layernorm_before", "", tower="encoder"),
        Row("q_proj", BACKBONE_ENCODER + ".attention.attention.query", "", tower="encoder"),
        Row("k_proj", BACKBONE_ENCODER + ".attention.attention.key", "", tower="encoder"),
        Row("v_proj", BACKBONE_ENCODER + ".attention.attention.value", "", tower="encoder"),
        Row("lm_head", BACKBONE_ENCODER + ".attention.output", "", tower="encoder"),
        Row("gamma_1", BACKBONE_ENCODER + ".gamma_1", "", tower="encoder", leaf=""),
        Row("gamma_2", BACKBONE_ENCODER + ".gamma_2", "", tower="encoder", leaf=""),
        Row("post_attention_layernorm", BACKBONE_ENCODER + ".layernorm_after", "", tower="encoder"),
        Row("up_proj", BACKBONE_ENCODER + ".intermediate.fc1", "", tower="encoder"),
        Row("down_proj", BACKBONE_ENCODER + ".intermediate.fc2", "", tower="encoder"),
        Row("key_k_proj", BACKBONE_ENCODER_ + ".attention.attention.key", "", tower="encoder"),
        Row("output_lm_head", BACKBONE_ENCODER_ + ".attention.output", "", tower="encoder"),
        Row("query_q_proj", BACKBONE_ENCODER_ + ".attention.attention.query", "", tower="encoder"),
        Row("value_v_proj", BACKBONE_ENCODER_ + ".attention.attention.value", "", tower="encoder"),
        Row("encoder_gamma_1", BACKBONE_ENCODER_ + ".gamma_1", "", tower="encoder", leaf=""),
        Row("encoder_gamma_2", BACKBONE_ENCODER_ + ".gamma_2", "", tower="encoder", leaf=""),
        Row("fc1_up_proj", BACKBONE_ENCODER_ + ".intermediate.fc1", "", tower="encoder"),
        Row("fc2_down_proj", BACKBONE_ENCODER_ + ".intermediate.fc2", "", tower="encoder"),
        Row("layernorm_after_post_attention_layernorm", BACKBONE_ENCODER_ + ".layernorm_after", "", tower="encoder"),
        Row("layernorm_before_input_layernorm", BACKBONE_ENCODER_ + ".layernorm_before", "", tower="encoder"),
        Row("input_layernorm", DECODER + ".self_attn_layer_norm", "", tower="decoder"),
        Row("q_proj", DECODER + ".self_attn.q_proj", "", tower="decoder"),
        Row("k_proj", DECODER + ".self_attn.k_proj", "", tower="decoder"),
        Row("v_proj", DECODER + ".self_attn.v_proj", "", tower="decoder"),
        Row("o_proj", DECODER + ".self_attn.o_proj", "", tower="decoder"),
        Row("cross_attention_weights", DECODER + ".cross_attn.attention_weights", "", tower="decoder"),
        Row("cross_output_proj", DECODER + ".cross_attn.output_proj", "", tower="decoder", group="attention"),
        Row("cross_sampling_offsets", DECODER + ".cross_attn.sampling_offsets", "", tower="decoder", group="attention"),
        Row("cross_value_proj", DECODER + ".cross_attn.value_proj", "", tower="decoder", group="attention"),
        Row("cross_attn_layer_norm", DECODER + ".cross_attn_layer_norm", "", tower="decoder"),
        Row("layer_norm", DECODER + ".layer_norm", "", tower="decoder"),
        Row("up_proj", DECODER + ".mlp.fc1", "", tower="decoder"),
        Row("down_proj", DECODER + ".mlp.fc2", "", tower="decoder"),
        Row("ref_point_head", "decoder.ref_point_head.layers.{layer}", "", tower="decoder"),
        Row("attention_weights", DECODER_ + ".cross_attn.attention_weights", "", tower="decoder"),
        Row("output_proj", DECODER_ + ".cross_attn.output_proj", "", tower="decoder", group="attention"),
        Row("sampling_offsets", DECODER_ + ".cross_attn.sampling_offsets", "", tower="decoder", group="attention"),
        Row("value_proj", DECODER_ + ".cross_attn.value_proj", "", tower="decoder", group="attention"),
        Row("decoder_cross_attn_layer_norm", DECODER_ + ".cross_attn_layer_norm", "", tower="decoder"),
        Row("decoder_layer_norm", DECODER_ + ".layer_norm", "", tower="decoder"),
        Row("fc1_up_proj", DECODER_ + ".mlp.fc1", "", tower="decoder"),
        Row("fc2_down_proj", DECODER_ + ".mlp.fc2", "", tower="decoder"),
        Row("self_attn_k_proj", DECODER_ + ".self_attn.k_proj", "", tower="decoder"),
        Row("self_attn_o_proj", DECODER_ + ".self_attn.o_proj", "", tower="decoder"),
        Row("self_attn_q_proj", DECODER_ + ".self_attn.q_proj", "", tower="decoder"),
        Row("self_attn_v_proj", DECODER_ + ".self_attn.v_proj", "", tower="decoder"),
        Row("self_attn_layer_norm_input_layernorm", DECODER_ + ".self_attn_layer_norm", "", tower="decoder"),
        Row("decoder_ref_point_head", "model.decoder.ref_point_head.layers.{layer}", "", tower="decoder"),
        Row("query_feat", "query_feat", ""),
        Row("query_feat_126", "model.query_feat", ""),
        Row("layernorm", "decoder.layernorm", "", tower="decoder"),
        Row("decoder_layernorm", "model.decoder.layernorm", "", tower="decoder"),
    ),
    names_only=True,
    head="Model",
)
