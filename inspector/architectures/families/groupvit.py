"""Model type groupvit.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

TEXT_MODEL_ENCODER = "text_model.encoder.layers.{layer}"
VISUAL_PROJECTION = "visual_projection.{at1}"
TEXT_PROJECTION = "text_projection.{at1}"
ENCODER_STAGES = "vision_model.encoder.stages.{at3}"
ENCODER_STAGES_ = "vision_model.encoder.stages.{at3}.layers.{layer}"
STAGES_GROUP_PROJECTOR = "vision_model.encoder.stages.{at3}.group_projector.{at5}"

FAMILY = Family(
    name="groupvit",
    types={"groupvit": {}},
    rows=(
        Row("token_embedding", "text_model.embeddings.token_embedding", ""),
        Row("position_embedding", "text_model.embeddings.position_embedding", ""),
        Row("embed_positions", "vision_model.embeddings.position_embeddings", "", tower="vision", leaf=""),
        Row("embed_patches", "vision_model.embeddings.patch_embeddings.projection", "", tower="vision"),
        Row("layernorm", "vision_model.embeddings.layernorm", "", tower="vision"),
        Row("input_layernorm", TEXT_MODEL_ENCODER + ".layer_norm1", ""),
        Row("q_proj", TEXT_MODEL_ENCODER + ".self_attn.q_proj", ""),
        Row("k_proj", TEXT_MODEL_ENCODER + ".self_attn.k_proj", ""),
        Row("v_proj", TEXT_MODEL_ENCODER + ".self_attn.v_proj", ""),
        Row("o_proj", TEXT_MODEL_ENCODER + ".self_attn.out_proj", ""),
        Row("post_attention_layernorm", TEXT_MODEL_ENCODER + ".layer_norm2", ""),
        Row("up_proj", TEXT_MODEL_ENCODER + ".mlp.fc1", ""),
        Row("down_proj", TEXT_MODEL_ENCODER + ".mlp.fc2", ""),
        Row("visual_projection", VISUAL_PROJECTION, ""),
        Row("visual_projection", VISUAL_PROJECTION, "", group="norm"),
        Row("text_projection", TEXT_PROJECTION, ""),
        Row("text_projection", TEXT_PROJECTION, "", group="norm"),
        Row("input_layernorm", ENCODER_STAGES_ + ".layer_norm1", "", tower="vision"),
        Row("q_proj", ENCODER_STAGES_ + ".self_attn.q_proj", "", tower="vision"),
        Row("q_proj", ENCODER_STAGES + ".downsample.pre_assign_attn.attn.q_proj", "", tower="vision"),
        Row("k_proj", ENCODER_STAGES_ + ".self_attn.k_proj", "", tower="vision"),
        Row("k_proj", ENCODER_STAGES + ".downsample.pre_assign_attn.attn.k_proj", "", tower="vision"),
        Row("v_proj", ENCODER_STAGES_ + ".self_attn.v_proj", "", tower="vision"),
        Row("v_proj", ENCODER_STAGES + ".downsample.pre_assign_attn.attn.v_proj", "", tower="vision"),
        Row("o_proj", ENCODER_STAGES_ + ".self_attn.out_proj", "", tower="vision"),
        Row("o_proj", ENCODER_STAGES + ".downsample.pre_assign_attn.attn.out_proj", "", tower="vision"),
        Row("group_token", ENCODER_STAGES + ".group_token", "", tower="vision", leaf="", group="convolution"),
        Row("norm_tokens", ENCODER_STAGES + ".downsample.norm_tokens", "", tower="vision"),
        Row("norm_post_tokens", ENCODER_STAGES + ".downsample.norm_post_tokens", "", tower="vision"),
        Row("norm_x", ENCODER_STAGES + ".downsample.norm_x", "", tower="vision"),
        Row("fc1_up_proj", ENCODER_STAGES + ".downsample.pre_assign_attn.mlp.fc1", "", tower="vision"),
        Row("fc2_down_proj", ENCODER_STAGES + ".downsample.pre_assign_attn.mlp.fc2", "", tower="vision"),
        Row("norm_post", ENCODER_STAGES + ".downsample.pre_assign_attn.norm_post", "", tower="vision"),
        Row("assign_q_proj", ENCODER_STAGES + ".downsample.assign.q_proj", "", tower="vision"),
        Row("assign_k_proj", ENCODER_STAGES + ".downsample.assign.k_proj", "", tower="vision"),
        Row("assign_v_proj", ENCODER_STAGES + ".downsample.assign.v_proj", "", tower="vision"),
        Row("proj", ENCODER_STAGES + ".downsample.assign.proj", "", tower="vision"),
        Row("norm_new_x", ENCODER_STAGES + ".downsample.norm_new_x", "", tower="vision"),
        Row("mlp_channels_fc1_up_proj", ENCODER_STAGES + ".downsample.mlp_channels.fc1", "", tower="vision"),
        Row("mlp_channels_fc2_down_proj", ENCODER_STAGES + ".downsample.mlp_channels.fc2", "", tower="vision"),
        Row("group_projector", STAGES_GROUP_PROJECTOR, "", tower="vision", group="norm"),
        Row("post_attention_layernorm", ENCODER_STAGES_ + ".layer_norm2", "", tower="vision"),
        Row("post_attention_layernorm", ENCODER_STAGES + ".downsample.pre_assign_attn.norm2", "", tower="vision"),
        Row("up_proj", ENCODER_STAGES_ + ".mlp.fc1", "", tower="vision"),
        Row("up_proj", ENCODER_STAGES + ".downsample.mlp_inter.fc1", "", tower="vision"),
        Row("up_proj", STAGES_GROUP_PROJECTOR + ".fc1", "", tower="vision"),
        Row("down_proj", ENCODER_STAGES_ + ".mlp.fc2", "", tower="vision"),
        Row("down_proj", ENCODER_STAGES + ".downsample.mlp_inter.fc2", "", tower="vision"),
        Row("down_proj", STAGES_GROUP_PROJECTOR + ".fc2", "", tower="vision"),
        Row("logit_scale", "logit_scale", "", leaf="", group="head"),
        Row("norm", "text_model.final_layer_norm", ""),
        Row("vision_model_layernorm", "vision_model.layernorm", "", tower="vision"),
        Row("running_mean", VISUAL_PROJECTION + ".running_mean", "", leaf="", buffer=True),
        Row("running_var", VISUAL_PROJECTION + ".running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", VISUAL_PROJECTION + ".num_batches_tracked", "", leaf="", buffer=True),
        Row("text_projection_running_mean", TEXT_PROJECTION + ".running_mean", "", leaf="", buffer=True),
        Row("text_projection_running_var", TEXT_PROJECTION + ".running_var", "", leaf="", buffer=True),
        Row("text_projection_num_batches_tracked", TEXT_PROJECTION + ".num_batches_tracked", "", leaf="", buffer=True),
    ),
    names_only=True,
    head="Model",
)
