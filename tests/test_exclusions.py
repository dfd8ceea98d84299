"""Modules excluded from packing by a configuration: read in every library's way, compared with the tensors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import sparse
from fuzzing import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import inspector
from inspector.model import Reconciliation
from inspector.quantization import exclusions
from inspector.quantization.patterns import compiled

FOLDER = Path(sparse.__file__).parent / "packed"
MODULES = [
    "lm_head",
    "model.layers.0.mlp.gate",
    "model.layers.0.mlp.gate_proj",
    "model.layers.11.self_attn.k_proj",
    "model.layers.1.mlp.experts.13.down_proj",
    "model.visual.blocks.0.attn.qkv",
    "vision_tower.encoder.layers.3.fc1",
]
#: Expressions from published configurations.
EXPRESSIONS = [
    ".*mlp.gate$",
    ".*lm_head",
    "^lm_head$",
    ".*self_attn.*",
    r"model\.layers\.\d+\.mlp\.(gate|up)_proj",
    r".*\.experts\.[0-9]+\..*",
    r"^model\.layers\.[0-3]\..*$",
    "vision_tower.*",
    r".*(gate|router)$",
    r".*\.(?:0|1[0-9])\..*k_proj",
    ".+mlp.+",
    r".*gate(_proj)?$",
    "visual?.*",
]


def declared(name: str, folder: Path, change: Any, *, drop: str = "") -> Reconciliation:
    """A recipe with a changed declaration, and plain weights in layer 1 where the name has this word."""
    recipe = json.loads((FOLDER / f"{name}.json").read_text())
    change(recipe["beside"]["config.json"])
    if drop:
        file = recipe["files"]["model.safetensors"]
        entries = list(sparse.expand(file["tensors"]))
        kept = [entry for entry in entries if drop not in entry[2]]
        plain = ["F16", [256, 512], f"{drop}.weight"]
        file["tensors"] = [*kept, plain]
    return inspector.reconcile(inspector.open(sparse.make(recipe, folder / "model")))


def reported(result: Reconciliation, rule: str) -> list[str]:
    return [finding.message for finding in result.findings if finding.rule == rule]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_match_as_pythons_own(expression: str) -> None:
    """The translated expression agrees with `re.match` on every name."""
    pattern = compiled(expression)
    assert pattern is not None
    assert [bool(pattern.match(name)) for name in MODULES] == [bool(re.match(expression, name)) for name in MODULES]


@pytest.mark.parametrize("expression", ["(a+)+$", "(?!x).*", r"(\w+)\1", "a{3}", "(" * 500, "[", "a" * 500, r"\w*\w*x"])
def test_other_expressions_are_not_run(expression: str) -> None:
    """An expression that could take exponential time, or is not understood, is ignored."""
    assert compiled(expression) is None


@given(st.text(alphabet=r"ab.*+?\d()[]|$^-", max_size=30), st.text(alphabet="ab.", max_size=2000))
@settings(max_examples=examples(300), deadline=None)
def test_any_expression_ends(expression: str, name: str) -> None:
    """Any expression is refused or answered at once."""
    pattern = compiled(expression)
    if pattern is not None:
        pattern.match(name)


@pytest.mark.parametrize(
    ("values", "module", "entry"),
    [
        ({"modules_to_not_convert": ["lm_head"]}, "lm_head", "lm_head"),
        ({"modules_to_not_convert": ["mlp.gate"]}, "model.layers.0.mlp.gate", "mlp.gate"),
        ({"modules_to_not_convert": ["mlp.gate"]}, "model.layers.0.mlp.gate_proj", None),
        ({"modules_to_not_convert": ["model.layers.*.self_attn"]}, "model.layers.11.self_attn.k_proj", "model.layers.*.self_attn"),
        ({"llm_int8_skip_modules": ["vision_tower"]}, "model.vision_tower.encoder.layers.3.fc1", "vision_tower"),
        ({"ignore": ["re:.*gate$"]}, "model.layers.0.mlp.gate", "re:.*gate$"),
        ({"ignore": ["re:.*gate$"]}, "model.layers.0.mlp.gate_proj", None),
        ({"exclude_modules": ["mtp*"]}, "mtp.layers.0.eh_proj", "mtp*"),
        ({"dynamic": {"-:.*down_proj": {}, "+:.*up_proj": {"bits": 8}}}, "model.layers.0.mlp.down_proj", "re:.*down_proj"),
        ({"dynamic": {"+:.*up_proj": {"bits": 8}, "-:x": {}}}, "model.layers.0.mlp.up_proj", None),
        ({"model.layers.0.mlp.down_proj": False, "tie": False}, "model.layers.0.mlp.down_proj", "model.layers.0.mlp.down_proj"),
        ({"extra_config": {"lm_head": {"bits": 16}, "model.layers.0": {"bits": 8}}}, "lm_head", "lm_head"),
    ],
)  # fmt: skip
def test_lists_of_each_library(values: dict[str, Any], module: str, entry: str | None) -> None:
    """Names, prefixes and suffixes, wildcards, expressions, keys: each as its library reads them."""
    found = exclusions.read(values)
    assert found is not None
    assert found.entry_for(module) == entry


@pytest.mark.parametrize("values", [{}, {"ignore": None}, {"ignore": "lm_head"}, {"ignore": [3]}, {"dynamic": []}])
def test_no_list(values: dict[str, Any]) -> None:
    """A configuration without a list excludes nothing, and neither does one of another kind."""
    assert exclusions.read(values) is None


def test_an_excluded_module_is_plain_and_no_finding(tmp_path: Path) -> None:
    """A list that agrees with the tensors is not a finding, and the plain weight is `unquantized`."""
    module = "model.layers.1.mlp.down_proj"
    result = declared(
        "gptq-4bit", tmp_path, lambda c: c["quantization_config"].update(dynamic={f"-:{module}": {}}), drop=module
    )
    assert not result.findings
    (step,) = [step for step in result.steps if step.cause == "unquantized"]
    assert "1 × down_proj in F16" in step.detail


def test_packed_though_left_out(tmp_path: Path) -> None:
    """Each entry that the tensors contradict is reported once, with the number of weights."""
    result = declared(
        "bitsandbytes-nf4",
        tmp_path,
        lambda c: c["quantization_config"].update(llm_int8_skip_modules=["lm_head", "o_proj", "model.layers.1.mlp"]),
    )
    assert reported(result, "left-out-packed") == [
        "the configuration excludes o_proj from packing, but 2 weights there are packed",
        "the configuration excludes model.layers.1.mlp from packing, but 3 weights there are packed",
    ]


def test_plain_though_not_left_out(tmp_path: Path) -> None:
    """One layer's weight is plain, the others' are packed, and no list explains it."""
    module = "model.layers.1.mlp.down_proj"
    result = declared(
        "gptq-4bit", tmp_path, lambda c: c["quantization_config"].update(dynamic={"-:lm_head": {}}), drop=module
    )
    (message,) = reported(result, "packed-in-part")
    assert message.startswith("1 weight of model.layers.*.mlp.down_proj is plain although others are packed")


def test_a_list_that_is_not_understood_accuses_nobody(tmp_path: Path) -> None:
    """An expression that is not run may exclude what is plain."""
    module = "model.layers.1.mlp.down_proj"
    result = declared(
        "gptq-4bit", tmp_path, lambda c: c["quantization_config"].update(dynamic={"-:(?!x).*": {}}), drop=module
    )
    assert not result.findings


def test_a_list_of_any_length_is_read_in_bounded_time(tmp_path: Path) -> None:
    """Of a hundred thousand entries, those beyond the length of real lists are not compared."""
    entries = [f"re:.*{number}.*" for number in range(100_000)]
    result = declared("gptq-4bit", tmp_path, lambda c: c["quantization_config"].update(ignore=entries))
    assert result.packing is not None
