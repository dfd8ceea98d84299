"""Each rule's own words, numbers and places, for every hostile case that it has to find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hostile
import pytest
import rule_words
from every import every

from inspector.auditing.catalogue import all_rules
from inspector.auditing.loading import peft
from inspector.auditing.readers import tokenizer_json
from inspector.auditing.rule import Found
from inspector.auditing.safety import outside_paths, programs
from inspector.formats.hdf5 import structure as hdf5

#: The first case of each rule that finds something itself.
CASES = {case.code: case for case in rule_words.own_cases() if case.name == case.code}
EXPECTED = rule_words.expected()


@every("code", CASES, parts=2)
def test_the_near_miss_of_each_rule_is_not_reported(code: str, tmp_path: Path) -> None:
    """The rule reports nothing, whatever other rules find."""
    case = CASES[code]._replace(change=hostile.CASES[code].misses)
    assert rule_words.said_alone(case, tmp_path) == []


@pytest.mark.parametrize(
    "name",
    ["model (1).safetensors", "model.safetensors.part", "model.safetensors.aria2", "model-00001-of-00002.safetensors"],
)
def test_weights_under_another_name_have_a_rule_of_their_own(name: str, tmp_path: Path) -> None:
    """It is reported for a model without weights, unless the file is a copy, an unfinished download or a shard."""
    bare = hostile.drop(*(each for each in hostile.sound() if each not in ("config.json", "tokenizer.json")))
    assert rule_words.messages("no-weights", hostile.both(bare, hostile.put("optimizer.pt", b"x")), tmp_path / "a") == [
        "a configuration without weights beside it: download them"
    ]
    assert rule_words.messages("no-weights", hostile.both(bare, hostile.put(name, b"x")), tmp_path / "b") == []


def test_a_graph_as_text_is_read_as_far_as_it_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "MAX_TEXT_GRAPH", 40)
    write = b'node { op: "WriteFile" }'
    beyond = "graph-operation: what follows the first 40 bytes of a graph as text: not judged"
    found = "its graph has the operations WriteFile"
    for text, stated in (
        (write, [found]),
        (write + b" " * 16, [found]),
        (write + b" " * 17, [found, beyond]),
        (b" " * 40 + write, [beyond]),
        (b'node { op: "Add" }' + b" " * 40, [beyond]),
    ):
        assert rule_words.messages("graph-operation", hostile.put("a.pbtxt", text), tmp_path / str(len(text))) == stated


TOKEN = {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]}


@every(
    ("template", "faults"),
    [
        ({}, []),
        ({"single": [{"Sequence": {"id": "A", "type_id": 0}}], "pair": [{"Sequence": {"id": "B", "type_id": 1}}]}, []),
        ({"single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}], "special_tokens": {"[CLS]": TOKEN}}, []),
        ({"single": ["A"]}, ["p.single.0 is not a piece of a template"]),
        ({"pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Other": {}}]}, ["p.pair.1 is not a piece of a template"]),
        ({"single": [{"Sequence": {"id": "A"}}]}, ["p.single.0 has no type_id"]),
        ({"single": [{"Sequence": {"id": "A", "type_id": "0"}}]}, ["p.single.0.type_id is not a whole number"]),
        ({"single": [{"Sequence": {"id": "C", "type_id": 0}}]}, ["p.single.0 is of sequence 'C'"]),
        (
            {"single": [{"SpecialToken": {"id": "[SEP]", "type_id": 0}}], "special_tokens": {"[CLS]": TOKEN}},
            ["p.single.0 names '[SEP]', which is not among its tokens"],
        ),
        ({"special_tokens": {"x" * 50: 5}}, [f"p.special_tokens.{'x' * 40} is not an object"]),
        (
            {"special_tokens": {"a": {"ids": 1, "tokens": []}}},
            ["p.special_tokens.a has no id", "p.special_tokens.a.ids is not a list"],
        ),
        ({"special_tokens": {"a": {**TOKEN, "tokens": "a"}}}, ["p.special_tokens.a.tokens is not a list"]),
        ({"special_tokens": {"a": {"id": "a", "ids": []}}}, ["p.special_tokens.a has no tokens"]),
        ({"special_tokens": []}, []),
    ],
)
def test_a_faulty_chat_template_has_its_faults(template: dict[str, Any], faults: list[str]) -> None:
    assert list(tokenizer_json._of_template(template, "p")) == faults


@every(
    ("fields", "faults"),
    [
        ({}, []),
        ({"target_modules": ["q", "v"], "feedforward_modules": ["v"], "r": 1, "peft_type": "LORA"}, []),
        ({"target_modules": ["q", 5, None]}, ["target_modules has 5, but should hold names"]),
        ({"modules_to_save": [None]}, ["modules_to_save has null, but should hold names"]),
        ({"target_modules": "q.*", "feedforward_modules": ["v"]}, []),
        (
            {"target_modules": ["q"], "feedforward_modules": ["z", "v", "q"]},
            ["feedforward_modules has 'v', which is not in target_modules"],
        ),
        ({"r": 0, "peft_type": "LORA"}, ["r is 0: a rank must be positive"]),
        ({"r": -8, "peft_type": "VERA"}, ["r is −8: a rank must be positive"]),
        ({"r": 0, "peft_type": "ADALORA"}, []),  # PEFT accepts it: AdaLoRA has `init_r`
        ({"r": "0", "peft_type": "LORA"}, []),  # no number: reported by its type
        ({"layer_replication": [[0, 2], [1, 3]]}, []),
        ({"layer_replication": [[0, 2], [1]]}, ["layer_replication is [[0, 2], [1]], but should be a list of pairs"]),
        ({"layer_replication": []}, []),
        ({"layers_pattern": "h"}, ["layers_pattern without layers_to_transform"]),
        ({"layers_pattern": "h", "layers_to_transform": 0}, []),
    ],
)
def test_contradicting_fields_of_an_adapter_are_faults(fields: dict[str, Any], faults: list[str]) -> None:
    assert list(peft._wrong_targets(fields)) == faults


@pytest.mark.parametrize(
    ("unknown", "lines", "stated"),
    [
        (None, b"a\n[UNK]\n", []),
        (None, b"a\r\n[UNK]\r\nb\r\n", []),
        (None, b"a\n[unk]\n", ["no '[UNK]' in it, which BertTokenizer needs"]),
        ("<u>", b"a\n[UNK]\n", ["no '<u>' in it, which BertTokenizer needs"]),
        ({"content": "<u>"}, b"a\n<u>", []),
        ({"content": "<u>"}, b"a\n[UNK]\n", ["no '<u>' in it, which BertTokenizer needs"]),
    ],
)
def test_the_word_for_what_a_vocabulary_lacks(unknown: Any, lines: bytes, stated: list[str], tmp_path: Path) -> None:
    fields = {"tokenizer_class": "BertTokenizerFast", **({} if unknown is None else {"unk_token": unknown})}
    own = hostile.both(hostile.put("tokenizer_config.json", hostile.dump(fields)), hostile.put("vocab.txt", lines))
    change = hostile.both(hostile.drop("tokenizer.json"), own)
    assert rule_words.messages("vocabulary-lines", change, tmp_path) == stated


def test_a_file_that_another_names_within_the_folder_is_a_note(tmp_path: Path) -> None:
    """A link that leads out of the folder is an error, one within it a note."""
    found = [
        list(
            outside_paths._in_hdf5(
                "a.h5", [hdf5.Elsewhere("an external link", each), hdf5.Elsewhere("an external link", each)]
            )
        )
        for each in ("b.h5", "../b.h5")
    ]
    assert found == [
        [Found("an external link in 'b.h5'", "a.h5", severity="info")],
        [Found("an external link in '../b.h5', outside the folder", "a.h5")],
    ]


# --- rules hide nothing ---------------------------------------------------------------------------

_DOCUMENTS = (
    *("config.json", "tokenizer_config.json", "tokenizer.json", "generation_config.json", "adapter_config.json"),
    *("model_index.json", "modules.json", "preprocessor_config.json", "vocab.json", "merges.txt", "params.json"),
    *("scheduler_config.json", "chat_template.jinja", "config", "HEAD", "checkpoint", "Modelfile"),
)
_ENDS = ("pkl", "pb", "meta", "pbtxt", "tflite", "yaml", "skops", "sh", "py", "xml", "md", "png", "index.json")
#: Files that every rule ignores, before the case's own: links that lead out, and names of other documents.
PASSED_OVER: hostile.Files = {
    **{f"0/{name}": hostile.Link(f"/nowhere/{name}") for name in _DOCUMENTS},
    **{f"!.{end}": hostile.Link(f"/nowhere/x.{end}") for end in _ENDS},
    **{f"0/my_{name}": b"{}" for name in _DOCUMENTS if name.endswith(".json")},
}
#: Rules about links themselves, and about files that may be such links; and one that the bridge reports, too.
_ON_LINKS = frozenset(("link-outside", "broken-link", "no-vocabulary", "no-weights", "quantization"))


@every("code", sorted(CASES.keys() - _ON_LINKS), parts=5)
@pytest.mark.gate
def test_an_ignored_part_of_a_file_hides_no_finding(code: str, tmp_path: Path) -> None:
    case = CASES[code]
    change = hostile.both(case.change, lambda files: files.update(PASSED_OVER))
    assert rule_words.said_alone(case._replace(change=change), tmp_path) == EXPECTED[code]


#: Rules about the selected checkpoint, of which there is one; and those whose findings contain the folder's name.
_ONCE = frozenset(
    """
    adapter-pieces adapter-rank chat-template declared-parameters declared-total dtype dtype-mixture extra-shard
    gguf-dimensions gguf-tensors index-mismatch layer-list missing-config no-preprocessor no-weights packing-both
    packing-declared packing-words quantization second-index side-data side-data-missing stale-shards tensor-in-two-files tensor-names tied-head-stored
    token-id tokenizer-size transposed undeclared-float8 unindexed-tensors
    file-name missing-component pipeline-index python-name remote-code
    """.split()  # noqa: SIM905  a list of words reads better without quotes
)


@every("code", sorted({code for code, case in CASES.items() if "--data" not in case.options} - _ONCE), parts=3)
def test_the_same_fault_in_two_folders_is_reported_twice(code: str, tmp_path: Path) -> None:
    files = hostile.sound()
    CASES[code].change(files)

    def found(folder: str, copies: dict[str, Any]) -> list[str]:
        judged = all_rules()[code].findings(rule_words.subject_of(tmp_path / folder, copies))
        return sorted(f"{each.path}: {each.severity}: {each.message}: {each.tensor}" for each in judged)

    once = found("once", files)
    twice = found("twice", {f"{copy}/{name}": each for copy in "ab" for name, each in files.items()})
    assert twice == [f"{copy}/{each}" for copy in "ab" for each in once]
