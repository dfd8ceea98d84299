"""A library's answers → a table: the tensors of a model that it built, as rows.

Each answer is of one configuration. What changing a field changes is seen by asking about it as well; a field that was
not asked about, or whose effect is no formula here, is `fixed`: the table holds for configurations with its value.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from inspector.architectures.data.conventions import EXPERT_WORDS
from inspector.architectures.formula import FUNCTIONS
from inspector.architectures.naming.by_words import by_convention
from inspector.architectures.naming.slots import LONGEST, Slot, numbers_in, pattern_of, unwrapped
from inspector.architectures.table import class_suffix
from inspector.errors import ConfigError

#: Tensors of one model that an answer may list.
MOST_TENSORS = 200_000

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
#: Names that a table can have: these characters have no meaning there.
_NAME = re.compile(r"[\w.\-]+")


class Answer(NamedTuple):
    """A model that a library built, on the meta device."""

    cls: str
    config: Mapping[str, Any]  # all fields, as the class completes them
    tensors: Mapping[str, tuple[tuple[int, ...], bool]]  # name → shape, and whether it is a buffer
    tied: Mapping[str, tuple[int, ...]]  # name → shape of those that are left out

    @property
    def everything(self) -> Iterator[tuple[str, tuple[int, ...], str]]:
        """Name, shape and kind of all tensors."""
        yield from ((name, shape, "buffer" if buffer else "") for name, (shape, buffer) in self.tensors.items())
        yield from ((name, shape, "tied") for name, shape in self.tied.items() if name not in self.tensors)


def answer_of(document: Any) -> Answer:
    """An answer from its JSON. Raises ConfigError if it is none."""
    try:
        cls, config, tensors, tied = (document[field] for field in ("class", "config", "tensors", "tied"))
        found = Answer(
            str(cls),
            dict(config),
            {_checked(name): (_shape(shape), kind == "buffer") for name, (shape, kind) in tensors.items()},
            {_checked(name): _shape(shape) for name, shape in tied.items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f"what the library answered is no list of tensors: {error}") from error
    if not found.tensors or len(found.tensors) > MOST_TENSORS:
        raise ConfigError(f"the library answered with {len(found.tensors)} tensors")
    return found


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name) or len(name) > LONGEST:
        raise ValueError(f"a tensor named {name[:60]!r}")
    return name


def _shape(shape: Any) -> tuple[int, ...]:
    if not all(type(each) is int and each >= 0 for each in shape):
        raise ValueError(f"a shape {str(shape)[:60]}")
    return tuple(shape)


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
    return {
        "about": f"{answer.cls}, as {library} builds it.",
        "source": f"{library}: {answer.cls}, built on request",
        "made": "derived",
        "types": {model_type: {}},
        "head": suffix,
        "classes": {answer.cls: suffix},
        "learned": {"by": library, "class": answer.cls, "fixed": dict(_fixed(values, answer.config))},
        "rows": list(_rows(answer, known)),
    }


def _fixed(values: Mapping[str, Any], full: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    given = dict(flattened(values))
    for path, value in {**dict(flattened(full)), **given}.items():
        if not SHAPELESS.search(path) and value is not None:
            yield path, value


def flattened(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Fields by dotted path: `vision_config.hidden_size`."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def fits(learned: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether a learned table holds for a configuration."""
    match values.get("architectures"):
        case [str(named), *_] if named != learned["class"]:
            return False
    given = dict(flattened(values))
    return all(given.get(path) in (None, value) for path, value in learned["fixed"].items())


class _Shared(NamedTuple):
    """What the tensors of a row have in common."""

    pattern: str
    shape: tuple[int, ...]
    kind: str  # "buffer", "tied" or ""


def _rows(answer: Answer, known: Callable[[str], Slot | None]) -> Iterator[list[Any]]:
    groups: dict[_Shared, list[tuple[int, ...]]] = defaultdict(list)
    for name, shape, kind in answer.everything:
        pattern = pattern_of(name)
        groups[_Shared(pattern, shape, kind)].append(tuple(map(int, numbers_in(name))))
    counts = {
        name: each
        for name in ("num_experts_per_tok", "moe_top_k", "top_k_experts")
        if type(each := answer.config.get(name)) is int
    }
    active = str(next(iter(counts.values()), ""))
    purposes = purposes_of({each.pattern: each.kind == "buffer" for each in groups}, known)
    for shared, numbers in groups.items():
        role, branch, tower, stacked = purposes[shared.pattern]
        variables = variables_of(shared.pattern)
        for ranges, when in _spans(numbers, variables):
            name, leaf = _template(shared.pattern, variables, ranges)
            columns: dict[str, Any] = {"tower": tower, "branch": branch, "when": when}
            columns["leaf"] = leaf
            if stacked and shared.shape:
                columns["stacked"] = str(shared.shape[0])
            if (stacked or "expert" in variables) and not shared.kind:
                columns["active"] = active
            if shared.kind == "buffer":
                columns |= {"buffer": True, "persistent": True}
            if shared.kind == "tied":
                columns["tied"] = "True"
            usual = {"tower": "text", "leaf": "weight"}
            kept = {field: value for field, value in columns.items() if value != usual.get(field, "")}
            yield [role, name, ", ".join(map(str, shared.shape)), *([kept] if kept else [])]


def variables_of(pattern: str) -> tuple[str, ...]:
    """A variable for each number of a name: `layer` for the first that is not an expert's."""
    found: list[str] = []
    before = ""
    for word in pattern.replace(".expert_{}", ".experts.{}").split("."):
        if "{}" in word:
            found.append(_variable(before, found))
        before = word
    return tuple(found)


def _variable(before: str, taken: Sequence[str]) -> str:
    if before in EXPERT_WORDS and "expert" not in taken:
        return "expert"
    if "layer" not in taken:
        return "layer"
    word = re.sub(r"\W|\d", "_", before).rstrip("_") or "at"
    word = word[:-1] if word.endswith("s") and len(word) > 2 else word
    while word in taken or word in ("layer", "expert") or word in FUNCTIONS:
        word = "sub" + word
    return word


def _spans(numbers: Sequence[tuple[int, ...]], variables: Sequence[str]) -> Iterator[tuple[tuple[int, ...], str]]:
    """The bound of each variable and a condition on them that these numbers meet; several if one is not enough."""
    sets = [sorted(set(column)) for column in zip(*numbers, strict=True)]
    whole = prod(map(len, sets)) == len(set(numbers))
    of_experts = [at for at, name in enumerate(variables) if name == "expert"]
    if whole and all(sets[at] == list(range(len(sets[at]))) for at in of_experts):
        bounds = tuple(each[-1] + 1 for each in sets)
        parts = [
            f"{name} in {tuple(each)}" if len(each) > 1 else f"{name} == {each[0]}"
            for name, each in zip(variables, sets, strict=True)
            if len(each) <= each[-1]
        ]
        yield bounds, " and ".join(parts)
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
        yield from _spans([(*each[:at], number, *each[at:]) for each in rest for number in own], variables)


def _template(pattern: str, variables: Sequence[str], bounds: Sequence[int]) -> tuple[str, str]:
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
