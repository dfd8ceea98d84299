"""Configurations that people compare with, by name, as published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def _llama(hidden: int, intermediate: int, layers: int, heads: int, **more: Any) -> dict[str, Any]:
    return {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "vocab_size": 32000,
        "max_position_embeddings": 2048,
        "torch_dtype": "float16",
        **more,
    }


def _gpt2(width: int, layers: int, heads: int) -> dict[str, Any]:
    return {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "n_embd": width,
        "n_layer": layers,
        "n_head": heads,
        "n_positions": 1024,
        "vocab_size": 50257,
        "torch_dtype": "float32",
    }


_LLAMA_3 = {
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "torch_dtype": "bfloat16",
    "max_position_embeddings": 131072,
}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "llama-7b": _llama(4096, 11008, 32, 32),
    "llama-13b": _llama(5120, 13824, 40, 40),
    "llama-33b": _llama(6656, 17920, 60, 52),
    "llama-65b": _llama(8192, 22016, 80, 64),
    "llama-2-7b": _llama(4096, 11008, 32, 32, max_position_embeddings=4096),
    "llama-2-13b": _llama(5120, 13824, 40, 40, max_position_embeddings=4096),
    "llama-2-70b": _llama(8192, 28672, 80, 64, num_key_value_heads=8, max_position_embeddings=4096),
    "llama-3.1-8b": _llama(4096, 14336, 32, 32, **_LLAMA_3),
    "llama-3.1-70b": _llama(8192, 28672, 80, 64, **_LLAMA_3),
    "llama-3.1-405b": _llama(16384, 53248, 126, 128, **_LLAMA_3),
    "gpt2": _gpt2(768, 12, 12),
    "gpt2-medium": _gpt2(1024, 24, 16),
    "gpt2-large": _gpt2(1280, 36, 20),
    "gpt2-xl": _gpt2(1600, 48, 25),
    "mistral-7b": {
        **_llama(4096, 14336, 32, 32, num_key_value_heads=8, torch_dtype="bfloat16"),
        "model_type": "mistral",
        "architectures": ["MistralForCausalLM"],
        "max_position_embeddings": 32768,
        "sliding_window": 4096,
    },
    "mixtral-8x7b": {
        **_llama(4096, 14336, 32, 32, num_key_value_heads=8, torch_dtype="bfloat16"),
        "model_type": "mixtral",
        "architectures": ["MixtralForCausalLM"],
        "max_position_embeddings": 32768,
        "sliding_window": None,
        "num_local_experts": 8,
        "num_experts_per_tok": 2,
    },
}
