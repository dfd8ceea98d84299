"""Tensors' names in short, for people."""

from __future__ import annotations


def short(name: str) -> str:
    """The last words of a tensor's name that tell what it is: `rotary_emb.inv_freq`, `q_proj.bias`."""
    words = [word for word in name.split(".") if not word.isdigit() and not word.startswith("{")]
    if words[-1:] == ["weight"] and len(words) > 1:
        words.pop()
    return ".".join(words[-2:])
