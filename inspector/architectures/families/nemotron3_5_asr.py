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
            without="linear",
        ),
        Row("embedding", "decoder.embedding", "", tower="decoder"),
        Row("linear", "encoder.subsampling.linear", "", tower="encoder"),
        Row("encoder_projector", "encoder_projector", ""),
        Row("head", "joint.head", ""),
        Row("linear_1", "prompt_projector.linear_1", ""),
        Row("linear_2", "prompt_projector.linear_2", ""),
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
    head="ForRNNT",
)
