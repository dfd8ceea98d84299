"""Model type parakeet_tdt: encoder_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="parakeet_tdt",
    types={"parakeet_tdt": {}},
    rows=(
        Include("encoder_config", "encoder.", tower="encoder", head="ParakeetEncoder", default_type="parakeet_encoder"),
        Row("embed_tokens", "decoder.embedding", "vocab_size, decoder_hidden_size", tower="decoder"),
        Row("encoder_projector", "encoder_projector", "decoder_hidden_size, encoder_config.hidden_size", bias="True"),
        Row("head", "joint.head", "vocab_size + len(durations), decoder_hidden_size", bias="True"),
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
            tower="decoder",
            leaf="",
        ),
        Row(
            "weight_hh_l1",
            "decoder.lstm.weight_hh_l1",
            "4 * decoder_hidden_size, decoder_hidden_size",
            tower="decoder",
            leaf="",
        ),
        Row("bias_ih_l1", "decoder.lstm.bias_ih_l1", "4 * decoder_hidden_size", tower="decoder", leaf=""),
        Row("bias_hh_l1", "decoder.lstm.bias_hh_l1", "4 * decoder_hidden_size", tower="decoder", leaf=""),
        Row(
            "decoder_projector",
            "decoder.decoder_projector",
            "decoder_hidden_size, decoder_hidden_size",
            bias="True",
            tower="decoder",
        ),
    ),
    defaults={
        "decoder_hidden_size": 640,
        "durations": [0, 1, 2, 3, 4],
        "encoder_config": {"hidden_size": 1024},
        "vocab_size": 8193,
    },
    head="ForTDT",
)
