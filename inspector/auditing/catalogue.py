"""Every rule of the audit: each is one function, whose docstring is its documentation.

A rule with its own check is a function with the decorator `rule` in a module of one of the folders named after the
questions, where it is found; a package inside such a folder holds what its rules share, and is not searched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import get_args

from inspector.auditing import completeness, consistency, data, loading, safety, values
from inspector.auditing.rule import Rule
from inspector.model.codes import Code

#: A folder for each question. Rules run in the order of their codes, whichever folder they are in.
FOLDERS = (completeness, consistency, loading, values, safety)


@cache
def all_rules() -> Mapping[str, Rule]:
    """Every rule by its code, group by group."""
    place = {code: number for number, code in enumerate(get_args(Code))}
    # Rules without a function, whose findings come from the readers, the bridge and options.
    read = (
        Rule(code, group, severity, text.replace(". ", ".\n\n", 1))
        for code, group, severity, text in data.table("found_while_reading")["rules"]
    )
    rules = sorted((*read, *_in_folders()), key=lambda rule: place[rule.code])
    return {each.code: each for each in rules}


@cache
def with_checks() -> tuple[Rule, ...]:
    """The rules with a check of their own, in the same order."""
    return tuple(each for each in all_rules().values() if each.check)


def _in_folders() -> Iterator[Rule]:
    for folder in FOLDERS:
        for module in iter_modules(folder.__path__, f"{folder.__name__}."):
            if not module.ispkg:
                yield from (each for each in vars(import_module(module.name)).values() if isinstance(each, Rule))
