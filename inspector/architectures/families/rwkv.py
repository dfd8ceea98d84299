"""Model type rwkv.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "rwkv.blocks.{layer<num_hidden_layers}"

FAMILY = Family(
    name="rwkv",
    types={"rwkv": {}},
    rows=(
        Row("embeddings", "rwkv.embeddings", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".ln1", "hidden_size", bias="True"),
        Row("k_proj", LAYER + ".attention.key", "attention_hidden_size, hidden_size"),
        Row("v_proj", LAYER + ".attention.value", "attention_hidden_size, hidden_size"),
        Row("pre_ln", LAYER + ".pre_ln", "hidden_size", bias="True", when="layer == 0", group="norm"),
        Row("time_decay", LAYER + ".attention.time_decay", "attention_hidden_size", leaf="", group="attention"),
        Row("time_first", LAYER + ".attention.time_first", "attention_hidden_size", leaf="", group="attention"),
        Row("time_mix_key", LAYER + ".attention.time_mix_key", "1, 1, hidden_size", leaf="", group="attention"),
        Row("time_mix_value", LAYER + ".attention.time_mix_value", "1, 1, hidden_size", leaf="", group="attention"),
        Row(
            "time_mix_receptance",
            LAYER + ".attention.time_mix_receptance",
            "1, 1, hidden_size",
            leaf="",
            group="attention",
        ),
        Row("receptance", LAYER + ".attention.receptance", "attention_hidden_size, hidden_size", group="attention"),
        Row("lm_head", LAYER + ".attention.output", "hidden_size, attention_hidden_size"),
        Row(
            "feed_forward_time_mix_key",
            LAYER + ".feed_forward.time_mix_key",
            "1, 1, hidden_size",
            leaf="",
            group="convolution",
        ),
        Row(
            "feed_forward_time_mix_receptance",
            LAYER + ".feed_forward.time_mix_receptance",
            "1, 1, hidden_size",
            leaf="",
            group="convolution",
        ),
        Row("key_k_proj", LAYER + ".feed_forward.key", "intermediate_size, hidden_size"),
        Row("feed_forward_receptance", LAYER + ".feed_forward.receptance", "hidden_size, hidden_size"),
        Row("value_v_proj", LAYER + ".feed_forward.value", "hidden_size, intermediate_size"),
        Row("post_attention_layernorm", LAYER + ".ln2", "hidden_size", bias="True"),
        Row("ln_out", "rwkv.ln_out", "hidden_size", bias="True"),
        Row("head", "head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="rwkv.",
    defaults={"hidden_size": 4096, "num_hidden_layers": 32, "tie_word_embeddings": False, "vocab_size": 50277},
    derived={"attention_hidden_size": "hidden_size", "intermediate_size": "4 * hidden_size"},
)
