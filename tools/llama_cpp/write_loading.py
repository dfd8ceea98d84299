"""What llama.cpp's loader asks of key-values: `inspector/auditing/data/gguf.json`.

    python tools/llama_cpp/write_loading.py SOURCE "llama.cpp …"     # SOURCE is llama.cpp's

Read in its source: the type of each key (that of the variable it is read into, which the file's must be), those that may
be lists, the names of tokenizers, of pre-tokenizers and of RoPE scalings, the operation of each tensor, and the
architectures whose heads are rotated as a whole. Asked of it, with the files of `fixtures/gguf_loaded.jsonl`: which keys
an architecture cannot do without, of which it refuses another type, and which biases it loads. Needs
xllamacpp.
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

from faults import Entry, Pair, sound  # noqa: E402  found beside this file
from library import Llama  # noqa: E402  the same
from sparse_gguf import write_gguf  # noqa: E402  found through the path above

OUT = ROOT / "inspector" / "auditing" / "data" / "gguf.json"
#: C++ type → GGUF's name for it.
TYPES = {"uint32_t": "uint32", "int32_t": "int32", "float": "float32", "bool": "bool", "std::string": "string"}
TYPES["llama_pooling_type"] = "uint32"  # an enumeration
#: Operations of which ggml has only some types: of a norm's weight, of a bias, of matrices and of tables.
OPERATIONS = ("MUL", "ADD", "MUL_MAT", "MUL_MAT_ID", "GET_ROWS")
#: What it says where a key is missing, and where none makes a size 0. Other errors are of sizes that the key may have a
#: default for, and the vocabulary's is told by the tokens.
NEEDED = r"key not found|expected (?:\d+, )?0,"
_VARIABLE = r'^\s*(?:std::array<|enum )?(uint32_t|int32_t|float|bool|std::string|llama_pooling_type)\b[^;({]*?\b(\w+)\s*(?:=|;|,|\[|\(")'


def names(text: str) -> dict[str, str]:
    """LLM_KV_… → the key, `%s` for the architecture."""
    return dict(re.findall(r'\{\s*LLM_KV_(\w+)\s*,\s*"([^"]+)"', text))


def variables(text: str) -> dict[str, str]:
    """Name → type, of the fields and local variables that keys are read into."""
    return {name: TYPES[kind] for kind, name in re.findall(_VARIABLE, text, re.MULTILINE)}


def quoted(text: str, variable: str) -> list[str]:
    """The names that a variable is compared with."""
    return sorted(set(re.findall(rf'\b{variable}\s*==\s*"([^"]+)"', text)))


def operations(text: str) -> dict[str, str]:
    """Tensor's name, `%d` for the layer → ggml's operation with it, of the tensors whose operation restricts types.

    A bias has the name of its weight, but is added.
    """
    named = re.findall(r'\{\s*LLM_TENSOR_(\w+),\s*"([^"]+)"\s*\}', text)
    done = dict(re.findall(r"\{\s*LLM_TENSOR_(\w+),\s*\{\s*LLM_TENSOR_LAYER_\w+,\s*GGML_OP_(\w+)", text))
    return {name: done[each] for each, name in sorted(named) if done.get(each) in OPERATIONS}


def reshaped(text: str, named: dict[str, str]) -> set[str]:
    """The tensors of which only the number of elements is compared, in the source of an architecture."""
    found = re.findall(r"tn\(\s*LLM_TENSOR_(\w+)[^;]*?TENSOR_ALLOW_RESHAPE", text)
    return {named[each] for each in found if each in named}


def asked(kinds: dict[str, str], lists: Collection[str]) -> dict[str, dict[str, list[str]]]:
    """Architecture → the keys that it needs, those of which it refuses another type, and its optional biases."""
    llama, found = Llama(), {}
    single = {key: kind for key, kind in kinds.items() if key not in lists and key.startswith(("%s.", "tokenizer."))}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.gguf")
        for line in (ROOT / "fixtures" / "gguf_loaded.jsonl").read_text().splitlines():
            case = json.loads(line)
            pairs, entries = sound(case)
            own = case["architecture"] + "."
            keys = {key.replace("%s.", own): kind for key, kind in single.items()}
            found[case["architecture"]] = {
                "needed": [key.removeprefix(own) for key in needed(llama, path, pairs, entries)],
                "typed": sorted({key.removeprefix(own) for key in typed(llama, path, pairs, entries, keys)}),
                "biases": biases(llama, path, pairs),
            }
    return found


def needed(llama: Llama, path: Path, pairs: list[Pair], entries: list[Entry]) -> Iterator[str]:
    """The keys without which a file is refused."""
    for at in range(2, len(pairs)):
        write_gguf(path, [*pairs[:at], *pairs[at + 1 :]], entries)
        if re.search(NEEDED, llama.load(path).error) and not pairs[at][0].endswith("vocab_size"):
            yield pairs[at][0]


def typed(llama: Llama, path: Path, pairs: list[Pair], entries: list[Entry], keys: dict[str, str]) -> Iterator[str]:
    """The keys whose type is compared: those of the file singly, and any others at once, taking out each as refused."""
    for at in range(2, len(pairs)):
        write_gguf(path, [*pairs[:at], another(*pairs[at][:2]), *pairs[at + 1 :]], entries)
        if "wrong type" in llama.load(path).error:
            yield pairs[at][0]
    there = {key for key, *_ in pairs}
    wrong = {key: another(key, kind) for key, kind in keys.items() if key not in there}
    while True:
        write_gguf(path, [*pairs, *wrong.values()], entries)
        told = re.search(r"key (\S+) has wrong type", llama.load(path).error)
        if not told or wrong.pop(told[1], None) is None:
            return
        yield told[1]


def another(key: str, kind: str) -> Pair:
    """A key with a value of another type."""
    return (key, "string", "x") if kind != "string" else (key, "float32", 0.5)


def biases(llama: Llama, path: Path, pairs: list[Pair]) -> list[str]:
    """The biases that are loaded where they are present, `%d` for the layer; with experts, and with none."""
    names: set[str] = set()
    for keys in (pairs, [pair for pair in pairs if not pair[0].endswith(("expert_count", "expert_used_count"))]):
        write_gguf(path, keys, [])
        names |= llama.asked_for(path).keys()
    return sorted({re.sub(r"^blk\.\d+", "blk.%d", name) for name in names if name.endswith(".bias")})


def main(source: Path, version: str) -> None:
    folder = source / "src"
    keys = names((folder / "llama-arch.cpp").read_text())
    fields = variables((folder / "llama-hparams.h").read_text())
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    lists: set[str] = set()
    for path in sorted(folder.rglob("*.cpp")):
        text = path.read_text()
        known = {**fields, **variables(text)}
        for how, key, variable in re.findall(r"get_(key_or_arr|key|arr)\(\s*LLM_KV_(\w+)\s*,\s*([\w.]+)", text):
            if key not in keys:
                continue
            if how != "key":
                lists.add(keys[key])
            if how != "arr" and (kind := known.get(variable.rpartition(".")[2])):
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
        "lists": sorted(lists),
        "tokenizers": [name for name in quoted(vocabulary, "tokenizer_model") if name != "test"],
        "pre": quoted(vocabulary, "tokenizer_pre"),
        "rope_scalings": sorted(re.findall(r'\{ LLAMA_ROPE_SCALING_TYPE_\w+,\s*"(\w+)"', model)),
        "operations": operations(architectures),
        "reshaped": sorted(set().union(*(reshaped(path.read_text(), named) for path in folder.rglob("*.cpp")))),
        "rotated_whole": sorted(
            each.lower().replace("_", "-") for each in re.findall(r"LLM_ARCH_(\w+)", rotated[1] if rotated else "")
        ),
    }
    told = asked(document["kinds"], lists)
    everywhere = set.intersection(*(set(each["typed"]) for each in told.values()))
    document["typed"] = sorted(everywhere)
    document["architectures"] = {
        name: each | {"typed": [key for key in each["typed"] if key not in everywhere]} for name, each in told.items()
    }
    OUT.write_text(json.dumps(document, separators=(",", ":")).replace('},"', '},\n"') + "\n")
    print(OUT, len(kinds), "keys")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
