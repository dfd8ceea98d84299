"""Fused, split and stacked layouts, and tensors with several names, worked out by hand."""

from __future__ import annotations

import pytest
from joining import EMBED, GATE, HEAD, NORM, UP, Book, K, Q, V, row, tensors

from inspector.architectures.naming import Names
from inspector.architectures.prediction import predict
from inspector.bridge.identify import Stored
from inspector.bridge.name import under_the_models_names
from inspector.model import Config, Prediction

# --- other layouts --------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "step"), [(8, 0), (9, 2 * 4), (7, -2 * 4)])
def test_a_fused_projection_is_compared_by_its_elements(rows: int, step: int) -> None:
    """q, k and v of one layer, 4 + 2 + 2 rows of 4, in one tensor; one row more or fewer is 8 bytes."""
    stored = tensors(f"BF16 {rows}×4 model.layers.0.self_attn.qkv_proj.weight")
    book = Book(stored, [each._replace(layers=(0,)) for each in (Q, K, V)])
    assert [len(unit.wanted) for unit in book.joined.units] == [3]
    assert book.steps == ({"shape": (step, 1, "1 × self_attn.qkv_proj")} if step else {})
    assert book.account.parameters == [rows * 4]
    assert book.findings == ([("shape", "error", stored[0].name)] if step else [])
    if step:
        message = f"{rows * 4} elements stored, 32 predicted for q_proj"
        assert book.account.findings[0].message == message


def test_projections_apart_are_what_a_row_has_fused() -> None:
    fused = row("gate_up_proj", "model.layers.{layer}.mlp.gate_up_proj.weight", 6, 4, layers=(0,), group="feed_forward")
    stored = tensors("BF16 3×4 model.layers.0.mlp.gate_proj.weight", "F32 3×4 model.layers.0.mlp.up_proj.weight")
    book = Book(stored, [fused])
    assert book.steps == {"mixed_dtype": (24, 1, "1 × up_proj in F32")}
    assert (book.account.parameters, book.findings) == ([12, 12], [])


def test_projections_apart_that_come_to_another_size() -> None:
    """Two tensors of 4×4 where a row has 6×4 in one: 8 elements more, in two tensors."""
    fused = row("gate_up_proj", "model.layers.{layer}.mlp.gate_up_proj.weight", 6, 4, layers=(0,), group="feed_forward")
    stored = tensors("BF16 4×4 model.layers.0.mlp.gate_proj.weight", "BF16 4×4 model.layers.0.mlp.up_proj.weight")
    assert Book(stored, [fused]).steps == {"shape": (16, 2, "2 × mlp.gate_proj")}


def test_stacked_experts_are_what_rows_have_apart() -> None:
    """Two experts of 3×4 in one tensor of 2×3×4."""
    stored = tensors("BF16 2×3×4 model.layers.0.mlp.experts.gate_proj")
    book = Book(stored, [GATE])
    assert (book.steps, book.account.parameters, book.findings) == ({}, [24], [])


def test_stacked_and_fused_experts_are_what_rows_have_apart() -> None:
    """Gate and up of two experts in one tensor of 2×6×4; half of them in F32 cost 2 bytes more for each element."""
    book = Book(tensors("F32 2×6×4 model.layers.0.mlp.experts.gate_up_proj"), [GATE, UP])
    assert book.steps == {"mixed_dtype": (96, 1, "1 × gate_up_proj in F32")}
    assert book.account.parameters == [48]


def test_a_stack_of_another_size_has_its_row() -> None:
    """2×3×4 predicted as a stack and 2×5×4 stored as one: the same tensor, of another size."""
    stack = GATE._replace(experts=None, stacked=2, shape=(2, 3, 4), formula=("e", "f", "h"))
    stored = tensors("BF16 2×5×4 model.layers.0.mlp.experts.gate_proj", *["BF16 4 model.norm.weight"])
    book = Book(stored, [stack, NORM])
    assert book.joined.units == []
    assert book.account.findings[0].message == "2×5×4 stored, 2×3×4 = e × f × h predicted"
    assert book.steps == {"shape": (32, 1, "1 × experts.gate_proj")}


def test_a_row_outside_the_layers_takes_none_from_within() -> None:
    """The norm of a layer is not the model's last norm."""
    book = Book(tensors("BF16 4 model.layers.0.norm.weight"), [NORM])
    assert book.account.unexplained == ("model.layers.0.norm.weight",)
    assert book.findings[-1] == ("missing", "error", "model.norm.weight")


