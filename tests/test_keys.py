"""Names → keys, each worked out by hand: tower, layer, expert, role, part, further numbers, and the group."""

from __future__ import annotations

from typing import Any

import pytest
from every import every

from inspector.architectures import family_of, naming
from inspector.architectures.naming import Namer, Names, by_pattern
from inspector.model import STACKED, Key


def key(role: str, layer: int | None = None, expert: int | None = None, **others: Any) -> Key:
    return Key(others.get("tower", "text"), layer, expert, role, others.get("part", "weight"), "", others.get("at", ()))


#: Name → its key and group, without a table.
ALONE: dict[str, tuple[Key, str]] = {
    # GGUF
    "blk.3.attn_q.weight": (key("q_proj", 3), "attention"),
    "blk.3.attn_q.bias": (key("q_proj", 3, part="bias"), "attention"),
    "blk.3.attn_q.scale": (key("q_proj", 3, part="scale"), "quantization"),
    "blk.3.ffn_up_exps.weight": (key("up_proj", 3, STACKED), "feed_forward"),
    "blk.3.ffn_up_exps.bias": (key("up_proj", 3, STACKED, part="bias"), "feed_forward"),
    "blk.3.ffn_up.5.weight": (key("up_proj", 3, 5), "feed_forward"),
    "blk.3.ffn_gate_inp.weight": (key("router", 3), "router"),
    "blk.3.ssm_a": (key("A_log", 3), "state_space"),
    "token_embd.weight": (key("embed_tokens"), "embedding"),
    "output.weight": (key("lm_head"), "head"),
    "output_norm.weight": (key("norm"), "norm"),
    "rope_freqs.weight": (key("rope_freqs"), "buffer"),
    "enc.blk.2.attn_q.weight": (key("q_proj", 2), "attention"),  # an encoder alone is the model
    "v.blk.1.attn_q.weight": (key("q_proj", 1, tower="vision"), "attention"),
    "blk.3.unheard.weight": (key("", 3), "other"),
    # Transformers, Meta, GPT-2
    "model.layers.3.self_attn.q_proj.weight": (key("q_proj", 3), "attention"),
    "layers.3.attention.wq.weight": (key("q_proj", 3), "attention"),
    "transformer.h.3.attn.c_attn.weight": (key("qkv_proj", 3), "attention"),
    "h.3.attn.bias": (key("causal_mask", 3), "buffer"),
    "h.3.attn.masked_bias": (key("masked_bias", 3), "buffer"),
    "model.embed_tokens.weight": (key("embed_tokens"), "embedding"),
    "lm_head.weight": (key("lm_head"), "head"),
    "lm_head.bias": (key("lm_head", part="bias"), "head"),
    "model.norm.gamma": (key("norm"), "norm"),
    "model.norm.beta": (key("norm", part="bias"), "norm"),
    # experts
    "model.layers.3.mlp.experts.5.up_proj.weight": (key("up_proj", 3, 5), "feed_forward"),
    "model.layers.3.mlp.experts.expert_5.up_proj.weight": (key("up_proj", 3, 5), "feed_forward"),
    "model.layers.3.mlp.experts.down_proj": (key("down_proj", 3, STACKED), "feed_forward"),
    "model.layers.3.mlp.experts.down_proj_bias": (key("down_proj", 3, STACKED, part="bias"), "feed_forward"),
    "model.layers.3.mlp.switch_mlp.up_proj.weight": (key("up_proj", 3, STACKED), "feed_forward"),
    "model.layers.3.mlp.shared_experts.up_proj.weight": (key("shared_up_proj", 3), "feed_forward"),
    # further numbers, and what only looks like them
    "down_blocks.1.attentions.2.transformer_blocks.0.attn1.to_q.weight": (key("q_proj", 1, at=(2, 0)), "attention"),
    "visual.blocks.3.attn.qkv.weight": (key("qkv_proj", 3, tower="vision"), "attention"),
    "model.layers.1234567890.self_attn.q_proj.weight": (key("q_proj"), "attention"),
    "weight": (key(""), "other"),
    # statistics and corrections
    "layers.3.norm.running_mean": (key("running_mean", 3), "buffer"),
    "model.layers.3.mlp.gate.e_score_correction_bias": (key("router_bias", 3), "buffer"),
}


@every("name", ALONE)
def test_names_without_a_table(name: str) -> None:
    named = Namer().name([name])
    assert (named.key(0), named.slots[0].group) == ALONE[name]


def test_many_names_at_once_are_named_as_each_alone() -> None:
    """In any order, the keys are in the order of the names."""
    names = [name for name in ALONE if not name.startswith("enc.")]
    named = Namer().name(names)
    assert named.keys() == [ALONE[name][0] for name in names]
    assert sorted(at for _, members in named.groups for at in members) == list(range(len(names)))
    assert all(named.slots[at] == slot for slot, members in named.groups for at in members)


