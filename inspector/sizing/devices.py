"""Known devices: their memory as drivers report it, and its bandwidth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from inspector.errors import UsageError
from inspector.units import BYTES, written

#: What the memory of a machine is called.
MEMORY = "memory"


class Device(NamedTuple):
    """One device."""

    name: str
    nbytes: int
    bandwidth: int | None = None  # bytes per second; None if unknown
    nominal: bool = False  # whether its memory comes from a data sheet; drivers report less


#: Name, memory, bandwidth in GB/s, the page that confirms the bandwidth, and a page that shows `nvidia-smi`'s report.
#: Memory in MiB ("24564M") is from that report; in GiB ("24G") it is from the first page's data sheet, because none was
#: found. Vendors write GB for GiB of device memory. `tp` is TechPowerUp, `gh` GitHub.
_SHEETS = """
rtx-3060             12288M   360 tp:geforce-rtx-3060-12-gb.c3682 gh:geerlingguy/raspberry-pi-pcie-devices/issues/790
rtx-3070                 8G   448 tp:geforce-rtx-3070.c3674
rtx-3080                10G   760 tp:geforce-rtx-3080.c3621
rtx-3090             24576M   936 tp:geforce-rtx-3090.c3622 gh:noonghunna/club-3090/issues/1128
rtx-4060                 8G   272 tp:geforce-rtx-4060.c4107
rtx-4060-ti             16G   288 tp:geforce-rtx-4060-ti-16-gb.c4155
rtx-4070                12G   504 tp:geforce-rtx-4070.c3924
rtx-4070-ti-super       16G   672 tp:geforce-rtx-4070-ti-super.c4187
rtx-4080             16376M   716 tp:geforce-rtx-4080.c3888 gh:akiyax/kvcache-lab/blob/main/docs/phase1-baseline.md
rtx-4090             24564M  1008 tp:geforce-rtx-4090.c3889 gh:RLinf/RLinf/issues/255
rtx-5060-ti             16G   448 tp:geforce-rtx-5060-ti-16-gb.c4292
rtx-5070             12227M   672 tp:geforce-rtx-5070.c4218 gh:shkhln/libc6-shim/issues/14
rtx-5070-ti          16303M   896 tp:geforce-rtx-5070-ti.c4243 gh:vllm-project/vllm/issues/34076
rtx-5080                16G   960 tp:geforce-rtx-5080.c4217
rtx-5090             32607M  1792 tp:geforce-rtx-5090.c4216 gh:noonghunna/club-3090/issues/1261
rtx-a6000            49140M   768 tp:rtx-a6000.c3686 gh:noonghunna/club-3090/issues/1047
rtx-6000-ada         49140M   960 tp:rtx-6000-ada-generation.c3933 gh:RapidAI/RapidLLM/blob/main/README.md
rtx-pro-6000         97887M  1792 tp:rtx-pro-6000-blackwell.c4272 gh:vllm-project/recipes/pull/831
t4                   15360M   320 tp:tesla-t4.c3316 gh:modal-labs/modal-client/pull/2797
v100                    32G   898 tp:tesla-v100-sxm2-32-gb.c3185
a10                  23028M   600 tp:a10-pcie.c3793 gh:modal-labs/modal-client/pull/2797
a10g                 23028M   600 tp:a10g.c3798 gh:NVIDIA/DCGM/issues/232
a40                  46068M   696 tp:a40-pcie.c3700 gh:guqiong96/Lvllm/issues/35
a100-40gb            40960M  1555 tp:a100-sxm4-40-gb.c3506 gh:modal-labs/modal-client/pull/2797
a100                 81920M  2039 tp:a100-sxm4-80-gb.c3746 gh:modal-labs/modal-client/pull/2797
l4                   23034M   300 tp:l4.c4091 gh:modal-labs/modal-client/pull/2797
l40s                 46068M   864 tp:l40s.c4173 gh:modal-labs/modal-client/pull/2797
h100                 81559M  3350 tp:h100-sxm5-80-gb.c3900 gh:wilicc/gpu-burn/issues/114
h100-pcie            81559M  2039 tp:h100-pcie-80-gb.c3899 gh:ypd666/CSAHCA/blob/main/docs/optimization_report.md
h100-nvl                94G  3938 tp:h100-nvl-94-gb.c4327
h200                143771M  4800 www.morphllm.com/nvidia-h200 gh:utkuozdemir/nvidia_gpu_exporter/tree/main/internal
b200                   180G  8000 acecloud.ai/blog/nvidia-b200-vs-h200-h100-a100
mi250x                 128G  3277 tp:radeon-instinct-mi250x.c3837
mi300x                 192G  5300 llmbook.apartsin.com/appendices/appendix-g-hardware-compute/section-g.1.html
mi355x                 288G  8190 tp:radeon-instinct-mi355x.c4309
rx-7900-xtx             24G   960 tp:radeon-rx-7900-xtx.c3941
arc-b580                12G   456 tp:arc-b580.c4244
"""

#: Device → sources of its figures: of its bandwidth, and of its memory if that is a report.
SOURCES = {
    line.split()[0]: tuple(
        page.replace("tp:", "techpowerup.com/gpu-specs/").replace("gh:", "github.com/") for page in line.split()[3:]
    )
    for line in _SHEETS.strip().splitlines()
}


def _from_sheet(name: str, memory: str, rate: str) -> Device:
    nominal = memory.endswith("G")
    return Device(name, int(memory[:-1]) << (30 if nominal else 20), int(rate) * 10**9, nominal)


DEVICES = {line.split()[0]: _from_sheet(*line.split()[:3]) for line in _SHEETS.strip().splitlines()}

#: The most devices of one machine.
MOST = 4096
_TIMES = re.compile(r"(?:(\d{1,4})\s*[x×*]\s*)?(.+)")


def devices(text: str) -> tuple[Device, ...]:
    """`2x24GiB`, `rtx-4090`, `4xh100`, `h100,l4`: parses a list of devices. Raises UsageError."""
    found = tuple(each for part in text.split(",") for each in _devices_of_part(part.strip()))
    if not 0 < len(found) <= MOST:
        raise UsageError(f"{text!r:.60} are {len(found)} devices: 1 to {MOST} may be given")
    return found


def _devices_of_part(text: str) -> Iterator[Device]:
    match = _TIMES.fullmatch(text)
    times, name = (int(match[1] or 1), match[2].strip()) if match else (1, text)
    yield from (_known_or_sized(name) for _ in range(min(times, MOST + 1)))


def known(text: str) -> Device | None:
    """The device with this name in the table, as people or drivers write it: `NVIDIA GeForce RTX 4090`."""
    name = re.sub(r"[\s_]+", "-", text.strip().lower())
    name = re.sub(r"^(nvidia-|amd-|intel-|geforce-|tesla-|radeon-)*", "", name)
    name = re.sub(r"-(sxm\d*|hbm\d\w*|generation)(?=-|$)", "", re.sub(r"^(rtx|rx)(?=\d)", r"\1-", name))
    return DEVICES.get(name) or DEVICES.get(name.removesuffix("-80gb"))


def typed(device: Device) -> str:
    """The device as an option: its name in the table, or its size."""
    if (table := known(device.name)) is not None:
        return table.name
    units = {"GiB": 2**30, "GB": 10**9, "MiB": 2**20, "MB": 10**6}
    unit = next((unit for unit, size in units.items() if device.nbytes % size == 0), "MB")
    return f"{device.nbytes // units[unit]}{unit}"


def _known_or_sized(text: str) -> Device:
    if (device := known(text)) is not None:
        return device
    if len(text) > 2 and (named := [name for name in DEVICES if text in re.findall(r"\d+", name)]):
        raise UsageError(f"no device is called {text!r}: did you mean {', '.join(named[:3])}?")
    if re.fullmatch(r"[\d.]{1,9}", text):
        raise UsageError(f"{text!r} is a device's memory without its unit: {text}GB?")
    if (nbytes := written(text, BYTES)) is None:
        from difflib import get_close_matches

        near = get_close_matches(text.lower(), DEVICES, 3, 0.5)
        hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(DEVICES)}"
        raise UsageError(f"no device is called {text!r:.40}: {hint}; a size such as 24GiB does as well")
    if not nbytes:
        raise UsageError(f"{text!r:.40}: a device without memory")
    return Device(re.sub("[a-z]+$", _unit, text, flags=re.I), nbytes)


def _unit(letters: re.Match[str]) -> str:
    """`gb` as people read it: GB."""
    unit = letters[0].lower()
    return f"{unit[0].upper()}{'iB' if len(unit) == 1 or 'i' in unit else 'B'}" if unit != "b" else "B"
