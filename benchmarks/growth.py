"""The cost of a checkpoint by how much it has of each thing: `python benchmarks/growth.py`.

A curve that bends upwards is a bug.

By number: tensors without a table, layers, experts, shards, files beside the weights, words of a vocabulary, folders
within folders. Each is doubled three times; `last doubling` is the last cost over the one before, both without what a
model of one layer costs: 2 is linear. By length of a header: a `-` marks a refusal, with the time until it.
Each run is a process of its own; seconds are processor, the least of two. The output goes into benchmarks/growth.txt.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "fixtures"))
import sparse  # noqa: E402  found through the path above

MEGABYTES = (4, 8, 16, 32, 64, 100)
#: Runs a command; prints seconds of processor and megabytes of memory.
METER = """
import resource, subprocess, sys
ran = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
cost = resource.getrusage(resource.RUSAGE_CHILDREN)
print(cost.ru_utime + cost.ru_stime, cost.ru_maxrss / 1024, ran.returncode)
"""


def gguf(length: int, size: int) -> bytes:
    """A GGUF of one list of texts, each `size` bytes long, until the header has `length` bytes."""
    number = length // (size + 8)
    key = b"tokenizer.ggml.tokens"
    head = b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, len(key)) + key + struct.pack("<IIQ", 9, 8, number)
    return head + (struct.pack("<Q", size) + b"x" * size) * number


def safetensors(length: int, metadata: bool) -> bytes:
    """A safetensors header of one long text, or of as many tensors as fill it, at most 160,000."""
    own: dict[str, object] = {"__metadata__": {"x": "y" * (length - 1000)}} if metadata else {}
    if not metadata:
        number = min(length // 100, 160_000)
        name = "n" * (length // number - 60)
        own = {f"{name}{at}": {"dtype": "U8", "shape": [1], "data_offsets": [at, at + 1]} for at in range(number)}
    raw = json.dumps(own, separators=(",", ":")).encode()
    return struct.pack("<Q", len(raw)) + raw + bytes(0 if metadata else len(own))


def one_name(length: int, word: str) -> bytes:
    """A safetensors header of one tensor, whose name is a repeated word."""
    name = word * ((length - 100) // len(word))
    raw = json.dumps({name: {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}).encode()
    return struct.pack("<Q", len(raw)) + raw + b"x"


KINDS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "GGUF, a vocabulary of words": ("gguf", lambda length: gguf(length, 24)),
    "GGUF, long texts": ("gguf", lambda length: gguf(length, 100_000)),
    "safetensors, tensors": ("safetensors", lambda length: safetensors(length, False)),
    "safetensors, one text": ("safetensors", lambda length: safetensors(length, True)),
    "safetensors, one name": ("safetensors", lambda length: one_name(length, "layers.0.")),
    "safetensors, one long word": ("safetensors", lambda length: one_name(length, "x")),
}


# --- by number ------------------------------------------------------------------------------------

_LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "intermediate_size": 128,
          "num_attention_heads": 4, "vocab_size": 256, "torch_dtype": "bfloat16"}  # fmt: skip
_MIXTRAL = {**_LLAMA, "model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_key_value_heads": 4}
_ENDS = [("BF16", [256, 64], "model.embed_tokens.weight"), ("BF16", [64], "model.norm.weight"),
         ("BF16", [256, 64], "lm_head.weight")]  # fmt: skip


def attention(layers: str) -> list[sparse.Entry]:
    """A layer without its feed-forward part. `layers` is a range, as recipes write it."""
    base = f"model.layers.{layers}"
    square = [("BF16", [64, 64], f"{base}.self_attn.{each}_proj.weight") for each in "qkvo"]
    norms = ("input_layernorm", "post_attention_layernorm")
    return square + [("BF16", [64], f"{base}.{norm}.weight") for norm in norms]


def llama(layers: int) -> list[sparse.Entry]:
    """A Llama of this many layers, 9 tensors each."""
    every = f"{{0..{layers - 1}}}"
    shapes = {"gate": [128, 64], "up": [128, 64], "down": [64, 128]}
    gated = [("BF16", shape, f"model.layers.{every}.mlp.{name}_proj.weight") for name, shape in shapes.items()]
    return [*_ENDS, *attention(every), *gated]


def mixtral(experts: int) -> list[sparse.Entry]:
    """A Mixtral of one layer with this many experts, 3 tensors each."""
    base = "model.layers.0.block_sparse_moe"
    shapes = {"w1": [128, 64], "w2": [64, 128], "w3": [128, 64]}
    each = [("BF16", shape, f"{base}.experts.{{0..{experts - 1}}}.{name}.weight") for name, shape in shapes.items()]
    return [*_ENDS, *attention("0"), ("BF16", [experts, 64], f"{base}.gate.weight"), *each]


def one_file(folder: Path, config: dict[str, object], tensors: list[sparse.Entry]) -> None:
    """A checkpoint of one file."""
    beside = {"config.json": config} if config else {}
    sparse.make({"beside": beside, "files": {"model.safetensors": {"tensors": tensors}}}, folder)


def shards(folder: Path, number: int) -> None:
    """A Llama of as many layers as files."""
    files: dict[str, object] = {}
    for at in range(number):
        rows = [(d, s, n.replace("{0..0}", str(at))) for d, s, n in llama(1)[3:]] + (_ENDS if at == 0 else [])
        files[f"model-{at + 1:05}-of-{number:05}.safetensors"] = {"tensors": rows}
    sparse.make({"beside": {"config.json": {**_LLAMA, "num_hidden_layers": number}}, "files": files}, folder)


def beside(folder: Path, number: int) -> None:
    """A Llama of one layer with this many other files."""
    one_file(folder, {**_LLAMA, "num_hidden_layers": 1}, llama(1))
    for at in range(number):
        (folder / f"notes-{at}.json").write_text('{"a": 1}')


def nested(folder: Path, depth: int) -> None:
    """A Llama of one layer, and another this many folders below."""
    one_file(folder, {**_LLAMA, "num_hidden_layers": 1}, llama(1))
    one_file(folder.joinpath(*["a"] * depth), {**_LLAMA, "num_hidden_layers": 1}, llama(1))


def vocabulary(folder: Path, words: int) -> None:
    """A GGUF with nothing but a vocabulary."""
    folder.mkdir(parents=True)
    (folder / "model.gguf").write_bytes(gguf(words * 32, 24))


#: What is counted → the least number, and what makes a folder with so many.
NUMBERS: dict[str, tuple[int, Callable[[Path, int], None]]] = {
    "tensors of no known family": (
        8_000, lambda folder, n: one_file(folder, {}, [("BF16", [8], f"part{{0..{n - 1}}}.w{{0..0}}x")]),
    ),
    "layers": (
        500, lambda folder, n: one_file(folder, {**_LLAMA, "num_hidden_layers": n}, llama(n)),
    ),
    "experts": (
        2_000,
        lambda folder, n: one_file(
            folder, {**_MIXTRAL, "num_hidden_layers": 1, "num_local_experts": n}, mixtral(n)
        ),
    ),
    "shards": (100, shards),
    "files beside the weights": (1_000, beside),
    "words of a vocabulary": (64_000, vocabulary),
    "folders within folders": (8, nested),
}  # fmt: skip
DOUBLINGS = (1, 2, 4, 8)


def cost(command: str, target: Path) -> tuple[float, float, bool]:
    """Processor seconds, megabytes at the peak, and whether the target was refused."""
    ran = [sys.executable, "-c", METER, sys.executable, "-m", "inspector", *command.split(), str(target)]
    done = [subprocess.run(ran, cwd=ROOT, capture_output=True, text=True, check=True) for _ in range(2)]
    seconds, memory, code = min([*map(float, each.stdout.split())] for each in done)
    return seconds, memory, code == 2


def by_number() -> None:
    """A row for each thing and command, a column for each number."""
    head = "".join(f"{f'{number} ×':>14}" for number in DOUBLINGS)
    print(f"{'seconds (MB) at …':<44}{head}  last doubling")
    with tempfile.TemporaryDirectory() as work:
        one_file(Path(work, "one"), {**_LLAMA, "num_hidden_layers": 1}, llama(1))
        for command in ("overview", "tensors", "audit"):
            start, _, _ = cost(command, Path(work, "one"))
            for name, (least, make) in NUMBERS.items():
                costs = []
                for number in DOUBLINGS:
                    folder = Path(work, name, str(number))
                    if not folder.exists():
                        make(folder, least * number)
                    costs.append(cost(command, folder))
                shown = "".join(
                    f"{'-' if no else ''}{seconds:>.2f} ({memory:.0f})".rjust(14) for seconds, memory, no in costs
                )
                before, last = (seconds - start for seconds, _, _ in costs[-2:])
                factor = f"{last / before:.1f} ×" if before > start / 4 else "–"  # less is the start's noise
                print(f"{command + ': ' + f'{least:,} ' + name:<44}{shown}  {factor:>13}", flush=True)


# --- by length ------------------------------------------------------------------------------------


def by_length() -> None:
    """A row for each kind of header, a column for each length."""
    print(f"\n{'seconds (MB)':<30}" + "".join(f"{megabytes:>11} MB" for megabytes in MEGABYTES))
    for name, (end, make) in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"model.{end}")
            shown = []
            for megabytes in MEGABYTES:
                path.write_bytes(make(megabytes * 1_000_000 - 100))
                seconds, memory, refused = cost("overview", path)
                shown.append(f"{'-' if refused else ''}{seconds:>.2f} ({memory:>3.0f})")
        print(f"{name:<30}" + " ".join(f"{each:>13}" for each in shown), flush=True)


if __name__ == "__main__":
    by_number()
    by_length()
