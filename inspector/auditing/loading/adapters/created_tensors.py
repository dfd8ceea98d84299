"""Does an adapter have the tensors that PEFT creates for its configuration? Checked without its base model.

The modules and their sizes follow from the tensors themselves: a LoRA matrix is as wide as its module. The tensors that
the method's table (`inspector.adapters`) then predicts are compared with the stored ones.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import isqrt
from typing import Any, NamedTuple

from inspector.adapters import methods, prediction
from inspector.adapters.tensors import PROMPTS
from inspector.architectures import formula
from inspector.auditing.rule import Found, NotJudged
from inspector.auditing.subject import Subject
from inspector.errors import ConfigError
from inspector.model import Adapter, Config, Expected, Header, Prediction, Severity
from inspector.opening.configs import ADAPTER_FILE
from inspector.units import integer, plural, times

_DIGITS = re.compile(r"(?<=\.)\d+(?=\.)")
_LAST = re.compile(r"(?<=\.)\d+(?=\.\D*$)")  # the number of a block, but not that of its stage: stages differ in width
#: Names of a tower's list of layers; a list of other modules may have a single item.
_LAYERS = re.compile(r"(?:^|\.)(?:layers|layer|h|blocks|block)\.$")
#: Symbols in the methods' shapes that a piece's own dimensions determine.
_SIZES = ("outputs", "inputs")
#: Symbols in the methods' conditions that are properties of a module.
_OF_MODULES, _FACTORS = frozenset({*_SIZES, "feedforward", "experts"}), ("small_", "large_")
#: Names of a classifier's last layer: PEFT adds both to `modules_to_save`, whichever the model has.
_HEADS = frozenset({"classifier", "score"})
#: Tasks for which PEFT adds both, whether the base has one or not (T5's and BART's is `classification_head`).
_CLASSIFYING = ("SEQ_CLS", "TOKEN_CLS")
#: Layers within a model that has a head. With Transformers 5.24.0, all its classifiers of tokens have one of the two,
#: and all of texts but 12, none of which has layers under these names. A model without head has no first word here.
_BESIDE_HEAD = re.compile(r"(model\.layers|transformer\.h|\w+\.(encoder|transformer)\.layer)\.\d")
#: Parts that an adapter may have regardless of its method.
_OF_ANY = frozenset({"alpha", "trainable_tokens_delta"})
#: The most tensors of an adapter that are compared one by one.
_MOST = 50_000
#: The largest product of modules and layers of one kind: each module is searched for in each layer.
_MOST_PAIRS = 1_000_000


class _TooManyError(Exception):
    """An adapter has more modules than are examined."""


class _Stored(NamedTuple):
    """An adapter's pieces: (weight of the base that it changes, part) → name and shape."""

    pieces: Mapping[tuple[str, str], tuple[str, tuple[int, ...]]]
    whole: tuple[str, ...]  # names of tensors outside the method: weights trained in full, and unknown ones


def findings(subject: Subject, weights: Sequence[str]) -> Iterator[Found | NotJudged]:
    """What the rule `adapter-pieces` finds in files of these names."""
    yield from _wrong_file(subject, weights)
    result = subject.result
    adapter = result.adapter if result else None
    if result is None or adapter is None or result.prediction is not None or len(subject.headers) != 1:
        return
    header = subject.headers[0]
    method = methods.method(str(adapter.config.get("peft_type", "")).upper())
    if method is None or header.path.rpartition("/")[2] not in weights:
        return
    if len(header.tensors) > _MOST:
        yield NotJudged(f"{integer(len(header.tensors))} tensors, more than {integer(_MOST)}", header.path, "info")
        return
    stored = _without_convolutions(_stored_pieces(header, adapter), method)
    yield from _wrong_shared_tensors(header, method, adapter.config)
    exact: frozenset[str] = frozenset()
    try:
        chosen = _method_as_configured(method, adapter.config)
        made = _created_pieces(adapter.config, chosen, stored)
        exact = _determined_parts(chosen, adapter.config) - _undetermined_parts(chosen, stored)
        yield from _differences(header, stored, made, method, exact, adapter.config)
    except _TooManyError as error:
        yield NotJudged(str(error), header.path)
    except (ConfigError, ArithmeticError, TypeError, ValueError):  # the tensors do not reveal their modules' sizes
        yield from _unknown_parts(header, stored, method)
        yield from _missing_pieces(header, stored, adapter.config)
    unlike = list(_unlike_other_layers(header, stored, exact, adapter.config))
    yield from unlike
    if not unlike and exact.isdisjoint(part for _, part in stored.pieces):
        yield from impossible_shapes(header, stored.pieces, method, adapter.config)
    yield from _missing_layers(header, stored, adapter.config)
    yield from _unknown_tensors(header, stored, adapter.config)


