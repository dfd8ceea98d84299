"""A model's tensors as Transformers holds them in memory: PEFT's names are those, whatever a model's files have.

`tables/modules` has the names by model type, from Transformers' own models (`tools/loading/write_modules.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from inspector.architectures.store import store
from inspector.model import Config, Expected

#: A number in a name, or a placeholder for one.
_NUMBER = re.compile(r"\d+|\{layer\}|\{expert\}")


def in_memory(name: str, table: Mapping[str, str]) -> str:
    """The name in memory of a tensor's name in files.

    Args:
        table: words → words in memory, numbers as `{}` and by their position, `^` in front of the first words.
    """
    words = name.split(".")
    plain = ["{}" if _NUMBER.fullmatch(word) else word for word in words]
    for length in range(len(words), 0, -1):
        for at in range(len(words) - length + 1):
            run = ".".join(plain[at : at + length])
            other = (table.get(f"^{run}") if at == 0 else None) or table.get(run)
            if other is not None:
                numbers = [word for word in words[at : at + length] if _NUMBER.fullmatch(word)]
                return ".".join((*words[:at], other.format(*numbers), *words[at + length :]))
    return name


def held(rows: Iterable[Expected], config: Config) -> Iterator[Expected]:
    """The rows under their names in memory; the matrices of all experts are one parameter where they are in memory."""
    table = _table(config)
    stacks: dict[str, list[Expected]] = {}
    for row in rows:
        name = in_memory(row.name, table) if table else row.name
        if row.experts is not None and "{expert}" not in name:
            stacks.setdefault(name, []).append(row)
        else:
            yield row._replace(name=name) if name != row.name else row
    for name, members in stacks.items():
        first = members[0]
        shape = (first.experts or 0, sum(row.shape[0] for row in members), *first.shape[1:])
        role = name.rpartition(".")[2]
        yield first._replace(role=role, name=name, shape=shape, experts=None, stacked=first.experts)


def names_in_files(rows: Iterable[Expected], config: Config) -> dict[str, str]:
    """Name in memory → name in files, of tensors whose names differ and that are not stacked in memory."""
    table = _table(config)
    found: dict[str, str] = {}
    for row in rows if table else ():
        name = in_memory(row.name, table)
        if name != row.name and (row.experts is None or "{expert}" in name):
            found.update(zip(row._replace(name=name).names(), row.names(), strict=True))
    return found


def _table(config: Config) -> Mapping[str, str]:
    """Words of names in files → words of names in memory, for a model type."""
    kind = config.model_type or ""
    return store().find("modules", kind) if store().has("modules", kind) else {}
