"""How many examples hypothesis tries: a tenth in `make test`, which selects its profile `quick`."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100  # hypothesis' own number
settings.register_profile("quick", max_examples=USUAL // 10, deadline=None)


def examples(most: int) -> int:
    """As many of them as the profile has of the usual number: all in the gate, a tenth in `make test`."""
    return most * settings().max_examples // USUAL
