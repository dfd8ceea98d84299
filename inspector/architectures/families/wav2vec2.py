"""Model type wav2vec2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "wav2vec2.encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="wav2vec2",
    types={"wav2vec2": {}},
    rows=(
        Row("masked_spec_embed", "wav2vec2.masked_spec_embed", "hidden_size", leaf=""),
        Row("conv", "wav2vec2.encoder.pos_conv_embed.conv", "hidden_size", leaf="bias", group="embedding"),
        Row(
            "original0",
            "wav2vec2.encoder.pos_conv_embed.conv.parametrizations.weight.original0",
            "1, 1, num_conv_pos_embeddings",
            leaf="",
            group="embedding",
        ),
        Row(
            "original1",
            "wav2vec2.encoder.pos_conv_embed.conv.parametrizations.weight.original1",
            "hidden_size, hidden_size // num_conv_pos_embedding_groups, num_conv_pos_embeddings",
            leaf="",
            group="embedding",
        ),
        Row("q_proj", LAYER + ".attention.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".attention.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".attention.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".attention.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("layer_norm", LAYER + ".layer_norm", "hidden_size", bias="True"),
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
            "conv",
            "wav2vec2.adapter.layers.{layer<num_adapter_layers}.conv",
            "2 * output_hidden_size, output_hidden_size, adapter_kernel_size",
            bias="True",
            when="add_adapter",
        ),
        Row(
            "conv", "wav2vec2.feature_extractor.conv_layers.0.conv", "conv_dim[0], 1, conv_kernel[0]", bias="conv_bias"
        ),
        Row(
            "conv",
            "wav2vec2.feature_extractor.conv_layers.1.conv",
            "conv_dim[0], conv_dim[0], conv_kernel[1]",
            bias="conv_bias",
        ),
        Row(
            "conv",
            "wav2vec2.feature_extractor.conv_layers.2.conv",
            "conv_dim[0], conv_dim[0], conv_kernel[1]",
            bias="conv_bias",
        ),
        Row(
            "conv",
            "wav2vec2.feature_extractor.conv_layers.3.conv",
            "conv_dim[0], conv_dim[0], conv_kernel[1]",
            bias="conv_bias",
        ),
        Row(
            "conv",
            "wav2vec2.feature_extractor.conv_layers.4.conv",
            "conv_dim[0], conv_dim[0], conv_kernel[1]",
            bias="conv_bias",
        ),
        Row(
            "conv",
            "wav2vec2.feature_extractor.conv_layers.5.conv",
            "conv_dim[0], conv_dim[0], conv_kernel[-1]",
            bias="conv_bias",
        ),
        Row(
            "conv",
            "wav2vec2.feature_extractor.conv_layers.6.conv",
            "conv_dim[0], conv_dim[0], conv_kernel[-1]",
            bias="conv_bias",
        ),
        Row("layer_norm", "wav2vec2.feature_extractor.conv_layers.0.layer_norm", "conv_dim[0]", bias="True"),
        Row(
            "layer_norm",
            "wav2vec2.feature_extractor.conv_layers.1.layer_norm",
            "conv_dim[0]",
            bias="True",
            when="feat_extract_norm == 'layer'",
        ),
        Row(
            "layer_norm",
            "wav2vec2.feature_extractor.conv_layers.2.layer_norm",
            "conv_dim[0]",
            bias="True",
            when="feat_extract_norm == 'layer'",
        ),
        Row(
            "layer_norm",
            "wav2vec2.feature_extractor.conv_layers.3.layer_norm",
            "conv_dim[0]",
            bias="True",
            when="feat_extract_norm == 'layer'",
        ),
        Row(
            "layer_norm",
            "wav2vec2.feature_extractor.conv_layers.4.layer_norm",
            "conv_dim[0]",
            bias="True",
            when="feat_extract_norm == 'layer'",
        ),
        Row(
            "layer_norm",
            "wav2vec2.feature_extractor.conv_layers.5.layer_norm",
            "conv_dim[0]",
            bias="True",
            when="feat_extract_norm == 'layer'",
        ),
        Row(
            "layer_norm",
            "wav2vec2.feature_extractor.conv_layers.6.layer_norm",
            "conv_dim[0]",
            bias="True",
            when="feat_extract_norm == 'layer'",
        ),
        Row("layer_norm", "wav2vec2.feature_projection.layer_norm", "conv_dim[0]", bias="True"),
        Row("projection", "wav2vec2.feature_projection.projection", "hidden_size, conv_dim[0]", bias="True"),
        Row("encoder_layer_norm", "wav2vec2.encoder.layer_norm", "hidden_size", bias="True"),
        Row(
            "proj",
            "wav2vec2.adapter.proj",
            "output_hidden_size, hidden_size",
            bias="True",
            when="add_adapter",
            group="adapter",
        ),
        Row(
            "proj_layer_norm", "wav2vec2.adapter.proj_layer_norm", "output_hidden_size", bias="True", when="add_adapter"
        ),
        Row(
            "codevectors",
            "quantizer.codevectors",
            "1, num_labels * num_codevectors_per_group, num_conv_pos_embeddings",
            heads="ForPreTraining",
            leaf="",
            group="convolution",
        ),
        Row(
            "weight_proj",
            "quantizer.weight_proj",
            "num_labels * num_codevectors_per_group, xvector_output_dim",
            bias="True",
            heads="ForPreTraining",
        ),
        Row("project_hid", "project_hid", "classifier_proj_size, hidden_size", bias="True", heads="ForPreTraining"),
        Row(
            "project_q", "project_q", "classifier_proj_size, classifier_proj_size", bias="True", heads="ForPreTraining"
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
    prefix="wav2vec2.",
    defaults={
        "adapter_kernel_size": 3,
        "add_adapter": False,
        "classifier_proj_size": 256,
        "conv_bias": False,
        "conv_dim": [512, 512, 512, 512, 512, 512, 512],
        "conv_kernel": [10, 3, 3, 3, 3, 2, 2],
        "feat_extract_norm": "group",
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_adapter_layers": 3,
        "num_codevectors_per_group": 320,
        "num_conv_pos_embedding_groups": 16,
        "num_conv_pos_embeddings": 128,
        "num_hidden_layers": 12,
        "output_hidden_size": 768,
        "vocab_size": 32,
        "xvector_output_dim": 512,
    },
    head="ForPreTraining",
)
