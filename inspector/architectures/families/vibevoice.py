"""Model type vibevoice: semantic_model_config, text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

DIFFUSION_HEAD = "model.diffusion_head.layers.{layer}"
STEM_STAGE = "model.audio_tower.encoder.stem.stage.{layer}"
ENCODER_CONV_LAYERS = "model.audio_tower.encoder.conv_layers.{layer}"
CONV_LAYERS_STAGE = "model.audio_tower.encoder.conv_layers.{layer}.stage.{stage}"
STEM_STAGE_ = "model.audio_tower.decoder.stem.stage.{layer}"
DECODER_CONV_LAYERS = "model.audio_tower.decoder.conv_layers.{layer}"
CONV_LAYERS_STAGE_ = "model.audio_tower.decoder.conv_layers.{layer}.stage.{stage}"

FAMILY = Family(
    name="vibevoice",
    types={"vibevoice": {}},
    rows=(
        Include(
            "semantic_model_config",
            "model.semantic_tokenizer_encoder.",
            tower="semantic_model",
            head="Model",
            default_type="vibevoice_acoustic_tokenizer_encoder",
        ),
        Include("text_config", "model.language_model.", head="Model", default_type="qwen2"),
        Row("ffn_gate_proj", DIFFUSION_HEAD + ".ffn.gate_proj", ""),
        Row("ffn_up_proj", DIFFUSION_HEAD + ".ffn.up_proj", ""),
        Row("ffn_down_proj", DIFFUSION_HEAD + ".ffn.down_proj", ""),
        Row("norm", DIFFUSION_HEAD + ".norm", ""),
        Row("linear", DIFFUSION_HEAD + ".linear", "", group="head"),
        Row("gamma", STEM_STAGE + ".gamma", "", tower="audio", leaf=""),
        Row("ffn_gamma", STEM_STAGE + ".ffn_gamma", "", tower="audio", leaf=""),
        Row("norm", STEM_STAGE + ".norm", "", tower="audio"),
        Row("linear1", STEM_STAGE + ".ffn.linear1", "", tower="audio", group="feed_forward"),
        Row("linear2", STEM_STAGE + ".ffn.linear2", "", tower="audio", group="feed_forward"),
        Row("conv", STEM_STAGE + ".mixer.conv", "", tower="audio", group="state_space"),
        Row("post_attention_layernorm", STEM_STAGE + ".ffn_norm", "", tower="audio"),
        Row("conv_conv", ENCODER_CONV_LAYERS + ".conv.conv", "", tower="audio"),
        Row("gamma", CONV_LAYERS_STAGE + ".gamma", "", tower="audio", leaf="", group="convolution"),
        Row("ffn_gamma", CONV_LAYERS_STAGE + ".ffn_gamma", "", tower="audio", leaf=""),
        Row("norm", CONV_LAYERS_STAGE + ".norm", "", tower="audio"),
        Row("linear1", CONV_LAYERS_STAGE + ".ffn.linear1", "", tower="audio", group="feed_forward"),
        Row("linear2", CONV_LAYERS_STAGE + ".ffn.linear2", "", tower="audio", group="feed_forward"),
        Row("conv", CONV_LAYERS_STAGE + ".mixer.conv", "", tower="audio", group="state_space"),
        Row("post_attention_layernorm", CONV_LAYERS_STAGE + ".ffn_norm", "", tower="audio"),
        Row("stage_gamma", STEM_STAGE_ + ".gamma", "", tower="audio", leaf=""),
        Row("stage_ffn_gamma", STEM_STAGE_ + ".ffn_gamma", "", tower="audio", leaf=""),
        Row("stage_norm", STEM_STAGE_ + ".norm", "", tower="audio"),
        Row("ffn_norm_post_attention_layernorm", STEM_STAGE_ + ".ffn_norm", "", tower="audio"),
        Row("ffn_linear1", STEM_STAGE_ + ".ffn.linear1", "", tower="audio"),
        Row("ffn_linear2", STEM_STAGE_ + ".ffn.linear2", "", tower="audio"),
        Row("mixer_conv", STEM_STAGE_ + ".mixer.conv", "", tower="audio", group="state_space"),
        Row("convtr", DECODER_CONV_LAYERS + ".convtr.convtr", "", tower="audio"),
        Row("convtr", DECODER_CONV_LAYERS + ".convtr.convtr", "", tower="audio", leaf="bias"),
        Row("stage_gamma", CONV_LAYERS_STAGE_ + ".gamma", "", tower="audio", leaf="", group="convolution"),
        Row("stage_ffn_gamma", CONV_LAYERS_STAGE_ + ".ffn_gamma", "", tower="audio", leaf=""),
        Row("stage_norm", CONV_LAYERS_STAGE_ + ".norm", "", tower="audio"),
        Row("ffn_norm_post_attention_layernorm", CONV_LAYERS_STAGE_ + ".ffn_norm", "", tower="audio"),
        Row("ffn_linear1", CONV_LAYERS_STAGE_ + ".ffn.linear1", "", tower="audio"),
        Row("ffn_linear2", CONV_LAYERS_STAGE_ + ".ffn.linear2", "", tower="audio"),
        Row("mixer_conv", CONV_LAYERS_STAGE_ + ".mixer.conv", "", tower="audio", group="state_space"),
        Row("latent_scaling_factor", "model.latent_scaling_factor", "", leaf=""),
        Row("latent_bias_factor", "model.latent_bias_factor", "", leaf=""),
        Row("linear_1", "model.semantic_connector.linear_1", ""),
        Row("act", "model.semantic_connector.act", "", group="norm"),
        Row("linear_2", "model.semantic_connector.linear_2", ""),
        Row("noisy_images_proj", "model.diffusion_head.noisy_images_proj", "", group="head"),
        Row("cond_proj", "model.diffusion_head.cond_proj", "", group="head"),
        Row("up_proj", "model.diffusion_head.timestep_proj.fc1", ""),
        Row("down_proj", "model.diffusion_head.timestep_proj.fc2", ""),
        Row("final_layer_linear_1", "model.diffusion_head.final_layer.linear_1", ""),
        Row("final_layer_linear_2", "model.diffusion_head.final_layer.linear_2", ""),
        Row("lm_head", "lm_head", ""),
        Row("conv", "model.audio_tower.encoder.stem.conv.conv", "", tower="audio"),
        Row("head_conv", "model.audio_tower.encoder.head.conv", "", tower="audio", group="head"),
        Row("conv_conv", "model.audio_tower.decoder.stem.conv.conv", "", tower="audio"),
        Row("decoder_head_conv", "model.audio_tower.decoder.head.conv", "", tower="audio", group="head"),
        Row("linear_1", "model.multi_modal_projector.linear_1", "", tower="projector"),
        Row("act", "model.multi_modal_projector.act", "", tower="projector", group="norm"),
        Row("linear_2", "model.multi_modal_projector.linear_2", "", tower="projector"),
    ),
    prefix="model.",
    names_only=True,
    head="ForConditionalGeneration",
)
