"""SEW-D: SEW with DeBERTa's attention, which tells content and place apart."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families import sew, wav2vec2
from inspector.architectures.table import Family, Row

PREFIX = "sew_d."
ENCODER = PREFIX + "encoder.encoder."
LAYER = ENCODER + "layer.{layer<num_hidden_layers}."
#: Projections of places are apart only where those of contents do not serve.
APART = "relative_attention and not share_att_key and '{}' in pos_att_type"


def layers() -> Iterator[Row]:
    square = "hidden_size, hidden_size"
    attention = LAYER + "attention."
    for role, word in (("q_proj", "query_proj"), ("k_proj", "key_proj"), ("v_proj", "value_proj")):
        yield wav2vec2.linear(role, f"{attention}self.{word}", square)
    for word, way in (("pos_key_proj", "c2p"), ("pos_query_proj", "p2c")):
        yield wav2vec2.linear(word, f"{attention}self.{word}", square, APART.format(way), "attention")
    yield wav2vec2.linear("o_proj", attention + "output.dense", square)
    yield wav2vec2.linear("post_attention_layernorm", attention + "output.LayerNorm", "hidden_size")
    yield wav2vec2.linear("up_proj", LAYER + "intermediate.dense", "intermediate_size, hidden_size")
    yield wav2vec2.linear("down_proj", LAYER + "output.dense", "hidden_size, intermediate_size")
    yield wav2vec2.linear("post_feedforward_layernorm", LAYER + "output.LayerNorm", "hidden_size")


FAMILY = Family(
    name="sew-d",
    types={"sew-d": {}},
    rows=(
        *sew.around(PREFIX),
        Row(
            "rel_embeddings",
            ENCODER + "rel_embeddings",
            "2 * (position_buckets if position_buckets > 0 else max_position_embeddings), hidden_size",
            when="relative_attention",
            group="embedding",
        ),
        wav2vec2.linear("rel_embeddings_norm", ENCODER + "LayerNorm", "hidden_size", "'layer_norm' in norm_rel_ebd"),
        *layers(),
        *wav2vec2.heads(),
    ),
    prefix=PREFIX,
    head=wav2vec2.CTC,
    defaults={
        **sew.SIZES,
        "max_position_embeddings": 512,
        "position_buckets": 256,
        "share_att_key": True,
        "relative_attention": True,
        "pos_att_type": ["p2c", "c2p"],
        "norm_rel_ebd": "layer_norm",
    },
    derived=wav2vec2.DERIVED,
)
