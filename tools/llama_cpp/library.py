"""llama.cpp itself, from the package `xllamacpp`: its shared library, by ctypes.

    library = Library()
    model = library.model(Path("model.gguf"), no_alloc=True)        # its data is not read
    context = library.context(model, n_ctx=4096)
    library.log                                                     # such as "compute buffer size = 128.02 MiB"

Some key-values make llama.cpp abort, so that such work is for a child of this process:

    llama = Llama()
    llama.load(Path("model.gguf"))          Answer(error="", parameters=7241732096)
    llama.asked_for(Path("keys.gguf"))      each tensor that it would read with the file's key-values, optional ones too
"""

from __future__ import annotations

import ctypes
import os
import pickle
import re
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

sys.path[:0] = [str(Path(__file__).parents[2])]

from inspector.sizing.engines.printing import ContextParams, ModelParams  # noqa: E402

#: Levels of llama.cpp's log from which a line is an error.
ERROR = 4
POINTER = ctypes.c_void_p
LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, POINTER)
SET_DATA = ctypes.CFUNCTYPE(None, POINTER, POINTER)
#: The offset of dimensions in `ggml_tensor`: after its type, and a pointer.
DIMENSIONS_AT = 16


class GgufParams(ctypes.Structure):
    """`gguf_init_params` of gguf.h."""

    _fields_ = (("no_alloc", ctypes.c_bool), ("ctx", POINTER))


#: Name of a function → its result and its arguments.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "llama_model_default_params": (ModelParams,),
    "llama_context_default_params": (ContextParams,),
    "llama_model_load_from_file": (POINTER, ctypes.c_char_p, ModelParams),
    "llama_model_init_from_user": (POINTER, POINTER, SET_DATA, POINTER, ModelParams),
    "llama_init_from_model": (POINTER, POINTER, ContextParams),
    "llama_model_n_params": (ctypes.c_uint64, POINTER),
    "llama_model_free": (None, POINTER),
    "llama_free": (None, POINTER),
    "llama_log_set": (None, LOG, POINTER),
    "gguf_init_from_file": (POINTER, ctypes.c_char_p, GgufParams),
    "gguf_free": (None, POINTER),
    "ggml_get_name": (ctypes.c_char_p, POINTER),
    "ggml_op_name": (ctypes.c_char_p, ctypes.c_int),
    "ggml_nbytes": (ctypes.c_size_t, POINTER),
    "_Z19llama_graph_reserveP13llama_contextjjj": (POINTER, POINTER, *(ctypes.c_uint,) * 3),
}


class Library:
    """The functions of the shared library that are used, and its log since the last context."""

    def __init__(self) -> None:
        import xllamacpp

        (path,) = Path(xllamacpp.__file__).parent.glob("*.so")
        self.lib = ctypes.CDLL(str(path))
        for name, (result, *arguments) in FUNCTIONS.items():
            function = getattr(self.lib, name)
            function.restype, function.argtypes = result, arguments
        self.lines: list[str] = []
        self.errors: list[str] = []
        self._log = LOG(self._hear)
        self.lib.llama_log_set(self._log, None)
        self.lib.llama_backend_init()

    def _hear(self, level: int, line: bytes, _: Any) -> None:
        text = line.decode("utf-8", "replace")
        self.lines.append(text)
        if level >= ERROR:
            self.errors.append(text)

    @property
    def log(self) -> str:
        return "".join(self.lines)

    def _params(self, **options: Any) -> ModelParams:
        params: ModelParams = self.lib.llama_model_default_params()
        for name, value in {"n_gpu_layers": 0, "use_extra_bufts": False, **options}.items():
            setattr(params, name, value)
        return params

    def model(self, path: Path, **options: Any) -> int | None:
        """A model of a file, with these fields of `llama_model_params`; None if it is refused."""
        made: int | None = self.lib.llama_model_load_from_file(str(path).encode(), self._params(**options))
        return made

    def model_of_keys(self, path: Path, each: Callable[[int], object] = id, **options: Any) -> int | None:
        """A model of a file's key-values alone; `each` is called with every tensor that is asked for."""
        keys = self.lib.gguf_init_from_file(str(path).encode(), GgufParams(True, None))
        put = SET_DATA(lambda tensor, _: each(tensor) and None)
        made: int | None = self.lib.llama_model_init_from_user(keys, put, None, self._params(**options))
        self.lib.gguf_free(keys)
        return made

    def context(self, model: int, **options: Any) -> int | None:
        """A context, with these fields of `llama_context_params`; the log is that of its making."""
        self.lines.clear()
        params = self.lib.llama_context_default_params()
        for name, value in options.items():
            setattr(params, name, value)
        made: int | None = self.lib.llama_init_from_model(model, params)
        return made

    def printed(self, what: str) -> list[float]:
        """MiB of each buffer of this kind in the log: "compute", "output"."""
        return [float(each) for each in re.findall(rf"{what} buffer size = +([\d.]+)", self.log)]


