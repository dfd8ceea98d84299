"""Model type blip_2_qformer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="blip_2_qformer",
    types={"blip_2_qformer": {}},
    rows=(
        Row(
            "q_proj",
            LAYER + ".attention.attention.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.attention.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.attention.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True"),
        Row(
            "cross_q_proj",
            LAYER + ".crossattention.attention.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="layer % cross_attention_frequency == 0",
        ),
        Row(
            "cross_k_proj",
            LAYER + ".crossattention.attention.key",
            "hidden_size // num_attention_heads * num_attention_heads, encoder_hidden_size",
            bias="True",
            when="layer % cross_attention_frequency == 0",
        ),
        Row(
            "cross_v_proj",
            LAYER + ".crossattention.attention.value",
            "hidden_size // num_attention_heads * num_attention_heads, encoder_hidden_size",
            bias="True",
            when="layer % cross_attention_frequency == 0",
        ),
        Row(
            "cross_down_proj",
            LAYER + ".crossattention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            when="layer % cross_attention_frequency == 0",
        ),
        Row(
            "cross_post_feedforward_layernorm",
            LAYER + ".crossattention.output.LayerNorm",
            "hidden_size",
            bias="True",
            when="layer % cross_attention_frequency == 0",
        ),
        Row(
            "dense",
            LAYER + ".intermediate_query.dense",
            "intermediate_size, hidden_size",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "output_query_dense",
            LAYER + ".output_query.dense",
            "hidden_size, intermediate_size",
            bias="True",
            group="feed_forward",
        ),
        Row("LayerNorm", LAYER + ".output_query.LayerNorm", "hidden_size", bias="True", group="norm"),
        Row("post_attention_layernorm", LAYER + ".attention.output.LayerNorm", "hidden_size", bias="True"),
        Row(
            "up_proj",
            LAYER + ".intermediate.dense",
            "intermediate_size, hidden_size",
            bias="True",
            when="use_qformer_text_input",
        ),
        Row(
            "down_proj",
            LAYER + ".output.dense",
            "hidden_size, intermediate_size",
            bias="True",
            when="use_qformer_text_input",
        ),
        Row(
            "post_feedforward_layernorm",
            LAYER + ".output.LayerNorm",
            "hidden_size",
            bias="True",
            when="use_qformer_text_input",
        ),
        Row("layernorm", "layernorm", "hidden_size", bias="True"),
    ),
    defaults={
        "cross_attention_frequency": 2,
        "encoder_hidden_size": 1408,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "use_qformer_text_input": False,
    },
    head="Model",
)
