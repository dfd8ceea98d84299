"""What llama.cpp prints of its buffers, run by the Python that has it: packages xllamacpp or llama-cpp-python.

This package need not be there. One JSON object comes on stdin, one goes to stdout; what the library prints is read.

    asked      {file: str, contexts: [{context, sequences, batch, keys, values, flash}], seconds, bytes}
               keys, values    numbers of ggml's types
    answered   {library, version, answers: [{kind: MiB} | {error}]}, or {error}
               kind    "compute", "output", "KV", "RS", and for models "CPU", "CPU_REPACK", …

Neither weights nor caches are allocated (`no_alloc`). The library's structures are its own in llama-cpp-python; those
of xllamacpp are the ones of this release, and refused if their defaults are not where they should be.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

_POINTER, _NUMBER, _SIGNED = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int32


class ModelParams(ctypes.Structure):
    """`llama_model_params` of llama.h, b11549."""

    _fields_ = (
        *((name, _POINTER) for name in ("devices", "tensor_buft_overrides")),
        *((name, _SIGNED) for name in ("n_gpu_layers", "split_mode", "load_mode", "lazy_mode", "main_gpu")),
        *((name, _POINTER) for name in ("tensor_split", "progress_callback", "user_data", "kv_overrides")),
        *((name, ctypes.c_bool) for name in ("vocab_only", "check_tensors", "use_extra_bufts", "no_host")),
        *((name, ctypes.c_bool) for name in ("no_alloc", "load_mtp")),
    )


class ContextParams(ctypes.Structure):
    """`llama_context_params` of llama.h, b11549."""

    _fields_ = (
        *((name, _NUMBER) for name in ("n_ctx", "n_batch", "n_ubatch", "n_seq_max", "n_rs_seq")),
        *((name, _NUMBER) for name in ("n_outputs_max", "n_outputs_max_per_seq")),
        *((name, _SIGNED) for name in ("threads", "threads_batch", "type", "rope", "pooling", "attention")),
        ("flash_attn_type", _SIGNED),
        *((name, ctypes.c_float) for name in ("base", "scale", "ext", "attn", "fast", "slow")),
        ("orig_ctx", _NUMBER),
        ("defrag", ctypes.c_float),
        *((name, _POINTER) for name in ("eval", "eval_data")),
        *((name, _SIGNED) for name in ("type_k", "type_v")),
        *((name, _POINTER) for name in ("abort", "abort_data", "unnamed")),
        *(
            (name, ctypes.c_bool)
            for name in ("embeddings", "offload", "no_perf", "op_offload", "swa_full", "kv_unified")
        ),
        ("samplers", _POINTER),
        ("n_samplers", ctypes.c_size_t),
        ("other", _POINTER),
    )


#: Defaults by which a structure's layout is recognised.
_USUAL = {"n_ctx": 512, "n_batch": 2048, "n_ubatch": 512, "n_seq_max": 1, "type_k": 1, "type_v": 1, "no_perf": True}
_LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
_BUFFER = re.compile(r"(\w+) (compute|output|KV|RS|model) buffer size = +([\d.]+) MiB")


def main() -> None:
    """Answer what stdin asks."""
    asked = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    os.environ["GGML_NO_BACKTRACE"] = "1"
    importlib.import_module("answering").limit(asked["seconds"], asked["bytes"])
    json.dump(_answer(asked), out)
    out.flush()
    os._exit(0)


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    try:
        library = _Library()
    except Exception as error:
        return {"error": " ".join(f"{type(error).__name__}: {error}".split())[:300]}
    model = library.model(asked["file"])
    if not model:
        return {"error": f"{library.name} does not load the file: {library.last()}"}
    loaded = library.printed()
    answers = [library.context(model, each, loaded) for each in asked["contexts"]]
    return {"library": library.name, "version": library.version, "answers": answers}


class _Library:
    """One of the packages."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        try:
            package = importlib.import_module("xllamacpp")
            (path,) = Path(str(package.__file__)).parent.glob("*.so")
            self.lib = ctypes.CDLL(str(path))
            self.of_model: Any = ModelParams
            self.of_context: Any = ContextParams
            self.name, self.version = "xllamacpp", str(package.__version__)
        except ImportError:
            package = importlib.import_module("llama_cpp")
            self.lib = package.llama_cpp._lib
            self.of_model, self.of_context = package.llama_model_params, package.llama_context_params
            self.name, self.version = "llama-cpp-python", str(package.__version__)
        for name, result, *arguments in (
            ("llama_model_default_params", self.of_model),
            ("llama_context_default_params", self.of_context),
            ("llama_model_load_from_file", _POINTER, ctypes.c_char_p, self.of_model),
            ("llama_init_from_model", _POINTER, _POINTER, self.of_context),
            ("llama_free", None, _POINTER),
            ("llama_log_set", None, _LOG, _POINTER),
        ):
            function = getattr(self.lib, name)
            function.restype, function.argtypes = result, arguments
        self._log = _LOG(lambda _, line, __: self.lines.append(line.decode("utf-8", "replace")))
        self.lib.llama_log_set(self._log, None)
        self.lib.llama_backend_init()
        found = self.lib.llama_context_default_params()
        odd = [name for name, value in _USUAL.items() if getattr(found, name, value) != value]
        if odd or "no_alloc" not in dict(self.of_model._fields_):
            raise ValueError(
                f"the structures of {self.name} {self.version} are not known: {', '.join(odd) or 'no_alloc'}"
            )

    def model(self, path: str) -> int | None:
        params = self.lib.llama_model_default_params()
        _set(params, n_gpu_layers=0, no_alloc=True, load_mode=0, use_mmap=False, load_mtp=False)
        found: int | None = self.lib.llama_model_load_from_file(path.encode(), params)
        return found

    def context(self, model: int, asked: dict[str, Any], loaded: dict[str, float]) -> dict[str, Any]:
        self.lines.clear()
        number = asked["sequences"]
        params = self.lib.llama_context_default_params()
        _set(params, n_ctx=asked["context"] * number, n_ubatch=asked["batch"], n_batch=max(2048, asked["batch"]))
        _set(params, n_seq_max=number, n_outputs_max=number, n_outputs_max_per_seq=1, swa_full=False, kv_unified=False)
        _set(params, type_k=asked["keys"], type_v=asked["values"], flash_attn_type=int(asked["flash"]))
        context = self.lib.llama_init_from_model(model, params)
        if not context:
            return {"error": self.last()}
        found = self.printed()
        self.lib.llama_free(context)
        return {**loaded, **found}

    def printed(self) -> dict[str, float]:
        """Kind → MiB that the log has of it; a model's by the name of the buffer."""
        found: dict[str, float] = {}
        for buffer, kind, size in _BUFFER.findall("".join(self.lines)):
            name = buffer if kind == "model" else kind
            found[name] = found.get(name, 0.0) + float(size)
        return found

    def last(self) -> str:
        lines = [line.strip() for line in "".join(self.lines).splitlines() if "error" in line or "fail" in line]
        return lines[-1][:200] if lines else "no reason is given"


def _set(params: Any, **values: Any) -> None:
    """Set the fields that this release has."""
    known = dict(params._fields_)
    for name, value in values.items():
        if name in known:
            setattr(params, name, value)


if __name__ == "__main__":
    main()
