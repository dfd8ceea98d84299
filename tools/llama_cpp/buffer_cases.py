"""What llama.cpp prints of its buffers for random models: `fixtures/buffers_llama_cpp.jsonl`, and how far off ours is.

    python tools/llama_cpp/buffer_cases.py SOURCE [--seed N] [--write] [ARCHITECTURE…]     # needs xllamacpp

Models with the widths of published ones (`draw.py`, scaled), contexts from 512 to 131,072 tokens, micro-batches, sequences
and types of the cache are drawn. Files have holes for data, which is not read. Without `--write` the fixture stays as it is.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

import draw as drawing  # noqa: E402
from graphs import Graphs  # noqa: E402
from library import in_child  # noqa: E402
from load_cases import patterns, predicted, write  # noqa: E402

import inspector  # noqa: E402

OUT = ROOT / "fixtures" / "buffers_llama_cpp.jsonl"
TYPES = {"f16": 1, "q8_0": 8, "q4_0": 2}
VOCABULARIES = (32000, 49152, 65536, 100352, 128256, 151936, 256000, 262144)


class Wide(drawing.Draw):
    """A model as wide as published ones."""

    def __init__(self, architecture: str, seed: int) -> None:
        super().__init__(architecture, seed)
        pick = self.random
        self.head = pick.choice([64, 80, 96, 128, 128, 256])
        self.kv_heads = pick.choice([1, 2, 4, 8])
        several = pick.choice([1, 2, 3, 4, 7, 8]) if self.kv_heads > 1 else pick.choice([2, 4, 8])
        self.heads = self.kv_heads * several
        self.hidden = self.heads * pick.choice([64, 96, 128, 160])
        self.narrow = architecture in drawing.NARROW or pick.random() < 0.5
        if self.narrow:
            self.head = self.hidden // self.heads

    def eight(self, least: int, most: int) -> int:
        return 8 * self.random.randint(4 * least, 6 * most)


def wide(architecture: str, asked: Mapping[str, bool], seed: int) -> list[drawing.Pair]:
    """The key-values of such a model."""
    pairs = {key: (kind, value) for key, kind, value in drawing.draw(architecture, asked, seed, Wide)}
    pick = random.Random(f"{architecture} {seed} wide")
    if f"{architecture}.feed_forward_length" in pairs and not isinstance(
        pairs[f"{architecture}.feed_forward_length"][1], list
    ):
        pairs[f"{architecture}.feed_forward_length"] = ("uint32", 256 * pick.randint(4, 72))
    if f"{architecture}.vocab_size" in pairs:
        pairs[f"{architecture}.vocab_size"] = ("uint32", pick.choice(VOCABULARIES))
    if f"{architecture}.expert_count" in pairs:
        pairs[f"{architecture}.expert_count"] = ("uint32", pick.choice([8, 16, 32, 64]))
        pairs[f"{architecture}.expert_used_count"] = ("uint32", pick.choice([2, 4, 6, 8]))
    return [(key, kind, value) for key, (kind, value) in pairs.items()]


def options(pick: random.Random) -> dict[str, Any]:
    """The options of `inspect memory` for a case."""
    flash = pick.random() < 0.75
    return {
        "context": pick.choice([512, 1000, 2048, 4096, 5000, 8192, 16384, 32768, 65536, 100000, 131072]),
        "sequences": pick.choice([1, 1, 1, 2, 3, 4, 8]),
        "batch": pick.choice([32, 64, 128, 256, 512, 512, 512, 512, 1024, 2048]),
        "cache_dtype": pick.choice(["f16", "f16", "q8_0", "q4_0"]) if flash else "f16",
        "flash_attention": flash,
    }


def printed(graphs: Graphs, path: Path, asked: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """MiB of the compute and output buffers; empty if the library refuses it."""
    model = graphs.model(path)
    kind, sequences = TYPES[asked["cache_dtype"]], asked["sequences"]
    if not model or not graphs.context(
        model,
        n_ctx=-(-asked["context"] // 256) * 256 * sequences,
        n_ubatch=asked["batch"],
        n_seq_max=sequences,
        n_outputs_max=sequences,
        n_outputs_max_per_seq=1,
        flash_attn_type=asked["flash_attention"],
        type_k=kind,
        type_v=kind,
    ):
        return [], []
    return graphs.printed("compute"), graphs.printed("output")


def case(graphs: Graphs, architecture: str, asked: Mapping[str, bool], seed: int) -> dict[str, Any] | None:
    """One case, with the ratio of ours; None if it cannot be loaded."""
    pick = random.Random(f"{architecture} {seed}")
    with tempfile.TemporaryDirectory() as folder:
        keys, path = Path(folder, "keys.gguf"), Path(folder, "model.gguf")
        pairs, given = wide(architecture, asked, seed), options(pick)
        stored, head = predicted(write(keys, pairs, {}))
        for tensors in (stored, stored | head):
            compute, output = printed(graphs, write(path, pairs, tensors), given)
            if compute:
                break
        else:
            return None
        result = inspector.memory(path, engine="llama.cpp", **given)
        ours = result.activations.nbytes / 2**20 / compute[0] if result.activations else None
    values = [[key, kind, value] for key, kind, value in pairs]
    found = {"pairs": values, "tensors": patterns(tensors), "options": given, "compute": compute[0], "output": output}
    return {"architecture": architecture, **found, "ours": ours}


def main() -> None:
    """Ask about the named architectures, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("architecture", nargs="*")
    given = parser.parse_intermixed_args()
    asked, graphs, lines, ratios = drawing.loaders(given.source), Graphs(), [], []
    for architecture in given.architecture or asked:
        found = in_child(lambda name=architecture: case(graphs, name, asked[name], given.seed))
        if not found:
            print(architecture, "not loaded")
            continue
        ours = found.pop("ours")
        print(
            architecture, found["compute"], "unknown" if ours is None else f"{ours:.3f}", found["options"], flush=True
        )
        ratios += [] if ours is None else [ours]
        lines.append(json.dumps(found, separators=(",", ":")) + "\n")
    print(f"{sum(abs(each - 1) <= 0.05 for each in ratios)} of {len(ratios)} within 5 %, of {len(lines)} in all")
    if given.write:
        OUT.write_text("".join(lines))


if __name__ == "__main__":
    main()
