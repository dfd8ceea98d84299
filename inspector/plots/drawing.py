"""The model drawn from its keys: input to head as blocks by role, layers alike folded, towers side by side.

towers(result)  → Tower, each with Stacks of Blocks: the numbers, whose bytes sum to those of all tensors
drawing(result) → Chart, the same as SVG
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from inspector.architectures.data.roles import ROLES
from inspector.bridge.breakdown import role_of
from inspector.model import STACKED, Key, Labelled, Reconciliation
from inspector.plots.figure import COLOURS, LINE, PALETTE, Chart, caption, drawn, label
from inspector.units import count, decimal, escape, integer, plural, ranges, times

#: What is drawn of towers, their stacks and rows of a block; what is beyond is added up in the last one.
MOST_TOWERS, MOST_STACKS, MOST_ROWS = 12, 24, 14
#: The most runs of alike layers that are drawn in order; beyond that, layers are grouped by kind wherever they are.
_RUNS = 6
#: Roles as the input passes them, in a block and outside the layers; others stand before, as the vocabulary has them.
_FLOW = (
    "q_a_proj", "q_a_layernorm", "q_b_proj", "qkv_proj", "qk_proj", "q_proj", "kv_a_proj_with_mqa", "kv_a_layernorm",
    "kv_b_proj", "kv_proj", "k_b_proj", "k_proj", "v_b_proj", "v_proj", "q_norm", "k_norm", "v_norm",
    "attn_positions", "attn_scale", "sinks", "gate_attn", "attn_sub_norm", "o_a_proj", "o_proj", "o_b_proj",
    "gate_proj", "up_proj", "gate_up_proj", "activation", "ffn_sub_norm", "down_proj", "in_proj", "conv1d",
    "conv_norm", "x_proj", "dt_proj", "dt_bias", "A_log", "D", "ssm_norm", "out_proj", "norm", "pooler", "head_dense",
    "head_norm", "lm_head", "lm_head_bias",
)  # fmt: skip
_ROLES = {role: number for number, role in enumerate((*(role for role in ROLES if role not in _FLOW), *_FLOW))}
#: Roles that belong to the block of another group, in which they are computed.
_INSIDE = {
    **dict.fromkeys(
        ("q_norm", "k_norm", "v_norm", "q_a_layernorm", "kv_a_layernorm", "attn_sub_norm", "relative_attention_bias"),
        "attention",
    ),
    **dict.fromkeys(("conv1d", "ssm_norm"), "state_space"),
    "ffn_sub_norm": "feed_forward",
}
#: Roles outside the layers that the input passes first, beside all of the embeddings.
_FIRST = {
    "embed_norm", "pre_norm", "conv_in", "conv", "conv_norm", "conv_scale", "proj_norm", "per_layer_model_projection",
}  # fmt: skip
#: Those of them that stand last in a tower whose input are patches.
_NECK = {"conv", "conv_norm", "proj_norm"}
#: Last words of names of towers that are parts of one → their order.
_PARTS = {"time": 0, "encoder": 1, "down": 1, "mid": 2, "decoder": 3, "up": 3}
#: Steps of a layer: what stands before, in and after the three that may read what went before and add to it.
_TO_HALF, _HALF, _BEFORE, _MIXER, _MIXED, _TO_CROSS, _CROSS, _CROSSED, _PREPARED, _ROUTER, _FORWARD, _FED, _LAST = (
    range(13)
)
_STEP = {
    "embedding": _BEFORE, "norm": _BEFORE, "attention": _MIXER, "state_space": _MIXER, "router": _ROUTER,
    "feed_forward": _FORWARD,
}  # fmt: skip


#: What went in is added to what comes out; and: the next block reads what this one read.
RESIDUAL, BESIDE = "+", "∥"
#: Roles of a Conformer's convolution, whatever their groups.
_CONVOLVED = frozenset({"conv_norm", "running_mean", "running_var", "num_batches_tracked"})


class Row(NamedTuple):
    """The tensors of one role in a block."""

    name: str  # the role with its branch
    shape: tuple[int, ...] | None  # of one tensor, as stored, without its experts; None for several roles
    dtypes: tuple[str, ...]  # of most bytes first
    tensors: int
    bytes: int


class Block(NamedTuple):
    """The tensors of one step, in all layers of a stack together."""

    group: str
    rows: tuple[Row, ...]
    experts: int  # beside each other; 0 outside the experts
    roles: tuple[str, ...]
    then: str = ""  # towards the next block: `RESIDUAL`, `BESIDE`, or nothing in between

    @property
    def bytes(self) -> int:
        return sum(row.bytes for row in self.rows)

    @property
    def tensors(self) -> int:
        return sum(row.tensors for row in self.rows)


class Stack(NamedTuple):
    """Layers with the same roles and shapes, whatever their types; or what stands outside the layers."""

    layers: tuple[int, ...]  # empty outside the layers
    blocks: tuple[Block, ...]

    @property
    def bytes(self) -> int:
        return sum(block.bytes for block in self.blocks)


class Tower(NamedTuple):
    """A tower from its input to its head."""

    name: str
    parameters: int
    stacks: tuple[Stack, ...]

    @property
    def bytes(self) -> int:
        return sum(stack.bytes for stack in self.stacks)


# --- what is drawn --------------------------------------------------------------------------------


def towers(result: Reconciliation) -> tuple[Tower, ...]:
    """Each tower's stacks, in the order of the input."""
    members: dict[str, list[Labelled]] = {}
    for each in result.tensors:
        members.setdefault(each.key.tower, []).append(each)
    wholes = [name.partition(" ")[0] for name in members]
    names = sorted(members, key=lambda name: (_place(name, members[name]), *_part(name, wholes)))
    if len(names) > MOST_TOWERS:
        kept = sorted(names, key=lambda name: -_bytes(members[name]))[: MOST_TOWERS - 1]
        members["others"] = [each for name in names if name not in kept for each in members[name]]
        names = [*(name for name in names if name in kept), "others"]
    return tuple(_tower(name, members[name], *_flow(result, name)) for name in names)


