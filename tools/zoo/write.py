"""Drafts → `inspector/architectures/data/tables/*.json` and the index.

    python tools/zoo/write.py --drafts DIR

Types with equal rows become one family. Those of `inspector/architectures/data/families` are written by hand: their model
types are left out here.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(ROOT))

from compact import compacted
from drafts import load_drafts
from roles import name_roles

from inspector.architectures import load, table_file
from inspector.architectures.data.coverage import COVERAGE
from inspector.architectures.table import Family, Include, Row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FAMILIES = ROOT / "inspector" / "architectures" / "families"
TABLES = ROOT / "inspector" / "architectures" / "tables"

#: The name of a family of several types: the first of these that it has, else the shortest.
KNOWN = [
    "llama",
    "gpt2",
    "bert",
    "mixtral",
    "qwen2",
    "qwen3",
    "qwen2_moe",
    "qwen3_moe",
    "deepseek_v2",
    "deepseek_v3",
    "gemma2",
    "gemma3_text",
    "phi3",
    "phi",
    "opt",
    "bloom",
    "falcon",
    "mpt",
    "gptj",
    "gpt_neox",
    "t5",
    "bart",
    "roberta",
    "vit",
    "clip_vision_model",
    "siglip_vision_model",
    "whisper",
    "wav2vec2",
    "mamba",
]

#: Roles in the order in which a layer has them.
ORDER = [
    "embed_tokens",
    "embed_positions",
    "embed_token_types",
    "embed_patches",
    "embed_class",
    "embed_norm",
    "input_layernorm",
    "qkv_proj",
    "q_proj",
    "k_proj",
    "v_proj",
    "o_proj",
    "q_a_proj",
    "q_a_layernorm",
    "q_b_proj",
    "kv_a_proj_with_mqa",
    "kv_a_layernorm",
    "kv_b_proj",
    "q_norm",
    "k_norm",
    "sinks",
    "in_proj",
    "conv1d",
    "x_proj",
    "dt_proj",
    "A_log",
    "D",
    "dt_bias",
    "ssm_norm",
    "out_proj",
    "post_attention_layernorm",
    "pre_feedforward_layernorm",
    "router",
    "router_bias",
    "gate_up_proj",
    "gate_proj",
    "up_proj",
    "down_proj",
    "shared_expert_gate",
    "shared_gate_proj",
    "shared_up_proj",
    "shared_down_proj",
    "post_feedforward_layernorm",
]


def merged(drafts: Mapping[str, Family]) -> list[Family]:
    """Families of equal rows."""
    groups: dict[Any, list[Family]] = defaultdict(list)
    for family in drafts.values():
        key = (
            frozenset(map(_frozen, family.rows)),
            family.prefix,
            _frozen(family.prefixes),
            _frozen(family.classes),
            family.head,
            _frozen(family.derived),
            _frozen(family.fields),
            family.names_only,
        )
        groups[key].append(family)
    return [_one(group) for group in groups.values()]


def names_alone(family: Family) -> Family:
    """Rows that name and do not predict: no shapes, bounds or conditions, numbers in names as placeholders."""
    rows: dict[str, Row | Include] = {}
    for row in family.rows:
        if isinstance(row, Row):
            name = re.sub(r"\{(\w+)<[^{}]*\}", r"{\1}", row.name)
            words = [f"{{at{at}}}" if word.isdigit() else word for at, word in enumerate(name.split("."))]
            shape = "" if row.leaf == "weight" or not row.stacked else "1"
            row = Row(
                row.role,
                ".".join(words),
                shape,
                tower=row.tower,
                leaf=row.leaf,
                stacked=row.stacked and "1",
                buffer=row.buffer,
                group=row.group,
            )
        rows[repr(row)] = row
    return family._replace(rows=tuple(rows.values()), defaults={}, derived={}, fields={}, names_only=True)


def _frozen(value: Any) -> str:
    return repr(sorted(value.items())) if isinstance(value, dict) else repr(value)


def _one(group: list[Family]) -> Family:
    names = [family.name for family in group]
    name = min(names, key=lambda n: (KNOWN.index(n) if n in KNOWN else 99, len(n), n))
    first = next(family for family in group if family.name == name)
    common = {key: value for key, value in first.defaults.items() if all(f.defaults.get(key) == value for f in group)}
    types = {
        f.name: {**{key: value for key, value in f.defaults.items() if key not in common}, **f.types[f.name]}
        for f in group
    }
    types = {name: types.pop(name), **dict(sorted(types.items()))}
    return first._replace(types=types, defaults=common, rows=ordered(first.rows))


def ordered(rows: Sequence[Row | Include]) -> tuple[Row | Include, ...]:
    """Includes, embeddings, layers in the order of their parts, what follows them, heads."""
    towers = list(dict.fromkeys(row.tower for row in rows))
    stacks = list(dict.fromkeys(_stack_of(row) for row in rows if isinstance(row, Row)))

    def place(pair: tuple[int, Row | Include]) -> tuple[Any, ...]:
        at, row = pair
        if isinstance(row, Include):
            return (0, 0, 0, 0, 0, at)
        zone = 5 if row.heads and "." not in row.name.removeprefix(row.name.split(".")[0]) else 2
        if row.heads and not row.indexes:
            zone = 5
        elif not row.indexes:
            zone = 1 if "embed" in row.role or "embed" in row.name else 4
        stack = stacks.index(_stack_of(row)) if row.indexes else 0
        depth = ORDER.index(row.role) if row.role in ORDER and row.indexes else 14 if row.indexes else 0
        return (
            1 if row.buffer else 0,
            zone,
            towers.index(row.tower),
            stack,
            "expert" in row.name and not row.indexes,
            depth,
            at,
        )

    chosen = sorted(enumerate(rows), key=lambda pair: (*place(pair), 0)[:1] + tuple(map(int, place(pair)[1:])))
    return tuple(row for _, row in chosen)


def _stack_of(row: Row | Include) -> str:
    name = row.name if isinstance(row, Row) else ""
    return name.split("{", 1)[0]


def module_name(name: str) -> str:
    """A model type as a module's name."""
    word = re.sub(r"\W", "_", name)
    return f"_{word}" if word[0].isdigit() else word


