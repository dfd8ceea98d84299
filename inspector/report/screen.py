"""The first screen of `inspect TARGET`: 23 lines of 80 columns that say what it is, whether it is whole, and where its
bytes are. Everything else is in `report.text`, under `--full`. All text from files is passed through `escape`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from inspector import units
from inspector.architectures.facts import facts
from inspector.bridge.ledger import BY_NAME, unexplained
from inspector.model import Checkpoint, Finding, Folder, Reconciliation, RoleSum
from inspector.report.columns import GO, bar, cut, folded, shortened, table, whole_items, wrapped
from inspector.tabular import NamedTuple
from inspector.units import count, decimal, escape, fixed, integer, plural

#: Lines of the screen: a terminal's 24, without the prompt.
HEIGHT = 23
#: The most lines above the tables; of these, of findings; and the most rows of either table.
_HEAD, _FOUND, _ROWS = 11, 3, 7
_NAME = 100  # characters of a name that are shown
#: What is a smaller share of the files than this is one line together.
_SMALL = 0.001
#: With a smaller share, the largest tower is not shown by itself.
_MAIN = 0.75
#: Rows of either table where there is room.
_ON_PAGE = 16
_BAR = 12  # columns of a bar of 100 %
_HOLDS = 36  # columns of what a row holds
_DETAIL = 160  # characters of a step's explanation where lines have no limit


def overview(
    result: Reconciliation, width: int | None = None, *, notes: bool = False, folder: Folder | None = None
) -> str:
    """`inspect TARGET`, in at most `width` columns.

    Args:
        notes: whether findings that need no action are shown, too, and all of them: the screen is longer then.
        folder: what else is in the folder, if it is one.
    """
    head = _head(result, width, folder, most=_FOUND if not notes else 0)
    left = HEIGHT - len(head) - 3  # without two empty lines and what is next
    where, why = _where(result), list(_why(result))
    if not where:
        left += 1
    room = min(_ROWS, max(3, left - min(len(why), _ROWS) - 1))
    where = _fewer_groups(where, room)
    rows = _fewer_steps(result, why, max(3, min(_ROWS, left - len(where) - (2 if where else 1))))
    blocks = ["\n".join(head), _groups(result, where, width), _bridge(result, rows, width)]
    blocks[-1] += "\n" + wrapped(_next(result, width), width)
    if notes:
        blocks.append(findings(result.findings, width))
    return "\n\n".join(filter(None, blocks))


def _head(result: Reconciliation, width: int | None, folder: Folder | None, most: int) -> list[str]:
    """The lines above the tables: what it is, its state and what is wrong, its shape, what it takes to run."""
    checkpoint = result.checkpoint
    shape = ", ".join(filter(None, (facts_line(result), _files(checkpoint))))
    verdict = headline(result, folder).replace(", listed below", "", 1)  # as far as there is room
    known = identity(result)
    above = [
        (shortened(escape(checkpoint.title, _NAME), width or _NAME), 1),
        (verdict.replace(known, whole_items(known), 1), 3),
    ]
    below = [(line, 2) for line in (*adapter_lines(result), whole_items(shape))]
    more = (memory_line(result, width), _wrong_claims(result), _elsewhere(result), source(checkpoint))
    below += [(line, 1) for line in more if line]
    lines, after = ([each for text, most in part for each in folded(text, width, most)] for part in (above, below))
    wrong = [each for each in result.findings if each.severity != "info"]
    room = min(most, _HEAD - len(lines) - len(after)) if most else 0
    return [*lines, *_found(wrong, width, max(room, 1 if most else 0)), *after][:_HEAD]


# --- what it is, and whether it is whole ------------------------------------------------------------

#: State → its word: what is not predicted is not known to be whole, which need not be a fault.
_STATES: Mapping[str, str] = {"unknown": "unverified"}


def state(result: Reconciliation) -> tuple[str, str]:
    """`damaged`, and why; nothing if it is complete."""
    state, sentence = result.verdict
    if result.adapter and result.prediction is None and state == "unknown":
        sentence = "its base's configuration is not known (--config)"
    return _STATES.get(state, state), "" if state == "complete" else escape(sentence, 200)


def headline(result: Reconciliation, folder: Folder | None = None) -> str:
    """`complete: 6.74B parameters, Llama, F16, 13.48 GB; the folder is …`: state, identity, what is wrong."""
    word, wrong = state(result)
    beyond = ""
    if folder is not None:
        from inspector.report import folder as accounts  # only for folders

        beyond = accounts.clause(folder)
    return f"{word}: {identity(result)}{f'; {wrong}' if wrong else ''}{beyond}"


def identity(result: Reconciliation) -> str:
    """`7.24B parameters, Llama, Q4_K_M at 4.83 bits, 4.37 GB`."""
    bits = units.bits(result.bits_per_weight(result.weight_bytes))
    stored = f"{escape(result.dtype or result.checkpoint.format, 60)}{f' at {bits} bits' if result.packing else ''}"
    active = "" if result.active in (None, result.logical) else f" ({count(result.active or 0)} active)"
    what = [f"{count(result.logical)} parameters{active}", family(result), stored, decimal(result.on_disk)]
    return ", ".join(filter(None, what))


def family(result: Reconciliation) -> str:
    """The architecture's display name: the class without its task suffix, or the model type."""
    config = result.checkpoint.config
    if result.is_pipeline and result.checkpoint.composite:
        return escape(result.checkpoint.composite, 60)
    if config is None or result.adapter:
        return f"{escape(result.adapter.method, 20)} adapter" if result.adapter else "unknown architecture"
    body = re.sub(r"(For[A-Z]\w*|(With)?LMHead(Model)?|DoubleHeadsModel|Model)$", "", config.architecture or "")
    return escape(body or config.model_type or "unknown architecture", 60)