def _place(name: str, members: Iterable[Labelled]) -> int:
    """Embeddings that towers share stand first, what writes text last, and before it what leads there."""
    if name in ("text", "decoder"):
        return 2 if any(each.key.layer is not None for each in members) else -1
    return int(name == "projector")


def _part(name: str, wholes: Sequence[str]) -> tuple[int, int]:
    """The parts of a tower stand together, in the order of the input."""
    whole, _, part = name.partition(" ")
    return wholes.index(whole), _PARTS.get(part, 1)


def _flow(result: Reconciliation, tower: str) -> tuple[str, bool]:
    """Where a tower's layers have their norms, if its type is one of those whose names do not show it, and whether
    cross-attention comes first.
    """
    if result.prediction is None:
        return "", False
    known, config = _flows(), result.prediction.config
    row = known.get(config.model_type or "") or known.get(result.prediction.family) or {}
    if tower not in row.get("towers", (tower,)):
        return "", False
    if any(config.values.get(field) is value for field, value in row.get("unless", {}).items()):
        return "before", False
    return str(row.get("flow", "")), row.get("cross") == "first"


@cache
def _flows() -> Mapping[str, Mapping[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("flows.json").read_text("utf-8"))["types"]
    return found


def _tower(name: str, members: Sequence[Labelled], flow: str, crossed: bool) -> Tower:
    layers, convolved = dict[int, list[Labelled]](), dict[int, list[Labelled]]()
    first, last = list[Labelled](), list[Labelled]()
    ahead = _convolved(members)
    leading = _FIRST - _NECK if any(each.key.role == "embed_patches" for each in members) else _FIRST
    for each in members:
        if each.key.layer is not None:
            (convolved if _list_of(each) in ahead else layers).setdefault(each.key.layer, []).append(each)
        else:
            (
                first if "embedding" in (each.group, ROLES.get(each.key.role)) or each.key.role in leading else last
            ).append(each)
    final = any(each.key.role == "norm" for each in last)
    stacks = [
        *(
            Stack(tuple(own), _inside([e for n in own for e in convolved[n]], final, "", False))
            for own in _alike(convolved)
        ),
        *([Stack((), _outside(first))] if first else []),
        *(
            Stack(tuple(own), _inside([e for n in own for e in layers[n]], final, flow, crossed))
            for own in _alike(layers)
        ),
        *([Stack((), _outside(last))] if last else []),
    ]
    return Tower(name, sum(each.parameters for each in members), tuple(stacks))


def _list_of(member: Labelled) -> str:
    return member.tensor.name.partition(f".{member.key.layer}.")[0]


def _convolved(members: Iterable[Labelled]) -> set[str]:
    """Lists of layers that are convolutions alone, beside one with attention: they have numbers of their own."""
    groups: dict[str, set[str]] = {}
    for each in members:
        if each.key.layer is not None:
            group = "convolution" if each.key.role in _CONVOLVED else each.group
            groups.setdefault(_list_of(each), set()).add(group)
    beside = any("attention" in own for own in groups.values())
    return {name for name, own in groups.items() if own == {"convolution"}} if beside else set()


def _alike(layers: Mapping[int, Sequence[Labelled]]) -> list[list[int]]:
    """Layers with the same roles and shapes: runs of them, or all of a kind where the kinds take turns."""
    kinds = {number: _signature(layers[number]) for number in sorted(layers)}
    runs = [list(own) for _, own in groupby(kinds, key=kinds.__getitem__)]
    if len(runs) <= _RUNS:
        return runs
    members: dict[object, list[int]] = {}
    for number, kind in kinds.items():
        members.setdefault(kind, []).append(number)
    found = list(members.values())
    rest = [number for own in found[MOST_STACKS - 1 :] for number in own]
    return found if len(found) <= MOST_STACKS else [*found[: MOST_STACKS - 1], rest]


def _signature(members: Iterable[Labelled]) -> frozenset[tuple[str, str, str, tuple[int, ...]]]:
    return frozenset((each.key.branch, each.key.role, each.key.part, each.tensor.shape) for each in members)


#: Groups outside the layers that the input passes before all others of their place, and after them.
_OUTER = {"convolution": -1, "head": 1, "buffer": 2, "other": 2}


def _outside(members: Sequence[Labelled]) -> tuple[Block, ...]:
    """Blocks by group, in the order of their first role."""
    found = _grouped(members, lambda _, group: _OUTER.get(group, 0))
    return tuple(found[place] for place in sorted(found, key=lambda place: (place[0], _first(found[place]))))


def _inside(members: Sequence[Labelled], final: bool, flow: str, crossed: bool) -> tuple[Block, ...]:
    """Blocks of a layer, by step; where residuals join and what runs beside each other, if that is known.

    Args:
        final: whether a norm follows the last layer, as it does where layers normalize what they read.
        flow: as in flows.json; empty where the norms' roles have to show it.
        crossed: whether cross-attention comes first.
    """
    norms = {
        f"cross {each.key.role}" if _is_cross(each.key) else each.key.role for each in members if each.group == "norm"
    }
    macaron = _is_macaron(members)
    if not flow or not any(each.group == "attention" for each in members):  # as in the other layers of a hybrid
        mixed = norms or any(each.group == "attention" for each in members)  # a layer of an LSTM adds nothing
        flow = "before" if macaron else _shown(norms, final) if mixed else ""
    alone = all(each.group == "convolution" or each.key.role in _CONVOLVED for each in members)
    found = _grouped(members, lambda key, group: _step(key, group, norms, flow, macaron or alone))
    moved = dict.fromkeys((_TO_CROSS, _CROSS, _CROSSED), _HALF) if crossed else {}
    steps = sorted(
        found, key=lambda place: (moved.get(place[0], place[0]), place[0], not place[2], _first(found[place]))
    )
    then = _joins([step for step, _, _ in steps], flow, macaron) if flow and not alone else {}
    return tuple(found[place]._replace(then=then.get(at, "")) for at, place in enumerate(steps))


def _shown(norms: AbstractSet[str], final: bool) -> str:
    """The flow that roles of norms show, or nothing: "before" reading, "after" adding."""
    if "input_layernorm" not in norms:
        return "" if final else "after"
    return "before" if final or norms & {"post_attention_layernorm", "pre_feedforward_layernorm"} else "after"


def _is_macaron(members: Iterable[Labelled]) -> bool:
    """Whether attention and a convolution stand between two halves of a feed-forward network (Conformer)."""
    halves = [each.key for each in members if each.group == "feed_forward"]
    first = {key.role for key in halves if _is_first_half(key.branch)}
    second = {key.role for key in halves if key.branch.endswith(("2", "out"))}
    return "down_proj" in first & second and any(each.group == "convolution" for each in members)


def _is_first_half(branch: str) -> bool:
    return not branch or branch.endswith(("1", "in"))


_Place = tuple[int, str, bool]  # step, group, whether these are experts


def _joins(steps: Sequence[int], flow: str, macaron: bool) -> dict[int, str]:
    """Number of a block → what stands between it and the next."""
    found = {at: BESIDE for at, (own, following) in enumerate(pairwise(steps)) if own == following == _FORWARD}
    normed_too = flow != "after" and not macaron  # before what is added
    for step, normed in ((_HALF, _HALF), (_MIXER, _MIXED), (_CROSS, _CROSSED), (_FORWARD, _FED)):
        if step in steps:
            ends = [at for at, each in enumerate(steps) if each == step or (normed_too and each == normed)]
            found[ends[-1]] = RESIDUAL
    if flow in ("before", "beside") and _MIXER in steps and _FORWARD in steps:
        one = not any(_MIXER < each < _ROUTER for each in steps)  # norm for both
        if one or flow == "beside":
            found[max(at for at, each in enumerate(steps) if each == _MIXER)] = BESIDE
    return found


def _is_cross(key: Key) -> bool:
    return key.branch.startswith("cross")


def _step(key: Key, group: str, norms: AbstractSet[str], flow: str, macaron: bool) -> int:
    """Where a layer computes a role. A norm's place depends on which others the layer has.

    Args:
        norms: roles of the layer's norms, "cross …" where they are cross-attention's.
        flow: "before", "beside", "inside", "after" or nothing: see flows.json.
        macaron: whether the layer has half a feed-forward network before attention, and a convolution after it.
    """
    before = flow in ("before", "beside")
    if macaron and (group == "convolution" or key.role in _CONVOLVED):
        return _CROSS
    if macaron and group == "feed_forward":
        return _HALF if _is_first_half(key.branch) else _FORWARD
    if macaron and group == "norm" and key.branch:  # of one half
        return _TO_HALF if _is_first_half(key.branch) else _PREPARED
    if _is_cross(key):
        ahead = before and not (key.role == "post_attention_layernorm" and "cross input_layernorm" in norms)
        return _CROSS if group != "norm" else _TO_CROSS if ahead else _CROSSED
    second = "input_layernorm" in norms  # whether a norm that is called after attention is the layer's second
    match key.role:
        case "input_layernorm" if not before:
            return _MIXED
        case "post_attention_layernorm" if not before:
            return _FED if second and flow else _MIXED
        case "post_attention_layernorm":
            plain = not key.branch and "pre_feedforward_layernorm" not in norms
            return _BEFORE if not second else _PREPARED if plain else _MIXED
        case "pre_feedforward_layernorm":
            return _PREPARED
        case "post_feedforward_layernorm":
            alone = norms.isdisjoint(("post_attention_layernorm", "pre_feedforward_layernorm")) or not second
            return _PREPARED if before and alone and not macaron else _FED
    return _STEP.get(group, _LAST)


def _first(block: Block) -> int:
    return min(_ROLES.get(role, len(_ROLES)) for role in block.roles)


def _grouped(members: Sequence[Labelled], step: Callable[[Key, str], int]) -> dict[_Place, Block]:
    """A block for each step and group, experts apart; side data stands with its weights."""
    groups = {role_of(each.key): each.group for each in members if each.group != "quantization"}
    found: dict[_Place, dict[str, list[Labelled]]] = {}
    for each in members:
        role = role_of(each.key)
        group = _INSIDE.get(each.key.role, groups.get(role, each.group))
        place = step(each.key, group), group, each.key.expert is not None
        if place[0] == _CROSS and each.key.role in _CONVOLVED:
            place = _CROSS, "convolution", False
        found.setdefault(place, {}).setdefault(role, []).append(each)
    return {
        place: Block(place[1], _rows(own), _experts(own) if place[2] else 0, _roles(own))
        for place, own in found.items()
    }


def _roles(own: Mapping[str, Sequence[Labelled]]) -> tuple[str, ...]:
    return tuple(sorted({each.key.role for members in own.values() for each in members}))


def _rows(roles: Mapping[str, Sequence[Labelled]]) -> tuple[Row, ...]:
    in_order = sorted(roles.values(), key=lambda own: (own[0].key.branch, _ROLES.get(own[0].key.role, len(_ROLES))))
    rows = [_row(own) for own in in_order]
    if len(rows) <= MOST_ROWS:
        return tuple(rows)
    rest = rows[MOST_ROWS - 1 :]
    tensors, nbytes = sum(row.tensors for row in rest), sum(row.bytes for row in rest)
    dtypes = tuple(dict.fromkeys(dtype for row in rest for dtype in row.dtypes))
    return (*rows[: MOST_ROWS - 1], Row(plural(len(rest), "further role"), None, dtypes, tensors, nbytes))


def _row(members: Sequence[Labelled]) -> Row:
    key = members[0].key
    largest = max(members, key=lambda each: (each.key.part == "weight", each.tensor.nbytes))
    shape = largest.tensor.shape[1:] if largest.key.expert == STACKED else largest.tensor.shape
    dtypes = Counter[str]()
    for each in members:
        dtypes[each.tensor.dtype] += each.tensor.nbytes
    name = " ".join(filter(None, (key.branch, key.role or "other")))
    return Row(name, shape, tuple(dtype for dtype, _ in dtypes.most_common()), len(members), dtypes.total())


def _experts(roles: Mapping[str, Sequence[Labelled]]) -> int:
    numbers = {each.key.expert for own in roles.values() for each in own}
    if STACKED not in numbers:
        return len(numbers)
    return max((each.tensor.shape[0] for own in roles.values() for each in own if each.tensor.shape), default=0)


def _bytes(members: Iterable[Labelled]) -> int:
    return sum(each.tensor.nbytes for each in members)


# --- as SVG ---------------------------------------------------------------------------------------

#: Pixels: a tower's width, between towers, around a block's rows, between blocks, and where something is written there.
_WIDTH, _BETWEEN, _PAD, _GAP, _JOINT = 340, 28, 7, 8, 22
_FRAME = "#888888"
#: Pixels of a row's types. Characters of them, of a shape, of a name, and of a name and a shape beside each other.
_TYPED = 116
_TYPES, _SHAPE, _NAME, _BESIDE = 15, 18, 24, 30


def drawing(result: Reconciliation) -> Chart:
    """The model as SVG. All text from files is escaped."""
    found = towers(result)
    columns = [
        _column(tower, 2 + number * (_WIDTH + _BETWEEN), alone=len(found) == 1) for number, tower in enumerate(found)
    ]
    width = max(1, len(found)) * (_WIDTH + _BETWEEN) - _BETWEEN + 12
    height = max((bottom for _, bottom in columns), default=0) + 12
    summary = "; ".join(map(_sentence, found))
    svg = drawn((text for text, _ in columns), summary, height, width, "group")
    rows = [
        (tower.name, _layers(stack.layers), block.group, *_numbers(row))
        for tower in found
        for stack in tower.stacks
        for block in stack.blocks
        for row in block.rows
    ]
    headers = ("tower", "layers", "group", "role", "shape", "dtype", "tensors", "bytes")
    return Chart("The model, from its input to its head", summary, [("", svg)], headers, rows)


def _numbers(row: Row) -> tuple[str, str, str, int, int]:
    return row.name, _shape(row), " + ".join(row.dtypes), row.tensors, row.bytes


def _sentence(tower: Tower) -> str:
    return f"{escape(tower.name, 40)}: {_facts(tower)}"


def _facts(tower: Tower) -> str:
    layers = sum(len(stack.layers) for stack in tower.stacks)
    of = f"{plural(layers, 'layer')}, " if layers else ""
    return f"{of}{count(tower.parameters)} parameters, {decimal(tower.bytes)}"


def _column(tower: Tower, x: int, *, alone: bool) -> tuple[str, int]:
    """A tower's markup, and where it ends."""
    parts = (
        [] if alone else [caption(x, 14, label(tower.name, 40), bold=True), caption(x, 31, label(_facts(tower), 60))]
    )
    y, previous = 42 if parts else 2, False
    for stack in tower.stacks:
        if previous:
            parts.append(f'<rect x="{x + _WIDTH // 2 - 1}" y="{y - _GAP}" width="2" height="{_GAP}" fill="{_FRAME}"/>')
        text, y = _stack(tower.name, stack, x, y)
        parts.append(text)
        y, previous = y + _GAP, True
    return "".join(parts), y


def _stack(tower: str, stack: Stack, x: int, y: int) -> tuple[str, int]:
    """Layers as a frame, which is drawn behind itself again if there are several."""
    if not stack.layers:
        parts = list[str]()
        for block in stack.blocks:
            text, y = _block(tower, block, x, y, _WIDTH)
            parts.append(text)
            y += _GAP
        return "".join(parts), y - _GAP
    top, inner = y, list[str]()
    y += LINE + 2 * _PAD
    for block in stack.blocks:
        text, y = _block(tower, block, x + _PAD, y, _WIDTH - 2 * _PAD)
        inner += (
            [text, _joint(block.then, x + _WIDTH // 2, y)] if block.then or block is not stack.blocks[-1] else [text]
        )
        y += _JOINT if block.then else _GAP
    behind = "".join(
        _box(x + 4 * n, top + 4 * n, _WIDTH, y - top, _FRAME, 0.25) for n in (2, 1) if len(stack.layers) > 1
    )
    title = caption(x + _PAD, top + LINE, label(_layers(stack.layers), 30), bold=True)
    folded = f"×{len(stack.layers)}, " if len(stack.layers) > 1 else ""
    title += caption(x + _WIDTH - _PAD, top + LINE, folded + decimal(stack.bytes), anchor="end")
    y += 8 if behind else 0
    return f"{behind}{_box(x, top, _WIDTH, y - top - (8 if behind else 0), '#888', 1)}{title}{''.join(inner)}", y


def _joint(then: str, x: int, y: int) -> str:
    """From a block to the next: a line, through what is added to it; none between two that stand beside each other."""
    if then == BESIDE:
        return caption(x, y + 15, "∥ reads the same input", anchor="middle", faint=True)
    line = f'<rect x="{x - 1}" y="{y}" width="2" height="{_JOINT if then else _GAP}" fill="{_FRAME}"/>'
    if not then:
        return line
    return (
        f'{line}<rect x="{x - 8}" y="{y + 3}" width="16" height="16" rx="8" fill="{_FRAME}"/>'
        f'<rect x="{x - 4}" y="{y + 10}" width="8" height="2" fill="#ffffff"/>'
        f'<rect x="{x - 1}" y="{y + 7}" width="2" height="8" fill="#ffffff"/>'
        f"{caption(x + 14, y + 15, 'residual', faint=True)}"
    )


def _block(tower: str, block: Block, x: int, y: int, width: int) -> tuple[str, int]:
    colour = COLOURS.get(block.group, PALETTE[6])
    name = block.group.replace("_", " ") + (f", {plural(block.experts, 'expert')}" if block.experts else "")
    lines = [
        caption(x + 12, y + LINE, label(name, 40), bold=True),
        caption(x + width - 6, y + LINE, decimal(block.bytes), anchor="end"),
    ]
    seen = [name, decimal(block.bytes)]
    at = y + LINE
    if block.experts:
        lines.append(_side_by_side(block.experts, x + 12, at + 6, width - 18, colour))
        at += 20
    for row in block.rows:
        at += LINE
        shape = escape(_shape(row), _SHAPE)
        what = escape(row.name, min(_NAME, _BESIDE - len(shape)))
        types = escape(" + ".join(row.dtypes[:2]) + ("…" if len(row.dtypes) > 2 else ""), _TYPES)
        lines += [
            caption(x + 12, at, label(what)),
            caption(x + width - _TYPED, at, label(shape), anchor="end"),
            caption(x + width - 6, at, label(types), anchor="end", faint=True),
        ]
        seen += [what, shape, types]
    height = at + _PAD - y
    bar = f'<rect x="{x}" y="{y}" width="5" height="{height}" rx="2" fill="{colour}"/>'
    spoken = f"{name}: {decimal(block.bytes)} in {plural(block.tensors, 'tensor')}"
    roles = label(" ".join(block.roles), 2000)
    place = f'data-group="{label(block.group, 40)}" data-roles="{roles}" data-tower="{label(tower, 200)}"'
    heard = " ".join(filter(None, (*seen, f"in {plural(block.tensors, 'tensor')}")))  # what is seen, in its order
    attributes = f'class="block" {place} aria-label="{label(heard, 2000)}"'
    hidden = f"<title>{label(f'{spoken}, {integer(block.bytes)} bytes', 160)}</title>"
    return f"<g {attributes}>{hidden}{_box(x, y, width, height, colour, 0.6)}{bar}{''.join(lines)}</g>", y + height


def _side_by_side(experts: int, x: int, y: int, width: int, colour: str) -> str:
    """A small box for each expert, as many as can be told apart."""
    shown = min(experts, 32)
    each = width / shown
    return "".join(
        f'<rect x="{x + number * each:.1f}" y="{y}" width="{max(1.0, each - 2):.1f}" height="11" fill="{colour}" '
        f'fill-opacity="0.5"/>'
        for number in range(shown)
    )


def _box(x: int, y: int, width: int, height: int, colour: str, opacity: float) -> str:
    fill = 'fill="none"' if colour == _FRAME else f'fill="{colour}" fill-opacity="0.07"'
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" {fill} '
        f'stroke="{colour}" stroke-opacity="{opacity}"/>'
    )


def _shape(row: Row) -> str:
    return "" if row.shape is None else times(row.shape)


def _layers(numbers: Sequence[int]) -> str:
    """`layers 0–31`, `layer 7`; nothing outside the layers."""
    return f"{'layer' if len(numbers) == 1 else 'layers'} {ranges(numbers)}" if numbers else ""
