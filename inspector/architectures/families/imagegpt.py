"""Model type imagegpt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

H = "h.{layer<n_layer}"
TRANSFORMER_H = "transformer.h.{layer<n_layer}"

FAMILY = Family(
    name="imagegpt",
    types={"imagegpt": {}},
    rows=(
        Row("input_layernorm", H + ".ln_1", "n_embd", heads="Model"),
        Row("qkv_proj", H + ".attn.c_attn", "n_embd, 3 * n_embd", bias="True", heads="Model", transposed=True),
        Row("o_proj", H + ".attn.c_proj", "n_embd, n_embd", bias="True", heads="Model"),
        Row(
            "cross_qkv_proj",
            H + ".crossattention.c_attn",
            "n_embd, 2 * n_embd",
            bias="True",
            when="add_cross_attention",
            transposed=True,
        ),
        Row("cross_q_attn", H + ".crossattention.q_attn", "n_embd, n_embd", bias="True", when="add_cross_attention"),
        Row(
            "cross_c_proj",
            H + ".crossattention.c_proj",
            "n_embd, n_embd",
            bias="True",
            when="add_cross_attention",
            group="attention",
        ),
        Row("ln_cross_attn", H + ".ln_cross_attn", "n_embd", when="add_cross_attention"),
        Row("post_attention_layernorm", H + ".ln_2", "n_embd", heads="Model"),
        Row("up_proj", H + ".mlp.c_fc", "n_embd, n_inner", bias="True", heads="Model", transposed=True),
        Row("down_proj", H + ".mlp.c_proj", "n_inner, n_embd", bias="True", heads="Model", transposed=True),
        Row("ln_1_input_layernorm", TRANSFORMER_H + ".ln_1", "n_embd", heads="ForImageClassification"),
        Row(
            "c_attn_qkv_proj",
            TRANSFORMER_H + ".attn.c_attn",
            "n_embd, 3 * n_embd",
            bias="True",
            heads="ForImageClassification",
            transposed=True,
        ),
        Row(
            "c_proj_o_proj",
            TRANSFORMER_H + ".attn.c_proj",
            "n_embd, n_embd",
            bias="True",
            heads="ForImageClassification",
        ),
        Row("ln_2_post_attention_layernorm", TRANSFORMER_H + ".ln_2", "n_embd", heads="ForImageClassification"),
        Row(
            "c_fc_up_proj",
            TRANSFORMER_H + ".mlp.c_fc",
            "n_embd, 4 * n_embd",
            bias="True",
            heads="ForImageClassification",
            transposed=True,
        ),
        Row(
            "c_proj_down_proj",
            TRANSFORMER_H + ".mlp.c_proj",
            "4 * n_embd, n_embd",
            bias="True",
            heads="ForImageClassification",
            transposed=True,
        ),
        Row("embed_tokens", "wte", "vocab_size, n_embd", heads="Model"),
        Row("embed_positions", "wpe", "n_positions, n_embd", heads="Model"),
        Row("norm", "ln_f", "n_embd", heads="Model"),
        Row("wte_embed_tokens", "transformer.wte", "vocab_size, n_embd", heads="ForImageClassification"),
        Row("wpe_embed_positions", "transformer.wpe", "n_positions, n_embd", heads="ForImageClassification"),
        Row("ln_f_norm", "transformer.ln_f", "n_embd", heads="ForImageClassification"),
        Row("score", "score", "num_labels, n_embd", heads="ForImageClassification"),
    ),
    defaults={"add_cross_attention": False, "n_embd": 512, "n_layer": 24, "n_positions": 1024, "vocab_size": 513},
    derived={"n_inner": "4 * n_embd"},
    fields={"hidden_size": "n_embd", "max_position_embeddings": "n_positions", "num_hidden_layers": "n_layer"},
    head="Model",
)
