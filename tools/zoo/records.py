"""The records that `build.py` wrote, read back as patterns of names over the fields of a configuration."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from inspector.architectures import formula
from inspector.errors import ConfigError
from zoo import trace_formulas as traces
from zoo.trace_formulas import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


Numbers = tuple[int, ...]
Shape = tuple[int, ...]

#: Fields of a configuration that never determine a shape.
IRRELEVANT = re.compile(
    r"(^|\.)(architectures|transformers_version|dtype|torch_dtype|model_type|auto_map|id2label|label2id|_name_or_path|"
    r"rope_parameters|rope_scaling|generation_config|task_specific_params|quantization_config|use_cache|problem_type|"
    r"output_attentions|output_hidden_states|return_dict|chunk_size_feed_forward|initializer_range|initializer_factor|"
    r"(\w*_)?(token_id|token_index|token_ids|eps|dropout|prob)|layerdrop|pretraining_tp|rms_norm_eps|layer_norm_eps)(\.|$)"
)
#: Nested objects of numbers that are not configurations of a part.
_OPAQUE = {"id2label", "label2id", "rope_parameters", "rope_scaling", "quantization_config", "task_specific_params"}

_EXPERT = re.compile(r"(?<![^.])expert_(?=\d+(\.|$))")
_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")


def pattern_of(name: str) -> tuple[str, Numbers]:
    """`h.3.mlp` → `h.{}.mlp`, (3,). A word with a number, such as an expert's, is split: `expert_7` → `expert_.{}`."""
    name = _EXPERT.sub("expert_.", name)
    return _NUMBER.sub("{}", name), tuple(int(n) for n in _NUMBER.findall(name))


def flatten(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Fields by dotted path: `vision_config.hidden_size`."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            if key not in _OPAQUE and all(isinstance(k, str) and k.isidentifier() for k in value):
                yield from flatten(value, f"{prefix}{key}.")
        elif key.isidentifier():
            yield prefix + key, value


@dataclass
class Record:
    """One model as it was built: its configuration and its tensors."""

    model_type: str
    cls: str
    auto: str
    variant: str
    base_prefix: str
    config: dict[str, Any]
    config_full: dict[str, Any]
    attribute_map: dict[str, dict[str, str]]
    overrides: dict[str, Any]
    shapes: dict[str, Shape]
    buffers: frozenset[str]
    declared: dict[str, Any] = field(default_factory=dict)  # the defaults of a constructor's arguments
    trace: Trace = field(default_factory=Trace)
    uses: dict[str, list[str]] = field(default_factory=dict)  # name → its module's kind and class, its place in a block
    note: str = ""  # what was changed so that it builds
    rename: tuple[str, str] = ("", "")  # this class's prefix of the body → the family's

    @cached_property
    def fields(self) -> dict[str, Any]:
        """Every field that might be relevant, by dotted path."""
        merged = {**self.config_full, **self.config}
        found = {path: value for path, value in flatten(merged) if not IRRELEVANT.search(path)}
        if self.declared:  # a constructor's own arguments, and no configuration class's
            return found
        found["num_labels"] = len(merged.get("id2label") or ()) or merged.get("num_labels") or 2
        return found

    @cached_property
    def patterns(self) -> dict[str, dict[Numbers, Shape]]:
        """Names of one pattern together, renamed to the family's prefix."""
        found: dict[str, dict[Numbers, Shape]] = {}
        for name, shape in self.shapes.items():
            pattern, numbers = pattern_of(self.family_name(name))
            found.setdefault(pattern, {})[numbers] = shape
        return found

    def family_name(self, name: str) -> str:
        """The tensor's name under the family's prefix."""
        old, new = self.rename
        return new + name[len(old) :] if self.rename != ("", "") and name.startswith(old) else name


def read(path: Path) -> Record:
    """One record."""
    with gzip.open(path, "rt") as stream:
        return of_content(json.load(stream), traces.load(path.parent, path.name))


def of_content(raw: Mapping[str, Any], trace: Trace | None = None) -> Record:
    """One record from what its file holds."""
    tensors = raw["tensors"]
    return Record(
        model_type=raw["model_type"],
        cls=raw["class"],
        auto=raw["auto"],
        variant=raw["variant"],
        base_prefix=raw.get("base_model_prefix") or "",
        config=raw["config"],
        config_full=raw["config_full"],
        attribute_map=raw.get("attribute_map") or {},
        overrides=raw.get("overrides") or {},
        shapes={name: tuple(entry[0]) for name, entry in tensors.items()},
        buffers=frozenset(name for name, entry in tensors.items() if entry[2] == "buffer"),
        declared=raw.get("declared") or {},
        trace=trace or Trace(),
        uses=raw.get("uses") or {},
        note=_of_template(raw.get("note") or ""),
    )


def _of_template(note: str) -> str:
    """What was changed in the default configuration so that a model can be built; "" if nothing."""
    return next((part for part in note.split("; ") if "default configuration" in part or "built from" in part), "")


def types_in(folder: Path) -> list[str]:
    """Model types that have records."""
    return sorted({path.name.split("__")[0] for path in folder.glob("*.json.gz")})


def of_type(folder: Path, model_type: str, variants: str = "") -> list[Record]:
    """The records of a type; `variants` is a regular expression for the start of their names."""
    paths = sorted(folder.glob(f"{model_type}__*.json.gz"))
    return [read(path) for path in paths if re.match(variants, path.name.split("__", 2)[2])]


# --- fields as a formula's scope ---------------------------------------------------------------


class Fields:
    """A record's configuration as a formula's scope, with absent and empty fields filled in."""

    def __init__(self, values: Mapping[str, Any], index: Mapping[str, int] | None = None) -> None:
        self.values, self.index = values, index or {}

    def __getitem__(self, name: str) -> Any:
        if name in self.index:
            return self.index[name]
        if name not in self.values:
            raise ConfigError(name)
        return self.values[name]


def nested(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted paths → nested objects, as a formula reads them."""
    tree: dict[str, Any] = {}
    for path, value in fields.items():
        *outer, last = path.split(".")
        here = tree
        for word in outer:
            here = here.setdefault(word, {}) if isinstance(here.get(word, {}), dict) else {}
        here[last] = value
    return tree


def expanded(bounds: Sequence[tuple[str, str]], tree: Mapping[str, Any]) -> Iterator[dict[str, int]]:
    def inner(rest: Sequence[tuple[str, str]], index: dict[str, int]) -> Iterator[dict[str, int]]:
        if not rest:
            yield dict(index)
            return
        variable, bound = rest[0]
        count = evaluated(bound, tree, index)
        for number in range(count if isinstance(count, int) and 0 <= count < 4000 else 0):
            yield from inner(rest[1:], {**index, variable: number})

    yield from inner(bounds, {})


def paths_of(text: str) -> set[str]:
    """The names in an expression, by dotted path; its indexes among them."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "", text)
    words = re.findall(r"[A-Za-z_][\w.]*", text)
    return set(words) - set(formula.FUNCTIONS) - {"if", "else", "and", "or", "not", "in", "is", "None", "True", "False"}


def evaluated(text: str, tree: Mapping[str, Any], index: Mapping[str, int]) -> Any:
    try:
        return formula.evaluate(text, Fields(tree, index))
    except ConfigError:
        return None
