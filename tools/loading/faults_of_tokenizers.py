"""Faults of tokenizers: vocabularies, merges, added tokens, lists of lines."""

from __future__ import annotations

import random
from typing import Any

from fault import JSON, TEXT, Table, drawn

Document = dict[str, Any]


def _longer(document: Document, draw: random.Random) -> Document:
    vocab, count = document["model"]["vocab"], draw.choice((1, 3, 40, 200))
    if isinstance(vocab, dict):
        highest = max(vocab.values())
        vocab |= {f"zz{number}": highest + 1 + number for number in range(count)}
    else:
        vocab += [[f"zz{number}", -9.0] for number in range(count)]
    return document


def _shorter(document: Document, draw: random.Random) -> Document:
    vocab, count = document["model"]["vocab"], draw.choice((1, 3, 40, 200))
    if isinstance(vocab, dict):
        for token in draw.sample(sorted(vocab), min(count, len(vocab) - 1)):
            del vocab[token]
    else:
        document["model"]["vocab"] = vocab[:-count]
    return document


_vocabulary = drawn("vocabulary {}", JSON, {"longer": _longer, "shorter": _shorter})


def _of_model(name: Any, value: Any) -> Any:
    """Replace a field of a tokenizer's model, of this name or the function's, by the function's result for the model."""

    def way(document: Document, draw: random.Random) -> Document | None:
        own = document["model"]
        new = value(own, draw)
        field = name(own) if callable(name) else name
        return None if new is None else document | {"model": own | {field: new}}

    return way


def _other_form(own: Document, draw: random.Random) -> Any:
    vocab = own["vocab"]
    return (
        [[token, 0.0] for token in vocab] if isinstance(vocab, dict) else {each[0]: at for at, each in enumerate(vocab)}
    )


def _other_id(change: Any) -> Any:
    """Give a token another id."""

    def value(own: Document, draw: random.Random) -> Document | None:
        vocab = own["vocab"]
        if not isinstance(vocab, dict):
            return None
        token = draw.choice(sorted(vocab))
        return vocab | {token: change(vocab[token])}

    return _of_model("vocab", value)


MODELS = ("BPE", "WordPiece", "Unigram", "WordLevel", "Chars")
#: Ids twice, negative, as texts or with holes; or the model under another name.
_model = drawn(
    "tokenizer's {}",
    JSON,
    {
        "model type": _of_model(
            "type", lambda own, draw: draw.choice([each for each in MODELS if each != own.get("type")])
        ),
        "unknown token": _of_model(
            lambda own: "unk_id" if own.get("type") == "Unigram" else "unk_token",
            lambda own, draw: 9999 if own.get("type") == "Unigram" else "zz?",
        ),
        "form": _of_model("vocab", _other_form),
        "ids twice": _other_id(lambda number: 5),
        "hole": _other_id(lambda number: number + 1000),
        "text id": _other_id(str),
        "negative": _other_id(lambda number: -1),
    },
)


def _merges(change: Any) -> Any:
    """Replace the merges by the result of a function; None removes them."""

    def way(document: Document, draw: random.Random) -> Document | None:
        own = document["model"]
        if not own.get("merges"):
            return None
        return document | {"model": {**own, "merges": change(own["merges"])}}

    return way


def _without_merges(document: Document, draw: random.Random) -> Document | None:
    return document if document["model"].pop("merges", None) else None


_merge_faults = drawn(
    "merges: {}",
    JSON,
    {
        "gone": _without_merges,
        "unknown pieces": _merges(lambda merges: [*merges, ["qq", "zz"]]),
        "half of them": _merges(lambda merges: merges[: len(merges) // 2]),
    },
)


def _added(change: Any) -> Any:
    """Replace the added tokens by the result of a function."""

    def way(document: Document, draw: random.Random) -> Document | None:
        added = document["added_tokens"]
        return document | {"added_tokens": change(added, draw)} if len(added) > 1 else None

    return way


def _one_added(change: Any) -> Any:
    """Change fields of one of the added tokens."""

    def way(added: list[Document], draw: random.Random) -> list[Document]:
        one = draw.choice(added)
        return [each | change(each, draw) if each is one else each for each in added]

    return _added(way)


def _more_added(added: list[Document], draw: random.Random) -> list[Document]:
    return [*added, {**draw.choice(added), "id": draw.choice((310, 999)), "content": "<|more|>"}]


def _less_a_field(added: list[Document], draw: random.Random) -> list[Document]:
    gone = draw.choice(sorted(added[0]))
    return [{key: value for key, value in added[0].items() if key != gone}, *added[1:]]


def _without_added(added: list[Document], draw: random.Random) -> list[Document]:
    gone = draw.choice(added)
    return [each for each in added if each is not gone]


_added_tokens = drawn(
    "added tokens: {}",
    JSON,
    {
        "id": _one_added(lambda token, draw: {"id": draw.choice((token["id"] + 1, 5000, 4))}),
        "text": _one_added(lambda token, draw: {"content": token["content"] + "x"}),
        "gone": _added(_without_added),
        "more": _added(_more_added),
        "twice": _added(lambda added, draw: [*added, added[0]]),
        "unsorted": _added(lambda added, draw: added[::-1]),
        "empty": _added(lambda added, draw: []),
        "dictionary": _added(lambda added, draw: {each["content"]: each["id"] for each in added}),
        "less a field": _added(_less_a_field),
        "same id": _added(lambda added, draw: [added[0], {**added[1], "id": added[0]["id"]}, *added[2:]]),
        "ids moved": _added(lambda added, draw: [{**each, "id": each["id"] + 400} for each in added]),
    },
)


def _lines(change: Any) -> Any:
    """Replace the lines by the result of a function of them and of a count."""

    def way(text: str, draw: random.Random) -> str:
        return "\n".join(change(text.splitlines(), draw.choice((1, 10, 300)))) + "\n"

    return way


def _list(more: str) -> Any:
    """Shorten or lengthen a list of tokens or merges, or repeat a line."""
    return drawn(
        "lines of a list: {}",
        TEXT,
        {
            "fewer": _lines(lambda lines, count: lines[: max(1, len(lines) - count)]),
            "more": _lines(lambda lines, count: [*lines, *(more.format(number) for number in range(count))]),
            "twice": _lines(lambda lines, count: [*lines[: len(lines) // 2], lines[-1], *lines[len(lines) // 2 :]]),
        },
    )


TOKENIZERS: Table = [
    ("tokenizer.json", 3, _vocabulary),
    ("tokenizer.json", 2, _added_tokens),
    ("tokenizer.json", 1, _merge_faults),
    ("tokenizer.json", 1, _model),
    ("vocab.txt", 1, _list("zz{}")),
    ("merges.txt", 1, _list("zz{} yy")),
]
