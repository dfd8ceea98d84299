"""GPT-2: learned positions, fused attention, weights stored as [in, out] (Transformers' Conv1D)."""

from __future__ import annotations

from inspector.architectures.data.families.shared import summary
from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<n_layer}"
WITH_HEAD = "LMHeadModel DoubleHeadsModel ForCausalLM"
CROSS = "add_cross_attention"  # the decoder of a captioner


def _cross(role: str, name: str, shape: str) -> Row:
    return Row(role, f"{LAYER}.crossattention.{name}", shape, bias="True", when=CROSS, transposed=True)


FAMILY = Family(
    name="gpt2",
    types={"gpt2": {}},
    rows=(
        Row("embed_tokens", "transformer.wte", "vocab_size, n_embd"),
        Row("embed_positions", "transformer.wpe", "n_positions, n_embd"),
        Row("input_layernorm", LAYER + ".ln_1", "n_embd", bias="True"),
        Row("qkv_proj", LAYER + ".attn.c_attn", "n_embd, 3 * n_embd", bias="qkv_bias", transposed=True),
        Row("o_proj", LAYER + ".attn.c_proj", "n_embd, n_embd", bias="True", transposed=True),
        Row("post_attention_layernorm", LAYER + ".ln_2", "n_embd", bias="True"),
        Row("up_proj", LAYER + ".mlp.c_fc", "n_embd, n_inner", bias="True", transposed=True),
        Row("down_proj", LAYER + ".mlp.c_proj", "n_inner, n_embd", bias="True", transposed=True),
        Row("cross_layernorm", LAYER + ".ln_cross_attn", "n_embd", bias="True", when=CROSS),
        _cross("cross_q_proj", "q_attn", "n_embd, n_embd"),
        _cross("cross_kv_proj", "c_attn", "n_embd, 2 * n_embd"),
        _cross("cross_o_proj", "c_proj", "n_embd, n_embd"),
        Row("norm", "transformer.ln_f", "n_embd", bias="True"),
        Row("causal_mask", LAYER + ".attn", "1, 1, n_positions, n_positions", leaf="bias", buffer=True),
        Row("masked_bias", LAYER + ".attn", "", leaf="masked_bias", buffer=True),
        Row("lm_head", "lm_head", "vocab_size, n_embd", heads=WITH_HEAD, tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, n_embd", heads="ForSequenceClassification"),
        Row("classifier", "classifier", "num_labels, n_embd", heads="ForTokenClassification", bias="True"),
        Row("qa_outputs", "qa_outputs", "2, n_embd", heads="ForQuestionAnswering", bias="True"),
        # GPT2DoubleHeadsModel sets `num_labels` to 1.
        summary("multiple_choice_head", "n_embd", "DoubleHeadsModel")._replace(
            shape="1 if summary_proj_to_labels else n_embd, n_embd"
        ),
    ),
    prefix="transformer.",
    head="LMHeadModel",
    fields={
        "hidden_size": "n_embd",
        "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head",
        "max_position_embeddings": "n_positions",
        "intermediate_size": "n_inner",
    },
    defaults={
        "vocab_size": 50257,
        "n_embd": 768,
        "n_layer": 12,
        "n_head": 12,
        "tie_word_embeddings": True,
        "qkv_bias": True,
        "add_cross_attention": False,
        "summary_use_proj": True,
        "summary_proj_to_labels": True,
        "id2label": {"0": "LABEL_0", "1": "LABEL_1"},
    },
    derived={"n_inner": "4 * n_embd", "n_positions": "n_ctx", "n_ctx": "1024", "num_labels": "len(id2label)"},
)
