"""Single decisions of rules on both sides of their limits: names, vocabulary pieces, widths, calls in a pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rule_words
from every import every

from inspector.auditing.consistency import packing
from inspector.auditing.readers import pickles, tokenizer_json
from inspector.formats.pytorch.values import Reached


@every(
    ("piece", "right"),
    [
        (["a", -1.5], True), (["a", 0], True), (["a", "0"], False), (["a", True], False), (["a", None], False),
        (["a"], False), (["a", 0, 0], False), ([1, 0], False), ("a0", False), (None, False),
    ],
)  # fmt: skip
def test_pieces_with_scores(piece: Any, right: bool) -> None:
    stated = list(tokenizer_json._of_vocabulary({"type": "Unigram", "vocab": [["b", 0.0], piece]}))
    assert stated == ([] if right else ["model.vocab.1 is not a piece with a score"])


@every(
    ("stated", "width"),
    [
        ({"bits": 4, "group_size": 128}, (4, 128)),
        ({"w_bit": 4, "q_group_size": 64}, (4, 64)),
        ({"num_bits": 8}, (8, None)),
        ({"bits": 3, "w_bit": 4, "num_bits": 8}, (3, None)),
        ({"w_bit": 4, "num_bits": 8}, (4, None)),
        ({"config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 32}}}}, (4, 32)),
        (
            {"config_groups": {"group_0": {"weights": {"num_bits": 4}}, "group_1": {"weights": {"num_bits": 8}}}},
            (None, None),
        ),
        ({"bits": "4", "group_size": "128"}, (None, None)),
        ({"bits": True, "group_size": 1.0}, (None, None)),
    ],
)
def test_declared_widths(stated: dict[str, Any], width: tuple[int | None, int | None]) -> None:
    assert packing._declared_width(stated) == width


@every(
    ("path", "use", "danger"),
    [
        ("torch.nn.functional.relu", "call", "error"),
        ("torch.nn.functional.relu", "name", "warning"),
        ("torch.nn.modules.linear.Linear", "call", "warning"),
        ("mine.models.build", "call", "warning"),
        ("os.system", "name", "error"),
        ("collections.Zebra", "call", "warning"),
        ("builtins.Zebra", "name", "warning"),
        ("mine.models.Model", "change", "error"),
        # mlflow 3's function runs a command line, Airflow's and paramiko's classes do when they are made
        ("mlflow.projects.backend.local._run_entry_point", "call", "error"),
        ("spacy.util.run_command", "call", "error"),
        ("airflow.operators.bash.BashOperator", "call", "error"),
        ("mine.models._rebuild_run", "call", "warning"),
        ("mine.models.runner", "call", "warning"),
    ],
)
def test_how_grave_a_name_in_a_pickle_is(path: str, use: Any, danger: str) -> None:
    module, _, name = path.rpartition(".")
    assert pickles.danger(Reached(module, name, use, False)) == danger


def test_a_tokenizer_after_one_that_is_differs_from_quantizer(tmp_path: Path) -> None:
    """A file that is not JSON is compared by content; the next file is checked all the same."""
    files = {"a/tokenizer.json": "version https://git-lfs.github.com/spec/v1\n", "b/tokenizer.json": {"version": "1.0"}}
    assert [line.split(":")[0] for line in rule_words.lines("tokenizer", files, tmp_path)] == ["b/tokenizer.json"]