def test_an_encoder_beside_a_decoder_is_a_tower() -> None:
    both = Namer().name(["encoder.layers.0.self_attn.q_proj.weight", "decoder.layers.1.self_attn.q_proj.weight"])
    assert [(each.tower, each.layer) for each in both.keys()] == [("encoder", 0), ("decoder", 1)]
    alone = Namer().name(["encoder.layers.0.self_attn.q_proj.weight", "head.weight"])
    assert alone.key(0).tower == "text"


def test_a_norm_after_attention_leaves_the_other_before_the_feed_forward() -> None:
    """GGUF's `ffn_norm` is Llama's norm after attention, unless there is a norm of that name."""
    assert Namer().name(["blk.0.ffn_norm.weight"]).key(0).role == "post_attention_layernorm"
    for beside in ("blk.0.post_attention_norm.weight", "blk.0.attn_output_norm.weight"):
        assert Namer().name(["blk.0.ffn_norm.weight", beside]).key(0).role == "pre_feedforward_layernorm"


# --- side data ------------------------------------------------------------------------------------


def test_side_data_has_the_key_of_the_weight_that_it_serves() -> None:
    weight = "model.layers.3.self_attn.q_proj.weight"
    side = {"model.layers.3.self_attn.q_proj.scales": weight, "model.layers.3.self_attn.q_proj.qzeros": weight}
    named = Namer().name([weight, *side], side)
    assert named.keys() == [key("q_proj", 3), key("q_proj", 3, part="scales"), key("q_proj", 3, part="qzeros")]
    assert [slot.group for slot in named.slots] == ["attention", "quantization", "quantization"]
    assert named.names == [weight] * 3
    assert [slot.row for slot in named.slots] == [None] * 3


def test_pieces_have_their_own_part_and_group() -> None:
    weight = "model.layers.3.self_attn.q_proj.weight"
    side = {"a.lora_A.weight": weight, "a.alpha": weight}
    pieces = {"a.lora_A.weight": ("lora_A", "adapter"), "a.alpha": ("alpha", "buffer")}
    named = Namer().name(list(side), side, pieces)
    assert named.keys() == [key("q_proj", 3, part="lora_A"), key("q_proj", 3, part="alpha")]
    assert [slot.group for slot in named.slots] == ["adapter", "buffer"]


# --- patterns -------------------------------------------------------------------------------------


@every(
    ("names", "patterns"),
    [
        ([], {}),
        (["a.weight"], {"a.weight": [0]}),
        (["h.0.a", "h.10.a", "h.0.b"], {"h.{}.a": [0, 1], "h.{}.b": [2]}),
        (["h.0.w1", "h.0.w3", "h.1.w1"], {"h.{}.w1": [0, 2], "h.{}.w3": [1]}),
        (["conv1.0", "conv2.0"], {"conv1.{}": [0], "conv2.{}": [1]}),
        (["0.a", "7.a"], {"{}.a": [0, 1]}),
        (["a.0.1", "a.12.345"], {"a.{}.{}": [0, 1]}),
        (["a.expert_7.b", "a.expert_70.b"], {"a.expert_{}.b": [0, 1]}),
        (["weight_ih_l0", "weight_ih_l1", "weight_hh_l1"], {"weight_ih_l{}": [0, 1], "weight_hh_l{}": [2]}),
        (["a.{}.b", "a.0.b"], {"a.{ }.b": [0], "a.{}.b": [1]}),  # a brace in a name is not a placeholder
        (["a\nb.0", "c.0"], {"a\nb.{}": [0], "c.{}": [1]}),
        (["a b.0", "a\tb.1"], {"a b.{}": [0], "a\tb.{}": [1]}),
        (["a.1234567890", "a.123456789"], {"a.1234567890": [0], "a.{}": [1]}),
    ],
)
def test_names_by_pattern(names: list[str], patterns: dict[str, list[int]]) -> None:
    """Numbers that are whole words become `{}`; others belong to the word."""
    assert by_pattern(names) == patterns
    assert Names(names).patterns == patterns


def test_names_know_their_patterns_once() -> None:
    names = Names(["a.0", "a.1"])
    assert names.patterns is names.patterns
    assert names == ("a.0", "a.1")


