"""Drafts → `inspector/architectures/data/tables/families/*.json`.

    python -m zoo.write --drafts DIR [--types a,b]

Types with equal rows become one family. A type that has a table already is left out, unless `--types` names it.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import table_text

from inspector.architectures import load, model_types
from inspector.architectures.store import FOLDER
from inspector.architectures.table import Family, Include, Row
from zoo.derive_drafts import load_drafts
from zoo.derive_roles import compacted, name_roles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TABLES = FOLDER / "families"

#: The name of a family of several types: the first of these among them, otherwise the shortest.
KNOWN = [
    "llama", "gpt2", "bert", "mixtral", "qwen2", "qwen3", "qwen2_moe", "qwen3_moe", "deepseek_v2", "deepseek_v3",
    "gemma2", "gemma3_text", "phi3", "phi", "opt", "bloom", "falcon", "mpt", "gptj", "gpt_neox", "t5", "bart",
    "roberta", "vit", "clip_vision_model", "siglip_vision_model", "whisper", "wav2vec2", "mamba",
]  # fmt: skip

#: Roles in the order in which a layer has them.
ORDER = [
    "embed_tokens", "embed_positions", "embed_token_types", "embed_patches", "embed_class", "embed_norm",
    "input_layernorm", "qkv_proj", "q_proj", "k_proj", "v_proj", "o_proj", "q_a_proj", "q_a_layernorm", "q_b_proj",
    "kv_a_proj_with_mqa", "kv_a_layernorm", "kv_b_proj", "q_norm", "k_norm", "sinks", "in_proj", "conv1d", "x_proj",
    "dt_proj", "A_log", "D", "dt_bias", "ssm_norm", "out_proj", "post_attention_layernorm",
    "pre_feedforward_layernorm", "router", "router_bias", "gate_up_proj", "gate_proj", "up_proj", "down_proj",
    "shared_expert_gate", "shared_gate_proj", "shared_up_proj", "shared_down_proj", "post_feedforward_layernorm",
]  # fmt: skip


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
        )
        groups[key].append(family)
    return [_one(group) for group in groups.values()]


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
    """Includes, embeddings, layers in the order of their parts, later parts, heads."""
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
    """A module name for a model type."""
    word = re.sub(r"\W", "_", name)
    return f"_{word}" if word[0].isdigit() else word


def source(family: Family, **beside: Any) -> str:
    """The text of the family's file."""
    reported = {"about": _title(family), "source": "Transformers' models, built and traced: tools/zoo"}
    return table_text.text(family, module_name(family.name), **{**reported, **beside})


def _title(family: Family) -> str:
    others = [t for t in family.types if t != family.name]
    reported = f"Model type {family.name}"
    if others:
        reported = (
            f"Model types {family.name} and {len(others)} more with its rows"
            if len(others) > 3
            else (f"Model types {', '.join([family.name, *others])}")
        )
    parts = [row.scope for row in family.rows if isinstance(row, Include)]
    if parts:
        reported += f": {', '.join(dict.fromkeys(parts))} each with a table of its own"
    return reported + "."


#: Auto mapping → what its classes are.
TASKS = {
    "CausalLM": "a language model",
    "ImageTextToText": "a model that answers about images",
    "MultimodalLM": "a language model of several kinds of input",
    "Seq2SeqLM": "an encoder and a decoder of text",
    "SpeechSeq2Seq": "a model that writes what is said",
    "CTC": "a model that writes what is said",
    "MaskedLM": "an encoder of text",
    "TextToWaveform": "a model that speaks",
    "TextToSpectrogram": "a model that speaks",
    "ImageClassification": "a model that sees",
    "AudioClassification": "a model that hears",
    "ObjectDetection": "a detector of objects",
    "DepthEstimation": "a model that estimates depth",
}


def about(family: Family, classes: Mapping[str, tuple[str, bool]]) -> str:
    """What a derived table is about, in a sentence that its classes and parts bear out.

    Args:
        classes: class → its auto mapping and whether it is a principal one, the most specific first.
    """
    first, auto = next(((name, auto) for name, (auto, _) in classes.items()), ("", ""))
    named = re.sub(r"(For[A-Z]\w*|LMHeadModel|Model)$", "", first) or family.name
    what = TASKS.get(auto, "a model without a head of its own" if auto == "base" else "a part of another model")
    parts = [row.scope for row in family.rows if isinstance(row, Include)]
    inner = f", with {', '.join(dict.fromkeys(parts))} by tables of their own" if parts else ""
    by = f" ({first})" if first else ""
    return f"{named}: {what}{by}{inner}."


#: Fields of a table that do not follow from a model: they stay when its rows are derived again.
_KEPT = ("about", "source", "notes", "cache", "cache_defaults", "cache_derived", "inferable")


def kept(model_type: str) -> dict[str, Any]:
    """The fields of a type's table beside the derived ones."""
    table = model_types().get(model_type)
    document = json.loads((TABLES / f"{table}.json").read_text()) if table else {}
    return {field: document[field] for field in _KEPT if field in document}


def left_over(types: set[str]) -> None:
    """Remove types from the tables that have them; the other types stay unchanged."""
    for table in sorted({model_types()[t] for t in types & model_types().keys()}):
        path = TABLES / f"{table}.json"
        kept = {t: values for t, values in load(table).types.items() if t not in types}
        if kept:
            path.write_text(table_text.put(path.read_text(), "types", kept))
        else:
            path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--drafts", type=Path, required=True)
    parser.add_argument("--types", default="", help="only these model types, comma separated")
    arguments = parser.parse_args()
    chosen = set(arguments.types.split(",")) - {""}
    loaded = load_drafts(arguments.drafts)
    shorter = {t: family._replace(rows=tuple(compacted(family.rows))) for t, family in loaded.items()}
    drafts = {t: f for t, f in name_roles(shorter).items() if t in chosen or (not chosen and t not in model_types())}
    families = merged(drafts)
    beside = {family.name: kept(family.name) for family in families}
    left_over(set(drafts))
    for family in families:
        name = module_name(family.name)
        path = TABLES / f"{name}.json"
        (path if not path.exists() else TABLES / f"{name}_.json").write_text(source(family, **beside[family.name]))
    print(f"{len(families)} families of {len(drafts)} types")


if __name__ == "__main__":
    main()
