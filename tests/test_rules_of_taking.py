"""Rules on words, numbers and shapes that loaders refuse. The loaders' answers are in `data/config_fields.json`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hostile
import pytest
import rule_words
from every import every
from hostile.changes import both
from hostile.damage import LORA_CONFIG, LORA_TENSORS, adapter

from inspector.auditing import data
from inspector.auditing.loading import config_fields, preprocessors, sentence_transformers
from inspector.auditing.loading.adapters import created_tensors as module_sizes
from inspector.auditing.readers import tokenizer_json

STEM = "base_model.model.model.layers.{}.self_attn.q_proj."


def of_layers(**shapes: list[int]) -> dict[str, list[int]]:
    """Pieces of the same projection in two layers; `__` stands for a dot."""
    return {STEM.format(at) + name.replace("__", "."): shape for at in (0, 1) for name, shape in shapes.items()}


#: PEFT 0.21's answer for a projection of 32 × 32, each with another number in the configuration: the first is sound.
METHODS: list[tuple[dict[str, Any], list[dict[str, Any]], dict[str, list[int]]]] = [
    ({"peft_type": "C3A", "block_size": 16}, [{"block_size": 8}, {"block_size": 32}], of_layers(c3a_kernel=[2, 2, 16])),
    ({"peft_type": "OFT", "r": 0, "oft_block_size": 8}, [{"oft_block_size": 16}], of_layers(oft_R__weight=[4, 28])),
    ({"peft_type": "OFT", "r": 4, "oft_block_size": 0}, [{"r": 3}], of_layers(oft_R__weight=[4, 28])),
    (
        {"peft_type": "BOFT", "boft_block_size": 4, "boft_block_num": 0, "boft_n_butterfly_factor": 1},
        [{"boft_block_size": 8}],
        of_layers(boft_R=[1, 8, 4, 4], boft_s=[32, 1]),
    ),
    (
        {"peft_type": "GRALORA", "r": 8, "gralora_k": 2, "hybrid_r": 0},
        [{"r": 16}, {"gralora_k": 4}],
        of_layers(gralora_A=[2, 16, 8], gralora_B=[2, 8, 16]),
    ),
    (
        {"peft_type": "RANDLORA", "r": 4, "save_projection": False},
        [{"r": 8}],
        of_layers(randlora_gamma=[8, 32], randlora_lambda=[4, 8]),
    ),
    ({"peft_type": "WAVEFT", "n_frequency": 8}, [{"n_frequency": 16}], of_layers(waveft_spectrum=[8])),
    (
        {"peft_type": "VBLORA", "r": 2, "num_vectors": 8, "vector_length": 8, "topk": 2},
        [{"r": 4}, {"num_vectors": 16}, {"vector_length": 16}],
        of_layers(vblora_logits_A=[2, 4, 8], vblora_logits_B=[4, 2, 8]) | {"base_model.vblora_vector_bank": [8, 8]},
    ),
    (
        {"peft_type": "LOKR", "r": 2, "decompose_both": True, "decompose_factor": -1},
        [{"r": 4}],
        of_layers(lokr_w1=[4, 4], lokr_w2_a=[8, 2], lokr_w2_b=[2, 8]),
    ),
]
SPOILT = [({**own, **other}, tensors) for own, others, tensors in METHODS for other in others]


def of_adapter(config: Mapping[str, Any], tensors: dict[str, list[int]], folder: Path) -> list[str]:
    own = {"task_type": "CAUSAL_LM", "target_modules": ["q_proj"], **config}
    found = rule_words.findings("adapter-pieces", adapter(own, tensors), folder)
    return [each.severity for each in found if each.severity != "info"]


@every(("config", "tensors"), [(own, tensors) for own, _, tensors in METHODS])
def test_pieces_that_a_module_can_have(config: dict[str, Any], tensors: dict[str, list[int]], tmp_path: Path) -> None:
    assert of_adapter(config, tensors, tmp_path) == []


@every(("config", "tensors"), SPOILT)
def test_pieces_that_no_module_has(config: dict[str, Any], tensors: dict[str, list[int]], tmp_path: Path) -> None:
    assert of_adapter(config, tensors, tmp_path)


def test_modules_beyond_those_that_are_tried_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two layers of one shape are tried once; of two shapes, only the first if the limit is one."""
    config = {"peft_type": "C3A", "block_size": 16}
    tensors = of_layers(c3a_kernel=[2, 2, 16])
    monkeypatch.setattr(module_sizes, "_MOST_TRIED", 1)
    assert of_adapter(config, tensors, tmp_path / "a") == []
    other = tensors | {name.replace("q_proj", "v_proj"): [4, 4, 16] for name in tensors}
    own = {"task_type": "CAUSAL_LM", "target_modules": ["q_proj", "v_proj"], **config}
    found = rule_words.messages("adapter-pieces", adapter(own, other), tmp_path / "b")
    assert "adapter-pieces: modules of more shapes than 1: not judged" in found


