"""Switch Transformers: T5 with a mixture of experts in each so-manieth layer, of which one works on a token."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

WHOLE = "ForConditionalGeneration Model"
INNER = "num_heads * d_kv"


def attention(name: str, side: str, heads: str, before: str = "") -> Iterator[Row]:
    group = "attention" if before else ""
    for role, word in (("q_proj", "q"), ("k_proj", "k"), ("v_proj", "v")):
        yield Row(before + role, f"{name}.{word}", f"{INNER}, d_model", tower=side, heads=heads, group=group)
    yield Row(before + "o_proj", name + ".o", f"d_model, {INNER}", tower=side, heads=heads, group=group)


def layers(side: str, count: str, heads: str = "") -> Iterator[Row]:
    """The blocks of the encoder or the decoder: attention, in the decoder to the encoder too, and a feed-forward."""
    block = f"{side}.block.{{layer<{count}}}.layer"
    step = f"{side}_sparse_step"
    sparse = f"{step} > 0 and (layer % {step} == 1 or {step} == 1)"
    last = 2 if side == "decoder" else 1
    mlp = f"{block}.{last}.mlp"
    yield Row(
        "embed_tokens",
        side + ".embed_tokens",
        "vocab_size, d_model",
        tied="tie_word_embeddings",
        tower=side,
        heads=heads,
    )
    yield from attention(block + ".0.SelfAttention", side, heads)
    yield Row(
        "relative_attention_bias",
        block + ".0.SelfAttention.relative_attention_bias",
        "relative_attention_num_buckets, num_heads",
        when="layer == 0",
        tower=side,
        heads=heads,
        group="embedding",
    )
    if side == "decoder":
        yield from attention(block + ".1.EncDecAttention", side, heads, "cross_")
    for at in range(last + 1):
        yield Row("layer_norm", f"{block}.{at}.layer_norm", "d_model", tower=side, heads=heads)
    yield Row(
        "router",
        mlp + ".router.classifier",
        "num_experts, d_model",
        bias="router_bias",
        when=sparse,
        tower=side,
        heads=heads,
    )
    for role, word, shape in (("up_proj", "wi", "d_ff, d_model"), ("down_proj", "wo", "d_model, d_ff")):
        expert = f"{mlp}.experts.expert_{{expert<num_experts}}.{word}"
        yield Row(role, expert, shape, when=sparse, tower=side, heads=heads, active="1")
        yield Row(role, f"{mlp}.{word}", shape, when=f"not ({sparse})", tower=side, heads=heads)
    yield Row("norm", side + ".final_layer_norm", "d_model", tower=side, heads=heads)


FAMILY = Family(
    name="switch_transformers",
    types={"switch_transformers": {}},
    rows=(
        Row("embed_tokens", "shared", "vocab_size, d_model"),
        *layers("encoder", "num_layers"),
        *layers("decoder", "num_decoder_layers", WHOLE),
        Row("lm_head", "lm_head", "vocab_size, d_model", tied="tie_word_embeddings", heads="ForConditionalGeneration"),
    ),
    classes={"SwitchTransformersEncoderModel": "EncoderModel"},
    head="ForConditionalGeneration",
    defaults={
        "vocab_size": 32128,
        "d_model": 768,
        "d_kv": 64,
        "d_ff": 2048,
        "num_layers": 12,
        "num_sparse_encoder_layers": 3,
        "num_sparse_decoder_layers": 3,
        "num_heads": 12,
        "num_experts": 8,
        "router_bias": False,
        "relative_attention_num_buckets": 32,
    },
    derived={
        "num_decoder_layers": "num_layers",
        "encoder_sparse_step": "num_layers // num_sparse_encoder_layers if num_sparse_encoder_layers > 0 else num_layers",
        "decoder_sparse_step": "num_decoder_layers // num_sparse_decoder_layers"
        " if num_sparse_decoder_layers > 0 else num_decoder_layers",
    },
    fields={"hidden_size": "d_model", "num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"},
)
