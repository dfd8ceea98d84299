"""Model type segformer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_BLOCK = "segformer.encoder.block.{layer<num_encoder_blocks}"
ENCODER_BLOCK_ = "segformer.encoder.block.{layer<num_encoder_blocks}.{at<depths[layer]}"

FAMILY = Family(
    name="segformer",
    types={"segformer": {}},
    rows=(
        Row(
            "q_proj",
            ENCODER_BLOCK_ + ".attention.self.query",
            "num_attention_heads[layer] * (hidden_sizes[layer] // num_attention_heads[layer]), hidden_sizes[layer]",
            bias="True",
        ),
        Row(
            "k_proj",
            ENCODER_BLOCK_ + ".attention.self.key",
            "num_attention_heads[layer] * (hidden_sizes[layer] // num_attention_heads[layer]), hidden_sizes[layer]",
            bias="True",
        ),
        Row(
            "v_proj",
            ENCODER_BLOCK_ + ".attention.self.value",
            "num_attention_heads[layer] * (hidden_sizes[layer] // num_attention_heads[layer]), hidden_sizes[layer]",
            bias="True",
        ),
        Row(
            "o_proj",
            ENCODER_BLOCK_ + ".attention.output.dense",
            "hidden_sizes[layer], num_attention_heads[layer] * (hidden_sizes[layer] // num_attention_heads[layer])",
            bias="True",
        ),
        Row(
            "layer_norm",
            ENCODER_BLOCK_ + ".attention.self.layer_norm",
            "hidden_sizes[layer]",
            bias="True",
            when="not (layer > 2)",
        ),
        Row(
            "sr",
            ENCODER_BLOCK_ + ".attention.self.sr",
            "hidden_sizes[layer], hidden_sizes[layer], sr_ratios[layer], sr_ratios[layer]",
            bias="True",
            when="not (layer > 2)",
            group="attention",
        ),
        Row("layer_norm_2", ENCODER_BLOCK_ + ".layer_norm_2", "hidden_sizes[layer]", bias="True"),
        Row("layer_norm_1", ENCODER_BLOCK_ + ".layer_norm_1", "hidden_sizes[layer]", bias="True"),
        Row(
            "dwconv",
            ENCODER_BLOCK_ + ".mlp.dwconv.dwconv",
            "hidden_sizes[layer] * mlp_ratios[layer], 1, 3, 3",
            bias="True",
        ),
        Row(
            "dense1",
            ENCODER_BLOCK_ + ".mlp.dense1",
            "hidden_sizes[layer] * mlp_ratios[layer], hidden_sizes[layer]",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "dense2",
            ENCODER_BLOCK_ + ".mlp.dense2",
            "hidden_sizes[layer], hidden_sizes[layer] * mlp_ratios[layer]",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "layer_norm", "segformer.encoder.layer_norm.{layer<num_encoder_blocks}", "hidden_sizes[layer]", bias="True"
        ),
        Row(
            "patch_embeddings_layer_norm",
            "segformer.encoder.patch_embeddings.{layer<num_encoder_blocks}.layer_norm",
            "hidden_sizes[layer]",
            bias="True",
        ),
        Row(
            "proj",
            "segformer.encoder.patch_embeddings.{layer<num_encoder_blocks}.proj",
            "hidden_sizes[layer], hidden_sizes[layer - 1] if layer > 0 else num_channels, patch_sizes[layer], patch_sizes[layer]",
            bias="True",
            group="embedding",
        ),
        Row(
            "linear_c_proj",
            "decode_head.linear_c.{layer<num_encoder_blocks}.proj",
            "decoder_hidden_size, hidden_sizes[layer]",
            bias="True",
            heads="ForSemanticSegmentation",
        ),
        Row("classifier", "classifier", "num_labels, hidden_sizes[-1]", bias="True", heads="ForImageClassification"),
        Row(
            "batch_norm", "decode_head.batch_norm", "decoder_hidden_size", bias="True", heads="ForSemanticSegmentation"
        ),
        Row(
            "decode_head_classifier",
            "decode_head.classifier",
            "num_labels, decoder_hidden_size, 1, 1",
            bias="True",
            heads="ForSemanticSegmentation",
        ),
        Row(
            "linear_fuse",
            "decode_head.linear_fuse",
            "decoder_hidden_size, num_encoder_blocks * decoder_hidden_size, 1, 1",
            heads="ForSemanticSegmentation",
            group="convolution",
        ),
        Row(
            "num_batches_tracked",
            "decode_head.batch_norm.num_batches_tracked",
            "",
            heads="ForSemanticSegmentation",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_mean",
            "decode_head.batch_norm.running_mean",
            "decoder_hidden_size",
            heads="ForSemanticSegmentation",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            "decode_head.batch_norm.running_var",
            "decoder_hidden_size",
            heads="ForSemanticSegmentation",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="segformer.",
    defaults={
        "decoder_hidden_size": 256,
        "depths": [2, 2, 2, 2],
        "hidden_sizes": [32, 64, 160, 256],
        "mlp_ratios": [4, 4, 4, 4],
        "num_attention_heads": [1, 2, 5, 8],
        "num_channels": 3,
        "num_encoder_blocks": 4,
        "patch_sizes": [7, 3, 3, 3],
        "sr_ratios": [8, 4, 2, 1],
    },
    fields={"num_hidden_layers": "num_encoder_blocks"},
    head="Model",
)
