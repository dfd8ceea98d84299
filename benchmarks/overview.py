"""This command and its peers on the same files in one run: wall time of the whole process and peak memory.

    make bench        (or: python benchmarks/overview.py [RUNS])

A small checkpoint, one of 291 tensors, and DeepSeek-V3 as 45,395 plain tensors and in four packed forms of 91,991 to
183,607 tensors, each in one file. Runs alternate, so that a slower machine affects all alike; the ratio is to
`inspect`, medians are shown. Peers: `safetensors.safe_open` listing its keys, and names with shapes and dtypes as
`inspect tensors` does; huggingface_hub's parser for local files; `safetensors-print`.
The parser's own time, without Python's start and its import, is measured inside its process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures"))
import sparse

BIN = Path(sys.executable).parent

SAFE_OPEN = """
import sys
from safetensors import safe_open
with safe_open(sys.argv[1], 'numpy') as f:
    for name in f.keys(): print(name)
"""
SAFE_OPEN_ALL = """
import sys
from safetensors import safe_open
with safe_open(sys.argv[1], 'numpy') as f:
    for name in f.keys():
        tensor = f.get_slice(name)
        print(name, tensor.get_shape(), tensor.get_dtype())
"""
HUB_PARSER = """
import sys, time
from huggingface_hub import parse_local_safetensors_file_metadata as parse
start = time.perf_counter()
parse(sys.argv[1])
print(time.perf_counter() - start)
"""
JSON_LOADS = """
import json, sys
with open(sys.argv[1], 'rb') as f:
    header = json.loads(f.read(int.from_bytes(f.read(8), 'little')))
"""

COMMANDS: dict[str, list[str]] = {
    "inspect": [str(BIN / "inspect")],
    "inspect tensors": [str(BIN / "inspect"), "tensors"],
    "inspect audit": [str(BIN / "inspect"), "audit"],
    "safe_open, keys": [sys.executable, "-c", SAFE_OPEN],
    "safe_open, shapes, dtypes": [sys.executable, "-c", SAFE_OPEN_ALL],
    "huggingface_hub parser": [sys.executable, "-c", HUB_PARSER],
    "safetensors-print": [str(BIN / "safetensors-print")],
    "json.loads of the header": [sys.executable, "-c", JSON_LOADS],
    "python -c pass": [sys.executable, "-c", "pass"],
}


def deepseek_v3() -> Iterable[sparse.Entry]:
    """Every tensor of DeepSeek-V3's 61 layers."""
    hidden, experts = 7168, 256
    yield "BF16", [129280, hidden], "model.embed_tokens.weight"
    for layer in range(61):
        base = f"model.layers.{layer}"
        attention = {
            "q_a_proj": [1536, hidden],
            "q_b_proj": [24576, 1536],
            "kv_a_proj_with_mqa": [576, hidden],
            "kv_b_proj": [32768, 512],
            "o_proj": [hidden, 16384],
            "q_a_layernorm": [1536],
            "kv_a_layernorm": [512],
        }
        yield from (("BF16", shape, f"{base}.self_attn.{name}.weight") for name, shape in attention.items())
        yield from (
            ("BF16", [hidden], f"{base}.{name}.weight") for name in ("input_layernorm", "post_attention_layernorm")
        )
        if layer < 3:
            yield from feed_forward(f"{base}.mlp", hidden, 18432)
            continue
        yield "BF16", [experts, hidden], f"{base}.mlp.gate.weight"
        yield "F32", [experts], f"{base}.mlp.gate.e_score_correction_bias"
        yield from feed_forward(f"{base}.mlp.shared_experts", hidden, 2048)
        for expert in range(experts):
            yield from feed_forward(f"{base}.mlp.experts.{expert}", hidden, 2048)
    yield "BF16", [hidden], "model.norm.weight"
    yield "BF16", [129280, hidden], "lm_head.weight"


def feed_forward(base: str, hidden: int, width: int) -> Iterable[sparse.Entry]:
    yield "BF16", [width, hidden], f"{base}.gate_proj.weight"
    yield "BF16", [width, hidden], f"{base}.up_proj.weight"
    yield "BF16", [hidden, width], f"{base}.down_proj.weight"


#: Packed form → what `config.json` declares.
DECLARED: dict[str, dict[str, Any]] = {
    "nvfp4": {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16, "ignore": ["lm_head"]},
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": True, "sym": True},
    "compressed-tensors": {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "config_groups": {
            "group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "group_size": 128}}
        },
        "ignore": ["lm_head"],
    },
}


