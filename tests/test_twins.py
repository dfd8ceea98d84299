"""Tensors that are stored twice, or were swapped: what is reported, and the nearest sound case."""

from __future__ import annotations

from typing import Any

import numpy as np
from every import every
from made_up import reported, seen

from inspector.auditing.values import misplaced_bytes
from inspector.auditing.values.numbers.peers import TensorData


def written_over(*kinds: str, number: int = 8) -> list[TensorData]:
    """Weights of these roles in this many layers, all different."""
    made = []
    for at, (role, layer) in enumerate((role, layer) for role in kinds for layer in range(number)):
        made.append(seen(role, layer, offset=8192 * at, total=float(at + 1)))
    return made


def test_tensors_that_are_there_twice() -> None:
    raw = bytearray(np.random.default_rng(4).bytes(1 << 18))

    def stated(tensors: list[TensorData], *pairs: tuple[int, int], equal: bool = True) -> list[str]:
        own, file = list(tensors), bytearray(raw)
        for one, other in pairs:
            own[other] = own[other]._replace(facts=own[one].facts)
            start, place = own[one].extent.start, own[other].extent.start
            file[place : place + 8192] = file[start : start + 8192]
            file[place + 8191] ^= not equal
        return reported("repeated-tensor", *own, raw=bytes(file))

    found = written_over("q_proj", "o_proj")
    what = "byte for byte equal to text.{}: one of the two is lost"
    assert stated(found, (0, 3)) == ["text.3.q_proj.weight: error: " + what.format("0.q_proj.weight")]
    assert stated(found, (0, 8)) == ["text.0.o_proj.weight: error: " + what.format("0.q_proj.weight")]
    assert stated(found, (0, 3), equal=False) == []
    assert stated(found) == []
    assert stated(found, (0, 3), (0, 4)) == []  # three times: a pattern
    assert stated(found, (0, 3), (8, 11)) == []  # both weights of a layer: it is repeated
    assert stated(found, (0, 1), (2, 3), (4, 5)) == []  # of eight no more than two
    assert stated(written_over("q_proj", number=2), (0, 1)) == []
    assert (
        stated(
            [seen("q_proj", layer, shape=(2, 64), offset=256 * layer, total=1.0 + layer) for layer in range(8)], (0, 3)
        )
        == []
    )
    assert (
        stated(
            [seen("q_proj", layer, group="other", offset=8192 * layer, total=1.0 + layer) for layer in range(8)], (0, 3)
        )
        == []
    )


def test_tensors_that_changed_places() -> None:
    """In at least five layers, where in all others one is larger by nearly the same factor."""

    def pair(layer: int, factor: float, **own: Any) -> list[TensorData]:
        large = seen("q_proj", layer, offset=16384 * layer, squares=40.96 * 4**factor, **own)
        return [large, seen("k_proj", layer, offset=16384 * layer + 8192, **own)]

    def stated(*factors: float, **own: Any) -> list[str]:
        return reported(
            "exchanged-tensors", *(each for layer, factor in enumerate(factors) for each in pair(layer, factor, **own))
        )

    what = "numbers {} times those of text.{}.{}: in all other layers it is the other way round: the two were exchanged"
    one = "text.2.k_proj.weight: error: " + what.format("2", 2, "q_proj.weight").replace(": in all", "; in all")
    assert stated(1, 1, -1, 1, 1) == [one]
    assert stated(1, 1, -1, 1) == []
    assert stated(1, 1, 1, 1, 1) == []
    assert stated(-1, -1, 1, -1, -1) == [
        "text.2.q_proj.weight: error: " + what.format("2", 2, "k_proj.weight").replace(": in all", "; in all")
    ]
    assert stated(0.19, 0.19, -0.19, 0.19, 0.19) == []
    assert stated(1, 1, -1.2, 1, 1) == []
    assert stated(1, 1.3, -1.1, 1, 1) == [
        "text.2.k_proj.weight: error: " + what.format("2.14", 2, "q_proj.weight").replace(": in all", "; in all")
    ]
    assert stated(1, 1.4, -1.1, 1, 1) == []  # differ among themselves
    assert stated(1, -1, -1, 1, 1) == []
    assert stated(1, 1, -1, 1, 1, expert=3) == []
    assert stated(1, 1, -1, 1, 1, group="norm", shape=(64,))[0].startswith("text.2.k_proj.weight")
    assert stated(1, 1, -1, 1, 1, group="norm", part="bias", shape=(64,)) == []
    assert stated(1, 1, -1, 1, 1, dtype="U8") == []


@every(
    ("factor", "others", "is_other"),
    [
        (-1.0, [1.0, 1.0], True),
        (1.0, [-1.0, -1.0], True),
        (-1.0, [1.0, -1.0], False),
        (-1.0, [1.0, 0.0], False),
        (-0.2, [0.2, 0.2], True),
        (-0.19, [0.19, 0.19], False),
        (-1.05, [1.0, 1.0], True),
        (-1.06, [1.0, 1.0], False),
        (-0.94, [1.0, 1.0], False),
        (-1.0, [0.9, 1.2], True),
        (-1.0, [0.9, 1.21], False),
    ],
)
def test_the_other_way_round(factor: float, others: list[float], is_other: bool) -> None:
    """By at least a fifth of a power of two, and by three times as much as the others differ."""
    assert misplaced_bytes._is_other_way(factor, others) == is_other
