"""What stored types cost relative to the width that the prediction assumes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from inspector import units
from inspector.architectures.prediction import size_of
from inspector.bridge.identify import Stored
from inspector.bridge.ledger import Ledger
from inspector.bridge.tally import Kind
from inspector.formats.safetensors.dtypes import DTYPE_BITS
from inspector.model import Packing


class Width(NamedTuple):
    """How a tensor is stored: everything its size depends on."""

    dtype: str
    parameters: int  # logical elements
    nbytes: int
    packed_bits: int | None = None  # bits of a packed weight; None for a plain tensor


def of_kinds(kinds: Mapping[Kind, int]) -> Counter[Width]:
    """The widths of plain tensors that were counted by kind."""
    return Counter({Width(kind.dtype, kind.elements, kind.nbytes): number for kind, number in kinds.items()})


def of_tensors(stored: Stored, parameters: Mapping[int, int] | list[int], members: Iterable[int]) -> Counter[Width]:
    """The widths of the tensors at these positions."""
    tensors = stored.tensors
    return Counter(
        Width(tensors[at].dtype, parameters[at], tensors[at].nbytes, stored.packed_bits(at)) for at in members
    )


def book(ledger: Ledger, role: str, widths: Mapping[Width, int], bits: int, packing: Packing | None) -> None:
    """Book what tensors of one role cost beyond `bits` per element. Equal ones are booked together."""
    for width, number in widths.items():
        if width.packed_bits is None:
            _book_plain(ledger, role, width, number, bits, packing)
        else:
            _book_packed(ledger, role, width, number, bits, uneven=packing is not None and packing.uneven)


def _book_plain(ledger: Ledger, role: str, width: Width, number: int, bits: int, packing: Packing | None) -> None:
    """A type of another width, and the block headers of types that pack by themselves, as GGUF's do."""
    dtype, elements, nbytes, _ = width
    self_packed = packing.widths if packing else {}
    own_bits = self_packed.get(dtype, DTYPE_BITS.get(dtype))
    counted = size_of(elements, bits)
    own = nbytes if own_bits is None else size_of(elements, own_bits)
    if own_bits != bits and own != counted:
        cause = "unquantized" if packing and not self_packed else "mixed_dtype"
        ledger.add(cause, number * (own - counted), f"{role} in {dtype}", number)
    if own != nbytes and dtype in self_packed:
        what = f"{dtype} at {units.bits(nbytes * 8 / elements)} bits for {own_bits}"
        ledger.add("quantization_overhead", number * (nbytes - own), what, number)
    elif own != nbytes:
        ledger.add("size_mismatch", number * (nbytes - own), role, number)


def _book_packed(ledger: Ledger, role: str, width: Width, number: int, bits: int, *, uneven: bool) -> None:
    """Packed weights: of another width than most, padded to whole words, or without their zeros."""
    assert width.packed_bits is not None
    counted = size_of(width.parameters, bits)
    own, told = size_of(width.parameters, width.packed_bits), str(width.packed_bits)
    if uneven:  # the bits are rounded to a whole number: use what is stored instead
        own, told = width.nbytes, units.bits(width.nbytes * width.packed_bits / own) if own else told
    if own != counted:
        ledger.add("mixed_dtype", number * (own - counted), f"{role} packed at {told} bits", number)
    if width.nbytes < own:
        ledger.add("sparsity", number * (width.nbytes - own), f"{role} without its zeros", number)
    elif width.nbytes > own:
        ledger.add("quantization_overhead", number * (width.nbytes - own), f"{role} padded", number)
