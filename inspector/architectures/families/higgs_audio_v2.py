"""Model type higgs_audio_v2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="higgs_audio_v2",
    types={"higgs_audio_v2": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row(
            "embed_audio_tokens",
            "model.embed_audio_tokens.embed_audio_tokens",
            "num_codebooks * codebook_size, hidden_size",
        ),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
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
        Row("audio_mlp_gate_proj", LAYER + ".audio_mlp.gate_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("audio_mlp_up_proj", LAYER + ".audio_mlp.up_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("audio_mlp_down_proj", LAYER + ".audio_mlp.down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row("audio_input_layernorm", LAYER + ".audio_input_layernorm", "hidden_size"),
        Row("audio_post_attention_layernorm", LAYER + ".audio_post_attention_layernorm", "hidden_size"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row("norm", "model.norm", "hidden_size"),
        Row("audio_lm_head", "audio_lm_head", "num_codebooks * codebook_size, hidden_size"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "codebook_size": 1024,
        "head_dim": 128,
        "hidden_size": 3072,
        "intermediate_size": 8192,
        "mlp_bias": False,
        "num_attention_heads": 24,
        "num_codebooks": 8,
        "num_hidden_layers": 28,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
    },
    head="ForConditionalGeneration",
)
