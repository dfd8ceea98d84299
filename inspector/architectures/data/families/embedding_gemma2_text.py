"""EmbeddingGemma 2's text model: Gemma 4's layers, whose embeddings per layer are computed and not looked up."""

from __future__ import annotations

from inspector.architectures.data.families.gemma4_text import FAMILY as GEMMA_4
from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"
BLOCK = LAYER + ".ple_block"
PER_LAYER = "hidden_size_per_layer_input"
ATTENTION = LAYER + ".self_attn"
HEADS, KEYS = "num_attention_heads * layer_head_dim", "layer_key_value_heads * layer_head_dim"

FAMILY = Family(
    name="embedding_gemma2_text",
    types={"embedding_gemma2_text": {}},
    rows=(
        Row("embed_tokens", "embed_tokens", "vocab_size, hidden_size"),
        Row(
            "per_layer_model_projection",
            "ple.per_layer_model_projection",
            f"num_hidden_layers * {PER_LAYER}, hidden_size",
            group="embedding",
        ),
        Row("per_layer_projection_norm", "ple.per_layer_projection_norm", PER_LAYER),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row("q_proj", ATTENTION + ".q_proj", f"{HEADS}, hidden_size", bias="attention_bias"),
        Row("k_proj", ATTENTION + ".k_proj", f"{KEYS}, hidden_size", bias="attention_bias"),
        Row("v_proj", ATTENTION + ".v_proj", f"{KEYS}, hidden_size", bias="attention_bias"),
        Row("o_proj", ATTENTION + ".o_proj", f"hidden_size, {HEADS}", bias="attention_bias"),
        Row("q_norm", ATTENTION + ".q_norm", "layer_head_dim"),
        Row("k_norm", ATTENTION + ".k_norm", "layer_head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("pre_feedforward_layernorm", LAYER + ".pre_feedforward_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size"),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", "hidden_size"),
        Row("per_layer_input_gate", BLOCK + ".per_layer_input_gate", f"{PER_LAYER}, hidden_size"),
        Row("per_layer_projection", BLOCK + ".per_layer_projection", f"hidden_size, {PER_LAYER}"),
        Row("post_per_layer_input_norm", BLOCK + ".post_per_layer_input_norm", "hidden_size"),
        Row("layer_scalar", LAYER + ".layer_scalar", "1", leaf="", buffer=True, persistent=True),
        Row("norm", "norm", "hidden_size"),
        Row("embedding_projection", "embedding_projection", "embedding_dim, hidden_size", group="head"),
    ),
    head="Model",
    defaults={
        **GEMMA_4.defaults,
        "embedding_dim": 768,
        "hidden_size": 512,
        "hidden_size_per_layer_input": 512,
        "intermediate_size": 2048,
        "num_attention_heads": 4,
        "num_global_key_value_heads": 1,
        "num_hidden_layers": 24,
        "num_key_value_heads": 2,
    },
    derived={
        **GEMMA_4.derived,
        "layer_key_value_heads": "num_key_value_heads if uniform else num_global_key_value_heads",
    },
)
