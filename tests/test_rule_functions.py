"""The small functions of rules on names, sizes and values, each with its nearest answers on both sides."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from every import every

from inspector.adapters import prediction
from inspector.auditing import files, limits
from inspector.auditing.completeness import downloads, file_names, shards
from inspector.auditing.consistency import documents, tokens
from inspector.auditing.loading import gguf_keys, peft, preprocessors
from inspector.auditing.loading.adapters import created_tensors
from inspector.auditing.readers import tokenizer_json
from inspector.auditing.safety import hidden_code
from inspector.model import Finding
from inspector.opening.index import MAX_INDEX
from inspector.sources.listing import Entry


def entry(path: str, size: int = 1) -> Entry:
    return Entry(path, "file", size)


# --- fits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "numbers"),
    [(3, [3]), ([3, 4], [3, 4]), ([3, None, True, 4.0, 5], [3, 5]), (None, []), (True, []), ("3", []), (-1, [-1])],
)
def test_token_ids_are_a_number_or_a_list_of_them(value: Any, numbers: list[int]) -> None:
    assert list(tokens._whole_numbers(value)) == numbers


def test_fields_with_further_token_ids() -> None:
    own = dict.fromkeys(("image_token_id", "x_token_index", "pad_token_id", "_eoi_token_id", "token_ids", "token_id"))
    assert tokens._further_ids(own) == ["image_token_id", "x_token_index"]


@pytest.mark.parametrize(("shape", "text"), [((2, 3), "2×3"), ((4,), "4"), ((), "a single number")])
def test_shapes_in_words(shape: tuple[int, ...], text: str) -> None:
    assert documents._shape_text(shape) == text


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("bn.running_mean", True), ("bn.running_var", True), ("bn.num_batches_tracked", True),
        ("running_mean", False), ("bn.running_mean.x", False), ("bn.weight", False),
    ],
)  # fmt: skip
def test_statistics_of_batch_norms(name: str, is_one: bool) -> None:
    assert name.endswith(documents._STATISTICS) == is_one


@every(
    ("merges", "lost"),
    [
        (["a b"], None), (["a c"], "c"), (["c a"], "c"), (["b a"], "ba"), ([["a", "b"]], None), ([["b", "a"]], "ba"),
        (["a b c"], None), ([["b"]], None), ([["b", 1]], None), ([7], None), (["a b", "b b"], "bb"), ([], None),
        ([7, "b b"], "bb"),
    ],
)  # fmt: skip
def test_merges_of_unknown_pieces(merges: list[Any], lost: str | None) -> None:
    assert tokens.unknown_piece(merges, {"a": 0, "b": 1, "ab": 2}) == lost


@pytest.mark.parametrize(
    ("token", "raw", "there"),
    [
        ("<s>", b'{"<s>": 1}', True), ("<s>", b"{'<s>': 1}", False), ("é", b'"\\u00e9"', True),
        ("é", '"é"'.encode(), True), ("e", '"é"'.encode(), False), ("\ud800", b'"\\ud800"', True),
    ],
)  # fmt: skip
def test_tokens_in_a_document(token: str, raw: bytes, there: bool) -> None:
    assert tokens._contains(token, raw) == there


@every(
    ("raw", "why"),
    [
        (b'{"model": ', "no JSON document: Expecting value: line 1 column 11 (char 10)"),
        (b"[]", "no JSON object"),
        (b"{}", "it has no model"),
        (b'{"model": []}', "it has no model"),
        (b'{"error": "x"}', None),
        (b'{"message": "x", "model": null}', None),
        (b'{"error": "x", "model": []}', "it has no model"),
        (b'{"model": {"vocab": "x"}}', "its model has no vocabulary"),
        (b'{"model": {}}', "its model has no vocabulary"),
    ],
)
def test_tokenizers_that_are_refused(raw: bytes, why: str | None) -> None:
    assert tokens._refusal(raw) == why


# --- GGUF ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bits"), [("Q4_K_M", 4), ("IQ2_XXS", 2), ("F16", 16), ("BF16", 16), ("F32", 32), ("TQ1_0", 1), ("X", None)]
)
def test_the_width_in_a_types_name(name: str, bits: int | None) -> None:
    assert gguf_keys._bits_in_name(name) == bits


@pytest.mark.parametrize(
    ("named", "counts", "mixed"),
    [
        ("Q4_K_M", {"Q4_K": 1, "Q6_K": 4}, True),  # a fifth
        ("Q4_K_M", {"Q4_K": 19, "Q6_K": 81}, False),
        ("Q4_K_M", {"Q4_0": 1, "Q4_1": 1, "Q8_0": 8}, True),
        ("Q4_K_M", {"Q6_K": 1}, False),
    ],
)
def test_mixtures(named: str, counts: dict[str, int], mixed: bool) -> None:
    assert gguf_keys._is_mixture(named, Counter(counts)) == mixed


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("LLAMA-Q4_K_M.GGUF", ["Q4_K_M"]), ("LLAMA.IQ2_XXS.GGUF", ["IQ2_XXS"]), ("LLAMA-BF16.GGUF", ["BF16"]),
        ("LLAMA-F16.GGUF", ["F16"]), ("LLAMA-F160.GGUF", []), ("AF16.GGUF", []), ("Q8_0-F32.GGUF", ["Q8_0", "F32"]),
    ],
)  # fmt: skip
def test_types_in_a_files_name(name: str, named: list[str]) -> None:
    assert gguf_keys._QUANTIZED.findall(name) == named


# --- adapters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "layer"),
    [("h.3.attn", 3), ("h.0.b.7.c", 0), ("attn", None), ("h.3", None), ("3.attn", None), ("h.123456789.a", None),
     ("h.12345678.a", 12345678)],
)  # fmt: skip
def test_the_layer_of_a_module(module: str, layer: int | None) -> None:
    assert peft._layer_number(module) == layer


@every(
    ("name", "chosen", "is_in"),
    [
        ("h.3.attn", None, True), ("h.3.attn", [3], True), ("h.3.attn", [2, 4], False), ("h.3.attn", 3, True),
        ("h.3.attn", 2, False), ("model.h.3.b.2.c", [2], False), ("model.h.3.attn", [], True),
        ("model.attn", [2], False), ("attn", [2], True),  # a whole name is in no layer, a listed one is always adapted
    ],
)  # fmt: skip
def test_modules_in_chosen_layers(name: str, chosen: Any, is_in: bool) -> None:
    """As PEFT's `check_target_module_exists` decides."""
    own = {"target_modules": ["attn", "c"], "layers_to_transform": chosen}
    assert prediction._name_tests(own).has(name) == is_in