def test_sizes_that_are_tried_have_a_bound() -> None:
    shapes = [(number, number + 1) for number in range(2, 900)]
    assert (
        len(module_sizes._possible_sizes(shapes, {str(number): number for number in range(4000)}))
        <= module_sizes._MOST_SIZES
    )


FIELDS: list[tuple[dict[str, Any], list[str]]] = [
    ({"init_lora_weights": "gaussian"}, []),
    ({"init_lora_weights": "pissa_niter_16"}, []),
    ({"init_lora_weights": False}, []),
    ({"init_lora_weights": "magic", "peft_version": "9.0"}, []),
    (
        {"init_lora_weights": "magic"},
        [
            'init_lora_weights is "magic", but should be one of corda, eva, gaussian, loftq, lora_ga, mica, olora,'
            " orthogonal, pissa"
        ],
    ),
    ({"target_modules": "q_proj|v_proj("}, ['target_modules is "q_proj|v_proj(", not a regular expression: missing ), unterminated subpattern at position 13']),
    ({"target_modules": ".*(q|v)_proj"}, []),
    ({"target_modules": "q" * 2_001}, [f'target_modules is "{"q" * 39}, an expression of 2,001 characters, too long to be tried']),
    ({"target_modules": "q" * 2_000}, []),
    ({"exclude_modules": "*"}, ['exclude_modules is "*", not a regular expression: nothing to repeat at position 0']),
    ({"trainable_token_indices": [3]}, ["trainable_token_indices names tokens, but no tensor holds their embeddings"]),
    ({"trainable_token_indices": []}, []),
    ({"lora_bias": True}, []),
    ({"lora_bias": True, "init_lora_weights": False}, []),
    ({"lora_bias": True, "init_lora_weights": "pissa"}, ['lora_bias is true, which init_lora_weights "pissa" does not allow']),
    ({"lora_bias": True, "use_dora": True}, ["lora_bias is true, which use_dora does not allow"]),
    ({"lora_bias": False, "use_dora": True, "init_lora_weights": "pissa"}, []),
    ({"layers_to_transform": [0], "layers_pattern": "layers"}, []),
    ({"layers_to_transform": 0, "layers_pattern": ["h", "layers"]}, []),
    ({"layers_to_transform": [0], "layers_pattern": "LAYERS"}, ['layers_pattern is "LAYERS", but no stored tensor is in such a layer']),
    ({"layers_to_transform": [0], "layers_pattern": ["h", "block"]}, ['layers_pattern is ["h", "block"], but no stored tensor is in such a layer']),
    ({"layers_to_transform": [0], "layers_pattern": "la.*"}, []),
    ({"layers_to_transform": [], "layers_pattern": "h"}, []),
]  # fmt: skip


