"""Blocks of each GGML type, and whether llama.cpp accepts them with `--check-tensors` → fixtures/gguf_blocks.jsonl.

    python tools/llama_cpp/block_cases.py        needs xllamacpp

Bytes are drawn, until as many blocks are refused as are accepted; a type of which all are accepted has fewer.
"""

from __future__ import annotations

import ctypes
import json
import random
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]

from library import Library  # noqa: E402

from inspector.formats.ggml import TYPES  # noqa: E402

OUT = ROOT / "fixtures" / "gguf_blocks.jsonl"
EACH = 3  # blocks of either kind
TRIES = 20_000


def main() -> None:
    validate = Library().lib.ggml_validate_row_data
    validate.argtypes, validate.restype = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t], ctypes.c_bool
    draw = random.Random(4)
    lines = []
    for number, kind in TYPES.items():
        if kind.block == 1 or kind.name in ("Q8_1",):  # an intermediate of products, which no file holds
            continue
        found: dict[bool, list[str]] = {True: [], False: []}
        for _ in range(TRIES):
            block = draw.randbytes(kind.nbytes)
            taken = validate(number, block, len(block))
            if len(found[taken]) < EACH:
                found[taken].append(block.hex())
            if all(len(blocks) == EACH for blocks in found.values()):
                break
        lines.append(json.dumps({"type": kind.name, "taken": found[True], "refused": found[False]}))
        print(kind.name, len(found[True]), len(found[False]))
    OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
