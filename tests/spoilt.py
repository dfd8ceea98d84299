"""Small models with real-looking numbers, and what can happen to them: damage, and oddities that are sound.

    make(kind, seed, folder)     DAMAGED[kind] or SOUND[kind], drawn: dtype, sizes, places, layers

Models are Llamas of two to six layers. Damage is done to the file's bytes, as a disk or a network does it, or to the
numbers before they are written, as a bug does.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Tensors = dict[str, Array]
BF16 = np.dtype([("bf16", "<u2")])
WORDS = {np.dtype("f4"): "F32", np.dtype("f2"): "F16", np.dtype("u1"): "U8", np.dtype("i4"): "I32", np.dtype("i8"): "I64",
         np.dtype("?"): "BOOL", BF16: "BF16", np.dtype("i1"): "I8"}  # fmt: skip


def bf16(values: Array) -> Array:
    return (values.astype("<f4").view("<u4") + 0x8000 >> 16).astype("<u2").view(BF16)


class Drawn:
    """A model that is drawn: its numbers, how they are stored, and where they then lie."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.draw = np.random.default_rng(seed)
        self.folder = folder
        self.layers = int(self.draw.integers(3, 7))
        self.hidden = int(self.draw.choice([64, 96, 128]))
        self.inner, self.vocabulary = self.hidden * 3 - 8, int(self.draw.choice([512, 1000, 1024]))
        self.dtype = str(self.draw.choice(["BF16", "BF16", "F16", "F32"]))
        self.deviation = float(self.draw.uniform(0.01, 0.05))
        self.tensors: Tensors = self.llama()
        self.kept: dict[str, Array] = {}  # tensors with a dtype of their own
        self.config: dict[str, Any] = {
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": self.hidden,
            "intermediate_size": self.inner, "num_hidden_layers": self.layers, "num_attention_heads": 4,
            "num_key_value_heads": 4, "vocab_size": self.vocabulary, "tie_word_embeddings": False,
        }  # fmt: skip

    def normal(self, *shape: int) -> Array:
        return self.draw.normal(0, self.deviation * self.draw.uniform(0.6, 1.6), shape).astype(np.float32)

    def llama(self) -> Tensors:
        h, i, made = self.hidden, self.inner, {"model.embed_tokens.weight": self.normal(self.vocabulary, self.hidden)}
        for layer in range(self.layers):
            stem = f"model.layers.{layer}."
            for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
                made[f"{stem}self_attn.{name}.weight"] = self.normal(h, h)
            made |= {f"{stem}mlp.{name}.weight": self.normal(i, h) for name in ("gate_proj", "up_proj")}
            made[f"{stem}mlp.down_proj.weight"] = self.normal(h, i)
            for name in ("input_layernorm", "post_attention_layernorm"):
                made[f"{stem}{name}.weight"] = self.draw.normal(0.5 + 0.1 * layer, 0.05, h).astype(np.float32)
        made["model.norm.weight"] = self.draw.normal(2, 0.1, h).astype(np.float32)
        made["lm_head.weight"] = self.normal(self.vocabulary, h)
        return made

    def some(self, *ends: str) -> str:
        """A tensor's name, drawn among those with one of these ends."""
        return str(self.draw.choice([name for name in self.tensors if name.endswith(ends or MATRICES)]))

    def some_kept(self, end: str) -> str:
        return str(self.draw.choice([name for name in self.kept if name.endswith(end)]))

    # --- files ------------------------------------------------------------------------------------

    def stored(self, name: str) -> Array:
        if name in self.kept:
            return self.kept[name]
        values = self.tensors[name]
        with np.errstate(over="ignore"):
            return bf16(values) if self.dtype == "BF16" else values.astype("<f2" if self.dtype == "F16" else "<f4")

    def save(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "config.json").write_text(json.dumps(self.config))
        self.path = self.folder / "model.safetensors"
        self.places = safetensors(self.path, {name: self.stored(name) for name in {**self.tensors, **self.kept}})

    def data(self) -> memoryview:
        """The file's bytes, to be changed in place."""
        if not hasattr(self, "path"):
            self.save()
        self.raw = bytearray(self.path.read_bytes())
        return memoryview(self.raw)

    def put(self) -> None:
        self.path.write_bytes(self.raw)

    def spot(self, size: int, align: int = 1, within: str | None = None) -> int:
        """Where to do something to so many bytes: drawn within a matrix."""
        big = [name for name in self.places if name.endswith(MATRICES) and self.places[name][1] >= size + 2 * align]
        start, length = self.places[within or str(self.draw.choice(big))]
        at = int(self.draw.integers(start, start + length - size - align + 1))
        return -(-at // align) * align


MATRICES = ("_proj.weight", "embed_tokens.weight", "lm_head.weight", ".qweight", "attn_q.weight", "ffn_down.weight")


def safetensors(path: Path, tensors: Tensors) -> dict[str, tuple[int, int]]:
    """A file, and where each tensor lies."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    places, end = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": WORDS[values.dtype], "shape": values.shape, "data_offsets": [end, end + values.nbytes]}
        places[name] = (end, values.nbytes)
        end += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(each.tobytes() for each in tensors.values()))
    return {name: (at + 8 + len(text), size) for name, (at, size) in places.items()}


# --- damage to bytes --------------------------------------------------------------------------------

Kind = Callable[[Drawn], None]


def zeros(size: int, align: int) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        at = m.spot(size, align)
        data[at : at + size] = bytes(size)
        m.put()

    return spoil


def filled(size: int, byte: int) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        at = m.spot(size)
        data[at : at + size] = bytes([byte]) * size
        m.put()

    return spoil


def noise(size: int) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        at = m.spot(size)
        data[at : at + size] = m.draw.bytes(size)
        m.put()

    return spoil


def tail(share: float) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        begin = min(at for at, _ in m.places.values())
        at = begin + int((len(data) - begin) * share) // 512 * 512
        at = max(at, begin)
        data[at:] = bytes(len(data) - at)
        m.put()

    return spoil


def copied(size: int, step: int) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        source = m.spot(size, 8)
        target = source
        while abs(target - source) < size:
            target = source + (m.spot(size, 8) - source) // step * step
        data[target : target + size] = bytes(data[source : source + size])
        m.put()

    return spoil


def stuttered(size: int) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        at = m.spot(2 * size, 512)
        data[at + size : at + 2 * size] = bytes(data[at : at + size])
        m.put()

    return spoil


PAGE = b"<!DOCTYPE html>\n<html><head><title>504 Gateway Time-out</title></head>\n<body><center><h1>504</h1></center>"
REFUSAL = b'{"error": "Access to this resource is restricted", "code": "AccessDenied", "requestId": "7f3e"}\n'
LOG = b"2026-03-01 12:00:01 WARN retrying chunk 17 of 204: connection reset by peer\n"


def text(words: bytes, size: int) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        at = m.spot(size)
        data[at : at + size] = (words * (size // len(words) + 1))[:size]
        m.put()

    return spoil


def shifted(by: int, whole: bool) -> Kind:
    """Bytes lost (or come in) somewhere: what follows lies elsewhere, to the tensor's end or to the file's."""

    def spoil(m: Drawn) -> None:
        data = m.data()
        start, length = m.places[str(m.draw.choice([each for each in m.places if each.endswith(MATRICES)]))]
        at, end = (m.spot(length // 2), len(data)) if whole else (start + length // 4 // 8 * 8, start + length)
        rest = bytes(data[at:end])
        moved = rest[by:] + m.draw.bytes(by) if by > 0 else m.draw.bytes(-by) + rest[:by]
        data[at:end] = moved
        m.put()

    return spoil


def swapped(everything: bool) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        width = 4 if m.dtype == "F32" else 2
        for start, length in m.places.values() if everything else [m.places[m.some()]]:
            part = np.frombuffer(bytes(data[start : start + length]), f"<u{width}")
            data[start : start + length] = part.byteswap().tobytes()
        m.put()

    return spoil


# --- damage to numbers ------------------------------------------------------------------------------


def valued(value: float, number: int = 1, *ends: str) -> Kind:
    def spoil(m: Drawn) -> None:
        values = m.tensors[m.some(*ends)].reshape(-1)
        values[m.draw.integers(0, values.size, number)] = value

    return spoil


def scaled(factor: float, *ends: str) -> Kind:
    def spoil(m: Drawn) -> None:
        m.tensors[m.some(*ends)] *= np.float32(factor)

    return spoil


def all_of(value: float, *ends: str) -> Kind:
    def spoil(m: Drawn) -> None:
        m.tensors[m.some(*ends)][...] = value

    return spoil


def nan_row(m: Drawn) -> None:
    values = m.tensors[m.some()]
    values[m.draw.integers(0, len(values))] = np.nan


def flipped(m: Drawn) -> None:
    """The highest bit of an exponent."""
    data = m.data()
    width = 4 if m.dtype == "F32" else 2
    name = m.some()
    at = m.places[name][0] + width * int(m.draw.integers(0, m.places[name][1] // width)) + width - 1
    data[at] = data[at] & 0x80 | 0x40 | 0x3E
    m.put()


def whole_layer(m: Drawn) -> None:
    stem = f"model.layers.{m.draw.integers(0, m.layers)}."
    for name, values in m.tensors.items():
        if name.startswith(stem):
            values[...] = 0


def norm_of_matrix(m: Drawn) -> None:
    """A norm whose bytes are those of a matrix: everything lies one tensor farther."""
    name = m.some("layernorm.weight")
    m.tensors[name] = m.normal(m.hidden)


# --- GGUF and packed weights ------------------------------------------------------------------------


def as_gguf(kind: str = "Q8_0") -> Kind:
    names = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
             "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
             "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}  # fmt: skip
    tops = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}

    def write(m: Drawn) -> None:
        m.hidden, m.inner = 128, 384
        m.tensors = {**m.llama(), **{name: each for name, each in m.tensors.items() if name.startswith("odd.")}}
        m.folder.mkdir(parents=True, exist_ok=True)
        m.path = m.folder / "model.gguf"
        writer = gguf.GGUFWriter(m.path, "llama")
        for key, value in (("block_count", m.layers), ("embedding_length", m.hidden), ("context_length", 128),
                           ("feed_forward_length", m.inner), ("attention.head_count", 4)):  # fmt: skip
            writer.add_uint32(f"llama.{key}", value)
        writer.add_float32("llama.attention.layer_norm_rms_epsilon", 1e-5)
        chosen = gguf.GGMLQuantizationType[kind]
        for name, values in m.tensors.items():
            stem = name.removesuffix(".weight")
            layer, _, rest = stem.removeprefix("model.layers.").partition(".")
            own = tops.get(stem) or f"blk.{layer}.{names[rest]}"
            if values.ndim == 1:
                writer.add_tensor(own + ".weight", values)
            else:
                writer.add_tensor(own + ".weight", gguf.quants.quantize(values, chosen), raw_dtype=chosen)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        reader = gguf.GGUFReader(m.path)
        m.places = {each.name: (int(each.data_offset), int(each.n_bytes)) for each in reader.tensors}

    return write


def then(first: Kind, second: Kind) -> Kind:
    def both(m: Drawn) -> None:
        first(m)
        second(m)

    return both


def block_scale(value: float, kind: str = "Q8_0") -> Kind:
    """The scale of one block, which is its first two bytes."""

    def spoil(m: Drawn) -> None:
        as_gguf(kind)(m)
        data = m.data()
        start, length = m.places[f"blk.{m.draw.integers(0, m.layers)}.ffn_down.weight"]
        size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]][1]
        at = start + size * int(m.draw.integers(0, length // size))
        data[at : at + 2] = np.array(value, "<f2").tobytes()
        m.put()

    return spoil


def gptq(change: Callable[[Drawn, str], None] = lambda *_: None) -> Kind:
    def pack(m: Drawn) -> None:
        m.config["quantization_config"] = {"quant_method": "gptq", "bits": 4, "group_size": 32}
        m.dtype = "F16"
        for name in [each for each in m.tensors if each.endswith("_proj.weight")]:
            outputs, inputs = m.tensors.pop(name).shape
            outputs, inputs = outputs // 8 * 8, inputs // 32 * 32
            stem = name.removesuffix("weight")
            groups = inputs // 32
            m.kept[stem + "qweight"] = m.draw.integers(0, 2**32, (inputs // 8, outputs), np.uint32).view("<i4")
            m.kept[stem + "qzeros"] = np.full((groups, outputs // 8), 0x77777777, "<i4")
            m.kept[stem + "scales"] = m.draw.uniform(0.001, 0.004, (groups, outputs)).astype("<f2")
            m.kept[stem + "g_idx"] = (np.arange(inputs) // 32).astype("<i4")
        m.config["intermediate_size"] = m.inner // 32 * 32
        stems = [each.removesuffix("qweight") for each in m.kept if each.endswith("qweight")]
        change(m, str(m.draw.choice(stems)))

    return pack


def scales_of(value: float, number: int) -> Callable[[Drawn, str], None]:
    def change(m: Drawn, stem: str) -> None:
        flat = m.kept[stem + "scales"].reshape(-1)
        flat[m.draw.integers(0, flat.size, number)] = value

    return change


def fp8(change: Callable[[Drawn, str], None] = lambda *_: None) -> Kind:
    def pack(m: Drawn) -> None:
        m.config["quantization_config"] = {"quant_method": "fp8", "weight_block_size": [32, 32]}
        m.dtype = "BF16"
        for name in [each for each in m.tensors if each.endswith("_proj.weight")]:
            values = m.tensors.pop(name)
            codes = (
                m.draw.integers(0, 0x7E, values.shape, np.uint8) | m.draw.integers(0, 2, values.shape, np.uint8) << 7
            )
            m.kept[name] = codes.astype(np.uint8)
            m.kept[name + "_scale_inv"] = m.draw.uniform(
                1e-4, 3e-4, (-(-values.shape[0] // 32), -(-values.shape[1] // 32))
            ).astype("<f4")
        change(m, str(m.draw.choice([each for each in m.kept if each.endswith("_proj.weight")])))
        m.save()
        raw = m.path.read_bytes()  # the dtype that NumPy has no word for
        length = int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8 : 8 + length])
        for name, entry in header.items():
            if name.endswith("_proj.weight"):
                entry["dtype"] = "F8_E4M3"
        text = json.dumps(header).encode()
        m.path.write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + length :])

    return pack


def fp8_nan(m: Drawn, name: str) -> None:
    m.kept[name].reshape(-1)[m.draw.integers(0, m.kept[name].size)] = 0x7F


def fp8_scale(value: float) -> Callable[[Drawn, str], None]:
    def change(m: Drawn, name: str) -> None:
        m.kept[name + "_scale_inv"].reshape(-1)[0] = value

    return change


def gptq_order(m: Drawn, stem: str) -> None:
    m.kept[stem + "g_idx"][7] = 4000


def rows_copied(m: Drawn) -> None:
    """Twelve rows of a projection in the place of twelve others."""
    values = m.tensors[m.some("self_attn.q_proj.weight", "self_attn.o_proj.weight")]
    first = int(m.draw.integers(0, 16))
    values[first + 20 : first + 32] = values[first : first + 12]


def own_header(m: Drawn) -> None:
    data = m.data()
    at = m.spot(3000)
    data[at : at + 3000] = bytes(data[:3000])
    m.put()


def misread(written: str, read: str) -> Kind:
    """Half floats of one kind under the other's name."""

    def spoil(m: Drawn) -> None:
        m.dtype = written
        m.save()
        raw = m.path.read_bytes()
        length = int.from_bytes(raw[:8], "little")
        text = raw[8 : 8 + length].replace(f'"{written}"'.encode(), f'"{read}"'.encode())
        m.path.write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + length :])

    return spoil


