"""The usual meaning of tensor sizes, in configuration fields: for architectures without a table.

A size is looked up among the fields that apply to the tensor's group, then among expressions of them.
"""

from __future__ import annotations

from collections.abc import Mapping

_EVERYWHERE = "embedding attention feed_forward router norm state_space convolution head adapter other"

#: Field → (its synonyms, groups of the tensors that it shapes). Earlier fields take precedence.
WELL_KNOWN: Mapping[str, tuple[str, str]] = {
    "hidden_size": ("d_model n_embd n_embed model_dim embed_dim emb_dim dim", _EVERYWHERE),
    "vocab_size": ("n_vocab padded_vocab_size", "embedding head other"),
    "intermediate_size": ("ffn_hidden_size ffn_dim d_ff n_inner encoder_ffn_dim mlp_dim", "feed_forward other"),
    "moe_intermediate_size": ("expert_intermediate_size moe_ffn_hidden_size", "feed_forward router other"),
    "shared_expert_intermediate_size": ("shared_intermediate_size", "feed_forward other"),
    "num_experts": (
        "num_local_experts n_routed_experts moe_num_experts num_routed_experts n_experts",
        "feed_forward router other",
    ),
    "head_dim": ("attention_head_dim d_kv kv_channels", "attention norm other"),
    "num_attention_heads": ("n_head n_heads num_heads", "attention norm other"),
    "num_key_value_heads": ("n_kv_heads num_kv_heads n_head_kv multi_query_group_num", "attention norm other"),
    "q_lora_rank": ("", "attention norm other"),
    "kv_lora_rank": ("", "attention norm other"),
    "v_head_dim": ("", "attention norm other"),
    "qk_rope_head_dim": ("", "attention norm other"),
    "qk_nope_head_dim": ("", "attention norm other"),
    "max_position_embeddings": ("n_positions n_ctx max_seq_len max_sequence_length seq_length", "embedding"),
    "type_vocab_size": ("", "embedding"),
    "num_labels": ("", "head"),
    "state_size": ("mamba_d_state ssm_state_size d_state", "state_space convolution norm"),
    "n_groups": ("mamba_n_groups", "state_space"),
    "linear_num_key_heads": ("", "attention state_space"),
    "conv_kernel": ("mamba_d_conv d_conv conv_L_cache linear_conv_kernel_dim", "state_space convolution"),
    "time_step_rank": ("mamba_dt_rank dt_rank", "state_space norm"),
    "mamba_num_heads": ("mamba_n_heads", "state_space norm convolution"),
    "mamba_head_dim": ("mamba_d_head", "state_space norm convolution"),
    "linear_key_head_dim": ("", "attention state_space norm convolution"),
    "linear_value_head_dim": ("", "attention state_space norm convolution"),
    "linear_num_value_heads": ("", "attention state_space norm convolution"),
    "index_head_dim": ("", "attention norm"),
    "index_n_heads": ("", "attention"),
    "patch_size": ("", "embedding"),
    "num_channels": ("in_channels in_chans", "embedding"),
}

#: Expression → groups of the tensors it applies to, in order of precedence.
EXPRESSIONS: Mapping[str, str] = {
    "num_attention_heads * head_dim": "attention norm other",
    "num_key_value_heads * head_dim": "attention norm other",
    "3 * hidden_size": "attention state_space convolution other",
    "(num_attention_heads + 2 * num_key_value_heads) * head_dim": "attention other",
    "2 * num_key_value_heads * head_dim": "attention",
    "2 * num_attention_heads * head_dim": "attention",
    "num_attention_heads * (qk_nope_head_dim + qk_rope_head_dim)": "attention",
    "num_attention_heads * (qk_nope_head_dim + v_head_dim)": "attention",
    "num_attention_heads * v_head_dim": "attention",
    "num_key_value_heads * v_head_dim": "attention",
    "kv_lora_rank + qk_rope_head_dim": "attention",
    "index_n_heads * index_head_dim": "attention",
    "linear_num_value_heads * linear_value_head_dim": "attention state_space convolution norm",
    "linear_num_key_heads * linear_key_head_dim": "attention state_space convolution",
    "2 * linear_num_key_heads * linear_key_head_dim + linear_num_value_heads * linear_value_head_dim": (
        "attention state_space convolution"
    ),
    "2 * linear_num_value_heads": "attention state_space",
    "mamba_num_heads * mamba_head_dim": "state_space convolution norm",
    "mamba_num_heads * mamba_head_dim + 2 * n_groups * state_size": "state_space convolution",
    "2 * mamba_num_heads * mamba_head_dim + 2 * n_groups * state_size + mamba_num_heads": "state_space",
    "2 * intermediate_size": "feed_forward other",
    "intermediate_size // 2": "feed_forward",
    "2 * moe_intermediate_size": "feed_forward",
    "2 * shared_expert_intermediate_size": "feed_forward",
    "num_experts * moe_intermediate_size": "feed_forward",
    "num_experts * intermediate_size": "feed_forward",
    "2 * hidden_size": "attention feed_forward norm state_space convolution head other",
    "4 * hidden_size": "feed_forward other",
    "6 * hidden_size": "norm other",
    "2 * hidden_size + 2 * state_size": "state_space convolution",
    "time_step_rank + 2 * state_size": "state_space",
    "max_position_embeddings + 2": "embedding",
    "head_dim // 2": "attention norm other",
}

#: Defaults for absent fields.
DERIVED: Mapping[str, str] = {
    "head_dim": "hidden_size // num_attention_heads",
    "num_key_value_heads": "num_attention_heads",
}

#: Ends of fields that shape nothing, whatever their number.
SHAPELESS = tuple(
    """
    _id _ids _index _token _eps _epsilon _theta _base _range _factor _prob _dropout _window _length _version _step
    _interval _layer _per_tok _per_token _topk top_k seed _offset _period _stride _size_limit n_group topk_group layers
    bits group_size _tp _coef
    """.split()  # noqa: SIM905  a list of words reads better without thirty quotes
)

#: Smaller sizes are only explained by fields that apply to the tensor's group: too many numbers are 2 or 8.
SMALL = 32
#: Words in the name of a nested configuration → the towers that it shapes.
SCOPES: Mapping[str, tuple[str, ...]] = {
    "vision": ("vision", "projector"),
    "visual": ("vision", "projector"),
    "audio": ("audio", "projector"),
    "speech": ("audio", "projector"),
    "encoder": ("encoder",),
    "decoder": ("decoder",),
}
