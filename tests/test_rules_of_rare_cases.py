"""Rules on files that are rare: limits, links, nested documents; and the nearest case on the other side."""

from __future__ import annotations

import gzip
import io
import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import h5py
import pytest
import rule_words
from every import every
from hostile.files import Hole, Link, archive, calls, gguf, safetensors
from hostile.model import CONFIG, shapes
from made_up import seen

from inspector.auditing.catalogue import all_rules
from inspector.auditing.consistency import documents
from inspector.auditing.loading import config_fields, gguf_tensors, preprocessors
from inspector.auditing.readers import archives, document_objects, pickles, repositories, tokenizer_json
from inspector.auditing.run import audit
from inspector.auditing.safety import hidden_code, keras, misleading_text
from inspector.auditing.values import lost_bits
from inspector.model import Tensor

Case = tuple[str, dict[str, Any], list[str]]

LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}
CALLS = calls("os", "system")
REACHES = "loading it reaches os.system, which can run anything: do not load it"
LORA = {f"base_model.model.layers.0.q.lora_{half}.weight": shape for half, shape in (("A", [4, 16]), ("B", [16, 4]))}
ADAPTER, ADAPTED = "adapter_config.json", "adapter_model.safetensors"


def deflated(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


def hdf5(attribute: str = "", link: str = "") -> bytes:
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        if attribute:
            file.attrs["model_config"] = attribute
        if link:
            file["x"] = h5py.ExternalLink(link, "/y")
    return out.getvalue()


# --- archives and pickles -----------------------------------------------------------------------

ZFILE = b"ZF0x" + b"%-17s" % b"0x40"

ARCHIVES: list[Case] = [
    ("pickle", {"a.pkl": deflated({"x.pkl": CALLS})}, [f"a.pkl: error: {REACHES}"]),
    ("pickle", {"a.dat": ZFILE + zlib.compress(CALLS)}, [f"a.dat: error: {REACHES}"]),
    ("pickle", {"a.dat": ZFILE + b" " + zlib.compress(CALLS)}, [f"a.dat: error: {REACHES}"]),
    ("unopened", {"a.gz": gzip.compress(b"") * archives.MAX_STREAMS}, []),
    ("unopened", {"a.gz": gzip.compress(b"") * (archives.MAX_STREAMS + 1)}, ["a.gz: warning: damaged compressed data: not examined"]),
]  # fmt: skip


@pytest.mark.parametrize(("code", "files", "stated"), ARCHIVES)
def test_compressed_pickles_are_read(code: str, files: dict[str, Any], stated: list[str], tmp_path: Path) -> None:
    assert rule_words.lines(code, files, tmp_path) == stated


@pytest.mark.parametrize(
    ("name", "data", "opened"),
    [
        ("x.pkl", b"\x80\x04" + b"N" * 998, True),
        ("x.pkl", b"\x80\x04" + b"N" * 999, False),
        ("x.txt", b"a" * 1_001, True),  # text as far as it was unpacked
        ("x.txt", b"\x80\x04" + b"N" * 999, False),
        ("x.txt", b"PK" + b"N" * 999, False),
        ("x.txt", b"\x93NUMPY" + b"N" * 995, False),
        ("x.txt", b"\x93NUMP" + b"N" * 996, True),
    ],
)
def test_members_that_unpack_to_more_than_is_read(
    name: str, data: bytes, opened: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MAX_UNPACKED", 1_000)
    raw = deflated({name: data})
    piece = archives.Piece("", lambda start, length: raw[start : start + length], len(raw))
    limits = archives.Limits()
    found = [each for each in archives.pieces(piece, limits) if isinstance(each, archives.Unopened)]
    assert found == ([] if opened else [archives.Unopened(name, "it unpacks to more than the audit reads")])
    assert limits.unpacked == archives.MAX_ALL_UNPACKED - min(len(data), 1_000)


def test_a_member_that_ends_early() -> None:
    raw = bytearray(deflated({"x.pkl": b"\x80\x04" + b"N" * 998}))
    at = raw.index(b"PK\x01\x02") + 24  # the size in the list of members
    raw[at : at + 4] = (2_000).to_bytes(4, "little")
    piece = archives.Piece("", lambda start, length: bytes(raw[start : start + length]), len(raw))
    (found,) = archives.pieces(piece, archives.Limits())
    assert found == archives.Unopened("x.pkl", "a truncated member")


def test_an_archives_budget_is_spent_and_no_less_than_a_header_is_read() -> None:
    limits = archives.Limits()
    for left, allowed in ((archives.MAX_ALL_UNPACKED, archives.MAX_UNPACKED), (1_000, 1_000), (511, 512), (-5, 512)):
        limits.unpacked = left
        assert archives._allowance(limits) == allowed


def test_headers_of_tar_archives_are_read_within_bounds() -> None:
    reader = archives._Reader(archives.Piece("", lambda _, length: b"x" * min(length, 3), 1 << 40))
    assert (reader.seek(-5), reader.seek(4), reader.seek(2, 1), reader.seek(-1, 2)) == (0, 4, 6, (1 << 40) - 1)
    reader.seek(0)
    assert (reader.read(archives.MAX_UNPACKED), reader.tell()) == (b"xxx", 3)
    with pytest.raises(ValueError, match="implausibly long header"):
        reader.read(archives.MAX_UNPACKED + 1)


def test_more_pickles_than_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickles, "MAX_PICKLES", 2)
    files = dict.fromkeys(("a.pkl", "b.txt", "c.bin"), CALLS)  # one under another name does not count
    assert len(rule_words.lines("pickle", files, tmp_path / "a")) == 3
    stated = rule_words.lines("pickle", {**files, "d.pt": b"x", "e.pt": CALLS}, tmp_path / "b")
    assert len(stated) == 4
    assert "d.pt: error: too many files that may be pickles: this one and those after it were not read" in stated


def test_a_name_counts_as_what_it_is_used_for_at_its_gravest(tmp_path: Path) -> None:
    """A function of PyTorch that is only named is a warning; called, it is an error, in any order."""
    module, name = b"torch.nn.functional", b"relu"
    named = b"\x80\x02c" + module + b"\n" + name + b"\n"
    for order in (named + b"0" + named[2:] + b")R.", named + b")R0" + named[2:] + b"."):
        found = rule_words.lines("pickle", {"a.pkl": order}, tmp_path / str(len(list(tmp_path.iterdir()))))
        assert found == [
            "a.pkl: error: loading it reaches torch.nn.functional.relu, which can run anything: do not load it"
        ]


# --- programs that are started by others ---------------------------------------------------------------

LAMBDA = {"class_name": "Lambda", "config": {"name": "x"}}
CODE = "it has a Lambda layer, which is code: do not load it"
UNCHECKED = "its configuration could not be checked:"


@every(
    ("files", "stated"),
    [
        ({"m.keras": archive({"config.json": json.dumps(LAMBDA).encode()})}, [f"m.keras: error: {CODE}"]),
        ({"m.keras": deflated({"config.json": json.dumps(LAMBDA).encode()})}, [f"m.keras: error: {CODE}"]),
        ({"m.keras": deflated({"config.json": b"[" * 100_000})}, [f"m.keras: error: {UNCHECKED} implausibly deeply nested"]),
        ({"m.keras": deflated({"config.json": b"[]"})}, []),
        ({"m.keras": archive({"model.weights.h5": hdf5(json.dumps(LAMBDA))})}, [f"m.keras: error: {CODE}"]),
        ({"m.keras": deflated({"model.weights.h5": hdf5(json.dumps(LAMBDA))})}, [f"m.keras: error: {CODE}"]),
        ({"m.keras": archive({"model.weights.h5": hdf5(link="/x.h5")})}, ["m.keras: error: it has an external link in '/x.h5', outside the folder: do not load it"]),
        ({"m.keras": deflated({"model.weights.h5": hdf5(link="../x.h5")})}, ["m.keras: error: it has an external link in '../x.h5', outside the folder: do not load it"]),
        ({"m.keras": deflated({"model.weights.h5": hdf5(link="x.h5")})}, []),
        ({"config.json": Hole(b"{", 5 << 20)}, [f"config.json: error: {UNCHECKED} implausibly large"]),
        ({"model.json": Hole(b"{", 5 << 20)}, [f"model.json: warning: {UNCHECKED} implausibly large"]),
        ({"weights.json": Hole(b"{", 5 << 20)}, []),
    ],
)  # fmt: skip
def test_configurations_of_keras(files: dict[str, Any], stated: list[str], tmp_path: Path) -> None:
    assert rule_words.lines("keras-lambda", files, tmp_path) == stated


def test_weights_of_keras_that_unpack_to_more_than_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = hdf5("{}")
    files = {"m.keras": deflated({"model.weights.h5": raw})}
    monkeypatch.setattr(archives, "START", 0)
    monkeypatch.setattr(archives, "MAX_UNPACKED", len(raw))
    assert rule_words.lines("keras-lambda", files, tmp_path / "a") == []
    monkeypatch.setattr(archives, "MAX_UNPACKED", len(raw) - 1)
    stated = f"m.keras: error: {UNCHECKED} 'model.weights.h5' unpacks to more than the audit reads"
    assert rule_words.lines("keras-lambda", files, tmp_path / "b") == [stated]


def test_as_many_values_of_a_configuration_as_any_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keras, "MAX_VALUES", 3)
    assert list(keras.in_document([1, 2, 3])) == []
    with pytest.raises(ValueError, match="implausibly many values"):
        list(keras.in_document([1, 2, 3, 4]))


