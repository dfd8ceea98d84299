"""Model type tvp: backbone_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="tvp",
    types={"tvp": {}},
    rows=(
        Include("backbone_config", "vision_model.backbone.", tower="vision", head="Model", default_type="resnet"),
        Row("embed_tokens", "embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_token_types", "embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "embeddings.layer_norm", "hidden_size", bias="True"),
        Row(
            "position_embeddings_embed_positions",
            "visual_embeddings.position_embeddings",
            "max_position_embeddings, hidden_size",
        ),
        Row(
            "row_position_embeddings",
            "visual_embeddings.row_position_embeddings",
            "max_grid_row_position_embeddings, hidden_size",
        ),
        Row(
            "col_position_embeddings",
            "visual_embeddings.col_position_embeddings",
            "max_grid_col_position_embeddings, hidden_size",
        ),
        Row("token_type_embeddings_embed_token_types", "visual_embeddings.token_type_embeddings", "1, hidden_size"),
        Row("layer_norm", "visual_embeddings.layer_norm", "hidden_size", bias="True"),
        Row(
            "q_proj",
            LAYER + ".attention.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row("o_proj", LAYER + ".attention.dense", "hidden_size, hidden_size", bias="True"),
        Row("layer_norm", LAYER + ".attention.layer_norm", "hidden_size", bias="True"),
        Row("output_layer_norm", LAYER + ".output.layer_norm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row(
            "grid_encoder_conv",
            "vision_model.grid_encoder_conv",
            "hidden_size, backbone_config.hidden_sizes[-1], 3, 3",
            tower="vision",
        ),
        Row("text_prompt", "text_prompt", "1, 10, hidden_size", leaf="", group="convolution"),
        Row("pooler", "pooler.dense", "hidden_size, hidden_size", bias="True"),
        Row(
            "pad_up",
            "visual_prompter.pad_up",
            "1, num_frames, 3, visual_prompt_size, max_img_size",
            leaf="",
            group="convolution",
        ),
        Row(
            "pad_down",
            "visual_prompter.pad_down",
            "1, num_frames, 3, visual_prompt_size, max_img_size",
            leaf="",
            group="convolution",
        ),
        Row(
            "pad_left",
            "visual_prompter.pad_left",
            "1, num_frames, 3, max_img_size - 2 * visual_prompt_size, visual_prompt_size",
            leaf="",
            group="convolution",
        ),
        Row(
            "pad_right",
            "visual_prompter.pad_right",
            "1, num_frames, 3, max_img_size - 2 * visual_prompt_size, visual_prompt_size",
            leaf="",
            group="convolution",
        ),
    ),
    defaults={
        "backbone_config": {"hidden_sizes": [256, 512, 1024, 2048]},
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_grid_col_position_embeddings": 100,
        "max_grid_row_position_embeddings": 100,
        "max_img_size": 448,
        "max_position_embeddings": 512,
        "num_attention_heads": 12,
        "num_frames": 48,
        "num_hidden_layers": 12,
        "type_vocab_size": 2,
        "visual_prompt_size": 96,
        "vocab_size": 30522,
    },
    head="Model",
)
