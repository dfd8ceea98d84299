"""Code that is handed on, evaluated or imported where a document or a program only names it; each with a near miss."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import hostile
from every import every
from saved import SIZES

import inspector
from inspector.auditing import verdicts
from inspector.auditing.readers import document_objects, repositories
from inspector.auditing.readers.python_code import acts_in
from inspector.auditing.readers.tokenizer_json import slowness

if TYPE_CHECKING:
    import pytest

#: Runs a command when it is unpickled.
EVIL = b"cposix\nsystem\n(Vid\ntR."

CALLED: list[tuple[str, str]] = [
    ("list(map(eval, ['f()']))", "hands eval on"),
    ("pool.submit(exec, 'f()')", "hands exec on"),
    ("import functools, os\nfunctools.reduce(getattr, ['system'], os)('id')", "calls os.system"),
    ("import os\nobject.__getattribute__(os, 'system')('id')", "calls os.system"),
    ("C = {'()': 'os.system', 'command': 'id'}", "names os.system to be called"),
    ("C = {'_target_': 'subprocess.Popen'}", "names subprocess.Popen to be called"),
    ("import marshal, types\ntypes.FunctionType(marshal.loads(x), {})()", "calls marshal.loads"),
    ("import pickle, base64\npickle.loads(base64.b85decode('AAAAAAAAAAAAAAAAAAAAA'))", "calls pickle.loads"),
    ("b = __builtins__ if x else vars(__builtins__)\nb['ev' + 'al']('f()')", "looks up eval"),
    (
        "import importlib.machinery as m\nm.SourceFileLoader('x', 'vocab.bin').load_module()",
        "calls importlib.machinery.Sou",
    ),
]
HARMLESS = [
    "parser.add_argument('--width', type=eval)",
    "import functools\nfunctools.reduce(getattr, name.split('.'), model)",
    "C = {'()': 'mine.Formatter', **other}",
    "import pickle\npickle.loads(data)",
    "x = a if b else c\nx['y'](z)",
    "def compile(f):\n    return f\n\n\nmap(compile, layers)",
]


@every(("source", "what"), CALLED)
def test_a_dangerous_function_handed_on_is_found(source: str, what: str) -> None:
    found = [act for act in acts_in(source) if act.kind in ("hidden", "programs", "libraries")]
    assert any(act.what.startswith(what) for act in found), found


@every("source", HARMLESS)
def test_usual_code_of_models_is_not_found(source: str) -> None:
    assert [act for act in acts_in(source) if act.kind in ("hidden", "programs", "libraries")] == []


@every(
    ("text", "named"),
    [
        ("{\"expr_str\": \"__import__('os').system('id')\"}", True),
        ('{"expr_str": "Symbol(\'s0\').func.args"}', True),
        ('{"expr_str": "Mul(Integer(2), Symbol(\'s77\', positive=True, integer=True))"}', False),
        ('{"expr_str": "Max(1, floor(Rational(1, 2)*Float(\'0.5\')))"}', False),
    ],
)
def test_an_expression_that_torch_export_evaluates(text: str, named: bool) -> None:
    """Sizes are sums and products of symbols; what torch 2.13 writes has neither attributes nor Python's functions."""
    assert any("torch.export evaluates" in each for each in document_objects.in_text(text, is_json=True)) == named


def test_it_is_found_in_the_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "model.pt2", "w") as file:
        file.writestr("m/models/model.json", '{"expr_str": "__import__(\'os\')"}')
    assert findings(tmp_path) == {("error", "yaml-code")}


@every(
    ("text", "named"),
    [
        ("train.loader = @os.system()", True),
        ("train.loader = @load_text()", False),
        ("x: !module:subprocess.run", True),
    ],
)
def test_names_that_gin_and_hyperpyyaml_create(text: str, named: bool) -> None:
    assert bool([*document_objects.in_text(text, is_json=False)]) == named


def findings(folder: Path, least: str = "warning") -> set[tuple[str, str]]:
    """Severity and rule of what is found, without notes."""
    severities = ("error", "warning") if least == "warning" else ("error", "warning", "info")
    models = inspector.audit([folder]).checkpoints
    return {(each.severity, each.rule) for model in models for each in model.findings if each.severity in severities}