AWAY = Link("/nowhere/else")
LEADS = "a link out of the folder, to what git runs or reads its configuration from: not followed"
RUNS = "[core]\n\tfsmonitor = ./run\n"
RUN = "error: git's configuration sets core.fsmonitor to './run', which it runs"

PROGRAMS: list[Case] = [
    ("graph-operation", {"a.pbtxt": AWAY, "b.tflite": AWAY, "c.pb": AWAY}, []),  # reported by link-outside
    ("yaml-code", {"a.yaml": AWAY, "b.skops": AWAY}, []),
    ("executable", {"a.sh": AWAY, "b.exe": AWAY}, []),
    ("external-data", {"a.onnx": AWAY, "b.h5": AWAY}, []),
    ("special-file", {"x": AWAY}, []),
    ("yaml-code", {"a.yaml": "%TAG !a! tag:example.org,2002:\n%TAG !p! tag:yaml.org,2002:python/\n--- 1"}, ["a.yaml: error: the tag %TAG … tag:yaml.org,2002:python/, which runs code"]),
    ("yaml-code", {"a.yaml": "%TAG !a! tag:example.org,2002:\n--- !a!x 1"}, []),
    ("repository-program", {"a.bin": "x", "config": AWAY, "HEAD": "x", ".vscode/tasks.json": '{"label": "x"}'}, []),
    ("repository-program", {"a.bin": "x", ".git": AWAY}, [f".git: error: {LEADS}"]),
    ("repository-program", {"a.bin": "x", ".git/config": AWAY}, [f".git/config: error: {LEADS}"]),
    ("repository-program", {"a.bin": "x", ".git/hooks": AWAY}, [f".git/hooks: error: {LEADS}"]),
    ("repository-program", {"a.bin": "x", ".git/commondir": AWAY}, [f".git/commondir: error: {LEADS}"]),
    ("repository-program", {"a.bin": "x", ".git/modules": AWAY}, [f".git/modules: error: {LEADS}"]),
    ("repository-program", {"a.bin": "x", ".hg/hgrc": AWAY}, [f".hg/hgrc: error: {LEADS}"]),
    ("repository-program", {"x.cfg": RUNS, ".git/config": Link("../x.cfg")}, [f".git/config: {RUN}"]),
    ("repository-program", {"d/config": RUNS, ".git": Link("d")}, [f".git/config: {RUN}"]),
    ("repository-program", {"a.bin": "x", "d/b.bin": "x", "d/.git/config": RUNS}, [f"d/.git/config: {RUN}"]),
    ("repository-program", {"a.bin": "x", ".git/modules/lib/deep/er/config": RUNS}, [f".git/modules/lib/deep/er/config: {RUN}"]),
    ("repository-program", {"a.bin": "x", **{f".git/modules/{'n/modules/' * levels}m/config": RUNS for levels in (5, 0)}}, [f".git/modules/m/config: {RUN}", f".git/modules/{'n/modules/' * 5}m/config: {RUN}"]),
    ("repository-program", {"a.bin": "x", "e/config": "x", ".git/modules/m": Link("../../e")}, [".git/modules/m: error: a link among git's submodules: not followed"]),
]  # fmt: skip


