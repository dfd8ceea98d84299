"""Faults of GGUF files, by class: each changes a `Craft` and describes the change; None if it does not apply."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from math import prod
from typing import Any

from crafting import KINDS, SIZES, Craft, Entry, Pair

Mutation = Callable[[Craft, random.Random], "str | None"]
NUMBERS = (0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 33, 48, 64, 100, 128, 255, 256, 257, 512, 513, 1000, 4096, 65536)
EXTREMES = (2**31 - 1, 2**31, 2**32 - 1)
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-30, 1e30, float("nan"), float("inf"), 0.5, 2.0, 10000.0)
TEXTS = ("", "x", "llama", "LLAMA", "none", "default", "linear", "yarn", "true", "0", "qwen2", "gpt-2", "\x00", "é")
#: Kinds of a value, by its Python type.
ALIKE = {
    "uint32": ("int32", "uint64", "uint16", "uint8", "int64"),
    "float32": ("float64",),
    "int32": ("uint32", "int64"),
}


def _clamped(kind: str, value: Any) -> Any:
    if kind == "string":
        return str(value)
    if kind in ("float32", "float64"):
        return float(value) if not isinstance(value, (str, bytes)) else 0.5
    if kind == "bool":
        return bool(value)
    width = int(re.sub(r"\D", "", kind))
    number = int(value) if isinstance(value, (int, bool)) or (isinstance(value, float) and abs(value) < 2**31) else 1
    low = -(2 ** (width - 1)) if kind.startswith("int") else 0
    return (number - low) % 2**width + low


def _one(craft: Craft, draw: random.Random, test: Callable[[Pair], bool] = lambda _: True) -> Pair | None:
    able = [each for each in craft.pairs if test(each) and each.key != "general.architecture"]
    return draw.choice(able) if able else None


def _told(pair: Pair, before: str = "") -> str:
    return f"{pair.key!s:.60} = {pair.kind} {pair.value!s:.40}{f' ({len(pair.value)})' if pair.listed else ''}{before}"


def key_gone(craft: Craft, draw: random.Random) -> str | None:
    pair = draw.choice(craft.pairs)
    craft.pairs.remove(pair)
    return f"no {pair.key!s}"


def key_kind(craft: Craft, draw: random.Random) -> str | None:
    pair = _one(craft, draw, lambda each: not each.listed)
    if pair is None:
        return None
    near = ALIKE.get(pair.kind, ())
    kind = draw.choice(near if near and draw.random() < 0.4 else [each for each in KINDS if each != pair.kind])
    pair.kind, pair.value = kind, _clamped(kind, pair.value)
    return _told(pair)


def item_kind(craft: Craft, draw: random.Random) -> str | None:
    pair = _one(craft, draw, lambda each: each.listed)
    if pair is None:
        return None
    kind = draw.choice([each for each in KINDS if each != pair.kind])
    pair.kind, pair.value = kind, [_clamped(kind, each) for each in pair.value]
    return _told(pair)


def key_value(craft: Craft, draw: random.Random) -> str | None:
    pair = _one(craft, draw, lambda each: not each.listed and not str(each.key).startswith("tokenizer"))
    if pair is None:
        return None
    old = pair.value
    if pair.kind == "string":
        pair.value = draw.choice(TEXTS)
    elif pair.kind == "bool":
        pair.value = not pair.value
    elif pair.kind.startswith("float"):
        pair.value = draw.choice(FLOATS)
    else:
        near = (old + 1, max(0, old - 1), old * 2, old // 2)
        pair.value = draw.choice((*near, draw.choice(NUMBERS), draw.choice(NUMBERS), draw.choice(EXTREMES)))
    return None if pair.value == old else _told(pair, f", was {old!s:.20}")


def scalar_or_list(craft: Craft, draw: random.Random) -> str | None:
    pair = _one(craft, draw)
    if pair is None:
        return None
    if pair.listed:
        pair.value = pair.value[0] if pair.value else 0
    else:
        blocks = craft.find("block_count")
        count = blocks.value if blocks and isinstance(blocks.value, int) else 2
        pair.value = [pair.value] * draw.choice((count, count, count, 1, count + 1, 0, 2))
    return _told(pair)


def list_changed(craft: Craft, draw: random.Random) -> str | None:
    pair = _one(craft, draw, lambda each: each.listed and bool(each.value))
    if pair is None:
        return None
    value, at = pair.value, draw.randrange(len(pair.value))
    how = draw.choice(("shorter", "longer", "empty", "half", "item", "twice", "turned"))
    others = {"string": TEXTS, "float32": FLOATS, "int32": (-1, 0, 7, 99), "bool": (0, 1)}.get(pair.kind, NUMBERS)
    pair.value = {
        "shorter": value[:-1], "longer": [*value, value[-1]], "empty": [], "half": value[: len(value) // 2],
        "item": [*value[:at], draw.choice(others), *value[at + 1 :]], "twice": value * 2, "turned": value[::-1],
    }[how]  # fmt: skip
    return None if pair.value == value else f"{how}: {_told(pair)}"


def key_twice(craft: Craft, draw: random.Random) -> str | None:
    pair = draw.choice(craft.pairs)
    craft.pairs.append(Pair(pair.key, pair.kind, pair.value))
    return f"{pair.key!s} twice"


def key_renamed(craft: Craft, draw: random.Random) -> str | None:
    pair = draw.choice(craft.pairs)
    key = str(pair.key)
    new = draw.choice(
        (key.upper(), key + "s", key[:-1], "x." + key, key.replace(".", "_"), key.partition(".")[2] or "x", "")
    )
    pair.key = new
    return f"{key} → {new!r}"


def key_more(craft: Craft, draw: random.Random) -> str | None:
    own = craft.architecture + "."
    key, kind, value = draw.choice((
        ("general.name", "string", draw.choice(("phi-3 mini", "Phi3", "modern-bert", "x" * 5000, "\x1b[31m"))),
        ("general.name", "uint32", 7),
        ("general.type", "string", draw.choice(("model", "adapter", "mmproj", "vocab", "imatrix", "x", ""))),
        ("general.file_type", draw.choice(("uint32", "string", "int32")), 7),
        ("general.quantization_version", draw.choice(("uint32", "string")), 2),
        ("general.alignment", draw.choice(("uint64", "int32", "string")), 32),
        (own + "rope.scaling.type", "string", draw.choice(("linear", "yarn", "none", "longrope", "x", "", "YARN", "su"))),
        (own + "rope.scaling.factor", draw.choice(("float32", "float64", "uint32")), draw.choice((0.0, -1.0, 4.0))),
        (own + "rope.scaling.original_context_length", draw.choice(("uint32", "float32")), 16),
        (own + "rope.freq_base", draw.choice(("float32", "float32", "uint32")), draw.choice(FLOATS)),
        (own + "rope.dimension_count", "uint32", draw.choice((0, 1, 2, 7, 8, 16, 4096))),
        (own + "rope.dimension_sections", "int32", draw.choice(([1, 2], [4, 2, 2, 0], [0] * 5, []))),
        (own + "attention.key_length", "uint32", draw.choice((0, 1, 8, 16, 64))),
        (own + "attention.value_length", "uint32", draw.choice((0, 1, 8, 16, 64))),
        (own + "attention.sliding_window", draw.choice(("uint32", "uint32", "int32", "string")), draw.choice((0, 1, 16))),
        (own + "attention.causal", draw.choice(("bool", "uint8")), draw.choice((0, 1))),
        (own + "attention.scale", draw.choice(("float32", "uint32")), 1),
        (own + "attention.max_alibi_bias", "float32", 8.0),
        (own + "attention.clamp_kqv", "float32", draw.choice((0.0, -3.0, 8.0))),
        (own + "expert_count", "uint32", draw.choice((0, 1, 2, 8, 2000))),
        (own + "expert_used_count", "uint32", draw.choice((0, 1, 2, 9))),
        (own + "expert_group_count", "uint32", draw.choice((0, 1, 2, 3, 8))),
        (own + "expert_shared_count", "uint32", draw.choice((0, 1, 2))),
        (own + "leading_dense_block_count", "uint32", draw.choice((0, 1, 99))),
        (own + "pooling_type", "uint32", draw.choice((0, 1, 2, 3, 4, 9))),
        (own + "logit_scale", draw.choice(("float32", "float64")), 0.5),
        (own + "final_logit_softcapping", draw.choice(("float32", "uint32")), 30),
        (own + "nextn_predict_layers", "uint32", draw.choice((0, 1, 2, 99))),
        (own + "vocab_size", draw.choice(("uint32", "uint32", "uint64", "string")), draw.choice((0, 1, 50, 10**6))),
        (own + "use_parallel_residual", draw.choice(("bool", "uint8")), 1),
        (own + "classifier.output_labels", draw.choice(("string", "uint32")), draw.choice((["0", "1"], [], "0"))),
        (own + "embedding_length_out", "uint32", draw.choice((0, 8, 64))),
        (own + "dense_2_feat_out", "uint32", 16),
        ("split.count", draw.choice(("uint16", "uint32", "string")), draw.choice((0, 1, 2, 3))),
        ("split.no", draw.choice(("uint16", "uint32")), draw.choice((0, 1))),
        ("split.tensors.count", draw.choice(("int32", "uint32")), draw.choice((0, 5, len(craft.entries)))),
        ("adapter.type", "string", "lora"),
        ("x" * draw.choice((64, 65, 70000)), "string", "v"),
        ("no.such.key", draw.choice(tuple(KINDS)), draw.choice((1, [1, 2], []))),
        ("tokenizer.ggml.pre", "string", draw.choice(("", "default", "llama-bpe", "gpt-2", "kimi-k2", "x", "Qwen2", "tekken"))),
        ("tokenizer.ggml.pre", "uint32", 1),
        ("tokenizer.ggml.model", draw.choice(("uint32", "string")), draw.choice(("", "Llama", "gpt-2", "bpe", "spm"))),
        ("tokenizer.ggml.add_bos_token", draw.choice(("bool", "uint8", "uint32", "string")), 1),
        ("tokenizer.ggml.add_space_prefix", draw.choice(("bool", "int32")), 0),
        ("tokenizer.ggml.remove_extra_whitespaces", draw.choice(("bool", "string")), 0),
        ("tokenizer.ggml.normalizer.lowercase", draw.choice(("bool", "string")), 0),
        ("tokenizer.ggml.token_type_count", draw.choice(("uint32", "int32", "string")), draw.choice((0, 1, 2, 5))),
        ("tokenizer.ggml.suppress_tokens", draw.choice(("int32", "uint32", "string")), draw.choice(([1], [], [9999, -1], 3))),
        ("tokenizer.ggml.precompiled_charsmap", draw.choice(("uint8", "int8", "int32")), draw.choice(([0] * 8, [1, 2], [9] * 12, [4, 0, 0, 0] + [0] * 9))),
        ("tokenizer.ggml.merges", draw.choice(("string", "string", "uint32")), draw.choice((["a b"], [], ["ab"], [" "], [""], 1))),
        ("tokenizer.ggml.seperator_token_id", draw.choice(("uint32", "int32")), draw.choice((0, 3, 9999))),
        ("tokenizer.ggml.eot_token_id", draw.choice(("uint32", "int32", "uint64")), draw.choice((0, 3, 9999))),
        ("tokenizer.ggml.fim_pre_token_id", draw.choice(("uint32", "int32")), draw.choice((0, 9999))),
        ("tokenizer.ggml.token_type", "int32", draw.choice(([6], [], 3))),
    ))  # fmt: skip
    if kind == "string" and not isinstance(value, list):
        value = str(value)
    try:
        value = [_clamped(kind, each) for each in value] if isinstance(value, list) else _clamped(kind, value)
    except ValueError:
        return None
    craft.put(key, kind, value)
    return f"more: {key:.60} = {kind} {value!s:.40}"


def template(craft: Craft, draw: random.Random) -> str | None:
    text = draw.choice((
        "{% for m in messages %}{{ m.content }}{% endfor %}", "{% for m in messages %}{{ m.content }}", "{{ x", "", "{% if %}",
        "{{ messages[0]['role'] }}", "{% unknown %}", "{{ raise_exception('no') }}", "plain", "{{ 1/0 }}", "{% endfor %}",
        "{{ messages | nosuchfilter }}", "{{ nosuch() }}", "{{ ''.__class__ }}", "{% macro f(x) %}{{ x }}{% endmacro %}{{ f(1) }}",
    ))  # fmt: skip
    kind = draw.choice(("string",) * 5 + ("uint32", "bool"))
    key = "tokenizer.chat_template" + draw.choice(("", "", "", "", ".tool_use"))
    craft.put(key, kind, text if kind == "string" else 1)
    return f"{key} = {kind} {text!r}"


def architecture(craft: Craft, draw: random.Random) -> str | None:
    pair = next((each for each in craft.pairs if each.key == "general.architecture"), None)
    if pair is None:
        return None
    old = str(pair.value)
    names = (
        "llama", "qwen2", "qwen3", "gemma2", "phi3", "bert", "gpt2", "mamba", "deepseek2", "clip", "llama4",
        "mistral3",
    )  # fmt: skip
    new = draw.choice((*names, old.upper(), old + "x", "unknown-arch", ""))
    how = draw.choice(("name", "with keys", "with keys", "kind"))
    if how == "kind":
        pair.kind, pair.value = "uint32", 3
        return "general.architecture = uint32"
    pair.value = new
    for each in craft.pairs if how == "with keys" else ():
        if str(each.key).startswith(old + "."):
            each.key = new + str(each.key)[len(old) :]
    return None if new == old else f"{old} → {new!r} {how}"


def tokens(craft: Craft, draw: random.Random) -> str | None:
    listed = craft.find("tokenizer.ggml.tokens")
    if listed is None or not listed.listed or listed.kind != "string" or not listed.value:
        size = craft.find("vocab_size")
        if size is None:
            return None
        size.value = draw.choice((0, 1, max(0, size.value - 1), size.value + 1, 2 * size.value, 2**31))
        return f"vocab_size {size.value}"
    words, at = list(listed.value), draw.randrange(len(listed.value))
    how = draw.choice(
        ("twice", "empty", "two empty", "latin", "nul", "escape", "fewer", "more", "bytes gone", "long", "one")
    )
    text = {"empty": "", "latin": b"\xe9\xff", "nul": "\x00", "escape": "\\x4", "long": "y" * 100_000}
    if how in text:
        words[at] = text[how]
    elif how in ("twice", "two empty"):
        words[at - 1] = words[at] = words[at - 1] if how == "twice" else ""
    elif how == "bytes gone":
        words = [f"gone{number}" if str(word).startswith("<0x") else word for number, word in enumerate(words)]
    else:
        words = _resized(words, how, draw)
    changed = words != listed.value
    listed.value = words
    if how in ("fewer", "more", "one") and draw.random() < 0.7:
        for key in ("scores", "token_type"):
            if (beside := craft.find(f"tokenizer.ggml.{key}")) and beside.listed and beside.value:
                beside.value = (beside.value + [beside.value[-1]] * len(words))[: len(words)]
        how += " with their lists"
    return f"tokens {how} ({len(words)})" if changed else None


def _resized(words: list[Any], how: str, draw: random.Random) -> list[Any]:
    if how == "more":
        return words + [f"new{number}" for number in range(draw.choice((1, 5, 300)))]
    return words[: 1 if how == "one" else draw.choice((1, 2, len(words) // 2, len(words) - 1))]


def token_lists(craft: Craft, draw: random.Random) -> str | None:
    pair = _one(
        craft, draw, lambda each: str(each.key).startswith("tokenizer.ggml.") and each.listed and bool(each.value)
    )
    if pair is None or str(pair.key).endswith(".tokens"):
        return None
    count = len(pair.value)
    others = {
        "int32": (0, 1, 2, 3, 4, 5, 6, 7, -1, 99),
        "float32": FLOATS,
        "string": ("", "a", "a b c", " x", "x ", "  ", b"\xff \xfe"),
    }
    choices = others.get(pair.kind, NUMBERS)
    how = draw.choice(("all", "one", "random", "shorter", "longer"))
    if how == "all":
        pair.value = [draw.choice(choices)] * count
    elif how == "one":
        pair.value[draw.randrange(count)] = draw.choice(choices)
    elif how == "random":
        pair.value = [draw.choice(choices) for _ in pair.value]
    else:
        pair.value = pair.value[: count // 2] if how == "shorter" else pair.value + pair.value[:7]
    return f"{how}: {_told(pair)}"


def token_ids(craft: Craft, draw: random.Random) -> str | None:
    name = draw.choice(("bos", "eos", "unknown", "padding", "mask", "seperator", "cls", "eot", "eom", "fim_pad"))
    kind = draw.choice(("uint32",) * 4 + ("int32", "uint64", "uint16", "string"))
    value = draw.choice((0, 1, 5, 10_000, 2**31, 2**32 - 1))
    craft.put(f"tokenizer.ggml.{name}_token_id", kind, _clamped(kind, value))
    return f"{name}_token_id = {kind} {value}"


# --- tensors ----------------------------------------------------------------------------------------


def _tensor(craft: Craft, draw: random.Random) -> Entry | None:
    if not craft.entries:
        return None
    kinds: dict[str, list[Entry]] = {}  # kinds are drawn instead of tensors, most of which are in blocks
    for each in craft.entries:
        kinds.setdefault(re.sub(r"\d+", "", str(each.name)), []).append(each)
    return draw.choice(draw.choice(list(kinds.values())))


def tensor_gone(craft: Craft, draw: random.Random) -> str | None:
    entry = _tensor(craft, draw)
    if entry is None:
        return None
    craft.entries.remove(entry)
    return f"without {entry.name!s}"


def tensor_renamed(craft: Craft, draw: random.Random) -> str | None:
    entry = _tensor(craft, draw)
    if entry is None:
        return None
    old = str(entry.name)
    entry.name = draw.choice((
        old + "x", old.replace(".weight", ".bias"), old.replace(".weight", ""), old.replace("blk.", "block."), old.upper(),
        re.sub(r"blk\.\d+", "blk.99", old), re.sub(r"blk\.(\d)", r"blk.0\1", old), "model." + old, old.replace("_", "."), "y" * 63,
        "y" * 64, "", old + " ", old.replace("attn_", "self_attn_"), old.replace("ffn_", "mlp_"), b"\xff\xfe.weight",
    ))  # fmt: skip
    return None if entry.name == old else f"{old} → {entry.name!s:.40}"


def tensor_more(craft: Craft, draw: random.Random) -> str | None:
    entry = _tensor(craft, draw)
    if entry is None:
        return None
    old = str(entry.name)
    name, shape = draw.choice((
        ("extra.weight", [32]), ("rope_freqs.weight", [8]), ("blk.0.rope_freqs.weight", [8]), ("output.bias", [32]),
        (old.replace(".weight", ".bias"), entry.shape[-2:-1] or [entry.shape[0]]), (old.replace(".weight", ".scale"), [1]),
        (old.replace(".weight", ".input_scale"), [1]), (re.sub(r"blk\.\d+", "blk.99", old), entry.shape), (old, entry.shape),
        ("output_norm.bias", [32]), ("token_types.weight", [2, 32]), ("cls.weight", [32, 32]), ("output.weight", entry.shape),
        ("blk.0.attn_qkv.weight", [96, 32]), ("blk.0.attn_q_norm.weight", [8]), ("v.patch_embd.weight", [8, 8]),
        ("blk.0.attn_rot_embd.weight", [8]), ("rope_factors_long.weight", [8]), ("blk.0.attn_sinks.weight", [4]),
    ))  # fmt: skip
    craft.entries.append(Entry("F32", list(shape), name))
    return f"more: {name} {shape}"


def tensor_shape(craft: Craft, draw: random.Random) -> str | None:
    entry = _tensor(craft, draw)
    if entry is None:
        return None
    old, at = list(entry.shape), draw.randrange(len(entry.shape))
    size = entry.shape[at]
    new = draw.choice((size + 1, size - 1, size * 2, max(1, size // 2), size + 32, 1, 0, 2**40, -1))
    how = draw.choice(("side", "side", "side", "turned", "more", "fewer", "flat", "five", "ones", "none", "swapped"))
    entry.shape = {
        "side": [*old[:at], new, *old[at + 1 :]], "turned": old[::-1], "more": [1, *old], "fewer": old[1:] or [1], "ones": [*old, 1],
        "flat": [prod(old)], "five": [1, 1, 1, *old], "none": [], "swapped": [*old[:-2], old[-1] * 2, max(1, old[0] // 2)],
    }[how]  # fmt: skip
    return None if entry.shape == old else f"{entry.name!s} {old} → {entry.shape}"


def tensor_type(craft: Craft, draw: random.Random) -> str | None:
    entry = _tensor(craft, draw)
    if entry is None:
        return None
    entry.dtype = draw.choice([each for each in SIZES if each != entry.dtype])
    return f"{entry.name!s} {entry.shape} in {entry.dtype}"


def float_type(craft: Craft, draw: random.Random) -> str | None:
    entry = _tensor(craft, draw)
    if entry is None:
        return None
    entry.dtype = draw.choice(("F16", "BF16", "F64", "I8", "I16", "I32", "I64", "Q8_0", "Q4_0", "MXFP4"))
    return f"{entry.name!s} {entry.shape} in {entry.dtype}"


def types(craft: Craft, draw: random.Random) -> str | None:
    dtype, how = draw.choice(list(SIZES)), draw.choice(("kind", "matrices", "able", "all"))
    like = re.sub(r"\d+", "", str((_tensor(craft, draw) or Entry("F32", [1], "")).name))
    for each in craft.entries:
        able = len(each.shape) > 1 and each.shape[-1] % SIZES[dtype][0] == 0
        if {
            "kind": re.sub(r"\d+", "", str(each.name)) == like,
            "matrices": len(each.shape) > 1,
            "able": able,
            "all": True,
        }[how]:
            each.dtype = dtype
    return f"{how}{f' {like}' if how == 'kind' else ''} in {dtype}"


def type_code(craft: Craft, draw: random.Random) -> str | None:
    entry = _tensor(craft, draw)
    if entry is None:
        return None
    entry.code = draw.choice((4, 5, 9, 31, 36, 37, 38, 43, 100, 2**31, 2**32 - 1))
    return f"{entry.name!s} of type {entry.code}"


def tensor_twice(craft: Craft, draw: random.Random) -> str | None:
    first, other = _tensor(craft, draw), _tensor(craft, draw)
    if first is None or other is None or first is other:
        return None
    if draw.random() < 0.5:
        other.name = first.name
        return f"two are {first.name!s}"
    first.name, other.name = other.name, first.name
    return f"{first.name!s} and {other.name!s} exchanged"


# --- the file ---------------------------------------------------------------------------------------


def offset(craft: Craft, draw: random.Random) -> str | None:
    entry = _tensor(craft, draw)
    if entry is None:
        return None
    how = draw.choice(("shifted", "order", "from here"))
    step = draw.choice((1, 4, 16, 32, -32, 64, 2**40))
    if how == "order":
        draw.shuffle(craft.entries)  # sound: any order is, since offsets follow it
        return "shuffled"
    if how == "shifted":
        entry.moved = step
    else:
        for each in craft.entries[craft.entries.index(entry) :]:
            each.moved = step
        craft.tail += max(0, min(step, 100))
    return f"{entry.name!s} {how} by {step}"


def alignment(craft: Craft, draw: random.Random) -> str | None:
    value = draw.choice((0, 1, 2, 4, 8, 16, 24, 31, 64, 128, 4096, 2**20, 2**31))
    craft.put("general.alignment", "uint32", value)
    if draw.random() < 0.7 and value and value < 2**21:
        craft.alignment = value
        return f"alignment {value}, followed"
    return f"alignment {value}, not followed"


def length(craft: Craft, draw: random.Random) -> str | None:
    craft.tail += draw.choice((-1, -3, -31, -32, -100, -10_000, 1, 31, 32, 100, 4096))
    return f"{craft.tail} bytes"


def head(craft: Craft, draw: random.Random) -> str | None:
    how = draw.choice(("version", "magic", "order", "tensors", "keys", "byte", "byte", "byte"))
    if how == "version":
        craft.version = draw.choice((0, 1, 2, 2, 4, 3 << 24, 65536))
        return f"version {craft.version}"
    if how == "magic":
        craft.magic = draw.choice((b"ggjt", b"GGML", b"gguf", b"GGUF\0"[1:], b"FUGG"))
        return f"magic {craft.magic!r}"
    if how == "order":
        craft.order = ">"
        return "big-endian"
    if how == "byte":
        craft.flips.append((draw.randrange(10_000), draw.randrange(256)))
        return f"byte {craft.flips}"
    number = draw.choice((-1, 1, 2**40, -1000))
    if how == "tensors":
        craft.more_tensors = number
    else:
        craft.more_pairs = number
    return f"{number} {how}"


def split(craft: Craft, draw: random.Random) -> str | None:
    count, number = draw.choice((1, 2, 2, 2, 3)), 0
    half = len(craft.entries) // 2
    first, second = craft.entries[:half], craft.entries[half:]
    reported = draw.choice((len(craft.entries),) * 4 + (len(craft.entries) + 1, half))
    kind = draw.choice(("uint16",) * 6 + ("uint32", "int32"))
    keys = [
        Pair("split.count", kind, count),
        Pair("split.tensors.count", draw.choice(("int32",) * 5 + ("uint32",)), reported),
    ]
    other_no = draw.choice((1,) * 5 + (0, 2))
    named = draw.choice((count,) * 5 + (count + 1,))
    if draw.random() < 0.9:
        rest = Craft([Pair("split.no", "uint16", other_no), *keys], second)
        craft.beside[f"model-00002-of-{named:05}.gguf"] = rest.header() + bytes(-len(rest.header()) % 32 + rest._end())
    craft.entries = first
    craft.pairs += [Pair("split.no", "uint16", draw.choice((number,) * 6 + (1,))), *keys]
    craft.name = f"model-00001-of-{named:05}.gguf"
    return f"split of {count} {kind}, named {named}, {reported} tensors declared, other {other_no}, {len(craft.beside)} beside"


MUTATIONS: tuple[Mutation, ...] = (
    key_gone, key_kind, key_kind, item_kind, key_value, key_value, scalar_or_list, list_changed, key_twice,
    key_renamed, key_more, key_more, key_more, template, architecture, tokens, tokens, token_lists, token_lists,
    token_ids, tensor_gone, tensor_renamed, tensor_more, tensor_more, tensor_shape, tensor_shape, tensor_type,
    float_type, float_type, types, type_code, tensor_twice, offset, alignment, length, head, split,
)  # fmt: skip
