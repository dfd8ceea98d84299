"""Model type nemotron_h_omni: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "vision_model.radio_model.model.blocks.{layer}"

FAMILY = Family(
    name="nemotron_h_omni",
    types={"nemotron_h_omni": {}},
    rows=(
        Include(
            "text_config",
            "language_model.",
            head="ForCausalLM",
            default_type="nemotron_h",
            without="fc1_latent_proj fc2_latent_proj",
        ),
        Row("embedder", "vision_model.radio_model.model.patch_generator.embedder", "", tower="vision"),
        Row("embed_positions", "vision_model.radio_model.model.patch_generator.pos_embed", "", tower="vision", leaf=""),
        Row("video_embedder", "vision_model.radio_model.model.patch_generator.video_embedder", "", tower="vision"),
        Row("fc1_latent_proj", "language_model.backbone.layers.{layer}.mixer.fc1_latent_proj", "", group="state_space"),
        Row("fc2_latent_proj", "language_model.backbone.layers.{layer}.mixer.fc2_latent_proj", "", group="state_space"),
        Row("input_layernorm", LAYER + ".norm1", "", tower="vision"),
        Row("qkv_proj", LAYER + ".attn.qkv", "", tower="vision"),
        Row("o_proj", LAYER + ".attn.proj", "", tower="vision"),
        Row("lambda1", LAYER + ".layer_scale1.lambda1", "", tower="vision", leaf=""),
        Row("layer_scale2_lambda1", LAYER + ".layer_scale2.lambda1", "", tower="vision", leaf=""),
        Row("mlp_down_proj", LAYER + ".mlp.down_proj", "", tower="vision"),
        Row("mlp_up_proj", LAYER + ".mlp.up_proj", "", tower="vision"),
        Row("post_attention_layernorm", LAYER + ".norm2", "", tower="vision"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "", tower="vision"),
        Row("up_proj", LAYER + ".mlp.fc1", "", tower="vision"),
        Row("down_proj", LAYER + ".mlp.fc2", "", tower="vision"),
        Row("vision_final_layernorm", "vision_final_layernorm", ""),
        Row(
            "token",
            "vision_model.radio_model.model.patch_generator.cls_token.token",
            "",
            tower="vision",
            leaf="",
            group="embedding",
        ),
        Row("summary_idxs", "vision_model.radio_model.summary_idxs", "", tower="vision", leaf="", buffer=True),
    ),
    classes={"NemotronH_Omni_Reasoning_V3": "NemotronH_Omni_Reasoning_V3"},
    names_only=True,
    head="NemotronH_Omni_Reasoning_V3",
)
