"""Llama and the decoders that differ from it by a column; many of them come with code of their own."""

from __future__ import annotations

from inspector.architectures.data.families.shared import (
    ATTENTION,
    DECODER_DEFAULTS,
    DECODER_DERIVED,
    DECODER_HEADS,
    EMBED_TOKENS,
    FEED_FORWARD,
    NORMS,
)
from inspector.architectures.table import Family

#: Sizes of Llama-7B, where a configuration leaves them out.
LLAMA_7B = {
    "vocab_size": 32000,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
}
QWEN = {"vocab_size": 151936, "intermediate_size": 22016, "num_key_value_heads": 32}

FAMILY = Family(
    name="llama",
    types={
        "llama": {},
        "qwen2": {**QWEN, "qkv_bias": True, "o_bias": False},
        "qwen3": {**QWEN, "qk_norm": True, "head_dim": 128},
        "qwen3_omni_moe_talker_code_predictor": {
            "qk_norm": True,
            "vocab_size": 2048,
            "hidden_size": 1024,
            "intermediate_size": 3072,
            "num_hidden_layers": 5,
            "num_attention_heads": 16,
            "num_key_value_heads": 8,
            "head_dim": 128,
        },
        "gemma": {
            "vocab_size": 256000,
            "hidden_size": 3072,
            "intermediate_size": 24576,
            "num_hidden_layers": 28,
            "num_attention_heads": 16,
            "num_key_value_heads": 16,
            "head_dim": 256,
            "tie_word_embeddings": True,
        },
        "deepseek_ocr2_encoder": {**QWEN, "qkv_bias": True, "o_bias": False},
        "emu3_text_model": {"vocab_size": 184622, "intermediate_size": 14336, "num_key_value_heads": 8},
        "granite4_vision_text": {},
        "mimo": {"qkv_bias": True, "o_bias": False},
        "Dream": {**QWEN, "qkv_bias": True, "o_bias": False},
        "PanguEmbedded": {"attention_bias": True, "vocab_size": 153376},
        "aquila": {},
        "internlm": {"attention_bias": True, "vocab_size": 103168},
        "minicpm": {"tie_word_embeddings": True},
        "orion": {"norm_bias": True},
        "skywork": {},
        "solar": {},
        "xverse": {},
    },
    rows=(EMBED_TOKENS, *ATTENTION, *FEED_FORWARD, *NORMS, *DECODER_HEADS),
    prefix="model.",
    classes={"DreamModel": "ForCausalLM"},
    prefixes={"ForQuestionAnswering": "transformer."},  # modeling_llama.py: its base_model_prefix
    defaults={**DECODER_DEFAULTS, **LLAMA_7B},
    derived=DECODER_DERIVED,
    fields={"bias": "attention_bias"},  # InternLM's and Pangu's word
)
