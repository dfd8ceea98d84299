"""How many examples hypothesis tries: fewer in `make test`, which selects its profile `quick`."""

from __future__ import annotations

from hypothesis import settings

QUICK = "quick"
settings.register_profile(QUICK, deadline=None)


def examples(most: int) -> int:
    """All of them in the gate, a tenth in `make test`."""
    return most // 10 if settings.get_current_profile_name() == QUICK else most
