"""Fields that libraries refuse: for each condition a case, and beside it a value that they accept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hostile
import pytest
import rule_words
from every import every

from inspector.auditing.loading import accepted_values
from inspector.auditing.loading import config_fields as rules
from inspector.bridge.forecast import forecast
from inspector.model import Config

KNOWN = {"transformers_version": "5.0.0"}


def only(name: str, fields: dict[str, Any] | bytes, **others: bytes) -> hostile.Change:
    """A folder with one document, and others."""
    content = fields if isinstance(fields, bytes) else hostile.dump(fields)
    return hostile.both(hostile.alone(content, name), lambda files: files.update(others))


@every(
    ("value", "letter"),
    [
        *((True, "b"), (0, "i"), (0.5, "f"), ("", "s"), (None, "n"), ({}, "d"), ([], "IFSBLO"), ([True], "IFSBLO")),
        *(([1], "IF"), ([1.5], "IF"), (["a"], "S"), ([[1]], "L"), ([{}], "O"), ([None], "")),
        ({"__float__": "inf"}, "f"),
        ({"__float__": "inf", "a": 1}, "d"),
        ([{"__float__": "inf"}], "IF"),
    ],
)
def test_the_kind_of_a_value(value: Any, letter: str) -> None:
    assert accepted_values.kind_of(value) == letter


@every(
    ("field", "value", "should"),
    [
        ("hidden_size", 16, None),
        ("hidden_size", 16.0, "a whole number"),
        ("hidden_size", True, "a whole number"),
        ("rms_norm_eps", 1, "a floating-point number"),
        ("attention_dropout", "0", "a whole number or a floating-point number or null"),
        ("attention_dropout", None, None),
        ("eos_token_id", [1, 2], None),
        ("eos_token_id", ["a"], "a whole number or null or a list"),
        ("eos_token_id", [1, "a"], "a whole number or null or a list"),
        ("rope_parameters", [], "null or an object"),
        ("use_cache", 1, "true or false"),
        ("hidden_act", None, "a string"),
        ("not_a_field", object, None),
    ],
)
def test_a_field_of_llama_of_the_wrong_type_states_the_right_one(field: str, value: Any, should: str | None) -> None:
    """Transformers' LlamaConfig is annotated with types: `eos_token_id: int | list[int] | None`."""
    assert accepted_values.wrong_kind("transformers", "llama", field, value) == should


def test_items_are_looked_at_as_far_as_there_may_be_many() -> None:
    assert accepted_values.wrong_kind("transformers", "llama", "eos_token_id", [1] * 999 + ["a"]) is not None
    assert accepted_values.wrong_kind("transformers", "llama", "eos_token_id", [1] * 1_000 + ["a"]) is None


def test_a_type_that_is_not_known_takes_anything() -> None:
    assert accepted_values.takes("transformers", "never-heard-of", "hidden_size") is None
    assert accepted_values.wrong_kind("transformers", "never-heard-of", "hidden_size", "16") is None


