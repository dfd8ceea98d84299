"""Model type mistral_large4.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer}"
EXPERTS = "layers.{layer}.experts.{expert}"
LANGUAGE_MODEL = "language_model.layers.{layer}"
LANGUAGE_MODEL_EXPERTS = "language_model.layers.{layer}.experts.{expert}"
VISION_ENCODER_TRANSFORMER = "vision_encoder.transformer.layers.{layer}"
VISION_TOWER_TRANSFORMER = "vision_tower.transformer.layers.{layer}"

FAMILY = Family(
    name="mistral_large4",
    types={"mistral_large4": {}},
    rows=(
        Row("embed_tokens", "tok_embeddings", ""),
        Row("language_model_embed_tokens", "language_model.embed_tokens", ""),
        Row("input_layernorm", LAYER + ".attention_norm", ""),
        Row("q_proj", LAYER + ".attention.wq", ""),
        Row("k_proj", LAYER + ".attention.indexer.wk", ""),
        Row("o_proj", LAYER + ".attention.wo", ""),
        Row("q_input_norm", LAYER + ".attention.indexer.q_input_norm", ""),
        Row("b", LAYER + ".attention.indexer.ssmax_scaling.b", "", leaf="", group="state_space"),
        Row("s", LAYER + ".attention.indexer.ssmax_scaling.s", "", leaf="", group="state_space"),
        Row("weights_proj", LAYER + ".attention.indexer.weights_proj", "", group="attention"),
        Row("wq_b", LAYER + ".attention.indexer.wq_b", "", group="attention"),
        Row("kv_a_norm", LAYER + ".attention.kv_a_norm", ""),
        Row("wkv_a_with_mqa", LAYER + ".attention.wkv_a_with_mqa", "", group="attention"),
        Row("wkv_b", LAYER + ".attention.wkv_b", "", group="attention"),
        Row("ssmax_scaling_b", LAYER + ".attention.ssmax_scaling.b", "", leaf=""),
        Row("ssmax_scaling_s", LAYER + ".attention.ssmax_scaling.s", "", leaf=""),
        Row("gate", LAYER + ".gate", ""),
        Row("w2", LAYER + ".shared_experts.w2", "", group="feed_forward"),
        Row("w1", LAYER + ".shared_experts.w1", "", group="feed_forward"),
        Row("w3", LAYER + ".shared_experts.w3", "", group="feed_forward"),
        Row("k_norm", LAYER + ".attention.indexer.k_norm", ""),
        Row("post_attention_layernorm", LAYER + ".ffn_norm", ""),
        Row("gate_proj", LAYER + ".feed_forward.w1", ""),
        Row("gate_proj", EXPERTS + ".w1", ""),
        Row("up_proj", LAYER + ".feed_forward.w3", ""),
        Row("up_proj", EXPERTS + ".w3", ""),
        Row("down_proj", LAYER + ".feed_forward.w2", ""),
        Row("down_proj", EXPERTS + ".w2", ""),
        Row("attention_norm_input_layernorm", LANGUAGE_MODEL + ".attention_norm", ""),
        Row("w2_down_proj", LANGUAGE_MODEL + ".feed_forward.w2", ""),
        Row("w1_gate_proj", LANGUAGE_MODEL + ".feed_forward.w1", ""),
        Row("w3_up_proj", LANGUAGE_MODEL + ".feed_forward.w3", ""),
        Row("ffn_norm_post_attention_layernorm", LANGUAGE_MODEL + ".ffn_norm", ""),
        Row("indexer_k_norm", LANGUAGE_MODEL + ".attention.indexer.k_norm", ""),
        Row("indexer_q_input_norm", LANGUAGE_MODEL + ".attention.indexer.q_input_norm", ""),
        Row("indexer_ssmax_scaling_b", LANGUAGE_MODEL + ".attention.indexer.ssmax_scaling.b", "", leaf=""),
        Row("indexer_ssmax_scaling_s", LANGUAGE_MODEL + ".attention.indexer.ssmax_scaling.s", "", leaf=""),
        Row("indexer_weights_proj", LANGUAGE_MODEL + ".attention.indexer.weights_proj", "", group="attention"),
        Row("wk_k_proj", LANGUAGE_MODEL + ".attention.indexer.wk", ""),
        Row("indexer_wq_b", LANGUAGE_MODEL + ".attention.indexer.wq_b", "", group="attention"),
        Row("attention_kv_a_norm", LANGUAGE_MODEL + ".attention.kv_a_norm", ""),
        Row("attention_wkv_a_with_mqa", LANGUAGE_MODEL + ".attention.wkv_a_with_mqa", ""),
        Row("attention_wkv_b", LANGUAGE_MODEL + ".attention.wkv_b", ""),
        Row("wo_o_proj", LANGUAGE_MODEL + ".attention.wo", ""),
        Row("wq_q_proj", LANGUAGE_MODEL + ".attention.wq", ""),
        Row(
            "attention_ssmax_scaling_b", LANGUAGE_MODEL + ".attention.ssmax_scaling.b", "", leaf="", group="state_space"
        ),
        Row(
            "attention_ssmax_scaling_s", LANGUAGE_MODEL + ".attention.ssmax_scaling.s", "", leaf="", group="state_space"
        ),
        Row("w2_down_proj", LANGUAGE_MODEL_EXPERTS + ".w2", ""),
        Row("w1_gate_proj", LANGUAGE_MODEL_EXPERTS + ".w1", ""),
        Row("w3_up_proj", LANGUAGE_MODEL_EXPERTS + ".w3", ""),
        Row("language_model_gate", LANGUAGE_MODEL + ".gate", ""),
        Row("shared_experts_w2", LANGUAGE_MODEL + ".shared_experts.w2", ""),
        Row("shared_experts_w1", LANGUAGE_MODEL + ".shared_experts.w1", ""),
        Row("shared_experts_w3", LANGUAGE_MODEL + ".shared_experts.w3", ""),
        Row("input_layernorm", VISION_ENCODER_TRANSFORMER + ".attention_norm", "", tower="vision"),
        Row("q_proj", VISION_ENCODER_TRANSFORMER + ".attention.wq", "", tower="vision"),
        Row("k_proj", VISION_ENCODER_TRANSFORMER + ".attention.wk", "", tower="vision"),
        Row("v_proj", VISION_ENCODER_TRANSFORMER + ".attention.wv", "", tower="vision"),
        Row("o_proj", VISION_ENCODER_TRANSFORMER + ".attention.wo", "", tower="vision"),
        Row("post_attention_layernorm", VISION_ENCODER_TRANSFORMER + ".ffn_norm", "", tower="vision"),
        Row("gate_proj", VISION_ENCODER_TRANSFORMER + ".feed_forward.w1", "", tower="vision"),
        Row("up_proj", VISION_ENCODER_TRANSFORMER + ".feed_forward.w3", "", tower="vision"),
        Row("down_proj", VISION_ENCODER_TRANSFORMER + ".feed_forward.w2", "", tower="vision"),
        Row("wk_k_proj", VISION_TOWER_TRANSFORMER + ".attention.wk", "", tower="vision"),
        Row("wo_o_proj", VISION_TOWER_TRANSFORMER + ".attention.wo", "", tower="vision"),
        Row("wq_q_proj", VISION_TOWER_TRANSFORMER + ".attention.wq", "", tower="vision"),
        Row("wv_v_proj", VISION_TOWER_TRANSFORMER + ".attention.wv", "", tower="vision"),
        Row("attention_norm_input_layernorm", VISION_TOWER_TRANSFORMER + ".attention_norm", "", tower="vision"),
        Row("w2_down_proj", VISION_TOWER_TRANSFORMER + ".feed_forward.w2", "", tower="vision"),
        Row("w1_gate_proj", VISION_TOWER_TRANSFORMER + ".feed_forward.w1", "", tower="vision"),
        Row("w3_up_proj", VISION_TOWER_TRANSFORMER + ".feed_forward.w3", "", tower="vision"),
        Row("ffn_norm_post_attention_layernorm", VISION_TOWER_TRANSFORMER + ".ffn_norm", "", tower="vision"),
        Row("lm_head", "output", ""),
        Row("norm", "norm", ""),
        Row("w_in", "vision_language_adapter.w_in", "", group="adapter"),
        Row("w_out", "vision_language_adapter.w_out", "", group="adapter"),
        Row("pre_mm_projector_norm", "pre_mm_projector_norm", ""),
        Row("merging_layer", "patch_merger.merging_layer", ""),
        Row("language_model_norm", "language_model.norm", ""),
        Row("ln_pre", "vision_encoder.ln_pre", "", tower="vision"),
        Row("patch_conv", "vision_encoder.patch_conv", "", tower="vision"),
        Row("vision_tower_ln_pre", "vision_tower.ln_pre", "", tower="vision"),
        Row("vision_tower_patch_conv", "vision_tower.patch_conv", "", tower="vision"),
        Row("linear_1", "multi_modal_projector.linear_1", "", tower="projector"),
        Row("linear_2", "multi_modal_projector.linear_2", "", tower="projector"),
        Row("norm", "multi_modal_projector.norm", "", tower="projector"),
        Row("merging_layer", "multi_modal_projector.patch_merger.merging_layer", "", tower="projector"),
        Row("alpha", "lerope.alpha", "", leaf="", buffer=True),
        Row("rotary_emb_alpha", "language_model.rotary_emb.alpha", "", leaf="", buffer=True),
    ),
    names_only=True,
    head="ForConditionalGeneration",
)
