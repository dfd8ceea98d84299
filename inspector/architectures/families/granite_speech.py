"""Model types granite_speech, granite_speech_plus: projector_config, text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "encoder.layers.{layer<encoder_config.num_layers}"

FAMILY = Family(
    name="granite_speech",
    types={"granite_speech": {}, "granite_speech_plus": {}},
    rows=(
        Include(
            "projector_config", "projector.qformer.", tower="projector", head="Model", default_type="blip_2_qformer"
        ),
        Include("text_config", "language_model.model.", head="Model", default_type="granite"),
        Row(
            "q_proj",
            LAYER + ".attn.to_q",
            "encoder_config.num_heads * encoder_config.dim_head, encoder_config.hidden_dim",
            tower="encoder",
        ),
        Row(
            "o_proj",
            LAYER + ".attn.to_out",
            "encoder_config.hidden_dim, encoder_config.num_heads * encoder_config.dim_head",
            bias="True",
            tower="encoder",
        ),
        Row("pre_norm", LAYER + ".attn.pre_norm", "encoder_config.hidden_dim", bias="True", tower="encoder"),
        Row(
            "rel_pos_emb",
            LAYER + ".attn.rel_pos_emb",
            "2 * encoder_config.max_pos_emb + 1, encoder_config.dim_head",
            tower="encoder",
            group="embedding",
        ),
        Row(
            "to_kv",
            LAYER + ".attn.to_kv",
            "2 * encoder_config.num_heads * encoder_config.dim_head, encoder_config.hidden_dim",
            tower="encoder",
            group="attention",
        ),
        Row(
            "batch_norm",
            LAYER + ".conv.batch_norm",
            "encoder_config.conv_expansion_factor * encoder_config.hidden_dim",
            bias="True",
            tower="encoder",
        ),
        Row(
            "conv",
            LAYER + ".conv.depth_conv.conv",
            "encoder_config.conv_expansion_factor * encoder_config.hidden_dim, 1, encoder_config.conv_kernel_size",
            tower="encoder",
        ),
        Row(
            "down_conv",
            LAYER + ".conv.down_conv",
            "encoder_config.hidden_dim, encoder_config.conv_expansion_factor * encoder_config.hidden_dim, 1",
            bias="True",
            tower="encoder",
        ),
        Row("norm", LAYER + ".conv.norm", "encoder_config.hidden_dim", bias="True", tower="encoder"),
        Row(
            "up_conv",
            LAYER + ".conv.up_conv",
            "2 * encoder_config.conv_expansion_factor * encoder_config.hidden_dim, encoder_config.hidden_dim, 1",
            bias="True",
            tower="encoder",
        ),
        Row("ff1_pre_norm", LAYER + ".ff1.pre_norm", "encoder_config.hidden_dim", bias="True", tower="encoder"),
        Row(
            "ff2_down_proj",
            LAYER + ".ff2.down_proj",
            "encoder_config.hidden_dim, encoder_config.feedforward_mult * encoder_config.hidden_dim",
            bias="True",
            tower="encoder",
        ),
        Row("ff2_pre_norm", LAYER + ".ff2.pre_norm", "encoder_config.hidden_dim", bias="True", tower="encoder"),
        Row(
            "ff2_up_proj",
            LAYER + ".ff2.up_proj",
            "encoder_config.feedforward_mult * encoder_config.hidden_dim, encoder_config.hidden_dim",
            bias="True",
            tower="encoder",
        ),
        Row("post_norm", LAYER + ".post_norm", "encoder_config.hidden_dim", bias="True", tower="encoder"),
        Row(
            "up_proj",
            LAYER + ".ff1.up_proj",
            "encoder_config.feedforward_mult * encoder_config.hidden_dim, encoder_config.hidden_dim",
            bias="True",
            tower="encoder",
        ),
        Row(
            "down_proj",
            LAYER + ".ff1.down_proj",
            "encoder_config.hidden_dim, encoder_config.feedforward_mult * encoder_config.hidden_dim",
            bias="True",
            tower="encoder",
        ),
        Row(
            "linear",
            "projector.linear",
            "text_config.hidden_size, projector_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "q_proj",
            "projector.query",
            "1, window_size // downsample_rate, projector_config.hidden_size",
            tower="projector",
            leaf="",
        ),
        Row(
            "input_linear",
            "encoder.input_linear",
            "encoder_config.hidden_dim, encoder_config.input_dim",
            bias="True",
            tower="encoder",
        ),
        Row("out", "encoder.out", "encoder_config.output_dim, encoder_config.hidden_dim", bias="True", tower="encoder"),
        Row(
            "out_mid",
            "encoder.out_mid",
            "encoder_config.hidden_dim, encoder_config.output_dim",
            bias="True",
            tower="encoder",
        ),
        Row(
            "lm_head",
            "language_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Row(
            "num_batches_tracked",
            LAYER + ".conv.batch_norm.num_batches_tracked",
            "",
            tower="encoder",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_mean",
            LAYER + ".conv.batch_norm.running_mean",
            "encoder_config.conv_expansion_factor * encoder_config.hidden_dim",
            tower="encoder",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            LAYER + ".conv.batch_norm.running_var",
            "encoder_config.conv_expansion_factor * encoder_config.hidden_dim",
            tower="encoder",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    defaults={
        "downsample_rate": 5,
        "encoder_config": {
            "conv_expansion_factor": 2,
            "conv_kernel_size": 15,
            "dim_head": 128,
            "feedforward_mult": 4,
            "hidden_dim": 1024,
            "input_dim": 160,
            "max_pos_emb": 512,
            "num_heads": 8,
            "num_layers": 10,
            "output_dim": 42,
        },
        "projector_config": {"hidden_size": 768},
        "text_config": {"hidden_size": 4096, "vocab_size": 32000},
        "tie_word_embeddings": True,
        "window_size": 15,
    },
    head="ForConditionalGeneration",
)
