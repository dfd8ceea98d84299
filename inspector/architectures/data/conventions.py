"""The meaning of words in tensor names, by any convention: for names that match no family's table.

`TAILS` maps the last words of a module's path to a role; the longest match wins. The conventions:
Transformers, Meta's original Llama, GPT-2, BERT, Megatron (Falcon, BLOOM, GPT-NeoX), OPT, T5, MPT, diffusers.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Last words that are a tensor's part, not a module.
PARTS = frozenset({"weight", "bias"})

#: Older names of parts, from TensorFlow's checkpoints.
PART_ALIASES: Mapping[str, str] = {"gamma": "weight", "beta": "bias", "scale": "weight"}

#: Whole last words that combine a module's name and its part: OpenAI's gpt-oss.
PART_WORDS: Mapping[str, str] = {"mlp1_bias": "bias", "mlp2_bias": "bias"}

#: Leading words of a wrapper, which do not affect a tensor's purpose.
WRAPPERS = frozenset(
    {
        "model",
        "transformer",
        "module",
        "_orig_mod",
        "base_model",
        "language_model",
        "gpt_neox",
        "bert",
        "backbone",
        "text_model",
        "roberta",
        "thinker",
        "llm",
        "diffusion_model",
    }
)

#: Those of them that only ever contain a whole model: a single word after them is one of its tensors.
HOLDERS = frozenset({"diffusion_model"})

#: First words of names in GGUF files, which have their own table: `gguf_names`.
GGUF_WORDS = frozenset({
    "blk", "token_embd", "token_embd_norm", "token_types", "position_embd", "output", "output_norm",
    "rope_freqs", "rope_factors_long", "rope_factors_short", "enc", "dec", "cls", "conv1d", "convnext",
    "posnet", "dense_2", "dense_3", "per_layer_token_embd", "per_layer_model_proj", "per_layer_proj_norm",
    "altup_proj", "altup_unembd_proj", "v", "a", "mm", "resampler", "hrm", "direction", "masked_embd_centroids",
    "masked_embd_ordering",
    "output_hc_fn", "output_hc_base", "output_hc_scale", "output_hc_norm", "output_hc_down", "output_hc_up",
    "output_res_score", "nextn", "markov_w1", "markov_w2", "conf_proj", "selector_predecessor", "selector_successor",
    "selector_hidden", "d2t"
})  # fmt: skip

#: Words before an expert's number.
EXPERT_WORDS = frozenset({"experts", "expert", "local_experts"})

#: Words in a path without an expert's number: all experts of the layer are in one tensor. `switch_mlp` is MLX's,
#: `mlp1_weight` and the like are from OpenAI's gpt-oss.
STACKED_WORDS = frozenset({"experts", "switch_mlp", "mlp1_weight", "mlp1_bias", "mlp2_weight", "mlp2_bias"})

#: Suffixes of a parametrized weight that PyTorch splits into lengths and directions: current → before 2023.
SPLIT_WEIGHTS: Mapping[str, str] = {
    "parametrizations.weight.original0": "weight_g",
    "parametrizations.weight.original1": "weight_v",
}

#: Words in a path → the tower; the first match wins.
TOWERS: Mapping[str, str] = {
    "vision_tower": "vision",
    "vision_model": "vision",
    "vision_encoder": "vision",
    "visual": "vision",
    "image_encoder": "vision",
    "sam_model": "vision",
    "audio_tower": "audio",
    "audio_model": "audio",
    "audio_encoder": "audio",
    "multi_modal_projector": "projector",
    "mm_projector": "projector",
    "connector": "projector",
    "projector": "projector",
    "mtp": "mtp",
    "mtp_layers": "mtp",
    "encoder": "encoder",
    "decoder": "decoder",
}

#: Role, preceded by a branch if any ("cross q_proj") → last words of paths.
_ROLES_BY_TAIL: Mapping[str, str] = {
    "embed_tokens": (
        "embed_tokens tok_embeddings wte embedding word_embeddings embed_in shared embeddings.word_embeddings "
        "token_embd"
    ),
    "embed_positions": (
        "embed_positions wpe position_embeddings embeddings.position_embeddings pos_embed position_embd "
        "pos_embed.pos_embed"
    ),
    "embed_token_types": "token_type_embeddings token_types",
    "embed_patches": (
        "patch_embed.proj patch_embedding patch_embeddings.projection visual.conv1 vision_model.conv1 x_embedder "
        "pos_embed.proj patch_embed.patch_embedding"
    ),
    "embed_class": "class_embedding cls_token register_tokens distillation_token",
    "embed_norm": (
        "layernorm_embedding embeddings.layer_norm embeddings.norm embeddings.LayerNorm "
        "word_embeddings_layernorm emb_ln token_embd_norm"
    ),
    "q_proj": (
        "q_proj wq attention.self.query self.query attention.query to_q attn_q query SelfAttention.q "
        "EncDecAttention.q encoder_attn.q_proj cross_attn.q_proj"
    ),
    "k_proj": (
        "k_proj wk attention.self.key self.key attention.key to_k attn_k key SelfAttention.k EncDecAttention.k "
        "encoder_attn.k_proj cross_attn.k_proj"
    ),
    "v_proj": (
        "v_proj wv attention.self.value self.value attention.value to_v attn_v value SelfAttention.v "
        "EncDecAttention.v encoder_attn.v_proj cross_attn.v_proj"
    ),
    "o_proj": (
        "o_proj wo attention.output.dense self_attn.out_proj attn.out_proj attention.out_proj attn.c_proj "
        "to_out self_attention.dense attention.dense self_attn.dense attn_output attn.proj SelfAttention.o "
        "attn.dense block.attn.out EncDecAttention.o encoder_attn.out_proj cross_attn.o_proj "
        "crossattention.output.dense attention.proj attn.proj_out attn_1.proj_out multihead_attn.out_proj"
    ),
    "qkv_proj": (
        "qkv_proj c_attn query_key_value Wqkv attn.qkv W_pack in_proj_weight attn_qkv wqkv attention.wqkv att_proj"
    ),
    "q_norm": "q_norm q_layernorm attn_q_norm query_norm norm_q",
    "k_norm": "k_norm k_layernorm attn_k_norm key_norm norm_k",
    "q_a_proj": "q_a_proj attn_q_a",
    "q_b_proj": "q_b_proj attn_q_b",
    "q_a_layernorm": "q_a_layernorm attn_q_a_norm",
    "kv_a_proj_with_mqa": "kv_a_proj_with_mqa attn_kv_a_mqa",
    "kv_b_proj": "kv_b_proj attn_kv_b",
    "kv_a_layernorm": "kv_a_layernorm attn_kv_a_norm",
    "sinks": "sinks attn_sinks",
    "gate_proj": "gate_proj feed_forward.w1 experts.w1 mlp.w1 wi_0 ffn_gate linear_fc1_gate",
    "up_proj": (
        "up_proj feed_forward.w3 experts.w3 mlp.w3 wi_1 ffn_up wi c_fc fc1 dense_h_to_4h intermediate.dense "
        "mlp.fc_in fc_in ff.net.proj ff_net.proj"
    ),
    "down_proj": (
        "down_proj feed_forward.w2 experts.w2 mlp.w2 wo_ff ffn_down DenseReluDense.wo mlp.c_proj fc2 "
        "dense_4h_to_h output.dense mlp.fc_out fc_out block.mlp.mlp2_weight block.mlp.mlp2_bias ff.net ffn.net ff_net "
        "mlp.wo"
    ),
    "gate_up_proj": "gate_up_proj up_gate_proj ff_proj block.mlp.mlp1_weight block.mlp.mlp1_bias",
    "shared_gate_up_proj": "shared_experts.gate_up_proj shared_expert.gate_up_proj shared_mlp.gate_up_proj",
    "shared_gate_proj": "shared_experts.gate_proj shared_expert.gate_proj shared_mlp.gate_proj",
    "shared_up_proj": "shared_experts.up_proj shared_expert.up_proj shared_mlp.up_proj",
    "shared_down_proj": "shared_experts.down_proj shared_expert.down_proj shared_mlp.down_proj",
    "shared_expert_gate": "shared_expert_gate",
    "router": (
        "router.gate router.proj router.classifier router.linear block_sparse_moe.gate mlp.gate "
        "feed_forward.gate moe.gate router router.weight mlp.router router.layer"
    ),
    "router_bias": (
        "expert_bias mlp.expert_bias moe.expert_bias gate.bias_term moe_statics.e_score_correction_bias "
        "e_score_correction_bias gate.e_score_correction_bias"
    ),
    "input_layernorm": (
        "input_layernorm encoder_attn_layer_norm attention_norm ln_1 norm_1 ln1 norm1 layer_norm1 "
        "self_attn_layer_norm attn_norm "
        "layernorm_before ln_attn SelfAttention.layer_norm block.attn.norm"
    ),
    "post_attention_layernorm": (
        "post_attention_layernorm ffn_norm ln_2 norm_2 ln2 norm2 layer_norm2 attention.output.LayerNorm "
        "crossattention.output.LayerNorm layernorm_after ln_mlp block.mlp.norm"
    ),
    "pre_feedforward_layernorm": "pre_feedforward_layernorm pre_mlp_layernorm pre_ff_layernorm pre_mlp_norm",
    "post_feedforward_layernorm": (
        "post_feedforward_layernorm layers.final_layer_norm output.LayerNorm post_mlp_layernorm "
        "post_ff_layernorm post_mlp_norm"
    ),
    "norm": (
        "norm shared_head.norm ln_f norm_f final_layernorm final_layer_norm final_norm post_layernorm output_norm"
    ),
    "lm_head": (
        "lm_head shared_head.head output embed_out predictions.decoder cls.predictions.decoder lm_head.decoder "
        "generator_lm_head unembedding"
    ),
    "score": "score",
    "classifier": "classifier classifier.out_proj classification_head.out_proj class_embed class_predictor",
    "pooler": "pooler.dense",
    "qa_outputs": "qa_outputs",
    "head_dense": (
        "predictions.transform.dense lm_head.dense classifier.dense classification_head.dense transform.dense "
        "predictions.dense head.projection"
    ),
    "head_norm": "predictions.transform.LayerNorm lm_head.layer_norm transform.LayerNorm",
    "lm_head_bias": "cls.predictions",
    "nsp_head": "cls.seq_relationship seq_relationship",
    "in_proj": "mixer.in_proj mamba.in_proj in_proj_qkvz linear_attn.in_proj",
    "x_proj": "x_proj",
    "dt_proj": "dt_proj",
    "out_proj": "mixer.out_proj mamba.out_proj linear_attn.out_proj",
    "ssm_norm": "linear_attn.norm mixer.norm mamba.norm",
    "A_log": "A_log",
    "D": "mixer.D mamba.D",
    "dt_bias": "dt_bias",
    "conv1d": "conv1d",
    "inv_freq": "rotary_emb.inv_freq inv_freq rotary_pos_emb.inv_freq original_inv_freq",
    "causal_mask": "attn.bias attention.bias",
    "masked_bias": "masked_bias",
    "position_ids": "position_ids relative_position_index",
    "token_type_ids": "token_type_ids",
    "prompt_embeddings": "prompt_embeddings prefix_task_cols prefix_task_rows",
    "conv1 conv": "conv1",
    "conv2 conv": "conv2",
    "conv3 conv": "conv3",
    "conv_shortcut": "conv_shortcut nin_shortcut",
    "modulation": (
        "time_emb_proj norm1.linear norm2.linear norm.linear norm_out.linear norm_out.linear_1 adaln_single.linear "
        "adaLN_modulation scale_shift_table time_proj img_mod txt_mod adaln_linear modulation.linear mod.linear "
        "modulation ada_norm.linear"
    ),
    "downsample_conv": "downsamplers.conv",
    "upsample_conv": "upsamplers.conv",
    "in proj": "proj_in",
    "out proj": "proj_out",
    "embed_features": "context_embedder feature_projection.projection",
    "shared_vectors": "vblora_vector_bank unilora_theta_d tinylora_v",
    "rope_freqs": "rope_freqs rope.freqs",
    "draft_to_target": "d2t",
    "target_to_draft": "t2d",
    "visual joint_proj": "visual_projection",
    "text joint_proj": "text_projection",
    "conv_norm": "bn bn1 bn2 bn3 batch_norm group_norm",
    "conv_scale": "parametrizations.weight.original0 weight_g",
    "conv": "parametrizations.weight.original1 weight_v",
    "box_head": "bbox_embed.layers bbox_predictor.layers",
    "1 layer_scale": "lambda_1 layer_scale1.lambda1 ls1",
    "2 layer_scale": "lambda_2 layer_scale2.lambda1 ls2",
    "layer_scale": "lab self_attn_layer_scale mlp_layer_scale",
    "newline embed_special": "image_newline",
    "separator embed_special": "view_seperator",
    "embed_queries": "query_tokens latents probe iou_token mask_tokens",
    "embed_mask": "mask_token masked_spec_embed null_condition_emb",
    "attn_positions": "relative_position_bias_table",
    "h attn_positions": "rel_pos_h",
    "w attn_positions": "rel_pos_w",
    "gate_attn": "self_attn.gate_proj self_attn.g_proj attention.g_proj",
    "indexer attn_weights": "indexer.weights_proj",
    "indexer q_b_proj": "indexer.wq_b",
    "indexer k_proj": "indexer.wk",
    "indexer k_norm": "indexer.k_norm",
    "embed_codes": "quantizer.codevectors",
    # diffusers
    "1 embed_condition": (
        "timestep_embedder.linear_1 time_embedder.linear_1 time_embedding.linear_1 condition_embedder.linear_1 "
        "guidance_embedder.linear_1 add_embedding.linear_1 resolution_embedder.linear_1 pooled_embedder.linear_1 "
        "aspect_ratio_embedder.linear_1 size_embedder.linear_1 style_embedder.linear_1 time_embed.linear_1 "
        "class_embedder.linear_1 time_text_embed.text_embedder.linear_1"
    ),
    "2 embed_condition": (
        "timestep_embedder.linear_2 time_embedder.linear_2 time_embedding.linear_2 condition_embedder.linear_2 "
        "guidance_embedder.linear_2 add_embedding.linear_2 resolution_embedder.linear_2 pooled_embedder.linear_2 "
        "aspect_ratio_embedder.linear_2 size_embedder.linear_2 style_embedder.linear_2 time_embed.linear_2 "
        "class_embedder.linear_2 time_text_embed.text_embedder.linear_2"
    ),
    "embed_condition": "t_embedder.mlp time_in.mlp vector_in.mlp class_embedder.embedding_table class_embedding",
    "1 embed_features": "text_embedder.linear_1 caption_projection.linear_1 caption_embedder.linear_1",
    "2 embed_features": "text_embedder.linear_2 caption_projection.linear_2 caption_embedder.linear_2",
    "text embed_features": "text_proj text_projector cap_embedder text_in txt_in caption_projection.linear",
    "context modulation": "norm1_context.linear norm2_context.linear txt_mod.linear",
    "added q_norm": "norm_added_q",
    "added k_norm": "norm_added_k",
    "added q_proj": "add_q_proj",
    "added k_proj": "add_k_proj",
    "added v_proj": "add_v_proj",
    "added o_proj": "to_add_out",
    "1 conv_norm": "resnets.norm1 block.norm1",
    "2 conv_norm": "resnets.norm2 block.norm2",
    "out conv_norm": "conv_norm_out",
    "conv_in": "conv_in",
    "conv_out": "conv_out",
    "embed_special": "special_token x_pad_token cap_pad_token",
    "output_head": "final_layer.linear norm_out.linear_2",
    "in embed_condition": "time_in.in_layer vector_in.in_layer guidance_in.in_layer time_embeddings.in_layer",
    "out embed_condition": "time_in.out_layer vector_in.out_layer guidance_in.out_layer time_embeddings.out_layer",
    "modulation.out modulation": "modulation.out_layer visual_modulation.out_layer text_modulation.out_layer",
    "attention.out o_proj": "attention.out_layer self_attention.out_layer cross_attention.out_layer",
    "feed_forward.in up_proj": "feed_forward.in_layer ff_in",
    "feed_forward.out down_proj": "feed_forward.out_layer ff_out",
    "image embed_patches": "img_in",
    "kv_proj": "to_kv",
    "latent embed_queries": "latent_queries",
    "context up_proj": "ff_context.net.proj",
    "context down_proj": "ff_context.net",
}

#: Whole paths → role and branch, for words with a different meaning at the end of a longer path.
PATHS: Mapping[str, tuple[str, str]] = {"embedding": ("embed_tokens", ""), "proj_out": ("output_head", "")}

#: Last words of a path → role and branch.
TAILS: Mapping[str, tuple[str, str]] = {
    tail: (role, branch)
    for what, tails in _ROLES_BY_TAIL.items()
    for branch, _, role in [what.rpartition(" ")]
    for tail in tails.split()
}

#: The longest entry of `TAILS`, in words.
LONGEST_TAIL = max(tail.count(".") + 1 for tail in TAILS)

#: Last words of the statistics that a batch normalization keeps.
STATISTICS = frozenset({"running_mean", "running_var", "num_batches_tracked"})
#: Suffixes of tensors that are buffers in nearly all models, such as a router's correction: no gradient changes them.
BUFFER_ENDS = (
    ".gate.e_score_correction_bias",
    ".EncDecAttention.relative_attention_bias.weight",  # T5's first releases; ignored since
    *(".embed_positions.weights", ".encode_positions.pe"),  # sinusoids
    *(".encoder.version", ".decoder.version"),  # fairseq's, which BART's checkpoints kept
    *(".stride", ".strides", ".anchors", ".anchor_grid"),  # of a YOLO's grids
)
#: Roles that are a buffer only under these paths: `attn.bias` is GPT-2's mask if the module has no weight.
BUFFER_PATHS = frozenset(
    {
        *("h.{}.attn.bias", "h.{}.attn.masked_bias", "h.{}.attn.attention.bias", "h.{}.attn.attention.masked_bias"),
        *("layers.{}.attention.bias", "layers.{}.attention.masked_bias"),
    }
)

#: Words in a path that suggest a role, for tensors otherwise unknown: the first found among the last words.
WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("adapter_down", ("lora_A", "lora_a", "lora_embedding_A", "lora_down", "lora.down", "adapter_down")),
    ("adapter_up", ("lora_", "adapter")),
    ("layer_norm", ("norm", "ln_", "layernorm")),
    ("activation", ("snake",)),
    ("embed_tokens", ("embed", "wte", "wpe")),
    ("router", ("router",)),
    ("q_proj", ("q_proj",)),
    ("k_proj", ("k_proj",)),
    ("v_proj", ("v_proj",)),
    ("o_proj", ("o_proj",)),
    ("attn_mix", ("attn", "attention", "qkv")),
    ("conv", ("conv",)),
    ("gate_proj", ("gate_proj",)),
    ("up_proj", ("up_proj", "fc1")),
    ("down_proj", ("down_proj", "fc2")),
    ("proj", ("mlp", "ffn", "feed_forward", "expert", "proj", "linear", "dense")),
    ("in_proj", ("mamba", "ssm", "mixer")),
    ("output_head", ("head", "classifier")),
)

#: Texts in a path that indicate cross-attention, whose roles are in a branch of that name.
CROSS = ("cross_att", "crossatt", "encoder_attn", "EncDecAttention")
