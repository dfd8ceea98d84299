"""The parts of a family's table. Read forwards it predicts, read backwards it names.

    Row("q_proj", "model.layers.{layer<num_hidden_layers}.self_attn.q_proj",
        "num_attention_heads * head_dim, hidden_size", bias="attention_bias")

A placeholder includes the number of its values: `{expert<num_local_experts}` counts from 0. Later uses of the same
index need no bound. Every expression is in `formula`'s language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from inspector.tabular import NamedTuple

_PLACEHOLDER = re.compile(r"\{(\w+)(?:<([^{}]*))?\}")
#: Prefixes of words that end in an index: `expert_7`, and PyTorch's `weight_ih_l0` of an LSTM.
NUMBERED = r"(?:expert_|(?:weight|bias)_(?:ih|hh)_l)"
_IS_NUMBER = re.compile(rf"{NUMBERED}?(\{{\w+\}}|[0-9]{{1,9}})")


@cache
def _indexes(name: str) -> tuple[tuple[str, str], ...]:
    return tuple((match[1], match[2] or "") for match in _PLACEHOLDER.finditer(name))


@cache
def bare(name: str) -> str:
    """A name without its placeholders' bounds: `model.layers.{layer}`."""
    return _PLACEHOLDER.sub(r"{\1}", name)


class Row(NamedTuple):
    """The tensors of one role: their names, their shape, and the condition for their existence."""

    role: str  # a word of `roles.ROLES`
    name: str  # the tensor's name as Transformers writes it, without `leaf`
    shape: str  # row-major dimensions, as expressions: "vocab_size, hidden_size"; "" for a scalar
    bias: str = ""  # condition for an additional `name.bias` of the first dimension
    when: str = ""  # condition for the row, evaluated for every index it mentions
    heads: str = ""  # class suffixes that have the row ("ForCausalLM LMHeadModel"); "" for the body
    tied: str = ""  # condition under which it is the token embedding itself, so not stored
    active: str = ""  # active experts per token; "" for all
    first_expert: str = ""  # the number of the first expert, if experts of another shape come before; "" for 0
    tower: str = "text"
    branch: str = ""  # distinguishes several of the role in a layer: "cross", "temporal"; "" for the main one
    leaf: str = "weight"  # last word of the tensor's name; "" if `name` is complete
    stacked: str = ""  # how many experts the tensor's first dimension holds; "" for a single matrix
    buffer: bool = False  # not a parameter; old checkpoints may contain it
    persistent: bool = False  # a buffer that current checkpoints also contain
    transposed: bool = False  # [in, out] where other conventions write [out, in]
    optional: bool = False  # no field determines whether it exists: named if stored, but not predicted
    ahead: bool = False  # of a layer that predicts further tokens: stored with the model, but not part of its count
    batch: bool = False  # of a batch norm, which a whole may freeze (`Include.frozen`)
    spare: bool = False  # created by its class and never used: published files lack it
    older: str = ""  # its name in older files or in memory, if no convention covers it: `name` without numbers

    @property
    def indexes(self) -> tuple[tuple[str, str], ...]:
        """Each placeholder with the expression of its bound, outermost first."""
        return _indexes(self.name)

    @property
    def part(self) -> str:
        """ "bias" for a separate bias row: `cls.predictions.bias`, `experts.down_proj_bias`."""
        bias = self.leaf == "bias" or (not self.leaf and self.name.endswith("_proj_bias"))
        return "bias" if bias and not self.buffer else "weight"

    @property
    def template(self) -> str:
        """The whole name with bare placeholders: `model.layers.{layer}.self_attn.q_proj.weight`."""
        return ".".join(filter(None, (bare(self.name), self.leaf)))