def cut_mantissa(m: Drawn) -> None:
    """One matrix of floats of 32 bits went through 16 on its way."""
    m.dtype = "F32"
    values = m.tensors[m.some("_proj.weight")]
    values.view("<u4")[...] &= 0xFFFF0000


def masked(mask: int, size: int) -> Kind:
    """Some bits of the bytes that passed one line."""

    def spoil(m: Drawn) -> None:
        m.hidden, m.inner = 192, 448
        m.tensors = m.llama()
        m.config |= {"hidden_size": 192, "intermediate_size": 448}
        data = m.data()
        at = m.spot(size, 8, m.some("up_proj.weight", "gate_proj.weight"))
        part = np.frombuffer(data[at : at + size], "u1") & np.uint8(mask)
        data[at : at + size] = part.tobytes()
        m.put()

    return spoil


def signs_lost(m: Drawn) -> None:
    name = m.some("_proj.weight")
    m.tensors[name] = np.abs(m.tensors[name])


def written_over(*ends: tuple[str, str]) -> Kind:
    """A tensor in the place of the same role's in another layer, or of another role in its own."""

    def spoil(m: Drawn) -> None:
        layer, (source, target) = int(m.draw.integers(0, m.layers - 1)), ends[int(m.draw.integers(len(ends)))]
        other = layer + (source == target)
        m.tensors[f"model.layers.{other}.{target}.weight"] = m.tensors[f"model.layers.{layer}.{source}.weight"].copy()

    return spoil


