"""Write the tables that come from the `gguf` package, so that neither readers nor tests need import it.

    PYTHONPATH=llama.cpp/gguf-py python tools/write_gguf.py "llama.cpp b11549"

`inspector/formats/ggml.py` has GGML's types, `fixtures/gguf_kinds.json` each architecture's kinds of tensors.
llama.cpp's own gguf-py is ahead of the published package; the argument names the version.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import gguf

ROOT = Path(__file__).parents[1]
TYPES, KINDS = ROOT / "inspector" / "formats" / "ggml.py", ROOT / "fixtures" / "gguf_kinds.json"

HEAD = '''"""GGML's tensor types and file types, as the `gguf` package of {origin} has them.

Written by `tools/write_gguf.py`; a test checks that it agrees with the installed package.
"""

from __future__ import annotations

from typing import NamedTuple


class GGMLType(NamedTuple):
    """How a tensor's elements are stored: in blocks of a fixed number, each of a fixed size."""

    name: str
    block: int  # elements a block
    nbytes: int  # bytes a block
    bits: int  # an element, scales and the like apart: the number in the type's name


#: Type id in a tensor's info → type.
TYPES: dict[int, GGMLType] = {{
{types}
}}

#: `general.file_type` → what the file claims to be mostly made of.
FILE_TYPES: dict[int, str] = {{
{file_types}
}}
'''


def bits(name: str) -> int:
    """`Q4_K` → 4, `IQ2_XXS` → 2, `BF16` → 16."""
    number = re.search(r"\d+", name)
    assert number is not None, name
    return int(number[0])


def module(origin: str) -> str:
    """The source of the module of types."""
    types = "\n".join(
        f'    {int(kind)}: GGMLType("{kind.name}", {block}, {size}, {bits(kind.name)}),'
        for kind, (block, size) in sorted(gguf.GGML_QUANT_SIZES.items())
    )
    file_types = "\n".join(
        f'    {int(kind)}: "{kind.name.removeprefix("MOSTLY_").removeprefix("ALL_")}",' for kind in gguf.LlamaFileType
    )
    return HEAD.format(origin=origin, types=types, file_types=file_types)


def kinds(arch: gguf.MODEL_ARCH) -> str:
    """The names of an architecture's tensors, without part; `{}` for a number."""
    names = [gguf.TENSOR_NAMES[kind] for kind in gguf.MODEL_TENSORS[arch] if kind in gguf.TENSOR_NAMES]
    return " ".join(dict.fromkeys(name.replace("{bid}", "{}").replace("{xid}", "{}") for name in names))


if __name__ == "__main__":
    TYPES.write_text(module(sys.argv[1]))
    lines = [f"{json.dumps(name)}: {json.dumps(kinds(arch))}" for arch, name in gguf.MODEL_ARCH_NAMES.items()]
    KINDS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
