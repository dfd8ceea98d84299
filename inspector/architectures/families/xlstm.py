"""Model type xlstm.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "backbone.blocks.{layer<num_blocks}"

FAMILY = Family(
    name="xlstm",
    types={"xlstm": {}},
    rows=(
        Row("embeddings", "backbone.embeddings", "vocab_size, embedding_dim"),
        Row("norm_mlstm", LAYER + ".norm_mlstm", "hidden_size", bias="use_bias"),
        Row(
            "q",
            LAYER + ".mlstm_layer.q",
            "scaled(hidden_size, qk_dim_factor), hidden_size",
            bias="use_bias",
            when="weight_mode == 'single'",
        ),
        Row(
            "k",
            LAYER + ".mlstm_layer.k",
            "scaled(hidden_size, qk_dim_factor), hidden_size",
            bias="use_bias",
            when="weight_mode == 'single'",
        ),
        Row(
            "v",
            LAYER + ".mlstm_layer.v",
            "scaled(hidden_size, v_dim_factor), hidden_size",
            bias="use_bias",
            when="weight_mode == 'single'",
        ),
        Row(
            "ogate_preact",
            LAYER + ".mlstm_layer.ogate_preact",
            "scaled(hidden_size, v_dim_factor), hidden_size",
            bias="use_bias",
            when="weight_mode == 'single'",
        ),
        Row(
            "igate_preact",
            LAYER + ".mlstm_layer.igate_preact",
            "num_heads, hidden_size",
            bias="True",
            when="weight_mode == 'single'",
        ),
        Row(
            "fgate_preact",
            LAYER + ".mlstm_layer.fgate_preact",
            "num_heads, hidden_size",
            bias="True",
            when="weight_mode == 'single'",
        ),
        Row(
            "multihead_norm",
            LAYER + ".mlstm_layer.multihead_norm",
            "num_heads * (scaled(hidden_size, v_dim_factor) // num_heads)",
            bias="use_bias",
        ),
        Row("norm_ffn", LAYER + ".norm_ffn", "hidden_size", bias="use_bias"),
        Row(
            "proj_up_gate",
            LAYER + ".ffn.proj_up_gate",
            "int(ceil_to(hidden_size * ffn_proj_factor, ffn_round_up_to_multiple_of)), hidden_size",
            bias="use_bias",
            when="weight_mode == 'single'",
            group="feed_forward",
        ),
        Row(
            "proj_up",
            LAYER + ".ffn.proj_up",
            "int(ceil_to(hidden_size * ffn_proj_factor, ffn_round_up_to_multiple_of)), hidden_size",
            bias="use_bias",
            when="weight_mode == 'single'",
            group="feed_forward",
        ),
        Row(
            "proj_down",
            LAYER + ".ffn.proj_down",
            "hidden_size, int(ceil_to(hidden_size * ffn_proj_factor, ffn_round_up_to_multiple_of))",
            bias="use_bias",
            group="feed_forward",
        ),
        Row(
            "qkv_opreact",
            LAYER + ".mlstm_layer.qkv_opreact",
            "num_blocks * hidden_size, hidden_size",
            when="weight_mode == 'fused'",
        ),
        Row(
            "ifgate_preact",
            LAYER + ".mlstm_layer.ifgate_preact",
            "12, hidden_size",
            bias="True",
            when="weight_mode == 'fused'",
        ),
        Row(
            "proj_up_gate_z",
            LAYER + ".ffn.proj_up_gate_z",
            "544, hidden_size",
            when="weight_mode == 'fused'",
            group="feed_forward",
        ),
        Row(
            "out_proj",
            LAYER + ".mlstm_layer.out_proj",
            "hidden_size, scaled(hidden_size, v_dim_factor)",
            bias="use_bias",
        ),
        Row("out_norm", "backbone.out_norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM"),
    ),
    prefix="backbone.",
    defaults={
        "ffn_proj_factor": 2.667,
        "ffn_round_up_to_multiple_of": 64,
        "hidden_size": 4096,
        "num_heads": 8,
        "num_hidden_layers": 32,
        "qk_dim_factor": 0.5,
        "use_bias": False,
        "v_dim_factor": 1.0,
        "vocab_size": 50304,
        "weight_mode": "single",
    },
    derived={"embedding_dim": "hidden_size", "num_blocks": "num_hidden_layers"},
)
