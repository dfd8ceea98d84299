"""Every role with the group it counts in. A role's name is Llama's word where Llama has one."""

from __future__ import annotations

from collections.abc import Mapping

GROUPS = (
    "embedding",
    "attention",
    "feed_forward",
    "router",
    "norm",
    "state_space",
    "convolution",
    "head",
    "buffer",
    "quantization",
    "adapter",
    "other",
)

#: Group → its roles.
_BY_GROUP: Mapping[str, str] = {
    "embedding": (
        "embed_tokens embed_more_tokens embed_positions embed_token_types embed_patches embed_class embed_queries "
        "embed_padding embed_projection relative_attention_bias"
    ),
    "attention": (
        "q_proj k_proj v_proj o_proj qkv_proj kv_proj qk_proj gate_attn sinks "
        "q_a_proj q_b_proj kv_a_proj_with_mqa kv_b_proj k_b_proj v_b_proj "
        "cross_q_proj cross_k_proj cross_v_proj cross_o_proj"
    ),
    "feed_forward": (
        "gate_proj up_proj down_proj gate_up_proj shared_gate_proj shared_up_proj shared_down_proj shared_gate_up_proj"
    ),
    "router": "router router_bias shared_expert_gate",
    "norm": (
        "input_layernorm post_attention_layernorm pre_feedforward_layernorm post_feedforward_layernorm norm "
        "q_norm k_norm q_a_layernorm kv_a_layernorm embed_norm mlm_norm ssm_norm"
    ),
    "state_space": "in_proj x_proj dt_proj out_proj A_log D dt_bias",
    "convolution": "conv1d",
    "head": "lm_head score classifier pooler qa_outputs mlm_dense mlm_bias nsp_head",
    "adapter": "prompt_embeddings shared_vectors",
    "buffer": (
        "inv_freq causal_mask masked_bias position_ids token_type_ids rope_freqs rope_factors "
        "draft_to_target target_to_draft"
    ),
}

ROLES: Mapping[str, str] = {role: group for group, roles in _BY_GROUP.items() for role in roles.split()}


def group_of(role: str | None) -> str:
    """The group of a role; of one that no table knows, by the words in its name."""
    if role is None:
        return "other"
    if role in ROLES:
        return ROLES[role]
    for group, words in _WORDS:
        if any(word in role for word in words):
            return group
    return "other"


#: For roles that no table knows: the first group that one of whose words is in the name.
_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("adapter", ("lora_", "adapter")),
    ("norm", ("norm", "ln_", "layernorm")),
    ("embedding", ("embed", "wte", "wpe")),
    ("router", ("router",)),
    ("attention", ("attn", "attention", "q_proj", "k_proj", "v_proj", "o_proj", "qkv")),
    ("convolution", ("conv",)),
    ("feed_forward", ("mlp", "ffn", "feed_forward", "fc1", "fc2", "gate_proj", "up_proj", "down_proj", "expert")),
    ("state_space", ("mamba", "ssm", "mixer")),
    ("head", ("head", "classifier")),
)
