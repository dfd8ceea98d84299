"""Types that are hidden, asked of the library, and compared with their tables: tensors, names read back, roles, caches.

    python -m zoo.check_asked --python PYTHON [--number N] [--seed S] [--types a,b]

A type is exact if the table that was learned of its default configuration predicts the tensors that its own table
predicts, no two have one key, and each name is read back as its own.
"""

from __future__ import annotations

import argparse
import random
import time

from inspector.architectures import _of_document, model_types
from inspector.architectures.asking import Library, ask, learning, python_of
from inspector.architectures.asking.answers import answer_of
from inspector.architectures.caches import kept, of_engine
from inspector.architectures.naming import Namer
from inspector.architectures.prediction import predict
from inspector.architectures.store import store
from inspector.errors import ConfigError, InspectorError
from inspector.model import Config, Prediction


class _Learned(Config):
    """A configuration whose family is a learned table."""


def tensors(prediction: Prediction) -> dict[str, tuple[int, ...]]:
    """Name → shape of all tensors that are saved, buffers excepted."""
    return {row.name_of(key): row.shape for row in prediction.expected if not row.buffer for key in row.keys()}


def held(config: Config) -> dict[int, list[tuple[int, int]]] | None:
    """Layer → elements that it keeps and the window of each part; None if that is not known."""
    found: dict[int, list[tuple[int, int]]] = {}
    try:
        for group in of_engine(kept(config), "transformers"):
            for layer in group.layers:
                found.setdefault(layer, []).append((group.elements * (group.kernel or 1), group.window or 0))
    except ConfigError:
        return None
    return {layer: sorted(parts) for layer, parts in found.items()}


def compared(values: dict[str, object], answer: object, by: str) -> tuple[str, float, str]:
    """What differs from the type's own table, the share of tensors with its role, and whether the cache is the same."""
    own = predict(Config(values, "config.json"))
    document = learning.document(str(values["model_type"]), values, answer_of(answer), by)
    config = _Learned(values, "config.json")
    config.__dict__["family"] = _of_document(document)
    asked = predict(config)
    expected, found = tensors(own), tensors(asked)
    roles = {row.name_of(key): row.role for row in own.expected for key in row.keys()}
    its = {row.name_of(key): row.role for row in asked.expected for key in row.keys()}
    alike = sum(its.get(name) == role for name, role in roles.items()) / max(len(roles), 1)
    own_cache, cache = held(Config(values, "config.json")), held(config)
    same = "cache unknown" if cache is None else "same cache" if cache == own_cache else "another cache"
    same += ", none in its table" if not own_cache else ""
    if expected != found:
        first = sorted(set(expected.items()) ^ set(found.items()))[:2]
        return f"{len(set(expected.items()) ^ set(found.items()))} differ: {first}", alike, same
    keys = [key for row in asked.expected for key in row.keys()]
    if len(set(keys)) < len(keys):
        names = [(key, row.name_of(key)) for row in asked.expected for key in row.keys()]
        twice = next(key for key, _ in names if keys.count(key) > 1)
        return f"one key: {[name for key, name in names if key == twice]}", alike, same
    named = Namer(config.family, values).name([*found])
    back = dict(zip(found, named.keys(), strict=True))
    wrong = [
        row.name_of(key)
        for row in asked.expected
        if not row.buffer
        for key in row.keys()
        if back[row.name_of(key)] != key
    ]
    return f"{len(wrong)} names are read as other tensors: {wrong[:2]}" if wrong else "", alike, same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", required=True)
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--types", default="")
    arguments = parser.parse_args()
    covered = store().find("made", "coverage")
    whole = sorted(t for t in model_types() if covered.get(t, (0, 0, 0, 0)) == [100] * 4)
    types = [t for t in arguments.types.split(",") if t] or random.Random(arguments.seed).sample(
        whole, arguments.number
    )
    began, exact, built = time.monotonic(), 0, 0
    by, answers = ask(Library(python_of(arguments.python)), [{"model_type": t} for t in types])
    for model_type, answer in zip(types, answers, strict=True):
        if "error" in answer:
            print(f"{model_type}\tnot built: {answer['error'][:120]}")
            continue
        built += 1
        try:
            why, roles, cache = compared({"model_type": model_type, "architectures": [answer["class"]]}, answer, by)
        except InspectorError as error:
            why, roles, cache = f"{type(error).__name__}: {error}", 0, ""
        exact += not why
        print(f"{model_type}\t{answer['class']}\t{why or 'exact'}\t{roles:.0%} of roles\t{cache}")
    print(f"{by}: {exact} of {built} exact, {len(types) - built} not built, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
