"""Devices that people ask about: their memory and its bandwidth, from the vendors' data sheets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from inspector.errors import UsageError

GIB = 2**30


class Device(NamedTuple):
    """One device."""

    name: str
    nbytes: int
    bandwidth: int | None = None  # bytes a second; None where it is not known


#: Name, memory in GiB, bandwidth in GB/s, the vendor's page that says so. Vendors write GB for GiB of device memory.
_SHEETS = """
rtx-3060      12   360  nvidia.com/geforce/graphics-cards/30-series/rtx-3060-3060ti
rtx-3070       8   448  nvidia.com/geforce/graphics-cards/30-series/rtx-3070-3070ti
rtx-3080      10   760  nvidia.com/geforce/graphics-cards/30-series/rtx-3080-3080ti
rtx-3090      24   936  nvidia.com/geforce/graphics-cards/30-series/rtx-3090-3090ti
rtx-4060       8   272  nvidia.com/geforce/graphics-cards/40-series/rtx-4060-4060ti
rtx-4060-ti   16   288  nvidia.com/geforce/graphics-cards/40-series/rtx-4060-4060ti
rtx-4070      12   504  nvidia.com/geforce/graphics-cards/40-series/rtx-4070-family
rtx-4070-ti-super 16 672 nvidia.com/geforce/graphics-cards/40-series/rtx-4070-family
rtx-4080      16   716  nvidia.com/geforce/graphics-cards/40-series/rtx-4080-family
rtx-4090      24  1008  nvidia.com/geforce/graphics-cards/40-series/rtx-4090
rtx-5060-ti   16   448  nvidia.com/geforce/graphics-cards/50-series/rtx-5060-family
rtx-5070      12   672  nvidia.com/geforce/graphics-cards/50-series/rtx-5070-family
rtx-5070-ti   16   896  nvidia.com/geforce/graphics-cards/50-series/rtx-5070-family
rtx-5080      16   960  nvidia.com/geforce/graphics-cards/50-series/rtx-5080
rtx-5090      32  1792  nvidia.com/geforce/graphics-cards/50-series/rtx-5090
rtx-a6000     48   768  nvidia.com/design-visualization/rtx-a6000
rtx-6000-ada  48   960  nvidia.com/design-visualization/rtx-6000
rtx-pro-6000  96  1792  nvidia.com/products/workstations/professional-desktop-gpus/rtx-pro-6000
t4            16   320  nvidia.com/data-center/tesla-t4
v100          32   900  nvidia.com/data-center/v100
a10           24   600  nvidia.com/data-center/products/a10-gpu
a10g          24   600  aws.amazon.com/ec2/instance-types/g5
a40           48   696  nvidia.com/data-center/a40
a100-40gb     40  1555  nvidia.com/data-center/a100
a100          80  2039  nvidia.com/data-center/a100
l4            24   300  nvidia.com/data-center/l4
l40s          48   864  nvidia.com/data-center/l40s
h100          80  3350  nvidia.com/data-center/h100
h100-pcie     80  2000  nvidia.com/data-center/h100
h100-nvl      94  3900  nvidia.com/data-center/h100
h200         141  4800  nvidia.com/data-center/h200
b200         180  8000  nvidia.com/data-center/dgx-b200
mi250x       128  3276  amd.com/products/accelerators/instinct/mi200/mi250x
mi300x       192  5300  amd.com/products/accelerators/instinct/mi300/mi300x
mi325x       256  6000  amd.com/products/accelerators/instinct/mi300/mi325x
mi355x       288  8000  amd.com/products/accelerators/instinct/mi350/mi355x
rx-7900-xtx   24   960  amd.com/products/graphics/desktops/radeon/7000-series/amd-radeon-rx-7900xtx
arc-b580      12   456  intel.com/products/sku/241598
gaudi-3      128  3700  intel.com/products/details/processors/ai-accelerators/gaudi3
"""

#: Device → the page that its figures are from.
SOURCES = {line.split()[0]: line.split()[3] for line in _SHEETS.strip().splitlines()}
DEVICES = {
    name: Device(name, int(gib) * GIB, int(rate) * 10**9)
    for name, gib, rate, _ in (line.split() for line in _SHEETS.strip().splitlines())
}

#: More devices than this are no machine's.
MOST = 4096
_TIMES = re.compile(r"(?:(\d{1,4})\s*[x×*]\s*)?(.+)")
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*(G|GB|GiB|M|MB|MiB|T|TB|TiB)", re.IGNORECASE)
_UNITS = {
    "g": 2**30,
    "gib": 2**30,
    "gb": 10**9,
    "m": 2**20,
    "mib": 2**20,
    "mb": 10**6,
    "t": 2**40,
    "tib": 2**40,
    "tb": 10**12,
}


def devices(text: str) -> tuple[Device, ...]:
    """`2x24GiB`, `rtx-4090`, `4xh100`, `h100,l4`: the devices that are meant. Raises UsageError."""
    found = tuple(each for part in text.split(",") for each in _devices(part.strip()))
    if not 0 < len(found) <= MOST:
        raise UsageError(f"{text!r:.60} are {len(found)} devices: 1 to {MOST} may be given")
    return found


def _devices(text: str) -> Iterator[Device]:
    match = _TIMES.fullmatch(text)
    times, name = (int(match[1] or 1), match[2].strip()) if match else (1, text)
    yield from (_device(name) for _ in range(min(times, MOST + 1)))


def _device(text: str) -> Device:
    name = re.sub(r"[\s_]+", "-", text.lower())
    for each in (name, name.removeprefix("nvidia-"), name.removeprefix("amd-"), re.sub(r"^rtx(?=\d)", "rtx-", name)):
        if each in DEVICES:
            return DEVICES[each]
    size = _SIZE.fullmatch(text)
    if size is None:
        from difflib import get_close_matches

        near = get_close_matches(name, DEVICES, 3, 0.5)
        hint = f"did you mean {', '.join(near)}?" if near else f"known are {', '.join(DEVICES)}"
        raise UsageError(f"no device is called {text!r:.40}: {hint}; a size such as 24GiB does as well")
    whole, _, part = size[1].partition(".")
    thousandths = int(whole) * 1000 + int(part.ljust(3, "0") or 0)
    return Device(text, thousandths * _UNITS[size[2].lower()] // 1000)
