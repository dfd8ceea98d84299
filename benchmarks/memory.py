"""Memory: `inspect memory`, its peers, and what engines print or take, for the same models and one context.

    python benchmarks/memory.py [TOKENS]           # caches; 32,768 by default
    python benchmarks/memory.py --total [TOKENS]   # whole processes: files by llama.cpp, models by Transformers

Each cache is of a GGUF of the published key-values alone; where no cache depends on a width, such as that of DeepSeek's
hidden states, it is small, since llama.cpp asks for the memory of all weights. Peers are asked where they are:
XLLAMACPP, a Python that has the package xllamacpp (llama.cpp itself), HF_MEM, one that has hf-mem and kvfit,
ACCELERATE, one that has accelerate and Transformers, and NODE_LLAMA_CPP, a folder in which
`npm install node-llama-cpp` ran; gguf-parser's formula (`file_estimate__llamacpp.go`) is worked out here. What
Transformers takes was measured on a GPU before (`fixtures/transformers_peaks.jsonl`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "fixtures"))
from sparse_gguf import write_gguf  # noqa: E402  found through the path above

FIXTURE = ROOT / "fixtures" / "caches_llama_cpp.jsonl"


class Model(NamedTuple):
    """A published model."""

    name: str
    architecture: str
    keys: Mapping[str, int]  # key-values, without the architecture's name before them
    config: Mapping[str, Any]  # input of hf-mem


def _config(layers: int, hidden: int, heads: int, kv: int, head: int, **others: Any) -> dict[str, Any]:
    widths = {"hidden_size": hidden, "num_attention_heads": heads, "num_key_value_heads": kv, "head_dim": head}
    return {"num_hidden_layers": layers, **widths, **others}


def _attention(layers: int, hidden: int, heads: int, kv: int, head: int, **others: int) -> dict[str, int]:
    return {
        "block_count": layers,
        "embedding_length": hidden,
        "attention.head_count": heads,
        "attention.head_count_kv": kv,
        "attention.key_length": head,
        "attention.value_length": head,
        "rope.dimension_count": head,
        "context_length": 131072,
        **{name.replace("__", "."): value for name, value in others.items()},
    }


MODELS = (
    Model("Llama 3.1 8B", "llama", _attention(32, 4096, 32, 8, 128), _config(32, 4096, 32, 8, 128)),
    Model(
        "Gemma 3 27B",
        "gemma3",
        _attention(62, 5376, 32, 16, 128, attention__sliding_window=1024),
        _config(62, 5376, 32, 16, 128, sliding_window=1024, sliding_window_pattern=6),
    ),
    Model(
        "gpt-oss 20B",
        "gpt-oss",
        _attention(24, 2880, 64, 8, 64, attention__sliding_window=128),
        _config(24, 2880, 64, 8, 64, sliding_window=128, layer_types=["sliding_attention", "full_attention"] * 12),
    ),
    Model(
        "Qwen3-Next 80B",
        "qwen3next",
        _attention(
            48,
            2048,
            16,
            2,
            256,
            full_attention_interval=4,
            ssm__inner_size=4096,
            ssm__state_size=128,
            ssm__group_count=16,
            ssm__time_step_rank=32,
            ssm__conv_kernel=4,
        )
        | {"rope.dimension_count": 64},
        _config(48, 2048, 16, 2, 256, layer_types=(["linear_attention"] * 3 + ["full_attention"]) * 12),
    ),
    Model(
        "DeepSeek-V3",
        "deepseek2",
        {
            "block_count": 61,
            "embedding_length": 1024,
            "attention.head_count": 128,
            "attention.head_count_kv": 1,
            "attention.q_lora_rank": 1536,
            "attention.kv_lora_rank": 512,
            "attention.key_length": 576,
            "attention.value_length": 512,
            "attention.key_length_mla": 192,
            "attention.value_length_mla": 128,
            "rope.dimension_count": 64,
            "context_length": 163840,
        },
        _config(61, 7168, 128, 128, 56),
    ),
    Model(
        "Mamba 2.8B",
        "mamba",
        {
            "block_count": 64,
            "embedding_length": 2560,
            "ssm.conv_kernel": 4,
            "ssm.inner_size": 5120,
            "ssm.state_size": 16,
            "ssm.time_step_rank": 160,
            "context_length": 131072,
        },
        {"num_hidden_layers": 64, "hidden_size": 2560},
    ),
)

#: gguf-parser: the interval of layers that keep all tokens, for architectures that it knows; otherwise 1.
PATTERNS = {"gemma3": 6, "gemma2": 2, "cohere2": 4, "llama4": 4}

HF_MEM = """
import json, sys
from hf_mem.safetensors.kv_cache import compute_safetensors_kv_cache_size
for config in json.loads(sys.argv[2]):
    try:
        print(compute_safetensors_kv_cache_size(config, "BF16", int(sys.argv[1])))
    except Exception as error:
        print("none")
