"""Kimi K2.5: a vision tower, a projector, and DeepSeek-V3 as text model.

Today's Transformers writes `blocks` for every `layers` and `wqkv` for every `attn.q_proj`, in the text model too:
conversion_mapping.py, whose renames for the vision tower are not bound to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row

WHOLE, BODY = "ForConditionalGeneration", "Model"
WIDTH = "vision_config.hidden_size"
WITHIN = "vision_config.intermediate_size"
MERGED = f"{WIDTH} * vision_config.merge_kernel_size[0] * vision_config.merge_kernel_size[1]"


def text(at: str, heads: str) -> Iterator[Row | Include]:
    """The text model at a path."""
    yield Row("embed_tokens", at + "embed_tokens", "text_config.vocab_size, text_config.hidden_size", heads=heads)
    yield Include(
        "text_config",
        at + "blocks.",
        strip="layers.",
        head="Model",
        default_type="deepseek_v3",
        heads=heads,
        without="embed_tokens q_proj norm",
    )
    yield Row(
        "q_proj",
        at + "blocks.{layer<text_config.num_hidden_layers}.self_wqkv",
        "text_config.num_attention_heads * (text_config.qk_nope_head_dim + text_config.qk_rope_head_dim),"
        " text_config.hidden_size",
        when="text_config.q_lora_rank is None",
        heads=heads,
    )
    yield Row("norm", at + "norm", "text_config.hidden_size", heads=heads)


#: Role → name in classes with a head, name in the body alone, shape.
BLOCK = {
    "input_layernorm": ("norm0", "norm1", WIDTH),
    "qkv_proj": ("wqkv", "wqkv", f"3 * {WIDTH}, {WIDTH}"),
    "o_proj": ("wo", "attn.proj", f"{WIDTH}, {WIDTH}"),
    "post_attention_layernorm": ("norm1", "norm2", WIDTH),
    "up_proj": ("mlp.fc0", "mlp.fc1", f"{WITHIN}, {WIDTH}"),
    "down_proj": ("mlp.fc1", "mlp.fc2", f"{WIDTH}, {WITHIN}"),
}
BLOCKS = "blocks.{layer<vision_config.num_hidden_layers}."


def vision() -> Iterator[Row]:
    """The vision tower under both of its names."""
    for at, heads in (("vision_tower.encoder.", WHOLE), ("vision_tower.", BODY)):
        yield Row(
            "embed_patches",
            at + "patch_embed.proj",
            f"{WIDTH}, 3, vision_config.patch_size, vision_config.patch_size",
            bias="True",
            heads=heads,
            tower="vision",
        )
        yield Row(
            "embed_positions",
            "vision_tower.patch_embed.pos_emb" + ("" if heads == WHOLE else ".position_embeddings"),
            f"vision_config.pos_emb_height, vision_config.pos_emb_width, {WIDTH}",
            heads=heads,
            tower="vision",
            leaf="weight" if heads == WHOLE else "",
        )
        for role, (whole, body, shape) in BLOCK.items():
            name = at + BLOCKS + (whole if heads == WHOLE else body)
            yield Row(role, name, shape, bias="True", heads=heads, tower="vision")
        yield Row("norm", at + "final_layernorm", WIDTH, bias="True", heads=heads, tower="vision")


def projector() -> Iterator[Row]:
    """The projector; its linear layers are parts of a list in classes with a head."""
    yield Row("pre_norm", "model.mm_projector.pre_norm", "projection_hidden_size", bias="True", tower="projector")
    yield Row(
        "proj",
        "mm_projector.proj.{step<3}",
        f"text_config.hidden_size if step else {MERGED}, {MERGED}",
        bias="True",
        when="step != 1",
        heads=WHOLE,
        tower="projector",
    )
    yield Row("in_proj", "mm_projector.in_proj", f"{MERGED}, {MERGED}", bias="True", heads=BODY, tower="projector")
    yield Row(
        "out_proj",
        "mm_projector.out_proj",
        f"text_config.hidden_size, {MERGED}",
        bias="True",
        heads=BODY,
        tower="projector",
    )


FAMILY = Family(
    name="kimi_k25",
    types={"kimi_k25": {}},
    rows=(
        *vision(),
        *projector(),
        *text("language_model.model.", WHOLE),
        *text("language_model.", BODY),
        Row(
            "lm_head",
            "language_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads=WHOLE,
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={
        "projection_hidden_size": 1152,
        "text_config": {},
        "tie_word_embeddings": True,
        "vision_config": {
            "hidden_size": 1152,
            "intermediate_size": 4304,
            "merge_kernel_size": [2, 2],
            "num_hidden_layers": 27,
            "patch_size": 14,
            "pos_emb_height": 64,
            "pos_emb_width": 64,
        },
    },
    head=WHOLE,
)
