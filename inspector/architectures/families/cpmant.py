"""Model type cpmant.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "cpmant.encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="cpmant",
    types={"cpmant": {}},
    rows=(
        Row("segment_embedding", "cpmant.segment_embedding", "segment_types, hidden_size"),
        Row("input_embedding", "cpmant.input_embedding", "vocab_size + prompt_length * prompt_types, hidden_size"),
        Row("layernorm_before_attention", LAYER + ".self_att.layernorm_before_attention", "hidden_size"),
        Row(
            "project_q",
            LAYER + ".self_att.self_attention.project_q",
            "num_attention_heads * dim_head, hidden_size",
            group="attention",
        ),
        Row(
            "project_k",
            LAYER + ".self_att.self_attention.project_k",
            "num_attention_heads * dim_head, hidden_size",
            group="attention",
        ),
        Row(
            "project_v",
            LAYER + ".self_att.self_attention.project_v",
            "num_attention_heads * dim_head, hidden_size",
            group="attention",
        ),
        Row(
            "attention_out",
            LAYER + ".self_att.self_attention.attention_out",
            "hidden_size, num_attention_heads * dim_head",
        ),
        Row("layernorm_before_ffn", LAYER + ".ffn.layernorm_before_ffn", "hidden_size"),
        Row("w_0", LAYER + ".ffn.ffn.w_in.w_0", "dim_ff, hidden_size", group="feed_forward"),
        Row("w_1", LAYER + ".ffn.ffn.w_in.w_1", "dim_ff, hidden_size", group="feed_forward"),
        Row("w_out", LAYER + ".ffn.ffn.w_out", "hidden_size, dim_ff", group="feed_forward"),
        Row("output_layernorm", "cpmant.encoder.output_layernorm", "hidden_size"),
        Row(
            "relative_attention_bias",
            "cpmant.position_bias.relative_attention_bias",
            "segment_types * segment_types + position_bias_num_buckets, num_attention_heads",
            leaf="",
        ),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM"),
    ),
    prefix="cpmant.",
    defaults={
        "dim_ff": 10240,
        "dim_head": 128,
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_hidden_layers": 48,
        "position_bias_num_buckets": 512,
        "prompt_length": 32,
        "prompt_types": 32,
        "segment_types": 32,
        "vocab_size": 30720,
    },
)
