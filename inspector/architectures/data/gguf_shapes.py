"""Shapes of GGUF's tensor kinds in configuration fields: what the layouts in `gguf_layouts` are made of.

Kinds are the last words of names (`gguf_names`); what stands after a colon is a variant of the same name. Shapes are
row-major, the reverse of GGUF's own order. They are those that llama.cpp's loader asks for.
"""

from __future__ import annotations

from collections.abc import Mapping

_Q = "num_attention_heads * head_dim"
_KV = "num_key_value_heads * head_dim"
_RANK = "kv_lora_rank"
_INNER = "mamba_intermediate_size"
_CHANNELS = "mamba_intermediate_size + 2 * n_groups * state_size"
_KEYS = "linear_num_key_heads * linear_key_head_dim"
_VALUES = "linear_num_value_heads * linear_value_head_dim"
_KDA = "num_attention_heads * linear_head_dim"
_EXPERT = "num_local_experts, moe_intermediate_size, hidden_size"
_DENSE_EXPERT = "num_local_experts, intermediate_size, hidden_size"
_SHARED = "shared_expert_intermediate_size"
_COUNTED = "n_shared_experts * moe_intermediate_size"


def _down(gate: str) -> str:
    """The shape of the projection back: the last two dimensions changed over."""
    *first, inner, outer = gate.split(", ")
    return ", ".join((*first, outer, inner))


