"""The model drawn: blocks whose bytes are calculated here by hand, and sum to the files' tensors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree as ET

import pytest

import inspector
from inspector import plots
from inspector.architectures.data.roles import ROLES
from inspector.model import STACKED, Key, Labelled, Tensor
from inspector.plots import drawing

Made = Callable[[str], Path]


def labelled(
    role: str,
    shape: tuple[int, ...],
    layer: int | None = None,
    tower: str = "text",
    group: str = "attention",
    **key: Any,
) -> Labelled:
    nbytes = 4
    for size in shape:
        nbytes *= size
    tensor = Tensor(f"{tower}.{layer}.{role}", "F32", shape, 0, nbytes)
    return Labelled(tensor, "f", Key(tower, layer, key.pop("expert", None), role, "weight", **key), group, nbytes // 4)


def towers(*members: Labelled, prediction: inspector.Prediction | None = None) -> tuple[drawing.Tower, ...]:
    result = SimpleNamespace(tensors=members, prediction=prediction)
    found = drawing.towers(cast("inspector.Reconciliation", result))
    assert sum(tower.bytes for tower in found) == sum(each.tensor.nbytes for each in members)
    return found


def test_like_layers_are_folded(made: Made) -> None:
    """Llama 7B in 16 bits: 32 layers of 4 × 4096² for attention, and 3 × 4096 × 11008."""
    (tower,) = drawing.towers(inspector.reconcile(made("llama-7b")))
    first, layers, last = tower.stacks
    assert (first.layers, first.bytes) == ((), 32000 * 4096 * 2)
    assert layers.layers == tuple(range(32))
    norm, attention, prepared, feed_forward, buffer = layers.blocks
    assert attention.bytes == 32 * 4 * 4096**2 * 2
    assert feed_forward.bytes == 32 * 3 * 4096 * 11008 * 2
    assert [row.name for row in attention.rows] == ["q_proj", "k_proj", "v_proj", "o_proj"]
    assert feed_forward.rows[-1] == ("down_proj", (4096, 11008), ("F16",), 32, 32 * 4096 * 11008 * 2)
    assert (norm.roles, prepared.roles) == (("input_layernorm",), ("post_attention_layernorm",))
    assert (norm.tensors, buffer.group) == (32, "buffer")
    assert [block.group for block in last.blocks] == ["norm", "head"]


#: Model type → its last tower's layer as its `forward` in Transformers 5.24 computes it, from what it reads to what it returns.
FLOWS = {
    "llama": "input_layernorm attention + post_attention_layernorm feed_forward +",
    "gemma2": "input_layernorm attention post_attention_layernorm + pre_feedforward_layernorm feed_forward post_feedforward_layernorm +",
    "bert": "attention + post_attention_layernorm feed_forward + post_feedforward_layernorm",
    "bart": "attention + input_layernorm attention cross + input_layernorm cross feed_forward + post_feedforward_layernorm",
    "t5": "input_layernorm attention + input_layernorm cross attention cross + post_attention_layernorm feed_forward +",
    "m2m_100": "input_layernorm attention + input_layernorm cross attention cross + post_feedforward_layernorm feed_forward +",
    "phi": "input_layernorm attention ∥ feed_forward +",
    "cohere": "input_layernorm attention ∥ feed_forward +",
    "mixtral": "input_layernorm attention + post_attention_layernorm router experts +",
    "mamba": "input_layernorm state_space +",
    "olmo2": "attention post_attention_layernorm + feed_forward post_feedforward_layernorm +",
    "gpt_neox": "input_layernorm attention ∥ post_attention_layernorm feed_forward +",
    "distilbert": "attention + input_layernorm feed_forward + post_feedforward_layernorm",
    "table-transformer": "post_attention_layernorm attention + input_layernorm cross attention cross + post_feedforward_layernorm feed_forward +",
    "pixtral": "input_layernorm attention + post_attention_layernorm feed_forward +",
    "granite_speech_encoder": "input_layernorm feed_forward + input_layernorm attention + convolution + input_layernorm feed_forward + post_feedforward_layernorm",
    "t5gemma": "input_layernorm attention post_attention_layernorm + input_layernorm cross attention cross post_attention_layernorm cross + pre_feedforward_layernorm feed_forward post_feedforward_layernorm +",
    "pix2struct": "input_layernorm attention + input_layernorm cross attention cross + post_attention_layernorm feed_forward +",
    "mask2former": "attention cross + input_layernorm cross attention + post_attention_layernorm feed_forward + post_feedforward_layernorm",
    "blip_2_qformer": "attention + post_attention_layernorm attention cross + post_attention_layernorm cross feed_forward + post_feedforward_layernorm",
    "roberta-prelayernorm": "input_layernorm attention + post_attention_layernorm feed_forward +",
    "megatron-bert": "input_layernorm attention + post_attention_layernorm feed_forward +",
    "esm": "input_layernorm attention + post_attention_layernorm feed_forward +",
    "timesfm": "input_layernorm attention + post_attention_layernorm feed_forward +",
    "albert": "attention + post_attention_layernorm feed_forward + post_feedforward_layernorm",
    "squeezebert": "attention + post_attention_layernorm feed_forward + post_feedforward_layernorm",
    "dia": "input_layernorm attention + input_layernorm cross attention cross + pre_feedforward_layernorm feed_forward +",
    "parakeet_encoder": "pre_feedforward_layernorm feed_forward + input_layernorm attention + convolution + pre_feedforward_layernorm feed_forward + post_feedforward_layernorm",
}


@pytest.mark.parametrize("kind", FLOWS)
def test_a_layer_is_drawn_as_it_computes(kind: str, tmp_path: Path) -> None:
    """Norms stand where the model applies them, and residuals join where it adds them, if the norms show where."""
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
    prediction = inspector.predict(tmp_path)
    members = [
        labelled(each.role, (1,), 0 if each.layers else None, each.tower, str(ROLES[each.role]), branch=each.branch,
                 expert=0 if each.experts or each.stacked else None)
        for each in prediction.expected
    ]  # fmt: skip
    tower = towers(*members, prediction=prediction)[-1]
    words = []
    for block in next(stack for stack in tower.stacks if stack.layers).blocks:
        cross = ["cross"] if block.rows[0].name.startswith("cross") else []
        words += [
            block.roles[0] if block.group == "norm" else "experts" if block.experts else block.group,
            *cross,
            block.then,
        ]
    assert " ".join(filter(None, words)) == FLOWS[kind]


def test_convolutions_ahead_have_numbers_of_their_own(made: Made) -> None:
    """Wav2Vec2's seven convolutions are not the first seven layers of its encoder."""
    (tower,) = drawing.towers(inspector.reconcile(made("wav2vec2-base-960h")))
    *ahead, _, layers, _ = tower.stacks
    assert [[block.group for block in stack.blocks] for stack in ahead] == [["convolution"]] * 3
    assert [number for stack in ahead for number in stack.layers] == list(range(7))
    assert layers.layers == tuple(range(12))
    assert [block.then for block in layers.blocks] == ["+", "", "+", ""]


