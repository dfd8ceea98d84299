"""Modules that a configuration excludes from packing, and where the tensors disagree.

Each library lists them in its own way:

    "lm_head", "model.layers.3.mlp"        a module's name, its prefix or its suffix
    "model.layers.*.self_attn", "mtp*"     with wildcards (ModelOpt, gpt-oss, Quark)
    "re:.*mlp\\.gate$"                     a regular expression (compressed-tensors)
    {"-:.*down_proj": {}}                  the same as keys (GPTQModel's `dynamic`)
    {"lm_head": false}                     as separate keys (MLX)
    {"lm_head": {"bits": 16}}              a width that means unpacked (AutoRound's `extra_config`)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from itertools import islice
from typing import Any

from inspector.model import Finding
from inspector.quantization.patterns import compiled
from inspector.units import escape, integer, plural

#: Fields that list excluded modules.
LISTS = (
    "modules_to_not_convert",
    "ignore",
    "ignored_layers",
    "llm_int8_skip_modules",
    "exclude_modules",
    "exclude",
    "skip_modules",
)
#: The most pairs of a pattern and a module that are tried; real checkpoints stay far below.
MOST_TRIES = 500_000
#: Entries of a list that are read.
MOST_ENTRIES = 20_000
#: Expressions and wildcards among them; each must be compiled.
MOST_PATTERNS = 500
#: Words between the dots of a module's name; real ones have a dozen.
MOST_WORDS = 100
#: Names that are searched for in all modules at once, before each module's own words.
_FEW = 20
#: Contradictions that are listed.
MOST_LISTED = 8
#: Weights at least this wide are not packed.
UNPACKED_BITS = 16


@dataclass(slots=True)
class Exclusions:
    """The excluded modules, as the configuration names them."""

    names: set[str] = field(default_factory=set)
    patterns: dict[str, re.Pattern[str]] = field(default_factory=dict)  # as written → compiled
    complete: bool = True  # False if an entry could not be understood
    excess: str = ""  # the bound that the list exceeds, as text
    _lengths: list[int] | None = None  # word counts of the names, computed on first use

    def entry_for(self, module: str) -> str | None:
        """The entry that excludes a module; None if there is none.

        A name covers the module and everything inside it, with any prefix that wraps the model.
        """
        words = module.split(".")
        if len(words) <= MOST_WORDS:
            if self._lengths is None:
                self._lengths = sorted({name.count(".") + 1 for name in self.names}, reverse=True)
            for start in range(len(words)):
                for length in self._lengths:
                    name = ".".join(words[start : start + length])
                    if name in self.names:
                        return name
        return next((text for text, pattern in self.patterns.items() if pattern.match(module)), None)


def read(values: Mapping[str, Any]) -> Exclusions | None:
    """The excluded modules; None if the configuration lists none."""
    entries = list(islice(_listed_entries(values), MOST_ENTRIES + 1))
    if not entries:
        return None
    found = Exclusions()
    if len(entries) > MOST_ENTRIES:
        found.complete, found.excess = False, f"more than {integer(MOST_ENTRIES)} entries"
    for entry in entries:
        _add_entry(found, entry)
    return found


def _listed_entries(values: Mapping[str, Any]) -> Iterator[str]:
    for name in LISTS:
        listed = values.get(name)
        yield from (entry for entry in listed if isinstance(entry, str)) if isinstance(listed, list) else ()
    dynamic = values.get("dynamic")
    for key in dynamic if isinstance(dynamic, Mapping) else ():
        if key.startswith("-:"):
            yield "re:" + key[2:]
    for keyed in (values, values.get("extra_config")):
        for key, value in keyed.items() if isinstance(keyed, Mapping) else ():
            if (value is False and "." in key) or _is_unpacked_width(value):
                yield key


def _is_unpacked_width(value: Any) -> bool:
    bits = value.get("bits") if isinstance(value, Mapping) else None
    return isinstance(bits, int) and bits >= UNPACKED_BITS


def _add_entry(found: Exclusions, entry: str) -> None:
    if not entry.startswith("re:") and not set("*?") & set(entry):
        found.names.add(entry.strip("."))
        return
    if len(found.patterns) >= MOST_PATTERNS:
        found.complete, found.excess = False, f"more than {integer(MOST_PATTERNS)} patterns"
        return
    pattern = _compiled_entry(entry)
    if pattern is None:
        found.complete = False
    else:
        found.patterns[entry] = pattern


def _compiled_entry(entry: str) -> re.Pattern[str] | None:
    """An expression, or wildcards, which also match everything inside the modules they match."""
    if entry.startswith("re:"):
        return compiled(entry[3:])
    return re.compile(translate(entry).removesuffix(r"\z").removesuffix(r"\Z") + r"(?:\..*)?\Z")


# --- beside the tensors -----------------------------------------------------------------------


def disagreements(values: Mapping[str, Any], packed: Sequence[str], plain: Sequence[str]) -> Iterator[Finding]:
    """Where the tensors contradict the lists.

    Args:
        packed: modules whose weight is packed.
        plain: modules that have a plain weight of two dimensions or more.
    """
    found = read(values)
    if found is None:
        return
    if len(found.patterns) * (len(packed) + len(plain)) > MOST_TRIES:
        what = f"{integer(len(found.patterns))} patterns of modules to leave unpacked: too many to try on all modules"
        yield Finding("not-judged", "info", what)
        return
    if any(module.count(".") >= MOST_WORDS for module in (*packed, *plain)):
        found.excess = f"names of more than {MOST_WORDS} words"
    left_out: dict[str, list[str]] = {}
    text = "\n".join(packed)
    if found.patterns or len(found.names) > _FEW or any(name in text for name in found.names):
        for module in packed:
            entry = found.entry_for(module)
            if entry is not None:
                left_out.setdefault(entry, []).append(module)
    for entry, modules in islice(left_out.items(), MOST_LISTED):
        what = (
            f"the configuration excludes {escape(entry, 60)} from packing, but "
            f"{plural(len(modules), 'weight')} there {_is_or_are(modules)} packed"
        )
        yield Finding("left-out-packed", "warning", what, None, modules[0])
    if found.excess:
        yield Finding("not-judged", "info", f"modules to leave unpacked: {found.excess}: not judged")
    if found.complete:
        yield from _plain_but_not_listed(found, packed, plain)


def _is_or_are(modules: Sequence[str]) -> str:
    return "is" if len(modules) == 1 else "are"


def _plain_but_not_listed(found: Exclusions, packed: Iterable[str], plain: Iterable[str]) -> Iterator[Finding]:
    """Plain modules whose counterparts in other layers are packed, and that no entry excludes."""
    patterns = set(map(_numbers_as_stars, packed))
    odd: dict[str, list[str]] = {}
    for module in plain:
        like = _numbers_as_stars(module)
        if like in patterns and found.entry_for(module) is None:
            odd.setdefault(like, []).append(module)
    for like, modules in islice(odd.items(), MOST_LISTED):
        what = (
            f"{plural(len(modules), 'weight')} of {escape(like, 80)} {_is_or_are(modules)} plain although "
            f"others are packed, and the configuration does not exclude {'it' if len(modules) == 1 else 'them'}"
        )
        yield Finding("packed-in-part", "warning", what, None, modules[0])


_NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)")


def _numbers_as_stars(module: str) -> str:
    """The module's name with `*` for its numbers."""
    return _NUMBER.sub("*", module)