@every(
    ("own", "faults"),
    [
        ({"hidden_size": 0}, []),
        ({"num_attention_heads": 0}, ["num_attention_heads is 0, but other sizes are divided by it"]),
        ({"hidden_size": "16"}, ['hidden_size is "16", but should be a whole number']),
        ({"hidden_size": -16}, ["hidden_size is −16, but a size cannot be negative"]),
        ({"max_position_embeddings": -1}, []),  # not the size of any matrix
        ({"dtype": 16}, ["dtype is 16, but should be a string"]),
        ({"torch_dtype": 16}, ["torch_dtype is 16, but should be a string"]),
        ({"dtype": None, "torch_dtype": {"a": "float16"}}, []),
        ({"dtype": "float61"}, ['dtype is "float61": not a dtype of PyTorch']),
        ({"torch_dtype": "float61"}, ['torch_dtype is "float61": not a dtype of PyTorch']),
        ({"dtype": "torch.float16"}, []),
        ({"dtype": "auto", "torch_dtype": "auto"}, []),
        ({"hidden_act": "silu"}, []),
        ({"hidden_act": "sillu"}, ['hidden_act is "sillu": not an activation function that Transformers knows']),
        ({"hidden_act": "SILLU"}, ['hidden_act is "SILLU": not an activation function that Transformers knows']),
        ({"hidden_act": ""}, ['hidden_act is "": not an activation function that Transformers knows']),
        ({"hidden_act": "of-somebody's-own"}, []),
        ({"chat_template": "sillu"}, []),
        ({**KNOWN, "layer_types": ["full_attention"]}, []),
        ({**KNOWN, "layer_types": ["ful", "full_attention"]}, ['layer_types has "ful", which is not a kind of layer']),
        ({**KNOWN, "layer_types": [None, 3]}, []),
        ({**KNOWN, "layer_types": "ful"}, []),
        ({"transformers_version": "99.0.0", "layer_types": ["ful"]}, []),
        ({"layer_types": ["ful"]}, []),  # a version that is not recognised
        ({"id2label": {"0": "a", "-1": "b"}}, []),
        ({"id2label": 3}, ["id2label is 3, but should be an object"]),
        ({"id2label": {"0": "a", "b": 1}}, ['id2label has the key "b", but its keys should be numbers']),
        ({"id2label": None}, []),
        ({"attention_dropout": 1}, []),
        ({"attention_dropout": 0.0}, []),
        ({"attention_dropout": 1.1}, ["attention_dropout is 1.1, but a probability lies between 0 and 1"]),
        ({"resid_pdrop": -1}, ["resid_pdrop is -1, but a probability lies between 0 and 1"]),
        ({"drop_rate": 2}, ["drop_rate is 2, but a probability lies between 0 and 1"]),
        ({"dropout_prob": 2}, ["dropout_prob is 2, but a probability lies between 0 and 1"]),
        ({"dropout": True, "hidden_dropout": "2", "dropout_layers": 2}, []),
    ],
)
def test_fields_of_a_configuration(own: dict[str, Any], faults: list[str]) -> None:
    assert list(rules._wrong_fields(own, "llama", "")) == faults


@every(
    ("own", "faults"),
    [
        (
            {"text_config": {"hidden_act": 3}, "vision_config": {"model_type": "clip_vision_model", "patch_size": "1"}},
            [
                "text_config.hidden_act is 3, but should be a string",
                'vision_config.patch_size is "1", but should be a whole number or null or a list',
            ],
        ),
        ({"text_config": {"hidden_size": -1}}, ["text_config.hidden_size is −1, but a size cannot be negative"]),
        ({"text_config": {"dtype": 1}}, ["text_config.dtype is 1, but should be a string"]),
        ({"text_config": {"id2label": 1}}, ["text_config.id2label is 1, but should be an object"]),
        ({"text_config": {"dropout": 2}}, ["text_config.dropout is 2, but a probability lies between 0 and 1"]),
        (
            {"text_config": {"hidden_act": ""}},
            ['text_config.hidden_act is "": not an activation function that Transformers knows'],
        ),
        (
            {"text_config": {**KNOWN, "layer_types": ["ful"]}},
            ['text_config.layer_types has "ful", which is not a kind of layer'],
        ),
        ({"text_config": {"model_type": 3, "hidden_act": 3}}, []),
        ({"quantization_config": {"quant_method": "fp8", "model_type": "llama", "hidden_size": "16"}}, []),
        ({"other": {"model_type": "llama", "hidden_size": "16"}}, []),
    ],
)
def test_fields_of_nested_configurations(own: dict[str, Any], faults: list[str]) -> None:
    """CLIP's two parts, by the types that Transformers gives them, or by the type that they name."""
    assert list(rules._wrong_fields(own, "clip", "")) == faults


def test_lists_of_booleans_and_of_stages(tmp_path: Path) -> None:
    """CvT's class token, by stage, and a stage's sizes as written by Transformers; a number is neither."""
    sound = {"model_type": "cvt", "cls_token": [False, False, True], "qkv_bias": [True, True, True]}
    assert rule_words.messages("config-field", only("config.json", sound), tmp_path / "a") == []
    wrong = {**sound, "cls_token": 3}
    assert rule_words.messages("config-field", only("config.json", wrong), tmp_path / "b") == [
        "cls_token is 3, but should be a list"
    ]


