"""Falcon: attention and feed-forward side by side; RefinedWeb are the same before the library had it."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<num_hidden_layers}"
TWO_NORMS = "parallel_attn and num_ln_in_parallel_attn == 2"

FAMILY = Family(
    name="falcon",
    types={
        "falcon": {},
        "RefinedWeb": {"new_decoder_architecture": True},
        "RefinedWebModel": {},
    },
    rows=(
        Row("embed_tokens", "transformer.word_embeddings", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".ln_attn", "hidden_size", bias="True", when=TWO_NORMS),
        Row("post_attention_layernorm", LAYER + ".ln_mlp", "hidden_size", bias="True", when=TWO_NORMS),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="True", when=f"not ({TWO_NORMS})"),
        Row(
            "post_attention_layernorm",
            LAYER + ".post_attention_layernorm",
            "hidden_size",
            bias="True",
            when="not parallel_attn",
        ),
        Row(
            "qkv_proj",
            LAYER + ".self_attention.query_key_value",
            "(num_attention_heads + 2 * kv_heads) * head_dim, hidden_size",
            bias="bias",
        ),
        Row("o_proj", LAYER + ".self_attention.dense", "hidden_size, num_attention_heads * head_dim", bias="bias"),
        Row("up_proj", LAYER + ".mlp.dense_h_to_4h", "ffn_hidden_size, hidden_size", bias="bias"),
        Row("down_proj", LAYER + ".mlp.dense_4h_to_h", "hidden_size, ffn_hidden_size", bias="bias"),
        Row("norm", "transformer.ln_f", "hidden_size", bias="True"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
        Row("qa_outputs", "qa_outputs", "2, hidden_size", bias="True", heads="ForQuestionAnswering"),
    ),
    prefix="transformer.",
    defaults={
        "alibi": False,
        "bias": False,
        "hidden_size": 4544,
        "multi_query": True,
        "new_decoder_architecture": False,
        "num_attention_heads": 71,
        "num_hidden_layers": 32,
        "parallel_attn": True,
        "tie_word_embeddings": True,
        "vocab_size": 65024,
        "id2label": {"0": "LABEL_0", "1": "LABEL_1"},
    },
    derived={
        "num_ln_in_parallel_attn": "2 if new_decoder_architecture else 1",
        "head_dim": "hidden_size // num_attention_heads",
        "num_kv_heads": "num_attention_heads",
        "kv_heads": "num_kv_heads if new_decoder_architecture else 1 if multi_query else num_attention_heads",
        "ffn_hidden_size": "4 * hidden_size",
        "num_labels": "len(id2label)",
    },
    fields={
        "n_layer": "num_hidden_layers",
        "n_head": "num_attention_heads",
        "n_head_kv": "num_kv_heads",
        "num_key_value_heads": "num_kv_heads",
    },
)
