"""The sizes of buffers that llama.cpp prints, for `fixtures/caches_llama_cpp.jsonl`: each file's key-values, run again.

    python tools/llama_caches.py        # needs the package xllamacpp, whose shared library is llama.cpp

A model is made of key-values alone (`llama_model_init_from_user`), without its tensors' data; a context of it prints
the sizes of keys, values and states. The library ends the process on odd key-values: each file has a process of its own.
"""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, ClassVar

FIXTURE = Path(__file__).parents[1] / "fixtures" / "caches_llama_cpp.jsonl"
sys.path[:0] = [str(FIXTURE.parent), str(Path(__file__).parent / "llama_cpp")]

from library import LOG, SET_DATA, GgufParams, ModelParams  # noqa: E402

_CELLS = re.compile(r"size = .*K \(\w+\): +([\d.]+) MiB, V \(\w+\): +([\d.]+)")
_STATES = re.compile(r"R \(f32\): +([\d.]+) MiB, S \(f32\): +([\d.]+) MiB, P \(f32\): +([\d.]+)")


class ContextParams(ctypes.Structure):
    """`llama_context_params` of llama.h."""

    _fields_: ClassVar[Any] = (
        [
            (name, ctypes.c_uint32)
            for name in (
                "n_ctx",
                "n_batch",
                "n_ubatch",
                "n_seq_max",
                "n_rs_seq",
                "n_outputs_max",
                "n_outputs_max_per_seq",
            )
        ]
        + [(name, ctypes.c_int32) for name in ("threads", "threads_batch", "type", "rope", "pooling", "attention")]
        + [("flash_attn_type", ctypes.c_int32)]
        + [(name, ctypes.c_float) for name in ("base", "scale", "ext", "attn", "fast", "slow")]
        + [("orig_ctx", ctypes.c_uint32), ("defrag", ctypes.c_float)]
        + [(name, ctypes.c_void_p) for name in ("eval", "eval_data")]
        + [("type_k", ctypes.c_int32), ("type_v", ctypes.c_int32)]
        + [(name, ctypes.c_void_p) for name in ("abort", "abort_data", "unnamed")]
        + [
            (name, ctypes.c_bool)
            for name in ("embeddings", "offload", "no_perf", "op_offload", "swa_full", "kv_unified")
        ]
        + [("samplers", ctypes.c_void_p), ("n_samplers", ctypes.c_size_t), ("other", ctypes.c_void_p)]
    )


def printed(path: str, contexts: list[dict[str, Any]]) -> list[list[str]]:
    """The library's output for each context."""
    import xllamacpp

    library = ctypes.CDLL(str(next(Path(xllamacpp.__file__).parent.glob("*.so"))))
    pointer = ctypes.c_void_p
    for name, result, *arguments in (
        ("gguf_init_from_file", pointer, ctypes.c_char_p, GgufParams),
        ("llama_model_default_params", ModelParams),
        ("llama_context_default_params", ContextParams),
        ("llama_model_init_from_user", pointer, pointer, SET_DATA, pointer, ModelParams),
        ("llama_init_from_model", pointer, pointer, ContextParams),
        ("llama_log_set", None, LOG, pointer),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    lines: list[str] = []
    log = LOG(lambda _, line, __: lines.append(line.decode("utf-8", "replace")))
    library.llama_log_set(log, None)
    library.llama_backend_init()
    params = library.llama_model_default_params()
    params.n_gpu_layers, params.use_extra_bufts = 0, False
    nothing = SET_DATA(lambda _, __: None)
    header = library.gguf_init_from_file(path.encode(), GgufParams(True, None))
    model = library.llama_model_init_from_user(header, nothing, None, params)
    found = []
    for asked in contexts:
        lines.clear()
        context = library.llama_context_default_params()
        for name, value in asked.items():
            setattr(context, name, value)
        library.llama_init_from_model(model, context)
        found.append("".join(lines).splitlines())
    return found


def figures(lines: list[str]) -> tuple[list[float], int]:
    """MiB of keys, values and states, and the number of rounded figures that each is a sum of."""
    sums, number = [0.0, 0.0, 0.0], 0
    for line in lines:
        if match := _CELLS.search(line):
            sums[0] += float(match[1])
            sums[1] += float(match[2])
            number += 2
        if match := _STATES.search(line):
            sums[2] += sum(map(float, match.groups()))
            number += 3
    return [round(each, 2) for each in sums], number


def main() -> None:
    """Run every file of the fixture, and write it again."""
    from sparse_gguf import write_gguf

    if len(sys.argv) > 1:
        print(json.dumps(printed(sys.argv[1], json.loads(sys.argv[2]))))
        return
    lines = []
    for line in FIXTURE.read_text().splitlines():
        case = json.loads(line)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.gguf"
            write_gguf(path, [tuple(pair) for pair in case["pairs"]], [])
            asked = json.dumps([each["context"] for each in case["contexts"]])
            ran = subprocess.run([sys.executable, __file__, str(path), asked], capture_output=True, check=True)
        for each, told in zip(case["contexts"], json.loads(ran.stdout.splitlines()[-1]), strict=True):
            each["printed"], each["figures"] = figures(told)
        lines.append(json.dumps(case, separators=(",", ":")) + "\n")
    FIXTURE.write_text("".join(lines))


if __name__ == "__main__":
    main()
