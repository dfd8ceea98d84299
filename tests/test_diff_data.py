"""`inspect diff --data`: values that are equal, rounded or different, and transformations by converters.

The models are made with NumPy, the GGUF files with the `gguf` package; llama.cpp's transformations are written here
again as in its source, in array operations.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gguf
import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

import inspector

if TYPE_CHECKING:
    from conftest import Ran

    from inspector.comparing.diff import Diff

Array = NDArray[Any]
Tensors = dict[str, Array]
HEADS, KEY_HEADS, WIDTH, INNER, WORDS = 4, 2, 64, 96, 50
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": WIDTH, "intermediate_size": INNER,
    "num_hidden_layers": 2, "num_attention_heads": HEADS, "num_key_value_heads": KEY_HEADS, "vocab_size": WORDS,
    "torch_dtype": "float32", "tie_word_embeddings": False,
}  # fmt: skip
LAYER = {
    "input_layernorm": (WIDTH,), "post_attention_layernorm": (WIDTH,),
    "self_attn.q_proj": (64, WIDTH), "self_attn.k_proj": (32, WIDTH), "self_attn.v_proj": (32, WIDTH),
    "self_attn.o_proj": (WIDTH, 64), "mlp.gate_proj": (INNER, WIDTH), "mlp.up_proj": (INNER, WIDTH),
    "mlp.down_proj": (WIDTH, INNER),
}  # fmt: skip
GGUF = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip


def llama(seed: int = 0) -> Tensors:
    """Two layers of random numbers with few enough bits for BF16."""
    draw = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens": (WORDS, WIDTH), "model.norm": (WIDTH,)}
    shapes |= {f"model.layers.{layer}.{name}": shape for layer in (0, 1) for name, shape in LAYER.items()}
    shapes["lm_head"] = (WORDS, WIDTH)
    return {f"{name}.weight": in_bf16(draw.standard_normal(shape)) for name, shape in shapes.items()}


def in_bf16(values: Array) -> Array:
    """The same numbers rounded to BF16, as float32: the lower half cut off."""
    cut: Array = (values.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)
    return cut


def saved(folder: Path, tensors: Mapping[str, Array], config: Mapping[str, object] | None = None) -> Path:
    folder.mkdir(parents=True)
    save_file(dict(tensors), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({**CONFIG, **(config or {})}))
    return folder


def permuted(weights: Array, heads: int) -> Array:
    """`LlamaModel.permute` of llama.cpp's conversion/llama.py."""
    there: Array = weights.reshape(heads, 2, weights.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(weights.shape)
    return there


def in_gguf(path: Path, tensors: Mapping[str, Array], quantized: gguf.GGMLQuantizationType | None = None) -> Path:
    """A Llama as llama.cpp's converter writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(2)
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_vocab_size(WORDS)
    names = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
    names |= {f"model.layers.{layer}.{own}": f"blk.{layer}.{name}" for layer in (0, 1) for own, name in GGUF.items()}
    for name, values in tensors.items():
        stored = permuted(values, HEADS) if "q_proj" in name else values
        stored = permuted(values, KEY_HEADS) if "k_proj" in name else stored
        target = f"{names[name.removesuffix('.weight')]}.weight"
        if quantized is not None and values.ndim > 1:
            writer.add_tensor(target, gguf.quants.quantize(stored, quantized), raw_dtype=quantized)
        else:
            writer.add_tensor(target, np.ascontiguousarray(stored))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def reported(result: Diff) -> dict[str, Any]:
    """The name on the left → how the pair's values compare."""
    return {
        pair.a.tensors[0].tensor.name: data
        for pair, data in zip(result.pairs, result.data or (), strict=True)
        if pair.a and data
    }


def test_equal_bytes(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """A copy has 21 tensors of equal values, exit code 0."""
    tensors = llama()
    ran = inspect("diff", saved(tmp_path / "a", tensors), saved(tmp_path / "b", tensors), "--data", "--json")
    assert ran.code == 0
    assert ran.json["counts"]["data"] == {"equal": 21, "rounded": 0, "different": 0, "incomparable": 0}
    assert {each["max_abs"] for each in ran.json["tensors"]} == {0.0}


def test_one_number_is_found_and_measured(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """up_proj[7, 3] of layer 1 is larger by 0.5, the largest difference; the relative one is 0.5 over the norm."""
    tensors = llama()
    name = "model.layers.1.mlp.up_proj.weight"
    changed = {**tensors, name: tensors[name].copy()}
    changed[name][7, 3] += 0.5
    ran = inspect("diff", saved(tmp_path / "a", tensors), saved(tmp_path / "b", changed), "--data", "--json")
    assert ran.code == 1
    (found,) = (each for each in ran.json["tensors"] if each["data"] != "equal")
    assert (found["role"], found["layer"], found["data"], found["status"]) == ("up_proj", 1, "different", "same")
    assert (found["max_abs"], found["differing"], found["elements"]) == (0.5, 1, INNER * WIDTH)
    assert found["relative"] == pytest.approx(0.5 / np.linalg.norm(tensors[name]), rel=1e-5)
    a, b = (each[name].astype(np.float64).ravel() for each in (tensors, changed))
    assert found["cosine"] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), rel=1e-6)


def test_numbers_rounded_to_another_dtype(tmp_path: Path) -> None:
    """F32 to F16 rounds by at most half a step of 2⁻¹¹; one number that is further off makes the tensor different."""
    draw = np.random.default_rng(3)
    tensors = {name: draw.standard_normal(each.shape).astype(np.float32) for name, each in llama().items()}
    halves = {name: each.astype(np.float16) for name, each in tensors.items()}
    base = saved(tmp_path / "a", tensors)
    data = reported(inspector.diff(base, saved(tmp_path / "b", halves), data=True))
    assert {each.status for each in data.values()} == {"rounded"}
    halves["model.norm.weight"][5] *= np.float16(1.01)
    data = reported(inspector.diff(base, saved(tmp_path / "c", halves), data=True))
    assert [name for name, each in data.items() if each.status == "different"] == ["model.norm.weight"]


def test_a_conversion_is_equal_with_its_transform_named(tmp_path: Path) -> None:
    """Queries and keys are permuted; everything else is unchanged."""
    tensors = llama()
    data = reported(inspector.diff(saved(tmp_path / "a", tensors), in_gguf(tmp_path / "b.gguf", tensors), data=True))
    assert {each.status for each in data.values()} == {"equal"}
    transforms = {name.split(".")[-2]: each.transform for name, each in data.items()}
    assert {name: each for name, each in transforms.items() if each} == {"q_proj": "permuted", "k_proj": "permuted"}


def test_either_side_may_be_the_converted_one(tmp_path: Path) -> None:
    """The converted file may come first; without permuted queries, as in older files, no transform is reported."""
    tensors = llama()
    model, file = saved(tmp_path / "a", tensors), in_gguf(tmp_path / "b.gguf", tensors)
    assert {each.status for each in reported(inspector.diff(file, model, data=True)).values()} == {"equal"}
    plain = {
        name: permuted_back(each, HEADS if "q_proj" in name else KEY_HEADS)
        if "q_proj" in name or "k_proj" in name
        else each
        for name, each in tensors.items()
    }
    data = reported(inspector.diff(model, in_gguf(tmp_path / "c.gguf", plain), data=True))
    assert {(each.status, each.transform) for each in data.values()} == {("equal", None)}


def permuted_back(weights: Array, heads: int) -> Array:
    """The weights of which `permuted` makes the given ones."""
    back: Array = weights.reshape(heads, weights.shape[0] // heads // 2, 2, -1).swapaxes(1, 2).reshape(weights.shape)
    return back


@pytest.mark.parametrize("name", ["Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0"])
def test_quantized_weights_are_rounded_and_a_tampered_one_is_found(name: str, tmp_path: Path) -> None:
    """The `gguf` package quantizes; then a number of one tensor is changed by as much as the largest of its row."""
    kind = gguf.GGMLQuantizationType[name]
    tensors = llama(1)
    tensors = {key: each.repeat(2, axis=1) if each.shape[-1] % 32 else each for key, each in tensors.items()}
    model = saved(tmp_path / "a", tensors)
    data = reported(inspector.diff(model, in_gguf(tmp_path / "b.gguf", tensors, kind), data=True))
    assert {each.status for each in data.values()} == {"equal", "rounded"}
    target = "model.layers.0.self_attn.k_proj.weight"
    tensors[target] = tensors[target].copy()
    tensors[target][9, 11] += np.abs(tensors[target][9]).max()
    data = reported(inspector.diff(model, in_gguf(tmp_path / "c.gguf", tensors, kind), data=True))
    assert [each for each, found in data.items() if found.status == "different"] == [target]


def test_norms_that_a_converter_adds_one_to(tmp_path: Path) -> None:
    """Gemma's norms: "differs by 9.5 ×" is `x + 1`."""
    tensors = llama()
    tensors = {name: each for name, each in tensors.items() if name != "lm_head.weight"}
    model = saved(
        tmp_path / "a", tensors, {"architectures": ["GemmaForCausalLM"], "model_type": "gemma", "head_dim": 16}
    )
    shifted = {name: each + 1 if name.endswith("norm.weight") else each for name, each in tensors.items()}
    path = in_gguf(tmp_path / "b.gguf", {**shifted, **unpermuted(shifted)})
    path.write_bytes(path.read_bytes().replace(b"llama", b"gemma"))  # of one length, in every key
    data = reported(inspector.diff(model, path, data=True))
    assert {each.status for each in data.values()} == {"equal"}
    assert {name for name, each in data.items() if each.transform == "x + 1"} == {
        name for name in tensors if name.endswith("norm.weight")
    }


def unpermuted(tensors: Mapping[str, Array]) -> Tensors:
    """Queries and keys for which `in_gguf` writes the original ones."""
    heads = {"q_proj": HEADS, "k_proj": KEY_HEADS}
    return {
        name: permuted_back(each, heads[name.split(".")[-2]])
        for name, each in tensors.items()
        if name.split(".")[-2] in heads
    }


def test_fused_and_stacked_layouts_are_taken_apart(tmp_path: Path) -> None:
    """One qkv tensor for three: a value changed in its keys is found there."""
    tensors = llama()
    fused = dict(tensors)
    for layer in (0, 1):
        parts = [fused.pop(f"model.layers.{layer}.self_attn.{part}_proj.weight") for part in "qkv"]
        fused[f"model.layers.{layer}.self_attn.qkv_proj.weight"] = np.concatenate(parts)
    base = saved(tmp_path / "a", tensors)
    data = reported(inspector.diff(base, saved(tmp_path / "b", fused), data=True))
    assert {each.status for each in data.values()} == {"equal"}
    assert sum(each.transform == "fused" for each in data.values()) == 2
    fused["model.layers.1.self_attn.qkv_proj.weight"][64 + 3, 5] += 1
    found = [
        each
        for each in reported(inspector.diff(base, saved(tmp_path / "c", fused), data=True)).values()
        if each.sums.differing
    ]
    assert [(each.status, each.sums.differing, each.sums.max_abs) for each in found] == [("different", 1, 1.0)]


def test_convolutions_of_queries_keys_and_values_lie_in_one_or_in_three(tmp_path: Path) -> None:
    """Kimi's linear attention: published as three, in Transformers one after the other; here of different widths."""
    draw = np.random.default_rng(3)
    widths = {"q": 8, "k": 8, "v": 16}
    parts = {letter: draw.normal(size=(width, 1, 4)).astype(np.float32) for letter, width in widths.items()}
    config = {"model_type": "kimi_linear", "num_hidden_layers": 1}
    single = {f"model.layers.0.self_attn.{letter}_conv1d.weight": each for letter, each in parts.items()}
    fused = {"model.layers.0.self_attn.conv1d.weight": np.concatenate(list(parts.values()))}
    a, b = saved(tmp_path / "a", single, config), saved(tmp_path / "b", fused, config)
    (data,) = inspector.diff(a, b, data=True).data or ()
    assert data is not None
    assert (data.status, data.transform, data.sums.elements) == ("equal", "fused", 128)
    fused["model.layers.0.self_attn.conv1d.weight"][9] += 1  # the second of the keys
    (data,) = inspector.diff(a, saved(tmp_path / "c", fused, config), data=True).data or ()
    assert data is not None
    assert (data.status, data.sums.differing) == ("different", 4)


def test_nans_are_equal_to_nans_and_counted(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """Two NaNs at the same place are equal; a missing one is a difference."""
    tensors = llama()
    tensors["model.norm.weight"][:2] = np.nan
    base = saved(tmp_path / "a", tensors)
    halves = {name: each.astype(np.float16) for name, each in tensors.items()}
    data = reported(inspector.diff(base, saved(tmp_path / "b", halves), data=True))
    assert (data["model.norm.weight"].status, data["model.norm.weight"].sums.nan_a) == ("equal", 2)
    tensors["model.norm.weight"][0] = 1
    ran = inspect("diff", base, saved(tmp_path / "c", tensors), "--data", "--json")
    (found,) = (each for each in ran.json["tensors"] if each["data"] == "different")
    assert (found["nan"], found["differing"]) == ({"a": 2, "b": 1}, 1)


def test_which_layers_were_trained(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """A fine-tune of the last layer is reported."""
    tensors = llama()
    tuned = {name: each * np.float32(1.1) if ".layers.1." in name else each for name, each in tensors.items()}
    ran = inspect("diff", saved(tmp_path / "a", tensors), saved(tmp_path / "b", tuned), "--data")
    assert "changed values in layer 1; none in layer 0" in ran.out.splitlines()
    assert ran.out.splitlines()[-1] == "21 tensors the same in dtype and shape, values: 12 equal, 9 different"


def test_a_file_that_changes_meanwhile_is_an_error(tmp_path: Path) -> None:
    """A file that is cut after its header was read, or rewritten with the same size."""
    tensors = llama()
    base, other = (inspector.reconcile(inspector.open(saved(tmp_path / name, tensors))) for name in "ab")
    result = inspector.diff(base, other)
    weights = tmp_path / "b" / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-1000])
    with pytest.raises(inspector.InspectorError, match="changed while it was being read: 274,736 bytes before"):
        inspector.diff(base, other, data=True)
    weights.write_bytes(whole)
    from inspector.comparing.data import Comparison

    comparison = Comparison(result)
    os.utime(weights, ns=(1, 1))
    with pytest.raises(inspector.InspectorError, match="compare again when nothing writes to it"):
        comparison.run()
    comparison.close()


@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_workers_finds_the_same(workers: int, tmp_path: Path) -> None:
    """The results are the same, in the order of the pairs."""
    tensors = llama()
    other = {name: each + np.float32(0.25) for name, each in llama(2).items()}
    result = inspector.diff(saved(tmp_path / "a", tensors), saved(tmp_path / "b", other), data=True, workers=workers)
    for name, data in reported(result).items():
        assert data.sums.max_abs == pytest.approx(np.abs(tensors[name] - other[name]).max(), rel=1e-6)


def test_metas_own_files_have_queries_and_keys_in_another_order(tmp_path: Path) -> None:
    """They are permuted as by Transformers' `convert_llama_weights_to_hf.py`; beside a GGUF they are left unchanged."""
    tensors = llama()
    model = saved(tmp_path / "a", tensors)
    words = {
        "model.embed_tokens": "tok_embeddings", "model.norm": "norm", "lm_head": "output", "self_attn.q_proj": "attention.wq",
        "self_attn.k_proj": "attention.wk", "self_attn.v_proj": "attention.wv", "self_attn.o_proj": "attention.wo",
        "mlp.gate_proj": "feed_forward.w1", "mlp.up_proj": "feed_forward.w3", "mlp.down_proj": "feed_forward.w2",
        "input_layernorm": "attention_norm", "post_attention_layernorm": "ffn_norm", "model.layers": "layers",
    }  # fmt: skip
    original: Tensors = {}
    for name, each in tensors.items():
        stored = (
            permuted(each, HEADS if "q_proj" in name else KEY_HEADS) if "q_proj" in name or "k_proj" in name else each
        )
        for own, theirs in words.items():
            name = name.replace(own, theirs)
        original[name] = np.ascontiguousarray(stored)
    (tmp_path / "meta").mkdir()
    save_file(original, tmp_path / "meta" / "consolidated.safetensors")
    fields = {
        "dim": WIDTH,
        "n_layers": 2,
        "n_heads": HEADS,
        "n_kv_heads": KEY_HEADS,
        "vocab_size": WORDS,
        "hidden_dim": INNER,
    }
    (tmp_path / "meta" / "params.json").write_text(json.dumps(fields))
    data = reported(inspector.diff(model, tmp_path / "meta", data=True))
    assert ({each.status for each in data.values()}, len(data)) == ({"equal"}, 21)
    assert sum(each.transform == "permuted" for each in data.values()) == 4
    data = reported(inspector.diff(tmp_path / "meta", in_gguf(tmp_path / "b.gguf", tensors), data=True))
    assert {(each.status, each.transform) for each in data.values()} == {("equal", None)}


def test_matrices_whose_dimensions_do_not_divide_are_not_compared(tmp_path: Path) -> None:
    """A transposed matrix is transposed back; another shape is reported, without a traceback."""
    tensors = llama()
    name = "model.layers.0.mlp.up_proj.weight"
    other = {**tensors, name: np.ascontiguousarray(tensors[name].T)}
    data = reported(inspector.diff(saved(tmp_path / "a", tensors), saved(tmp_path / "b", other), data=True))
    assert (data[name].status, data[name].transform) == ("equal", "transposed")
    other[name] = tensors[name].reshape(48, 128)
    data = reported(inspector.diff(tmp_path / "a", saved(tmp_path / "d", other), data=True))
    assert (data[name].status, data[name].transform) == ("equal", None)  # the same numbers in the same order
    other[name] = np.ones((97, 64), np.float32)
    data = reported(inspector.diff(tmp_path / "a", saved(tmp_path / "e", other), data=True))
    assert data[name].status is None
    assert "different shapes" in data[name].why


def test_a_file_that_ends_early_is_one_line(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """Its header is complete, its data not: exit code 2."""
    tensors = llama()
    base, other = saved(tmp_path / "a", tensors), saved(tmp_path / "b", tensors)
    weights = other / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-64])
    ran = inspect("diff", base, other, "--data")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
