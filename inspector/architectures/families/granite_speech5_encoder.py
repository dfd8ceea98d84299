"""Model type granite_speech5_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="granite_speech5_encoder",
    types={"granite_speech5_encoder": {}},
    rows=(
        Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "num_attention_heads * head_dim, hidden_size"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "num_attention_heads * head_dim, hidden_size"),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="True"),
        Row(
            "linear1",
            LAYER + ".feed_forward1.linear1",
            "intermediate_size, hidden_size",
            bias="attention_bias",
            group="feed_forward",
        ),
        Row(
            "linear2",
            LAYER + ".feed_forward1.linear2",
            "hidden_size, intermediate_size",
            bias="attention_bias",
            group="feed_forward",
        ),
        Row(
            "rel_pos_emb",
            LAYER + ".self_attn.rel_pos_emb",
            "2 * max_position_embeddings + 1, head_dim",
            group="embedding",
        ),
        Row(
            "pointwise_lin1",
            LAYER + ".conv.pointwise_lin1",
            "2 * conv_expansion_factor * hidden_size, hidden_size",
            bias="True",
            group="convolution",
        ),
        Row(
            "depthwise_conv", LAYER + ".conv.depthwise_conv", "conv_expansion_factor * hidden_size, 1, conv_kernel_size"
        ),
        Row("norm", LAYER + ".conv.norm", "conv_expansion_factor * hidden_size", bias="True"),
        Row(
            "pointwise_lin2",
            LAYER + ".conv.pointwise_lin2",
            "hidden_size, conv_expansion_factor * hidden_size",
            bias="True",
            group="convolution",
        ),
        Row(
            "feed_forward2_linear1",
            LAYER + ".feed_forward2.linear1",
            "intermediate_size, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "feed_forward2_linear2",
            LAYER + ".feed_forward2.linear2",
            "hidden_size, intermediate_size",
            bias="attention_bias",
        ),
        Row("norm_feed_forward1", LAYER + ".norm_feed_forward1", "hidden_size", bias="True"),
        Row("norm_self_att", LAYER + ".norm_self_att", "hidden_size", bias="True"),
        Row("norm_conv", LAYER + ".norm_conv", "hidden_size", bias="True"),
        Row("norm_feed_forward2", LAYER + ".norm_feed_forward2", "hidden_size", bias="True"),
        Row("norm_out", LAYER + ".norm_out", "hidden_size", bias="True"),
        Row("input_linear", "input_linear", "hidden_size, 4 * num_mel_bins", bias="True"),
        Row("out", "out", "vocab_size, hidden_size", bias="True"),
        Row("out_mid", "out_mid", "hidden_size, vocab_size", bias="True"),
        Row(
            "running_mean",
            LAYER + ".conv.norm.running_mean",
            "conv_expansion_factor * hidden_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            LAYER + ".conv.norm.running_var",
            "conv_expansion_factor * hidden_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row("num_batches_tracked", LAYER + ".conv.norm.num_batches_tracked", "", leaf="", buffer=True, persistent=True),
    ),
    classes={"GraniteSpeech5Encoder": "GraniteSpeech5Encoder"},
    defaults={
        "attention_bias": True,
        "conv_expansion_factor": 2,
        "conv_kernel_size": 7,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "max_position_embeddings": 512,
        "num_attention_heads": 8,
        "num_hidden_layers": 16,
        "num_mel_bins": 80,
        "vocab_size": 16384,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    head="GraniteSpeech5Encoder",
)
