"""Model type wav2vec2.

The convolutions that read the sound are normed each in the larger models, and only the first in the smaller.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "wav2vec2.encoder.layers.{layer<num_hidden_layers}"
ADAPTED = "adapter_attn_dim is not None"

FAMILY = Family(
    name="wav2vec2",
    types={"wav2vec2": {}},
    rows=(
        Row(
            "masked_spec_embed",
            "wav2vec2.masked_spec_embed",
            "hidden_size",
            when="mask_time_prob > 0 or mask_feature_prob > 0",
            leaf="",
        ),
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
        Row(
            "conv",
            "wav2vec2.feature_extractor.conv_layers.{layer<num_feat_extract_layers}.conv",
            "conv_dim[layer], conv_dim[layer - 1] if layer > 0 else 1, conv_kernel[layer]",
            bias="conv_bias",
        ),
        Row(
            "layer_norm",
            "wav2vec2.feature_extractor.conv_layers.{layer<num_feat_extract_layers}.layer_norm",
            "conv_dim[layer]",
            bias="True",
            when="feat_extract_norm == 'layer' or layer == 0",
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
        Row("adapter_norm", LAYER + ".adapter_layer.norm", "hidden_size", bias="True", when=ADAPTED),
        Row(
            "adapter_linear_1",
            LAYER + ".adapter_layer.linear_1",
            "adapter_attn_dim, hidden_size",
            bias="True",
            when=ADAPTED,
            group="feed_forward",
        ),
        Row(
            "adapter_linear_2",
            LAYER + ".adapter_layer.linear_2",
            "hidden_size, adapter_attn_dim",
            bias="True",
            when=ADAPTED,
            group="feed_forward",
        ),
        Row("layer_norm", "wav2vec2.feature_projection.layer_norm", "conv_dim[-1]", bias="True"),
        Row("projection", "wav2vec2.feature_projection.projection", "hidden_size, conv_dim[-1]", bias="True"),
        Row("encoder_layer_norm", "wav2vec2.encoder.layer_norm", "hidden_size", bias="True"),
        Row(
            "codevectors",
            "quantizer.codevectors",
            "1, num_codevector_groups * num_codevectors_per_group, codevector_dim // num_codevector_groups",
            heads="ForPreTraining",
            leaf="",
            group="convolution",
        ),
        Row(
            "weight_proj",
            "quantizer.weight_proj",
            "num_codevector_groups * num_codevectors_per_group, conv_dim[-1]",
            bias="True",
            heads="ForPreTraining",
        ),
        Row("project_hid", "project_hid", "proj_codevector_dim, hidden_size", bias="True", heads="ForPreTraining"),
        Row("project_q", "project_q", "proj_codevector_dim, codevector_dim", bias="True", heads="ForPreTraining"),
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
        "adapter_attn_dim": None,
        "classifier_proj_size": 256,
        "codevector_dim": 256,
        "conv_bias": False,
        "conv_dim": [512, 512, 512, 512, 512, 512, 512],
        "conv_kernel": [10, 3, 3, 3, 3, 2, 2],
        "feat_extract_norm": "group",
        "hidden_size": 768,
        "intermediate_size": 3072,
        "mask_feature_prob": 0.0,
        "mask_time_prob": 0.05,
        "num_codevector_groups": 2,
        "num_codevectors_per_group": 320,
        "num_conv_pos_embedding_groups": 16,
        "num_conv_pos_embeddings": 128,
        "num_feat_extract_layers": 7,
        "num_hidden_layers": 12,
        "proj_codevector_dim": 256,
        "vocab_size": 32,
    },
    head="ForPreTraining",
)
