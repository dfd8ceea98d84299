"""Which of several widths packed weights have: a projection's input is as wide as a norm of its layer.

`unpacking` tries each `possible` width on the whole checkpoint; `settle` picks one for each weight. A projection whose
output width differs from the norms' must read theirs, so its columns determine its bits; one whose output has that
width (`o_proj`, `down_proj`) has no constraint on its input, so it follows its neighbours. Mixed precision is settled
module by module: attention may be wider than the feed-forward.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from inspector.model import Tensor
from inspector.quantization.scheme import COMMON_BITS, COMMON_GROUPS, FLOATS, Weight, Width

# `model.layers.0` of `model.layers.0.mlp.up_proj`: up to the first number.
_BLOCK = re.compile(r"^.*?\.\d+(?=\.)")


def possible(weights: Iterable[Weight]) -> list[Width]:
    """The widths that unsure weights may have: 64 elements of 4 bits fill the same words as 32 of 8."""
    products = {weight.bits * weight.group_size for weight in weights if not weight.sure and weight.group_size}
    found = {Width(bits, product // bits) for product in products for bits in COMMON_BITS if product % bits == 0}
    return sorted(width for width in found if width.group in COMMON_GROUPS)


def norms(tensors: Sequence[Tensor]) -> Mapping[str, frozenset[int]]:
    """Lengths of norms' scales by layer; those of the whole checkpoint under ""."""
    found: defaultdict[str, set[int]] = defaultdict(set)
    for tensor in tensors:
        if len(tensor.shape) == 1 and tensor.dtype in FLOATS and tensor.name.endswith(".weight"):
            found[block_of(tensor.name)].add(tensor.shape[0])
            found[""].add(tensor.shape[0])
    return {block: frozenset(lengths) for block, lengths in found.items()}


def block_of(name: str) -> str:
    """The layer that a name is in; "" outside of the layers."""
    match = _BLOCK.match(name)
    return match[0] if match else ""


def settle(
    stems: Sequence[str], tried: Sequence[Sequence[Weight]], lengths: Mapping[str, frozenset[int]]
) -> list[int | None]:
    """For each weight, which of the tries fits its neighbourhood; None if none does, or several do.

    Weights that must read a norm's output vote for the tries in which they do: for their module, their layer and the
    whole checkpoint. A weight takes the winner of the nearest of these that has one.

    Args:
        tried: for each width, its reading of every weight.
        lengths: `norms` of the checkpoint.
    """
    votes: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for at, stem in enumerate(stems):
        near = lengths.get(block_of(stem)) or lengths.get("", frozenset())
        for number, weights in enumerate(tried):
            if _reads(weights[at], near):
                for place in _places(stem):
                    votes[place][number] += 1
    return [_choice(stem, votes) for stem in stems]


def _reads(weight: Weight, near: frozenset[int]) -> bool:
    """Whether a weight of this shape must read, and does read, a norm's output."""
    return len(weight.shape) > 1 and weight.shape[-2] not in near and weight.shape[-1] in near


def _places(stem: str) -> tuple[str, str, str]:
    """The module that holds the weight, its layer, and the whole checkpoint."""
    return stem.rpartition(".")[0], f"{block_of(stem)}.", "*"


def _choice(stem: str, votes: Mapping[str, Counter[int]]) -> int | None:
    """The width of most neighbours, at the nearest level with any votes."""
    for place in _places(stem):
        ranked = votes.get(place, Counter()).most_common(2)
        if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]):
            return ranked[0][0]
    return None
