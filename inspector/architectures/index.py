"""Which module in `families/` holds each `model_type`. A test holds it equal to the tables themselves."""

from __future__ import annotations

MODULES: dict[str, str] = {
    "bert": "bert",
    "deepseek_v3": "deepseek_v3",
    "gemma": "llama",
    "gpt2": "gpt2",
    "gpt_oss": "gpt_oss",
    "llama": "llama",
    "mistral": "llama",
    "mixtral": "mixtral",
    "molmo": "molmo",
    "qwen": "qwen",
    "qwen2": "llama",
    "qwen3": "llama",
}

#: `general.architecture` → module.
GGUF: dict[str, str] = {
    "bert": "bert",
    "gemma": "llama",
    "gpt2": "gpt2",
    "llama": "llama",
    "qwen2": "llama",
    "qwen3": "llama",
}

#: Model types that are tried where there is no configuration; the first of equals wins.
INFERABLE: tuple[str, ...] = ("llama", "qwen2", "qwen3", "mixtral", "gpt2", "bert")
