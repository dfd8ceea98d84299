"""Model type sam3_vision_model: backbone_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="sam3_vision_model",
    types={"sam3_vision_model": {}},
    rows=(
        Include("backbone_config", "backbone.", tower="vision", head="Model", default_type="sam3_vit_model"),
        Row(
            "scale_layers",
            "neck.fpn_layers.0.scale_layers.{layer<3}",
            "backbone_config.hidden_size // 2 if layer > 0 else backbone_config.hidden_size, backbone_config.hidden_size // 4 if layer > 0 else backbone_config.hidden_size // 2, 2, 2",
            when="layer % 2 == 0",
            group="convolution",
        ),
        Row(
            "scale_layers",
            "neck.fpn_layers.0.scale_layers.{layer<3}",
            "backbone_config.hidden_size // 4 if layer > 0 else backbone_config.hidden_size // 2",
            when="layer % 2 == 0",
            leaf="bias",
        ),
        Row(
            "scale_layers",
            "neck.fpn_layers.1.scale_layers.{layer<3}",
            "backbone_config.hidden_size, backbone_config.hidden_size // 2, 2, 2",
            when="layer not in scale_factors",
            group="convolution",
        ),
        Row(
            "scale_layers",
            "neck.fpn_layers.1.scale_layers.{layer<3}",
            "backbone_config.hidden_size // 2",
            when="layer not in scale_factors",
            leaf="bias",
        ),
        Row(
            "proj1",
            "neck.fpn_layers.0.proj1",
            "fpn_hidden_size, backbone_config.hidden_size // 4, 1, 1",
            bias="True",
            group="convolution",
        ),
        Row(
            "proj1",
            "neck.fpn_layers.1.proj1",
            "fpn_hidden_size, backbone_config.hidden_size // 2, 1, 1",
            bias="True",
            group="convolution",
        ),
        Row(
            "proj1",
            "neck.fpn_layers.2.proj1",
            "fpn_hidden_size, backbone_config.hidden_size, 1, 1",
            bias="True",
            group="convolution",
        ),
        Row(
            "proj1",
            "neck.fpn_layers.3.proj1",
            "fpn_hidden_size, backbone_config.hidden_size, 1, 1",
            bias="True",
            group="convolution",
        ),
        Row(
            "proj2",
            "neck.fpn_layers.0.proj2",
            "fpn_hidden_size, fpn_hidden_size, 3, 3",
            bias="True",
            group="convolution",
        ),
        Row(
            "proj2",
            "neck.fpn_layers.1.proj2",
            "fpn_hidden_size, fpn_hidden_size, 3, 3",
            bias="True",
            group="convolution",
        ),
        Row(
            "proj2",
            "neck.fpn_layers.2.proj2",
            "fpn_hidden_size, fpn_hidden_size, 3, 3",
            bias="True",
            group="convolution",
        ),
        Row(
            "proj2",
            "neck.fpn_layers.3.proj2",
            "fpn_hidden_size, fpn_hidden_size, 3, 3",
            bias="True",
            group="convolution",
        ),
    ),
    defaults={"backbone_config": {"hidden_size": 1024}, "fpn_hidden_size": 256},
    derived={
        "scale_factors": "[0.5 if layer > 2 else 1.0 if layer == 2 else 2.0 if layer == 1 else 4.0 for layer in range(4)]"
    },
    head="Model",
)
