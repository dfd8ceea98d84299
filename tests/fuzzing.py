"""How many examples hypothesis tries: a tenth in `make test`, which selects its profile `quick`."""

from __future__ import annotations

import sys

from hypothesis import settings

USUAL = 100  # hypothesis' own number
settings.register_profile("quick", max_examples=USUAL // 10, deadline=None)

# It would parse the 300 modules of the tests themselves in each process, a quarter of what collecting them costs, for
# constants to draw from.
if providers := sys.modules.get("hypothesis.internal.conjecture.providers"):
    providers.is_local_module_file = lambda _: False  # type: ignore[attr-defined]


def examples(most: int) -> int:
    """As many of them as the profile has of the usual number: all in the gate, a tenth in `make test`."""
    return most * settings().max_examples // USUAL
