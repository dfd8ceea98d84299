"""What the tokenizers library accepts as a tokenizer.json: its components, their types, and required fields.

As of tokenizers 0.23, whose normalizers, pre-tokenizers, post-processors and decoders are serialized so. A field in
brackets is optional. Types: s string, i integer, f number, b boolean, n null, l list, d object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from inspector.auditing import data
from inspector.auditing.readers import graphs
from inspector.auditing.subject import Subject

_NAMES = data.names("tokenizers")

#: Component of a tokenizer → type → its fields.
PARTS: Mapping[str, Mapping[str, Mapping[str, str]]] = _NAMES["parts"]
#: Field with a list of nested components → the kind of those components.
_INNER = _NAMES["inner"]
_ADDED = _NAMES["added"]
_TRUNCATION = _NAMES["truncation"]
_PADDING = _NAMES["padding"]
_KINDS = ((bool, "b"), (int, "i"), (float, "f"), (str, "s"), (type(None), "n"), (dict, "d"), (list, "l"))
_WORDS = _NAMES["words"]
#: Fields that take only certain words.
_CHOICES: Mapping[str, tuple[str, ...]] = _NAMES["choices"]
#: The words of strategies; a padding's may also be an object, with a length.
_STRATEGIES: Mapping[str, tuple[str, ...]] = _NAMES["strategies"]
_DEPTH = 8
#: Models that fail on an unknown word if the vocabulary has no token for it, and the default token.
_UNKNOWN = {"WordPiece": "[UNK]", "WordLevel": "<unk>"}


def refusals(own: Mapping[str, Any]) -> Iterator[str]:
    """Why the library would reject a tokenizer; each reason in a few words."""
    for part in PARTS:
        if own.get(part) is not None:
            yield from _of_part(part, own[part], part, 0)
    for at, token in enumerate(_listed(own.get("added_tokens"))):
        if not isinstance(token, Mapping):
            yield f"added_tokens.{at} is not an object"
        else:
            yield from _of_fields(token, _ADDED, f"added_tokens.{at}")
    for name, fields in (("truncation", _TRUNCATION), ("padding", _PADDING)):
        if isinstance(own.get(name), Mapping):
            yield from _of_fields(own[name], fields, name)
            yield from _of_lengths(own[name], name)
        elif own.get(name) is not None:
            yield f"{name} is not an object"
    model = own.get("model")
    if isinstance(model, Mapping):
        yield from _of_vocabulary(model)


def _of_lengths(own: Mapping[str, Any], name: str) -> Iterator[str]:
    """Truncation or padding with a strategy that there is not, or no way forward."""
    strategy, longest, stride = (own.get(field) for field in ("strategy", "max_length", "stride"))
    if isinstance(strategy, str) and strategy not in _STRATEGIES[name]:
        yield f"{name}.strategy is {strategy!r:.40}, but should be one of {', '.join(_STRATEGIES[name])}"
    if type(longest) is type(stride) is int and 0 < longest <= stride:
        yield f"{name} has a stride of {stride}, but a length of {longest} tokens"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _of_part(part: str, value: Any, where: str, depth: int) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{where} is not an object"
        return
    kind = value.get("type")
    if kind is None:  # older files omit the type: the fields determine it
        if part != "model" and not any(
            {field for field in each if not field.startswith("[")} <= value.keys()
            for each in PARTS[part].values()
            if each
        ):
            yield f"{where} has no type"
        return
    fields = PARTS[part].get(kind) if isinstance(kind, str) else None
    if fields is None:
        yield f"{where} has the unknown type {str(kind)!r:.40}"
        return
    yield from _of_fields(value, fields, where)
    for field, inner in _INNER.items():
        if field in fields and depth < _DEPTH:
            for at, each in enumerate(_listed(value.get(field))):
                yield from _of_part(inner, each, f"{where}.{field}.{at}", depth + 1)
    if kind == "TemplateProcessing":
        yield from _of_template(value, where)


def _of_fields(value: Mapping[str, Any], fields: Mapping[str, str], where: str) -> Iterator[str]:
    for field, kinds in fields.items():
        name = field.strip("[]")
        if name not in value:
            if not field.startswith("["):
                yield f"{where} has no {name}"
            continue
        found = next((letter for kind, letter in _KINDS if isinstance(value[name], kind)), "")
        if found not in kinds and not (found == "i" and "f" in kinds):
            yield f"{where}.{name} is not {_WORDS.get(kinds[0], 'a list')}"
        elif name in _CHOICES and isinstance(value[name], str) and value[name] not in _CHOICES[name]:
            yield f"{where}.{name} is {value[name]!r:.40}, but should be one of {', '.join(_CHOICES[name])}"
        elif name == "pattern" and isinstance(value[name], Mapping):
            yield from _of_expression(value[name].get("Regex"), where)


def _of_expression(text: Any, where: str) -> Iterator[str]:
    """An expression whose parentheses do not match: dialects have no other rule in common."""
    if not isinstance(text, str):
        return
    opened, in_class = 0, False
    for escape, char in re.findall(r"(\\.)|([][()])", text, re.DOTALL):
        if escape:
            continue
        if char in "[]":
            in_class = char == "["
        elif not in_class:
            opened += 1 if char == "(" else -1
        if opened < 0:
            break
    if opened:
        yield f"{where}.pattern is not a regular expression: its parentheses do not match"


def _of_template(value: Mapping[str, Any], where: str) -> Iterator[str]:
    """The pieces of a template: a sequence, or a special token that must be listed in special_tokens."""
    tokens = value.get("special_tokens")
    tokens = tokens if isinstance(tokens, Mapping) else {}
    for side in ("single", "pair"):
        for at, piece in enumerate(_listed(value.get(side))):
            inner = piece.get("Sequence", piece.get("SpecialToken")) if isinstance(piece, Mapping) else None
            if not isinstance(inner, Mapping):
                yield f"{where}.{side}.{at} is not a piece of a template"
                continue
            yield from _of_fields(inner, {"id": "s", "type_id": "i"}, f"{where}.{side}.{at}")
            if "SpecialToken" in piece and isinstance(inner.get("id"), str) and inner["id"] not in tokens:
                yield f"{where}.{side}.{at} names {inner['id']!r:.40}, which is not among its tokens"
            if "Sequence" in piece and inner.get("id") not in ("A", "B") and isinstance(inner.get("id"), str):
                yield f"{where}.{side}.{at} is of sequence {inner['id']!r:.40}"
    for name, token in tokens.items():
        if not isinstance(token, Mapping):
            yield f"{where}.special_tokens.{name:.40} is not an object"
        else:
            yield from _of_fields(token, {"id": "s", "ids": "l", "tokens": "l"}, f"{where}.special_tokens.{name:.40}")


def _of_vocabulary(model: Mapping[str, Any]) -> Iterator[str]:
    vocabulary, merges = model.get("vocab"), model.get("merges")
    if isinstance(vocabulary, Mapping):
        numbers = vocabulary.items()
        odd = next((token for token, number in numbers if type(number) is not int or not 0 <= number < 2**32), None)
        if odd is not None:
            yield f"the token {odd!r:.40} has an id that is not a number"
        unknown = model.get("unk_token", _UNKNOWN.get(str(model.get("type"))))
        if model.get("type") in _UNKNOWN and isinstance(unknown, str) and unknown not in vocabulary:
            yield f"no {unknown!r:.40} in the vocabulary, which stands for unknown text"
    elif isinstance(vocabulary, list):
        odd_piece = next((at for at, each in enumerate(vocabulary) if not _is_piece(each)), None)
        if odd_piece is not None:
            yield f"model.vocab.{odd_piece} is not a piece with a score"
        unknown = model.get("unk_id")
        if type(unknown) is int and not 0 <= unknown < len(vocabulary):
            yield f"unk_id is {unknown}, but there are {len(vocabulary)} pieces"
    for at, merge in enumerate(_listed(merges)):
        pieces = merge.split(" ") if isinstance(merge, str) else merge
        if not (isinstance(pieces, list) and len(pieces) == 2 and all(isinstance(each, str) for each in pieces)):
            yield f"model.merges.{at} is not a pair"
            return


def _is_piece(value: Any) -> bool:
    whole = isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)
    return whole and isinstance(value[1], int | float) and not isinstance(value[1], bool)


#: Groups of one expression that are looked at, from the innermost outwards.
MOST_GROUPS = 200
#: Loops over the same characters, one after the other, from which an expression is slow: those of GPT-4o have two.
MANY_LOOPS = 4
#: A count that is as good as none: numbers are split into up to three digits.
_MANY = 8
_ATOM = re.compile(r"(\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]])*\]|.)([*+?]|\{\d*,?\d*\})?[?+]?", re.DOTALL)
_INNERMOST = re.compile(
    r"\((\?[\w-]*:|\?<?[=!>]|\?P?<\w+>)?((?:\\.|\[(?:\\.|[^\]])*\]|[^()\\\[])*)\)([*+?]|\{\d*,?\d*\})?", re.DOTALL
)
#: What an earlier group matched, again and again.
_SAME_AGAIN = re.compile(r"(?<!\\)(?:\\\\)*\\[1-9]\)?[*+{]")
#: Characters of each kind, and the kinds of characters that Python's dialect does not have.
_SAMPLE = "".join(map(chr, range(32, 127))) + "\n\té中"
_PROPERTIES = {"L": "A-Za-zé中", "N": "0-9", "P": ".'(\\-", "S": "", "M": "", "Z": " "}

Atoms = list[tuple[str, str]]


def slowness(expression: str) -> str | None:
    """How the time grows that an expression takes, if one text can be matched in many ways; None for any other.

    Exponentially if a group is repeated that can do so: `(a+)+`, `(a*b*)*`, `(a|a)*`, `(a|aa)+`. With a high power if
    loops over the same characters follow each other: `(.*a){20}`, `\\w*\\w*\\w*\\w*`.
    """
    if _SAME_AGAIN.search(expression):
        return "exponential time"
    if len(expression) > MOST_WIDENED:
        return "time that was not judged: it is implausibly long"
    for _ in range(MOST_GROUPS):
        group = _INNERMOST.search(expression)
        if group is None:
            many = any(_loops(each) >= MANY_LOOPS for each in _ways(expression))
            return "time that grows with a high power of the text's length" if many else None
        body, repeated = group[2], group[3] if group[1] != "?>" else None  # which is left as it was first matched
        ways = _ways(body)
        if repeated and _is_endless(repeated) and (any(map(_is_loose, ways)) or _are_alike(ways)):
            return "exponential time"
        again = bool(repeated and _is_endless(repeated))
        loose = group[1] != "?>" and any(map(_is_loose, ways))
        kept = "\uf8ff*" if again or loose else "\uf8ff"  # a mark for the group, in what is around it
        if len(ways) == 1 and not again and loose <= (_most(repeated) > 1) and not re.search("[=!]", group[1] or ""):
            kept = body * min(_most(repeated), _MANY)  # its loops count among those around it
        expression = f"{expression[: group.start()]}{kept}{expression[group.end() :]}"
        if len(expression) > MOST_WIDENED:
            return None
    return "exponential time"


#: Characters of an expression, also when its counted groups are written out: those of tokenizers have up to 500.
MOST_WIDENED = 5_000
#: Different atoms that are compared with each other.
_DISTINCT = 50


def _ways(body: str) -> list[Atoms]:
    ways: list[Atoms] = [[]]
    for atom, how in _ATOM.findall(body):
        if atom == "|":
            ways.append([])
        else:
            ways[-1].append((atom, how))
    return ways


def _most(how: str | None) -> int:
    """How often something is there at most."""
    counts = re.findall(r"\d+", how or "")
    return int(counts[-1][:3]) if counts else 1


def _is_endless(how: str) -> bool:
    return how in ("*", "+") or how.endswith(",}") or _most(how) - _most(how.partition(",")[0]) >= _MANY


def _is_loose(atoms: Atoms) -> bool:
    """Whether something is repeated without a bound, and nothing of another kind has to be there between two rounds."""
    endless = list({atom for atom, how in atoms if _is_endless(how)})[:_DISTINCT]
    needed = list({atom for atom, how in atoms if how not in ("*", "?")})[:_DISTINCT]
    return any(all(each == atom or _matched(each) & _matched(atom) for each in needed) for atom in endless)


def _loops(atoms: Atoms) -> int:
    """The most loops that follow each other and can share a text: nothing between them ends one."""
    most = count = 0
    shared: frozenset[str] = frozenset()
    for atom, how in atoms:
        chars, endless = _matched(atom), _is_endless(how)
        if shared & chars:
            shared, count = shared & chars, count + endless
        elif endless:
            shared, count = chars, 1
        elif how not in ("*", "?"):
            shared, count = frozenset(), 0
        most = max(most, count)
    return most


@lru_cache(maxsize=1024)
def _matched(atom: str) -> frozenset[str]:
    """Which characters of the sample an atom matches; none if it is no atom of Python's dialect as well."""
    text = re.sub(r"\\p\{(\w)\w*\}", lambda found: _PROPERTIES.get(found[1], ""), atom).replace(r"\P", "")
    if not text or "[" in text[1:] or re.search(r"&&|--|\|\||~~|[{}]", text):
        return frozenset()
    try:
        return frozenset(re.findall(text if text[0] in "[\\." or len(text) == 1 else f"[{text}]", _SAMPLE))
    except re.error:
        return frozenset()


