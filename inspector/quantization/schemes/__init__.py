"""Ways to pack weights, in modules by what the packed numbers are. New modules and schemes are found automatically."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules

from inspector.quantization.scheme import Scheme


@lru_cache(maxsize=1)
def all_schemes() -> tuple[Scheme, ...]:
    """Every scheme, by name. Loaded when a checkpoint looks packed."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    found = (each for module in modules for each in vars(module).values() if isinstance(each, Scheme))
    return tuple(sorted(found, key=lambda scheme: scheme.name.replace("-", "_")))
