"""Model type mpt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.blocks.{layer<n_layers}"

FAMILY = Family(
    name="mpt",
    types={"mpt": {}},
    rows=(
        Row("embed_tokens", "transformer.wte", "vocab_size, d_model"),
        Row("input_layernorm", LAYER + ".norm_1", "d_model"),
        Row("qkv_proj", LAYER + ".attn.Wqkv", "3 * d_model, d_model"),
        Row("o_proj", LAYER + ".attn.out_proj", "d_model, d_model"),
        Row("post_attention_layernorm", LAYER + ".norm_2", "d_model"),
        Row("up_proj", LAYER + ".ffn.up_proj", "4 * d_model, d_model"),
        Row("down_proj", LAYER + ".ffn.down_proj", "d_model, 4 * d_model"),
        Row("norm", "transformer.norm_f", "d_model"),
        Row("lm_head", "lm_head", "vocab_size, d_model", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("qa_outputs", "qa_outputs", "2, d_model", bias="True", heads="ForQuestionAnswering"),
        Row("score", "score", "num_labels, d_model", heads="ForSequenceClassification"),
        Row("classifier", "classifier", "num_labels, d_model", bias="True", heads="ForTokenClassification"),
    ),
    prefix="transformer.",
    defaults={"d_model": 2048, "n_layers": 24, "tie_word_embeddings": True, "vocab_size": 50368},
    fields={"hidden_size": "d_model", "num_hidden_layers": "n_layers"},
    gguf=("mpt",),
)
