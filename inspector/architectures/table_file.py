"""Reads the tables: the knowledge about one family as JSON, one row after the other, readable and diffable.

    {
     "about": "NewModel: a decoder, and BERT's layers over images.",
     "source": "modeling_newmodel.py of example/newmodel-1b",
     "types": {"newmodel": {"vocab_size": 32000}},
     "let": {"LAYER": "model.layers.{layer<num_hidden_layers}"},
     "rows": [
      ["embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"],
      ["(q|k)_proj", "$LAYER.self_attn.(q|k)_proj", "num_(attention|key_value)_heads * head_dim, hidden_size"],
      {"at": "$LAYER.mlp.", "columns": {"bias": "mlp_bias"}, "rows": [
       ["(gate|up)_proj", "(gate|up)_proj", "intermediate_size, hidden_size"]]},
      {"use": "bert_layer_end", "at": "$LAYER.", "with": {"WIDTH": "text_config.hidden_size"}},
      {"scope": "vision_config", "prefix": "vision_tower.", "tower": "vision"}
     ]
    }

Each entry of `rows` is one of:

    a row           its role, name and shape, then those columns of `Row` that are not at their defaults
    an include      an object with a `scope`; its fields are those of `Include`
    a group         rows that share `columns`, unless a row sets its own, and `at`, the beginning of their names
    a loop          a group with `each`: its rows once per value of some words, which advance together, as in
                    {"N": "0..2", "PLACE": ["in", "mid", "out"]}
    a block's use   the rows of a block, which is a named list of rows with parameters; `with` gives their values.
                    Rows given with the use are inserted where the block has "...". Blocks shared by several tables
                    are in `blocks/`, a table's own in its field `blocks`.

Texts are abbreviated in two ways. `$WORD` is replaced by the text that `let`, a loop or a block's parameter gives the
word, literally, so a sum needs its own parentheses. `(a|b)` makes one row per alternative; if a row has several
choices, all take their first alternative in the first row, their second in the second, and so on. The column `batch`
marks a batch norm, whose running statistics are further rows. A text too long for a line is a list of its lines.

A row's `branch` is in most cases a piece of its name, which stands in brackets there: `attn.[to_gate]`. Several pieces
are joined by dots (`[decoder].up.[conv]` is in the branch `decoder.conv`); the column is for branches of other words.

An entry of `cache` is a kind, keys and values, followed by columns of `Cache`, or a block's use. Such a block may
supply `cache_defaults` and `cache_derived`, which the table's own override. An empty `cache` means that the layers
keep nothing; a table without one, or with null in place of an inherited one, says why in `uncached`.

A table that is `like` another inherits everything except its name and types. Its own mappings are added to the
inherited ones; its rows come `after` or `instead` of rows that they name, or at the end. A table that is a `part` of
another consists of the rows whose shapes a nested configuration determines (see `part_of`).

A file holds one table, which has the file's name, or several related tables, each under its name:
`{"clip": {…}, "clip_text_model": {…}}`.

Besides the fields of `Family`, a table has fields for people: `about`, `source` (what it was made from: package,
version and place), `made` (`derived` from that by a command, or written or changed by `hand`) and `notes`. A derived
table is replaced when it is derived again; what a hand adds to it is in `overlays/NAME.json`, read as a table `like`
it. `outside` gives the model types that no library has, each with the number of configurations with known tensors
that it was compared with instead; `coverage` gives percentages for types that are not covered completely (see
`Known`), and `inferable` lists types to try if there is no configuration, in which order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from inspector.architectures.table import COUNTER, Cache, Family, Include, Row, bare
from inspector.errors import TableError
from inspector.tabular import NamedTuple

_WORD = re.compile(r"\$([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)")
_CHOICE = re.compile(r"\(([^()|]*(?:\|[^()|]*)+)\)")
#: A field of another part.
_ABROAD = re.compile(r"_config\.")
#: A piece of a name that is its branch, or a placeholder, whose bound may have brackets of its own.
_MARKED = re.compile(r"\[([^\[\]{}]*)\]|\{[^{}]*\}")

#: Fields of a table for people or for the index, not part of its family.
_BESIDE = frozenset(
    {"about", "source", "made", "notes", "coverage", "outside", "inferable", "signs", "overlay", "learned"}
)
#: Fields that define its rows.
_ROWS = frozenset({"like", "part", "let", "blocks", "rows", "after", "instead", "cache"})
#: Fields of formulas, whose texts may be long.
_FORMULAS = frozenset({"derived", "cache_derived"})
#: Fields that a block of a cache may supply.
_BROUGHT = ("cache_defaults", "cache_derived")

#: Where a block inserts the rows given with its use.
WITHIN = "..."

#: The most repetitions of a group with `each`.
MOST_TURNS = 1000

Document = Mapping[str, Any]
#: Returns the document of a kind ("families", "gguf", "blocks") and name. Raises KeyError if there is none.
Find = Callable[[str, str], Document]
Entries = Iterable[Row | Include]


class _Table(NamedTuple):
    """A family, and the words it defines, for tables that inherit from it."""

    family: Family
    words: Mapping[str, str]


def read(kind: str, name: str, find: Find) -> Family:
    """The family described by a file.

    Raises:
        TableError: it is not a valid table; names the row and the reason.
    """
    return _table(kind, name, find, ()).family


def _table(kind: str, name: str, find: Find, through: tuple[str, ...]) -> _Table:
    document = _document_of(find, kind, name)
    table = _over(_base(kind, name, document, find, through), name, document, find)
    if overlay := document.get("overlay"):
        types = table.family.types
        table = _over(table, name, overlay, find)
        table = table._replace(family=table.family._replace(types=types))
    return table


def _over(base: _Table, name: str, document: Document, find: Find) -> _Table:
    """What a document says, over what it is based on."""
    words = dict(base.words)
    for word, text in document.get("let", {}).items():
        words[word] = _with_words(joined(text), words)
    scope = _Scope(words, document.get("blocks", {}), find)
    fields = {"name": name, "types": {}, **_own(document, base.family, words)}
    if "cache" in document:
        given = document["cache"]
        fields |= {"cache": None} if given is None else _cached(given, base.family, fields, scope)
    rows = tuple(_changed(base.family.rows, document, scope))
    return _Table(base.family._replace(rows=rows, **fields), words)


def _own(document: Document, inherited: Family, words: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a family that a table gives, its mappings added to the inherited ones."""
    fields: dict[str, Any] = {}
    for field in (field for field in document if field not in _BESIDE | _ROWS):
        if field not in Family._fields:
            raise TableError(f"a table has no field `{field}`")
        own = filled(document[field], words)
        own = _with_whole_formulas(field, own)
        extends = field != "types" and isinstance(own, dict)
        fields[field] = {**getattr(inherited, field), **own} if extends else own
    return fields


