"""Model type textnet.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "encoder.stages.{layer}"
STAGES_STAGE = "encoder.stages.{layer}.stage.{stage}"
ENCODER_STAGES_ = "textnet.encoder.stages.{layer}"
STAGES_STAGE_ = "textnet.encoder.stages.{layer}.stage.{stage}"

FAMILY = Family(
    name="textnet",
    types={"textnet": {}},
    rows=(
        Row("main_conv", STAGES_STAGE + ".main_conv", ""),
        Row("main_batch_norm", STAGES_STAGE + ".main_batch_norm", ""),
        Row("vertical_conv", STAGES_STAGE + ".vertical_conv", ""),
        Row("vertical_batch_norm", STAGES_STAGE + ".vertical_batch_norm", ""),
        Row("horizontal_conv", STAGES_STAGE + ".horizontal_conv", ""),
        Row("horizontal_batch_norm", STAGES_STAGE + ".horizontal_batch_norm", ""),
        Row("rbr_identity", STAGES_STAGE + ".rbr_identity", "", group="norm"),
        Row("stage_main_conv", STAGES_STAGE_ + ".main_conv", ""),
        Row("stage_main_batch_norm", STAGES_STAGE_ + ".main_batch_norm", ""),
        Row("stage_vertical_conv", STAGES_STAGE_ + ".vertical_conv", ""),
        Row("stage_vertical_batch_norm", STAGES_STAGE_ + ".vertical_batch_norm", ""),
        Row("stage_horizontal_conv", STAGES_STAGE_ + ".horizontal_conv", ""),
        Row("stage_horizontal_batch_norm", STAGES_STAGE_ + ".horizontal_batch_norm", ""),
        Row("stage_rbr_identity", STAGES_STAGE_ + ".rbr_identity", "", group="norm"),
        Row("conv", "stem.conv", ""),
        Row("batch_norm", "stem.batch_norm", ""),
        Row("stem_conv", "textnet.stem.conv", ""),
        Row("stem_batch_norm", "textnet.stem.batch_norm", ""),
        Row("fc", "fc", ""),
        Row("running_mean", STAGES_STAGE + ".main_batch_norm.running_mean", "", leaf="", buffer=True),
        Row("running_var", STAGES_STAGE + ".main_batch_norm.running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", STAGES_STAGE + ".main_batch_norm.num_batches_tracked", "", leaf="", buffer=True),
        Row(
            "vertical_batch_norm_running_mean",
            STAGES_STAGE + ".vertical_batch_norm.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "vertical_batch_norm_running_var",
            STAGES_STAGE + ".vertical_batch_norm.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "vertical_batch_norm_num_batches_tracked",
            STAGES_STAGE + ".vertical_batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "horizontal_batch_norm_running_mean",
            STAGES_STAGE + ".horizontal_batch_norm.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "horizontal_batch_norm_running_var",
            STAGES_STAGE + ".horizontal_batch_norm.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "horizontal_batch_norm_num_batches_tracked",
            STAGES_STAGE + ".horizontal_batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("rbr_identity_running_mean", STAGES_STAGE + ".rbr_identity.running_mean", "", leaf="", buffer=True),
        Row("rbr_identity_running_var", STAGES_STAGE + ".rbr_identity.running_var", "", leaf="", buffer=True),
        Row(
            "rbr_identity_num_batches_tracked",
            STAGES_STAGE + ".rbr_identity.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("main_batch_norm_running_mean", STAGES_STAGE_ + ".main_batch_norm.running_mean", "", leaf="", buffer=True),
        Row("main_batch_norm_running_var", STAGES_STAGE_ + ".main_batch_norm.running_var", "", leaf="", buffer=True),
        Row(
            "main_batch_norm_num_batches_tracked",
            STAGES_STAGE_ + ".main_batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "stage_vertical_batch_norm_running_mean",
            STAGES_STAGE_ + ".vertical_batch_norm.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "stage_vertical_batch_norm_running_var",
            STAGES_STAGE_ + ".vertical_batch_norm.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "stage_vertical_batch_norm_num_batches_tracked",
            STAGES_STAGE_ + ".vertical_batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "stage_horizontal_batch_norm_running_mean",
            STAGES_STAGE_ + ".horizontal_batch_norm.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "stage_horizontal_batch_norm_running_var",
            STAGES_STAGE_ + ".horizontal_batch_norm.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "stage_horizontal_batch_norm_num_batches_tracked",
            STAGES_STAGE_ + ".horizontal_batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("stage_rbr_identity_running_mean", STAGES_STAGE_ + ".rbr_identity.running_mean", "", leaf="", buffer=True),
        Row("stage_rbr_identity_running_var", STAGES_STAGE_ + ".rbr_identity.running_var", "", leaf="", buffer=True),
        Row(
            "stage_rbr_identity_num_batches_tracked",
            STAGES_STAGE_ + ".rbr_identity.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("running_mean", "stem.batch_norm.running_mean", "", leaf="", buffer=True),
        Row("running_var", "stem.batch_norm.running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", "stem.batch_norm.num_batches_tracked", "", leaf="", buffer=True),
        Row("batch_norm_running_mean", "textnet.stem.batch_norm.running_mean", "", leaf="", buffer=True),
        Row("batch_norm_running_var", "textnet.stem.batch_norm.running_var", "", leaf="", buffer=True),
        Row("batch_norm_num_batches_tracked", "textnet.stem.batch_norm.num_batches_tracked", "", leaf="", buffer=True),
    ),
    names_only=True,
    head="Model",
)
