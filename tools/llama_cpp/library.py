"""llama.cpp itself, from the package `xllamacpp`: its shared library by ctypes, in a process of its own.

    llama = Llama()
    llama.load(Path("model.gguf"))          Answer(error="", parameters=7241732096)
    llama.asked_for(Path("keys.gguf"))      each tensor that it would read with the file's key-values, optional ones too

Some key-values make llama.cpp abort: the process is then started again, and the answer is its last line.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

sys.path[:0] = [str(Path(__file__).parents[2])]

from inspector.sizing.engines.printing import ModelParams  # noqa: E402

#: Levels of llama.cpp's log from which a line is an error.
ERROR = 4


class Answer(NamedTuple):
    """The answer that llama.cpp logged for a file."""

    error: str  # "" if it was loaded
    parameters: int = 0


class Llama:
    """One process of llama.cpp."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process

    def load(self, path: Path) -> Answer:
        """Load a file, with the blocks that predict further tokens."""
        answer = self._ask({"path": str(path)})
        return Answer(answer["error"], answer.get("parameters", 0))

    def asked_for(self, path: Path) -> dict[str, list[int]]:
        """Name → shape, row-major without trailing dimensions of 1; empty if the key-values are refused."""
        return dict(self._ask({"path": str(path), "all": True}).get("tensors", ()))

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._process is None or self._process.poll() is not None:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115
            self._process = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                env={**os.environ, "GGML_NO_BACKTRACE": "1"},
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        self._process.wait()
        self._errors.seek(0)
        stated = self._errors.read().decode(errors="replace").strip().splitlines()
        return {"error": next((line for line in reversed(stated) if "ASSERT" in line), "aborted")}


# --- the process ----------------------------------------------------------------------------------


class GgufParams(ctypes.Structure):
    """`gguf_init_params` of gguf.h."""

    _fields_ = (("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p))


LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
SET_DATA = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
#: The offset of dimensions in `ggml_tensor`: after its type, and a pointer.
DIMENSIONS_AT = 16


class Library:
    """The functions of the shared library that are used."""

    def __init__(self) -> None:
        import xllamacpp

        (path,) = Path(xllamacpp.__file__).parent.glob("*.so")
        self.lib = ctypes.CDLL(str(path))
        pointer, text = ctypes.c_void_p, ctypes.c_char_p
        self.default = self._function("llama_model_default_params", ModelParams)
        self.load = self._function("llama_model_load_from_file", pointer, text, ModelParams)
        self.make = self._function("llama_model_init_from_user", pointer, pointer, SET_DATA, pointer, ModelParams)
        self.free = self._function("llama_model_free", None, pointer)
        self.parameters = self._function("llama_model_n_params", ctypes.c_uint64, pointer)
        self.keys = self._function("gguf_init_from_file", pointer, text, GgufParams)
        self.free_keys = self._function("gguf_free", None, pointer)
        self.name = self._function("ggml_get_name", text, pointer)
        self.lib.llama_backend_init()
        self.stated: list[str] = []
        self._log = LOG(self._hear)
        self._function("llama_log_set", None, LOG, pointer)(self._log, None)

    def _function(self, name: str, result: Any, *arguments: Any) -> Any:
        function = getattr(self.lib, name)
        function.restype, function.argtypes = result, arguments
        return function

    def _hear(self, level: int, line: bytes, _: Any) -> None:
        if level >= ERROR:
            self.stated.append(line.decode(errors="replace"))

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Load the file, or make a model of its key-values alone."""
        self.stated.clear()
        params = self.default()
        params.n_gpu_layers, params.use_extra_bufts, params.load_mtp = 0, False, True
        path = request["path"].encode()
        made: list[tuple[str, list[int]]] = []
        if request.get("all"):
            keys = self.keys(path, GgufParams(True, None))
            set_data = SET_DATA(lambda tensor, _: made.append((self.name(tensor).decode(), dimensions(tensor))))
            model = self.make(keys, set_data, None, params)
            self.free_keys(keys)
        else:
            model = self.load(path, params)
        if not model:
            return {"error": " ".join("".join(self.stated).split()) or "refused"}
        answer = {"error": "", "parameters": self.parameters(model), "tensors": made}
        self.free(model)
        return answer


def dimensions(tensor: int) -> list[int]:
    """A tensor's dimensions, row-major, without trailing ones of 1."""
    sizes = list((ctypes.c_int64 * 4).from_address(tensor + DIMENSIONS_AT))
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return sizes[::-1]


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the library's own output is not the answer
    library = Library()
    for line in sys.stdin:
        print(json.dumps(library.answer(json.loads(line))), file=answers, flush=True)