def facts_line(result: Reconciliation) -> str:
    """`32 layers, width 4,096, 32 heads (8 KV), vocabulary 32,000, context 32,768, …`, and the card's licence."""
    known = {fact.name: fact.value for fact in facts(result.checkpoint.config)}
    shared = result.prediction.tied if result.prediction else ()
    if not any(row.role == "lm_head" for row in shared):
        known.pop("tied_head", None)  # many configurations have the field, and their models no head to share
    phrases = [phrase(known) for name, phrase in _PHRASES.items() if name in known]
    phrases += [
        f"{word} {escape(result.checkpoint.card[key], 60)}"
        for key, word in _CARD.items()
        if key in result.checkpoint.card
    ]
    return ", ".join(filter(None, phrases))


_PHRASES: Mapping[str, Callable[[Mapping[str, int]], str]] = {
    "layers": lambda fact: plural(fact["layers"], "layer"),
    "width": lambda fact: f"width {integer(fact['width'])}",
    "heads": lambda fact: (
        plural(fact["heads"], "head")
        + (f" ({integer(fact['kv_heads'])} KV)" if fact.get("kv_heads", fact["heads"]) != fact["heads"] else "")
    ),
    "vocabulary": lambda fact: f"vocabulary {integer(fact['vocabulary'])}",
    "context": lambda fact: f"context {integer(fact['context'])}",
    "window": lambda fact: f"window {integer(fact['window'])}",
    "experts": lambda fact: (
        plural(fact["experts"], "expert")
        + (f" ({integer(fact['active_experts'])} active)" if "active_experts" in fact else "")
    ),
    "tied_head": lambda fact: "head tied" if fact["tied_head"] else "",
}
_CARD = {"license": "licence", "base_model": "from"}


def facts_lines(result: Reconciliation) -> list[str]:
    """The lines below the headline: an adapter's method, the shape, what it takes to run, where it came from."""
    shape = ", ".join(filter(None, (facts_line(result), _files(result.checkpoint))))
    return [line for line in (*adapter_lines(result), shape, memory_line(result), source(result.checkpoint)) if line]


def _files(checkpoint: Checkpoint) -> str:
    tensors = sum(len(header.tensors) for header in checkpoint.files)
    files = plural(len(checkpoint.files), f"{checkpoint.format} file")
    return f"{files}, {plural(tensors, 'tensor')}"


def adapter_lines(result: Reconciliation) -> list[str]:
    """An adapter's method, ranks, targets, and share of its base."""
    adapter = result.adapter
    if adapter is None:
        return []
    ranks = ", ".join(f"rank {rank} in {plural(modules, 'module')}" for rank, modules in adapter.ranks.items())
    roles = dict.fromkeys(role.role for role in result.roles if role.group == "adapter")
    phrases = [f"adapter ({escape(adapter.method)})", ranks, f"on {', '.join(escape(role, 40) for role in roles)}"]
    base = result.prediction.base if result.prediction else None
    if base is not None and base.parameters:
        share = f"{result.logical / base.parameters:.3%}"
        phrases.append(f"{share} of its base's {integer(base.parameters)} parameters")
    return ["; ".join(filter(None, phrases))]


