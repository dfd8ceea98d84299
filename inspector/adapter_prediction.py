"""An adapter's configuration and its base's prediction → the tensors that the adapter should have.

After PEFT: `peft/tuners/*/layer.py` for the shapes, `peft/tuners/tuners_utils.py` for which modules are targeted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isqrt
from typing import Any, NamedTuple

from inspector.errors import ConfigError
from inspector.model import Expected, Prediction
from inspector.quantization.patterns import compiled
from inspector.units import escape

#: Ranks and numbers of tokens come from strangers: larger ones are refused.
MAX_RANK = 1 << 20
#: Names of targets that are taken as they are; anything else is a regular expression.
_PLAIN = re.compile(r"[\w.]+")

Shape = tuple[int, ...]
Sizes = tuple[int, int]  # outputs and inputs of the base's weight


class Piece(NamedTuple):
    """One tensor of an adapted module."""

    part: str
    shape: Shape
    formula: tuple[str, ...]


def predict(config: Mapping[str, Any], base: Prediction) -> Prediction:
    """The tensors of an adapter of a base model.

    Raises:
        ConfigError: the method is none that is predicted, or its fields make no sense.
    """
    method = str(config.get("peft_type", "")).upper()
    if method in _PROMPTS:
        rows = tuple(_PROMPTS[method](config, base))
    elif method in _PIECES:
        rows = tuple(_adapted(config, base, _PIECES[method]))
    else:
        raise ConfigError(f"no prediction for an adapter of type {escape(method or 'unnamed', 40)}")
    family = f"{method.lower()} on {base.family}"
    whole = (*_saved(config, base), *_tokens(config, base))
    return Prediction(base.config, family, base.head, rows + whole, base=base)


# --- which modules ----------------------------------------------------------------------------


def _adapted(config: Mapping[str, Any], base: Prediction, pieces: Callable[..., Iterable[Piece]]) -> Iterator[Expected]:
    for row in base.expected:
        if row.part != "weight" or len(row.shape) != 2:
            continue
        targeted = _targeted(row, config)
        for rows in _by_rank(targeted, config) if targeted is not None and targeted.tensors else ():
            yield from _pieces(config, rows, pieces)


def _pieces(config: Mapping[str, Any], rows: Expected, pieces: Callable[..., Iterable[Piece]]) -> Iterator[Expected]:
    """The tensors that each of the targeted modules gets."""
    module = rows.name.removesuffix(".weight")
    first = module.replace("{layer}", str(rows.layers[0])) if rows.layers else module
    outputs, inputs = rows.shape[::-1] if config.get("fan_in_fan_out") else rows.shape
    for piece in pieces(config, first, (outputs, inputs), rows):
        yield rows._replace(
            group="adapter",
            part=piece.part,
            name=f"base_model.model.{module}.{piece.part}",
            shape=piece.shape,
            formula=piece.formula,
            numbers=tuple(map(str, piece.shape)),
            active=None,
        )


def _by_rank(rows: Expected, config: Mapping[str, Any]) -> Iterator[Expected]:
    """The rows, apart where layers have ranks of their own."""
    if rows.layers is None or not isinstance(config.get("rank_pattern"), Mapping):
        yield rows
        return
    layers: dict[str | None, list[int]] = {}
    for layer in rows.layers:
        module = rows.name.removesuffix(".weight").replace("{layer}", str(layer))
        layers.setdefault(_own_pattern(config, module), []).append(layer)
    for members in layers.values():
        yield rows._replace(layers=tuple(members))


def _targeted(row: Expected, config: Mapping[str, Any]) -> Expected | None:
    """The row with the layers whose modules are targeted; None where none is."""
    targets = config.get("target_modules")
    linear = targets == "all-linear"
    if linear and row.group in ("embedding", "head", "norm"):
        return None
    targeted = None if linear else _test(targets, "target_modules")
    left_out = _test(config.get("exclude_modules"), "exclude_modules")
    module = row.name.removesuffix(".weight")

    def has(name: str) -> bool:
        return (targeted is None or targeted(name)) and not left_out(name)

    if row.layers is None:
        return row if has(module) else None
    chosen = _layers(config.get("layers_to_transform"))
    layers = (layer for layer in row.layers if chosen is None or layer in chosen)
    return row._replace(layers=tuple(layer for layer in layers if has(module.replace("{layer}", str(layer)))))


def _test(value: Any, field: str) -> Callable[[str], bool]:
    """Whether a module is meant: names in a list by their ends, a text as an expression for the whole name."""
    if isinstance(value, str) and not _PLAIN.fullmatch(value):
        pattern = _expression(value, field)
        return lambda name: pattern.match(name) is not None
    words = _words(value, field)
    return lambda name: _named(name, words)


def _expression(text: str, field: str) -> re.Pattern[str]:
    """A stranger's expression for whole names. Raises ConfigError for one that is not run."""
    pattern = compiled(text.removesuffix("$") + "$")
    if pattern is None:
        raise ConfigError(f"no prediction for this adapter: its `{field}` is a pattern, which is not run")
    return pattern