#: Kind in a block → shape. A norm that is not here has one number a channel.
SHAPES: Mapping[str, str] = {
    # attention
    "attn_q": f"{_Q}, hidden_size",
    "attn_k": f"{_KV}, hidden_size",
    "attn_v": f"{_KV}, hidden_size",
    "attn_output": f"hidden_size, {_Q}",
    "attn_output:linear": "hidden_size, hidden_size",
    "attn_qkv": "(num_attention_heads + 2 * num_key_value_heads) * head_dim, hidden_size",
    "attn_qkv:equal": "3 * hidden_size, hidden_size",
    "attn_k:equal": f"{_Q}, hidden_size",
    "attn_v:equal": f"{_Q}, hidden_size",
    "attn_q:gated": f"2 * {_Q}, hidden_size",
    "attn_gate": f"{_Q}, hidden_size",
    "attn_gate:heads": "num_attention_heads, hidden_size",
    "attn_sinks": "num_attention_heads",
    "attn_q_norm": "head_dim",
    "attn_k_norm": "head_dim",
    "attn_q_norm:heads": "num_attention_heads, head_dim",
    "attn_k_norm:heads": "num_key_value_heads, head_dim",
    "attn_q_norm:wide": _Q,
    "attn_k_norm:wide": _KV,
    "attn_sub_norm": _Q,
    # where values have a width of their own
    "attn_v:own": "num_key_value_heads * v_head_dim, hidden_size",
    "attn_output:own": "hidden_size, num_attention_heads * v_head_dim",
    "attn_qkv:own": "(num_attention_heads + num_key_value_heads) * head_dim + num_key_value_heads * v_head_dim, "
    "hidden_size",
    # where the width changes with the layer: sliding windows' heads are narrower
    "attn_q:sliding": "num_attention_heads * (head_dim if is_sliding else global_head_dim), hidden_size",
    "attn_k:sliding": "num_key_value_heads * (head_dim if is_sliding else global_head_dim), hidden_size",
    "attn_v:sliding": "num_key_value_heads * (head_dim if is_sliding else global_head_dim), hidden_size",
    "attn_output:sliding": "hidden_size, num_attention_heads * (head_dim if is_sliding else global_head_dim)",
    "attn_q_norm:sliding": "head_dim if is_sliding else global_head_dim",
    "attn_k_norm:sliding": "head_dim if is_sliding else global_head_dim",
    # latent attention
    "attn_q:latent": "num_attention_heads * qk_head_dim, hidden_size",
    "attn_q_a": "q_lora_rank, hidden_size",
    "attn_q_b": "num_attention_heads * qk_head_dim, q_lora_rank",
    "attn_q_a_norm": "q_lora_rank",
    "attn_kv_a_mqa": f"{_RANK} + qk_rope_head_dim, hidden_size",
    "attn_kv_a_norm": _RANK,
    "attn_kv_b": f"num_attention_heads * (qk_nope_head_dim + v_head_dim), {_RANK}",
    "attn_k_b": f"num_attention_heads, {_RANK}, qk_nope_head_dim",
    "attn_v_b": f"num_attention_heads, v_head_dim, {_RANK}",
    "indexer.k_norm": "index_head_dim",
    "indexer.proj": "index_n_heads, hidden_size",
    "indexer.attn_k": "index_head_dim, hidden_size",
    "indexer.attn_q_b": "index_n_heads * index_head_dim, q_lora_rank",
    # feed-forward
    "ffn_gate": "intermediate_size, hidden_size",
    "ffn_up": "intermediate_size, hidden_size",
    "ffn_down": "hidden_size, intermediate_size",
    "ffn_up:gated": "2 * intermediate_size, hidden_size",
    "ffn_gate:half": "intermediate_size // 2, hidden_size",
    "ffn_up:half": "intermediate_size // 2, hidden_size",
    "ffn_down:half": "hidden_size, intermediate_size // 2",
    "ffn_gate:square": "hidden_size, hidden_size",
    "ffn_up:square": "hidden_size, hidden_size",
    "ffn_down:square": "hidden_size, hidden_size",
    "ffn_sub_norm": "intermediate_size",
    # experts
    "ffn_gate_inp": "num_local_experts, hidden_size",
    "ffn_gate_inp.scale": "hidden_size",
    "exp_probs_b": "num_local_experts",
    "ffn_gate_exps": _EXPERT,
    "ffn_up_exps": _EXPERT,
    "ffn_down_exps": _down(_EXPERT),
    "ffn_down_exps.scale": "num_local_experts",
    "ffn_gate_up_exps": "num_local_experts, 2 * moe_intermediate_size, hidden_size",
    "ffn_gate_exps:dense": _DENSE_EXPERT,
    "ffn_up_exps:dense": _DENSE_EXPERT,
    "ffn_down_exps:dense": _down(_DENSE_EXPERT),
    "ffn_up_exps:latent": "num_local_experts, moe_intermediate_size, moe_latent_size",
    "ffn_down_exps:latent": "num_local_experts, moe_latent_size, moe_intermediate_size",
    "ffn_latent_down": "moe_latent_size, hidden_size",
    "ffn_latent_up": "hidden_size, moe_latent_size",
    "ffn_gate_inp_shexp": "hidden_size",
    "ffn_gate_shexp": f"{_SHARED}, hidden_size",
    "ffn_up_shexp": f"{_SHARED}, hidden_size",
    "ffn_down_shexp": f"hidden_size, {_SHARED}",
    "ffn_gate_shexp:counted": f"{_COUNTED}, hidden_size",
    "ffn_up_shexp:counted": f"{_COUNTED}, hidden_size",
    "ffn_down_shexp:counted": f"hidden_size, {_COUNTED}",
    "ffn_gate_chexps": "num_local_experts // experts_per_group, chunk_intermediate_size, hidden_size",
    "ffn_up_chexps": "num_local_experts // experts_per_group, chunk_intermediate_size, hidden_size",
    "ffn_down_chexps": "num_local_experts // experts_per_group, hidden_size, chunk_intermediate_size",
    # state spaces: Mamba, Mamba 2
    "ssm_in": f"2 * {_INNER}, hidden_size",
    "ssm_conv1d": f"{_INNER}, conv_kernel",
    "ssm_x": f"time_step_rank + 2 * state_size, {_INNER}",
    "ssm_dt": f"{_INNER}, time_step_rank",
    "ssm_a": f"{_INNER}, state_size",
    "ssm_d": _INNER,
    "ssm_out": f"hidden_size, {_INNER}",
    "ssm_dt_norm": "time_step_rank",
    "ssm_b_norm": "state_size",
    "ssm_c_norm": "state_size",
    "ssm_in:2": f"{_INNER} + {_CHANNELS} + mamba_num_heads, hidden_size",
    "ssm_conv1d:2": f"{_CHANNELS}, conv_kernel",
    "ssm_dt.bias": "mamba_num_heads",
    "ssm_a:2": "mamba_num_heads, 1",
    "ssm_d:2": "mamba_num_heads, 1",
    "ssm_norm:2": f"n_groups, {_INNER} // n_groups",
    "ssm_x:heads": f"time_step_dim + 2 * state_size, {_INNER}",
    "ssm_dt:heads": "mamba_num_heads, time_step_dim",
    "ssm_a:heads": "mamba_num_heads",
    "ssm_d:heads": "mamba_num_heads",
    "ssm_dt_norm:heads": "time_step_dim",
    # gated delta nets, and Kimi's
    "attn_qkv:delta": f"2 * {_KEYS} + {_VALUES}, hidden_size",
    "ssm_in:delta": f"2 * {_KEYS} + 2 * {_VALUES}, hidden_size",  # both in one, in older files
    "attn_gate:delta": f"{_VALUES}, hidden_size",
    "ssm_conv1d:delta": f"2 * {_KEYS} + {_VALUES}, conv_kernel",
    "ssm_dt.bias:delta": "linear_num_value_heads",
    "ssm_a:delta": "linear_num_value_heads",
    "ssm_ba": "2 * linear_num_value_heads, hidden_size",
    "ssm_beta": "linear_num_value_heads, hidden_size",
    "ssm_alpha": "linear_num_value_heads, hidden_size",
    "ssm_norm:delta": "linear_value_head_dim",
    "ssm_out:delta": f"hidden_size, {_VALUES}",
    "attn_q:kda": f"{_KDA}, hidden_size",
    "attn_k:kda": f"{_KDA}, hidden_size",
    "attn_v:kda": f"{_KDA}, hidden_size",
    "attn_output:kda": f"hidden_size, {_KDA}",
    "ssm_conv1d_q": f"1, {_KDA}, 1, conv_kernel",
    "ssm_conv1d_k": f"1, {_KDA}, 1, conv_kernel",
    "ssm_conv1d_v": f"1, {_KDA}, 1, conv_kernel",
    "ssm_f_a": "linear_head_dim, hidden_size",
    "ssm_f_b": f"{_KDA}, linear_head_dim",
    "ssm_g_a": "linear_head_dim, hidden_size",
    "ssm_g_b": f"{_KDA}, linear_head_dim",
    "ssm_beta:kda": "num_attention_heads, hidden_size",
    "ssm_a:kda": "num_attention_heads, 1",
    "ssm_dt.bias:kda": _KDA,
    "ssm_norm:kda": "linear_head_dim",
    "shortconv.conv": "hidden_size, conv_L_cache",
    "shortconv.in_proj": "3 * hidden_size, hidden_size",
    "shortconv.out_proj": "hidden_size, hidden_size",
    # Gemma 3n and 4
    "layer_output_scale": "1",
    "inp_gate": "hidden_size_per_layer_input, hidden_size",
    "proj": "hidden_size, hidden_size_per_layer_input",
    "altup_correct_coef": "altup_num_inputs, altup_num_inputs",
    "altup_correct_scale": "hidden_size",
    "altup_predict_coef": "altup_num_inputs * altup_num_inputs, altup_num_inputs",
    "altup_router": "altup_num_inputs, hidden_size",
    "laurel_l": "laurel_rank, hidden_size",
    "laurel_r": "hidden_size, laurel_rank",
    # RWKV
    "time_mix_w1": "5 * time_mix_extra_dim, hidden_size",
    "time_mix_w2": "5, hidden_size, time_mix_extra_dim",
    "time_mix_lerp_x": "1, 1, hidden_size",
    "time_mix_lerp_w": "1, 1, hidden_size",
    "time_mix_lerp_k": "1, 1, hidden_size",
    "time_mix_lerp_v": "1, 1, hidden_size",
    "time_mix_lerp_r": "1, 1, hidden_size",
    "time_mix_lerp_g": "1, 1, hidden_size",
    "time_mix_lerp_fused": "5, 1, 1, hidden_size",
    "time_mix_lerp_fused:6": "6, 1, 1, hidden_size",
    "time_mix_first": "hidden_size // head_size, head_size",
    "time_mix_decay": "hidden_size",
    "time_mix_decay_w1": "time_decay_extra_dim, hidden_size",
    "time_mix_decay_w2": "hidden_size, time_decay_extra_dim",
    "time_mix_key": "hidden_size, hidden_size",
    "time_mix_value": "hidden_size, hidden_size",
    "time_mix_key:grouped": "num_key_value_heads * head_size, hidden_size",
    "time_mix_value:grouped": "num_key_value_heads * head_size, hidden_size",
    "time_mix_receptance": "hidden_size, hidden_size",
    "time_mix_gate": "hidden_size, hidden_size",
    "time_mix_ln": "hidden_size",
    "time_mix_output": "hidden_size, hidden_size",
    "time_mix_w0": "hidden_size",
    "time_mix_w1:7": "decay_low_rank_dim, hidden_size",
    "time_mix_w2:7": "hidden_size, decay_low_rank_dim",
    "time_mix_a0": "hidden_size",
    "time_mix_a1": "a_low_rank_dim, hidden_size",
    "time_mix_a2": "hidden_size, a_low_rank_dim",
    "time_mix_v0": "hidden_size",
    "time_mix_v1": "v_low_rank_dim if layer else a_low_rank_dim, hidden_size",
    "time_mix_v2": "hidden_size, v_low_rank_dim if layer else a_low_rank_dim",
    "time_mix_g1": "gate_low_rank_dim, hidden_size",
    "time_mix_g2": "hidden_size, gate_low_rank_dim",
    "time_mix_k_k": "hidden_size",
    "time_mix_k_a": "hidden_size",
    "time_mix_r_k": "hidden_size",
    "channel_mix_lerp_k": "1, 1, hidden_size",
    "channel_mix_lerp_r": "1, 1, hidden_size",
    "channel_mix_key": "intermediate_size, hidden_size",
    "channel_mix_value": "hidden_size, intermediate_size",
    "channel_mix_receptance": "hidden_size, hidden_size",
    # T5, CogVLM
    "attn_rel_b": "relative_attention_num_buckets, num_attention_heads",
    "cross_attn_rel_b": "relative_attention_num_buckets, num_attention_heads",
    "attn_o": f"hidden_size, {_Q}",
    "cross_attn_q": f"{_Q}, hidden_size",
    "cross_attn_k": f"{_Q}, hidden_size",
    "cross_attn_v": f"{_Q}, hidden_size",
    "cross_attn_o": f"hidden_size, {_Q}",
    "vis_attn_qkv": "(num_attention_heads + 2 * num_key_value_heads) * head_dim, hidden_size",
    "vis_attn_output": f"hidden_size, {_Q}",
    "vis_gate": "intermediate_size, hidden_size",
    "vis_up": "intermediate_size, hidden_size",
    "vis_down": "hidden_size, intermediate_size",
}

