"""Model type gpt_neo.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<num_layers}"

FAMILY = Family(
    name="gpt_neo",
    types={"gpt_neo": {}},
    rows=(
        Row("embed_tokens", "transformer.wte", "vocab_size, hidden_size"),
        Row("embed_positions", "transformer.wpe", "max_position_embeddings, hidden_size"),
        Row("input_layernorm", LAYER + ".ln_1", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".attn.attention.q_proj", "hidden_size, hidden_size"),
        Row("k_proj", LAYER + ".attn.attention.k_proj", "hidden_size, hidden_size"),
        Row("v_proj", LAYER + ".attn.attention.v_proj", "hidden_size, hidden_size"),
        Row("o_proj", LAYER + ".attn.attention.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".ln_2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.c_fc", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.c_proj", "hidden_size,intermediate_size", bias="True"),
        Row("norm", "transformer.ln_f", "hidden_size", bias="True"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("qa_outputs", "qa_outputs", "2, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
    ),
    prefix="transformer.",
    defaults={
        "hidden_size": 2048,
        "max_position_embeddings": 2048,
        "num_layers": 24,
        "tie_word_embeddings": True,
        "vocab_size": 50257,
    },
    derived={"intermediate_size": "4 * hidden_size"},
    fields={"num_hidden_layers": "num_layers"},
)
