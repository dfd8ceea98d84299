"""Model type vits.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

FLOW_FLOWS = "flow.flows.{layer}"
WAVENET_IN_LAYERS = "flow.flows.{layer}.wavenet.in_layers.{in_layer}"
WAVENET_RES_SKIP_LAYERS = "flow.flows.{layer}.wavenet.res_skip_layers.{res_skip_layer}"
DURATION_PREDICTOR_FLOWS = "duration_predictor.flows.{layer}"
DURATION_PREDICTOR_POST_FLOWS = "duration_predictor.post_flows.{layer}"
WAVENET_IN_LAYERS_ = "posterior_encoder.wavenet.in_layers.{layer}"
WAVENET_RES_SKIP_LAYERS_ = "posterior_encoder.wavenet.res_skip_layers.{layer}"
TEXT_ENCODER_ENCODER = "text_encoder.encoder.layers.{layer}"

FAMILY = Family(
    name="vits",
    types={"vits": {}},
    rows=(
        Row("embed_tokens", "text_encoder.embed_tokens", ""),
        Row("embed_speaker", "embed_speaker", ""),
        Row("conv_pre", FLOW_FLOWS + ".conv_pre", ""),
        Row("in_layers", WAVENET_IN_LAYERS, "", leaf="bias"),
        Row("original0", WAVENET_IN_LAYERS + ".parametrizations.weight.original0", "", leaf="", group="convolution"),
        Row("original1", WAVENET_IN_LAYERS + ".parametrizations.weight.original1", "", leaf="", group="convolution"),
        Row("res_skip_layers", WAVENET_RES_SKIP_LAYERS, "", leaf="bias"),
        Row(
            "parametrizations_original0",
            WAVENET_RES_SKIP_LAYERS + ".parametrizations.weight.original0",
            "",
            leaf="",
            group="convolution",
        ),
        Row(
            "parametrizations_original1",
            WAVENET_RES_SKIP_LAYERS + ".parametrizations.weight.original1",
            "",
            leaf="",
            group="convolution",
        ),
        Row("conv_post", FLOW_FLOWS + ".conv_post", ""),
        Row("cond_layer", FLOW_FLOWS + ".wavenet.cond_layer", "", leaf="bias"),
        Row(
            "cond_layer_parametrizations_original0",
            FLOW_FLOWS + ".wavenet.cond_layer.parametrizations.weight.original0",
            "",
            leaf="",
            group="convolution",
        ),
        Row(
            "cond_layer_parametrizations_original1",
            FLOW_FLOWS + ".wavenet.cond_layer.parametrizations.weight.original1",
            "",
            leaf="",
            group="convolution",
        ),
        Row("convs_dilated", "duration_predictor.conv_dds.convs_dilated.{layer}", "", group="head"),
        Row("convs_pointwise", "duration_predictor.conv_dds.convs_pointwise.{layer}", "", group="head"),
        Row("norms_1", "duration_predictor.conv_dds.norms_1.{layer}", ""),
        Row("norms_2", "duration_predictor.conv_dds.norms_2.{layer}", ""),
        Row("translate", DURATION_PREDICTOR_FLOWS + ".translate", "", leaf="", group="head"),
        Row("log_scale", DURATION_PREDICTOR_FLOWS + ".log_scale", "", leaf="", group="head"),
        Row("flows_conv_pre", DURATION_PREDICTOR_FLOWS + ".conv_pre", "", group="head"),
        Row("convs_dilated", DURATION_PREDICTOR_FLOWS + ".conv_dds.convs_dilated.{convs_dilated}", "", group="head"),
        Row(
            "convs_pointwise",
            DURATION_PREDICTOR_FLOWS + ".conv_dds.convs_pointwise.{convs_pointwise}",
            "",
            group="head",
        ),
        Row("norms_1", DURATION_PREDICTOR_FLOWS + ".conv_dds.norms_1.{norm}", ""),
        Row("norms_2", DURATION_PREDICTOR_FLOWS + ".conv_dds.norms_2.{norm}", ""),
        Row("conv_proj", DURATION_PREDICTOR_FLOWS + ".conv_proj", "", group="head"),
        Row("post_conv_dds_convs_dilated", "duration_predictor.post_conv_dds.convs_dilated.{layer}", "", group="head"),
        Row(
            "post_conv_dds_convs_pointwise",
            "duration_predictor.post_conv_dds.convs_pointwise.{layer}",
            "",
            group="head",
        ),
        Row("post_conv_dds_norms_1", "duration_predictor.post_conv_dds.norms_1.{layer}", ""),
        Row("post_conv_dds_norms_2", "duration_predictor.post_conv_dds.norms_2.{layer}", ""),
        Row("post_flows_translate", DURATION_PREDICTOR_POST_FLOWS + ".translate", "", leaf="", group="head"),
        Row("post_flows_log_scale", DURATION_PREDICTOR_POST_FLOWS + ".log_scale", "", leaf="", group="head"),
        Row("post_flows_conv_pre", DURATION_PREDICTOR_POST_FLOWS + ".conv_pre", "", group="head"),
        Row(
            "conv_dds_convs_dilated",
            DURATION_PREDICTOR_POST_FLOWS + ".conv_dds.convs_dilated.{convs_dilated}",
            "",
            group="head",
        ),
        Row(
            "conv_dds_convs_pointwise",
            DURATION_PREDICTOR_POST_FLOWS + ".conv_dds.convs_pointwise.{convs_pointwise}",
            "",
            group="head",
        ),
        Row("conv_dds_norms_1", DURATION_PREDICTOR_POST_FLOWS + ".conv_dds.norms_1.{norm}", ""),
        Row("conv_dds_norms_2", DURATION_PREDICTOR_POST_FLOWS + ".conv_dds.norms_2.{norm}", ""),
        Row("post_flows_conv_proj", DURATION_PREDICTOR_POST_FLOWS + ".conv_proj", "", group="head"),
        Row("in_layers", WAVENET_IN_LAYERS_, "", leaf="bias"),
        Row("original0", WAVENET_IN_LAYERS_ + ".parametrizations.weight.original0", "", leaf="", group="convolution"),
        Row("original1", WAVENET_IN_LAYERS_ + ".parametrizations.weight.original1", "", leaf="", group="convolution"),
        Row("res_skip_layers", WAVENET_RES_SKIP_LAYERS_, "", leaf="bias"),
        Row(
            "parametrizations_original0",
            WAVENET_RES_SKIP_LAYERS_ + ".parametrizations.weight.original0",
            "",
            leaf="",
            group="convolution",
        ),
        Row(
            "parametrizations_original1",
            WAVENET_RES_SKIP_LAYERS_ + ".parametrizations.weight.original1",
            "",
            leaf="",
            group="convolution",
        ),
        Row("q_proj", TEXT_ENCODER_ENCODER + ".attention.q_proj", "", tower="encoder"),
        Row("k_proj", TEXT_ENCODER_ENCODER + ".attention.k_proj", "", tower="encoder"),
        Row("v_proj", TEXT_ENCODER_ENCODER + ".attention.v_proj", "", tower="encoder"),
        Row("o_proj", TEXT_ENCODER_ENCODER + ".attention.out_proj", "", tower="encoder"),
        Row(
            "emb_rel_k", TEXT_ENCODER_ENCODER + ".attention.emb_rel_k", "", tower="encoder", leaf="", group="attention"
        ),
        Row(
            "emb_rel_v", TEXT_ENCODER_ENCODER + ".attention.emb_rel_v", "", tower="encoder", leaf="", group="attention"
        ),
        Row("layer_norm", TEXT_ENCODER_ENCODER + ".layer_norm", "", tower="encoder"),
        Row("conv_1", TEXT_ENCODER_ENCODER + ".feed_forward.conv_1", "", tower="encoder"),
        Row("conv_2", TEXT_ENCODER_ENCODER + ".feed_forward.conv_2", "", tower="encoder"),
        Row("norm", TEXT_ENCODER_ENCODER + ".final_layer_norm", "", tower="encoder"),
        Row("upsampler", "decoder.upsampler.{layer}", "", tower="decoder", group="convolution"),
        Row("upsampler", "decoder.upsampler.{layer}", "", tower="decoder", leaf="bias"),
        Row("convs1", "decoder.resblocks.{layer}.convs1.{conv}", "", tower="decoder"),
        Row("convs2", "decoder.resblocks.{layer}.convs2.{conv}", "", tower="decoder"),
        Row("project", "text_encoder.project", "", group="convolution"),
        Row("conv_pre", "duration_predictor.conv_pre", "", group="head"),
        Row("conv_proj", "duration_predictor.conv_proj", "", group="head"),
        Row("post_conv_pre", "duration_predictor.post_conv_pre", "", group="head"),
        Row("post_conv_proj", "duration_predictor.post_conv_proj", "", group="head"),
        Row("posterior_encoder_conv_pre", "posterior_encoder.conv_pre", ""),
        Row("posterior_encoder_conv_proj", "posterior_encoder.conv_proj", "", group="convolution"),
        Row("conv_1", "duration_predictor.conv_1", "", group="head"),
        Row("input_layernorm", "duration_predictor.norm_1", ""),
        Row("conv_2", "duration_predictor.conv_2", "", group="head"),
        Row("post_attention_layernorm", "duration_predictor.norm_2", ""),
        Row("proj", "duration_predictor.proj", "", group="head"),
        Row("cond", "duration_predictor.cond", "", group="head"),
        Row("cond_layer", "posterior_encoder.wavenet.cond_layer", "", leaf="bias"),
        Row(
            "original0",
            "posterior_encoder.wavenet.cond_layer.parametrizations.weight.original0",
            "",
            leaf="",
            group="convolution",
        ),
        Row(
            "original1",
            "posterior_encoder.wavenet.cond_layer.parametrizations.weight.original1",
            "",
            leaf="",
            group="convolution",
        ),
        Row("conv_pre", "decoder.conv_pre", "", tower="decoder"),
        Row("conv_post", "decoder.conv_post", "", tower="decoder"),
        Row("cond", "decoder.cond", "", tower="decoder", group="convolution"),
    ),
    names_only=True,
    head="Model",
)
