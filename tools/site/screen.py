"""docs/screen.svg: the README's picture of `inspect llama-7b`, made by rich from what the command prints on a terminal.

    python tools/site/screen.py       writes it: `make screen`

A terminal of 80 columns, with colours; text stays text, and the picture asks no server for a font.
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "screen.svg"
TARGET = "llama-7b"
WIDTH, HEIGHT = 80, 24


def printed(folder: Path) -> str:
    """What `inspect llama-7b` prints in a folder on a terminal of this size, with its colour codes."""
    master, slave = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(WIDTH), "LINES": str(HEIGHT), "TERM": "xterm-256color", "NO_COLOR": ""}
    command = [sys.executable, "-m", "inspector", TARGET]
    with subprocess.Popen(command, stdout=slave, cwd=folder, env={**environment, "PYTHONPATH": str(ROOT)}) as running:
        os.close(slave)
        parts = []
        while part := _read(master):
            parts.append(part)
        running.wait()
    os.close(master)
    return b"".join(parts).decode().replace("\r\n", "\n")


def _read(master: int) -> bytes:
    try:
        return os.read(master, 1 << 16)
    except OSError:  # Linux reports the end of a terminal as an error
        return b""


def picture(screen: str) -> str:
    """The screen as SVG, below the command that was typed."""
    from rich.console import Console
    from rich.terminal_theme import MONOKAI
    from rich.text import Text

    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ inspect {TARGET}", "bold"))
    console.print(Text.from_ansi(screen.rstrip("\n")), soft_wrap=True)
    made = console.export_svg(title="checkpoint-inspector", theme=MONOKAI, unique_id="screen")
    # No font from a server: what the reader's browser has instead.
    made = re.sub(r"\s*@font-face \{.*?\}", "", made, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in made.split("\n")) + "\n"


def words(svg: str) -> list[str]:
    """The words in a picture, in their order."""
    from html import unescape

    texts = re.findall(r"<text[^>]*>(.*?)</text>", svg)
    return unescape(" ".join(texts)).replace("\xa0", " ").split()


def fresh() -> str:
    """The picture as it should be."""
    sys.path[:0] = [str(ROOT / "fixtures")]
    import sparse

    with tempfile.TemporaryDirectory() as folder:
        sparse.make(sparse.load(TARGET), Path(folder) / TARGET)
        return picture(printed(Path(folder)))


if __name__ == "__main__":
    PICTURE.write_text(fresh(), encoding="utf-8")
    print(PICTURE)