def _wrong_shared_tensors(header: Header, method: methods.Method, config: Mapping[str, Any]) -> Iterator[Found]:
    """Wrong shapes of tensors that belong to the whole model, where fields alone determine the shape."""
    fields = _Fields({**method.defaults, **config})
    shapes = {tensor.name.rpartition(".")[2]: tensor for tensor in header.tensors}
    for piece in method.shared:
        words = formula.dimensions(piece.shape)
        known = all(type(fields[name]) is int for word in words for name in formula.names(word))
        tensor = shapes.get(piece.part) if known and piece.part not in PROMPTS and not piece.times else None
        made = tuple(formula.evaluate(word, fields) for word in words) if tensor else ()
        if tensor and tensor.shape != made:
            what = f"{times(tensor.shape)} stored, {times(made)} = {' × '.join(words)} made by the method"
            yield Found(what, header.path, tensor.name)


#: The prefix of an adapter's tensor names, except for prompts (`get_peft_model_state_dict`).
_STEM = "base_model.model."


def _wrong_file(subject: Subject, weights: Sequence[str]) -> Iterator[Found]:
    """An adapter's file has no tensors, lacks the prompts of its method, or uses names that are not PEFT's."""
    for header in subject.headers:
        folder, _, name = header.path.rpartition("/")
        own = subject.document(f"{folder}/{ADAPTER_FILE}" if folder else ADAPTER_FILE)
        method = methods.method(str(own.get("peft_type", "")).upper()) if name in weights and own else None
        if method is None:
            continue
        beyond = [tensor.name for tensor in header.tensors if not tensor.name.startswith(_STEM)]
        if method.pieces and len(beyond) == len(header.tensors) > 0:
            what = f"no name starts with {_STEM}, as PEFT's do: it drops all {plural(len(beyond), 'tensor')}"
            yield Found(what, header.path, beyond[0], "warning")
        if not header.tensors:
            yield Found("no tensors in it: PEFT fills the adapter with random numbers", header.path, severity="warning")
        shared = {piece.part for piece in method.shared} & PROMPTS if not method.pieces else set[str]()
        lost = sorted(shared - {tensor.name for tensor in header.tensors})
        if header.tensors and lost:
            yield Found(f"no {lost[0]}, which the method {own['peft_type']:.40} consists of", header.path)


def _stored_pieces(header: Header, adapter: Adapter) -> _Stored:
    pieces = {
        (adapter.served[tensor.name], adapter.parts[tensor.name]): (tensor.name, tensor.shape)
        for tensor in header.tensors
        if tensor.name in adapter.parts and tensor.name not in adapter.constants
    }
    return _Stored(pieces, tuple(tensor.name for tensor in header.tensors if tensor.name not in adapter.parts))


def _without_convolutions(stored: _Stored, method: methods.Method) -> _Stored:
    """Without the pieces of convolutions, whose kernels only the base shows."""
    of_kernels = {weight for (weight, _), (_, shape) in stored.pieces.items() if len(shape) > method.dimensions}
    if not method.convolution or not of_kernels:
        return stored
    return stored._replace(pieces={key: each for key, each in stored.pieces.items() if key[0] not in of_kernels})


class _Fields(dict[str, Any]):
    """An adapter's fields, null if absent, for a module that has a bias."""

    def __missing__(self, name: str) -> Any:
        return True if name == "has_bias" else None


