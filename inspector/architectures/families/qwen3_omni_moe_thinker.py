"""Model type qwen3_omni_moe_thinker.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer}"
MLP_EXPERTS = "model.layers.{layer}.mlp.experts.{expert}"
LANGUAGE_MODEL = "language_model.layers.{layer}"
MLP_EXPERTS_ = "language_model.layers.{layer}.mlp.experts.{expert}"
AUDIO_TOWER = "audio_tower.layers.{layer}"
VISUAL = "visual.blocks.{layer}"

FAMILY = Family(
    name="qwen3_omni_moe_thinker",
    types={"qwen3_omni_moe_thinker": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", ""),
        Row("language_model_embed_tokens", "language_model.embed_tokens", ""),
        Row("embed_patches", "visual.patch_embed.proj", "", tower="vision"),
        Row("embed_positions", "visual.pos_embed", "", tower="vision"),
        Row("input_layernorm", LAYER + ".input_layernorm", ""),
        Row("q_proj", LAYER + ".self_attn.q_proj", ""),
        Row("k_proj", LAYER + ".self_attn.k_proj", ""),
        Row("v_proj", LAYER + ".self_attn.v_proj", ""),
        Row("o_proj", LAYER + ".self_attn.o_proj", ""),
        Row("q_norm", LAYER + ".self_attn.q_norm", ""),
        Row("k_norm", LAYER + ".self_attn.k_norm", ""),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", ""),
        Row("router", LAYER + ".mlp.gate", ""),
        Row("gate_proj", MLP_EXPERTS + ".gate_proj", ""),
        Row("gate_proj", LAYER + ".mlp.gate_proj", ""),
        Row("up_proj", MLP_EXPERTS + ".up_proj", ""),
        Row("up_proj", LAYER + ".mlp.up_proj", ""),
        Row("down_proj", MLP_EXPERTS + ".down_proj", ""),
        Row("down_proj", LAYER + ".mlp.down_proj", ""),
        Row("language_model_input_layernorm", LANGUAGE_MODEL + ".input_layernorm", ""),
        Row("experts_down_proj", MLP_EXPERTS_ + ".down_proj", ""),
        Row("experts_gate_proj", MLP_EXPERTS_ + ".gate_proj", ""),
        Row("experts_up_proj", MLP_EXPERTS_ + ".up_proj", ""),
        Row("gate_router", LANGUAGE_MODEL + ".mlp.gate", ""),
        Row("language_model_post_attention_layernorm", LANGUAGE_MODEL + ".post_attention_layernorm", ""),
        Row("self_attn_k_norm", LANGUAGE_MODEL + ".self_attn.k_norm", ""),
        Row("self_attn_k_proj", LANGUAGE_MODEL + ".self_attn.k_proj", ""),
        Row("self_attn_o_proj", LANGUAGE_MODEL + ".self_attn.o_proj", ""),
        Row("self_attn_q_norm", LANGUAGE_MODEL + ".self_attn.q_norm", ""),
        Row("self_attn_q_proj", LANGUAGE_MODEL + ".self_attn.q_proj", ""),
        Row("self_attn_v_proj", LANGUAGE_MODEL + ".self_attn.v_proj", ""),
        Row("mlp_down_proj", LANGUAGE_MODEL + ".mlp.down_proj", ""),
        Row("mlp_gate_proj", LANGUAGE_MODEL + ".mlp.gate_proj", ""),
        Row("mlp_up_proj", LANGUAGE_MODEL + ".mlp.up_proj", ""),
        Row("input_layernorm", AUDIO_TOWER + ".self_attn_layer_norm", "", tower="audio"),
        Row("q_proj", AUDIO_TOWER + ".self_attn.q_proj", "", tower="audio"),
        Row("k_proj", AUDIO_TOWER + ".self_attn.k_proj", "", tower="audio"),
        Row("v_proj", AUDIO_TOWER + ".self_attn.v_proj", "", tower="audio"),
        Row("o_proj", AUDIO_TOWER + ".self_attn.out_proj", "", tower="audio"),
        Row("norm", AUDIO_TOWER + ".final_layer_norm", "", tower="audio"),
        Row("up_proj", AUDIO_TOWER + ".fc1", "", tower="audio"),
        Row("down_proj", AUDIO_TOWER + ".fc2", "", tower="audio"),
        Row("input_layernorm", VISUAL + ".norm1", "", tower="vision"),
        Row("qkv_proj", VISUAL + ".attn.qkv", "", tower="vision"),
        Row("o_proj", VISUAL + ".attn.proj", "", tower="vision"),
        Row("linear_fc1", VISUAL + ".mlp.linear_fc1", "", tower="vision"),
        Row("linear_fc2", VISUAL + ".mlp.linear_fc2", "", tower="vision"),
        Row("post_attention_layernorm", VISUAL + ".norm2", "", tower="vision"),
        Row("mlp", "visual.merger.mlp.{layer}", "", tower="vision"),
        Row("ln_q", "visual.merger_list.{layer}.ln_q", "", tower="vision"),
        Row("mlp", "visual.merger_list.{layer}.mlp.{mlp}", "", tower="vision"),
        Row("lm_head", "lm_head", ""),
        Row("norm", "model.norm", ""),
        Row("language_model_norm", "language_model.norm", ""),
        Row("conv2d1", "audio_tower.conv2d1", "", tower="audio"),
        Row("conv2d2", "audio_tower.conv2d2", "", tower="audio"),
        Row("conv2d3", "audio_tower.conv2d3", "", tower="audio"),
        Row("conv_out", "audio_tower.conv_out", "", tower="audio"),
        Row("ln_post", "audio_tower.ln_post", "", tower="audio"),
        Row("proj1", "audio_tower.proj1", "", tower="audio"),
        Row("proj2", "audio_tower.proj2", "", tower="audio"),
        Row("ln_q", "visual.merger.ln_q", "", tower="vision"),
    ),
    prefix="model.",
    prefixes={"Model": "model."},
    names_only=True,
    head="ForConditionalGeneration",
)
