"""NV-Embed, whose code comes with its checkpoints: Mistral without a head, and attention from its states to learned ones."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

POOL = "latent_attention_model"
_LATENT = "latent_attention_config.latent_dim"
_INNER = "latent_attention_config.num_cross_heads * latent_attention_config.cross_dim_head"


def _pool(role: str, name: str, shape: str, *, bias: str = "", leaf: str = "weight", group: str = "") -> Row:
    return Row(role, f"{POOL}.{name}", shape, bias=bias, leaf=leaf, tower="projector", group=group)


FAMILY = Family(
    name="nvembed",
    types={"nvembed": {}},
    rows=(
        Include("text_config", "embedding_model.", head="Model", default_type="mistral"),
        _pool("latents", "latents", f"latent_attention_config.num_latents_value, {_LATENT}", leaf="", group="other"),
        _pool("input_layernorm", "cross_attend_blocks.0.norm", _LATENT, bias="True"),
        _pool(
            "context_norm",
            "cross_attend_blocks.0.norm_context",
            "latent_attention_config.hidden_dim",
            bias="True",
        ),
        _pool("cross_q_proj", "cross_attend_blocks.0.fn.to_q", f"{_INNER}, {_LATENT}"),
        _pool("cross_kv_proj", "cross_attend_blocks.0.fn.to_kv", f"2 * {_INNER}, latent_attention_config.hidden_dim"),
        _pool("cross_o_proj", "cross_attend_blocks.0.fn.to_out", f"{_LATENT}, {_INNER}"),
        _pool("post_attention_layernorm", "cross_attend_blocks.1.norm", _LATENT, bias="True"),
        _pool("gate_up_proj", "cross_attend_blocks.1.fn.net.0", f"8 * {_LATENT}, {_LATENT}", bias="True"),
        _pool("down_proj", "cross_attend_blocks.1.fn.net.2", f"{_LATENT}, 4 * {_LATENT}", bias="True"),
    ),
    head="Model",
    defaults={
        "latent_attention_config": {
            "cross_dim_head": 4096,
            "hidden_dim": 4096,
            "latent_dim": 4096,
            "num_cross_heads": 8,
            "num_latents_value": 512,
        },
        "text_config": {},
    },
)
