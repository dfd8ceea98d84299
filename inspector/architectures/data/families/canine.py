"""CANINE: BERT over characters, which a convolution makes fewer and another as many again."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

#: modeling_canine.py has so many primes to hash with.
MOST_HASHES = 16
SQUARE = "hidden_size, hidden_size"


def linear(role: str, name: str, shape: str, tower: str = "text", heads: str = "") -> Row:
    return Row(role, "canine." + name if not heads else name, shape, bias="True", tower=tower, heads=heads)


def characters() -> Iterator[Row]:
    """A part of each character's embedding from each of the hashes of its number."""
    for number in range(MOST_HASHES):
        yield Row(
            f"embed_hash_{number}",
            f"canine.char_embeddings.HashBucketCodepointEmbedder_{number}",
            "num_hash_buckets, hidden_size // num_hash_functions",
            when=f"num_hash_functions > {number}",
        )


def layers(name: str, number: str, tower: str = "text") -> Iterator[Row]:
    """The layers of one of the three encoders."""
    layer = f"{name}.layer.{{layer<{number}}}"
    for role, word in (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value")):
        yield linear(role, f"{layer}.attention.self.{word}", SQUARE, tower)
    yield linear("o_proj", layer + ".attention.output.dense", SQUARE, tower)
    yield linear("post_attention_layernorm", layer + ".attention.output.LayerNorm", "hidden_size", tower)
    yield linear("up_proj", layer + ".intermediate.dense", "intermediate_size, hidden_size", tower)
    yield linear("down_proj", layer + ".output.dense", "hidden_size, intermediate_size", tower)
    yield linear("post_feedforward_layernorm", layer + ".output.LayerNorm", "hidden_size", tower)


FAMILY = Family(
    name="canine",
    types={"canine": {}},
    rows=(
        *characters(),
        # As many positions as buckets, whatever `max_position_embeddings` says: modeling_canine.py.
        Row("embed_positions", "canine.char_embeddings.char_position_embeddings", "num_hash_buckets, hidden_size"),
        Row("embed_token_types", "canine.char_embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        linear("embed_norm", "char_embeddings.LayerNorm", "hidden_size"),
        *layers("initial_char_encoder", "1", "initial_char_encoder"),
        linear("downsample_conv", "chars_to_molecules.conv", f"{SQUARE}, downsampling_rate"),
        linear("downsample_norm", "chars_to_molecules.LayerNorm", "hidden_size"),
        *layers("encoder", "num_hidden_layers"),
        linear("upsample_conv", "projection.conv", "hidden_size, 2 * hidden_size, upsampling_kernel_size"),
        linear("upsample_norm", "projection.LayerNorm", "hidden_size"),
        *layers("final_char_encoder", "1", "final_char_encoder"),
        linear("pooler", "pooler.dense", SQUARE),
        linear(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        linear("classifier", "classifier", "1, hidden_size", heads="ForMultipleChoice"),
        linear("qa_outputs", "qa_outputs", "num_labels, hidden_size", heads="ForQuestionAnswering"),
    ),
    prefix="canine.",
    head="Model",
    defaults={
        "downsampling_rate": 4,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_hash_buckets": 16384,
        "num_hash_functions": 8,
        "num_hidden_layers": 12,
        "type_vocab_size": 16,
        "upsampling_kernel_size": 4,
    },
)
