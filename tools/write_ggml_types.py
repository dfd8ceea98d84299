"""Write `inspector/formats/gguf/types.py` from the `gguf` package, so that reading a file need not import numpy.

    PYTHONPATH=llama.cpp/gguf-py python tools/write_ggml_types.py "llama.cpp b11549"

llama.cpp's own gguf-py is ahead of the package that is published; the argument says which one it is.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import gguf

TARGET = Path(__file__).parents[1] / "inspector" / "formats" / "gguf" / "types.py"

HEAD = '''"""GGML's tensor types and file types, as the `gguf` package of {origin} has them.

Written by `tools/write_ggml_types.py`; a test holds that it agrees with the package that is installed.
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


def text(origin: str) -> str:
    """The module's source."""
    types = "\n".join(
        f'    {int(kind)}: GGMLType("{kind.name}", {block}, {size}, {bits(kind.name)}),'
        for kind, (block, size) in sorted(gguf.GGML_QUANT_SIZES.items())
    )
    file_types = "\n".join(
        f'    {int(kind)}: "{kind.name.removeprefix("MOSTLY_").removeprefix("ALL_")}",' for kind in gguf.LlamaFileType
    )
    return HEAD.format(origin=origin, types=types, file_types=file_types)


if __name__ == "__main__":
    TARGET.write_text(text(sys.argv[1]))
