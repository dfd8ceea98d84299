"""Model type fun_asr_nano_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer}"

FAMILY = Family(
    name="fun_asr_nano_encoder",
    types={"fun_asr_nano_encoder": {}},
    rows=(
        Row("input_layernorm", LAYER + ".input_layernorm", ""),
        Row("q_proj", LAYER + ".self_attn.q_proj", ""),
        Row("k_proj", LAYER + ".self_attn.k_proj", ""),
        Row("v_proj", LAYER + ".self_attn.v_proj", ""),
        Row("o_proj", LAYER + ".self_attn.o_proj", ""),
        Row("conv", LAYER + ".self_attn.fsmn.conv", "", group="attention"),
        Row("norm", LAYER + ".final_layernorm", ""),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", ""),
        Row("up_proj", LAYER + ".mlp.fc1", ""),
        Row("down_proj", LAYER + ".mlp.fc2", ""),
    ),
    classes={"FunAsrNanoEncoder": "FunAsrNanoEncoder"},
    names_only=True,
    head="FunAsrNanoEncoder",
)
