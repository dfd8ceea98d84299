"""Model type gpt_neox_japanese.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "gpt_neox_japanese.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="gpt_neox_japanese",
    types={"gpt_neox_japanese": {}},
    rows=(
        Row("embed_tokens", "gpt_neox_japanese.embed_in", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="True"),
        Row("qkv_proj", LAYER + ".attention.query_key_value", "3 * hidden_size, hidden_size"),
        Row("o_proj", LAYER + ".attention.dense", "hidden_size, hidden_size"),
        Row(
            "dense_bias",
            LAYER + ".attention.dense_bias",
            "hidden_size",
            when="(layer + 1) % num_hidden_layers == 0",
            leaf="",
            group="attention",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.dense_h_to_4h", "hidden_size * intermediate_multiple_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.dense_4h_to_h", "hidden_size, hidden_size * intermediate_multiple_size"),
        Row("norm", "gpt_neox_japanese.final_layer_norm", "hidden_size", bias="True"),
        Row("lm_head", "embed_out", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="gpt_neox_japanese.",
    defaults={
        "hidden_size": 2560,
        "intermediate_multiple_size": 4,
        "num_hidden_layers": 32,
        "tie_word_embeddings": True,
        "vocab_size": 32000,
    },
)
