"""Types of caches and loaded weights: their blocks and bytes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from inspector.errors import UsageError
from inspector.formats.ggml import TYPES
from inspector.tabular import NamedTuple


class Width(NamedTuple):
    """Elements are stored in blocks of fixed length and size."""

    name: str
    block: int  # elements per block
    nbytes: int  # bytes per block
    estimate: str = ""  # why its bytes are an estimate; "" if they are exact

    @property
    def bits(self) -> float:
        """Bits per element."""
        return self.nbytes * 8 / self.block

    def bytes_of(self, elements: int) -> int:
        """Bytes of this many elements, the last block padded."""
        return -(-elements // self.block) * self.nbytes

    def fits(self, elements: int) -> bool:
        """Whether the elements fill whole blocks."""
        return elements % self.block == 0

    def is_narrower(self, than: Width) -> bool:
        """Whether an element takes less space."""
        return self.nbytes * than.block < than.nbytes * self.block


#: Alternative names → the type. GGML's own types are listed by their names in lower case.
ALIASES: Mapping[str, str] = {
    "float32": "F32", "fp32": "F32", "float16": "F16", "fp16": "F16", "half": "F16", "bfloat16": "BF16",
    "fp8_e4m3": "F8", "fp8_e5m2": "F8", "fp8": "F8", "float8": "F8", "f8_e4m3": "F8", "f8_e5m2": "F8", "int8": "I8",
}  # fmt: skip

#: Bits for a weight → usual types of as many.
BITS: Mapping[str, list[str]] = {"4": ["nf4", "q4_k_m", "gptq-4bit", "awq-4bit"], "8": ["int8", "fp8", "q8_0"]}

_MIXTURE = "a mixture: which tensors have how many bits depends on the model; assumed to be {} bits per weight"


def _mixture(name: str, hundredths: int) -> Width:
    """A mixture of types, in hundredths of a bit per weight: blocks of 800 elements, so that bytes are whole."""
    return Width(name, 800, hundredths, _MIXTURE.format(hundredths / 100))


WIDTHS: Mapping[str, Width] = {
    **{each.name: Width(each.name, each.block, each.nbytes) for each in TYPES.values()},
    "F8": Width("F8", 1, 1),
    # 4 bits, and a scale in 32 bits for 64 weights; with double quantization a scale in 8 bits, and one in 32 for 256
    # of these: QLoRA, arXiv:2305.14314, section 3.
    "NF4": Width("NF4", 64, 36),
    "NF4_DQ": Width("NF4_DQ", 16384, 8192 + 256 + 4),
    # Llama-3.1-8B's file sizes over its 8.03 billion parameters: llama.cpp, tools/quantize/README.md.
    "Q2_K_S": _mixture("Q2_K_S", 297), "Q3_K_S": _mixture("Q3_K_S", 364), "Q3_K_M": _mixture("Q3_K_M", 400),
    "Q3_K_L": _mixture("Q3_K_L", 430), "Q4_K_S": _mixture("Q4_K_S", 467), "Q4_K_M": _mixture("Q4_K_M", 489),
    "Q5_K_S": _mixture("Q5_K_S", 557), "Q5_K_M": _mixture("Q5_K_M", 570),
}  # fmt: skip


def width(name: str, among: Collection[str] = ()) -> Width:
    """The type with this name. Raises UsageError.

    Args:
        among: the types that may be meant, to suggest.
    """
    found = WIDTHS.get(ALIASES.get(name.lower(), name.upper()))
    if found is None:
        from difflib import get_close_matches

        of = [each.lower() for each in among] or [*ALIASES, *(each.lower() for each in WIDTHS)]
        bits = re.fullmatch(r"(?:u?int|fp|w|nf)?[-_ ]?([48])[-_ ]?(?:bits?)?", name.lower())
        near = get_close_matches(name.lower(), of, 3, 0.5) if among or not bits else BITS[bits[1]]
        hint = f": did you mean {', '.join(near)}?" if near else f"; known: {', '.join(WIDTHS)}"
        raise UsageError(f"no type is called {name!r:.40}{hint}")
    return found
