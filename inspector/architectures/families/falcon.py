"""Model type falcon.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<num_hidden_layers}"

FAMILY = Family(
    name="falcon",
    types={"falcon": {}},
    rows=(
        Row("embed_tokens", "transformer.word_embeddings", "vocab_size, hidden_size"),
        Row(
            "input_layernorm",
            LAYER + ".input_layernorm",
            "hidden_size",
            bias="True",
            when="alibi or not new_decoder_architecture",
        ),
        Row(
            "qkv_proj", LAYER + ".self_attention.query_key_value", "128, hidden_size", bias="bias", heads="ForCausalLM"
        ),
        Row(
            "qkv_proj",
            LAYER + ".self_attention.query_key_value",
            "hidden_size + 2 * hidden_size // num_attention_heads, hidden_size",
            heads="ForQuestionAnswering ForSequenceClassification ForTokenClassification",
        ),
        Row(
            "qkv_proj",
            LAYER + ".self_attention.query_key_value",
            "num_attention_heads * num_kv_heads * (num_attention_heads - 2) if alibi else hidden_size + 2 * hidden_size // num_attention_heads, hidden_size",
            bias="alibi",
            heads="Model",
        ),
        Row("o_proj", LAYER + ".self_attention.dense", "hidden_size, hidden_size", bias="bias"),
        Row(
            "ln_attn_input_layernorm",
            LAYER + ".ln_attn",
            "hidden_size",
            bias="True",
            when="new_decoder_architecture and multi_query",
        ),
        Row(
            "h_post_attention_layernorm",
            LAYER + ".post_attention_layernorm",
            "hidden_size",
            bias="True",
            when="not parallel_attn",
        ),
        Row(
            "post_attention_layernorm",
            LAYER + ".ln_mlp",
            "hidden_size",
            bias="True",
            when="new_decoder_architecture and multi_query",
        ),
        Row("up_proj", LAYER + ".mlp.dense_h_to_4h", "ffn_hidden_size, hidden_size", bias="bias"),
        Row("down_proj", LAYER + ".mlp.dense_4h_to_h", "hidden_size, ffn_hidden_size", bias="bias"),
        Row("norm", "transformer.ln_f", "hidden_size", bias="True"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("qa_outputs", "qa_outputs", "2, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
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
        "num_kv_heads": 71,
        "parallel_attn": True,
        "tie_word_embeddings": True,
        "vocab_size": 65024,
    },
    derived={"ffn_hidden_size": "4 * hidden_size"},
    gguf=("falcon",),
)
