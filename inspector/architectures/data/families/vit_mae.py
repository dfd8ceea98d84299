"""ViT-MAE: a vision transformer whose decoder paints the patches that were masked."""

from __future__ import annotations

from inspector.architectures.data.families.shared import vit_layers
from inspector.architectures.table import Family, Row

PATCHES = "(image_size // patch_size) ** 2"
DECODER = "ForPreTraining"


def decoder(role: str, name: str, shape: str, group: str = "") -> Row:
    """A tensor of the decoder by itself."""
    leaf, bias = ("", "") if shape.startswith("1, ") else ("weight", "True")
    return Row(role, f"decoder.{name}", shape, bias=bias, heads=DECODER, tower="decoder", leaf=leaf, group=group)


FAMILY = Family(
    name="vit_mae",
    types={"vit_mae": {}},
    rows=(
        Row("embed_class", "vit.embeddings.cls_token", "1, 1, hidden_size", leaf=""),
        Row(
            "embed_patches",
            "vit.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row("embed_positions", "vit.embeddings.position_embeddings", f"1, {PATCHES} + 1, hidden_size", leaf=""),
        *vit_layers(
            "decoder.decoder_encoder.layer.{layer<decoder_num_hidden_layers}",
            width="decoder_hidden_size",
            attention="decoder_num_attention_heads * decoder_head_dim",
            inner="decoder_intermediate_size",
            heads=DECODER,
            tower="decoder",
        ),
        *vit_layers(
            "vit.encoder.layer.{layer<num_hidden_layers}", attention="num_attention_heads * head_dim", tower="encoder"
        ),
        Row("layernorm", "vit.layernorm", "hidden_size", bias="True"),
        decoder("decoder_embed", "decoder_embed", "decoder_hidden_size, hidden_size"),
        decoder("decoder_norm", "decoder_norm", "decoder_hidden_size"),
        decoder("decoder_pos_embed", "decoder_pos_embed", f"1, {PATCHES} + 1, decoder_hidden_size"),
        decoder("decoder_pred", "decoder_pred", "patch_size ** 2 * num_channels, decoder_hidden_size"),
        decoder("mask_token", "mask_token", "1, 1, decoder_hidden_size", "embedding"),
    ),
    prefix="vit.",
    defaults={
        "decoder_hidden_size": 512,
        "decoder_intermediate_size": 2048,
        "decoder_num_attention_heads": 16,
        "decoder_num_hidden_layers": 8,
        "hidden_size": 768,
        "image_size": 224,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "patch_size": 16,
        "qkv_bias": True,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "decoder_head_dim": "decoder_hidden_size // decoder_num_attention_heads",
    },
    head="ForPreTraining",
)
