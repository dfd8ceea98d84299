"""Model type encoder-decoder: decoder, encoder by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="encoder-decoder",
    types={"encoder-decoder": {}},
    rows=(
        Include("decoder", "decoder.", tower="decoder", head="LMHeadModel", default_type="bert"),
        Include("encoder", "encoder.", tower="encoder", head="Model", default_type="bert"),
        Row("enc_to_dec_proj", "enc_to_dec_proj", ""),
    ),
    names_only=True,
    head="Model",
)
