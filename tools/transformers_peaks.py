"""What Transformers really takes on a GPU beyond weights and cache: torch's peak of allocated memory, as JSON lines.

    python tools/transformers_peaks.py > peaks.jsonl      # needs torch with CUDA, and transformers

The models are those of fixtures/transformers_peaks.jsonl; a new one is a line there with its `config`. Each further line is one
measurement: the attention's implementation, sequences and tokens of the
prompt, whether logits are made of the last token alone (as `generate()` has it) or of all, and in bytes: `weights` (allocated before),
`cache` (what its layers hold afterwards), `peak` (the most that was allocated at once, weights and cache included). With `train` it is
one step of a forward and a backward pass with gradients, with or without checkpointing. Four layers are enough: what a layer makes
is freed before the next one, and a training step's share of each layer follows from two depths.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import transformers

KNOWN = Path(__file__).parents[1] / "fixtures" / "transformers_peaks.jsonl"
#: `model_type` → the widths of a published model: the lines of `KNOWN` that have a `config`.
MODELS: dict[str, dict[str, Any]] = {
    line["type"]: line["config"] for line in map(json.loads, KNOWN.read_text().splitlines()) if "config" in line
}
SHAPES = ((1, 512), (1, 2048), (1, 8192), (4, 2048), (1, 16384))
#: A score matrix of more elements is not made.
MOST_SCORES = 5_000_000_000


def measured(model_type: str, attention: str) -> Iterator[dict[str, Any]]:
    """Inference with a prompt, for each shape; then a training step at two depths."""
    model, config = built(model_type, attention, 4)
    for sequences, tokens in SHAPES:
        heads = getattr(config, "num_attention_heads", 1)
        if attention == "eager" and sequences * tokens * tokens * heads > MOST_SCORES:
            continue
        for last in (True, False):
            yield {"sequences": sequences, "tokens": tokens, "last": last, **prompt(model, sequences, tokens, last)}
    del model
    for layers, checkpointing in ((2, False), (4, False), (2, True), (4, True)):
        model, _ = built(model_type, attention, layers)
        yield {"train": True, "layers": layers, "checkpointing": checkpointing, "sequences": 2, "tokens": 1024} | step(
            model, checkpointing
        )
        del model


def built(model_type: str, attention: str, layers: int) -> tuple[Any, Any]:
    fields = {**MODELS[model_type], "n_layer" if model_type == "gpt2" else "num_hidden_layers": layers}
    config = transformers.AutoConfig.for_model(model_type, **fields)
    with torch.device("cuda"):
        chosen = {} if model_type == "mamba" else {"attn_implementation": attention}
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16, **chosen)
    return model.eval(), config


def start() -> int:
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()


@torch.no_grad()
def prompt(model: Any, sequences: int, tokens: int, last: bool) -> dict[str, int]:
    ids = torch.randint(0, 1000, (sequences, tokens), device="cuda")
    before = start()
    kept = {"logits_to_keep": 1} if last else {}
    out = model(ids, use_cache=True, **kept)
    peak = torch.cuda.max_memory_allocated()
    logits = out.logits.nbytes
    del out.logits
    gc.collect()
    after = torch.cuda.memory_allocated()
    return {"weights": before, "cache": after - before, "logits": logits, "peak": peak}


def step(model: Any, checkpointing: bool) -> dict[str, int]:
    model.train()
    if checkpointing:
        model.gradient_checkpointing_enable()
    ids = torch.randint(0, 1000, (2, 1024), device="cuda")
    model(ids, labels=ids, use_cache=False).loss.backward()  # creates the gradients, which stay
    before = start()
    loss = model(ids, labels=ids, use_cache=False).loss
    forward = torch.cuda.max_memory_allocated()
    loss.backward()
    return {"before": before, "forward": forward, "peak": torch.cuda.max_memory_allocated()}


def main() -> None:
    known = {"torch": torch.__version__, "transformers": transformers.__version__, "gpu": torch.cuda.get_device_name()}
    print(json.dumps(known), flush=True)
    for model_type, fields in MODELS.items():
        print(json.dumps({"type": model_type, "config": fields}), flush=True)
        for attention in ("sdpa", "eager"):
            try:
                for line in measured(model_type, attention):
                    print(json.dumps({"type": model_type, "attention": attention, **line}), flush=True)
            except Exception as error:
                print(f"{model_type} {attention}: {error!r:.300}", file=sys.stderr, flush=True)
            gc.collect()
            torch.cuda.empty_cache()
            if model_type == "mamba":
                break


if __name__ == "__main__":
    main()
