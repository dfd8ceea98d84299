"""Model type pvt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_PATCH_EMBEDDINGS = "encoder.patch_embeddings.{layer}"
ENCODER_BLOCK = "encoder.block.{layer}"
ENCODER_BLOCK_ = "encoder.block.{layer}.{at}"
ENCODER_PATCH_EMBEDDINGS_ = "pvt.encoder.patch_embeddings.{layer}"
ENCODER_BLOCK__ = "pvt.encoder.block.{layer}"
ENCODER_BLOCK___ = "pvt.encoder.block.{layer}.{at4}"

FAMILY = Family(
    name="pvt",
    types={"pvt": {}},
    rows=(
        Row("embed_positions", ENCODER_PATCH_EMBEDDINGS + ".position_embeddings", "", leaf=""),
        Row("embed_patches", ENCODER_PATCH_EMBEDDINGS + ".projection", ""),
        Row("embed_class", ENCODER_PATCH_EMBEDDINGS + ".cls_token", "", leaf=""),
        Row("layer_norm", ENCODER_PATCH_EMBEDDINGS + ".layer_norm", ""),
        Row("q_proj", ENCODER_BLOCK_ + ".attention.self.query", ""),
        Row("k_proj", ENCODER_BLOCK_ + ".attention.self.key", ""),
        Row("v_proj", ENCODER_BLOCK_ + ".attention.self.value", ""),
        Row("o_proj", ENCODER_BLOCK_ + ".attention.output.dense", ""),
        Row("layer_norm_1", ENCODER_BLOCK_ + ".layer_norm_1", ""),
        Row("sequence_reduction", ENCODER_BLOCK_ + ".attention.self.sequence_reduction", "", group="attention"),
        Row("layer_norm", ENCODER_BLOCK_ + ".attention.self.layer_norm", ""),
        Row("layer_norm_2", ENCODER_BLOCK_ + ".layer_norm_2", ""),
        Row("dense1", ENCODER_BLOCK_ + ".mlp.dense1", "", group="feed_forward"),
        Row("dense2", ENCODER_BLOCK_ + ".mlp.dense2", "", group="feed_forward"),
        Row("position_embeddings_embed_positions", ENCODER_PATCH_EMBEDDINGS_ + ".position_embeddings", "", leaf=""),
        Row("projection_embed_patches", ENCODER_PATCH_EMBEDDINGS_ + ".projection", ""),
        Row("patch_embeddings_layer_norm", ENCODER_PATCH_EMBEDDINGS_ + ".layer_norm", ""),
        Row("cls_token_embed_class", ENCODER_PATCH_EMBEDDINGS_ + ".cls_token", "", leaf=""),
        Row("encoder_layer_norm_1", ENCODER_BLOCK___ + ".layer_norm_1", ""),
        Row("query_q_proj", ENCODER_BLOCK___ + ".attention.self.query", ""),
        Row("key_k_proj", ENCODER_BLOCK___ + ".attention.self.key", ""),
        Row("value_v_proj", ENCODER_BLOCK___ + ".attention.self.value", ""),
        Row("self_sequence_reduction", ENCODER_BLOCK___ + ".attention.self.sequence_reduction", "", group="attention"),
        Row("self_layer_norm", ENCODER_BLOCK___ + ".attention.self.layer_norm", ""),
        Row("dense_o_proj", ENCODER_BLOCK___ + ".attention.output.dense", ""),
        Row("encoder_layer_norm_2", ENCODER_BLOCK___ + ".layer_norm_2", ""),
        Row("mlp_dense1", ENCODER_BLOCK___ + ".mlp.dense1", ""),
        Row("mlp_dense2", ENCODER_BLOCK___ + ".mlp.dense2", ""),
        Row("layer_norm", "encoder.layer_norm", ""),
        Row("encoder_layer_norm", "pvt.encoder.layer_norm", ""),
        Row("classifier", "classifier", ""),
    ),
    names_only=True,
    head="Model",
)
