"""vLLM: blocks of tokens in pages, and how models with several kinds of layers use them.

Sources: vLLM 0.32, v1/kv_cache_interface.py (the page of a layer, and how many a sequence may need),
v1/core/kv_cache_utils.py (one page size for all, groups of layers), platforms/interface.py (attention's block grows to
a state's page), layers/mamba/mamba_utils.py (states). Checked against these functions (tools/vllm_caches.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from inspector.architectures.caches import PER_SEQUENCE, PER_SOURCE, Kept
from inspector.sizing.engines.engine import Engine, Held, Request
from inspector.sizing.widths import WIDTHS, Width

if TYPE_CHECKING:
    from inspector.sizing.devices import Device

#: Tokens of a block, `--block-size`; beside states, those of multi-head latent attention come in multiples of 128.
BLOCK, LATENT_BLOCK = 16, 128
#: Tokens of a step, `--max-num-batched-tokens`: a window's blocks have room for them.
BATCHED = 2048
#: If the largest kind has fewer layers than this factor times the smallest's, groups are as large as the largest.
ALIKE = 1.5
#: Pages of a state in models with attention: prefix caching keeps the last one as well as the one being written; Mamba
#: 2 needs one more, for a prompt's intermediate states.
STATES, MAMBA2_STATES = 2, 3


#: Bytes of the sampler's tensors for each logit (in 16 and 32 bits, sorted, with their places, sums and masks), and of
#: kernels' workspaces: what `profile_run` has at its peak, by logs of 0.6 and 0.11 (`fixtures/profiles_vllm.jsonl`).
LOGIT, WORKSPACE = 38, 38_000_000
#: Memory of a device from which the server draws 1,024 tokens and computes 8,192 at once by default, not 256 and 2,048;
#: and the device that is left out: `EngineArgs.get_batch_defaults`.
LARGE, LARGE_SAMPLES, LARGE_BATCH, NOT_LARGE = 70 << 30, 1024, 8192, "a100"


def on_large(runs: Engine, devices: Sequence[Device]) -> Engine:
    """The engine with the defaults of large devices, if all of them are."""
    if any(each.nbytes < LARGE or NOT_LARGE in each.name.lower() for each in devices):
        return runs
    return runs._replace(samples=LARGE_SAMPLES, batch=LARGE_BATCH)


def profiled(runs: Engine, request: Request, hidden: int, vocabulary: int, layer: int) -> int:
    """What vLLM keeps free beside weights and cache: the largest peak of a step, or of drawing the next tokens.

    Args:
        layer: elements for each token in the widest part of a layer.
    """
    batch, samples = request.batch or runs.batch, max(runs.samples, request.sequences)
    drawn = LOGIT * samples * vocabulary + request.model.nbytes * hidden * (batch + 2 * samples)
    return int(max(batch * layer * request.model.nbytes, drawn)) + WORKSPACE


class Layer(NamedTuple):
    """A layer's specification, in vLLM's terms."""

    group: Kept  # what it keeps; for a state, the larger part
    number: int
    kind: str  # "full", "sliding", "state" or "cross": layers of one kind share pages
    token: int  # bytes per token
    state: int  # bytes of a sequence's state
    block: int  # tokens of a page; 0 for states
    page: int  # bytes of a page

    @property
    def whole(self) -> bool:
        """Whether a page cannot be padded: rows of latents are read contiguously."""
        return self.group.kind == "latent"


def hold(groups: Sequence[Kept], request: Request) -> tuple[Held, ...]:
    """Pages that a sequence of this length may need."""
    layers = _with_states_aligned(tuple(_layers_of(groups, request)))
    if not layers:
        return ()
    if _is_uniform(layers):
        return tuple(_in_own_pages(layers, request))
    unified = _with_equal_pages(layers)
    if unified is None:  # windows and latents whose pages do not fit: vLLM then keeps all tokens everywhere
        everywhere = tuple(layer._replace(kind="full") for layer in layers)
        return tuple(_in_own_pages(everywhere, request))
    return tuple(_in_groups(unified, request))


def _layers_of(groups: Sequence[Kept], request: Request) -> Iterator[Layer]:
    """Each layer's token caches, and its states merged into one."""
    states: dict[int, list[Kept]] = {}
    for group in groups:
        for number in group.layers if group.elements else ():
            if group.kind in PER_SEQUENCE:
                states.setdefault(number, []).append(group)
            else:
                kind = "cross" if group.kind in PER_SOURCE else "sliding" if group.window else "full"
                # A chunk is kept like full attention: vLLM disables its hybrid cache manager for it.
                kind = "full" if group.chunked else kind
                token = _token_bytes(group, request)
                block = BLOCK * group.stride
                yield Layer(group, number, kind, token, 0, block, BLOCK * token)
    for number, kept in states.items():
        size = sum(_state_bytes(each, request) for each in kept)
        yield Layer(max(kept, key=lambda each: each.elements), number, "state", 0, size, 0, size)


