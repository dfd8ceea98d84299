"""Model type codegen.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<n_layer}"

FAMILY = Family(
    name="codegen",
    types={"codegen": {}},
    rows=(
        Row("embed_tokens", "transformer.wte", "vocab_size, n_embd"),
        Row("input_layernorm", LAYER + ".ln_1", "n_embd", bias="True"),
        Row("qkv_proj", LAYER + ".attn.qkv_proj", "3 * n_embd, n_embd"),
        Row("o_proj", LAYER + ".attn.out_proj", "n_embd, n_embd"),
        Row("up_proj", LAYER + ".mlp.fc_in", "n_inner, n_embd", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc_out", "n_embd,n_inner", bias="True"),
        Row("norm", "transformer.ln_f", "n_embd", bias="True"),
        Row("lm_head", "lm_head", "vocab_size", heads="ForCausalLM", leaf="bias"),
        Row("lm_head", "lm_head", "vocab_size, n_embd", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="transformer.",
    defaults={"n_embd": 4096, "n_layer": 28, "tie_word_embeddings": False, "vocab_size": 50400},
    derived={"n_inner": "4 * n_embd"},
    fields={"hidden_size": "n_embd", "num_hidden_layers": "n_layer"},
)