def source(checkpoint: Checkpoint) -> str:
    """What the target was resolved to, and the cost of reading it; nothing for an ordinary path."""
    origin = checkpoint.origin
    where = escape(origin.location, 300)
    if origin.kind == "local":
        namesake = checkpoint.namesake
        return f"local path {where}; the Hub's is hf://{escape(namesake, _NAME)}" if namesake else ""
    commit = f", commit {escape(origin.revision[:12])}" if origin.revision else ""
    if not origin.requests:
        return f"from the Hub's cache: {where}{commit}"
    spent = f"{plural(origin.requests, 'request')}, {decimal(origin.bytes_read)} read"
    return f"from {'the Hub: ' if origin.kind == 'hub' else ''}{where}{commit}; {spent}"


def _wrong_claims(result: Reconciliation) -> str:
    """`total_size says 13,476,835,000, but 13,476,835,328 were counted`: numbers in the files that are wrong."""
    wrong = [each for each in result.claims if isinstance(each.counted, int) and str(each.counted) != each.claimed]
    reported = (
        f"{escape(each.name, 40)} says {integer(int(each.claimed))}, but {integer(int(each.counted))} were counted"
        for each in wrong
        if each.claimed.isdecimal() and each.claimed.isascii() and len(each.claimed) < 30 and not each.note
    )
    return "; ".join(reported)


def _elsewhere(result: Reconciliation) -> str:
    """Other checkpoints in the place."""
    others = [each for each in result.checkpoint.variants if not result.has(each)]
    if result.is_pipeline or not any(each.type for each in others):
        return ""
    listed = ", ".join(f"{escape(each.type or each.name, 40)} {decimal(each.size)}" for each in others[:12])
    more = f", … ({len(others)})" if len(others) > 12 else ""
    return f"--include GLOB selects another: {listed}{more}"


# --- findings ---------------------------------------------------------------------------------------

#: The most findings that are listed; the rest are counted.
MOST_FINDINGS = 12
_ORDER = {"error": 0, "warning": 1, "info": 2}


def findings(found: Sequence[Finding], width: int | None = None) -> str:
    """Findings, errors first."""
    if not found:
        return ""
    ranked = sorted(found, key=lambda each: _ORDER[each.severity])
    lines = [wrapped(_finding(each), width) for each in ranked[:MOST_FINDINGS]]
    if len(ranked) > MOST_FINDINGS:
        lines.append(f"… {plural(len(ranked) - MOST_FINDINGS, 'more finding')}: --json lists them all")
    return "\n".join(lines)


def _finding(each: Finding) -> str:
    place = ": ".join(escape(part, _NAME) for part in (each.path, each.tensor) if part is not None)
    return f"{each.severity}: {each.rule}: {place + ': ' if place else ''}{escape(each.message, 400)}"


def _found(found: Sequence[Finding], width: int | None, most: int) -> list[str]:
    """The first findings in up to this many lines, and how many are left."""
    ranked = sorted(found, key=lambda each: _ORDER[each.severity])
    lines = list[str]()
    for at, each in enumerate(ranked):
        left = len(ranked) - at
        room = most - len(lines) - (left > 1)
        if room < 1:
            lines.append(f"… {plural(left, 'more finding')}: --full") if lines else lines.extend(
                folded(_finding(each), width, 1)
            )
            break
        lines += folded(_finding(each), width, min(2, room))
    return lines


# --- what it takes to run ---------------------------------------------------------------------------

#: Contexts for which memory is stated, besides the model's own.
_CONTEXTS = (4096, 32768)


def memory_line(result: Reconciliation, width: int | None = None) -> str:
    """`memory: 15.79 GB at 4k tokens, 30.83 GB at 32k (transformers)`; nothing where there is no model to run."""
    config = result.checkpoint.config
    if result.prediction is None or config is None or result.adapter or not result.logical:
        return ""
    if result.verdict.state == "incomplete" or any(step.cause == "training_state" for step in result.steps):
        return ""  # what would be loaded is not what is stored
    from inspector.errors import InspectorError
    from inspector.sizing import memory, model, weights  # only for models

    stored = sum(role.bytes for role in result.roles)
    try:
        sized = model.of_result(result)
        first = memory.size(sized, context=_CONTEXTS[0] if sized.kept else None, weights=weights.in_one_piece(stored))
    except InspectorError:
        return ""
    runs = first.engine.name
    if first.held is None:
        return f"memory: {decimal(stored)} of weights; what computing takes besides is unknown"
    if not sized.kept:
        return f"memory: {decimal(first.total)} to run ({runs})"
    own = sized.context
    lengths = sorted({min(tokens, own or tokens) for tokens in (*_CONTEXTS, own or 0) if tokens})
    totals = [f"{decimal(memory.at_context(first, each).total)} at {_tokens(each)}" for each in lengths]
    totals[0] += " tokens"
    line = f"memory: {', '.join(totals)} ({runs})"
    return line if len(line) <= (width or len(line)) else f"memory: {totals[0]}, {totals[-1]} ({runs})"


