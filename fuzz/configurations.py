"""Fuzzing of predictions from configurations: `make fuzz`, or `python fuzz/configurations.py`.

Configurations of every known type, with values that no model has. Any exception but InspectorError ends the run, and so
does an input that takes longer than libFuzzer's `-timeout`, or more memory than its `-rss_limit_mb`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import atheris

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]

with atheris.instrument_imports(include=["inspector"]):
    from inspector import architectures
    from inspector.architectures import table  # noqa: F401  imported late otherwise, and not instrumented
    from inspector.architectures.prediction import predict
    from inspector.errors import InspectorError
    from inspector.opening import configs

#: Values of sound configurations, and impossible ones.
VALUES: tuple[Any, ...] = (
    *(0, 1, 2, 3, 4, 7, 8, 16, 32, 64, 100, 1000, 10_000, 99_999_999, 4_000_000_000, 2**63, 10**30, -1, -5),
    *(0.5, 1.5, 4.0, 8.5, 1e308, -0.0, True, False, None, "", "ab", "silu", "8", "full_attention", "x" * 1000),
    *([], [1], [2, 2], [10_000] * 4, [[1]], ["a", "b"], [None], [True] * 9, [4_000_000_000, 1], list(range(100))),
    *({}, {"a": 1}, {"hidden_size": 8}, {"model_type": "llama"}, {"model_type": "swin", "depths": [9] * 9}, {"0": [1]}),
)
TYPES = sorted(architectures.model_types())


def one_input(data: bytes) -> None:
    """A type, and some of its fields with other values."""
    chosen = atheris.FuzzedDataProvider(data)
    name = TYPES[chosen.ConsumeIntInRange(0, len(TYPES) - 1)]
    family = architectures.family_of({"model_type": name})
    known = (family.defaults, family.derived, family.types.get(name, {})) if family else ()
    fields = sorted({"hidden_size", "num_hidden_layers", "layer_types", *(field for each in known for field in each)})
    values: dict[str, Any] = {"model_type": name}
    for _ in range(chosen.ConsumeIntInRange(0, 8)):
        field = fields[chosen.ConsumeIntInRange(0, len(fields) - 1)]
        values[field] = VALUES[chosen.ConsumeIntInRange(0, len(VALUES) - 1)]
    try:
        predict(configs.parse(json.dumps(values), "config.json"))
    except InspectorError as error:
        assert "\n" not in str(error), error


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
