"""What llama.cpp's converter calls the tensors of the towers beside a language model: `tables/conversions/mmproj_names.json`.

    PYTHONPATH=SOURCE/gguf-py:tools python tools/llama_cpp/write_names.py "llama.cpp …"     # SOURCE is llama.cpp's

Read from the map of names in its gguf-py, which has for each tensor of a file what models call it. Names that differ in
the words in front alone are one; what the map calls a conformer, published models call an audio tower.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from gguf.constants import MODEL_ARCH, MODEL_TENSORS, TENSOR_NAMES
from gguf.tensor_mapping import TensorNameMap
from table_text import layout

OUT = Path(__file__).parents[2] / "inspector/architectures/data/tables/conversions/mmproj_names.json"


def shortened(names: list[str]) -> list[str]:
    """Names without those that end with another of them, and without the words that only say that it is a model's."""
    bare = [re.sub(r"\{\w+\}", "{}", name.removeprefix("model.").removesuffix(".weight")) for name in names]
    bare += [name.replace("conformer.", "audio_tower.", 1) for name in bare if name.startswith("conformer.")]
    kept = [name for name in bare if not any(name != other and name.endswith(f".{other}") for other in bare)]
    return list(dict.fromkeys(kept))


def main() -> None:
    maps = {**TensorNameMap.mappings_cfg, **TensorNameMap.block_mappings_cfg}
    found = {
        re.sub(r"\{\w+\}", "{}", TENSOR_NAMES[kind]): shortened(list(maps[kind]))
        for kind in MODEL_TENSORS[MODEL_ARCH.MMPROJ]
        if kind in TENSOR_NAMES and kind in maps
    }
    source = f"gguf/tensor_mapping.py of {sys.argv[1]}; tools/llama_cpp/write_names.py writes it"
    about = "Names of the tensors of towers beside a language model."
    names = {name: " | ".join(others) for name, others in found.items()}
    OUT.write_text(layout({"_mmproj_names": {"about": about, "source": source, "like": "", "names": names}}))


if __name__ == "__main__":
    main()
