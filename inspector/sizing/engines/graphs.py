"""The compute buffer that llama.cpp reserves: its graph of one batch, laid out as its allocator does.

A buffer is reserved by going through the graph's nodes: each result gets the smallest hole that it fits into, and its
place is free again after the last node that reads it (ggml-alloc.c). `data/graphs.json` has each architecture's graph
in that form, one word for each result:

    hidden attn_q attn_q 2 …        results of one row per token: as wide as the model, as `attn_q` has rows
    2:TK  O*token_embd  used*ffn_up_exps        2 bytes an element (4 if nothing is said), tokens × cells; outputs ×
                                                vocabulary; as many as a token uses experts
    2                               the second result from the last, of those still there, is not read any more
    ~2                              and becomes the last: later parts of the graph count from it
    =2,4                            all earlier results are done with, but for the third and the fifth

It has a part before the layers, one for each kind of layer, and one after them. `tools/llama_cpp/write_graphs.py`
writes it from the graphs that the library itself builds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from inspector.architectures.caches import Kept
from inspector.errors import ConfigError

#: Bytes to whose multiples results are padded: TENSOR_ALIGNMENT of ggml-impl.h.
ALIGNMENT = 32
DATA = Path(__file__).parent / "data" / "graphs.json"
#: Words of the data → fields of configurations.
FIELDS = {"hidden": "hidden_size", "heads": "num_attention_heads", "kv_heads": "num_key_value_heads",
          "used": "num_experts_per_tok"}  # fmt: skip

#: What a layer may keep; whether it is the first or the last one, and the last one of a model with windows.
KINDS = ("full", "sliding", "recurrent", "first", "last", "windows")

#: Bytes as a sum of (numbers of the batch, by letter, bytes for each); the place of a result that is done with, or with
#: a minus of one that becomes the last; or the places of those that are kept.
Step = tuple[tuple[str, float], ...] | int | frozenset[int]
State = tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]


class Batch(NamedTuple):
    """The batch for which buffers are reserved."""

    tokens: int
    outputs: int  # tokens whose logits, or states, are asked for
    cells: int  # of each sequence's cache
    window: int  # of a layer with a window
    sequences: int
    rotated: bool = False  # whether keys and values are kept in blocks, before which those of even widths are rotated
    values: float = 2.0  # bytes of a value in the cache

    def number(self, letters: str, kernel: int) -> float:
        """A number of rows: `TK` is tokens × cells of each; `KV` bytes of a cell's values."""
        tokens, cells, number = self.tokens, self.cells, self.sequences
        known = {
            "T": tokens, "O": self.outputs, "1": 1, "S": number, "R": number - 1, "K": cells, "W": self.window,
            "TK": tokens * cells, "TW": tokens * self.window, "OK": self.outputs * cells, "KS": cells * number,
            "WS": self.window * number, "T/S": tokens // number, "TT": tokens**2, "TT/S": tokens**2 // number,
            "KV": cells * self.values,
            "C": tokens + (kernel - 1) * number, "D": (kernel - 1) * number, "E": tokens + kernel - 1,
        }  # fmt: skip
        return known[letters]


