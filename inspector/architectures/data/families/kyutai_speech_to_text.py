"""Kyutai's speech to text: a decoder that reads Mimi's codebooks and a token at each step, and Mimi."""

from __future__ import annotations

from inspector.architectures.data.families.shared import ATTENTION, DECODER_DEFAULTS, DECODER_DERIVED, LAYER, NORMS
from inspector.architectures.table import Family, Include, Row

WHOLE = "ForConditionalGeneration"

FAMILY = Family(
    name="kyutai_speech_to_text",
    types={"kyutai_speech_to_text": {}},
    rows=(
        Row(
            "embed_tokens",
            "model.embed_tokens.embed_tokens",
            "vocab_size + num_codebooks * codebook_vocab_size + 1, hidden_size",
        ),
        *(row._replace(name=row.name + ".linear") for row in ATTENTION if row.role.endswith("_proj")),
        Row("gate_up_proj", LAYER + ".mlp.fc1", "ffn_dim, hidden_size"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, ffn_dim // 2"),
        *NORMS,
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads=WHOLE, tied="tie_word_embeddings"),
        Include("codec_config", "codec_model.", tower="audio", head="Model", default_type="mimi", heads=WHOLE),
    ),
    prefix="model.",
    head=WHOLE,
    defaults={
        **DECODER_DEFAULTS,
        "vocab_size": 4001,
        "codebook_vocab_size": 2049,
        "num_codebooks": 32,
        "hidden_size": 2048,
        "ffn_dim": 11264,
        "num_hidden_layers": 48,
        "num_attention_heads": 32,
    },
    derived=DECODER_DERIVED,
    fields={"intermediate_size": "ffn_dim"},
)
