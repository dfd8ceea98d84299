"""Coverage-guided fuzzing of the GGUF reader: `make fuzz`, or `python fuzz/gguf_header.py -max_total_time=60`.

Any exception but FormatError ends the run and leaves the input in a `crash-…` file, as does a region that
does not follow the one before it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

with atheris.instrument_imports(include=["inspector"]):
    from inspector.errors import FormatError
    from inspector.formats import gguf

from gguf_bytes import ARRAY, STRING, UINT32, Array, Info, Recipe  # noqa: E402  found through the path above
from memory import Growing  # noqa: E402  the same


def one_input(data: bytes) -> None:
    """Read a header from bytes that arrive as they are requested, and decode every value."""
    content = data if data[:4] in gguf.MAGICS else b"GGUF" + data
    try:
        header = gguf.read(Growing(content, slack=len(data) % 7), "fuzzed.gguf")
    except FormatError:
        return
    at = 0
    for region in header.regions:
        assert region.start == at < region.end, header.regions
        at = region.end
    assert at == len(content), header.regions
    for key in header.metadata:
        repr(header.metadata[key])


def seeds(folder: Path) -> None:
    """Sound files of each version and byte order, as a start."""
    pairs = [
        ("general.alignment", UINT32, 32),
        ("tokenizer.ggml.tokens", ARRAY, Array(STRING, ["<s>", "a"])),
        ("nested", ARRAY, Array(ARRAY, [Array(UINT32, [1, 2])])),
    ]
    infos = [Info("blk.0.attn_q.weight", [256, 2], 12, 0), Info("output_norm.weight", [4], 0, 288)]
    for version in (1, 2, 3):
        for order in "<>":
            name = f"{version}{'big' if order == '>' else 'little'}"
            (folder / name).write_bytes(Recipe(version, order, pairs=pairs, infos=infos, data=bytes(320)).file())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as corpus:
        seeds(Path(corpus))
        atheris.Setup([*sys.argv, corpus], one_input)
        atheris.Fuzz()
