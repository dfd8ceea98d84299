"""What llama.cpp's loader asks of key-values: `inspector/auditing/data/gguf.json`.

    python tools/llama_cpp/write_loading.py SOURCE "llama.cpp …"     # SOURCE is llama.cpp's

Read in its source: the type of each key (that of the variable it is read into, which the file's must be), those that may
be lists, the names of tokenizers, of pre-tokenizers and of RoPE scalings, the operation of each tensor, and the
architectures whose heads are rotated as a whole. Asked of it, with the files of `fixtures/gguf_loaded.jsonl`: which keys
an architecture cannot do without, of which it refuses another type, which tensors it loads if they are there, and
whether it takes value heads of a length that differs from our tables. Needs xllamacpp.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

from draw import Entry, Pair, sound  # noqa: E402  found beside this file
from library import Llama  # noqa: E402  the same
from load_cases import predicted  # noqa: E402  the same
from serving import Server  # noqa: E402  the same
from sparse_gguf import write_gguf  # noqa: E402  found through the path above

import inspector  # noqa: E402  the same

OUT = ROOT / "inspector" / "auditing" / "data" / "gguf.json"
#: C++ type → GGUF's name for it.
TYPES = {
    "uint32_t": "uint32",
    "uint64_t": "uint64",
    "int32_t": "int32",
    "float": "float32",
    "bool": "bool",
    "std::string": "string",
}
TYPES |= {"int": "int32", "llama_pooling_type": "uint32"}  # the last is an enumeration
#: Operations for which ggml has only some types: of a norm's weight, of a bias, of matrices and of tables.
OPERATIONS = ("MUL", "ADD", "MUL_MAT", "MUL_MAT_ID", "GET_ROWS", "DIV", "SSM_CONV", "SSM_SCAN", "RWKV_WKV6")
#: Messages for a missing key, and for a size that becomes 0 without it. Other errors are of sizes for which the key may
#: have a default, and the vocabulary's is the number of tokens.
NEEDED = r"key not found|expected (?:\d+, )?0,"
#: A call that reads a key: the function, the key, the variable, and for a list the number of items.
CALL = r"get_(key_or_arr|key|arr)\(\s*LLM_KV_(\w+)\s*,\s*([\w.]+)(?:\s*,\s*([\w.]+(?:\(\))?))?"
#: The number of items that a list must have → our notation of it.
LENGTHS = {"hparams.n_layer_all": "blocks", "hparams.n_layer()": "layers", "4": "4"}
#: The message for a number of dimensions that it cannot rotate.
ROTATED = "n_dims % 2 == 0"
_VARIABLE = r'^\s*(?:std::array<|std::vector<|enum )?(uint32_t|uint64_t|int32_t|int|float|bool|std::string|llama_pooling_type)\b[^;({]*?\b(\w+)\s*(?:=|;|,|\[|\(")'


def names(text: str) -> dict[str, str]:
    """LLM_KV_… → the key, `%s` for the architecture."""
    return dict(re.findall(r'\{\s*LLM_KV_(\w+)\s*,\s*"([^"]+)"', text))


def variables(text: str) -> dict[str, str]:
    """Name → type, of the fields and local variables into which keys are read."""
    return {name: TYPES[kind] for kind, name in re.findall(_VARIABLE, text, re.MULTILINE)}


def quoted(text: str, variable: str) -> list[str]:
    """The names with which a variable is compared."""
    return sorted(set(re.findall(rf'\b{variable}\s*==\s*"([^"]+)"', text)))


def operations(text: str) -> dict[str, str]:
    """Tensor's name, `%d` for the layer → ggml's operation on it, of the tensors whose operation restricts types.

    A bias has the name of its weight, but is added.
    """
    named = re.findall(r'\{\s*LLM_TENSOR_(\w+),\s*"([^"]+)"\s*\}', text)
    done = dict(re.findall(r"\{\s*LLM_TENSOR_(\w+),\s*\{\s*LLM_TENSOR_LAYER_\w+,\s*GGML_OP_(\w+)", text))
    return {name: done[each] for each, name in sorted(named) if done.get(each) in OPERATIONS}


def reshaped(text: str, named: dict[str, str]) -> set[str]:
    """The tensors of which only the number of elements is compared, in the source of an architecture."""
    found = re.findall(r"tn\(\s*LLM_TENSOR_(\w+)[^;]*?TENSOR_ALLOW_RESHAPE", text)
    return {named[each] for each in found if each in named}


def tokenizers(text: str) -> dict[str, str]:
    """Tokenizer → the kind of its vocabulary, which follows the comparison with its name."""
    branches = re.findall(r"if \(([^{;]*\btokenizer_model ==[^{;]*)\) \{\s*type = LLAMA_VOCAB_TYPE_(\w+);", text)
    found = {name: kind for condition, kind in branches for name in quoted(condition, "tokenizer_model")}
    return {name: kind for name, kind in sorted(found.items()) if kind != "TEST"}


def token_ids(text: str, keys: dict[str, str]) -> list[str]:
    """The keys of special tokens."""
    return sorted(keys[each] for each in re.findall(r"\{ LLM_KV_(TOKENIZER_\w+),\s*special_\w+\s*\}", text))


def asked(kinds: dict[str, str], lists: Collection[str]) -> dict[str, dict[str, Any]]:
    """Architecture → the keys that it needs, those of which it refuses another type, its optional tensors."""
    llama, found = Llama(), dict[str, dict[str, Any]]()
    single = {key: kind for key, kind in kinds.items() if key not in lists and key.startswith(("%s.", "tokenizer."))}
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        path = Path(folder, "model.gguf")
        for line in (ROOT / "fixtures" / "gguf_loaded.jsonl").read_text().splitlines():
            case = json.loads(line)
            pairs, entries = sound(case)
            own = case["architecture"] + "."
            keys = {key.replace("%s.", own): kind for key, kind in single.items()}
            found[case["architecture"]] = {
                "needed": [key.removeprefix(own) for key in needed(llama, path, pairs, entries)],
                "typed": sorted({key.removeprefix(own) for key in typed(llama, path, pairs, entries, keys)}),
                "optional": optional(llama, server, path, pairs, entries),
                "fixed_values": has_fixed_values(llama, path, pairs, entries),
                "rotates": rotates(server, path, pairs, entries),
            }
    return found


def needed(llama: Llama, path: Path, pairs: list[Pair], entries: list[Entry]) -> Iterator[str]:
    """The keys without which a file is refused."""
    for at in range(2, len(pairs)):
        write_gguf(path, [*pairs[:at], *pairs[at + 1 :]], entries)
        if re.search(NEEDED, llama.load(path).error) and not pairs[at][0].endswith("vocab_size"):
            yield pairs[at][0]


def typed(llama: Llama, path: Path, pairs: list[Pair], entries: list[Entry], keys: dict[str, str]) -> Iterator[str]:
    """The keys whose type is checked: the file's one by one, and any others together, without each refused one."""
    for at in range(2, len(pairs)):
        size = pairs[at][0].endswith(".vocab_size")
        own = [*of_words(pairs, pairs[at][2]), another(*pairs[at][:2])] if size else None
        write_gguf(path, own or [*pairs[:at], another(*pairs[at][:2]), *pairs[at + 1 :]], entries)
        if "wrong type" in llama.load(path).error:
            yield pairs[at][0]
    there = {key for key, *_ in pairs} | {pairs[0][2] + ".vocab_size"}
    wrong = {key: another(key, kind) for key, kind in keys.items() if key not in there}
    while True:
        write_gguf(path, [*pairs, *wrong.values()], entries)
        reported = re.search(r"key (\S+) has wrong type", llama.load(path).error)
        if not reported or wrong.pop(reported[1], None) is None:
            return
        yield reported[1]


