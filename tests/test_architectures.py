"""All tables against what Transformers' own models hold, as `tools/zoo/check.py` wrote it down."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import sparse
from click.testing import CliRunner

from inspector.architectures import family_of
from inspector.architectures.index import MODULES
from inspector.cli import inspect
from inspector.model import Config
from inspector.naming import Namer
from inspector.prediction import predict

LINES = (Path(sparse.__file__).parent / "zoo.jsonl").read_text().splitlines()
RECORDS: dict[str, list[tuple[dict[str, Any], int, str]]] = {}
for _line in LINES:
    _record = json.loads(_line)
    RECORDS.setdefault(_record[0]["model_type"], []).append(_record)


@pytest.mark.parametrize("model_type", sorted(RECORDS))
def test_names_and_shapes_are_those_of_the_models(model_type: str) -> None:
    """Each tensor of each configuration; each name read back as the key it was predicted under, and no key twice."""
    for values, number, digest in RECORDS[model_type]:
        prediction = predict(Config(values, "config.json"))
        pairs = [(row.name_of(key), key, row.shape) for row in prediction.expected for key in row.keys()]
        text = "\n".join(f"{name} {list(shape)}" for name, _, shape in sorted(pairs))
        assert (len(pairs), hashlib.sha256(text.encode()).hexdigest()[:16]) == (number, digest)
        named = Namer(family_of(values), values).name([name for name, _, _ in pairs])
        assert named.keys() == [key for _, key, _ in pairs]
        assert len({key for _, key, _ in pairs}) == number


def test_most_types_are_recorded() -> None:
    """The records cannot shrink unseen."""
    assert len(RECORDS) >= 475


#: Published totals and what works on a token.
PUBLISHED: dict[str, tuple[dict[str, Any], int, tuple[float, float]]] = {
    "DeepSeek-V3": (
        {"model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"]},
        671_026_419_200,
        (36, 39),
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_mixtures(name: str) -> None:
    """The total to the parameter, the active ones as their makers round them, in units of 10⁹."""
    values, total, (low, high) = PUBLISHED[name]
    prediction = predict(Config(values, "config.json"))
    assert prediction.parameters == total
    assert low <= prediction.active / 1e9 <= high


def test_architectures_command() -> None:
    """Families with their model types and coverage, as text and as JSON."""
    shown = CliRunner().invoke(inspect, ["architectures", "mistral"])
    assert shown.exit_code == 0
    assert "llama" in shown.output
    listed = json.loads(CliRunner().invoke(inspect, ["architectures", "--json"]).output)
    assert {each["model_type"] for each in listed["model_types"]} == set(MODULES)
