"""Names from every convention → the same keys."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from every import every

from inspector.architectures import family_of, load, model_types
from inspector.architectures.naming import Namer
from inspector.model import STACKED, Key

#: The same tensor as named by Transformers, Meta, GPT-2, BERT, Megatron's descendants, OPT and MPT.
SAME: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("embed_tokens", "weight"): (
        "model.embed_tokens.weight",
        "embed_tokens.weight",
        "tok_embeddings.weight",
        "transformer.wte.weight",
        "wte.weight",
        "bert.embeddings.word_embeddings.weight",
        "gpt_neox.embed_in.weight",
        "module.model.embed_tokens.weight",
    ),
    ("lm_head", "weight"): ("lm_head.weight", "output.weight", "embed_out.weight", "cls.predictions.decoder.weight"),
    ("norm", "weight"): (
        "model.norm.weight",
        "norm.weight",
        "transformer.ln_f.weight",
        "gpt_neox.final_layer_norm.weight",
    ),
}
LAYERED: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("q_proj", "weight"): (
        "model.layers.7.self_attn.q_proj.weight",
        "layers.7.self_attn.q_proj.weight",
        "layers.7.attention.wq.weight",
        "bert.encoder.layer.7.attention.self.query.weight",
        "encoder.layer.7.attention.self.query.weight",
    ),
    ("q_proj", "bias"): ("model.layers.7.self_attn.q_proj.bias", "bert.encoder.layer.7.attention.self.query.bias"),
    ("o_proj", "weight"): (
        "model.layers.7.self_attn.o_proj.weight",
        "layers.7.attention.wo.weight",
        "h.7.attn.c_proj.weight",
        "bert.encoder.layer.7.attention.output.dense.weight",
        "transformer.h.7.self_attention.dense.weight",
    ),
    ("qkv_proj", "weight"): (
        "h.7.attn.c_attn.weight",
        "transformer.h.7.self_attention.query_key_value.weight",
        "gpt_neox.layers.7.attention.query_key_value.weight",
        "transformer.blocks.7.attn.Wqkv.weight",
        "model.layers.7.self_attn.qkv_proj.weight",
    ),
    ("gate_proj", "weight"): ("model.layers.7.mlp.gate_proj.weight", "layers.7.feed_forward.w1.weight"),
    ("up_proj", "weight"): (
        "model.layers.7.mlp.up_proj.weight",
        "layers.7.feed_forward.w3.weight",
        "transformer.h.7.mlp.c_fc.weight",
        "bert.encoder.layer.7.intermediate.dense.weight",
        "h.7.mlp.dense_h_to_4h.weight",
    ),
    ("down_proj", "weight"): (
        "model.layers.7.mlp.down_proj.weight",
        "layers.7.feed_forward.w2.weight",
        "h.7.mlp.c_proj.weight",
        "bert.encoder.layer.7.output.dense.weight",
        "h.7.mlp.dense_4h_to_h.weight",
    ),
    ("input_layernorm", "weight"): (
        "model.layers.7.input_layernorm.weight",
        "layers.7.attention_norm.weight",
        "h.7.ln_1.weight",
    ),
    ("post_attention_layernorm", "weight"): (
        "model.layers.7.post_attention_layernorm.weight",
        "layers.7.ffn_norm.weight",
        "h.7.ln_2.weight",
        "bert.encoder.layer.7.attention.output.LayerNorm.weight",
        "bert.encoder.layer.7.attention.output.LayerNorm.gamma",
    ),
}


def key_of(name: str, namer: Namer | None = None) -> Key:
    return (namer or Namer()).name([name]).key(0)


@every(("role", "part", "name"), [(*key, name) for key, names in SAME.items() for name in names])
def test_outside_the_layers(role: str, part: str, name: str) -> None:
    """By convention alone, with no family's table."""
    assert key_of(name) == Key("text", None, None, role, part)


@every(("role", "part", "name"), [(*key, name) for key, names in LAYERED.items() for name in names])
def test_in_a_layer(role: str, part: str, name: str) -> None:
    """By convention alone, with the layer's number."""
    assert key_of(name) == Key("text", 7, None, role, part)


@pytest.mark.parametrize(
    ("name", "expert", "role"),
    [
        ("model.layers.3.block_sparse_moe.experts.5.w1.weight", 5, "gate_proj"),
        ("model.layers.3.block_sparse_moe.experts.5.w2.weight", 5, "down_proj"),
        ("model.layers.3.block_sparse_moe.experts.5.w3.weight", 5, "up_proj"),
        ("model.layers.3.mlp.experts.5.gate_proj.weight", 5, "gate_proj"),
        ("model.layers.3.mlp.experts.gate_up_proj", STACKED, "gate_up_proj"),
        ("model.layers.3.block_sparse_moe.gate.weight", None, "router"),
        ("model.layers.3.mlp.shared_experts.gate_proj.weight", None, "shared_gate_proj"),
    ],
)
def test_experts(name: str, expert: int | None, role: str) -> None:
    """Separate, stacked and shared experts, and the router."""
    assert key_of(name) == Key("text", 3, expert, role, "weight")


def test_an_lstms_layers_are_in_the_last_words() -> None:
    """`weight_ih_l1`: each tensor has a key of its own, with and without a table."""
    names = [f"prediction.lstm.{word}_l{at}" for word in ("weight_ih", "weight_hh", "bias_ih") for at in (0, 1, 12)]
    assert len(set(Namer(None, {"model_type": "unheard_of"}).name(names).keys())) == len(names)
    slot = Namer(load("encodec"), {"model_type": "encodec"}).slot("decoder.layers.{}.lstm.bias_hh_l{}")
    assert slot.key(["1", "2"]) == Key("decoder", 1, None, "lstm_hidden", "weight", "bias", (2,))


