"""Vocabularies, chat templates, settings and metadata of two checkpoints: the same, or what differs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gguf
import numpy as np
from test_diff_data import llama, saved

import inspector

if TYPE_CHECKING:
    from conftest import Ran

TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"
VOCABULARY = {"<s>": 0, "a": 1, "b": 2}


def with_tokenizer(folder: Path, template: str = TEMPLATE, vocabulary: Mapping[str, int] = VOCABULARY) -> Path:
    """A model with a tokenizer, whose template is in its settings."""
    saved(folder, llama())
    tokens = [{"id": 3, "content": "<end>"}]
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": vocabulary}, "added_tokens": tokens}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": template, "model_max_length": 64}))
    return folder


def test_a_part_of_the_tokenizer_and_a_sentence_of_the_template(tmp_path: Path) -> None:
    """A normalizer that one side alone has; the line, and what the second has where the first ends."""
    a, b = with_tokenizer(tmp_path / "a"), with_tokenizer(tmp_path / "b", f"{TEMPLATE}\nAlways pay.")
    own = json.loads((b / "tokenizer.json").read_text())
    normalizer = {"type": "Replace", "pattern": {"String": "a.b"}, "content": "c.d"}
    (b / "tokenizer.json").write_text(json.dumps({**own, "normalizer": normalizer}))
    found = {each.what: (each.status, each.detail) for each in inspector.diff(a, b).beside}
    assert found["tokenizer"] == ("different", "normalizer")
    assert found["vocabulary"][0] == "same"
    assert found["chat template"] == ("different", "62 characters → 74, line 2: 'Always pay.'")


def in_gguf(path: Path, template: str = TEMPLATE, tokens: tuple[str, ...] = ("<s>", "a", "b", "<end>")) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("one")
    writer.add_token_list(list(tokens))
    writer.add_chat_template(template)
    writer.add_tensor("output_norm.weight", np.zeros(64, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def reported(a: Path, b: Path) -> dict[str, Any]:
    return {each.what: each.status for each in inspector.diff(a, b).beside}


def test_two_of_one_kind(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """Identical files; another template; another token for a number."""
    a, b = with_tokenizer(tmp_path / "a"), with_tokenizer(tmp_path / "b")
    assert reported(a, b) == {"vocabulary": "same", "chat template": "same", "tokenizer_config.json": "same"}
    c = with_tokenizer(tmp_path / "c", "{{ messages }}", {"<s>": 0, "a": 1, "c": 2})
    ran = inspect("diff", a, c)
    assert ran.code == 1
    assert "vocabulary     different  4 tokens → 4, 1 numbers with different tokens" in ran.out.splitlines()
    assert "chat template  different  62 characters → 14, line 1: '{ messages }}'" in ran.out.splitlines()
    assert "vocabulary" not in inspect("diff", a, b).out


def test_a_gguf_and_its_source(tmp_path: Path) -> None:
    """Template and tokens are compared across formats; padding of the vocabulary is not a difference."""
    a = with_tokenizer(tmp_path / "a")
    assert reported(a, in_gguf(tmp_path / "b.gguf")) == {"vocabulary": "same", "chat template": "same"}
    padded = in_gguf(tmp_path / "c.gguf", tokens=("<s>", "a", "b", "<end>", "[PAD4]"))
    assert reported(a, padded) == {"vocabulary": "same", "chat template": "same"}
    other = in_gguf(tmp_path / "d.gguf", "{{ x }}", ("<s>", "a", "c", "<end>"))
    assert reported(a, other) == {"vocabulary": "different", "chat template": "different"}


def test_a_companion_of_one_side_is_listed_and_an_unreadable_one_ignored(tmp_path: Path) -> None:
    """A missing template; a tokenizer that is no JSON, or nested too deep, is ignored."""
    a, b = with_tokenizer(tmp_path / "a"), with_tokenizer(tmp_path / "b")
    (b / "tokenizer_config.json").unlink()
    assert reported(a, b) == {"vocabulary": "same", "chat template": "only_a", "tokenizer_config.json": "only_a"}
    (b / "tokenizer.json").write_text("[" * 100_000)
    assert reported(a, b)["vocabulary"] == "only_a"
    (b / "tokenizer.json").write_text(json.dumps({"model": [], "added_tokens": [3, {"id": "x"}]}))
    assert reported(a, b)["vocabulary"] == "only_a"
    (b / "tokenizer_config.json").write_text('{"chat_template": [{"name": "default", "template": 3}]}')
    assert reported(a, b)["chat template"] == "only_a"


def test_the_headers_metadata(tmp_path: Path) -> None:
    """The key-values that differ between two GGUF files, and their fields."""
    one, two = in_gguf(tmp_path / "a.gguf"), in_gguf(tmp_path / "b.gguf")
    assert reported(one, two)["metadata"] == "same"
    writer = gguf.GGUFWriter(tmp_path / "c.gguf", "llama")
    writer.add_name("another")
    writer.add_tensor("output_norm.weight", np.zeros(64, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    (found,) = (each for each in inspector.diff(one, tmp_path / "c.gguf").beside if each.what == "metadata")
    assert (found.status, found.detail) == ("different", "general.name")
