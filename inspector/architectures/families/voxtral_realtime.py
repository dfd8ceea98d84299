"""Model type voxtral_realtime: audio_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "language_model.model.layers.{layer<text_config.num_hidden_layers}"

FAMILY = Family(
    name="voxtral_realtime",
    types={"voxtral_realtime": {}},
    rows=(
        Include(
            "audio_config",
            "audio_tower.",
            tower="audio",
            head="VoxtralRealtimeEncoder",
            default_type="voxtral_realtime_encoder",
        ),
        Row("embed_tokens", "language_model.model.embed_tokens", "text_config.vocab_size, text_config.hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "text_config.hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "text_config.num_attention_heads * text_config.head_dim, text_config.hidden_size",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "text_config.num_key_value_heads * text_config.head_dim, text_config.hidden_size",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "text_config.num_key_value_heads * text_config.head_dim, text_config.hidden_size",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "text_config.hidden_size, text_config.num_attention_heads * text_config.head_dim",
        ),
        Row("linear1", LAYER + ".ada_rms_norm.linear1", "32, text_config.hidden_size", group="norm"),
        Row("linear2", LAYER + ".ada_rms_norm.linear2", "text_config.hidden_size, 32", group="norm"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "text_config.hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "text_config.intermediate_size, text_config.hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "text_config.intermediate_size, text_config.hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "text_config.hidden_size, text_config.intermediate_size"),
        Row("norm", "language_model.model.norm", "text_config.hidden_size"),
        Row(
            "linear_1",
            "multi_modal_projector.linear_1",
            "text_config.hidden_size, audio_config.hidden_size * downsample_factor",
            tower="projector",
        ),
        Row(
            "linear_2",
            "multi_modal_projector.linear_2",
            "text_config.hidden_size, text_config.hidden_size",
            tower="projector",
        ),
        Row(
            "lm_head",
            "language_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    defaults={
        "audio_config": {"hidden_size": 1280},
        "downsample_factor": 4,
        "text_config": {
            "head_dim": 128,
            "hidden_size": 3072,
            "intermediate_size": 9216,
            "num_attention_heads": 32,
            "num_hidden_layers": 26,
            "num_key_value_heads": 8,
            "vocab_size": 131072,
        },
        "tie_word_embeddings": True,
    },
    head="ForConditionalGeneration",
)
