"""Model type recurrent_gemma.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="recurrent_gemma",
    types={"recurrent_gemma": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row(
            "q_proj",
            LAYER + ".temporal_block.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="block_types[layer % len(block_types)] == 'attention'",
        ),
        Row(
            "k_proj",
            LAYER + ".temporal_block.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="block_types[layer % len(block_types)] == 'attention'",
        ),
        Row(
            "v_proj",
            LAYER + ".temporal_block.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="block_types[layer % len(block_types)] == 'attention'",
        ),
        Row(
            "o_proj",
            LAYER + ".temporal_block.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="True",
            when="block_types[layer % len(block_types)] == 'attention'",
        ),
        Row("temporal_pre_norm", LAYER + ".temporal_pre_norm", "hidden_size"),
        Row(
            "linear_y",
            LAYER + ".temporal_block.linear_y",
            "lru_width, hidden_size",
            bias="True",
            when="block_types[layer % len(block_types)] == 'recurrent'",
        ),
        Row(
            "linear_x",
            LAYER + ".temporal_block.linear_x",
            "lru_width, hidden_size",
            bias="True",
            when="block_types[layer % len(block_types)] == 'recurrent'",
        ),
        Row(
            "linear_out",
            LAYER + ".temporal_block.linear_out",
            "hidden_size, lru_width",
            bias="True",
            when="block_types[layer % len(block_types)] == 'recurrent'",
        ),
        Row(
            "conv_1d",
            LAYER + ".temporal_block.conv_1d",
            "lru_width, 1, conv1d_width",
            bias="True",
            when="block_types[layer % len(block_types)] == 'recurrent'",
        ),
        Row(
            "recurrent_param",
            LAYER + ".temporal_block.rg_lru.recurrent_param",
            "lru_width",
            when="block_types[layer % len(block_types)] == 'recurrent'",
            leaf="",
        ),
        Row(
            "input_gate_weight",
            LAYER + ".temporal_block.rg_lru.input_gate_weight",
            "num_attention_heads, lru_width // num_attention_heads, lru_width // num_attention_heads",
            when="block_types[layer % len(block_types)] == 'recurrent'",
            leaf="",
            group="convolution",
        ),
        Row(
            "input_gate_bias",
            LAYER + ".temporal_block.rg_lru.input_gate_bias",
            "num_attention_heads, lru_width // num_attention_heads",
            when="block_types[layer % len(block_types)] == 'recurrent'",
            leaf="",
        ),
        Row(
            "recurrent_gate_weight",
            LAYER + ".temporal_block.rg_lru.recurrent_gate_weight",
            "num_attention_heads, lru_width // num_attention_heads, lru_width // num_attention_heads",
            when="block_types[layer % len(block_types)] == 'recurrent'",
            leaf="",
            group="convolution",
        ),
        Row(
            "recurrent_gate_bias",
            LAYER + ".temporal_block.rg_lru.recurrent_gate_bias",
            "num_attention_heads, lru_width // num_attention_heads",
            when="block_types[layer % len(block_types)] == 'recurrent'",
            leaf="",
        ),
        Row("channel_pre_norm", LAYER + ".channel_pre_norm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp_block.gate_proj", "intermediate_size // 2, hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp_block.up_proj", "intermediate_size // 2, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp_block.down_proj", "hidden_size, intermediate_size // 2", bias="True"),
        Row("norm", "model.final_norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "block_types": ["recurrent", "recurrent", "attention"],
        "conv1d_width": 4,
        "hidden_size": 2560,
        "intermediate_size": 7680,
        "num_attention_heads": 10,
        "num_hidden_layers": 26,
        "tie_word_embeddings": True,
        "vocab_size": 256000,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "lru_width": "hidden_size",
        "num_key_value_heads": "num_attention_heads",
    },
)
