"""Model type efficientloftr.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

BACKBONE_STAGES = "backbone.stages.{at2}"
BACKBONE_STAGES_ = "backbone.stages.{at2}.blocks.{layer}"
LOCAL_FEATURE_TRANSFORMER = "local_feature_transformer.layers.{layer}"

FAMILY = Family(
    name="efficientloftr",
    types={"efficientloftr": {}},
    rows=(
        Row("conv", BACKBONE_STAGES_ + ".conv1.conv", ""),
        Row("norm", BACKBONE_STAGES_ + ".conv1.norm", ""),
        Row("conv2_conv", BACKBONE_STAGES_ + ".conv2.conv", ""),
        Row("conv2_norm", BACKBONE_STAGES_ + ".conv2.norm", ""),
        Row("identity", BACKBONE_STAGES_ + ".identity", "", group="norm"),
        Row("q_proj", LOCAL_FEATURE_TRANSFORMER + ".self_attention.attention.q_proj", ""),
        Row("k_proj", LOCAL_FEATURE_TRANSFORMER + ".self_attention.attention.k_proj", ""),
        Row("v_proj", LOCAL_FEATURE_TRANSFORMER + ".self_attention.attention.v_proj", ""),
        Row("o_proj", LOCAL_FEATURE_TRANSFORMER + ".self_attention.attention.o_proj", ""),
        Row(
            "q_aggregation",
            LOCAL_FEATURE_TRANSFORMER + ".self_attention.aggregation.q_aggregation",
            "",
            group="attention",
        ),
        Row("norm", LOCAL_FEATURE_TRANSFORMER + ".self_attention.aggregation.norm", ""),
        Row("layer_norm", LOCAL_FEATURE_TRANSFORMER + ".self_attention.mlp.layer_norm", ""),
        Row(
            "cross_q_aggregation",
            LOCAL_FEATURE_TRANSFORMER + ".cross_attention.aggregation.q_aggregation",
            "",
            group="attention",
        ),
        Row("cross_norm", LOCAL_FEATURE_TRANSFORMER + ".cross_attention.aggregation.norm", ""),
        Row("cross_q_proj", LOCAL_FEATURE_TRANSFORMER + ".cross_attention.attention.q_proj", ""),
        Row("cross_k_proj", LOCAL_FEATURE_TRANSFORMER + ".cross_attention.attention.k_proj", ""),
        Row("cross_v_proj", LOCAL_FEATURE_TRANSFORMER + ".cross_attention.attention.v_proj", ""),
        Row("cross_o_proj", LOCAL_FEATURE_TRANSFORMER + ".cross_attention.attention.o_proj", ""),
        Row("cross_up_proj", LOCAL_FEATURE_TRANSFORMER + ".cross_attention.mlp.fc1", ""),
        Row("cross_down_proj", LOCAL_FEATURE_TRANSFORMER + ".cross_attention.mlp.fc2", ""),
        Row("cross_layer_norm", LOCAL_FEATURE_TRANSFORMER + ".cross_attention.mlp.layer_norm", ""),
        Row("up_proj", LOCAL_FEATURE_TRANSFORMER + ".self_attention.mlp.fc1", ""),
        Row("down_proj", LOCAL_FEATURE_TRANSFORMER + ".self_attention.mlp.fc2", ""),
        Row("running_mean", BACKBONE_STAGES_ + ".conv1.norm.running_mean", "", leaf="", buffer=True),
        Row("running_var", BACKBONE_STAGES_ + ".conv1.norm.running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", BACKBONE_STAGES_ + ".conv1.norm.num_batches_tracked", "", leaf="", buffer=True),
        Row("norm_running_mean", BACKBONE_STAGES_ + ".conv2.norm.running_mean", "", leaf="", buffer=True),
        Row("norm_running_var", BACKBONE_STAGES_ + ".conv2.norm.running_var", "", leaf="", buffer=True),
        Row("norm_num_batches_tracked", BACKBONE_STAGES_ + ".conv2.norm.num_batches_tracked", "", leaf="", buffer=True),
        Row("identity_running_mean", BACKBONE_STAGES_ + ".identity.running_mean", "", leaf="", buffer=True),
        Row("identity_running_var", BACKBONE_STAGES_ + ".identity.running_var", "", leaf="", buffer=True),
        Row(
            "identity_num_batches_tracked", BACKBONE_STAGES_ + ".identity.num_batches_tracked", "", leaf="", buffer=True
        ),
    ),
    names_only=True,
    head="Model",
)
