"""TeleChat, whose code comes with its checkpoints: BLOOM's names, Llama's parts, keys and values fused."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<n_layer}"

FAMILY = Family(
    name="telechat",
    types={"telechat": {}, "telechat2": {}},
    rows=(
        Row("embed_tokens", "transformer.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_norm", "transformer.word_embeddings_layernorm", "hidden_size", when="embed_layernorm"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row("q_proj", LAYER + ".self_attention.query", "hidden_size, hidden_size"),
        Row(
            "kv_proj",
            LAYER + ".self_attention.key_value",
            "2 * num_key_value_heads * (hidden_size // n_head), hidden_size",
        ),
        Row("o_proj", LAYER + ".self_attention.dense", "hidden_size, hidden_size", bias="True"),
        Row(
            "inv_freq",
            LAYER + ".self_attention.rotary_emb.inv_freq",
            "hidden_size // n_head // 2",
            leaf="",
            buffer=True,
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "ffn_hidden_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "ffn_hidden_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, ffn_hidden_size", bias="True"),
        Row("norm", "transformer.ln_f", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="transformer.",
    defaults={"embed_layernorm": False, "tie_word_embeddings": False},
    derived={"num_key_value_heads": "n_head"},
    fields={"num_hidden_layers": "n_layer", "num_attention_heads": "n_head", "intermediate_size": "ffn_hidden_size"},
)
