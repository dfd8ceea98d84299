"""Faults of tokenizers: vocabularies, merges, special tokens, stages, classes, templates. Each is `change(folder, path, others, draw)`."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from faulty import Done, written


def vocabulary(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """The vocabulary of tokenizer.json is some tokens shorter or longer."""
    document = json.loads(path.read_text())
    vocab = document["model"]["vocab"]
    count = draw.choice((1, 3, 40, 200))
    more = draw.random() < 0.5
    if isinstance(vocab, dict):
        if more:
            highest = max(vocab.values())
            vocab |= {f"zz{number}": highest + 1 + number for number in range(count)}
        else:
            for token in draw.sample(sorted(vocab), min(count, len(vocab) - 1)):
                del vocab[token]
    else:
        document["model"]["vocab"] = (
            vocab + [[f"zz{number}", -9.0] for number in range(count)] if more else vocab[:-count]
        )
    written(path, document)
    return "vocabulary ±k", f"{'+' if more else '-'}{count}"


def token(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """An added token has another id or text, or is gone; or there is one more."""
    document = json.loads(path.read_text())
    added = document["added_tokens"]
    if not added:
        return None
    token = draw.choice(added)
    how = draw.randrange(4)
    if how == 0:
        token["id"] = draw.choice((token["id"] + 1, 5000, len(added)))
    elif how == 1:
        token["content"] += "x"
    elif how == 2:
        added.remove(token)
    else:
        added.append({**token, "id": draw.choice((310, 999)), "content": "<|more|>"})
    written(path, document)
    return "added tokens", ("id", "text", "gone", "more")[how] + f" {token['content']}"


def merges(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    document = json.loads(path.read_text())
    merges = document["model"].get("merges")
    if not merges:
        return None
    how = draw.randrange(3)
    if how == 0:
        del document["model"]["merges"]
    elif how == 1:
        merges.append(["qq", "zz"])
    else:
        document["model"]["merges"] = merges[: len(merges) // 2]
    written(path, document)
    return "merges", ("gone", "unknown pieces", "half of them")[how]


def lines(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """A list of tokens or merges is shorter, longer, or has a line twice."""
    lines = path.read_text().splitlines()
    count = draw.choice((1, 10, 300))
    how = draw.randrange(3)
    if how == 0:
        lines = lines[: max(1, len(lines) - count)]
    elif how == 1:
        lines += [f"zz{number} yy" if path.name == "merges.txt" else f"zz{number}" for number in range(count)]
    else:
        lines.insert(draw.randrange(len(lines)), lines[-1])
    path.write_text("\n".join(lines) + "\n")
    return "lines of a list", ("fewer", "more", "twice")[how] + f" {count}"


_STAGES: dict[str, tuple[Any, ...]] = {
    "normalizer": ({"type": "NFKC"}, {"type": "Upper"}, {"type": "Replace", "pattern": " "}, "Lowercase"),
    "pre_tokenizer": (
        {"type": "Whitespace"},
        {"type": "ByteLevel"},
        {"type": "Fast"},
        {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": False},
    ),
    "post_processor": (
        {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]},
        {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}],
            "pair": [],
            "special_tokens": {},
        },
        {"type": "RobertaProcessing"},
    ),
    "decoder": ({"type": "WordPiece", "prefix": "##", "cleanup": True}, {"type": "Nice"}, {"type": "Fuse"}),
    "truncation": (
        {"max_length": 8, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        {"max_length": -1},
        {"max_length": 4, "stride": 9, "strategy": "LongestFirst", "direction": "Right"},
    ),
    "padding": (
        {
            "strategy": {"Fixed": 8},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 9999,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        {"strategy": "Long"},
    ),
    "version": ("2.0", 1, "0.9"),
}


def stage(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """One stage of a tokenizer is gone, or another that exists or does not."""
    values = json.loads(path.read_text())
    name = draw.choice(sorted(_STAGES))
    if draw.random() < 0.25:
        values.pop(name, None)
        new: Any = "gone"
    else:
        new = values[name] = draw.choice(_STAGES[name])
    written(path, values)
    return f"stage {name}", str(new)[:60]


def other_vocabulary(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """Ids twice, negative, as texts or with holes; or the model under another name."""
    values = json.loads(path.read_text())
    own = values["model"]
    vocab = own["vocab"]
    how = draw.choice(("model type", "unknown token", "form", "ids twice", "hole", "text id", "negative"))
    if how == "model type":
        own["type"] = draw.choice([each for each in ("BPE", "WordPiece", "Unigram", "WordLevel", "Chars") if each != own.get("type")])  # fmt: skip
    elif how == "unknown token":
        own["unk_id" if own.get("type") == "Unigram" else "unk_token"] = 9999 if own.get("type") == "Unigram" else "zz?"
    elif how == "form":
        own["vocab"] = [[token, 0.0] for token in vocab] if isinstance(vocab, dict) else {each[0]: at for at, each in enumerate(vocab)}  # fmt: skip
    elif not isinstance(vocab, dict):
        return None
    else:
        token = draw.choice(sorted(vocab))
        number = vocab[token]
        vocab[token] = {"ids twice": 5, "hole": number + 1000, "text id": str(number), "negative": -1}[how]
    written(path, values)
    return f"tokenizer's {how}", how


def special(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """The added tokens' list has an entry twice, is unsorted, empty, a dictionary, or lacks a field."""
    values = json.loads(path.read_text())
    added = values["added_tokens"]
    if len(added) < 2:
        return None
    how = draw.choice(("twice", "unsorted", "empty", "dictionary", "less a field", "same id", "ids moved"))
    if how == "twice":
        added.append(added[0])
    elif how == "unsorted":
        added.reverse()
    elif how == "empty":
        values["added_tokens"] = []
    elif how == "dictionary":
        values["added_tokens"] = {each["content"]: each["id"] for each in added}
    elif how == "less a field":
        added[0].pop(draw.choice(sorted(added[0])))
    elif how == "same id":
        added[1]["id"] = added[0]["id"]
    else:
        for each in added:
            each["id"] += 400
    written(path, values)
    return f"added tokens {how}", how


