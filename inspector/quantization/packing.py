"""Which scheme the tensors follow, and how it reads them.

The configuration names the scheme; if it does not, or the tensors follow another, the scheme that accounts for most
tensors is used. Shapes and bits come from the tensors where possible: the configuration decides only where they are
ambiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.model import Finding, Packing, Tensor
from inspector.quantization import exclusions
from inspector.quantization.scheme import FLOATS, Declared, Scheme
from inspector.quantization.schemes import all_schemes
from inspector.quantization.unpacking import Listed, Unpacked, lacking, unpack
from inspector.units import escape, plural


def packing_of(
    tensors: Sequence[Tensor], patterns: Mapping[str, Sequence[int]], values: Mapping[str, Any]
) -> Packing | None:
    """How safetensors' weights are packed; None for plain tensors.

    Args:
        patterns: the tensors' names, with numbers replaced by `{}` → their positions.
        values: what the configuration declares.
    """
    words = frozenset(pattern.rpartition(".")[2] for pattern in patterns)
    text = "\n".join(words) + "\n"
    schemes = [scheme for scheme in all_schemes() if _may_be_present(scheme, words, text)]
    if not schemes:
        return None
    declared = Declared(values, _float_dimensions(tensors))
    listed = Listed(tensors, patterns)
    named = [scheme for scheme in schemes if _is_declared(scheme, declared)]
    best = _best(named, listed, declared) or _best([each for each in schemes if each not in named], listed, declared)
    return _packing_from(best, tensors, declared) if best else None


def _best(schemes: Iterable[Scheme], listed: Listed, declared: Declared) -> Unpacked | None:
    """The reading that accounts for most tensors, the first of equal ones. What cannot be more is not tried."""
    possible = [(listed.possible(scheme), -at, scheme) for at, scheme in enumerate(schemes)]
    best, most = None, (0, 0)
    for tensors, at, scheme in sorted(possible, key=lambda each: each[:2], reverse=True):
        if (tensors, at) > most and (found := unpack(scheme, listed, declared)).weights:
            best, most = max((best, most), (found, (found.explained, at)), key=lambda each: each[1])
    return best


def _may_be_present(scheme: Scheme, words: frozenset[str], text: str) -> bool:
    """Whether the last word of any name could belong to this scheme. `text` has one word per line."""
    ends = [end for end in (*scheme.side, *scheme.weights) if end not in (".weight", "")]
    # Does what `word_fits` does for one word, for a hostile header's hundred thousand different ones at once.
    whole = {end.rpartition(".")[2] for end in ends if "." in end}
    return not whole.isdisjoint(words) or any(end + "\n" in text for end in ends if "." not in end)


def _float_dimensions(tensors: Iterable[Tensor]) -> frozenset[int]:
    """Dimensions of float tensors."""
    shapes = {tensor.shape for tensor in tensors if tensor.dtype in FLOATS}
    return frozenset(size for shape in shapes for size in shape)


def _is_declared(scheme: Scheme, declared: Declared) -> bool:
    return declared.method in scheme.methods if declared.method else scheme.declared_by(declared.values)


# --- from what a scheme makes of the tensors to the noun ---------------------------------------


@dataclass(slots=True)
class _Tables:
    """The packing's tables, by the names of stored tensors."""

    names: dict[str, str]
    shapes: dict[str, tuple[int, ...]]
    side: dict[str, str]
    odd_bits: dict[str, int]
    kinds: dict[str, str]


def _packing_from(found: Unpacked, tensors: Sequence[Tensor], declared: Declared) -> Packing:
    bits, group, variant = found.usual
    scheme = f"{found.scheme.name}-{variant}" if variant else found.scheme.name
    maps = _tables_of(found, bits)
    return Packing(
        scheme,
        bits,
        group,
        names=maps.names,
        shapes=maps.shapes,
        side=maps.side,
        findings=(*_doubts(found, declared, bits), *_disagreements(found, tensors, declared)),
        odd_bits=maps.odd_bits,
        kinds=maps.kinds,
        uneven=found.scheme.uneven,
        lacking=lacking(found, declared),
    )


def _tables_of(found: Unpacked, bits: int) -> _Tables:
    maps = _Tables({}, {}, {}, {}, {})
    names, shapes, side, kinds = maps.names, maps.shapes, maps.side, maps.kinds
    whole, described = found.scheme.weights, found.scheme.side
    for unit, weight in found.weights:
        own = weight.end
        name = unit.pieces[own].name
        served = name if own == whole[own] else unit.stem + whole[own]
        names[name], shapes[name] = served, weight.shape
        if weight.bits != bits:
            maps.odd_bits[name] = weight.bits
        for end, tensor in unit.pieces.items():
            if end != own and end in described:
                side[tensor.name], kinds[tensor.name] = served, described[end]
    for name, served, kind in found.loose:
        maps.side[name], maps.kinds[name] = served or _weight_without_own(name), kind
    return maps


#: Side data of attention as a whole → the projection whose output it scales.
_CACHE: Mapping[str, str] = {"k_scale": "k_proj", "v_scale": "v_proj", "q_scale": "q_proj"}


def _weight_without_own(name: str) -> str:
    """The weight served by side data that has no weight of its own."""
    stem, _, word = name.rpartition(".")
    projection = _CACHE.get(word)
    return f"{stem}.weight" if projection is None or stem.endswith("_proj") else f"{stem}.{projection}.weight"


def _disagreements(found: Unpacked, tensors: Iterable[Tensor], declared: Declared) -> Iterator[Finding]:
    """Whether the modules that the configuration excludes are the plain ones."""
    if not declared.values:
        return iter(())
    packed = {unit.stem: None for unit, _ in found.weights}
    plain = (
        t.name.removesuffix(".weight")
        for t in tensors
        if len(t.shape) > 1 and t.dtype in FLOATS and t.name.endswith(".weight")
    )
    return exclusions.disagreements(declared.values, list(packed), [name for name in plain if name not in packed])


def _doubts(found: Unpacked, declared: Declared, bits: int) -> Iterator[Finding]:
    first = found.weights[0][0]
    example = next(iter(first.pieces.values())).name
    name = found.scheme.name
    if not _is_declared(found.scheme, declared):
        ends = ", ".join(sorted(end.strip("._") or "weight" for end in first.pieces))
        if declared.method:
            what = f"the configuration says {escape(declared.method, 40)}, but the tensors are packed as {name}: {ends}"
            yield Finding("packing-inferred", "warning", what, None, example)
        else:
            what = f"no configuration declares how weights are packed; their names and shapes match {name}: {ends}"
            yield Finding("packing-inferred", "info", what, None, example)
    unsure = [unit for unit, weight in found.weights if not weight.sure]
    if unsure:
        what = (
            f"{plural(len(unsure), 'weight')} could be packed at several widths: {bits} bits, and "
            "hence their parameters, are a guess"
        )
        yield Finding("packing-doubt", "info", what, None, next(iter(unsure[0].pieces.values())).name)
