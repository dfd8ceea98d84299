"""The buffers that llama.cpp reserves beside weights and cache, for a GGUF or the one that would be converted.

Sources: llama_context (`sched_reserve`, `output_reserve`) and common/common.cpp of the builds in `engines/llama_cpp`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from inspector.architectures import GGUF_ARCHITECTURE, caches
from inspector.architectures.caches import PER_SEQUENCE, Kept
from inspector.architectures.scope import Scope
from inspector.errors import ConfigError
from inspector.sizing.converted import converted
from inspector.sizing.engines.engine import Engine, Request
from inspector.sizing.engines.graphs import Batch, Buffers, Layer, Reserves, graph_of
from inspector.sizing.engines.llama_cpp import UBATCH, cells_of, in_whole_blocks
from inspector.sizing.model import Model

_LAYER = re.compile(r"(?:enc\.|dec\.)?blk\.(\d+)\.(.*)")
#: The least width by which keys and values are rotated before they are kept in blocks: `llama_kv_cache`.
ROTATED = 64


def buffers_of(model: Model, *, flash: bool = True, graph: Reserves | None = None) -> Buffers | None:
    """What determines a model's buffers; None if its architecture's graph is not known.

    Args:
        graph: what the engine itself answers, instead of the known graph.
    """
    found = _tensors(model)
    if found is None or model.kept is None:
        return None
    architecture, scope, tensors = found
    try:
        layers, outside = layers_of(tensors, scope, model.kept)
        graph = graph or graph_of(architecture, layers, outside, flash=flash)
    except (ConfigError, ArithmeticError, TypeError, LookupError):
        return None
    embedding = outside.weights.get("token_embd")
    if graph is None or not embedding or len(embedding) != 2:
        return None
    window = next((group for group in model.kept if group.window), None)
    return Buffers(graph, embedding[0], embedding[1], window, not model.kept or _pools(model, architecture))


def layers_of(
    tensors: Mapping[str, tuple[int, ...]], scope: Scope, kept: tuple[Kept, ...]
) -> tuple[list[Layer], Layer]:
    """The layers of a GGUF's tensors, and what is outside of them.

    Args:
        tensors: name → shape, row-major.
    """
    layers: dict[int | None, dict[str, tuple[int, ...]]] = {None: {}}
    decodes = any(name.startswith("dec.") for name in tensors)  # the buffers are its decoder's
    for name, shape in tensors.items():
        if decodes and name.startswith("enc."):
            continue
        place = _LAYER.match(name)
        number, rest = (int(place[1]), place[2]) if place else (None, name)
        layers.setdefault(number, {})[rest.removesuffix(".weight")] = shape
    outside = layers.pop(None)
    predicts = {number for number, own in layers.items() if any(name.startswith("nextn.") for name in own)}
    numbers = sorted(
        number for number in layers.keys() - predicts if number is not None
    )  # further tokens are not predicted
    found = [_layer(layers[each], scope, kept, each, {**outside, **layers.get(each - 1, {})}) for each in numbers]
    if found:
        windows = {"windows"} if any(group.window for group in kept) else set()
        found[-1] = found[-1]._replace(kinds=found[-1].kinds | {"last"} | windows)
    return found, _layer(outside, scope, kept, None, {})


def _tensors(model: Model) -> tuple[str, Scope, Mapping[str, tuple[int, ...]]] | None:
    """GGUF architecture, fields, and the names and shapes of the tensors."""
    if model.format == "gguf" and model.config is not None and model.scope is not None:
        if model.result is not None and model.result.tensors:
            shapes = {each.tensor.name: tuple(each.tensor.shape) for each in model.result.tensors}
        elif model.prediction is not None:
            shapes = {name: row.shape for row in model.prediction.expected for name in row.names()}
        else:
            return None
        return str(model.config.values.get(GGUF_ARCHITECTURE)), model.scope, shapes
    prediction = converted(model)
    if prediction is None:
        return None
    scope = caches.text_scope(prediction.config)
    shapes = {name: row.shape for row in prediction.expected for name in row.names()}
    return None if scope is None else (str(prediction.config.values[GGUF_ARCHITECTURE]), scope, shapes)


def _layer(
    weights: Mapping[str, tuple[int, ...]],
    scope: Scope,
    kept: tuple[Kept, ...],
    number: int | None,
    before: Mapping[str, tuple[int, ...]],
) -> Layer:
    inner = scope.at(layer=number or 0)
    own = [group for group in kept if number is None or number in group.layers]

    def field(name: str) -> int:
        value = inner[name]
        if isinstance(value, (list, tuple)):
            value = value[number or 0]
        if not isinstance(value, int):
            raise ConfigError(f"{name} is not a number")
        return value

    kinds = {"recurrent" if group.kind in PER_SEQUENCE else "sliding" if group.window else "full" for group in own}
    if number == 0:
        kinds.add("first")
    by = rotation(scope) if number is None else 0
    return Layer(weights, field, {**dict(_kept(own)), **({"rotation": by} if by else {})}, frozenset(kinds), before)


def rotation(scope: Scope) -> int:
    """The width of the matrix that rotates keys: the largest of 64, 128, 256 … that divides a head's; or 0."""
    try:
        head = scope.at(layer=0)["head_dim"]
    except ConfigError:
        return 0
    return head & -head if isinstance(head, int) and head > 0 and head % ROTATED == 0 else 0


def _kept(groups: list[Kept]) -> Iterator[tuple[str, int]]:
    states = [group for group in groups if group.kind in PER_SEQUENCE and not group.kernel]
    for group in reversed(groups):
        if group.kind not in PER_SEQUENCE:
            yield from (("keys", group.keys), ("values", group.values))
        elif group.kernel:
            yield from (("conv", group.elements), ("kernel", group.kernel))
        else:
            yield ("state" if group is states[0] else "state2"), group.elements


def _pools(model: Model, architecture: str) -> bool:
    """Whether the file says how states are pooled: it is run for embeddings, or for scores."""
    files = model.result.checkpoint.files if model.result else ()
    return bool(files and files[0].metadata.get(f"{architecture}.pooling_type"))


def batch_of(known: Buffers, runs: Engine, request: Request) -> Batch:
    """The batch for which the buffers are reserved."""
    cells = in_whole_blocks(request.context)
    tokens = min(cells * request.sequences, request.batch or UBATCH)
    tokens = -(-tokens // request.sequences) * request.sequences
    outputs = tokens if known.embeds or runs.all_outputs else min(tokens, request.sequences * (1 + request.drafted))
    window = cells_of(known.window, request) if known.window else cells
    return Batch(tokens, outputs, cells, window, request.sequences, request.keys.block > 1, request.values.bits / 8)


def output(known: Buffers, runs: Engine, request: Request) -> int:
    """Bytes of the buffer of results: logits of each sequence's last token; states too, if these are asked for."""
    width = known.vocabulary + (known.hidden if known.embeds else 0)
    rows = batch_of(known, runs, request).outputs if known.embeds else request.sequences * (1 + request.drafted)
    return 4 * rows * width
