"""llama.cpp's graphs and buffers, from the package `xllamacpp`: read through ctypes, without memory for weights or cache.

    graphs = Graphs()
    model = graphs.model(Path("model.gguf"))            # the file's tensors; their data is not read (`no_alloc`)
    context = graphs.context(model, n_ctx=4096, n_seq_max=1, n_outputs_max=1)
    graphs.lines                                        # its log, such as "compute buffer size = 128.02 MiB"
    graphs.events(context)                              # results as its allocator places them

The library ends the process on odd key-values: use `library.in_child`.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

sys.path[:0] = [str(Path(__file__).parent)]

from library import POINTER, Library  # noqa: E402

#: Flags of `ggml_tensor`.
INPUT, OUTPUT = 1, 2
#: Operations whose result may take the place of an operand: `ggml_op_can_inplace`.
IN_PLACE = frozenset({
    "FILL", "SCALE", "DIAG_MASK_ZERO", "DIAG_MASK_INF", "ADD", "ADD_ID", "ADD1", "SUB", "MUL", "DIV", "SQR", "SQRT",
    "LOG", "UNARY", "ROPE", "ROPE_BACK", "SILU_BACK", "RMS_NORM", "RMS_NORM_BACK", "CLAMP", "SOFT_MAX", "SOFT_MAX_BACK",
})  # fmt: skip
RESERVED = re.compile(r"reserving a graph for ubatch with n_tokens = +(\d+), n_seqs = +(\d+), n_outputs = +(\d+)")


class Tensor(ctypes.Structure):
    """`ggml_tensor` of ggml.h."""

    _fields_: ClassVar[Any] = (
        ("type", ctypes.c_int32), ("buffer", POINTER), ("ne", ctypes.c_int64 * 4), ("nb", ctypes.c_size_t * 4),
        ("op", ctypes.c_int32), ("op_params", ctypes.c_int32 * 16), ("flags", ctypes.c_int32), ("src", POINTER * 10),
        ("view_src", POINTER), ("view_offs", ctypes.c_size_t), ("data", POINTER), ("name", ctypes.c_char * 64),
        ("extra", POINTER), ("padding", ctypes.c_char * 8),
    )  # fmt: skip

    @property
    def at(self) -> int:
        return ctypes.addressof(self)

    @property
    def layout(self) -> tuple[Any, ...]:
        return self.type, *self.ne, *self.nb

    @property
    def sources(self) -> list[int]:
        return [each for each in self.src if each]


class _Graph(ctypes.Structure):
    _fields_: ClassVar[Any] = (
        ("size", ctypes.c_int), ("n_nodes", ctypes.c_int), ("n_leafs", ctypes.c_int), ("nodes", ctypes.POINTER(POINTER)),
        ("grads", POINTER), ("grad_accs", POINTER), ("leafs", ctypes.POINTER(POINTER)),
    )  # fmt: skip


class Result(NamedTuple):
    """A node, as far as its size and its place in the model are concerned."""

    op: str
    name: str
    dtype: int
    nbytes: int
    sources: tuple[str, ...]


class Event(NamedTuple):
    """`node`: one is computed; `add`: a result gets a place; `drop`: a place becomes free."""

    kind: str
    number: int  # of the place
    result: Result | None


class Graphs(Library):
    """The library, with the graphs that it computes."""

    def model(self, path: Path, **options: Any) -> int | None:
        """A model of a file's header."""
        return super().model(path, no_alloc=True, load_mode=0, **options)

    def context(self, model: int, **options: Any) -> int | None:
        """A context, with the cache of a window as long as that."""
        return super().context(model, **{"swa_full": False, "n_batch": 2048, **options})

    def reserved_for(self) -> tuple[int, int, int]:
        """Tokens, sequences and outputs of the last graph that the log names."""
        tokens, sequences, outputs = map(int, RESERVED.findall(self.log)[-1])
        return tokens, sequences, outputs

    def events(self, context: int) -> Iterator[Event]:
        """`ggml_gallocr_alloc_graph_impl` of ggml-alloc.c for the largest graph, without addresses."""
        graph = _Graph.from_address(self.lib._Z19llama_graph_reserveP13llama_contextjjj(context, *self.reserved_for()))
        leafs = [Tensor.from_address(graph.leafs[each]) for each in range(graph.n_leafs)]
        nodes = [Tensor.from_address(graph.nodes[each]) for each in range(graph.n_nodes)]
        return _Allocation(self.lib).run(leafs, nodes)


class _Allocation:
    def __init__(self, lib: Any) -> None:
        self.lib = lib
        self.known: dict[int, Tensor] = {}
        self.children: dict[int, int] = {}
        self.views: dict[int, int] = {}
        self.place: dict[int, int | None] = {}  # tensor → number of its place; None if it is free again, or another's
        self.places = 0
        self.pending: list[Event] = []

    def tensor(self, at: int) -> Tensor:
        return self.known.setdefault(at, Tensor.from_address(at))

    def result(self, each: Tensor) -> Result:
        name = self.lib.ggml_op_name(each.op).decode()
        sources = tuple(self.tensor(at).name.decode(errors="replace") for at in each.sources)
        return Result(name, each.name.decode(errors="replace"), each.type, self.lib.ggml_nbytes(each.at), sources)

    def add(self, at: int) -> None:
        each = self.tensor(at)
        if at in self.place or each.data or each.buffer or each.view_src:
            return
        for source in each.sources if self.lib.ggml_op_name(each.op).decode() in IN_PLACE else ():
            own = self.tensor(source)
            alone = self.children.get(source, 0) == 1 and not self.views.get(source, 0)
            if self.place.get(source) is None or own.flags & OUTPUT or own.layout != each.layout or not alone:
                continue
            self.place[at], self.place[source] = self.place[source], None
            return
        self.place[at] = self.places
        self.pending.append(Event("add", self.places, self.result(each)))
        self.places += 1

    def drop(self, at: int) -> None:
        place = self.place.get(at)
        if place is not None and not self.tensor(at).flags & OUTPUT:
            self.pending.append(Event("drop", place, None))
            self.place[at] = None

    def run(self, leafs: list[Tensor], nodes: list[Tensor]) -> Iterator[Event]:
        for each in leafs:
            self.add(each.at)
        for each in nodes:
            if each.view_src and each.op:
                self.views[each.view_src] = self.views.get(each.view_src, 0) + 1
            if each.flags & INPUT:
                self.add(each.at)
            for source in each.sources:
                self.children[source] = self.children.get(source, 0) + 1
                if self.tensor(source).flags & INPUT:
                    self.add(source)
        for each in nodes:
            self.pending.append(Event("node", -1, self.result(each)))
            for source in each.sources:
                self.add(source)
            self.add(each.at)
            for source in each.sources:
                self.read(source)
            yield from self.pending
            self.pending.clear()

    def read(self, source: int) -> None:
        """One of a result's readers is done."""
        self.children[source] -= 1
        if self.children[source] or self.views.get(source, 0):
            return
        whole = self.tensor(source).view_src
        if not whole:
            self.drop(source)
            return
        self.views[whole] -= 1
        if not self.views[whole] and not self.children.get(whole, 0):
            self.drop(whole)