#: Whole name outside of blocks → shape.
OUTSIDE: Mapping[str, str] = {
    "token_embd": "vocab_size, hidden_size",
    "position_embd": "max_position_embeddings, hidden_size",
    "token_types": "type_vocab_size, hidden_size",
    "output": "vocab_size, hidden_size",
    "cls": "hidden_size, hidden_size",
    "cls.output": "num_labels, hidden_size",
    "dense_2": "dense_2_feat_out, hidden_size",
    "dense_3": "hidden_size, dense_3_feat_in",
    "per_layer_token_embd": "vocab_size, num_hidden_layers * hidden_size_per_layer_input",
    "per_layer_model_proj": "num_hidden_layers * hidden_size_per_layer_input, hidden_size",
    "per_layer_proj_norm": "hidden_size_per_layer_input",
    "altup_proj": "altup_num_inputs - 1, hidden_size, hidden_size",
    "altup_unembd_proj": "altup_num_inputs - 1, hidden_size, hidden_size",
}

#: Words of layouts that stand for several kinds.
GROUPS: Mapping[str, str] = {
    "@qkvo": "attn_q attn_k attn_v attn_output",
    "@qkv": "attn_q attn_k attn_v",
    "@qk_norm": "attn_q_norm attn_k_norm",
    "@qk_norm:heads": "attn_q_norm:heads attn_k_norm:heads",
    "@qk_norm:wide": "attn_q_norm:wide attn_k_norm:wide",
    "@norms": "attn_norm ffn_norm",
    "@mlp": "ffn_gate ffn_up ffn_down",
    "@mlp:half": "ffn_gate:half ffn_up:half ffn_down:half",
    "@mlp:square": "ffn_gate:square ffn_up:square ffn_down:square",
    "@plain": "ffn_up ffn_down",
    "@fused": "ffn_up:gated ffn_down",
    "@experts": "ffn_gate_inp ffn_gate_exps ffn_up_exps ffn_down_exps",
    "@experts:dense": "ffn_gate_inp ffn_gate_exps:dense ffn_up_exps:dense ffn_down_exps:dense",
    "@shared": "ffn_gate_shexp ffn_up_shexp ffn_down_shexp",
    "@shared:counted": "ffn_gate_shexp:counted ffn_up_shexp:counted ffn_down_shexp:counted",
    "@latent": "attn_kv_a_mqa attn_kv_a_norm attn_output:own",
    "@q_latent": "attn_q_a attn_q_a_norm attn_q_b",
    "@mamba": "ssm_in ssm_conv1d+ ssm_x ssm_dt+ ssm_a ssm_d ssm_out",
    "@mamba2": "ssm_in:2 ssm_conv1d:2+ ssm_dt.bias ssm_a:2 ssm_d:2 ssm_norm:2 ssm_out",
    "@delta": "attn_qkv:delta attn_gate:delta ssm_conv1d:delta ssm_dt.bias:delta ssm_a:delta ssm_norm:delta "
    "ssm_out:delta",
    "@shortconv": "shortconv.in_proj shortconv.conv shortconv.out_proj",
}

#: Kind → role, where a variant is another than its name says.
ROLES: Mapping[str, str] = {
    "ffn_up:gated": "gate_up_proj",
    "ffn_gate_inp.scale": "router_scale",
    "ffn_down_exps.scale": "router_expert_scale",
}

#: Fields that key-values may leave out, as expressions over others.
DERIVED: Mapping[str, str] = {
    "head_dim": "hidden_size // num_attention_heads",
    "v_head_dim": "head_dim",
    "qk_head_dim": "head_dim",
    "qk_nope_head_dim": "qk_head_dim - qk_rope_head_dim",
    "num_key_value_heads": "num_attention_heads",
    "num_experts_per_tok": "num_local_experts",
    "linear_value_head_dim": "mamba_intermediate_size // linear_num_value_heads",
    "num_decoder_layers": "num_hidden_layers",
    "moe_intermediate_size": "intermediate_size // num_experts_per_tok",
    "shared_expert_intermediate_size": "intermediate_size",
}
DEFAULTS: Mapping[str, object] = {
    "tie_word_embeddings": False,
    "num_local_experts": 0,
    "n_shared_experts": 0,
    "first_k_dense_replace": 0,
    "q_lora_rank": 0,
    "type_vocab_size": 1,
    "is_sliding": False,
}