def put(folder: Path, files: Mapping[str, bytes | str]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@every(
    ("name", "content", "found"),
    [
        ("state.pkl", EVIL, True),
        ("objects/ab/0123456789", zlib.compress(b"blob 23\0" + EVIL), True),
        ("objects/ab/0123456789", zlib.compress(b"blob 5\0print"), False),
        ("objects/ab/0123456789", b"no stream", False),
        ("description", b"a repository", False),
    ],
)
def test_pickles_in_a_repositorys_own_folder(name: str, content: bytes, found: bool, tmp_path: Path) -> None:
    put(tmp_path, {f".git/{name}": content, "notes.txt": "x", ".git/HEAD": "ref: refs/heads/main\n"})
    assert findings(tmp_path) == ({("error", "repository-program")} if found else set())


def test_more_files_than_are_searched_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {f".git/{number}": "x" for number in range(4)} | {"notes.txt": "x"})
    assert findings(tmp_path) == set()
    monkeypatch.setattr(repositories, "MAX_GIT_FILES", 2)
    assert findings(tmp_path) == {("error", "repository-program")}


ADAPTER = {"peft_type": "LORA", "r": 2, "target_modules": ["q"], "base_model_name_or_path": "a/b"}


@every(
    ("fields", "expected"),
    [
        ({"target_modules": "(([a-z]+)*_?)*[0-9]!"}, "adapter-field"),
        ({"target_modules": ".*\\.(q|v)_proj"}, None),
        ({"megatron_config": {}, "megatron_core": "subprocess"}, "remote-code"),
        ({"megatron_config": {}, "megatron_core": "evil_module"}, "remote-code"),
        ({"megatron_config": {}, "megatron_core": "megatron.core"}, None),
        ({"megatron_config": None, "megatron_core": "evil_module"}, None),
        ({"rank_pattern": {"(a+)+$": 8}}, "adapter-field"),
        ({"alpha_pattern": {"q_proj(": 8}}, "adapter-field"),
        ({"rank_pattern": {"^model\\.layers\\.(1[0-9]|2[0-3])\\..*q": 8}, "alpha_pattern": {".*q": 2}}, None),
        ({"prompt_tuning_init_state_dict_path": "../../x.bin"}, "outside-path"),
        ({"prompt_tuning_init_state_dict_path": "x.bin"}, None),
    ],
)
def test_fields_of_an_adapter_that_lead_elsewhere(
    fields: dict[str, object], expected: str | None, tmp_path: Path
) -> None:
    put(tmp_path, {"adapter_config.json": json.dumps(ADAPTER | fields)})
    assert {rule for _, rule in findings(tmp_path)} - {"no-adapter-weights"} == ({expected} if expected else set())


def test_voices_outside_the_folder(tmp_path: Path) -> None:
    """Bark's processor gives the paths to NumPy."""
    voices = {"repo_or_path": "a/b", "v2/en_0": {"semantic_prompt": "../../../x.npy"}}
    put(tmp_path, {"speaker_embeddings_path.json": json.dumps(voices), "notes.txt": "x"})
    assert findings(tmp_path) == {("error", "outside-path")}


LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], **SIZES, "tie_word_embeddings": True}


@every(
    ("head", "expected"),
    [
        ((10, 8), set()),
        ((12, 8), {("error", "shape")}),
        ((10, 4), {("error", "shape")}),
        ((8, 10), {("error", "transposed")}),
    ],
)
def test_a_head_of_another_size_than_the_embedding(
    head: tuple[int, int], expected: set[tuple[str, str]], tmp_path: Path
) -> None:
    """As Transformers 5.24 loads a tied Llama with such a head beside it: it refuses the last three."""
    rows = {name: row.shape for row in inspector.predict(LLAMA).expected for name in row.names()}
    header, end = {}, 0
    for name, shape in {**rows, "lm_head.weight": head}.items():
        size = 4 * prod(shape)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [end, end + size]}
        end += size
    raw = json.dumps(header).encode()
    raw += b" " * (-len(raw) % 8)
    weights = len(raw).to_bytes(8, "little") + raw + bytes(end)
    put(tmp_path, {"model.safetensors": weights, "config.json": json.dumps(LLAMA)})
    assert findings(tmp_path) == expected


#: A vocabulary with twenty tokens of two letters.
WORDS = json.dumps(
    {
        token: number
        for number, token in enumerate((*"abcdefghijklmnopqrstu", *map("a{}".format, "abcdefghijklmnopqrst")))
    }
)


@every(
    ("merges", "vocabulary", "expected"),
    [
        ("#version: 0.2\na b\n", WORDS, set()),
        ("#version: 0.2\n\n", WORDS, {("warning", "vocabulary-lines")}),
        ("", '{"a": 0, "<s>": 1, "bc": 2}', set()),
        ("", '{"a": 0, "ab": 1, "bc": 2}', {("warning", "vocabulary-lines")}),
    ],
)
def test_lists_of_a_tokenizer(merges: str, vocabulary: str, expected: set[tuple[str, str]], tmp_path: Path) -> None:
    """As Transformers 5.24 loads them: without merges it splits words into letters."""
    kind = {"tokenizer_class": "GPT2Tokenizer"}
    put(tmp_path, {"merges.txt": merges, "vocab.json": vocabulary, "tokenizer_config.json": json.dumps(kind)})
    assert findings(tmp_path) == expected


