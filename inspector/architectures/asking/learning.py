"""A library's answers → a table: the tensors of a model that it built, as rows.

Each answer is of one configuration. What changing a field changes is seen by asking about it as well; a field that was
not asked about, or whose effect is not a formula here, is `fixed`: the table holds for configurations with its value.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

from inspector.architectures import formula
from inspector.architectures.asking.answers import MOST_TENSORS, Answer, Held, Probe, are_words, flattened
from inspector.architectures.asking.deriving import Formulas
from inspector.architectures.data.conventions import EXPERT_WORDS
from inspector.architectures.formula import FUNCTIONS
from inspector.architectures.naming.by_words import Slot, by_convention, numbers_in, pattern_of, unwrapped
from inspector.architectures.table import class_suffix
from inspector.errors import ConfigError

#: Fields of configurations that never determine a tensor.
SHAPELESS = re.compile(
    r"(^|\.)(architectures|transformers_version|dtype|torch_dtype|model_type|auto_map|id2label|label2id|_name_or_path|"
    r"rope_parameters|rope_scaling|rope_theta|generation_config|task_specific_params|quantization_config|use_cache|"
    r"problem_type|output_attentions|output_hidden_states|return_dict|chunk_size_feed_forward|initializer_range|"
    r"initializer_factor|_attn_implementation\w*|attn_implementation|_experts_implementation|_commit_hash|"
    r"is_encoder_decoder|_diffusers_version|_class_name|"
    r"(\w*_)?(token_id|token_index|token_ids|eps|dropout|prob)|layerdrop|pretraining_tp|gradient_checkpointing)(\.|$)"
)
#: Words of a path that say nothing about the place within a layer.
_EMPTY = frozenset({"model", "module", "layers", "layer", "blocks", "block", "weight", "bias", "0", "transformer"})
_PLACE = re.compile(r"\{(\w+)<([^{}]*)\}")


# --- a table ------------------------------------------------------------------------------------


def document(
    model_type: str,
    values: Mapping[str, Any],
    answer: Answer,
    library: str,
    known: Callable[[str], Slot | None] = lambda _: None,
) -> dict[str, Any]:
    """The table of one answer, with the fields that must have these values.

    Args:
        values: the configuration that was asked about.
        library: who answered: "Transformers 5.24.0".
        known: a pattern of names → its slot in the table of a relative; None if that has no such name.
    """
    suffix = class_suffix(answer.cls) or answer.cls
    given = {path for path, _ in flattened(values) if not SHAPELESS.search(path)}
    fields = _fields(values, answer.config)
    fixed = {path: value for path, value in fields.items() if value is not None}
    return {
        "about": f"{answer.cls}, as {library} builds it.",
        "source": f"{library}: {answer.cls}, built on request",
        "made": "derived",
        "types": {model_type: {}},
        "head": suffix,
        "classes": {answer.cls: suffix},
        "learned": {
            "by": library,
            "class": answer.cls,
            "given": sorted(given),
            "known": sorted(fields),
            "fixed": fixed,
        },
        **_cache(answer),
        "rows": list(_rows(answer, known)),
    }


def _fields(values: Mapping[str, Any], full: Mapping[str, Any]) -> dict[str, Any]:
    """All fields that may shape a tensor, by path: those that were given, and those that the class completed."""
    merged = {**dict(flattened(full)), **dict(flattened(values))}
    return {path: value for path, value in merged.items() if not SHAPELESS.search(path)}


class General(NamedTuple):
    """A table with formulas, and configurations that must be asked about before they are believed."""

    table: dict[str, Any]
    configurations: tuple[Mapping[str, Any], ...]

    def holds(self, configuration: Mapping[str, Any], answer: Answer) -> bool:
        """Whether the formulas give what the library built."""
        changed = dict(flattened(configuration))
        return _gives(self.table, changed, answer)


def general(
    table: dict[str, Any],
    values: Mapping[str, Any],
    answer: Answer,
    known: Callable[[str], Slot | None] = lambda _: None,
) -> General | None:
    """A table whose fixed fields are those alone that its formulas do not explain, by the probes; None if all are."""
    fields = _fields(values, answer.config)
    numbers = [each for each in answer.probes if type(each.value) is int and type(fields.get(each.field)) is int]
    formulas = Formulas(numbers, fields)
    derived = dict(formulas.derived(fields.keys() - dict(flattened(values)).keys()))
    rows = list(_rows(answer, known, formulas))
    cache = _cache(answer, formulas)
    found = {**table, **cache, "defaults": _nested(fields, derived), "derived": derived, "rows": rows}
    text = json.dumps([rows, cache])
    kinds = {path: sorted(set(items), key=str) for path, items in answer.lists.items() if f"{path}[layer]" in text}
    free = [
        each
        for each in answer.probes
        if each.field in fields and _gives(found, _changes(each, kinds.keys() - derived.keys()), each.answer)
    ]
    open_fields = {each.field for each in free} | derived.keys() | kinds.keys()
    fixed = {path: value for path, value in table["learned"]["fixed"].items() if path not in open_fields}
    found["learned"] = {**table["learned"], "fixed": fixed, "kinds": kinds}
    changes = [(each.field, each.value) for each in free if type(each.value) is int]
    if not changes:
        return None
    several = (changes, changes[::2], changes[1::2])
    own = {**values, "architectures": [answer.cls]}
    return General(found, tuple(_with(own, dict(those), answer.config) for those in several if those))


def _changes(probe: Probe, lists: Iterable[str]) -> dict[str, Any]:
    """The fields that a probe changed: its own, and the lists that have an item for each layer."""
    own = probe.answer.lists
    return {probe.field: probe.value, **{path: own[path] for path in lists if path in own}}


def _with(values: Mapping[str, Any], changes: Mapping[str, Any], full: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with other values at some paths; a part that is changed is given completely.

    A list with an item for each layer is as long as the new number of layers, its items repeated.
    """
    own = dict(flattened(values))
    for path, value in [*changes.items()]:
        before = dict(flattened(full)).get(path)
        for each, items in own.items():
            if isinstance(items, list) and len(items) == before and are_words(items) and type(value) is int:
                changes = {**changes, each: [items[at % before] for at in range(value)]}
    parts = {path.partition(".")[0] for path in changes if "." in path}
    tree = {**values, **{part: dict(full[part]) for part in parts if part not in values}}
    tree = copy.deepcopy(tree)
    for path, value in changes.items():
        _insert(tree, path, value)
    return tree