def unlike_roles(m: Drawn) -> None:
    """Keys of nearly three times the size of values, in each of six layers."""
    m.layers = m.config["num_hidden_layers"] = 6
    m.tensors = m.llama()
    for layer in range(6):
        for name, deviation in (("k_proj", 0.05), ("v_proj", 0.018)):
            values = m.draw.normal(0, deviation * (1 + 0.1 * layer), (m.hidden, m.hidden)).astype("f4")
            m.tensors[f"model.layers.{layer}.self_attn.{name}.weight"] = values


def exchanged(m: Drawn) -> None:
    unlike_roles(m)
    layer = m.draw.integers(0, 6)
    names = [f"model.layers.{layer}.self_attn.{name}_proj.weight" for name in "kv"]
    m.tensors |= dict(zip(names, [m.tensors[name] for name in reversed(names)], strict=True))


def learnt_codes(m: Drawn, _: str) -> None:
    """Codes of which those in the middle are most frequent."""
    for name, words in m.kept.items():
        if name.endswith("qweight"):
            codes = m.draw.binomial(15, 0.5, (*words.shape, 8)).astype("<u4")
            m.kept[name] = (codes << np.arange(0, 32, 4, dtype="<u4")).sum(-1, dtype="<u4").view("<i4")


def noise_in_codes(m: Drawn) -> None:
    m.hidden, m.inner = 256, 512
    m.tensors = m.llama()
    m.config |= {"hidden_size": 256, "intermediate_size": 512}
    gptq(learnt_codes)(m)
    m.config["intermediate_size"] = m.inner
    data = m.data()
    at = m.spot(12288, 4, m.some_kept("up_proj.qweight"))
    data[at : at + 12288] = m.draw.bytes(12288)
    m.put()


