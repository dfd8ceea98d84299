"""Model type imagegpt.

The head that draws gives each colour, and none for the start.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<n_layer}"

FAMILY = Family(
    name="imagegpt",
    types={"imagegpt": {}},
    rows=(
        Row("embed_tokens", "transformer.wte", "vocab_size, n_embd"),
        Row("embed_positions", "transformer.wpe", "n_positions, n_embd"),
        Row("input_layernorm", LAYER + ".ln_1", "n_embd"),
        Row("qkv_proj", LAYER + ".attn.c_attn", "n_embd, 3 * n_embd", bias="True", transposed=True),
        Row("o_proj", LAYER + ".attn.c_proj", "n_embd, n_embd", bias="True"),
        Row(
            "cross_qkv_proj",
            LAYER + ".crossattention.c_attn",
            "n_embd, 2 * n_embd",
            bias="True",
            when="add_cross_attention",
            transposed=True,
        ),
        Row(
            "cross_q_attn", LAYER + ".crossattention.q_attn", "n_embd, n_embd", bias="True", when="add_cross_attention"
        ),
        Row(
            "cross_c_proj",
            LAYER + ".crossattention.c_proj",
            "n_embd, n_embd",
            bias="True",
            when="add_cross_attention",
            group="attention",
        ),
        Row(
            "ln_cross_attn",
            LAYER + ".ln_cross_attn",
            "288 if reorder_and_upcast_attn else n_embd",
            when="add_cross_attention",
        ),
        Row("post_attention_layernorm", LAYER + ".ln_2", "n_embd"),
        Row("up_proj", LAYER + ".mlp.c_fc", "n_embd,n_inner", bias="True", transposed=True),
        Row("down_proj", LAYER + ".mlp.c_proj", "n_inner, n_embd", bias="True", transposed=True),
        Row("norm", "transformer.ln_f", "n_embd"),
        Row("lm_head", "lm_head", "vocab_size - 1, n_embd", heads="ForCausalImageModeling"),
        Row("score", "score", "num_labels, n_embd", heads="ForImageClassification"),
    ),
    prefix="transformer.",
    defaults={
        "add_cross_attention": False,
        "n_embd": 512,
        "n_layer": 24,
        "n_positions": 1024,
        "reorder_and_upcast_attn": False,
        "vocab_size": 513,
    },
    derived={"n_inner": "4 * n_embd"},
    fields={"hidden_size": "n_embd", "max_position_embeddings": "n_positions", "num_hidden_layers": "n_layer"},
    head="Model",
)
