"""Model type pocket_tts.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
FLOW_HEAD_TIMESTEP_EMBEDDINGS = "flow_head.timestep_embeddings.{layer<2}"
FLOW_HEAD = "flow_head.layers.{layer<flow_head_config.num_hidden_layers}"

FAMILY = Family(
    name="pocket_tts",
    types={"pocket_tts": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="True"),
        Row(
            "q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size"),
        Row(
            "fc1_up_proj",
            FLOW_HEAD_TIMESTEP_EMBEDDINGS + ".fc1",
            "flow_head_config.hidden_size, flow_head_config.frequency_embedding_size",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "fc2_down_proj",
            FLOW_HEAD_TIMESTEP_EMBEDDINGS + ".fc2",
            "flow_head_config.hidden_size, flow_head_config.hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "norm",
            FLOW_HEAD_TIMESTEP_EMBEDDINGS + ".norm",
            "flow_head_config.hidden_size",
            heads="ForConditionalGeneration",
        ),
        Row(
            "flow_head_norm",
            FLOW_HEAD + ".norm",
            "flow_head_config.hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "flow_head_fc1_up_proj",
            FLOW_HEAD + ".fc1",
            "flow_head_config.hidden_size, flow_head_config.hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "flow_head_fc2_down_proj",
            FLOW_HEAD + ".fc2",
            "flow_head_config.hidden_size, flow_head_config.hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "adaln_proj",
            FLOW_HEAD + ".adaln_proj",
            "3 * flow_head_config.hidden_size, flow_head_config.hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "loss_weighting",
            "loss_weighting.layers.{layer<flow_head_config.loss_weighting_num_layers}",
            "flow_head_config.loss_weighting_hidden_size, flow_head_config.loss_weighting_hidden_size if layer > 0 else 2",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row("bos_latent", "model.bos_latent", "flow_head_config.latent_dim", leaf=""),
        Row("norm", "model.norm", "hidden_size", bias="True"),
        Row("audio_prompt_proj", "model.audio_prompt_proj", "hidden_size, flow_head_config.latent_dim"),
        Row("audio_latent_proj", "model.audio_latent_proj", "hidden_size, flow_head_config.latent_dim"),
        Row(
            "input_proj",
            "flow_head.input_proj",
            "flow_head_config.hidden_size, flow_head_config.latent_dim",
            bias="True",
            heads="ForConditionalGeneration",
            group="head",
        ),
        Row(
            "cond_proj",
            "flow_head.cond_proj",
            "flow_head_config.hidden_size, hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
            group="head",
        ),
        Row(
            "adaln_proj",
            "flow_head.final_layer.adaln_proj",
            "2 * flow_head_config.hidden_size, flow_head_config.hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "proj",
            "flow_head.final_layer.proj",
            "flow_head_config.latent_dim, flow_head_config.hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row("eos_head", "eos_head", "1, hidden_size", bias="True", heads="ForConditionalGeneration"),
        Row(
            "loss_weighting_proj",
            "loss_weighting.proj",
            "1, flow_head_config.loss_weighting_hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "freqs",
            FLOW_HEAD_TIMESTEP_EMBEDDINGS + ".freqs",
            "flow_head_config.frequency_embedding_size // 2",
            heads="ForConditionalGeneration",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "latent_mean",
            "latent_mean",
            "flow_head_config.latent_dim",
            heads="ForConditionalGeneration",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "latent_std",
            "latent_std",
            "flow_head_config.latent_dim",
            heads="ForConditionalGeneration",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "latent_stats_num_updates",
            "latent_stats_num_updates",
            "",
            heads="ForConditionalGeneration",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "flow_head_config": {
            "frequency_embedding_size": 256,
            "hidden_size": 512,
            "latent_dim": 32,
            "loss_weighting_hidden_size": 32,
            "loss_weighting_num_layers": 3,
            "num_hidden_layers": 6,
        },
        "head_dim": 64,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_attention_heads": 16,
        "num_hidden_layers": 6,
        "vocab_size": 4004,
    },
    derived={"num_key_value_heads": "num_attention_heads"},
    head="ForConditionalGeneration",
)
