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
from typing import Any

FIXTURE = Path(__file__).parents[1] / "fixtures" / "caches_llama_cpp.jsonl"
sys.path[:0] = [str(FIXTURE.parents[1]), str(FIXTURE.parent), str(Path(__file__).parent / "llama_cpp")]

from library import LOG, SET_DATA, GgufParams  # noqa: E402

from inspector.sizing.engines.printing import ContextParams, ModelParams  # noqa: E402

_CELLS = re.compile(r"size = .*K \(\w+\): +([\d.]+) MiB, V \(\w+\): +([\d.]+)")
_STATES = re.compile(r"R \(f32\): +([\d.]+) MiB, S \(f32\): +([\d.]+) MiB, P \(f32\): +([\d.]+)")


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
        for each, reported in zip(case["contexts"], json.loads(ran.stdout.splitlines()[-1]), strict=True):
            each["printed"], each["figures"] = figures(reported)
        lines.append(json.dumps(case, separators=(",", ":")) + "\n")
    FIXTURE.write_text("".join(lines))


if __name__ == "__main__":
    main()