def _method_as_configured(method: methods.Method, config: Mapping[str, Any]) -> methods.Method:
    """The method with the tensors that its fields request, and those that depend on a module's own sizes."""
    fields = _Fields({**method.defaults, **config})

    def may_be(piece: methods.Piece) -> bool:
        of_module = any(name in _OF_MODULES or name.startswith(_FACTORS) for name in formula.names(piece.when or "1"))
        return not piece.when or of_module or bool(formula.evaluate(piece.when, fields))

    return method._replace(pieces=tuple(filter(may_be, method.pieces)))


def _created_pieces(
    config: Mapping[str, Any], method: methods.Method, stored: _Stored
) -> dict[tuple[str, str], Expected]:
    """The tensors that the method creates for the adapted modules, and for their equivalents in other layers."""
    if config.get("use_bdlora"):
        raise ConfigError("a block's size is not its module's")
    sizes = _module_sizes(method, stored)
    of_embeddings = {piece.part for piece in method.embedding} - {piece.part for piece in method.pieces}
    embeddings = {weight for weight, part in stored.pieces if part in of_embeddings}
    rows = [
        _weight_row(weight, size[: method.dimensions], "embedding" if weight in embeddings else "attention")
        for weight, size in _with_siblings(sizes).items()
    ]
    if method.shared:
        width = config.get("token_dim")
        size = (1, width if type(width) is int else 1)
        rows.append(_weight_row("embed_tokens.weight", size, "embedding", role="embed_tokens"))
    base = Prediction(Config({}, "config.json"), "", "", tuple(rows))
    found = {}
    for piece in prediction.predict({**config, "fan_in_fan_out": False}, base).expected:
        name = piece.name.removeprefix("base_model.model.")
        for layer in piece.layers or (None,):
            own = name if layer is None else name.replace("{layer}", str(layer))
            weight = own if own in PROMPTS else own.removesuffix("." + piece.part).removesuffix(".token_adapter")
            found[f"{weight}.weight", piece.part] = piece
    return found


def _weight_row(weight: str, size: tuple[int, ...], group: str, *, role: str = "") -> Expected:
    return Expected(role, group, "text", "weight", weight, size, (), ())


def _module_sizes(method: methods.Method, stored: _Stored) -> dict[str, tuple[int, int]]:
    """Weight → (outputs, inputs), from its tensors; if one layer differs from all others, from theirs."""
    sizes: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    own: dict[tuple[str, str], int] = {}
    shapes = [(piece.part, formula.dimensions(piece.shape)) for piece in (*method.pieces, *method.embedding)]
    for (weight, part), (_, shape) in stored.pieces.items():
        words = next((words for name, words in shapes if name == part and _could_be(words, shape)), ())
        for word, size in zip(words, shape, strict=False):
            if word in _SIZES:
                sizes[_LAST.sub("*", weight), word][size] += 1
                own[weight, word] = size
    if needed := {word for word in _SIZES if any(word in piece.when for piece in method.pieces)}:
        raise ConfigError(f"nothing determines the {needed}")
    found = {}
    for weight, part in stored.pieces:
        if part not in PROMPTS and weight.endswith(".weight"):  # others are stacked experts
            pattern = _LAST.sub("*", weight)
            size_of_each = (_module_size(own.get((weight, word)), sizes[pattern, word]) for word in _SIZES)
            found[weight] = (next(size_of_each), next(size_of_each))
    return found


def _module_size(own: int | None, counted: Counter[int]) -> int:
    """A module's size: its own, unless it is the only one to differ. 1 if it cannot be determined.

    If layers really differ in width, more than one differs, or each has its own width.
    """
    return own if own is not None and not _is_odd(own, counted) else _most_common(counted)


def _is_odd(one: Any, counted: Counter[Any]) -> bool:
    """Whether a value is the only exception among otherwise equal ones."""
    return len(counted) == 2 and counted[one] == 1 and one != _most_common(counted)


def _could_be(words: Sequence[str], shape: Sequence[int]) -> bool:
    """Whether a shape has the same number of dimensions, and the same literal numbers."""
    alike = all(not word.isdecimal() or int(word) == size for word, size in zip(words, shape, strict=False))
    return len(words) == len(shape) and alike


