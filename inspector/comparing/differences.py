"""How far two arrays of numbers are apart, and whether that is rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from inspector.comparing.agreement import Agreement, Sums
from inspector.formats.decoding import Array

#: The least cosine that even the coarsest types, with three values per weight, preserve.
ALIKE = 0.5
#: A sum of products below which some may have been too small for F32.
_SMALL = 1e-30
#: How far two libraries' `exp` may differ, in relative terms: four F32 steps.
_LAST_BITS = 4 * 2.0**-23


#: A function from a − b to the number of elements that are at another level than the nearest, and of their blocks.
Strays = Callable[[Array], tuple[int, int]]


def sums(
    a: Array,
    b: Array,
    steps: Callable[[], Sequence[Array]] = tuple,
    *,
    slack: float | None = None,
    strays: Strays | None = None,
) -> Sums:
    """What two arrays of one shape have in common.

    Args:
        steps: returns how far rounded values of each side may be from their originals; called if any differ.
        strays: counts what is not at its level; None if levels are not known.
        slack: None if equal means the same number; else up to the last F32 bits of each number and of this one, which
            contributed to each of them.
    """
    a, b = a.reshape(-1), b.reshape(-1)
    with np.errstate(all="ignore"):
        square_a, square_b = np.dot(a, a), np.dot(b, b)
        if not np.isfinite(square_a + square_b):
            return _with_infinite(a, b, steps, slack=slack)
        gap = a - b
        differing = np.count_nonzero(gap)
        if not differing:
            square = _dot_product(a, a)
            return Sums(elements=a.size, a=square, b=square, product=square)
        if slack is not None:
            gap[np.abs(gap) <= (np.abs(b) + np.float32(slack)) * np.float32(_LAST_BITS)] = 0
            differing = np.count_nonzero(gap)
        stray, spoilt = strays(gap) if strays else (0, 0)
        if strays and not stray:  # all at the nearest level: within half a step
            square = _dot_product(gap, gap)
            return Sums(
                a.size, int(differing), 0, float(max(gap.max(), -gap.min())), square, _dot_product(a, a),
                _dot_product(b, b), _dot_product(a, b), square * 4.001,
            )  # fmt: skip
        allowed = _sum_of_steps(steps())
        beyond = differing if allowed is None else np.count_nonzero(np.abs(gap) > allowed)
        return Sums(
            a.size,
            int(differing),
            int(beyond),
            float(max(gap.max(), -gap.min())),
            _dot_product(gap, gap),
            _dot_product(a, a),
            _dot_product(b, b),
            _dot_product(a, b),
            0.0 if allowed is None else _dot_product(allowed, allowed),
            strays=stray,
            spoilt=spoilt,
        )


def _sum_of_steps(steps: Sequence[Array]) -> Array | None:
    """How far two values may be apart after rounding; None if neither was rounded."""
    found: Array | None = None
    for step in steps:
        flat = step.reshape(-1)
        found = flat if found is None else found + flat
    return found


def _with_infinite(a: Array, b: Array, steps: Callable[[], Sequence[Array]], *, slack: float | None) -> Sums:
    """The same for NaN or infinite numbers: equal if both are NaN, or the same infinity."""
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    finite = np.isfinite(a) & np.isfinite(b)
    alike = ~finite & ((a == b) | (nan_a & nan_b))
    found = [np.where(finite, each, 0).astype(np.float64) for each in (a, b)]

    def of_finite() -> list[Array]:
        return [np.where(finite, step.reshape(-1), 0) for step in steps()]

    rest = sums(found[0], found[1], of_finite, slack=slack)
    other = int(np.count_nonzero(~finite & ~alike))
    return rest._replace(
        differing=rest.differing + other,
        beyond=rest.beyond + other,
        nan_a=int(np.count_nonzero(nan_a)),
        nan_b=int(np.count_nonzero(nan_b)),
    )


def _dot_product(a: Array, b: Array) -> float:
    """Σ a·b; in 64 bits if F32 overflows or underflows."""
    found = float(np.dot(a, b))
    if np.isfinite(found) and (abs(found) > _SMALL or not a.any()):
        return found
    return float(np.dot(a.astype(np.float64), b.astype(np.float64)))


def agreement(sums: Sums, *, lossy: bool) -> Agreement:
    """Equal numbers; numbers that differ by at most a step, and by half of one on average; or different ones.

    If steps are as large as the numbers, as with two bits, this says little: so the directions must agree as well.
    """
    if not sums.differing:
        return "equal"
    if sums.faulty:
        return "different"
    within = lossy and not sums.beyond and sums.difference <= sums.steps / 4
    # If all numbers vanish there is no cosine: they must be smaller than a step.
    alike = sums.cosine >= ALIKE if sums.cosine is not None else sums.a + sums.b <= sums.steps
    return "rounded" if within and alike else "different"