def test_kinds_of_layers_where_layers_are_counted(tmp_path: Path) -> None:
    """PP-DocLayout's `layer_types` are blocks of its backbone, and Transformers ignores such a list without a count."""
    own = {**KNOWN, "model_type": "pp_doclayout_v3", "layer_types": ["basic", "bottleneck"]}
    assert rule_words.messages("config-field", only("config.json", own), tmp_path / "a") == []
    counted = {**own, "num_hidden_layers": 2}
    assert rule_words.messages("config-field", only("config.json", counted), tmp_path / "b") == [
        'layer_types has "basic", which is not a kind of layer',
        'layer_types has "bottleneck", which is not a kind of layer',
    ]


@pytest.mark.parametrize(
    ("name", "own", "stated"),
    [
        (
            "config.json",
            {"model_type": "llama", "hidden_size": "16"},
            ['hidden_size is "16", but should be a whole number'],
        ),
        ("config.json", {"model_type": "llama", "hidden_size": "16", "auto_map": {}}, []),
        ("config.json", {"model_type": 3, "hidden_size": "16"}, []),
        ("config.json", {"hidden_size": "16"}, []),
        ("other_config.json", {"model_type": "llama", "hidden_size": "16"}, []),
        ("unet/config.json", {"model_type": "llama", "use_cache": 1}, ["use_cache is 1, but should be true or false"]),
    ],
)
def test_whose_fields_are_judged(name: str, own: dict[str, Any], stated: list[str], tmp_path: Path) -> None:
    assert rule_words.messages("config-field", only(name, own), tmp_path) == stated


def test_many_wrong_fields_are_counted(tmp_path: Path) -> None:
    own = {f"{letter}_dropout": 2 for letter in "abcdefgh"}
    reported = rule_words.messages("config-field", only("config.json", {"model_type": "llama", **own}), tmp_path / "a")
    assert reported == [f"{letter}_dropout is 2, but a probability lies between 0 and 1" for letter in "abcdefgh"]
    own |= {"i_dropout": 2, "j_dropout": 3}
    reported = rule_words.messages("config-field", only("config.json", {"model_type": "llama", **own}), tmp_path / "b")
    assert reported[7:] == [
        "h_dropout is 2, but a probability lies between 0 and 1",
        "2 further fields of the wrong type",
    ]


LLAMMA = {**KNOWN, "model_type": "llamma", "architectures": ["LlamaForCausalLM"]}
UNKNOWN = "model_type \"llamma\" is unknown to Transformers; 'llama' is known"


@every(
    ("own", "stated"),
    [
        ({"model_type": "llama"}, []),
        ({"model_type": None}, ["model_type is null, but should be a string"]),
        ({"model_type": ["llama"]}, ['model_type is ["llama"], but should be a string']),
        ({**KNOWN, "architectures": ["LlamaForCausalLM"]}, ['no model_type, but ["LlamaForCausalLM"] needs one']),
        ({**KNOWN, "model_type": "", "architectures": ["A"]}, ['no model_type, but ["A"] needs one']),
        ({"architectures": ["LlamaForCausalLM"]}, []),
        ({**KNOWN, "architectures": ["LlamaForCausalLM"], "auto_map": {}}, []),
        ({**KNOWN, "architectures": []}, []),
        ({**KNOWN, "architectures": "LlamaForCausalLM"}, []),
        ({**KNOWN, "architectures": [3]}, []),
        (LLAMMA, [UNKNOWN]),
        ({**LLAMMA, "transformers_version": "5.23.0"}, [UNKNOWN]),
        ({**LLAMMA, "transformers_version": "5.24.0"}, []),  # whose types are not all known here
        ({**LLAMMA, "transformers_version": "6.0.0"}, []),
        ({**LLAMMA, "transformers_version": "main"}, []),
        ({**LLAMMA, "auto_map": {}}, []),
        ({**LLAMMA, "architectures": ["ZebraForCausalLM"]}, []),
        (
            {**LLAMMA, "model_type": "sp2txt", "architectures": ["Speech2TextForConditionalGeneration"]},
            ["model_type \"sp2txt\" is unknown to Transformers; 'speech_to_text' is known"],
        ),
        ({**LLAMMA, "model_type": "zebra", "architectures": ["ZebraModel"]}, []),
    ],
)
def test_model_types(own: dict[str, Any], stated: list[str], tmp_path: Path) -> None:
    assert rule_words.messages("model-type", only("config.json", own), tmp_path) == stated