def _most_common(counted: Counter[Any]) -> Any:
    """The most common size or shape; if tied, the larger, since files are truncated more often than extended. 1 if
    none."""
    return max(counted, key=lambda size: (counted[size], size), default=1)


def _with_siblings(sizes: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """Adds the modules that other layers have together with those of this layer: `v_proj` if there is `q_proj`.

    A layer that lacks one of this layer's modules is of another kind, and is no example: attention beside Mamba.
    """
    found = dict(sizes)
    siblings: defaultdict[str, dict[str, tuple[int, int]]] = defaultdict(dict)  # parent's pattern → module → size
    parents: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))  # → parent → modules
    for weight, size in sizes.items():
        parent, _, module = weight.removesuffix(".weight").rpartition(".")
        if parent:
            pattern = _DIGITS.sub("*", parent + ".")
            siblings[pattern].setdefault(module, size)
            parents[pattern][parent].add(module)
    kinds = {pattern: {frozenset(own) for own in each.values()} for pattern, each in parents.items()}
    pairs = sum(max(len(siblings[pattern]), len(kinds[pattern])) * len(each) for pattern, each in parents.items())
    if pairs > _MOST_PAIRS:
        raise _TooManyError(f"{integer(pairs)} pairs of a layer and a module, more than {integer(_MOST_PAIRS)}")
    for pattern, modules in siblings.items():
        for parent, own in parents[pattern].items():
            alike = frozenset[str]().union(*(kind for kind in kinds[pattern] if kind >= own))
            for module, size in modules.items():
                if module in alike:
                    found.setdefault(f"{parent}.{module}.weight", size)
    return found


def _differences(
    header: Header,
    stored: _Stored,
    made: Mapping[tuple[str, str], Expected],
    method: methods.Method,
    exact: frozenset[str],
    config: Mapping[str, Any],
) -> Iterator[Found]:
    """Wrong shapes, missing tensors and surplus tensors."""
    for key, piece in made.items():
        if key in stored.pieces and piece.part in exact and stored.pieces[key][1] != piece.shape:
            name, shape = stored.pieces[key]
            what = f"{times(shape)} stored, {times(piece.shape)} = {' × '.join(piece.formula)} made by the method"
            yield Found(what, header.path, name)
    halves = {weight for weight, part in stored.pieces if part.startswith("lora_")}
    lost = (key for key in made if key not in stored.pieces)
    missing = [key for key in lost if key[0] not in halves or key[1] not in ("lora_A", "lora_B")]  # those are reported
    if missing:
        weight, part = missing[0]
        shared = part in PROMPTS
        what = f"{plural(len(missing), 'piece')} that the method creates but no file stores: {weight}: {part}"
        yield Found(what, header.path, severity="error" if shared else "warning")
    targeted = {weight for weight, _ in made}
    named = config.get("target_modules")
    named = {each for each in named if isinstance(each, str)} if isinstance(named, list) else set()
    for weight, _ in stored.pieces:  # another rule reports modules that are not targets
        if not named.isdisjoint(prediction.ends(weight.removesuffix(".weight"))):
            targeted.add(weight)
    of_any = _OF_ANY | {piece.part for piece in method.pieces if "has_bias" in piece.when}  # only the base shows it
    beyond = [
        name
        for (weight, part), (name, _) in stored.pieces.items()
        if part not in of_any and weight.endswith(".weight") and _is_surplus(weight, part, made, targeted)
    ]
    if beyond and config.get("target_modules"):  # without target_modules PEFT chooses by the base's type
        what = f"{plural(len(beyond), 'tensor')} that the method does not create, so PEFT drops them"
        yield Found(what, header.path, beyond[0], "warning")


def _determined_parts(method: methods.Method, config: Mapping[str, Any]) -> frozenset[str]:
    """The parts whose sizes are all determined: by the module, the rank, or fields of the configuration."""
    has_keys = all(type(config.get(field)) is int for field in ("num_layers", "token_dim"))
    undetermined = re.compile(r"small_|large_|block|scaled" + ("" if has_keys else "|keys"))
    pieces = (*method.pieces, *method.embedding, *method.shared)
    return frozenset(piece.part for piece in pieces if not undetermined.search(piece.shape))