def _token_bytes(group: Kept, request: Request) -> int:
    """Bytes of a token on one device: heads are divided, and replicated if there are fewer than devices."""
    share = 1, 1
    if group.heads is not None and request.tp > 1:
        share = max(1, group.heads // request.tp), max(1, group.heads)
    width = WIDTHS[group.dtype] if group.dtype else request.keys
    return width.bytes_of(group.elements * share[0] // share[1])


def _state_bytes(group: Kept, request: Request) -> int:
    """Bytes of a state on one device: the last `kernel - 1` columns of a convolution, or the recurrent state."""
    width: Width = request.model if group.kernel else request.states or request.model
    return width.bytes_of(group.elements * (group.kernel - 1 if group.kernel else 1) // request.tp)


def _with_states_aligned(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """With states, attention's blocks grow until a page is no smaller than a state, which is padded to that size."""
    state = max((layer.state for layer in layers), default=0)
    first = next((layer for layer in layers if layer.token), None)
    if not state or first is None:
        return tuple(layers)
    step = LATENT_BLOCK if first.whole else BLOCK
    block = max(BLOCK, step * ceil(state / (step * first.token)))
    return tuple(
        layer._replace(block=block * layer.group.stride, page=block * layer.token)
        if layer.token
        else layer._replace(page=block * first.token)
        for layer in layers
    )


def _is_uniform(layers: Sequence[Layer]) -> bool:
    """Whether all layers need the same number of pages: then each has its own page size."""
    sizes = {(layer.kind, layer.group.window if layer.kind == "sliding" else None, layer.block) for layer in layers}
    return len(sizes) == 1 and (layers[0].kind != "state" or len({layer.page for layer in layers}) == 1)


def _with_equal_pages(layers: Sequence[Layer]) -> tuple[Layer, ...] | None:
    """The layers with pages of one size: longer blocks where the sizes divide evenly, padding elsewhere."""
    largest = max(layer.page for layer in layers)
    found = []
    for layer in layers:
        times, rest = divmod(largest, layer.page)
        if layer.token and rest == 0:
            found.append(layer._replace(block=layer.block * times, page=largest))
        elif layer.token and layer.whole:
            return None
        else:
            found.append(layer._replace(page=largest))
    return tuple(found)


def _page_count(layer: Layer, request: Request, states: int) -> int:
    """Pages of a layer and sequence."""
    if layer.kind == "state":
        return states
    if layer.kind == "cross":
        return ceil(request.source / layer.block)
    if layer.kind == "sliding":
        # The window's tokens except the next one, and those of a step; it may begin in the middle of a block.
        tokens = min((layer.group.window or 0) - 1 + (request.batch or BATCHED), request.context)
        return ceil(tokens / layer.block) + 1
    return ceil(request.context / layer.block)


def _in_own_pages(layers: Sequence[Layer], request: Request) -> Iterator[Held]:
    """Layers of one group, each with its own page size."""
    pages = max(_page_count(layer, request, 1) for layer in layers)
    kinds: dict[tuple[Kept, int], list[int]] = {}
    for layer in layers:
        kinds.setdefault((layer.group, layer.page), []).append(layer.number)
    for (group, page), numbers in kinds.items():
        tokens = 0 if group.kind in PER_SEQUENCE else pages * BLOCK
        formula = f"{group.formula}; {pages:,} pages of {page:,} bytes"
        yield _held_by(group, numbers, tokens, len(numbers) * pages * page, request, formula)


def _in_groups(layers: Sequence[Layer], request: Request) -> Iterator[Held]:
    """Layers in groups of one size; the last group of a kind is padded with empty layers."""
    kinds: dict[tuple[str, int | None, int, int, str | None], list[Layer]] = {}
    for layer in layers:
        window = layer.group.window if layer.kind == "sliding" else None
        same = (layer.kind, window, layer.block, layer.token or layer.state, layer.group.dtype)
        kinds.setdefault(same, []).append(layer)
    size = _group_size([len(alike) for alike in kinds.values()])
    for alike in kinds.values():
        first = alike[0]
        pages = _page_count(first, request, MAMBA2_STATES if first.group.mixer == "mamba2" else STATES)
        padded = ceil(len(alike) / size) * size
        formula = f"{first.group.formula}; {pages:,} pages of {first.page:,} bytes, {padded} layers in groups of {size}"
        numbers = [layer.number for layer in alike]
        yield _held_by(first.group, numbers, pages * first.block, padded * pages * first.page, request, formula)


def _group_size(counts: Sequence[int]) -> int:
    """Layers of a group: those of the smallest kind, or of the largest if that is not much larger."""
    least, most = min(counts), max(counts)
    return most if most < least * ALIKE else least


def _held_by(group: Kept, layers: Sequence[int], tokens: int, nbytes: int, request: Request, formula: str) -> Held:
    name = group.dtype if group.dtype and group.kind not in PER_SEQUENCE else request.keys.name
    return Held(group.kind, tuple(layers), tokens, nbytes * request.sequences, name, formula)


ENGINE = Engine(
    "vllm",
    "vLLM's pages",
    hold,
    ("F32", "F16", "BF16", "F8"),
    "",
    (
        "pages that one sequence of the whole context may need, times the sequences; blocks of 16 tokens",
        "a step of 2,048 tokens and one step at a time (--max-num-batched-tokens, --batch here)",
        "states in the model's type unless the configuration names one; two pages of them next to attention, three"
        " of Mamba 2's (prefix caching)",
        "one page size for all kinds of layers, in a layout with layers outermost; no speculative decoding",
        "--gpu-memory-utilization 0.9 of a device",
        "activations as vLLM 0.6 to 0.11 profile them for text; later releases draw tokens with less: unmeasured",
        "--max-num-seqs 256, and 1,024 with steps of 8,192 tokens on devices of 70 GiB and more but A100s",
    ),
    batch=BATCHED,
    samples=256,
    share=90,
    over="heads",
    instead_of_f32="BF16",
    profile=profiled,
    defaults=on_large,
    opaque="vllm keeps tokens that are compressed beforehand in a layout of its own, which is not covered",
)
