"""dots3.note's vision tower, whose later layers may be mixtures, and what leads from it into the text model."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import DENSE, SPARSE
from inspector.architectures.table import Family, Row

BLOCK = "blocks.{layer<num_hidden_layers}"
MERGED = "hidden_size * spatial_merge_size ** 2"


def feed_forward(at: str, width: str, when: str, bias: str = "", active: str = "") -> Iterator[Row]:
    for role, word, shape in (
        ("gate_proj", "fc1", f"{width}, hidden_size"),
        ("up_proj", "fc3", f"{width}, hidden_size"),
        ("down_proj", "fc2", f"hidden_size, {width}"),
    ):
        yield Row(role, f"{at}.{word}", shape, bias=bias, when=when, active=active)


def adapter() -> Iterator[Row]:
    """Neighbouring patches become one; the layers are numbers of one list."""
    yield Row("adapter_norm", "adapter.ln_q", "hidden_size", bias="True", tower="projector")
    for number, shape in ((0, f"{MERGED}, {MERGED}"), (2, f"adapter_out_dim, {MERGED}")):
        yield Row("adapter_linear", f"adapter.mlp.{number}", shape, bias="True", tower="projector", group="other")


FAMILY = Family(
    name="dots3_note_vision_encoder",
    types={"dots3_note_vision_encoder": {}},
    rows=(
        Row("embed_patches", "patch_embed.proj", "hidden_size, num_channels, patch_size, patch_size", bias="True"),
        Row("embed_norm", "patch_embed.norm", "hidden_size"),
        Row("input_layernorm", BLOCK + ".norm_1", "hidden_size"),
        Row("qkv_proj", BLOCK + ".attn.qkv", "3 * hidden_size, hidden_size", bias="attention_bias"),
        Row("q_norm", BLOCK + ".attn.q_norm", "head_dim"),
        Row("k_norm", BLOCK + ".attn.k_norm", "head_dim"),
        Row("o_proj", BLOCK + ".attn.proj", "hidden_size, hidden_size", bias="attention_bias"),
        Row("post_attention_layernorm", BLOCK + ".norm_2", "hidden_size"),
        *feed_forward(BLOCK + ".mlp", "intermediate_size", DENSE, "mlp_bias"),
        Row("router", BLOCK + ".mlp.gate_weight", "num_local_experts, hidden_size", when=SPARSE, leaf=""),
        Row(
            "router_bias",
            BLOCK + ".mlp.router_bias",
            "num_local_experts",
            when=SPARSE,
            leaf="",
            buffer=True,
            persistent=True,
        ),
        *feed_forward(
            BLOCK + ".mlp.experts.{expert<num_local_experts}",
            "moe_intermediate_size",
            SPARSE,
            active="num_experts_per_tok",
        ),
        Row("norm", "post_trunk_norm", "hidden_size"),
        *adapter(),
    ),
    head="Model",
    defaults={
        "adapter_out_dim": 5120,
        "attention_bias": False,
        "hidden_size": 1536,
        "intermediate_size": 4224,
        "mlp_bias": False,
        "moe_intermediate_size": 2112,
        "num_attention_heads": 24,
        "num_channels": 3,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 42,
        "num_local_experts": 64,
        "patch_size": 14,
        "spatial_merge_size": 2,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    fields={"embed_dim": "hidden_size", "num_heads": "num_attention_heads", "use_bias": "attention_bias"},
)