@every(("code", "files", "stated"), PROGRAMS)
def test_programs_and_links(code: str, files: dict[str, Any], stated: list[str], tmp_path: Path) -> None:
    assert rule_words.lines(code, files, tmp_path) == stated


def test_as_many_folders_as_are_searched_for_gits_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"{name}/.git/config": RUNS for name in "abc"} | {f"{name}/x": "x" for name in "abc"}
    monkeypatch.setattr(repositories, "MAX_FOLDERS", 4)  # including the topmost
    reported = [f"{name}/.git/config: {RUN}" for name in "abc"]
    assert rule_words.lines("repository-program", files, tmp_path / "a") == reported
    monkeypatch.setattr(repositories, "MAX_FOLDERS", 3)
    rest = "c/: error: too many folders: the rest were not searched for git's configuration"
    assert rule_words.lines("repository-program", files, tmp_path / "b") == [rest, *reported[:2]]


def test_as_many_submodules_and_hooks_as_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"a.bin": "x", **{f".git/modules/{name}/config": RUNS for name in "abc"}}
    reported = [f".git/modules/{name}/config: {RUN}" for name in "abc"]
    monkeypatch.setattr(repositories, "MAX_MODULES", 4)
    assert rule_words.lines("repository-program", files, tmp_path / "a") == reported
    monkeypatch.setattr(repositories, "MAX_MODULES", 3)
    rest = ".git/modules/c/: error: more folders of submodules than are searched for git's configuration"
    assert rule_words.lines("repository-program", files, tmp_path / "b") == [*reported[:2], rest]
    monkeypatch.setattr(repositories, "MAX_HOOKS", 2)
    hooks = {"a.bin": "x", **{f".git/hooks/{name}": "x" for name in ("c", "b.sample", "a", "d")}}
    stated = [f".git/hooks/{name}: error: a hook, which git runs" for name in "ac"]
    assert rule_words.lines("repository-program", hooks, tmp_path / "c") == stated


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("!!python/object/apply:os.system [x]", True),
        ("%TAG !p! tag:yaml.org,2002:python/", True),
        ("%TAG !p! tag:yaml.org,2002:%70ython/", True),
        ("%TAG !p! tag:yaml.org,2002:", False),
        ("a: 1", False),
    ],
)
def test_tags_that_run_code(text: str, tag: bool) -> None:
    assert (document_objects._python_tag(text) is not None) == tag


def test_files_that_a_document_names(tmp_path: Path) -> None:
    document = {"model": [{"filename": "/a"}, *([1] * 10_000), {"x": {"filename": "../b"}}, {"filename": "c"}]}
    assert rule_words.lines("outside-path", {"genai_config.json": document}, tmp_path / "a") == [
        f"genai_config.json: error: it names {path!r}, outside the folder" for path in ("/a", "../b")
    ]
    large = {"model.json": Hole(b"{", (4 << 20) - 1), "manifest.json": Hole(b"{", 4 << 20)}
    stated = "outside-path: a list of files of 4,194,305 bytes: not judged"
    assert rule_words.lines("outside-path", large, tmp_path / "b") == [f"manifest.json: error: {stated}"]
    graph = {"model.json": Hole(b"{", 4 << 20)}
    assert rule_words.lines("outside-path", graph, tmp_path / "c") == [f"model.json: warning: {stated}"]


# --- documents ----------------------------------------------------------------------------------