def _cached(entries: list[Any], inherited: Family, own: Document, scope: _Scope) -> dict[str, Any]:
    """The fields about a cache: what blocks supply overrides what is inherited, and the table's own overrides both."""
    fields: dict[str, Any] = {"cache": tuple(_caches(entries, scope))}
    for field in _BROUGHT:
        supplied = {name: value for block in _used(entries, scope) for name, value in block[field].items()}
        fields[field] = {**getattr(inherited, field), **supplied, **own.get(field, {})}
    return fields


def _base(kind: str, name: str, document: Document, find: Find, through: tuple[str, ...]) -> _Table:
    """The starting point of a table: another table, a part of one, or nothing."""
    part = document.get("part", {})
    other = document.get("like") or part.get("of")
    if not other:
        return _Table(Family(name, {}, ()), {})
    if other in (name, *through):
        raise TableError(f"{name} inherits from itself")
    whole = _table(kind, other, find, (name, *through))
    if not part:
        return whole
    options = {option: value for option, value in part.items() if option != "of"}
    return _Table(part_of(whole.family, **options), {})


def part_of(
    whole: Family, scope: str, under: str, *, keep: bool = False, head: str = "", renamed: Mapping[str, str] = {}
) -> Family:
    """A part of a whole as a family: SigLIP's text model is the rows of SigLIP that `text_config` shapes.

    Its own fields are the whole's `text_config.hidden_size` and so on.

    Args:
        scope: the field of the whole with the part's configuration; dotted for a part of a part.
        under: the prefix of its tensors' names in the whole: "text_model.".
        keep: whether they keep it in the part.
        head: the whole's class suffix, if its rows differ between classes.
        renamed: pieces of names → their names in the separate part.
    """
    outer = re.compile(rf"\b{re.escape(scope)}\.")
    taken = (row for row in whole.rows if isinstance(row, Row) and row.name.startswith(under))
    rows = tuple(
        _inside(row._replace(name=_renamed(row.name.removeprefix("" if keep else under), renamed)), outer)
        for row in taken
        if not (head and row.heads) or head in row.heads.split()
    )
    defaults = whole.defaults
    for field in scope.split("."):
        defaults = defaults.get(field, {})
    own = {outer.sub("", name): outer.sub("", text) for name, text in whole.derived.items()}
    derived = {name: text for name, text in own.items() if not (_ABROAD.search(name) or _ABROAD.search(text))}
    return Family(whole.name, {}, rows, head="Model", defaults=defaults, derived=derived)


