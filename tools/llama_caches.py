"""The sizes of buffers that llama.cpp prints, for `fixtures/caches_llama_cpp.jsonl`: each file's key-values, run again.

    python tools/llama_caches.py        # needs the package xllamacpp, whose shared library is llama.cpp

A model is made of key-values alone (`llama_model_init_from_user`), without its tensors' data; a context of it prints
the sizes of keys, values and states. The library ends the process on odd key-values: each context has one of its own.
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

from library import LOG, Library, in_child  # noqa: E402
from sparse_gguf import write_gguf  # noqa: E402

_CELLS = re.compile(r"size = .*K \(\w+\): +([\d.]+) MiB, V \(\w+\): +([\d.]+)")
_COMPRESSED = re.compile(r"llama_dsv4_comp_state: \w+ ratio .* size = +([\d.]+) MiB")
_STATES = re.compile(r"R \(f32\): +([\d.]+) MiB, S \(f32\): +([\d.]+) MiB, P \(f32\): +([\d.]+)")


def printed(library: Library, case: dict[str, Any], asked: dict[str, Any]) -> list[str]:
    """The library's output for a context of a case: caches come before the graph, whose making may end the process.

    A case may have a `target`, the key-values of the model that it drafts for, and `tensors`, without which some fail.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
        path, target = Path(folder, "model.gguf"), Path(folder, "target.gguf")
        write_gguf(path, map(tuple, case["pairs"]), map(tuple, case.get("tensors", ())))
        write_gguf(target, map(tuple, case.get("target", ())), [])

        def make() -> None:
            other = library.model_of_keys(target) if "target" in case else None
            given = {**asked, "other": library.context(other, **asked)} if other else asked
            library.lib.llama_log_set(LOG(), None)  # to the process's own output
            model = library.model(path, no_alloc=True) if "tensors" in case else library.model_of_keys(path)
            assert model
            library.context(model, **given)

        in_child(make, errors=output)
        output.seek(0)
        return output.read().decode(errors="replace").splitlines()


def figures(lines: list[str]) -> tuple[list[float], int]:
    """MiB of keys, values and states, and the number of rounded figures that each is a sum of."""
    sums, number, own = [0.0, 0.0, 0.0], 0, False
    for line in lines:
        own = own or "KV buffer size" in line
        if match := _CELLS.search(line):
            if own:  # or all its layers read another context's
                sums[0] += float(match[1])
                sums[1] += float(match[2])
                number += 2
            own = False
        if match := _STATES.search(line):
            sums[2] += sum(map(float, match.groups()))
            number += 3
        if match := _COMPRESSED.search(line):
            sums[2] += float(match[1])
            number += 1
    return [round(each, 2) for each in sums], number


def main() -> None:
    """Run every file of the fixture, and write it again."""
    library, lines = Library(), []
    for line in FIXTURE.read_text().splitlines():
        case = json.loads(line)
        for each in case["contexts"]:
            each["printed"], each["figures"] = figures(printed(library, case, each["context"]))
        lines.append(json.dumps(case, separators=(",", ":")) + "\n")
    FIXTURE.write_text("".join(lines))


if __name__ == "__main__":
    main()
