"""What Transformers really takes on a GPU beyond weights and cache: torch's peak of allocated memory, as JSON lines.

    python tools/transformers_peaks.py > peaks.jsonl      # needs torch with CUDA, and transformers

Each line is one measurement: the configuration's fields that were set, the attention's implementation, sequences and tokens of the
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
from typing import Any

import torch
import transformers

#: `model_type` → the widths of a published model.
MODELS: dict[str, dict[str, Any]] = {
    "llama": {
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
    },
    "mistral": {
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 32000,
        "sliding_window": None,
    },
    "qwen2": {
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "vocab_size": 152064,
    },
    "qwen3": {
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151936,
    },
    "gemma2": {
        "hidden_size": 2304,
        "intermediate_size": 9216,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "vocab_size": 256000,
    },
    "gemma3_text": {
        "hidden_size": 1152,
        "intermediate_size": 6912,
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "head_dim": 256,
        "vocab_size": 262144,
    },
    "phi3": {
        "hidden_size": 3072,
        "intermediate_size": 8192,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "vocab_size": 32064,
    },
    "gpt2": {"n_embd": 1600, "n_head": 25, "n_positions": 16384, "vocab_size": 50257},
    "opt": {
        "hidden_size": 2048,
        "ffn_dim": 8192,
        "num_attention_heads": 32,
        "max_position_embeddings": 16384,
        "vocab_size": 50272,
        "word_embed_proj_dim": 2048,
    },
    "gpt_neox": {
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_attention_heads": 16,
        "vocab_size": 50304,
        "max_position_embeddings": 16384,
    },
    "olmo2": {
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "vocab_size": 100352,
    },
    "mixtral": {
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "num_local_experts": 8,
        "vocab_size": 32000,
    },
    "qwen3_moe": {
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "moe_intermediate_size": 768,
        "num_attention_heads": 32,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "num_experts": 128,
        "num_experts_per_tok": 8,
        "vocab_size": 151936,
    },
    "deepseek_v3": {
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "moe_intermediate_size": 1024,
        "n_routed_experts": 32,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "vocab_size": 129280,
    },
    "mamba": {"hidden_size": 2048, "vocab_size": 50280},
}
SHAPES = ((1, 512), (1, 2048), (1, 8192), (4, 2048), (1, 16384))
#: A score matrix of more elements is not made.
MOST_SCORES = 5_000_000_000


def measured(model_type: str, attention: str) -> Iterator[dict[str, Any]]:
    """Inference with a prompt, of every shape; then a training step of two depths."""
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
    model(ids, labels=ids, use_cache=False).loss.backward()  # makes the gradients, which stay
    before = start()
    loss = model(ids, labels=ids, use_cache=False).loss
    forward = torch.cuda.max_memory_allocated()
    loss.backward()
    return {"before": before, "forward": forward, "peak": torch.cuda.max_memory_allocated()}


def main() -> None:
    known = {"torch": torch.__version__, "transformers": transformers.__version__, "gpu": torch.cuda.get_device_name()}
    print(json.dumps(known), flush=True)
    for model_type, fields in MODELS.items():
        for attention in ("sdpa", "eager"):
            try:
                for line in measured(model_type, attention):
                    print(
                        json.dumps({"type": model_type, "fields": fields, "attention": attention, **line}), flush=True
                    )
            except Exception as error:
                print(f"{model_type} {attention}: {error!r:.300}", file=sys.stderr, flush=True)
            gc.collect()
            torch.cuda.empty_cache()
            if model_type == "mamba":
                break


if __name__ == "__main__":
    main()
