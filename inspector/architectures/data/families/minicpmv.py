"""MiniCPM-V 2.0 to 4.5, whose code comes with their checkpoints: a text model that the version tells, SigLIP's tower
and a resampler of `query_num` learned queries.

2.0 has MiniCPM and the tower under timm's names, 2.5 Llama 3, 2.6 Qwen2, 4.0 Llama's form again, 4.5 Qwen3.
`drop_vision_last_layer` is a field.
"""

from __future__ import annotations

from inspector.architectures.data.families.shared import (
    ATTENTION,
    DECODER_DEFAULTS,
    DECODER_DERIVED,
    EMBED_TOKENS,
    FEED_FORWARD,
    NORMS,
)
from inspector.architectures.table import Family, Row

VPM = "vpm.encoder.layers.{layer<vision_config.num_hidden_layers - drop_vision_last_layer}"
TIMM_LAYER = "vpm.blocks.{layer<vision_config.num_hidden_layers - drop_vision_last_layer}"
TIMM, OWN = "vision_encoder is not None", "vision_encoder is None"
TIMM_SIDE = "384 // vision_config.patch_size"  # of vit_so400m_patch14_siglip_384, the one that 2.0 names
_VISION = "vision_config.hidden_size"
_TEXT = (EMBED_TOKENS, *ATTENTION, *FEED_FORWARD, *NORMS)


def _vision(role: str, name: str, shape: str, *, when: str = OWN) -> Row:
    return Row(role, name, shape, bias="True", when=when, tower="vision")


def _timm(role: str, name: str, shape: str) -> Row:
    return _vision(role, name, shape, when=TIMM)


def _resampler(role: str, name: str, shape: str, *, bias: str = "", leaf: str = "weight", group: str = "") -> Row:
    return Row(role, "resampler." + name, shape, bias=bias, leaf=leaf, tower="projector", group=group)


FAMILY = Family(
    name="minicpmv",
    types={"minicpmv": {}},
    rows=(
        *(row._replace(name="llm." + row.name) for row in _TEXT),
        Row("lm_head", "llm.lm_head", "vocab_size, hidden_size", tied="tie_word_embeddings"),
        _vision(
            "embed_patches",
            "vpm.embeddings.patch_embedding",
            f"{_VISION}, 3, vision_config.patch_size, vision_config.patch_size",
        ),
        Row(
            "position_embedding",
            "vpm.embeddings.position_embedding",
            f"(vision_config.image_size // vision_config.patch_size) ** 2, {_VISION}",
            when=OWN,
            tower="vision",
        ),
        _vision("input_layernorm", VPM + ".layer_norm1", _VISION),
        _vision("q_proj", VPM + ".self_attn.q_proj", f"{_VISION}, {_VISION}"),
        _vision("k_proj", VPM + ".self_attn.k_proj", f"{_VISION}, {_VISION}"),
        _vision("v_proj", VPM + ".self_attn.v_proj", f"{_VISION}, {_VISION}"),
        _vision("o_proj", VPM + ".self_attn.out_proj", f"{_VISION}, {_VISION}"),
        _vision("post_attention_layernorm", VPM + ".layer_norm2", _VISION),
        _vision("up_proj", VPM + ".mlp.fc1", f"vision_config.intermediate_size, {_VISION}"),
        _vision("down_proj", VPM + ".mlp.fc2", f"{_VISION}, vision_config.intermediate_size"),
        _vision("norm", "vpm.post_layernorm", _VISION),
        _timm(
            "embed_patches", "vpm.patch_embed.proj", f"{_VISION}, 3, vision_config.patch_size, vision_config.patch_size"
        ),
        Row(
            "position_embedding",
            "vpm.pos_embed",
            f"1, ({TIMM_SIDE}) ** 2, {_VISION}",
            when=TIMM,
            leaf="",
            tower="vision",
        ),
        _timm("input_layernorm", TIMM_LAYER + ".norm1", _VISION),
        _timm("qkv_proj", TIMM_LAYER + ".attn.qkv", f"3 * {_VISION}, {_VISION}"),
        _timm("o_proj", TIMM_LAYER + ".attn.proj", f"{_VISION}, {_VISION}"),
        _timm("post_attention_layernorm", TIMM_LAYER + ".norm2", _VISION),
        _timm("up_proj", TIMM_LAYER + ".mlp.fc1", f"vision_config.intermediate_size, {_VISION}"),
        _timm("down_proj", TIMM_LAYER + ".mlp.fc2", f"{_VISION}, vision_config.intermediate_size"),
        _timm("norm", "vpm.norm", _VISION),
        Row(
            "position_embedding",
            "resampler.pos_embed",
            "query_num, hidden_size",
            when=TIMM,
            leaf="",
            tower="projector",
        ),
        _resampler("query", "query", "query_num, hidden_size", leaf="", group="other"),
        _resampler("kv_proj", "kv_proj", f"hidden_size, {_VISION}"),
        _resampler("qkv_proj", "attn.in_proj_weight", "3 * hidden_size, hidden_size", bias="True", leaf=""),
        _resampler("o_proj", "attn.out_proj", "hidden_size, hidden_size", bias="True"),
        _resampler("q_norm", "ln_q", "hidden_size", bias="True"),
        _resampler("kv_norm", "ln_kv", "hidden_size", bias="True", group="norm"),
        _resampler("norm", "ln_post", "hidden_size", bias="True"),
        _resampler("proj", "proj", "hidden_size, hidden_size", leaf="", group="other"),
    ),
    prefix="llm.model.",
    head="",
    classes={"MiniCPMV": ""},
    defaults={
        **DECODER_DEFAULTS,
        "drop_vision_last_layer": True,
        "query_num": 64,
        "version": 2.5,
        "vision_encoder": None,
        "vision_config": {
            "hidden_size": 1152,
            "image_size": 980,
            "intermediate_size": 4304,
            "num_hidden_layers": 27,
            "patch_size": 14,
        },
    },
    derived={
        **DECODER_DERIVED,
        "qkv_bias": "version == 2.6 or version == '2.6'",
        "qk_norm": "version == 4.5 or version == '4.5'",
    },
)