def _tokens(number: int) -> str:
    """`131072` → `128k`, as people write it."""
    if number and number % 2**20 == 0:
        return f"{number >> 20}M"
    return f"{number // 1024}k" if number % 1024 == 0 else integer(number)


# --- where the bytes are ----------------------------------------------------------------------------


class Share(NamedTuple):
    """A row of the table of bytes."""

    name: str  # escaped, as what is in it
    holds: tuple[str, ...]
    bytes: int
    types: tuple[str, ...] = ()


#: Groups of roles under another name; others have their own.
_GROUPS = {
    "feed_forward": "feed forward",
    "embedding": "embeddings",
    "norm": "norms",
    "convolution": "convolutions",
    "state_space": "state space",
    "buffer": "buffers",
    "quantization": "scales",
    "other": "other tensors",
}
#: Groups of which layers consist.
_LAYERS = frozenset({"feed_forward", "attention", "router", "convolution", "state_space", "adapter"})


def _where(result: Reconciliation) -> list[Share]:
    """The parts of the files, the largest first."""
    rest = result.on_disk - sum(role.bytes for role in result.roles)
    if result.is_pipeline:
        parts = [
            Share(escape(part.name, 40), (escape(part.kind, 40),), part.size, tuple(escape(d, 12) for d in part.dtypes))
            for part in result.components
        ]
        return sorted(parts, key=lambda share: -share.bytes)
    if not any(role.bytes for role in result.roles):
        return []
    shares = [*_of_training(result, [*_shares(result.roles, adapter=result.adapter is not None)])]
    if rest > 0:
        words = sum(step.bytes for step in result.steps if step.cause == "tokenizer")
        shares.append(Share("tokenizer, headers" if words * 2 > rest else "headers", (), rest))
    return sorted(shares, key=lambda share: -share.bytes)


def _of_training(result: Reconciliation, shares: Sequence[Share]) -> Iterator[Share]:
    """The optimizer's tensors by themselves, which have no role in the model."""
    steps = [step for step in result.steps if step.cause == "training_state"]
    state = sum(step.bytes for step in steps)
    names = tuple(escape(name, 40) for step in steps for name in re.findall(r"\d × ([^,]+)", step.detail))
    for share in shares:
        if share.name == _GROUPS["other"] and 0 < state <= share.bytes:
            yield Share("training state", names, state, share.types)
            share = share._replace(bytes=share.bytes - state)
        if share.bytes:
            yield share


def _shares(roles: Sequence[RoleSum], *, adapter: bool) -> Iterator[Share]:
    if adapter:
        yield from _by(roles, lambda role: _word(role.role), None)
        return
    towers: dict[str, int] = {}
    for role in roles:
        towers[role.tower] = towers.get(role.tower, 0) + role.bytes
    if "text" in towers and not any(role.tower == "text" and role.group in _LAYERS for role in roles):
        del towers["text"]  # no tower, but what the others share: embeddings, a head
        if len(towers) < 2:
            yield from _by(roles, _ends, lambda role: _word(role.role))
            return
        yield from _by([role for role in roles if role.tower == "text"], _ends, lambda role: _word(role.role))
        roles = [role for role in roles if role.tower != "text"]
    main = max(towers, key=towers.__getitem__)
    if towers[main] < _MAIN * sum(towers.values()):
        yield from _by(roles, lambda role: role.tower, _group)
        return
    of = "" if len(towers) < 2 or main == "text" else f"{main} "
    yield from _by(
        [role for role in roles if role.tower == main], lambda role: of + _ends(role), lambda role: _word(role.role)
    )
    yield from _by([role for role in roles if role.tower != main], lambda role: role.tower, _group)


