"""Configurations of a class that still build: with small, pairwise different values, or with one field changed."""

from __future__ import annotations

import contextlib
import inspect
import random
import re
import sys
import time
from typing import TYPE_CHECKING, Any

from zoo.build_configurations import Overrides, Path_, construct, is_int, walk
from zoo.build_models import Unbuildable, build_model, saved_tensors, state_signature

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transformers import PreTrainedConfig, PreTrainedModel


NOT_STRUCTURAL = re.compile(
    r"(_token_id|_token_ids|_token_index|_idx|_eps|_std|dropout|drop_rate|droprate|_prob|_coef|"
    r"layerdrop|_theta|_factor_init|initializer\w*|_loss_weight|_cost|_temperature|_loss)$"
)

LAYERS = re.compile(
    r"^(?!.*(shared|skip|dense|mtp|nextn|predict|first|last|feature))(.*_)?"
    r"(num_hidden_layers|n_layers?|num_layers|layers|depth|num_blocks|n_blocks|"
    r"num_hidden_blocks|num_encoder_blocks|layer_num)$"
)
HEADS = re.compile(
    r"^(num_attention_heads|n_heads?|num_heads|heads|(encoder|decoder)_attention_heads|"
    r"(encoder|decoder)_num_attention_heads|num_(encoder|decoder)_attention_heads|"
    r"num_query_heads)$"
)
KV_HEADS = re.compile(
    r"^((encoder_|decoder_)?(num_(key_value|kv)_heads|n_kv_heads?|multi_query_group_num|"
    r"num_key_value_heads))$"
)
HIDDEN = re.compile(r"^(hidden_size|d_model|n_embd|dim|embed_dim|embedding_dim|model_dim|width)$")
FEW_LAYERS = re.compile(r"(layers|n_dense|dense_replace)$")
KEY_HEADS = re.compile(r"(key|k|qk)_heads$")
VALUE_HEADS = re.compile(r"(value|v)_heads$")
STATE_HEADS = re.compile(r"(^|_)heads?$|num_heads$")
STATE_HEAD_DIM = re.compile(r"(d_head|head_?dim)$")
HEAD_DIM = re.compile(r"(^|_)(head_dim|d_kv|kv_channels|head_size|d_head|qk_head_dim)$")
VOCAB = re.compile(r"(^|_)vocab_size(_|$)")
EXPERTS = re.compile(r"^(num_experts|num_local_experts|n_routed_experts|moe_num_experts)$")

# One row per nested configuration: attention heads, key-value heads, width of a head.
ATTENTION = [
    [(6, 2, 16), (4, 2, 40), (8, 4, 24), (10, 5, 32), (14, 7, 48)],
    [(8, 2, 24), (6, 3, 40), (4, 2, 32), (12, 6, 48), (10, 5, 64)],
    [(12, 4, 24), (10, 5, 16), (6, 2, 40), (8, 4, 56), (4, 2, 72)],
]
LAYER_COUNTS = [[5, 3, 4, 2, 6, 7], [7, 4, 3, 5, 2, 6], [3, 5, 6, 4, 7, 2]]
EXPERT_COUNTS = [[7, 12, 16], [9, 10, 24], [11, 18, 32]]
PRIMES = [11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97]
PRIMES += [101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181]
VOCABS = [[499, 503, 509, 521, 523], [541, 547, 557, 563, 569], [601, 607, 613, 617, 619]]