@every(("fields", "expected"), FIELDS)
def test_words_of_an_adapter(fields: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    found = rule_words.findings("adapter-field", adapter({**LORA_CONFIG, **fields}, LORA_TENSORS), tmp_path)
    assert [each.message for each in found] == expected


SAMPLED = {"do_sample": True}
GENERATION: list[tuple[dict[str, Any], list[str]]] = [
    ({**SAMPLED, "temperature": 0.0}, ["temperature is 0.0, but should be more than 0"]),
    ({"temperature": 0.0}, []),
    ({**SAMPLED, "top_p": -0.1}, ["top_p is -0.1, but should be at least 0"]),
    ({**SAMPLED, "min_p": 1.5}, ["min_p is 1.5, but should be at least 0 and at most 1"]),
    ({**SAMPLED, "typical_p": 0.0}, ["typical_p is 0.0, but should be more than 0 and at most 1"]),
    ({**SAMPLED, "top_k": -1}, ["top_k is -1, but should be at least 0"]),
    ({**SAMPLED, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "typical_p": 1.0}, []),
    ({"num_beams": 0}, ["num_beams is 0, but should be at least 1"]),
    ({"num_beams": True}, []),
    ({"repetition_penalty": -2.0}, ["repetition_penalty is -2.0, but should be more than 0"]),
    ({"max_new_tokens": 1, "num_return_sequences": 1, "repetition_penalty": 1.0}, []),
    ({"early_stopping": "never", "cache_implementation": "static"}, []),
    ({"early_stopping": "soon"}, ['early_stopping is "soon", but should be true, false or "never"']),
    ({"cache_implementation": "none"}, ['cache_implementation is "none", which is not a kind of cache']),
    ({"suppress_tokens": [1, "a"]}, ['suppress_tokens has "a", but should have ids']),
    ({"bad_words_ids": []}, ["bad_words_ids is [], but should be a list of lists of ids"]),
    ({"bad_words_ids": [[3]]}, []),
]


@every(("own", "expected"), GENERATION)
def test_values_of_generation(own: dict[str, Any], expected: list[str]) -> None:
    assert [
        *config_fields._out_of_range(own),
        *config_fields._unknown_words(own),
        *config_fields._wrong_lists(own),
    ] == expected


CONFIGURATIONS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("bert", {"hidden_size": 32, "num_attention_heads": 5}, ["hidden_size is 32, which is not a multiple of num_attention_heads (5)"]),
    ("bert", {"hidden_size": 32, "num_attention_heads": 0}, []),
    ("bert", {"hidden_size": "32", "num_attention_heads": 5}, []),
    ("resnet", {"layer_type": "basics"}, ['layer_type is "basics", but should be one of basic, bottleneck']),
    ("resnet", {"layer_type": "bottleneck"}, []),
    ("funnel", {"pooling_type": "median"}, ['pooling_type is "median", but should be one of max, mean']),
    ("wav2vec2", {"hidden_size": 32, "num_conv_pos_embedding_groups": 3}, ["hidden_size is 32, which is not a multiple of num_conv_pos_embedding_groups (3)"]),
    ("clip", {"vision_config": {"model_type": "clip_vision_model", "hidden_size": 32, "num_attention_heads": 3}}, ["vision_config.hidden_size is 32, which is not a multiple of num_attention_heads (3)"]),
    ("clip", {"vision_config": {"hidden_size": 32, "num_attention_heads": 3}}, ["vision_config.hidden_size is 32, which is not a multiple of num_attention_heads (3)"]),
    ("no_such_type", {"hidden_size": 32, "num_attention_heads": 5, "layer_type": "x"}, []),
    ("mixtral", {"num_local_experts": 4, "num_experts_per_tok": 4}, []),
    ("mixtral", {"num_local_experts": 4, "num_experts_per_tok": 5}, ["num_experts_per_tok is 5, but num_local_experts is 4"]),
    ("llama", {"attn_implementation": "paged|eager"}, []),
    ("llama", {"attn_implementation": "someone/their-kernel"}, []),
    ("llama", {"_attn_implementation": "quick"}, ['attn_implementation is "quick", which Transformers does not have']),
]  # fmt: skip


@every(("kind", "own", "expected"), CONFIGURATIONS)
def test_choices_of_a_configuration(kind: str, own: dict[str, Any], expected: list[str]) -> None:
    assert list(config_fields._wrong_choices(own, kind, "", 0, is_known=True)) == expected


def test_words_of_a_newer_version_are_not_judged() -> None:
    assert list(config_fields._wrong_choices({"layer_type": "basics"}, "resnet", "", 0, is_known=False)) == []


def test_nesting_has_a_bound() -> None:
    own: dict[str, Any] = {"model_type": "bert", "hidden_size": 32, "num_attention_heads": 5}
    for _ in range(config_fields._DEPTH + 1):
        own = {"model_type": "bert", "text_config": own}
    assert list(config_fields._wrong_choices(own, "bert", "", 0, is_known=True)) == []


def test_every_sound_case_has_words_and_sizes_of_the_table() -> None:
    """The table, which was not made from them one by one, accepts the configurations of all types."""
    import cases

    reported: dict[str, list[str]] = {}
    for path in sorted(cases.FOLDER.glob("*.txt")):
        for each in cases.load(path)[:1]:
            kind = each.config.get("model_type")
            found = (
                list(config_fields._wrong_choices(each.config, kind, "", 0, is_known=True))
                if isinstance(kind, str)
                else []
            )
            found = [
                what for what in found if "num_experts_per_tok" not in what and "n_group" not in what
            ]  # is only a name
            reported |= {path.stem: found} if found else {}
    assert reported == {}