def _are_alike(ways: list[Atoms]) -> bool:
    """Whether two alternatives consist of the same characters."""
    sets = [frozenset(atom for atom, _ in each) for each in ways]
    return len(sets) > 1 and any(len(each) == 1 and sets.count(each) > 1 for each in sets)


# Counted without building the tokenizer. Without a tokenizer.json, its vocabulary (vocab.json or vocab.txt) and
# added_tokens.json determine it. tokenizer.json reaches 34 MB, mostly merges; its vocabulary is counted by a pattern
# over the bytes, in constant memory, because the file is untrusted.

#: Larger than any published tokenizer.
MAX_TOKENIZER = 64 * 1024 * 1024
MAX_TOKENS = 1_000_000

# No token is longer; without the bound, an unterminated string would exhaust the pattern's memory.
_STRING = rb'"(?:[^"\\]|\\.){0,4096}"'
_MODEL = re.compile(rb'"model"\s*:\s*\{')
_VOCABULARY = re.compile(rb'"vocab"\s*:\s*([\[{])')
_PAIR = re.compile(rb"\s*" + _STRING + rb"\s*:\s*(\d{1,9})\s*(,|\})")
_PIECE = re.compile(rb"\s*\[\s*" + _STRING + rb"\s*,\s*-?[\d.eE+-]{1,40}\s*\]\s*(,|\])")
_ADDED_ID = re.compile(rb'"id"\s*:\s*(\d{1,9})\b')


