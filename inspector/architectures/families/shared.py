"""Rows that many families have."""

from __future__ import annotations

from inspector.architectures.table import Row

LAYER = "model.layers.{layer<num_hidden_layers}"

EMBED_TOKENS = Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size")

#: Grouped-query attention with separate projections: Llama's.
ATTENTION = (
    Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="qkv_bias"),
    Row("k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="qkv_bias"),
    Row("v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="qkv_bias"),
    Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="o_bias"),
    Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim", when="qk_norm"),
    Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim", when="qk_norm"),
    Row("inv_freq", LAYER + ".self_attn.rotary_emb.inv_freq", "head_dim // 2", leaf="", buffer=True),
)

#: Gated feed-forward (SwiGLU, GeGLU).
FEED_FORWARD = (
    Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
    Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
    Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
)

NORMS = (
    Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
    Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
    Row("norm", "model.norm", "hidden_size"),
)

#: What the classes on top of a decoder add.
DECODER_HEADS = (
    Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
    Row("score", "score", "num_labels, hidden_size", heads="ForTokenClassification", bias="True"),
    Row("qa_outputs", "qa_outputs", "2, hidden_size", heads="ForQuestionAnswering", bias="True"),
)

#: Fields of a Llama-like decoder that a configuration may leave out.
DECODER_DERIVED = {
    "head_dim": "hidden_size // num_attention_heads",
    "num_key_value_heads": "num_attention_heads",
    "qkv_bias": "attention_bias",
    "o_bias": "attention_bias",
    "num_labels": "len(id2label)",
}
DECODER_DEFAULTS = {
    "tie_word_embeddings": False,
    "attention_bias": False,
    "mlp_bias": False,
    "qk_norm": False,
    "id2label": {"0": "LABEL_0", "1": "LABEL_1"},
}