def test_rows_of_adapted_weights() -> None:
    row = created_tensors._weight_row("wte.weight", (2, 3), "embedding")
    assert (row.role, row.group, row.tower, row.part) == ("", "embedding", "text", "weight")
    assert (row.name, row.shape) == ("wte.weight", (2, 3))
    assert created_tensors._weight_row("wte.weight", (2, 3), "embedding", role="x").role == "x"


@pytest.mark.parametrize(
    ("counted", "most", "odd"),
    [
        ({16: 3, 8: 1}, 16, [8]),
        ({16: 1, 8: 1}, 16, [8]),  # the larger of the two
        ({16: 1, 8: 3}, 8, [16]),
        ({16: 2, 8: 2}, 16, []),
        ({16: 3, 8: 1, 4: 1}, 16, []),
        ({16: 1}, 16, []),
        ({}, 1, []),
    ],
)
def test_the_usual_size_and_the_only_other_one(counted: dict[int, int], most: int, odd: list[int]) -> None:
    assert created_tensors._most_common(Counter(counted)) == most
    assert [size for size in counted if created_tensors._is_odd(size, Counter(counted))] == odd
    for size in counted:
        assert created_tensors._module_size(size, Counter(counted)) == (most if size in odd else size)
    assert created_tensors._module_size(None, Counter(counted)) == most


@pytest.mark.parametrize(
    ("words", "shape", "could"),
    [
        (["r", "inputs"], [4, 16], True), (["r", "inputs"], [4], False), (["r"], [4, 16], False),
        (["1", "inputs"], [1, 16], True), (["1", "inputs"], [2, 16], False), (["inputs", "1"], [16, 2], False),
        ([], [], True),
    ],
)  # fmt: skip
def test_shapes_that_a_piece_may_have(words: list[str], shape: list[int], could: bool) -> None:
    assert created_tensors._could_be(words, shape) == could


