"""Model type patchtst.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layers.{layer}"

FAMILY = Family(
    name="patchtst",
    types={"patchtst": {}},
    rows=(
        Row("input_embedding", "encoder.embedder.input_embedding", ""),
        Row("embed_class", "encoder.positional_encoder.cls_token", "", leaf=""),
        Row("q_proj", LAYER + ".self_attn.q_proj", ""),
        Row("k_proj", LAYER + ".self_attn.k_proj", ""),
        Row("v_proj", LAYER + ".self_attn.v_proj", ""),
        Row("o_proj", LAYER + ".self_attn.out_proj", ""),
        Row("batchnorm", LAYER + ".norm_sublayer1.batchnorm", ""),
        Row("ff", LAYER + ".ff.{at4}", ""),
        Row("norm_sublayer3_batchnorm", LAYER + ".norm_sublayer3.batchnorm", ""),
        Row("norm_sublayer2_batchnorm", LAYER + ".norm_sublayer2.batchnorm", ""),
        Row("norm_sublayer1", LAYER + ".norm_sublayer1", ""),
        Row("norm_sublayer3", LAYER + ".norm_sublayer3", ""),
        Row("norm_sublayer2", LAYER + ".norm_sublayer2", ""),
        Row("input_embedding", "encoder.embedder.input_embedding.{at3}", ""),
        Row("position_enc", "encoder.positional_encoder.position_enc", "", leaf=""),
        Row("running_mean", LAYER + ".norm_sublayer1.batchnorm.running_mean", "", leaf="", buffer=True),
        Row("running_var", LAYER + ".norm_sublayer1.batchnorm.running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", LAYER + ".norm_sublayer1.batchnorm.num_batches_tracked", "", leaf="", buffer=True),
        Row("batchnorm_running_mean", LAYER + ".norm_sublayer3.batchnorm.running_mean", "", leaf="", buffer=True),
        Row("batchnorm_running_var", LAYER + ".norm_sublayer3.batchnorm.running_var", "", leaf="", buffer=True),
        Row(
            "batchnorm_num_batches_tracked",
            LAYER + ".norm_sublayer3.batchnorm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "norm_sublayer2_batchnorm_running_mean",
            LAYER + ".norm_sublayer2.batchnorm.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "norm_sublayer2_batchnorm_running_var",
            LAYER + ".norm_sublayer2.batchnorm.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "norm_sublayer2_batchnorm_num_batches_tracked",
            LAYER + ".norm_sublayer2.batchnorm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
    ),
    names_only=True,
    head="Model",
)
