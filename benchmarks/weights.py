"""Weights in 16 bits: `inspect predict`, and what `accelerate estimate-memory` makes of an empty model of Transformers.

    ACCELERATE=PYTHON python benchmarks/weights.py

ACCELERATE is a Python that has accelerate, transformers and torch; no weight is allocated and nothing is downloaded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import inspector

REAL = Path(__file__).parents[1] / "fixtures" / "real" / "config"


def _real(name: str) -> dict[str, object]:
    """A published configuration without its packing, which is another question."""
    fields: dict[str, object] = json.loads(next(REAL.glob(f"*{name}_config.json")).read_text())
    return {key: value for key, value in fields.items() if key not in ("quantization_config", "auto_map")}


MODELS: dict[str, dict[str, object]] = {
    "Llama 3.1 8B": {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
    },
    "Gemma 3 27B, text": {
        "model_type": "gemma3_text",
        "architectures": ["Gemma3ForCausalLM"],
        "hidden_size": 5376,
        "intermediate_size": 21504,
        "num_hidden_layers": 62,
        "num_attention_heads": 32,
        "num_key_value_heads": 16,
        "head_dim": 128,
        "vocab_size": 262208,
    },
    "gpt-oss 20B": _real("openai--gpt-oss-20b"),
    "Qwen3-Next 80B": {
        "model_type": "qwen3_next",
        "architectures": ["Qwen3NextForCausalLM"],
        "num_hidden_layers": 48,
        "hidden_size": 2048,
        "vocab_size": 151936,
    },
    "DeepSeek-V3": _real("deepseek-ai--DeepSeek-V3"),
    "Mamba 2.8B": {
        "model_type": "mamba",
        "architectures": ["MambaForCausalLM"],
        "hidden_size": 2560,
        "num_hidden_layers": 64,
        "vocab_size": 50280,
        "tie_word_embeddings": True,
    },
}

#: The other Python's program: configurations on stdin, bytes on each line.
ASKED = """
import json, sys, torch
from accelerate import init_empty_weights
from accelerate.utils import calculate_maximum_sizes
from transformers import CONFIG_MAPPING, AutoModelForCausalLM
for fields in json.load(sys.stdin):
    own = {key: value for key, value in fields.items() if key not in ("model_type", "transformers_version")}
    with init_empty_weights():
        model = AutoModelForCausalLM.from_config(CONFIG_MAPPING[fields["model_type"]](**own))
    print(calculate_maximum_sizes(model.to(torch.bfloat16))[0], flush=True)
"""


def main() -> None:
    ours = [inspector.predict(fields).parameters * 2 for fields in MODELS.values()]
    python = os.environ.get("ACCELERATE", sys.executable)
    asked = json.dumps(list(MODELS.values()))
    ran = subprocess.run([python, "-c", ASKED], input=asked, capture_output=True, text=True, check=False)
    theirs = [int(line) for line in ran.stdout.split()] if ran.returncode == 0 else [None] * len(ours)
    for name, own, other in zip(MODELS, ours, theirs, strict=True):
        print(f"{name:<20}{own:>20,}" + (f"{other:>20,}{abs(other - own):>16,}" if other is not None else ""))


if __name__ == "__main__":
    main()
