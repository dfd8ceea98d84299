"""Model type openai-gpt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<n_layer}"

FAMILY = Family(
    name="openai-gpt",
    types={"openai-gpt": {}},
    rows=(
        Row("tokens_embed", "transformer.tokens_embed", "vocab_size, n_embd"),
        Row("positions_embed", "transformer.positions_embed", "n_positions, n_embd"),
        Row("input_layernorm", LAYER + ".ln_1", "n_embd", bias="True"),
        Row("qkv_proj", LAYER + ".attn.c_attn", "n_embd, 3 * n_embd", bias="True", transposed=True),
        Row("o_proj", LAYER + ".attn.c_proj", "n_embd, n_embd", bias="True"),
        Row("post_attention_layernorm", LAYER + ".ln_2", "n_embd", bias="True"),
        Row("up_proj", LAYER + ".mlp.c_fc", "n_embd, 4 * n_embd", bias="True", transposed=True),
        Row("down_proj", LAYER + ".mlp.c_proj", "4 * n_embd, n_embd", bias="True", transposed=True),
        Row("lm_head", "lm_head", "vocab_size, n_embd", heads="LMHeadModel", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, n_embd", heads="ForSequenceClassification"),
    ),
    prefix="transformer.",
    defaults={"n_embd": 768, "n_layer": 12, "n_positions": 512, "tie_word_embeddings": True, "vocab_size": 40478},
    fields={"max_position_embeddings": "n_positions", "hidden_size": "n_embd", "num_hidden_layers": "n_layer"},
    head="LMHeadModel",
)