def source(family: Family) -> str:
    """The text of the family's file."""
    return table_file.text(family, _title(family))


def _title(family: Family) -> str:
    others = [t for t in family.types if t != family.name]
    told = f"Model type {family.name}"
    if others:
        told = (
            f"Model types {family.name} and {len(others)} more with its rows"
            if len(others) > 3
            else (f"Model types {', '.join([family.name, *others])}")
        )
    parts = [row.scope for row in family.rows if isinstance(row, Include)]
    if parts:
        told += f": {', '.join(dict.fromkeys(parts))} by their own types' tables"
    return told + "."


def hand_written() -> dict[str, list[str]]:
    """Modules that people wrote, with their model types."""
    modules = sorted(path.stem for path in FAMILIES.glob("*.py") if "\nFAMILY = " in path.read_text())
    return {module: list(load(module).types) for module in modules}


def derived() -> dict[str, Family]:
    """The tables that were written before, by their files' names."""
    return {path.stem: table_file.read(path.read_text()) for path in sorted(TABLES.glob("*.json"))}


def write_index() -> None:
    """`index.py`, from what the modules say."""
    models: dict[str, str] = {}
    for module in sorted([*hand_written(), *derived()]):
        models.update(dict.fromkeys(load(module).types, module))
    target = ROOT / "inspector" / "architectures" / "index.py"
    text = target.read_text()
    tail = text[text.index("#: Model types that are tried") :]
    target.write_text(
        '"""Where the family of a model type is, so that one is found without loading the others.\n\n'
        'Written by tools/zoo/write.py; a test holds it equal to the tables themselves.\n"""\n\n'
        "from __future__ import annotations\n\n#: `model_type` → module.\n"
        f"MODULES: dict[str, str] = {dict(sorted(models.items()))!r}\n\n" + tail
    )
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(target)], check=True)


def left_over(drafts: Mapping[str, Family]) -> None:
    """Take the types that have a draft out of the tables that were made before; the others stay as they are."""
    for module, family in derived().items():
        types = {t: values for t, values in family.types.items() if t not in drafts}
        if len(types) == len(family.types):
            continue
        (TABLES / f"{module}.json").unlink()
        if types:
            name = family.name if family.name in types else next(iter(types))
            rest = family._replace(name=name, types=types)
            (TABLES / f"{module_name(name)}.json").write_text(source(rest))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--drafts", type=Path, required=True)
    parser.add_argument("--types", default="", help="only these model types, comma separated")
    arguments = parser.parse_args()
    chosen = set(arguments.types.split(",")) - {""}
    by_hand = hand_written()
    known = {t for types in by_hand.values() for t in types}
    loaded = load_drafts(arguments.drafts)
    shorter = {t: family._replace(rows=tuple(compacted(family.rows))) for t, family in loaded.items()}
    drafts = {t: f for t, f in name_roles(shorter).items() if t not in known and (not chosen or t in chosen)}
    inexact = {t for t, line in COVERAGE.items() if line[1] == 0}
    families = merged({t: names_alone(f) if t in inexact else f for t, f in drafts.items()})
    left_over(drafts)
    for family in families:
        name = module_name(family.name)
        (TABLES / f"{name if name not in by_hand else name + '_'}.json").write_text(source(family))
    write_index()
    print(f"{len(families)} families of {len(drafts)} types")


if __name__ == "__main__":
    main()
