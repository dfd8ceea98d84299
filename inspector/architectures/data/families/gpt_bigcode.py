"""GPT BigCode: SantaCoder and StarCoder, whose queries share one head of keys and values."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<n_layer}"
CROSS = "add_cross_attention"
CROSS_ATTENTION = LAYER + ".crossattention"

FAMILY = Family(
    name="gpt_bigcode",
    types={"gpt_bigcode": {}},
    rows=(
        Row("embed_tokens", "transformer.wte", "vocab_size, n_embd"),
        Row("embed_positions", "transformer.wpe", "n_positions, n_embd"),
        Row("input_layernorm", LAYER + ".ln_1", "n_embd", bias="True"),
        Row(
            "qkv_proj",
            LAYER + ".attn.c_attn",
            "n_embd // n_head * (n_head + 2 * key_value_heads), n_embd",
            bias="True",
        ),
        Row("o_proj", LAYER + ".attn.c_proj", "n_embd, n_embd", bias="True"),
        Row("cross_layernorm", LAYER + ".ln_cross_attn", "n_embd", bias="True", when=CROSS),
        Row("cross_q_proj", CROSS_ATTENTION + ".q_attn", "n_embd, n_embd", bias="True", when=CROSS),
        Row("cross_kv_proj", CROSS_ATTENTION + ".c_attn", "2 * n_embd, n_embd", bias="True", when=CROSS),
        Row("cross_o_proj", CROSS_ATTENTION + ".c_proj", "n_embd, n_embd", bias="True", when=CROSS),
        Row("post_attention_layernorm", LAYER + ".ln_2", "n_embd", bias="True"),
        Row("up_proj", LAYER + ".mlp.c_fc", "n_inner, n_embd", bias="True"),
        Row("down_proj", LAYER + ".mlp.c_proj", "n_embd, n_inner", bias="True"),
        Row("norm", "transformer.ln_f", "n_embd", bias="True"),
        Row("lm_head", "lm_head", "vocab_size, n_embd", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, n_embd", heads="ForSequenceClassification"),
        Row("classifier", "classifier", "num_labels, n_embd", bias="True", heads="ForTokenClassification"),
    ),
    prefix="transformer.",
    defaults={
        "add_cross_attention": False,
        "n_embd": 768,
        "n_head": 12,
        "n_layer": 12,
        "n_positions": 1024,
        "multi_query": True,
        "tie_word_embeddings": True,
        "vocab_size": 50257,
    },
    derived={"n_inner": "4 * n_embd", "key_value_heads": "1 if multi_query else n_head"},
    fields={
        "hidden_size": "n_embd",
        "max_position_embeddings": "n_positions",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
    },
)
