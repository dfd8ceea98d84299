"""Moonshine: convolutions over the waveform, an encoder and a decoder.

modeling_moonshine.py: each attention writes its heads into the configuration, so that the decoder has the encoder's.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "model.encoder.layers.{layer<encoder_num_hidden_layers}"
DECODER = "model.decoder.layers.{layer<decoder_num_hidden_layers}"

FAMILY = Family(
    name="moonshine",
    types={"moonshine": {}},
    rows=(
        Row("embed_patches", "model.encoder.conv1", "hidden_size, 1, 127", tower="encoder"),
        Row("embed_tokens", "model.decoder.embed_tokens", "vocab_size, hidden_size", tower="decoder"),
        Row("input_layernorm", ENCODER + ".input_layernorm", "hidden_size", tower="encoder"),
        Row(
            "q_proj",
            ENCODER + ".self_attn.q_proj",
            "encoder_num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
            tower="encoder",
        ),
        Row(
            "k_proj",
            ENCODER + ".self_attn.k_proj",
            "encoder_num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            tower="encoder",
        ),
        Row(
            "v_proj",
            ENCODER + ".self_attn.v_proj",
            "encoder_num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            tower="encoder",
        ),
        Row(
            "o_proj",
            ENCODER + ".self_attn.o_proj",
            "hidden_size, encoder_num_attention_heads * head_dim",
            tower="encoder",
        ),
        Row("post_attention_layernorm", ENCODER + ".post_attention_layernorm", "hidden_size", tower="encoder"),
        Row("up_proj", ENCODER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True", tower="encoder"),
        Row("down_proj", ENCODER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True", tower="encoder"),
        Row("input_layernorm", DECODER + ".input_layernorm", "hidden_size", tower="decoder"),
        Row(
            "q_proj",
            DECODER + ".self_attn.q_proj",
            "encoder_num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
            tower="decoder",
        ),
        Row(
            "k_proj",
            DECODER + ".self_attn.k_proj",
            "encoder_num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            tower="decoder",
        ),
        Row(
            "v_proj",
            DECODER + ".self_attn.v_proj",
            "encoder_num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            tower="decoder",
        ),
        Row(
            "o_proj",
            DECODER + ".self_attn.o_proj",
            "hidden_size, encoder_num_attention_heads * head_dim",
            tower="decoder",
        ),
        Row(
            "cross_q_proj",
            DECODER + ".encoder_attn.q_proj",
            "encoder_num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
            tower="decoder",
        ),
        Row(
            "cross_k_proj",
            DECODER + ".encoder_attn.k_proj",
            "encoder_num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            tower="decoder",
        ),
        Row(
            "cross_v_proj",
            DECODER + ".encoder_attn.v_proj",
            "encoder_num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            tower="decoder",
        ),
        Row(
            "cross_o_proj",
            DECODER + ".encoder_attn.o_proj",
            "hidden_size, encoder_num_attention_heads * head_dim",
            tower="decoder",
        ),
        Row("norm", DECODER + ".final_layernorm", "hidden_size", tower="decoder"),
        Row("post_attention_layernorm", DECODER + ".post_attention_layernorm", "hidden_size", tower="decoder"),
        Row("up_proj", DECODER + ".mlp.fc1", "2 * intermediate_size, hidden_size", bias="True", tower="decoder"),
        Row("down_proj", DECODER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True", tower="decoder"),
        Row("conv2", "model.encoder.conv2", "2 * hidden_size, hidden_size, 7", bias="True", tower="encoder"),
        Row("conv3", "model.encoder.conv3", "hidden_size, 2 * hidden_size, 3", bias="True", tower="encoder"),
        Row("groupnorm", "model.encoder.groupnorm", "hidden_size", bias="True", tower="encoder"),
        Row("layer_norm", "model.encoder.layer_norm", "hidden_size", tower="encoder"),
        Row("norm", "model.decoder.norm", "hidden_size", tower="decoder"),
        Row(
            "proj_out",
            "proj_out",
            "vocab_size, hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "encoder_num_attention_heads": 8,
        "decoder_num_hidden_layers": 6,
        "encoder_num_hidden_layers": 6,
        "hidden_size": 288,
        "intermediate_size": 1152,
        "tie_word_embeddings": True,
        "vocab_size": 32768,
    },
    derived={
        "encoder_num_key_value_heads": "encoder_num_attention_heads",
        "head_dim": "hidden_size // encoder_num_attention_heads",
    },
    fields={
        "num_key_value_heads": "encoder_num_key_value_heads",
        "num_attention_heads": "encoder_num_attention_heads",
        "num_hidden_layers": "decoder_num_hidden_layers",
    },
    head="ForConditionalGeneration",
)
