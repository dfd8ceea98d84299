"""Model type gemma4.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.language_model.layers.{layer}"

FAMILY = Family(
    name="gemma4",
    types={"gemma4": {}},
    rows=(
        Row("embed_tokens", "model.language_model.embed_tokens", ""),
        Row("embed_tokens_per_layer", "model.language_model.embed_tokens_per_layer", ""),
        Row("input_layernorm", LAYER + ".input_layernorm", ""),
        Row("q_proj", LAYER + ".self_attn.q_proj", ""),
        Row("k_proj", LAYER + ".self_attn.k_proj", ""),
        Row("v_proj", LAYER + ".self_attn.v_proj", ""),
        Row("o_proj", LAYER + ".self_attn.o_proj", ""),
        Row("per_layer_input_gate", LAYER + ".per_layer_input_gate", ""),
        Row("per_layer_projection", LAYER + ".per_layer_projection", ""),
        Row("post_per_layer_input_norm", LAYER + ".post_per_layer_input_norm", ""),
        Row("q_norm", LAYER + ".self_attn.q_norm", ""),
        Row("k_norm", LAYER + ".self_attn.k_norm", ""),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", ""),
        Row("pre_feedforward_layernorm", LAYER + ".pre_feedforward_layernorm", ""),
        Row("gate_proj", LAYER + ".mlp.gate_proj", ""),
        Row("up_proj", LAYER + ".mlp.up_proj", ""),
        Row("down_proj", LAYER + ".mlp.down_proj", ""),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", ""),
        Row("norm", "model.language_model.norm", ""),
        Row("per_layer_model_projection", "model.language_model.per_layer_model_projection", ""),
        Row("per_layer_projection_norm", "model.language_model.per_layer_projection_norm", ""),
        Row("lm_head", "lm_head", ""),
        Row("layer_scalar", LAYER + ".layer_scalar", "", leaf="", buffer=True),
    ),
    prefix="model.",
    gguf=("gemma4",),
    names_only=True,
    head="ForConditionalGeneration",
)
