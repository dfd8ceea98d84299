"""Model type diffusion_gemma: vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

ENCODER_LANGUAGE_MODEL = "model.encoder.language_model.layers.{layer}"
DECODER = "model.decoder.layers.{layer}"

FAMILY = Family(
    name="diffusion_gemma",
    types={"diffusion_gemma": {}},
    rows=(
        Include(
            "vision_config", "model.encoder.vision_tower.", tower="vision", head="Model", default_type="gemma4_vision"
        ),
        Row("embedding_projection", "model.encoder.embed_vision.embedding_projection", "", tower="encoder"),
        Row("embed_tokens", "model.encoder.language_model.embed_tokens", "", tower="encoder"),
        Row("embed_tokens", "model.decoder.embed_tokens", "", tower="decoder"),
        Row("input_layernorm", ENCODER_LANGUAGE_MODEL + ".input_layernorm", "", tower="encoder"),
        Row("q_proj", ENCODER_LANGUAGE_MODEL + ".self_attn.q_proj", "", tower="encoder", leaf="bias"),
        Row("q_proj", ENCODER_LANGUAGE_MODEL + ".self_attn.q_proj", "", tower="encoder"),
        Row("k_proj", ENCODER_LANGUAGE_MODEL + ".self_attn.k_proj", "", tower="encoder", leaf="bias"),
        Row("k_proj", ENCODER_LANGUAGE_MODEL + ".self_attn.k_proj", "", tower="encoder"),
        Row("v_proj", ENCODER_LANGUAGE_MODEL + ".self_attn.v_proj", "", tower="encoder", leaf="bias"),
        Row("v_proj", ENCODER_LANGUAGE_MODEL + ".self_attn.v_proj", "", tower="encoder"),
        Row("o_proj", ENCODER_LANGUAGE_MODEL + ".self_attn.o_proj", "", tower="encoder", leaf="bias"),
        Row("o_proj", ENCODER_LANGUAGE_MODEL + ".self_attn.o_proj", "", tower="encoder"),
        Row("per_expert_scale", ENCODER_LANGUAGE_MODEL + ".router.per_expert_scale", "", tower="encoder", leaf=""),
        Row("proj_router", ENCODER_LANGUAGE_MODEL + ".router.proj", "", tower="encoder"),
        Row(
            "post_feedforward_layernorm_1",
            ENCODER_LANGUAGE_MODEL + ".post_feedforward_layernorm_1",
            "",
            tower="encoder",
        ),
        Row(
            "post_feedforward_layernorm_2",
            ENCODER_LANGUAGE_MODEL + ".post_feedforward_layernorm_2",
            "",
            tower="encoder",
        ),
        Row(
            "pre_feedforward_layernorm_2", ENCODER_LANGUAGE_MODEL + ".pre_feedforward_layernorm_2", "", tower="encoder"
        ),
        Row("q_norm", ENCODER_LANGUAGE_MODEL + ".self_attn.q_norm", "", tower="encoder"),
        Row("k_norm", ENCODER_LANGUAGE_MODEL + ".self_attn.k_norm", "", tower="encoder"),
        Row("post_attention_layernorm", ENCODER_LANGUAGE_MODEL + ".post_attention_layernorm", "", tower="encoder"),
        Row("pre_feedforward_layernorm", ENCODER_LANGUAGE_MODEL + ".pre_feedforward_layernorm", "", tower="encoder"),
        Row("router", ENCODER_LANGUAGE_MODEL + ".router.scale", "", tower="encoder", leaf=""),
        Row(
            "gate_up_proj", ENCODER_LANGUAGE_MODEL + ".experts.gate_up_proj", "1", tower="encoder", leaf="", stacked="1"
        ),
        Row("gate_proj", ENCODER_LANGUAGE_MODEL + ".mlp.gate_proj", "", tower="encoder"),
        Row("up_proj", ENCODER_LANGUAGE_MODEL + ".mlp.up_proj", "", tower="encoder"),
        Row("down_proj", ENCODER_LANGUAGE_MODEL + ".mlp.down_proj", "", tower="encoder"),
        Row("down_proj", ENCODER_LANGUAGE_MODEL + ".experts.down_proj", "1", tower="encoder", leaf="", stacked="1"),
        Row("post_feedforward_layernorm", ENCODER_LANGUAGE_MODEL + ".post_feedforward_layernorm", "", tower="encoder"),
        Row("input_layernorm", DECODER + ".input_layernorm", "", tower="decoder"),
        Row("q_proj", DECODER + ".self_attn.q_proj", "", tower="decoder"),
        Row("k_proj", DECODER + ".self_attn.k_proj", "", tower="decoder"),
        Row("v_proj", DECODER + ".self_attn.v_proj", "", tower="decoder"),
        Row("o_proj", DECODER + ".self_attn.o_proj", "", tower="decoder"),
        Row("per_expert_scale", DECODER + ".router.per_expert_scale", "", tower="decoder", leaf=""),
        Row("proj_router", DECODER + ".router.proj", "", tower="decoder"),
        Row("post_feedforward_layernorm_1", DECODER + ".post_feedforward_layernorm_1", "", tower="decoder"),
        Row("post_feedforward_layernorm_2", DECODER + ".post_feedforward_layernorm_2", "", tower="decoder"),
        Row("pre_feedforward_layernorm_2", DECODER + ".pre_feedforward_layernorm_2", "", tower="decoder"),
        Row("q_norm", DECODER + ".self_attn.q_norm", "", tower="decoder"),
        Row("k_norm", DECODER + ".self_attn.k_norm", "", tower="decoder"),
        Row("post_attention_layernorm", DECODER + ".post_attention_layernorm", "", tower="decoder"),
        Row("pre_feedforward_layernorm", DECODER + ".pre_feedforward_layernorm", "", tower="decoder"),
        Row("router", DECODER + ".router.scale", "", tower="decoder", leaf=""),
        Row("gate_up_proj", DECODER + ".experts.gate_up_proj", "1", tower="decoder", leaf="", stacked="1"),
        Row("gate_proj", DECODER + ".mlp.gate_proj", "", tower="decoder"),
        Row("up_proj", DECODER + ".mlp.up_proj", "", tower="decoder"),
        Row("down_proj", DECODER + ".mlp.down_proj", "", tower="decoder"),
        Row("down_proj", DECODER + ".experts.down_proj", "1", tower="decoder", leaf="", stacked="1"),
        Row("post_feedforward_layernorm", DECODER + ".post_feedforward_layernorm", "", tower="decoder"),
        Row("norm", "model.encoder.language_model.norm", "", tower="encoder"),
        Row("norm", "model.decoder.norm", "", tower="decoder"),
        Row("pre_norm", "model.decoder.self_conditioning.pre_norm", "", tower="decoder"),
        Row("gate_proj", "model.decoder.self_conditioning.gate_proj", "", tower="decoder"),
        Row("up_proj", "model.decoder.self_conditioning.up_proj", "", tower="decoder"),
        Row("down_proj", "model.decoder.self_conditioning.down_proj", "", tower="decoder"),
        Row("lm_head", "lm_head", ""),
        Row("layer_scalar", ENCODER_LANGUAGE_MODEL + ".layer_scalar", "", tower="encoder", leaf="", buffer=True),
        Row("layer_scalar", DECODER + ".layer_scalar", "", tower="decoder", leaf="", buffer=True),
    ),
    prefix="model.",
    names_only=True,
    head="ForBlockDiffusion",
)
