"""Every model type has a case: a configuration, and each tensor's name and shape (see `fixtures/cases.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import cases
from every import every

import inspector
from inspector.architectures import family_of, model_types
from inspector.architectures.naming import Namer
from inspector.architectures.table import Include, nested_values
from inspector.opening.configs import normalize

FILES = sorted(cases.FOLDER.glob("*.txt"))
Shapes = Mapping[str, tuple[int, ...]]


def difference(predicted: Shapes, real: Shapes) -> str | None:
    """The first tensor that differs from the case, in the order of the case; None if all agree."""
    for name, shape in real.items():
        if name not in predicted:
            return f"{name} {list(shape)} is not predicted"
        if predicted[name] != shape:
            return f"{name}: predicted {list(predicted[name])}, the case says {list(shape)}"
    return next((f"{name} is predicted, and the case has none" for name in predicted if name not in real), None)


@every("path", FILES, ids=lambda path: path.stem, parts=40)
def test_names_and_shapes_are_those_of_the_models(path: Path) -> None:
    """Each tensor of each configuration is predicted; each name maps back to its key, and no key occurs twice."""
    for number, case in enumerate(cases.load(path), 1):
        prediction = inspector.predict(case.config)
        pairs = [(row.name_of(key), key, row.shape) for row in prediction.expected for key in row.keys()]
        wrong = difference({name: shape for name, _, shape in pairs}, case.shapes)
        assert wrong is None, f"{path.name}, case {number} ({case.source}): {wrong}"
        values = prediction.config.values
        named = Namer(family_of(values), values).name([name for name, _, _ in pairs])
        assert named.keys() == [key for _, key, _ in pairs]
        assert len({key for _, key, _ in pairs}) == len(pairs)


def types_read(values: Mapping[str, Any]) -> Iterator[str]:
    """The types whose tables a prediction reads: the configuration's own, and those of included parts."""
    yield str(values["model_type"])
    family = family_of(values)
    for include in family.rows if family else ():
        if isinstance(include, Include):
            yield from types_read(nested_values(include, values))


def test_every_model_type_has_a_case() -> None:
    """Each has its own, or is part of another that is read from its own table."""
    configurations = [normalize(case.config).values for path in FILES for case in cases.load(path)]
    covered = {model_type for values in configurations for model_type in types_read(values)}
    lacking = [
        f"{t} has no case: write one into fixtures/cases/{home}.txt"
        for t, home in model_types().items()
        if t not in covered
    ]
    assert lacking == []


def test_every_case_names_its_source() -> None:
    assert [path.name for path in FILES for case in cases.load(path) if not case.source] == []


def test_a_case_is_read_as_people_write_it(tmp_path: Path) -> None:
    path = tmp_path / "newmodel.txt"
    path.write_text(
        '# by hand\n{"model_type": "newmodel"}\nembed.weight 10 4\nlayers.{0..1}.\n {q,k}.weight 4 4\n norm.weight 4\nscale\n'
    )
    (case,) = cases.load(path)
    assert (case.source, case.config) == ("by hand", {"model_type": "newmodel"})
    assert case.shapes == {
        "embed.weight": (10, 4),
        **{f"layers.{layer}.{word}.weight": (4, 4) for layer in (0, 1) for word in "qk"},
        **{f"layers.{layer}.norm.weight": (4,) for layer in (0, 1)},
        "scale": (),
    }


def test_a_case_is_written_as_it_is_read(tmp_path: Path) -> None:
    """Layers that differ, experts in some of them, missing numbers."""
    shapes: dict[str, tuple[int, ...]] = {
        f"h.{layer}.experts.{expert}.w{n}": (n, 2) for layer in (0, 2, 3) for expert in range(3) for n in (1, 2)
    }
    shapes |= {f"h.{layer}.norm.weight": (4 + (layer == 1),) for layer in range(4)} | {
        "wte.weight": (9, 4),
        "scale": (),
    }
    case = cases.Case("by hand", {"model_type": "newmodel"}, shapes)
    path = tmp_path / "newmodel.txt"
    path.write_text(cases.text(case))
    assert cases.load(path) == [case]
    assert "h.{0,2..3}.experts.{0..2}." in path.read_text()


def test_the_first_difference_is_shown() -> None:
    real = {"a": (1, 2), "b": (3,)}
    assert difference(real, real) is None
    assert difference({"a": (1, 2)}, real) == "b [3] is not predicted"
    assert difference({**real, "b": (4,)}, real) == "b: predicted [4], the case says [3]"
    assert difference({**real, "c": ()}, real) == "c is predicted, and the case has none"
