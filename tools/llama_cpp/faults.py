"""Does the audit decide as llama.cpp does? On files of every architecture with a random fault each.

    python tools/llama_cpp/faults.py [--files 1000] [--seed 0] [--list]     # needs xllamacpp

Each file is one of `fixtures/gguf_loaded.jsonl`, zeros that llama.cpp loads, with one fault in its key-values or its
tensors. Prints, by class of fault: how many llama.cpp refuses and the audit has an error for, refuses and the audit
misses, loads and the audit has an error for (alarm), loads and the audit is silent or warns.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

from draw import WHOLE, kind_of  # noqa: E402  found beside this file
from library import Llama  # noqa: E402  the same
from sparse_gguf import write_gguf  # noqa: E402  the same

import inspector  # noqa: E402  the same

Pair = tuple[str, str, Any]
Entry = tuple[str, list[int], str]


def sound(case: dict[str, Any]) -> tuple[list[Pair], list[Entry]]:
    """A case's key-values and tensors."""
    architecture = case["architecture"]
    pairs: list[Pair] = [
        ("general.architecture", "string", architecture),
        ("tokenizer.ggml.model", "string", "no_vocab"),
    ]
    for key, value in case["keys"].items():
        pairs.append((key if key.startswith(WHOLE) else f"{architecture}.{key}", kind_of(key, value), value))
    entries: list[Entry] = []
    for name, shape, *layers in case["tensors"]:
        entries += [("F32", shape, name.replace("{}", str(layer))) for layer in (layers[0] if layers else [0])]
    return pairs, entries


def spoil(pairs: list[Pair], entries: list[Entry], draw: random.Random) -> tuple[str, str]:
    """One fault: its class, and what it is."""
    at, place = draw.randrange(len(pairs)), draw.randrange(len(entries))
    key, kind, value = pairs[at]
    dtype, shape, name = entries[place]
    how = draw.choice(("key gone", "key type", "key value", "key value", "dropped", "renamed", "shape", "type", "more"))
    if how == "key gone":
        del pairs[at]
    elif how == "key type":
        other = draw.choice(
            [each for each in (("string", "x"), ("float32", 0.5), ("int32", 2), ("bool", True)) if each[0] != kind]
        )
        pairs[at] = (key, *other)
    elif how == "key value":
        new = _other(value, draw)
        if new == value:
            return spoil(pairs, entries, draw)
        pairs[at] = (key, kind, new)
    elif how == "dropped":
        del entries[place]
    elif how == "renamed":
        entries[place] = (dtype, shape, draw.choice((name + "x", name.replace("blk.", "block."), "x." + name)))
        if entries[place][2] == name:
            return spoil(pairs, entries, draw)
    elif how == "shape":
        side = draw.randrange(len(shape))
        entries[place] = (dtype, [*shape[:side], shape[side] + draw.choice((1, 8)), *shape[side + 1 :]], name)
    elif how == "type":
        entries[place] = (draw.choice(("F16", "BF16")), shape, name)
    else:
        entries.append(("F32", [32], "extra.weight"))
    told = f"{key} {value!r:.30} → {pairs[at][1:] if at < len(pairs) and how != 'key gone' else 'gone'!r:.40}"
    return how, told if how.startswith("key") else f"{name} {shape}"


def _other(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return draw.choice((value + 1, max(0, value - 1), value * 2, 0))
    if isinstance(value, float):
        return draw.choice((0.0, -1.0, value * 2))
    if isinstance(value, str):
        return draw.choice((value + "x", value[:-1], value.upper(), ""))
    return draw.choice((value[:-1] or value, value + value[-1:], value * 2))


def errors(path: Path) -> list[str]:
    """The audit's errors about a file."""
    found = [each for model in inspector.audit([path]).checkpoints for each in model.findings]
    return [f"{each.rule}: {each.message}" for each in found if each.severity == "error"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="each that is missed, or an alarm")
    given = parser.parse_args()
    cases = [json.loads(line) for line in (ROOT / "fixtures" / "gguf_loaded.jsonl").read_text().splitlines()]
    draw, llama = random.Random(given.seed), Llama()
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.gguf")
        for _ in range(given.files):
            case = draw.choice(cases)
            pairs, entries = sound(case)
            kind, told = spoil(pairs, entries, draw)
            write_gguf(path, pairs, entries)
            refused, found = llama.load(path).error, errors(path)
            verdict = ("right" if found else "missed") if refused else ("alarm" if found else "silent")
            counts[kind][verdict] += 1
            counts["ALL"][verdict] += 1
            if given.list and verdict in ("missed", "alarm"):
                print(f"{verdict} {case['architecture']} {kind}: {told}\n    {(refused or '; '.join(found))[:200]}")
    print(f"{'':12}{'files':>7}{'right':>7}{'silent':>7}{'missed':>7}{'alarm':>7}")
    for kind in sorted(counts, key=lambda each: (each == "ALL", each)):
        row = counts[kind]
        print(
            f"{kind:12}{row.total():7}" + "".join(f"{row[each]:7}" for each in ("right", "silent", "missed", "alarm"))
        )


if __name__ == "__main__":
    main()