DOCUMENTS: list[Case] = [
    ("adapter-field", {ADAPTER: {"x": {"peft_type": "LORA"}}}, [f"{ADAPTER}: error: everything is nested under 'x', where PEFT does not look"]),
    ("adapter-field", {ADAPTER: {"x": {"peft_type": "LORA"}, "r": 8}}, []),
    ("adapter-field", {ADAPTER: {"peft_version": "0.1", "r": 8}}, [f"{ADAPTER}: error: no peft_type, which names the method"]),
    ("adapter-targets", {ADAPTER: {"peft_type": "LORA", "target_modules": ["q"]}, ADAPTED: safetensors({"x.weight": [4]})}, []),
    ("adapter-targets", {ADAPTER: {"peft_type": "LORA", "target_modules": [3]}, ADAPTED: safetensors(LORA)}, []),
    ("adapter-targets", {ADAPTER: {"peft_type": "LORA", "target_modules": ["k"]}, ADAPTED: safetensors(LORA)}, [f"{ADAPTER}: warning: 1 target module without tensors: k", f"{ADAPTED}: error: 1 module with tensors that no target names: base_model.model.layers.0.q"]),
    ("adapter-targets", {ADAPTER: {"peft_type": "IA3", "target_modules": ["q"]}, ADAPTED: safetensors({"x.weight": [4]})}, []),
    ("quantization", {ADAPTER: {"peft_type": "LORA", "r": 4, "target_modules": ["q"]}, ADAPTED: safetensors(LORA), "config.json": {**CONFIG, "quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}}, []),
    ("config-field", {"config.json": {**LLAMA, "dtype": "int8"}}, ['config.json: error: dtype is "int8": not a floating-point dtype, which a model\'s parameters need']),
    ("config-field", {"config.json": {**LLAMA, "torch_dtype": "torch.bool"}}, ['config.json: error: torch_dtype is "torch.bool": not a floating-point dtype, which a model\'s parameters need']),
    ("config-field", {"config.json": {**LLAMA, "dtype": "float17"}}, ['config.json: error: dtype is "float17": not a dtype of PyTorch']),
    *(("config-field", {"config.json": {**LLAMA, "dtype": dtype}}, []) for dtype in ("float16", "torch.bfloat16", "auto", "float8_e4m3fn")),
    ("model-type", {"config.json": {"m": {"model_type": "llama", "transformers_version": "4"}}}, ["config.json: error: everything is nested under 'm', where Transformers does not look"]),
    ("model-type", {"config.json": {"m": {"model_type": "llama"}}}, []),
    ("model-type", {"config.json": {"m": {"model_type": "llama", "transformers_version": "4"}, "n": 1}}, []),
    *(("model-type", {"config.json": {"transformers_version": "4", "x": 1}, name: "x"}, ["config.json: error: neither a model_type nor a class, of which Transformers needs one"]) for name in ("model.safetensors", "model.safetensors.index.json")),
    ("model-type", {"config.json": {"transformers_version": "4", "x": 1}, "other.safetensors": "x"}, []),
    *(("generation-field", {"generation_config.json": {"num_return_sequences": 2, **beside}}, ["generation_config.json: error: num_return_sequences is 2, but there is neither sampling nor beam search"]) for beside in ({}, {"num_beams": 1}, {"do_sample": False})),
    *(("generation-field", {"generation_config.json": {"num_return_sequences": 2, **beside}}, []) for beside in ({"num_beams": 2}, {"do_sample": True})),
    *(("generation-field", {"generation_config.json": {"num_return_sequences": value}}, []) for value in (1, True, None)),
    ("diffusers-field", {"config.json": {"_class_name": "UNet2DConditionModel", "norm_num_groups": 0}}, ["config.json: error: norm_num_groups is 0, but other sizes are divided by it"]),
    ("diffusers-field", {"config.json": {"_class_name": "UNet2DConditionModel", "norm_num_groups": 1}}, []),
    ("pipeline-index", {"model_index.json": {"vae": ["diffusers", "AutoencoderKL"]}}, ["model_index.json: error: no _class_name, which names the pipeline's class"]),
    ("pipeline-index", {"model_index.json": {"_class_name": 3, "vae": ["diffusers", "AutoencoderKL"]}}, ["model_index.json: error: no _class_name, which names the pipeline's class"]),
    ("pipeline-index", {"model_index.json": {"_class_name": "P", "vae": ["diffusers", "AutoencoderKL"]}}, []),
    ("template-code", {"README.md.jinja2": "{% include 'x' %}{{ name }}", "tool.jinja": "{% include 'x' %}{{ messages }}"}, ["tool.jinja: error: the template `tool` has a tag that loads another template: 'include'"]),
    ("template-code", {"chat_template.jinja": "{{ x"}, ["chat_template.jinja: warning: the template `default` was not checked: Jinja cannot parse it: unexpected end of template, expected 'end of print statement'."]),
    ("template-code", {"chat_template.jinja": b"{{ x }}\xff"}, ["chat_template.jinja: error: not UTF-8 text: not checked"]),
    ("template-code", {"chat_template.jinja": "{{ x }}" + "y" * 199_993}, []),
    ("template-code", {"chat_template.jinja": "{{ x }}" + "y" * 199_994}, ["chat_template.jinja: error: implausibly many or long templates: not checked"]),
    ("template-code", {"config.json": Hole(b"{", 5 << 20)}, ["config.json: error: implausibly many or long templates: not checked"]),
    ("template-code", {"a.gguf": gguf({"general.architecture": "llama", "tokenizer.chat_template": 3, "tokenizer.chat_template.b": "{{ ''.__class__ }}"}, {"a": [4]})}, ["a.gguf: error: the template `b` has an internal attribute: '__class__'"]),
    ("document", {"config.json": "[" * 5_000}, ["config.json: error: not a readable JSON document: nested too deep"]),
    ("document", {"config.json": "[" * 50 + "]" * 50}, ["config.json: error: not a JSON object, but '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["]),
    ("document", {"config.json": Hole(b"{", 5 << 20)}, ["config.json: error: 5,242,881 bytes, more than the audit reads of a document: not checked"]),
    ("error-message", {"a.json": "not found"}, ["a.json: error: a server's message instead of the file: 'not found'; download it again"]),
    ("error-message", {"a.json": b"not found \xff"}, []),
    ("missing-config", {"model.safetensors": "x", "tokenizer.json": "{}"}, ["model.safetensors: error: no config.json beside it: download it"]),
    ("sentence-module", {"modules.json": [{"name": "0", "path": "", "type": "mine.Model"}]}, []),
    ("sentence-module", {"modules.json": [{"name": "0", "path": "", "type": "Model"}]}, ["modules.json: error: unknown class Model: its module is missing"]),
    ("sentence-module", {"cnn_config.json": {"in_word_embedding_dimension": 4, "out_channels": "4", "kernel_sizes": [1]}, "model.safetensors": safetensors({"x": [4, 4]})}, []),
    ("sentence-module", {"cnn_config.json": {"in_word_embedding_dimension": 4, "out_channels": 4, "kernel_sizes": [1] * 1_001}, "model.safetensors": safetensors({"x": [4, 4]})}, ["model.safetensors: error: CNN has more than 1,000 kernels: its tensors are not checked"]),
    ("sentence-module", {"cnn_config.json": {"in_word_embedding_dimension": 4, "out_channels": 4, "kernel_sizes": [3]}, "model.safetensors": safetensors({"convs.0.weight": [4, 4, 1], "convs.0.bias": [4]})}, ["model.safetensors: error: 4×4×1 stored, 4×4×3 configured"]),
]  # fmt: skip


@every(("code", "files", "stated"), DOCUMENTS)
def test_documents(code: str, files: dict[str, Any], stated: list[str], tmp_path: Path) -> None:
    assert rule_words.lines(code, files, tmp_path) == stated


@pytest.mark.parametrize(
    ("own", "stated"),
    [
        ({"feature_extractor_type": "ClapFeatureExtractor", "feature_size": "x"}, ['p.feature_size is "x", but should be a whole number or true or false']),
        ({"feature_extractor_type": "ClapFeatureExtractor", "feature_size": 64}, []),
        ({"feature_size": "x"}, []),
    ],
)  # fmt: skip
def test_fields_of_a_processor(own: dict[str, Any], stated: list[str]) -> None:
    assert list(preprocessors._wrong_preprocessor(own, "p.")) == stated


@pytest.mark.parametrize(
    ("raw", "highest"),
    [(b'{"a": 3, "b": 9}', 9), (b'{"a": 3, "b": 9, "c": 1}', None), (b'{"a": 3, "b": 9', None), (b"[]", None)],
)
def test_as_many_tokens_as_are_counted(raw: bytes, highest: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_json, "MAX_TOKENS", 2)
    assert tokenizer_json._highest_in_object(raw) == highest


@pytest.mark.parametrize(
    ("raw", "last"), [(b'["a", 0], ["b", 0]]', 1), (b'["a", 0], ["b", 0], ["c", 0]]', None), (b'["a"]]', None)]
)
def test_as_many_pieces_as_are_counted(raw: bytes, last: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_json, "MAX_TOKENS", 2)
    assert tokenizer_json._last_of_pieces(raw, 0) == last


@every(
    ("raw", "pieces"),
    [
        (b"\x0a\x01a\x0a\x02bc", 2),
        (b"\x0a\x01a\x12\x01a", 1),
        (b"\x12\x01a", None),
        (b"\x0a\x02a", None),  # ends within a piece
        (b"\x0a\x81\x00a", 1),
        (b"\x0a" + b"\x80" * 5, None),  # ends within a length
        (b"\x0a" + b"\x80" * 10 + b"\x00", None),  # longer than a length may be
        (b"", 0),
    ],
)
def test_pieces_of_sentencepiece(raw: bytes, pieces: int | None) -> None:
    assert tokenizer_json._count_of_pieces(raw) == pieces


# --- GGUF ---------------------------------------------------------------------------------------

GGUF: dict[str, Any] = {"general.architecture": "llama", "tokenizer.ggml.model": "llama"}
EMBEDDING = {"token_embd.weight": [8, 4]}


def numbers(*values: int) -> bytes:
    """A list of int32, preceded by its type."""
    return (
        b"\x09\0\0\0\x05\0\0\0" + len(values).to_bytes(8, "little") + b"".join(v.to_bytes(4, "little") for v in values)
    )


@every(
    ("code", "pairs", "stated"),
    [
        ("gguf-type", {"tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.x": 1.0}, []),
        ("gguf-type", {"tokenizer.ggml.bos_token_id": 1.0}, ["tokenizer.ggml.bos_token_id is float32, but should be uint32"]),
        ("gguf-type", {"tokenizer.ggml.zebra_token_id": "1"}, []),  # which llama.cpp does not read
        ("gguf-type", {"tokenizer.ggml.fim_pre_token_id": "1"}, ["tokenizer.ggml.fim_pre_token_id is string, but should be uint32"]),
        ("gguf-sizes", {"general.architecture": "qwen2vl", "qwen2vl.rope.dimension_sections": numbers(1, 2, 3)}, ["qwen2vl.rope.dimension_sections has 3 items, but should have 4"]),
        ("gguf-sizes", {"general.architecture": "qwen2vl", "qwen2vl.rope.dimension_sections": numbers(1, 2, 3, 4)}, []),
        ("gguf-sizes", {"llama.rope.dimension_sections": numbers(1, 2, 3)}, []),  # which llama.cpp does not read
        ("gguf-keys", {"general.architecture": "gptj"}, [f"no gptj.{key}, which llama.cpp needs" for key in ("context_length", "embedding_length", "block_count", "attention.layer_norm_rms_epsilon")]),
        ("gguf-keys", {"general.architecture": "gptj", "gptj.context_length": 1, "gptj.embedding_length": 1, "gptj.block_count": 1, "gptj.attention.layer_norm_epsilon": 1.0}, []),
    ],
)  # fmt: skip
def test_keys_of_a_gguf(code: str, pairs: dict[str, Any], stated: list[str], tmp_path: Path) -> None:
    files = {"a.gguf": gguf({**GGUF, **pairs}, EMBEDDING)}
    assert rule_words.lines(code, files, tmp_path) == [f"a.gguf: error: {each}" for each in stated]


@every(
    ("name", "dtype", "shape", "cannot"),
    [
        ("token_embd.weight", "I8", (4, 4), True), ("token_embd.weight", "I32", (4, 4), True),
        ("blk.0.ffn_gate_tid2eid.weight", "I32", (4, 4), False), ("blk.0.ssm_d", "F16", (4, 1), True),
        ("blk.0.ssm_conv1d.weight", "F16", (4, 3), True), ("blk.0.ssm_conv1d.weight", "F32", (4, 3), False),
        ("token_embd.weight", "F16", (4, 4), False), ("token_embd.scale", "I8", (4, 4), False),
        ("token_embd.bias", "F16", (4,), True), ("token_embd.bias", "F32", (4,), False),
        ("output_norm.weight", "F16", (4,), True), ("output_norm.weight", "F32", (4,), False),
        ("blk.7.attn_q.weight", "I32", (4, 4), True), ("blk.7.attn_q.weight", "Q4_K", (4, 4), False),
        ("zebra.weight", "I8", (4, 4), False),
    ],
)  # fmt: skip
def test_types_with_which_ggml_computes(name: str, dtype: str, shape: tuple[int, ...], cannot: bool) -> None:
    assert (gguf_tensors._not_computable(Tensor(name, dtype, shape, 0, 64)) is not None) == cannot


# --- limits -------------------------------------------------------------------------------------


def test_fields_that_are_searched_for_control_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"a.safetensors": safetensors({"a": [4]}, __metadata__={"x": "1", "y": "2", "z": "\x1b[31m"})}
    found = "a.safetensors: warning: control characters in the field 'z': '\\x1b[31m'"
    monkeypatch.setattr(misleading_text, "MAX_FIELDS", 3)
    assert rule_words.lines("terminal-code", files, tmp_path / "a") == [found]
    monkeypatch.setattr(misleading_text, "MAX_FIELDS", 2)
    beyond = "a.safetensors: warning: terminal-code: 1 field after the first 2: not judged"
    assert rule_words.lines("terminal-code", files, tmp_path / "b") == [beyond]


def test_bytes_that_no_tensor_claims_in_many_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    holes: dict[str, Any] = {
        name: {"dtype": "U8", "shape": [1], "data_offsets": [at, at + 1]} for name, at in (("a", 40), ("b", 80))
    }
    files = {"m.safetensors": safetensors({}, **holes) + bytes(81)}
    monkeypatch.setattr(hidden_code, "MAX_REGIONS", 2)
    assert rule_words.lines("polyglot", files, tmp_path / "a") == []
    monkeypatch.setattr(hidden_code, "MAX_REGIONS", 1)
    stated = "m.safetensors: info: polyglot: bytes that no tensor claims, in more than 1 places: not judged"
    assert rule_words.lines("polyglot", files, tmp_path / "b") == [stated]


def test_shapes_that_are_compared_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {**shapes(), "model.embed_tokens.weight": [16, 32]}
    files = {"config.json": CONFIG, "model.safetensors": safetensors(wrong)}
    found = "model.safetensors: error: 16×32 stored, 32×16 = vocab_size × hidden_size predicted"
    monkeypatch.setattr(documents, "_MOST_SHAPES", len(wrong))
    assert rule_words.lines("transposed", files, tmp_path / "a") == [found]
    monkeypatch.setattr(documents, "_MOST_SHAPES", len(wrong) - 1)
    what = f"transposed: {len(wrong)} tensors, more than {len(wrong) - 1}: not judged"
    assert rule_words.lines("transposed", files, tmp_path / "b") == [f"model.safetensors: info: {what}"]


@pytest.mark.parametrize(
    ("gone", "instead", "stated"),
    [
        ("q_proj", None, None),
        ("q_proj", "model.layers.0.self_attn.qkv_proj.weight", "model.layers.0.self_attn.qkv_proj.weight"),
        ("q_proj", "model.layers.0.attention.q_proj.weight", "model.layers.0.attention.q_proj.weight"),
        ("q_proj", "layers.0.self_attn.q_proj.weight", None),  # which Transformers finds
        ("q_proj", "x.model.layers.0.self_attn.q_proj.weight", "x.model.layers.0.self_attn.q_proj.weight"),
    ],
)
def test_a_name_that_transformers_does_not_look_for(
    gone: str, instead: str | None, stated: str | None, tmp_path: Path
) -> None:
    lost = f"model.layers.0.self_attn.{gone}.weight"
    stored = {name: shape for name, shape in shapes().items() if name != lost}
    files = {"config.json": CONFIG, "model.safetensors": safetensors(stored | ({instead: [16, 16]} if instead else {}))}
    found = all_rules()["tensor-names"].findings(rule_words.subject_of(tmp_path, files))
    reported = [(f"Transformers looks for {lost}", stated)] if stated else []
    assert [(each.message, each.tensor) for each in found] == reported


# --- data ---------------------------------------------------------------------------------------


def test_dtypes_whose_bits_are_not_examined() -> None:
    assert lost_bits._watched(seen(dtype="I64")) == (1, 0)
    width, mask = lost_bits._watched(seen(dtype="BF16"))
    assert (width, mask & 0x8000) == (2, 0x8000)
    assert lost_bits._watched(seen("norm", part="weight", group="norm", dtype="BF16"))[1] & 0x8000 == 0


# --- found by mutants that no test noticed --------------------------------------------------------------

FURTHER = {"config.json": CONFIG, "model.safetensors": safetensors(shapes())}
WITHOUT_NORM = {name: shape for name, shape in shapes().items() if name != "model.norm.weight"}
PART = {"general.architecture": "llama", "split.count": 2}


@pytest.mark.parametrize(
    ("beside", "found"),
    [
        ({"model.fp16.safetensors": safetensors(shapes())}, []),
        (
            {"model.fp16.safetensors": safetensors(WITHOUT_NORM)},
            [("missing", "1 tensor of norm predicted and not stored", "model.fp16.safetensors")],
        ),
        (
            {
                "p-00001-of-00002.gguf": gguf({**PART, "split.count": 3, "split.no": 0}, {"a": [4]}),
                "p-00002-of-00002.gguf": gguf({**PART, "split.no": 1}, {"b": [4]}),
            },
            [
                ("split-count", "split.count is 2, and 3 in p-00001-of-00002.gguf", "p-00002-of-00002.gguf"),
                ("missing-part", "1 part of 3 missing: 3", "p-00001-of-00002.gguf"),
            ],
        ),
    ],
)
def test_checkpoints_beside_the_main_one(beside: dict[str, Any], found: list[Any], tmp_path: Path) -> None:
    own = rule_words.subject_of(tmp_path, {**FURTHER, **beside})
    assert len(own.results) == 2  # joined when they are requested
    assert [(each.rule, each.message, each.path) for each in own.of_other_sets] == found


def test_nothing_is_read_after_giving_up(tmp_path: Path) -> None:
    own = rule_words.subject_of(tmp_path, {**FURTHER, "model.fp16.safetensors": safetensors(WITHOUT_NORM)})
    own.give_up()
    assert (own.checkpoint, own.result, own.extra, own.of_other_sets, own.results) == (None, None, (), (), ())
    read = rule_words.subject_of(tmp_path / "a", FURTHER)
    before = read.checkpoint
    read.give_up()
    assert read.checkpoint is before is not None


TEMPLATES = [
    gguf({"general.architecture": "llama", "tokenizer.chat_template": text}, {"a": [4]})
    for text in ("{{ a }}", "{{ b }}")
]
SKOPS = archive({"schema.json": b'{"\xff": 1, "__module__": "os"}'})
BERT = {"tokenizer_class": "BertTokenizer"}
TOKENIZER = b'{"version": "1.0", "x": 1}'
AGREED: list[Case] = [
    ("chat-template", {"a-Q4_0.gguf": TEMPLATES[0], "a-Q8_0.gguf": TEMPLATES[1]}, ["a-Q4_0.gguf: warning: the template `default` differs from that in a-Q8_0.gguf"]),
    ("chat-template", {"a.gguf": TEMPLATES[0], "b.gguf": TEMPLATES[1]}, []),  # two models
    ("yaml-code", {"a.skops": SKOPS}, ["a.skops: error: its schema names functions of os"]),
    ("outside-path", {"a.zip": archive({"in.zip": archive({"../x": b"1"})}), "b.zip": archive({"../y": b"1"})}, ["a.zip: error: 'in.zip' in it has '../x', outside the folder where it is unpacked", "b.zip: error: the archive has '../y', outside the folder where it is unpacked"]),
    *(("missing-config", {"lama.safetensors": safetensors({"a": [4]}), name: "{}"}, ["lama.safetensors: info: no config.json beside the weights"]) for name in ("generation_config.json", "tokenizer.json", "tokenizer_config.json")),
    ("missing-config", {"model.safetensors": safetensors({"a": [4]}), "my_config.json": "{}"}, []),
    ("adapter-field", {ADAPTER: {"peft_type": {"peft_type": "LORA"}}}, [f'{ADAPTER}: error: peft_type {{"peft_type": "LORA"}} is not a method of PEFT']),
    *(("tokenizer", {"tokenizer.json": before + TOKENIZER}, ["tokenizer.json: error: it has no model: download it again"]) for before in (b"", b"\xef\xbb\xbf", b" \t\r\n")),
    ("tokenizer", {"tokenizer.json": b"\x0b" + TOKENIZER}, []),  # no document, which another rule reports
    ("vocabulary-lines", {"tokenizer_config.json": BERT, "vocab.txt": b"a\n[UNK] \n"}, ["vocab.txt: error: no '[UNK]' in it, which BertTokenizer needs"]),
    ("vocabulary-lines", {"tokenizer_config.json": BERT, "vocab.txt": b"a\n[UNK]\r\n"}, []),
    ("file-case", {"Config.json": "{}", "a.bin": "x"}, ["Config.json: error: loaders look for config.json, in lower case: rename it"]),
    ("tensor-in-two-files", {"model.safetensors": safetensors({"a": [4]})}, []),
    ("tensor-in-two-files", {"model-00001-of-00002.safetensors": safetensors({"a": [4]}), "model-00002-of-00002.safetensors": safetensors({"a": [4]})}, ["model-00002-of-00002.safetensors: warning: the same 1 tensor as model-00001-of-00002.safetensors, a copy of it in place of another file?"]),
    ("tensor-in-two-files", {"model-00001-of-00002.safetensors": safetensors({"a": [4]}), "model-00002-of-00002.safetensors": safetensors({"a": [2, 2]})}, ["model-00002-of-00002.safetensors: error: also stored in model-00001-of-00002.safetensors"]),
]  # fmt: skip


@every(("code", "files", "stated"), AGREED)
def test_files_that_are_read_together(code: str, files: dict[str, Any], stated: list[str], tmp_path: Path) -> None:
    assert rule_words.lines(code, files, tmp_path) == stated


@every(
    ("first", "marked", "may_hold"),
    [
        (b"\x80\x04\x95", True, True), (b"\x80\x00", True, True), (b"\x80\x05.", True, True), (b"\x80\x06", False, True),
        (b"\x7f\x04", False, False), (b"PK\x05\x06 text", False, True), (b"a\0b", False, True),
        (b"", False, False),
    ],
)  # fmt: skip
def test_first_bytes_of_pickles_and_archives(first: bytes, marked: bool, may_hold: bool) -> None:
    assert (pickles.is_marked(first), pickles._may_hold(first)) == (marked, may_hold)


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("x/unpacked", True), ("a/b/unpacked", True), ("unpacked", True), ("unpacked/x", False), ("a.PKL", True),
        ("a/storages", True), ("storages.txt", False),
    ],
)  # fmt: skip
def test_names_of_pickles_in_archives(name: str, is_one: bool) -> None:
    assert pickles._is_named_so(name) == is_one


