"""What llama-server loads beside a model: a vision tower (`--mmproj`), a draft model (`--model-draft`).

A tower has its weights, and a buffer that is reserved at the start for one square picture; a larger one takes more
later. The graph of a plain tower is laid out as ggml's allocator does: pixels, their columns and convolution, then
layers of a norm, queries, keys, values (copies in 16 bits for flash attention), a projection and a feed-forward. A
draft model has weights, a cache in F16 of the same context, and buffers of its own; results of the tokens that it
proposes are asked for.

Sources: clip.cpp (`load_hparams`, `build_vit`, `build_attn`), the towers of tools/mtmd/models, server-context.cpp and
speculative.cpp of the build in `engines/llama_cpp`; `tools/llama_cpp/tower_buffers.py` compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from inspector.architectures import GGUF_ARCHITECTURE
from inspector.errors import UsageError
from inspector.model import Reconciliation
from inspector.sizing.buffers import batch_of, buffers_of, output
from inspector.sizing.engines.engine import Engine, Request
from inspector.sizing.engines.graphs import Arena
from inspector.sizing.model import Beside, Model
from inspector.sizing.weights import as_type, stored
from inspector.sizing.widths import WIDTHS
from inspector.tabular import NamedTuple
from inspector.units import escape

#: Tokens that a draft model proposes at a time: `--draft-max`.
DRAFTED = 3
#: GGUF architectures of drafts that need the states of the model that they draft for; and those whose states can be
#: returned to: `llm_arch_supports_rs_rollback`.
READING = frozenset({"eagle3", "dflash"})
RETURNING = frozenset({
    "kimi-k3", "qwen35", "qwen35moe", "qwen4exp", "deepseek4", "glm5-next", "nemotron_h", "nemotron_h_moe", "lfm2",
    "lfm2moe", "bailingmoe3",
})  # fmt: skip
#: Files with a tower say that they are of this architecture.
CLIP = "clip"
_DEEP = re.compile(r"v\.deepstack\.(\d+)\.norm\.weight")
_LAYER = re.compile(r"v\.blk\.(\d+)\.")


class Plain(NamedTuple):
    """A kind of tower."""

    side: int = 0  # of the picture that is reserved for, in merged tokens; 0: the file's `image_size`
    merge: int = 1  # patches of a token, in each direction, if the file does not say
    positions: int = 0  # bytes of positions for each patch, by which queries and keys are rotated; 0 if they are not
    resized: bool = False  # whether learned positions are brought to the picture's size


#: `clip.projector_type` → its tower.
TOWERS: Mapping[str, Plain] = {
    "gemma3": Plain(merge=4),
    "idefics3": Plain(),
    "internvl": Plain(),
    "janus_pro": Plain(),
    "lfm2": Plain(16, 2, resized=True),
    "phi4": Plain(16, resized=True),
    "pixtral": Plain(16, positions=8),
    "lightonocr": Plain(16, positions=8),
    "kimivl": Plain(16, 2, 8, resized=True),
    "dots_ocr": Plain(46, positions=16),
    "paddleocr": Plain(28, 2, 16, resized=True),
    "qwen2vl_merger": Plain(46, 2, 16),
    "qwen2.5vl_merger": Plain(46, 2, 16),
    "qwen3vl_merger": Plain(46, 2, 16, resized=True),
    "glm4v": Plain(46, 2, 16, resized=True),
}


def tower_at(result: Reconciliation) -> Reconciliation:
    """A tower's file, as it is. Raises UsageError if it is none."""
    files = result.checkpoint.files
    kind = files[0].metadata.get(GGUF_ARCHITECTURE) if files else None
    if kind != CLIP:
        named = f"its architecture is {kind!s:.40}" if kind else "it is no GGUF"
        raise UsageError(f"--mmproj {escape(result.checkpoint.target, 80)}: not a vision tower's file: {escape(named)}")
    return result


