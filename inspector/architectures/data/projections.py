"""Layouts of projections, by role: which layouts fuse several into one tensor, and how ranks split them.

Tensor parallelism splits matrices along outputs, along inputs, or not at all. Megatron-LM's rule (arXiv:1909.08053,
section 3), which fairscale (Meta's Llama), DeepSpeed and vLLM follow: the first projections of a block are split along
their outputs, the last ones along their inputs, so that one sum combines the parts. Every rank has a full copy of
anything added after that sum: norms, and biases of the last projections.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Role → the role under which all its layouts can be compared.
COARSE: Mapping[str, str] = {
    **dict.fromkeys(("q_proj", "k_proj", "v_proj", "kv_proj", "qk_proj"), "qkv_proj"),
    **dict.fromkeys(("gate_proj", "up_proj"), "gate_up_proj"),
    **dict.fromkeys(("shared_gate_proj", "shared_up_proj"), "shared_gate_up_proj"),
    **dict.fromkeys(("k_b_proj", "v_b_proj"), "kv_b_proj"),
}

#: Branch and role, if the branch distinguishes them → the common role without it.
BRANCHED: Mapping[str, str] = dict.fromkeys(("q conv1d", "k conv1d", "v conv1d"), "conv1d")

#: Role of several fused projections → their roles, in storage order.
PARTS: Mapping[str, tuple[str, ...]] = {
    "qkv_proj": ("q_proj", "k_proj", "v_proj"),
    "kv_proj": ("k_proj", "v_proj"),
    "qk_proj": ("q_proj", "k_proj"),
    "gate_up_proj": ("gate_proj", "up_proj"),
    "shared_gate_up_proj": ("shared_gate_proj", "shared_up_proj"),
    "kv_b_proj": ("k_b_proj", "v_b_proj"),
    "conv1d": ("q conv1d", "k conv1d", "v conv1d"),
}

#: Roles of fused projections.
FUSED = frozenset({*COARSE.values(), "kv_proj", "qk_proj"})

#: Role → the axis along which its weights are split; the first of two leaves the model's width whole. The token
#: embeddings were split along their width until Llama 3, which splits the vocabulary (`VocabParallelEmbedding`).
WEIGHT_AXES: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("embed_tokens", "lm_head"), (0, 1)),
    **dict.fromkeys(
        (
            *("q_proj", "k_proj", "v_proj", "qkv_proj", "kv_proj", "q_b_proj", "kv_b_proj"),
            *("gate_proj", "up_proj", "gate_up_proj"),
            *("shared_gate_proj", "shared_up_proj", "shared_gate_up_proj"),
        ),
        (0,),
    ),
    **dict.fromkeys(("o_proj", "down_proj", "shared_down_proj"), (1,)),
}
#: Groups of roles of which every rank has a full copy.
WHOLE_GROUPS = frozenset(("norm", "buffer", "router"))