@pytest.mark.parametrize(
    ("others", "reported"),
    [
        ((), False),
        (("tokenizer_config.json", "model.safetensors"), True),
        (("generation_config.json", "pytorch_model.bin"), True),
        (("preprocessor_config.json", "model.safetensors"), True),
        (("tokenizer_config.json",), False),
        (("model.safetensors",), False),
    ],
)
def test_a_configuration_without_fields_beside_weights(others: tuple[str, ...], reported: bool, tmp_path: Path) -> None:
    """An empty configuration is an error for a model of Transformers, and usual in other libraries' pipelines."""
    expected = ["neither a model_type nor any other field of a model"] * reported
    for number, own in enumerate(({}, KNOWN)):
        change = only("config.json", own, **dict.fromkeys(others, b"{}"))
        assert rule_words.messages("model-type", change, tmp_path / str(number)) == expected
    change = only("config.json", b"{" + b" " * 100 + b"}", **dict.fromkeys(others, b"{}"))
    assert rule_words.messages("model-type", change, tmp_path / "large") == []


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("4.57.1", (4, 57)),
        ("5.0", (5, 0)),
        ("5", (5,)),
        (None, (1 << 30,)),
        ("main", (1 << 30,)),
        ("5.dev", (1 << 30,)),
    ],
)
def test_versions(text: Any, version: tuple[int, ...]) -> None:
    """The number of components compared; a version without numbers counts as the newest."""
    assert accepted_values.version(text) == version


YARN = {"rope_type": "yarn", "factor": 2.0}
LONG = {"rope_type": "longrope", "short_factor": [1.0] * 2, "long_factor": [1.0] * 2}
HEADS = {"hidden_size": 16, "num_attention_heads": 4}


@every(
    ("stated", "scope", "faults"),
    [
        (YARN, {}, []),
        ({"type": "yarn", "factor": 2}, {}, []),
        ({"rope_type": "yarn"}, {}, ["yarn needs factor"]),
        ({"rope_type": "yarn", "factor": None}, {}, ["yarn needs factor"]),
        ({"rope_type": "dynamic"}, {}, ["dynamic needs factor"]),
        ({"rope_type": "llama3", "factor": 1.0}, {}, ["llama3 needs low_freq_factor, high_freq_factor, original_max_position_embeddings"]),
        ({"rope_type": "longrope", "long_factor": []}, {}, ["longrope needs short_factor"]),
        ({"rope_theta": 1e4}, {}, []),
        ({**YARN, "factor": "2"}, {}, ['factor is "2", but should be a number']),
        ({**YARN, "beta_fast": None}, {}, []),
        ({"rope_theta": [1]}, {}, ["rope_theta is [1], but should be a number"]),
        ({"rope_theta": True}, {}, ["rope_theta is true, but should be a number"]),
        ({"rope_type": 3}, {}, ["rope_type is 3"]),
        ({"rope_type": "LINEAR"}, {}, ['unknown kind "LINEAR"']),
        ({"rope_type": "defualt"}, {}, ['unknown kind "defualt"']),
        ({"rope_type": "mrope"}, {}, []),
        ({"rope_type": "of-its-own"}, {}, []),
        ({"full_attention": YARN, "sliding_attention": {"rope_type": "linear"}}, {}, ["linear needs factor"]),
        ({"full_attention": {"rope_type": "linear"}, "sliding_attention": 3}, {}, []),
        (LONG, HEADS, []),
        (LONG, {**HEADS, "head_dim": 4}, []),
        (LONG, {**HEADS, "head_dim": 5}, []),
        (LONG, {"head_dim": 8}, ["short_factor has 2 numbers, but a head has 4 pairs of dimensions", "long_factor has 2 numbers, but a head has 4 pairs of dimensions"]),
        ({**LONG, "long_factor": [1.0]}, HEADS, ["long_factor has 1 number, but a head has 2 pairs of dimensions"]),
        ({**LONG, "long_factor": "x"}, HEADS, ['long_factor has "x", but a head has 2 pairs of dimensions']),
        ({**LONG, "long_factor": [1.0]}, {}, []),
        ({**LONG, "long_factor": [1.0]}, {"hidden_size": 16}, []),
        ({**LONG, "long_factor": [1.0]}, {**HEADS, "num_attention_heads": 0}, []),
        ({**LONG, "partial_rotary_factor": 0.5}, {"head_dim": 8}, []),
        (LONG, {"head_dim": 8, "partial_rotary_factor": 0.5}, []),
        ({**LONG, "partial_rotary_factor": 1}, {"head_dim": 4, "partial_rotary_factor": 0.5}, []),
        (LONG, {"head_dim": 8, "partial_rotary_factor": True}, []),
        (LONG, {"head_dim": 8, "partial_rotary_factor": "1"}, []),
    ],
)  # fmt: skip
def test_rotary_embeddings(stated: dict[str, Any], scope: dict[str, Any], faults: list[str]) -> None:
    """The requirements of Transformers' `modeling_rope_utils` for each kind; longrope: a factor for two dimensions."""
    assert list(rules._wrong_rope(stated, scope)) == faults


