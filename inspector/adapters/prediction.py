"""An adapter's configuration and its base's prediction → the tensors that the adapter should have.

`methods` has the tensors of each method; this module decides which modules get them, as in PEFT's
`peft/tuners/tuners_utils.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from inspector.adapters.methods import Method, Piece, Scope, tensors_of
from inspector.adapters.methods import method as method_of
from inspector.adapters.modules import HEADS, held
from inspector.adapters.tensors import PROMPTS
from inspector.architectures import formula
from inspector.architectures.expansion import MAX_INDEX
from inspector.errors import ConfigError
from inspector.model import Expected, Prediction
from inspector.quantization.patterns import compiled
from inspector.units import escape, integer

#: Keys of one field that are expressions: each is tried on every module's name.
MOST_EXPRESSIONS = 500
CONVOLUTIONS = (3, 4, 5)  # dimensions of the weights of convolutions
#: Roles of embeddings that are linear layers.
_PROJECTIONS = frozenset({"embed_patches", "embed_features", "embed_projection"})
#: Target names that are literal; anything else is a regular expression.
_PLAIN = re.compile(r"[\w.]+")


def predict(config: Mapping[str, Any], base: Prediction) -> Prediction:
    """The tensors of an adapter of a base model.

    Raises:
        ConfigError: the method is not supported, or its fields are invalid.
    """
    name = str(config.get("peft_type", "")).upper()
    method = method_of(name)
    if method is None:
        raise ConfigError(f"no prediction for an adapter of type {escape(name or 'unnamed', 40)}")
    in_files, base = (
        base,
        base._replace(expected=tuple(held(base.expected, base.config)), tied=tuple(held(base.tied, base.config))),
    )
    rows = _rows_replicated(config, base.expected)
    biases = {row.name: row for row in rows if row.part == "bias"}
    targets = [
        *_targeted_modules(config, (*rows, *base.tied), method),
        *(_targeted_parameters(config, rows) if method.stacked else ()),
    ]
    sums = _sizes_of_all(targets)
    expected = (
        *(piece for target in targets for piece in _tensors_of_module(config, method, target, sums, biases)),
        *_shared_tensors(config, base, method, sums),
        *_saved_modules(config, base),
        *_trained_rows(config, rows),
        *_saved_biases(config, targets, biases),
    )
    family = f"{name.lower()} on {base.family}"
    again = base.tied if method.usual_target else ()  # the head, if rows of the embedding are trained
    tied = tuple(piece for row in again for piece in _tensors_of_module(config, method, row, sums, biases))
    return Prediction(base.config, family, base.head, expected, tied, base=in_files)


# --- which modules ----------------------------------------------------------------------------


def _rows_replicated(config: Mapping[str, Any], rows: Sequence[Expected]) -> Sequence[Expected]:
    """The base's rows with its layers repeated as `layer_replication` says: `[[0, 2], [1, 2]]` is 0, 1, 1."""
    ranges = config.get("layer_replication")
    if not ranges:
        return rows
    order: list[int] = []
    for pair in ranges if isinstance(ranges, list) else ():
        if not isinstance(pair, list) or list(map(type, pair)) != [int, int] or len(order) > MAX_INDEX:
            order = []
            break
        order += range(pair[0], min(pair[1], pair[0] + MAX_INDEX))
    if not 0 < len(order) <= MAX_INDEX:
        raise ConfigError(
            f"the adapter's configuration gives {ranges!r:.40} for `layer_replication`: not a list of layers"
        )
    return [
        row if row.layers is None else row._replace(layers=_repeated_layers(order, frozenset(row.layers)))
        for row in rows
    ]


def _repeated_layers(order: Sequence[int], layers: frozenset[int]) -> tuple[int, ...]:
    return tuple(new for new, old in enumerate(order) if old in layers)