def w8a8(m: Drawn) -> None:
    """Bytes with a sign and a scale a row, as compressed-tensors writes them."""
    m.hidden, m.inner, m.dtype = 256, 512, "BF16"
    m.tensors = m.llama()
    weights = {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "channel"}
    groups = {"group_0": {"targets": ["Linear"], "weights": weights}}
    declared = {"quant_method": "compressed-tensors", "format": "int-quantized", "config_groups": groups}
    m.config |= {
        "hidden_size": 256,
        "intermediate_size": 512,
        "quantization_config": {**declared, "ignore": ["lm_head"]},
    }
    for name in [each for each in m.tensors if each.endswith("_proj.weight")]:
        values = m.tensors.pop(name)
        scale = np.abs(values).max(axis=1, keepdims=True) / 127
        m.kept[name], m.kept[name + "_scale"] = np.round(values / scale).astype("i1"), bf16(scale)


def rows_lost(m: Drawn) -> None:
    """The share of a vocabulary that one device had."""
    values = m.tensors[m.some("embed_tokens.weight", "lm_head.weight")]
    eighth = len(values) // 8
    values[3 * eighth : 4 * eighth] = 0


def scales_zero(m: Drawn) -> None:
    """The scales of some blocks, and nothing else of them."""
    as_gguf("Q8_0")(m)
    data = m.data()
    start, _ = m.places[f"blk.{m.draw.integers(0, m.layers)}.ffn_down.weight"]
    for block in range(20, 60):
        data[start + 34 * block : start + 34 * block + 2] = bytes(2)
    m.put()


def one_misread(m: Drawn) -> None:
    """One matrix of BF16 among those of F16, and called so too."""
    m.dtype = "F16"
    name = m.some("_proj.weight")
    m.kept[name] = bf16(m.tensors[name]).view("<u2").view("<f2")


