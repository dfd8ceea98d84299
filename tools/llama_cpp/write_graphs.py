"""The graphs of `inspector/sizing/engines/data/graphs.json`, from those that llama.cpp builds for random models.

    python tools/llama_cpp/write_graphs.py SOURCE [--seeds 9] [ARCHITECTURE…]     # needs xllamacpp

SOURCE is llama.cpp's. Models of an architecture are drawn (`draw.py`), loaded without data, and their graphs read with one
sequence and several, few outputs and all, with flash attention and without. A result's size is a product of a number of the
batch and a width of the model: of those that explain it in all draws the simplest is written. Graphs of equal structure are
one; which of several a layer has is decided by what distinguishes it: its weights, those before it, what it keeps, fields.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias, Union

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

from draw import NARROW, Draw, Pair, draw, loaders  # noqa: E402
from graphs import Event, Graphs, Result  # noqa: E402
from library import in_child  # noqa: E402
from load_cases import predicted, write  # noqa: E402

import inspector  # noqa: E402
from inspector.architectures import caches  # noqa: E402
from inspector.errors import ConfigError  # noqa: E402
from inspector.sizing.buffers import ROTATED, layers_of, rotation  # noqa: E402
from inspector.sizing.engines.graphs import DATA, FIELDS, Batch, Layer  # noqa: E402

#: Contexts, micro-batches, sequences, outputs of each draw; each with every kind of attention.
SETTINGS = ((12288, 498, 1, 1), (12288, 498, 1, 0), (30720, 366, 3, 5))
#: Kind of attention → whether it is flash attention, and ggml's type of the cache: Q8_0's keys and values are rotated.
ATTENTION = {"flash": (True, 1), "plain": (False, 1), "rotated": (True, 8)}
#: Bytes of an element of ggml's types: F32, F16, I8, I16, I32, I64, BF16; 8: Q8_0.
WIDTHS = {0: 4, 1: 2, 8: 34 / 32, 24: 1, 25: 2, 26: 4, 27: 8, 30: 2}
#: Numbers of the batch → how unlikely they are.
LETTERS = {"T": 0.0, "O": 0.5, "TK": 1, "TW": 1, "S": 2, "1": 3, "C": 3, "D": 3, "E": 4, "R": 4, "K": 4, "W": 4, "KS": 4, "WS": 4,
           "T/S": 4, "TT": 4, "TT/S": 5, "OK": 5}  # fmt: skip
#: The tokens of an encoder's output, where there is one.
POSITIONS = "max_position_embeddings"
#: Inputs by which keys and values are rotated (`llama_kv_cache`): values always by the narrowest matrix.
ROTATES = {"attn_inp_k_rot": "1*rotation*rotation", "attn_inp_v_rot": f"1*{ROTATED**2}"}
#: Fields that may be a factor.
NUMBERS = (
    "hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "v_head_dim", "num_experts_per_tok",
    "kv_lora_rank", "q_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "qk_head_dim", "mamba_intermediate_size",
    "state_size", "n_groups", "time_step_rank", "linear_num_value_heads", "linear_num_key_heads", "linear_head_dim",
    "linear_value_head_dim", "linear_key_head_dim", "intermediate_size", "moe_intermediate_size", "hc_mult",
    "index_n_heads", "index_head_dim", "index_topk", "o_groups", "o_lora_rank", "head_size", POSITIONS,
)  # fmt: skip
#: Further fields that may distinguish layers.
FLAGS = ("norm_topk_prob",)
SHORT = {field: word for word, field in FIELDS.items()}
_OWN_LAYER = re.compile(r"(?:enc\.|dec\.)?blk\.(\d+)\.")
_IN_LAYER = re.compile(r"-(\d+)(?: \(.*)?$|^cache_\w+?_l(\d+)")

#: Kind of attention, and one of `SETTINGS`.
Setting: TypeAlias = tuple[str, tuple[int, int, int, int]]
#: A graph's three parts: [condition, words] of each kind.
Words: TypeAlias = list[list[list[str]]]
Item: TypeAlias = Union[Result, int, str]  # noqa: UP007 - a result, the place of one that is done with, or a word that is written as it is


class Part(NamedTuple):
    """A part of a graph: before the layers, one of them, or after them."""

    key: str  # "start", "end", or the number of a layer
    items: list[Item]
    layer: Layer
    batch: Batch
    attention: str
    draw: int

    @property
    def kernel(self) -> int:
        return self.layer.kept.get("kernel", 1)

    @property
    def structure(self) -> str:
        """What is done, without numbers."""
        return " ".join(f"{each.op}:{each.dtype}" if isinstance(each, Result) else str(each) for each in self.items)


# --- from nodes to parts ------------------------------------------------------------------------------


def parts_of(events: Sequence[Event], layers: int) -> Iterator[tuple[str, list[Item]]]:
    """The parts of a graph. Inputs count as needed until the last layer, before which those that it does not read are freed."""
    segments = list(_segments(events, layers))
    freed = {each.number: at for at, each in enumerate(events) if each.kind == "drop"}
    inputs = {each.number for each in events if each.result and each.kind == "add" and each.result.op == "NONE"}
    live: list[int] = []
    done: list[int] = []  # inputs that are not read any more
    for key, own in segments:
        items: list[Item] = []
        ends = key in ("end", str(layers - 1))
        for number in done if ends else ():
            items.append(len(live) - live.index(number))
            live.remove(number)
        done = [] if ends else done
        for each in own:
            if each.kind == "add" and each.result:
                live.append(each.number)
                items.append(each.result)
            elif each.kind == "drop" and each.number in inputs and key != "start" and not ends:
                done.append(each.number)
            elif each.kind == "drop":
                items.append(len(live) - live.index(each.number))
                live.remove(each.number)
        if key != "end":
            order = sorted(
                live, key=lambda each: (each not in inputs, -freed.get(each, len(events)) * (each not in inputs))
            )
            items += _moves(live, order)
            live = order
        yield key, items


def _moves(live: Sequence[int], order: Sequence[int]) -> Iterator[str]:
    """How results are put into another order: one after the other to the end."""
    now, stays, place = list(live), 0, -1
    for each in order:
        if live.index(each) <= place:
            break
        place, stays = live.index(each), stays + 1
    for each in order[stays:]:
        yield f"~{len(now) - now.index(each)}"
        now.append(now.pop(now.index(each)))


def _segments(events: Sequence[Event], layers: int) -> Iterator[tuple[str, list[Event]]]:
    """A layer begins with the first node that has its number in its name, or reads what is its own."""
    key, own, reached = "start", list[Event](), -1
    for each in events:
        if each.kind == "node" and each.result:
            number = _layer_of(each.result)
            ends = each.result.name.startswith("result_") or any(
                re.match(r"output|cls|dense", source) for source in each.result.sources
            )
            if key != "end" and ends and reached == layers - 1:
                yield key, own
                key, own = "end", []
            elif key != "end" and number is not None and reached < number < layers:
                yield key, own
                key, own, reached = str(number), [], number
        own.append(each)
    yield key, own
    if key != "end":
        yield "end", []


def _layer_of(node: Result) -> int | None:
    weights = [int(match[1]) for source in node.sources if (match := _OWN_LAYER.match(source))]
    if weights:
        return max(weights)
    found = (_IN_LAYER.search(name) for name in (node.name, *node.sources))
    return next((int(match[1] or match[2]) for match in found if match), None)


# --- from sizes to words ------------------------------------------------------------------------------


def widths(part: Part) -> dict[int, list[tuple[str, float]]]:
    """Number → words for it, each with how unlikely it is."""
    found: dict[int, list[tuple[str, float]]] = defaultdict(list, {1: [("", 0.0)]})
    numbers = {name: float(name == "hidden_size") * -3 + 1.8 for name in NUMBERS}
    known = {name: (_field(part.layer, name), cost) for name, cost in numbers.items()}
    known |= {name: (value, 1.8) for name, value in part.layer.kept.items() if name != "kernel"}
    for weights, cost in ((part.layer.before, 1.9), (part.layer.weights, 1.0)):
        for name, shape in weights.items():
            if name == "output":
                continue  # the token embedding, where there is none
            known[name] = (shape[-2 if len(shape) > 1 else -1], cost)
            if len(shape) > 1:
                known[f"{name}.in"] = (shape[-1], 2.0)
    given = [(SHORT.get(name, name), value, cost) for name, (value, cost) in known.items() if value > 0]
    for at, (name, value, cost) in enumerate(given):
        for word, number, more in _multiples(name, value, known["num_experts_per_tok"][0]):
            found[number].append((word, cost + more))
        for other, size, more in given[at:]:
            if cost == more == 1.8 or (POSITIONS in (name, other) and cost + more <= 3.6):
                found[value * size].append((f"{name}*{other}", 3.5))
    found[known["hidden_size"][0] // max(known["head_size"][0], 1)].append(("hidden/head_size", 2.0))
    for number in (2, 3, 4, 6, 8, 4096, 8192):
        found[number].append((str(number), 6.0))
    return found


def _multiples(name: str, value: int, used: int) -> Iterator[tuple[str, int, float]]:
    """Words for multiples of a number, and how much less likely they are."""
    for times in (1, 2, 3, 4, 5, 6):
        yield (f"{name}*{times}" if times > 1 else name), value * times, (0.0, 0.0, 2.0, 3.0)[min(times, 3)]
    if value % 2 == 0:
        yield f"{name}*1/2", value // 2, 1.5
    if used > 1:
        yield f"used*{name}", value * used, 1.2


def _field(layer: Layer, name: str) -> int:
    try:
        return layer.field(name)
    except (ConfigError, LookupError):
        return 0


def words(part: Part, result: Result, of: Mapping[int, list[tuple[str, float]]]) -> dict[str, float]:
    """Words for a result's size, each with how unlikely it is.

    Args:
        of: `widths` of the part.
    """
    if rotates := ROTATES.get(result.name):
        return {rotates: 0.0}
    nbytes = WIDTHS[result.dtype]
    elements, rest = map(int, divmod(result.nbytes, nbytes))
    if rest:
        return {}
    if not elements:
        return {"0": 0.0}
    found = dict[str, float]()
    read = {_OWN_LAYER.sub("", source).removesuffix(".weight") for source in result.sources}
    of_states = [
        (f"+{rows}*{name}", number * part.layer.kept[name])
        for name in ("state", "state2", "conv")
        for rows, number in (("S", part.batch.sequences), ("1", 1))
        if name in part.layer.kept
    ]
    for letters, cost in LETTERS.items():
        rows = part.batch.number(letters, part.kernel)
        for state, size in (("", 0), *(of_states if letters == "T" else ())):
            count, rest = divmod(elements - size, rows or 1)
            for width, more in of.get(count, ()) if rows and not rest and count > 0 else ():
                names = set(width.split("*"))
                likely = 2.0 if names & read else 0.5 if {name.removesuffix(".in") for name in names} & read else 0.0
                likely += 3.0 * (letters in ("TK", "TW") and width == "heads")  # scores
                likely -= 3.0 * ("_moe_" in result.name and "shexp" in width)  # a shared expert's, by chance
                word = _word(letters, width) + state
                found[word] = min(found.get(word, 99), cost + more - likely + 4 * bool(state))
    if nbytes != 4 and any(source.startswith("cache_v") for source in result.sources):  # a copy in the cache's own type
        return {f"1:KV{word[1:]}": cost for word, cost in found.items() if word.startswith("K*")}
    prefix = "" if nbytes == 4 else f"{nbytes}:" if isinstance(nbytes, int) else "Q:"
    return {prefix + word: cost for word, cost in found.items()}


def _word(letters: str, width: str) -> str:
    if letters == "T" and width and not width[0].isdigit():
        return width
    return f"{letters}*{width}" if width else letters


#: What a node is, without its layer → words → in how many of an architecture's models they explain its size.
Votes: TypeAlias = Mapping[tuple[str, str], Counter[str]]


def _node(result: Result) -> tuple[str, str]:
    return result.op, re.sub(r"\d+", "", result.name)


def _of_rows(word: str) -> str:
    """A word without the number of its rows: `O*used` → `used`."""
    return word.removeprefix("O*") if word != "O" else "T"


def votes_of(parts: Sequence[Part]) -> Votes:
    """What explains nodes of the same name, over all parts."""
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for part in {(each.draw, each.batch.outputs == 1, each.key): each for each in parts}.values():
        known = widths(part)
        for item in part.items:
            if isinstance(item, Result) and item.op != "NONE":
                found[_node(item)].update({_of_rows(word) for word in words(part, item, known)})
    return found


def text_of(parts: Sequence[Part], votes: Votes) -> str | None:
    """The words of parts of one structure; None if a size has no word.

    Of several that explain a size everywhere the one is taken that explains most nodes of its name elsewhere, too.
    """
    several = [*{(each.draw, each.batch): each for each in parts}.values()]
    known = [widths(each) for each in several]
    found: list[str] = []
    for at, item in enumerate(parts[0].items):
        if not isinstance(item, Result):
            found.append(str(item))
            continue
        common = _common(several, known, at)
        if not common:
            return None
        of = votes.get(_node(item), Counter())
        most = max(of[_of_rows(word)] for word in common)
        likely = [word for word in common if of[_of_rows(word)] == most]
        found.append(min(likely, key=common.__getitem__))
    return " ".join(found)


def _texts_of(parts: Sequence[Part], votes: Votes) -> list[tuple[str, list[Part]]] | None:
    """The words of parts of one structure, by those draws that have the same; None if a size has no word."""
    if (text := text_of(parts, votes)) is not None:
        return [(text, [*parts])]
    found: list[tuple[str, list[Part]]] = []
    for number in dict.fromkeys(each.draw for each in parts):
        own = [each for each in parts if each.draw == number]
        for at, (_, some) in enumerate(found):
            if (text := text_of([*some, *own], votes)) is not None:
                found[at] = text, [*some, *own]
                break
        else:
            if (text := text_of(own, votes)) is None:
                return None
            found.append((text, own))
    return found


def _common(parts: Sequence[Part], known: Sequence[Mapping[int, list[tuple[str, float]]]], at: int) -> dict[str, float]:
    """Words for one result that explain its size in each of the parts; of an input, at least the largest one's."""
    sized = [
        (each, result, of)
        for each, of in zip(parts, known, strict=True)
        if isinstance(result := each.items[at], Result)
    ]
    some = [each for each in sized if each[1].nbytes]
    if not some:
        return {"0": 0.0}
    common: dict[str, float] | None = None
    for each, result, of in some:
        own = words(each, result, of)
        common = own if common is None else {word: max(cost, own[word]) for word, cost in common.items() if word in own}
    if not common and some[0][1].op == "NONE":
        common = words(*max(some, key=lambda each: each[1].nbytes))
    if len(some) < len(sized):  # nothing, where there is one sequence
        common = {word: cost for word, cost in (common or {}).items() if word.startswith("R")}
    return common or {}