def test_a_neck_follows_its_layers_and_an_lstm_has_no_residual() -> None:
    """SAM's neck follows its layers, as a merger's norm does; without patches convolutions come first. An LSTM has no residual."""
    layer = labelled("q_proj", (4, 4), 0, "vision")
    neck = [
        labelled("conv", (4, 4), tower="vision", group="convolution"),
        labelled("proj_norm", (4,), tower="vision", group="norm"),
    ]
    (tower,) = towers(labelled("embed_patches", (4, 4), tower="vision", group="embedding"), *neck, layer)
    assert [[block.group for block in stack.blocks] for stack in tower.stacks][-1] == ["convolution", "norm"]
    (tower,) = towers(*neck, layer)
    assert [block.group for block in tower.stacks[0].blocks] == ["convolution", "norm"]
    (tower,) = towers(labelled("weight_hh", (4, 4), 0, group="state_space"))
    assert tower.stacks[0].blocks[0].then == ""


def test_parts_of_a_tower_are_in_the_order_of_the_input() -> None:
    """A pipeline's: what embeds the time step is read first, an encoder before its decoder, down before up."""
    names = ["unet down", "unet mid", "unet time", "unet up", "vae decoder", "vae encoder"]
    found = towers(*(labelled("conv", (1,), tower=name, group="convolution") for name in names))
    assert [tower.name for tower in found] == [
        "unet time",
        "unet down",
        "unet mid",
        "unet up",
        "vae encoder",
        "vae decoder",
    ]


def test_a_field_decides(tmp_path: Path) -> None:
    """GPT-NeoX adds one after the other if its configuration says so."""
    (tmp_path / "config.json").write_text('{"model_type": "gpt_neox", "use_parallel_residual": false}')
    prediction = inspector.predict(tmp_path)
    roles = {
        "input_layernorm": "norm",
        "qkv_proj": "attention",
        "post_attention_layernorm": "norm",
        "up_proj": "feed_forward",
    }
    (tower,) = towers(*(labelled(role, (2,), 0, group=group) for role, group in roles.items()), prediction=prediction)
    assert [block.then for block in tower.stacks[0].blocks] == ["", "+", "", "+"]


