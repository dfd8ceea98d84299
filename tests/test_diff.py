"""`inspect diff`: pairs by key across formats, names, fusions, stacks and packing; exit codes and the document."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sparse

import inspector

if TYPE_CHECKING:
    from conftest import Ran

Changes = Mapping[str, tuple[str, list[int]] | None]
Made = Callable[[str], Path]
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 50, "torch_dtype": "bfloat16",
}  # fmt: skip
LAYER = {
    "input_layernorm": [64], "post_attention_layernorm": [64],
    "self_attn.q_proj": [64, 64], "self_attn.k_proj": [32, 64], "self_attn.v_proj": [32, 64], "self_attn.o_proj": [64, 64],
    "mlp.gate_proj": [96, 64], "mlp.up_proj": [96, 64], "mlp.down_proj": [64, 96],
}  # fmt: skip


def llama(folder: Path, changes: Changes | None = None, config: Mapping[str, object] | None = None) -> Path:
    """A model of two layers; `changes` gives modules another dtype and shape, or removes them."""
    shapes = {"model.embed_tokens": [50, 64], "model.norm": [64], "lm_head": [50, 64]}
    shapes |= {f"model.layers.{layer}.{name}": shape for layer in (0, 1) for name, shape in LAYER.items()}
    entries = {name: ("BF16", shape) for name, shape in shapes.items()}
    for name, change in (changes or {}).items():
        if change is None:
            del entries[name]
        else:
            entries[name] = change
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({**CONFIG, **(config or {})}))
    sparse.write_safetensors(
        folder / "model.safetensors", [(dtype, shape, f"{name}.weight") for name, (dtype, shape) in entries.items()]
    )
    return folder


def test_a_checkpoint_equals_itself(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """21 tensors: nine in each of two layers, three outside; exit code 0, and the output says what was not compared."""
    ran = inspect("diff", llama(tmp_path / "a"), llama(tmp_path / "b"))
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "21 tensors the same in dtype and shape; values were not compared (--data)"


def test_each_difference_has_its_status(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """A dtype, a shape, one tensor only on each side, and a field differ; everything else is the same."""
    more: Changes = {"model.layers.0.self_attn.q_norm": ("BF16", [16]), "model.layers.1.mlp.up_proj": ("F32", [96, 64])}
    other = llama(
        tmp_path / "b",
        {**more, "model.embed_tokens": ("BF16", [52, 64]), "lm_head": None},
        {"rope_theta": 500000.0},
    )
    ran = inspect("diff", llama(tmp_path / "a"), other, "--json")
    assert ran.code == 1
    assert ran.json["counts"] == {"same": 18, "dtype": 1, "shape": 1, "only_a": 1, "only_b": 1, "data": None}
    assert ran.json["config"] == [{"field": "rope_theta", "a": None, "b": 500000.0}]
    reported = {each["status"]: each for each in ran.json["tensors"] if each["status"] != "same"}
    assert reported["dtype"]["a"] == {
        "name": "model.layers.1.mlp.up_proj.weight", "dtype": "BF16", "shape": [96, 64], "bytes": 96 * 64 * 2
    }  # fmt: skip
    assert reported["dtype"]["b"]["dtype"] == "F32"
    assert (reported["shape"]["role"], reported["shape"]["a"]["shape"], reported["shape"]["b"]["shape"]) == (
        "embed_tokens", [50, 64], [52, 64]
    )  # fmt: skip
    assert (reported["only_a"]["role"], reported["only_a"]["b"]) == ("lm_head", None)
    assert (reported["only_b"]["role"], reported["only_b"]["layer"]) == ("q_norm", 0)


def test_text_groups_layers_and_leaves_out_what_is_the_same(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """Both layers of a projection share a line, with the bytes of both: 2 × 96 × 64 at two and four bytes."""
    wide: Changes = {f"model.layers.{layer}.mlp.down_proj": ("F32", [64, 96]) for layer in (0, 1)}
    ran = inspect("diff", llama(tmp_path / "a"), llama(tmp_path / "b", wide))
    assert "dtype  down_proj, layers 0–1  BF16 → F32   24.58 kB   49.15 kB" in ran.out.splitlines()
    full = inspect("diff", "--full", tmp_path / "a", tmp_path / "b")
    assert "dtype  down_proj, layers 0–1  BF16 → F32      24,576      49,152" in full.out.splitlines()
    assert "q_proj" not in ran.out
    assert ran.out.splitlines()[-1] == "19 tensors the same in dtype and shape, 2 in another dtype"


def test_totals_by_role_have_the_bits_of_either_side(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """A vocabulary of two more keeps its 16 bits; of two projections one is left, in 32; one side has a head."""
    other: Changes = {
        "model.embed_tokens": ("BF16", [52, 64]),
        "model.layers.0.mlp.up_proj": None,
        "model.layers.1.mlp.up_proj": ("F32", [96, 64]),
        "lm_head": None,
    }
    ran = inspect("diff", llama(tmp_path / "a"), llama(tmp_path / "b", other), "--stat")
    cells = [line.split()[:7] for line in ran.out.splitlines()]
    assert ["embed_tokens", "1", "6,400", "6,656", "16", "++"] in cells
    assert ["up_proj", "2", "24,576", "24,576", "16", "→", "32"] in cells
    assert ["lm_head", "1", "6,400", "–", "16", "→", "–"] in cells


def test_fused_projections_are_compared_with_their_parts(tmp_path: Path) -> None:
    """One qkv tensor for three, one gate_up for two, in one layer: 5 tensors in 2 pairs."""
    parts = [*(f"self_attn.{part}_proj" for part in "qkv"), "mlp.gate_proj", "mlp.up_proj"]
    gone: Changes = {f"model.layers.0.{name}": None for name in parts}
    fused: Changes = {
        "model.layers.0.self_attn.qkv_proj": ("BF16", [128, 64]),
        "model.layers.0.mlp.gate_up_proj": ("BF16", [192, 64]),
    }
    result = inspector.diff(llama(tmp_path / "a"), llama(tmp_path / "b", {**gone, **fused}))
    assert result.counts == {"same": 18, "dtype": 0, "shape": 0, "only_a": 0, "only_b": 0}
    pair = next(each for each in result.pairs if each.key.role == "qkv_proj")
    assert pair.a and [each.key.role for each in pair.a.tensors] == ["k_proj", "q_proj", "v_proj"]
    assert not result.differs


def test_leftovers_of_one_coarse_key_are_not_a_pair_where_sizes_differ(tmp_path: Path) -> None:
    """q alone on one side and k and v alone on the other share a coarse role, and nothing else."""
    own = llama(tmp_path / "a", {"model.layers.0.self_attn.k_proj": None, "model.layers.0.self_attn.v_proj": None})
    other = llama(tmp_path / "b", {"model.layers.0.self_attn.q_proj": None, "model.layers.0.self_attn.v_proj": None})
    counts = inspector.diff(own, other).counts
    assert (counts["same"], counts["only_a"], counts["only_b"]) == (18, 1, 1)


@pytest.mark.parametrize(
    ("a", "b", "counts"),
    [
        # Meta's names, no fused layout: all 291 tensors are the same.
        ("llama-3.1-8b", "llama-3.1-8b-meta", {"same": 291, "dtype": 0, "only_b": 0}),
        # llama.cpp stores every tensor in another type, and adds its rope frequencies.
        ("llama-3.1-8b", "llama-3.1-8b-q4_k_m", {"same": 0, "dtype": 291, "only_b": 1}),
        # 7 projections of 32 layers packed; norms, embedding and head stay.
        ("llama-3.1-8b", "llama-3.1-8b-nf4", {"same": 67, "dtype": 224, "only_b": 0}),
        ("llama-3.1-8b-w4a16", "llama-3.1-8b-q4_k_m", {"same": 0, "dtype": 291, "only_b": 1}),
        # 32 layers × (4 projections + router + 2 norms + 3 stacks of experts) + embedding, norm, head.
        ("mixtral-8x7b", "mixtral-8x7b-q4_0", {"same": 0, "dtype": 323, "only_b": 0}),
    ],
)
def test_formats_names_and_packing_play_no_part(a: str, b: str, counts: dict[str, int], made: Made) -> None:
    """Every tensor finds its counterpart; only what the converter added is left over."""
    result = inspector.diff(made(a), made(b))
    reported: dict[str, int] = {str(status): number for status, number in result.counts.items()}
    assert reported | counts | {"shape": 0, "only_a": 0} == reported


def test_unrelated_models_are_one_line(made: Made, inspect: Callable[..., Ran]) -> None:
    """The output is one line, not 500, and says what they share."""
    ran = inspect("diff", made("gpt2"), made("llama-7b"))
    assert ran.code == 1
    assert ran.out.splitlines()[:2] == [
        "b has another structure than a: two unrelated models",
        "  0.0 % of the smaller one's parameters have a counterpart of the same shape",
    ]
    assert len(ran.out.splitlines()) == 6


def test_an_unreadable_side_is_one_line_and_exit_code_2(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """The exit code is 2, as everywhere."""
    ran = inspect("diff", llama(tmp_path / "a"), tmp_path / "nothing.safetensors")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
