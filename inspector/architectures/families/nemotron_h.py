"""Model type nemotron_h.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "backbone.layers.{layer}"

FAMILY = Family(
    name="nemotron_h",
    types={"nemotron_h": {}},
    rows=(
        Row("embeddings", "backbone.embeddings", ""),
        Row("q_proj", LAYER + ".mixer.q_proj", ""),
        Row("k_proj", LAYER + ".mixer.k_proj", ""),
        Row("v_proj", LAYER + ".mixer.v_proj", ""),
        Row("o_proj", LAYER + ".mixer.o_proj", ""),
        Row("norm", LAYER + ".norm", ""),
        Row("gate", LAYER + ".mixer.gate", "", group="state_space"),
        Row("fc1_latent_proj", LAYER + ".mixer.fc1_latent_proj", "", group="state_space"),
        Row("fc2_latent_proj", LAYER + ".mixer.fc2_latent_proj", "", group="state_space"),
        Row("in_proj", LAYER + ".mixer.in_proj", ""),
        Row("conv1d", LAYER + ".mixer.conv1d", ""),
        Row("A_log", LAYER + ".mixer.A_log", "", leaf=""),
        Row("D", LAYER + ".mixer.D", "", leaf=""),
        Row("dt_bias", LAYER + ".mixer.dt_bias", "", leaf=""),
        Row("ssm_norm", LAYER + ".mixer.norm", ""),
        Row("out_proj", LAYER + ".mixer.out_proj", ""),
        Row("router_bias", LAYER + ".mixer.gate.e_score_correction_bias", "", leaf=""),
        Row("up_proj", LAYER + ".mixer.experts.{expert}.up_proj", ""),
        Row("up_proj", LAYER + ".mixer.up_proj", ""),
        Row("down_proj", LAYER + ".mixer.experts.{expert}.down_proj", ""),
        Row("down_proj", LAYER + ".mixer.down_proj", ""),
        Row("shared_up_proj", LAYER + ".mixer.shared_experts.up_proj", ""),
        Row("shared_down_proj", LAYER + ".mixer.shared_experts.down_proj", ""),
        Row("lm_head", "lm_head", ""),
        Row("norm", "backbone.norm_f", ""),
    ),
    prefix="backbone.",
    gguf=("nemotron_h", "nemotron_h_moe"),
    names_only=True,
)