def test_modules_of_other_layers_are_completed() -> None:
    sizes = {"h.0.q.weight": (1, 2), "h.0.v.weight": (3, 4), "h.1.q.weight": (5, 6), "head.weight": (7, 8)}
    assert created_tensors._with_siblings(sizes) == {**sizes, "h.1.v.weight": (3, 4)}
    assert created_tensors._with_siblings({"q.weight": (1, 2), "v.weight": (1, 2)}) == {
        "q.weight": (1, 2),
        "v.weight": (1, 2),
    }


@pytest.mark.parametrize(
    ("weight", "part", "unmade"),
    [("a", "x", False), ("a", "y", True), ("b", "x", False), ("t", "x", True)],
)
def test_tensors_for_which_peft_has_no_place(weight: str, part: str, unmade: bool) -> None:
    made: Any = {("a", "x"): None}
    assert created_tensors._is_surplus(weight, part, made, {"a", "t"}) == unmade
    assert created_tensors._is_surplus(weight, part, made, set()) == ((weight, part) != ("a", "x"))


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("base_model.model.a.weight", True), ("base_model.a.bias", True), ("model.a.weight", False),
     ("base_model.a.scale", False)],
)  # fmt: skip
def test_weights_of_the_base(name: str, is_one: bool) -> None:
    assert created_tensors._is_weight(name) == is_one


def test_runs_of_words_in_names() -> None:
    assert sorted(created_tensors._module_names(["a.b.c.weight"], {1, 2})) == ["a", "a.b", "b", "b.c", "c"]
    assert sorted(created_tensors._module_names(["a.b", "c"], {1})) == ["a"]


# --- files --------------------------------------------------------------------------------------


@every(
    ("value", "stated"),
    [
        ({"error": "x"}, "x"), ({"message": "x", "status": 404}, "x"), ({"status": 404, "detail": "y"}, "y"),
        ({"error": {"message": "m", "code": 1}}, "m"), ({"error": {"code": 1}}, "{'code': 1}"), ({"error": 3}, "3"),
        ({"error": "x", "vocab": 1}, None), ({"status": 404}, None), ({}, None), ([], None), (None, None),
        ({"error": "x", "message": "y"}, "x"), ({"message": "y", "error": "x"}, "y"),
    ],
)  # fmt: skip
def test_messages_of_servers(value: Any, stated: str | None) -> None:
    assert downloads._message_of_object(json.dumps(value)) == stated


@every(
    ("name", "is_one"),
    [
        ("x.pt", True), ("X.PTH", True), ("x.ckpt", True), ("tokenizer.model", True), ("x.spm", True), ("x.onnx", True),
        ("x.h5", True), ("x.msgpack", True), ("x.tiktoken", True), ("pytorch_model.bin", True),
        ("pytorch_model-00001-of-00002.bin", True), ("my_pytorch_model.bin", False), ("x.bin", False), ("x.txt", False),
    ],
)  # fmt: skip
def test_files_that_are_never_empty(name: str, is_one: bool) -> None:
    assert downloads._is_weights(name.lower()) == is_one


@pytest.mark.parametrize(
    ("start", "is_text"),
    [(b"abc ~\t\r\n", True), (b"a\x7f", False), (b"a\x1f", False), (b"\x80", False), (b"a\0", False), (b"", True)],
)
def test_bytes_that_are_text(start: bytes, is_text: bool) -> None:
    assert downloads._is_text(start) == is_text


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("{}", "config.json", None),
        ("[]", "config.json", "not a JSON object, but '[]'"),
        ("  7 \n", "vocab.json", "not a JSON object, but '7'"),
        ("[]", "modules.json", None),
        (None, "config.json", "not UTF-8 text"),
        ('{"a":\n]}', "modules.json", "not a JSON document: Expecting value at line 2"),
    ],
)
def test_a_broken_json_document_has_its_reason(text: str | None, name: str, why: str | None) -> None:
    assert documents._wrong_with(text, name) == why


