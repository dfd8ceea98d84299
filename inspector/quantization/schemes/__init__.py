"""One module per scheme, each with a `SCHEME`. New modules are found automatically."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules

from inspector.quantization.scheme import Scheme


@lru_cache(maxsize=1)
def all_schemes() -> tuple[Scheme, ...]:
    """Every scheme, by name. Loaded when a checkpoint looks packed."""
    modules = sorted(module.name for module in iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}").SCHEME for name in modules)
