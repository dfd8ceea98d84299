"""The audit's rules: each is one function, whose docstring is its documentation.

A rule with its own check is a function with the decorator `rule` in one of the modules below. Findings that the reader,
the selection of files or the bridge already make are not checked again: `reported` has a documented entry for each of
their codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from inspector.auditing.rules.rule import GROUPS, Rule


@cache
def all_rules() -> Mapping[str, Rule]:
    """Every rule by its code, group by group, in the order of the modules."""
    from inspector.auditing.rules import (
        adapter_fits,
        adapters,
        choices,
        configurations,
        consistent,
        data,
        diffusion,
        fits,
        generating,
        gguf,
        gguf_fits,
        gguf_tensors,
        gguf_vocabulary,
        kinds,
        lost_bits,
        missing,
        outside,
        packing,
        present,
        processors,
        remote,
        reported,
        running,
        safe,
        sentences,
        taken,
        tokenizing,
        twins,
        whole,
    )

    modules = (
        whole,
        present,
        missing,
        taken,
        sentences,
        kinds,
        consistent,
        configurations,
        choices,
        generating,
        fits,
        adapter_fits,
        gguf_fits,
        diffusion,
        packing,
        data,
        lost_bits,
        twins,
        tokenizing,
        processors,
        gguf,
        gguf_tensors,
        gguf_vocabulary,
        adapters,
        safe,
        remote,
        running,
        outside,
    )
    own = [value for module in modules for value in vars(module).values() if isinstance(value, Rule)]
    together = sorted([*reported.RULES, *own], key=lambda each: GROUPS.index(each.group))
    return {each.code: each for each in together}


@cache
def that_look() -> tuple[Rule, ...]:
    """The rules with a check of their own, in the same order."""
    return tuple(each for each in all_rules().values() if each.check)