def _renamed(name: str, renamed: Mapping[str, str]) -> str:
    for old, new in renamed.items():
        name = name.replace(old, new)
    return name


def _inside(row: Row, outer: re.Pattern[str]) -> Row:
    """A row in terms of the part's own fields; the part has one class and one tower."""
    columns: dict[str, Any] = {
        column: outer.sub("", value) if isinstance(value, str) else value for column, value in row._asdict().items()
    }
    return Row(**{**columns, "heads": "", "tower": "text"})


class _Scope(NamedTuple):
    """The meaning of words and block names in a table or a block."""

    words: Mapping[str, str]
    blocks: Mapping[str, Document]
    find: Find
    within: Iterable[Row | Include] = ()  # the rows of a block's use

    def inside(self, use: Document) -> tuple[Document, _Scope]:
        """The block that is used, and the values of its parameters."""
        name = use["use"]
        block = self.blocks[name] if name in self.blocks else _document_of(self.find, "blocks", name)
        given = {word: _with_words(joined(text), self.words) for word, text in use.get("with", {}).items()}
        unknown = given.keys() - block.get("with", {}).keys()
        if unknown:
            raise ValueError(f"the block {name} has no parameter {min(unknown)}")
        words: dict[str, str] = {}
        for word, text in block.get("with", {}).items():
            value = given.get(word, text)
            if value is None:
                raise ValueError(f"the block {name} needs {word}")
            words[word] = value if word in given else _with_words(joined(value), words)
        for word, text in block.get("let", {}).items():
            words[word] = _with_words(joined(text), words)
        return block, self._replace(words=words)


def _changed(inherited: Entries, document: Document, scope: _Scope) -> Iterator[Row | Include]:
    """The inherited rows with additions and replacements, then the table's own."""
    after, instead = (
        {
            bare(_with_words(name, scope.words)): tuple(_read(entries, scope, {}, ""))
            for name, entries in document.get(field, {}).items()
        }
        for field in ("after", "instead")
    )
    waiting = {name: instead.get(name, ()) + after.get(name, ()) for name in (*after, *instead)}
    names = [bare(entry.name if isinstance(entry, Row) else entry.prefix) for entry in inherited]
    last = {name: at for at, name in enumerate(names)}  # several rows may have one name, and differ in `when`
    for at, (entry, name) in enumerate(zip(inherited, names, strict=True)):
        if name not in instead:
            yield entry
        if at == last[name]:
            yield from waiting.pop(name, ())
    if waiting:
        raise TableError(f"no inherited row is called {min(waiting)}")
    yield from _read(document.get("rows", ()), scope, {}, "")


