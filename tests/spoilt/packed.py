"""Damage to packed weights: GGUF's blocks, GPTQ, FP8, W8A8."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable

import gguf
import numpy as np

from spoilt.drawn import Drawn, bf16
from spoilt.files import Kind


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
        raw = m.path.read_bytes()  # the dtype that NumPy does not have
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


def learnt_codes(m: Drawn, _: str) -> None:
    """Codes of which the middle ones are most frequent."""
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
    """Signed bytes and one scale per row, as compressed-tensors writes them."""
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


def scales_zero(m: Drawn) -> None:
    """The scales of some blocks become zero, and nothing else."""
    as_gguf("Q8_0")(m)
    data = m.data()
    start, _ = m.places[f"blk.{m.draw.integers(0, m.layers)}.ffn_down.weight"]
    for block in range(20, 60):
        data[start + 34 * block : start + 34 * block + 2] = bytes(2)
    m.put()
