"""Model type gemma3n_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

TIMM_MODEL = "timm_model.blocks.{layer}"
TIMM_MODEL_ = "timm_model.blocks.{layer}.{at}"

FAMILY = Family(
    name="gemma3n_vision",
    types={"gemma3n_vision": {}},
    rows=(
        Row("conv_exp", TIMM_MODEL_ + ".conv_exp", ""),
        Row("bn1", TIMM_MODEL_ + ".bn1", "", group="norm"),
        Row("conv_pwl", TIMM_MODEL_ + ".conv_pwl", ""),
        Row("bn2", TIMM_MODEL_ + ".bn2", "", group="norm"),
        Row("conv", TIMM_MODEL_ + ".dw_start.conv", ""),
        Row("bn", TIMM_MODEL_ + ".dw_start.bn", "", group="norm"),
        Row("pw_exp_conv", TIMM_MODEL_ + ".pw_exp.conv", ""),
        Row("pw_exp_bn", TIMM_MODEL_ + ".pw_exp.bn", "", group="norm"),
        Row("dw_mid_conv", TIMM_MODEL_ + ".dw_mid.conv", ""),
        Row("dw_mid_bn", TIMM_MODEL_ + ".dw_mid.bn", "", group="norm"),
        Row("pw_proj_conv", TIMM_MODEL_ + ".pw_proj.conv", ""),
        Row("pw_proj_bn", TIMM_MODEL_ + ".pw_proj.bn", "", group="norm"),
        Row("gamma", TIMM_MODEL_ + ".layer_scale.gamma", "", leaf=""),
        Row("norm", TIMM_MODEL_ + ".norm", ""),
        Row("proj", TIMM_MODEL_ + ".attn.query.proj", "", group="attention"),
        Row("down_conv", TIMM_MODEL_ + ".attn.key.down_conv", "", group="attention"),
        Row("key_norm", TIMM_MODEL_ + ".attn.key.norm", ""),
        Row("key_proj", TIMM_MODEL_ + ".attn.key.proj", "", group="attention"),
        Row("value_down_conv", TIMM_MODEL_ + ".attn.value.down_conv", "", group="attention"),
        Row("value_norm", TIMM_MODEL_ + ".attn.value.norm", ""),
        Row("value_proj", TIMM_MODEL_ + ".attn.value.proj", "", group="attention"),
        Row("output_proj", TIMM_MODEL_ + ".attn.output.proj", "", group="attention"),
        Row("conv", "timm_model.conv_stem.conv", ""),
        Row("bn", "timm_model.conv_stem.bn", "", group="norm"),
        Row("pw_exp_conv", "timm_model.msfa.ffn.pw_exp.conv", ""),
        Row("pw_exp_bn", "timm_model.msfa.ffn.pw_exp.bn", "", group="norm"),
        Row("pw_proj_conv", "timm_model.msfa.ffn.pw_proj.conv", ""),
        Row("pw_proj_bn", "timm_model.msfa.ffn.pw_proj.bn", "", group="norm"),
        Row("norm", "timm_model.msfa.norm", ""),
    ),
    prefix="timm_model.",
    names_only=True,
    head="Model",
)
