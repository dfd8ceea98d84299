"""The time until `inspect browse` shows its first screen, and until it shows the tree of 45,395 tensors.

    python benchmarks/browse.py [RUNS]

Measured from the start of the process to the bytes that reach a pseudo-terminal of 80 × 24: the screen with its title,
then the tree. Besides the wall time there is the processor's, which other work on the machine changes less. Medians.
"""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures"))
sys.path.insert(0, str(Path(__file__).parent))
import sparse
from overview import BIN, deepseek_v3

#: Text on the screen at that moment → its name in the table.
MOMENTS = {b"reading headers": "first screen", b"feed_forward": "tree"}


def run(path: Path) -> dict[str, tuple[float, float]]:
    """Moment → wall and processor seconds since the process started."""
    began, reported, shown = time.monotonic(), dict[str, tuple[float, float]](), b""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(BIN / "inspect", ["inspect", "browse", str(path)], {**os.environ, "TERM": "xterm-256color"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    while len(reported) < len(MOMENTS):
        shown += os.read(terminal, 1 << 16)
        for mark, name in MOMENTS.items():
            if mark in shown and name not in reported:
                reported[name] = (time.monotonic() - began, processor(pid))
    os.write(terminal, b"q")
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:  # the terminal has closed
        pass
    os.waitpid(pid, 0)
    return reported


def processor(pid: int) -> float:
    """Seconds of processor time of a process, as counted by Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deepseek-v3.safetensors"
        sparse.write_safetensors(path, deepseek_v3(), {"format": "pt"})
        times = [run(path) for _ in range(runs)]
    print(f"{'45,395 tensors':16}{'wall':>8}{'processor':>11}   median of {runs}, least")
    for name in MOMENTS.values():
        wall, cpu = zip(*(each[name] for each in times), strict=True)
        print(f"{name:16}{median(wall):7.2f}s{median(cpu):10.2f}s   {min(wall):.2f} s, {min(cpu):.2f} s")


if __name__ == "__main__":
    main()
