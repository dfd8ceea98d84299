"""Model type glm_image_vqmodel.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

FAMILY = Family(
    name="glm_image_vqmodel",
    types={"glm_image_vqmodel": {}},
    rows=(
        Row("embed_tokens", "quantize.embedding", "num_embeddings, embed_dim"),
        Row("quant_conv", "quant_conv", "embed_dim, latent_channels, 1, 1", bias="True"),
        Row("post_quant_conv", "post_quant_conv", "latent_channels, embed_dim, 1, 1", bias="True"),
    ),
    classes={"GlmImageVQVAE": "GlmImageVQVAE"},
    defaults={"embed_dim": 2048, "latent_channels": 1536, "num_embeddings": 16384},
    head="GlmImageVQVAE",
)