def pieces(form: str, rows: int, columns: int) -> list[sparse.Entry]:
    """The tensors of one packed weight."""
    if form == "nvfp4":
        scales = [rows, columns // 16]
        return [
            ("U8", [rows, columns // 2], "weight"),
            ("F8_E4M3", scales, "weight_scale"),
            ("F32", [], "weight_scale_2"),
            ("F32", [], "input_scale"),
        ]
    groups = columns // 128
    if form == "gptq":
        return [
            ("I32", [columns // 8, rows], "qweight"),
            ("I32", [groups, rows // 8], "qzeros"),
            ("F16", [groups, rows], "scales"),
            ("I32", [columns], "g_idx"),
        ]
    return [
        ("I32", [rows, columns // 8], "weight_packed"),
        ("BF16", [rows, groups], "weight_scale"),
        ("I64", [2], "weight_shape"),
    ]


def in_form(form: str) -> dict[str, Any]:
    """DeepSeek-V3's recipe, which is the published FP8 form, in another one."""
    recipe = sparse.load("deepseek-v3-fp8")
    if form == "fp8":
        return recipe
    recipe["beside"]["config.json"]["quantization_config"] = DECLARED[form]
    tensors = []
    for dtype, shape, name in recipe["files"]["model.safetensors"]["tensors"]:
        if dtype == "F8_E4M3":
            stem = name.removesuffix("weight")
            tensors += [[own, of, stem + end] for own, of, end in pieces(form, *shape)]
        elif not name.endswith("_scale_inv"):
            tensors.append([dtype, shape, name])
    recipe["files"]["model.safetensors"]["tensors"] = tensors
    return recipe


TITLES = {
    "gpt2/model.safetensors": "160 tensors (gpt2)",
    "llama-3.1-8b/model.safetensors": "291 tensors (Llama-3.1-8B)",
    "deepseek-v3.safetensors": "45,395 tensors (DeepSeek-V3)",
    "fp8/model.safetensors": "91,991 tensors (DeepSeek-V3, packed: FP8)",
    "compressed-tensors/model.safetensors": "137,799 tensors (DeepSeek-V3, packed: compressed-tensors)",
    "gptq/model.safetensors": "183,607 tensors (DeepSeek-V3, packed: GPTQ)",
    "nvfp4/model.safetensors": "183,607 tensors (DeepSeek-V3, packed: NVFP4)",
}


def make(folder: Path) -> None:
    """Write the checkpoints. In a process of its own: a child's peak memory starts at its parent's."""
    for name in ("gpt2", "llama-3.1-8b"):
        sparse.make(sparse.load(name), folder / name)
    sparse.write_safetensors(folder / "deepseek-v3.safetensors", deepseek_v3(), {"format": "pt"})
    for form in ("fp8", *DECLARED):
        sparse.make(in_form(form), folder / form)


def run(command: list[str], path: Path) -> tuple[float, int, str]:
    """Wall seconds, peak memory in KB, and the output."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen([*command, str(path)], stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return wall, usage.ru_maxrss, out.read().decode(errors="replace")


def main(runs: int) -> None:
    commands = {name: command for name, command in COMMANDS.items() if Path(command[0]).exists()}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, __file__, "--make", folder], check=True)
        for path, title in ((Path(folder, name), title) for name, title in TITLES.items()):
            walls: dict[str, list[float]] = {name: [] for name in [*commands, "  its parse() alone"]}
            peaks: dict[str, int] = {}
            times_each = runs if "packed" not in title else -(-runs // 3)
            for _ in range(times_each + 1):  # the first run warms up, and is dropped
                for name, command in commands.items():
                    wall, peak, printed = run(command, path)
                    walls[name].append(wall)
                    peaks[name] = max(peaks.get(name, 0), peak)
                    if command[-1] == HUB_PARSER:
                        walls["  its parse() alone"].append(float(printed))
            print(f"\n{title}, {path.stat().st_size:,} bytes, median of {times_each}")
            ours = median(walls["inspect"][1:])
            for name, times in walls.items():
                if times:
                    wall = median(times[1:])
                    memory = f"{peaks[name] / 1024:7.1f} MB" if name in peaks else ""
                    print(f"  {name:26} {wall * 1000:8.1f} ms  {wall / ours:6.2f} × inspect  {memory}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        make(Path(sys.argv[2]))
        sys.exit()
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
