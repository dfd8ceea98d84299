"""Exit codes of every form of `inspect diff`: 0 nothing differs, 1 something does, 2 one side cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from test_diff_data import llama, saved

if TYPE_CHECKING:
    from conftest import Ran

CHANGED = "model.layers.1.mlp.up_proj.weight"
#: Options of a form, after its targets; a form of three targets begins with the base.
FORMS = {
    "plain": [],
    "stat": ["--stat"],
    "json": ["--json"],
    "data": ["--data"],
    "data json": ["--data", "--json"],
    "by layer": ["--data", "--by", "layer"],
    "rank": ["--data", "--rank"],
    "parents": ["--data", "--parents", "A", "A"],
    "csv": ["--csv"],
}
#: Forms that also take a base and two models.
THREE = ("plain", "json", "data", "data json", "csv")
BY_VALUES = {name for name, options in FORMS.items() if "--data" in options}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, a copy, one with other values, one with a tensor fewer, one cut short, and an empty folder."""
    folder = tmp_path_factory.mktemp("models")
    base = llama()
    for name in ("A", "copy", "cut"):
        saved(folder / name, base)
    saved(folder / "tuned", {**base, CHANGED: base[CHANGED] + np.float32(0.5)})
    saved(folder / "fewer", {name: each for name, each in base.items() if name != CHANGED})
    weights = folder / "cut" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    (folder / "empty").mkdir()
    return folder


@pytest.mark.parametrize(
    ("form", "three"),
    [*((form, False) for form in FORMS), *((form, True) for form in THREE)],
    ids=[*FORMS, *(f"three {form}" for form in THREE)],
)
@pytest.mark.parametrize("other", ["copy", "tuned", "fewer", "cut", "empty", "missing"])
def test_exit_codes(
    other: str, form: str, three: bool, models: Path, inspect: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values differ only where they are read; an unreadable side is one line on stderr and nothing on stdout."""
    monkeypatch.chdir(models)
    wanted = {"copy": 0, "tuned": int(form in BY_VALUES), "fewer": 1}.get(other, 2)
    ran = inspect("diff", "./A", *(["./copy"] if three else []), f"./{other}", *FORMS[form])
    assert ran.code == wanted, ran
    if wanted == 2:
        assert (ran.out, ran.err.count("\n")) == ("", 1)
    else:
        assert ran.out and not ran.err
