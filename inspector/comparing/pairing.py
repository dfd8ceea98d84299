"""Tensors of two checkpoints, paired by their keys.

    pairs(a, b) → a Pair for each tensor, or for the tensors that one side fuses or stacks

Keys are compared whole first. The remainder is compared under coarser keys, which layouts share: all experts of a layer
together, then the projections that some writers fuse (`qkv_proj`), then both. What still remains is in only one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import prod
from typing import Literal, NamedTuple

from inspector.architectures import GGUF_ARCHITECTURE, PROJECTOR, GgufArchitecture
from inspector.architectures.conversions import (
    NUMBER,
    ORIGINAL,
    Conversion,
    conversion_of,
    key_text,
    loaded_form,
    named,
)
from inspector.bridge.structure import fused, stacked
from inspector.model import STACKED, Key, Labelled, Reconciliation

Status = Literal["same", "dtype", "shape", "only_a", "only_b"]
#: What a converter did to a tensor that only one side has; "adds": took it from another folder of the model.
Origin = Literal["", "leaves out", "makes", "adds"]


class Side(NamedTuple):
    """The tensors of one side of a pair: one, or those that the other side fuses or stacks."""

    tensors: tuple[Labelled, ...]
    keys: tuple[Key, ...]  # the key under which each is paired
    shapes: tuple[tuple[int, ...], ...]  # logical, row-major: packed weights as the model has them
    dtype: str  # of the weights as stored; several are joined by "+"
    nbytes: int  # as stored, the side data of packed weights included
    elements: int  # logical

    @property
    def parameters(self) -> int:
        return sum(each.parameters for each in self.tensors)


class Pair(NamedTuple):
    """The tensors of one key, or one coarser key, on both sides."""

    key: Key
    status: Status
    a: Side | None
    b: Side | None
    converter: Origin = ""  # why only one side has it, if a known converter does so


def pairs(a: Reconciliation, b: Reconciliation) -> tuple[Pair, ...]:
    """Every tensor of both sides, once: first those that both have, in the order of `a`, then those of one side only.

    Side data of packed weights is counted with the weight that it serves.
    """
    left, right = _Unpaired(a), _Unpaired(b)
    conversions = conversion_from(a), conversion_from(b)
    if conversions == (None, None):
        conversions = loaded_from(a), loaded_from(b)
    own, other = (mine if theirs is None else None for mine, theirs in (conversions, conversions[::-1]))
    depths = left.depths(), right.depths()
    found: list[Pair] = []
    if own is not None:
        left.rename(own, right)
        found += [*_merged_by_converter(left, right, own), *_computed_by_converter(left, right, own)]
    if other is not None:
        right.rename(other, left)
        turned = (*_merged_by_converter(right, left, other), *_computed_by_converter(right, left, other))
        found += [pair._replace(a=pair.b, b=pair.a) for pair in turned]
    _set_apart(left, right)
    for coarse in _COARSER:
        found += _paired_under(left, right, coarse)
    if own is not None or other is not None:
        found += _only_ones_left(left, right, [each for each in (own, other) if each])
    for key, side in left.rest():
        found.append(Pair(key, "only_a", side, None, _origin(side, own, other, depths[1], _configured_layers(a))))
    for key, side in right.rest():
        found.append(Pair(key, "only_b", None, side, _origin(side, other, own, depths[0], _configured_layers(b))))
    return tuple(found)


def conversion_from(result: Reconciliation) -> Conversion | None:
    """How the checkpoint's tensors differ in layout from Transformers'; None if they do not."""
    config = result.prediction.config if result.prediction else result.checkpoint.config
    if config is None:
        return None
    if config.kind == "params.json":
        return conversion_of(ORIGINAL)
    named = config.values.get(GGUF_ARCHITECTURE)
    return conversion_of(named, str(config.values.get(PROJECTOR, ""))) if isinstance(named, GgufArchitecture) else None


def loaded_from(result: Reconciliation) -> Conversion | None:
    """How the tensors differ from the published ones, where they are as Transformers holds them."""
    model_type = result.checkpoint.config.model_type if result.checkpoint.config else None
    return loaded_form(model_type, (each.tensor.name for each in result.tensors)) if model_type else None


def _origin(
    side: Side, own: Conversion | None, other: Conversion | None, depths: Mapping[str, int], layers: int | None
) -> Origin:
    """Why only this side has it: the other's converter drops it, or its own creates it or takes it from elsewhere.

    Args:
        depths: how many layers each tower of the other side has.
        layers: how many layers this side's text model has without those that predict further tokens, which converters
            may drop.
    """
    key = side.keys[0]
    if other is not None and key.tower == "text" and layers is not None and (key.layer or 0) >= layers:
        return "leaves out"
    if other is not None and other.leaves_out(key, side.tensors[0].tensor.name):
        return "leaves out"
    if other is not None and key.tower in other.deeper and (key.layer or 0) >= depths.get(key.tower, 0):
        return "leaves out"
    if own is None:
        return ""
    return "makes" if own.makes(side.tensors[0].key) else "adds" if own.adds(side.tensors[0].key) else ""


def _configured_layers(result: Reconciliation) -> int | None:
    """The number of layers that the configuration gives the text model; None if it gives none."""
    values = result.checkpoint.config.values if result.checkpoint.config else {}
    text = values.get("text_config")
    found = (text if isinstance(text, Mapping) else values).get("num_hidden_layers")
    return found if isinstance(found, int) and found > 0 else None


#: The most leading words that a model may add to a name, plus one.
_PREFIXES = 4


#: The end of a matrix's name within a module that clamps its inputs and outputs.
_LINEAR = ".linear"
#: Suffixes that are not part of a module's name: a weight, a bias, and the bounds of inputs and outputs.
_PARTS = frozenset({"weight", "bias", "input_min", "input_max", "output_min", "output_max"})


class _Unpaired:
    """The tensors of one checkpoint that are not paired yet."""

    def __init__(self, result: Reconciliation) -> None:
        packing = result.packing
        self._shapes = packing.shapes if packing else {}
        self._scheme = packing.scheme if packing else ""
        self._served: dict[str, int] = defaultdict(int)
        served = packing.side if packing else {}
        names = packing.names if packing else {}
        self._names = names
        self._config = result.checkpoint.config.values if result.checkpoint.config else {}
        self._apart: dict[tuple[Key, str], Key] = {}  # shared key and stem → the tensor's own key
        self.left: dict[Key, list[Labelled]] = {}
        for each in result.tensors:
            if each.tensor.name in served:
                self._served[served[each.tensor.name]] += each.tensor.nbytes
            else:
                self.left.setdefault(each.key, []).append(each)

    def rename(self, conversion: Conversion, other: _Unpaired) -> None:
        """Use the keys of the model that a converter's file was made from, if it names a tensor differently."""
        renamed: dict[Key, list[Labelled]] = {}
        by_name = other.with_own_keys(dict(self._by_name(conversion, other))) if conversion.names else {}
        claimed = set(by_name.values())
        branches = [{key.layer for key in other.left if key.branch == stack} for stack in conversion.stacks]
        layers = dict(zip(conversion.stacks, map(len, branches), strict=True))
        for held, tensors in self.left.items():
            key = conversion.unstacked(held, layers)
            names = conversion.keys(key)
            if names[0] != key:  # a file's norm for all experts may be one for the layer
                names += [name._replace(expert=None) for name in names if name.expert == STACKED]
            found = next((name for name in names if name in other.left or _is_among(name, other.left)), key)
            for each in tensors:
                own = by_name.get(each.tensor.name, found)
                if own == key and own in claimed and each.tensor.name not in by_name:  # names are more specific
                    own = own._replace(branch=f"{own.branch} {_split_name(each.tensor.name)[0]}".strip())
                renamed.setdefault(own, []).append(each)
        self.left = renamed

    def with_own_keys(self, named: Mapping[str, tuple[Key, str]]) -> dict[str, Key]:
        """The other side's names, each with its tensor's key; tensors that share a key get one each."""
        found: dict[str, Key] = {}
        for name, (key, stem) in named.items():
            if len(self.left.get(key, ())) > 1:
                apart = key._replace(branch=f"{key.branch} {stem}".strip())
                meant = [each for each in self.left[key] if _split_name(each.tensor.name)[0] == stem]
                self.left[key] = [each for each in self.left[key] if each not in meant]
                self.left.setdefault(apart, []).extend(meant)
                self._apart[key, stem] = apart
            found[name] = self._apart.get((key, stem), key)
        return found

    def _by_name(self, conversion: Conversion, other: _Unpaired) -> Iterator[tuple[str, tuple[Key, str]]]:
        """Names in the file with the model's keys and stems, if a conversion gives the model's names."""
        known, blocks = other.endings(), conversion.blocks(other._config)
        stems = {each.tensor.name: _split_name(each.tensor.name) for tensors in self.left.values() for each in tensors}
        numbers: dict[tuple[str, str], list[list[int]]] = defaultdict(list)
        for stem, part in stems.values():
            numbers[_without_numbers(stem), part].append(_numbers_in(stem))
        places = {pattern: sorted(found) for pattern, found in numbers.items()}
        for name, (stem, part) in stems.items():
            place = bisect_left(places[_without_numbers(stem), part], _numbers_in(stem))
            ends = ((end.removesuffix(_LINEAR), part) for end in conversion.endings(stem, place, blocks))
            found = next((known[end] for end in ends if end in known), None)
            if found is not None:
                yield name, found

    def depths(self) -> dict[str, int]:
        """Tower → its number of layers."""
        found: dict[str, int] = {}
        for key in self.left:
            if key.layer is not None:
                found[key.tower] = max(found.get(key.tower, 0), key.layer + 1)
        return found

    def endings(self) -> dict[tuple[str, str], tuple[Key, str]]:
        """A name's suffix and its part → the key, and the whole name without its part."""
        found: dict[tuple[str, str], tuple[Key, str]] = {}
        for key, tensors in self.left.items():
            for each in tensors:
                stem, part = _split_name(each.tensor.name)
                end = stem
                for _ in range(_PREFIXES):
                    found.setdefault((end, part), (key, stem))
                    _, _, end = end.partition(".")
        return found

    def side(self, held: Sequence[tuple[Key, Labelled]]) -> Side:
        tensors = [tensor for _, tensor in held]
        dtypes = dict.fromkeys(self._dtype(each) for each in tensors)
        shapes = tuple(self._shapes.get(each.tensor.name, each.tensor.shape) for each in tensors)
        return Side(
            tuple(tensors),
            tuple(key for key, _ in held),
            shapes,
            "+".join(dtypes),
            sum(each.tensor.nbytes + self._side_bytes(each.tensor.name) for each in tensors),
            sum(map(prod, shapes)),
        )

    def _dtype(self, each: Labelled) -> str:
        """A tensor's dtype; for packed weights, the scheme: `gptq`, not `I32`."""
        return self._scheme if each.tensor.name in self._shapes else each.tensor.dtype

    def _side_bytes(self, name: str) -> int:
        return self._served.get(self._names.get(name, name), 0)

    def take(self, keys: Iterable[Key]) -> Side:
        return self.side([(key, each) for key in keys for each in self.left.pop(key)])

    def rest(self) -> Iterator[tuple[Key, Side]]:
        for key, tensors in self.left.items():
            yield key, self.side([(key, each) for each in tensors])

    def lone(self, conversions: Sequence[Conversion]) -> dict[tuple[object, ...], Key]:
        """Layer, expert and shape → the only key that has them; without those that converters drop or create."""
        places: dict[tuple[object, ...], list[Key]] = {}
        for key, tensors in self.left.items():
            name = tensors[0].tensor.name
            explained = any(each.leaves_out(key, name) or each.makes(key) or each.adds(key) for each in conversions)
            if len(tensors) == 1 and not explained:
                shape = self._shapes.get(tensors[0].tensor.name, tensors[0].tensor.shape)
                places.setdefault((key.layer, key.expert, *_sorted_dimensions(shape)), []).append(key)
        return {place: keys[0] for place, keys in places.items() if len(keys) == 1}

    def by(self, coarse: Callable[[Key], Key]) -> dict[Key, list[Key]]:
        groups: dict[Key, list[Key]] = {}
        for key in self.left:
            groups.setdefault(coarse(key), []).append(key)
        return groups


