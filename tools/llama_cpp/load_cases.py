"""The tables' predictions as files of zeros that llama.cpp loads: `fixtures/gguf_loaded.jsonl`.

    python tools/llama_cpp/load_cases.py SOURCE [--seed N] [--write] [ARCHITECTURE…]     # needs xllamacpp

SOURCE is llama.cpp's. For each architecture random key-values are drawn and the tensors predicted. llama.cpp must load
them, count the same parameters, and refuse the file without any one of its tensors, except those that its loader marks
as not required.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

from draw import Pair, draw, loaders  # noqa: E402
from library import Llama  # noqa: E402
from sparse_gguf import write_gguf  # noqa: E402

import inspector  # noqa: E402

OUT = ROOT / "fixtures" / "gguf_loaded.jsonl"
Tensors = Mapping[str, list[int]]


def predicted(path: Path) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Name → shape of the tensors that a file's key-values predict, and of a head that may be the embedding."""
    prediction = inspector.predict(path)
    stored = (*prediction.expected, *prediction.buffers)
    return dict(_named(stored)), dict(_named(prediction.tied))


def _named(rows: Any) -> Iterator[tuple[str, list[int]]]:
    for row in rows:
        for layer in (None,) if row.layers is None else row.layers:
            yield row.name.replace("{layer}", str(layer)), list(row.shape)


def write(path: Path, pairs: list[Pair], tensors: Tensors) -> Path:
    """A file of zeros."""
    write_gguf(path, pairs, [("F32", shape, name) for name, shape in tensors.items()])
    return path


def kinds(tensors: Tensors) -> Iterator[str]:
    """The first and the last tensor of each kind."""
    members: dict[str, list[str]] = {}
    for name in tensors:
        members.setdefault(re.sub(r"blk\.\d+", "blk", name), []).append(name)
    for names in members.values():
        yield from dict.fromkeys((names[0], names[-1]))


def patterns(tensors: Tensors) -> list[list[Any]]:
    """[name, shape] or [name with {}, shape, layers], tensors of one shape together."""
    groups: dict[tuple[str, tuple[int, ...]], list[int]] = {}
    for name, shape in sorted(tensors.items()):
        layer = re.search(r"blk\.(\d+)\.", name)
        pattern = name.replace(layer[0], "blk.{}.") if layer else name
        groups.setdefault((pattern, tuple(shape)), []).extend([int(layer[1])] if layer else [])
    return [[name, list(shape), *([sorted(layers)] if layers else [])] for (name, shape), layers in groups.items()]


def try_out(llama: Llama, pairs: list[Pair], folder: Path) -> tuple[dict[str, list[int]], str, list[str]]:
    """The tensors that llama.cpp loads, the errors, and the tensors without which it still loads the file."""
    stored, head = predicted(write(folder / "keys.gguf", pairs, {}))
    answer = llama.load(write(folder / "zeros.gguf", pairs, stored))
    if head and not answer.error:
        whole = llama.load(write(folder / "zeros.gguf", pairs, stored | head))
        if not whole.error:
            stored, answer = stored | head, whole
    if answer.error:
        return stored, answer.error, []
    count = sum(prod(shape) for shape in stored.values())
    wrong = "" if answer.parameters == count else f"{answer.parameters} parameters, {count} predicted"
    spare = []
    for name in kinds(stored):
        less = {other: shape for other, shape in stored.items() if other != name}
        if not llama.load(write(folder / "less.gguf", pairs, less)).error:
            spare.append(name)
    return stored, wrong, spare


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("architectures", nargs="*")
    arguments = parser.parse_intermixed_args()
    asked, llama, lines = loaders(arguments.source), Llama(), []
    with tempfile.TemporaryDirectory() as folder:
        for architecture in arguments.architectures or asked:
            pairs = draw(architecture, asked[architecture], arguments.seed)
            tensors, wrong, spare = try_out(llama, pairs, Path(folder))
            print(architecture, wrong or "loads", "without them too: " + " ".join(spare) if spare else "")
            keys = {key.removeprefix(f"{architecture}."): value for key, _, value in pairs[2:]}
            case = {"architecture": architecture, "from": f"seed {arguments.seed}", "keys": keys}
            if not wrong:
                lines.append(json.dumps({**case, "tensors": patterns(tensors)}, separators=(",", ":")))
    print(len(lines), "of", len(arguments.architectures or asked), "load")
    if arguments.write:
        OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
