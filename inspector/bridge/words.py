"""Short display names of tensors."""

from __future__ import annotations


def short(name: str) -> str:
    """The last words of a tensor's name that identify it: `rotary_emb.inv_freq`, `q_proj.bias`."""
    words = [word for word in name.split(".") if not word.isdigit() and not word.startswith("{")]
    if words[-1:] == ["weight"] and len(words) > 1:
        words.pop()
    return ".".join(words[-2:])