def _set_apart(a: _Unpaired, b: _Unpaired) -> None:
    """Give tensors that share a key one each: those of one name, and without a role those of one shape in one order."""
    for key in [each for each in a.left if each in b.left]:
        own, other = a.left[key], b.left[key]
        if len(own) == len(other) == 1:
            continue
        both = {each.tensor.name for each in own} & {each.tensor.name for each in other}
        if key.role and not both:
            continue
        places = _by_shape(own, both), _by_shape(other, both)
        called = {
            theirs: mine
            for shape, names in places[0].items()
            if len(names) == len(places[1].get(shape, ()))
            for mine, theirs in zip(names, places[1][shape], strict=True)
        }
        for unpaired in (a, b):
            for each in unpaired.left.pop(key):
                name = called.get(each.tensor.name, each.tensor.name) if unpaired is b else each.tensor.name
                apart = key._replace(branch=f"{key.branch} {_split_name(name)[0]}".strip())
                unpaired.left.setdefault(apart if name in both or not key.role else key, []).append(each)


def _by_shape(tensors: Iterable[Labelled], without: AbstractSet[str]) -> dict[tuple[int, ...], list[str]]:
    found: dict[tuple[int, ...], list[str]] = {}
    for each in tensors:
        if each.tensor.name not in without:
            found.setdefault(each.tensor.shape, []).append(each.tensor.name)
    return found