# --- which part a layer has ---------------------------------------------------------------------------


def conditions(part: Part, fields: Sequence[str]) -> set[str]:
    """What holds of a layer, in the words of `Layer.has`."""
    found = {*part.layer.weights, *part.layer.kinds, *(f"<{name}" for name in part.layer.before)}
    return found | {name for name in fields if _field(part.layer, name) > 0}


def choices(texts: Mapping[str, Sequence[set[str]]]) -> list[list[str]]:
    """[condition, text], the first that holds counts; the less frequent ones that nothing distinguishes are left out."""
    left, found = dict(texts), list[list[str]]()
    if not left:
        return []
    while len(left) > 1:
        order = sorted(left, key=lambda each: len(left[each]))
        condition = next(((text, own) for text in order if (own := _apart(text, left))), None)
        if condition:
            found.append([condition[1], condition[0]])
        del left[condition[0] if condition else order[0]]
    return [*found, ["", next(iter(left))]]


def _any(texts: Mapping[str, list[set[str]]]) -> dict[str, list[set[str]]]:
    return {text: own for text, own in texts.items() if own}


def _apart(text: str, texts: Mapping[str, Sequence[set[str]]]) -> str | None:
    """What holds wherever this text does, and nowhere else: of one word, or of two."""
    others = [each for other, several in texts.items() if other != text for each in several]
    always, ever = set.intersection(*texts[text]), set.union(*texts[text])
    words = [*sorted(always, key=_likely), *(f"!{each}" for each in sorted(set.union(*others) - ever, key=_likely))]

    def holds(word: str, of: set[str]) -> bool:
        return (word.removeprefix("!") in of) != word.startswith("!")

    for word in words:
        if not any(holds(word, each) for each in others):
            return word
    for at, word in enumerate(words):
        for other in words[at + 1 :]:
            if not any(holds(word, each) and holds(other, each) for each in others):
                return f"{word}&{other}"
    return None


