"""Model type parakeet_tdt: encoder_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="parakeet_tdt",
    types={"parakeet_tdt": {}},
    rows=(
        Include(
            "encoder_config",
            "encoder.",
            tower="encoder",
            head="ParakeetEncoder",
            default_type="parakeet_encoder",
            without="linear subsampling",
        ),
        Row("embedding", "decoder.embedding", "", tower="decoder"),
        Row("subsampling", "encoder.subsampling.layers.{layer}", "", tower="encoder", group="convolution"),
        Row("linear", "encoder.subsampling.linear", "", tower="encoder"),
        Row("encoder_projector", "encoder_projector", ""),
        Row("head", "joint.head", ""),
        Row("weight_ih_l0", "decoder.lstm.weight_ih_l0", "", tower="decoder", leaf=""),
        Row("weight_hh_l0", "decoder.lstm.weight_hh_l0", "", tower="decoder", leaf=""),
        Row("bias_ih_l0", "decoder.lstm.bias_ih_l0", "", tower="decoder", leaf=""),
        Row("bias_hh_l0", "decoder.lstm.bias_hh_l0", "", tower="decoder", leaf=""),
        Row("weight_ih_l1", "decoder.lstm.weight_ih_l1", "", tower="decoder", leaf=""),
        Row("weight_hh_l1", "decoder.lstm.weight_hh_l1", "", tower="decoder", leaf=""),
        Row("bias_ih_l1", "decoder.lstm.bias_ih_l1", "", tower="decoder", leaf=""),
        Row("bias_hh_l1", "decoder.lstm.bias_hh_l1", "", tower="decoder", leaf=""),
        Row("decoder_projector", "decoder.decoder_projector", "", tower="decoder"),
        Row("weight_ih_l2", "decoder.lstm.weight_ih_l2", "", tower="decoder", leaf=""),
        Row("weight_hh_l2", "decoder.lstm.weight_hh_l2", "", tower="decoder", leaf=""),
        Row("bias_ih_l2", "decoder.lstm.bias_ih_l2", "", tower="decoder", leaf=""),
        Row("bias_hh_l2", "decoder.lstm.bias_hh_l2", "", tower="decoder", leaf=""),
    ),
    names_only=True,
    head="ForTDT",
)