@pytest.mark.parametrize(
    ("end", "closed"), [(b"}", True), (b"] \n", True), (b"} x", False), (b"", False), (b'"', False)]
)
def test_the_end_of_a_document(end: bytes, closed: bool) -> None:
    assert (documents._wrong_at_its_ends(b"{", end) is None) == (closed or not end)


@pytest.mark.parametrize(
    ("text", "is_chat"),
    [("llama-chat", True), ("x-Instruct-v2", True), ("gemma-it", True), ("chatty", False), ("unit", False),
     ("bit-x", False), ("it2", True)],
)  # fmt: skip
def test_names_of_chat_models(text: str, is_chat: bool) -> None:
    assert (tokens._CHAT_NAME.search(text) is not None) == is_chat


def test_the_extent_of_a_target() -> None:
    listed = [entry("a.safetensors"), entry("b.safetensors"), entry("config.json"), entry("m.safetensors.index.json")]
    folder = files.extent_of(None, listed, None)
    assert (folder.entries, folder.alone, folder.is_set) == (listed, None, False)
    assert (folder.members, folder.unread, folder.total) == (frozenset(), frozenset(), 4)
    assert all(folder.may_read(each.path) for each in listed)
    one = files.extent_of("a.safetensors", listed, None)
    assert (one.entries, one.alone, one.is_set, one.total) == ([listed[0]], "a.safetensors", False, 1)
    assert [one.may_read(each.path) for each in listed] == [True, False, True, False]
    both = files.extent_of("a.safetensors", listed, frozenset({"a.safetensors", "b.safetensors"}))
    assert (both.entries, both.alone, both.is_set, both.total) == (listed[:2], None, True, 2)
    assert [both.may_read(each.path) for each in listed] == [True, True, True, False]
    index = files.extent_of("m.safetensors.index.json", listed, None)
    assert (index.entries, index.alone, index.is_set, index.members) == (listed, None, False, frozenset())


def test_which_files_are_examined_of_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [entry(path) for path in ("a/b/c.json", "x.txt", "a/d.gguf", "y.txt", "z.json")]
    monkeypatch.setattr(limits, "MAX_FILES", 4)
    of_many = files.extent_of(None, listed, None)
    assert [each.path for each in of_many.entries] == ["z.json", "a/d.gguf", "a/b/c.json", "x.txt"]
    assert (of_many.unread, of_many.total) == ({"y.txt"}, 5)
    assert not of_many.may_read("y.txt")


def test_files_that_are_too_large() -> None:
    asked = list[tuple[str, int]]()

    def excess(path: str, size: int, first: bytes = b"") -> Finding | None:
        def head(name: str, length: int) -> bytes:
            asked.append((name, length))
            return first

        return limits.excess(path, size, head)

    def what(size: str, limit: str) -> str:
        return f"{size} bytes, but no sound file needs {limit}: not checked"

    config = limits.MAX_DOCUMENT
    assert excess("d/config.json", config) is None
    found = excess("d/config.json", config + 1)
    assert found is not None
    assert (found.rule, found.severity, found.path) == ("config", "error", "d/config.json")
    assert excess("my_config.json", config + 1) is None
    assert excess("x.txt", 1 << 40) is None
    assert asked == []
    index = excess("m.safetensors.index.json", MAX_INDEX + 1)
    assert index is not None
    assert index.rule == "index"
    assert excess("m.safetensors.index.json", MAX_INDEX) is None
    most = limits.MAX_HEADER
    assert excess("m.safetensors", 1 << 40, most.to_bytes(8, "little")) is None
    assert excess("m.safetensors", 1 << 40, (most + 1).to_bytes(8, "little") + b"\1" * 8) == Finding(
        "header-size", "error", what("25,165,825", "25,165,824"), "m.safetensors"
    )
    assert asked == [("m.safetensors", 16)] * 2
    beyond = (most + 1).to_bytes(8, "little")
    assert excess("m.safetensors", most, beyond) is None  # beyond the file's end: reported by its reader
    assert excess("m.safetensors", most + 1, beyond) is not None
    assert excess("m.safetensors", 1 << 40, (100_000_000).to_bytes(8, "little")) is not None
    assert excess("m.safetensors", 1 << 40, (100_000_001).to_bytes(8, "little")) is None
    for magic, order in ((b"GGUF", "little"), (b"FUGG", "big")):
        for tensors, size, reported in ((20_000, 1 << 40, False), (20_001, 1 << 40, True), (20_001, 20_001, False)):
            first = magic + b"\0" * 4 + tensors.to_bytes(8, order)  # type: ignore[arg-type]
            assert (excess("m.gguf", size, first) is not None) == reported