def in_child(work: Callable[[], Any], seconds: int = 120, errors: IO[bytes] | None = None) -> Any:
    """What `work` returns in a process of its own; None if that ends without an answer. `errors` gets its output."""
    read, write = os.pipe()
    os.environ["GGML_NO_BACKTRACE"] = "1"
    child = os.fork()
    if not child:
        os.close(read)
        signal.alarm(seconds)
        if errors is not None:
            os.dup2(errors.fileno(), 1)
            os.dup2(errors.fileno(), 2)
        try:
            with os.fdopen(write, "wb") as out:
                pickle.dump(work(), out)
        except BaseException:  # or the child would go on as this process
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as source:
        answer = source.read()
    os.waitpid(child, 0)
    try:
        return pickle.loads(answer) if answer else None
    except (pickle.UnpicklingError, EOFError):
        return None


class Answer(NamedTuple):
    """The answer that llama.cpp logged for a file."""

    error: str  # "" if it was loaded
    parameters: int = 0
    tensors: tuple[tuple[str, list[int]], ...] = ()  # names and shapes, if they were asked for


class Llama:
    """llama.cpp's loader, in a child of this process for each file."""

    def __init__(self) -> None:
        self.library = Library()

    def load(self, path: Path) -> Answer:
        """Load a file, with the blocks that predict further tokens."""
        return self._answer(lambda: self._loaded(lambda _: self.library.model(path, load_mtp=True)))

    def asked_for(self, path: Path) -> dict[str, list[int]]:
        """Name → shape, row-major without trailing dimensions of 1; empty if the key-values are refused."""
        made = self._answer(lambda: self._loaded(lambda each: self.library.model_of_keys(path, each, load_mtp=True)))
        return dict(made.tensors)

    def _loaded(self, make: Callable[[Callable[[int], object]], int | None]) -> Answer:
        tensors: list[tuple[str, list[int]]] = []
        lib = self.library.lib
        model = make(lambda each: tensors.append((lib.ggml_get_name(each).decode(), dimensions(each))))
        if not model:
            return Answer(" ".join("".join(self.library.errors).split()) or "refused")
        return Answer("", lib.llama_model_n_params(model), tuple(tensors))

    def _answer(self, work: Callable[[], Answer]) -> Answer:
        """The child's answer; its last line of an assertion if it was aborted."""
        with tempfile.TemporaryFile() as errors:
            answer: Answer | None = in_child(work, errors=errors)
            if answer is not None:
                return answer
            errors.seek(0)
            stated = errors.read().decode(errors="replace").strip().splitlines()
        return Answer(next((line for line in reversed(stated) if "ASSERT" in line), "aborted"))


def dimensions(tensor: int) -> list[int]:
    """A tensor's dimensions, row-major, without trailing ones of 1."""
    sizes = list((ctypes.c_int64 * 4).from_address(tensor + DIMENSIONS_AT))
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return sizes[::-1]