def _by(
    roles: Sequence[RoleSum], name: Callable[[RoleSum], str], part: Callable[[RoleSum], str] | None
) -> Iterator[Share]:
    """A share for each name, with its parts and types, the largest first."""
    named: dict[str, list[RoleSum]] = {}
    for role in sorted(roles, key=lambda role: -role.bytes):
        named.setdefault(name(role), []).append(role)
    for label, own in named.items():
        parts = dict.fromkeys(escape(part(role), 40) for role in own if part and role.role != "other")
        types: dict[str, int] = {}
        for role in own:
            for at, dtype in enumerate(role.dtypes):  # most of a role has its first type
                types[dtype] = types.get(dtype, 0) + (0 if at else role.bytes)
        ranked = sorted(types, key=lambda dtype: -types[dtype])
        if label.endswith(_ENDS) and len({role.group for role in own}) == 1:
            label = label.removesuffix(_ENDS) + _group(own[0])
        listed = tuple(escape(dtype, 12) for dtype in ranked)
        yield Share(escape(label, 40), tuple(parts), sum(role.bytes for role in own), listed)


#: Both are as large as the vocabulary, and often the same.
_ENDS = "embeddings, head"


def _ends(role: RoleSum) -> str:
    """A role's group, embeddings and head together."""
    return _ENDS if role.group in ("embedding", "head") else _group(role)


def _group(role: RoleSum) -> str:
    return _GROUPS.get(role.group, role.group)


def _word(role: str) -> str:
    return role.removesuffix("_proj").replace("embed_tokens", "tokens").replace("lm_head", "head")


def _fewer_groups(shares: Sequence[Share], most: int) -> list[Share]:
    """Up to this many rows: those with a share of less than 0.1 %, and any beyond the limit, become one."""
    whole = sum(share.bytes for share in shares)
    large = [share for share in shares if share.bytes >= _SMALL * whole]
    if len(large) == len(shares) <= most:
        return list(shares)
    kept = large[: most - 1]
    small = shares[len(kept) :]
    if len(small) == 1:
        return list(shares)
    names = tuple(share.name for share in small)
    types = tuple(dict.fromkeys(kind for share in small for kind in share.types))
    joined = Share(", ".join(names), (), sum(s.bytes for s in small), types)
    return [*kept, joined if len(names) < 3 else joined._replace(name="the rest", holds=names)]


