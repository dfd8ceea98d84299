"""Model type gemma3n_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="gemma3n_text",
    types={"gemma3n_text": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row(
            "embed_tokens_per_layer",
            "model.embed_tokens_per_layer",
            "vocab_size_per_layer_input, num_hidden_layers * hidden_size_per_layer_input",
        ),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="layer < num_hidden_layers - num_kv_shared_layers",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="layer < num_hidden_layers - num_kv_shared_layers",
        ),
        Row(
            "o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"
        ),
        Row("correct_output_scale", LAYER + ".altup.correct_output_scale", "hidden_size", leaf=""),
        Row("correction_coefs", LAYER + ".altup.correction_coefs", "altup_num_inputs, altup_num_inputs"),
        Row(
            "prediction_coefs",
            LAYER + ".altup.prediction_coefs",
            "altup_num_inputs ** 2, altup_num_inputs",
            group="head",
        ),
        Row("modality_router", LAYER + ".altup.modality_router", "altup_num_inputs, hidden_size"),
        Row("router_norm", LAYER + ".altup.router_norm", "hidden_size"),
        Row("linear_left", LAYER + ".laurel.linear_left", "laurel_rank, hidden_size"),
        Row("linear_right", LAYER + ".laurel.linear_right", "hidden_size, laurel_rank"),
        Row("post_laurel_norm", LAYER + ".laurel.post_laurel_norm", "hidden_size"),
        Row("per_layer_input_gate", LAYER + ".per_layer_input_gate", "hidden_size_per_layer_input, hidden_size"),
        Row("per_layer_projection", LAYER + ".per_layer_projection", "hidden_size, hidden_size_per_layer_input"),
        Row("post_per_layer_input_norm", LAYER + ".post_per_layer_input_norm", "hidden_size"),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim", when="layer < num_hidden_layers - num_kv_shared_layers"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("pre_feedforward_layernorm", LAYER + ".pre_feedforward_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size[layer], hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size[layer], hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size[layer]"),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", "hidden_size"),
        Row(
            "altup_projections",
            "model.altup_projections.{layer<altup_num_inputs - 1}",
            "hidden_size, hidden_size",
            when="altup_num_inputs",
        ),
        Row(
            "altup_unembed_projections",
            "model.altup_unembed_projections.{layer<altup_num_inputs - 1}",
            "hidden_size, hidden_size",
            when="altup_num_inputs",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row(
            "per_layer_model_projection",
            "model.per_layer_model_projection",
            "num_hidden_layers * hidden_size_per_layer_input, hidden_size",
        ),
        Row("per_layer_projection_norm", "model.per_layer_projection_norm", "hidden_size_per_layer_input"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "altup_num_inputs": 4,
        "attention_bias": False,
        "head_dim": 256,
        "hidden_size": 2048,
        "hidden_size_per_layer_input": 256,
        "intermediate_size": 16384,
        "laurel_rank": 64,
        "num_attention_heads": 8,
        "num_hidden_layers": 35,
        "num_key_value_heads": 2,
        "num_kv_shared_layers": 15,
        "tie_word_embeddings": True,
        "vocab_size": 262400,
        "vocab_size_per_layer_input": 262144,
    },
    gguf=("gemma3n",),
)