def _gives(table: Mapping[str, Any], changed: Mapping[str, Any], answer: Answer) -> bool:
    """Whether the table's formulas give an answer's tensors, for its own configuration with these values."""
    fields = {**dict(flattened(table["defaults"])), **changed}
    try:
        whole = _completed(fields, table["derived"], changed)
        if answer.held and "cache" in table and held_of(table["cache"], whole) != _sorted(answer.held):
            return False
        return tensors_of(table["rows"], whole) == _stored_shapes(answer)
    except (ConfigError, ArithmeticError, KeyError, TypeError):
        return False


def _stored_shapes(answer: Answer) -> dict[str, tuple[int, ...]]:
    return {name: shape for name, (shape, _) in answer.tensors.items()}


class _Scope:
    """Fields, and the variables of a name, as formulas read them."""

    def __init__(self, fields: Mapping[str, Any], index: Mapping[str, int]) -> None:
        self._fields, self._index = fields, index

    def __getitem__(self, name: str) -> Any:
        return self._index[name] if name in self._index else self._fields[name]


def tensors_of(rows: Iterable[Sequence[Any]], fields: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The tensors of a learned table's rows under these fields, tied ones left out: name → shape."""
    found = {}
    for _, name, shape, *columns in rows:
        extra = columns[0] if columns else {}
        if extra.get("tied"):
            continue
        leaf = extra.get("leaf", "weight")
        whole = ".".join(filter(None, (name, leaf)))
        bounds = _PLACE.findall(whole)
        ranges = [range(formula.evaluate(bound, _Scope(fields, {}))) for _, bound in bounds]
        if prod(map(len, ranges)) > MOST_TENSORS:
            raise ConfigError("more tensors than a model has")
        for numbers in product(*ranges):
            index = {variable: number for (variable, _), number in zip(bounds, numbers, strict=True)}
            scope = _Scope(fields, index)
            if "when" in extra and not formula.evaluate(extra["when"], scope):
                continue
            filled = _name_of(_PLACE.sub("{}", whole), numbers)
            found[filled] = tuple(formula.evaluate(each, scope) for each in formula.dimensions(shape))
    return found


def _completed(fields: Mapping[str, Any], derived: Mapping[str, str], changed: Mapping[str, Any]) -> Mapping[str, Any]:
    """Fields as nested objects, derived ones computed where they are not given."""
    tree = _nested(fields, {path: "" for path in derived if path not in changed})
    for path, text in derived.items():
        if path not in changed:
            _insert(tree, path, formula.evaluate(text, _Scope(tree, {})))
    return tree


def _nested(fields: Mapping[str, Any], without: Mapping[str, str]) -> dict[str, Any]:
    """Dotted paths → nested objects."""
    tree: dict[str, Any] = {}
    for path, value in fields.items():
        if path not in without:
            _insert(tree, path, value)
    return tree


def _insert(tree: dict[str, Any], path: str, value: Any) -> None:
    *outer, last = path.split(".")
    for word in outer:
        inner = tree.get(word)
        tree[word] = inner = inner if isinstance(inner, dict) else {}
        tree = inner
    tree[last] = value


def fits(learned: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether a learned table holds for a configuration."""
    match values.get("architectures"):
        case [str(named), *_] if named != learned["class"]:
            return False
    given = {path: value for path, value in flattened(values) if value is not None}
    same = all(_same(given.get(path, value), value) for path, value in learned["fixed"].items())
    same &= all(
        isinstance(given.get(path, []), list) and all(each in kinds for each in given.get(path, []))
        for path, kinds in learned.get("kinds", {}).items()
    )
    numbers = {path for path, value in given.items() if type(value) is int and not SHAPELESS.search(path)}
    return same and given.keys() >= set(learned["given"]) and numbers <= set(learned["known"])


def _same(given: Any, value: Any) -> bool:
    """Whether a field has a value; a list of one kind of item for each layer may be of any length."""
    if isinstance(given, list) and isinstance(value, list) and value and all(each == value[0] for each in value):
        return all(each == value[0] for each in given)
    return bool(given == value)


class _Shared(NamedTuple):
    """What the tensors of a row have in common."""

    pattern: str
    shape: tuple[int, ...]
    kind: str  # "buffer", "tied" or ""


def _rows(answer: Answer, known: Callable[[str], Slot | None], formulas: Formulas | None = None) -> Iterator[list[Any]]:
    groups: dict[_Shared, list[tuple[int, ...]]] = defaultdict(list)
    for name, shape, kind in answer.everything:
        pattern = pattern_of(name)
        groups[_Shared(pattern, shape, kind)].append(tuple(map(int, numbers_in(name))))
    active = _active(answer.config)
    alone = Counter(each.pattern for each in groups)
    lists = answer.lists if formulas else {}
    purposes = purposes_of({each.pattern: each.kind == "buffer" for each in groups}, known)
    for shared, numbers in groups.items():
        role, branch, tower, stacked = purposes[shared.pattern]
        variables = variables_of(shared.pattern)
        spans = list(_spans(numbers, variables, lists))
        dims = list(map(str, shared.shape))
        if formulas:
            first = _name_of(shared.pattern, numbers[0])
            dims = [formulas.dimension(first, at, number) for at, number in enumerate(shared.shape)]
        for bounds, when, by in spans:
            ranges = list(map(str, bounds))
            if formulas:
                one = len(spans) == 1 and when.count("[layer]") == len(when.split(" and ")) * bool(when)
                ranges = formulas.ranges(shared.pattern, bounds, by, one and alone[shared.pattern] == 1)
            name, leaf = _template(shared.pattern, variables, ranges)
            columns: dict[str, Any] = {"tower": tower, "branch": branch, "when": when}
            columns["leaf"] = leaf
            if stacked and shared.shape:
                columns["stacked"] = dims[0]
            if (stacked or "expert" in variables) and not shared.kind:
                columns["active"] = active
            if shared.kind == "buffer":
                columns |= {"buffer": True, "persistent": True}
            if shared.kind == "tied":
                columns["tied"] = "True"
            usual = {"tower": "text", "leaf": "weight"}
            kept = {field: value for field, value in columns.items() if value != usual.get(field, "")}
            yield [role, name, ", ".join(dims), *([kept] if kept else [])]


def _active(config: Mapping[str, Any]) -> str:
    """The number of experts that a token goes through; "" if no field says."""
    names = ("num_experts_per_tok", "moe_top_k", "top_k_experts")
    return str(next((each for name in names if type(each := config.get(name)) is int), ""))


def variables_of(pattern: str) -> tuple[str, ...]:
    """A variable for each number of a name: `layer` for the first that is not an expert's."""
    found: list[str] = []
    before = ""
    for word in pattern.replace(".expert_{}", ".experts.{}").split("."):
        if "{}" in word:
            found.append(variable(before, found))
        before = word
    return tuple(found)


def variable(before: str, taken: Sequence[str]) -> str:
    """A name for a number after this word, beside those that the numbers before it have."""
    if before in EXPERT_WORDS and "expert" not in taken:
        return "expert"
    if "layer" not in taken:
        return "layer"
    word = re.sub(r"\W|\d", "_", before).rstrip("_") or "at"
    word = word[:-1] if word.endswith("s") and len(word) > 2 else word
    while word in taken or word in ("layer", "expert") or word in FUNCTIONS:
        word = "sub" + word
    return word


def _where(layers: Sequence[int], lists: Mapping[str, Sequence[Any]]) -> tuple[str, str]:
    """Some layers as those with a word in a list, or with any other; and that list. "" if no list says so."""
    for path, items in lists.items():
        those = {word: [at for at, each in enumerate(items) if each == word] for word in items}
        others = {word: [at for at, each in enumerate(items) if each != word] for word in items}
        for sign, places in (("==", those), ("!=", others)) if len(those) > 1 else ():
            for word, found in places.items():
                if found == list(layers):
                    return f"{path}[layer] {sign} {word!r}", path
    return "", ""


def _spans(
    numbers: Sequence[tuple[int, ...]], variables: Sequence[str], lists: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[tuple[int, ...], str, dict[int, str]]]:
    """The bound of each variable, a condition on them that these numbers meet, and variables' lists that it reads.

    Several if one is not enough.
    """
    sets = [sorted(set(column)) for column in zip(*numbers, strict=True)]
    whole = prod(map(len, sets)) == len(set(numbers))
    of_experts = [at for at, name in enumerate(variables) if name == "expert"]
    if whole and all(sets[at] == list(range(len(sets[at]))) for at in of_experts):
        bounds = tuple(each[-1] + 1 for each in sets)
        parts: list[str] = []
        by: dict[int, str] = {}
        for at, (name, those) in enumerate(zip(variables, sets, strict=True)):
            where, path = _where(those, lists) if name == "layer" else ("", "")
            if where:
                by[at] = path
            elif len(those) <= those[-1]:
                where = f"{name} in {tuple(those)}" if len(those) > 1 else f"{name} == {those[0]}"
            parts += [where] if where else []
        yield bounds, " and ".join(parts), by
        return
    first: dict[Any, list[tuple[int, ...]]] = defaultdict(list)
    at = next((at for at, each in enumerate(sets) if at not in of_experts and len(each) > 1), 0)
    for each in numbers:
        first[each[at]].append(each)
    if len(first) == 1:
        raise ConfigError("the experts of a layer are not numbered from 0")
    alike: dict[frozenset[tuple[int, ...]], list[int]] = defaultdict(list)
    for number, those in first.items():
        alike[frozenset((*each[:at], *each[at + 1 :]) for each in those)].append(number)
    for rest, own in alike.items():
        yield from _spans([(*each[:at], number, *each[at:]) for each in rest for number in own], variables, lists)


# --- caches -------------------------------------------------------------------------------------


#: Numbers of a cache that may be 0.
_NUMBERS = ("window", "kernel", "heads")


def _cache(answer: Answer, formulas: Formulas | None = None) -> dict[str, Any]:
    """The table's field for what each layer's cache holds; empty if that is not known."""
    places: dict[tuple[int, Held], list[int]] = defaultdict(list)
    for layer, parts in enumerate(answer.held):
        for part, each in enumerate(parts):
            places[part, each].append(layer)
    if not places:
        return {}
    count = len(answer.held)
    entries = []
    for (part, each), layers in places.items():
        texts = {field: str(getattr(each, field)) for field in ("keys", "values", *_NUMBERS)}
        columns = {"layers": str(count), "dtype": each.dtype}
        where = _where(layers, answer.lists)[0] if formulas else ""
        if formulas:
            texts = {field: formulas.held(layers[0], part, each, field) for field in texts}
            columns["layers"] = formulas.layers(count)
        if len(layers) < count:
            columns["when"] = where or (f"layer in {tuple(layers)}" if len(layers) > 1 else f"layer == {layers[0]}")
        columns |= {field: text for field in _NUMBERS if (text := texts[field]) != "0"}
        kept = {field: value for field, value in columns.items() if value}
        entries.append((each.kind, texts["keys"], texts["values"], kept))
    return {"cache": [[*entry] for entry in entries]}


def held_of(entries: Iterable[Sequence[Any]], fields: Mapping[str, Any]) -> tuple[tuple[Held, ...], ...]:
    """What each layer holds by a learned table's cache under these fields."""
    layers: list[list[Held]] = []
    for kind, keys, values, columns in entries:
        number = formula.evaluate(columns["layers"], _Scope(fields, {}))
        layers += [[] for _ in range(min(number, MOST_TENSORS) - len(layers))]
        for layer in range(min(number, MOST_TENSORS)):
            scope = _Scope(fields, {"layer": layer})
            if "when" in columns and not formula.evaluate(columns["when"], scope):
                continue
            texts = {"keys": keys, "values": values, **{field: columns.get(field, "0") for field in _NUMBERS}}
            numbers = {field: formula.evaluate(text, scope) for field, text in texts.items()}
            layers[layer].append(Held(kind=kind, dtype=columns.get("dtype", ""), **numbers))
    return _sorted(layers)


def _sorted(held: Iterable[Iterable[Held]]) -> tuple[tuple[Held, ...], ...]:
    return tuple(tuple(sorted(layer)) for layer in held)


def _name_of(pattern: str, numbers: Sequence[int]) -> str:
    for number in numbers:
        pattern = pattern.replace("{}", str(number), 1)
    return pattern


def _template(pattern: str, variables: Sequence[str], bounds: Sequence[str]) -> tuple[str, str]:
    """A row's name with its placeholders, and its leaf."""
    for name, bound in zip(variables, bounds, strict=True):
        pattern = pattern.replace("{}", f"{{{name}<{bound}}}", 1)
    head, dot, last = pattern.rpartition(".")
    return (head, last) if dot and last in ("weight", "bias") else (pattern, "")


# --- purposes -----------------------------------------------------------------------------------


def purposes_of(
    patterns: Mapping[str, bool], known: Callable[[str], Slot | None]
) -> dict[str, tuple[str, str, str, bool]]:
    """Role, branch, tower and whether all experts are in one tensor, of each pattern; no two alike.

    Args:
        patterns: whether each is a buffer's.
    """
    found: dict[str, tuple[str, str, str, bool]] = {}
    taken: set[tuple[object, ...]] = set()
    for pattern in sorted(patterns, key=lambda each: (known(each) is None, each)):
        slot = known(pattern) or by_convention(pattern, unwrapped(pattern))
        role, branch = (slot.role, slot.branch) if slot.role else ("other", words_of(pattern, 1))
        is_bias = pattern.endswith((".bias", "_proj_bias")) and not patterns[pattern]
        variables = variables_of(pattern)
        key = (slot.tower, is_bias, "expert" in variables, len(variables))
        branch = unique(taken, key, role, branch, pattern)
        taken.add((role, branch, *key))
        found[pattern] = role, branch, slot.tower, slot.stacked
    return found


def words_of(pattern: str, number: int) -> str:
    """The last specific words of a path, outermost first."""
    words = [w for w in pattern.split(".") if w != "{}" and w not in ("weight", "bias")] or pattern.split(".")
    telling = [w for w in words if w not in _EMPTY] or words
    return ".".join(telling[-number:])


def unique(taken: set[tuple[object, ...]], key: tuple[object, ...], role: str, branch: str, pattern: str) -> str:
    """The branch, with further words of the path as long as another pattern has the same key."""
    tried = branch
    for number in range(1, 9):
        if (role, tried, *key) not in taken:
            return tried
        tried = words_of(pattern, number)
    return f"{tried}.{len(taken)}"
