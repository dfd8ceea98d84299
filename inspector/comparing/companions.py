"""What accompanies the tensors of two checkpoints: vocabulary, chat template, settings, metadata.

companions(a, b) → a `Companion` for each of these that either side has
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from typing import Any, Literal, NamedTuple

from inspector.errors import InspectorError
from inspector.formats.gguf.values import KeyValues
from inspector.model import Checkpoint
from inspector.sources import Place
from inspector.sources.targets import place_again
from inspector.units import integer, plural

#: Bytes of a file that are read locally; fewer over a network, where only headers are expected.
MOST_LOCAL, MOST_REMOTE = 64 * 1024 * 1024, 1024 * 1024
#: Bytes of a vocabulary that is fetched if no digest shows whether it is the same.
MOST_FETCHED = 32 * 1024 * 1024
#: Settings that are compared field by field.
SETTINGS = ("tokenizer_config.json", "generation_config.json")
TEMPLATE, TOKENS = "tokenizer.chat_template", "tokenizer.ggml.tokens"
#: Parts of tokenizer.json that change a text.
PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
_UNCOMPARED = frozenset({"transformers_version", "chat_template", "_from_model_config", "name_or_path"})
#: GGUF's key-values that are in configurations, or compared separately.
_ELSEWHERE = ("tokenizer.", "split.", "general.architecture", "general.alignment")
_NAMED = 3  # differences that are named
#: llama.cpp's converter's names for tokens that pad a vocabulary to the embedding's rows.
PADDING = "[PAD"


class Companion(NamedTuple):
    """Something other than a tensor."""

    what: str  # "chat template", "vocabulary", "generation_config.json", …
    status: Literal["same", "different", "only_a", "only_b"]
    detail: str = ""  # what differs, as text


class _Files:
    """The small files of one checkpoint, and its header's key-values."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.metadata = next((header.metadata for header in checkpoint.files), {})
        self.format = checkpoint.format
        self._place: Place | None = None
        self._texts: dict[str, str] = {}
        self.is_local = checkpoint.origin.kind == "local"
        self._most = MOST_LOCAL if self.is_local else MOST_REMOTE
        if checkpoint.other is not None:
            with suppress(InspectorError):
                self._place = place_again(checkpoint.target, checkpoint.origin)

    def close(self) -> None:
        if self._place is not None:
            self._place.close()

    def size(self, name: str) -> int | None:
        return self._place.files.get(name) if self._place else None

    def text(self, name: str, most: int = 0) -> str | None:
        """A file's text; None if absent or too long."""
        most = max(most, self._most)
        if name not in self._texts:
            with suppress(InspectorError):
                if self._place is not None and 0 < self._place.files.get(name, 0) <= most:
                    self._texts[name] = self._place.read_text(name, most)
        return self._texts.get(name)

    def stated_digest(self, name: str) -> str | None:
        """The Hub's digest of a file: the SHA-256 of a large one, git's SHA-1 of a small one."""
        return getattr(self._place, "digests", {}).get(name)

    def digest(self, name: str, like: str) -> str | None:
        """A file's digest, of the same kind as another's; None if the file would have to be fetched."""
        stated = self.stated_digest(name)
        if stated is not None or not self.is_local:
            return stated if stated is not None and len(stated) == len(like) else None
        with suppress(InspectorError):
            if self._place is not None and 0 < self._place.files.get(name, 0) <= self._most:
                return _digest_like(self._place.read_bytes(name, self._most), like)
        return None

    def document(self, name: str) -> Mapping[str, Any] | None:
        """A JSON object; None for anything else."""
        with suppress(ValueError, RecursionError):
            found = json.loads(self.text(name) or "null")
            return found if isinstance(found, dict) else None
        return None

    def template(self) -> str | None:
        """The default chat template."""
        if isinstance(self.metadata, KeyValues):
            found = self.metadata.get(TEMPLATE)
            return found if isinstance(found, str) else None
        alone = self.text("chat_template.jinja")
        if alone is not None:
            return alone
        for name in ("chat_template.json", SETTINGS[0]):
            found = (self.document(name) or {}).get("chat_template")
            if isinstance(found, list):
                named = {each.get("name"): each.get("template") for each in found if isinstance(each, dict)}
                found = named.get("default")
            if isinstance(found, str):
                return found
        return None

    def vocabulary(self) -> Mapping[int, str] | None:
        """Number → token; None if it is not in a known format."""
        if isinstance(self.metadata, KeyValues):
            tokens = self.metadata.get(TOKENS)
            return dict(enumerate(map(str, tokens))) if isinstance(tokens, (list, tuple)) else None
        document = self.document("tokenizer.json") or {}
        model = document.get("model")
        found = dict(_numbered_tokens(model.get("vocab"))) if isinstance(model, dict) else {}
        for token in document.get("added_tokens") or ():
            if isinstance(token, dict) and isinstance(token.get("id"), int):
                found[token["id"]] = str(token.get("content"))
        return found or None


def _digest_like(data: bytes, like: str) -> str:
    """SHA-256, or git's SHA-1, according to the other digest's length."""
    if len(like) == hashlib.sha256().digest_size * 2:
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _is_same(name: str, a: _Files, b: _Files) -> bool | None:
    """Whether both have the same file, without fetching it; None if unknown."""
    sizes = a.size(name), b.size(name)
    if None in sizes:
        return None
    if sizes[0] != sizes[1]:
        return False
    like = a.stated_digest(name) or b.stated_digest(name)
    if like is None:
        return None
    digests = a.digest(name, like), b.digest(name, like)
    return digests[0] == digests[1] if None not in digests else None