def where(result: Reconciliation, most: int = _ON_PAGE) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The headers and rows of the table of bytes, in up to this many rows; a column without a header is for texts."""
    (_, _, unit, share, *last), rows = _rows_of(result, _fewer_groups(_where(result), most))
    return ("part", "of", unit, share, *last), rows


def _rows_of(result: Reconciliation, shares: Sequence[Share]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    whole = max(result.on_disk, sum(share.bytes for share in shares))
    unit, power = _unit(whole)
    mixed = len({kind for share in shares for kind in share.types}) > 1
    rows: list[tuple[str, ...]] = [
        (
            share.name,
            cut(", ".join(share.holds), _HOLDS),
            _in_units(share.bytes, power),
            fixed(share.bytes / whole * 100, 1),
            bar(share.bytes / whole, _BAR),
            ", ".join(share.types[:6]) if mixed else "",
        )
        for share in shares
    ]
    return ("where the bytes are", "", unit, "%", "", "stored as" if mixed else ""), rows


def _groups(result: Reconciliation, shares: Sequence[Share], width: int | None) -> str:
    if not shares:
        return ""
    headers, rows = _rows_of(result, shares)
    return table(rows, headers, "llrrll", width=width, give=((1, 14), (5, 12), (1, 0), (5, 0), (4, GO), (0, 16)))


def _unit(nbytes: int) -> tuple[str, int]:
    """The unit of a table of bytes, and its size."""
    name = decimal(nbytes if nbytes >= 10**13 else min(nbytes, 10**12 - 10**9)).rpartition(" ")[2]  # no 0.00 TB
    return name, {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}.get(name, 10**12)


def _in_units(nbytes: int, power: int, *, sign: bool = False) -> str:
    return fixed(nbytes / power, 2 if power > 1 else 0, sign=sign)


# --- why it is this size ----------------------------------------------------------------------------


class Line(NamedTuple):
    """A line of the bridge between its ends."""

    bytes: int
    name: str
    detail: str = ""
    fixed: bool = False  # whether it has a line of its own however small it is


def _why(result: Reconciliation) -> Iterator[Line]:
    """The steps, and what they leave unexplained, as lines."""
    for step in result.steps:
        if step.bytes:
            detail = "" if step.detail == BY_NAME[step.cause].meaning else cut(escape(step.detail), _DETAIL)
            again = ", stored again" if step.cause == "tied_embeddings" and step.bytes > 0 else ""
            yield Line(step.bytes, BY_NAME[step.cause].plain + again, detail, step.cause in _TOLD)
    if result.unexplained_bytes or result.unexplained:
        name = "unexplained" if result.prediction else "tensors that nothing predicts"
        yield Line(result.unexplained_bytes, name, unexplained(result), fixed=True)


#: Steps that have a line however small they are: they are faults.
_TOLD = frozenset({"missing", "truncated", "trailing", "overlap", "unreadable", "size_mismatch"})


def _fewer_steps(result: Reconciliation, lines: Sequence[Line], most: int) -> list[Line]:
    """Up to this many lines with the ends: steps of less than 0.1 %, and any beyond the limit, become one."""
    whole = max(result.on_disk, result.start)
    least = max(_SMALL * whole, _unit(whole)[1] / 200)  # below that, its number would be 0.00
    rank = sorted(lines, key=lambda line: (not line.fixed, -abs(line.bytes)))
    large = [line for line in rank if line.fixed or abs(line.bytes) >= least]
    kept = large if len(large) == len(lines) <= most - 2 else large[: most - 3]
    small = [line for line in rank if line not in kept]
    if not small:
        return list(lines)
    listed = ", ".join(f"{line.name} {decimal(line.bytes)}" for line in small)
    return [*(line for line in lines if line in kept), Line(sum(line.bytes for line in small), listed)]


def why(result: Reconciliation, most: int = _ON_PAGE) -> tuple[str, list[tuple[str, str]]]:
    """From the nominal size, or the predicted one, to the bytes on disk: a title, and numbers with their reasons."""
    return _steps_of(result, _fewer_steps(result, list(_why(result)), most))


def _steps_of(result: Reconciliation, lines: Sequence[Line]) -> tuple[str, list[tuple[str, str]]]:
    unit, power = _unit(max(result.on_disk, result.start))
    known = result.nominal is not None or result.predicted is not None
    on_disk = _in_units(result.on_disk, power)
    whole = f"{on_disk} {unit}"
    title = f"why {whole}" if known else f"what the {whole} are"
    rows = list[tuple[str, str]]()
    if result.nominal:
        nominal, dtype = result.nominal, escape(result.dtype or "", 60)
        each = plural(nominal.bits // 8, "byte") if not nominal.bits % 8 else f"{nominal.bits} bits"
        stated = _in_units(nominal.bytes, power)
        title += f" and not {stated}" if stated != on_disk else ""
        rows.append((stated, f'"{escape(nominal.label)}" × {each} ({dtype})'))
    elif result.predicted is not None:
        at = escape(result.dtype or "16 bits", 60)
        asked = result.prediction and result.prediction.config.family and result.prediction.config.family.asked
        by = f"as {escape(asked, 60)} builds it" if asked else "predicted from the configuration"
        rows.append((_in_units(result.predicted, power), f"{by}, at {at}"))
    for line in lines:
        what = ": ".join(filter(None, (line.name, line.detail)))
        rows.append((_in_units(line.bytes, power, sign=known), what))
    explained = "" if result.unexplained_bytes or result.unexplained else ", every byte explained"
    rows.append((on_disk, f"{unit} on disk{explained}"))
    return title, rows


def _bridge(result: Reconciliation, lines: Sequence[Line], width: int | None) -> str:
    title, rows = _steps_of(result, lines)
    column = max(len(number) for number, _ in rows)
    room = None if width is None else width - column - 2
    return "\n".join((title, *(f"{number:>{column}}  {cut(what, room)}" for number, what in rows)))


# --- what to do next --------------------------------------------------------------------------------


def _next(result: Reconciliation, width: int | None) -> str:
    """What to type next, with the target as it was typed where a line has room for it."""
    if result.verdict.state in ("damaged", "incomplete"):
        what = ["inspect audit {} says what to do", "inspect audit {}"]
    elif result.adapter:
        what = ["inspect diff BASE {} shows what it changes", "inspect diff BASE {}"]
    else:
        what = ["inspect tensors|memory|audit|browse {}", "inspect audit|memory {}"]
    full, short = (f"next: {what[0]}; {more}: --full" for more in ("all numbers", "more"))
    target = result.checkpoint.target
    plain = re.fullmatch(r"[\w@%+=:,./~-]{1,60}", target, re.ASCII)  # what no shell changes
    lines = [line.format(target) for line in (full, short, f"next: {what[1]}; more: --full")] if plain else []
    return next((line for line in lines if len(line) <= (width or 80)), full.format("TARGET"))
