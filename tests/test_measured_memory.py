"""Memory that Transformers was measured to take on a GPU (`tools/transformers_peaks.py`), and the library's figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import inspector

ROOT = Path(__file__).parents[1]
LINES = [json.loads(line) for line in (ROOT / "fixtures" / "transformers_peaks.jsonl").read_text().splitlines()]
CONFIGS: dict[str, dict[str, Any]] = {line["type"]: line["config"] for line in LINES if "config" in line}
#: The most that a run keeps beside the cache after a prompt: the input, logits, masks and positions, in bytes a token.
BESIDE = 2048


def prompts(model_type: str, attention: str = "sdpa") -> list[dict[str, Any]]:
    """The measurements with logits of the last token alone, as in `generate()`."""
    of_type = [line for line in LINES if line.get("type") == model_type and line.get("attention") == attention]
    return [line for line in of_type if line.get("last")]


def memory(model_type: str, run: dict[str, Any]) -> Any:
    layers = {"n_layer" if model_type == "gpt2" else "num_hidden_layers": 4}
    stated = {"activation_function": "gelu_new"} if model_type == "gpt2" else {}  # by its config.json
    config = {"model_type": model_type, "dtype": "bfloat16", **stated, **CONFIGS[model_type], **layers}
    return inspector.memory(
        config, engine="transformers", context=run["tokens"], sequences=run["sequences"], batch=run["tokens"]
    )


#: The windows of the types that have one by default.
WINDOWED = {"gemma2": 4096, "gemma3_text": 4096}


def test_caches_are_what_a_gpu_held() -> None:
    """At least as predicted, and at most the input and positions more; the first run also sets up CUDA.

    After a prompt longer than its window, a sliding layer's tensor is a view of the prompt's until the next token.
    """
    for model_type in CONFIGS:
        for run in prompts(model_type)[1:]:
            if run["tokens"] <= WINDOWED.get(model_type, run["tokens"]):
                stated = memory(model_type, run).cache
                assert 0 <= run["cache"] - stated <= BESIDE * run["sequences"] * run["tokens"], (model_type, run)


def test_the_page_says_how_far_off_activations_are() -> None:
    """The estimate divided by the memory measured beyond weights and cache, for a prompt of 2,048 tokens."""
    page = (ROOT / "docs" / "memory.md").read_text(encoding="utf-8")
    for model_type in CONFIGS:
        cells = []
        for attention in ("sdpa", "eager"):
            for run in prompts(model_type, attention):
                if (run["sequences"], run["tokens"]) == (1, 2048):
                    taken = run["peak"] - run["weights"] - run["cache"]
                    found = memory(model_type, run).activations
                    stated = found.eager if attention == "eager" else found.nbytes
                    cells += [f"{taken / 1e6:,.0f} MB", f"{stated / taken:.2f}"]
        cells += ["–"] * (4 - len(cells))
        assert f"| {model_type} | {' | '.join(cells)} |" in page


#: Types whose feed-forward or attention is not covered, or only from above: GPT-2's eager softmax has 16 bits.
APART = {"mamba", "gpt2", "olmo2"}


def test_prompts_take_what_a_gpu_allocated() -> None:
    """Within 3 % beyond weights and cache, with sdpa, for prompts from 2,048 tokens on; eager for as long ones."""
    for model_type in set(CONFIGS) - APART:
        for attention in ("sdpa", "eager"):
            for run in prompts(model_type, attention):
                taken = run["peak"] - run["weights"] - run["cache"]
                found = memory(model_type, run).activations
                stated = found.eager if attention == "eager" else found.nbytes
                if run["tokens"] >= (2048 if attention == "sdpa" else 8192):
                    assert abs(stated - taken) * 100 <= 3 * taken, (model_type, attention, run)