@pytest.mark.parametrize(
    ("name", "types", "found"),
    [
        ("Speech2TextForConditionalGeneration", ["llama", "speech_to_text"], ["speech_to_text"]),
        ("Speech2TextModel", ["speech-to-text", "speech_to_text"], ["speech-to-text"]),
        ("LlamaLMHeadModel", ["gpt2", "llama"], ["llama"]),
        ("Model", ["", "llama"], []),
    ],
)
def test_the_type_after_which_a_class_is_named(name: str, types: list[str], found: list[str]) -> None:
    assert config_fields._of_class(name, types) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"_target_": "os\\u002esystem"}', True),
        ('{"_target_":\\u0020"os.system"}', True),
        ('{"_target_":\\u001f"os.system"}', False),
    ],
)
def test_letters_that_are_written_as_numbers(text: str, found: bool) -> None:
    assert bool(list(document_objects.in_text(text, is_json=True))) == found


@pytest.mark.skipif(os.sep == "\\", reason="there a backslash separates folders")
def test_a_backslash_is_a_letter(tmp_path: Path) -> None:
    """A loader on Linux opens this file, so it is read, and no rule fails for it."""
    weights = safetensors({"a": [4]})
    files = {"\\a.safetensors": weights, "b.safetensors": weights, "\\x.pkl": CALLS, "c\\..\\d.pkl": CALLS}
    assert rule_words.lines("pickle", files, tmp_path) == [f"{name}: error: {REACHES}" for name in list(files)[2:]]
    found = [each for model in audit([tmp_path]).checkpoints for each in model.findings]
    assert {each.rule for each in found if each.severity == "error"} == {"pickle"}


