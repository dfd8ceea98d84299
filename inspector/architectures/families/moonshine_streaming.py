"""Model type moonshine_streaming.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "model.encoder.layers.{layer<encoder_config.num_hidden_layers}"
DECODER = "model.decoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="moonshine_streaming",
    types={"moonshine_streaming": {}},
    rows=(
        Row("log_k", "model.encoder.embedder.comp.log_k", "", tower="encoder", leaf="", group="embedding"),
        Row(
            "embed_patches",
            "model.encoder.embedder.conv1",
            "2 * encoder_config.hidden_size, encoder_config.hidden_size, 5",
            bias="True",
            tower="encoder",
        ),
        Row(
            "conv2",
            "model.encoder.embedder.conv2",
            "encoder_config.hidden_size, 2 * encoder_config.hidden_size, 5",
            bias="True",
            tower="encoder",
            group="embedding",
        ),
        Row("embed_tokens", "model.decoder.embed_tokens", "vocab_size, hidden_size", tower="decoder"),
        Row(
            "input_layernorm",
            ENCODER + ".input_layernorm.gamma",
            "encoder_config.hidden_size",
            tower="encoder",
            leaf="",
        ),
        Row(
            "q_proj",
            ENCODER + ".self_attn.q_proj",
            "encoder_config.num_attention_heads * encoder_config.head_dim, encoder_config.hidden_size",
            bias="encoder_config.attention_bias",
            tower="encoder",
        ),
        Row(
            "k_proj",
            ENCODER + ".self_attn.k_proj",
            "encoder_config.num_key_value_heads * encoder_config.head_dim, encoder_config.hidden_size",
            bias="encoder_config.attention_bias",
            tower="encoder",
        ),
        Row(
            "v_proj",
            ENCODER + ".self_attn.v_proj",
            "encoder_config.num_key_value_heads * encoder_config.head_dim, encoder_config.hidden_size",
            bias="encoder_config.attention_bias",
            tower="encoder",
        ),
        Row(
            "o_proj",
            ENCODER + ".self_attn.o_proj",
            "encoder_config.hidden_size, encoder_config.num_attention_heads * encoder_config.head_dim",
            bias="encoder_config.attention_bias",
            tower="encoder",
        ),
        Row(
            "post_attention_layernorm",
            ENCODER + ".post_attention_layernorm.gamma",
            "encoder_config.hidden_size",
            tower="encoder",
            leaf="",
        ),
        Row(
            "up_proj",
            ENCODER + ".mlp.fc1",
            "encoder_config.intermediate_size, encoder_config.hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "down_proj",
            ENCODER + ".mlp.fc2",
            "encoder_config.hidden_size, encoder_config.intermediate_size",
            bias="True",
            tower="encoder",
        ),
        Row("input_layernorm", DECODER + ".input_layernorm", "hidden_size", tower="decoder"),
        Row(
            "q_proj",
            DECODER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
            tower="decoder",
        ),
        Row(
            "k_proj", DECODER + ".self_attn.k_proj", "8 * head_dim, hidden_size", bias="attention_bias", tower="decoder"
        ),
        Row(
            "v_proj", DECODER + ".self_attn.v_proj", "8 * head_dim, hidden_size", bias="attention_bias", tower="decoder"
        ),
        Row("o_proj", DECODER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", tower="decoder"),
        Row(
            "cross_q_proj",
            DECODER + ".encoder_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
            tower="decoder",
        ),
        Row(
            "cross_k_proj",
            DECODER + ".encoder_attn.k_proj",
            "8 * head_dim, hidden_size",
            bias="attention_bias",
            tower="decoder",
        ),
        Row(
            "cross_v_proj",
            DECODER + ".encoder_attn.v_proj",
            "8 * head_dim, hidden_size",
            bias="attention_bias",
            tower="decoder",
        ),
        Row(
            "cross_o_proj",
            DECODER + ".encoder_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            tower="decoder",
        ),
        Row("norm", DECODER + ".final_layernorm", "hidden_size", tower="decoder"),
        Row("post_attention_layernorm", DECODER + ".post_attention_layernorm", "hidden_size", tower="decoder"),
        Row("up_proj", DECODER + ".mlp.fc1", "2 * intermediate_size, hidden_size", bias="True", tower="decoder"),
        Row("down_proj", DECODER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True", tower="decoder"),
        Row("norm", "model.encoder.final_norm.gamma", "encoder_config.hidden_size", tower="encoder", leaf=""),
        Row("norm", "model.decoder.norm", "hidden_size", tower="decoder"),
        Row("pos_emb", "model.decoder.pos_emb", "max_position_embeddings, encoder_config.hidden_size", tower="decoder"),
        Row(
            "proj",
            "model.decoder.proj",
            "hidden_size, encoder_config.hidden_size",
            when="num_labels > 2",
            tower="decoder",
        ),
        Row(
            "linear",
            "model.encoder.embedder.linear",
            "encoder_config.hidden_size, 1",
            heads="ForConditionalGeneration",
            tower="encoder",
            group="embedding",
        ),
        Row(
            "linear",
            "model.encoder.embedder.linear",
            "encoder_config.hidden_size, encoder_config.num_hidden_layers - 2 if num_labels > 2 else num_labels * encoder_config.head_dim",
            heads="Model",
            tower="encoder",
            group="embedding",
        ),
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
        "encoder_config": {
            "attention_bias": False,
            "head_dim": 40,
            "hidden_size": 320,
            "intermediate_size": 1280,
            "num_attention_heads": 8,
            "num_hidden_layers": 6,
            "num_key_value_heads": 8,
        },
        "hidden_size": 320,
        "intermediate_size": 1280,
        "max_position_embeddings": 4096,
        "num_attention_heads": 8,
        "num_hidden_layers": 6,
        "tie_word_embeddings": False,
        "vocab_size": 32768,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    head="ForConditionalGeneration",
)