"""
NODE = """
import {readGgufFileInfo, GgufInsights} from "node-llama-cpp";
for (const file of process.argv.slice(3)) {
  const insights = await GgufInsights.from(await readGgufFileInfo(file));
  const own = insights._estimateContextCacheMemorySplitInBytes;
  let kept;
  insights._estimateContextCacheMemorySplitInBytes = function (asked) { kept = own.call(this, asked); return kept; };
  insights.estimateContextResourceRequirements(
    {contextSize: Number(process.argv[2]), modelGpuLayers: 0, sequences: 1, batchSize: 512, flashAttention: true});
  console.log(kept.cpuKVCacheSize + kept.cpuRecurrentStateSize);
}
process.exit(0);
"""


def write(model: Model, path: Path) -> list[tuple[str, str, Any]]:
    """A GGUF of the model's key-values, which replace those of a random one of its architecture."""
    cases = (json.loads(line)["pairs"] for line in FIXTURE.read_text().splitlines())
    pairs = {key: (kind, value) for key, kind, value in next(p for p in cases if p[0][2] == model.architecture)}
    for key, value in model.keys.items():
        pairs[f"{model.architecture}.{key}"] = ("uint32", value)
    written = [(key, kind, value) for key, (kind, value) in pairs.items()]
    write_gguf(path, written, [])
    return written


def document(path: Path, tokens: int, *more: str) -> dict[str, Any]:
    """`inspect memory` of the file."""
    command = [sys.executable, "-m", "inspector", "memory", str(path), "--context", str(tokens), "--json", *more]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    return found


def usual(model: Model, tokens: int) -> int | None:
    """2 × layers × heads for keys × head width × tokens × 2 bytes."""
    config = model.config
    if "head_dim" not in config:
        return None
    return 4 * config["num_hidden_layers"] * config["num_key_value_heads"] * config["head_dim"] * tokens


