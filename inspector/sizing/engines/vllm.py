"""vLLM: blocks of tokens in pages, and what hybrid models make of them.

Sources: vllm/v1/kv_cache_interface.py (page_size_bytes, max_memory_usage_bytes of each spec), v1/core/kv_cache_utils.py
(groups of layers, one page size for all), model_executor/models/config.py (attention's block grows to a state's page).
"""

from __future__ import annotations

from collections.abc import Sequence

from inspector.architectures.caches import PER_SEQUENCE, PER_SOURCE, Kept
from inspector.sizing.engines.engine import Engine, Held, Request, tokens_of
from inspector.sizing.widths import WIDTHS

#: Tokens of a block, `--block-size`.
BLOCK = 16
#: Tokens of a step, `--max-num-batched-tokens`: a window's blocks have room for them.
BATCHED = 2048
#: Where the largest kind has fewer layers than this times the smallest's, groups are as large as the largest.
ALIKE = 1.25


def hold(groups: Sequence[Kept], request: Request) -> tuple[Held, ...]:
    """Pages of one size for all layers: those that a sequence of this length may come to need."""
    kept = _joined(groups)
    if not kept:
        return ()
    block = _block(kept, request)
    page = max(_page(layer, block, request) for layer in kept.values())
    kinds: dict[tuple[str, int | None], list[int]] = {}
    for number, layer in sorted(kept.items()):
        kinds.setdefault((layer[0].kind, layer[0].window), []).append(number)
    size = _group_size([len(layers) for layers in kinds.values()])
    found = []
    for layers in kinds.values():
        first = kept[layers[0]]
        pages = _pages(first[0], block, request)
        padded = -(-len(layers) // size) * size  # the last group of a kind is filled up with layers that are none
        tokens = 0 if first[0].kind in PER_SEQUENCE else pages * block
        total = padded * pages * page * request.sequences
        text = f"{first[0].formula}; pages of {page:,} bytes, {padded} layers in groups of {size}"
        found.append(Held(first[0].kind, tuple(layers), tokens, total, request.keys.name, text))
    return tuple(found)


def _joined(groups: Sequence[Kept]) -> dict[int, list[Kept]]:
    """Layer → all that it keeps; what it keeps of an encoder is a layer of its own, numbered after the others."""
    found: dict[int, list[Kept]] = {}
    after = 1 + max((layer for group in groups for layer in group.layers), default=0)
    for group in groups:
        if group.elements:
            for layer in group.layers:
                found.setdefault(layer + (after if group.kind in PER_SOURCE else 0), []).append(group)
    return found


def _elements(group: Kept, request: Request) -> int:
    """Elements of one device: heads are divided, and repeated where there are fewer than devices."""
    if group.heads is None or request.tp == 1:
        return group.elements
    return group.elements // max(1, group.heads) * max(1, group.heads // request.tp)


def _of_token(layer: Sequence[Kept], request: Request) -> int:
    return sum(request.keys.bytes_of(_elements(each, request)) for each in layer if each.kind not in PER_SEQUENCE)


def _of_state(layer: Sequence[Kept], request: Request) -> int:
    """Bytes of a layer's states: the last `kernel - 1` columns of a convolution, and the recurrence's own."""
    states = [each for each in layer if each.kind in PER_SEQUENCE]
    return sum(
        (WIDTHS[each.dtype] if each.dtype and each.kind == "linear" else request.model).bytes_of(
            each.elements * (each.kernel - 1 if each.kernel else 1) // request.tp
        )
        for each in states
    )


def _block(kept: dict[int, list[Kept]], request: Request) -> int:
    """Tokens of a block: so many that no page of attention is smaller than a state's."""
    state = max((_of_state(layer, request) for layer in kept.values()), default=0)
    token = min((size for layer in kept.values() if (size := _of_token(layer, request))), default=0)
    if not state or not token:
        return BLOCK
    return max(BLOCK, BLOCK * -(-state // (BLOCK * token)))


def _page(layer: Sequence[Kept], block: int, request: Request) -> int:
    return max(block * _of_token(layer, request), _of_state(layer, request))


def _pages(group: Kept, block: int, request: Request) -> int:
    """Pages of a layer and sequence."""
    if group.kind in PER_SEQUENCE:
        return 1
    tokens = tokens_of(group, request)
    if group.window:
        held = min(group.window - 1 + (request.batch or BATCHED), tokens)
        return -(-held // block) + 1  # a window may begin in the middle of a block
    return -(-tokens // block)


def _group_size(counts: Sequence[int]) -> int:
    """Layers of a group: those of the smallest kind, or of the largest where it is hardly larger."""
    least, most = min(counts), max(counts)
    return most if most < least * ALIKE else least


ENGINE = Engine(
    "vllm",
    "vLLM's pages",
    hold,
    ("F32", "F16", "BF16", "F8"),
    "",
    (
        "pages that one sequence of the whole context may come to need, times the sequences; blocks of 16 tokens",
        "--max-num-batched-tokens 2048, no prefix caching, one page size for all kinds of layers",
        "states of convolutions and of Mamba in the model's type (--mamba-ssm-cache-dtype auto)",
        "--gpu-memory-utilization 0.9 of a device",
    ),
    batch=BATCHED,
    share=90,
    over="heads",
)