@pytest.mark.parametrize(
    ("name", "own", "stated"),
    [
        ("config.json", {"model_type": "llama", "rope_parameters": {"rope_type": "yarn"}}, ["rope_parameters: yarn needs factor"]),
        ("config.json", {"model_type": "llama", "rope_scaling": {"rope_type": "yarn"}}, ["rope_scaling: yarn needs factor"]),
        ("config.json", {"model_type": "llama", "text_config": {"rope_scaling": {"type": "yarn"}}}, ["rope_scaling: yarn needs factor"]),
        ("config.json", {"model_type": "llama", "rope_parameters": {"rope_type": "yarn"}, "auto_map": {}}, []),
        ("config.json", {"model_type": "never-heard-of", "rope_parameters": {"rope_type": "yarn"}}, []),
        ("my_config.json", {"model_type": "llama", "rope_parameters": {"rope_type": "yarn"}}, []),
        ("config.json", {"model_type": "llama", "rope_parameters": {}, "rope_scaling": None, "text_config": 3}, []),
    ],
)  # fmt: skip
def test_where_rotary_embeddings_are_looked_for(name: str, own: Any, stated: list[str], tmp_path: Path) -> None:
    assert rule_words.messages("rope", only(name, own), tmp_path) == stated


@pytest.mark.parametrize(
    ("name", "own", "stated"),
    [
        ("generation_config.json", {"temperature": 0.5, "top_k": None, "eos_token_id": [1]}, []),
        ("generation_config.json", {"temperature": "1"}, ['temperature is "1", but should be a whole number or a floating-point number or true or false or null']),
        ("my_generation_config.json", {"temperature": "1"}, []),
        ("generation_config.json", {"decoder_start_token_id": -1}, ["decoder_start_token_id is −1: no token has such an id"]),
        ("generation_config.json", {"decoder_start_token_id": 0}, []),
        ("generation_config.json", {"decoder_start_token_id": [-1]}, []),
    ],
)  # fmt: skip
def test_how_to_generate(name: str, own: dict[str, Any], stated: list[str], tmp_path: Path) -> None:
    assert rule_words.messages("generation-field", only(name, own), tmp_path) == stated


LORA = {"peft_type": "LORA", "r": 4, "target_modules": ["q"]}