def _undetermined_parts(method: methods.Method, stored: _Stored) -> frozenset[str]:
    """The parts whose size depends on sizes of the module that no single stored tensor reveals."""
    shapes = [(piece.part, formula.dimensions(piece.shape)) for piece in (*method.pieces, *method.embedding)]
    there = {part for _, part in stored.pieces}
    determined = {word for part, words in shapes if part in there for word in words}
    lacking = [word for word in _SIZES if word not in determined]
    return frozenset(part for part, words in shapes if any(word in each for each in words for word in lacking))


def _unknown_parts(header: Header, stored: _Stored, method: methods.Method) -> Iterator[Found]:
    """Tensors whose part is not in the method's table."""
    pieces = (*method.pieces, *method.embedding, *method.convolution, *method.stacked, *method.shared)
    parts = (*_OF_ANY, *(piece.part for piece in pieces))
    own = re.compile("|".join(re.escape(part).replace(r"\{\}", r"\d+") for part in parts))
    odd = [name for (_, part), (name, _) in stored.pieces.items() if not own.fullmatch(part)]
    if odd:
        what = f"{plural(len(odd), 'tensor')} that the method does not create, so PEFT drops them"
        yield Found(what, header.path, odd[0], "warning")


def _missing_pieces(header: Header, stored: _Stored, config: Mapping[str, Any]) -> Iterator[Found]:
    """Modules that lack a part which the same module has in another layer, and layers that lack the module."""
    if any(config.get(field) for field in ("layers_to_transform", "rank_pattern")):
        return
    parts: defaultdict[str, dict[str, None]] = defaultdict(dict)  # pattern of a weight → its parts in all layers
    parents: defaultdict[str, dict[str, None]] = defaultdict(dict)  # pattern of a parent → the parents
    modules: defaultdict[str, dict[str, None]] = defaultdict(dict)  # pattern of a parent → the weights below it
    for weight, part in stored.pieces:
        if part in PROMPTS:
            continue
        parent, _, module = weight.removesuffix(".weight").rpartition(".")
        parts[_DIGITS.sub("*", weight)][part] = None
        parents[_DIGITS.sub("*", parent + ".")][parent] = None
        modules[_DIGITS.sub("*", parent + ".")][module] = None
    missing = [
        (f"{parent}.{module}.weight", part)
        for pattern, all_modules in modules.items()
        for module in all_modules
        for parent in parents[pattern]
        for part in parts[f"{pattern}{module}.weight"]
        if (f"{parent}.{module}.weight", part) not in stored.pieces
    ]
    if missing:
        weight, part = missing[0]
        what = f"{plural(len(missing), 'piece')} that other layers have but no file stores: {weight}: {part}"
        yield Found(what, header.path, severity="warning")


def _unlike_other_layers(
    header: Header, stored: _Stored, exact: frozenset[str], config: Mapping[str, Any]
) -> Iterator[Found]:
    """Pieces whose shape differs from those of the same module in other layers."""
    if any(config.get(field) for field in ("rank_pattern", "peanut_pattern")):
        return
    alike: defaultdict[tuple[str, str], Counter[tuple[int, ...]]] = defaultdict(Counter)
    for (weight, part), (_, shape) in stored.pieces.items():
        if part not in exact:
            alike[_LAST.sub("*", weight), part][shape] += 1
    for (weight, part), (name, shape) in stored.pieces.items():
        others = alike[_LAST.sub("*", weight), part]
        if part not in exact and _is_odd(shape, others):
            yield Found(f"{times(shape)} here, {times(_most_common(others))} in other layers", header.path, name)


def _is_surplus(weight: str, part: str, made: Mapping[tuple[str, str], Expected], targeted: set[str]) -> bool:
    """Whether PEFT has no place for a tensor. Another rule reports modules that are not targets."""
    return (weight, part) not in made and (weight in targeted or not targeted)