def _targeted_modules(config: Mapping[str, Any], rows: Iterable[Expected], method: Method) -> Iterator[Expected]:
    """The weights whose modules are targeted, separately if they have their own ranks."""
    usual = method.usual_target if config.get("target_modules") is None else ""
    tests = None if usual else _name_tests(config)
    for row in rows:
        fits = len(row.shape) == method.dimensions or (bool(method.convolution) and len(row.shape) in CONVOLUTIONS)
        if row.part == "weight" and fits and row.stacked is None and not row.buffer:
            targeted = _layers_targeted(row, tests) if tests else row if row.role == usual else None
            if targeted is not None and targeted.tensors:
                yield from _separated_by_rank(targeted, config, method)


def _targeted_parameters(config: Mapping[str, Any], rows: Sequence[Expected]) -> Iterator[Expected]:
    """The weights that `target_parameters` names individually: stacked experts, routers."""
    targeted = _checked_names(config.get("target_parameters"))
    if targeted:
        for row in (row for row in rows if row.part == "weight"):
            if len(row.shape) in (2, 3) and row.experts is None:
                chosen = _with_matching_layers(row, lambda name: _is_named(name, targeted), row.name)
                if chosen.tensors:
                    yield from _separated_by_rank(chosen, config, _lora())


def _lora() -> Method:
    """LoRA, the only method that adapts parameters other than a module's weight."""
    found = method_of("LORA")
    assert found is not None
    return found


def _tensors_of_module(
    config: Mapping[str, Any],
    method: Method,
    target: Expected,
    sums: Mapping[str, int],
    biases: Mapping[str, Expected],
) -> Iterator[Expected]:
    """The tensors that each targeted module gets."""
    words = {**_sizes_of_weight(target, config, biases), **sums}
    own = own_pattern(config, method.pattern, _first_module(target))
    if own is not None:
        words[method.rank] = _own_rank(config[method.pattern][own])
    module = target.name.removesuffix(".weight")
    for piece in _pieces_for(method, target, has_bias=words["has_bias"]):
        for part, shape, shown in tensors_of(piece, Scope(config, method, words)):
            yield target._replace(
                group="adapter",
                part=part,
                name=f"base_model.model.{module}.{part}",
                shape=shape,
                formula=shown,
                numbers=tuple(map(str, shape)),
                active=None,
            )


def _pieces_for(method: Method, target: Expected, *, has_bias: bool) -> tuple[Piece, ...]:
    """The method's tensors for a weight of this kind; an embedding with a bias counts as a projection."""
    if target.stacked is not None:
        return method.stacked
    if len(target.shape) in CONVOLUTIONS:
        return method.convolution
    is_embedding = target.group == "embedding" and target.role not in _PROJECTIONS and not has_bias
    return (method.embedding if is_embedding else ()) or method.pieces


def _shared_tensors(
    config: Mapping[str, Any], base: Prediction, method: Method, sums: Mapping[str, int]
) -> Iterator[Expected]:
    """The tensors that belong to no module."""
    words: dict[str, int] = {**sums}
    if any(_WIDTHS & {*formula.names(word)} for piece in method.shared for word in formula.dimensions(piece.shape)):
        words |= _widths_of_base(config, base)
    for piece in method.shared:
        for number, (part, shape, shown) in enumerate(tensors_of(piece, Scope(config, method, words))):
            role = "prompt_embeddings" if part in PROMPTS else "shared_vectors"
            layers = (number,) if piece.times else None
            yield Expected(role, "adapter", "text", part, part, shape, shown, tuple(map(str, shape)), layers)


def _saved_biases(
    config: Mapping[str, Any], targets: Sequence[Expected], biases: Mapping[str, Expected]
) -> Iterator[Expected]:
    """Biases of the base that are trained, and saved: `all`, or those of adapted modules (`lora_only`)."""
    which = config.get("bias")
    if which == "all":
        saved = _names_saved(config)
        yield from (bias for name, bias in biases.items() if not _is_in(name, saved))
    elif isinstance(which, str) and which.endswith("_only"):
        for target in targets:
            bias = biases.get(_name_of_bias(target.name))
            if bias is not None:
                yield bias._replace(layers=target.layers)


def _name_of_bias(name: str) -> str:
    return name.removesuffix("weight") + "bias"