def _likely(word: str) -> tuple[bool, int, str]:
    return not re.match(r"full|sliding|recurrent|first|last|windows|attn|ffn|ssm|time|short", word), len(word), word


# --- drawing ------------------------------------------------------------------------------------------


class Round(Draw):
    """A model whose widths are multiples of 64, as its cache must have for its heads to be rotated."""

    def __init__(self, architecture: str, seed: int) -> None:
        super().__init__(architecture, seed)
        self.hidden = self.heads * self.random.choice([64, 128, 192, 256, 320])
        self.narrow = architecture in NARROW
        self.head = self.hidden // self.heads if self.narrow else self.random.choice([64, 128, 192, 256, 320])

    @property
    def rope(self) -> int:
        return 64

    def eight(self, least: int, most: int) -> int:
        return 64 * self.random.randint(1, max(least, most))


def parts_drawn(graphs: Graphs, pairs: list[Pair], number: int, settings: Sequence[Setting]) -> list[Part]:
    """The parts of one model's graphs."""
    with tempfile.TemporaryDirectory() as made_in:
        path = Path(made_in, "model.gguf")
        stored, head = predicted(write(path, pairs, {}))
        model = None
        for tensors in (stored, stored | head):
            model = model or graphs.model(write(path, pairs, tensors))
            if model:
                break
        config = inspector.open(path).config
    assert config is not None
    scope, kept = caches.text_scope(config), caches.kept(config)
    if not model or scope is None:
        return []
    layers, outside = layers_of({name: tuple(shape) for name, shape in tensors.items()}, scope, kept)
    after = outside._replace(before=layers[-1].weights)
    found = []
    for kind, (context, micro, sequences, outputs) in settings:
        flash, cache = ATTENTION[kind]
        made = None
        if kind != "rotated" or rotation(scope):
            asked = {"n_ctx": context, "n_ubatch": micro, "n_seq_max": sequences, "n_outputs_max": outputs}
            made = graphs.context(model, flash_attn_type=flash, type_k=cache, type_v=cache, **asked)
        if not made:
            continue
        cells = context // sequences
        window = next((-(-(each.window + micro) // 256) * 256 for each in kept if each.window), cells)
        tokens, _, results = graphs.reserved_for()
        batch = Batch(tokens, results, cells, min(cells, window), sequences)
        for key, items in parts_of(list(graphs.events(made)), len(layers)):
            layer = layers[int(key)] if key.isdigit() else outside if key == "start" else after
            found.append(Part(key, items, layer, batch, kind, number))
        graphs.lib.llama_free(made)
    return found


def entry_of(parts: Sequence[Part]) -> dict[str, Words]:
    """An architecture's entry: its attentions, without those of which a size has no word, or nothing is known."""
    found = {kind: _parts_written([each for each in parts if each.attention == kind]) for kind in ATTENTION}
    return {kind: written for kind, written in found.items() if written and not _same(kind, written, found)}


def _same(kind: str, written: Words, of: Mapping[str, Words | None]) -> bool:
    """Whether a rotated cache makes no other graph."""
    return kind == "rotated" and written == of.get("flash")


def _parts_written(parts: Sequence[Part]) -> Words | None:
    written, votes = [], votes_of(parts)
    for keys in ("start", "", "end"):
        groups: dict[tuple[str, frozenset[str]], list[Part]] = defaultdict(list)
        for each in parts:
            if each.key == keys if keys else each.key.isdigit():
                groups[each.structure, each.layer.kinds - {"first", "last", "windows"}].append(each)
        texts: dict[str, list[set[str]]] = defaultdict(list)
        for group in groups.values():
            several = _texts_of(group, votes)
            if several is None:
                return None
            for text, some in several:
                texts[text] += [conditions(each, (*NUMBERS, *FLAGS)) for each in some]
        if not texts:
            return None
        last = {text: [each for each in own if "last" in each] for text, own in texts.items()}
        others = {text: [each for each in own if "last" not in each] for text, own in texts.items()}
        ends = [[f"last&{condition}".removesuffix("&"), text] for condition, text in choices(_any(last))]
        written.append([*ends, *choices(_any(others) or _any(last))])
    return written


def main() -> None:
    """Write the named architectures' graphs, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("--seeds", type=int, default=9)
    parser.add_argument("--attention", choices=ATTENTION, action="append", help="only these, of known architectures")
    parser.add_argument("architecture", nargs="*")
    given = parser.parse_intermixed_args()
    asked, graphs = loaders(given.source), Graphs()
    known = json.loads(DATA.read_text())
    entries = {
        name: known["architectures"][of] if isinstance(of, str) else of for name, of in known["architectures"].items()
    }
    for architecture in given.architecture or asked:
        kinds = given.attention or [*ATTENTION]
        if given.attention and architecture not in entries:
            continue
        entry = in_child(
            lambda name=architecture, of=kinds: entry_of(list(_drawn(graphs, name, asked[name], given.seeds, of))), 600
        )
        print(architecture, *(entry or ["left as it was"]), flush=True)
        if entry:
            every = {**entries.get(architecture, {}), **entry} if given.attention else entry
            entries[architecture] = {kind: text for kind, text in every.items() if not _same(kind, text, every)}
    lines, seen = [], dict[str, str]()
    for name in (*(each for each in asked if each in entries), *sorted(entries.keys() - asked.keys())):
        text = json.dumps(entries[name])
        lines.append(f" {json.dumps(name)}: {json.dumps(seen[text]) if text in seen else text}")
        seen.setdefault(text, name)
    DATA.write_text(f'{{"build": {json.dumps(known["build"])}, "architectures": {{\n' + ",\n".join(lines) + "\n}}\n")


def _drawn(
    graphs: Graphs, architecture: str, asked: Mapping[str, bool], seeds: int, kinds: Sequence[str]
) -> Iterator[Part]:
    for seed in range(seeds):
        for drawn in (Draw, Round):
            settings = [(kind, each) for kind in kinds for each in SETTINGS if (kind == "rotated") == (drawn is Round)]
            pairs = draw(architecture, asked, seed, drawn)
            experts = next((value for key, _, value in pairs if key.endswith(".expert_count")), 0)
            used = 2 + seed % (3 if experts > 4 else 2)
            pairs = [(key, kind, used if key.endswith("expert_used_count") else value) for key, kind, value in pairs]

            def parts(some: Sequence[Setting], of: list[Pair] = pairs, at: int = seed) -> list[Part] | None:
                found: list[Part] | None = in_child(lambda: _picklable(graphs, of, at, some))
                return found

            found = parts(settings) if settings else []
            if found is None:  # it ends the process with some
                found = [part for each in settings for part in parts([each]) or ()]
            yield from found


def _picklable(graphs: Graphs, pairs: list[Pair], seed: int, settings: Sequence[Setting]) -> list[Part]:
    """The parts with the fields that are looked up later."""

    def noted(layer: Layer) -> Layer:
        return layer._replace(field={name: _field(layer, name) for name in (*NUMBERS, *FLAGS)}.__getitem__)

    return [part._replace(layer=noted(part.layer)) for part in parts_drawn(graphs, pairs, seed, settings)]


if __name__ == "__main__":
    main()
