"""Model type videomae.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

DECODER_DECODER_LAYERS = "decoder.decoder_layers.{layer<decoder_num_hidden_layers}"
VIDEOMAE_ENCODER = "videomae.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="videomae",
    types={"videomae": {}},
    rows=(
        Row(
            "embed_patches",
            "videomae.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, tubelet_size, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "input_layernorm",
            DECODER_DECODER_LAYERS + ".layernorm_before",
            "decoder_hidden_size",
            bias="True",
            heads="ForPreTraining",
            tower="decoder",
        ),
        Row(
            "q_proj",
            DECODER_DECODER_LAYERS + ".attention.attention.query",
            "decoder_hidden_size, decoder_hidden_size",
            heads="ForPreTraining",
            tower="decoder",
        ),
        Row(
            "k_proj",
            DECODER_DECODER_LAYERS + ".attention.attention.key",
            "decoder_hidden_size, decoder_hidden_size",
            heads="ForPreTraining",
            tower="decoder",
        ),
        Row(
            "v_proj",
            DECODER_DECODER_LAYERS + ".attention.attention.value",
            "decoder_hidden_size, decoder_hidden_size",
            heads="ForPreTraining",
            tower="decoder",
        ),
        Row(
            "o_proj",
            DECODER_DECODER_LAYERS + ".attention.output.dense",
            "decoder_hidden_size, decoder_hidden_size",
            bias="True",
            heads="ForPreTraining",
            tower="decoder",
        ),
        Row(
            "q_bias",
            DECODER_DECODER_LAYERS + ".attention.attention.q_bias",
            "decoder_hidden_size",
            heads="ForPreTraining",
            tower="decoder",
            leaf="",
            group="attention",
        ),
        Row(
            "v_bias",
            DECODER_DECODER_LAYERS + ".attention.attention.v_bias",
            "decoder_hidden_size",
            heads="ForPreTraining",
            tower="decoder",
            leaf="",
            group="attention",
        ),
        Row(
            "post_attention_layernorm",
            DECODER_DECODER_LAYERS + ".layernorm_after",
            "decoder_hidden_size",
            bias="True",
            heads="ForPreTraining",
            tower="decoder",
        ),
        Row(
            "up_proj",
            DECODER_DECODER_LAYERS + ".intermediate.dense",
            "decoder_intermediate_size, decoder_hidden_size",
            bias="True",
            heads="ForPreTraining",
            tower="decoder",
        ),
        Row(
            "down_proj",
            DECODER_DECODER_LAYERS + ".output.dense",
            "decoder_hidden_size, decoder_intermediate_size",
            bias="True",
            heads="ForPreTraining",
            tower="decoder",
        ),
        Row("input_layernorm", VIDEOMAE_ENCODER + ".layernorm_before", "hidden_size", bias="True", tower="encoder"),
        Row("q_proj", VIDEOMAE_ENCODER + ".attention.attention.query", "hidden_size, hidden_size", tower="encoder"),
        Row("k_proj", VIDEOMAE_ENCODER + ".attention.attention.key", "hidden_size, hidden_size", tower="encoder"),
        Row("v_proj", VIDEOMAE_ENCODER + ".attention.attention.value", "hidden_size, hidden_size", tower="encoder"),
        Row(
            "o_proj",
            VIDEOMAE_ENCODER + ".attention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "q_bias",
            VIDEOMAE_ENCODER + ".attention.attention.q_bias",
            "hidden_size",
            when="norm_pix_loss",
            tower="encoder",
            leaf="",
            group="attention",
        ),
        Row(
            "v_bias",
            VIDEOMAE_ENCODER + ".attention.attention.v_bias",
            "hidden_size",
            when="norm_pix_loss",
            tower="encoder",
            leaf="",
            group="attention",
        ),
        Row(
            "post_attention_layernorm",
            VIDEOMAE_ENCODER + ".layernorm_after",
            "hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "up_proj",
            VIDEOMAE_ENCODER + ".intermediate.dense",
            "intermediate_size, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "down_proj",
            VIDEOMAE_ENCODER + ".output.dense",
            "hidden_size, intermediate_size",
            bias="True",
            tower="encoder",
        ),
        Row("layernorm", "videomae.layernorm", "hidden_size", bias="True", when="not norm_pix_loss"),
        Row(
            "head",
            "decoder.head",
            "decoder_intermediate_size, decoder_hidden_size",
            bias="True",
            heads="ForPreTraining",
            tower="decoder",
        ),
        Row("norm", "decoder.norm", "decoder_hidden_size", bias="True", heads="ForPreTraining", tower="decoder"),
        Row("encoder_to_decoder", "encoder_to_decoder", "decoder_hidden_size, hidden_size", heads="ForPreTraining"),
        Row(
            "mask_token", "mask_token", "1, 1, decoder_hidden_size", heads="ForPreTraining", leaf="", group="embedding"
        ),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForVideoClassification"),
        Row("fc_norm", "fc_norm", "hidden_size", bias="True", heads="ForVideoClassification"),
    ),
    prefix="videomae.",
    defaults={
        "decoder_hidden_size": 384,
        "decoder_intermediate_size": 1536,
        "decoder_num_hidden_layers": 4,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "norm_pix_loss": True,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "patch_size": 16,
        "tubelet_size": 2,
    },
    head="ForPreTraining",
)