def test_a_file_that_no_reader_opens_fails_without_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A type of tensors that nobody knows: gguf refuses it where it is installed, llama.cpp everywhere."""
    for installed, what in ((True, "gguf refuses it: unknown-type"), (False, "llama.cpp refuses it: unknown-type")):
        if not installed:
            monkeypatch.setattr(verdicts, "_gguf", lambda _: None)
        folder = hostile.make(hostile.CASES["unknown-type"].trips, tmp_path / str(installed))
        found = [each for model in inspector.audit([folder]).checkpoints for each in model.findings]
        assert [each.message for each in found if each.severity == "error"] == [what]


@every(
    ("expression", "how"),
    [
        *((each, "exponential") for each in ("(a+)+", "(x|x)*", "(([a-z]+)*_?)*!", "(?P<n>a+)+", r"(a+)\1+b")),
        *((each, "exponential") for each in ("((a{1,20}){1,20})b", r"(\w+\s?)+$", r"(\p{L}+\s*)+", "(x+x+)+y")),
        *((each, "power") for each in ("(.*a){20}", r"\w*\w*\w*\w*!", "(.*?,){11}P", "a*b?a*c?a*a*x")),
        *((each, "") for each in ("(?>a+)+b", r"(\s+\w+)+", r"(\d+\.){5}\d+", ".*foo.*bar.*baz.*", "(a)(b)*[[:a:]]*")),
        *((each, "") for each in (r"\p{N}{1,3}(?=(?:\p{N}{3})*\b)", r"\s*[\r\n]+|\s+(?!\S)", "[a--b]*[z-a]*c{2}")),
    ],
)
def test_expressions_that_take_long(expression: str, how: str) -> None:
    """An atomic group keeps what it matched first; loops over other characters cannot share a text."""
    found = slowness(expression)
    assert how in found if how and found else not found and not how


@every(
    ("pattern", "slow"),
    [("((a+)+)+$", True), ("(?:<think>(?P<thinking>.+?)</think>)?(?P<content>.*?)(?:<end>|$)", False)],
)
def test_expressions_of_a_response_that_take_long(pattern: str, slow: bool, tmp_path: Path) -> None:
    """`parse_response` of Transformers 5 matches them with what a model answers."""
    schema = {"type": "object", "properties": {"content": {"type": "string", "x-regex": pattern}}}
    put(tmp_path, {"tokenizer_config.json": json.dumps({"response_schema": schema})})
    assert (("warning", "tokenizer-wording") in findings(tmp_path)) == slow


def replacing(pattern: dict[str, str], content: str) -> dict[str, object]:
    return {"normalizer": {"type": "Replace", "pattern": pattern, "content": content}}


@every(
    ("part", "worded"),
    [
        ({"truncation": {"max_length": 1, "direction": "Left", "stride": 0}}, True),
        ({"truncation": {"max_length": 8}, "padding": {"strategy": {"Fixed": 10_000_000}}}, False),
        ({"padding": {"strategy": {"Fixed": 10_000_001}, "pad_id": 0}}, True),
        ({"padding": {"strategy": "BatchLongest"}, "truncation": None}, False),
        (replacing({"String": "0"}, "8"), True),
        (replacing({"Regex": "DE[0-9]{20}"}, "x"), True),
        (replacing({"Regex": "\\bnot\\b"}, ""), True),
        (replacing({"Regex": "\\s+|\\p{L}"}, " "), False),
        (replacing({"String": " "}, "▁"), False),
        ({"normalizer": {"type": "Prepend", "prepend": "Ignore it. "}}, True),
        ({"normalizer": {"type": "Prepend", "prepend": "▁"}}, False),
        ({"decoder": {"type": "CTC", "pad_token": "no", "word_delimiter_token": "|", "cleanup": True}}, True),
        ({"decoder": {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}}, False),
        ({"decoder": {"type": "Strip", "content": " ", "start": 1, "stop": 0}}, False),
        ({"added_tokens": [{"id": 9, "content": "n't", "special": True}]}, True),
        ({"added_tokens": [{"id": 9, "content": "UNK", "special": True}]}, False),
    ],
)
def test_parts_of_a_tokenizer_that_rewrite_letters(part: dict[str, object], worded: bool, tmp_path: Path) -> None:
    put(tmp_path, {"tokenizer.json": json.dumps(part)})
    assert (("warning", "tokenizer-wording") in findings(tmp_path)) == worded
