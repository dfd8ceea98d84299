"""`inspect parents`: which of some models one was made from, alone or with another."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from test_diff_data import WIDTH, Tensors, in_gguf, llama, saved
from test_relation import in_other_order

import inspector
from inspector.comparing.parents import families

if TYPE_CHECKING:
    from conftest import Ran

WORDS = {"vocab_size": 128}


def model(seed: int) -> Tensors:
    """A model with matrices that are large enough to be sampled."""
    tall = np.random.default_rng(seed).standard_normal((2, 128, WIDTH), np.float32)
    return {**llama(seed), "model.embed_tokens.weight": tall[0], "lm_head.weight": tall[1]}


def tuned(base: Tensors, seed: int) -> Tensors:
    draw = np.random.default_rng(seed)
    return {name: each + draw.standard_normal(each.shape, np.float32) / 50 for name, each in base.items()}


BASE = model(0)
ONE, OTHER = tuned(BASE, 1), tuned(BASE, 2)
#: Far enough from OTHER for an arc between them.
STRONG = {name: each + 0.6 * model(3)[name] for name, each in BASE.items()}


def summed(weights: Mapping[str, float]) -> Tensors:
    models = {"base": BASE, "one": ONE, "other": OTHER}
    return {name: sum(weight * models[own][name] for own, weight in weights.items()).astype("f4") for name in BASE}  # type: ignore[union-attr]


@pytest.fixture(name="tree", scope="module")
def _tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for name, tensors in {"base": BASE, "one": ONE, "other": OTHER, "stranger": model(9)}.items():
        saved(root / name, tensors, WORDS)
    return root


def test_the_nearest_is_first_and_compared_whole(tree: Path, tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """A GGUF of `one` is it; its base and its sister are related, in this order; the stranger has no score."""
    path = in_gguf(tmp_path / "b.gguf", ONE)
    ran = inspect("parents", path, tree, "--json")
    assert ran.code == 0
    found = ran.json["candidates"]
    assert [each["target"].rpartition("/")[2] for each in found] == ["one", "base", "other", "stranger"]
    assert [each["relation"]["kind"] for each in found] == ["same_values", "finetuned", "finetuned", "unrelated"]
    assert found[0]["score"] == 1
    assert found[-1]["score"] == 0
    assert inspect("parents", path, tree).out.startswith("b is a, with another format")


def test_values_in_another_order_are_no_strangers(tree: Path, tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """Embeddings whose dimensions are in another order have the same products with each other."""
    found = inspect("parents", saved(tmp_path / "b", in_other_order(ONE, hidden=True), WORDS), tree, "--json").json
    kinds = {each["target"].rpartition("/")[2]: each["relation"]["kind"] for each in found["candidates"]}
    assert kinds == {"one": "same_values", "base": "finetuned", "other": "finetuned", "stranger": "unrelated"}
    assert next(iter(kinds)) == "one"


@pytest.mark.parametrize(("weights", "words"), [
    ({"one": 0.6, "other": 0.4}, ("0.6 × {}/one + 0.4 × {}/other", "linear")),
    ({"base": -0.2, "one": 0.7, "other": 0.5}, ("{}/base, added to it: 0.7 × {}/one + 0.5 × {}/other", "task")),
])  # fmt: skip
def test_two_parents_are_found_together(
    weights: dict[str, float], words: tuple[str, str], tree: Path, tmp_path: Path, inspect: Callable[..., Ran]
) -> None:
    """Their weights are recovered, and what was added to a base is told from a plain sum."""
    path = saved(tmp_path / "merged", summed(weights), WORDS)
    found = inspect("parents", path, tree, "--json").json["relation"]
    assert found["kind"] == "merged"
    assert words[0].replace("{}", str(tree)) in found["sentence"]
    assert words[1] in found["sentence"]


def test_families_leave_out_what_cannot_be_read(tree: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"no header")
    names = [str(broken), *(str(tree / name) for name in ("one", "stranger", "base"))]
    (family,) = families(names, inspector.reconcile)
    assert (family.targets, family.same) == ((str(tree / "one"), str(tree / "base")), 1)


def test_none_of_them(tree: Path, tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """A stranger comes from none: exit code 1. The target itself is not a candidate; what is unreadable says why."""
    ran = inspect("parents", saved(tmp_path / "a", model(5), WORDS), tree)
    assert ran.code == 1
    assert ran.out.splitlines()[0].endswith(" comes from none of 4 models")
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"no header")
    found = inspect("parents", tree / "one", tree, broken, "--json").json["candidates"]
    assert [each["target"].rpartition("/")[2] for each in found] == ["base", "other", "stranger", "broken.safetensors"]
    assert found[-1]["relation"] is None
    assert "broken" in found[-1]["error"]


def kept_by_ties(changes: list[Tensors], name: str, density: float) -> np.ndarray[Any, Any]:
    """Yadav et al., 2023: the largest changes of each, of these those with the sign of their sum, averaged."""
    cut = [
        np.where(np.abs(each[name]) >= np.quantile(np.abs(each[name]), 1 - density), each[name], 0) for each in changes
    ]
    sign = np.sign(sum(cut))
    own = [np.where(np.sign(each) == sign, each, 0) for each in cut]
    return sum(own) / np.maximum(sum((each != 0).astype("f4") for each in own), 1)  # type: ignore[no-any-return]


@pytest.mark.parametrize("method", ["TIES", "DARE", "slerp"])
def test_sparse_and_spherical_merges(method: str, tree: Path, tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """TIES by its definition; DARE drops half of each one's changes and doubles the rest; slerp by its formula."""
    draw = np.random.default_rng(3)
    changes = [{name: own[name] - BASE[name] for name in BASE} for own in (ONE, OTHER)]
    made = {}
    for name, own in BASE.items():
        if method == "TIES":
            made[name] = own + kept_by_ties(changes, name, 0.4)
        elif method == "DARE":
            kept = [each[name] * (draw.random(own.shape) < 0.5) * 2 for each in changes]
            made[name] = own + 0.6 * kept[0] + 0.3 * kept[1]
        else:
            a, b = STRONG[name].astype("f8"), OTHER[name].astype("f8")
            angle = np.arccos(np.vdot(a, b) / np.linalg.norm(a) / np.linalg.norm(b))
            made[name] = (np.sin(0.3 * angle) * a + np.sin(0.7 * angle) * b) / np.sin(angle)
    path = saved(tmp_path / "merged", {name: each.astype("f4") for name, each in made.items()}, WORDS)
    strong = [saved(tmp_path / "strong", STRONG, WORDS)] if method == "slerp" else []
    found = inspect("parents", path, tree, *strong, "--json").json["relation"]["sentence"].replace(f"{tree}/", "")
    assert {
        "TIES": "changed in base, added to it: 0.5 × one + 0.5 × other (TIES: the largest 4",
        "DARE": "what two models changed in base, added to it: 0.",
        "slerp": f"0.7 × other + 0.3 × {tmp_path}/strong (spherical, slerp)",
    }[method] in found
    assert method in found
    if method == "DARE":  # weights are the multiples of what is kept, 1.2 and 0.6, times the counted share of it
        weights = [float(number) for number in re.findall(r"([0-9.]+) × ", found)]
        assert weights == pytest.approx([0.6, 0.3], rel=0.06)
