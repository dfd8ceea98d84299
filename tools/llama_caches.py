"""The sizes of buffers that llama.cpp prints, for `fixtures/caches_llama_cpp.jsonl`: each file's key-values, run again.

    python tools/llama_caches.py        # needs the package xllamacpp, whose shared library is llama.cpp

A model is made of key-values alone (`llama_model_init_from_user`), without its tensors' data; a context of it prints
the sizes of keys, values and states. The library ends the process on odd key-values: each file has a process of its own.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

FIXTURE = Path(__file__).parents[1] / "fixtures" / "caches_llama_cpp.jsonl"
sys.path[:0] = [str(FIXTURE.parents[1]), str(FIXTURE.parent), str(Path(__file__).parent / "llama_cpp")]

from library import Library, in_child  # noqa: E402

_CELLS = re.compile(r"size = .*K \(\w+\): +([\d.]+) MiB, V \(\w+\): +([\d.]+)")
_STATES = re.compile(r"R \(f32\): +([\d.]+) MiB, S \(f32\): +([\d.]+) MiB, P \(f32\): +([\d.]+)")


def printed(library: Library, path: Path, contexts: list[dict[str, Any]]) -> list[list[str]]:
    """The library's output for each context."""
    model = library.model_of_keys(path)
    assert model
    found = []
    for asked in contexts:
        library.context(model, **asked)
        found.append(library.log.splitlines())
    return found


def figures(lines: list[str]) -> tuple[list[float], int]:
    """MiB of keys, values and states, and the number of rounded figures that each is a sum of."""
    sums, number = [0.0, 0.0, 0.0], 0
    for line in lines:
        if match := _CELLS.search(line):
            sums[0] += float(match[1])
            sums[1] += float(match[2])
            number += 2
        if match := _STATES.search(line):
            sums[2] += sum(map(float, match.groups()))
            number += 3
    return [round(each, 2) for each in sums], number


def main() -> None:
    """Run every file of the fixture, and write it again."""
    from sparse_gguf import write_gguf

    library, lines = Library(), []
    for line in FIXTURE.read_text().splitlines():
        case = json.loads(line)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.gguf"
            write_gguf(path, [tuple(pair) for pair in case["pairs"]], [])
            asked = [each["context"] for each in case["contexts"]]
            ran = in_child(lambda at=path, given=asked: printed(library, at, given))
        for each, reported in zip(case["contexts"], ran, strict=True):
            each["printed"], each["figures"] = figures(reported)
        lines.append(json.dumps(case, separators=(",", ":")) + "\n")
    FIXTURE.write_text("".join(lines))


if __name__ == "__main__":
    main()