class Include(NamedTuple):
    """Another family's rows, selected by the `model_type` of a nested configuration."""

    scope: str  # the field that holds the nested configuration: "text_config"; dotted for a part's own part
    prefix: str  # added before each name; with a placeholder for a repeated part
    strip: str = ""  # first removed from the start of included names: "model."
    tower: str = "text"
    head: str = ""  # the class suffix to read the included family as; "" for its body alone
    default_type: str = ""  # `model_type` if the nested configuration has none
    taken_from: str = ""  # another whole's `model_type`, which a nested configuration of this part may repeat
    heads: str = ""  # class suffixes of the outer model that have the part; "" for all
    when: str = ""  # condition for the part, over the outer configuration
    tied: str = ""  # condition, over the outer configuration, for a tied head; "" to use the part's own
    branch: str = ""  # added before each branch, if another part of the tower has the same roles
    without: str = ""  # roles, or whole names without numbers, that the outer model omits
    defaults: Mapping[str, Any] = {}  # field values if there is no nested configuration
    fill: bool = False  # whether they also replace what a nested configuration omits
    renamed: Mapping[str, str] = {}  # words within the included names → what the outer model writes instead
    frozen: str = ""  # condition, over the outer configuration, under which the part's batch norms are never trained

    @property
    def indexes(self) -> tuple[tuple[str, str], ...]:
        """Each placeholder of the prefix with the expression of its bound, on the outer configuration."""
        return _indexes(self.prefix)

    @property
    def template(self) -> str:
        """The prefix with bare placeholders: `model.projectors.{projector}.`."""
        return bare(self.prefix)


#: Kinds of state that layers may keep (`Cache.kind`).
CACHE_KINDS = ("full", "sliding", "latent", "recurrent", "linear", "cross", "shared", "none")


class Cache(NamedTuple):
    """What layers keep of past tokens in order to continue."""

    kind: str  # full, sliding, latent, recurrent, linear, cross, shared or none
    keys: str  # elements per token: a formula, or the role whose outputs are kept (`k_proj`); per sequence for states
    values: str = "0"  # the same; 0 if values are derived from what `keys` keeps
    when: str = ""  # condition for the layer; "" for all that have the role, or all layers
    layers: str = "num_hidden_layers"  # the number of layers, if `keys` is not a role
    window: str = ""  # tokens that a layer looks back at, itself included; "" for all
    kernel: str = ""  # width of a convolution, whose channels `keys` counts: what it keeps depends on the engine
    dtype: str = ""  # of a state that is not kept in the model's own dtype: F32
    stride: str = ""  # tokens that are merged into one before they are kept; "" for 1
    waiting: bool = False  # whether these are the tokens of the last, incomplete stride
    heads: str = ""  # the number of heads in `keys`, for engines that divide these among devices; "" if indivisible
    tower: str = "text"  # of the role
    branch: str = ""  # of the role: "cross"
    mixer: str = ""  # "mamba2": whose states these are, if an engine keeps more of them than of others
    chunked: bool = False  # whether `window` is a chunk: tokens look back at their own chunk alone
    engines: str = ""  # the engines that keep this ("transformers vllm"); "" for all


#: The role of the number of batches that a batch norm has seen in training.
COUNTER = "num_batches_tracked"

#: Class suffixes of a body alone: `SwinModel`, and `SwinBackbone`, which returns the features of several stages.
BARE = ("Model", "Backbone")


class Family(NamedTuple):
    """Related model types that share a table and differ in some values."""

    name: str
    types: Mapping[str, Mapping[str, Any]]  # model_type → the field values particular to it
    rows: tuple[Row | Include, ...]
    prefix: str = ""  # of the body's names in `rows`
    prefixes: Mapping[str, str] = {}  # class suffix → its own prefix; "Model" has none
    classes: Mapping[str, str] = {}  # class name → the word used as its suffix
    pieces: Mapping[str, str] = {}  # suffix of a class that is a part of the whole → its names' prefix there
    head: str = "ForCausalLM"  # the class suffix if `architectures` is absent
    defaults: Mapping[str, Any] = {}  # fields that may be absent
    derived: Mapping[str, str] = {}  # expressions for absent fields; a dotted name is a part's: "text_config.width"
    overwritten: Sequence[str] = ()  # fields that the class works out itself, whatever a file says
    fields: Mapping[str, str] = {}  # common field name → the family's own
    drafts: bool = False  # a draft for another model, whose name and size are in its own name
    ahead: str = ""  # the field that counts layers built like the last which predict further tokens
    cache: tuple[Cache, ...] | None = None  # what its layers keep for each token; None: not known
    uncached: str = ""  # why that is unknown, as text
    cache_defaults: Mapping[str, Any] = {}  # defaults of fields that only `cache` needs
    cache_derived: Mapping[str, str] = {}  # expressions for them
    asked: str = ""  # the library that built the model for this table, and its version

    def has_head(self, head: str) -> bool:
        """Whether the rows cover a class of this suffix."""
        if head in (self.head, *BARE, *self.prefixes, *self.pieces, *self.classes.values()):
            return True
        return any(head in entry.heads.split() for entry in self.rows)

    @property
    def heads(self) -> tuple[str, ...]:
        """The suffixes of the classes whose tensors the rows know, the body's first, each once."""
        named = (head for entry in self.rows for head in entry.heads.split())
        return tuple(dict.fromkeys((BARE[0], *named)))

    def followers(self, part: str) -> Iterator[tuple[str, str]]:
        """The derived fields of a part, each with its name in `derived`."""
        for name in self.derived:
            scope, dot, field = name.rpartition(".")
            if dot and scope == part:
                yield name, field

    def prefix_under(self, head: str) -> str:
        """The prefix of the body's names in a class of this suffix."""
        return self.prefixes.get(head, "" if head in BARE else self.prefix)