# --- names --------------------------------------------------------------------------------------


@every(
    ("name", "decorated"),
    [
        ("model (1).safetensors", True), ("model copy.safetensors", True), ("model copy 2.safetensors", True),
        ("copy of model.safetensors", True), ("old_model.safetensors", True), ("_model.safetensors", True),
        ("model.safetensors.bak", True), ("model.safetensors~", True), ("MODEL_OLD.SAFETENSORS", True),
        ("tmp_abcd12_model.safetensors", True), ("model1.bin", True), ("model123.bin", False),
        ("my_model.safetensors", False), ("model.gguf", False), ("adapter_model-backup.bin", True),
    ],
)  # fmt: skip
def test_names_of_copies(name: str, decorated: bool) -> None:
    assert (file_names._DECORATED.fullmatch(name) is not None) == decorated


@every(
    ("name", "found"),
    [
        ("model.safetensors", True), ("model.fp16.safetensors", True), ("model-00001-of-00002.safetensors", True),
        ("model.safetensors.index.json", True), ("model.safetensors.index.fp16.json", True), ("pytorch_model.bin", True),
        ("model (1).safetensors", False), ("amodel.safetensors", False), ("model.safetensors.bak", False),
    ],
)  # fmt: skip
def test_names_that_loaders_find(name: str, found: bool) -> None:
    assert (file_names._FOUND.fullmatch(name) is not None) == found


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("model.safetensors", True), ("pytorch_model.bin", True), ("model-00001-of-00002.safetensors", True),
     ("model.gguf", False), ("my_model.bin", False), ("model.fp16.safetensors", False)],
)  # fmt: skip
def test_weights_of_transformers(name: str, is_one: bool) -> None:
    assert (file_names._OF_TRANSFORMERS.fullmatch(name) is not None) == is_one


@pytest.mark.parametrize(
    ("path", "folder", "is_one"),
    [
        ("model-00001-of-00002.safetensors", "", True), ("a/model-00001-of-00002.safetensors", "a/", True),
        ("a/model-00001-of-00002.safetensors", "", False), ("model-00001-of-00001.safetensors", "", False),
        ("model-00001-of-00002.bin", "", False), ("x-00001-of-00002.safetensors", "", False),
        ("model.safetensors", "", False),
    ],
)  # fmt: skip
def test_shards_of_a_model(path: str, folder: str, is_one: bool) -> None:
    assert shards._is_shard_of(path, folder) == is_one


@pytest.mark.parametrize(
    ("kind", "stem"),
    [
        ("CLIPImageProcessorFast", "CLIPImageProcessor"), ("CLIPImageProcessorPil", "CLIPImageProcessor"),
        ("CLIPFeatureExtractor", "CLIPImageProcessor"), ("WhisperFeatureExtractor", "WhisperFeatureExtractor"),
    ],
)  # fmt: skip
def test_stems_of_processors(kind: str, stem: str) -> None:
    assert preprocessors._class_stem(kind) == stem


@every(
    ("kind", "alike"),
    [("NewImageProcessor", True), ("NewProcessor", True), ("NewFeatureExtractor", True), ("NewImageProcessorFast", True),
     ("NewImageProcessorPil", True), ("newProcessor", False), ("NewModel", False), ("", False)],
)  # fmt: skip
def test_names_like_a_processors(kind: str, alike: bool) -> None:
    assert preprocessors._looks_like_a_class(kind) == alike