def test_a_split_weight_has_an_older_name() -> None:
    """`weight_g` and `weight_v`, as in published speech models, are now a parametrization."""
    namer = Namer(load("wav2vec2"), {"model_type": "wav2vec2"})
    conv = "wav2vec2.encoder.pos_conv_embed.conv."
    for old, new in (("weight_g", "original0"), ("weight_v", "original1")):
        assert namer.slot(conv + old) == namer.slot(f"{conv}parametrizations.weight.{new}")
        assert namer.slot(conv + old).row is not None


def test_buffers() -> None:
    """GPT-2's masks and rotary frequencies are not parameters."""
    named = Namer().name(["h.3.attn.bias", "h.3.attn.masked_bias", "model.layers.3.self_attn.rotary_emb.inv_freq"])
    assert [slot.group for slot in named.slots] == ["buffer"] * 3


def test_towers_are_distinguished_and_one_alone_is_text() -> None:
    """Encoder and decoder together are towers; BERT's encoder is the text model."""
    both = Namer().name(["encoder.layers.0.self_attn.q_proj.weight", "decoder.layers.0.self_attn.q_proj.weight"])
    assert [slot.tower for slot in both.slots] == ["encoder", "decoder"]
    assert key_of("vision_tower.encoder.layers.0.self_attn.q_proj.weight").tower == "vision"


@pytest.mark.parametrize(
    "name", ["a\nb.0.weight", "{}.0.{}.weight", "0", "", ".", "layers.99999999999.x", "layers.①.x"]
)
def test_strange_names_get_a_key(name: str) -> None:
    """Any name has a key, alone and among others."""
    alone = key_of(name)
    assert Namer().name(["lm_head.weight", name, "lm_head.bias"]).key(1) == alone


def test_unknown_words_have_no_role() -> None:
    """A name that nothing explains has no role, and keeps its layer."""
    assert key_of("model.layers.4.flux_capacitor.weight") == Key("text", 4, None, "", "weight")


FAMILIES = sorted(set(model_types().values()))


@every("table", FAMILIES, parts=9)
def test_index_is_what_the_families_say(table: str) -> None:
    """The index finds a family without loading the others, and agrees with the tables."""
    family = load(table)
    assert {name for name, home in model_types().items() if home == table} == set(family.types)


def test_numbers_in_a_name_decide_its_role() -> None:
    """InternVL's projector is a sequence: the first of its modules is a norm, the others are projections."""
    config = {"model_type": "internvl_chat", "llm_config": {"model_type": "qwen2"}, "vision_config": {}}
    named = Namer(family_of(config), config).name(
        [f"mlp1.{n}.{leaf}" for n in (0, 1, 3) for leaf in ("weight", "bias")]
    )
    assert [(slot.role, slot.group, slot.part) for slot in named.slots] == [
        ("proj_norm", "norm", "weight"),
        ("proj_norm", "norm", "bias"),
        ("up_proj", "feed_forward", "weight"),
        ("up_proj", "feed_forward", "bias"),
        ("down_proj", "feed_forward", "weight"),
        ("down_proj", "feed_forward", "bias"),
    ]
    assert [key.indexes for key in named.keys()] == [(0,), (0,), (1,), (1,), (3,), (3,)]


@pytest.mark.parametrize(
    ("name", "tower"),
    [
        ("model.encoder.layers.0.self_attn.qkv_proj.weight", "encoder"),
        ("model.decoder.layers.1.self_attn.q_proj.lora_A.default.weight", "decoder"),
        ("model.unheard.weight", "text"),  # the module that it shares with known tensors has both towers
        ("unheard.weight", "text"),
    ],
)
def test_an_unknown_tensor_is_in_its_modules_tower(name: str, tower: str) -> None:
    """BART's table has neither a fused projection nor an adapter."""
    config = {"model_type": "bart", "architectures": ["BartForConditionalGeneration"]}
    known = [
        f"model.{tower}.layers.{at}.self_attn.{word}_proj.weight"
        for tower in ("encoder", "decoder")
        for at in (0, 1)
        for word in "qk"
    ]
    named = Namer(family_of(config), config).name([*known, name])
    assert named.key(len(known)).tower == tower
    assert {named.key(at).tower for at in range(len(known))} == {"encoder", "decoder"}


def test_the_norm_after_cross_attention_is_attentions() -> None:
    """In BERT as a decoder and in Q-Formers; with a table, and by the words of the name alone."""
    config = {"model_type": "bert", "is_decoder": True, "add_cross_attention": True, "num_hidden_layers": 1}
    for namer in (Namer(family_of(config), config), Namer()):
        key = namer.name(["bert.encoder.layer.0.crossattention.output.LayerNorm.weight"]).key(0)
        assert (key.role, key.branch) == ("post_attention_layernorm", "cross")


@every(
    "name",
    [
        "model.embed_positions.weights",
        "model.decoder.embed_positions.weights",
        "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
        "transformer.h.0.attn.attention.bias",
        "beit.encoder.layer.0.attention.attention.relative_position_bias.relative_position_index",
        "model.encoder.version",
        "model.22.stride",
        "stride",
        "model.24.anchor_grid",
    ],
)
def test_constants_of_older_releases_are_buffers(name: str) -> None:
    """XGLM's and M2M100's sinusoids, T5's unused bias, GPT-Neo's mask, BEiT's index, BART's version, a YOLO's grid."""
    assert Namer().name([name]).slots[0].group == "buffer"
