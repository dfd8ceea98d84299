"""What converters do to tensors: which they rename, reorder, modify, omit or generate.

    conversion_of("llama")   what llama.cpp's converter does to models that it writes as architecture `llama`

`tables/conversions` has a document for each GGUF architecture; `_base` has what all share. Transformers acts as a
converter too, for models that it represents differently than they were published: `loaded.` and the model's type.

    {"like": "llama",
     "aliases": {"post_attention_layernorm": "self_attn post_attention_layernorm"},
     "model": {"qkv_proj": {"by": "num_attention_heads"}},
     "converted": {"q_proj": {"order": "h 2 d ... -> h d 2 ...", "h": "num_attention_heads", "name": "permuted"},
                   "norm": {"value": "x + 1"}},
     "left_out": ["pooler", "vision:*"], "made": ["rope_freqs"]}

A tensor is identified by its key: `tower:branch role.part/index`, without the parts at their defaults (`key_text`).

signs      parts of names that only the file's tensors have, if both are safetensors
names      the file's name, without `.weight` or `.bias`, → the end of the model's name; several with `|` between
           them. `{}` is a number, `{-1}` one less, `{#}` its rank among those in the file, `{@}` the model's
           block that `feeds` gives for it. If the model has none of them, the key decides
feeds      blocks of the model → the configuration's list of the language model's layers that they feed, or of pairs
           that end with one: the file numbers the blocks of all lists in the order of these layers
aliases    the file's key → the model's, where the two tables call a tensor differently; several in the order in which
           they are tried, with `|` between them
towers     the file's tower → the model's possible name for it; several with `|` between them
stacks     branches of the model whose layers the file stores consecutively, branch after branch
model      how projections are fused in one tensor of the model: the parts in order, each with its rows as a formula (or
           none, if other tensors determine them), in `by` equal groups; `by` alone: the usual parts. They are
           concatenated along the rows, or along another axis, by number (`axis`)
file       the same for the file; parts may be keys of the model, whose tensors the converter fuses. A key with
           `[experts]` after it applies to stacked experts only
converted  the change to a tensor, to a part of it (`qkv_proj.q_proj`), or to several (`q_norm | k_norm`):
           `order`  the model's elements as digits → the file's. A word is a number given by a formula beside it, `*`
                    the digit that follows from the others, `...` all axes but the first (at the start: but the last);
                    two words without a formula are equal
           `axis`   the number of the axis whose elements `order` names; by default the rows
           `axes`   the numbers of the model's axes, in the file's order
           `value`  the file's value computed from the model's, x; it may use numbers of the configuration, the `layer`,
                    the element's `index` in the model's tensor, and the tensor's `mean` and `mean_abs`
           `rows`   which of the longer tensor's rows the shorter has, `first` or `last`; the model's is the longer,
                    unless there is `rest`
           `rest`   what the file's additional rows contain: `zeros`
           `name`   the display name
folded     values computed from several tensors: a display name, and for each key of the file a formula (`value`)
           in x and other letters, each with its key in the model; `key@1/2`: the first half of its columns
computed   a part of a file's tensor (`embed_tokens.text_embedding embed_tokens`, as in `file`) whose rows are computed
           from the model's: a formula (`value`) in x and whole tensors, each a letter with its key, and the display
           name. `linear(x, w, b)` is x · wᵀ + b
transposed keys of matrices that the model stores as [in, out], unless its table already says so; with `[experts]`,
           only those of stacked experts
left_out   keys that the converter omits; `tower:*` for a whole tower
deeper     towers of the model whose layers beyond the file's last are omitted
dropped    words in the names of further tensors that the converter omits
made       keys that the converter generates from the configuration
added      keys that the converter takes from another folder of the model
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, reduce
from typing import Any, NamedTuple

from inspector.architectures.store import store
from inspector.architectures.table_file import joined
from inspector.errors import TableError
from inspector.model import Key

#: The parts common to all conversions, and those common to files from a model's authors rather than Transformers.
BASE, ORIGINAL = "_base", "_meta"
#: Transformers' representation of a loaded model, which `save_original_format=False` writes; with the model's type.
LOADED = "loaded"
#: The most blocks of one list that feed a language model.
MOST_BLOCKS = 1000
#: The part common to all towers beside a language model; with a kind of projector, to the towers that have it.
TOWERS = "mmproj"


class Conversion(NamedTuple):
    """The changes that a converter makes to models of one architecture."""

    signs: Sequence[str] = ()
    names: Mapping[str, str] = {}
    feeds: Mapping[str, str] = {}
    aliases: Mapping[str, str] = {}
    towers: Mapping[str, str] = {}
    stacks: Sequence[str] = ()
    model: Mapping[str, Mapping[str, str]] = {}
    file: Mapping[str, Mapping[str, str]] = {}
    converted: Mapping[str, Mapping[str, str]] = {}
    folded: Mapping[str, Mapping[str, Mapping[str, str]]] = {}
    computed: Mapping[str, Mapping[str, str]] = {}
    transposed: Sequence[str] = ()
    left_out: Sequence[str] = ()
    deeper: Sequence[str] = ()
    dropped: Sequence[str] = ()
    made: Sequence[str] = ()
    added: Sequence[str] = ()

    def unstacked(self, key: Key, layers: Mapping[str, int]) -> Key:
        """The file's key with the branch and layer of the model to which the file's layer number refers.

        Args:
            layers: the number of layers of each branch in the model.
        """
        layer = key.layer
        for stack in self.stacks if layer is not None else ():
            assert layer is not None
            if layer < layers.get(stack, 0):
                return key._replace(branch=f"{stack} {key.branch}".strip(), layer=layer)
            layer -= layers.get(stack, 0)
        return key

    def blocks(self, config: Mapping[str, Any]) -> list[str]:
        """The model's blocks in the order in which the file numbers them; none if its configuration does not say."""
        depth = (config.get("text_config") or config).get("num_hidden_layers") if self.feeds else None
        found: list[tuple[int, str]] = []
        for name, field in self.feeds.items():
            layers = _layers(config.get(field), depth)
            found += [(layer, name.format(number)) for number, layer in enumerate(layers)]
        return [name for _, name in sorted(found, key=lambda block: block[0])]

    def endings(self, stem: str, place: int, blocks: Sequence[str] = ()) -> Iterator[str]:
        """The possible suffixes of the model's name for a tensor of the file, the preferred one first.

        Args:
            place: the tensor's position, from 0, among those of the file that differ only in their number.
            blocks: what `blocks` returns for the model.
        """
        numbers = NUMBER.findall(stem)
        for name, held in ((stem, ()), (NUMBER.sub("{}", stem), numbers)):
            for each in filter(None, self.names.get(name, "").split(" | ")):
                number = int(numbers[-1]) if numbers else 0
                if "{@}" in each and number < len(blocks):
                    yield each.replace("{@}", blocks[number])
                elif "{@}" not in each:
                    yield each.replace("{#}", str(place)).replace("{-1}", str(max(number - 1, 0))).format(*held)

    def keys(self, key: Key) -> list[Key]:
        """The model's keys for a key of the file, the preferred one first; the same key by default."""
        text, bare = key_text(key), key_text(key._replace(part="weight"))
        end = "" if key.part == "weight" else f".{key.part}"
        if text in self.aliases:
            texts = self.aliases[text].split(" | ")
        elif bare in self.aliases:
            texts = [f"{name}{end}" for name in self.aliases[bare].split(" | ")]
        else:
            texts = [text]
        found = [named(each, key) for each in texts]
        towers = {tower: others.split(" | ") for tower, others in self.towers.items()}
        return found + [each._replace(tower=tower) for each in found for tower in towers.get(each.tower, ())]

    def operands(self, text: str) -> Iterator[str]:
        """The keys of further tensors that parts of a file's tensor are computed with."""
        for place, step in self.computed.items():
            if place.partition(".")[0] == text:
                yield from (key for letter, key in step.items() if letter not in ("value", "name"))

    def leaves_out(self, key: Key, name: str) -> bool:
        """Whether the converter omits a tensor with this key and name."""
        return _is_among(key, self.left_out) or any(words in name for words in self.dropped)

    def makes(self, key: Key) -> bool:
        """Whether the converter generates a tensor with this key, from the configuration or constants."""
        return _is_among(key, self.made)

    def adds(self, key: Key) -> bool:
        """Whether the converter takes a tensor with this key from another folder of the model."""
        return _is_among(key, self.added)


