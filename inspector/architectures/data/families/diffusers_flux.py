"""Flux: transformers over latents and text together, first with weights of their own, then with the same.

After diffusers' `models/transformers/transformer_flux.py`. The parts it has in common with Stable Diffusion 3 are
written here.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

BLOCK = "transformer_blocks.{layer<num_layers}"
SINGLE = "single_transformer_blocks.{layer<num_single_layers}"
WIDTH = "num_attention_heads * attention_head_dim"


def embedder(name: str, role: str, inputs: str, when: str = "") -> Iterator[Row]:
    first = f"{WIDTH}, {inputs}"
    yield Row(f"{role}_linear_1", f"{name}.linear_1", first, bias="True", tower="time", when=when)
    yield Row(f"{role}_linear_2", f"{name}.linear_2", f"{WIDTH}, {WIDTH}", bias="True", tower="time", when=when)


def attention(path: str, tower: str, words: str = "to_q to_k to_v to_out.0", when: str = "") -> Iterator[Row]:
    for role, word in zip(("q_proj", "k_proj", "v_proj", "o_proj"), words.split(), strict=False):
        yield Row(role, f"{path}.{word}", f"{WIDTH}, {WIDTH}", bias="True", tower=tower, when=when)


def norms(path: str, tower: str, words: str, when: str = "") -> Iterator[Row]:
    for role, word in zip(("q_norm", "k_norm"), words.split(), strict=True):
        yield Row(role, f"{path}.{word}", "attention_head_dim", tower=tower, when=when)


def feed_forward(path: str, tower: str, when: str = "") -> Iterator[Row]:
    yield Row("up_proj", path + ".net.0.proj", f"4 * {WIDTH}, {WIDTH}", bias="True", tower=tower, when=when)
    yield Row("down_proj", path + ".net.2", f"{WIDTH}, 4 * {WIDTH}", bias="True", tower=tower, when=when)


def modulation(name: str, times: str, tower: str) -> Row:
    """Shifts, scales and gates, from the time step."""
    return Row("modulation", name + ".linear", f"({times}) * {WIDTH}, {WIDTH}", bias="True", tower=tower, group="norm")


def ends(outputs: str) -> tuple[Row, ...]:
    return (
        Row("modulation", "norm_out.linear", f"2 * {WIDTH}, {WIDTH}", bias="True", tower="image", group="norm"),
        Row("proj_out", "proj_out", f"{outputs}, {WIDTH}", bias="True", tower="image", group="head"),
    )


ROWS = (
    *embedder("time_text_embed.timestep_embedder", "time", "256"),
    *embedder("time_text_embed.guidance_embedder", "guidance", "256", "guidance_embeds"),
    *embedder("time_text_embed.text_embedder", "text", "pooled_projection_dim"),
    Row("context_embedder", "context_embedder", f"{WIDTH}, joint_attention_dim", bias="True", group="embedding"),
    Row("x_embedder", "x_embedder", f"{WIDTH}, in_channels", bias="True", tower="image", group="embedding"),
    modulation(BLOCK + ".norm1", "6", "image"),
    modulation(BLOCK + ".norm1_context", "6", "text"),
    *norms(BLOCK + ".attn", "image", "norm_q norm_k"),
    *attention(BLOCK + ".attn", "image"),
    *norms(BLOCK + ".attn", "text", "norm_added_q norm_added_k"),
    *attention(BLOCK + ".attn", "text", "add_q_proj add_k_proj add_v_proj to_add_out"),
    *feed_forward(BLOCK + ".ff", "image"),
    *feed_forward(BLOCK + ".ff_context", "text"),
    modulation(SINGLE + ".norm", "3", "both"),
    Row("proj_mlp", SINGLE + ".proj_mlp", f"4 * {WIDTH}, {WIDTH}", bias="True", tower="both", group="feed_forward"),
    Row("proj_out", SINGLE + ".proj_out", f"{WIDTH}, 5 * {WIDTH}", bias="True", tower="both", group="feed_forward"),
    *norms(SINGLE + ".attn", "both", "norm_q norm_k"),
    *attention(SINGLE + ".attn", "both", "to_q to_k to_v"),
    *ends("patch_size * patch_size * out_channels"),
)

FAMILY = Family(
    name="diffusers_flux",
    types={"FluxTransformer2DModel": {}},
    rows=ROWS,
    head="Model",
    defaults={
        "patch_size": 1,
        "in_channels": 64,
        "num_layers": 19,
        "num_single_layers": 38,
        "attention_head_dim": 128,
        "num_attention_heads": 24,
        "joint_attention_dim": 4096,
        "pooled_projection_dim": 768,
        "guidance_embeds": False,
    },
    derived={"out_channels": "in_channels"},
)
