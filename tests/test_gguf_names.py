"""GGUF's tensor names → keys, for everything that the `gguf` package can name."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import pytest
import real
import sparse
from every import every

from inspector.architectures.data import conventions, gguf_names
from inspector.architectures.data.roles import GROUPS
from inspector.architectures.naming import Namer
from inspector.model import STACKED, Key

#: Architecture → the names of its tensors in llama.cpp's gguf-py, written by `tools/write_gguf.py`.
KINDS = {
    architecture: [name for name in names.split() if name != "fc"]  # often a classifier: known by the table
    for architecture, names in json.loads((Path(sparse.__file__).parent / "gguf_kinds.json").read_text()).items()
}
#: Two names of one tensor: llama.cpp accepts either.
ALTERNATIVES = {
    "grok": [["blk.3.post_ffw_norm.weight", "blk.3.layer_output_norm.weight"]],
    # Without an encoder's block the name is that of a model's last norm; tables know the norm of the input.
    "eagle3": [["output_norm.weight", "enc.output_norm.weight"]],
    "dflash": [["output_norm.weight", "enc.output_norm.weight"]],
}


def keyed(*names: str) -> dict[str, tuple[Key, str]]:
    """Name → key and group, for the tensors of one file."""
    named = Namer().name(names)
    return {name: (key, slot.group) for name, key, slot in zip(names, named.keys(), named.slots, strict=True)}


def names_of(architecture: str) -> list[str]:
    names = [name.replace("{}", "3") for name in KINDS[architecture]]
    return [f"{name}.{part}" for name in names for part in ("weight", "bias")]


@every("arch", KINDS, parts=2)
def test_every_tensor_kind_of_an_architecture_has_a_key_of_its_own(arch: str) -> None:
    """Each has a known role and group, and its layer if it has one; no two kinds share a key."""
    found = keyed(*names_of(arch))
    weights = {name: key for name, (key, _) in found.items() if name.endswith(".weight")}
    assert all(key.role for key in weights.values()), [name for name, key in weights.items() if not key.role]
    assert {group for _, group in found.values()} <= set(GROUPS)
    other = {key.role for key, group in found.values() if group == "other"}
    assert other <= {"layer_scale", "layer_scale_1", "layer_scale_2"}
    in_blocks = {name for name in weights if name.startswith(tuple(start.format(3) for start in gguf_names.BLOCKS))}
    assert {weights[name].layer for name in in_blocks} <= {3}
    by_key: dict[Key, list[str]] = {}
    for name, key in weights.items():
        by_key.setdefault(key, []).append(name)
    assert [names for names in by_key.values() if len(names) > 1] == ALTERNATIVES.get(arch, [])


def test_names_that_llama_cpp_has_given_up_or_converters_leave_bare() -> None:
    """Separate experts, a bias that is the parameter itself, no suffix at all, a scale beside the weight."""
    found = keyed("blk.2.ffn_gate.7.weight", "blk.2.exp_probs_b.bias", "blk.2.ssm_a", "v.blk.1.ls1.weight", "mm.2.bias")
    assert [key for key, _ in found.values()] == [
        Key("text", 2, 7, "gate_proj", "weight"),
        Key("text", 2, None, "router_bias", "weight"),
        Key("text", 2, None, "A_log", "weight"),
        Key("vision", 1, None, "layer_scale", "weight", "1"),
        Key("projector", None, None, "proj", "bias", "", (2,)),
    ]
    assert keyed("blk.0.attn_q.scale")["blk.0.attn_q.scale"] == (
        Key("text", 0, None, "q_proj", "scale"),
        "quantization",
    )


def test_experts_in_one_tensor_are_stacked() -> None:
    found = keyed("blk.0.ffn_up_exps.weight", "blk.0.ffn_up_shexp.weight", "blk.0.ffn_gate_inp.weight")
    assert [(key.expert, key.role) for key, _ in found.values()] == [
        (STACKED, "up_proj"),
        (None, "shared_up_proj"),
        (None, "router"),
    ]


def test_the_norm_before_the_feed_forward_is_distinguished_from_the_one_after_attention() -> None:
    """Llama's `ffn_norm` is Transformers' post_attention_layernorm; Gemma 2's is pre_feedforward_layernorm."""
    llama = keyed("blk.0.attn_norm.weight", "blk.0.ffn_norm.weight")
    gemma = keyed("blk.0.attn_norm.weight", "blk.0.post_attention_norm.weight", "blk.0.ffn_norm.weight")
    assert [key.role for key, _ in llama.values()] == ["input_layernorm", "post_attention_layernorm"]
    assert [key.role for key, _ in gemma.values()] == [
        "input_layernorm",
        "post_attention_layernorm",
        "pre_feedforward_layernorm",
    ]


def test_every_first_word_is_known() -> None:
    """Names are looked up in GGUF's table only if their first word is one of its."""
    firsts = {name.partition(".")[0] for names in KINDS.values() for name in names}
    assert firsts | {"direction"} == conventions.GGUF_WORDS  # the names in a control vector
    theirs = {name.partition(".")[0] for name in gguf.TENSOR_NAMES.values()}
    assert theirs <= firsts


@every("path", real.files("gguf_listing/*.json"), ids=lambda path: path.stem)
def test_every_tensor_of_published_models_is_keyed(path: Path) -> None:
    names = [tensor["name"] for tensor in json.loads(path.read_text())["tensors"]]
    found = keyed(*names)
    assert all(key.role for key, _ in found.values()) and len({key for key, _ in found.values()}) == len(names)


@pytest.mark.parametrize(
    "path", real.files("gguf_tensormap/*/*.map"), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_every_tensor_of_the_tensor_maps_is_keyed(path: Path) -> None:
    names = [line.split(":")[2] for line in path.read_text().splitlines() if line]
    found = keyed(*names)
    assert all(key.role for key, _ in found.values()) and len({key for key, _ in found.values()}) == len(names)