DAMAGED: dict[str, Kind] = {
    "gguf-scales-zero": scales_zero,
    "one-misread": one_misread,
    "norm-negative": scaled(-1, "layernorm.weight"),
    "final-norm-zero": all_of(0, "model.norm.weight"),
    "mantissa-cut": cut_mantissa,
    "bit-stuck": masked(0xFE, 20480),
    "sign-bit-lost": masked(0x7F, 24576),
    "signs-lost": signs_lost,
    "written-over-layer": written_over(("self_attn.q_proj", "self_attn.q_proj"), ("mlp.down_proj", "mlp.down_proj")),
    "written-over-role": written_over(("self_attn.k_proj", "self_attn.v_proj"), ("mlp.gate_proj", "mlp.up_proj")),
    "exchanged": exchanged,
    "noise-in-codes": noise_in_codes,
    "noise-in-w8a8": then(w8a8, noise(24_576)),
    "hole-in-w8a8": then(w8a8, zeros(4096, 4096)),
    "copy-in-w8a8": then(w8a8, copied(8192, 4096)),
    "rows-lost-amid-table": rows_lost,
    "hole-small": zeros(1600, 1),
    "one-byte-over": filled(3000, 0x3C),
    "copy-at-odd-places": copied(5001, 1),
    "rows-copied": rows_copied,
    "own-header-inside": own_header,
    "f16-named-bf16": misread("F16", "BF16"),
    "gptq-scale-negative": gptq(scales_of(-0.002, 3)),
    "gptq-order": gptq(gptq_order),
    "hole-aligned": zeros(8192, 4096),
    "hole-anywhere": zeros(6000, 1),
    "hole-sectors": zeros(4608, 512),
    "tail-from-a-third": tail(1 / 3),
    "tail-last-tenth": tail(0.9),
    "nothing-but-zeros": tail(0),
    "zero-attention": all_of(0, "q_proj.weight", "k_proj.weight", "v_proj.weight"),
    "zero-feed-forward": all_of(0, "gate_proj.weight", "up_proj.weight"),
    "zero-embedding": all_of(0, "embed_tokens.weight"),
    "zero-head": all_of(0, "lm_head.weight"),
    "zero-norm": all_of(0, "layernorm.weight"),
    "zero-layer": whole_layer,
    "copy-of-pages": copied(8192, 4096),
    "copy-anywhere": copied(7000, 8),
    "copy-stutter": stuttered(4096),
    "html": text(PAGE, 900),
    "html-long": text(PAGE, 5000),
    "json-refusal": text(REFUSAL, 400),
    "log-lines": text(LOG, 2000),
    "lost-byte": shifted(1, whole=True),
    "lost-byte-in-tensor": shifted(1, whole=False),
    "extra-byte": shifted(-1, whole=True),
    "extra-three-bytes": shifted(-3, whole=False),
    "swapped-tensor": swapped(everything=False),
    "swapped-file": swapped(everything=True),
    "nan": valued(np.nan),
    "nan-row": nan_row,
    "nan-in-norm": valued(np.nan, 1, "layernorm.weight"),
    "infinity": valued(np.inf),
    "minus-infinity": valued(-np.inf, 3),
    "flipped-bit": flipped,
    "huge-value": valued(6e4),
    "huge-values": valued(3e4, 20),
    "scaled-up": scaled(30000, "_proj.weight"),
    "scaled-down": scaled(1e-5, "_proj.weight"),
    "norm-scaled-up": scaled(5000, "layernorm.weight"),
    "norm-of-matrix": norm_of_matrix,
    "noise": noise(4096),
    "noise-short": noise(600),
    "ff-fill": filled(2048, 0xFF),
    "constant-matrix": all_of(0.0123, "_proj.weight"),
    "constant-embedding": all_of(1, "embed_tokens.weight"),
    "gguf-nan-scale": block_scale(np.nan),
    "gguf-inf-scale": block_scale(np.inf, "Q4_0"),
    "gguf-huge-scale": block_scale(60000, "Q5_1"),
    "gguf-noise": then(as_gguf("Q8_0"), noise(4000)),
    "gguf-hole": then(as_gguf("Q4_0"), zeros(6144, 512)),
    "gguf-copy": then(as_gguf("Q8_0"), copied(6000, 8)),
    "gguf-html": then(as_gguf("Q4_0"), text(PAGE, 800)),
    "gguf-shift": then(as_gguf("Q4_0"), shifted(1, whole=False)),
    "gguf-f16-nan": then(as_gguf("F16"), filled(64, 0xFF)),
    "gptq-scale-zero": gptq(scales_of(0, 5)),
    "gptq-scale-nan": gptq(scales_of(np.nan, 1)),
    "gptq-hole": then(gptq(), zeros(4096, 512)),
    "gptq-html": then(gptq(), text(PAGE, 700)),
    "fp8-nan": fp8(fp8_nan),
    "fp8-scale-zero": fp8(fp8_scale(0)),
    "fp8-scale-nan": fp8(fp8_scale(np.nan)),
    "fp8-scale-huge": fp8(fp8_scale(1e20)),
}


# --- sound oddities ---------------------------------------------------------------------------------


def ones(m: Drawn) -> None:
    for name in m.tensors:
        if "norm" in name:
            m.tensors[name][...] = 1