@lru_cache(4096)
def numbers_of(template: str) -> tuple[str | int, ...]:
    """The placeholder of each number in a name: an index variable, or the number itself."""
    found = (_IS_NUMBER.fullmatch(word) for word in template.split("."))
    words = (match[1] for match in found if match)
    return tuple(word[1:-1] if word.startswith("{") else int(word) for word in words)


def part_at(values: Mapping[str, Any], scope: str) -> Any:
    """The value of a configuration's field, or of a dotted path of fields; None if absent."""
    found: Any = values
    for field in scope.split("."):
        found = found.get(field) if isinstance(found, Mapping) else None
    return found


#: Towers whose fields may be in the whole's own configuration: a vision tower has none of the text model's.
MAIN_TOWERS = frozenset({"text", "encoder", "decoder"})


def nested_values(include: Include, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The nested configuration; for the whole's main part, the fields at the top level if a file has them there."""
    nested = part_at(values, include.scope)
    if isinstance(nested, Mapping):
        usual = include.defaults if include.fill else {}
        # A part whose class has no own type is written with an empty one.
        own = {**usual, **nested, "model_type": nested.get("model_type") or include.default_type}
        # Published configurations repeat the whole's type in a part: Qwen3-VL's vision tower is not a Qwen3-VL.
        if include.default_type and own["model_type"] in (values.get("model_type"), include.taken_from):
            own["model_type"] = include.default_type
        return own
    outside = values if include.tower in MAIN_TOWERS else {}
    flat = {key: value for key, value in outside.items() if not isinstance(value, Mapping)}
    return {**include.defaults, **flat, "model_type": include.default_type}


def inner_head(include: Include, family: Family, model_type: str) -> str:
    """The class suffix to read an included family as; AutoModel's if a part of another type has no such class."""
    head = include.head or "body"
    other = include.default_type not in ("", model_type)
    return "Model" if other and not family.has_head(head) else head


def inner_name(include: Include, name: str) -> str:
    """An included row's name without its stripped prefix, with the outer model's words."""
    for own, outer in include.renamed.items():
        name = name.replace(own, outer)
    return name


def inner_tower(include: Include, tower: str) -> str:
    """The tower of an included row: the include's, except for towers within it."""
    return include.tower if tower == "text" else tower


def inner_branch(include: Include, branch: str) -> str:
    """The branch of an included row: the include's, then its own."""
    return ".".join(filter(None, (include.branch, branch)))


def frozen(row: Row) -> Row:
    """A row of a frozen batch norm: its weight and bias are buffers, and it counts no batches.

    torchvision.ops.FrozenBatchNorm2d, which detectors copy; old files may still contain the counter.
    """
    if not row.batch:
        return row
    return row._replace(buffer=True, persistent=row.role != COUNTER)


def is_left_out(row: Row, without: Sequence[str]) -> bool:
    """Whether an include omits a row, by its role or by its name."""
    return bool(without) and (row.role in without or bare_name(row.name) in without)


def bare_name(name: str) -> str:
    """A row's name without its numbers: `model.layers.self_attn.q_proj`."""
    return re.sub(r"\.?\{[^{}]*\}", "", name)


_SUFFIX = re.compile(r"(For[A-Z]\w*|LMHeadModel|DoubleHeadsModel|Model|Backbone)$")


def class_suffix(class_name: str | None) -> str | None:
    """The suffix that a class adds to its family's name: `LlamaForCausalLM` → `ForCausalLM`, `LlamaModel` → `Model`."""
    match = _SUFFIX.search(class_name or "")
    return match[1] if match else None