def _words(value: Any, field: str) -> frozenset[str]:
    words = () if value is None else (value,) if isinstance(value, str) else value
    if not isinstance(words, (list, tuple)) or not all(isinstance(w, str) and _PLAIN.fullmatch(w) for w in words):
        raise ConfigError(f"no prediction for this adapter: its `{field}` is a pattern, which is not run")
    return frozenset(words)


def _named(module: str, words: frozenset[str]) -> bool:
    """Whether one of the words is the module's name, or its end."""
    parts = module.split(".")
    return any(".".join(parts[at:]) in words for at in range(len(parts)))


def _layers(chosen: Any) -> frozenset[int] | None:
    if chosen is None:
        return None
    numbers = chosen if isinstance(chosen, list) else [chosen]
    return frozenset(number for number in numbers if isinstance(number, int))


def _saved(config: Mapping[str, Any], base: Prediction) -> Iterator[Expected]:
    """Modules that are trained, and saved, whole."""
    names = _words(config.get("modules_to_save"), "modules_to_save")
    for row in (*base.expected, *base.tied):
        if _named(row.name.rpartition(".")[0], names):
            yield row


def _tokens(config: Mapping[str, Any], base: Prediction) -> Iterator[Expected]:
    """Rows of the token embedding that are trained alone."""
    chosen = config.get("trainable_token_indices")
    modules = chosen if isinstance(chosen, Mapping) else {"embed_tokens": chosen}
    for name, indices in modules.items():
        rows = (
            row
            for row in base.expected
            if row.part == "weight" and _named(row.name.rpartition(".")[0], frozenset({name}))
        )
        row = next(rows, None)
        if row is None or not isinstance(indices, list) or len(row.shape) != 2:
            continue
        part, shape = "trainable_tokens_delta", (len(indices), row.shape[1])
        formula = ("trainable tokens", "hidden_size")
        stored = f"base_model.model.{row.name.removesuffix('.weight')}.token_adapter.{part}"
        numbers = tuple(map(str, shape))
        yield row._replace(group="adapter", part=part, name=stored, shape=shape, formula=formula, numbers=numbers)


# --- how many numbers -------------------------------------------------------------------------


def _number(config: Mapping[str, Any], name: str) -> int:
    value = config.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= MAX_RANK:
        raise ConfigError(f"the adapter's configuration gives {value!r:.40} for `{name}`: no number of ranks or tokens")
    return value


def _rank(config: Mapping[str, Any], module: str, field: str = "r") -> int:
    """The module's own rank where `rank_pattern` names it, else the adapter's."""
    own = _own_pattern(config, module)
    return _number(config, field) if own is None else _number(config["rank_pattern"], own)