def of_words(pairs: list[Pair], tokens: int) -> list[Pair]:
    """The same with a list of tokens, from which most architectures then take the vocabulary's size."""
    kept = [pair for pair in pairs if not pair[0].endswith((".vocab_size", "ggml.model"))]
    words = [f"w{number}" for number in range(tokens)]
    return [*kept, ("tokenizer.ggml.model", "string", "rwkv"), ("tokenizer.ggml.tokens", "array[string]", words)]


def another(key: str, kind: str) -> Pair:
    """A key with a value of another type."""
    return (key, "string", "x") if kind != "string" else (key, "float32", 0.5)


def optional(llama: Llama, server: Server, path: Path, pairs: list[Pair], entries: list[Entry]) -> list[str]:
    """The tensors that are loaded if present, `%d` for the layer; with experts, and without.

    Scales of packed weights, which it loads for every architecture, are left out.
    """
    names: set[str] = set()
    dense = [pair for pair in pairs if not pair[0].endswith(("expert_count", "expert_used_count"))]
    for keys in (pairs, dense)[: 1 + (len(dense) < len(pairs))]:
        write_gguf(path, keys, [])
        asked_for = {_pattern(name) for name in llama.asked_for(path)}
        stored = entries if keys is pairs else _dense(path)
        write_gguf(path, keys, stored)
        loads, starts = not llama.load(path).error, not server.start(path)
        for kind in {_pattern(name) for _, _, name in stored} & asked_for:
            write_gguf(path, keys, [each for each in stored if _pattern(each[2]) != kind])
            if llama.load(path).error or (starts and server.start(path)):
                asked_for.discard(kind)
        names |= {name for name in asked_for if loads or name.endswith(".bias")}
    return sorted(name for name in names if not name.endswith("scale"))


def rotates(server: Server, path: Path, pairs: list[Pair], entries: list[Entry]) -> str:
    """The dimensions of a head that may be rotated: "whole" for all, "part" for any even number, "" for any at all."""
    own = pairs[0][2] + "."
    keys = {key.removeprefix(own): value for key, _, value in pairs}
    head = head_of(keys)
    write_gguf(path, pairs, entries)
    if head is None or server.start(path):
        return ""
    kept = [pair for pair in pairs if pair[0] != own + "rope.dimension_count"]
    write_gguf(path, [*kept, (own + "rope.dimension_count", "uint32", 7)], entries)
    odd = server.start(path)
    write_gguf(path, [*kept, (own + "rope.dimension_count", "uint32", head - 2)], entries)
    if keys.get("rope.dimension_count", head) == head and server.start(path):
        return "whole"
    return "part" if ROTATED in odd else ""


