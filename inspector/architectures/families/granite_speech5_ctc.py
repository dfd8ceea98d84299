"""Model type granite_speech5_ctc: encoder_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="granite_speech5_ctc",
    types={"granite_speech5_ctc": {}},
    rows=(
        Include(
            "encoder_config",
            "encoder.",
            tower="encoder",
            head="GraniteSpeech5Encoder",
            default_type="granite_speech5_encoder",
        ),
        Row("ctc_head", "ctc_head", "vocab_size, encoder_config.hidden_size", bias="True", tied="tie_word_embeddings"),
    ),
    defaults={"encoder_config": {"hidden_size": 1024}, "tie_word_embeddings": True, "vocab_size": 16384},
    head="ForCTC",
)