def _layers(listed: object, depth: object) -> list[int]:
    """The layers of a list, counted from the end where negative: itself, or the last numbers of its pairs, in order."""
    if not isinstance(listed, list) or len(listed) > MOST_BLOCKS:
        return []
    pairs = [each for each in listed if isinstance(each, list) and each and all(type(n) is int for n in each)]
    layers = [each[-1] for each in sorted(pairs)] if pairs else [each for each in listed if type(each) is int]
    if len(layers) != len(listed):
        return []
    return [layer + depth if layer < 0 and isinstance(depth, int) else layer for layer in layers]


def key_text(key: Key) -> str:
    """A key without its layer and expert: `cross q_proj`, `vision:norm.bias`."""
    return _text(key.tower, key.branch, key.role, key.part, key.indexes)


#: After a key: it is of stacked experts alone.
EXPERTS = "[experts]"
#: A number in a name.
NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)")
_KEY = re.compile(r"(?:(\w+):)?(?:(.+) )?([^ ./]+)(?:\.(\w+))?((?:/\d+)*)")


def named(text: str, like: Key) -> Key:
    """Parse the key in a text, with the layer and expert of another key. Raises TableError."""
    match = _KEY.fullmatch(text.partition("@")[0])
    if match is None:
        raise TableError(f"{text!r} is not a key")
    tower, branch, role, part, indexes = match.groups()
    numbers = tuple(int(index) for index in indexes.split("/")[1:])
    return like._replace(
        tower=tower or "text", branch=branch or "", role=role, part=part or "weight", indexes=numbers
    )  # fmt: skip