def _separated_by_rank(rows: Expected, config: Mapping[str, Any], method: Method) -> Iterator[Expected]:
    """The rows, separately if layers have their own ranks."""
    if rows.layers is None or not isinstance(config.get(method.pattern), Mapping):
        yield rows
        return
    layers: dict[str | None, list[int]] = {}
    for layer in rows.layers:
        name = rows.name.removesuffix(".weight").replace("{layer}", str(layer))
        layers.setdefault(own_pattern(config, method.pattern, name), []).append(layer)
    for members in layers.values():
        yield rows._replace(layers=tuple(members))


def _first_module(rows: Expected) -> str:
    """The name of the first of the modules."""
    module = rows.name.removesuffix(".weight")
    return module.replace("{layer}", str(rows.layers[0])) if rows.layers else module


#: The number of a module's layer, as PEFT finds it without a `layers_pattern`; then for names that begin with a layer.
_LAYER = (re.compile(r".*?\.[^.]*\.(\d{1,9})\."), re.compile(r"[^.]*\.(\d{1,9})\."))


#: Names in shapes for which the base's own widths are needed.
_WIDTHS = frozenset({"width", "keys"})


class _NameTests(NamedTuple):
    """The tests of modules' names that a configuration defines."""

    targeted: Callable[[str], bool] | None  # None for every linear layer
    left_out: Callable[[str], bool]
    saved: frozenset[str]  # modules that are saved whole: nothing in them is adapted
    first_words: frozenset[str]  # of their names

    def has(self, name: str) -> bool:
        """Whether a module is targeted."""
        if self.left_out(name):
            return False
        if not self.first_words.isdisjoint(name.split(".")) and not self.saved.isdisjoint(_runs(name)):
            return False
        return self.targeted is None or self.targeted(name)


def _runs(name: str) -> Iterator[str]:
    """The module's name, and each run of its words: what a saved module it may be, or be in."""
    words = name.split(".")
    return (".".join(words[at:end]) for end in range(1, len(words) + 1) for at in range(end))


def _name_tests(config: Mapping[str, Any]) -> _NameTests:
    targets = config.get("target_modules")
    targeted = None if targets == "all-linear" else _name_test(targets, "target_modules")
    if targeted is not None and not isinstance(targets, str) and config.get("layers_to_transform") not in (None, []):
        targeted = _with_layers(config, _checked_names(targets))
    left_out = _name_test(config.get("exclude_modules"), "exclude_modules")
    saved = _checked_names(config.get("modules_to_save"))
    return _NameTests(targeted, left_out, saved, frozenset(each.partition(".")[0] for each in saved))


def _with_layers(config: Mapping[str, Any], words: frozenset[str]) -> Callable[[str], bool]:
    """A test for names in a list and `layers_to_transform`, which is for suffixes alone, not for whole names."""
    chosen = _layer_numbers(config["layers_to_transform"])
    given = config.get("layers_pattern")
    named = [_compiled(rf"(?:.*?\.)?{each}\.(\d+)\..*", "layers_pattern") for each in _checked_names(given)]

    def has(name: str) -> bool:
        if name in words or not _is_named(name, words):
            return name in words
        found = next(filter(None, (pattern.match(name) for pattern in named or _LAYER)), None)
        return found is not None and int(found[1]) in chosen

    return has


def _layers_targeted(row: Expected, tests: _NameTests) -> Expected | None:
    """The row with the layers whose modules are targeted; None if it cannot be targeted."""
    if tests.targeted is None and row.group in ("embedding", "head", "norm"):
        return None
    return _with_matching_layers(row, tests.has, row.name.removesuffix(".weight"))


def _with_matching_layers(row: Expected, has: Callable[[str], bool], module: str) -> Expected:
    """The row with the layers whose modules match; with no layers if none does."""
    if row.layers is None:
        return row if has(module) else row._replace(layers=())
    return row._replace(layers=tuple(layer for layer in row.layers if has(module.replace("{layer}", str(layer)))))


def _name_test(value: Any, field: str) -> Callable[[str], bool]:
    """A test for targeted modules: names in a list match suffixes, a string is an expression for the whole name."""
    if isinstance(value, str) and not _PLAIN.fullmatch(value):
        pattern = _compiled(value, field)
        return lambda name: pattern.match(name) is not None
    words = _checked_names(value)
    return lambda name: _is_named(name, words)


