"""The devices of this machine: graphics processors as their drivers report them, and the memory.

`nvidia-ml-py` (NVIDIA), `pyobjc-framework-Metal` (Apple) and `psutil` (the memory on Windows) are asked where they are
installed: the extra `devices` has them. Without them, Linux itself says which NVIDIA devices there are, how much memory
AMD's have, and how much the machine has.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from inspector.sizing.devices import MEMORY, MOST, Device, known

#: Where Linux describes NVIDIA's devices and others', and where a container's limits are: cgroups 2 and 1.
NVIDIA, CARDS = "proc/driver/nvidia/gpus", "sys/class/drm"
LIMITS = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")
#: AMD's vendor number in the list of PCI devices.
_AMD = "0x1002"


def found(root: str = "/") -> tuple[Device, ...]:
    """The graphics processors of this machine, then its memory; empty if neither can be found.

    Args:
        root: where `proc` and `sys` are.
    """
    graphics = [*_nvidia(Path(root)), *_amd(Path(root)), *_metal()]
    memory = _memory(Path(root))
    return (*graphics[:MOST], *((Device(MEMORY, memory),) if memory else ()))


def here() -> tuple[Device, ...]:
    """What a model would run on: all graphics processors together, or the memory if there are none."""
    devices = found()
    return tuple(each for each in devices if each.name != MEMORY) or devices


def _nvidia(root: Path) -> Iterator[Device]:
    """By NVML, which a process limits to some devices with CUDA_VISIBLE_DEVICES; or, by their names, from our table."""
    chosen = _chosen(os.environ.get("CUDA_VISIBLE_DEVICES"))
    folder = root / NVIDIA
    if not folder.is_dir() and sys.platform.startswith("linux"):
        return  # no driver: the import of its library would be for nothing
    devices: tuple[Device | None, ...] = _by_nvml() or tuple(_by_name(folder))
    yield from (each for number, each in enumerate(devices) if each and (chosen is None or number in chosen))


def _by_nvml() -> tuple[Device, ...]:
    """Their names and memory as `nvidia-smi` shows them; empty without the library or a driver that answers."""
    found: list[Device] = []
    with suppress(Exception):  # ImportError, or one of the library's own
        import pynvml  # type: ignore[import-not-found, import-untyped, unused-ignore]

        pynvml.nvmlInit()
        for number in range(min(pynvml.nvmlDeviceGetCount(), MOST)):
            handle = pynvml.nvmlDeviceGetHandleByIndex(number)
            name = pynvml.nvmlDeviceGetName(handle)
            text = name.decode() if isinstance(name, bytes) else str(name)
            found.append(_named(text, int(pynvml.nvmlDeviceGetMemoryInfo(handle).total)))
    return tuple(found)


def _by_name(folder: Path) -> Iterator[Device | None]:
    """What the driver's own files name, with our table's memory; None for one that is not in it."""
    with suppress(OSError):
        for each in sorted(folder.iterdir()):
            lines = (each / "information").read_text().splitlines()
            yield known(next((line.partition(":")[2] for line in lines if line.startswith("Model:")), ""))


def _chosen(text: str | None) -> frozenset[int] | None:
    """The devices in CUDA_VISIBLE_DEVICES; None if it is not set, or names them otherwise than by numbers."""
    if text is None:
        return None
    with suppress(ValueError):
        return frozenset(int(each) for each in text.split(",") if each.strip())
    return None


def _named(name: str, nbytes: int) -> Device:
    """A device with its own memory, and its bandwidth if the table has it."""
    table = known(name)
    return Device(name, nbytes, table.bandwidth if table else None)


def _amd(root: Path) -> Iterator[Device]:
    """The kernel's `mem_info_vram_total`: https://docs.kernel.org/gpu/amdgpu/driver-misc.html."""
    for card in sorted((root / CARDS).glob("card[0-9]*/device/mem_info_vram_total")):
        with suppress(OSError, ValueError):
            if (card.parent / "vendor").read_text().strip() == _AMD:
                name = ""
                with suppress(OSError):
                    name = (card.parent / "product_name").read_text().strip()
                yield _named(name or "AMD graphics", int(card.read_text()))


def _metal() -> Iterator[Device]:
    """What Metal recommends to use at most of a Mac's memory, which the processors share."""
    if str(sys.platform) == "darwin":
        with suppress(Exception):  # without the package, or without Metal
            import Metal  # type: ignore[import-not-found, import-untyped, unused-ignore]

            device = Metal.MTLCreateSystemDefaultDevice()
            yield Device(str(device.name()), int(device.recommendedMaxWorkingSetSize()))


def _memory(root: Path) -> int | None:
    """Bytes of the machine's memory, or of the part that this process may use."""
    bounds = [] if (total := _total(root)) is None else [total]
    for limit in LIMITS:
        with suppress(OSError, ValueError):  # "max" is no number
            bounds.append(int((root / limit).read_text()))
    return min(bounds, default=None)


def _total(root: Path) -> int | None:
    total = None
    with suppress(OSError, ValueError, IndexError):
        lines = (root / "proc/meminfo").read_text().splitlines()
        total = next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemTotal:")), None)
    if total is None and root == Path("/"):
        with suppress(AttributeError, OSError, ValueError):  # Windows has no sysconf
            total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if total is None and root == Path("/"):
        with suppress(ImportError):
            import psutil  # type: ignore[import-not-found, import-untyped, unused-ignore]

            total = int(psutil.virtual_memory().total)
    return total