def _split_name(name: str) -> tuple[str, str]:
    """A name without its part, and the part."""
    stem, _, part = name.rpartition(".")
    return (stem.removesuffix(_LINEAR), part) if part in _PARTS else (name, "weight")


def _without_numbers(stem: str) -> str:
    return NUMBER.sub("{}", stem)


def _numbers_in(stem: str) -> list[int]:
    return [int(number) for number in NUMBER.findall(stem)]


def _paired_under(a: _Unpaired, b: _Unpaired, coarse: Callable[[Key], Key]) -> list[Pair]:
    """The pairs under a coarser key. Their sizes must agree: unrelated leftovers of one coarse key are not a pair."""
    found: list[Pair] = []
    theirs = b.by(coarse)
    for key, own in a.by(coarse).items():
        other = theirs.get(key)
        if other is None:
            continue
        exact = len(own) == len(other) == 1 and own == other
        left, right = a.take(own), b.take(other)
        if not exact and left.elements != right.elements:
            a.left.update(_by_key(left))
            b.left.update(_by_key(right))
            continue
        found.append(Pair(key, _status(left, right), left, right))
    return found


def _merged_by_converter(file: _Unpaired, model: _Unpaired, conversion: Conversion) -> Iterator[Pair]:
    """Tensors of a file into which its converter merges several of the model's with the same role."""
    for key in list(file.left):
        text = key_text(key)
        parts = [named(part, key) for part in conversion.file.get(text, ()) if part not in ("by", "axis")]
        operands = [named(part, key) for part in conversion.operands(text)]
        if operands:  # these become rows of embeddings, and not every model has all of them
            parts = [part for part in (*parts, *operands) if part in model.left]
        if len(parts) > 1 and all(part in model.left for part in parts):
            one, several = file.take([key]), model.take(parts)
            yield Pair(key, _status(one, several), one, several)


