"""Damage to numbers before they are written, as a bug does it."""

from __future__ import annotations

import struct

import numpy as np

from spoilt.drawn import Drawn, bf16
from spoilt.files import Kind


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
    """The highest bit of an exponent is flipped."""
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
    """A norm has the bytes of a matrix: everything is shifted by one tensor."""
    name = m.some("layernorm.weight")
    m.tensors[name] = m.normal(m.hidden)


def rows_copied(m: Drawn) -> None:
    """Twelve rows of a projection replace twelve others."""
    values = m.tensors[m.some("self_attn.q_proj.weight", "self_attn.o_proj.weight")]
    first = int(m.draw.integers(0, 16))
    values[first + 20 : first + 32] = values[first : first + 12]


def own_header(m: Drawn) -> None:
    data = m.data()
    at = m.spot(3000)
    data[at : at + 3000] = bytes(data[:3000])
    m.put()


def misread(written: str, read: str) -> Kind:
    """Half floats of one kind are labelled as the other."""

    def spoil(m: Drawn) -> None:
        m.dtype = written
        m.save()
        raw = m.path.read_bytes()
        length = int.from_bytes(raw[:8], "little")
        text = raw[8 : 8 + length].replace(f'"{written}"'.encode(), f'"{read}"'.encode())
        m.path.write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + length :])

    return spoil


def cut_mantissa(m: Drawn) -> None:
    """One matrix of 32-bit floats passed through 16 bits."""
    m.dtype = "F32"
    values = m.tensors[m.some("_proj.weight")]
    values.view("<u4")[...] &= 0xFFFF0000


def masked(mask: int, size: int) -> Kind:
    """Some bits of the bytes that passed one data line are masked."""

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
    """A tensor replaces that of the same role in another layer, or of another role in its own layer."""

    def spoil(m: Drawn) -> None:
        layer, (source, target) = int(m.draw.integers(0, m.layers - 1)), ends[int(m.draw.integers(len(ends)))]
        other = layer + (source == target)
        m.tensors[f"model.layers.{other}.{target}.weight"] = m.tensors[f"model.layers.{layer}.{source}.weight"].copy()

    return spoil


def unlike_roles(m: Drawn) -> None:
    """Keys are nearly three times the size of values, in each of six layers."""
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


def rows_lost(m: Drawn) -> None:
    """The part of a vocabulary that one device had is lost."""
    values = m.tensors[m.some("embed_tokens.weight", "lm_head.weight")]
    eighth = len(values) // 8
    values[3 * eighth : 4 * eighth] = 0


def one_misread(m: Drawn) -> None:
    """One matrix of BF16 among those of F16 is labelled F16, too."""
    m.dtype = "F16"
    name = m.some("_proj.weight")
    m.kept[name] = bf16(m.tensors[name]).view("<u2").view("<f2")
