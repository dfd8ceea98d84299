"""ModernBERT as a decoder: layers of two kinds of attention, biases by flags."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="modernbert-decoder",
    types={"modernbert-decoder": {}},
    rows=(
        Row("embed_tokens", "model.embeddings.tok_embeddings", "vocab_size, hidden_size"),
        Row("embed_norm", "model.embeddings.norm", "hidden_size", bias="norm_bias"),
        Row("input_layernorm", LAYER + ".attn_norm", "hidden_size", bias="norm_bias", when="layer > 0"),
        Row(
            "q_proj",
            LAYER + ".attn.q_proj",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "k_proj",
            LAYER + ".attn.k_proj",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "v_proj",
            LAYER + ".attn.v_proj",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="attention_bias",
        ),
        Row("Wo", LAYER + ".attn.Wo", "hidden_size, hidden_size", bias="attention_bias", group="attention"),
        Row("mlp_norm", LAYER + ".mlp_norm", "hidden_size", bias="norm_bias"),
        Row("Wi", LAYER + ".mlp.Wi", "2 * intermediate_size, hidden_size", bias="mlp_bias", group="feed_forward"),
        Row("mlp_Wo", LAYER + ".mlp.Wo", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row("norm", "model.final_norm", "hidden_size", bias="norm_bias"),
        Row("mlm_dense", "lm_head.dense", "hidden_size, hidden_size", bias="classifier_bias", heads="ForCausalLM"),
        Row("lm_head_norm", "lm_head.norm", "hidden_size", bias="norm_bias", heads="ForCausalLM"),
        Row("decoder", "decoder", "vocab_size", when="decoder_bias", heads="ForCausalLM", leaf="bias"),
        Row("decoder", "decoder", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row(
            "dense",
            "head.dense",
            "hidden_size, hidden_size",
            bias="classifier_bias",
            heads="ForSequenceClassification",
            group="head",
        ),
        Row("head_norm", "head.norm", "hidden_size", bias="norm_bias", heads="ForSequenceClassification"),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="classifier_bias",
            heads="ForSequenceClassification",
        ),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "classifier_bias": False,
        "decoder_bias": True,
        "hidden_size": 768,
        "intermediate_size": 1152,
        "mlp_bias": False,
        "norm_bias": False,
        "num_attention_heads": 12,
        "num_hidden_layers": 22,
        "tie_word_embeddings": True,
        "vocab_size": 50368,
    },
)
