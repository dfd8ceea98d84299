"""Does the audit agree with llama.cpp's server? On crafted files of every architecture with every kind of tokenizer.

    python tools/llama_cpp/crafted.py [--files 1000] [--seed 0] [--list] [--only CLASS] [--keep DIR]     # needs xllamacpp

Each file is one of `fixtures/gguf_loaded.jsonl` with a random tokenizer, and one or two faults of `mutations.py`.
A file does not count if llama.cpp does not start with it without faults. Prints, by class of the last fault, how many
files llama.cpp refuses and the audit has an error for, refuses and the audit misses, starts with and the audit has an
error for (alarm), starts with and the audit has none.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

from crafting import TOKENIZERS, Craft, Entry, Pair, tokenizer  # noqa: E402  found beside this file
from draw import sound  # noqa: E402  the same
from mutations import MUTATIONS  # noqa: E402  the same
from serving import Server  # noqa: E402  the same

import inspector  # noqa: E402  found through the path above

#: Half of the files are of the architectures that most downloads have.
USUAL = ("llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3", "gpt2", "bert", "qwen3moe", "mistral3")


def made(case: dict[str, Any], model: str) -> Craft:
    """A case with a tokenizer."""
    pairs, entries = sound(case)
    kept = [Pair(*each) for each in pairs if each[0] != "tokenizer.ggml.model" and not each[0].endswith(".vocab_size")]
    for each in kept:
        each.kind = each.kind.removeprefix("array[").removesuffix("]")
    own = tokenizer(model, case["keys"].get("vocab_size", 64))
    if own[-1].key == "vocab_size":
        own[-1].key = f"{case['architecture']}.vocab_size"
    return Craft([*kept, *own], [Entry(dtype, list(shape), name) for dtype, shape, name in entries])


def verdict(path: Path) -> tuple[bool, list[str]]:
    """Whether llama.cpp loads a file according to the audit, and the audit's errors."""
    try:
        (model, *_) = inspector.audit([path]).checkpoints
    except inspector.InspectorError as error:
        return False, [f"refused: {error}"]
    reported = [f"{each.rule}: {each.message}" for each in model.findings if each.severity == "error"]
    accepts = [each.accepts for each in model.verdicts if each.reader == "llama.cpp" and each.path == path.name]
    return (accepts[0] is not False if accepts else not reported), reported


class Comparison:
    """Draws files, runs both programs, and counts."""

    def __init__(self, given: argparse.Namespace, server: Server, scratch: Path) -> None:
        self.given, self.server, self.scratch = given, server, scratch
        lines = (ROOT / "fixtures" / "gguf_loaded.jsonl").read_text().splitlines()
        self.cases = {each["architecture"]: each for each in map(json.loads, lines)}
        self.mutations = [each for each in MUTATIONS if given.only in (None, each.__name__)]
        self.counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.starts: dict[tuple[str, str], bool] = {}

    def draw(self, at: int) -> None:
        """Draw one file; it counts if llama.cpp had enough memory and time."""
        draw = random.Random(f"{self.given.seed} {at}")
        usual = [each for each in USUAL if each in self.cases]
        name, model = draw.choice(usual if draw.random() < 0.5 else list(self.cases)), draw.choice(TOKENIZERS)
        if not self._starts(name, model):
            return
        craft, reported, kind = made(self.cases[name], model), list[str](), ""
        while not reported or (len(reported) < 2 and draw.random() < 0.15):
            mutation = draw.choice(self.mutations)
            if (what := mutation(craft, draw)) is not None:
                reported, kind = [*reported, what], mutation.__name__
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            path = craft.write(Path(folder))
            refused = self.server.start(path)
            if refused == "resources":
                return
            accepts, found = verdict(path)
            result = ("missed" if accepts else "right") if refused else ("silent" if accepts else "alarm")
            if result in ("missed", "alarm") and self.given.keep:
                shutil.copytree(folder, self.given.keep / f"{self.given.seed}-{at}", dirs_exist_ok=True)
        self.counts[kind][result] += 1
        self.counts["ALL"][result] += 1
        if self.given.list and result in ("missed", "alarm"):
            why = (refused or "; ".join(found))[:260]
            print(f"{result} {at} {name}/{model} {kind}: {'; '.join(reported)}\n    {why}", flush=True)

    def _starts(self, name: str, model: str) -> bool:
        """Whether llama.cpp starts with a file without faults. The audit should then have no error."""
        if (name, model) not in self.starts:
            with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
                path = made(self.cases[name], model).write(Path(folder))
                self.starts[name, model] = not self.server.start(path)
                accepts, found = verdict(path)
            if self.starts[name, model] and not accepts:
                print(f"ALARM without a fault: {name} {model}: {found}")
        return self.starts[name, model]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="each that is missed, or an alarm")
    parser.add_argument("--only", help="a class of faults")
    parser.add_argument("--keep", type=Path, help="where to keep those")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, Server() as server:
        comparison, at = Comparison(given, server, Path(scratch)), 0
        while comparison.counts["ALL"].total() < given.files:
            at += 1
            comparison.draw(at)
    counts, starts = comparison.counts, comparison.starts.values()
    print(f"{sum(starts)} of {len(starts)} start without a fault")
    print(f"{'':16}{'files':>7}{'right':>7}{'silent':>7}{'missed':>7}{'alarm':>7}")
    for kind in sorted(counts, key=lambda each: (each == "ALL", each)):
        row = counts[kind]
        print(
            f"{kind:16}{row.total():7}" + "".join(f"{row[each]:7}" for each in ("right", "silent", "missed", "alarm"))
        )


if __name__ == "__main__":
    main()
