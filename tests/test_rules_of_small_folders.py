"""Rules on small folders and fields: Diffusers, GGUF, adapters, pickles, packing, and files beside the weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import rule_words
from every import every
from hostile.files import archive, safetensors

from inspector.auditing.catalogue import all_rules
from inspector.auditing.consistency import packing
from inspector.auditing.loading import (
    accepted_values,
    config_fields,
    diffusers,
    gguf_tensors,
    peft,
)
from inspector.auditing.loading import gguf_keys as gguf_rules
from inspector.auditing.readers.pickles import PickleVerdict
from inspector.auditing.run import audit
from inspector.auditing.safety import hidden_code
from inspector.auditing.verdicts import Verdict
from inspector.report.audit import _readers
from inspector.sources.listing import Entry

# --- Diffusers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "stated"),
    [
        ({"trained_betas": [1, None, 2]}, [("trained_betas is [1, null, 2], which has null among numbers", "error")]),
        ({"beta_end": 0.02}, []),
        ({"zebra": 1}, []),
        ({"zebra": 1, "_diffusers_version": "VERSION"}, [("zebra is not a field of any Diffusers class, and is ignored", "warning")]),
        ({"zebra": 1, "_diffusers_version": "0.1.0"}, []),
        ({"beta_schedul": "linear"}, [("beta_schedul is not a field of DDIMScheduler: did you mean beta_schedule?", "warning")]),
        ({"_beta_schedul": "linear"}, []),
    ],
)  # fmt: skip
def test_fields_of_a_scheduler(own: dict[str, Any], stated: list[tuple[str, str]]) -> None:
    table = accepted_values.fields()["diffusers"]
    own = {field: table["version"] if value == "VERSION" else value for field, value in own.items()}
    assert list(diffusers._wrong_fields_of(own, "DDIMScheduler", table)) == stated


@every(
    ("value", "unknown"),
    [
        ("DownBlock2D", None), (["DownBlock2D", "UpBlock2D"], None), ("Zebra", None), ("DownBlock2", "DownBlock2"),
        (["DownBlock2D", "DownBlock2"], "DownBlock2"), (["DownBlock2D", 3], 3), (["DownBlock2D", None], "null"),
        (3, None), (None, None), ("SILU", "SILU"), ("silu", None), ([], None),
    ],
)  # fmt: skip
def test_words_that_a_class_knows(value: Any, unknown: Any) -> None:
    assert diffusers._unknown_word(value, ["DownBlock2D", "UpBlock2D", "silu"]) == unknown


@pytest.mark.parametrize(
    ("version", "same"), [("0.30.1", True), ("0.30.0.dev0", True), ("0.3.0", False), ("1.30.1", False), (None, False)]
)
def test_versions_of_diffusers(version: Any, same: bool) -> None:
    assert diffusers._is_of_version({"_diffusers_version": version}, "0.30.3") == same
    assert not diffusers._is_of_version({}, "0.30.3")


@pytest.mark.parametrize(
    ("part", "nothing"), [(None, True), ([None, None], True), ([None, "X"], True), (["a", None], False), ([], False)]
)
def test_parts_that_an_index_leaves_out(part: Any, nothing: bool) -> None:
    assert diffusers._is_absent(part) == nothing


def test_a_library_that_is_misspelt(tmp_path: Path) -> None:
    files = {"model_index.json": {"unet": ["diffuser", "UNet2DModel"], "vae": ["mine", "Vae"]}}
    stated = ["model_index.json: error: unet is from 'diffuser', from which Diffusers does not load"]
    assert rule_words.lines("pipeline-parts", files, tmp_path / "a") == stated
    inner = {"scheduler_config.json": {"x": {"_class_name": "DDIMScheduler"}}}
    stated = ["scheduler_config.json: error: everything is nested under 'x', where Diffusers does not look"]
    assert rule_words.lines("diffusers-field", inner, tmp_path / "b") == stated


# --- GGUF ---------------------------------------------------------------------------------------


@every(
    ("numbers", "stated"),
    [
        ({"embedding_length": 64, "attention.head_count": 4, "rope.dimension_count": 16}, []),
        ({"embedding_length": 64, "attention.head_count": 4, "rope.dimension_count": 8}, ["llama.rope.dimension_count is 8, but a head has 16 dimensions"]),
        ({"embedding_length": 64, "attention.head_count": 4, "attention.key_length": 8, "attention.value_length": 8, "rope.dimension_count": 8}, []),
        ({"embedding_length": 64, "attention.head_count": 4, "attention.key_length": 8, "rope.dimension_count": 8}, ["values have 16 dimensions per head, and queries and keys 8: llama.cpp takes them to be equal for llama"]),
        ({"rope.dimension_count": 8}, []),
        ({"embedding_length": 64, "attention.head_count": 0, "rope.dimension_count": 8}, []),
        ({"expert_count": 8, "expert_used_count": 8}, []),
        ({"expert_count": 8, "expert_used_count": 9}, ["9 experts are used, but there are 8"]),
        ({"expert_count": 8, "expert_used_count": 0}, ["none of the 8 experts is used"]),
        ({"expert_count": 8}, ["none of the 8 experts is used"]),
        ({"expert_count": 0, "expert_used_count": 0}, []),
    ],
)  # fmt: skip
def test_sizes_of_a_gguf(numbers: dict[str, int], stated: list[str]) -> None:
    assert list(gguf_rules._contradictory_sizes("llama", numbers.get, numbers.__contains__)) == stated


@every(
    ("metadata", "stated"),
    [
        ({"tokenizer.ggml.model": "llama"}, []),
        ({}, [("no tokenizer.ggml.model, which llama.cpp needs", "error")]),
        ({"tokenizer.ggml.model": "zebra"}, [("unknown tokenizer 'zebra'", "error")]),
        ({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "llama-bpe"}, []),
        ({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "llama-bp"}, [("unknown pre-tokenizer 'llama-bp'", "error")]),
        ({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "zebra of mine"}, [("unknown pre-tokenizer 'zebra of mine'", "warning")]),
        ({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": ""}, []),
        ({"tokenizer.ggml.model": "llama", "tokenizer.ggml.pre": "zebra"}, []),
        ({"tokenizer.ggml.model": "llama", "llama.rope.scaling.type": "yarn"}, []),
        ({"tokenizer.ggml.model": "llama", "llama.rope.scaling.type": "zebra"}, [("unknown RoPE scaling 'zebra'", "error")]),
    ],
)  # fmt: skip
def test_tokenizers_that_llama_cpp_knows(metadata: dict[str, Any], stated: list[tuple[str, str]]) -> None:
    assert list(gguf_rules._unknown_words({"general.architecture": "llama", **metadata})) == stated


@pytest.mark.parametrize("part", ["q", "k", "v"])
def test_the_fused_tensor(part: str) -> None:
    assert gguf_tensors._OF_QKV.sub("attn_qkv.", f"blk.0.attn_{part}.weight") == "blk.0.attn_qkv.weight"
    assert not gguf_tensors._OF_QKV.search("blk.0.attn_output.weight")


# --- adapters -----------------------------------------------------------------------------------


@every(
    ("own", "stated"),
    [
        ({"r": 1}, []), ({"r": 0}, ["r is 0: a rank must be positive"]), ({"r": -4}, ["r is −4: a rank must be positive"]),
        ({"r": 0, "peft_type": "OFT"}, []), ({"r": 0, "peft_type": "ADALORA"}, []), ({"r": True}, []),
        ({"base_model_name_or_path": 3}, ["base_model_name_or_path is 3, but should be a string"]),
        ({"base_model_name_or_path": None}, []), ({"bias": "all"}, []), ({"bias": "vera_only"}, []), ({"bias": None}, []),
        ({"bias": "some"}, ['bias is "some", but should be one of none, all, lora_only']),
        ({"peft_type": "LORA", "target_modules": []}, ["target_modules names nothing to adapt"]),
        ({"peft_type": "LORA", "target_modules": [], "target_parameters": ["x"]}, []),
        ({"peft_type": "PROMPT_TUNING", "target_modules": []}, []),
        ({"lora_dropout": 1.5}, ["lora_dropout is 1.5, but a probability lies between 0 and 1"]),
    ],
)  # fmt: skip
def test_values_that_peft_refuses(own: dict[str, Any], stated: list[str]) -> None:
    assert list(peft._wrong_values(own)) == stated


@pytest.mark.parametrize(
    ("own", "stated"),
    [
        ({"cpt_token_ids": [1], "cpt_mask": [1], "cpt_tokens_type_mask": [1]}, []),
        ({"cpt_token_ids": [1, 2], "cpt_mask": [1], "cpt_tokens_type_mask": [1]}, ["cpt_token_ids, cpt_mask, cpt_tokens_type_mask have different lengths"]),
        ({"cpt_token_ids": ["1"], "cpt_mask": [1], "cpt_tokens_type_mask": [1]}, ['cpt_token_ids is ["1"], but should be a list of whole numbers']),
        ({"cpt_token_ids": [1], "cpt_mask": ["x"], "cpt_tokens_type_mask": [1]}, []),
        ({"cpt_token_ids": [1], "cpt_mask": None, "cpt_tokens_type_mask": None}, ["cpt_mask is null, but should be a list of whole numbers"]),
    ],
)  # fmt: skip
def test_lists_of_a_prompts_tokens(own: dict[str, Any], stated: list[str]) -> None:
    assert list(peft._wrong_tokens({"peft_type": "cpt", **own})) == stated
    assert list(peft._wrong_tokens(own)) == []


@pytest.mark.parametrize(
    ("own", "is_one"),
    [
        ({}, False), ({"peft_version": "0.1"}, True), ({"task_type": "x"}, False), ({"task_type": "x", "inference_mode": 1}, True),
        ({"x": {"peft_type": "LORA"}}, True), ({"r": 8, "lora_alpha": 1}, False), ({"base_model_name_or_path": "", "auto_mapping": 1}, True),
    ],
)  # fmt: skip
def test_configurations_of_peft_without_a_method(own: dict[str, Any], is_one: bool) -> None:
    assert peft._is_of_peft(own) == is_one


# --- pickles and packed weights -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "severity", "message"),
    [
        (PickleVerdict(1, ("os.system",), ("x.y",), ("damage",), ()), None, "loading it reaches os.system, which can run anything: do not load it"),
        (PickleVerdict(1, (), ("x.y", "z"), (), ()), "warning", "a pickle, which runs code when it is loaded; imports x.y, z"),
        (PickleVerdict(1, (), (), (), ()), "info", "a pickle, which runs code when it is loaded; imports what PyTorch's own files import"),
        (PickleVerdict(1, (), (), ("torn", "more"), ()), "error", "a pickle, which runs code when it is loaded; imports what PyTorch's own files import; it cannot be followed to its end: torn"),
        (PickleVerdict(1, (), (), (), (), cut=("long", "more")), "warning", "a pickle, which runs code when it is loaded; imports what PyTorch's own files import; it is longer than the audit reads: long"),
        (PickleVerdict(1, (), (), ("torn",), (), cut=("long",)), "error", "a pickle, which runs code when it is loaded; imports what PyTorch's own files import; it cannot be followed to its end: torn"),
        (PickleVerdict(1, (), (), (), (), odd=("odd", "more")), "warning", "a pickle, which runs code when it is loaded; imports what PyTorch's own files import; odd, which no pickler writes"),
    ],
)  # fmt: skip
def test_words_about_a_pickle(found: PickleVerdict, severity: str | None, message: str) -> None:
    assert hidden_code._verdict_on_pickle("p", found) == (message, "p", None, severity)


def test_widths_in_a_quantizers_own_file(tmp_path: Path) -> None:
    subject = rule_words.subject_of(
        tmp_path, {"quantize_config.json": {"bits": 8, "group_size": 64}, "quant_config.json": {"w_bit": 4}}
    )
    stated = packing._differs_from_quantizer(subject, {"bits": 4, "group_size": 128})
    assert [(each.message, each.path, each.severity) for each in stated] == [
        ("bits 8 here, 4 in config.json", "quantize_config.json", "warning"),
        ("group size 64 here, 128 in config.json", "quantize_config.json", "warning"),
    ]
    assert list(packing._differs_from_quantizer(subject, {})) == []


@pytest.mark.parametrize(
    ("tensors", "size"),
    [
        ({"a.qweight": [64, 8], "a.scales": [2, 64]}, 32),
        ({"a.qweight": [64, 8], "a.scales": [3, 64]}, None),
        ({"a.qweight": [64, 8], "a.scales": [64]}, None),
        ({"a.qweight": [64, 8], "a.scales": [0, 64]}, None),
        ({"a.qweight": [64, 8], "b.scales": [2, 64]}, None),
        ({"a.qweight": [64, 8], "b.qweight": [64, 8], "b.scales": [4, 64]}, 16),
        ({"qweights": [64, 8], "a.weight": [4]}, None),
    ],
)
def test_groups_of_awq(tensors: dict[str, list[int]], size: int | None, tmp_path: Path) -> None:
    assert packing._groups_of_awq(rule_words.subject_of(tmp_path, {"model.safetensors": safetensors(tensors)})) == size


# --- files beside the weights --------------------------------------------------------------------------

LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}


@every(
    ("code", "files", "stated"),
    [
        ("extra-shard", {"model-00003-of-00002.safetensors": "x", "model-00001-of-00002.safetensors": "x"}, ["model-00003-of-00002.safetensors: warning: shard 3 of a set of 2, model"]),
        ("extra-shard", {"model-00000-of-00002.safetensors": "x", "model-00001-of-00002.safetensors": "x"}, []),
        ("extra-shard", {"model-00000-of-00002.safetensors": "x", "model-00002-of-00002.safetensors": "x"}, ["model-00002-of-00002.safetensors: warning: shard 2 of a set of 2, model"]),
        ("lfs-pointer", {"a.bin": "version https://git-lfs\nsize 2000\n"}, ["a.bin: error: a git-LFS pointer for a file of 2,000 bytes: run `git lfs pull` in its folder"]),
        ("lfs-pointer", {"a.bin": "version https://git-lfs\n"}, ["a.bin: error: a git-LFS pointer: run `git lfs pull` in its folder"]),
        ("lfs-pointer", {"a.bin": "version https://git-lfs\n" + "x" * 1_001}, []),
        ("lfs-pointer", {"a.gguf": "version https://git-lfs\n"}, []),
        ("html-page", {"a.json": "\n <!DOCTYPE html>", "b.md": "<html>", "c.bin": "x<html>"}, ["a.json: error: a web page, not the file: a login or error page was saved; download it again"]),
        ("wrong-extension", {"a.bin": "GGUF1234", "b.txt": "GGUF1234"}, ["a.bin: warning: the file is GGUF, but its name says otherwise: rename it"]),
        ("wrong-extension", {"a.pt": b"\x02\0\0\0\0\0\0\0" + b'{"}'}, ["a.pt: warning: the file is safetensors, but its name says otherwise: rename it"]),
        ("wrong-extension", {"a.pt": b"\x0b\0\0\0\0\0\0\0" + b'{"}'}, []),
        ("unfinished-download", {"a.bin": "x", "a.bin.aria2": "x"}, ["a.bin: error: left by an unfinished download of this file: run the download again"]),
        ("unfinished-download", {"a.bin.aria2": "x"}, ["a.bin.aria2: error: left by an unfinished download, whose file is missing: run the download again"]),
        ("unfinished-download", {"a.md.aria2": "x"}, []),
        ("unfinished-download", {"a.bin.part": "xy"}, ["a.bin.part: error: a download that stopped after 2 bytes: run the download again"]),
        ("unfinished-download", {"a.bin.part": "xy", "a.bin": "x"}, ["a.bin.part: warning: remains of a download beside the finished file: delete them"]),
        ("unfinished-download", {"._____temp/a.bin": "xy", "a.bin": "x"}, ["._____temp/a.bin: warning: remains of a download beside the finished file: delete them"]),
        ("unfinished-download", {"a.bin.0123abCD": "xy"}, ["a.bin.0123abCD: error: a download that stopped after 2 bytes: run the download again"]),
        ("unfinished-download", {"a.md.0123abCD": "xy", "a.bin.0123abCX": "xy"}, []),
        ("missing-component", {"model_index.json": {"vae": ["diffusers", "AutoencoderKL"], "x": ["a", None]}}, ["model_index.json: error: AutoencoderKL has no folder vae: download it"]),
        ("missing-component", {"model_index.json": {"vae": ["diffusers", "AutoencoderKL"]}, "vae/config.json": {}}, ["model_index.json: error: AutoencoderKL has no weights in vae: download them"]),
        ("missing-component", {"model_index.json": {"vae": ["diffusers", "AutoencoderKL"]}, "vae/config.json": {}, "vae/a.bin": "x"}, []),
        ("missing-component", {"model_index.json": {"s": ["diffusers", "DDIMScheduler"]}, "s/config.json": {}}, []),
        ("missing-component", {"model_index.json": {"s": ["diffusers", "SchedulerOfMine"]}, "s/config.json": {}}, ["model_index.json: error: SchedulerOfMine has no weights in s: download them"]),
        ("missing-component", {"modules.json": [{"path": "1_P/", "type": "s.models.Pooling"}, {"path": "2_N", "type": "s.Normalize"}, {"path": 3, "type": "s.Pooling"}]}, ["modules.json: error: Pooling has no 1_P/config.json: download it"]),
        ("missing-component", {"modules.json": [{"path": "1_P", "type": "s.CNN"}], "1_P/cnn_config.json": {}}, []),
        ("packing-both", {"config.json": {**LLAMA, "quantization_config": {"load_in_4bit": True, "load_in_8bit": True}}, "model.safetensors": safetensors({"a": [4]})}, ["config.json: error: load_in_4bit and load_in_8bit are both true"]),
        ("packing-both", {"config.json": {**LLAMA, "quantization_config": {"load_in_4bit": True, "load_in_8bit": False}}, "model.safetensors": safetensors({"a": [4]})}, []),
        ("undeclared-float8", {"config.json": LLAMA, "model.safetensors": safetensors({"a": [4, 4], "b": [4, 4]}, "F8_E4M3")}, ["model.safetensors: warning: 2 weights of F8_E4M3, but the configuration declares no packing"]),
        ("undeclared-float8", {"config.json": LLAMA, "model.safetensors": safetensors({"a": [4]}, "F8_E4M3")}, []),
        ("undeclared-float8", {"config.json": {**LLAMA, "torch_dtype": "float8_e4m3fn"}, "model.safetensors": safetensors({"a": [4, 4]}, "F8_E4M3")}, []),
        ("undeclared-float8", {"config.json": {**LLAMA, "compression_config": {}}, "model.safetensors": safetensors({"a": [4, 4]}, "F8_E4M3")}, []),
        ("undeclared-float8", {"config.json": {}, "model.safetensors": safetensors({"a": [4, 4]}, "F8_E4M3")}, []),
        ("terminal-code", {"a.safetensors": safetensors({"a": [4]}, __metadata__={"x": "\x1b[31m", "y": "größe", "z": "a\u202eb"})}, ["a.safetensors: warning: control characters in the field 'x': '\\x1b[31m'", "a.safetensors: warning: control characters in the field 'z': 'a\\u202eb'"]),
        ("duplicate-field", {"config.json": '{"a": 1, "a": 2, "b": 1, "b": 1}'}, ["config.json: warning: the field 'a' appears twice, with different values", "config.json: info: the field 'b' appears twice"]),
        ("duplicate-field", {"config.json": '{"a": {"a": 1}}', "x.json": '{"a": 1, "a": 2}', "params.json": "{"}, []),
        ("executable", {"a.py": "x", "b.sh": "x", "c.txt": "#!/x", "d": "#!/x", "e.py": "#!/x"}, ["a.py: info: Python code", "b.sh: info: a script", "d: info: a script", "e.py: info: a script"]),
        ("executable", {"b.sh": "x", "c/d": "#!/x", "e.rs": "#![allow(clippy::all)]", "f.bat": "x", "m.bin": "x"}, ["b.sh: warning: a script", "c/d: info: a script", "f.bat: warning: a file that is run when it is opened"]),
        ("executable", {"p/package.json": "{}", "p/m.pth": "x", "p/a.js": "x", "q/b.mjs": "x", "q/m.pth": "x", "p/r/c.js": "x", "p/r/m.bin": "x"}, ["p/a.js: info: a script", "p/r/c.js: info: a script", "q/b.mjs: warning: a script"]),
        ("python-name", {"inference.py": "x", "a/code/inference.py": "x", "code/inference.py": "x", "a/handler.py": "x", "a/__main__.py": "x", "conftest.py": "x"}, ["code/inference.py: warning: SageMaker's servers run it", "conftest.py: info: pytest runs it"]),
        ("executable", {"a.pth": "import os", "b.pth": "imported", "c.json": "MZ12", "d.bin": "MZ12", "e.gguf": "MZ12", "f.txt": b"\x7fELF"}, ["a.pth: error: a line that Python runs at its start, if the file is among its installed packages", "d.bin: error: a Windows program", "f.txt: error: a program or library for Linux (ELF)"]),
        ("file-name", {"-a": "x", "a.": "x", "con": "x", "b\u00a0c": "x", "p\u0430y": "x", "B.txt": "x", "b.txt": "x"}, None),
    ],
)  # fmt: skip
def test_folders_of_few_files(code: str, files: dict[str, Any], stated: list[str] | None, tmp_path: Path) -> None:
    found = rule_words.lines(code, files, tmp_path)
    if stated is None:
        stated = [
            "-a: warning: a name that programs mistake for an option",
            "a.: info: a name that Windows cannot store",
            "b.txt: info: on Windows and macOS, the same name as 'B.txt'",
            "b\u00a0c: warning: a character that looks like a space: No-break space",
            "con: warning: a name that means something else, or nothing, on Windows",
            "p\u0430y: error: a look-alike letter: Cyrillic small letter a",
        ]
    assert sorted(found) == sorted(stated)


# --- found by mutants that no test noticed --------------------------------------------------------------

IA3 = {"peft_type": "IA3", "target_modules": ["q", "v"], "feedforward_modules": []}


def ia3(*modules: str) -> bytes:
    return safetensors({f"base_model.model.layers.0.attn.{each}.ia3_l": [16, 1] for each in modules})


@every(
    ("config", "weights", "stated"),
    [
        (IA3, ia3("q", "v"), []),
        (IA3, ia3("q"), ["adapter_config.json: warning: 1 target module without tensors: v"]),
        (IA3, ia3("q", "v", "k"), ["adapter_model.safetensors: warning: 1 module with tensors that no target names: layers.0.attn.k"]),
        (IA3, ia3("k"), ["adapter_config.json: warning: 2 target modules without tensors: q, v", "adapter_model.safetensors: error: 1 module with tensors that no target names: layers.0.attn.k"]),
        ({**IA3, "layers_to_transform": [1]}, ia3("q", "v"), ["adapter_model.safetensors: warning: 2 modules in none of the layers of layers_to_transform: layers.0.attn.q"]),
        ({**IA3, "layers_to_transform": 0}, ia3("q", "v"), []),
        ({**IA3, "modules_to_save": ["k"]}, ia3("q", "v", "k"), []),
        ({**IA3, "target_modules": "q"}, ia3("k"), []),
    ],
)  # fmt: skip
def test_modules_that_an_adapter_names(
    config: dict[str, Any], weights: bytes, stated: list[str], tmp_path: Path
) -> None:
    files = {"adapter_config.json": config, "adapter_model.safetensors": weights}
    assert rule_words.lines("adapter-targets", files, tmp_path) == stated


@pytest.mark.parametrize(
    ("layers", "stated"),
    [
        ([0, 1, 2], []),
        ([0, 1, 2, 4, 5], ["warning: no tensors for layer 3 of layers: PEFT fills them at random"]),
        ([0, 1, 2, 4], []),  # a fifth of them and no more
        ([1, 2, 3, 4, 5], ["warning: no tensors for layer 0 of layers: PEFT fills them at random"]),
        ([0], ["info: no tensors for any layer but the first of layers: PEFT fills them at random"]),
        ([1], []),
    ],
)
def test_layers_that_an_adapter_lacks(layers: list[int], stated: list[str], tmp_path: Path) -> None:
    config = {"peft_type": "LORA", "r": 4, "target_modules": ["q"]}
    shapes = {"A": [4, 16], "B": [16, 4]}
    tensors = {f"base_model.model.layers.{at}.q.lora_{half}.weight": shapes[half] for at in layers for half in "AB"}
    files = {"adapter_config.json": config, "adapter_model.safetensors": safetensors(tensors)}
    found = rule_words.lines("adapter-pieces", files, tmp_path)
    assert [each.removeprefix("adapter_model.safetensors: ") for each in found] == stated


@pytest.mark.parametrize(
    ("own", "weights", "stated"),
    [
        ({"dimension": 4}, {"norm.weight": [4], "norm.bias": [4]}, []),
        ({"dimension": 4}, {"norm.weight": [3], "norm.bias": [4]}, ["error: 3 stored, 4 configured"]),
        ({"dimension": 4}, {"norm.weight": [4]}, ["error: LayerNorm needs norm.bias, which is not stored"]),
        ({"dimension": 4}, {"norm.weight": [4], "norm.bias": [4], "x": [1]}, ["error: LayerNorm has no such tensor"]),
        ({"dimension": 4, "other": 1}, {"norm.weight": [3]}, []),
    ],
)
def test_a_norm_as_a_module_by_itself(
    own: Any, weights: dict[str, list[int]], stated: list[str], tmp_path: Path
) -> None:
    found = rule_words.lines(
        "sentence-module", {"config.json": own, "model.safetensors": safetensors(weights)}, tmp_path
    )
    assert found == [f"model.safetensors: {each}" for each in stated]


@pytest.mark.parametrize(
    ("key", "reported"), [("pre_quantized", False), ("compression_config", False), ("other", True)]
)
def test_keys_that_speak_of_packing(key: str, reported: bool, tmp_path: Path) -> None:
    files = {"config.json": {**LLAMA, key: True}, "model.safetensors": safetensors({"a": [4, 4]}, "F8_E4M3")}
    assert bool(rule_words.lines("undeclared-float8", files, tmp_path)) == reported


@pytest.mark.parametrize(
    ("own", "anonymous"),
    [
        ({"transformers_version": "4"}, True), ({}, False), ({"transformers_version": "4", "architectures": []}, False),
        ({"transformers_version": "4", "model_type": None}, False), ({"transformers_version": "4", "auto_map": {}}, False),
        ({"transformers_version": "4", "_class_name": "X"}, False),
    ],
)  # fmt: skip
def test_configurations_without_a_name(own: dict[str, Any], anonymous: bool) -> None:
    assert config_fields._is_anonymous(own) == anonymous


def test_weights_within_archives_of_keras(tmp_path: Path) -> None:
    inner = archive({"model.weights.h5": b"x", "config.json": b"{}"})
    stated = ["m.zip: warning: 'model.weights.h5' in it: a model of another format, in an archive: not examined"]
    assert rule_words.lines("unopened", {"m.keras": inner, "m.zip": inner}, tmp_path) == stated


def test_an_unreadable_file_is_named() -> None:
    folder, file = Entry("d", "folder", 0, refused="no permission"), Entry("f", "file", 1)
    subject: Any = SimpleNamespace(entries=[folder, file], refusal=lambda entry: f"{entry.name} is gone")
    found = all_rules()["no-access"].findings(subject)
    assert [(each.severity, each.message, each.path) for each in found] == [
        ("warning", "cannot be listed: no permission", "d"),
        ("warning", "cannot be read: f is gone", "f"),
    ]


# --- too large or unknown -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", [".git/config", "bare/config"])
def test_a_large_configuration_of_git(path: str, tmp_path: Path) -> None:
    """A configuration too large to be read is reported as that, not as a program that it does not name."""
    file = tmp_path / path
    file.parent.mkdir()
    (file.parent / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "a.bin").write_text("x")
    for padding, expected in ((0, 0), (300_000, 1)):
        file.write_text("[core]\n\tbare = true\n" + "#" * padding + "\n")
        (audited,) = audit([tmp_path]).checkpoints
        reported = [each.message for each in audited.findings if each.path == path]
        assert len(reported) == expected
        assert all("more than 256 KiB" in message for message in reported)


def test_an_unknown_verdict_is_not_a_refusal() -> None:
    unknown = Verdict("m.gguf", "gguf", None, "too many entries")
    assert list(_readers((unknown,), whole=True)) == ["whether gguf opens it is unknown (too many entries)"]
    both = (unknown, replace(unknown, accepts=True))
    assert list(_readers(both, whole=True)) == ["gguf would open 1 of 2 files"]
