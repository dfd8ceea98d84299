"""Model type nemotron3_5_asr: encoder_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="nemotron3_5_asr",
    types={"nemotron3_5_asr": {}},
    rows=(
        Include(
            "encoder_config",
            "encoder.",
            tower="encoder",
            head="NemotronAsrStreamingEncoder",
            default_type="nemotron_asr_streaming_encoder",
        ),
        Row("embed_tokens", "decoder.embedding", "vocab_size, decoder_hidden_size", tower="decoder"),
        Row("encoder_projector", "encoder_projector", "decoder_hidden_size, encoder_config.hidden_size", bias="True"),
        Row("head", "joint.head", "vocab_size, decoder_hidden_size", bias="True"),
        Row(
            "linear_1",
            "prompt_projector.linear_1",
            "prompt_intermediate_size, encoder_config.hidden_size + num_prompts",
            bias="True",
        ),
        Row(
            "linear_2", "prompt_projector.linear_2", "encoder_config.hidden_size, prompt_intermediate_size", bias="True"
        ),
        Row(
            "weight_ih_l0",
            "decoder.lstm.weight_ih_l0",
            "4 * decoder_hidden_size, decoder_hidden_size",
            tower="decoder",
            leaf="",
        ),
        Row(
            "weight_hh_l0",
            "decoder.lstm.weight_hh_l0",
            "4 * decoder_hidden_size, decoder_hidden_size",
            tower="decoder",
            leaf="",
        ),
        Row("bias_ih_l0", "decoder.lstm.bias_ih_l0", "4 * decoder_hidden_size", tower="decoder", leaf=""),
        Row("bias_hh_l0", "decoder.lstm.bias_hh_l0", "4 * decoder_hidden_size", tower="decoder", leaf=""),
        Row(
            "weight_ih_l1",
            "decoder.lstm.weight_ih_l1",
            "4 * decoder_hidden_size, decoder_hidden_size",
            when="num_decoder_layers > 1",
            tower="decoder",
            leaf="",
        ),
        Row(
            "weight_hh_l1",
            "decoder.lstm.weight_hh_l1",
            "4 * decoder_hidden_size, decoder_hidden_size",
            when="num_decoder_layers > 1",
            tower="decoder",
            leaf="",
        ),
        Row(
            "bias_ih_l1",
            "decoder.lstm.bias_ih_l1",
            "4 * decoder_hidden_size",
            when="num_decoder_layers > 1",
            tower="decoder",
            leaf="",
        ),
        Row(
            "bias_hh_l1",
            "decoder.lstm.bias_hh_l1",
            "4 * decoder_hidden_size",
            when="num_decoder_layers > 1",
            tower="decoder",
            leaf="",
        ),
        Row(
            "decoder_projector",
            "decoder.decoder_projector",
            "decoder_hidden_size, decoder_hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "weight_ih_l2",
            "decoder.lstm.weight_ih_l2",
            "encoder_config.num_attention_heads * decoder_hidden_size, decoder_hidden_size",
            when="num_decoder_layers > 2",
            tower="decoder",
            leaf="",
        ),
        Row(
            "weight_hh_l2",
            "decoder.lstm.weight_hh_l2",
            "encoder_config.num_attention_heads * decoder_hidden_size, decoder_hidden_size",
            when="num_decoder_layers > 2",
            tower="decoder",
            leaf="",
        ),
        Row(
            "bias_ih_l2",
            "decoder.lstm.bias_ih_l2",
            "encoder_config.num_attention_heads * decoder_hidden_size",
            when="num_decoder_layers > 2",
            tower="decoder",
            leaf="",
        ),
        Row(
            "bias_hh_l2",
            "decoder.lstm.bias_hh_l2",
            "encoder_config.num_attention_heads * decoder_hidden_size",
            when="num_decoder_layers > 2",
            tower="decoder",
            leaf="",
        ),
    ),
    defaults={
        "decoder_hidden_size": 640,
        "encoder_config": {"hidden_size": 1024, "num_attention_heads": 8},
        "num_decoder_layers": 2,
        "num_prompts": 128,
        "prompt_intermediate_size": 2048,
        "vocab_size": 13088,
    },
    head="ForRNNT",
)
