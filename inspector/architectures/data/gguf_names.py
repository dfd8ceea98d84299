"""What GGUF's tensor names mean, for all architectures that llama.cpp converts.

The names are those of the `gguf` package (`constants.TENSOR_NAMES`); a test holds that each of them is here.
A role is Transformers' word where it has one, else GGUF's own.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Start of a name → tower, the first that fits.
TOWERS: Mapping[str, str] = {
    "enc.": "encoder",
    "dec.": "decoder",
    "v.proj_blk.": "vision_projector",
    "v.": "vision",
    "a.proj_": "projector",
    "a.gen.code.": "code_predictor",  # of a model that speaks: the codes of a frame, one after the other
    "a.gen.wav.": "vocoder",  # and the sound from them
    "a.gen.": "flow",  # or from noise
    "a.": "audio",
    "mm.a.local_": "audio_projector",
    "mm.": "projector",
    "resampler.": "projector",
    "posnet.": "posnet",  # of a vocoder (WavTokenizer)
    "convnext.": "convnext",
}

#: Last words that are a tensor's part. Types without a scale of their own (BitNet, NVFP4) have one beside the weight.
SIDE_DATA = frozenset({"scale", "input_scale"})
#: What an importance matrix has of each weight: sums of squared inputs, and how many there were.
STATISTICS = frozenset({"in_sum2", "counts"})
PARTS = frozenset({"weight", "bias"}) | SIDE_DATA | STATISTICS

#: Part → its group, whatever its weight's is.
PART_GROUPS: Mapping[str, str] = dict.fromkeys(SIDE_DATA, "quantization") | dict.fromkeys(STATISTICS, "buffer")

#: Role → last words of names in a block: `blk.0.attn_q`, `enc.blk.0.attn_q`, `v.blk.0.attn_q`.
_IN_BLOCKS: Mapping[str, str] = {
    "input_layernorm": "attn_norm ln1",
    "attn_norm_2": "attn_norm_2",
    "q_proj": "attn_q",
    "k_proj": "attn_k",
    "v_proj": "attn_v",
    "qkv_proj": "attn_qkv",
    "o_proj": "attn_output attn_o attn_out",
    "sinks": "attn_sinks",
    "gate_attn": "attn_gate",
    "q_norm": "attn_q_norm",
    "k_norm": "attn_k_norm",
    "self_attn_norm": "attn_sub_norm attn_out_norm",
    "ffn_sub_norm": "ffn_sub_norm",
    "inv_freq": "attn_rot_embd",
    "relative_attention_bias": "attn_rel_b",
    "q_a_proj": "attn_q_a",
    "q_b_proj": "attn_q_b",
    "q_a_layernorm": "attn_q_a_norm",
    "kv_a_proj_with_mqa": "attn_kv_a_mqa",
    "kv_b_proj": "attn_kv_b",
    "k_b_proj": "attn_k_b",
    "v_b_proj": "attn_v_b",
    "kv_a_layernorm": "attn_kv_a_norm",
    "indexer_k_norm": "indexer.k_norm",
    "indexer_weights_proj": "indexer.proj",
    "indexer_k_proj": "indexer.attn_k indexer.k_proj",
    "indexer_q_b_proj": "indexer.attn_q_b",
    "cross_attn_norm": "cross_attn_norm",
    "cross_q_proj": "cross_attn_q",
    "cross_k_proj": "cross_attn_k",
    "cross_v_proj": "cross_attn_v",
    "cross_o_proj": "cross_attn_o cross_attn_out",
    "cross_relative_attention_bias": "cross_attn_rel_b",
    "vision_qkv_proj": "vis_attn_qkv",
    "vision_o_proj": "vis_attn_output",
    "vision_gate_proj": "vis_gate",
    "vision_up_proj": "vis_up",
    "vision_down_proj": "vis_down",
    "post_attention_layernorm": "post_attention_norm attn_output_norm ffn_norm ln2",
    "pre_feedforward_layernorm_2": "pre_ffw_norm_2",
    "post_feedforward_layernorm": "post_ffw_norm layer_output_norm ffn_post_norm",
    "post_feedforward_layernorm_1": "post_ffw_norm_1",
    "post_feedforward_layernorm_2": "post_ffw_norm_2",
    "gate_proj": "ffn_gate ffn_gate_exps",
    "up_proj": "ffn_up ffn_up_exps",
    "down_proj": "ffn_down ffn_down_exps",
    "gate_up_proj": "ffn_gate_up_exps",
    "shared_gate_proj": "ffn_gate_shexp",
    "shared_up_proj": "ffn_up_shexp",
    "shared_down_proj": "ffn_down_shexp",
    "chunk_gate_proj": "ffn_gate_chexps",
    "chunk_up_proj": "ffn_up_chexps",
    "chunk_down_proj": "ffn_down_chexps",
    "ffn_act": "ffn",
    "experts_norm": "ffn_norm_exps",
    "latent_down_proj": "ffn_latent_down ffn_routed_down",
    "latent_up_proj": "ffn_latent_up ffn_routed_up",
    "router": "ffn_gate_inp",
    "router_bias": "exp_probs_b",
    "shared_expert_gate": "ffn_gate_inp_shexp",
    "layer_scale": "layer_output_scale out_scale",
    "layer_scale_1": "ls1",
    "layer_scale_2": "ls2",
    "per_layer_input_gate": "inp_gate",
    "per_layer_projection": "proj",
    "post_per_layer_input_norm": "post_norm",
    "altup_correction_coefs": "altup_correct_coef",
    "altup_correct_output_scale": "altup_correct_scale",
    "altup_prediction_coefs": "altup_predict_coef",
    "altup_modality_router": "altup_router",
    "altup_router_norm": "altup_router_norm",
    "laurel_left": "laurel_l",
    "laurel_right": "laurel_r",
    "post_laurel_norm": "laurel_post_norm",
    "in_proj": "ssm_in",
    "conv1d": "ssm_conv1d",
    "q_conv1d": "ssm_conv1d_q",
    "k_conv1d": "ssm_conv1d_k",
    "v_conv1d": "ssm_conv1d_v",
    "x_proj": "ssm_x",
    "dt_proj": "ssm_dt",
    "dt_norm": "ssm_dt_norm",
    "b_norm": "ssm_b_norm",
    "c_norm": "ssm_c_norm",
    "A_log": "ssm_a",
    "D": "ssm_d",
    "ssm_norm": "ssm_norm",
    "out_proj": "ssm_out",
    "in_proj_a": "ssm_alpha",
    "in_proj_b": "ssm_beta",
    "in_proj_ba": "ssm_ba",
    "f_a_proj": "ssm_f_a",
    "f_b_proj": "ssm_f_b",
    "g_a_proj": "ssm_g_a",
    "g_b_proj": "ssm_g_b",
    "short_conv": "shortconv.conv",
    "short_conv_in_proj": "shortconv.in_proj",
    "short_conv_out_proj": "shortconv.out_proj",
    "attn_pre_norm": "attn_pre_norm",
    "attn_post_norm": "attn_post_norm",
    "layer_pre_norm": "layer_pre_norm",
    "k_rel": "attn_k_rel",
    "attn_rel_pos_emb": "attn_rel_pos_emb",
    "attn_linear_pos": "linear_pos",
    "attn_pos_bias_u": "pos_bias_u",
    "attn_pos_bias_v": "pos_bias_v",
    "per_dim_scale": "per_dim_scale",
    "per_dim_k_scale": "per_dim_k_scale",
    "ffn_scale": "ffn_scale",
    "ffn_norm_1": "ffn_norm_1",
    "ffn_post_norm_1": "ffn_post_norm_1",
    "ffn_scale_1": "ffn_scale_1",
    "gate_proj_1": "ffn_gate_1",
    "up_proj_1": "ffn_up_1",
    "down_proj_1": "ffn_down_1",
    "conv_norm": "conv_norm",
    "norm_conv": "norm_conv",
    "conv_dw": "conv_dw",
    "conv_pw1": "conv_pw1",
    "conv_pw2": "conv_pw2",
    "nextn_eh_proj": "nextn.eh_proj",
    "nextn_embed_tokens": "nextn.embed_tokens",
    "nextn_enorm": "nextn.enorm",
    "nextn_hnorm": "nextn.hnorm",
    "nextn_shared_head": "nextn.shared_head_head",
    "nextn_shared_head_norm": "nextn.shared_head_norm",
    "router_bias_vision": "exp_probs_b_vl",
    "tid2eid": "ffn_gate_tid2eid",
    "kv_proj": "attn_kv",
    "o_a_proj": "attn_output_a",
    "o_b_proj": "attn_output_b",
    "attn_res_score": "attn_res_score",
    "ffn_res_score": "ffn_res_score",
    "latent_norm": "ffn_routed_norm",
    "g_proj": "ssm_g",
    "hc_attn_fn": "hc_attn_fn",
    "hc_attn_base": "hc_attn_base",
    "hc_attn_scale": "hc_attn_scale",
    "hc_attn_norm": "hc_attn_norm",
    "hc_attn_down": "hc_attn_down",
    "hc_attn_up": "hc_attn_up",
    "hc_attn_inject": "hc_attn_inject",
    "hc_ffn_fn": "hc_ffn_fn",
    "hc_ffn_base": "hc_ffn_base",
    "hc_ffn_scale": "hc_ffn_scale",
    "hc_ffn_norm": "hc_ffn_norm",
    "hc_ffn_down": "hc_ffn_down",
    "hc_ffn_up": "hc_ffn_up",
    "hc_ffn_inject": "hc_ffn_inject",
    "ple_key_proj": "ple_key",
    "ple_value_proj": "ple_value",
    "ple_key_norm": "ple_norm_key",
    "ple_query_norm": "ple_norm_query",
    "ple_conv_norm": "ple_norm_conv",
    "ple_conv1d": "ple_conv1d",
    "compressor_kv_proj": "attn_compressor_kv",
    "compressor_gate_proj": "attn_compressor_gate",
    "compressor_positions": "attn_compressor_ape",
    "compressor_norm": "attn_compressor_norm",
    "indexer_q_proj": "indexer.q_proj",
    "indexer_q_norm": "indexer.q_norm",
    "indexer_compressor_kv_proj": "indexer_compressor_kv",
    "indexer_compressor_gate_proj": "indexer_compressor_gate",
    "indexer_compressor_positions": "indexer_compressor_ape",
    "indexer_compressor_norm": "indexer_compressor_norm",
    "attn_conv_base": "attn_conv_base",
    "attn_conv_proj": "attn_conv_proj",
    "ffn_conv_base": "ffn_conv_base",
    "ffn_conv_proj": "ffn_conv_proj",
    "conv_norm_mean": "conv_norm_mean",
    "conv_norm_var": "conv_norm_var",
    "squeeze_conv_1": "se_conv1",
    "squeeze_conv_2": "se_conv2",
}

#: RWKV's words in a block are its roles: too many to have other names.
_OWN_WORDS = (
    "time_mix_w0 time_mix_w1 time_mix_w2 time_mix_a0 time_mix_a1 time_mix_a2 time_mix_v0 time_mix_v1 time_mix_v2 "
    "time_mix_g1 time_mix_g2 time_mix_k_k time_mix_k_a time_mix_r_k time_mix_lerp_x time_mix_lerp_k time_mix_lerp_v "
    "time_mix_lerp_r time_mix_lerp_g time_mix_lerp_fused time_mix_lerp_w time_mix_first time_mix_decay "
    "time_mix_decay_w1 time_mix_decay_w2 time_mix_key time_mix_value time_mix_receptance time_mix_gate time_mix_ln "
    "time_mix_output channel_mix_lerp_k channel_mix_lerp_r channel_mix_key channel_mix_receptance channel_mix_value"
)

#: Role → whole names, numbers as `{}`.
_OUTSIDE: Mapping[str, str] = {
    "embed_tokens": "token_embd",
    "embed_norm": "token_embd_norm v.norm_embd a.position_embd_norm",
    "embed_token_types": "token_types",
    "embed_positions": "position_embd v.position_embd a.position_embd resampler.pos_embd_k",
    "embed_class": "v.class_embd",
    "embed_patches": "v.patch_embd v.patch_embd.weight.{}",  # Qwen 2 VL's, of two images of a video
    "embed_image_break": "v.token_embd.img_break",
    "embed_image_newline": "v.image_newline",
    "embed_view_separator": "v.view_seperator",
    "embed_image_begin": "v.boi mm.image_begin",
    "embed_image_end": "v.eoi mm.image_end",
    "embed_query": "resampler.query",
    "embed_audio_query": "a.proj_query",
    "embed_tokens_per_layer": "per_layer_token_embd",
    "per_layer_model_projection": "per_layer_model_proj",
    "per_layer_projection_norm": "per_layer_proj_norm",
    "altup_projections": "altup_proj",
    "altup_unembed_projections": "altup_unembd_proj",
    "norm": (
        "output_norm enc.output_norm dec.output_norm v.post_ln a.post_ln a.gen.code.output_norm "
        "a.gen.wav.tfm.output_norm"
    ),
    "pre_layernorm": "v.pre_ln a.pre_ln",
    "lm_head": "output",
    "dense_2": "dense_2",
    "dense_3": "dense_3",
    "classifier": "cls",
    "classifier_out": "cls.output",
    "classifier_norm": "cls.norm",
    "rope_freqs": "rope_freqs",
    "rope_factors_long": "rope_factors_long",
    "rope_factors_short": "rope_factors_short",
    "conv1d": "conv1d a.conv1d.{}",
    "conv1d_norm": "a.conv1d.{}.norm",
    "conv2d": "a.conv2d.{}",
    "conv_out": "a.conv_out",
    "conv_depthwise": "convnext.{}.dw",
    "conv_norm": "convnext.{}.norm posnet.{}.norm",
    "conv_pointwise_1": "convnext.{}.pw1",
    "conv_pointwise_2": "convnext.{}.pw2",
    "layer_scale": "convnext.{}.gamma",
    "conv_1": "posnet.{}.conv1",
    "conv_2": "posnet.{}.conv2",
    "conv_norm_1": "posnet.{}.norm1",
    "conv_norm_2": "posnet.{}.norm2",
    "input_layernorm": "posnet.{}.attn_norm",
    "q_proj": "posnet.{}.attn_q resampler.attn.q a.proj_blk.{}.self_attn_q v.proj_blk.{}.self_attn_q",
    "k_proj": "posnet.{}.attn_k resampler.attn.k a.proj_blk.{}.self_attn_k v.proj_blk.{}.self_attn_k",
    "v_proj": "posnet.{}.attn_v resampler.attn.v a.proj_blk.{}.self_attn_v v.proj_blk.{}.self_attn_v",
    "o_proj": "posnet.{}.attn_output resampler.attn.out a.proj_blk.{}.self_attn_out v.proj_blk.{}.self_attn_out",
    "self_attn_norm": "a.proj_blk.{}.self_attn_norm v.proj_blk.{}.self_attn_norm",
    "cross_q_proj": "a.proj_blk.{}.cross_attn_q v.proj_blk.{}.cross_attn_q",
    "cross_k_proj": "a.proj_blk.{}.cross_attn_k v.proj_blk.{}.cross_attn_k",
    "cross_v_proj": "a.proj_blk.{}.cross_attn_v v.proj_blk.{}.cross_attn_v",
    "cross_o_proj": "a.proj_blk.{}.cross_attn_out v.proj_blk.{}.cross_attn_out",
    "cross_attn_norm": "a.proj_blk.{}.cross_attn_norm v.proj_blk.{}.cross_attn_norm",
    "up_proj": "a.proj_blk.{}.ffn_up v.proj_blk.{}.ffn_up mm.up",
    "down_proj": "a.proj_blk.{}.ffn_down v.proj_blk.{}.ffn_down mm.down",
    "gate_proj": "mm.gate",
    "post_feedforward_layernorm": "a.proj_blk.{}.ffn_norm v.proj_blk.{}.ffn_norm",
    "ffn_norm": "a.blk.{}.ffn_norm",  # a Conformer's, whose `ln2` ends the block
    "audio_projection_norm": "a.proj_norm",
    "audio_projection": "a.proj_linear",
    "audio_input_projection": "a.input_projection",
    "audio_embed_to_logits": "a.embd_to_logits",
    "audio_encode_out": "a.pre_encode.out",
    "ctc_head": "a.enc_ctc_out",
    "ctc_head_mid": "a.enc_ctc_out_mid",
    "conv_stem": "v.conv_stem.conv",
    "conv_stem_norm": "v.conv_stem.bn",
    "msfa_conv_expand": "v.msfa.ffn.pw_exp.conv",
    "msfa_conv_expand_norm": "v.msfa.ffn.pw_exp.bn",
    "msfa_conv_project": "v.msfa.ffn.pw_proj.conv",
    "msfa_conv_project_norm": "v.msfa.ffn.pw_proj.bn",
    "msfa_norm": "v.msfa.norm",
    "deepstack_norm": "v.deepstack.{}.norm",
    "deepstack_fc1": "v.deepstack.{}.fc1",
    "deepstack_fc2": "v.deepstack.{}.fc2",
    "image_std_bias": "v.std_bias",
    "image_std_scale": "v.std_scale",
    "sam_embed_positions": "v.sam.pos_embd",
    "sam_embed_patches": "v.sam.patch_embd",
    "sam_pre_norm": "v.sam.blk.{}.pre_ln",
    "sam_post_norm": "v.sam.blk.{}.post_ln",
    "sam_attn_pos_h": "v.sam.blk.{}.attn.pos_h",
    "sam_attn_pos_w": "v.sam.blk.{}.attn.pos_w",
    "sam_qkv_proj": "v.sam.blk.{}.attn.qkv",
    "sam_o_proj": "v.sam.blk.{}.attn.out",
    "sam_up_proj": "v.sam.blk.{}.mlp.lin1",
    "sam_down_proj": "v.sam.blk.{}.mlp.lin2",
    "sam_conv_neck": "v.sam.neck.{}",
    "sam_conv_net_2": "v.sam.net_2",
    "sam_conv_net_3": "v.sam.net_3",
    "projection": "mm.{}",
    "projection_fc": "mm.model.fc",
    "projection_mlp": "mm.model.mlp.{}",
    "projection_conv_peg": "mm.model.peg.{}",
    "projection_input": "mm.input_projection",
    "projection_input_norm": "mm.input_norm",
    "projection_pre_norm": "mm.pre_norm",
    "projection_post_norm": "mm.post_norm",
    "projection_post_fc_norm": "mm.post_fc_norm",
    "projection_soft_embed_norm": "mm.soft_emb_norm",
    "projection_hard_embed_norm": "mm.hard_emb_norm",
    "projection_embedding": "mm.embedding",
    "projection_patch_merger": "mm.patch_merger",
    "projection_kv": "resampler.kv",
    "projection_kv_norm": "resampler.ln_kv",
    "projection_q_norm": "resampler.ln_q",
    "projection_out_norm": "resampler.ln_post",
    "projection_out": "resampler.proj",
    "audio_projection_mlp": "mm.a.mlp.{}",
    "audio_projection_fc": "mm.a.fc",
    "audio_projection_norm_pre": "mm.a.norm_pre",
    "audio_projection_norm_mid": "mm.a.norm_mid",
    "audio_projection_input": "mm.a.input_projection",
    "audio_soft_embed_norm": "mm.a.soft_emb_norm",
    "audio_hard_embed_norm": "mm.a.hard_emb_norm",
    "audio_embedding": "mm.a.embedding",
    "embed_image_centroids": "masked_embd_centroids",
    "embed_image_order": "masked_embd_ordering",
    "initial_state": "hrm.z_l_init",
    "hc_head_fn": "output_hc_fn",
    "hc_head_base": "output_hc_base",
    "hc_head_scale": "output_hc_scale",
    "hc_head_norm": "output_hc_norm",
    "hc_head_down": "output_hc_down",
    "hc_head_up": "output_hc_up",
    "output_res_score": "output_res_score",
    "target_projection": "fc",
    "markov_w1": "markov_w1",
    "markov_w2": "markov_w2",
    "confidence_proj": "conf_proj",
    "selector_previous": "selector_predecessor",
    "selector_next": "selector_successor",
    "selector_hidden": "selector_hidden",
    "draft_to_target": "d2t",
    "nextn_pre_projection": "nextn.pre_projection",
    "nextn_post_projection": "nextn.post_projection",
    "patch_norm": "v.patch_norm.{}",
    "embed_image_start": "v.token_embd.img_start",
    "embed_image_stop": "v.token_embd.img_end",
    "embed_image_pad": "v.token_embd.img_pad",
    "merger_norm": "v.vit_merger.ln1",
    "merger_q_proj": "v.vit_merger.attn_q",
    "merger_k_proj": "v.vit_merger.attn_k",
    "merger_v_proj": "v.vit_merger.attn_v",
    "merger_o_proj": "v.vit_merger.attn_out",
    "merger_downsample_norm": "v.vit_merger.ds_ln",
    "merger_up_proj": "v.vit_merger.ds_ffn_up",
    "merger_down_proj": "v.vit_merger.ds_ffn_down",
    "merger_fc1": "mm.merger.fc1",
    "merger_fc2": "mm.merger.fc2",
    "embed_query_768": "v.resample_query_768",
    "embed_query_1024": "v.resample_query_1024",
    "projector_positions": "v.proj_blk.{}.img_pos",
    "projector_query": "v.proj_blk.{}.query",
    "projector_norm": "v.proj_blk.{}.norm",
    "projector_linear": "v.proj_blk.{}.linear",
    "projector_post_norm": "v.proj_blk.{}.post_norm",
    "downsample_conv": "a.downsample.conv",
    "downsample_norm": "a.downsample.norm",
    "codebook": "a.rvq.codebook",
    "res2_conv": "a.blk.{}.res2.{}",
    "asp_attn": "a.asp_attn",
    "asp_tdnn": "a.asp_tdnn",
    "mel_filters": "a.mel_filters",
    "window": "a.window",
    "speaker_proj": "a.speaker_proj",
    "seanet_conv_in": "a.seanet.conv_in a.gen.wav.seanet.conv_in",
    "seanet_conv_out": "a.seanet.conv_out a.gen.wav.seanet.conv_out",
    "seanet_res_conv_1": "a.seanet.blk.{}.res_conv1 a.gen.wav.seanet.blk.{}.res_conv1",
    "seanet_res_conv_2": "a.seanet.blk.{}.res_conv2 a.gen.wav.seanet.blk.{}.res_conv2",
    "seanet_scale_conv": "a.seanet.blk.{}.scale_conv a.gen.wav.seanet.blk.{}.scale_conv",
    "code_input_projection": "a.gen.code.proj_in",
    "code_embedding": "a.gen.code.embd",
    "code_head": "a.gen.code.head",
    "code_output_embedding": "a.gen.code.out_embd",
    "codebook_first_in": "a.gen.wav.quant.first.in_proj",
    "codebook_first_out": "a.gen.wav.quant.first.out_proj",
    "codebook_first": "a.gen.wav.quant.first.codebook",
    "codebook_rest_in": "a.gen.wav.quant.rest.in_proj",
    "codebook_rest_out": "a.gen.wav.quant.rest.out_proj",
    "codebook_rest": "a.gen.wav.quant.rest.codebook",
    "codebook_out": "a.gen.wav.quant_out",
    "pre_conv": "a.gen.wav.pre_conv",
    "transformer_in_projection": "a.gen.wav.tfm.in_proj",
    "transformer_out_projection": "a.gen.wav.tfm.out_proj",
    "upsample_conv": "a.gen.wav.up.blk.{}.conv",
    "upsample_depthwise_conv": "a.gen.wav.up.blk.{}.dwconv",
    "upsample_norm": "a.gen.wav.up.blk.{}.norm",
    "upsample_pointwise_conv_1": "a.gen.wav.up.blk.{}.pw1",
    "upsample_pointwise_conv_2": "a.gen.wav.up.blk.{}.pw2",
    "upsample_scale": "a.gen.wav.up.blk.{}.gamma",
    "upsample": "a.gen.wav.upsample",
    "dac_entry_conv": "a.gen.wav.dac.entry",
    "dac_snake": "a.gen.wav.dac.blk.{}.snake",
    "dac_conv": "a.gen.wav.dac.blk.{}.conv",
    "dac_res_snake_1": "a.gen.wav.dac.blk.{}.res.{}.act1",
    "dac_res_conv_1": "a.gen.wav.dac.blk.{}.res.{}.conv1",
    "dac_res_snake_2": "a.gen.wav.dac.blk.{}.res.{}.act2",
    "dac_res_conv_2": "a.gen.wav.dac.blk.{}.res.{}.conv2",
    "dac_post_snake": "a.gen.wav.dac.post_snake",
    "dac_post_conv": "a.gen.wav.dac.post_conv",
    "flow_input_projection": "a.gen.flow.input_proj",
    "flow_condition_projection": "a.gen.flow.cond_embd",
    "time_frequencies": "a.gen.flow.time.{}.freqs",
    "time_up_proj": "a.gen.flow.time.{}.up",
    "time_down_proj": "a.gen.flow.time.{}.down",
    "time_norm": "a.gen.flow.time.{}.norm",
    "flow_norm": "a.gen.flow.blk.{}.norm",
    "flow_up_proj": "a.gen.flow.blk.{}.up",
    "flow_down_proj": "a.gen.flow.blk.{}.down",
    "flow_modulation_proj": "a.gen.flow.blk.{}.ada",
    "flow_final_modulation_proj": "a.gen.flow.final.ada",
    "flow_final_projection": "a.gen.flow.final.proj",
    "end_of_speech_head": "a.gen.out_eos",
    "speech_input_projection": "a.gen.input_linear",
    "embedding_mean": "a.gen.emb_mean",
    "embedding_std": "a.gen.emb_std",
    "control_vector": "direction.{}",
    "audio_code_embedding": "mm.a.code_embd",
    "audio_local_norm": "mm.a.local_norm",
}

#: Group → roles that no other convention has, and whose group their words do not tell.
_GROUPS: Mapping[str, str] = {
    "attention": (
        "indexer_weights_proj indexer_q_b_proj k_rel per_dim_scale per_dim_k_scale in_proj_a in_proj_b in_proj_ba "
        "f_a_proj f_b_proj g_a_proj g_b_proj g_proj kv_proj o_a_proj o_b_proj attn_res_score "
        "hc_attn_fn hc_attn_base hc_attn_scale hc_attn_down hc_attn_up hc_attn_inject compressor_kv_proj "
        "compressor_gate_proj compressor_positions indexer_compressor_kv_proj indexer_compressor_gate_proj "
        "indexer_compressor_positions indexer_q_proj asp_attn merger_q_proj merger_k_proj merger_v_proj merger_o_proj"
    ),
    "feed_forward": (
        "per_layer_input_gate per_layer_projection per_layer_model_projection laurel_left laurel_right "
        "altup_projections altup_unembed_projections altup_correction_coefs altup_correct_output_scale "
        "altup_prediction_coefs nextn_eh_proj audio_input_projection audio_encode_out projection "
        "projection_fc projection_input projection_patch_merger projection_kv projection_out audio_projection "
        "audio_projection_fc audio_projection_mlp audio_projection_input ffn_res_score hc_ffn_fn hc_ffn_base "
        "hc_ffn_scale hc_ffn_down hc_ffn_up hc_ffn_inject ple_key_proj ple_value_proj target_projection "
        "nextn_pre_projection nextn_post_projection merger_up_proj merger_down_proj merger_fc1 merger_fc2 "
        "projector_linear speaker_proj "
        "code_input_projection transformer_in_projection transformer_out_projection flow_input_projection "
        "flow_condition_projection time_up_proj time_down_proj flow_up_proj flow_down_proj flow_modulation_proj "
        "flow_final_modulation_proj flow_final_projection speech_input_projection codebook_first_in codebook_first_out "
        "codebook_rest_in codebook_rest_out codebook_out"
    ),
    "embedding": (
        "initial_state codebook codebook_first codebook_rest code_embedding code_output_embedding audio_code_embedding "
        "projector_positions projector_query"
    ),
    "router": "router_bias_vision",
    "adapter": "control_vector",
    "norm": "patch_norm",
    "convolution": (
        "msfa_conv_project attn_conv_base attn_conv_proj ffn_conv_base ffn_conv_proj ple_conv1d res2_conv asp_tdnn "
        "upsample squeeze_conv_1 squeeze_conv_2 dac_snake dac_res_snake_1 dac_res_snake_2 dac_post_snake upsample_scale"
    ),
    "head": (
        "dense_2 dense_3 audio_embed_to_logits hc_head_fn hc_head_base hc_head_scale hc_head_down hc_head_up "
        "output_res_score markov_w1 markov_w2 confidence_proj selector_previous selector_next selector_hidden "
        "code_head end_of_speech_head"
    ),
    "buffer": (
        "rope_freqs rope_factors_long rope_factors_short image_std_bias image_std_scale tid2eid embed_image_order "
        "mel_filters window conv_norm_mean conv_norm_var time_frequencies embedding_mean embedding_std"
    ),
}
GROUPS: Mapping[str, str] = {
    **{role: group for group, roles in _GROUPS.items() for role in roles.split()},
    **{word: "feed_forward" if word.startswith("channel") else "state_space" for word in _OWN_WORDS.split()},
    "time_mix_ln": "norm",
}

#: Last words of names in a block → role.
BLOCK_ROLES: Mapping[str, str] = {
    **{name: role for role, names in _IN_BLOCKS.items() for name in names.split()},
    **{name: name for name in _OWN_WORDS.split()},
}
#: Whole names outside of blocks → role.
ROLES: Mapping[str, str] = {name: role for role, names in _OUTSIDE.items() for name in names.split()}

#: Starts of names in blocks.
BLOCKS = (
    "blk.{}.",
    "enc.blk.{}.",
    "dec.blk.{}.",
    "v.blk.{}.",
    "a.blk.{}.",
    "a.gen.code.blk.{}.",
    "a.gen.wav.tfm.blk.{}.",
    "mm.a.local_blk.{}.",
)

#: Starts of other names whose first number counts layers.
LAYERED = (
    "direction.{}",
    "posnet.{}.",
    "convnext.{}.",
    "a.proj_blk.{}.",
    "v.proj_blk.{}.",
    "v.deepstack.{}.",
    "v.sam.blk.{}.",
    "a.gen.flow.blk.{}.",
    "a.gen.wav.up.blk.{}.",
    "a.gen.wav.dac.blk.{}.",
)

#: Ends of names in blocks that hold all experts of the layer in one tensor.
STACKED = ("_exps", "_chexps")

#: Before GGUF stacked them (until April 2024), each expert had a tensor: `blk.0.ffn_gate.7`.
APART = ("ffn_gate.{}", "ffn_up.{}", "ffn_down.{}")

#: A parameter that is no module's weight or bias, whatever its name ends in: DeepSeek's `exp_probs_b.bias`.
PARTLESS = frozenset({"exp_probs_b", "exp_probs_b_vl"})

#: Architectures that have no table: parts beside a language model. Their tensors are named, and not predicted.
NAMED = frozenset({"clip", "wavtokenizer-dec"})