def _compiled(text: str, field: str) -> re.Pattern[str]:
    """An untrusted expression for whole names. Raises ConfigError for one that is not run."""
    pattern = compiled(text.removesuffix("$") + "$")
    if pattern is None:
        raise ConfigError(f"no prediction for this adapter: its `{field}` is a pattern, which is not run")
    return pattern


def _checked_names(value: Any) -> frozenset[str]:
    """Names in a list, which are never patterns."""
    words = () if value is None else (value,) if isinstance(value, str) else value
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
        raise ConfigError(f"no prediction for this adapter: {value!r:.40} is not a list of names")
    return frozenset(words)


def _is_named(module: str, words: frozenset[str]) -> bool:
    """Whether one of the words is the module's name, or its suffix."""
    return any(end in words for end in ends(module))


def ends(module: str) -> Iterator[str]:
    """A module's name and its suffixes after each dot, the longest first: PEFT accepts any of them for the module."""
    parts = module.split(".")
    return (".".join(parts[at:]) for at in range(len(parts)))


def _layer_numbers(chosen: Any) -> frozenset[int]:
    numbers = chosen if isinstance(chosen, list) else [chosen]
    return frozenset(number for number in numbers if isinstance(number, int))


def _saved_modules(config: Mapping[str, Any], base: Prediction) -> Iterator[Expected]:
    """Modules that are trained and saved whole."""
    names = _names_saved(config)
    yield from (row for row in (*base.expected, *base.tied) if _is_in(row.name, names))


