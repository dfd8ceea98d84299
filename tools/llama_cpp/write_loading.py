"""What llama.cpp's loader asks of key-values: `inspector/auditing/data/gguf.json`.

    python tools/llama_cpp/write_loading.py SOURCE "llama.cpp …"     # SOURCE is llama.cpp's

Read in its source: the type of each key (that of the variable it is read into, which the file's must be), those that may
be lists, the names of tokenizers and of pre-tokenizers, and the architectures whose heads are rotated as a whole. Asked
of it, with the files of `fixtures/gguf_loaded.jsonl`: which keys an architecture cannot do without, and of which it
refuses another type. Needs xllamacpp.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

from faults import sound  # noqa: E402  found beside this file
from library import Llama  # noqa: E402  the same
from sparse_gguf import write_gguf  # noqa: E402  found through the path above

OUT = ROOT / "inspector" / "auditing" / "data" / "gguf.json"
#: C++ type → GGUF's name for it.
TYPES = {"uint32_t": "uint32", "int32_t": "int32", "float": "float32", "bool": "bool", "std::string": "string"}
#: What it says where a key is missing, and where none makes a size 0. Other errors are of sizes that the key may have a
#: default for, and the vocabulary's is told by the tokens.
NEEDED = r"key not found|expected (?:\d+, )?0,"
_VARIABLE = r"^\s*(?:std::array<)?(uint32_t|int32_t|float|bool|std::string)\b[^;({]*?\b(\w+)\s*(?:=|;|,|\[)"


def names(text: str) -> dict[str, str]:
    """LLM_KV_… → the key, `%s` for the architecture."""
    return dict(re.findall(r'\{\s*LLM_KV_(\w+)\s*,\s*"([^"]+)"', text))


def variables(text: str) -> dict[str, str]:
    """Name → type, of the fields and local variables that keys are read into."""
    return {name: TYPES[kind] for kind, name in re.findall(_VARIABLE, text, re.MULTILINE)}


def quoted(text: str, variable: str) -> list[str]:
    """The names that a variable is compared with."""
    return sorted(set(re.findall(rf'\b{variable}\s*==\s*"([^"]+)"', text)))


def asked() -> dict[str, dict[str, list[str]]]:
    """Architecture → the keys that it needs, and those of which it refuses another type."""
    llama, found = Llama(), {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.gguf")
        for line in (ROOT / "fixtures" / "gguf_loaded.jsonl").read_text().splitlines():
            case = json.loads(line)
            pairs, entries = sound(case)
            told: dict[str, list[str]] = {"needed": [], "typed": []}
            for at in range(2, len(pairs)):
                key, kind, _ = pairs[at]
                other = ("string", "x") if kind != "string" else ("float32", 0.5)
                for how, changed, said in (("needed", [], NEEDED), ("typed", [(key, *other)], "wrong type")):
                    write_gguf(path, [*pairs[:at], *changed, *pairs[at + 1 :]], entries)
                    if re.search(said, llama.load(path).error) and not (how == "needed" and key.endswith("vocab_size")):
                        told[how].append(key.removeprefix(case["architecture"] + "."))
            found[case["architecture"]] = told
    return found


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
    rotated = re.search(r"if \(([^{]*)\) \{\s*if \(hparams\.n_rot\w* != ", model)
    document: dict[str, object] = {
        "about": "What llama.cpp's loader asks of key-values, by tools/llama_cpp/write_loading.py",
        "source": version,
        "kinds": {key: found.most_common(1)[0][0] for key, found in sorted(kinds.items()) if len(found) == 1},
        "lists": sorted(lists),
        "tokenizers": [name for name in quoted(vocabulary, "tokenizer_model") if name != "test"],
        "pre": quoted(vocabulary, "tokenizer_pre"),
        "rotated_whole": sorted(
            each.lower().replace("_", "-") for each in re.findall(r"LLM_ARCH_(\w+)", rotated[1] if rotated else "")
        ),
    }
    document["architectures"] = asked()
    OUT.write_text(json.dumps(document, separators=(",", ":")).replace('},"', '},\n"') + "\n")
    print(OUT, len(kinds), "keys")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