def test_one_expert_too_few_in_a_stack_is_shape() -> None:
    book = Book(tensors("BF16 1×3×4 model.layers.0.mlp.experts.gate_proj"), [GATE])
    assert book.steps == {"shape": (-24, 1, "1 × experts.gate_proj")}


def test_layouts_of_different_layers_do_not_meet() -> None:
    """A fused projection of layer 1 does not replace the parts of layer 0."""
    stored = tensors("BF16 8×4 model.layers.1.self_attn.qkv_proj.weight")
    book = Book(stored, [each._replace(layers=(0,)) for each in (Q, K, V)])
    assert book.joined.units == []
    assert book.account.unexplained == (stored[0].name,)
    assert book.steps["missing"][:2] == (-64, 3)


def test_a_shared_expert_is_not_an_expert() -> None:
    """A dense projection of the same role does not fill the experts' row, nor the reverse."""
    stored = tensors("BF16 6×4 model.layers.0.mlp.gate_proj.weight")
    assert Book(stored, [GATE]).joined.units == []


def test_experts_are_numbered_from_the_rows_first() -> None:
    """A second row of narrower experts starts where the first ends."""
    later = GATE._replace(shape=(1, 4), first_expert=2)
    name = "model.layers.0.mlp.experts.{}.gate_proj.weight"
    stored = tensors(*(f"BF16 {3 if at < 2 else 1}×4 {name.format(at)}" for at in range(4)))
    book = Book(stored, [GATE, later])
    assert (book.steps, book.findings) == ({}, [])
    assert Book(stored, [GATE]).account.unexplained == tuple(each.name for each in stored[2:])


# --- a tensor with several names ------------------------------------------------------------------


def several(kept: str, *others: str) -> Stored:
    return Stored(tensors(f"BF16 10×4 {kept}"), Names([kept]), [(10, 4)], shared={kept: others})


def test_save_model_keeps_a_tied_pair_under_the_heads_name() -> None:
    """`lm_head.weight` is alphabetically first; the model stores `model.embed_tokens.weight`."""
    prediction = Prediction(Config({}, "config.json"), "test", "", (EMBED,), (HEAD,))
    stored = under_the_models_names(several("lm_head.weight", "model.embed_tokens.weight"), None, prediction)
    assert stored.names == ("model.embed_tokens.weight",)
    assert stored.shared == {"model.embed_tokens.weight": ("lm_head.weight",)}


def test_of_many_names_the_predicted_one_is_taken() -> None:
    """T5 stores `shared.weight`, and the decoder's is alphabetically first; the table knows the name."""
    config = Config({"model_type": "t5", "d_model": 8, "d_ff": 16, "num_layers": 1, "vocab_size": 10}, "config.json")
    prediction = predict(config)
    names = ("decoder.embed_tokens.weight", "encoder.embed_tokens.weight", "lm_head.weight", "shared.weight")
    stored = under_the_models_names(several(*names), config, prediction)
    assert stored.names == ("shared.weight",)
    assert stored.shared == {"shared.weight": ("decoder.embed_tokens.weight", "encoder.embed_tokens.weight", names[2])}


def test_names_that_only_a_table_knows() -> None:
    """gpt2's embedding, under its own name, precedes a meaningless name."""
    config = Config({"model_type": "gpt2", "vocab_size": 10, "n_embd": 4, "n_layer": 1, "n_head": 1}, "config.json")
    stored = under_the_models_names(several("a.weight", "transformer.wte.weight"), config, predict(config))
    assert stored.names == ("transformer.wte.weight",)


def test_nothing_is_renamed_where_nothing_is_shared() -> None:
    stored = several("lm_head.weight")._replace(shared={})
    assert under_the_models_names(stored, None, None) is stored


def test_without_a_prediction_a_head_is_the_copy() -> None:
    stored = under_the_models_names(several("lm_head.weight", "model.embed_tokens.weight"), None, None)
    assert stored.names == ("model.embed_tokens.weight",)
    stored = under_the_models_names(several("model.embed_tokens.weight", "lm_head.weight"), None, None)
    assert stored.names == ("model.embed_tokens.weight",)


def test_a_tensor_that_is_shared_though_nothing_ties_it_is_not_missing() -> None:
    """The file says that the head is the embedding: there is a step, and no finding."""
    stored = tensors("BF16 10×4 model.embed_tokens.weight")
    book = Book(stored, [EMBED, HEAD], shared={"model.embed_tokens.weight": ("lm_head.weight",)})
    reported = "1 × lm_head not stored again: it is model.embed_tokens"
    assert book.steps == {"tied_embeddings": (-80, 1, reported)}
    assert book.findings == []