def with_draft(model: Model, runs: Engine, request: Request, *, flash: bool) -> tuple[Model, Request]:
    """A model whose draft's buffers are known, and the request with what it proposes. Raises UsageError."""
    if not runs.graphs:
        raise UsageError(f"--mmproj and --draft are llama.cpp's, not {runs.name}'s: --engine llama.cpp")
    draft = model.beside.draft
    if draft is None:
        return model, request
    draft = draft.run_by(runs)
    draft = draft._replace(buffers=buffers_of(draft, flash=flash))
    reads = _architecture(draft) in READING and _architecture(model) in RETURNING
    request = request._replace(drafted=DRAFTED, snapshots=DRAFTED if reads else 0)
    return model._replace(beside=model.beside._replace(draft=draft)), request


def _architecture(model: Model) -> object:
    return model.config.values.get(GGUF_ARCHITECTURE) if model.config else None


def parts_of(beside: Beside, runs: Engine, request: Request) -> Iterator[tuple[str, int]]:
    """Names and bytes of what is loaded, as far as known."""
    if beside.tower is not None:
        yield "mmproj", stored(beside.tower).nbytes
        if (nbytes := buffer_of(beside.tower)) is not None:
            yield "mmproj compute", nbytes
    draft, f16 = beside.draft, WIDTHS["F16"]
    if draft is not None:
        own = request._replace(keys=f16, values=f16, model=draft.computes_in, drafted=0, snapshots=0)
        yield "draft model", _weights(draft)
        yield "draft cache", sum(each.nbytes for each in runs.hold(draft.kept or (), own))
        if (known := draft.buffers) is not None:
            yield "draft compute", known.graph.reserved(batch_of(known, runs, own)) + output(known, runs, own)


def _weights(draft: Model) -> int:
    if draft.result is not None:
        return stored(draft.result).nbytes
    own = draft.computes_in
    return as_type(draft.prediction, own, own).nbytes if draft.prediction else 0


def missing(beside: Beside) -> Iterator[str]:
    """What is not known of it, in sentences."""
    if beside.tower is not None and buffer_of(beside.tower) is None:
        kind = escape(str(_kind(beside.tower)), 40)
        yield f"mmproj: what llama.cpp reserves for a tower of kind {kind} is not known: only its weights are counted"
    draft = beside.draft
    if draft is not None and draft.kept is None:
        yield f"draft: what its layers keep is unknown: {draft.unknown}; its cache is not counted"
    if draft is not None and draft.buffers is None:
        yield "draft: what llama.cpp reserves for its architecture is not known, and not counted"


class _Places(Arena):
    """Results by name."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def put(self, name: str, nbytes: int) -> None:
        self.add(nbytes)
        self.names.append(name)

    def free(self, *names: str) -> None:
        for name in names:
            self.drop(len(self.names) - self.names.index(name))
            self.names.remove(name)

    def rename(self, name: str, to: str) -> None:
        self.names[self.names.index(name)] = to


def buffer_of(result: Reconciliation) -> int | None:
    """Bytes of the compute buffer of a tower's file; None if the graph of its kind is not known, or it hears, too."""
    metadata = result.checkpoint.files[0].metadata
    shapes = {each.tensor.name: tuple(each.tensor.shape) for each in result.tensors}
    kind = _kind(result)
    plain = TOWERS.get(kind) if isinstance(kind, str) else None
    if plain is None or metadata.get("clip.has_audio_encoder") is True:
        return None

    def number(name: str) -> int:
        value = metadata.get(f"clip.vision.{name}")
        return value if isinstance(value, int) and 0 < value < 2**20 else 0  # a longer picture is no one's

    convolution = shapes.get("v.patch_embd.weight", ())
    if len(convolution) != 4 or not (patch := number("patch_size")):
        return None
    merge = number("spatial_merge_size") or number("projector.scale_factor") or plain.merge
    pixels = plain.side * patch * merge or number("image_size")
    if pixels < patch:
        return None
    return _laid_out(plain, shapes, pixels, patch, windows=bool(number("n_wa_pattern")))


