"""Model type fun_asr_nano: audio_config, text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "model.multi_modal_projector.layers.{layer<adaptor_config.num_hidden_layers}"

FAMILY = Family(
    name="fun_asr_nano",
    types={"fun_asr_nano": {}},
    rows=(
        Include(
            "audio_config",
            "model.audio_tower.",
            tower="audio",
            head="FunAsrNanoEncoder",
            default_type="fun_asr_nano_encoder",
            without="norm",
        ),
        Include("text_config", "model.language_model.", head="Model", default_type="qwen3"),
        Row(
            "norm",
            "model.audio_tower.layers.{layer<audio_config.num_hidden_layers}.final_layernorm",
            "audio_config.hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
            tower="audio",
        ),
        Row(
            "norm",
            "model.audio_tower.layers.{layer<audio_config.num_hidden_layers}.final_layernorm",
            "audio_config.hidden_size",
            bias="True",
            when="layer % audio_config.num_timestamp_prediction_layers == 0 and num_labels > 2 and layer >= audio_config.num_hidden_layers - text_config.max_window_layers or (layer + 1) % audio_config.num_hidden_layers == 0 or layer % audio_config.num_stacked_frames == 0 and layer % audio_config.fsmn_kernel_size == audio_config.fsmn_kernel_size // 2",
            heads="Model",
            tower="audio",
        ),
        Row(
            "input_layernorm", LAYER + ".input_layernorm", "adaptor_config.hidden_size", bias="True", tower="projector"
        ),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "adaptor_config.hidden_size, adaptor_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "adaptor_config.hidden_size, adaptor_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "adaptor_config.hidden_size, adaptor_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "adaptor_config.hidden_size, adaptor_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "post_attention_layernorm",
            LAYER + ".post_attention_layernorm",
            "adaptor_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.fc1",
            "adaptor_config.intermediate_size, adaptor_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.fc2",
            "adaptor_config.hidden_size, adaptor_config.intermediate_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_1",
            "model.multi_modal_projector.linear_1",
            "adaptor_config.projector_hidden_size, audio_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_2",
            "model.multi_modal_projector.linear_2",
            "adaptor_config.hidden_size, adaptor_config.projector_hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, adaptor_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={
        "adaptor_config": {
            "hidden_size": 1024,
            "intermediate_size": 256,
            "num_hidden_layers": 2,
            "projector_hidden_size": 2048,
        },
        "audio_config": {
            "fsmn_kernel_size": 11,
            "hidden_size": 512,
            "num_hidden_layers": 70,
            "num_stacked_frames": 7,
            "num_timestamp_prediction_layers": 20,
        },
        "text_config": {"max_window_layers": 28, "vocab_size": 151936},
        "tie_word_embeddings": True,
    },
    head="ForConditionalGeneration",
)
