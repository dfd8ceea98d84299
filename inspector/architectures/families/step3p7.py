"""Step 3.7: a perception encoder, two convolutions that make its map smaller, a projector, Step 3.5's text model."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

WHOLE, BODY = "ForConditionalGeneration", "Model"
WIDTH = "vision_config.hidden_size"
WITHIN = "vision_config.intermediate_size"
TOWER = "vision_model."
BLOCK = TOWER + "transformer.resblocks.{layer<vision_config.num_hidden_layers}."
TEXT = Include("text_config", "model.", head="Model", default_type="step3p5", heads=WHOLE)

#: Role, name and shape of what has a bias.
LINEAR = (
    ("embed_norm", TOWER + "ln_pre", WIDTH),
    ("input_layernorm", BLOCK + "ln_1", WIDTH),
    ("o_proj", BLOCK + "attn.out_proj", f"{WIDTH}, {WIDTH}"),
    ("post_attention_layernorm", BLOCK + "ln_2", WIDTH),
    ("up_proj", BLOCK + "mlp.c_fc", f"{WITHIN}, {WIDTH}"),
    ("down_proj", BLOCK + "mlp.c_proj", f"{WIDTH}, {WITHIN}"),
    ("conv_downsample_1", TOWER + "vit_downsampler1", f"2 * {WIDTH}, {WIDTH}, 3, 3"),
    ("conv_downsample_2", TOWER + "vit_downsampler2", f"4 * {WIDTH}, 2 * {WIDTH}, 3, 3"),
)

#: The same for what has none, and whose name is whole.
BARE = (
    (
        "embed_positions",
        TOWER + "positional_embedding",
        f"(vision_config.image_size // vision_config.patch_size) ** 2, {WIDTH}",
    ),
    ("ls_1", BLOCK + "ls_1.gamma", WIDTH),
    ("ls_2", BLOCK + "ls_2.gamma", WIDTH),
)

FAMILY = Family(
    name="step3p7",
    types={"step3p7": {}},
    rows=(
        Row(
            "embed_patches",
            TOWER + "conv1",
            f"{WIDTH}, vision_config.num_channels, vision_config.patch_size, vision_config.patch_size",
            tower="vision",
        ),
        *(Row(role, name, shape, bias="True", tower="vision") for role, name, shape in LINEAR),
        *(Row(role, name, shape, tower="vision", leaf="") for role, name, shape in BARE),
        Row("qkv_proj", BLOCK + "attn.in_proj_weight", f"3 * {WIDTH}, {WIDTH}", bias="True", tower="vision", leaf=""),
        *(
            Row(
                "projector",
                name,
                f"text_config.hidden_size, 4 * {WIDTH}",
                bias="projector_bias",
                heads=heads,
                tower="projector",
            )
            for name, heads in (("vit_large_projector", WHOLE), ("multi_modal_projector", BODY))
        ),
        TEXT,
        TEXT._replace(prefix="language_model.", heads=BODY),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads=WHOLE,
            tied="whole_is_tied",
        ),
    ),
    defaults={
        "projector_bias": False,
        "whole_is_tied": False,
        "text_config": {"hidden_size": 4096, "vocab_size": 128815},
        "vision_config": {
            "hidden_size": 1536,
            "image_size": 728,
            "intermediate_size": 8960,
            "num_channels": 3,
            "num_hidden_layers": 47,
            "patch_size": 14,
        },
    },
    # What the text model's configuration says is not asked: modeling_utils.py, get_expanded_tied_weights_keys.
    fields={"tie_word_embeddings": "whole_is_tied"},
    head=WHOLE,
)
