"""Model type opt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.decoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="opt",
    types={"opt": {}},
    rows=(
        Row("embed_tokens", "model.decoder.embed_tokens", "vocab_size, word_embed_proj_dim"),
        Row("embed_positions", "model.decoder.embed_positions", "max_position_embeddings + 2, hidden_size"),
        Row(
            "input_layernorm",
            LAYER + ".self_attn_layer_norm",
            "hidden_size",
            bias="True",
            when="layer_norm_elementwise_affine",
        ),
        Row("q_proj", LAYER + ".self_attn.q_proj", "hidden_size, hidden_size", bias="enable_bias"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "hidden_size, hidden_size", bias="enable_bias"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "hidden_size, hidden_size", bias="enable_bias"),
        Row("o_proj", LAYER + ".self_attn.out_proj", "hidden_size, hidden_size", bias="enable_bias"),
        Row("norm", LAYER + ".final_layer_norm", "hidden_size", bias="True", when="layer_norm_elementwise_affine"),
        Row("up_proj", LAYER + ".fc1", "ffn_dim, hidden_size", bias="enable_bias"),
        Row("down_proj", LAYER + ".fc2", "hidden_size, ffn_dim", bias="enable_bias"),
        Row(
            "project_out",
            "model.decoder.project_out",
            "word_embed_proj_dim, hidden_size",
            when="hidden_size != word_embed_proj_dim",
        ),
        Row(
            "project_in",
            "model.decoder.project_in",
            "hidden_size, word_embed_proj_dim",
            when="hidden_size != word_embed_proj_dim",
        ),
        Row(
            "norm",
            "model.decoder.final_layer_norm",
            "hidden_size",
            bias="True",
            when="do_layer_norm_before and layer_norm_elementwise_affine",
        ),
        Row("lm_head", "lm_head", "vocab_size, word_embed_proj_dim", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("qa_outputs", "qa_outputs", "2, word_embed_proj_dim", bias="True", heads="ForQuestionAnswering"),
        Row("score", "score", "num_labels, word_embed_proj_dim", heads="ForSequenceClassification"),
    ),
    prefix="model.",
    defaults={
        "do_layer_norm_before": True,
        "enable_bias": True,
        "ffn_dim": 3072,
        "hidden_size": 768,
        "layer_norm_elementwise_affine": True,
        "max_position_embeddings": 2048,
        "num_hidden_layers": 12,
        "tie_word_embeddings": True,
        "vocab_size": 50272,
    },
    derived={"word_embed_proj_dim": "hidden_size"},
)