def _read(entries: Iterable[Any], scope: _Scope, columns: Document, at: str) -> Iterator[Row | Include]:
    """Rows and includes, each with the columns and prefix of its groups."""
    for entry in entries:
        try:
            yield from _entry(entry, scope, columns, at)
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            raise TableError(f"{json.dumps(entry, ensure_ascii=False):.60}: {error}") from error


def _entry(entry: Any, scope: _Scope, columns: Document, at: str) -> Iterator[Row | Include]:
    if isinstance(entry, list):
        yield from _rows(entry, scope.words, columns, at)
    elif entry == WITHIN:
        yield from scope.within
    elif "scope" in entry:
        fields = _with_whole_texts(filled(entry, scope.words))
        yield Include(**{**fields, "prefix": at + fields["prefix"]})
    else:
        for turn in _turns(entry.get("each", {}), scope):
            yield from _grouped(entry, turn, columns, at)


def _grouped(entry: Document, scope: _Scope, columns: Document, at: str) -> Iterator[Row | Include]:
    """The rows of a group, or of a block's use."""
    inner, within = entry, scope
    if "use" in entry:
        inner, within = scope.inside(entry)
        within = within._replace(within=tuple(_read(entry.get("rows", ()), scope, columns, at)))
    common = {**columns, **filled(entry.get("columns", {}), scope.words)}
    yield from _read(inner["rows"], within, common, at + _with_words(entry.get("at", ""), scope.words))


def _turns(each: Mapping[str, str | list[str]], scope: _Scope) -> Iterator[_Scope]:
    """The scope once per value of some words, which advance together; once, unchanged, if there are none."""
    values = {
        word: _turn_numbers(texts) if isinstance(texts, str) else [_with_words(text, scope.words) for text in texts]
        for word, texts in each.items()
    }
    if len({len(texts) for texts in values.values()}) > 1:
        raise ValueError("each: the words have different numbers of values")
    for chosen in zip(*values.values(), strict=True) if values else [()]:
        yield scope._replace(words={**scope.words, **dict(zip(values, chosen, strict=True))})


def _turn_numbers(text: str) -> list[str]:
    """`0..3` → 0, 1, 2, 3, as texts."""
    first, _, last = text.partition("..")
    if int(last) - int(first) >= MOST_TURNS:
        raise ValueError(f"{text} is more than {MOST_TURNS} turns")
    return [str(number) for number in range(int(first), int(last) + 1)]


def _caches(entries: Iterable[Any], scope: _Scope, columns: Document | None = None) -> Iterator[Cache]:
    """The entries of a cache, each with the columns of the block use that contains it."""
    for entry in entries:
        try:
            if isinstance(entry, list):
                kind, keys, *rest = filled(entry, scope.words)
                own = rest.pop() if rest and isinstance(rest[-1], dict) else {}
                yield Cache(kind, *map(joined, (keys, *rest)), **_with_whole_texts({**(columns or {}), **own}))
            else:
                inner, within = scope.inside(entry)
                common = {**(columns or {}), **filled(entry.get("columns", {}), scope.words)}
                yield from _caches(inner["cache"], within, common)
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            raise TableError(f"{json.dumps(entry, ensure_ascii=False):.60}: {error}") from error


def _used(entries: Iterable[Any], scope: _Scope) -> Iterator[Document]:
    """The blocks that a cache uses, inner ones first, with their words substituted."""
    for entry in entries:
        if isinstance(entry, dict):
            inner, within = scope.inside(entry)
            yield from _used(inner["cache"], within)
            yield {field: _with_whole_formulas(field, filled(inner.get(field, {}), within.words)) for field in _BROUGHT}