def test_the_table_has_no_word_alone() -> None:
    """A field with a single word is one of which no others were found, not one that has no others."""
    table = data.table("choices")
    lists = [words for part in ("words", "peft", "diffusers") for own in table[part].values() for words in own.values()]
    assert [words for words in lists if not (words == "activation" or len(words) > 1)] == []


EXPRESSIONS = {
    "(unclosed": False,
    "closed)": False,
    r"\(": True,
    "[(]": True,
    r"(?i:'s|'t)|\p{L}+|[^\s\p{L}]+": True,
    "(a(b)": False,
    ")(": False,
}


@pytest.mark.parametrize(("text", "is_sound"), EXPRESSIONS.items())
def test_parentheses_of_an_expression(text: str, *, is_sound: bool) -> None:
    assert (list(tokenizer_json._of_expression(text, "x")) == []) is is_sound


SIDES: list[tuple[dict[str, Any], list[str]]] = [
    ({"padding_side": "left", "truncation_side": "right"}, []),
    ({"padding_side": None}, []),
    ({"padding_side": "Left"}, ['padding_side is "Left", but should be one of left, right']),
    ({"truncation_side": "both"}, ['truncation_side is "both", but should be one of left, right']),
    ({"truncation_side": 1}, ["truncation_side is 1, but should be one of left, right"]),
    ({"padding_side": ["left"]}, ['padding_side is ["left"], but should be one of left, right']),
]


@pytest.mark.parametrize(("own", "expected"), SIDES)
def test_sides_of_a_tokenizer(own: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    found = rule_words.lines("tokenizer-field", {"tokenizer_config.json": own}, tmp_path)
    assert found == [f"tokenizer_config.json: error: {each}" for each in expected]


BITSANDBYTES: list[tuple[dict[str, Any], str, list[str]]] = [
    ({"load_in_4bit": True}, "absmax", []),
    ({"load_in_8bit": True}, "SCB", []),
    ({"load_in_4bit": False}, "absmax", ["neither load_in_4bit nor load_in_8bit is true, but the weights are packed in 4 bits"]),
    ({}, "SCB", ["neither load_in_4bit nor load_in_8bit is true, but the weights are packed in 8 bits"]),
    ({}, "weight", []),
    ({"load_in_8bit": True}, "absmax", ["load_in_8bit, but the weights are packed in 4 bits"]),
    ({"load_in_4bit": True}, "SCB", ["load_in_4bit, but the weights are packed in 8 bits"]),
    ({"load_in_4bit": True, "bnb_4bit_quant_storage": "uint8"}, "absmax", []),
    ({"load_in_4bit": True, "bnb_4bit_quant_storage": "int4"}, "absmax", ["bnb_4bit_quant_storage is 'int4', but should be one of float16, float32, int8, uint8, float64, bfloat16"]),
]  # fmt: skip


@every(("flags", "end", "expected"), BITSANDBYTES)
def test_flags_of_bitsandbytes(flags: dict[str, Any], end: str, expected: list[str], tmp_path: Path) -> None:
    files = {
        "config.json": {"model_type": "llama", "quantization_config": {"quant_method": "bitsandbytes", **flags}},
        "model.safetensors": hostile.safetensors({f"model.layers.0.mlp.up_proj.weight.{end}": [4]}),
    }
    found = rule_words.lines("packing-words", files, tmp_path)
    assert found == [f"config.json: error: {each}" for each in expected]


SAVED = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}
#: Files beside a file of weights, its name, and whether Transformers finds it.
FREE_NAMES: list[tuple[dict[str, Any], str, bool]] = [
    ({"config.json": SAVED}, "weights.safetensors", False),
    ({"config.json": SAVED}, "llama-final.safetensors", False),
    ({"config.json": SAVED}, "model.safetensors", True),
    ({"config.json": SAVED}, "model.fp16.safetensors", True),
    ({"config.json": {**SAVED, "transformers_weights": "weights.safetensors"}}, "weights.safetensors", True),
    ({"config.json": {**SAVED, "quantization": {"bits": 4}}}, "weights.safetensors", True),  # MLX finds it
    ({"config.json": {**SAVED, "auto_map": {}}}, "weights.safetensors", True),
    ({"config.json": {"model_type": "whisper"}}, "weights.safetensors", True),  # from MLX, not saved by Transformers
    ({"config.json": SAVED, "params.json": {}}, "consolidated.safetensors", True),
    ({"config.json": SAVED, "pytorch_model.bin": b"x"}, "weights.safetensors", True),
    ({"config.json": SAVED}, "pytorch_lora_weights.safetensors", True),
]


