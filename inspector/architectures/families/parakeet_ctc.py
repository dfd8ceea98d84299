"""Model type parakeet_ctc: encoder_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="parakeet_ctc",
    types={"parakeet_ctc": {}},
    rows=(
        Include("encoder_config", "encoder.", tower="encoder", head="ParakeetEncoder", default_type="parakeet_encoder"),
        Row("ctc_head", "ctc_head", "vocab_size, encoder_config.hidden_size, 1", bias="True", group="convolution"),
    ),
    defaults={"encoder_config": {"hidden_size": 1024}, "vocab_size": 1025},
    head="ForCTC",
)