def _rows(entry: list[Any], words: Mapping[str, str], columns: Document, at: str) -> Iterator[Row]:
    """The rows of an entry: one, or one for each alternative, each followed by a batch norm's running statistics."""
    if not 3 <= len(entry) <= 4:
        raise ValueError("a row is a role, a name, a shape, and optional columns")
    role, name, shape, *rest = filled(entry, words)
    own = rest[0] if rest else {}
    fields = {"role": role, "name": at + joined(name), "shape": shape, **columns, **own}
    unknown = fields.keys() - set(Row._fields)
    if unknown:
        raise ValueError(f"there is no column `{min(unknown)}`")
    for each in alternatives(_with_whole_texts(fields)):
        if "[" in each["name"]:
            each["name"], branch = unmarked(each["name"])
            if branch and "branch" not in own:
                each["branch"] = branch
        yield (row := Row(**each))
        if row.batch:
            yield from statistics(row)


def unmarked(name: str) -> tuple[str, str]:
    """A name without its brackets, and the branch in them: `attn.[to_gate].0` → `attn.to_gate.0`, `to_gate`."""
    pieces = [piece[1] for piece in _MARKED.finditer(name) if piece[1]]
    return _MARKED.sub(lambda piece: piece[1] or piece[0], name), ".".join(pieces)


def joined(value: Any) -> Any:
    """The lines of a text as one; anything else as it is."""
    return " ".join(value) if isinstance(value, list) else value


def _with_whole_formulas(field: str, value: Any) -> Any:
    return _with_whole_texts(value) if field in _FORMULAS and isinstance(value, dict) else value


def _with_whole_texts(fields: dict[str, Any]) -> dict[str, Any]:
    if list not in map(type, fields.values()):  # hardly any has broken ones
        return fields
    return {field: joined(value) for field, value in fields.items()}


def statistics(norm: Row) -> Iterator[Row]:
    """The running statistics of a batch norm."""
    kept = norm._replace(bias="", leaf="", buffer=True, persistent=True)
    for role, shape in (("running_mean", norm.shape), ("running_var", norm.shape), (COUNTER, "")):
        yield kept._replace(role=role, name=f"{norm.name}.{role}", shape=shape)


def alternatives(fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row's fields, once for each alternative. Raises ValueError if fields have different numbers of them."""
    texts = [text for text in fields.values() if isinstance(text, str)]
    if not any("|" in text for text in texts):  # most rows are one
        yield dict(fields)
        return
    counts = {len(choice[1].split("|")) for text in texts for choice in _CHOICE.finditer(text)}
    if len(counts) > 1:
        raise ValueError(f"{texts[0]}: different numbers of alternatives")
    for number in range(max(counts, default=1)):
        yield {field: _alternative(value, number) for field, value in fields.items()}


def _alternative(value: Any, number: int) -> Any:
    """A text with one of its alternatives."""
    return _CHOICE.sub(lambda choice: choice[1].split("|")[number], value) if isinstance(value, str) else value


def _with_words(text: str, words: Mapping[str, str]) -> str:
    """A text with its words substituted. Raises ValueError for an undefined word."""
    unknown = {word for word in _WORD.findall(text) if word not in words}
    if unknown:
        raise ValueError(f"${min(unknown)} is not defined")
    return _WORD.sub(lambda word: words[word[1]], text)


def _document_of(find: Find, kind: str, name: str) -> Document:
    try:
        return find(kind, name)
    except KeyError:
        raise TableError(f"there is no {'block' if kind == 'blocks' else 'table'} {name}") from None


def filled(value: Any, words: Mapping[str, str]) -> Any:
    """A value with the words in its texts substituted."""
    if isinstance(value, str):
        return _with_words(value, words) if "$" in value else value
    if isinstance(value, list):
        return [filled(each, words) for each in value]
    if isinstance(value, dict):
        return {key: filled(each, words) for key, each in value.items()}
    return value
