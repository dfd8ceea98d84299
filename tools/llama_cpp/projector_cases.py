"""The files that llama.cpp's converter writes beside language models, as cases: `fixtures/gguf_projectors.jsonl`.

    python tools/llama_cpp/projector_cases.py SOURCE [--seed N…] [--out FILE] [CLASS…]

SOURCE is llama.cpp's. The classes are those whose towers its converter writes, built small (`towers.py`, `towers.txt`).
A line has a file's `clip.*` key-values and its tensors, those of one pattern and shape together.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compare_cases import REMOTE_TOWERS, converted, saved
from convert_cases import ROOT, Converter
from load_cases import patterns

#: Classes whose layers the converter counts itself, and of whose recipes only the first layers are written.
SHORT = frozenset({"StepVLForConditionalGeneration", "NemotronH_Nano_VL_V2#2"})
OUT = ROOT / "fixtures" / "gguf_projectors.jsonl"


def cases(converter: Converter, names: list[str], seeds: list[int]) -> Iterator[dict[str, Any]]:
    """For each class and seed, the content of its file; if there is none, the reason is printed."""
    for name in names:
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    model = Path(folder) / "model"
                    model_type, _ = saved(name, seed, model, numbered=False, towers=True)
                    path = converted(converter, model, name, model_type, "F32", towers=True)
                    reader = converter.gguf.GGUFReader(path)
                except Exception as error:  # a class that cannot be built this small, or converted without a tokenizer
                    print(f"{name} {seed}: {error!r:.160}", flush=True)
                    continue
                keys = {key: field.contents() for key, field in reader.fields.items() if key.startswith("clip.")}
                shapes = {tensor.name: [int(size) for size in reversed(tensor.shape)] for tensor in reader.tensors}
                tensors = patterns(shapes)
                if name in SHORT:
                    whole = list(range(keys["clip.vision.block_count"]))
                    tensors = [
                        [each, *shape, whole] if each.startswith("v.blk.") else [each, *shape, *layers]
                        for each, *shape, layers in ([*entry[:2], entry[2:]] for entry in tensors)
                    ]
                yield {"from": name, "keys": keys, "tensors": tensors}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("--seed", type=int, nargs="*", default=[0])
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("classes", nargs="*")
    given = parser.parse_intermixed_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    import torch
    import transformers

    torch.set_num_threads(1)  # conversions are forked
    converter = Converter(given.source)
    names = given.classes or [
        *(each for each in converter.classes(towers=True) if hasattr(transformers, each)),
        *REMOTE_TOWERS,
    ]
    lines = [json.dumps(case, separators=(",", ":")) for case in cases(converter, names, given.seed)]
    given.out.write_text("\n".join(sorted(lines)) + "\n")
    print(len(lines), "files")


if __name__ == "__main__":
    main()
