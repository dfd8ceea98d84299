"""What a name pattern is for: its role by the conventions, and where they say nothing, words of its path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import records

from inspector.architectures import family_of, formula
from inspector.architectures.data.conventions import TOWERS
from inspector.architectures.data.roles import ROLES, group_of
from inspector.architectures.naming import by_convention, unwrapped
from inspector.architectures.table import Family, Include, Row, inner_tower, numbers_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_EMPTY = {"model", "module", "layers", "layer", "blocks", "block", "weight", "bias", "0", "transformer"}


def role_of(pattern: str, shape: tuple[int, ...]) -> str:
    """A role of `roles.ROLES`, or the last telling words of the path."""
    pattern = re.sub(r"_bias$", "", pattern) if re.search(r"(proj|experts\.\w+)_bias$", pattern) else pattern
    role = by_convention(pattern, unwrapped(pattern)).role
    return role or words_of(pattern, 1)


def words_of(pattern: str, number: int) -> str:
    """The last telling words of a path as one."""
    words = [w for w in pattern.split(".") if w != "{}" and w not in ("weight", "bias")] or pattern.split(".")
    telling = [w for w in words if w not in _EMPTY] or words
    return "_".join(telling[-number:])


def tower_of(pattern: str) -> str:
    """The part of the model that the path names; `text` where it names none."""
    return next((TOWERS[word] for word in pattern.split(".") if word in TOWERS), "text")


def group_hint(pattern: str, shape: tuple[int, ...]) -> str:
    """The group of a role that no table knows, by the path's words and the shape."""
    words = pattern.lower()
    last = [w for w in words.split(".") if w not in ("{}", "weight", "bias")][-1:] or [""]
    if re.search(r"norm|(^|[._])(ln|bn)\d*([._]|$)", last[0]):
        return "norm"
    if re.search(r"embed|(^|_)(pos|position|token|query)s?_?(emb|enc)|cls_token|mask_token|latents|queries$", words):
        return "embedding"
    if len(shape) == 1 and words.endswith("weight"):
        return "norm"
    if re.search(r"mamba|linear_attn|ssm|\.mixer\.", words):
        return "state_space"
    if re.search(r"\b(lm_)?head|classif|predict|logit|score", words):
        return "head"
    if re.search(r"attn|attention", words):
        return "attention"
    if len(shape) >= 3 and "expert" not in words:
        return "convolution"
    if re.search(r"mlp|ffn|feed_forward|fc\d|intermediate|expert|dense", words):
        return "feed_forward"
    if re.search(r"conv", words):
        return "convolution"
    return group_of(words_of(pattern, 2))


def unique(taken: set[tuple[object, ...]], key: tuple[object, ...], role: str, pattern: str) -> str:
    """The role, with words of the path before it as long as another pattern has the same."""
    tried = role
    if re.search(r"cross_?att|encoder_attn|encdec|cross_?layer", pattern, re.IGNORECASE) and "cross" not in role:
        role = tried = f"cross_{role}"
    for number in range(1, 9):
        if (tried, *key) not in taken:
            return tried
        more = words_of(pattern, number)
        tried = f"{more}_{role}" if role in ROLES and not more.endswith(role) else more
    return f"{words_of(pattern, 12)}_{len(taken)}"


# --- whole types ------------------------------------------------------------------------------


def name_roles(families: Mapping[str, Family]) -> dict[str, Family]:
    """All families with the roles that the conventions give today, no key twice in any.

    A part without a draft is the package's own.
    """
    done: dict[str, Family] = {}
    parts = {e.default_type for f in families.values() for e in f.rows if isinstance(e, Include)} - families.keys()
    package = {t: family for t in parts if (family := family_of({"model_type": t}))}

    def name(model_type: str) -> Family:
        if model_type not in done:
            family = families[model_type]
            parts = {e.default_type for e in family.rows if isinstance(e, Include)}
            inner = {**package, **{part: name(part) for part in parts if part in families}}
            done[model_type] = _named(family, {**package, **families}, inner)
        return done[model_type]

    for model_type, family in families.items():
        if all(e.default_type in families or e.default_type in package for e in family.rows if isinstance(e, Include)):
            name(model_type)
    return done


def _named(family: Family, old: Mapping[str, Family], new: Mapping[str, Family]) -> Family:
    includes = [_with_new_roles(e, old, new) for e in family.rows if isinstance(e, Include)]
    rows = [e for e in family.rows if isinstance(e, Row)]
    return family._replace(rows=(*includes, *named_apart(rows, includes, new)))


def _with_new_roles(include: Include, old: Mapping[str, Family], new: Mapping[str, Family]) -> Include:
    before = [e.role for e in old[include.default_type].rows if isinstance(e, Row)]
    after = [e.role for e in new[include.default_type].rows if isinstance(e, Row)]
    without = set(include.without.split())
    roles = sorted({b for a, b in zip(before, after, strict=True) if a in without})
    return include._replace(without=" ".join(roles))


def pattern_of(row: Row) -> str:
    """A row's name as `records.pattern_of` writes it."""
    name = re.sub(r"\{\w+(<[^{}]*)?\}", "0", row.name + (f".{row.leaf}" if row.leaf else ""))
    return records.pattern_of(name)[0]


def _key_of(row: Row, tower: str) -> tuple[object, ...]:
    numbers = numbers_of(row.template)
    is_expert = "expert" in numbers or bool(row.stacked)
    return tower, "layer" in numbers, is_expert, len(numbers), row.part == "bias"


def _take(taken: set[tuple[object, ...]], row: Row, role: str, key: tuple[object, ...]) -> None:
    taken.add((role, *key))
    if row.leaf == "weight":
        taken.add((role, *key[:-1], True))


def named_apart(rows: Sequence[Row], includes: Sequence[Include], families: Mapping[str, Family]) -> list[Row]:
    """Roles such that no two patterns of the type have the same key."""
    taken: set[tuple[object, ...]] = set()
    for include in includes:
        for row in families[include.default_type].rows:
            read = isinstance(row, Row) and (not row.heads or include.head in row.heads.split())
            if isinstance(row, Row) and read and row.role not in include.without.split():
                _take(taken, row, row.role, _key_of(row, inner_tower(include, row.tower)))
    towers = {tower_of(pattern_of(row)) for row in rows} | {include.tower for include in includes}
    alone = {"encoder", "decoder"} & towers
    roles: dict[str, str] = {}
    done: list[Row] = []
    for row in rows:
        pattern = pattern_of(row)
        tower = tower_of(pattern)
        tower = "text" if len(alone) == 1 and tower in alone and "text" not in {i.tower for i in includes} else tower
        row = row._replace(tower=tower)
        key = _key_of(row, tower)
        rank = tuple([2] * len(formula.dimensions(row.shape)))
        usual = role_of(pattern, rank)
        weight = re.sub(r"_bias$", "", pattern)
        weight = pattern.removesuffix("bias") + "weight" if row.leaf == "bias" else weight if weight != pattern else ""
        if weight in roles:
            roles[pattern] = roles[weight]
        if pattern not in roles:
            roles[pattern] = unique(taken, key, usual, pattern)
            _take(taken, row, roles[pattern], key)
        role = roles[pattern]
        group = ROLES.get(usual) or group_hint(pattern, rank)
        fits = ROLES.get(role) == group or (role not in ROLES and group_of(role) == group)
        done.append(row._replace(role=role, group="" if row.buffer or fits else group))
    return done
