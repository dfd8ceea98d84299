"""`inspect memory`: the first line, what stands below it, and the devices of this machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from every import every
from sparse import load, make

import inspector
from inspector.errors import UsageError
from inspector.report.columns import fitted
from inspector.report.verdict import place
from inspector.sizing import machine
from inspector.sizing.devices import DEVICES, Device, devices, known
from inspector.sizing.placement import RESERVE
from inspector.units import BYTES, TOKENS, written

if TYPE_CHECKING:
    from conftest import Ran

#: 426,624 weights in 16 bits: 2 × 65,536 + 2 × 147,712 + 128; and 512 bytes of cache a token: 2 layers × 2 × 2 heads × 32 × 2 bytes.
SMALL: dict[str, Any] = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 512, "hidden_size": 128,
    "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "max_position_embeddings": 65536, "torch_dtype": "bfloat16",
}  # fmt: skip


@pytest.fixture(scope="module")
def quantized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Llama 3.1 8B in Q4_K_M: 4,912,898,304 bytes of weights, 131,072 of cache a token."""
    make(load("llama-3.1-8b-q4_k_m"), folder := tmp_path_factory.mktemp("quantized"))
    return folder


def first_line(ran: Ran) -> str:
    return ran.out.split("\n")[0]


def test_the_first_line_is_the_answer(quantized: Path, inspect: Callable[..., Ran]) -> None:
    """8 GiB less 512 MiB hold the longest context, and not one token more; the full one has 131,072 tokens of 131,072 bytes."""
    result = inspector.memory(quantized, gpu="rtx-4060")
    found = result.devices[0].longest_context
    assert found
    for tokens, fits in ((found, True), (found + 1, False)):
        (placed,) = inspector.memory(quantized, gpu="rtx-4060", context=tokens).devices
        assert (placed.nbytes <= (8 << 30) - RESERVE) is fits is placed.fits
    assert result.activations
    full = (4_912_898_304 + 131072 * 131072 + result.activations.nbytes) / 1e9
    line = first_line(inspect("memory", quantized, "--gpu", "rtx-4060"))
    assert line == f"fits an RTX 4060 (8 GB) up to {found:,} tokens; its full 131,072 would take {full:.1f} GB"
    assert first_line(inspect("memory", quantized, "--gpu", "rtx-4060", "--context", "16k")).startswith(
        "fits an RTX 4060 (8 GB) with 16,384 tokens: "
    )
    assert first_line(inspect("memory", quantized, "--gpu", "rtx-4060", "--context", "32k")).startswith(
        "does not fit an RTX 4060 (8 GB) with 32,768 tokens: "
    )


SENTENCES = {
    "--gpu 1GiB": "fits in 1 GiB with its full 65,536 tokens: ",
    "--gpu 2x1GiB": "fits in 2 × 1 GiB with its full 65,536 tokens: ",
    "--gpu h100 --context 100": "fits an H100 (80 GB) with 100 tokens: ",
    "--gpu 512MiB": "does not fit in 512 MiB: its weights alone take ",
    "--gpu 530MiB": "fits in 530 MiB up to ",
    "--gpu l4 --train full": "fits an L4 (22.5 GiB): training takes ",
}


@every("words", SENTENCES)
def test_other_first_lines(words: str, inspect: Callable[..., Ran], tmp_path: Path) -> None:
    """Sizes instead of names, several devices, nothing that fits, training."""
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    assert first_line(inspect("memory", tmp_path / "config.json", *words.split())).startswith(SENTENCES[words])


