"""A model's tensors as Transformers holds them in memory: PEFT's names are those, whatever a model's files have.

`tables/modules` has the names by model type, from Transformers' own models (`tools/loading/write_modules.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from inspector.architectures.prediction import class_name
from inspector.architectures.store import store
from inspector.architectures.table import BARE, class_suffix
from inspector.model import Adapter, Config, Expected, Prediction

#: Task → the suffixes of the classes that PEFT 0.21.2 adapts for it: the first that a family has (`peft/auto.py`).
_CLASSES: Mapping[str, tuple[str, ...]] = {
    "SEQ_CLS": ("ForSequenceClassification",),
    "TOKEN_CLS": ("ForTokenClassification",),
    "QUESTION_ANS": ("ForQuestionAnswering",),
    "CAUSAL_LM": ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration"),
    "SEQ_2_SEQ_LM": ("ForConditionalGeneration",),
    "FEATURE_EXTRACTION": ("Model",),
}
#: Task → the modules that are saved whole, as endings of names (`classifier_module_names` in `peft/peft_model.py`).
HEADS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("SEQ_CLS", "TOKEN_CLS"), ("classifier", "score")),
    "QUESTION_ANS": ("qa_outputs",),
}

#: A number in a name, or a placeholder for one.
_NUMBER = re.compile(r"\d+|\{layer\}|\{expert\}")


def as_trained(adapter: Adapter, base: Prediction) -> Config:
    """The base's configuration as the class that was adapted: by the adapter's task, else by the class it names.

    A configuration names the class that was published: `BertForMaskedLM` under an adapter that classifies. Features are
    extracted from the body alone, or from that class.
    """
    config, task, mapping = base.config, adapter.config.get("task_type"), adapter.config.get("auto_mapping")
    wanted = _CLASSES.get(task, ()) if isinstance(task, str) else ()
    if not task and isinstance(mapping, Mapping) and str(mapping.get("parent_library")).startswith("transformers."):
        wanted = tuple(filter(None, [class_suffix(str(mapping.get("base_model_class")))]))
    head = next(filter(config.family.has_head, wanted), None)
    if head is None or base.head in wanted or config.kind != "config.json":
        return config
    if head in BARE and not _served(base).isdisjoint(adapter.served.values()):
        return config
    named = class_name(config.family, config, head)
    values = {**config.values, "architectures": [named if named.isidentifier() else head]}
    return config._replace(values=values)


def _served(base: Prediction) -> frozenset[str]:
    return frozenset(name for row in held(base.expected, base.config) for name in row.names())


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