def tokenizer_class(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    values = json.loads(path.read_text())
    new = draw.choice(("LlamaTokenizer", "BertTokenizer", "T5Tokenizer", "GPT2TokenizerFast", "MyTokenizer", "CLIPTokenizer", "XLMRobertaTokenizer", "PreTrainedTokenizer", None, ""))  # fmt: skip
    old = values.get("tokenizer_class")
    values["tokenizer_class"] = new
    written(path, values)
    return "tokenizer's class", f"{old} → {new}"


def decoder(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """Special tokens as documents, as ids, unknown ones, or described at another id."""
    values = json.loads(path.read_text())
    how = draw.choice(("document", "id", "unknown", "described elsewhere", "described badly", "extra", "length", "names"))  # fmt: skip
    if how == "document":
        values["pad_token"] = {"__type": "AddedToken", "content": "<mine>", "lstrip": False, "rstrip": False, "normalized": False, "single_word": False}  # fmt: skip
    elif how == "id":
        values["eos_token"] = 2
    elif how == "unknown":
        values["eos_token"] = "<|finished|>"
    elif how == "described elsewhere":
        values["added_tokens_decoder"] = {"5000": {"content": "<s>", "special": True}}
    elif how == "described badly":
        values["added_tokens_decoder"] = draw.choice(({"a": {"content": "<s>"}}, {"0": "<s>"}, {"0": {"special": True}}, ["<s>"]))  # fmt: skip
    elif how == "extra":
        values["extra_special_tokens"] = draw.choice((["<a>", "<b>"], {"image_token": "<image>"}, "<a>", [1]))
    elif how == "length":
        values["model_max_length"] = draw.choice((10**30, 1e30, "512", -1, 0))
    else:
        values["model_input_names"] = draw.choice((["input_ids", "pixels"], "input_ids", [1]))
    written(path, values)
    return f"tokenizer's settings: {how}", how


def template(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """A chat template that Jinja does not parse, or that calls what is not there; or in another form."""
    template: Any = draw.choice(
        (
            "{% for m in messages %}{{ m['content'] }}",
            "{{ messages[0]['content' }}",
            "{% if x %}",
            "{{ missing(messages) }}",
            "{% include 'other' %}",
            "{{ messages | shout }}",
            "",
            {"default": "{{ messages }}"},
            [{"name": "default", "template": "{{ messages }}"}],
            [{"name": "a"}],
            ["{{ messages }}"],
            7,
        )
    )
    if path.suffix == ".jinja":
        path.write_text(template if isinstance(template, str) else json.dumps(template))
    else:
        values = json.loads(path.read_text())
        values["chat_template"] = template
        written(path, values)
    return "template", str(template)[:60]