def _kind(result: Reconciliation) -> object:
    metadata = result.checkpoint.files[0].metadata
    return metadata.get("clip.vision.projector_type") or metadata.get("clip.projector_type")


def _laid_out(
    plain: Plain, shapes: Mapping[str, tuple[int, ...]], pixels: int, patch: int, *, windows: bool
) -> int | None:
    first = {name.removeprefix("v.blk.0.").removesuffix(".weight"): shape for name, shape in shapes.items()}
    if "ffn_up" not in first:
        return None
    patches = (pixels // patch) ** 2
    rows = 4 * (patches + ("v.class_embd" in shapes))
    row, broad = rows * shapes["v.patch_embd.weight"][0], rows * first["ffn_up"][0]
    deep = {int(found[1]) for name in shapes if (found := _DEEP.match(name))}
    layers = len({found[1] for name in shapes if (found := _LAYER.match(name))})

    arena = _Places()
    arena.put("pixels", 12 * pixels**2)
    if plain.positions:
        arena.put("positions", plain.positions * patches)
    if windows:
        arena.put("mask", 2 * patches**2)
    learned = shapes.get("v.position_embd.weight", ())
    resized = plain.resized and bool(learned) and learned[0] != patches
    twice = "v.patch_embd.weight.1" in shapes
    _starts(arena, shapes["v.patch_embd.weight"][0] * 4 * patches, 12 * pixels**2, twice=twice, resized=resized)
    if windows or "v.class_embd" in shapes:  # put into another order, or behind a token of its own
        arena.put("ordered", row)
        arena.free("x")
        arena.rename("ordered", "x")
    for layer in range(layers):
        _attends(arena, row, rotates=bool(plain.positions), fused="attn_qkv" in first)
        if layer - 1 in deep:
            arena.rename("x", f"x{layer - 1}")  # read after the last layer
        else:
            arena.free("x")
        arena.rename("out", "x")
        _feeds(arena, row, broad, gated="ffn_gate" in first)
    return arena.top


def _starts(arena: _Places, row: int, colours: int, *, twice: bool, resized: bool) -> None:
    """Pixels become patches: by one convolution, or two that are added and put into the order of merged tokens."""
    put, free = arena.put, arena.free
    for name in ("patches", "more") if twice else ("patches",):
        put("columns", colours)
        put("product", row)
        free("columns")
        put(name, row)
        free("product")
    free("pixels")
    if twice:
        free("more")
        put("ordered", row)
        free("patches")
        arena.rename("ordered", "patches")
    put("x", row)
    free("patches")
    if resized:
        put("interpolated", row)
        put("ordered", row)
        free("interpolated")
        put("positions of patches", row)
        free("ordered", "positions of patches")


def _feeds(arena: _Places, row: int, broad: int, *, gated: bool) -> None:
    put, free = arena.put, arena.free
    put("normed", row)
    put("up", broad)
    if gated:
        put("gate", broad)
    free("normed")
    if gated:
        put("product", broad)
        free("gate", "up")
        arena.rename("product", "up")
    put("down", row)
    free("up", "down")


def _attends(arena: _Places, row: int, *, rotates: bool, fused: bool) -> None:
    put, free = arena.put, arena.free
    put("normed", row)
    if fused:
        put("qkv", 3 * row)
        free("normed")
        if rotates:
            put("q", row)
            put("k", row)
    else:
        for name in "qk":
            put(name, row)
            if rotates:
                put("rotated", row)
                free(name)
                arena.rename("rotated", name)
        put("v", row)
        free("normed")
    put("k16", row // 2)
    if "k" in arena.names:
        free("k")
    put("v16", row // 2)
    if "v" in arena.names:
        free("v")
    elif rotates:
        free("qkv")
    put("attended", row)
    free("q" if "q" in arena.names else "qkv", "k16", "v16")
    put("out", row)
    free("attended")