def test_a_head_follows_the_last_norm(made: Made) -> None:
    """CLIP's text tower: embeddings, layers, norm, projection."""
    text = drawing.towers(inspector.reconcile(made("clip-vit-base-patch32")))[-1]
    assert [block.group for block in text.stacks[-1].blocks][:2] == ["norm", "head"]


def test_scales_stand_with_their_embedding() -> None:
    """MLX quantizes the embedding, too: its side data is not a block after the layers."""
    scales = labelled("embed_tokens", (4,), group="quantization")
    (tower,) = towers(labelled("embed_tokens", (8, 2), group="embedding"), scales, labelled("q_proj", (2, 2), 0))
    assert [(block.group, block.tensors) for block in tower.stacks[0].blocks] == [("embedding", 2)]


def test_experts_stand_beside_each_other(made: Made) -> None:
    """Eight of Mixtral, each a tensor of its own; 32 of gpt-oss in one, whose shape is without them."""
    (tower,) = drawing.towers(inspector.reconcile(made("mixtral-8x7b")))
    (experts,) = (block for block in tower.stacks[1].blocks if block.experts)
    assert (experts.experts, experts.tensors) == (8, 32 * 8 * 3)
    assert experts.bytes == 32 * 8 * 3 * 4096 * 14336 * 2
    (tower,) = towers(labelled("down_proj", (32, 8, 6), 0, group="feed_forward", expert=STACKED))
    (block,) = tower.stacks[0].blocks
    assert (block.experts, block.rows[0].shape) == (32, (8, 6))


@pytest.mark.parametrize("name", ["clip-vit-base-patch32", "bart-base", "llama-3.1-8b-gptq-3bit", "gemma-3-4b-mmproj"])
def test_everything_is_drawn_once(made: Made, name: str) -> None:
    """Towers in the order of the input; the numbers beside the drawing sum to all tensors."""
    result = inspector.reconcile(made(name))
    found = plots.model(result)
    assert sum(cast("int", row[-1]) for row in found.rows) == sum(each.tensor.nbytes for each in result.tensors)
    names = [tower.name for tower in drawing.towers(result)]
    first = {"clip-vit-base-patch32": ["vision", "text"], "bart-base": ["text", "encoder", "decoder"]}
    first |= {"gemma-3-4b-mmproj": ["vision", "projector"]}
    assert names == first.get(name, ["text"])
    assert ET.fromstring(found.svg).get("aria-label") == found.summary


def test_kinds_that_take_turns_are_put_together() -> None:
    """Eight layers, of which each second one has another role; a single one that differs stands in its place."""
    turns = [labelled("q_proj" if layer % 2 else "in_proj", (2, 2), layer) for layer in range(8)]
    (tower,) = towers(*turns)
    assert [stack.layers for stack in tower.stacks] == [(0, 2, 4, 6), (1, 3, 5, 7)]
    assert (
        "layers 0, 2, 4, 6"
        in drawing.drawing(cast("inspector.Reconciliation", SimpleNamespace(tensors=turns, prediction=None))).svg
    )
    (tower,) = towers(*(labelled("q_proj", (3 if layer == 2 else 2, 2), layer) for layer in range(8)))
    assert [stack.layers for stack in tower.stacks] == [(0, 1), (2,), (3, 4, 5, 6, 7)]


def test_parts_beyond_the_drawings_limit_are_added_up() -> None:
    """Kinds of layers, roles of a block, towers: the last of each has the rest."""
    (tower,) = towers(*(labelled("q_proj", (layer + 1,), layer) for layer in range(40)))
    assert len(tower.stacks) == drawing.MOST_STACKS
    assert tower.stacks[-1].layers == tuple(range(drawing.MOST_STACKS - 1, 40))
    (tower,) = towers(*(labelled(f"role{number}", (2,), 0) for number in range(40)))
    (block,) = tower.stacks[0].blocks
    assert len(block.rows) == drawing.MOST_ROWS
    assert block.rows[-1] == ("27 further roles", None, ("F32",), 27, 27 * 8)
    found = towers(*(labelled("q_proj", (number + 1,), tower=f"tower{number}") for number in range(30)))
    assert (len(found), found[-1].name) == (drawing.MOST_TOWERS, "others")


def test_no_name_becomes_markup() -> None:
    """Towers, branches and roles come from names in files."""
    members = [labelled("<a/>", (2,), tower="<script>", branch='"&', group="other"), labelled("q_proj", (2,), 3)]
    found = drawing.drawing(cast("inspector.Reconciliation", SimpleNamespace(tensors=members, prediction=None)))
    assert {each.tag.rpartition("}")[2] for each in ET.fromstring(found.svg).iter()} == {
        "svg",
        "g",
        "title",
        "rect",
        "text",
    }
    assert "<script" not in found.svg
    assert "<script>: 2 parameters" in found.summary
