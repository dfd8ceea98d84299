"""ChatGLM, whose code comes with its checkpoints: the first, and versions 2 to 4 of another build.

The first has `inner_hidden_size` in its configuration, the later ones `ffn_hidden_size`.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

FIRST = "inner_hidden_size is not None"
LATER = "inner_hidden_size is None"
OLD = "transformer.layers.{layer<num_layers}"
NEW = "transformer.encoder.layers.{layer<num_layers}"
HEADS = "ForConditionalGeneration Model"

FAMILY = Family(
    name="chatglm",
    types={"chatglm": {}},
    rows=(
        Row("embed_tokens", "transformer.word_embeddings", "vocab_size, hidden_size", when=FIRST),
        Row("input_layernorm", OLD + ".input_layernorm", "hidden_size", bias="True", when=FIRST),
        Row("qkv_proj", OLD + ".attention.query_key_value", "3 * hidden_size, hidden_size", bias="True", when=FIRST),
        Row("o_proj", OLD + ".attention.dense", "hidden_size, hidden_size", bias="True", when=FIRST),
        Row(
            "inv_freq",
            OLD + ".attention.rotary_emb.inv_freq",
            "hidden_size // num_attention_heads // 4",
            leaf="",
            when=FIRST,
            buffer=True,
        ),
        Row("post_attention_layernorm", OLD + ".post_attention_layernorm", "hidden_size", bias="True", when=FIRST),
        Row("up_proj", OLD + ".mlp.dense_h_to_4h", "inner_hidden_size, hidden_size", bias="True", when=FIRST),
        Row("down_proj", OLD + ".mlp.dense_4h_to_h", "hidden_size, inner_hidden_size", bias="True", when=FIRST),
        Row("norm", "transformer.final_layernorm", "hidden_size", bias="True", when=FIRST),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", when=FIRST),
        Row("embed_tokens", "transformer.embedding.word_embeddings", "padded_vocab_size, hidden_size", when=LATER),
        Row("inv_freq", "transformer.rotary_pos_emb.inv_freq", "kv_channels // 4", leaf="", when=LATER, buffer=True),
        Row("input_layernorm", NEW + ".input_layernorm", "hidden_size", bias="not rmsnorm", when=LATER),
        Row(
            "qkv_proj",
            NEW + ".self_attention.query_key_value",
            "num_attention_heads * kv_channels + 2 * groups * kv_channels, hidden_size",
            bias="add_qkv_bias or add_bias_linear",
            when=LATER,
        ),
        Row(
            "o_proj",
            NEW + ".self_attention.dense",
            "hidden_size, num_attention_heads * kv_channels",
            bias="add_bias_linear",
            when=LATER,
        ),
        Row(
            "post_attention_layernorm", NEW + ".post_attention_layernorm", "hidden_size", bias="not rmsnorm", when=LATER
        ),
        Row(
            "gate_up_proj",
            NEW + ".mlp.dense_h_to_4h",
            "2 * ffn_hidden_size, hidden_size",
            bias="add_bias_linear",
            when=LATER,
        ),
        Row(
            "down_proj", NEW + ".mlp.dense_4h_to_h", "hidden_size, ffn_hidden_size", bias="add_bias_linear", when=LATER
        ),
        Row(
            "norm",
            "transformer.encoder.final_layernorm",
            "hidden_size",
            bias="not rmsnorm",
            when="inner_hidden_size is None and post_layer_norm",
        ),
        Row("lm_head", "transformer.output_layer", "padded_vocab_size, hidden_size", when=LATER),
    ),
    head="ForConditionalGeneration",
    defaults={
        "inner_hidden_size": None,
        "rmsnorm": True,
        "add_qkv_bias": False,
        "add_bias_linear": False,
        "post_layer_norm": True,
        "multi_query_attention": False,
        "multi_query_group_num": 1,
        "kv_channels": 128,
    },
    derived={
        "groups": "multi_query_group_num if multi_query_attention else num_attention_heads",
        "num_layers": "num_hidden_layers",
    },
)
