"""What a name pattern is for: its role by the conventions, and where they say nothing, words of its path."""

from __future__ import annotations

import re

from inspector.architectures.conventions import TOWERS
from inspector.architectures.roles import ROLES, group_of
from inspector.naming import by_convention, unwrapped

_EMPTY = {"model", "module", "layers", "layer", "blocks", "block", "weight", "bias", "0", "transformer"}


def role_of(pattern: str, shape: tuple[int, ...]) -> str:
    """A role of `roles.ROLES`, or the last telling words of the path."""
    role = by_convention(pattern, unwrapped(pattern)).role
    return role or words_of(pattern, 1)


def words_of(pattern: str, number: int) -> str:
    """The last telling words of a path as one."""
    words = [w for w in pattern.split(".") if w != "{}" and w not in ("weight", "bias")] or pattern.split(".")
    telling = [w for w in words if w not in _EMPTY] or words
    return "_".join(telling[-number:])


def tower_of(pattern: str) -> str:
    """The part of the model that the path names; `text` where it names none."""
    return next((TOWERS[word] for word in pattern.split(".") if word in TOWERS), "text")


def group_hint(pattern: str, shape: tuple[int, ...]) -> str:
    """The group of a role that no table knows, by the path's words and the shape."""
    words = pattern.lower()
    last = [w for w in words.split(".") if w not in ("{}", "weight", "bias")][-1:] or [""]
    if re.search(r"norm|(^|[._])(ln|bn)\d*([._]|$)", last[0]):
        return "norm"
    if re.search(r"embed|(^|_)(pos|position|token|query)s?_?(emb|enc)|cls_token|mask_token|latents|queries$", words):
        return "embedding"
    if len(shape) == 1 and words.endswith("weight"):
        return "norm"
    if re.search(r"mamba|linear_attn|ssm|\.mixer\.", words):
        return "state_space"
    if re.search(r"\b(lm_)?head|classif|predict|logit|score", words):
        return "head"
    if re.search(r"attn|attention", words):
        return "attention"
    if len(shape) >= 3 and "expert" not in words:
        return "convolution"
    if re.search(r"mlp|ffn|feed_forward|fc\d|intermediate|expert|dense", words):
        return "feed_forward"
    if re.search(r"conv", words):
        return "convolution"
    return group_of(words_of(pattern, 2))


def unique(taken: set[tuple[object, ...]], key: tuple[object, ...], role: str, pattern: str) -> str:
    """The role, with words of the path before it as long as another pattern has the same."""
    tried = role
    if re.search(r"cross_?att|encoder_attn|encdec|cross_?layer", pattern, re.IGNORECASE) and "cross" not in role:
        role = tried = f"cross_{role}"
    for number in range(1, 9):
        if (tried, *key) not in taken:
            return tried
        more = words_of(pattern, number)
        tried = f"{more}_{role}" if role in ROLES and not more.endswith(role) else more
    return f"{words_of(pattern, 12)}_{len(taken)}"
