"""Memory of the weights: as stored, or in a given type; and which part is in which layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from inspector.architectures.data.roles import group_of
from inspector.formats import training
from inspector.model import Expected, Prediction, Reconciliation
from inspector.sizing.widths import WIDTHS, Width
from inspector.tabular import NamedTuple

if TYPE_CHECKING:
    from inspector.quantization.declaration import Declaration

#: Towers whose layers have the cache.
MAIN = frozenset({"text", "decoder"})
#: Types that are cast when a model is loaded.
PLAIN = frozenset({"F64", "F32", "F16", "BF16"})
EMBEDDINGS = frozenset({"embed_tokens", "embed_positions", "embed_token_types"})


class Part(NamedTuple):
    """Tensors that are equal in everything that matters here."""

    role: str
    layer: int | None  # of the main stack; None outside of it
    matrix: bool  # whether it is divided among devices that share a layer
    nbytes: int
    read: int  # bytes of it that one token reads
    embedding: bool


class Weights(NamedTuple):
    """The bytes of all weights, and their layers."""

    nbytes: int
    dtype: str
    parts: tuple[Part, ...]
    assumes: tuple[str, ...]

    @property
    def read(self) -> int:
        """Bytes that one token reads: only the experts it uses, and one row of the token embedding."""
        return sum(part.read for part in self.parts)

    def of_layer(self, layer: int) -> int:
        """Bytes of one layer."""
        return sum(part.nbytes for part in self.parts if part.layer == layer)

    def outside(self) -> tuple[int, int]:
        """Bytes outside the layers: the embeddings, and the rest (the head, the last norm, other towers)."""
        free = [part for part in self.parts if part.layer is None]
        return sum(p.nbytes for p in free if p.embedding), sum(p.nbytes for p in free if not p.embedding)


def stored(result: Reconciliation, sizes: Mapping[str, int] | None = None) -> Weights:
    """The weights as stored, without a training run's state, which is not loaded to run the model.

    Args:
        sizes: bytes of tensors by name, instead of the stored ones.
    """
    shares = _shares_of_experts(result.prediction)
    trained = any(step.cause == "training_state" for step in result.steps)
    sums: dict[tuple[str, int | None, bool], int] = {}
    for each in result.tensors:
        if trained and training.is_state(each.tensor.name):
            continue
        layer = each.key.layer if each.key.tower in MAIN else None
        key = (each.key.role, layer, len(each.tensor.shape) > 1)
        nbytes = each.tensor.nbytes if sizes is None else sizes[each.tensor.name]
        sums[key] = sums.get(key, 0) + nbytes
    tied = not any(role == "lm_head" for role, _, _ in sums)
    parts = tuple(
        Part(role, layer, matrix, nbytes, _bytes_read(role, nbytes, shares, tied), role in EMBEDDINGS)
        for (role, layer, matrix), nbytes in sums.items()
    )
    kinds = {each.dtype: each.bytes for each in result.dtypes}
    most = result.dtype if trained else max(kinds, key=kinds.__getitem__, default="")
    main = result.packing.scheme if result.packing else most
    return Weights(sum(part.nbytes for part in parts), main or "", parts, ())


def as_loaded(result: Reconciliation, own: Width, runs: str) -> Weights:
    """The weights in the type in which the model computes, as engines load those that are not packed.

    Transformers takes the configuration's `dtype` by default since release 5 (`dtype="auto"`), 32 bits before
    (`from_pretrained`); a router's bias stays as stored (`_keep_in_fp32_modules_strict`). vLLM has `dtype="auto"`, too.

    Args:
        runs: the engine's name.
    """
    others = {each.dtype for each in result.dtypes} & PLAIN - {own.name}
    if not others or result.packing:
        return stored(result)
    sizes = {each.tensor.name: each.tensor.nbytes for each in result.tensors}
    for each in result.tensors:
        if each.tensor.dtype in others and each.key.role != "router_bias":
            sizes[each.tensor.name] = own.bytes_of(each.tensor.elements)
    release = " (release 5; before, in F32 unless dtype is given)" if runs == "transformers" else ""
    why = f"{', '.join(sorted(others))} is loaded in {own.name}, the configuration's type{release}"
    return stored(result, sizes)._replace(dtype=own.name, assumes=(why,))


def in_one_piece(nbytes: int) -> Weights:
    """Weights of which only the sum is known: for totals, without what each layer or token takes."""
    return Weights(nbytes, "", (), ())


def as_type(prediction: Prediction, kind: Width, vectors: Width) -> Weights:
    """The weights in another type: matrices in it, norms and biases in `vectors`."""

    def bytes_of(row: Expected, _: str) -> int:
        return _width_of(row, kind, vectors, len(row.shape) > 1).bytes_of(row.elements)

    return forecast(prediction, bytes_of, kind.name, [kind.estimate] if kind.estimate else [])


def as_declared(prediction: Prediction, declared: Declaration, plain: Width) -> Weights:
    """The weights as the configuration declares that they are packed, the others in the type `plain`."""

    def bytes_of(row: Expected, name: str) -> int:
        packed = declared.bytes_of(row, name)
        return plain.bytes_of(row.elements) if packed is None else packed

    why = f"packed as the configuration declares ({declared.form.name}); no file was read"
    return forecast(prediction, bytes_of, declared.form.name, [why])


def forecast(
    prediction: Prediction, bytes_of: Callable[[Expected, str], int], dtype: str, assumes: Sequence[str]
) -> Weights:
    """All predicted weights, each layer's by the name that its first tensor of the row has."""
    shares = _shares_of_experts(prediction)
    tied = not any(row.role == "lm_head" for row in prediction.expected)
    parts: list[Part] = []
    for row in prediction.expected:
        matrix, number = len(row.shape) > 1, row.tensors // len(row.layers or (None,))
        for layer in row.layers or (None,):
            name = row.name.replace("{layer}", str(layer)).replace("{expert}", str(row.first_expert))
            nbytes = number * bytes_of(row, name)
            read = _bytes_read(row.role, nbytes, shares, tied)
            place = layer if row.tower in MAIN else None
            parts.append(Part(row.role, place, matrix, nbytes, read, row.role in EMBEDDINGS))
    return Weights(sum(part.nbytes for part in parts), dtype, tuple(parts), tuple(assumes))


def _width_of(row: Expected, kind: Width, vectors: Width, matrix: bool) -> Width:
    if not matrix or row.buffer:
        return vectors if kind.block > 1 else kind
    return kind if kind.estimate or kind.fits(row.shape[-1]) else WIDTHS["F16"]


def _shares_of_experts(prediction: Prediction | None) -> dict[str, tuple[int, int]]:
    """Role → how many experts' weights one token uses, out of how many."""
    shares: dict[str, tuple[int, int]] = {}
    for row in prediction.expected if prediction else ():
        experts = row.experts or row.stacked
        if experts and row.active is not None:
            shares[row.role] = min(row.active, experts), experts
    return shares


def _bytes_read(role: str, nbytes: int, shares: dict[str, tuple[int, int]], tied: bool) -> int:
    if role in EMBEDDINGS and not (tied and role == "embed_tokens"):
        return 0  # one row of it: negligible
    if role in shares and group_of(role) != "router":
        used, experts = shares[role]
        return nbytes * used // experts
    return nbytes
