"""Model type granite_docling_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layers.{layer<num_hidden_layers}"
COARSE_DEEPSTACK_MERGERS = "connector.coarse.deepstack_mergers.{layer<3}"
FINE_DEEPSTACK_MERGERS = "connector.fine.deepstack_mergers.{layer<3}"

FAMILY = Family(
    name="granite_docling_vision",
    types={"granite_docling_vision": {}},
    rows=(
        Row(
            "embed_patches",
            "embeddings.patch_embedding",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row("position_embedding", "embeddings.position_embedding", "(image_size // patch_size) ** 2, hidden_size"),
        Row("input_layernorm", ENCODER + ".layer_norm1", "hidden_size", bias="True"),
        Row("q_proj", ENCODER + ".self_attn.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", ENCODER + ".self_attn.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", ENCODER + ".self_attn.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", ENCODER + ".self_attn.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", ENCODER + ".layer_norm2", "hidden_size", bias="True"),
        Row("up_proj", ENCODER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", ENCODER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row(
            "layer_norm",
            COARSE_DEEPSTACK_MERGERS + ".layer_norm",
            "hidden_size * scale_factor ** 2",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_1",
            COARSE_DEEPSTACK_MERGERS + ".linear_1",
            "out_hidden_size, hidden_size * scale_factor ** 2",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_2",
            COARSE_DEEPSTACK_MERGERS + ".linear_2",
            "out_hidden_size, out_hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "deepstack_mergers_layer_norm",
            FINE_DEEPSTACK_MERGERS + ".layer_norm",
            "(scale_factor // 2) ** 2 * hidden_size",
            bias="True",
            when="use_fine_route",
            tower="projector",
        ),
        Row(
            "deepstack_mergers_linear_1",
            FINE_DEEPSTACK_MERGERS + ".linear_1",
            "out_hidden_size, (scale_factor // 2) ** 2 * hidden_size",
            bias="True",
            when="use_fine_route",
            tower="projector",
        ),
        Row(
            "deepstack_mergers_linear_2",
            FINE_DEEPSTACK_MERGERS + ".linear_2",
            "out_hidden_size, out_hidden_size",
            bias="True",
            when="use_fine_route",
            tower="projector",
        ),
        Row("norm", "post_layernorm", "hidden_size", bias="True"),
        Row("ln_in", "connector.ln_in", "hidden_size", bias="True", tower="projector"),
        Row(
            "projection",
            "connector.coarse.projection",
            "out_hidden_size, hidden_size * scale_factor ** 2",
            tower="projector",
        ),
        Row("ln_mid", "connector.ln_mid", "out_hidden_size", bias="True", tower="projector"),
        Row("mlp_fc2", "connector.mlp_fc2", "out_hidden_size, out_hidden_size", tower="projector"),
        Row("ln_out", "connector.ln_out", "out_hidden_size", bias="True", tower="projector"),
        Row(
            "fine_projection",
            "connector.fine.projection",
            "out_hidden_size, (scale_factor // 2) ** 2 * hidden_size",
            when="use_fine_route",
            tower="projector",
        ),
    ),
    defaults={
        "hidden_size": 768,
        "image_size": 512,
        "intermediate_size": 3072,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "out_hidden_size": 1024,
        "patch_size": 16,
        "scale_factor": 4,
        "use_fine_route": True,
    },
    head="Model",
)
