"""Bits that no number of a tensor or range has, and noise in codes: what is reported, and the nearest sound case."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from every import every
from made_up import layers, reported, seen

from inspector.auditing.values import lost_bits
from inspector.auditing.values.numbers.facts import Run

WIDE: dict[str, Any] = {"shape": (128, 128)}  # as many bytes as are examined, twice


def test_bits_that_all_numbers_lack() -> None:
    """The lowest three bits of BF16's mantissa, which vary in the same role of other layers and in this layer."""
    numbers = np.random.default_rng(1).integers(0, 1 << 16, 1 << 18).astype("<u2").tobytes()
    cut = seen(**WIDE, ever=0xFFF8)
    beside = [seen(role, offset=1 << 17, **WIDE) for role in ("k_proj", "v_proj")]
    others = layers(2, **WIDE)
    stated = [
        "text.0.q_proj.weight: error: the lowest 3 bits of each number are the same throughout: in other layers they vary"
    ]
    assert reported("lost-bits", cut, *beside, *others, raw=numbers) == stated
    assert reported("lost-bits", cut, *beside, *others[:1], raw=numbers) == []
    assert reported("lost-bits", cut, *beside[:1], *others, raw=numbers) == []
    assert reported("lost-bits", seen(**WIDE, ever=0xFFFC), *beside, *others, raw=numbers) == []
    assert reported("lost-bits", seen(**WIDE, ever=0xFFFF, always=7), *beside, *others, raw=numbers) == stated
    rounded = [each._replace(facts=replace(each.facts, ever=0xFFF8)) for each in others]
    assert reported("lost-bits", cut, *beside, *rounded, raw=numbers) == []
    assert reported("lost-bits", cut, *beside, *others, raw=bytes(1 << 19)) == []
    small = seen(ever=0xFFF8, shape=(64, 127))
    assert reported("lost-bits", small, *beside, *others, raw=numbers) == []
    assert reported("lost-bits", seen(**WIDE, ever=0xFFF8, zeros=2048), *beside, *others, raw=numbers) == stated
    for unfit in ({"zeros": 2049}, {"spread": 9.0, "largest": 1e9}, {"group": "other"}, {"numbers": 0}):
        assert reported("lost-bits", seen(**WIDE, ever=0xFFF8, **unfit), *beside, *others, raw=numbers) == []


@every(
    ("own", "stated"),
    [
        ({"ever": 0x7FFF}, ["all numbers have the same sign, which no trained projection has"]),
        ({"always": 0x8000}, ["all numbers have the same sign, which no trained projection has"]),
        ({"ever": 0x7FFF, "dtype": "F16"}, ["all numbers have the same sign, which no trained projection has"]),
        ({"ever": 0x7FFF, "group": "router"}, []),
        ({"ever": 0x7FFF, "role": "lm_head", "layer": None}, []),
        ({"ever": 0xFE, "dtype": "Q8_0", "shape": (128, 256)}, ["the lowest bit of its bytes is the same throughout, which no writer produces"]),
        ({"ever": 0xF0, "dtype": "Q8_0", "shape": (128, 256)}, ["the lowest 4 bits of its bytes are the same throughout, which no writer produces"]),
        ({"ever": 0xBF, "always": 1, "dtype": "Q8_0", "shape": (128, 256)}, ["2 bits of its bytes are the same throughout, which no writer produces"]),
    ],
)  # fmt: skip
def test_bits_that_no_other_layer_is_asked_for(own: dict[str, Any], stated: list[str]) -> None:
    found = reported("lost-bits", seen(**{**WIDE, **own}))
    assert [each.partition(": error: ")[2] for each in found] == stated