def _unknown_tensors(header: Header, stored: _Stored, config: Mapping[str, Any]) -> Iterator[Found]:
    """Tensors that are neither pieces nor weights of the base, and missing modules that should be saved whole."""
    odd = [name for name in stored.whole if not (_is_weight(name) or name in PROMPTS or name.endswith(".alpha"))]
    if odd and not config.get("auto_mapping"):
        what = f"{plural(len(odd), 'tensor')} that belong to no adapter, so PEFT drops them"
        yield Found(what, header.path, odd[0], "warning")
    saved = config.get("modules_to_save")
    names = (tensor.name for tensor in header.tensors)
    wanted = {module for module in saved if isinstance(module, str)} if isinstance(saved, list) else set[str]()
    asked = wanted | _HEADS
    there = asked.intersection(_module_names(names, {module.count(".") + 1 for module in asked}))
    classifying = config.get("task_type") in _CLASSIFYING
    if classifying and wanted <= _HEADS and not there & _HEADS:
        inside = [weight for weight, _ in stored.pieces if _BESIDE_HEAD.match(weight)]
        if inside:
            what = f"neither classifier nor score is stored, one of which PEFT requires for {config['task_type']}"
            yield Found(what, header.path)
    if there & _HEADS or classifying:
        wanted -= _HEADS
    for module in sorted(wanted - there):
        yield Found(f"{module!r:.60} is in modules_to_save but not stored, and PEFT requires it", header.path)


def _module_names(names: Iterable[str], lengths: Collection[int]) -> Iterator[str]:
    """Every run of this many words in the names of tensors, without their last word: possible names of modules."""
    for name in names:
        words = name.split(".")
        for length in lengths:
            for at in range(len(words) - length):
                yield ".".join(words[at : at + length])


def _missing_layers(header: Header, stored: _Stored, config: Mapping[str, Any]) -> Iterator[Found]:
    """Layers without a piece, although the configuration names modules of all layers.

    PEFT creates pieces for each layer of the base, and fills those that are not stored. A layer missing between others
    is a warning. A first layer that is the only one is a note: the files do not show how many layers the base has.
    """
    targets = config.get("target_modules")
    named = targets if isinstance(targets, list) else [None]
    of_all = all(isinstance(each, str) and not _DIGITS.search(each + ".") for each in named)
    if not of_all or any(config.get(field) is not None for field in ("layers_to_transform", "layer_replication")):
        return
    towers: defaultdict[str, set[int]] = defaultdict(set)
    for weight, part in stored.pieces:
        number = _DIGITS.search(weight)
        if number is not None and part not in PROMPTS:
            towers[weight[: number.start()]].add(int(number[0]))
    for tower, layers in towers.items():
        absent = sorted({*range(max(layers) + 1)} - layers) if max(layers) < _MOST else []
        if (layers == {0} and _LAYERS.search(tower)) or (absent and len(absent) * 5 <= len(layers)):
            lost = f"layer {absent[0]}" if absent else "any layer but the first"
            severity: Severity = "warning" if absent else "info"  # a base may have one layer
            what = f"no tensors for {lost} of {tower.rstrip('.'):.80}: PEFT fills them at random"
            yield Found(what, header.path, severity=severity)


def _is_weight(name: str) -> bool:
    """Whether a tensor has the name of a whole weight of the base."""
    return name.startswith("base_model.") and name.endswith((".weight", ".bias"))


# --- can any module have pieces of these shapes, by the adapter's own fields? -----------------------------------

# Some methods cut a module into blocks or factors, so that no single size of a piece is the module's. The sizes that a
# module may have follow from those of its pieces and from the numbers of the configuration; each is tried.

Shape = tuple[int, ...]
Pieces = Mapping[tuple[str, str], tuple[str, Shape]]

#: Sums of both sizes, shares of their product, and numbers of the whole model: no module's pieces determine them.
_OF_MANY = re.compile(r"outputs \+ inputs|experts|scaled")
#: The most different modules that are tried, and the most sizes for each side of one.
_MOST_TRIED, _MOST_SIZES = 50, 20
#: The largest number of the configuration that may count or measure blocks.
_MOST_BLOCKS = 4096
#: Fields that choose modules, which are chosen here.
_CHOICES = ("exclude_modules", "layers_to_transform", "modules_to_save", "layer_replication", "trainable_token_indices")