@every(
    ("own", "stated"),
    [
        ({"size": 224}, []), ({"size": [224, 224]}, []), ({"size": {"height": 1, "width": 1}}, []),
        ({"size": {"shortest_edge": 1}}, []), ({"size": {"longest_edge": 1}}, []),
        ({"crop_size": {"max_height": 1, "max_width": 1}}, []), ({"size": {"min_pixels": 1, "max_pixels": 1}}, []),
        ({"size": {"width": 1, "depth": 1}}, ["size has depth, width, but no height and width or edge length"]),
        ({"crop_size": [1, 2, 3]}, ["crop_size is [1, 2, 3], but should be a height and a width"]),
        ({"size": [1]}, ["size is [1], but should be a height and a width"]),
        ({"size": "224"}, ['size is "224", but should be a number or an object']),
        (
            {"size": {}, "crop_size": "x"},
            ["size has , but no height and width or edge length", 'crop_size is "x", but should be a number or an object'],
        ),
        ({"size": None}, []),
    ],
)  # fmt: skip
def test_sizes_of_images(own: dict[str, Any], stated: list[str]) -> None:
    assert list(preprocessors._wrong_sizes(own)) == stated


# --- tokenizers ---------------------------------------------------------------------------------


@every(
    ("raw", "highest"),
    [
        (b'"a": 3, "b": 7}', 7), (b'"a": 9,"b":2 }', 9), (b'"a": 3', None), (b"}", None), (b'"a": "x"}', None),
        (b'"a": 1234567890}', None), (b'"a\\"b": 5}x', 5), (b'"a": 3, }', None),
    ],
)  # fmt: skip
def test_the_highest_id_of_a_vocabulary(raw: bytes, highest: int | None) -> None:
    assert tokenizer_json._highest_of_pairs(raw, 0) == highest
    assert tokenizer_json._highest_of_pairs(b"xx" + raw, 2) == highest
    assert tokenizer_json._highest_in_object(b" {" + raw) == highest


@pytest.mark.parametrize(
    ("raw", "highest"),
    [(b'["a", 0.5], ["b", -1e-3]]', 1), (b'["a", 0]]', 0), (b'["a", 0],', None), (b'["a"]]', None), (b"]", None)],
)
def test_the_last_piece_of_a_list(raw: bytes, highest: int | None) -> None:
    assert tokenizer_json._last_of_pieces(raw, 0) == highest
    assert tokenizer_json._last_of_pieces(b"xx" + raw, 2) == highest


def test_an_object_begins_with_a_brace() -> None:
    assert tokenizer_json._highest_in_object(b'["a": 3}') is None
    assert tokenizer_json._highest_in_object(b"") is None


@every(
    ("raw", "count"),
    [
        (b"\x0a\x02ab" * 3, 3), (b"\x0a\x02ab" * 3 + b"\x12\x01x", 3), (b"\x12\x01x", None), (b"", 0),
        (b"\x0a\x02ab\x0a\x05ab", None), (b"\x0a\x80\x01" + b"x" * 128, 1), (b"\x0a\x81\x01" + b"x" * 128, None),
        (b"\x0a\x00", 1), (b"text", None),
    ],
)  # fmt: skip
def test_pieces_of_sentencepiece_are_counted(raw: bytes, count: int | None) -> None:
    assert tokenizer_json._count_of_pieces(raw) == count


# --- harm ---------------------------------------------------------------------------------------


@every(
    ("data", "what"),
    [
        (b"\0\0 \r\n\tMZ\x90", "a Windows program"), (b"xMZ\x90", None), (b"x" * 9 + b"PK\x03\x04", "a ZIP archive"),
        (b"xPK\x05\x06", "the end of a ZIP archive"), (b"x%PDF", None), (b"%PDF", "a PDF document"), (b"", None),
        (b"#!/bin", "a script"), (b"\x80\x04\x95", "a pickle"), (b"\x80\x04\x94", None),
    ],
)  # fmt: skip
def test_files_within_unclaimed_bytes(data: bytes, what: str | None) -> None:
    assert hidden_code._kind_of_hidden(data) == what


def test_many_names_are_cut() -> None:
    assert hidden_code._first_few(("a", "b" * 81)) == "a, " + "b" * 80
    assert hidden_code._first_few(tuple("abcde")) == "a, b, c, d, e"
    assert hidden_code._first_few(tuple("abcdefg")) == "a, b, c, d, e and 2 more"