def test_patterns_beyond_a_bound_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first patterns are read; the tensors of the others are one group without a role."""
    monkeypatch.setattr(naming, "MOST_PATTERNS", 2)
    names = ["model.norm.weight", "c.weight", "lm_head.weight", "b.0.weight", "b.1.weight"]
    named = Namer().name(names)
    assert named.beyond == 3
    assert [each.role for each in named.keys()] == ["norm", "", "", "", ""]
    assert named.groups[-1] == (naming.NAMELESS, [2, 3, 4])
    monkeypatch.setattr(naming, "MOST_PATTERNS", 4)
    assert Namer().name(names).beyond == 0


# --- with a table ---------------------------------------------------------------------------------


def namer(**config: Any) -> Namer:
    return Namer(family_of(config), config)


MIXTRAL = namer(model_type="mixtral", num_local_experts=2, num_hidden_layers=1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("model.layers.0.block_sparse_moe.experts.1.w1.weight", key("gate_proj", 0, 1)),
        ("layers.0.block_sparse_moe.experts.1.w3.weight", key("up_proj", 0, 1)),  # of the body alone
        ("language_model.model.layers.0.self_attn.q_proj.weight", key("q_proj", 0)),  # wrapped
        ("lm_head.weight", key("lm_head")),
    ],
)
def test_names_of_a_table(name: str, expected: Key) -> None:
    assert MIXTRAL.name([name]).key(0) == expected


def test_a_slot_of_a_table_has_its_row() -> None:
    slot = MIXTRAL.name(["model.layers.0.block_sparse_moe.experts.1.w1.weight"]).slots[0]
    assert slot.row is not None
    assert (slot.row.role, slot.layer_at, slot.expert_at, slot.stacked) == ("gate_proj", 0, 1, False)


def test_biases_of_a_tables_rows() -> None:
    """Qwen2 has biases on the projections of attention: they are the row's own, as `bias`."""
    named = namer(model_type="qwen2", num_hidden_layers=1).name(["model.layers.0.self_attn.q_proj.bias"])
    assert named.key(0) == key("q_proj", 0, part="bias")
    assert named.slots[0].row is not None


def test_numbers_distinguish_a_norm_from_a_projection() -> None:
    """In InternVL's `mlp1` the first module is a norm, and the second and fourth are matrices."""
    internvl = namer(model_type="internvl_chat", llm_config={"model_type": "llama"}, vision_config={})
    named = internvl.name([f"mlp1.{at}.weight" for at in (0, 1, 3)])
    groups = [slot.group for slot in named.slots]
    assert groups[0] == "norm"
    assert "norm" not in groups[1:]


def test_an_unknown_word_is_the_branch_within_a_model() -> None:
    """It is the branch within a model; of names alone nothing is known."""
    known = Namer(None, {"model_type": "unheard"}).name(["model.layers.0.quux.weight", "rnn.weight_ih_l0"])
    assert [(each.role, each.branch, each.layer) for each in known.keys()] == [
        ("other", "quux", 0),
        ("other", "weight_ih_l", 0),
    ]
    alone = Namer().name(["model.layers.0.quux.weight"]).key(0)
    assert (alone.role, alone.branch) == ("", "")


def test_a_vision_tower_under_its_older_name() -> None:
    """`vision_tower.vision_model.`, as written by releases of Transformers before 5."""
    llava = namer(
        model_type="llava", text_config={"model_type": "llama"}, vision_config={"model_type": "clip_vision_model"}
    )
    ours = "model.vision_tower.encoder.layers.1.self_attn.q_proj.weight"
    older = "model.vision_tower.vision_model.encoder.layers.1.self_attn.q_proj.weight"
    keys = llava.name([ours, older]).keys()
    assert keys == [key("q_proj", 1, tower="vision")] * 2
    text = llava.name(["model.language_model.layers.2.self_attn.q_proj.weight"])
    assert text.key(0) == key("q_proj", 2)
    assert text.slots[0].row is not None


def test_a_parameter_that_is_called_bias() -> None:
    """GGUF's correction of the router is a parameter of its own: its part is the weight."""
    assert Namer().name(["blk.3.exp_probs_b.bias"]).key(0).part == "weight"


def test_experts_of_a_table_by_their_number() -> None:
    """The table's own names, so that its row says which number is the expert's."""
    named = namer(model_type="qwen3_moe", num_experts=4, num_hidden_layers=2).name(
        ["model.layers.1.mlp.experts.3.up_proj.weight", "model.layers.1.mlp.experts.2.gate_proj.weight"]
    )
    assert named.keys() == [key("up_proj", 1, 3), key("gate_proj", 1, 2)]
    assert all(slot.row is not None for slot in named.slots)


def test_a_scale_without_its_weight_has_the_role_of_that_weight() -> None:
    """As in a shard whose neighbour has the weight; a batch norm's parameters are a norm's, its statistics buffers."""
    alone = ["model.layers.1.self_attn.k_proj.weight_scale", "model.layers.1.mlp.experts.3.down_proj.weight_scale_inv"]
    frozen = [f"backbone.body.layer1.0.bn1.{part}" for part in ("weight", "bias", "running_mean", "running_var")]
    scales = Namer().name(alone)
    assert [(each.role, each.layer, each.expert) for each in scales.keys()] == [
        ("k_proj", 1, None),
        ("down_proj", 1, 3),
    ]
    assert [slot.group for slot in scales.slots] == ["attention", "feed_forward"]
    assert [slot.group for slot in Namer().name(frozen).slots] == ["norm", "norm", "buffer", "buffer"]