def _own_pattern(config: Mapping[str, Any], module: str) -> str | None:
    """The first key of `rank_pattern` that matches the module's name, or the end of it from a dot on."""
    patterns = config.get("rank_pattern")
    parts = module.split(".")
    for name in patterns if isinstance(patterns, Mapping) else ():
        if _PLAIN.fullmatch(name):
            if _named(module, frozenset({name})):
                return str(name)
            continue
        pattern = _expression(name, "rank_pattern")
        if any(pattern.match(".".join(parts[at:])) for at in range(len(parts))):
            return str(name)
    return None


def _lora(config: Mapping[str, Any], module: str, sizes: Sizes, row: Expected) -> Iterator[Piece]:
    rank, (outputs, inputs) = _rank(config, module), sizes
    if row.group == "embedding":
        yield Piece("lora_embedding_A", (rank, outputs), ("r", "rows"))
        yield Piece("lora_embedding_B", (inputs, rank), ("columns", "r"))
    else:
        yield Piece("lora_A", (rank, inputs), ("r", "inputs"))
        yield Piece("lora_B", (outputs, rank), ("outputs", "r"))
        if config.get("lora_bias"):
            yield Piece("lora_B_bias", (outputs,), ("outputs",))
    if config.get("use_dora"):
        size = inputs if row.group == "embedding" else outputs
        yield Piece("magnitude", (size,), ("outputs",))


def _adalora(config: Mapping[str, Any], module: str, sizes: Sizes, row: Expected) -> Iterator[Piece]:
    rank, (outputs, inputs) = _rank({**config, "r": config.get("init_r")}, module), sizes
    yield Piece("lora_A", (rank, inputs), ("init_r", "inputs"))
    yield Piece("lora_B", (outputs, rank), ("outputs", "init_r"))
    yield Piece("lora_E", (rank, 1), ("init_r", "1"))


def _loha(config: Mapping[str, Any], module: str, sizes: Sizes, row: Expected) -> Iterator[Piece]:
    rank, (outputs, inputs) = _rank(config, module), sizes
    for number in "12":
        yield Piece(f"hada_w{number}_a", (outputs, rank), ("outputs", "r"))
        yield Piece(f"hada_w{number}_b", (rank, inputs), ("r", "inputs"))


def _lokr(config: Mapping[str, Any], module: str, sizes: Sizes, row: Expected) -> Iterator[Piece]:
    """A Kronecker product of a small and a large factor, each whole or in two where the rank is small."""
    rank = _rank(config, module)
    factor = config.get("decompose_factor", -1)
    (out_small, out_large), (in_small, in_large) = (factors(size, factor) for size in sizes)
    if config.get("decompose_both") and 2 * rank < max(out_small, in_small):
        yield Piece("lokr_w1_a", (out_small, rank), ("small outputs", "r"))
        yield Piece("lokr_w1_b", (rank, in_small), ("r", "small inputs"))
    else:
        yield Piece("lokr_w1", (out_small, in_small), ("small outputs", "small inputs"))
    if 2 * rank < max(out_large, in_large):
        yield Piece("lokr_w2_a", (out_large, rank), ("large outputs", "r"))
        yield Piece("lokr_w2_b", (rank, in_large), ("r", "large inputs"))
    else:
        yield Piece("lokr_w2", (out_large, in_large), ("large outputs", "large inputs"))