class Highest(NamedTuple):
    """The highest token ids of a tokenizer."""

    path: str  # the file that determines it
    known: int  # of the trained vocabulary
    added: int  # of tokens added later; -1 if there are none


def highest_token(subject: Subject, folder: str) -> Highest | None:
    """The highest token ids of the tokenizer in a folder; None if it cannot be read."""
    path = folder + "tokenizer.json"
    if path not in subject.place.files:
        return _of_older_files(subject, folder)
    raw = _bytes_of(subject, path)
    model = _MODEL.search(raw)
    vocabulary = _VOCABULARY.search(raw, model.end()) if model else None
    if model is None or vocabulary is None:
        return None
    ids = islice(_ADDED_ID.finditer(raw, 0, model.start()), MAX_TOKENS)
    added = max((int(found[1]) for found in ids), default=-1)
    highest = _highest_of_pairs if vocabulary[1] == b"{" else _last_of_pieces
    known = highest(raw, vocabulary.end())
    return None if known is None else Highest(path, known, added)


def _bytes_of(subject: Subject, path: str) -> bytes:
    """A file of a tokenizer; empty if it is absent or too large."""
    size = subject.place.files.get(path, 0)
    return subject.head(path, size) if 0 < size <= MAX_TOKENIZER else b""


def _of_older_files(subject: Subject, folder: str) -> Highest | None:
    """The highest ids, from the files of older tokenizers."""
    path, lines = folder + "vocab.json", folder + "vocab.txt"
    added = _highest_in_object(_bytes_of(subject, folder + "added_tokens.json"))
    if (known := _highest_in_object(_bytes_of(subject, path))) is not None:
        return Highest(path, known, -1 if added is None else added)
    for name in _PIECES if path not in subject.place.files else ():
        if raw := _bytes_of(subject, folder + name):
            count = _count_of_pieces(raw)
            return None if count is None else Highest(folder + name, count - 1, -1 if added is None else added)
    if raw := _bytes_of(subject, lines):
        return Highest(lines, raw.rstrip(b"\r\n").count(b"\n"), -1 if added is None else added)
    return None if added is None else Highest(folder + "added_tokens.json", -1, added)


