"""GPT-NeoX and Pythia: fused attention beside the feed-forward, rotary positions."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "gpt_neox.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="gpt_neox",
    types={"gpt_neox": {}},
    rows=(
        Row("embed_tokens", "gpt_neox.embed_in", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="True"),
        Row("qkv_proj", LAYER + ".attention.query_key_value", "3 * hidden_size, hidden_size", bias="attention_bias"),
        Row("o_proj", LAYER + ".attention.dense", "hidden_size, hidden_size", bias="attention_bias"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.dense_h_to_4h", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.dense_4h_to_h", "hidden_size, intermediate_size", bias="True"),
        Row("norm", "gpt_neox.final_layer_norm", "hidden_size", bias="True"),
        Row("lm_head", "embed_out", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("qa_outputs", "qa_outputs", "2, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
    ),
    prefix="gpt_neox.",
    defaults={
        "attention_bias": True,
        "hidden_size": 6144,
        "intermediate_size": 24576,
        "num_hidden_layers": 44,
        "tie_word_embeddings": False,
        "vocab_size": 50432,
    },
)
