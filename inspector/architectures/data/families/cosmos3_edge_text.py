"""Cosmos 3 Edge's text model: grouped-query attention, a feed-forward without gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}."

#: What the text model's own class calls the linear layers, and what classes with a vision tower do.
OWN = {
    "q_proj": "q_proj",
    "k_proj": "k_proj",
    "v_proj": "v_proj",
    "o_proj": "o_proj",
    "up_proj": "fc1",
    "down_proj": "fc2",
}
PUBLISHED = {
    "q_proj": "to_q",
    "k_proj": "to_k",
    "v_proj": "to_v",
    "o_proj": "to_out",
    "up_proj": "up_proj",
    "down_proj": "down_proj",
}


def linear(words: Mapping[str, str], heads: str) -> Iterator[Row]:
    """The layers whose names go by the class."""
    for role, shape in (
        ("q_proj", "num_attention_heads * head_dim, hidden_size"),
        ("k_proj", "num_key_value_heads * head_dim, hidden_size"),
        ("v_proj", "num_key_value_heads * head_dim, hidden_size"),
        ("o_proj", "hidden_size, num_attention_heads * head_dim"),
    ):
        yield Row(role, f"{LAYER}self_attn.{words[role]}", shape, bias="attention_bias", heads=heads)
    for role, shape in (("up_proj", "intermediate_size, hidden_size"), ("down_proj", "hidden_size, intermediate_size")):
        yield Row(role, f"{LAYER}mlp.{words[role]}", shape, bias="mlp_bias", heads=heads)


FAMILY = Family(
    name="cosmos3_edge_text",
    types={"cosmos3_edge_text": {}},
    rows=(
        Row("embed_tokens", "embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + "input_layernorm", "hidden_size"),
        *linear(OWN, "Model"),
        *linear(PUBLISHED, "Published"),
        Row("post_attention_layernorm", LAYER + "post_attention_layernorm", "hidden_size"),
        Row("norm", "norm", "hidden_size"),
    ),
    defaults={
        "attention_bias": False,
        "head_dim": 128,
        "hidden_size": 2048,
        "intermediate_size": 9216,
        "mlp_bias": False,
        "num_attention_heads": 16,
        "num_hidden_layers": 28,
        "num_key_value_heads": 8,
        "tie_word_embeddings": False,
        "vocab_size": 131072,
    },
    head="Model",
)