#: Names of a SentencePiece model that is the whole vocabulary.
_PIECES = ("tokenizer.model", "spiece.model")


def _count_of_pieces(raw: bytes) -> int | None:
    """How many pieces a SentencePiece model has, each a field 1 of its message; None for another kind of file."""
    with suppress(graphs.DamageError):
        count = sum(1 for _ in graphs.texts(graphs.reads(raw), len(raw), {"model": {1: ".piece"}}))
        return count or (None if raw else 0)
    return None


def assigned(subject: Subject, path: str) -> int | None:
    """The highest id that the tokenizers library assigns to added tokens, regardless of the ids in the file.

    A token in the vocabulary keeps its id there; any other gets the next free one. None if the file is too large to be
    parsed for this, or is invalid.
    """
    raw = _bytes_of(subject, path)
    try:
        own = json.loads(raw) if len(raw) <= _PARSED else None
        vocabulary = own["model"]["vocab"] if own else {}
        known = vocabulary if isinstance(vocabulary, dict) else {each[0]: at for at, each in enumerate(vocabulary)}
        contents = [each["content"] for each in own["added_tokens"]] if own else []
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    if own is None:
        return None
    highest = -1
    ids: dict[str, int] = {}
    for content in contents:
        number = known.get(content, ids.get(content))
        if type(number) is not int:
            number = max(highest + 1, len(known))
        ids[content] = number
        highest = max(highest, number)
    return highest


#: The most bytes of a tokenizer.json that is parsed to number its added tokens.
_PARSED = 8 * 1024 * 1024


def _highest_in_object(raw: bytes) -> int | None:
    """The highest number of `{"token": id, …}`."""
    opening = re.match(rb"\s*\{", raw)
    return _highest_of_pairs(raw, opening.end()) if opening else None


def _highest_of_pairs(raw: bytes, at: int) -> int | None:
    """The highest id of `"token": id, …}`; None if the object is invalid."""
    highest = -1
    for _ in range(MAX_TOKENS):
        found = _PAIR.match(raw, at)
        if found is None:
            return None
        highest = max(highest, int(found[1]))
        at = found.end()
        if found[2] == b"}":
            return highest
    return None


def _last_of_pieces(raw: bytes, at: int) -> int | None:
    """The last position in `["piece", score], …]`; None if the list is invalid."""
    for number in range(MAX_TOKENS):
        found = _PIECE.match(raw, at)
        if found is None:
            return None
        at = found.end()
        if found[1] == b"]":
            return number
    return None
