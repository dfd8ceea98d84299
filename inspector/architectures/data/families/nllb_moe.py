"""NLLB-MoE: an encoder and a decoder in which each so-manieth layer is a mixture of experts."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row


def linear(role: str, name: str, shape: str, tower: str, when: str = "") -> Row:
    return Row(role, name, shape, bias="True", when=when, tower=tower)


def layers(side: str) -> Iterator[Row]:
    """The layers of the encoder or the decoder."""
    layer = f"model.{side}.layers.{{layer<{side}_layers}}"
    width, step = f"{side}_ffn_dim", f"{side}_sparse_step"
    sparse = f"{step} > 0 and (layer + 1) % {step} == 0"
    expert = layer + ".ffn.experts.expert_{expert<num_experts}"
    yield linear("input_layernorm", layer + ".self_attn_layer_norm", "d_model", side)
    for role, word in (("q_proj", "q_proj"), ("k_proj", "k_proj"), ("v_proj", "v_proj"), ("o_proj", "out_proj")):
        yield linear(role, f"{layer}.self_attn.{word}", "d_model, d_model", side)
    if side == "decoder":
        for role, word in (("q_proj", "q_proj"), ("k_proj", "k_proj"), ("v_proj", "v_proj"), ("o_proj", "out_proj")):
            yield linear("cross_" + role, f"{layer}.cross_attention.{word}", "d_model, d_model", side)
        yield Row(
            "cross_layernorm", layer + ".cross_attention_layer_norm", "d_model", bias="True", tower=side, group="norm"
        )
    yield linear("pre_feedforward_layernorm", layer + ".ff_layer_norm", "d_model", side)
    yield Row(
        "router", layer + ".ffn.router.classifier", "num_experts, d_model", bias="router_bias", when=sparse, tower=side
    )
    for role, name, shape in (("up_proj", "fc1", f"{width}, d_model"), ("down_proj", "fc2", f"d_model, {width}")):
        # Top-2 routing, fixed in the code: NllbMoeTop2Router.
        yield Row(role, f"{expert}.{name}", shape, bias="True", when=sparse, tower=side, active="2")
        yield linear(role, f"{layer}.ffn.{name}", shape, side, f"not ({sparse})")
    yield linear("norm", f"model.{side}.layer_norm", "d_model", side)


FAMILY = Family(
    name="nllb-moe",
    types={"nllb-moe": {}},
    rows=(
        Row("embed_tokens", "model.shared", "vocab_size, d_model"),
        Row(
            "embed_tokens",
            "model.encoder.embed_tokens",
            "vocab_size, d_model",
            tied="tie_word_embeddings",
            tower="encoder",
        ),
        Row(
            "embed_tokens",
            "model.decoder.embed_tokens",
            "vocab_size, d_model",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
        *layers("encoder"),
        *layers("decoder"),
        Row("lm_head", "lm_head", "vocab_size, d_model", tied="tie_word_embeddings", heads="ForConditionalGeneration"),
    ),
    prefix="model.",
    head="ForConditionalGeneration",
    defaults={
        "vocab_size": 128112,
        "d_model": 1024,
        "encoder_layers": 12,
        "decoder_layers": 12,
        "encoder_ffn_dim": 4096,
        "decoder_ffn_dim": 4096,
        "encoder_sparse_step": 4,
        "decoder_sparse_step": 4,
        "num_experts": 128,
        "router_bias": False,
    },
    fields={"hidden_size": "d_model", "num_attention_heads": "encoder_attention_heads"},
)
