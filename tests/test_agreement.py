"""Our readers agree with the reference readers on headers mutated in every way that readers get wrong."""

from __future__ import annotations

import agreement
import gguf_agreement
import pytest
from every import every


@pytest.mark.parametrize("seed", range(4))
def test_safetensors_agrees(seed: int) -> None:
    """We accept and refuse what the library does, with the same tensors; `python fuzz/agreement.py` tries a million."""
    found = [agreement.disagreement(header, data) for header, data in agreement.headers(1000, seed)]
    assert [reported for reported in found if reported] == []


@pytest.mark.parametrize("shape", ["{}", '""', "0", "null", "[[]]", "[1]"])
def test_a_shape_is_a_list(shape: str) -> None:
    """An empty value that is not a list is refused as a shape, also after a scalar was read."""
    header = '{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":%s,"data_offsets":[1,2]}}'
    assert agreement.disagreement((header % shape).encode(), 2) is None


@every("raw", agreement.RAW)
@every(
    "place", ['{"__metadata__":{"a":%s}}', '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":%s}}', '{"a":%s}']
)
def test_odd_values_agree(raw: bytes, place: str) -> None:
    """Each text that Python's JSON and the library's may read differently, in each place where one may occur."""
    header = place.encode().replace(b"%s", raw)
    assert agreement.disagreement(header, 4) is None
    assert agreement.disagreement(header, 0) is None


@pytest.mark.parametrize("seed", range(4))
def test_the_gguf_package_agrees(seed: int) -> None:
    """What it refuses has a finding; what only we refuse is listed. `python fuzz/agreement.py` tries 100,000."""
    assert list(gguf_agreement.compare(300, seed)) == []