def test_a_verdict_that_an_estimate_could_turn_says_so() -> None:
    """What is needed differs from the room by less than 3 %: either way it is too close to call."""
    need = inspector.memory(SMALL, context=65536).total
    for room, close in (
        (need * 98 // 100, True),
        (need * 102 // 100, True),
        (need * 94 // 100, False),
        (need * 2, False),
    ):
        found = inspector.verdict(inspector.memory(SMALL, gpu=f"{room + RESERVE}B"))
        assert found.choice
        assert found.choice.close is close
        assert found.fits is (room >= need)


def test_weights_that_only_the_drivers_share_keeps_out(inspect: Callable[..., Ran], tmp_path: Path) -> None:
    """A device keeps 512 MiB for its driver: of 512 MiB nothing is free."""
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    line = first_line(inspect("memory", tmp_path / "config.json", "--gpu", "512MiB"))
    assert line == "does not fit in 512 MiB: its weights alone take 853.25 kB, and 0 B are free"


def test_weights_that_save_next_to_nothing_are_not_advised() -> None:
    """Transformers 5 keeps Mixtral's experts in one tensor, which bitsandbytes leaves as it is: 92.6 of 93.4 GB."""
    config = load("mixtral-8x7b")["beside"]["config.json"]
    found = inspector.verdict(inspector.memory(config, gpu="24GB"))
    assert [each.option for each in found.remedies] == ["--gpu 6x24GB"]


def test_remedies_have_their_numbers(quantized: Path, inspect: Callable[..., Ran]) -> None:
    """Each is the memory of another request; of fewer layers, what is then on the device."""
    found = inspector.verdict(inspector.memory(quantized, gpu="rtx-4060", context=32768))
    by_option = {each.option.split()[0]: each for each in reversed(found.remedies)}
    cache = inspector.memory(quantized, gpu="rtx-4060", context=32768, cache_dtype="q8_0")
    assert (by_option["--cache-dtype"].total, by_option["--cache-dtype"].fits) == (cache.devices[0].nbytes, cache.fits)
    shorter = by_option["--context"]
    (placed,) = inspector.memory(quantized, gpu="rtx-4060", context=shorter.option.split()[1]).devices
    assert (placed.nbytes, placed.fits) == (shorter.total, True)
    assert shorter.fits
    layers = by_option["-ngl"]
    assert layers.fits
    assert layers.total <= (8 << 30) - RESERVE
    several = by_option["--gpu"]
    assert inspector.memory(quantized, gpu=several.option.split()[1], context=32768).fits
    weights = next(
        each
        for each in inspector.quants(quantized).quants
        if each.name.lower() == by_option["--weights"].option.split()[1]
    )
    assert by_option["--weights"].total - cache.devices[0].activations - 32768 * 131072 <= weights.nbytes
    assert not inspector.verdict(inspector.memory(quantized, gpu="h100")).remedies
    document = json.loads(inspect("memory", quantized, "--gpu", "rtx-4060", "--context", "32k", "--json").out)
    assert [each["total"] for each in document["verdict"]["remedies"]] == [each.total for each in found.remedies]


@pytest.mark.parametrize("words", ["", "--gpu rtx-4060", "--gpu rtx-4060 --context 32k", "--gpu 4xl4", "--train full"])
def test_the_answer_is_one_screen(words: str, quantized: Path, inspect: Callable[..., Ran], monkeypatch: Any) -> None:
    """At most 23 lines of at most 80 columns, whatever the machine."""
    monkeypatch.setattr(
        machine, "found", lambda: (Device("NVIDIA GeForce RTX 4060", 8 << 30), Device("memory", 16 << 30))
    )
    monkeypatch.chdir(quantized.parent)
    lines = inspect("memory", quantized.name, *words.split()).out.splitlines()
    folded = [line for each in lines for line in fitted(each, 80).splitlines()]
    assert len(folded) <= 23
    assert "--train" in words or not any(line.endswith("…") for line in folded)


def test_without_devices_this_machines_are_asked(
    quantized: Path, inspect: Callable[..., Ran], monkeypatch: Any
) -> None:
    """Its graphics first, the memory and usual sizes beside; without any, only the sizes."""
    monkeypatch.setattr(
        machine, "found", lambda: (Device("NVIDIA GeForce RTX 4060", 8 << 30), Device("memory", 64 << 30))
    )
    ran = inspect("memory", quantized)
    assert first_line(ran).startswith("fits this machine's RTX 4060 (8 GB) up to ")
    assert "this machine's memory (64 GB) all, 8 GB " in ran.out
    reported = json.loads(inspect("memory", quantized, "--json").out)
    assert (reported["devices"], reported["fits"], reported["verdict"]["named"]) == ([], None, False)
    assert inspector.memory(quantized, gpu="here").devices[0].longest_context == reported["verdict"]["longest_context"]
    monkeypatch.setattr(machine, "found", tuple)
    assert first_line(inspect("memory", quantized)).startswith("takes ")
    with pytest.raises(UsageError, match="no device of this machine"):
        inspector.memory(quantized, gpu="here")


def test_devices_of_a_machine(tmp_path: Path, monkeypatch: Any) -> None:
    """As Linux describes them: NVIDIA's by name, AMD's memory, the whole memory or a container's limit."""
    files = {
        "proc/meminfo": "MemTotal:       65536000 kB\nMemFree: 1 kB\n",
        "proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA GeForce RTX 4090\nIRQ: 1\n",
        "proc/driver/nvidia/gpus/0000:02:00.0/information": "Model: \t\t NVIDIA Unheard Of\n",
        "sys/class/drm/card0/device/mem_info_vram_total": "25753026560\n",
        "sys/class/drm/card0/device/vendor": "0x1002\n",
        "sys/class/drm/card1/device/mem_info_vram_total": "1000\n",
        "sys/class/drm/card1/device/vendor": "0x8086\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setitem(sys.modules, "pynvml", None)
    amd = Device("AMD graphics", 25753026560)
    assert machine.found(str(tmp_path)) == (DEVICES["rtx-4090"], amd, Device("memory", 65536000 << 10))
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    for limit, expected in (("max", 65536000 << 10), ("1073741824", 2**30)):
        (tmp_path / "sys/fs/cgroup/memory.max").write_text(limit)
        assert machine.found(str(tmp_path))[-1] == Device("memory", expected)
    asked = {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetCount": lambda: 2,
        "nvmlDeviceGetHandleByIndex": lambda number: number,
        "nvmlDeviceGetName": lambda number: ("NVIDIA L4", b"NVIDIA H100 80GB HBM3")[number],
        "nvmlDeviceGetMemoryInfo": lambda number: SimpleNamespace(total=(24 << 30, 80 << 30)[number]),
    }
    monkeypatch.setitem(sys.modules, "pynvml", SimpleNamespace(**asked))
    both = (Device("NVIDIA L4", 24 << 30, 300 * 10**9), Device("NVIDIA H100 80GB HBM3", 80 << 30, 3350 * 10**9))
    assert machine.found(str(tmp_path))[:2] == both
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert machine.found(str(tmp_path))[:2] == (both[1], amd)
    assert machine.found(str(tmp_path / "nowhere")) == ()


@every("name, expected", {
    "NVIDIA GeForce RTX 4090": "rtx-4090", "NVIDIA A100-SXM4-80GB": "a100", "NVIDIA A100-SXM4-40GB": "a100-40gb",
    "NVIDIA H100 80GB HBM3": "h100", "NVIDIA H100 PCIe": "h100-pcie", "Tesla T4": "t4", "rtx4070ti": None,
    "NVIDIA GeForce RTX 4090 Laptop GPU": None, "Radeon RX 7900 XTX": "rx-7900-xtx",
}.items())  # fmt: skip
def test_devices_by_their_drivers_names(name: str, expected: str | None) -> None:
    """The same device; a laptop's is another one."""
    assert known(name) == (DEVICES[expected] if expected else None)


def test_a_device_has_memory() -> None:
    """`0GB` was a device on which nothing fits."""
    with pytest.raises(UsageError, match="'0GB': a device without memory"):
        devices("0GB")


def test_devices_in_a_sentence() -> None:
    """As vendors name them, with their memory."""
    assert place(devices("rtx-4070-ti-super")) == "an RTX 4070 Ti Super (16 GB)"
    assert place(devices("2xrtx-4090")) == "2 × RTX 4090 (24 GB each)"
    assert place(devices("l4,rtx-3090")) == "L4 + RTX 3090 (46.5 GiB)"
    assert place(devices("8gb")) == "8 GB"
    assert place((Device("memory", 25276502016),), here=True) == "this machine's memory (23.5 GiB)"


@every("text, expected", {
    "16k": 16384, "128K": 131072, "16,384": 16384, "16 384": 16384, "16_384": 16384, " 8192 ": 8192, "1.5k": 1536,
    "1M": 1048576, "0": 0, "16q": None, "-3": None, "1,2": None, "": None, "k": None, "1e3": None, "²": None,
}.items())  # fmt: skip
def test_tokens_as_people_write_them(text: str, expected: int | None) -> None:
    """Thousands of tokens are 1,024: a context of 128k has 131,072."""
    assert written(text, TOKENS) == expected


@every("text, expected", {
    "24GB": 24 * 10**9, "24GiB": 24 << 30, "24G": 24 << 30, "8 GB": 8 * 10**9, "0.5TB": 5 * 10**11, "1.5 GiB": 3 << 29,
    "24564MiB": 24564 << 20, "1,000 MB": 10**9, "12": None, "8GX": None, "0.9": None,
}.items())  # fmt: skip
def test_bytes_as_people_write_them(text: str, expected: int | None) -> None:
    """Decimal with B, binary with iB; a letter alone is binary, as vendors of devices mean it."""
    assert written(text, BYTES) == expected


def test_numbers_in_options(inspect: Callable[..., Ran]) -> None:
    """The same in commands and functions."""
    assert inspector.memory("llama-7b", context="1k", sequences="2").cache == 2 * 1024 * 2**19
    reported = json.loads(
        inspect("memory", "llama-7b", "--context", "1,024", "--batch", "2k", "--gpu", "24 GB", "--json").out
    )
    assert (reported["context"], reported["devices"][0]["memory"]) == (1024, 24 * 10**9)
    reported = json.loads(inspect("quants", "llama-7b", "--context", "2k", "--gpu", "24 GB", "--json").out)
    assert reported["context"] == 2048


@every("options, message", [
    ({"context": "16q"}, "context '16q': a number from 1"), ({"context": 5.5}, "context 5.5: a number"),
    ({"context": True}, "context True: a number"), ({"sequences": []}, r"sequences \[\]: a number"),
    ({"gpu": 24}, "gpu 24: text is expected, not int"), ({"engine": ["vllm"]}, "engine .*text is expected, not list"),
    ({"cache_dtype": 8}, "cache_dtype 8: text"), ({"weights": 4}, "weights 4: text"), ({"tp": "x"}, "--tp 'x'"),
])  # fmt: skip
def test_a_wrong_option_is_named(options: dict[str, Any], message: str) -> None:
    """Of a wrong type, or no number."""
    with pytest.raises(UsageError, match=message):
        inspector.memory(SMALL, **options)
