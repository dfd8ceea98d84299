"""llama.cpp: the KV and recurrent buffers that it prints when it makes a context.

Sources: llama_context, llama_kv_cache, llama_kv_cache_iswa and llama_memory_recurrent of the release in
llama-cpp-python 0.3.36; checked against what the library prints.
"""

from __future__ import annotations

from collections.abc import Sequence

from inspector.architectures.caches import PER_SEQUENCE, Kept
from inspector.sizing.engines.engine import Engine, Held, Request, tokens_of
from inspector.sizing.widths import WIDTHS

#: The build whose graphs are in `data/graphs.json`, and the first one measured that reserves logits for few tokens
#: (xllamacpp 2026.6.9538): 2026.5.9294 reserves them for all of a batch.
BUILD, FEW_OUTPUTS = 11549, 9538
#: Cells are allocated in multiples of this: GGML_PAD(n_ctx, 256).
PADDING = 256
#: Tokens of a physical batch, `--ubatch-size`: a window's cells have room for one more of them.
UBATCH = 512


def hold(groups: Sequence[Kept], request: Request) -> tuple[Held, ...]:
    """Separate cells for each sequence's keys and values, and states in 32 bits."""
    return tuple(_held_by(group, request) for group in groups if group.elements)


def _held_by(group: Kept, request: Request) -> Held:
    if group.kind in PER_SEQUENCE:
        columns = group.kernel - 1 if group.kernel else 1  # the oldest one is shifted out before it is needed
        nbytes = WIDTHS["F32"].bytes_of(group.elements * columns) * (1 + request.snapshots)
        return Held(group.kind, group.layers, 0, nbytes * len(group.layers) * request.sequences, "F32", group.formula)
    cells = cells_of(group, request)
    nbytes = request.keys.bytes_of(group.keys * cells) + request.values.bytes_of(group.values * cells)
    total = nbytes * len(group.layers) * request.sequences
    return Held(group.kind, group.layers, cells, total, request.keys.name, group.formula)


def cells_of(group: Kept, request: Request) -> int:
    """Cells of a sequence: the context, or a window plus a batch, rounded up."""
    cells = in_whole_blocks(tokens_of(group, request._replace(context=in_whole_blocks(request.context))))
    return min(cells, in_whole_blocks(group.window + (request.batch or UBATCH))) if group.window else cells


def in_whole_blocks(tokens: int) -> int:
    """Cells for this many tokens."""
    return -(-tokens // PADDING) * PADDING


ENGINE = Engine(
    "llama.cpp",
    "llama.cpp's buffers",
    hold,
    ("F32", "F16", "BF16", "Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0", "IQ4_NL"),
    "F16",
    (
        "--ctx-size is the context times the sequences (--parallel); each has its own cells (no --kv-unified)",
        "cells in multiples of 256; layers with a window hold it and one batch (--ubatch-size 512, no --swa-full)",
        "flash attention, the default: without it quantized values are refused",
    ),
    batch=UBATCH,
    offloads=True,
    opaque="llama.cpp keeps tokens that are compressed beforehand in caches of sizes of their own",
    graphs=True,
    version=f"b{BUILD}",
)


def of_build(number: int) -> Engine:
    """An older or newer build: its outputs are those of its time, its graphs those of the known build."""
    if number == BUILD:
        return ENGINE
    assumes = (*ENGINE.assumes, f"the graphs of b{number} are those of b{BUILD}, which were measured")
    return ENGINE._replace(version=f"b{number}", all_outputs=number < FEW_OUTPUTS, assumes=assumes)
