"""What `inspect diff` says happened, for models made by hand, each in one way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gguf
import numpy as np
import pytest
from safetensors.numpy import save_file
from test_diff_data import WIDTH, Tensors, in_gguf, llama, saved

import inspector

if TYPE_CHECKING:
    from conftest import Ran

    from inspector.comparing.agreement import Relation

DOWN = "model.layers.{}.mlp.down_proj.weight"
OUT = "model.layers.{}.self_attn.o_proj.weight"


def called(tmp_path: Path, a: Tensors, b: Tensors, config: dict[str, Any] | None = None) -> Relation:
    found = inspector.diff(saved(tmp_path / "a", a), saved(tmp_path / "b", b, config), data=True).relation
    assert found is not None
    return found


def changed(tensors: Tensors, name: str, values: Any) -> Tensors:
    return {**tensors, name: np.ascontiguousarray(values, np.float32)}


def test_headers_alone(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """The structure, and what would decide the rest; the first line of the text is the JSON's sentence."""
    a, b = saved(tmp_path / "a", llama()), saved(tmp_path / "b", llama(1))
    found = inspect("diff", a, b, "--json").json["relation"]
    assert (found["kind"], found["undecided"]) == ("same_structure", "--data compares the values")
    assert inspect("diff", a, b).out.splitlines()[0] == found["sentence"] == "b has the structure of a"
    lacking = llama()
    del lacking["lm_head.weight"]
    found = inspect("diff", a, saved(tmp_path / "c", lacking), "--json").json["relation"]
    assert (found["kind"], found["evidence"]) == ("part", ["without 1 weight (lm_head)"])


def test_a_copy_and_the_same_values(tmp_path: Path) -> None:
    """Identical under the same names; else what is different about the storage."""
    tensors = llama()
    assert called(tmp_path / "1", tensors, tensors).kind == "identical"
    found = inspector.diff(saved(tmp_path / "a", tensors), in_gguf(tmp_path / "b.gguf", tensors), data=True).relation
    assert found is not None
    assert found.sentence == "b is a, with another format (safetensors → gguf): the same values"


def test_one_place_named_twice_is_itself(tmp_path: Path, inspect: Callable[..., Ran], monkeypatch: Any) -> None:
    """No values are needed for that. A copy elsewhere is not known to be one before they are read."""
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "a", llama()), saved(tmp_path / "b", llama())
    ran = inspect("diff", "a", "./a")
    assert ran.out.splitlines()[0] == "b is a: both are the same files"
    assert ran.out.splitlines()[-1].endswith("the same in dtype and shape: nothing differs")
    assert inspect("diff", "a", "b", "--json").json["relation"]["kind"] == "same_structure"