def test_links_are_not_followed_for_names_either(tmp_path: Path) -> None:
    """A document names files in a folder that is a link."""
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "config.json").write_text("{}")
    index = {"_class_name": "P", "vae": ["diffusers", "AutoencoderKL"]}
    files = {"model_index.json": index, "a.bin": "x", "vae": Link("../away")}
    stated = ["model_index.json: error: AutoencoderKL has no folder vae: download it"]
    assert rule_words.lines("missing-component", files, tmp_path / "model") == stated


SECOND: list[Case] = [
    *(("repository-program", {"a.bin": "x", ".vscode/tasks.json": text}, [".vscode/tasks.json: error: a task that the editor runs when the folder is opened"]) for text in (b'\xff"runOn": "folderOpen"', b'"run\\u004fn": "folderOpen"', b'"runOn" /* x */ : // y\n "folderOpen"', b'/* */ "runOn": "folderOpen" /* ', '"runOn": "folderOpen"'.encode("utf-16"))),
    *(("repository-program", {"a.bin": "x", ".vscode/tasks.json": text}, []) for text in (b'"runOn": "default"', b'"runOn" x : "folderOpen"', b'"run\\u004en": "folderOpen"')),
    ("repository-program", {"a.bin": "x", ".vimrc": b""}, []),
    ("repository-program", {"a.bin": "x", ".vimrc": b"\xff"}, [".vimrc: error: commands that vi runs when it is started in the folder"]),
    ("repository-program", {"a.bin": "x", "HEAD": "x", "config": b"# \xff\n" + RUNS.encode()}, [f"config: {RUN}"]),
    ("outside-path", {"Modelfile": "FROM /x".encode("utf-16"), "Modelfile2": b"# \xff\nFROM ../../x", "Modelfile3": b"FROM x"}, ["Modelfile: warning: it names '/x', outside the folder", "Modelfile2: warning: it names '../../x', outside the folder"]),
    ("outside-path", {"checkpoint": b'# \xff\nmodel_checkpoint_path: "../x"'}, ["checkpoint: warning: it names '../x', outside the folder"]),
    ("executable", {"a.txt": b"MZab\xff", "b.txt": b"MZ\x90ab"}, ["b.txt: error: a Windows program"]),
    ("document", {"tokenizer.json": b"\x0b{}"}, ["tokenizer.json: error: not a JSON document: it does not start like one"]),
    ("document", {"tokenizer.json": b" \t\r\n{}"}, []),
    *(("preprocessor", {"preprocessor_config.json": {"feature_extractor_type": "ClapFeatureExtractor", "frequency_min": 5, **beside}}, []) for beside in ({}, {"frequency_max": 5})),
    ("preprocessor", {"preprocessor_config.json": {"feature_extractor_type": "ClapFeatureExtractor", "frequency_min": 5, "frequency_max": 4}}, ["preprocessor_config.json: error: frequency_min is 5, above frequency_max"]),
    ("hidden-archive", {"a.txt": b"\xfd7zXZ\0", "b.md": b"\xfd7ZXZ\0", "c.png": b"BZh9", "d.json": b"BZh8", "e.pdf": b"PK\x03\x04", "f.gif": b"\x1f\x8b\x08"}, [f"{name}: warning: a compressed archive, under the name of a document" for name in ("a.txt", "c.png", "e.pdf", "f.gif")]),
]  # fmt: skip


