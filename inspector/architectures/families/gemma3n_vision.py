"""Model type gemma3n_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

TIMM_MODEL = "timm_model.blocks.{layer<4}"
TIMM_MODEL_ = "timm_model.blocks.{layer<4}.{at<39}"

FAMILY = Family(
    name="gemma3n_vision",
    types={"gemma3n_vision": {}},
    rows=(
        Row(
            "conv_exp",
            TIMM_MODEL_ + ".conv_exp",
            "512 if at > 0 else 256, 128 if at > 0 else 64, 3, 3",
            when="not (layer > 0 or at > 2)",
        ),
        Row("bn1", TIMM_MODEL_ + ".bn1", "512 if at > 0 else 256", when="not (layer > 0 or at > 2)", group="norm"),
        Row(
            "conv_pwl", TIMM_MODEL_ + ".conv_pwl", "128, 512 if at > 0 else 256, 1, 1", when="not (layer > 0 or at > 2)"
        ),
        Row("bn2", TIMM_MODEL_ + ".bn2", "128", when="not (layer > 0 or at > 2)", group="norm"),
        Row(
            "conv",
            TIMM_MODEL_ + ".dw_start.conv",
            "(256 if label_names[layer % len(label_names)] == 'LABEL_1' else 640) if at > 0 else 640 if layer > 2 else 32 * 2 ** (layer + 1), 1, (layer + 2 if at % 2 == 0 else 5) if label_names[layer % len(label_names)] == 'LABEL_1' else 5, (layer + 2 if at % 2 == 0 else 5) if label_names[layer % len(label_names)] == 'LABEL_1' else 5",
        ),
        Row(
            "bn",
            TIMM_MODEL_ + ".dw_start.bn",
            "(256 if label_names[layer % len(label_names)] == 'LABEL_1' else 640) if at > 0 else 640 if layer > 2 else 32 * 2 ** (layer + 1)",
            group="norm",
        ),
        Row("pw_exp_conv", TIMM_MODEL_ + ".pw_exp.conv", "768, 128, 1, 1"),
        Row("pw_exp_bn", TIMM_MODEL_ + ".pw_exp.bn", "768", group="norm"),
        Row(
            "dw_mid_conv",
            TIMM_MODEL_ + ".dw_mid.conv",
            "(3840 if layer > 2 else 1536) if layer > 1 else 768, 1, 5, 5",
            when="layer > 0 and at == 0",
        ),
        Row(
            "dw_mid_bn",
            TIMM_MODEL_ + ".dw_mid.bn",
            "(3840 if layer > 2 else 1536) if layer > 1 else 768",
            when="layer > 0 and at == 0",
            group="norm",
        ),
        Row(
            "pw_proj_conv",
            TIMM_MODEL_ + ".pw_proj.conv",
            "(num_labels * vocab_size * (num_labels + 3) if layer > 1 else 256) if label_names[layer % len(label_names)] == 'LABEL_1' else 1280 if label_names[layer % len(label_names)] == 'LABEL_3' else 640, 768, 1, 1",
        ),
        Row(
            "pw_proj_bn",
            TIMM_MODEL_ + ".pw_proj.bn",
            "(num_labels * vocab_size * (num_labels + 3) if layer > 1 else 256) if label_names[layer % len(label_names)] == 'LABEL_1' else 1280 if label_names[layer % len(label_names)] == 'LABEL_3' else 640",
            group="norm",
        ),
        Row(
            "gamma",
            TIMM_MODEL_ + ".layer_scale.gamma",
            "(num_labels * vocab_size * (num_labels + 3) if layer > 1 else 256) if label_names[layer % len(label_names)] == 'LABEL_1' else 1280 if label_names[layer % len(label_names)] == 'LABEL_3' else 640",
            leaf="",
        ),
        Row("norm", TIMM_MODEL_ + ".norm", "1280 if layer > 2 else 640"),
        Row(
            "proj",
            TIMM_MODEL_ + ".attn.query.proj",
            "32 * 3 * 2 ** (layer + 1), 1280 if layer > 2 else 640, 1, 1",
            group="attention",
        ),
        Row("down_conv", TIMM_MODEL_ + ".attn.key.down_conv", "640, 1, 3, 3", group="attention"),
        Row("key_norm", TIMM_MODEL_ + ".attn.key.norm", "640"),
        Row(
            "key_proj",
            TIMM_MODEL_ + ".attn.key.proj",
            "32 * layer, 1280 if layer > 2 else 640, 1, 1",
            group="attention",
        ),
        Row("value_down_conv", TIMM_MODEL_ + ".attn.value.down_conv", "640, 1, 3, 3", group="attention"),
        Row("value_norm", TIMM_MODEL_ + ".attn.value.norm", "640"),
        Row(
            "value_proj",
            TIMM_MODEL_ + ".attn.value.proj",
            "32 * layer, 1280 if layer > 2 else 640, 1, 1",
            group="attention",
        ),
        Row(
            "output_proj",
            TIMM_MODEL_ + ".attn.output.proj",
            "1280 if layer > 2 else 640, 32 * 3 * 2 ** (layer + 1), 1, 1",
            group="attention",
        ),
        Row("conv", "timm_model.conv_stem.conv", "64, 3, 3, 3", bias="True"),
        Row("bn", "timm_model.conv_stem.bn", "64", group="norm"),
        Row("pw_exp_conv", "timm_model.msfa.ffn.pw_exp.conv", "3840, 1920, 1, 1"),
        Row("pw_exp_bn", "timm_model.msfa.ffn.pw_exp.bn", "3840", group="norm"),
        Row("pw_proj_conv", "timm_model.msfa.ffn.pw_proj.conv", "2048, 3840, 1, 1"),
        Row("pw_proj_bn", "timm_model.msfa.ffn.pw_proj.bn", "2048", group="norm"),
        Row("norm", "timm_model.msfa.norm", "2048"),
    ),
    prefix="timm_model.",
    defaults={"label_names": ["LABEL_0", "LABEL_1"], "vocab_size": 128},
    head="Model",
)