class Arena:
    """The allocator of one buffer: holes in the order of their addresses, the last one without an end."""

    def __init__(self, state: State | None = None) -> None:
        holes, live = state or (((0, 1 << 62),), ())
        self.holes, self.live, self.top = [list(hole) for hole in holes], list(live), 0

    def add(self, nbytes: int) -> None:
        """Put a result into the smallest hole, into the last one only if it fits nowhere else."""
        nbytes = -(-nbytes // ALIGNMENT) * ALIGNMENT
        best = len(self.holes) - 1
        least = -1
        for at, (_, room) in enumerate(self.holes[:-1]):
            if room >= nbytes and (least < 0 or room <= least):
                best, least = at, room
        start, room = self.holes[best]
        if room == nbytes:
            del self.holes[best]
        else:
            self.holes[best] = [start + nbytes, room - nbytes]
        self.live.append((start, nbytes))
        self.top = max(self.top, start + nbytes)

    def drop(self, place: int) -> None:
        """Free a result; holes that then touch become one."""
        start, nbytes = self.live.pop(-place)
        if nbytes:
            self._free(start, nbytes)

    def release(self, nbytes: int) -> None:
        """Free the first result of a size early; its place is counted until it is dropped."""
        at = next((at for at, (_, size) in enumerate(self.live) if size == nbytes), None)
        if at is not None:
            start, _ = self.live[at]
            self.live[at] = start, 0
            self._free(start, nbytes)

    def _free(self, start: int, nbytes: int) -> None:
        for at, hole in enumerate(self.holes):
            if hole[0] + hole[1] == start:
                hole[1] += nbytes
                if at + 1 < len(self.holes) and hole[0] + hole[1] == self.holes[at + 1][0]:
                    hole[1] += self.holes.pop(at + 1)[1]
                return
            if start + nbytes == hole[0]:
                hole[0], hole[1] = start, hole[1] + nbytes
                return
            if hole[0] > start:
                self.holes.insert(at, [start, nbytes])
                return

    @property
    def state(self) -> State:
        return tuple((start, room) for start, room in self.holes), tuple(self.live)


class Layer(NamedTuple):
    """What is known about one layer, or about what is outside the layers."""

    weights: Mapping[str, tuple[int, ...]]  # name without layer and `.weight` → shape, row-major
    field: Callable[[str], int]  # of the configuration, for this layer
    kept: Mapping[str, int]  # keys, values: elements per token; conv, kernel, state: of a state
    kinds: frozenset[str]  # those of `KINDS` that apply
    before: Mapping[
        str, tuple[int, ...]
    ]  # weights of the layer before, whose results may be late, or outside of layers

    def number(self, word: str) -> int:
        """A factor of a word: a number, rows or columns of a weight, a field, or what is kept."""
        if word.isdigit():
            return int(word)
        whole, _, part = word.partition("/")
        if part:
            return self.number(whole) // self.number(part)
        name = word.removesuffix(".in")
        for weights in (self.weights, self.before):
            if shape := weights.get(word) or weights.get(name):
                return shape[-1] if len(shape) == 1 or word not in weights else shape[-2]
        return self.kept[word] if word in self.kept else self.field(FIELDS.get(word, word))

    def has(self, condition: str) -> bool:
        """Whether all parts hold: a weight (`<`: of the layer before), a kind, a field above 0, a number; `!`: not."""
        return all(self._has(part.removeprefix("!")) != part.startswith("!") for part in condition.split("&") if part)

    def _has(self, part: str) -> bool:
        name, equals, number = part.partition("=")
        if equals:
            return self.field(name) == int(number)
        if part.startswith("<"):
            return part[1:] in self.before
        if part in KINDS:
            return part in self.kinds
        if part in self.weights:
            return True
        with suppress(ConfigError, LookupError):
            return self.field(name) > 0
        return False


class Graph:
    """A model's graph: the parts of which it consists, one after the other, and the kernel of its convolutions.

    Args:
        rotated: the graph with a cache in blocks, if it is another.
        reads: a mask's number of rows → the last part that reads it.
    """

    def __init__(
        self,
        parts: Sequence[tuple[Step, ...]],
        kernel: int,
        rotated: Graph | None = None,
        reads: Mapping[str, int] | None = None,
    ) -> None:
        self.parts, self.kernel, self.rotated, self.reads = parts, kernel, rotated, reads or {}

    def reserved(self, batch: Batch) -> int:
        """Bytes of its compute buffer for a batch."""
        return (self.rotated if batch.rotated and self.rotated else self)._laid_out(batch)

    def _laid_out(self, batch: Batch) -> int:
        after: dict[tuple[int, State], tuple[State, int]] = {}
        top, state = 0, Arena().state
        for number, part in enumerate(self.parts):
            for done in self._read_before(number, batch):
                arena = Arena(state)
                arena.release(done)
                state = arena.state
            key = id(part), state
            if key not in after:
                arena = Arena(state)
                for step in part:
                    self._step(arena, step, len(state[1]), batch)
                after[key] = arena.state, arena.top
            state, reached = after[key]
            top = max(top, reached)
        return top

    def _step(self, arena: Arena, step: Step, before: int, batch: Batch) -> None:
        if isinstance(step, int):
            arena.drop(step) if step > 0 else arena.live.append(arena.live.pop(step))
        elif isinstance(step, frozenset):
            for place in reversed(range(before)):
                if place not in step:
                    arena.drop(len(arena.live) - place)
        else:
            arena.add(int(sum(each * batch.number(letters, self.kernel) for letters, each in step)))

    def _read_before(self, number: int, batch: Batch) -> Iterator[int]:
        """Bytes of the masks that no part from this one on reads."""
        for letters, last in self.reads.items():
            for step in self.parts[0] if number == last + 1 else ():
                if isinstance(step, tuple) and [each for each, _ in step] == [letters]:
                    nbytes = int(step[0][1] * batch.number(letters, self.kernel))
                    yield -(-nbytes // ALIGNMENT) * ALIGNMENT


class Reserves(Protocol):
    """A graph, or what an engine answers about its own."""

    def reserved(self, batch: Batch) -> int:
        """Bytes of the compute buffer for a batch."""
        ...


class Buffers(NamedTuple):
    """What is needed to know the buffers of any batch."""

    graph: Reserves
    vocabulary: int
    hidden: int
    window: Kept | None  # layers with a window
    embeds: bool  # whether states of all tokens are asked for, not logits of the last


@cache
def known(architecture: str) -> Mapping[str, Any] | None:
    """A GGUF architecture's three parts, with flash attention and without; None if its graph is not known."""
    start = f' "{architecture}": '
    line = next((line for line in _lines() if line.startswith(start)), None)
    if line is None:
        return None
    found: Mapping[str, Any] | str = json.loads(line[len(start) :].rstrip(","))
    return known(found) if isinstance(found, str) else found  # that of another one


@cache
def _lines() -> list[str]:
    """One for each architecture: only one of them is read."""
    return DATA.read_text("utf-8").splitlines()


def graph_of(architecture: str, layers: Sequence[Layer], outside: Layer, *, flash: bool = True) -> Graph | None:
    """The graph of a model; None if this architecture's is not known.

    Raises:
        ConfigError: the configuration lacks a field that a size depends on.
    """
    entry = known(architecture)
    if entry is None:
        return None
    kernel = next((layer.kept["kernel"] for layer in layers if "kernel" in layer.kept), 1)

    reads = {
        letters: max((at for at, layer in enumerate(layers, 1) if kept in layer.kinds), default=len(layers))
        for letters, kept in (("TK", "full"), ("TW", "sliding"))
    }

    def graph(kind: str, rotated: Graph | None = None) -> Graph | None:
        if kind not in entry:
            return None
        before, kinds, after = entry[kind]
        parts: dict[tuple[Step, ...], tuple[Step, ...]] = {}

        def part(choices: Sequence[tuple[str, str]], layer: Layer) -> tuple[Step, ...]:
            steps = _chosen(choices, layer)
            return parts.setdefault(steps, steps)

        last = outside._replace(before=layers[-1].weights) if layers else outside
        for some in (layers, [each._replace(kinds=each.kinds - {"last"}) for each in layers]):
            found = [part(before, outside), *(part(kinds, layer) for layer in some), part(after, last)]
            if _is_sound(found):  # or the last layer is taken to be like the others
                return Graph(found, kernel, rotated, reads)
        return None

    if not flash:
        return graph("plain")
    rotated = None
    if "rotation" in outside.kept:
        with suppress(ConfigError, LookupError):
            rotated = graph("rotated")
    return graph("flash", rotated)


def _chosen(choices: Sequence[tuple[str, str]], layer: Layer) -> tuple[Step, ...]:
    """The first part whose condition holds, and whose widths the layer has. Raises ConfigError or LookupError."""
    failed: Exception = LookupError()
    for _, text in (each for each in choices if layer.has(each[0])):
        try:
            return tuple(_steps(text, layer))
        except (ConfigError, LookupError) as error:  # a width of other layers
            failed = error
    raise failed


def _is_sound(parts: Sequence[tuple[Step, ...]]) -> bool:
    """Whether each part frees only what those before it have left."""
    live, after = 0, dict[tuple[int, int], int | None]()
    for part in parts:
        key = id(part), live
        if key not in after:
            after[key] = left_after(part, live)
        left = after[key]
        if left is None:
            return False
        live = left
    return True


def left_after(part: Sequence[Step], live: int) -> int | None:
    """How many results there are after a part, with this many before it; None if it frees one that is not there."""
    before = live
    for step in part:
        if isinstance(step, int):
            if abs(step) > live:
                return None
            live -= step > 0
        elif isinstance(step, frozenset):
            if any(place >= before for place in step):
                return None
            live -= before - len(step)
        else:
            live += 1
    return live


def _steps(text: str, layer: Layer) -> Iterator[Step]:
    for word in text.split():
        if word.isdigit() and word != "0":
            yield int(word)
        elif word.startswith("~"):
            yield -int(word[1:])
        elif word.startswith("="):
            yield frozenset(map(int, filter(None, word[1:].split(","))))
        else:
            yield _size(word, layer)


def _size(word: str, layer: Layer) -> tuple[tuple[str, float], ...]:
    """`2:TK*heads+S*state` → (("TK", 2 × heads), ("S", 2 × state))."""
    width, _, terms = word.rpartition(":")
    nbytes = {"": 4.0, "Q": 34 / 32}.get(width) or float(width)
    found = []
    for term in terms.split("+"):
        if term == "0":
            continue
        letters, *factors = term.split("*")
        if not _is_letters(letters):
            letters, factors = "T", [letters, *factors]
        each = nbytes
        for factor in factors:
            each *= 0.5 if factor == "1/2" else layer.number(factor)
        found.append((letters, each))
    return tuple(found)


def _is_letters(word: str) -> bool:
    return word == "1" or (word.replace("/", "").isalpha() and word.isupper())