class Perturber:
    """Finds configurations of a class with small, pairwise different values that still build."""

    def __init__(self, cls: type[PreTrainedModel], template: PreTrainedConfig, deadline: float, seed: int = 0) -> None:
        self.cls = cls
        self.template = template
        self.deadline = deadline
        self.attempts = 0
        self.draw = random.Random(f"{seed} {cls.__name__}") if seed else None
        self.attention, self.layers, self.experts, self.primes, self.vocabs = self._tables()

    def _tables(self) -> tuple[Any, ...]:
        """The values to choose from; random ones if there is a seed."""
        if self.draw is None:
            return ATTENTION, LAYER_COUNTS, EXPERT_COUNTS, PRIMES, VOCABS

        def shuffled(values: list[Any]) -> list[Any]:
            return self.draw.sample(values, len(values)) if self.draw else values

        heads = [(h * k, k, 8 * w) for h in (1, 2, 3, 4) for k in (2, 3, 4, 5) for w in (2, 3, 4, 5, 6, 7)]
        return (
            [shuffled(heads)[:5] for _ in range(3)],
            [shuffled([2, 3, 4, 5, 6, 7, 8, 9])[:6] for _ in range(3)],
            [shuffled([6, 7, 9, 10, 12, 14, 18])[:3] for _ in range(3)],
            shuffled(PRIMES),
            [shuffled([vocab for row in VOCABS for vocab in row])[:5] for _ in range(3)],
        )

    def builds(self, overrides: Overrides) -> PreTrainedModel | None:
        """The model of these overrides, or None when it is refused."""
        if time.process_time() > self.deadline:
            raise TimeoutError
        self.attempts += 1
        try:
            model = build_model(self.cls, construct(self.template, overrides))
            saved_tensors(model)  # what builds may still be refused here: a vocabulary smaller than its unpadded size
        except (Unbuildable, RuntimeError, ValueError):
            return None
        return model

    def grow(self, base: Overrides, items: list[tuple[Path_, list[Any]]]) -> Overrides:
        """Add as many of the items as still build; each has values in order of preference."""
        if not items:
            return base
        trial = base | {path: values[0] for path, values in items}
        if self.builds(trial) is not None:
            return trial
        if len(items) == 1:
            path, values = items[0]
            for value in values[1:]:
                trial = base | {path: value}
                if self.builds(trial) is not None:
                    return trial
            return base
        middle = len(items) // 2
        return self.grow(self.grow(base, items[:middle]), items[middle:])

    def integers(self, k: int) -> list[list[tuple[Path_, list[Any]]]]:
        """The integer fields by groups, each with the values to try in variant p<k+1>."""
        scopes: dict[Path_, int] = {}
        used: set[int] = set()
        shifted = self.primes[k * 5 :] + self.primes[: k * 5]
        pool = iter([f * p for f in (8, 24, 40, 56, 72) for p in shifted])
        counts = iter(self.layers[k] * 20)
        vocabs = iter(self.vocabs[k] * 20)
        layers, attention, rest = [], [], []
        fields = list(walk(self.template))
        patches = {path[:-1]: value for path, value, _, _ in fields if path[-1] == "patch_size" and is_int(value)}
        hidden_done: set[Path_] = set()
        head_dim_done: set[Path_] = set()
        for path, value, annotation, owner in fields:
            name, scope = path[-1], path[:-1]
            recurrent = "mamba" in name or "mamba" in owner.__name__.lower()
            unset = value is None and re.search(r"\bint\b", annotation) is not None
            if not (is_int(value) or unset):
                continue
            if NOT_STRUCTURAL.search(name) and not VOCAB.search(name):
                limit = self.vocabs[k][0]
                if name == "pad_token_id" and is_int(value) and value >= limit:
                    layers.append((path, [1, 0]))
                continue
            row = self.attention[k][scopes.setdefault(scope, len(scopes)) % len(self.attention[k])]
            default = value if is_int(value) else 0
            others = [v for v in (3 * default, 2 * default, default // 2) if v > 1]
            if LAYERS.search(name) and default >= 3:
                layers.append((path, [next(counts), 2, 3, 4, 6, 8, 1, 12]))
            elif FEW_LAYERS.search(name) and default >= 2:
                layers.append((path, [2, 1, 0]))
            elif name.endswith("expand"):
                continue
            elif recurrent and STATE_HEAD_DIM.search(name):
                attention.append((path, [4 * row[2], *others]))
            elif recurrent and STATE_HEADS.search(name) and default > 1:
                attention.append((path, [row[0] // 2, *others]))
            elif name == "mamba_d_ssm":
                attention.append((path, [2 * row[0] * row[2], *others]))
            elif HEADS.search(name) and default > 1:
                attention.append((path, [row[0], *others]))
            elif KV_HEADS.search(name) and default != 1:
                attention.append((path, [row[1], row[0], *others]))
            elif HIDDEN.search(name) and scope not in hidden_done and default > 1:
                hidden_done.add(scope)
                attention.append((path, [row[0] * row[2], *others]))
                used.add(row[0] * row[2])
            elif KEY_HEADS.search(name) and default > 1:
                attention.append((path, [(4, 2, 6)[k], *others]))
            elif VALUE_HEADS.search(name) and default > 1:
                attention.append((path, [(12, 10, 18)[k], *others]))
            elif HEAD_DIM.search(name) and scope not in head_dim_done:
                head_dim_done.add(scope)
                attention.append((path, [(56, 88, 72)[k] + 40 * scopes[scope], *others]))
            elif VOCAB.search(name) and default > 1:
                attention.append((path, [next(vocabs), *others]))
            elif EXPERTS.search(name) and default > 1:
                rest.append((path, [*self.experts[k], *others]))
            elif unset:
                continue
            elif name == "patch_size" and default > 1:
                attention.append((path, [(6, 10, 4)[k], 8, *others]))
            elif name == "image_size" and scope in patches and default > 1:
                side = (5, 3, 7)[k] * (6, 10, 4)[k]
                attention.append((path, [side, 64, *others]))
            elif 2 <= default <= 12:
                near = [default + k + d for d in range(12)] + [max(1, default - 1)]
                choice = [v for v in near if v not in used][:1]
                used.update(choice)
                rest.append((path, [*choice, *others]))
            elif default > 12:
                choice = [next(v for v in pool if v not in used)]
                used.update(choice)
                rest.append((path, [*choice, *others]))
        labels = [(("num_labels",), [(13, 17, 19)[k]])]
        return [layers, attention, rest + labels]

    def numbered(self, k: int, base: Overrides | None = None) -> Overrides:
        """Overrides of p<k+1> before booleans and layer patterns are changed."""
        overrides: Overrides = dict(base or {})
        groups = self.integers(k)
        everything = [item for group in groups for item in group]
        trial = {path: values[0] for path, values in everything}
        if groups[0] and self.builds(trial) is not None:
            return trial
        short = {path: values[0] for path, values in groups[0]}
        if not short or self.builds(short) is None:
            cut = short | self.cut_lists(short, self.layers[k][0])
            if self.builds(cut) is not None:
                overrides = cut
        for group in groups:
            left = [item for item in group if item[0] not in overrides]
            overrides = self.grow(overrides, left)
        return overrides

    def cut_lists(self, counts: Overrides, default_count: int) -> Overrides:
        """Lists with an entry per layer, shortened so that each kind of layer stays."""
        found: Overrides = {}
        for path, value, _, _ in walk(self.template):
            if not isinstance(value, (list, tuple)) or len(value) <= 12:
                continue
            length = next((n for p, n in counts.items() if p[:-1] == path[:-1]), default_count)
            values = list(value)
            kinds = {str(kind): i for i, kind in reversed(list(enumerate(values)))}
            firsts = sorted(kinds.values())[:length]
            others = [i for i in range(len(values)) if i not in firsts]
            indices = sorted((firsts + others)[:length])
            found[path] = [values[i] for i in indices]
        return found

    def patterns(self, overrides: Overrides, k: int) -> list[tuple[Path_, list[Any]]]:
        """Other values for the lists of a configuration (layer patterns and the like)."""
        config = construct(self.template, overrides)
        items: list[tuple[Path_, list[Any]]] = []
        for path, value, _, _ in walk(config):
            if not isinstance(value, (list, tuple)):
                continue
            values = list(value)
            if values and all(isinstance(v, (str, bool)) for v in values):
                shifted = values[k:] + values[:k]
                items.append((path, [shifted if k == 1 else values[::-1], values[::-1]]))
            elif values and all(is_int(v) for v in values):
                counts = re.search(r"depth|layers|blocks", path[-1])
                if len(values) > 1 and max(values) <= 64 and counts:
                    items.append((path, [[2 + (i + k) % 2 for i in range(len(values))]]))
                else:  # each item another multiple: items that are equal by default are told apart
                    own = [(k + 2 + at) * v for at, v in enumerate(values)]
                    items.append((path, [own, [(k + 1) * v for v in values]]))
            elif not values and re.search("layer|index", path[-1]):
                items.append((path, [[1] if k == 1 else [0, 2]]))
        return items

    def booleans(self, overrides: Overrides) -> list[tuple[Path_, list[Any]]]:
        config = construct(self.template, overrides)
        return [
            (path, [not value])
            for path, value, _, _ in walk(config)
            if isinstance(value, bool) and path[-1] != "is_encoder_decoder"
        ]

    def held_out(self) -> dict[str, Overrides]:
        """The overrides of h1 and h2: random values, half of the flags and patterns changed."""
        found: dict[str, Overrides] = {}
        assert self.draw is not None
        with contextlib.suppress(TimeoutError):
            for k in range(2):
                overrides = self.numbered(k)
                changes = [*self.patterns(overrides, k + 1), *self.booleans(overrides)]
                overrides = self.grow(overrides, self.draw.sample(changes, len(changes) // 2))
                if overrides:
                    found[f"h{k + 1}"] = overrides
        return found

    def variants(self) -> dict[str, Overrides]:
        """The overrides of p1, p2 and p3; of h1 and h2 if values are random."""
        if self.draw is not None:
            return self.held_out()
        found: dict[str, Overrides] = {}
        with contextlib.suppress(TimeoutError):
            for k in range(3):
                overrides = self.numbered(k)
                if k:
                    overrides = self.grow(overrides, self.patterns(overrides, k))
                flips = self.booleans(overrides) if k else []
                if k == 1:
                    flips = [item for item in flips if item[0][-1] == "tie_word_embeddings"]
                overrides = self.grow(overrides, flips)
                if overrides:
                    found[f"p{k + 1}"] = overrides
        return found


# --- one field changed -------------------------------------------------------------------------


LAYER_KINDS: tuple[str, ...] = (
    "full_attention",
    "sliding_attention",
    "chunked_attention",
    "linear_attention",
    "conv",
    "moe",
    "hybrid",
    "sparse",
    "dense",
)


def single_field_variants(
    perturber: Perturber, base: Overrides
) -> Iterator[tuple[str, str, PreTrainedModel, Overrides]]:
    """The p1 configuration with one field changed, if that changes the tensors."""
    model = perturber.builds(base)
    if model is None:
        return
    reference = state_signature(model)
    config = construct(perturber.template, base)
    fields = list(walk(config))
    for path, value, annotation, owner in list(fields):  # noqa: B007
        if isinstance(value, dict) and not re.search(r"rope|label|act", path[-1]):
            fields += [((*path, k), v, "", owner) for k, v in value.items() if isinstance(k, str)]
    rank = {bool: 0, int: 1, type(None): 2, list: 2, str: 3, float: 4}
    fields.sort(key=lambda field: rank.get(type(field[1]), 5))
    for path, value, annotation, owner in fields:
        if path[-1] in ("is_encoder_decoder", "use_cache"):
            continue
        first = True
        for prefix, values, every in alternatives(path, value, annotation, owner, perturber.cls):
            for other in values:
                overrides = base | {path: other}
                model = perturber.builds(overrides)
                if model is None:
                    continue
                label = f"{prefix}_{'.'.join(path)}"
                if not first or every:
                    label += f".{shown(other)}"
                first = False
                if state_signature(model) != reference:
                    note = f"{'.'.join(path)}: {shown(value)} -> {shown(other)}"
                    yield label, note, model, overrides
                if not every:
                    break


def alternatives(
    path: Path_, value: Any, annotation: str, owner: type, cls: type[PreTrainedModel]
) -> Iterator[tuple[str, list[Any], bool]]:
    """Prefix of the variant, values to try, and whether to use all or the first that builds."""
    name = path[-1]
    optional = "None" in annotation
    if isinstance(value, bool):
        yield "b", [not value], False
    elif is_int(value):
        if NOT_STRUCTURAL.search(name):
            return
        if value > 12:
            yield "i", [2 * value, 3 * value, value + 8, value + 1, value // 2], False
        else:
            yield "i", [value + 1, 2 * value, value + 2], False
            yield "i", [v for v in (value - 1, 0) if 0 <= v != value], True
        if optional:
            yield "i", [None], True
        if re.search(r"\bbool\b", annotation):
            yield "b", [True, False], True
    elif isinstance(value, float):
        if not NOT_STRUCTURAL.search(name):
            yield "f", [2 * value, value / 2], False
    elif isinstance(value, str):
        yield "s", [v for v in string_values(cls, owner, name, annotation) if v != value], True
    elif isinstance(value, (list, tuple)):
        values = list(value)
        if values and all(isinstance(v, str) for v in values):
            kinds = list(dict.fromkeys([*values, *string_values(cls, owner, name, annotation)]))
            if name == "layer_types":
                kinds += [t for t in LAYER_KINDS if t not in kinds]
            yield "l", [[kind] * len(values) for kind in kinds], True
        elif values and all(is_int(v) for v in values):
            yield "l", [[2 * v for v in values], [v + 1 for v in values]], False
        elif not values:
            yield "l", [[1], [0, 2]], False
        if optional:
            yield "l", [None], True
    elif value is None and not NOT_STRUCTURAL.search(name):
        if re.search(r"\bbool\b", annotation):
            yield "b", [True, False], True
        if re.search(r"\bint\b", annotation) and "list[int]" not in annotation:
            yield "i", [104, 2, 1], False
        if re.search(r"\bfloat\b", annotation):
            yield "f", [0.5, 2.0], False
        if re.search(r"\bstr\b|Literal", annotation):
            yield "s", string_values(cls, owner, name, annotation), True
        if re.search(r"list\[int\]|list\b", annotation):
            yield "l", [[1], [0, 2]], False


def string_values(cls: type[PreTrainedModel], owner: type, field: str, annotation: str) -> list[str]:
    """The strings that a field may hold, from its annotation and the modeling code."""
    values = re.findall(r"'([^']*)'", annotation) if "Literal" in annotation else []
    for module in {cls.__module__, owner.__module__}:
        with contextlib.suppress(Exception):
            source = inspect.getsource(sys.modules[module])
            pattern = rf"\b{re.escape(field)}\s*(?:==|!=|in|not in)\s*([\[\(\{{]?[^:\n]*)"
            for tail in re.findall(pattern, source):
                values += re.findall(r"[\"']([\w\-]+)[\"']", tail)
    return list(dict.fromkeys(values))[:12]


def shown(value: Any) -> str:
    """A value as part of a file name."""
    if isinstance(value, list):
        unique = list(dict.fromkeys(map(str, value)))
        return "-".join(unique[:4])
    return "none" if value is None else f"v{value}" if not isinstance(value, str) else value