def factors(size: int, factor: Any = -1) -> tuple[int, int]:
    """Two factors of a dimension, the smaller first: as near to each other as they come, or at most `factor`.

    After LyCORIS' `factorization`, which PEFT took over: 512 → 16 · 32.
    """
    limit = factor if isinstance(factor, int) and factor > 0 else size
    if factor == limit and size % limit == 0:
        return min(limit, size // limit), max(limit, size // limit)
    small = max((n for n in range(1, isqrt(size) + 1) if size % n == 0 and n <= limit), default=1)
    return small, size // small


def _ia3(config: Mapping[str, Any], module: str, sizes: Sizes, row: Expected) -> Iterator[Piece]:
    outputs, inputs = sizes
    if _named(module, _words(config.get("feedforward_modules"), "feedforward_modules")):
        yield Piece("ia3_l", (1, inputs), ("1", "inputs"))
    else:
        yield Piece("ia3_l", (outputs, 1), ("outputs", "1"))


def _vera(config: Mapping[str, Any], module: str, sizes: Sizes, row: Expected) -> Iterator[Piece]:
    """Two vectors a module; the projections between them are random, shared, and buffers where they are saved."""
    yield Piece("vera_lambda_b", (sizes[0],), ("outputs",))
    yield Piece("vera_lambda_d", (_number(config, "r"),), ("r",))


def _oft(config: Mapping[str, Any], module: str, sizes: Sizes, row: Expected) -> Iterator[Piece]:
    """Rotations of blocks of inputs, each by the part of a skew matrix above its diagonal."""
    inputs = sizes[1]
    size = config.get("oft_block_size") or inputs // _number(config, "r")
    size = _number({"oft_block_size": size}, "oft_block_size")
    blocks = 1 if config.get("block_share") else inputs // size
    yield Piece("oft_R", (blocks, size * (size - 1) // 2), ("blocks", "block · (block − 1) / 2"))


def _boft(config: Mapping[str, Any], module: str, sizes: Sizes, row: Expected) -> Iterator[Piece]:
    """Butterflies of blocks of inputs, and a scale for the outputs."""
    outputs, inputs = sizes
    size = config.get("boft_block_size") or inputs // _number(config, "boft_block_num")
    size = _number({"boft_block_size": size}, "boft_block_size")
    factors = _number(config, "boft_n_butterfly_factor")
    yield Piece("boft_R", (factors, inputs // size, size, size), ("factors", "blocks", "block", "block"))
    yield Piece("boft_s", (outputs, 1), ("outputs", "1"))


_PIECES: Mapping[str, Callable[..., Iterable[Piece]]] = {
    "LORA": _lora,
    "ADALORA": _adalora,
    "LOHA": _loha,
    "LOKR": _lokr,
    "IA3": _ia3,
    "VERA": _vera,
    "OFT": _oft,
    "BOFT": _boft,
}


def _virtual_tokens(config: Mapping[str, Any], width: int, name: str) -> Iterator[Expected]:
    tokens = _number(config, "num_virtual_tokens")
    shape, formula = (tokens, width), ("num_virtual_tokens", name)
    numbers = (str(tokens), str(width))
    yield Expected(
        "prompt_embeddings", "adapter", "text", "prompt_embeddings", "prompt_embeddings", shape, formula, numbers
    )


def _width(base: Prediction) -> int:
    embedding = next((row for row in base.expected if row.role == "embed_tokens"), None)
    if embedding is None:
        raise ConfigError("no prediction for this adapter: its base has no token embedding")
    return embedding.shape[-1]


def _prompt(config: Mapping[str, Any], base: Prediction) -> Iterator[Expected]:
    yield from _virtual_tokens(config, _width(base), "hidden_size")


def _prefix(config: Mapping[str, Any], base: Prediction) -> Iterator[Expected]:
    """Keys and values of each layer: as many as the base's `k_proj` and `v_proj` put out together."""
    rows = [row for row in base.expected if row.role in ("k_proj", "v_proj") and row.part == "weight"]
    width = sum(row.shape[0] * row.tensors for row in rows)
    if not width:
        raise ConfigError("no prediction for this adapter: its base has no projections of keys and values")
    yield from _virtual_tokens(config, width, "2 × layers × keys")


_PROMPTS: Mapping[str, Callable[[Mapping[str, Any], Prediction], Iterable[Expected]]] = {
    "PROMPT_TUNING": _prompt,
    "P_TUNING": _prompt,
    "PREFIX_TUNING": _prefix,
}