def _names_saved(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The endings of names of modules that are saved whole; a prompt, which has no list, saves its task's head."""
    task = config.get("task_type")
    usual = HEADS.get(task) if isinstance(task, str) and "num_virtual_tokens" in config else None
    return tuple(filter(None, _checked_names(config.get("modules_to_save", usual))))


def _is_in(name: str, endings: tuple[str, ...]) -> bool:
    """Whether a tensor is in a module with such an ending, which begins at any letter: `pre_classifier`."""
    words = name.split(".")[:-1]
    return any(".".join(words[:end]).endswith(endings) for end in range(1, len(words) + 1))


def _trained_rows(config: Mapping[str, Any], rows: Sequence[Expected]) -> Iterator[Expected]:
    """Separately trained rows of embeddings: of those that a mapping names, or of the token embedding."""
    chosen = config.get("trainable_token_indices")
    order = {name: number for number, name in enumerate(chosen)} if isinstance(chosen, Mapping) else {}
    for row in rows:
        module = row.name.removesuffix(".weight")
        if isinstance(chosen, Mapping):
            first = min((end for end in ends(module) if end in order), key=order.__getitem__, default=None)
            indices = None if first is None else chosen[first]
        else:
            indices = chosen if row.role == "embed_tokens" else None
        if isinstance(indices, list) and row.part == "weight" and len(row.shape) == 2:
            part, shape = "trainable_tokens_delta", (len(indices), row.shape[1])
            stored = f"base_model.model.{module}.token_adapter.{part}"
            shown = ("trainable tokens", "hidden_size")
            numbers = tuple(map(str, shape))
            yield row._replace(group="adapter", part=part, name=stored, shape=shape, formula=shown, numbers=numbers)


# --- how many numbers -------------------------------------------------------------------------


def _sizes_of_weight(target: Expected, config: Mapping[str, Any], biases: Mapping[str, Expected]) -> dict[str, Any]:
    """The values of the names that stand for a targeted weight's sizes in shapes."""
    bias = biases.get(_name_of_bias(target.name)) or biases.get(target.name + "_bias")
    convolution = len(target.shape) in CONVOLUTIONS and target.stacked is None
    kernel = target.shape[2:] if convolution else ()
    outputs, inputs = (*(target.shape if convolution else target.shape[-2:]), 1)[:2]
    if len(target.shape) > 1 and not convolution and _has_inputs_first(target, bias, config):
        outputs, inputs = inputs, outputs
    return {
        "outputs": outputs,
        "inputs": inputs,
        "has_bias": bias is not None,
        "feedforward": _is_named(_first_module(target), _checked_names(config.get("feedforward_modules"))),
        "experts": target.stacked,
        "dimensions": len(target.shape),
        "kernel": prod(kernel),
        **dict(zip(("kernel_rows", "kernel_columns", "kernel_depth"), (*kernel, 1, 1), strict=False)),
        **{f"blocks_in_{matrix}": _has_blocks(config, matrix, target) for matrix in "AB"},
    }


def _has_blocks(config: Mapping[str, Any], matrix: str, target: Expected) -> bool:
    """Whether a matrix of a module's LoRA is block-diagonal, by a part of the module's name."""
    own = config.get("use_bdlora")
    listed = own.get(f"target_modules_bd_{matrix.lower()}") if isinstance(own, Mapping) else None
    return any(word in _first_module(target) for word in _checked_names(listed))


def _has_inputs_first(target: Expected, bias: Expected | None, config: Mapping[str, Any]) -> bool:
    """Whether a weight has its inputs first: by its bias, whose length is its outputs, or else by PEFT's setting."""
    if bias is not None and target.shape[-1] != target.shape[-2]:
        return bias.shape[-1] == target.shape[-1]
    return bool(config.get("fan_in_fan_out")) and target.group not in ("embedding", "head")


def _sizes_of_all(targets: Iterable[Expected]) -> Mapping[str, int]:
    """The modules that are adapted, and the elements of their weights."""
    tensors = [(target.tensors, target.elements) for target in targets]
    return {"modules": sum(n for n, _ in tensors), "sizes": sum(n * elements for n, elements in tensors)}


def _widths_of_base(config: Mapping[str, Any], base: Prediction) -> dict[str, int]:
    """The columns of a prompt, as stated or of the token embedding, and of the keys and values of all layers."""
    embedding = next((row for row in base.expected if row.role == "embed_tokens"), None)
    if embedding is None:
        raise ConfigError("no prediction for this adapter: its base has no token embedding")
    rows = [row for row in base.expected if row.role in ("k_proj", "v_proj") and row.part == "weight"]
    layers, width = config.get("num_layers"), config.get("token_dim")
    keys = 2 * layers * width if type(layers) is type(width) is int else sum(r.shape[0] * r.tensors for r in rows)
    return {"width": width if type(width) is int else embedding.shape[-1], "keys": keys}


def _own_rank(value: Any) -> Any:
    """A module's own rank; AdaLoRA records which of its initial ranks remain."""
    return sum(value) if isinstance(value, list) and all(isinstance(each, bool) for each in value) else value


def own_pattern(config: Mapping[str, Any], field: str, module: str) -> str | None:
    """The first key of a field's patterns that matches the module's name, or its suffix after a dot."""
    patterns = config.get(field)
    if not isinstance(patterns, Mapping) or not patterns:
        return None
    plain, expressions = _sorted_patterns(tuple(patterns))
    if len(expressions) > MOST_EXPRESSIONS:
        raise ConfigError(f"no prediction for this adapter: its `{field}` has {integer(len(expressions))} patterns")
    first = min((plain[end] for end in ends(module) if end in plain), default=None)
    for number, name in expressions:
        if first is not None and number > first[0]:
            break
        pattern = _compiled(name, field)
        if any(pattern.match(end) for end in ends(module)):
            return name
    return None if first is None else first[1]


#: A key of a field's patterns, after its position among them.
_Key = tuple[int, str]


@lru_cache(maxsize=8)
def _sorted_patterns(keys: tuple[str, ...]) -> tuple[Mapping[str, _Key], tuple[_Key, ...]]:
    """The keys that are literal names, by name, and those that are expressions; each name under its first key."""
    plain: dict[str, _Key] = {}
    expressions: list[_Key] = []
    for number, key in enumerate(keys):
        name = key.removesuffix(".lora_E")  # AdaLoRA's keys are its parameters
        if _PLAIN.fullmatch(name):
            plain.setdefault(name, (number, key))
        else:
            expressions.append((number, key))
    return plain, tuple(expressions)
