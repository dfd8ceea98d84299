"""Write `fixtures/gguf_kinds.json`: the kinds of tensors that llama.cpp's `gguf` package lists for each architecture.

    PYTHONPATH=llama.cpp/gguf-py python tools/write_gguf_kinds.py

llama.cpp's own gguf-py is ahead of the package that is published: the tests read the file, and hold the package to it.
"""

from __future__ import annotations

import json
from pathlib import Path

import gguf

TARGET = Path(__file__).parents[1] / "fixtures" / "gguf_kinds.json"


def kinds(arch: gguf.MODEL_ARCH) -> str:
    """The names of an architecture's tensors, without part; `{}` where a number stands."""
    names = [gguf.TENSOR_NAMES[kind] for kind in gguf.MODEL_TENSORS[arch] if kind in gguf.TENSOR_NAMES]
    return " ".join(dict.fromkeys(name.replace("{bid}", "{}").replace("{xid}", "{}") for name in names))


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(kinds(arch))}" for arch, name in gguf.MODEL_ARCH_NAMES.items()]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n")
