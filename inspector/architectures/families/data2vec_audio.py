"""Model type data2vec-audio.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "data2vec_audio.encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="data2vec-audio",
    types={"data2vec-audio": {}},
    rows=(
        Row("masked_spec_embed", "data2vec_audio.masked_spec_embed", "hidden_size", leaf=""),
        Row(
            "conv",
            "data2vec_audio.feature_extractor.conv_layers.{layer<num_feat_extract_layers}.conv",
            "conv_dim[layer], conv_dim[layer - 1] if layer > 0 else 1, conv_kernel[layer]",
            bias="conv_bias",
        ),
        Row(
            "layer_norm",
            "data2vec_audio.feature_extractor.conv_layers.{layer<num_feat_extract_layers}.layer_norm",
            "conv_dim[layer]",
            bias="True",
        ),
        Row(
            "pos_conv_embed_conv",
            "data2vec_audio.encoder.pos_conv_embed.layers.{layer<num_conv_pos_embeddings}.conv",
            "hidden_size, hidden_size // num_conv_pos_embedding_groups, conv_pos_kernel_size",
            bias="True",
        ),
        Row("q_proj", LAYER + ".attention.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".attention.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".attention.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".attention.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("encoder_layer_norm", LAYER + ".layer_norm", "hidden_size", bias="True"),
        Row(
            "intermediate_dense",
            LAYER + ".feed_forward.intermediate_dense",
            "intermediate_size, hidden_size",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "output_dense",
            LAYER + ".feed_forward.output_dense",
            "hidden_size, intermediate_size",
            bias="True",
            group="feed_forward",
        ),
        Row("norm", LAYER + ".final_layer_norm", "hidden_size", bias="True"),
        Row(
            "adapter_conv",
            "data2vec_audio.adapter.layers.{layer<num_adapter_layers}.conv",
            "2 * output_hidden_size, output_hidden_size, adapter_kernel_size",
            bias="True",
            when="add_adapter",
            group="convolution",
        ),
        Row("layer_norm", "data2vec_audio.feature_projection.layer_norm", "conv_dim[-1]", bias="True"),
        Row("projection", "data2vec_audio.feature_projection.projection", "hidden_size, conv_dim[-1]", bias="True"),
        Row("encoder_layer_norm", "data2vec_audio.encoder.layer_norm", "hidden_size", bias="True"),
        Row(
            "proj",
            "data2vec_audio.adapter.proj",
            "output_hidden_size, hidden_size",
            bias="True",
            when="add_adapter",
            group="adapter",
        ),
        Row(
            "proj_layer_norm",
            "data2vec_audio.adapter.proj_layer_norm",
            "output_hidden_size",
            bias="True",
            when="add_adapter",
        ),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", bias="True", heads="ForCTC"),
        Row(
            "classifier",
            "classifier",
            "num_labels, classifier_proj_size",
            bias="True",
            heads="ForSequenceClassification",
        ),
        Row(
            "projector",
            "projector",
            "classifier_proj_size, hidden_size",
            bias="True",
            heads="ForSequenceClassification",
            tower="projector",
        ),
    ),
    prefix="data2vec_audio.",
    defaults={
        "adapter_kernel_size": 3,
        "add_adapter": False,
        "classifier_proj_size": 256,
        "conv_bias": False,
        "conv_dim": [512, 512, 512, 512, 512, 512, 512],
        "conv_kernel": [10, 3, 3, 3, 3, 2, 2],
        "conv_pos_kernel_size": 19,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_adapter_layers": 3,
        "num_conv_pos_embedding_groups": 16,
        "num_conv_pos_embeddings": 5,
        "num_hidden_layers": 12,
        "output_hidden_size": 768,
        "vocab_size": 32,
    },
    derived={"num_feat_extract_layers": "len(conv_dim)"},
    head="ForCTC",
)