@every(("beside", "name", "is_found"), FREE_NAMES)
def test_weights_under_a_name_of_their_own(
    beside: dict[str, Any], name: str, tmp_path: Path, *, is_found: bool
) -> None:
    files = {**beside, name: hostile.safetensors({"model.norm.weight": [4]})}
    reported = f"{name}: error: Transformers looks for model.safetensors, and finds no weights: rename it"
    assert rule_words.lines("misnamed", files, tmp_path) == ([] if is_found else [reported])


TOKENIZERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"truncation": {"max_length": 5, "strategy": "LongestFirst", "stride": 0, "direction": "Left"}}, []),
    ({"truncation": {"max_length": 5, "strategy": "LongestFirst", "stride": 0, "direction": "Up"}}, ["truncation.direction is 'Up', but should be one of Left, Right"]),
    ({"truncation": {"max_length": 5, "strategy": "Last", "stride": 0}}, ["truncation.strategy is 'Last', but should be one of LongestFirst, OnlyFirst, OnlySecond"]),
    ({"padding": {"strategy": "Always", "direction": "Right", "pad_id": 0, "pad_type_id": 0, "pad_token": "x"}}, ["padding.strategy is 'Always', but should be one of BatchLongest"]),
    ({"padding": {"strategy": {"Fixed": 4}, "direction": "Right", "pad_id": 0, "pad_type_id": 0, "pad_token": "x"}}, []),
    ({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": False}}, ["pre_tokenizer.pattern is not a regular expression: its parentheses do not match"]),
    ({"pre_tokenizer": {"type": "Split", "pattern": {"String": "("}, "behavior": "Apart", "invert": False}}, ["pre_tokenizer.behavior is 'Apart', but should be one of Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous"]),
]  # fmt: skip


@pytest.mark.parametrize(("own", "expected"), TOKENIZERS)
def test_words_of_a_tokenizer(own: dict[str, Any], expected: list[str]) -> None:
    assert list(tokenizer_json.refusals(own)) == expected


def kinds(*names: str) -> list[dict[str, str]]:
    return [{"type": f"sentence_transformers.models.{name}"} for name in names]


ORDERS: list[tuple[list[Any], list[str]]] = [
    (kinds("Transformer", "Pooling", "Dense", "Normalize"), []),
    (kinds("Transformer", "Dense", "Pooling"), ["Dense comes before Pooling, which makes the vector that it needs"]),
    (kinds("Pooling", "Dense"), ["it begins with Pooling, which takes no text"]),
    (kinds("StaticEmbedding", "Normalize"), []),
    ([*kinds("Dense", "Pooling"), {"type": "own.Module"}], []),
]


@pytest.mark.parametrize(("listed", "expected"), ORDERS)
def test_the_order_of_modules(listed: list[Any], expected: list[str]) -> None:
    assert list(sentence_transformers._wrong_order(listed, frozenset({"config.json"}))) == expected


TOKENS: dict[str, Any] = {"module_output_name": "token_embeddings"}
MEAN, DENSE = {"pooling_mode": "mean"}, {"in_features": 8, "out_features": 4}
#: Each module's class and configuration, the first of a model of width 8, and the findings.
FLOWS: list[tuple[list[tuple[str, dict[str, Any]]], list[str]]] = [
    ([("Transformer", TOKENS), ("Pooling", MEAN), ("Dense", DENSE), ("Normalize", {})], []),
    ([("Transformer", {}), ("Pooling", MEAN), ("Dense", DENSE), ("LayerNorm", {"dimension": 4})], []),
    ([("Transformer", {"module_output_name": "x"}), ("Pooling", MEAN)], ["1/config.json: Pooling takes 'token_embeddings', which no module before it makes"]),
    ([("Transformer", {}), ("Pooling", MEAN), ("Dense", {**DENSE, "module_input_name": "x"})], ["2/config.json: Dense takes 'x', which no module before it makes"]),
    ([("Transformer", {}), ("Pooling", MEAN), ("Normalize", {"module_output_name": "x"}), ("Dense", {**DENSE, "module_input_name": "x"})], []),
    ([("Transformer", {}), ("Pooling", MEAN), ("Normalize", {"module_input_name": "x"})], []),  # it does nothing
    ([("Transformer", {}), ("Pooling", {**MEAN, "word_embedding_dimension": 12})], ["1/config.json: word_embedding_dimension is 12, but the module before makes 8"]),
    ([("Transformer", {}), ("Pooling", {**MEAN, "word_embedding_dimension": 8})], []),
    ([("Transformer", {}), ("Pooling", MEAN), ("Dense", {**DENSE, "in_features": 9})], ["2/config.json: in_features is 9, but the module before makes 8"]),
    ([("Transformer", {}), ("Pooling", {"pooling_mode": ["mean", "max"]}), ("Dense", {**DENSE, "in_features": 16})], []),
    # sentence-transformers 6.2 makes 16 numbers of two ways, and 8 of one.
    ([("Transformer", {}), ("Pooling", {"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}), ("Dense", {**DENSE, "in_features": 16})], []),
    ([("Transformer", {}), ("Pooling", {"pooling_mode_mean_tokens": True}), ("Dense", {**DENSE, "in_features": 16})], ["2/config.json: in_features is 16, but the module before makes 8"]),
    ([("Transformer", {}), ("Pooling", MEAN), ("Dense", DENSE), ("LayerNorm", {"dimension": 8})], ["3/config.json: dimension is 8, but the module before makes 4"]),
    ([("BoW", {"vocab": ["a", "b"]}), ("Dense", {**DENSE, "in_features": 2})], []),
    ([("BoW", {"vocab": ["a", "b"]}), ("Dense", DENSE)], ["1/config.json: in_features is 8, but the module before makes 2"]),
    ([("Transformer", {}), ("SpladePooling", {}), ("Dense", {**DENSE, "module_input_name": "x"})], []),  # an unknown class
]  # fmt: skip


@every(("modules", "expected"), FLOWS)
def test_modules_that_disagree_on_what_they_pass_on_are_reported(
    modules: list[tuple[str, dict[str, Any]]], expected: list[str], tmp_path: Path
) -> None:
    listed = [
        {"name": str(at), "path": str(at) if at else "", "type": f"sentence_transformers.models.{kind}"}
        for at, (kind, _) in enumerate(modules)
    ]
    files = {f"{at}/config.json": own for at, (_, own) in enumerate(modules) if at}
    first = {"sentence_bert_config.json": modules[0][1], "config.json": {"hidden_size": 8}}
    if modules[0][0] == "BoW":
        listed[0]["path"], first = "0", {"0/config.json": modules[0][1]}
    subject = rule_words.subject_of(tmp_path, {**files, **first, "modules.json": listed})
    (entry,) = (each for each in subject.entries if each.path == "modules.json")
    assert [
        f"{each.path}: {each.message}" for each in sentence_transformers._wrong_flow(subject, entry, listed)
    ] == expected


SCALED: list[tuple[dict[str, Any], list[str]]] = [
    ({"rescale_factor": 1 / 255, "patch_size": 14}, []),
    ({"rescale_factor": 1, "patch_size": {"height": 14, "width": 14}}, []),
    ({"rescale_factor": None}, []),
    ({"rescale_factor": "1/255"}, ['rescale_factor is "1/255", but should be a number']),
    ({"rescale_factor": True}, ["rescale_factor is true, but should be a number"]),
    ({"patch_size": {}}, ["patch_size is {}, but should be a number or an object with height and width"]),
]


@pytest.mark.parametrize(("own", "expected"), SCALED)
def test_numbers_of_image_processors(own: dict[str, Any], expected: list[str]) -> None:
    assert list(preprocessors._wrong_sizes(own)) == expected


LAYERS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("UNet2DModel", {"upsample_type": "resnet", "downsample_type": "conv"}, []),
    ("UNet2DModel", {"upsample_type": None}, []),
    ("UNet2DModel", {"upsample_type": "convx"}, ['upsample_type is "convx", but should be one of conv, resnet']),
    ("UNet2DModel", {"upsample_type": "convx", "_diffusers_version": "9.0"}, []),
    ("VQModel", {"norm_type": "spatial"}, []),
    ("VQModel", {"norm_type": "GROUP"}, ['norm_type is "GROUP", but should be one of group, spatial']),
]


@pytest.mark.parametrize(("kind", "own", "expected"), LAYERS)
def test_words_without_which_layers_are_left_out(
    kind: str, own: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    whole = {"_class_name": kind, "_diffusers_version": "0.30.0", **own}
    found = rule_words.lines("diffusers-field", {"config.json": whole}, tmp_path)
    assert found == [f"config.json: error: {each}" for each in expected]


PIPELINES: list[tuple[dict[str, Any], list[str]]] = [
    ({"_class_name": "DDPMPipeline"}, []),
    ({"_class_name": "DDPMMagicPipeline"}, ["Diffusers has no pipeline DDPMMagicPipeline"]),
    ({"_class_name": "DDPMMagicPipeline", "_diffusers_version": "9.0.0"}, []),
    ({"x": ["diffusers", "UNet9DModel"]}, ["x is of class 'UNet9DModel', which Diffusers does not have"]),
    ({"x": ["torchmagic", "UNet2DModel"]}, ["x is from 'torchmagic', from which Diffusers does not load"]),
    ({"x": ["stable_diffusion", "StableDiffusionSafetyChecker"]}, []),
    ({"x": ["transformers", "CLIPTextModel"]}, []),
]


@pytest.mark.parametrize(("own", "expected"), PIPELINES)
def test_classes_of_a_pipeline(own: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    parts = {"unet": ["diffusers", "UNet2DModel"], "scheduler": ["diffusers", "DDPMScheduler"]}
    whole = {"_class_name": "DDPMPipeline", "_diffusers_version": "0.30.0", **parts, **own}
    found = rule_words.lines("pipeline-parts", {"model_index.json": whole}, tmp_path)
    assert found == [f"model_index.json: error: {each}" for each in expected]


UNET = {"_class_name": "UNet2DModel", "_diffusers_version": "0.30.0", "block_out_channels": [8, 16]}
BLOCKS: list[tuple[dict[str, Any], list[str]]] = [
    ({"norm_num_groups": 4, "down_block_types": ["DownBlock2D", "AttnDownBlock2D"]}, []),
    ({"norm_num_groups": 5}, ["block_out_channels has 8, which is not a multiple of norm_num_groups (5)"]),
    ({"up_block_types": ["UpBlock2D"]}, ["up_block_types has 1 block, but block_out_channels 2"]),
    ({"down_block_types": ["DownBlock2D", "Cross"]}, ['down_block_types has "Cross", which UNet2DModel does not know']),
]


@pytest.mark.parametrize(("own", "expected"), BLOCKS)
def test_blocks_of_a_unet(own: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    found = rule_words.lines("diffusers-field", {"config.json": {**UNET, **own}}, tmp_path)
    assert found == [f"config.json: error: {each}" for each in expected]


@pytest.mark.parametrize(("word", "is_known"), [("epsilon", True), ("v_prediction", True), ("velocity", False)])
def test_words_that_only_a_step_of_a_scheduler_refuses(word: str, tmp_path: Path, *, is_known: bool) -> None:
    own = {"_class_name": "DDPMScheduler", "_diffusers_version": "0.30.0", "prediction_type": word}
    assert (rule_words.lines("diffusers-field", {"scheduler_config.json": own}, tmp_path) == []) is is_known


def test_a_body_under_another_models_name(tmp_path: Path) -> None:
    """With RoBERTa's tensors and BERT's configuration, no name of the body is found."""
    sound = hostile.model.shapes()

    def renamed(files: hostile.Files) -> None:
        moved = {name.replace("model.", "body."): shape for name, shape in sound.items()}
        files["model.safetensors"] = hostile.safetensors(moved)

    change = both(hostile.drop(hostile.FIRST, hostile.SECOND, hostile.INDEX), renamed)
    (found,) = rule_words.findings("tensor-names", change, tmp_path)
    what = "Transformers looks for model.embed_tokens.weight; of 21 tensors it does not know 20"  # all but the head
    assert (found.severity, found.message) == ("warning", what)


def test_files_that_macos_adds_to_archives_are_not_copies(tmp_path: Path) -> None:
    change = hostile.put("__MACOSX/._model.safetensors", b"\0\5\x16\7")
    assert rule_words.findings("misnamed", change, tmp_path) == []
