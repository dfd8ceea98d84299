"""An index alone, on the bridge to the total that it claims; and stated counts that add parts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import inspector
from inspector.architectures.counts import AHEAD, PADDED, TIED, explain
from inspector.bridge.outline import outline
from inspector.model import Config, Index

if TYPE_CHECKING:
    from conftest import Ran


REAL = Path(__file__).parents[1] / "fixtures" / "real"


@pytest.mark.parametrize(
    ("name", "kind", "steps"),
    [
        # A tied head that is stored: 65,024 × 8,192 in 16 bits.
        ("Decentralised-AI+falcon-40b", "pytorch_model.bin", {"tied_embeddings": 1_065_353_216}),
        ("fetchwiki+mistralai-Devstral-Small-2507", "model.safetensors", {}),
        # NF4: half a byte for an element, a scale for each 64 of them, 16 levels and a description for each weight.
        ("reubzdubz+Molmo7B_D_NF4Quant", "model.safetensors", {"quantization_overhead", "unquantized"}),
        # MLX: 40 layers and two matrices of a vocabulary in 4 bits, a scale and a bias for each 64 elements.
        ("root-hypercube+qwen3-mlx__Qwen3-14B-MLX-4bit", "model.safetensors", {"quantization_overhead", "unquantized"}),
    ],
)
def test_a_published_index_is_explained_to_the_byte(name: str, kind: str, steps: Any) -> None:
    """The total_size of a checkpoint that somebody published, from its index and configuration alone."""
    index = REAL / "index" / f"{name}__{kind}.index.json"
    found = inspector.outline(index, config=REAL / "config" / f"{name}__config.json").bridge
    assert found is not None
    assert found.on_disk == json.loads(index.read_text())["metadata"]["total_size"]
    assert found.unexplained_bytes == 0
    booked = {step.cause: step.bytes for step in found.steps if step.bytes and step.cause != "label_rounding"}
    assert booked == steps if isinstance(steps, dict) else booked.keys() == steps


SIZES = {"vocab_size": 100, "num_hidden_layers": 2, "torch_dtype": "float32"}
T5 = {**SIZES, "model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": 64, "num_layers": 2}
BERT = {**SIZES, "model_type": "bert", "architectures": ["BertModel"], "hidden_size": 64, "max_position_embeddings": 50}


@pytest.mark.parametrize(
    ("config", "more", "cause", "nbytes"),
    [
        # Copies of 100 × 64 in F32, which T5's checkpoints have beside `shared`.
        (T5, ["encoder.embed_tokens.weight", "decoder.embed_tokens.weight"], "tied_embeddings", 2 * 100 * 64 * 4),
        # The numbers of 50 positions, in I64 whatever the weights are in.
        (BERT, ["embeddings.position_ids"], "buffer", 50 * 8),
    ],
)
def test_copies_and_positions_have_a_size(config: dict[str, Any], more: list[str], cause: str, nbytes: int) -> None:
    prediction = inspector.predict(config)
    names = [name for row in prediction.expected for name in row.names()]
    index = Index("index.json", dict.fromkeys([*names, *more], "a"), {"total_size": prediction.parameters * 4 + nbytes})
    found = outline(index, Config(config, "config.json")).bridge
    assert found is not None
    assert found.unexplained_bytes == 0
    assert {step.cause: step.bytes for step in found.steps if step.bytes} == {cause: nbytes}


@pytest.mark.parametrize(
    ("more", "nbytes", "cause"),
    [
        ({}, 0, None),
        ({"model.layers.{}.self_attn.rotary_emb.inv_freq": 2}, 32 * 64 * 2, "buffer"),
        ({"model.layers.{}.self_attn.rotary_emb.inv_freq": 4}, 32 * 64 * 4, "buffer"),
        ({}, 6_738_415_616 * 2, "mixed_dtype"),  # all in F32
        ({"model.layers.{}.odd.weight": 1}, 12_345, None),
    ],
)
def test_an_index_goes_over_the_bridge(
    more: dict[str, int], nbytes: int, cause: str | None, tmp_path: Path, inspect: Callable[..., Ran]
) -> None:
    """LLaMA 7B in 16 bits, 6,738,415,616 parameters, and what an index adds to it; what has no size is unexplained."""
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "torch_dtype": "bfloat16", "vocab_size": 32000,
              "hidden_size": 4096, "num_hidden_layers": 32, "intermediate_size": 11008, "num_attention_heads": 32}  # fmt: skip
    names = [name for row in inspector.predict(config).expected for name in row.names()]
    names += [name.format(layer) for name in more for layer in range(32)]
    total = 6_738_415_616 * 2 + nbytes
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": float(total)}, "weight_map": dict.fromkeys(names, "a")}))
    (tmp_path / "config.json").write_text(json.dumps(config))
    document = json.loads(inspect(str(index), "--json").out)["reconciliation"]
    steps = {step["cause"]: step["bytes"] for step in document["steps"]}
    start, unexplained = document["predicted"], document["unexplained"]
    assert start == 6_738_415_616 * 2
    assert start + sum(steps.values()) + unexplained["bytes"] == document["on_disk"] == total
    assert unexplained["bytes"] == (0 if cause or not nbytes else nbytes)
    assert steps == ({cause: nbytes} if cause else {})
    assert len(unexplained["tensors"]) == (32 if nbytes and not cause else 0)
    assert "GB by its total_size" in inspect(str(index)).out


#: Llama-3.2-1B: 1,235,814,400 parameters, its head tied to 128,256 × 2,048.
TIED_MODEL: dict[str, Any] = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 2048, "intermediate_size": 8192,
    "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256,
    "tie_word_embeddings": True, "torch_dtype": "bfloat16",
}  # fmt: skip
HEAD = 128_256 * 2_048


@pytest.mark.parametrize(
    ("stated", "omitted", "added"),
    [
        (1_235_814_400, [], []),
        (1_498_482_688, [], [(TIED, HEAD)]),  # as torchtitan counts it
        (1_235_814_400 + 256 * 2_048, [], [(PADDED, 256 * 2_048)]),  # 128,512 rows, a multiple of 512
        (1_235_814_400 - HEAD, [("the token embedding", HEAD)], []),
    ],
)
def test_a_stated_count_differs_by_whole_parts(stated: int, omitted: list[Any], added: list[Any]) -> None:
    """Each difference is a part of the model, by hand."""
    found = explain(inspector.predict(TIED_MODEL), stated)
    assert (list(found.omitted), list(found.added), found.residual) == (omitted, added, 0)


def test_layers_that_predict_further_tokens_are_added() -> None:
    """MiMo-7B has 7,622,619,136 parameters, and 210,790,400 in the layer that predicts a further token."""
    name = "ai-dynamo+aiconfigurator__aic-core__src__aiconfigurator_core__model_configs__XiaomiMiMo--MiMo-7B-Base"
    predicted = inspector.predict(REAL / "config" / f"{name}_config.json")
    found = explain(predicted, 7_622_619_136 + 210_790_400)
    assert (found.omitted, found.added) == ((), ((AHEAD, 210_790_400),))


def test_a_label_that_adds_has_a_step_for_it(tmp_path: Path) -> None:
    """A count with the head twice is 262,668,288 × 2 bytes too much; a rounded label stays one step."""
    (tmp_path / "config.json").write_text(json.dumps(TIED_MODEL))
    (tmp_path / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    checkpoint = inspector.open(tmp_path)
    exact = {step.cause: step.bytes for step in inspector.reconcile(checkpoint, label="1,498,482,688").steps}
    assert exact["tied_embeddings"] == -HEAD * 2
    assert exact["label_rounding"] == 0
    rounded = {step.cause: step.bytes for step in inspector.reconcile(checkpoint, label="1.5B").steps}
    assert rounded["label_rounding"] == 2 * 1_235_814_400 - 2 * 1_500_000_000
