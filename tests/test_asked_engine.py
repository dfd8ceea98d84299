"""`inspect memory --ask`: the installed llama.cpp answers, here by a stand-in of llama-cpp-python's package."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sparse_gguf import write_gguf

import inspector
from inspector import api, architectures
from inspector.architectures.asking import Library
from inspector.errors import ConfigError
from inspector.sizing.asked import Answered
from inspector.sizing.engines.graphs import Batch

if TYPE_CHECKING:
    from conftest import Ran

#: Its compute buffer has 1 MiB for each 1,024 tokens of the context and for each sequence.
PACKAGE = """
import ctypes
from types import SimpleNamespace

__version__ = "0.9.9"


class llama_model_params(ctypes.Structure):
    _fields_ = [("n_gpu_layers", ctypes.c_int32), ("{no_alloc}", ctypes.c_bool)]


class llama_context_params(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("n_ctx", "n_batch", "n_ubatch", "n_seq_max", "type_k", "type_v")]


class Lib:
    def __init__(self):
        for name in dir(type(self)):
            if name.startswith("llama"):
                setattr(self, name, (lambda of: lambda *given: of(*given))(getattr(self, name)))

    def llama_backend_init(self):
        pass

    def llama_model_default_params(self):
        return llama_model_params()

    def llama_context_default_params(self):
        return llama_context_params(512, 2048, 512, 1, 1, 1)

    def llama_log_set(self, log, _):
        self.log = log

    def llama_model_load_from_file(self, path, params):
        if {refuses}:
            self.log(2, b"error: no such architecture\\n", None)
            return None
        assert path.endswith(b".gguf")
        self.log(1, b"load_tensors: CPU_REPACK model buffer size =    12.66 MiB\\n", None)
        return 1

    def llama_init_from_model(self, model, params):
        if params.n_ctx > {most}:
            self.log(2, b"failed to make it\\n", None)
            return None
        size = params.n_ctx / params.n_seq_max / 1024 + params.n_seq_max
        self.log(1, f"sched_reserve:  CPU compute buffer size = {{size:8.2f}} MiB\\n".encode(), None)
        return 2

    def llama_free(self, context):
        pass


llama_cpp = SimpleNamespace(_lib=Lib())
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A small Llama for 40,960 tokens."""
    width, words = 64, 100
    pairs = [
        ("general.architecture", "string", "llama"), ("llama.context_length", "uint32", 40960),
        ("llama.embedding_length", "uint32", width), ("llama.block_count", "uint32", 1),
        ("llama.feed_forward_length", "uint32", width), ("llama.attention.head_count", "uint32", 2),
        ("llama.attention.layer_norm_rms_epsilon", "float32", 1e-5), ("llama.vocab_size", "uint32", words),
    ]  # fmt: skip
    matrices = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    tensors = [("F32", [words, width], "token_embd.weight"), ("F32", [width], "output_norm.weight")]
    tensors += [("F32", [width, width], f"blk.0.{name}.weight") for name in matrices]
    tensors += [("F32", [width], f"blk.0.{name}_norm.weight") for name in ("attn", "ffn")]
    write_gguf(tmp_path / "model.gguf", pairs, tensors)
    return tmp_path / "model.gguf"


def _installed(folder: Path, monkeypatch: pytest.MonkeyPatch, **changed: Any) -> Library:
    usual = {"no_alloc": "no_alloc", "refuses": False, "most": 2**40}
    package = folder / "installed" / "llama_cpp"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(PACKAGE.format(**{**usual, **changed}))
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    return Library(sys.executable)


def test_it_answers(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """4,096 tokens of two sequences: 4 + 2 MiB as printed, and the verdict counts it; between answers it is a line."""
    with architectures.asked_by(_installed(tmp_path, monkeypatch)):
        result = inspector.memory(model, context=4096, sequences=2, gpu="8GiB")
        assert result.activations
        assert result.activations.nbytes == 6 * 2**20
        assert result.activations.version == "llama-cpp-python 0.9.9"
        assert result.engine.asked
        assert result.devices[0].nbytes == result.total
        longer = inspector.memory(model.parent, sequences=2)
        assert longer.activations
        assert longer.activations.nbytes == 42 * 2**20


def test_the_command_says_so(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inspect: Callable[..., Ran]
) -> None:
    monkeypatch.setattr(architectures, "_LIBRARY", [])
    assert '"basis":"rule"' in inspect("memory", model, "--json").out
    _installed(tmp_path, monkeypatch)
    ran = inspect("memory", model, "--ask", "--context", "8k", "--gpu", "8GB")
    assert "as llama-cpp-python 0.9.9 answers" in ran.out
    assert '"basis":"asked"' in inspect("memory", model, "--ask", "--json").out


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"no_alloc": "mlock"}, "structures of llama-cpp-python 0.9.9 are not known: no_alloc"),
        ({"refuses": True}, "does not load the file: error: no such architecture"),
        ({"most": 0}, "llama-cpp-python 0.9.9 was asked: failed to make it"),
    ],
)
def test_refusals(
    changed: dict[str, Any], reason: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with architectures.asked_by(_installed(tmp_path, monkeypatch, **changed)), pytest.raises(ConfigError, match=reason):
        inspector.memory(model)


def test_an_engine_is_asked_about_gguf_files_only_and_with_its_package(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the package it is an error; for a configuration, and for the other engines, the answer says so."""
    monkeypatch.setenv("PYTHONPATH", "")
    with architectures.asked_by(Library(sys.executable)):
        with pytest.raises(ConfigError, match="llama_cpp"):
            inspector.memory(model)
        assert any("was not asked" in each for each in inspector.memory(model, engine="vllm").engine.assumes)
        sized = api.sized(model)
        with pytest.raises(ConfigError, match="GGUF files of this machine"):
            inspector.memory(sized._replace(result=None))


def test_between_answers() -> None:
    """By hand: 100 bytes at 256 cells, 140 at 512, 300 at 1,024; before the first as there, beyond the last its slope."""
    found = Answered({1024: 300, 256: 100, 512: 140})
    sizes = [found.reserved(Batch(512, 1, cells, cells, 1)) for cells in (1, 256, 384, 512, 768, 1024, 2048)]
    assert sizes == [100, 100, 120, 140, 220, 300, 620]
    assert Answered({256: 7}).reserved(Batch(1, 1, 999, 999, 1)) == 7
