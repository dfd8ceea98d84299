"""The cost of packed weights in the bridge, worked out by hand."""

from __future__ import annotations

import pytest
from joining import NORM, Book, Q, row, tensors

from inspector.bridge.book import Width, book_widths
from inspector.bridge.ledger import Ledger
from inspector.model import Packing, Step, Tensor

PACKED = Packing(
    "gptq",
    4,
    names={"model.layers.0.self_attn.q_proj.qweight": "model.layers.0.self_attn.q_proj.weight"},
    shapes={"model.layers.0.self_attn.q_proj.qweight": (4, 4)},
    side={"model.layers.0.self_attn.q_proj.scales": "model.layers.0.self_attn.q_proj.weight"},
    kinds={"model.layers.0.self_attn.q_proj.scales": "scales"},
)
ONE = Q._replace(layers=(0,))


def test_packed_weights_and_their_side_data() -> None:
    """16 weights of 4 bits in 8 bytes, 4 scales of 2 bytes that are not parameters, and a norm at its full width."""
    stored = tensors(
        "I32 2×1 model.layers.0.self_attn.q_proj.qweight",
        "F16 1×4 model.layers.0.self_attn.q_proj.scales",
        "F16 4 model.norm.weight",
    )
    book = Book(stored, [ONE, NORM], packing=PACKED, bits=4)
    assert book.steps == {
        "quantization_overhead": (8, 1, "1 × scales"),
        "unquantized": (4 * 2 - 2, 1, "1 × norm in F16"),
    }
    assert book.account.parameters == [16, 0, 4]


@pytest.mark.parametrize(
    ("words", "cause", "step", "what"),
    [
        (3, "quantization_overhead", 2 * 4, "2 × q_proj padded"),
        (1, "sparsity", 2 * -4, "2 × q_proj without its zeros"),
        (2, None, 0, ""),
    ],
)
def test_packed_words_that_are_filled_up_or_leave_out_zeros(
    words: int, cause: str | None, step: int, what: str
) -> None:
    """16 weights of 4 bits need two words of 4 bytes, in each of two layers."""
    names = [f"model.layers.{at}.self_attn.q_proj" for at in (0, 1)]
    packing = Packing(
        "gptq", 4, names={f"{n}.qweight": f"{n}.weight" for n in names}, shapes={f"{n}.qweight": (4, 4) for n in names}
    )
    stored = tensors(*(f"I32 {words}×1 {name}.qweight" for name in names))
    steps = Book(stored, [Q], packing=packing, bits=4).steps
    assert steps == ({cause: (step, 2, what)} if cause else {})


def test_an_empty_packed_weight_of_uneven_width() -> None:
    """No elements, no bits: stated as the nearest whole number."""
    ledger = Ledger()
    book_widths(ledger, "q_proj", {Width("U8", 0, 3, 4): 2}, 4, PACKED._replace(uneven=True))
    assert ledger.steps() == (Step("mixed_dtype", 6, 2, "2 × q_proj packed at 4 bits"),)


def test_packed_weights_of_another_width() -> None:
    """16 weights of 8 bits where most have 4: 8 bytes more."""
    odd = PACKED._replace(odd_bits={"model.layers.0.self_attn.q_proj.qweight": 8})
    stored = tensors("I32 4×1 model.layers.0.self_attn.q_proj.qweight")
    steps = Book(stored, [ONE], packing=odd, bits=4).steps
    assert steps == {"mixed_dtype": (8, 1, "1 × q_proj packed at 8 bits")}


def test_uneven_widths_are_reported_as_computed() -> None:
    """10 bytes for 16 weights are 5 bits, whatever the nearest whole number is."""
    uneven = PACKED._replace(uneven=True)
    stored = [Tensor("model.layers.0.self_attn.q_proj.qweight", "U8", (10,), 0, 10)]
    steps = Book(stored, [ONE], packing=uneven, bits=4).steps
    assert steps == {"mixed_dtype": (2, 1, "1 × q_proj packed at 5 bits")}


def test_a_packed_weight_of_which_only_the_elements_are_known() -> None:
    """(16,) fits 4×4; (12,) does not."""
    name = "model.layers.0.self_attn.q_proj.qweight"
    stored = tensors(f"I32 2×1 {name}")
    assert Book(stored, [ONE], packing=PACKED._replace(shapes={name: (16,)}), bits=4).steps == {}
    assert Book(stored, [ONE], packing=PACKED._replace(shapes={name: (12,)}), bits=4).steps["shape"][0] == -2


def test_biases_that_packing_added_are_overhead() -> None:
    """AutoGPTQ's zeros: a bias of a packed weight that the configuration does not have, and no other bias."""
    stored = tensors(
        "I32 2×1 model.layers.0.self_attn.q_proj.qweight",
        "F16 4 model.layers.0.self_attn.q_proj.bias",
        "F16 4 model.layers.0.self_attn.o_proj.bias",
    )
    book = Book(stored, [ONE], packing=PACKED, bits=4)
    assert book.steps == {"quantization_overhead": (8, 1, "1 × biases that packing added")}
    assert book.account.parameters == [16, 0, 4]
    assert book.account.unexplained == ("model.layers.0.self_attn.o_proj.bias",)


def test_types_that_pack_by_themselves_have_overhead() -> None:
    """Q4_0 of GGUF: 32 weights in 18 bytes are 4.5 bits for 4; F32 beside it is mixed, not unquantized."""
    packing = Packing("Q4_0", 4, widths={"Q4_0": 4, "F32": 32})
    up = row("up_proj", "blk.{layer}.ffn_up.weight", 2, 32, layers=(0,), group="feed_forward")
    norm = row("norm", "output_norm.weight", 32, group="norm")
    stored = [
        Tensor("blk.0.ffn_up.weight", "Q4_0", (2, 32), 0, 36),
        Tensor("output_norm.weight", "F32", (32,), 36, 128),
    ]
    book = Book(stored, [up, norm], packing=packing, bits=4)
    assert book.steps == {
        "quantization_overhead": (4, 1, "1 × Q4_0 at 4.5 bits for 4"),
        "mixed_dtype": (128 - 16, 1, "1 × norm in F32"),
    }


def test_a_type_of_unknown_width_counts_as_stored() -> None:
    """Its bytes are taken as they are: no mismatch is reported."""
    stored = [Tensor("model.norm.weight", "Q9_9", (4,), 0, 3)]
    assert Book(stored, [NORM]).steps == {"mixed_dtype": (-5, 1, "1 × norm in Q9_9")}


def test_widths_of_equal_tensors_are_booked_together() -> None:
    ledger = Ledger()
    book_widths(ledger, "norm", {Width("F32", 4, 16): 3, Width("BF16", 4, 8): 5}, 16, None)
    assert ledger.steps() == (Step("mixed_dtype", 24, 3, "3 × norm in F32"),)


def test_a_single_element_that_needs_no_more_bytes_is_not_a_step() -> None:
    """One element takes a byte at 4 bits and at 8."""
    one = row("norm", "model.norm.weight", 1, group="norm")
    assert Book(tensors("U8 1 model.norm.weight"), [one], bits=4).steps == {}
