"""The names that modules have in memory, where Transformers' files have others: `tables/modules/transformers.json`.

    python tools/loading/write_modules.py     # needs torch, transformers

PEFT names an adapter's tensors by the modules of the model in memory. Every configuration of `fixtures/cases` is built
on the meta device, and each name that its files have is renamed as `from_pretrained` does. What comes out different is
recorded by model type: words of the file's name → words in memory, without those in front and behind that both have,
numbers as `{}` and `{0}`, `{1}` …; with `^` the words are the first. Names that end in `experts` parameters hold the
matrices of all experts: they are not modules of their own.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures"), str(ROOT / "tools"), str(ROOT / "tools" / "zoo")]

import cases  # noqa: E402
import transformers  # noqa: E402
from build_models import build_model, resolve_class  # noqa: E402
from table_text import layout  # noqa: E402
from transformers import CONFIG_MAPPING, conversion_mapping, core_model_loading  # noqa: E402

from inspector.adapters.modules import in_memory  # noqa: E402

#: Last words of names that are parameters of a module, not modules.
LEAVES = ("weight", "bias")
WHOLE = 99
OUT = ROOT / "inspector" / "architectures" / "data" / "tables" / "modules" / "transformers.json"


def renamed(case: Any) -> dict[str, str]:
    """File's name → name in memory, of all tensors of a model."""
    kind = CONFIG_MAPPING[case.config["model_type"]]
    model = build_model(
        resolve_class(case.config["architectures"][0]), kind.from_dict(json.loads(json.dumps(case.config)))
    )
    state = dict(model.state_dict())
    transforms = conversion_mapping.get_model_conversion_mapping(model)
    converters = [each for each in transforms if isinstance(each, core_model_loading.WeightConverter)]
    renamings = [each for each in transforms if not isinstance(each, core_model_loading.WeightConverter)]
    parameters = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    found = {}
    for name in case.shapes:
        other, _ = core_model_loading.rename_source_key(name, renamings, converters, model.base_model_prefix, state)
        if other in parameters:
            found[name] = other
    return found


def words(name: str) -> list[str]:
    return ["{}" if word.isdecimal() else word for word in name.split(".")]


def pair(name: str, other: str, context: int) -> tuple[str, str] | None:
    """The words that differ; None if the numbers of the second are not among those of the first.

    Args:
        context: how many of the common words in front are kept.
    """
    one, two = name.split("."), other.split(".")
    while context != WHOLE and min(len(one), len(two)) > 1 and one[-1] == two[-1] and (one != two or one[-1] in LEAVES):
        one, two = one[:-1], two[:-1]
    start = 0
    while start < min(len(one), len(two)) - 1 and one[start] == two[start]:
        start += 1
    start = max(0, start - context)
    one, two = one[start:], two[start:]
    numbers = [word for word in one if word.isdecimal()]
    made, at = [], 0
    for word in two:
        if word.isdecimal():
            if word not in numbers[at:]:
                return None
            at = numbers.index(word, at)
            made.append(f"{{{at}}}")
            at += 1
        else:
            made.append(word)
    return ("" if start else "^") + ".".join(words(".".join(one))), ".".join(made)


def examples(models: list[dict[str, str]]) -> dict[str, str]:
    """The first and the last name of each pattern, with its name in memory."""
    found: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for names in models:
        for name, other in names.items():
            of_pattern = found[tuple(words(name))]
            of_pattern[name] = other
            if len(of_pattern) > 2:
                del of_pattern[list(of_pattern)[1]]
    return {name: other for each in found.values() for name, other in each.items()}


def described(names: dict[str, str]) -> dict[str, str]:
    """The shortest words that describe all names; more of them where fewer mislead."""
    table: dict[str, str] = {}
    for context in (0, 1, 2, 3, WHOLE, WHOLE):
        for name, other in names.items():
            if in_memory(name, table) != other and (made := pair(name, other, context)):
                table[made[0]] = made[1]
    for key in list(table):
        fewer = {each: other for each, other in table.items() if each != key}
        if all(in_memory(name, fewer) == in_memory(name, table) for name in names):
            table = fewer
    return dict(sorted(table.items()))


def main() -> None:
    transformers.logging.set_verbosity_error()
    by_type: dict[str, list[dict[str, str]]] = defaultdict(list)
    for path in sorted(cases.FOLDER.glob("*.txt")):
        for case in cases.load(path):
            if case.config.get("model_type") in CONFIG_MAPPING and case.config.get("architectures"):
                try:
                    by_type[case.config["model_type"]].append(renamed(case))
                except Exception as error:
                    print(path.stem, "not built:", str(error)[:80], flush=True)
    write({kind: examples(models) for kind, models in sorted(by_type.items())})


def write(by_type: dict[str, dict[str, str]]) -> None:
    """Write the tables of all types whose names differ."""
    found = {}
    for kind, names in by_type.items():
        if all(name == other for name, other in names.items()):
            continue
        found[kind] = described(names)
        odd = [name for name, other in names.items() if in_memory(name, found[kind]) != other]
        if odd:
            print(kind, len(odd), "names not described:", *odd[:3], flush=True)
    about = "Words of names in files → words of modules' names in memory, by tools/loading/write_modules.py"
    document = {"about": about, "version": transformers.__version__, **found}
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(layout(document), encoding="utf-8")


if __name__ == "__main__":
    main()
