"""CLIP's text model, by itself or with the projection that makes it comparable to images."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "text_model.encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="clip_text_model",
    types={"clip_text_model": {}},
    rows=(
        Row("token_embedding", "text_model.embeddings.token_embedding", "vocab_size, hidden_size"),
        Row("position_embedding", "text_model.embeddings.position_embedding", "max_position_embeddings, hidden_size"),
        Row("input_layernorm", LAYER + ".layer_norm1", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".self_attn.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("norm", "text_model.final_layer_norm", "hidden_size", bias="True"),
        Row("text_projection", "text_projection", "projection_dim, hidden_size", heads="WithProjection", group="head"),
    ),
    prefix="text_model.",
    classes={"CLIPTextModelWithProjection": "WithProjection"},
    defaults={
        "hidden_size": 512,
        "intermediate_size": 2048,
        "max_position_embeddings": 77,
        "num_hidden_layers": 12,
        "projection_dim": 512,
        "vocab_size": 49408,
    },
    head="Model",
)