def gguf_parser(model: Model, tokens: int) -> int:
    """gguf-parser's formula, of commit 8dc7a62 (July 2026)."""
    keys = {name.rsplit(".", 1)[-1]: value for name, value in model.keys.items()}
    layers, cells = keys["block_count"], -(-tokens // 256) * 256
    if "inner_size" in keys and "head_count" not in keys:
        row = (keys["conv_kernel"] - 1) * (keys["inner_size"] + 2 * keys.get("group_count", 0) * keys["state_size"])
        return layers * 4 * (row + keys["state_size"] * keys["inner_size"])
    states = 0
    if "inner_size" in keys:
        row = (keys["conv_kernel"] - 1) * (keys["inner_size"] + 2 * keys["group_count"] * keys["state_size"])
        states = layers * 4 * (row + keys["state_size"] * keys["inner_size"])
    widths = keys.get("key_length_mla", keys["key_length"]) + keys.get("value_length_mla", keys["value_length"])
    token = 2 * widths * keys["head_count_kv"]
    every = PATTERNS.get(model.architecture, 1)
    sliding = sum(layer % every != 0 for layer in range(layers)) if every > 1 else 0
    window = min(cells, -(-(keys.get("sliding_window", 0) + 2048) // 256) * 256)
    return states + token * ((layers - sliding) * cells + sliding * window)


def llama_cpp(python: str, path: Path, tokens: int) -> float:
    """MiB for keys, values and states, as printed by llama.cpp."""
    asked = json.dumps([{"n_ctx": tokens, "swa_full": False}])
    command = [python, str(ROOT / "tools" / "llama_caches.py"), str(path), asked]
    ran = subprocess.run(command, capture_output=True, check=True, text=True)
    sys.path.insert(0, str(ROOT / "tools"))
    from llama_caches import figures

    return sum(figures(json.loads(ran.stdout.splitlines()[-1])[0])[0])


def hf_mem(python: str, tokens: int) -> list[int | None]:
    """hf-mem's figures; None if it has none."""
    configs = json.dumps([model.config for model in MODELS])
    ran = subprocess.run([python, "-c", HF_MEM, str(tokens), configs], capture_output=True, check=True, text=True)
    return [None if line == "none" else int(line) for line in ran.stdout.split()]


def node(folder: str, paths: list[Path], tokens: int, program: str = NODE) -> list[int]:
    """node-llama-cpp's figures."""
    script = Path(folder) / "estimate.mjs"
    script.write_text(program)
    command = ["node", str(script), str(tokens), *map(str, paths)]
    ran = subprocess.run(command, capture_output=True, check=True, text=True, cwd=folder)
    return [int(line) for line in ran.stdout.split() if line.isdecimal()]


def rows(tokens: int) -> Iterator[tuple[str, ...]]:
    """A line for each model."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.gguf" for number in range(len(MODELS))]
        for model, path in zip(MODELS, paths, strict=True):
            write(model, path)
        none: list[int | None] = [None] * len(MODELS)
        peers = hf_mem(os.environ["HF_MEM"], tokens) if "HF_MEM" in os.environ else none
        nodes = node(os.environ["NODE_LLAMA_CPP"], paths, tokens) if "NODE_LLAMA_CPP" in os.environ else none
        for model, path, peer, estimate in zip(MODELS, paths, peers, nodes, strict=True):
            real = f"{llama_cpp(os.environ['XLLAMACPP'], path, tokens):,.2f}" if "XLLAMACPP" in os.environ else "–"
            figures = (
                document(path, tokens)["cache"]["bytes"],
                gguf_parser(model, tokens),
                estimate,
                peer,
                usual(model, tokens),
            )
            yield (model.name, real, *("–" if each is None else f"{each / 2**20:,.2f}" for each in figures))


#: Recipes of published GGUF files; and models above that are written with their weights in F16.
PUBLISHED = ("llama-3.2-1b-q8_0", "llama-3.1-8b-q4_k_m", "mistral-7b-instruct-v0.2-q4_k_m", "mixtral-8x7b-q4_0")
IN_F16 = {"Gemma 3 27B": (21504, 262208), "Llama 3.1 8B": (14336, 128256)}
#: Types of `transformers_peaks.jsonl`, with four layers, and the prompt that was read at once.
MEASURED = ("llama", "qwen3", "gemma3_text", "phi3", "mixtral", "deepseek_v3")
PROMPT = 8192
PEAKS = ROOT / "fixtures" / "transformers_peaks.jsonl"
WHOLE = """
import {readGgufFileInfo, GgufInsights} from "node-llama-cpp";
for (const file of process.argv.slice(3)) {
  const insights = await GgufInsights.from(await readGgufFileInfo(file));
  const context = insights.estimateContextResourceRequirements(
    {contextSize: Number(process.argv[2]), modelGpuLayers: 0, sequences: 1, batchSize: 512, flashAttention: true});
  console.log(Math.round(insights.estimateModelResourceRequirements({gpuLayers: 0}).cpuRam + context.cpuRam));
}
process.exit(0);
"""
HF_MEM_FILES = """
import sys
from hf_mem.gguf.metadata import parse_gguf_metadata
for path in sys.argv[2:]:
    try:
        found = parse_gguf_metadata(open(path, "rb").read(1 << 26), experimental=True, max_model_len=int(sys.argv[1]))
        print(found.bytes_count + found.kv_cache.cache_size)
    except Exception as error:
        print("none")
"""
HF_MEM_MODELS = """
import json, sys
from hf_mem.safetensors.kv_cache import compute_safetensors_kv_cache_size
from kvfit.architectures import estimate_cache
for config in json.loads(sys.argv[2]):
    for peer in (
        lambda: compute_safetensors_kv_cache_size(config, "BF16", int(sys.argv[1])),
        lambda: int(estimate_cache(config, context_tokens=int(sys.argv[1])).total_bytes),
    ):
        try:
            print(peer())
        except Exception as error:
            print("none")
"""
ACCELERATE = """
import json, sys
import torch
import transformers
from accelerate.utils import calculate_maximum_sizes
for config in json.loads(sys.argv[1]):
    made = transformers.AutoConfig.for_model(**config)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(made, dtype=torch.bfloat16)
    print(calculate_maximum_sizes(model)[0])
"""


def gguf_parser_total(path: Path, tokens: int) -> int | None:
    """gguf-parser's RAM of a file, with flash attention: `estimateLLaMACppRunInModel` of commit 8dc7a62."""
    import inspector

    checkpoint = inspector.open(path)
    keys, tensors = checkpoint.files[0].metadata, {each.name: each for each in checkpoint.tensors}
    name = str(keys["general.architecture"])
    own = {key.removeprefix(f"{name}."): value for key, value in keys.items() if isinstance(value, int)}
    layers, hidden, heads = own["block_count"], own["embedding_length"], own["attention.head_count"]
    shapes = {"attention.head_count_kv": heads, "attention.key_length": hidden // heads}
    shapes |= {"attention.value_length": hidden // heads}
    token = {key: own.get(key, usual) for key, usual in shapes.items()}
    model = Model("", name, {**own, **token}, {})
    cells, batch = -(-tokens // 256) * 256, min(tokens, 512)
    vocabulary = tensors["token_embd.weight"].shape[0]
    stored = sum(each.nbytes for each in checkpoint.tensors)
    words, merges = len(_list(keys, "tokens")), len(_list(keys, "merges"))
    merged = 104 * merges if keys.get("tokenizer.ggml.model") == "gpt2" else 0
    footprint = (5 << 20) + path.stat().st_size - stored + 96 * words + merged + 4 * batch * (hidden + vocabulary)
    nodes, tensor = max(1024, 8 * len(tensors)), 368
    graph = tensor * nodes + 40 * nodes + (4 << 20) + 2 * tensor * (len(tensors) + 1 + 3 * layers)
    inputs = 4 * batch * (1 + hidden + 1 + cells + 1)
    row = cells * token["attention.head_count_kv"]
    one_layer = 2 * row * (token["attention.key_length"] + token["attention.value_length"])
    outputs = 4 * batch * (hidden + vocabulary)
    return stored + gguf_parser(model, tokens) + footprint + graph + inputs + one_layer + outputs


def _list(keys: Mapping[str, Any], name: str) -> Any:
    value = keys.get(f"tokenizer.ggml.{name}")
    return value if hasattr(value, "__len__") and not isinstance(value, str) else ()


def asked(variable: str, program: str, arguments: Sequence[str], number: int) -> list[int | None]:
    """What a peer's Python prints, a number a line; nothing is known where it is not installed."""
    if variable not in os.environ:
        return [None] * number
    command = [os.environ[variable], "-c", program, *arguments]
    lines = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    return [int(line) if line.isdecimal() else None for line in lines]


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Name and path of each GGUF."""
    from sparse import load, make

    import inspector

    for name in PUBLISHED:
        yield name, next(make(load(name), folder / name).glob("*.gguf"))
    for model in MODELS:
        if model.name in IN_F16:
            width, vocabulary = IN_F16[model.name]
            keys = {**model.keys, "feed_forward_length": width, "vocab_size": vocabulary}
            path = folder / f"{model.architecture}.gguf"
            tensors = write(model._replace(keys=keys), path)
            rows = [(name, row.shape) for row in inspector.predict(path).expected for name in row.names()]
            write_gguf(path, tensors, [("F16" if len(shape) > 1 else "F32", list(shape), name) for name, shape in rows])
            yield f"{model.name}, F16", path


def totals(tokens: int) -> Iterator[tuple[str, ...]]:
    """A line for each file or model: what the engine prints or takes, ours, and each peer's."""
    with tempfile.TemporaryDirectory() as folder:
        named = dict(files(Path(folder)))
        paths = [str(path) for path in named.values()]
        nodes: list[int | None] = [None] * len(paths)
        if "NODE_LLAMA_CPP" in os.environ:
            nodes = [*node(os.environ["NODE_LLAMA_CPP"], [*named.values()], tokens, WHOLE)]
        by_hf_mem = asked("HF_MEM", HF_MEM_FILES, [str(tokens), *paths], len(paths))
        for (name, path), by_node, by_hf in zip(named.items(), nodes, by_hf_mem, strict=True):
            ask = ["--ask", os.environ["XLLAMACPP"]] if "XLLAMACPP" in os.environ else []
            real = document(path, tokens, *ask)["total"] if ask else None
            ours = document(path, tokens)["total"]
            yield line(f"{name}, llama.cpp", real, ours, by_node, gguf_parser_total(path, tokens), by_hf, None, None)
    yield from _by_transformers()


def _by_transformers() -> Iterator[tuple[str, ...]]:
    import inspector

    known = [json.loads(each) for each in PEAKS.read_text().splitlines()]
    configs = {
        each["type"]: {**each["config"], "model_type": each["type"], "num_hidden_layers": 4, "dtype": "bfloat16"}
        for each in known
        if "config" in each and each["type"] in MEASURED
    }
    shape = {"attention": "sdpa", "sequences": 1, "tokens": PROMPT, "last": True}
    peaks = {each["type"]: each["peak"] for each in known if shape.items() <= each.items()}
    several = json.dumps([*configs.values()])
    caches = asked("HF_MEM", HF_MEM_MODELS, [str(PROMPT), several], 2 * len(configs))
    by_accelerate = asked("ACCELERATE", ACCELERATE, [several], len(configs))
    for at, (kind, config) in enumerate(configs.items()):
        ours = inspector.memory(config, engine="transformers", context=PROMPT, batch=PROMPT)
        kept = [None if each is None else ours.weights.nbytes + each for each in caches[2 * at : 2 * at + 2]]
        yield line(f"{kind}, 4 layers, Transformers", peaks[kind], ours.total, None, None, *kept, by_accelerate[at])


def line(name: str, real: int | None, *figures: int | None) -> tuple[str, ...]:
    """MiB of each, and how far off it is."""

    def cell(each: int | None) -> str:
        off = f" ({each / real - 1:+.1%})".replace("-0.0", "+0.0") if real and each is not None else ""
        return "–" if each is None else f"{each / 2**20:,.0f}{off}"

    return (name, cell(real).partition(" ")[0], *map(cell, figures))


def main() -> None:
    """Print the table, in MiB."""
    numbers = [int(each) for each in sys.argv[1:] if each.isdecimal()]
    if "--total" in sys.argv:
        peers = "node-llama-cpp | gguf-parser | hf-mem | kvfit | accelerate"
        print(f"| | prints, or takes | `inspect memory` | {peers} |")
        print("|---|" + "--:|" * 7)
        found = totals(*numbers or [32768])
    else:
        print("| model | llama.cpp prints | `inspect memory` | gguf-parser | node-llama-cpp | hf-mem | the formula |")
        print("|---|" + "--:|" * 6)
        found = rows(*numbers or [32768])
    for row in found:
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