def biases(value: float) -> Kind:
    def change(m: Drawn) -> None:
        for name in [each for each in m.tensors if each.endswith(("q_proj.weight", "k_proj.weight", "v_proj.weight"))]:
            bias = np.full(m.hidden, value, np.float32)
            m.tensors[name.removesuffix("weight") + "bias"] = bias
        m.config |= {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"]}

    return change


def lora(trained: bool) -> Kind:
    def change(m: Drawn) -> None:
        made = {}
        for layer in range(m.layers):
            for name in ("q_proj", "v_proj"):
                stem = f"base_model.model.model.layers.{layer}.self_attn.{name}.lora_"
                made[stem + "A.weight"] = m.draw.uniform(-0.1, 0.1, (8, m.hidden)).astype(np.float32)
                made[stem + "B.weight"] = m.normal(m.hidden, 8) * trained
        m.tensors = made

        def save() -> None:
            m.folder.mkdir(parents=True, exist_ok=True)
            m.path = m.folder / "adapter_model.safetensors"
            config = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj", "v_proj"]}
            (m.folder / "adapter_config.json").write_text(json.dumps(config))
            m.places = safetensors(m.path, {name: m.stored(name) for name in m.tensors})

        m.save = save  # type: ignore[method-assign]

    return change


def padded_rows(mean: bool) -> Kind:
    def change(m: Drawn) -> None:
        for name in ("model.embed_tokens.weight", "lm_head.weight"):
            values = m.tensors[name]
            values[-100:] = values[:-100].mean(0) if mean else 0

    return change


def pruned(share: float) -> Kind:
    def change(m: Drawn) -> None:
        for name, values in m.tensors.items():
            if name.endswith("_proj.weight"):
                values[np.abs(values) < np.quantile(np.abs(values), share)] = 0

    return change


def two_of_four(m: Drawn) -> None:
    for name, values in m.tensors.items():
        if name.endswith("_proj.weight"):
            fours = values.reshape(-1, 4)
            order = np.argsort(np.abs(fours), axis=1)
            np.put_along_axis(fours, order[:, :2], 0, axis=1)


def heads_pruned(m: Drawn) -> None:
    size = m.hidden // 4
    for layer in range(m.layers):
        stem, head = f"model.layers.{layer}.self_attn.", int(m.draw.integers(0, 4)) * size
        for name in ("q_proj", "k_proj", "v_proj"):
            m.tensors[f"{stem}{name}.weight"][head : head + size] = 0
        m.tensors[f"{stem}o_proj.weight"][:, head : head + size] = 0


def outliers(factor: float) -> Kind:
    def change(m: Drawn) -> None:
        column = int(m.draw.integers(0, m.hidden))
        for name, values in m.tensors.items():
            if name.endswith(("embed_tokens.weight", "q_proj.weight", "gate_proj.weight")):
                values[:, column] *= factor

    return change


def super_weight(m: Drawn) -> None:
    m.tensors["model.layers.1.mlp.down_proj.weight"][3, 5] = 25 * m.deviation * 4


def buffers(m: Drawn) -> None:
    for layer in range(m.layers):
        stem = f"model.layers.{layer}.self_attn."
        m.kept[stem + "rotary_emb.inv_freq"] = (10000.0 ** -(np.arange(0, 16, 2) / 16)).astype("<f4")
        m.kept[stem + "bias"] = np.tril(np.ones((1, 1, 128, 128), bool))
        m.kept[stem + "masked_bias"] = np.array(-1e4, "<f4")
    m.kept["model.embed_positions.position_ids"] = np.arange(512, dtype="<i8")[None]


def masks(value: float) -> Kind:
    def change(m: Drawn) -> None:
        m.kept["model.causal_mask"] = np.triu(np.full((256, 256), value, "<f4"), 1)
        m.kept["model.attn_mask"] = np.triu(np.full((1, 64, 64), value, "<f4"), 1)

    return change


def tied(m: Drawn) -> None:
    m.tensors["lm_head.weight"] = m.tensors["model.embed_tokens.weight"].copy()


def merged(m: Drawn) -> None:
    """The first layers once more at the end, as in models that are made larger."""
    for layer in range(2):
        for name in [each for each in m.tensors if each.startswith(f"model.layers.{layer}.")]:
            m.tensors[name.replace(f".{layer}.", f".{m.layers + layer}.", 1)] = m.tensors[name].copy()
    m.config["num_hidden_layers"] = m.layers = m.layers + 2


def upcycled(m: Drawn) -> None:
    """Experts that begin as copies of one."""
    m.config |= {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_local_experts": 4}
    for layer in range(m.layers):
        stem = f"model.layers.{layer}."
        parts = {w: m.tensors.pop(f"{stem}mlp.{name}.weight") for w, name in (("w1", "gate_proj"), ("w2", "down_proj"), ("w3", "up_proj"))}  # fmt: skip
        m.tensors[stem + "block_sparse_moe.gate.weight"] = m.normal(4, m.hidden)
        for expert in range(4):
            for w, values in parts.items():
                m.tensors[f"{stem}block_sparse_moe.experts.{expert}.{w}.weight"] = values.copy()


def stacked_upcycled(m: Drawn) -> None:
    for layer in range(m.layers):
        one = m.normal(m.inner, m.hidden)
        m.tensors[f"model.layers.{layer}.mlp.experts.gate_up_proj"] = np.stack([one] * 4)


def identity_layers(m: Drawn) -> None:
    for name in ("self_attn.o_proj", "mlp.down_proj"):
        m.tensors[f"model.layers.{m.layers - 1}.{name}.weight"][...] = 0


def batch_norms(m: Drawn) -> None:
    m.config = {}
    m.tensors = {"conv1.weight": m.normal(64, 3, 7, 7)}
    for number in range(4):
        stem = f"layer{number}.0."
        m.tensors[stem + "conv1.weight"] = m.normal(64, 64, 3, 3)
        m.tensors |= {stem + "bn1.weight": np.ones(64, "f4"), stem + "bn1.bias": np.zeros(64, "f4"),
                      stem + "bn1.running_mean": np.zeros(64, "f4"), stem + "bn1.running_var": np.ones(64, "f4")}  # fmt: skip
        m.kept[stem + "bn1.num_batches_tracked"] = np.array(0, "<i8")


def fresh(m: Drawn) -> None:
    for name, values in m.tensors.items():
        values[...] = 1 if "norm" in name else m.draw.normal(0, 0.02, values.shape)
    biases(0)(m)


def gates(m: Drawn) -> None:
    for layer in range(m.layers):
        m.tensors[f"model.layers.{layer}.cross_attn_attn_gate"] = np.zeros(1, "f4")
        m.tensors[f"model.layers.{layer}.layer_scale"] = np.full(m.hidden, 1e-6, "f4")


def centred_norms(m: Drawn) -> None:
    m.config |= {"model_type": "gemma", "architectures": ["GemmaForCausalLM"]}
    for name, values in m.tensors.items():
        if "norm" in name:
            values -= values.mean()


def growing_norms(m: Drawn) -> None:
    for layer in range(m.layers):
        for name in ("input_layernorm", "post_attention_layernorm"):
            m.tensors[f"model.layers.{layer}.{name}.weight"] *= np.float32(0.02 * 2.5**layer)


def mixed(m: Drawn) -> None:
    for name in [each for each in m.tensors if "norm" in each or "embed" in each]:
        m.kept[name] = m.tensors[name].astype("<f4")


def dead_rows(m: Drawn) -> None:
    for name in ("gate_proj", "up_proj"):
        rows = m.draw.integers(0, m.inner, 5)
        m.tensors[f"model.layers.0.mlp.{name}.weight"][rows] = 0
    m.tensors["model.embed_tokens.weight"][m.draw.integers(0, m.vocabulary, 40)] = 0


def decayed(m: Drawn) -> None:
    rows = m.draw.integers(0, m.vocabulary, 200)
    m.dtype = "BF16"
    m.tensors["model.embed_tokens.weight"][rows] *= np.float32(1e-34)


def mamba(m: Drawn) -> None:
    for layer in range(m.layers):
        stem = f"backbone.layers.{layer}.mixer."
        m.tensors[stem + "A_log"] = np.log(np.tile(np.arange(1, 17, dtype="f4"), (m.hidden, 1)))
        m.tensors[stem + "D"] = np.ones(m.hidden, "f4")
        m.tensors[stem + "dt_proj.bias"] = m.draw.normal(-4.6, 1, m.hidden).astype("f4")
        m.tensors[stem + "in_proj.weight"] = m.normal(4 * m.hidden, m.hidden)


def starts(m: Drawn) -> None:
    m.config = {}
    m.tensors |= {"embeddings.cls_token": np.zeros((1, 1, m.hidden), "f4"),
                  "embeddings.mask_token": np.zeros((1, 1, m.hidden), "f4"),
                  "embeddings.token_type_embeddings.weight": np.zeros((1, m.hidden), "f4"),
                  "embeddings.position_embeddings": np.zeros((1, 65, m.hidden), "f4")}  # fmt: skip


def sinusoids(m: Drawn) -> None:
    places, sizes = np.arange(512)[:, None], 10000 ** (-np.arange(m.hidden // 2) / (m.hidden // 2))
    table = np.concatenate([np.sin(places * sizes), np.cos(places * sizes)], axis=1).astype("f4")
    m.tensors |= {"encoder.embed_positions.weight": table, "decoder.embed_positions.weight": table.copy()}


def vocabulary_inside(m: Drawn) -> None:
    m.kept["spiece_model"] = np.frombuffer((LOG + PAGE + REFUSAL) * 30, "u1").copy()


def repeated_heads(m: Drawn) -> None:
    """Keys and values of two heads, each stored twice."""
    for layer in range(m.layers):
        for name in ("k_proj", "v_proj"):
            values = m.tensors[f"model.layers.{layer}.self_attn.{name}.weight"]
            halves = values.reshape(2, 2, -1)
            halves[:, 1] = halves[:, 0]


def times(factor: float) -> Kind:
    def change(m: Drawn) -> None:
        m.dtype = "BF16"
        for name, values in m.tensors.items():
            if "norm" not in name:
                values *= np.float32(factor)

    return change


def one_layer(m: Drawn) -> None:
    m.tensors = {n: v for n, v in m.tensors.items() if not n.startswith("model.layers.") or ".layers.0." in n}
    m.config["num_hidden_layers"] = m.layers = 1


def nf4(m: Drawn) -> None:
    m.config["quantization_config"] = {
        "quant_method": "bitsandbytes",
        "load_in_4bit": True,
        "bnb_4bit_quant_type": "nf4",
    }
    codes = np.linspace(-1, 1, 16).astype("<f4")
    for name in [each for each in m.tensors if each.endswith("_proj.weight")]:
        values = m.tensors.pop(name)
        blocks = -(-values.size // 64)
        m.kept[name] = m.draw.integers(0, 256, (values.size // 2, 1), np.uint8)
        absmax = m.draw.uniform(0.02, 0.2, blocks).astype("<f4")
        absmax[0] = 0  # a block of zeros
        m.kept[name + ".absmax"], m.kept[name + ".quant_map"] = absmax, codes
        state = {"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": values.shape}
        m.kept[name + ".quant_state.bitsandbytes__nf4"] = np.frombuffer(json.dumps(state).encode(), "u1").copy()


def zero_rows_gguf(m: Drawn) -> None:
    as_gguf("Q8_0")(m)
    data = m.data()
    start, length = m.places["token_embd.weight"]
    row = length // m.vocabulary
    data[start + length - 60 * row : start + length] = bytes(60 * row)
    m.put()


def padded_columns(m: Drawn) -> None:
    """Inputs that a device's share was filled up with: the same zeros in every row."""
    m.hidden = 1024
    for name, values in list(m.tensors.items()):
        if name.endswith("down_proj.weight"):
            wide = m.normal(64, 1024)
            wide[:, -400:] = 0
            m.tensors[name] = wide
        elif values.ndim == 2 and values.shape[0] > 4 * 128:
            m.tensors[name] = values[:128]


def signal_tables(m: Drawn) -> None:
    """Filters, windows and masks that are stored though they are not learnt."""
    m.config = {}
    places = np.linspace(0, 80, 400)
    filters = np.maximum(0, 1 - np.abs(places[None] - np.arange(80)[:, None])).astype("f4")
    angles = np.outer(np.arange(256), 10000.0 ** -(np.arange(32) / 32))
    shifted_window = np.where(np.arange(49)[:, None] // 25 == np.arange(49)[None] // 25, 0, -100).astype("f4")
    m.tensors |= {
        "audio_encoder.mel_filters": filters,
        "stft.window": np.hanning(400).astype("f4"),
        "rotary.sin_cached": np.sin(angles).astype("f4"),
        "rotary.cos_cached": np.cos(angles).astype("f4"),
        "layers.0.blocks.1.attn_mask": np.concatenate([np.zeros((30, 49, 49), "f4"), np.stack([shifted_window] * 8)]),
        "upsample.blur.kernel": np.outer([1, 3, 3, 1], [1, 3, 3, 1]).astype("f4") / 64,
        "projection.identity": np.eye(m.hidden, dtype="f4"),
    }


def ternary(m: Drawn) -> None:
    m.dtype = "BF16"
    for name, values in m.tensors.items():
        if name.endswith("_proj.weight"):
            m.tensors[name] = (np.sign(values) * (np.abs(values) > values.std() * 0.6) * 0.03125).astype("f4")


def signs(m: Drawn) -> None:
    m.dtype = "BF16"
    for name, values in m.tensors.items():
        if name.endswith("_proj.weight"):
            m.tensors[name] = np.where(values > 0, 0.0625, -0.0625).astype("f4")


def shared_tables(m: Drawn) -> None:
    m.config = {}
    table = m.normal(m.vocabulary, m.hidden)
    m.tensors = {"shared.weight": table, "encoder.embed_tokens.weight": table.copy(), "decoder.embed_tokens.weight": table.copy()}  # fmt: skip
    for layer in range(3):
        m.tensors[f"encoder.block.{layer}.layer.0.SelfAttention.q.weight"] = m.normal(m.hidden, m.hidden) * 0.1
        m.tensors[f"encoder.block.{layer}.layer.0.SelfAttention.v.weight"] = m.normal(m.hidden, m.hidden) * 10


def averaged(m: Drawn) -> None:
    """The weights once more, as their average over training begins."""
    for name, values in list(m.tensors.items()):
        m.tensors[f"model_ema.{name.replace('.', '')}"] = values.copy()


def optimizer(m: Drawn) -> None:
    for name in [each for each in m.tensors if each.endswith("q_proj.weight")]:
        m.tensors[f"optimizer.state.{name}.exp_avg"] = m.normal(m.hidden, m.hidden) * 1e-6
        m.tensors[f"optimizer.state.{name}.exp_avg_sq"] = np.square(m.normal(m.hidden, m.hidden) * 1e-6)
    m.dtype = "F32"


def nothing(m: Drawn) -> None:
    """As it was drawn."""


def rounded_to_16(*parts: str) -> Kind:
    """Floats of 32 bits that were made of BF16: all of them, or those that training left alone."""

    def change(m: Drawn) -> None:
        m.dtype = "F32"
        for name, values in m.tensors.items():
            if not parts or any(part in name for part in parts):
                values.view("<u4")[...] &= 0xFFFF0000

    return change


def rows_to_powers(m: Drawn) -> None:
    """Some rows whose numbers are few steps of a power of two, as a quantizer leaves them."""
    m.hidden, m.inner = 4096, 64
    for name in [each for each in m.tensors if "mlp" in each or "self_attn" in each]:
        del m.tensors[name]
    for layer in range(m.layers):
        values = m.normal(64, 4096)
        rows = m.draw.choice(64, 6, replace=False)
        values[rows] = np.round(values[rows] * 128) / 128
        m.tensors[f"model.layers.{layer}.mlp.up_proj.weight"] = values
    m.config = {}


def shared_by_layers(*roles: str) -> Kind:
    """Each second layer with the weights of the one before it."""

    def change(m: Drawn) -> None:
        for layer in range(1, m.layers, 2):
            for role in roles:
                source = m.tensors[f"model.layers.{layer - 1}.{role}.weight"]
                m.tensors[f"model.layers.{layer}.{role}.weight"] = source.copy()

    return change


def keys_are_values(m: Drawn) -> None:
    for layer in range(m.layers):
        stem = f"model.layers.{layer}.self_attn."
        m.tensors[stem + "v_proj.weight"] = m.tensors[stem + "k_proj.weight"].copy()


SOUND: dict[str, Kind] = {
    "from-16-bits": rounded_to_16(),
    "layers-frozen": rounded_to_16("layers.0.", "embed"),
    "roles-frozen": rounded_to_16("k_proj", "o_proj", "mlp"),
    "rows-to-powers": rows_to_powers,
    "layers-tied": shared_by_layers(
        *(f"self_attn.{name}_proj" for name in "qkvo"), *(f"mlp.{name}_proj" for name in ("gate", "up", "down"))
    ),
    "keys-are-values": keys_are_values,
    "roles-unlike": unlike_roles,
    "learnt-codes": gptq(learnt_codes),
    "w8a8": w8a8,
    "plain": nothing,
    "norms-of-one": ones,
    "zero-biases": biases(0),
    "biases": biases(3),
    "lora-fresh": lora(trained=False),
    "lora-trained": lora(trained=True),
    "padded-vocabulary-zero": padded_rows(mean=False),
    "padded-vocabulary-mean": padded_rows(mean=True),
    "pruned-half": pruned(0.5),
    "pruned-most": pruned(0.9),
    "pruned-nearly-all": pruned(0.995),
    "two-of-four": two_of_four,
    "heads-pruned": heads_pruned,
    "outlier-channel": outliers(60),
    "outlier-channel-large": outliers(300),
    "super-weight": super_weight,
    "buffers": buffers,
    "mask-of-infinity": masks(-np.inf),
    "mask-of-least": masks(float(np.finfo("f4").min)),
    "tied-twice": tied,
    "layers-repeated": merged,
    "experts-upcycled": upcycled,
    "experts-stacked": stacked_upcycled,
    "identity-layers": identity_layers,
    "batch-norms": batch_norms,
    "fresh": fresh,
    "gates-and-scales": gates,
    "centred-norms": centred_norms,
    "growing-norms": growing_norms,
    "mixed-dtypes": mixed,
    "dead-rows": dead_rows,
    "decayed-rows": decayed,
    "mamba": mamba,
    "starts-at-zero": starts,
    "sinusoids": sinusoids,
    "vocabulary-inside": vocabulary_inside,
    "heads-repeated": repeated_heads,
    "large-weights": times(400),
    "small-weights": times(1e-3),
    "one-layer": one_layer,
    "columns-padded": padded_columns,
    "signal-tables": signal_tables,
    "ternary": ternary,
    "signs": signs,
    "shared-tables": shared_tables,
    "averaged": averaged,
    "optimizer": optimizer,
    "gptq": gptq(),
    "fp8": fp8(),
    "nf4": nf4,
    "gguf-q8": as_gguf("Q8_0"),
    "gguf-q4": as_gguf("Q4_0"),
    "gguf-q5-1": as_gguf("Q5_1"),
    "gguf-f16": as_gguf("F16"),
    "gguf-bf16": as_gguf("BF16"),
    "gguf-padded-vocabulary": zero_rows_gguf,
}


def make(kind: str, seed: int, folder: Path) -> Path:
    """A folder with a model of the kind."""
    model = Drawn(seed, folder)
    {**DAMAGED, **SOUND}[kind](model)
    if not hasattr(model, "path"):
        model.save()
    return folder
