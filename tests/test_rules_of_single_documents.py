"""Rules on documents and lists that need no full model: each branch's words, and the nearest sound value."""

from __future__ import annotations

import bz2
import lzma
import zlib
from pathlib import Path
from typing import Any

import pytest
import rule_words
from every import every
from hostile.files import gguf, safetensors

from inspector.auditing.loading import accepted_values, config_fields, sentence_transformers, tokenizers
from inspector.auditing.readers import archives, repositories, templates, tokenizer_json
from inspector.auditing.safety import remote_code

# --- tokenizer.json -----------------------------------------------------------------------------

ADDED = {
    "id": 1, "content": "a", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True,
}  # fmt: skip
TRUNCATED = {"max_length": 8, "strategy": "LongestFirst", "stride": 0}
PADDED = {"strategy": "BatchLongest", "direction": "Right", "pad_id": 0, "pad_type_id": 0, "pad_token": "p"}


@every(
    ("own", "stated"),
    [
        ({"decoder": None}, []),
        ({"decoder": []}, ["decoder is not an object"]),
        ({"decoder": {}}, ["decoder has no type"]),
        ({"model": {}}, []),
        ({"decoder": {"suffix": "x"}}, []),  # its type follows from its field
        ({"decoder": {"type": "Zebra"}}, ["decoder has the unknown type 'Zebra'"]),
        ({"decoder": {"type": 3}}, ["decoder has the unknown type '3'"]),
        ({"normalizer": {"type": "Zebra"}}, ["normalizer has the unknown type 'Zebra'"]),
        ({"decoder": {"type": "Fuse"}}, []),
        ({"decoder": {"type": "Strip", "content": "x", "start": 0, "stop": 0}}, []),
        ({"decoder": {"type": "Strip", "content": "x", "start": 0}}, ["decoder has no stop"]),
        ({"decoder": {"type": "Strip", "content": 1, "start": True, "stop": 0.5}}, ["decoder.content is not a text", "decoder.start is not a whole number", "decoder.stop is not a whole number"]),
        ({"decoder": {"type": "Metaspace", "replacement": "x", "split": None}}, []),
        ({"decoder": {"type": "Metaspace", "replacement": "x", "split": 1}}, ["decoder.split is not true or false"]),
        ({"decoder": {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "Zebra"}, 3]}}, ["decoder.decoders.1 has the unknown type 'Zebra'", "decoder.decoders.2 is not an object"]),
        ({"decoder": {"type": "Sequence", "decoders": {}}}, ["decoder.decoders is not a list"]),
        ({"added_tokens": [ADDED]}, []),
        ({"added_tokens": {}}, []),
        ({"added_tokens": [ADDED, 3, {**ADDED, "id": "1"}]}, ["added_tokens.1 is not an object", "added_tokens.2.id is not a whole number"]),
        ({"added_tokens": [{**ADDED, "special": 1}]}, ["added_tokens.0.special is not true or false"]),
        ({"truncation": TRUNCATED, "padding": PADDED}, []),
        ({"truncation": None, "padding": None}, []),
        ({"truncation": []}, ["truncation is not an object"]),
        ({"padding": 3}, ["padding is not an object"]),
        ({"padding": {**PADDED, "strategy": {"Fixed": 3}}}, []),
        ({"padding": {**PADDED, "strategy": 3}}, ["padding.strategy is not a text"]),
        ({"truncation": {**TRUNCATED, "direction": "Left"}}, []),
        ({"truncation": {**TRUNCATED, "direction": 1}}, ["truncation.direction is not a text"]),
        ({"truncation": {**TRUNCATED, "stride": 7}}, []),
        ({"truncation": {**TRUNCATED, "stride": 8}}, ["truncation has a stride of 8, but a length of 8 tokens"]),
        ({"truncation": {**TRUNCATED, "max_length": 0}}, []),
        ({"truncation": {**TRUNCATED, "max_length": 1, "stride": 1}}, ["truncation has a stride of 1, but a length of 1 tokens"]),
        ({"model": {"type": "BPE", "vocab": {}, "merges": [], "dropout": 1}}, []),  # a whole number counts as one
        ({"model": {"type": "BPE", "vocab": {}, "merges": [], "dropout": "x"}}, ["model.dropout is not a number"]),
        ({"model": {"type": "WordLevel", "vocab": {"a": 0}}}, ["no '<unk>' in the vocabulary, which stands for unknown text"]),
        ({"model": {"type": "WordPiece", "vocab": {"a": 0}}}, ["no '[UNK]' in the vocabulary, which stands for unknown text"]),
        ({"model": {"type": "WordPiece", "vocab": {"a": 0}, "unk_token": "a"}}, []),
        ({"model": {"vocab": {"a": 0}}}, []),
        ({"model": {"vocab": {"a": 2**32 - 1}}}, []),
        ({"model": {"vocab": {"a": 2**32}}}, ["the token 'a' has an id that is not a number"]),
        ({"model": {"vocab": {"a": 0, "b": -1}}}, ["the token 'b' has an id that is not a number"]),
        ({"model": {"vocab": {"a": True}}}, ["the token 'a' has an id that is not a number"]),
        ({"model": {"vocab": [["a", 0.0]], "unk_id": 0}}, []),
        ({"model": {"vocab": [["a", 0.0]], "unk_id": 1}}, ["unk_id is 1, but there are 1 pieces"]),
        ({"model": {"vocab": [["a", 0.0]], "unk_id": -1}}, ["unk_id is -1, but there are 1 pieces"]),
        ({"model": {"vocab": [["a", 0.0]], "unk_id": None}}, []),
        ({"model": {"merges": ["a b", ["a", "b"]]}}, []),
        ({"model": {"merges": ["a b", "a", "b"]}}, ["model.merges.1 is not a pair"]),
        ({"model": {"merges": [["a", 1]]}}, ["model.merges.0 is not a pair"]),
        ({"model": {"merges": [3]}}, ["model.merges.0 is not a pair"]),
    ],
)  # fmt: skip
def test_a_tokenizer_that_the_tokenizers_library_refuses_is_reported(own: dict[str, Any], stated: list[str]) -> None:
    assert list(tokenizer_json.refusals(own)) == stated


