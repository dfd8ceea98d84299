"""Names that no table knows: GGUF's own naming, or else the words of a path by convention."""

from __future__ import annotations

from itertools import pairwise

from inspector.architectures.data.conventions import (
    BUFFER_ENDS,
    BUFFER_PATHS,
    CROSS,
    EXPERT_WORDS,
    GGUF_WORDS,
    LONGEST_TAIL,
    PART_ALIASES,
    PART_WORDS,
    PARTS,
    PATHS,
    STACKED_WORDS,
    STATISTICS,
    TAILS,
    TOWERS,
    WORDS,
)
from inspector.architectures.data.roles import ROLES, group_of
from inspector.architectures.naming.by_table import Slot

#: Longer words are not used as the name of a branch.
LONGEST_WORD = 60


def by_words(pattern: str, bare: str) -> Slot:
    """The slot of a name by its words: `bare` is the pattern without the prefixes of wrappers."""
    found = by_gguf(pattern) if pattern.partition(".")[0] in GGUF_WORDS else None
    return found or by_convention(pattern, bare)


def by_gguf(pattern: str) -> Slot | None:
    """The slot of one of GGUF's own names, `blk.3.attn_q.weight`; None for any other."""
    from inspector.architectures.data import gguf_names as gguf  # only this format needs it

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


def by_convention(pattern: str, bare: str) -> Slot:
    """A slot from the words of the path alone."""
    words = bare.replace(".expert_{}", ".{}").replace("_l{}", "_l.{}").split(".")
    if bare in BUFFER_PATHS:
        part, module = "weight", words
    else:
        part, module = _part(words)
    layer_at, expert_at, indexes_at = _numbers(module)
    path = [word for word in module if word != "{}"]
    role, branch = PATHS.get(".".join(path)) or _role(path)
    if not branch and any(text in bare for text in CROSS):
        branch = "cross"
    constant = words[-1] in STATISTICS or f".{bare}".endswith(BUFFER_ENDS)
    stacked = expert_at is None and bool(STACKED_WORDS & set(path)) and "shared_experts" not in path
    return Slot(
        tower=_tower(pattern.split(".")),
        role=role,
        part=part,
        group="buffer" if constant else group_of(role),
        branch=branch,
        layer_at=layer_at,
        expert_at=expert_at,
        indexes_at=indexes_at,
        stacked=stacked,
    )


def _part(words: list[str]) -> tuple[str, list[str]]:
    last = PART_ALIASES.get(words[-1], words[-1])
    if last.endswith("_proj_bias") and "experts" in words:  # stacked experts: `experts.down_proj_bias`
        return "bias", [*words[:-1], last.removesuffix("_bias")]
    if last in PART_WORDS:
        return PART_WORDS[last], words
    return (last, words[:-1]) if last in PARTS and len(words) > 1 else ("weight", words)


def _numbers(words: list[str]) -> tuple[int | None, int | None, tuple[int, ...]]:
    """Which of the name's numbers counts layers (the first that is not an expert's), which experts, which others."""
    layer_at = expert_at = None
    rest: list[int] = []
    at = 0
    for before, word in pairwise(["", *words]):
        if word != "{}":
            continue
        if before in EXPERT_WORDS:
            expert_at = at
        elif layer_at is None:
            layer_at = at
        else:
            rest.append(at)
        at += 1
    return layer_at, expert_at, tuple(rest)


def own_word(bare: str) -> str:
    """The model's own word for its part, if no convention has one: `stem1`, `spatial_linear`."""
    path = _part(bare.replace("_l{}", "_l").split("."))[1]
    words = [word for word in path if word.isidentifier() and len(word) <= LONGEST_WORD]
    return words[-1] if words else ""


def _role(path: list[str]) -> tuple[str, str]:
    """Role and branch by the last words of a path, or else by any word in it that suggests a role."""
    for length in range(min(LONGEST_TAIL, len(path)), 0, -1):
        found = TAILS.get(".".join(path[-length:]))
        if found:
            return found
    own = path[-1] if path else ""
    if own in ROLES:
        return own, ""
    end = ".".join(path[-2:])
    role = next((role for role, words in WORDS if any(word in end for word in words)), "")
    return role, own if role and own.isidentifier() and len(own) <= LONGEST_WORD else ""


def _tower(words: list[str]) -> str:
    for word in words:
        if word in TOWERS:
            return TOWERS[word]
    return "text"
