"""Layouts that fuse several projections into one tensor, by the roles they contain."""

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