def impossible_shapes(
    header: Header, pieces: Pieces, method: methods.Method, config: Mapping[str, Any]
) -> Iterator[Found | NotJudged]:
    """Pieces whose shapes no module has."""
    parts = {piece.part: len(formula.dimensions(piece.shape)) for piece in method.pieces}
    if any(_OF_MANY.search(piece.shape) for piece in method.pieces) or config.get(method.pattern):
        return
    if config.get("proportional_parameters"):  # counted for all modules together
        return
    modules: defaultdict[str, dict[str, tuple[str, Shape]]] = defaultdict(dict)
    for (weight, part), (name, shape) in pieces.items():
        known = next((length for own, length in parts.items() if re.fullmatch(own, part)), None)
        if known == len(shape) and weight.endswith(".weight") and part not in PROMPTS:
            modules[weight][part] = (name, shape)
    tried: dict[frozenset[tuple[str, Shape]], None] = {}
    for weight, own in modules.items():
        shapes = frozenset((part, shape) for part, (_, shape) in own.items())
        if shapes in tried:
            continue
        if len(tried) == _MOST_TRIED:
            yield NotJudged(f"modules of more shapes than {_MOST_TRIED}", header.path)
            return
        tried[shapes] = None
        yield from _wrong_module(header, weight, own, config)


def _wrong_module(
    header: Header, weight: str, own: Mapping[str, tuple[str, Shape]], config: Mapping[str, Any]
) -> Iterator[Found]:
    shapes = {part: shape for part, (_, shape) in own.items()}
    nearest: dict[str, Shape] = {}
    other_parts = False
    for size in product(*[_possible_sizes(shapes.values(), config)] * 2):
        made = _created_shapes(weight, size, config)
        wrong = {part: made[part] for part, shape in shapes.items() if part in made and made[part] != shape}
        if not wrong and shapes.keys() <= made.keys():
            return
        other_parts = other_parts or (bool(made) and not wrong and bool(shapes.keys() & made.keys()))
        if wrong and (not nearest or len(wrong) < len(nearest)):
            nearest = wrong
    if other_parts:
        what = f"the method would make other pieces than {', '.join(sorted(shapes))} here, so PEFT drops some"
        yield Found(what, header.path, next(iter(own.values()))[0], "warning")
    elif nearest:
        part = min(nearest)
        what = f"{times(shapes[part])} stored; by its fields the method makes no such {part} of any module"
        yield Found(what, header.path, own[part][0])


def _possible_sizes(shapes: Collection[Shape], config: Mapping[str, Any]) -> Sequence[int]:
    """Possible sizes of a side of the module: the stored ones, and their products with numbers of the configuration."""
    sides = {size for shape in shapes for size in shape}
    blocks = {side for size in sides if (side := (isqrt(8 * size + 1) + 1) // 2) * (side - 1) == 2 * size}
    stored = sorted(sides | blocks)  # a rotation has the part of a block above its diagonal
    numbers = sorted({value for value in config.values() if type(value) is int and 1 < value <= _MOST_BLOCKS} | {2})
    by_number = {size * number for size in stored for number in numbers}
    by_each = {one * other for one, other in product(stored, stored)}
    halves = {size // number for size in stored for number in numbers if size % number == 0}
    found = dict.fromkeys((*stored, *sorted(by_each, reverse=True), *sorted(by_number), *sorted(halves)))
    return [size for size in found if size > 1][:_MOST_SIZES] or [1]


def _created_shapes(weight: str, size: tuple[int, ...], config: Mapping[str, Any]) -> dict[str, Shape]:
    """The method's pieces of a module of this size; none if its fields allow none."""
    module = weight.removesuffix(".weight")
    embedding = _weight_row("embed_tokens.weight", (1, 1), "embedding", role="embed_tokens")
    rows = (_weight_row(weight, size, "attention"), embedding)
    chosen = {**config, **dict.fromkeys(_CHOICES), "target_modules": [module], "bias": "none", "fan_in_fan_out": False}
    try:
        made = prediction.predict(chosen, Prediction(Config({}, "config.json"), "", "", rows)).expected
    except (ConfigError, ArithmeticError, TypeError, ValueError):
        return {}
    return {each.part: each.shape for each in made if f".{module}." in each.name}