def test_complex_numbers_that_differ(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """Each has two numbers: |a| is the root of 1 + 4 + 9 + 1, and b differs by 2 in one imaginary part."""
    for name, last in (("a", 1), ("b", 1 + 2j)):
        tensors = {"weight": np.array([[1j, 2], [3, last]], np.complex64)}
        save_file(tensors, tmp_path / f"{name}.safetensors")
    ran = inspect("diff", str(tmp_path / "a.safetensors"), str(tmp_path / "b.safetensors"), "--data")
    assert ran.code == 1, ran.err
    assert "1 different" in ran.out
    assert "‖a−b‖/‖a‖ 0.516, at most 2" in ran.out
    real = {"weight": np.ones((2, 2), np.float32)}
    save_file(real, tmp_path / "c.safetensors")
    ran = inspect("diff", str(tmp_path / "a.safetensors"), str(tmp_path / "c.safetensors"), "--data")
    assert ran.code == 1, ran.err


def test_integers_that_floats_do_not_hold(tmp_path: Path) -> None:
    """One bit of 2 to the 60 plus 1, which is not a number of 64-bit floats."""
    for name, last in (("a", 0), ("b", 1)):
        save_file({"weight": np.array([2**60 + last, 7], np.int64)}, tmp_path / f"{name}.safetensors")
    found = inspector.diff(str(tmp_path / "a.safetensors"), str(tmp_path / "b.safetensors"), data=True)
    assert found.differs
    assert found.relation is not None
    assert found.relation.sentence == "b is a, damaged: 1 value of weight: 1 bit in element 0"


def test_rounded_says_to_what_and_how_large(tmp_path: Path) -> None:
    """The coarser of the two is the other one, rounded."""
    tensors = {name: each * np.float32(1.01) for name, each in llama().items()}
    halves = {name: each.astype(np.float16) for name, each in tensors.items()}
    found = called(tmp_path, tensors, halves)
    assert found.kind == "rounded"
    assert found.sentence == "b is a, rounded to F16 (16 bits): 274.74 kB → 138.40 kB"
    back = inspector.diff(tmp_path / "b", tmp_path / "a", data=True).relation
    assert back is not None
    assert back.sentence.startswith("a is b, rounded to F16")


def test_strangers_and_what_was_trained(tmp_path: Path) -> None:
    """Random numbers have nothing in common; small changes everywhere are training, and so are those in one layer."""
    draw = np.random.default_rng(5)
    tensors = llama()
    assert called(tmp_path / "1", tensors, llama(1)).kind == "unrelated"
    tuned = {name: each + draw.standard_normal(each.shape, np.float32) / 50 for name, each in tensors.items()}
    assert called(tmp_path / "2", tensors, tuned).sentence == "b is a, fine-tuned in all 2 layers"
    one = {name: tuned[name] if ".layers.1." in name else each for name, each in tensors.items()}
    assert called(tmp_path / "3", tensors, one).sentence == "b is a, fine-tuned in layer 1 of 2"


def test_an_adapter_and_a_removed_direction_are_told_apart(tmp_path: Path) -> None:
    """Both are of rank 1; only the latter takes from each weight what it has in the direction, r·(rᵀW)."""
    draw = np.random.default_rng(6)
    tensors = llama()
    names = [name.format(layer) for name in (DOWN, OUT) for layer in (0, 1)]
    r = draw.standard_normal(WIDTH)
    r /= np.linalg.norm(r)
    removed = {**tensors, **{name: (tensors[name] - np.outer(r, r @ tensors[name])).astype("f4") for name in names}}
    found = called(tmp_path / "1", tensors, removed)
    assert found.kind == "direction_removed"
    assert found.evidence[0].endswith("the same one in all of them")
    for rank in (1, 5):
        up, down = (
            draw.standard_normal((WIDTH, rank)),
            {each: draw.standard_normal((rank, tensors[each].shape[1])) for each in names},
        )
        merged = {**tensors, **{name: (tensors[name] + up @ down[name] / 20).astype("f4") for name in names}}
        found = called(tmp_path / f"adapter-{rank}", tensors, merged)
        assert found.sentence == f"b is a, with an adapter of rank {rank} merged in"


def in_other_order(tensors: Tensors, *, hidden: bool = False) -> Tensors:
    """Feed-forward neurons in another order in each layer; the hidden dimensions, too."""
    draw, found = np.random.default_rng(7), dict(tensors)
    order = draw.permutation(WIDTH) if hidden else np.arange(WIDTH)
    for name, each in tensors.items():
        along_rows = "o_proj" in name or "down_proj" in name or each.ndim == 1
        found[name] = each[order] if along_rows else each[:, order]
    for layer in (0, 1):
        at = "model.layers.{}.mlp.{}_proj.weight".format
        neurons = draw.permutation(len(tensors[at(layer, "up")]))
        for name in ("up", "gate"):
            found[at(layer, name)] = found[at(layer, name)][neurons]
        found[at(layer, "down")] = found[at(layer, "down")][:, neurons]
    return {name: np.ascontiguousarray(each) for name, each in found.items()}


def test_rows_and_columns_in_another_order(tmp_path: Path) -> None:
    """What computes the same is no stranger, nor damaged, though matrices have nothing in common in their order."""
    tensors, draw = llama(), np.random.default_rng(8)
    found = called(tmp_path / "1", tensors, in_other_order(tensors))
    assert found.kind == "same_values"
    assert found.sentence == "b is a, its feed-forward neurons in another order: the same values"
    found = called(tmp_path / "2", tensors, in_other_order(tensors, hidden=True))
    assert found.sentence == "b is a, its feed-forward neurons and hidden dimensions in another order: the same values"
    tuned = {name: each + draw.standard_normal(each.shape, np.float32) / 20 for name, each in tensors.items()}
    found = called(tmp_path / "3", tensors, in_other_order(tuned))
    assert found.sentence == "b is a, its feed-forward neurons in another order, and trained further"
    assert found.kind == "finetuned"
    tuned = {name: each + draw.standard_normal(each.shape, np.float32) / 200 for name, each in tensors.items()}
    assert called(tmp_path / "4", tensors, in_other_order(tuned)).kind == "finetuned"


def test_hidden_dimensions_rotated(tmp_path: Path) -> None:
    """One rotation for all matrices is found; with another one for each, the matrices have nothing in common."""
    tensors, draw = llama(), np.random.default_rng(9)

    def rotated(turn: Callable[[], Any]) -> Tensors:
        return {
            name: each if each.ndim == 1 else
            (turn().T @ each if "o_proj" in name or "down_proj" in name else each @ turn()).astype("f4")
            for name, each in tensors.items()
        }  # fmt: skip

    once = np.linalg.qr(draw.standard_normal((WIDTH, WIDTH)))[0]
    found = called(tmp_path / "1", tensors, rotated(lambda: once))
    assert (found.kind, found.sentence) == ("finetuned", "b is a, its hidden dimensions rotated")
    found = called(tmp_path / "2", tensors, rotated(lambda: np.linalg.qr(draw.standard_normal((WIDTH, WIDTH)))[0]))
    assert found.kind == "unrelated"


def test_factors_of_rows_and_columns(tmp_path: Path) -> None:
    """A norm's factors taken by the matrices after it; of zero they would be damage."""
    tensors, draw = llama(), np.random.default_rng(10)
    made, zeroed = dict(tensors), dict(tensors)
    for layer in (0, 1):
        at, factors = f"model.layers.{layer}.", np.exp(draw.standard_normal(WIDTH)).astype("f4")
        made[f"{at}post_attention_layernorm.weight"] = tensors[f"{at}post_attention_layernorm.weight"] / factors
        for name in ("gate", "up"):
            made[f"{at}mlp.{name}_proj.weight"] = tensors[f"{at}mlp.{name}_proj.weight"] * factors
    found = called(tmp_path / "1", tensors, made)
    assert found.kind == "rounded"
    assert found.sentence == "b is a, rows and columns times factors, as AWQ and SmoothQuant do"
    zeroed[DOWN.format(0)] = tensors[DOWN.format(0)] * (np.arange(WIDTH) > 5)[:, None].astype("f4")
    assert called(tmp_path / "2", tensors, zeroed).kind == "damaged"


def test_numbers_of_a_coarser_float(tmp_path: Path) -> None:
    """Stored as F32 again: not training."""
    tensors = {name: each * np.float32(1.01) for name, each in llama().items()}
    back = {name: each.astype(np.float16).astype(np.float32) for name, each in tensors.items()}
    assert called(tmp_path / "1", tensors, back).sentence == "b is a, rounded to F16 and stored as F32"
    back[OUT.format(0)][3, 4] *= np.float32(1.5)
    assert called(tmp_path / "2", tensors, back).kind == "finetuned"


def test_a_head_that_is_the_embeddings(tmp_path: Path) -> None:
    """Stored or not, the model is the same one."""
    tensors = llama()
    tied = {name: each for name, each in tensors.items() if "lm_head" not in name}
    stored = {**tied, "lm_head.weight": tied["model.embed_tokens.weight"]}
    saved(tmp_path / "a", tied, {"tie_word_embeddings": True})
    saved(tmp_path / "b", stored), saved(tmp_path / "c", tensors)
    found = [inspector.diff(tmp_path / "a", tmp_path / each, data=True).relation for each in "bc"]
    assert [each and each.kind for each in found] == ["same_values", "extended"]
    assert found[0] is not None
    assert found[0].sentence == "b is a, its head stored once more: the same values"
    back = inspector.diff(tmp_path / "b", tmp_path / "a", data=True).relation
    assert back is not None
    assert back.sentence == "b is a, its head no longer stored: the same values"


def test_names_that_say_nothing(tmp_path: Path) -> None:
    """Headers say that shapes are alike, values that the model is."""
    tensors = llama()
    for seed, path in ((0, "b"), (1, "c")):
        (tmp_path / path).mkdir()
        save_file(
            {f"blob.{at}": each for at, each in enumerate(llama(seed).values())}, tmp_path / path / "x.safetensors"
        )
    a = saved(tmp_path / "a", tensors)
    assert inspector.diff(a, tmp_path / "b").relation.sentence == "b has a's shapes under other names"  # type: ignore[union-attr]
    found = [inspector.diff(a, tmp_path / each, data=True).relation for each in "bc"]
    assert [each and each.kind for each in found] == ["same_values", "unrelated"]


@pytest.mark.parametrize(("kept", "kind", "words"), [
    ([0, 2], "pruned", "without layers 1"), ([0, 1, 1, 2], "extended", "with layers 1 more than once"),
])  # fmt: skip
def test_layers_removed_or_repeated(kept: list[int], kind: str, words: str, tmp_path: Path) -> None:
    """Layers are recognised by their values, though they are numbered again."""
    three = {**llama(), **{name.replace("s.0.", "s.2."): each for name, each in llama(9).items() if "s.0." in name}}
    cut = {name: each for name, each in three.items() if "layers" not in name}
    for new, old in enumerate(kept):
        cut |= {name.replace(f"s.{old}.", f"s.{new}."): each for name, each in three.items() if f"s.{old}." in name}
    saved(tmp_path / "a", three, {"num_hidden_layers": 3})
    b = saved(tmp_path / "b", cut, {"num_hidden_layers": len(kept)})
    found = inspector.diff(tmp_path / "a", b, data=True).relation
    assert found is not None
    assert (found.kind, found.sentence) == (kind, f"b is a, {kind}: {words}")


def test_more_words(tmp_path: Path) -> None:
    """Rows added to the vocabulary, with all else equal, extend it."""
    tensors = llama()
    more = {
        name: np.concatenate([tensors[name], tensors[name][:6]])
        for name in ("lm_head.weight", "model.embed_tokens.weight")
    }
    found = called(tmp_path, tensors, {**tensors, **more}, {"vocab_size": 56})
    assert found.sentence == "b is a, its vocabulary extended: 50 → 56 rows"


def test_faults_are_located(tmp_path: Path) -> None:
    """One bit, and a hole of zeros."""
    tensors, name = llama(), DOWN.format(1)
    bits = tensors[name].copy().reshape(-1).view(np.uint32)
    bits[77] ^= 1 << 30
    found = called(tmp_path / "1", tensors, changed(tensors, name, bits.view(np.float32).reshape(tensors[name].shape)))
    assert found.sentence == f"b is a, damaged: 1 value of {name}: 1 bit in element 77"
    hole = tensors[name].copy().reshape(-1)
    hole[1000:2000] = 0
    found = called(tmp_path / "2", tensors, changed(tensors, name, hole.reshape(tensors[name].shape)))
    assert found.kind == "damaged"
    assert "from 1,000 to 1,999, all one value" in found.sentence
    small = {each: values / 64 for each, values in tensors.items()}
    found = called(tmp_path / "3", small, changed(small, name, hole.reshape(tensors[name].shape) / 64))
    assert found.kind == "damaged"


@pytest.mark.parametrize("kind", ["Q4_0", "Q5_1", "Q8_0"])
def test_one_bit_of_a_quantized_file(kind: str, tmp_path: Path) -> None:
    """A code that is not the nearest to the original is found; the same file without it is only rounded."""
    tensors = {
        name: each[:, :WIDTH] if "down" not in name and each.ndim > 1 else each for name, each in llama().items()
    }
    source, path = saved(tmp_path / "a", tensors), tmp_path / "b.gguf"
    in_gguf(path, tensors, gguf.GGMLQuantizationType[kind])
    clean = inspector.diff(source, path, data=True).relation
    assert clean is not None
    assert clean.kind == "rounded"
    name = "blk.1.attn_v.weight"
    place = next(int(each.data_offset) for each in gguf.GGUFReader(path).tensors if each.name == name)
    size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]][1]
    data = bytearray(path.read_bytes())
    data[place + 5 * size + size - 1] ^= 4 if kind == "Q8_0" else 0x40  # the last byte of the sixth block
    path.write_bytes(data)
    found = inspector.diff(source, path, data=True).relation
    assert found is not None
    assert found.sentence == (
        f"b is a, damaged: 1 value of {name}: element 191, further from the original than rounding to {kind} leaves"
    )