@every(
    ("own", "stated"),
    [
        (LORA, []),
        ({**LORA, "peft_type": "lora"}, []),
        ({"r": "4"}, []),
        ({**LORA, "peft_type": "LORAX"}, [("error", 'peft_type "LORAX" is not a method of PEFT')]),
        ({**LORA, "peft_type": 3, "peft_version": "99.0"}, [("error", "peft_type 3 is not a method of PEFT")]),
        (
            {**LORA, "peft_type": "LORAX", "peft_version": "99.0.0"},
            [("info", 'adapter-field: the method "LORAX" is not known: PEFT 0.21.2 has none: not judged')],
        ),
        (
            {**LORA, "peft_type": "LORAX", "peft_version": "0.21.2"},
            [("error", 'peft_type "LORAX" is not a method of PEFT')],
        ),
        ({**LORA, "r": "4"}, [("error", 'r is "4", but should be a whole number')]),
        ({**LORA, "peft_type": "lora", "r": "4"}, [("error", 'r is "4", but should be a whole number')]),
        ({**LORA, "task_type": "CAUSAL_LM"}, []),
        ({**LORA, "task_type": None}, []),
        ({**LORA, "task_type": "CHAT"}, [("error", 'task_type is "CHAT", which PEFT does not have')]),
        ({**LORA, "bias": "lora_only"}, []),
        ({**LORA, "bias": "boft_only"}, []),
        ({**LORA, "bias": "NONE"}, [("error", 'bias is "NONE", but should be one of none, all, lora_only')]),
        ({**LORA, "base_model_name_or_path": None}, []),
        (
            {**LORA, "base_model_name_or_path": 5},
            [("error", "base_model_name_or_path is 5, but should be a string")],
        ),
        ({**LORA, "target_modules": []}, [("error", "target_modules names nothing to adapt")]),
        ({**LORA, "target_modules": [], "target_parameters": ["a"]}, []),
        ({**LORA, "target_modules": None}, []),
        ({"peft_type": "IA3", "target_modules": []}, []),
        ({"peft_type": "OFT", "r": 0, "oft_block_size": 8, "target_modules": ["q"]}, []),
        ({**LORA, "lora_dropout": 2}, [("error", "lora_dropout is 2, but a probability lies between 0 and 1")]),
    ],
)
def test_an_adapters_fields(own: dict[str, Any], stated: list[tuple[str, str]], tmp_path: Path) -> None:
    change = only("adapter_config.json", own)
    found = rule_words.findings("adapter-field", change, tmp_path)
    assert [(each.severity, each.message) for each in found] == stated


def test_the_first_of_an_adapters_many_faults_are_reported(tmp_path: Path) -> None:
    wrong = {f"{letter}_dropout": 2 for letter in "abcdefghij"}
    found = rule_words.messages("adapter-field", only("adapter_config.json", {**LORA, **wrong}), tmp_path / "a")
    assert [each for each in found if "a probability" in each] == [
        f"{letter}_dropout is 2, but a probability lies between 0 and 1" for letter in "abcdefgh"
    ]
    assert len(found) == 9  # and one note that PEFT knows none of them
    assert rule_words.messages("adapter-field", only("my_adapter_config.json", {**LORA, **wrong}), tmp_path / "b") == []


@pytest.mark.parametrize(
    ("name", "own", "stated"),
    [
        ("quantize_config.json", {"bits": 8, "group_size": 32}, ["warning: bits 8 here, 4 in config.json"]),
        ("quantize_config.json", {"bits": 4, "group_size": 64}, ["warning: group size 64 here, 32 in config.json"]),
        ("quant_config.json", {"w_bit": 3, "q_group_size": 32}, ["warning: bits 3 here, 4 in config.json"]),
        ("quantize_config.json", {"bits": 4, "group_size": 32, "desc_act": True}, []),
        ("quantize_config.json", {"bits": "8"}, []),
        ("quantize_config.json", [], []),
        ("other_config.json", {"bits": 8}, []),
    ],
)
def test_a_quantizers_own_file_that_disagrees_is_reported(
    name: str, own: Any, stated: list[str], tmp_path: Path
) -> None:
    """The program that packed the weights reads it; Transformers reads config.json."""
    change = hostile.both(hostile.CASES["packing-declared"].misses, hostile.put(name, hostile.dump(own)))
    found = rule_words.findings("packing-declared", change, tmp_path)
    assert [f"{each.severity}: {each.message}" for each in found] == stated
    assert {each.path for each in found} <= {name}


def test_a_list_that_is_too_short_for_the_stages() -> None:
    """Swin's constructor raises IndexError; a field that is missing altogether has a default."""
    stages = {"depths": [1, 1], "embed_dim": 16, "image_size": 32, "window_size": 2}
    reported = [
        forecast(Config({"model_type": "swin", **stages, **own}, "config.json"))[1]
        for own in ({"num_heads": [2]}, {"num_heads": [2, 2]}, {})
    ]
    assert [[(each.rule, each.severity) for each in found] for found in reported] == [
        [("no-prediction", "warning")],
        [],
        [],
    ]
