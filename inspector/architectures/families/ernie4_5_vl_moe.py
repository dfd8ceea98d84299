"""Model type ernie4_5_vl_moe.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer}"
MLP_EXPERTS = "model.layers.{layer}.mlp.experts.{expert}"
VISION_MODEL = "model.vision_model.blocks.{layer}"

FAMILY = Family(
    name="ernie4_5_vl_moe",
    types={"ernie4_5_vl_moe": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", ""),
        Row("embed_patches", "model.vision_model.patch_embed.proj", "", tower="vision"),
        Row("input_layernorm", LAYER + ".input_layernorm", ""),
        Row("q_proj", LAYER + ".self_attn.q_proj", ""),
        Row("k_proj", LAYER + ".self_attn.k_proj", ""),
        Row("v_proj", LAYER + ".self_attn.v_proj", ""),
        Row("o_proj", LAYER + ".self_attn.o_proj", ""),
        Row("weight_1", LAYER + ".mlp.gate.weight_1", "", leaf="", group="feed_forward"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", ""),
        Row("router", LAYER + ".mlp.gate", ""),
        Row("router_bias", LAYER + ".mlp.moe_statics.e_score_correction_bias", "", leaf=""),
        Row("gate_proj", LAYER + ".mlp.gate_proj", ""),
        Row("gate_proj", MLP_EXPERTS + ".gate_proj", ""),
        Row("up_proj", LAYER + ".mlp.up_proj", ""),
        Row("up_proj", MLP_EXPERTS + ".up_proj", ""),
        Row("down_proj", LAYER + ".mlp.down_proj", ""),
        Row("down_proj", MLP_EXPERTS + ".down_proj", ""),
        Row("shared_gate_proj", LAYER + ".mlp.shared_experts.gate_proj", ""),
        Row("shared_up_proj", LAYER + ".mlp.shared_experts.up_proj", ""),
        Row("shared_down_proj", LAYER + ".mlp.shared_experts.down_proj", ""),
        Row("input_layernorm", VISION_MODEL + ".norm1", "", tower="vision"),
        Row("qkv_proj", VISION_MODEL + ".attn.qkv", "", tower="vision"),
        Row("o_proj", VISION_MODEL + ".attn.proj", "", tower="vision"),
        Row("post_attention_layernorm", VISION_MODEL + ".norm2", "", tower="vision"),
        Row("up_proj", VISION_MODEL + ".mlp.fc1", "", tower="vision"),
        Row("down_proj", VISION_MODEL + ".mlp.fc2", "", tower="vision"),
        Row("norm", "model.norm", ""),
        Row("after_norm", "model.resampler_model.after_norm", ""),
        Row("mlp", "model.resampler_model.mlp", ""),
        Row("lm_head", "lm_head", ""),
        Row("ln", "model.vision_model.ln", "", tower="vision", group="norm"),
    ),
    prefix="model.",
    names_only=True,
    head="ForConditionalGeneration",
)