def test_bits_that_a_range_lacks() -> None:
    """The lowest three bits of 8,200 bytes within rows; not of whole rows, and not of half of the tensor."""
    numbers = np.random.default_rng(2).integers(1, 1 << 16, 1 << 15).astype("<u2") | 8
    shape = (256, 128)  # rows of 256 bytes

    def stated(start: int, end: int, held: Run | None = None, **own: Any) -> list[str]:
        lost = numbers.copy()
        lost[start // 2 : end // 2] &= 0xFFF8
        lost[start // 2 - 1] |= 7
        lost[end // 2] |= 7
        each = held or Run(-(-start // 4096) * 4096, end // 4096 * 4096, 7, 0)
        found = reported("lost-bits", seen(shape=shape, constant_bits=[each], **own), raw=lost.tobytes())
        return [line.partition(": error: ")[2] for line in found]

    where = "from byte 4,000 on, 8.60 kB, 8.40 KiB: the same in all of them, but not in the rest"
    assert stated(4000, 12600) == [f"the lowest 3 bits of the numbers {where}"]
    assert stated(3840, 12544) == []  # rows 15 to 48
    assert (
        stated(3840, 28672, Run(16384, 24576, 7, 0)) == []
    )  # rows 15 to 111, of which pages in the middle were noticed
    assert stated(3840, 28672, Run(8192, 16384, 7, 0)) == []
    assert len(stated(4000, 28680, Run(12288, 20480, 7, 0))) == 1
    assert stated(4000, 12600, Run(4096, 12287, 7, 0)) == []  # too short
    assert stated(4000, 12600, Run(4096, 12288, 0, 0)) == []
    assert stated(4000, 12600, Run(4096, 4096 + 32770, 7, 0)) == []  # more than half
    assert stated(4000, 12600, ever=0xFFF8) == []  # not set anywhere
    one = Run(4096, 12288, 1, 0)
    assert stated(4000, 12600, one) == [f"the lowest bit of the numbers {where}"]


@pytest.mark.parametrize(
    ("shares", "own", "stated"),
    [
        ((0.4, 0.4), 0.9, True),
        ((0.4, 0.4), 0.85, False),
        ((0.4,), 0.9, False),
        ((0.4, 0.4, 0.7), 0.9, False),
        ((0.4, 0.4, 0.4, 0.7), 0.9, True),
        ((0.6, 0.6), 0.9, False),
    ],
)
def test_codes_that_are_noise(shares: tuple[float, ...], own: float, stated: bool) -> None:
    """Noise, where the codes of two other layers, and of three in four of them, are not."""
    codes: dict[str, Any] = {"dtype": "I32", "is_packed": True, "cells": 10, "role": "q_proj"}
    others = [seen(layer=at + 1, offset=1 << 16 << at, evenness=10 * share, **codes) for at, share in enumerate(shares)]
    noise = np.random.default_rng(3).bytes(1 << 16)
    found = reported("noise", seen(evenness=10 * own, **codes), *others, raw=noise, scheme="gptq")
    expected = "text.0.q_proj.weight: error: all codes are equally frequent, as in noise; in other layers they are not"
    assert found == [expected] * stated
    assert reported("noise", seen(evenness=10 * own, **codes), *others, raw=bytes(1 << 16), scheme="gptq") == []
    assert (
        reported("noise", seen(evenness=10 * own, **{**codes, "is_packed": False}), *others, raw=noise, scheme="gptq")
        == []
    )


def test_noise_within_codes() -> None:
    noise = np.random.default_rng(3).bytes(1 << 16)
    codes: dict[str, Any] = {"dtype": "I32", "is_packed": True, "cells": 10, "shape": (64, 256)}

    def stated(*runs: tuple[int, int], evenness: float = 4.0, raw: bytes = noise) -> list[str]:
        own = seen(evenness=evenness, even=[Run(*each) for each in runs], **codes)
        found = reported("noise", own, raw=raw, scheme="gptq")
        return [line.partition(": error: ")[2] for line in found]

    whole = "whose codes are all equally frequent, as in noise, unlike the rest"
    assert stated((4096, 12288)) == [f"8.19 kB, 8.00 KiB from byte 4,096 on {whole}"]
    assert stated((4096, 12288), evenness=6.1) == []
    assert stated((0, 32768)) == [f"32.77 kB, 32.00 KiB from byte 0 on {whole}"]
    assert stated((0, 32768), (40960, 45056)) == []  # more than half
    assert stated() == []
    partly = bytes(8192) + noise[8192:16384] + bytes(1 << 16)
    assert stated((4096, 24576), raw=partly) == []
    assert stated((4096, 20480), raw=partly) == [f"8.19 kB, 8.00 KiB from byte 8,192 on {whole}"]
    assert stated((4096, 16384), raw=partly) == [f"4.10 kB, 4.00 KiB from byte 8,192 on {whole}"]
    assert stated((4096, 8192), (8192, 16384), raw=partly) == [f"8.19 kB, 8.00 KiB from byte 8,192 on {whole}"]


@pytest.mark.parametrize(
    ("mask", "words"),
    [(1, "the lowest bit"), (3, "the lowest 2 bits"), (0xFFFF, "the lowest 16 bits"), (2, "1 bit"), (5, "2 bits")],
)
def test_how_bits_are_called(mask: int, words: str) -> None:
    assert lost_bits._bits_in_words(mask) == words
