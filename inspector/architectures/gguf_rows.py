"""A GGUF architecture's layout → a family whose rows have GGUF's names.

    "attn_q+"  →  Row("q_proj", "blk.{layer<num_hidden_layers}.attn_q", "num_attention_heads * head_dim, hidden_size")
                  and the same of its bias

The rows of one architecture are made when a file asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from inspector.architectures.data.gguf_layouts import LAYOUTS, Words
from inspector.architectures.data.gguf_names import BLOCK_ROLES, STACKED, TOWERS
from inspector.architectures.data.gguf_names import GROUPS as ROLE_GROUPS
from inspector.architectures.data.gguf_names import ROLES as OUTSIDE_ROLES
from inspector.architectures.data.gguf_shapes import DEFAULTS, DERIVED, GROUPS, OUTSIDE, ROLES, SHAPES
from inspector.architectures.store import store
from inspector.architectures.table import Family, Row

_WORD = re.compile(r"(?P<kind>.*?)(?P<bias>\+?)(?P<maybe>\??)(?P<tied>=?)")
#: Word before a kind → where its block's name begins, and what counts the blocks.
_STACKS = {
    "": ("blk", "num_hidden_layers"),
    "enc.": ("enc.blk", "num_hidden_layers"),
    "dec.": ("dec.blk", "num_decoder_layers"),
}
#: Beside one of these `ffn_norm` is the norm before the feed-forward, else the one after attention.
_AFTER_ATTENTION = frozenset({"post_attention_norm", "attn_output_norm"})
#: Kinds that converters leave without a suffix.
_BARE = frozenset({"ssm_a", "ssm_d"})


@cache
def family(architecture: str, model_type: str) -> Family | None:
    """The family of a `general.architecture`, named as Transformers' `model_type` is; None where there is no layout."""
    layout = LAYOUTS.get(architecture)
    if layout is None:
        return None
    blocks = [pair for words in layout.blocks for pair in _pairs(words)]
    after = any(_name(word).partition(":")[0] in _AFTER_ATTENTION for _, word in blocks)
    rows = [row for words in layout.inputs for when, word in _pairs(words) for row in _outside(when, word)]
    rows += [row for when, word in blocks for row in _in_blocks(when, word, after)]
    rows += [row for words in layout.outputs for when, word in _pairs(words) for row in _outside(when, word)]
    return Family(
        name=store().types.get(model_type, architecture),
        types={},
        rows=tuple(rows),
        head=layout.head,
        defaults={**DEFAULTS, "tie_word_embeddings": layout.tied, **layout.defaults},
        derived={**DERIVED, **layout.derived},
    )


def _pairs(words: Words) -> Iterator[tuple[str, str]]:
    """Each word with its condition; words that stand for several are spelled out, each with their endings."""
    when, text = ("", words) if isinstance(words, str) else words
    for word in text.split():
        kind = _name(word)
        for each in GROUPS[kind].split() if kind in GROUPS else (kind,):
            yield when, each + word[len(kind) :]


def _name(word: str) -> str:
    match = _WORD.fullmatch(word)
    assert match is not None
    return match["kind"]


def _in_blocks(when: str, word: str, after_attention: bool) -> Iterator[Row]:
    """The rows of a word in a block."""
    kind = _name(word)
    stack = next(start for start in ("enc.", "dec.", "") if kind.startswith(start))
    variant = kind[len(stack) :]
    place, layers = _STACKS[stack]
    base, part = _split(variant)
    role = ROLES.get(variant) or BLOCK_ROLES[base]
    if base == "ffn_norm" and after_attention:
        role = "pre_feedforward_layernorm"
    shape = SHAPES.get(variant) or ("hidden_size" if "norm" in base else SHAPES[base])
    yield from _rows(
        role, f"{place}.{{layer<{layers}}}.{base}", part, shape, when, word, part_of_table=variant in SHAPES
    )


def _outside(when: str, word: str) -> Iterator[Row]:
    """The rows of a word outside of blocks."""
    base, part = _split(_name(word))
    shape = OUTSIDE.get(base) or "hidden_size"
    yield from _rows(OUTSIDE_ROLES[base], base, part, shape, when, word)


def _split(variant: str) -> tuple[str, str]:
    """`ssm_dt.bias:delta` → the name `ssm_dt` and the part `bias`."""
    name = variant.partition(":")[0]
    base, _, part = name.rpartition(".")
    return (base, part) if part in ("bias", "scale") else (name, "weight")


def _rows(
    role: str, name: str, part: str, shape: str, when: str, word: str, *, part_of_table: bool = False
) -> Iterator[Row]:
    """A tensor's row, and its bias' where the word says so."""
    match = _WORD.fullmatch(word)
    assert match is not None
    stacked = name.endswith(STACKED)
    tower = next((tower for start, tower in TOWERS.items() if name.startswith(start)), "text")
    last = name.rpartition(".")[2]
    leaf = "" if last in _BARE and part == "weight" else part
    if last == "exp_probs_b":  # a parameter of its own, whatever its name ends in
        name, leaf = name + ".bias", ""

    def row(leaf: str, shape: str, optional: bool) -> Row:
        return Row(
            role,
            name,
            shape,
            when=when,
            tied=("tie_word_embeddings" if match["tied"] else ""),
            active="num_experts_per_tok" if stacked else "",
            tower=tower,
            leaf=leaf,
            stacked=shape.partition(",")[0] if stacked else "",
            group=ROLE_GROUPS.get(role, ""),
            optional=optional,
        )

    bias = ", ".join(shape.split(", ")[: 2 if stacked else 1]) if "norm" not in last else shape
    if part == "bias" and not part_of_table:
        shape = bias
    yield row(leaf, shape, bool(match["maybe"]))
    if match["bias"]:
        yield row("bias", bias, bool(match["maybe"]))
