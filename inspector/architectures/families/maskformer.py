"""Model type maskformer: backbone_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

TRANSFORMER_MODULE_DECODER = "transformer_module.decoder.layers.{layer}"
TRANSFORMER_MODULE_DECODER_ = "model.transformer_module.decoder.layers.{layer}"

FAMILY = Family(
    name="maskformer",
    types={"maskformer": {}},
    rows=(
        Include(
            "backbone_config",
            "pixel_level_module.encoder.model.",
            tower="vision",
            head="Model",
            default_type="maskformer-swin",
            heads="Model",
            without="layernorm",
        ),
        Include(
            "backbone_config",
            "model.pixel_level_module.encoder.model.",
            tower="vision",
            head="Model",
            default_type="maskformer-swin",
            heads="ForInstanceSegmentation",
            without="layernorm",
        ),
        Row("queries_embedder", "transformer_module.queries_embedder", ""),
        Row("transformer_module_queries_embedder", "model.transformer_module.queries_embedder", ""),
        Row(
            "proj", "pixel_level_module.decoder.fpn.layers.{layer}.proj.{at6}", "", tower="decoder", group="convolution"
        ),
        Row("proj", "pixel_level_module.decoder.fpn.layers.{layer}.proj.{at6}", "", tower="decoder", group="norm"),
        Row("stem", "pixel_level_module.decoder.fpn.stem.{at4}", "", tower="decoder", group="convolution"),
        Row("stem", "pixel_level_module.decoder.fpn.stem.{at4}", "", tower="decoder", group="norm"),
        Row("input_layernorm", TRANSFORMER_MODULE_DECODER + ".self_attn_layer_norm", "", tower="decoder"),
        Row("q_proj", TRANSFORMER_MODULE_DECODER + ".self_attn.q_proj", "", tower="decoder"),
        Row("k_proj", TRANSFORMER_MODULE_DECODER + ".self_attn.k_proj", "", tower="decoder"),
        Row("v_proj", TRANSFORMER_MODULE_DECODER + ".self_attn.v_proj", "", tower="decoder"),
        Row("o_proj", TRANSFORMER_MODULE_DECODER + ".self_attn.out_proj", "", tower="decoder"),
        Row("cross_k_proj", TRANSFORMER_MODULE_DECODER + ".encoder_attn.k_proj", "", tower="decoder"),
        Row("cross_o_proj", TRANSFORMER_MODULE_DECODER + ".encoder_attn.out_proj", "", tower="decoder"),
        Row("cross_q_proj", TRANSFORMER_MODULE_DECODER + ".encoder_attn.q_proj", "", tower="decoder"),
        Row("cross_v_proj", TRANSFORMER_MODULE_DECODER + ".encoder_attn.v_proj", "", tower="decoder"),
        Row(
            "cross_encoder_attn_layer_norm",
            TRANSFORMER_MODULE_DECODER + ".encoder_attn_layer_norm",
            "",
            tower="decoder",
        ),
        Row("norm", TRANSFORMER_MODULE_DECODER + ".final_layer_norm", "", tower="decoder"),
        Row("up_proj", TRANSFORMER_MODULE_DECODER + ".fc1", "", tower="decoder"),
        Row("down_proj", TRANSFORMER_MODULE_DECODER + ".fc2", "", tower="decoder"),
        Row(
            "fpn_proj",
            "model.pixel_level_module.decoder.fpn.layers.{layer}.proj.{at7}",
            "",
            tower="decoder",
            group="convolution",
        ),
        Row(
            "fpn_proj",
            "model.pixel_level_module.decoder.fpn.layers.{layer}.proj.{at7}",
            "",
            tower="decoder",
            group="norm",
        ),
        Row("fpn_stem", "model.pixel_level_module.decoder.fpn.stem.{at5}", "", tower="decoder", group="convolution"),
        Row("fpn_stem", "model.pixel_level_module.decoder.fpn.stem.{at5}", "", tower="decoder", group="norm"),
        Row("k_proj_cross_k_proj", TRANSFORMER_MODULE_DECODER_ + ".encoder_attn.k_proj", "", tower="decoder"),
        Row("out_proj_cross_o_proj", TRANSFORMER_MODULE_DECODER_ + ".encoder_attn.out_proj", "", tower="decoder"),
        Row("q_proj_cross_q_proj", TRANSFORMER_MODULE_DECODER_ + ".encoder_attn.q_proj", "", tower="decoder"),
        Row("v_proj_cross_v_proj", TRANSFORMER_MODULE_DECODER_ + ".encoder_attn.v_proj", "", tower="decoder"),
        Row("encoder_attn_layer_norm", TRANSFORMER_MODULE_DECODER_ + ".encoder_attn_layer_norm", "", tower="decoder"),
        Row("final_layer_norm", TRANSFORMER_MODULE_DECODER_ + ".final_layer_norm", "", tower="decoder"),
        Row("fc1_up_proj", TRANSFORMER_MODULE_DECODER_ + ".fc1", "", tower="decoder"),
        Row("fc2_down_proj", TRANSFORMER_MODULE_DECODER_ + ".fc2", "", tower="decoder"),
        Row("self_attn_k_proj", TRANSFORMER_MODULE_DECODER_ + ".self_attn.k_proj", "", tower="decoder"),
        Row("out_proj_o_proj", TRANSFORMER_MODULE_DECODER_ + ".self_attn.out_proj", "", tower="decoder"),
        Row("self_attn_q_proj", TRANSFORMER_MODULE_DECODER_ + ".self_attn.q_proj", "", tower="decoder"),
        Row("self_attn_v_proj", TRANSFORMER_MODULE_DECODER_ + ".self_attn.v_proj", "", tower="decoder"),
        Row(
            "self_attn_layer_norm_input_layernorm",
            TRANSFORMER_MODULE_DECODER_ + ".self_attn_layer_norm",
            "",
            tower="decoder",
        ),
        Row("hidden_states_norms", "pixel_level_module.encoder.hidden_states_norms.{layer}", "", tower="encoder"),
        Row(
            "encoder_hidden_states_norms",
            "model.pixel_level_module.encoder.hidden_states_norms.{layer}",
            "",
            tower="encoder",
        ),
        Row("mask_embedder", "mask_embedder.{layer}.{at2}", ""),
        Row("mask_projection", "pixel_level_module.decoder.mask_projection", "", tower="decoder", group="convolution"),
        Row("layernorm", "transformer_module.decoder.layernorm", "", tower="decoder"),
        Row(
            "decoder_mask_projection",
            "model.pixel_level_module.decoder.mask_projection",
            "",
            tower="decoder",
            group="convolution",
        ),
        Row("decoder_layernorm", "model.transformer_module.decoder.layernorm", "", tower="decoder"),
        Row("layernorm", "pixel_level_module.encoder.model.layernorm", "", tower="encoder"),
        Row("encoder_layernorm", "model.pixel_level_module.encoder.model.layernorm", "", tower="encoder"),
        Row("input_projection", "transformer_module.input_projection", "", group="convolution"),
        Row("class_predictor", "class_predictor", "", group="head"),
        Row(
            "transformer_module_input_projection", "model.transformer_module.input_projection", "", group="convolution"
        ),
        Row("empty_weight", "criterion.empty_weight", "", leaf="", buffer=True),
    ),
    names_only=True,
    head="Model",
)