def _text(tower: str, branch: str, role: str, part: str, indexes: Sequence[int]) -> str:
    place = f"{tower}:" if tower != "text" else ""
    word = f"{branch} {role}" if branch else role
    return f"{place}{word}{'' if part == 'weight' else f'.{part}'}{''.join(f'/{index}' for index in indexes)}"


def _is_among(key: Key, texts: Sequence[str]) -> bool:
    bare = key._replace(part="weight", indexes=())
    return any(text in (f"{key.tower}:*", key_text(key), key_text(bare), f"*{key.role}") for text in texts)


@cache
def conversion_of(architecture: str, projector: str = "") -> Conversion:
    """The conversion for a GGUF architecture; only the common part if there is no document.

    Args:
        projector: the kind of projector, for a file with the towers beside a language model.
    """
    if not projector:
        return Conversion(**_document(architecture if store().has("conversions", architecture) else BASE, ()))
    names = [f"{TOWERS}.{kind}" for kind in projector.split("+")]  # a file may have two kinds of towers
    found = [_document(name, ()) for name in names if store().has("conversions", name)]
    return Conversion(**reduce(_together, found, _document(TOWERS, ())))


def loaded_form(model_type: str, names: Iterable[str]) -> Conversion | None:
    """How the tensors of a model that Transformers saved in its own layout correspond to the published ones; None for
    other models.

    Args:
        names: the names of its tensors.
    """
    name = f"{LOADED}.{model_type}"
    if not store().has("conversions", name):
        return None
    found = Conversion(**_document(name, ()))
    return found if any(sign in each for each in names for sign in found.signs) else None


def _together(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two documents merged; the second takes precedence."""
    both = {field: {**one[field], **other[field]} for field in one.keys() & other if isinstance(one[field], dict)}
    return {**one, **other, **both}


def _document(name: str, through: tuple[str, ...]) -> dict[str, Any]:
    """A document with its inherited content: mappings and lists are extended. Raises TableError."""
    if name in through:
        raise TableError(f"the conversion {name} inherits from itself")
    own = dict(store().find("conversions", name))
    like = own.pop("like", BASE if name != BASE and not name.startswith(LOADED) else None)
    found = _document(like, (*through, name)) if like else {}
    for field in own.keys() - {"about", "source"}:
        if field not in Conversion._fields:
            raise TableError(f"a conversion has no field `{field}`")
        before = found.get(field)
        if field == "names":
            found[field] = {**(before or {}), **_before(own[field], before or {})}
        elif isinstance(own[field], dict):
            entries = _each(own[field])
            for key, value in entries.items():
                if list(value) == ["by"]:
                    entries[key] = {**(before or {}).get(key, {}), **value}
            found[field] = {**(before or {}), **entries}
        else:
            found[field] = [*(before or ()), *own[field]]
    return found


def _before(names: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    """A document's names, followed by inherited ones."""
    return {name: " | ".join(filter(None, (joined(own), others.get(name)))) for name, own in names.items()}


def _each(entries: Mapping[str, Any]) -> dict[str, Any]:
    """`"q_norm | k_norm": …` as an entry for each."""
    return {name: value for names, value in entries.items() for name in names.split(" | ")}