def _numbered_tokens(vocabulary: Any) -> Iterator[tuple[int, str]]:
    """BPE's object of tokens and numbers, or Unigram's list of tokens and scores."""
    if isinstance(vocabulary, dict):
        yield from ((number, token) for token, number in vocabulary.items() if isinstance(number, int))
    elif isinstance(vocabulary, list):
        yield from ((at, str(each[0])) for at, each in enumerate(vocabulary) if isinstance(each, list) and each)


def companions(a: Checkpoint, b: Checkpoint) -> tuple[Companion, ...]:
    """Everything in two checkpoints besides tensors and configurations, and whether it is the same."""
    with closing(_Files(a)) as own, closing(_Files(b)) as other:
        found = [_compared_vocabularies(own, other), _compared_parts(own, other), _compared_templates(own, other)]
        found += [_compared_settings(name, own, other) for name in SETTINGS]
        return tuple(each for each in (*found, _compared_metadata(own, other)) if each)


def _only_on_one_side(what: str, a: _Files, b: _Files, has: tuple[object, object]) -> Companion | None:
    """Which side alone has something; empty if neither has it, or if one side is only weights, which lack it anyway."""
    own, other = has
    if (own is None and other is None) or a.format != b.format:
        return None
    return Companion(what, "only_b" if own is None else "only_a")


def _compared_templates(a: _Files, b: _Files) -> Companion | None:
    own, other = a.template(), b.template()  # each from a small file
    if own is None or other is None:
        return _only_on_one_side("chat template", a, b, (own, other))
    same = own.strip() == other.strip()
    detail = "" if same else f"{plural(len(own), 'character')} → {integer(len(other))}, {_first_difference(own, other)}"
    return Companion("chat template", "same" if same else "different", detail)


def _first_difference(own: str, other: str) -> str:
    """The line in which two texts begin to differ, and what the second has there."""
    at = next(
        (at for at, (one, two) in enumerate(zip(own, other, strict=False)) if one != two), min(len(own), len(other))
    )
    start = len(other) - len(other[at:].lstrip())
    return f"line {integer(other.count(chr(10), 0, start) + 1)}: {' '.join(other[start : start + 60].split())!r:.48}"


def _compared_parts(a: _Files, b: _Files) -> Companion | None:
    """The parts of a tokenizer beside its vocabulary, which rewrite what it is given and what it returns."""
    sides = [side.document("tokenizer.json") for side in (a, b)] if not _is_same("tokenizer.json", a, b) else []
    if not sides or None in sides:
        return None
    own, other = ({part: each.get(part) for part in PARTS} for each in sides if each)
    found = _compared_fields("tokenizer", own, other, frozenset())
    return found if found.status == "different" else None


def _compared_vocabularies(a: _Files, b: _Files) -> Companion | None:
    name = "tokenizer.json"
    if None not in (a.size(name), b.size(name)):
        same = _is_same(name, a, b)
        known = a.stated_digest(name) is not None or b.stated_digest(name) is not None
        texts = [] if same else [each.text(name, 0 if known else MOST_FETCHED) for each in (a, b)]
        if same or (len(set(texts)) == 1 and None not in texts):
            return Companion("vocabulary", "same")
        if None in texts:  # too large to fetch
            evidence = "by its digest" if a.size(name) == b.size(name) else "by its size"
            return Companion("vocabulary", "different", evidence)
    own, other = a.vocabulary(), b.vocabulary()
    if own is None or other is None:
        return _only_on_one_side("vocabulary", a, b, (own, other))
    unlike = [number for number in own.keys() & other.keys() if own[number] != other[number]]
    both = {**own, **other}
    extra = [number for number in own.keys() ^ other.keys() if not both[number].startswith(PADDING)]
    if not unlike and not extra:
        return Companion("vocabulary", "same", plural(min(len(own), len(other)), "token"))
    counts = f"{plural(len(own), 'token')} → {integer(len(other))}"
    return Companion("vocabulary", "different", f"{counts}, {integer(len(unlike))} numbers with different tokens")


def _compared_settings(name: str, a: _Files, b: _Files) -> Companion | None:
    if _is_same(name, a, b):
        return Companion(name, "same")
    own, other = a.document(name), b.document(name)
    if own is None or other is None:
        return _only_on_one_side(name, a, b, (own, other))
    return _compared_fields(name, own, other, _UNCOMPARED)


def _compared_metadata(a: _Files, b: _Files) -> Companion | None:
    """The metadata of headers, for two checkpoints of one format."""
    if a.format != b.format:
        return None
    own, other = (
        {key: side.metadata.get(key) for key in side.metadata if not key.startswith(_ELSEWHERE)} for side in (a, b)
    )
    return _compared_fields("metadata", own, other, frozenset()) if own or other else None


def _compared_fields(what: str, a: Mapping[str, Any], b: Mapping[str, Any], without: frozenset[str]) -> Companion:
    unlike = [key for key in {**a, **b} if key not in without and a.get(key) != b.get(key)]
    if not unlike:
        return Companion(what, "same")
    more = f" and {integer(len(unlike) - _NAMED)} more" if len(unlike) > _NAMED else ""
    return Companion(what, "different", ", ".join(unlike[:_NAMED]) + more)