@every(("code", "files", "stated"), SECOND)
def test_bytes_that_readers_do_not_mind(code: str, files: dict[str, Any], stated: list[str], tmp_path: Path) -> None:
    assert rule_words.lines(code, files, tmp_path) == stated


@every("end", ["json", "txt", "md", "png", "jpg", "jpeg", "gif", "pdf", "yaml", "yml", "model", "MD"])
def test_documents_that_are_archives(end: str, tmp_path: Path) -> None:
    stated = [f"a.{end}: warning: a compressed archive, under the name of a document"]
    assert rule_words.lines("hidden-archive", {f"a.{end}": b"PK\x03\x04", f"a{end}": b"PK\x03\x04"}, tmp_path) == stated


@pytest.mark.parametrize(
    "name", ["model_index.json", "modules.json", "adapter_config.json", "open_clip_config.json", "params.json"]
)
def test_configurations_of_other_kinds_of_models(name: str, tmp_path: Path) -> None:
    files = {"model.safetensors": safetensors({"a": [4]}), "tokenizer.json": "{}"}
    assert len(rule_words.lines("missing-config", files, tmp_path / "a")) == 1
    assert rule_words.lines("missing-config", {**files, name: "{}"}, tmp_path / "b") == []


def test_a_rules_title_is_the_first_line_of_its_documentation() -> None:
    for each in all_rules().values():
        title, _, rest = each.documentation.partition("\n\n")
        assert each.title == title and "\n" not in title and rest, each.code