def _computed_by_converter(file: _Unpaired, model: _Unpaired, conversion: Conversion) -> Iterator[Pair]:
    """Tensors of a file that its converter computes from several of the model's, paired with them."""
    for formulas in conversion.folded.values():
        layers: dict[int | None, dict[Key, list[Key]]] = defaultdict(dict)
        for key, tensors in file.left.items():
            terms = formulas.get(key_text(tensors[0].key))
            if terms is not None:
                layers[key.layer][key] = [named(text, key) for letter, text in terms.items() if letter != "value"]
        for computed in layers.values():
            operands = dict.fromkeys(key for keys in computed.values() for key in keys)
            if len(computed) == len(formulas) and all(key in model.left for key in operands):
                one, several = file.take(computed), model.take(operands)
                yield Pair(several.keys[0], "same" if one.dtype == several.dtype else "dtype", one, several)


def _only_ones_left(a: _Unpaired, b: _Unpaired, conversions: Sequence[Conversion]) -> list[Pair]:
    """Pairs the only remaining tensors of one shape in a layer, of a model and a file converted from it.

    Tables may name a tensor differently, which does no harm if there is only one choice.
    """
    found: list[Pair] = []
    theirs = b.lone(conversions)
    for place, key in a.lone(conversions).items():
        if place in theirs:
            left, right = a.take([key]), b.take([theirs[place]])
            found.append(Pair(key, _status(left, right), left, right))
    return found


