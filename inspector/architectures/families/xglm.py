"""Model type xglm.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_layers}"

FAMILY = Family(
    name="xglm",
    types={"xglm": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, d_model"),
        Row("input_layernorm", LAYER + ".self_attn_layer_norm", "d_model", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "d_model, d_model", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "d_model, d_model", bias="True"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "d_model, d_model", bias="True"),
        Row("o_proj", LAYER + ".self_attn.out_proj", "d_model, d_model", bias="True"),
        Row(
            "cross_k_proj", LAYER + ".encoder_attn.k_proj", "d_model, d_model", bias="True", when="add_cross_attention"
        ),
        Row(
            "cross_v_proj", LAYER + ".encoder_attn.v_proj", "d_model, d_model", bias="True", when="add_cross_attention"
        ),
        Row(
            "cross_q_proj", LAYER + ".encoder_attn.q_proj", "d_model, d_model", bias="True", when="add_cross_attention"
        ),
        Row(
            "cross_o_proj",
            LAYER + ".encoder_attn.out_proj",
            "d_model, d_model",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_encoder_attn_layer_norm",
            LAYER + ".encoder_attn_layer_norm",
            "d_model",
            bias="True",
            when="add_cross_attention",
        ),
        Row("norm", LAYER + ".final_layer_norm", "d_model", bias="True"),
        Row("up_proj", LAYER + ".fc1", "ffn_dim, d_model", bias="True"),
        Row("down_proj", LAYER + ".fc2", "d_model, ffn_dim", bias="True"),
        Row("layer_norm", "model.layer_norm", "d_model", bias="True"),
        Row("lm_head", "lm_head", "vocab_size, d_model", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "add_cross_attention": False,
        "d_model": 1024,
        "ffn_dim": 4096,
        "num_layers": 24,
        "tie_word_embeddings": True,
        "vocab_size": 256008,
    },
    fields={"hidden_size": "d_model", "num_hidden_layers": "num_layers"},
)
