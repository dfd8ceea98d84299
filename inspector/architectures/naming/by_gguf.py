"""GGUF's own names: `blk.3.attn_q.weight`."""

from __future__ import annotations

from inspector.architectures.data import gguf_names as gguf
from inspector.architectures.data.roles import group_of
from inspector.architectures.naming.slots import Slot


def by_gguf(pattern: str) -> Slot | None:
    """The slot of one of GGUF's own names; None for any other."""

    module, _, part = pattern.rpartition(".")
    if part not in gguf.PARTS:
        module, part = pattern, "weight"
    if part in gguf.STATISTICS:
        module = module.removesuffix(".weight")
    start = next((start for start in gguf.BLOCKS if module.startswith(start)), "")
    words = module[len(start) :]
    apart = start != "" and words.endswith(gguf.APART)
    found = gguf.ROLES.get(module) or gguf.BLOCK_ROLES.get(words.removesuffix(".{}") if apart else words)
    if found is None:
        return None
    role, branch = found
    layered = start != "" or module.startswith(gguf.LAYERED)
    numbers = module.count("{}")
    return Slot(
        tower=next((tower for word, tower in gguf.TOWERS.items() if module.startswith(word)), "text"),
        role=role,
        part="weight" if words in gguf.PARTLESS else part,
        group=gguf.PART_GROUPS.get(part) or group_of(role),
        branch=branch,
        layer_at=0 if layered else None,
        expert_at=1 if apart else None,
        indexes_at=() if apart else tuple(range(int(layered), numbers)),
        stacked=start != "" and words.endswith(gguf.STACKED),
    )