def head_of(keys: dict[str, Any]) -> int | None:
    """The dimensions of a head; None where layers differ."""
    heads = keys.get("attention.head_count")
    length = keys.get("attention.key_length")
    return length or (keys["embedding_length"] // heads if isinstance(heads, int) and heads else None)


def _dense(path: Path) -> list[Entry]:
    """The tensors that are predicted from key-values; none if they make no model."""
    try:
        return [("F32", shape, name) for name, shape in predicted(path)[0].items()]
    except inspector.InspectorError:
        return []


def _pattern(name: str) -> str:
    return re.sub(r"^blk\.\d+", "blk.%d", name)


def has_fixed_values(llama: Llama, path: Path, pairs: list[Pair], entries: list[Entry]) -> bool:
    """Whether it refuses value heads of another length, for which our tables predict the same tensors."""
    own = pairs[0][2] + "."
    keys = {key.removeprefix(own): value for key, _, value in pairs}
    heads = keys.get("attention.head_count")
    heads = max(heads) if isinstance(heads, list) else heads
    if not heads:
        return False
    length = keys.get("attention.value_length", keys["embedding_length"] // heads)
    key = own + "attention.value_length"
    changed = [*(pair for pair in pairs if pair[0] != key), (key, "uint32", length + 8)]
    write_gguf(path, pairs, [])
    before = predicted(path)
    write_gguf(path, changed, [])
    if predicted(path) != before:
        return False
    write_gguf(path, changed, entries)
    return bool(llama.load(path).error)


def scaled(text: str) -> list[str]:
    """LLM_TENSOR_… of the weights for which it loads a scale."""
    return sorted(set(re.findall(r'LLM_TENSOR_(\w+),\s*"(?:input_)?scale"', text)))


def main(source: Path, version: str) -> None:
    folder = source / "src"
    keys = names((folder / "llama-arch.cpp").read_text())
    headers = ("llama-vocab.h", "llama-model.h", "llama-hparams.h")
    fields = {name: kind for each in headers for name, kind in variables((folder / each).read_text()).items()}
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    lists: dict[str, dict[str, str]] = {}
    for path in sorted(folder.rglob("*.cpp")):
        text = path.read_text()
        known = {**fields, **variables(text)}
        for how, key, variable, third in re.findall(CALL, text):
            kind = known.get(variable.rpartition(".")[2])
            if key not in keys:
                continue
            if how != "key" and kind and third not in ("true", "false"):
                lists[keys[key]] = {"item": kind, "length": LENGTHS.get(third, "")}
            elif how != "key" and kind:
                lists.setdefault(keys[key], {"item": kind, "length": ""})
            if how != "arr" and kind:
                kinds[keys[key]][kind] += 1
    vocabulary = (folder / "llama-vocab.cpp").read_text()
    model = (folder / "llama-model.cpp").read_text()
    architectures = (folder / "llama-arch.cpp").read_text()
    named = dict(re.findall(r'\{\s*LLM_TENSOR_(\w+),\s*"([^"]+)"\s*\}', architectures))
    rotated = re.search(r"if \(([^{]*)\) \{\s*if \(hparams\.n_rot\w* != ", model)
    document: dict[str, Any] = {
        "about": "What llama.cpp's loader asks of key-values, by tools/llama_cpp/write_loading.py",
        "source": version,
        "kinds": {key: found.most_common(1)[0][0] for key, found in sorted(kinds.items()) if len(found) == 1},
        "lists": dict(sorted(lists.items())),
        "scaled": sorted(named[each] for each in scaled(model)),
        "tokenizers": tokenizers(vocabulary),
        "token_ids": token_ids(vocabulary, keys),
        "pre": quoted(vocabulary, "tokenizer_pre"),
        "rope_scalings": sorted(re.findall(r'\{ LLAMA_ROPE_SCALING_TYPE_\w+,\s*"(\w+)"', model)),
        "operations": operations(architectures),
        "reshaped": sorted(set().union(*(reshaped(path.read_text(), named) for path in folder.rglob("*.cpp")))),
        "rotated_whole": sorted(
            each.lower().replace("_", "-") for each in re.findall(r"LLM_ARCH_(\w+)", rotated[1] if rotated else "")
        ),
    }
    reported = asked(document["kinds"], lists)
    everywhere = set.intersection(*(set(each["typed"]) for each in reported.values()))
    document["typed"] = sorted(everywhere)
    document["architectures"] = {
        name: {
            "needed": each["needed"],
            "typed": [key for key in each["typed"] if key not in everywhere],
            "optional": each["optional"],
            **({"fixed_values": True} if each["fixed_values"] else {}),
            **({"rotates": each["rotates"]} if each["rotates"] else {}),
        }
        for name, each in reported.items()
    }
    OUT.write_text(json.dumps(document, separators=(",", ":")).replace('},"', '},\n"') + "\n")
    print(OUT, len(kinds), "keys")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
