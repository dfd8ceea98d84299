"""Rules of the data on invented statistics: what triggers each, and the nearest case that does not."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from every import every
from made_up import USUAL, ZERO, layers, reported, seen

from inspector.auditing.catalogue import all_rules
from inspector.auditing.subject import Subject
from inspector.auditing.values import plausibility
from inspector.auditing.values.numbers import pieces
from inspector.auditing.values.numbers.facts import Copy, Run
from inspector.auditing.values.numbers.peers import TensorData


def test_without_data_nothing_is_reported() -> None:
    """Every rule of this group needs values, and none were read."""
    nothing = cast("Subject", SimpleNamespace(measured=None, memo={}))
    for each in all_rules().values():
        if each.group == "data" and each.check is not None:
            assert list(each.findings(nothing)) == [], each.code


@every(
    ("changed", "scrambled"),
    [
        ({}, False),
        ({"spread": 6.0, "largest": 1e9}, False),
        ({"spread": 6.1, "largest": 1e9}, True),
        ({"spread": 6.1, "largest": 0.5}, False),
        ({"spread": 6.1, "largest": 0.5, "nan": 1}, True),
        ({"spread": 6.1, "largest": 0.5, "inf": 1}, True),
        ({"spread": 6.1, "largest": 0.5, "minus_inf": 1}, True),
        ({"spread": 6.1, "largest": 2.0**21, "middle": 5.0}, False),
        ({"spread": 6.1, "largest": 2.0**21, "middle": 4.9}, True),
        ({"spread": 6.1, "largest": 2048.0, "middle": -5.1, "dtype": "F16"}, True),
        ({"spread": 9.0, "largest": 1e4, "middle": -9.0}, False),  # monpa's CRF forbids transitions by -10,000
        ({"spread": 123.0, "largest": 0.5, "middle": -22.8, "dtype": "F32"}, False),  # half of LocalMapper's decayed
        ({"spread": 122.0, "largest": 0.4, "middle": -127.3, "dtype": "F32"}, False),
        ({"spread": 17.0, "largest": 1.3, "middle": -19.0}, False),  # half of the channels of IgFold's norm are dead
        ({"spread": 6.1, "largest": 1.0, "middle": -17.0}, False),
        ({"spread": 6.1, "largest": 0.5, "middle": -30.1}, True),
        ({"spread": 6.1, "largest": 0.5, "middle": -30.0}, False),
        ({"spread": 6.1, "largest": 1e9, "middle": None}, False),
        ({"spread": 6.1, "largest": 1e9, "dtype": "U8"}, False),
        ({"spread": 6.1, "largest": 1e9, "group": "buffer"}, False),
        ({"spread": 6.1, "largest": 0.5, "middle": -30.1, "role": "embed_tokens", "group": "embedding"}, False),
        ({"spread": 6.1, "largest": 0.5, "middle": -30.1, "group": "other"}, False),
    ],
)
def test_scrambled_numbers(changed: dict[str, Any], scrambled: bool) -> None:
    """F16 of a layer that is read as BF16 has no large numbers: the median reveals it."""
    assert seen(**changed).is_scrambled == scrambled


def test_why_numbers_are_scrambled() -> None:
    """Sound numbers with swapped or shifted bytes, or with noise in their place."""
    numbers = (np.random.default_rng(0).normal(0, 0.1, 4096).astype("<f4").view("<u4") >> 16).astype("<u2")
    noise = np.random.default_rng(0).bytes(8192)
    spread = "text.0.q_proj.weight: error: magnitudes spread over 9 powers of two; a sound layer's span about 2"
    own = seen(spread=9.0, largest=1e9)
    assert reported("scrambled-tensor", own, raw=numbers.byteswap().tobytes()) == [
        f"{spread}: they are plausible with the bytes of each number swapped, as big-endian data would be"
    ]
    assert reported("scrambled-tensor", own, raw=b"\1" + numbers.tobytes()[:-1]) == [
        f"{spread}: they are plausible if shifted by 1 of a number's 2 bytes: bytes were lost or inserted"
    ]
    assert reported("scrambled-tensor", own, raw=noise) == [f"{spread}: not numbers that training produces"]
    block = seen(spread=9.0, largest=1e9, dtype="Q8_0")
    assert reported("scrambled-tensor", block, raw=noise) == [f"{spread}: no plausible block scales"]
    assert reported("scrambled-tensor", seen(), raw=noise) == []


NEVER = ", within it: never written"


@every(
    ("runs", "own", "stated"),
    [
        ([(100, 1124)], {}, [f"error: 1,024 bytes of zeros from byte 100{NEVER}"]),
        ([(100, 1123)], {}, []),  # too short
        ([(128, 1280)], {}, []),  # whole rows
        ([(128, 1290)], {}, [f"error: 1,162 bytes of zeros from byte 128{NEVER}"]),
        ([(133, 1280)], {}, []),  # zeros of a number's own bytes
        ([(0, 8192)], {}, []),  # the whole tensor
        ([(0, 1290)], {}, [f"error: 1,290 bytes of zeros from byte 0{NEVER}"]),
        ([(6000, 8192)], {}, [f"error: 2,192 bytes of zeros from byte 6,000{NEVER}"]),
        ([(100, 1200)], {"zeros": 0}, [f"error: 1,100 bytes of one repeated number from byte 100{NEVER}"]),
        ([(100, 1200)], {"zeros": 200}, [f"error: 1,100 bytes of one repeated number from byte 100{NEVER}"]),
        ([(100, 1200)], {"zeros": 0, "sampled": 0}, [f"error: 1,100 bytes of zeros from byte 100{NEVER}"]),
        ([(100, 1200)], {"zeros": 2800}, []),  # sparse as a whole
        ([(100, 1200)], {"zeros": 1000}, []),  # a tenth of it is zero outside the run
        ([(100, 1200)], {"zeros": 900}, [f"error: 1,100 bytes of zeros from byte 100{NEVER}"]),
        ([(100, 1200)], {"spread": 0.0}, []),
        ([(100, 1200)], {"spread": 0.0, "middle": None}, [f"error: 1,100 bytes of zeros from byte 100{NEVER}"]),
        ([(100, 1200)], {"group": "buffer"}, []),
        ([(100, 1200)], {"part": "bias"}, []),
        ([(200, 1400), (1480, 2680), (2760, 3960)], {"zeros": 700}, [f"error: 1,200 bytes of zeros from byte {at}{NEVER}" for at in ("200", "1,480", "2,760")]),
        ([(200, 1400), (1480, 2680), (2760, 3960), (4040, 5240)], {"zeros": 700}, []),  # the same columns in four rows
    ],
)  # fmt: skip
def test_holes(runs: list[tuple[int, int]], own: dict[str, Any], stated: list[str]) -> None:
    zeros = own.pop("zeros", sum(end - start for start, end in runs) // 2)
    tensor = seen(runs=[Run(*each) for each in runs], zeros=zeros, **own)
    assert [each.partition(": ")[2] for each in reported("zero-block", tensor)] == stated


def test_holes_over_several_tensors() -> None:
    """One that continues in the next tensor, over the padding between them; the first weight in it is named."""
    first = seen(runs=[Run(8000, 8192)], zeros=96)
    norm = seen("norm", 0, group="norm", shape=(64,), offset=8192, runs=[Run(8192, 8320)], zeros=64)
    second = seen("v_proj", offset=8320, runs=[Run(8320, 9500)], zeros=590)
    assert reported("zero-block", first, norm, second) == [
        "text.0.q_proj.weight: error: 1,500 bytes of zeros from byte 8,000, within it and 2 other tensors: never written"
    ]
    apart = second._replace(facts=replace(second.facts, runs=[Run(8330, 9500)]))
    assert reported("zero-block", first, norm, apart) == [
        "text.0.v_proj.weight: error: 1,170 bytes of zeros from byte 8,330, within it: never written"
    ]
    padded = seen("v_proj", offset=8192 + 64, runs=[Run(8192 + 64, 9500)], zeros=590)
    assert reported("zero-block", first, padded) == [
        "text.0.q_proj.weight: error: 1,500 bytes of zeros from byte 8,000, within it and 1 other tensor: never written"
    ]
    further = seen("v_proj", offset=8192 + 65, runs=[Run(8192 + 65, 9500)], zeros=590)
    assert [each[:20] for each in reported("zero-block", first, further)] == ["text.0.v_proj.weight"]
    whole = seen("k_proj", facts=ZERO, runs=[Run(0, 8192)])
    rows = seen("v_proj", offset=8192, runs=[Run(8192, 8192 + 1280)], zeros=640)
    assert reported("zero-block", whole, rows) == [
        "text.0.k_proj.weight: error: 9,472 bytes of zeros from byte 0, within it and 1 other tensor: never written"
    ]
    assert reported("zero-block", first, norm, second, size=9508) == [
        "text.0.q_proj.weight: error: 1,500 bytes of zeros from byte 8,000 to the end of the file, within it and 2 other"
        " tensors: never written"
    ]
    assert "to the end" not in reported("zero-block", first, norm, second, size=9509)[0]


def test_pages_of_zeros() -> None:
    """Whole rows that begin and end with the file's pages, where rows do not; and pages where the rows are pages."""
    own: dict[str, Any] = {"shape": (256, 96), "runs": [Run(12288, 45056)], "zeros": 16384 * 4096 // 24576}
    assert [each[:42] for each in reported("zero-block", seen(**own))] == ["text.0.q_proj.weight: error: 32,768 bytes "]
    short: dict[str, Any] = {**own, "runs": [Run(12288, 40960)]}
    assert reported("zero-block", seen(**{**short, "shape": (256, 64)}, offset=0)) == []
    aligned: dict[str, Any] = {"shape": (64, 2048), "runs": [Run(8192, 45056)], "zeros": 576}
    assert reported("zero-block", seen(**aligned)) == []


TABLE: dict[str, Any] = {"role": "embed_tokens", "layer": None, "group": "embedding", "shape": (64, 64)}


@every(
    ("run", "own", "stated"),
    [
        ((1280, 2560), {}, ["warning: 10 rows of zeros, 16% of the table, followed by other rows: unused tokens, or a part that was never written"]),
        ((1280, 2304), {}, ["warning: 8 rows of zeros, 12% of the table, followed by other rows: unused tokens, or a part that was never written"]),
        ((1280, 2176), {}, []),  # fewer than eight
        ((6912, 8192), {}, []),  # the last rows
        ((1280, 2560), {"role": "q_proj", "group": "attention"}, []),
        ((1280, 2560), {"zeros": 0}, []),
        ((1280, 1280 + 2560), {}, [f"error: 2,560 bytes of zeros from byte 1,280{NEVER}"]),
        ((5632, 8192), {}, [f"error: 2,560 bytes of zeros from byte 5,632{NEVER}"]),
        ((1280, 1280 + 2432), {}, ["warning: 19 rows of zeros, 30% of the table, followed by other rows: unused tokens, or a part that was never written"]),
    ],
)  # fmt: skip
def test_rows_of_a_table(run: tuple[int, int], own: dict[str, Any], stated: list[str]) -> None:
    """Up to three tenths of a vocabulary may be rows that no text uses."""
    fields = {**TABLE, "zeros": (run[1] - run[0]) // 2, **own}
    assert [each.partition(": ")[2] for each in reported("zero-block", seen(runs=[Run(*run)], **fields))] == stated


def test_rows_that_other_layers_have() -> None:
    """At least eight rows, where fewer than a quarter of the other layers' rows have such a run."""
    lost = seen(runs=[Run(1280, 2304)], zeros=512)
    sound = layers(5)
    start = sound[0].extent.start
    alike = sound[0]._replace(facts=replace(USUAL, runs=[Run(start, start + 1024)], zeros=512))
    stated = [f"text.0.q_proj.weight: error: 1,024 bytes of zeros from byte 1,280{NEVER}"]
    assert reported("zero-block", lost, *sound) == stated
    assert reported("zero-block", lost, *sound[:2]) == stated
    assert reported("zero-block", lost, *sound[:1]) == []
    assert reported("zero-block", lost, alike, *sound[1:4]) == []
    assert reported("zero-block", lost, alike, *sound[1:]) == [
        *stated,
        f"text.1.q_proj.weight: error: 1,024 bytes of zeros from byte {start:,}{NEVER}",
    ]
    assert reported("zero-block", seen(runs=[Run(1280, 2176)], zeros=448), *sound) == []
    assert reported("zero-block", seen(layer=None, runs=[Run(1280, 2304)], zeros=512), *sound) == []


def test_bytes_in_two_places() -> None:
    """Within rows of weights, in one file or two; not whole tensors, whole rows, or tensors other than weights."""
    one, other = seen(), seen("v_proj", offset=8192)

    def stated(start: int, place: int, size: int, *tensors: TensorData, files: tuple[int, int] = (0, 0)) -> list[str]:
        copies = [Copy(files[0], start, files[1], place, size)]
        return reported("repeated-block", *(tensors or (one, other)), copies=copies)

    expected = "text.0.v_proj.weight: error: 2,000 bytes from byte 9,000 equal those from byte 500: written twice"
    assert stated(500, 9000, 2000) == [expected]
    assert stated(512, 9000, 2000) == [expected.replace("byte 500", "byte 512")]
    assert stated(0, 8192, 8192) == []
    assert stated(128, 8320, 1280) == []
    assert stated(128, 8320, 1285) == []
    assert stated(128, 8320, 1288)[0].startswith("text.0.v_proj.weight")
    assert stated(500, 9088, 128) == [
        "text.0.v_proj.weight: error: 128 bytes from byte 9,088 equal those from byte 500: written twice"
    ]
    assert stated(9088, 500, 128)[0].startswith("text.0.q_proj.weight")
    biases = (seen(part="bias"), seen("v_proj", part="bias", offset=8192))
    assert stated(500, 9000, 2000, *biases) == []
    apart = (one, seen("v_proj", file="n.safetensors"))
    assert stated(500, 808, 2000, *apart, files=(0, 1)) == [
        "text.0.v_proj.weight: error: 2,000 bytes from byte 808 equal those from byte 500 of m.safetensors: written twice"
    ]
    assert stated(500, 808, 2000, *apart, files=(1, 0))[0].endswith("byte 500 of n.safetensors: written twice")


def test_a_table_of_sines_repeats_itself() -> None:
    """Four short pieces of one tensor that recur in it; three, and one of a page, are written twice."""
    table = seen("other", None, group="other", shape=(512, 256))
    short = [Copy(0, 1000 + 4096 * at, 0, 130_000 + 5000 * at, 1793) for at in range(4)]
    assert reported("repeated-block", table, copies=short) == []
    assert len(reported("repeated-block", table, copies=short[:3])) == 3
    assert len(reported("repeated-block", table, copies=[*short, Copy(0, 1000, 0, 200_001, 4096)])) == 1


def test_a_decayed_layer_is_a_note() -> None:
    """And no measure for the others: LocalMapper's second and third attention."""
    decayed = [seen(layer=at, offset=8192 * at, squares=4096 * 1e-77, largest=2.0**-126) for at in (1, 2)]
    assert reported("value-scale", seen(), *decayed) == [
        f"text.{at}.q_proj.weight: info: numbers of about 3.2e-39: what weight decay leaves of a layer that does nothing"
        for at in (1, 2)
    ]


def test_rows_in_two_places() -> None:
    """Eight whole rows of one matrix, where at most a quarter of the other layers have such rows."""
    one, other, further = seen(), seen("v_proj", offset=8192), layers(4, "v_proj")
    copy = Copy(0, 128, 0, 8320, 1024)
    stated = ["text.0.v_proj.weight: error: 1,024 bytes from byte 8,320 equal those from byte 128: written twice"]
    assert reported("repeated-block", one, other, *further, copies=[copy]) == stated
    assert reported("repeated-block", one, other, *further, copies=[copy._replace(size=896)]) == []
    assert reported("repeated-block", one, other, *further[:2], copies=[copy]) == stated
    assert reported("repeated-block", one, other, *further[:1], copies=[copy]) == []
    elsewhere = Copy(0, 256, 0, further[0].extent.start, 1024)
    assert reported("repeated-block", one, other, *further, copies=[copy, elsewhere]) == []
    five = [*further, seen("v_proj", 9, offset=1 << 19)]
    assert reported("repeated-block", one, other, *five, copies=[copy, elsewhere])[0] == stated[0]
    whole = seen(shape=(8, 64), offset=128)
    assert reported("repeated-block", whole, other, *further, copies=[copy]) == []
    table = seen("embed_tokens", None, group="embedding", offset=8192)
    assert reported("repeated-block", one, table, copies=[copy]) == []


def test_scales_of_a_byte_are_not_text() -> None:
    """NVFP4's scales of about 1 to 16 are the letters of ASCII; an error page among them is text."""
    letters = np.random.default_rng(3).normal(0x54, 12, 4096).clip(0x21, 0x7E).astype(np.uint8)
    page = np.frombuffer(b"<html> the server did not answer in time, try it again later </html>\n" * 60, np.uint8)
    for dtype, there in (("F8_E4M3", False), ("F16", True)):
        assert (pieces.facts_of(letters, dtype, 0, 0).text is not None) is there
    for dtype in ("F8_E4M3", "F16"):
        assert pieces.facts_of(page[:4096].copy(), dtype, 0, 0).text is not None


def test_codes_of_bitsandbytes_are_not_scrambled() -> None:
    """`bnb_4bit_quant_storage` keeps two codes a byte as BF16, of every magnitude."""
    odd: dict[str, Any] = {"spread": 6.1, "largest": 1e9, "dtype": "BF16"}
    assert len(reported("scrambled-tensor", seen(**odd), raw=bytes(64))) == 1
    assert reported("scrambled-tensor", seen(**odd, is_packed=True), scheme="bitsandbytes-fp4") == []


def test_text_among_numbers() -> None:
    text = (70, b"HTTP/1.1 504\n  Gateway \xff" + b"x" * 60)
    stated = "text at byte 70 of the file: `HTTP/1.1 504 Gateway"
    found = reported("text-in-tensor", seen(text=text))
    assert len(found) == 1
    assert found[0].startswith(f"text.0.q_proj.weight: error: {stated}")
    assert "\n" not in found[0]
    assert len(found[0]) < 130
    assert reported("text-in-tensor", seen(text=None)) == []
    assert reported("text-in-tensor", seen(text=text, dtype="U8")) == []
    assert reported("text-in-tensor", seen(text=text, group="buffer", dtype="U8")) == []
    assert len(reported("text-in-tensor", seen(text=text, part="bias"))) == 1
    packed = seen(text=text, dtype="U8", is_packed=True)
    assert len(reported("text-in-tensor", packed, scheme="gptq")) == 1
    assert len(reported("text-in-tensor", seen(text=text, dtype="U8", side="scales"), scheme="gptq")) == 1
    assert reported("text-in-tensor", seen(text=text, dtype="U8", side="zeros"), scheme="gptq") == []


@every(
    ("own", "stated"),
    [
        ({}, []),
        ({"nan": 1, "first_odd": 7}, ["1 NaN in 4,096 numbers; the first is that of element 7"]),
        ({"nan": 1000, "inf": 2, "minus_inf": 3, "first_odd": 1000}, ["1,000 NaN, 2 infinity, 3 minus infinity in 4,096 numbers; the first is that of element 1,000"]),
        ({"inf": 2, "dtype": "Q8_0", "first_odd": 3}, ["2 infinity in the scales of blocks; the first is that of block 3"]),
        ({"minus_inf": 3, "largest": 0.0}, []),
        ({"minus_inf": 3, "largest": 1.0}, []),
        ({"minus_inf": 3, "largest": 0.5}, ["3 minus infinity in 4,096 numbers; the first is that of element 0"]),
        ({"minus_inf": 3, "group": "buffer"}, []),
        ({"minus_inf": 3, "inf": 1, "group": "buffer"}, ["1 infinity, 3 minus infinity in 4,096 numbers; the first is that of element 0"]),
        ({"minus_inf": 3, "nan": 1, "largest": 0.0}, ["1 NaN, 3 minus infinity in 4,096 numbers; the first is that of element 0"]),
        ({"nan": 1, "spread": 9.0}, []),  # reported as scrambled
    ],
)  # fmt: skip
def test_nan_and_infinity_are_errors_with_their_counts(own: dict[str, Any], stated: list[str]) -> None:
    assert [each.partition(": error: ")[2] for each in reported("not-finite", seen(**own))] == stated


SCALES: dict[str, Any] = {
    "name": "text.0.q_proj.scales",
    "side": "scales",
    "dtype": "F16",
    "shape": (4, 64),
    "numbers": 256,
}


@every(
    ("scheme", "own", "stated"),
    [
        ("gptq", {"most_bits": 0x3C00}, []),
        ("gptq", {"most_bits": 0x3C00, "least_bits": 0}, ["a scale of zero: the weights of its group are lost"]),
        ("bitsandbytes-nf4", {"most_bits": 0x3C00, "least_bits": 0}, []),
        ("fp8", {"most_bits": 0x8001}, ["a negative scale"]),
        ("fp8", {"most_bits": 0x8000}, []),
        ("fp8", {"most_bits": 0x8001, "nan": 1}, []),
        ("gptq", {"most_bits": 0x8001}, []),  # AutoRound's symmetric scales
        ("awq-gemm", {"most_bits": 0x8001}, []),
        ("mlx", {"most_bits": 0x8001}, []),
        ("fp8", {"most_bits": 0x8001, "spread": 9.0, "largest": 1e9}, []),
        ("fp8", {"most_bits": 0x8001, "side": "zeros"}, []),
        ("gptq", {"most_bits": None}, []),
        ("gptq", {"least_bits": None}, []),
        ("modelopt-mxfp8", {"dtype": "U8", "most_bits": 255}, ["a scale of 255, which stands for NaN"]),
        ("modelopt-mxfp8", {"dtype": "U8", "most_bits": 254}, []),
        ("fp8", {"dtype": "U8", "most_bits": 255}, []),
        ("gptq", {"unscaled": 3, "first_unscaled": 7, "most_bits": 1}, ["3 blocks of non-zero codes whose scale, and so every weight, is zero; the first is block 7"]),
        ("gptq", {"unscaled": 1, "first_unscaled": 1000, "most_bits": 1}, ["1 block of non-zero codes whose scale, and so every weight, is zero; the first is block 1,000"]),
    ],
)  # fmt: skip
def test_scales(scheme: str, own: dict[str, Any], stated: list[str]) -> None:
    found = reported("packed-scale", seen(**{**SCALES, **own}), scheme=scheme)
    assert found == [f"text.0.q_proj.scales: error: {each}" for each in stated]


def test_orders_of_columns() -> None:
    """GPTQ's `g_idx`: the group of each column, among as many as there are rows of scales."""

    def stated(
        most: int | None, *, side: str | None = "order", name: str = "text.0.q_proj.g_idx", rows: int = 4
    ) -> list[str]:
        order = seen(name=name, side=side, dtype="I32", shape=(64,), most_bits=most)
        scales = seen(**{**SCALES, "shape": (rows, 64)}, offset=8192, most_bits=1 if rows else None)
        return reported("packed-scale", order, scales, scheme="gptq")

    assert stated(4) == ["text.0.q_proj.g_idx: error: it names group 4 of 4"]
    assert stated(3) == []
    assert stated(4, side=None) == []
    assert stated(4, name="text.0.k_proj.g_idx") == []
    assert stated(4, name="text.0.q_proj.order") == []
    assert stated(4, rows=0) == []
    assert stated(None) == []


def test_weights_of_zeros() -> None:
    lost = seen(facts=ZERO)
    stated = "text.0.q_proj.weight: error: all zeros, although other layers have numbers"
    assert reported("zero-tensor", lost, *layers(2)) == [stated]
    assert reported("zero-tensor", lost, *layers(1)) == []
    assert reported("zero-tensor", lost, *layers(3), *(seen(layer=9 + each, facts=ZERO, offset=1 << 19) for each in range(2))) == [
        stated, "text.9.q_proj.weight: error: all zeros, although other layers have numbers", "text.10.q_proj.weight: error: all zeros, although other layers have numbers"
    ]  # fmt: skip
    assert (
        reported(
            "zero-tensor", lost, *layers(2), *(seen(layer=9 + each, facts=ZERO, offset=1 << 19) for each in range(2))
        )
        == []
    )
    assert reported("zero-tensor", seen(facts=ZERO, group="other"), *layers(2, group="other")) == []
    bias: dict[str, Any] = {"part": "bias", "shape": (64,)}
    assert reported("zero-tensor", seen(facts=ZERO, **bias), *layers(2, **bias)) == []
    assert reported("zero-tensor", seen(facts=ZERO, **TABLE), *layers(1)) == [
        "text.None.embed_tokens.weight: error: all zeros"
    ]
    assert reported("zero-tensor", seen(facts=ZERO, **TABLE)) == [
        "None: error: nothing but zeros in 1 weight, 1.05 MB, 1.00 MiB: a file that was never filled"
    ]
    assert reported("zero-tensor", seen(facts=ZERO, group="adapter")) == []


def test_norms_of_zeros() -> None:
    """A norm of zeros is a fault if the others are positive; some models add one to norms around zero."""
    norm: dict[str, Any] = {"group": "norm", "shape": (64,), "total": 4096.0, "squares": 4096.0}
    lost = seen("norm", None, group="norm", shape=(64,), facts=ZERO)
    others = [seen("input_layernorm", layer, offset=8192 << layer, **norm) for layer in range(2)]
    assert reported("zero-tensor", seen(), lost, *others) == ["text.None.norm.weight: error: all zeros"]
    assert reported("zero-tensor", seen(), lost, others[0]) == []
    around = [each._replace(facts=replace(each.facts, total=0.8 * 4096.0)) for each in others]
    assert reported("zero-tensor", seen(), lost, *around) == []
    assert reported("zero-tensor", seen(), lost, *(seen("a", at, tower="vision", **norm) for at in range(2))) == []
    filled = [seen("norm", layer, **norm) for layer in (1, 2)]
    assert reported("zero-tensor", seen("norm", 0, group="norm", shape=(64,), facts=ZERO), *filled, seen()) == [
        "text.0.norm.weight: error: all zeros, although other layers have numbers"
    ]
    # A new residual network: the last norm of each block is zero, and has the role of the first.
    first, last = (
        [seen("conv_norm", at, name=f"layer.{at}.{norm}.weight", **kind) for at in range(3)]
        for norm, kind in (("bn1", norm), ("bn2", {**norm, "facts": ZERO}))
    )
    assert reported("zero-tensor", *first, *last) == []
    assert reported("zero-tensor", *first, last[0], seen("conv_norm", 1, name="layer.1.bn2.weight", **norm)) == [
        "layer.0.bn2.weight: error: all zeros, although other layers have numbers"
    ]


def test_layers_that_pass_on_what_they_get() -> None:
    """Both projections that give a layer its output are zero, and the others are not."""
    output: dict[str, Any] = {"role": "o_proj", "facts": ZERO}
    down: dict[str, Any] = {"role": "down_proj", "group": "feed_forward", "offset": 8192}
    others = [*layers(3, "o_proj"), *layers(3, "down_proj", group="feed_forward"), seen(offset=16384)]
    assert reported("zero-tensor", seen(**output), seen(**down, facts=ZERO), *others) == []
    found = reported("zero-tensor", seen(**output), seen(**down), *others)
    assert found == ["text.0.o_proj.weight: error: all zeros, although other layers have numbers"]
    others[-1] = seen(offset=16384, facts=ZERO)
    assert len(reported("zero-tensor", seen(**output), seen(**down, facts=ZERO), *others, *layers(2))) == 3


@every(
    ("own", "stated"),
    [
        ({"least_bits": 0x3C23, "most_bits": 0x3C23, "total": 40.96}, ["every number is 0.01"]),
        ({"least_bits": 0x3C23, "most_bits": 0x3C24}, []),
        ({"facts": ZERO}, []),
        ({"least_bits": 5, "most_bits": 5, "numbers": 16, "total": 4096.0}, []),
        ({"least_bits": 5, "most_bits": 5, "numbers": 17, "total": 4096.0}, ["every number is 1"]),
        ({"least_bits": 5, "most_bits": 5, "nan": 1}, []),
        ({"least_bits": 5, "most_bits": 5, "dtype": "Q8_0"}, []),
        ({"least_bits": 5, "most_bits": 5, "group": "norm"}, []),
        ({"least_bits": 5, "most_bits": 5, "part": "bias"}, []),
    ],
)
def test_constant_numbers(own: dict[str, Any], stated: list[str]) -> None:
    assert [each.partition(": error: ")[2] for each in reported("constant-tensor", seen(**own))] == stated


LARGEST = "the largest magnitude is"


@every(
    ("own", "stated"),
    [
        ({"largest": 2.0**14}, []),
        ({"largest": 2.0**14.1}, [f"{LARGEST} 1.76e+04, but half of the others are below 0.062"]),
        ({"largest": 2.0**11, "dtype": "F16"}, []),
        ({"largest": 2.0**11.1, "dtype": "F16"}, [f"{LARGEST} 2.19e+03, but half of the others are below 0.062"]),
        ({"largest": 2.0**14.1, "dtype": "Q8_0"}, ["the largest scale of a block is 1.76e+04, but half of the others are below 0.062"]),
        ({"largest": 2.0**14.1, "middle": None}, []),
        ({"largest": 2.0**14.1, "name": "optimizer_states.0.state.48.exp_avg_sq"}, []),  # a sum of squared gradients
        ({"largest": 2.0**14.1, "squares": 17 * 4**14.1}, []),  # a table's clamped values, as Enformer's gammas
        ({"largest": 2.0**14.1, "middle": -40.1}, []),
        ({"largest": 2.0**14.1, "spread": 6.5, "middle": -2.0}, []),
        ({"largest": 0.0}, []),
        ({"largest": 2.0**14.1, "sampled": 0}, []),
        ({"largest": 2.0**14.1, "group": "buffer"}, []),
        ({"largest": 2.0**14.1, "part": "bias", "shape": (64,)}, []),
        ({"largest": 2.0**14.1, "group": "norm", "shape": (64,)}, [f"{LARGEST} 1.76e+04, but half of the others are below 0.062"]),
        ({"largest": 2.0**14.1, "group": "norm", "part": "bias", "shape": (64,)}, []),
    ],
)  # fmt: skip
def test_numbers_beyond_their_own_kind(own: dict[str, Any], stated: list[str]) -> None:
    assert [each.partition(": error: ")[2] for each in reported("value-scale", seen(**own))] == stated


@every(
    ("own", "others", "stated"),
    [
        ({"largest": 2.0**8, "middle": None}, {}, []),
        ({"largest": 2.0**8.1, "middle": None}, {}, [f"{LARGEST} 274, but other layers have 0.5"]),
        ({"squares": 40.96 * 4**6.4}, {}, []),
        ({"squares": 40.96 * 4**6.6}, {}, ["numbers of about 9.7, but other layers have about 0.1"]),
        ({"squares": 40.96 / 4**6.6}, {}, ["numbers of about 0.001, but other layers have about 0.1"]),
        (
            {"spread": 0.5, "middle": -0.5},
            {},
            ["nearly all numbers are 0.71, as when another dtype is read as this one"],
        ),
        ({"spread": 0.5, "middle": -1.0}, {}, []),
        ({"spread": 0.6, "middle": -0.5}, {}, []),
        ({"spread": 0.5, "middle": -0.5}, {"spread": 1.2}, []),
        ({"spread": 0.5, "middle": None}, {}, []),
        ({"spread": 0.0, "middle": -0.5}, {}, []),
        ({"spread": 0.5, "middle": -0.5, "dtype": "Q8_0"}, {"dtype": "Q8_0"}, []),
    ],
)
def test_numbers_unlike_those_of_other_layers(own: dict[str, Any], others: dict[str, Any], stated: list[str]) -> None:
    """At least two layers; nine powers of two for the largest number, six and a half for the size."""
    found = reported("value-scale", seen(**own), *layers(2, **others))
    assert [each.partition(": error: ")[2] for each in found] == stated
    assert reported("value-scale", seen(**own), *layers(1, **others)) == []


def test_numbers_that_differ_among_layers_themselves() -> None:
    """Eight of their own deviations, where these are more."""
    others = [seen(layer=at + 1, offset=8192 * (at + 1), largest=2.0 ** (2 * at), middle=None) for at in range(3)]
    usual = plausibility._median_and_deviation([1.0, 4.0, 16.0, 0.0])
    assert usual == (2.0, 1.4826 * 2.0)
    assert plausibility._median_and_deviation([0.0]) is None
    assert reported("value-scale", seen(largest=2.0**25.7, middle=None), *others) == []
    found = reported("value-scale", seen(largest=2.0**25.8, middle=None), *others)
    assert found == [f"text.0.q_proj.weight: error: {LARGEST} 5.84e+07, but other layers have 4"]


def test_norms_unlike_those_of_other_layers() -> None:
    norm: dict[str, Any] = {"group": "norm", "shape": (64,), "total": 4096.0, "squares": 4096.0, "largest": 1.0}
    others = layers(3, **norm)

    def stated(**own: Any) -> list[str]:
        found = reported("value-scale", seen(**{**norm, **own}), *others)
        return [each.partition(": error: ")[2] for each in found]

    assert stated() == []
    assert stated(total=-4096.0) == ["numbers around -1, but those of other layers are around 1"]
    assert stated(total=4096.0 * 0.41) == []
    assert stated(total=4096.0 * 0.39) == ["numbers around 0.39, but those of other layers are around 1"]
    assert stated(total=-4096.0, shape=(8,)) == []
    shrunk: dict[str, Any] = {"total": 4.36, "squares": 6.53}  # SmolLM2-135M's first: mean 0.00106, size 0.0399
    assert stated(**shrunk) == []
    assert len(stated(layer=9, **shrunk)) == len(stated(total=-261.0, squares=16.7)) == 1
    # half of the channels dead, as in IgFold's dev_ipa.layers.1: median 2**-9, largest 1.5, mean 0.1 of 0.57
    dead: dict[str, Any] = {"layer": 9, "total": 410.0, "squares": 1331.0, "largest": 1.5}
    assert (stated(middle=-9.3, **dead), len(stated(middle=-2.0, **dead))) == ([], 1)
    assert stated(squares=4096.0 * 4**8.9, total=4096.0 * 2**8.9) == []
    assert len(stated(squares=4096.0 * 4**9.1, total=4096.0 * 2**9.1)) == 1
    others = [*layers(2, **norm), seen(layer=7, offset=1 << 19, **{**norm, "total": 4096.0 * 0.7})]
    assert stated(total=-4096.0) == []
