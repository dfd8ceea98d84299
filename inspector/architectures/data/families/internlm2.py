"""InternLM2, whose code comes with its checkpoints: Llama with fused attention, under Meta's names."""

from __future__ import annotations

from inspector.architectures.data.families.shared import DECODER_DEFAULTS, DECODER_DERIVED
from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="internlm2",
    types={"internlm2": {}},
    rows=(
        Row("embed_tokens", "model.tok_embeddings", "vocab_size, hidden_size"),
        Row(
            "qkv_proj",
            LAYER + ".attention.wqkv",
            "(num_attention_heads + 2 * num_key_value_heads) * head_dim, hidden_size",
            bias="bias",
        ),
        Row("o_proj", LAYER + ".attention.wo", "hidden_size, num_attention_heads * head_dim", bias="bias"),
        Row("gate_proj", LAYER + ".feed_forward.w1", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".feed_forward.w3", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".feed_forward.w2", "hidden_size, intermediate_size"),
        Row("input_layernorm", LAYER + ".attention_norm", "hidden_size"),
        Row("post_attention_layernorm", LAYER + ".ffn_norm", "hidden_size"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "output", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={**DECODER_DEFAULTS, "bias": False},
    derived=DECODER_DERIVED,
)