def template(**changed: Any) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "single": [{"SpecialToken": {"id": "s", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"s": {"id": "s", "ids": [1], "tokens": ["s"]}},
    }
    return {**whole, **changed}


@every(
    ("value", "stated"),
    [
        (template(), []),
        (template(special_tokens={}), ["t.single.0 names 's', which is not among its tokens"]),
        (template(special_tokens=[]), ["t.single.0 names 's', which is not among its tokens"]),
        (template(pair=[{"Sequence": {"id": "C", "type_id": 1}}]), ["t.pair.0 is of sequence 'C'"]),
        (template(pair=[{"Sequence": {"id": 3, "type_id": 1}}]), ["t.pair.0.id is not a text"]),
        (template(pair=[{"Sequence": {"id": "A"}}]), ["t.pair.0 has no type_id"]),
        (template(pair=["A", {}]), ["t.pair.0 is not a piece of a template", "t.pair.1 is not a piece of a template"]),
        (template(special_tokens={"s": 3}), ["t.special_tokens.s is not an object"]),
        (template(special_tokens={"s": {"id": "s", "ids": [1]}}), ["t.special_tokens.s has no tokens"]),
        (template(special_tokens={"s": {"id": "s", "ids": 1, "tokens": []}}), ["t.special_tokens.s.ids is not a list"]),
        ({}, []),
    ],
)
def test_templates_of_tokenizers(value: dict[str, Any], stated: list[str]) -> None:
    assert list(tokenizer_json._of_template(value, "t")) == stated


def test_nested_parts_are_followed_to_the_deepest_level() -> None:
    def nested(levels: int) -> dict[str, Any]:
        inner: dict[str, Any] = {"type": "Zebra"}
        for _ in range(levels):
            inner = {"type": "Sequence", "decoders": [inner]}
        return {"decoder": inner}

    assert len(list(tokenizer_json.refusals(nested(8)))) == 1
    assert list(tokenizer_json.refusals(nested(9))) == []


# --- other files of a tokenizer -----------------------------------------------------------------

PIECES = b"\x0a\x02ab" * 3


@every(
    ("files", "highest"),
    [
        ({"vocab.json": {"a": 0, "b": 4}}, ("vocab.json", 4, -1)),
        ({"vocab.json": {"a": 0, "b": 4}, "added_tokens.json": {"c": 9}}, ("vocab.json", 4, 9)),
        ({"vocab.json": "[]", "tokenizer.model": PIECES}, None),
        ({"tokenizer.model": PIECES}, ("tokenizer.model", 2, -1)),
        ({"spiece.model": PIECES, "added_tokens.json": {"c": 9}}, ("spiece.model", 2, 9)),
        ({"tokenizer.model": b"text", "vocab.txt": "a\nb\n"}, None),
        ({"vocab.txt": "a\nb\nc\n"}, ("vocab.txt", 2, -1)),
        ({"vocab.txt": "a\r\nb\r\nc", "added_tokens.json": {"c": 9}}, ("vocab.txt", 2, 9)),
        ({"added_tokens.json": {"c": 9}}, ("added_tokens.json", -1, 9)),
        ({"other.txt": "a"}, None),
        ({"tokenizer.json": {"model": {"vocab": {"a": 0, "b": 7}}}}, ("tokenizer.json", 7, -1)),
        ({"tokenizer.json": {"added_tokens": [{"id": 9}], "model": {"vocab": {"a": 7}}}}, ("tokenizer.json", 7, 9)),
        ({"tokenizer.json": {"model": {"vocab": [["a", 0.5], ["b", 1]]}}}, ("tokenizer.json", 1, -1)),
        ({"tokenizer.json": {"model": {"vocab": []}}, "vocab.json": {"a": 0}}, None),
        ({"tokenizer.json": {"vocab": {"a": 0}}}, None),
        ({"tokenizer.json": {"model": {}}}, None),
    ],
)
def test_the_highest_ids_of_a_tokenizer(
    files: dict[str, Any], highest: tuple[str, int, int] | None, tmp_path: Path
) -> None:
    subject = rule_words.subject_of(tmp_path, {f"t/{name}": content for name, content in files.items()})
    found = tokenizer_json.highest_token(subject, "t/")
    assert found == (None if highest is None else (f"t/{highest[0]}", *highest[1:]))


@every(
    ("document", "highest"),
    [
        ({"model": {"vocab": {"a": 0, "b": 1}}, "added_tokens": []}, -1),
        ({"model": {"vocab": {"a": 0, "b": 1}}, "added_tokens": [{"content": "a"}]}, 0),
        ({"model": {"vocab": {"a": 0, "b": 1}}, "added_tokens": [{"content": "x"}]}, 2),
        ({"model": {"vocab": {"a": 0, "b": 9}}, "added_tokens": [{"content": "b"}, {"content": "x"}]}, 10),
        ({"model": {"vocab": {"a": 0}}, "added_tokens": [{"content": "x"}, {"content": "x"}, {"content": "y"}]}, 2),
        ({"model": {"vocab": [["a", 0.5], ["b", 1.5]]}, "added_tokens": [{"content": "b"}]}, 1),
        ({"model": {"vocab": [["a", 0.5], ["b", 1.5]]}, "added_tokens": [{"content": "x"}]}, 2),
        ({"model": {"vocab": {"a": "0"}}, "added_tokens": [{"content": "a"}]}, 1),
        ({"model": {"vocab": {}}}, None),
        ({"model": {}}, None),
        ("{", None),
    ],
)
def test_ids_that_the_library_gives_added_tokens(document: Any, highest: int | None, tmp_path: Path) -> None:
    subject = rule_words.subject_of(tmp_path, {"tokenizer.json": document})
    assert tokenizer_json.assigned(subject, "tokenizer.json") == highest


@every(
    ("tokens", "stated"),
    [
        (None, []),
        ({}, []),
        ([], ["added_tokens_decoder is not an object"]),
        ({"1": {"content": "a", "special": True}}, []),
        ({"x": {"content": "a"}}, ["added_tokens_decoder has the key 'x', but should have ids"]),
        ({"1": 3}, ["added_tokens_decoder.1 has no text"]),
        ({"1": {"content": 3}}, ["added_tokens_decoder.1 has no text"]),
        ({"1": {"content": "a", "lstrip": 1}}, ["added_tokens_decoder.1.lstrip is 1, but should be true or false"]),
        ({"1": {"content": "a"}, "2": {}, "3": {}}, ["added_tokens_decoder.2 has no text"]),  # the first alone
    ],
)
def test_descriptions_of_added_tokens(tokens: Any, stated: list[str]) -> None:
    assert list(tokenizers._wrong_descriptions(tokens)) == stated


def test_a_configuration_within_another() -> None:
    inner = {"tokenizer_class": "A", "pad_token": "p"}
    stated = ["everything is nested under 'x', where Transformers does not look"]
    assert list(tokenizers._wrong_kinds({"x": inner})) == stated
    assert list(tokenizers._wrong_kinds({"x": inner, "y": 1})) == []
    assert list(tokenizers._wrong_kinds({"x": {"pad_token": "p"}})) == []


@pytest.mark.parametrize(
    ("files", "stated"),
    [
        ({"tokenizer_config.json": {"tokenizer_class": ""}, "vocab.txt": "x"}, ["error: tokenizer_class is empty, and there is no tokenizer.json to go by"]),
        ({"tokenizer_config.json": {"tokenizer_class": ""}}, []),
        ({"tokenizer_config.json": {"tokenizer_class": ""}, "vocab.txt": "x", "tokenizer.json": "{}"}, []),
    ],
)  # fmt: skip
def test_a_tokenizer_without_a_class(files: dict[str, Any], stated: list[str], tmp_path: Path) -> None:
    found = rule_words.lines("tokenizer-files", files, tmp_path)
    assert found == [f"tokenizer_config.json: {each}" for each in stated]


# --- configurations -----------------------------------------------------------------------------


@every(
    ("own", "stated"),
    [
        ({}, []),
        ({"quantization_config": {}}, ["quantization_config has no quant_method"]),
        ({"quantization_config": {"quant_method": "x"}}, []),
        ({"quantization_config": {"load_in_4bit": True}}, []),
        ({"quantization_config": {"load_in_8bit": True}}, []),
        ({"quantization_config": {"load_in_8bit": False}}, ["quantization_config has no quant_method"]),
        ({"quantization_config": {}, "quantization": {}}, []),
        ({"quantization_config": "x"}, []),
        ({"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}, []),
        ({"quantization_config": {"quant_method": "fp8", "weight_block_size": [128]}}, ["quantization_config.weight_block_size is [128], but should be two numbers"]),
        ({"quantization_config": {"quant_method": "x", "weight_block_size": [128]}}, []),
        ({"quantization_config": {"quant_method": "fp8", "weight_block_size": None}}, []),
    ],
)  # fmt: skip
def test_findings_about_packing(own: dict[str, Any], stated: list[str]) -> None:
    assert list(config_fields._wrong_packing(own)) == stated


@pytest.mark.parametrize(
    ("own", "stated"),
    [
        ({"conv_dim": [1, 2], "conv_stride": [1, 2], "conv_kernel": [1, 2]}, False),
        ({"conv_dim": [1, 2], "conv_stride": [1, 2], "conv_kernel": [1]}, True),
        ({"conv_dim": [1, 2], "conv_stride": [1], "conv_kernel": 3}, False),
        ({"conv_dim": [1, 2], "conv_stride": [1]}, False),
        ({}, False),
    ],
)
def test_lists_of_convolutions(own: dict[str, Any], stated: bool) -> None:
    found = list(config_fields._wrong_fields(own, "", ""))
    assert found == (["conv_dim, conv_stride, conv_kernel have different lengths"] if stated else [])


@every(
    ("field", "value", "stated"),
    [
        ("hidden_size", 0, None), ("hidden_size", -1, "−1, but a size cannot be negative"), ("hidden_size", 1, None),
        ("num_attention_heads", 0, "0, but other sizes are divided by it"), ("num_attention_heads", 1, None),
        ("num_attention_heads", -1, "−1, but a size cannot be negative"), ("conv_groups", 0, "0, but other sizes are divided by it"),
        ("eos_token_id", -1, None), ("hidden_size", -1.5, None), ("hidden_size", "x", None), ("num_layers", -1000, "−1,000, but a size cannot be negative"),
    ],
)  # fmt: skip
def test_sizes_that_no_model_has(field: str, value: Any, stated: str | None) -> None:
    assert accepted_values.wrong_size(field, value) == stated


@pytest.mark.parametrize(
    ("own", "stated"),
    [
        ({"dropout": 0}, []), ({"dropout": 1}, []), ({"attention_dropout": 0.5}, []), ({"resid_pdrop": 1.5}, ["resid_pdrop is 1.5, but a probability lies between 0 and 1"]),
        ({"hidden_dropout_prob": -0.1}, ["hidden_dropout_prob is -0.1, but a probability lies between 0 and 1"]),
        ({"dropout": True, "drop_path": 3, "dropouts": 3, "x_dropout_p": "y"}, []),
        ({"drop_rate": 2}, ["drop_rate is 2, but a probability lies between 0 and 1"]),
    ],
)  # fmt: skip
def test_probabilities_of_dropout(own: dict[str, Any], stated: list[str]) -> None:
    assert list(accepted_values.beyond_one(own)) == stated


@pytest.mark.parametrize(
    ("own", "stated"),
    [
        ({"id2label": {"0": "a", "-1": "b"}}, []), ({"id2label": None}, []), ({}, []),
        ({"id2label": ["a"]}, ['id2label is ["a"], but should be an object']),
        ({"id2label": {"0": "a", "x": "b", "y": "c"}}, ['id2label has the key "x", but its keys should be numbers']),
    ],
)  # fmt: skip
def test_labels(own: dict[str, Any], stated: list[str]) -> None:
    assert list(config_fields._wrong_labels(own)) == stated


@every(
    ("scope", "stated"),
    [
        ({"hidden_size": 8, "num_attention_heads": 2}, []),
        ({"head_dim": 4}, []),
        ({"head_dim": 6}, ["short_factor has 2 numbers, but a head has 3 pairs of dimensions", "long_factor has 2 numbers, but a head has 3 pairs of dimensions"]),
        ({"head_dim": 8, "partial_rotary_factor": 0.5}, []),
        ({"head_dim": 4, "hidden_size": 80, "num_attention_heads": 2}, []),
        ({"hidden_size": 8, "num_attention_heads": 0}, []),
        ({"hidden_size": 8}, []),
        ({"head_dim": 6, "partial_rotary_factor": "x"}, []),
        ({"head_dim": 6, "partial_rotary_factor": True}, []),
    ],
)  # fmt: skip
def test_lists_of_longrope(scope: dict[str, Any], stated: list[str]) -> None:
    own = {"short_factor": [1, 1], "long_factor": [1, 1]}
    assert list(config_fields._wrong_lengths(own, scope)) == stated


def test_lists_of_longrope_of_another_kind() -> None:
    stated = list(config_fields._wrong_lengths({"short_factor": 3, "long_factor": [1]}, {"head_dim": 2}))
    assert stated == ["short_factor has 3, but a head has 1 pairs of dimensions"]
    own = {"short_factor": [1], "long_factor": [1], "partial_rotary_factor": 0.5}
    assert list(config_fields._wrong_lengths(own, {"head_dim": 4, "partial_rotary_factor": 1.0})) == []


# --- modules of sentence-transformers -----------------------------------------------------------


@every(
    ("own", "kind", "stated"),
    [
        ({"in_features": 2, "out_features": 3}, "Dense", []),
        ({"in_features": 2}, "Dense", ["Dense needs out_features, a whole number"]),
        (
            {"in_features": "2", "out_features": 3},
            "Dense",
            [
                "Dense needs in_features, a whole number",
                "in_features is 2, but should be a whole number or true or false",
            ],
        ),
        ({"word_embedding_dimension": 3}, "Pooling", []),
        ({"embedding_dimension": 3, "pooling_mode": "mean"}, "Pooling", []),
        ({}, "Pooling", ["Pooling needs embedding_dimension, a whole number"]),
        (
            {"embedding_dimension": 3, "pooling_mode": ["mean", "average"]},
            "Pooling",
            ["unknown pooling_mode 'average'"],
        ),
        ({"embedding_dimension": 3, "pooling_mode_zebra": True}, "Pooling", []),
        ({"embedding_dimension": 3, "zebra": True}, "Pooling", ["Pooling has no field zebra"]),
        ({"zebra": 1}, "Zebra", []),
        ({"dropout": 0.1, "x": 1}, "Dropout", ["Dropout has no field x"]),
        ({"module_input_name": 3}, "Zebra", ["module_input_name is 3, but should be a string"]),
        ({"module_output_name": None}, "Zebra", ["module_output_name is None, but should be a string"]),
        ({"module_output_name": "x"}, "Zebra", []),
    ],
)
def test_fields_of_modules(own: dict[str, Any], kind: str, stated: list[str]) -> None:
    assert list(sentence_transformers._wrong_fields(own, kind)) == stated


METHOD = {"text": {"method": "forward", "method_output_name": "x"}}


@every(
    ("own", "stated"),
    [
        ({}, []),
        ({"transformer_task": "fill-mask"}, []),
        ({"transformer_task": "zebra"}, ["transformer_task is 'zebra', which sentence-transformers does not have"]),
        ({"modality_config": None}, []),
        ({"modality_config": []}, ["modality_config is [], but should be an object"]),
        ({"modality_config": {}}, ["modality_config names no modality"]),
        ({"modality_config": METHOD, "module_output_name": "x"}, []),
        ({"modality_config": METHOD}, ["module_output_name is missing, which modality_config needs"]),
        ({"modality_config": {"text": {"method": "x"}}, "module_output_name": "x"}, ["modality_config.text needs a method and a method_output_name"]),
        ({"modality_config": {"text": {"method": 3, "method_output_name": "x"}}, "module_output_name": "x"}, ["modality_config.text needs a method and a method_output_name"]),
        ({"modality_config": {"text": 3}, "module_output_name": "x"}, ["modality_config.text needs a method and a method_output_name"]),
    ],
)  # fmt: skip
def test_descriptions_of_transformers(own: dict[str, Any], stated: list[str]) -> None:
    assert list(sentence_transformers._wrong_transformer(own)) == stated


@every(
    ("kind", "own", "shapes"),
    [
        ("Dense", {"in_features": 2, "out_features": 3}, {"linear.weight": (3, 2), "linear.bias": (3,)}),
        ("Dense", {"in_features": 2, "out_features": 3, "bias": False}, {"linear.weight": (3, 2)}),
        ("Dense", {"in_features": 2, "out_features": 3, "bias": False, "use_residual": True}, {"linear.weight": (3, 2), "residual.weight": (3, 2)}),
        ("Dense", {"in_features": 2, "out_features": 2, "bias": False, "use_residual": True}, {"linear.weight": (2, 2)}),
        ("CNN", {"in_word_embedding_dimension": 5, "out_channels": 4, "kernel_sizes": [1, 3]}, {"convs.0.weight": (4, 5, 1), "convs.0.bias": (4,), "convs.1.weight": (4, 5, 3), "convs.1.bias": (4,)}),
        ("CNN", {"in_embedding_dimension": 5, "in_word_embedding_dimension": 6, "out_channels": 4, "kernel_sizes": [1]}, {"convs.0.weight": (4, 5, 1), "convs.0.bias": (4,)}),
        ("LayerNorm", {"dimension": 7}, {"norm.weight": (7,), "norm.bias": (7,)}),
        ("WeightedLayerPooling", {"num_hidden_layers": 12, "layer_start": 4}, {"layer_weights": (9,)}),
    ],
)  # fmt: skip
def test_shapes_of_modules(kind: str, own: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> None:
    assert dict(sentence_transformers._SHAPES[kind](own)) == shapes


@pytest.mark.parametrize("own", [{"out_channels": "4", "kernel_sizes": [1], "in_embedding_dimension": 5},
                                 {"out_channels": 4, "kernel_sizes": ["1"], "in_embedding_dimension": 5},
                                 {"out_channels": 4, "kernel_sizes": [1] * 1_001, "in_embedding_dimension": 5},
                                 {"out_channels": 4, "kernel_sizes": [1]}])  # fmt: skip
def test_convolutions_without_sizes(own: dict[str, Any]) -> None:
    with pytest.raises(OverflowError if len(own["kernel_sizes"]) > sentence_transformers.MOST_KERNELS else TypeError):
        dict(sentence_transformers._convolution_shapes(own))


# --- archives and templates ---------------------------------------------------------------------


@every(
    ("packed", "whole"),
    [
        (zlib.compress(b"abc" * 9), b"abc" * 9),
        (zlib.compress(b"abc" * 9, 0), b"abc" * 9),
        (b"ZF\x00x", None),
        (bz2.compress(b"abc"), b"abc"),
        (bz2.compress(b"abc") + bz2.compress(b"de"), b"abcde"),
        (lzma.compress(b"abc"), b"abc"),
        (lzma.compress(b"abc") + b"\0" * 4 + lzma.compress(b"de"), b"abcde"),
        (lzma.compress(b"abc", lzma.FORMAT_ALONE), b"abc"),
        (b"\x78\x00", None),  # no multiple of 31
        (b"\x78", None),
        (b"", None),
        (b"BZ", None),
    ],
)
def test_compressed_streams(packed: bytes, whole: bytes | None) -> None:
    unpack = archives._unpacker(packed)
    assert (unpack and unpack(packed, 99)) == whole


def test_streams_are_unpacked_as_far_as_asked() -> None:
    for packed in (zlib.compress(b"abc" * 9), bz2.compress(b"abc" * 9), lzma.compress(b"abc" * 9)):
        unpack = archives._unpacker(packed)
        assert unpack is not None
        assert unpack(packed, 4) == b"abca"


def test_damaged_streams_raise_value_error() -> None:
    unpack = archives._unpacker(b"\xfd7zXZ\0" + b"x" * 20)
    assert unpack is not None
    with pytest.raises(ValueError, match="damaged"):
        unpack(b"\xfd7zXZ\0" + b"x" * 20, 9)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("{{ a }}", [("default", "{{ a }}")]),
        ({"tool": "x", "rag": "y"}, [("tool", "x"), ("rag", "y")]),
        ([{"name": "tool", "template": "x"}, {"template": "y"}], [("tool", "x"), ("default", "y")]),
        ([{"name": "tool"}, {"template": 3}, "x"], []),
        (3, []),
        (None, []),
    ],
)
def test_forms_of_templates(value: Any, found: list[tuple[str, str]]) -> None:
    assert [(each.path, each.name, each.text) for each in templates._templates_in("p", value)] == [
        ("p", *it) for it in found
    ]


def test_where_templates_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = {"general.architecture": "llama", "tokenizer.chat_template": "g", "tokenizer.chat_template.tool": "t"}
    files = {
        "tokenizer_config.json": {"chat_template": "a"}, "chat_template.json": {"chat_template": "b"},
        "chat_template.jinja": "c", "additional_chat_templates/rag.jinja": "d", "my_chat_template.j2": "e",
        "m.gguf": gguf(pairs, {"a": [4]}),
    }  # fmt: skip
    found: dict[str, list[Any]] = {
        each.path: [] for each in templates.templates(rule_words.subject_of(tmp_path / "a", files))
    }
    for each in templates.templates(rule_words.subject_of(tmp_path / "b", files)):
        found[each.path].append((each.name, each.text))
    assert found == {
        "tokenizer_config.json": [("default", "a")], "chat_template.json": [("default", "b")],
        "chat_template.jinja": [("default", "c")], "additional_chat_templates/rag.jinja": [("rag", "d")],
        "my_chat_template.j2": [("my_default", "e")], "m.gguf": [("default", "g"), ("tool", "t")],
    }  # fmt: skip
    monkeypatch.setattr(templates, "MAX_TEMPLATE", 1)
    long = rule_words.subject_of(
        tmp_path / "c",
        {"a.jinja": "xx", "chat_template.json": {"chat_template": "xx"}, "b.jinja": "x", "config.json": {}},
    )
    assert {each.path: each.text for each in templates.templates(long)} == {
        "chat_template.json": None, "a.jinja": None, "b.jinja": "x"
    }  # fmt: skip


def test_templates_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"a.jinja": "xx", "b.jinja": "xx", "c.jinja": "xx", "d.jinja": "xx", "config.json": {}}
    monkeypatch.setattr(templates, "MAX_ALL", 4)
    assert [each.text for each in templates.templates(rule_words.subject_of(tmp_path, files))] == ["xx", "xx", None]


@pytest.mark.parametrize(
    ("text", "unread"), [("{{ a", True), ("plain {", False), ("{{ a }}", False), ("{% x %}", True)]
)
def test_templates_that_jinja_cannot_parse(text: str, unread: bool) -> None:
    stated = templates.judge(text).unread
    assert (stated is not None) == unread
    assert stated is None or stated.startswith("Jinja cannot parse it: ")


# --- code ---------------------------------------------------------------------------------------


@every(
    ("document", "named"),
    [
        ({"auto_map": {"AutoModel": "modeling.Model"}}, [("auto_map", "modeling.Model")]),
        ({"auto_map": {"AutoTokenizer": [None, "tok.T"]}}, [("auto_map", "tok.T")]),
        ({"auto_map": {"A": 3}}, [("auto_map", "code")]),
        ({"auto_map": {}}, []),
        ({"auto_map": "m.M"}, [("auto_map", "m.M")]),
        ({"custom_pipelines": {"t": {"impl": "p.P", "pt": ["x"]}}}, [("custom_pipelines", "p.P")]),
        ({"a": {"b": {"c": {"auto_map": "m.M"}}}}, [("auto_map", "m.M")]),
        ({"a": {"b": {"c": {"d": {"auto_map": "m.M"}}}}}, []),
        ({"attn_implementation": "org/kernel"}, [("attn_implementation", "org/kernel")]),
        ({"_attn_implementation": "sdpa"}, []),
        ({"experts_implementation": {"x": "org/k", "y": "sdpa"}}, [("experts_implementation", "org/k")]),
        ({"auto_mapping": {"parent_library": "mine.models"}}, [("auto_mapping", "mine.models")]),
        ({"auto_mapping": {"parent_library": "transformers.models"}}, []),
        ({"auto_mapping": "x"}, []),
    ],
)
def test_code_that_a_configuration_names(document: dict[str, Any], named: list[tuple[str, str]]) -> None:
    assert list(remote_code._of_configuration(document)) == named


@every(
    ("files", "stated"),
    [
        ({"config.json": {"auto_map": {"A": "m.M"}}, "m.py": "x"}, ["config.json: warning: auto_map names m.M, code in m.py"]),
        ({"config.json": {"auto_map": {"A": "m.M"}}}, ["config.json: info: auto_map names m.M, code not here"]),
        ({"config.json": {"auto_map": {"A": "o/r--m.M"}}}, ["config.json: warning: auto_map names o/r--m.M, code from the repository o/r"]),
        ({"a/config.json": {"auto_map": {"A": "m.M"}}, "m.py": "x"}, ["a/config.json: info: auto_map names m.M, code not here"]),
        ({"a/config.json": {"auto_map": {"A": "m.M"}}, "a/m.py": "x"}, ["a/config.json: warning: auto_map names m.M, code in a/m.py"]),
        ({"modules.json": [{"type": "sentence_transformers.models.Pooling"}, {"type": "torch.nn.Tanh"}]}, []),
        ({"modules.json": [{"type": "mine.Pooling"}], "mine.py": "x"}, ["modules.json: warning: a module names mine.Pooling, code in mine.py"]),
        ({"modules.json": [{"type": "os.system"}]}, ["modules.json: error: a module is os.system, which can run anything: loading imports it"]),
        ({"router_config.json": {"types": {"a": "mine.M"}}}, ["router_config.json: info: a module names mine.M, code not here"]),
        ({"router_config.json": {"types": ["mine.M"]}}, []),
        ({"model_index.json": {"unet": ["unet_mine", "U"]}, "unet/unet_mine.py": "x"}, ["model_index.json: warning: a component names unet/unet_mine, code in unet/unet_mine.py"]),
        ({"model_index.json": {"x": ["subprocess", "Popen"]}}, ["model_index.json: error: a component's class is subprocess.Popen, which can run anything: loading imports it"]),
        ({"config.json": {"auto_mapping": {"parent_library": "mine"}}}, ["config.json: warning: auto_mapping names mine, code not here"]),
        ({"config.json": {"auto_mapping": {"parent_library": "subprocess"}}}, ["config.json: error: auto_mapping is subprocess, which can run anything: loading imports it"]),
        ({"hubconf.py": "x"}, ["hubconf.py: error: code that `torch.hub.load` runs"]),
        ({"MLmodel": "loader_module: mine.loader\n"}, ["MLmodel: error: MLflow imports mine.loader"]),
        ({"MLmodel": "loader_module: mlflow.sklearn\n"}, []),
    ],
)  # fmt: skip
def test_code_that_loaders_run(files: dict[str, Any], stated: list[str], tmp_path: Path) -> None:
    assert rule_words.lines("remote-code", files, tmp_path) == stated


def test_commands_in_mercurials_configuration_are_listed() -> None:
    text = "[ui]\na = b\n[hooks]\nx = y\n  [alias]\n[paths]\n[hgext.mq]\n"
    assert list(repositories._in_hgrc(text)) == [
        f"Mercurial's configuration has {each}, which it runs" for each in ("hooks", "alias", "hgext.mq")
    ]


def test_programs_beside_a_model_in_git(tmp_path: Path) -> None:
    subject = rule_words.subject_of(
        tmp_path, {"model.safetensors": safetensors({"a": [4]}), "sub/.git": "gitdir: /else/where\n"}
    )
    git = tmp_path / ".git"
    for path, text in {
        "config": "[core]\n fsmonitor = run\n", "config.worktree": "[core]\n pager = run\n", "commondir": "../other\n",
        "hooks/post-checkout": "x", "hooks/pre-push.sample": "x", "modules/inner/config": "[core]\n editor = run\n",
    }.items():  # fmt: skip
        (git / path).parent.mkdir(parents=True, exist_ok=True)
        (git / path).write_text(text)
    (tmp_path / ".hg").mkdir()
    (tmp_path / ".hg" / "hgrc").write_text("[hooks]\n")

    def sets(field: str) -> str:
        return f"git's configuration sets core.{field} to 'run', which it runs"

    assert sorted((each.path or "", each.message) for each in repositories.programs(subject)) == [
        (".git/commondir", "git takes its configuration from '../other'"),
        (".git/config", sets("fsmonitor")),
        (".git/config.worktree", sets("pager")),
        (".git/hooks/post-checkout", "a hook, which git runs"),
        (".git/modules/inner/config", sets("editor")),
        (".hg/hgrc", "Mercurial's configuration has hooks, which it runs"),
        ("sub/.git", "git takes its configuration from '/else/where'"),
    ]


def test_configurations_that_are_not_regular_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("[core]\n")
    (tmp_path / "link").symlink_to("real")
    assert repositories._small_text(str(tmp_path / "real")) == "[core]\n"
    assert repositories._small_text(str(tmp_path / "link")) == ""
    assert repositories._small_text(str(tmp_path)) == ""
    assert repositories._small_text(str(tmp_path / "absent")) == ""
    assert repositories._small_text("a\0b") == ""
    (tmp_path / "real").write_bytes(b"x" * repositories.MAX_CONFIG)
    assert len(repositories._small_text(str(tmp_path / "real")) or "") == repositories.MAX_CONFIG
    (tmp_path / "real").write_bytes(b"x" * (repositories.MAX_CONFIG + 1))
    assert repositories._small_text(str(tmp_path / "real")) is None
