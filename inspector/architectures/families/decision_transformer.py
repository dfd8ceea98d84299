"""Model type decision_transformer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.h.{layer<n_layer}"

FAMILY = Family(
    name="decision_transformer",
    types={"decision_transformer": {}},
    rows=(
        Row("embed_tokens", "encoder.wte", "vocab_size, hidden_size"),
        Row("embed_positions", "encoder.wpe", "n_positions, hidden_size"),
        Row("embed_timestep", "embed_timestep", "max_ep_len, hidden_size"),
        Row("embed_return", "embed_return", "hidden_size, 1", bias="True"),
        Row("embed_state", "embed_state", "hidden_size, state_dim", bias="True"),
        Row("embed_action", "embed_action", "hidden_size, act_dim", bias="True"),
        Row("embed_ln", "embed_ln", "hidden_size", bias="True", group="norm"),
        Row("input_layernorm", LAYER + ".ln_1", "hidden_size", bias="True"),
        Row("qkv_proj", LAYER + ".attn.c_attn", "hidden_size, 3 * hidden_size", bias="True", transposed=True),
        Row("o_proj", LAYER + ".attn.c_proj", "hidden_size, hidden_size", bias="True"),
        Row(
            "cross_qkv_proj",
            LAYER + ".crossattention.c_attn",
            "hidden_size, 2 * hidden_size",
            bias="True",
            when="add_cross_attention",
            transposed=True,
        ),
        Row(
            "cross_q_attn",
            LAYER + ".crossattention.q_attn",
            "hidden_size, hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_c_proj",
            LAYER + ".crossattention.c_proj",
            "hidden_size, hidden_size",
            bias="True",
            when="add_cross_attention",
            group="attention",
        ),
        Row("ln_cross_attn", LAYER + ".ln_cross_attn", "hidden_size", bias="True", when="add_cross_attention"),
        Row("post_attention_layernorm", LAYER + ".ln_2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.c_fc", "hidden_size,n_inner", bias="True", transposed=True),
        Row("down_proj", LAYER + ".mlp.c_proj", "n_inner, hidden_size", bias="True", transposed=True),
        Row("norm", "encoder.ln_f", "hidden_size", bias="True"),
        Row("predict_state", "predict_state", "state_dim, hidden_size", bias="True", group="head"),
        Row("predict_action", "predict_action.0", "act_dim, hidden_size", bias="True", group="head"),
        Row("predict_return", "predict_return", "1, hidden_size", bias="True", group="head"),
    ),
    defaults={
        "act_dim": 4,
        "add_cross_attention": False,
        "hidden_size": 128,
        "max_ep_len": 4096,
        "n_layer": 3,
        "n_positions": 1024,
        "state_dim": 17,
        "vocab_size": 1,
    },
    derived={"n_inner": "4 * hidden_size"},
    fields={"max_position_embeddings": "n_positions", "num_hidden_layers": "n_layer"},
    head="Model",
)