def test_one_bit_of_a_blocks_minimum(tmp_path: Path) -> None:
    """The values of its block are off by as much, with the codes that the originals have."""
    tensors = {
        name: each[:, :WIDTH] if "down" not in name and each.ndim > 1 else each for name, each in llama().items()
    }
    source, path = saved(tmp_path / "a", tensors), tmp_path / "b.gguf"
    in_gguf(path, tensors, gguf.GGMLQuantizationType.Q5_1)
    place = next(int(each.data_offset) for each in gguf.GGUFReader(path).tensors if each.name == "blk.1.attn_v.weight")
    data = bytearray(path.read_bytes())
    data[place + 5 * 24 + 3] ^= 0x80  # of a sixth block's F16 after the scale: the sign
    path.write_bytes(data)
    found = inspector.diff(source, path, data=True).relation
    assert found is not None
    assert found.kind == "damaged"
    assert "of blk.1.attn_v.weight: element 160 to 191, further" in found.sentence


def test_structure_id(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """The same for a GGUF and safetensors of other dtypes; another if a shape is another."""
    tensors = llama()
    halves = {name: each.astype(np.float16) for name, each in tensors.items()}
    same = saved(tmp_path / "a", tensors), saved(tmp_path / "b", halves), in_gguf(tmp_path / "c.gguf", tensors)
    found = {inspect(path, "--json").json["structure_id"] for path in same}
    assert len(found) == 1
    other = saved(tmp_path / "d", changed(tensors, "lm_head.weight", np.zeros((51, WIDTH))))
    assert inspect(other, "--json").json["structure_id"] not in found
    assert f"structure {found.pop()}" in inspect(same[2], "--full").out


def test_tensors_without_a_role_are_paired_one_by_one(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """By their names; renamed ones by their shapes in order. What one side lacks is only in the other."""
    draw = np.random.default_rng(0)
    tensors = {f"net.{name}.kernel": draw.standard_normal((16, 8)).astype("f4") for name in "abcd"}
    tensors["net.alpha"] = np.ones(5, np.float32)
    paths = {name: tmp_path / f"{name}.safetensors" for name in ("a", "changed", "renamed", "lacking")}
    save_file(tensors, paths["a"])
    save_file(changed(tensors, "net.b.kernel", tensors["net.b.kernel"] + 1), paths["changed"])
    save_file({name.replace("net", "own"): each for name, each in tensors.items()}, paths["renamed"])
    save_file({name: each for name, each in tensors.items() if "c.kernel" not in name}, paths["lacking"])
    ran = inspect("diff", paths["a"], paths["changed"], "--data", "--json")
    assert (ran.code, ran.json["counts"]["data"]["different"], ran.json["counts"]["data"]["equal"]) == (1, 1, 4)
    assert inspect("diff", paths["a"], paths["renamed"], "--data", "--json").json["relation"]["kind"] == "same_values"
    assert inspect("diff", paths["a"], paths["lacking"], "--json").json["counts"]["only_a"] == 1