def _by_key(side: Side) -> dict[Key, list[Labelled]]:
    back: dict[Key, list[Labelled]] = {}
    for key, each in zip(side.keys, side.tensors, strict=True):
        back.setdefault(key, []).append(each)
    return back


def _status(a: Side, b: Side) -> Status:
    stacks = all(key.expert == STACKED for side in (a, b) for key in side.keys)  # not all have an axis for experts
    if not (_shapes_agree(a.shapes, b.shapes) or (stacks and _is_flattened(a, b))):
        return "shape"
    return "same" if a.dtype == b.dtype else "dtype"


def _is_flattened(a: Side, b: Side) -> bool:
    """Whether one of two tensors has the same elements in fewer dimensions."""
    return len(a.shapes) == len(b.shapes) == 1 and len(a.shapes[0]) != len(b.shapes[0]) and a.elements == b.elements


def _shapes_agree(a: Sequence[tuple[int, ...]], b: Sequence[tuple[int, ...]]) -> bool:
    """Whether shapes agree.

    For tensors that one side fuses, stacks or flattens, the number of elements must agree. Layouts differ in irrelevant
    ways: dimensions of 1, which converters drop (a convolution's [d, 1, 4] is GGUF's [d, 4]), and the order of the two
    of a matrix, which GPT-2 stores as [in, out].
    """
    if len(a) != len(b) or any(len(shape) == 1 for shape in (*a, *b)):
        return sum(map(prod, a)) == sum(map(prod, b))
    return sorted(map(_sorted_dimensions, a)) == sorted(map(_sorted_dimensions, b))


def _sorted_dimensions(shape: tuple[int, ...]) -> list[int]:
    return sorted(size for size in shape if size != 1)


def is_transposed(pair: Pair) -> bool:
    """Whether one side stores a matrix as the other's transpose."""
    if pair.a is None or pair.b is None or len(pair.a.shapes) != 1 or len(pair.b.shapes) != 1:
        return False
    own, other = pair.a.shapes[0], pair.b.shapes[0]
    return len(own) == 2 and own != other and own == other[::-1]


def _is_among(key: Key, among: Mapping[Key, object]) -> bool:
    """Whether a key is present, be it per expert or for all layers at once."""
    others = (key._replace(expert=0), key._replace(expert=STACKED), key._replace(layer=0))
    return any(other in among for other in others)


def _without_layers(key: Key) -> Key:
    return key._replace(layer=None)


#: Full keys, then coarser ones, which layouts share.
_COARSER: tuple[Callable[[Key], Key], ...] = (
    lambda key: key,
    stacked,
    fused,
    lambda key: fused(stacked(key)),
    _without_layers,
)
