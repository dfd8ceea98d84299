"""Output on a terminal: lines that fit, colours if they are wanted, signs if they can be encoded."""

from __future__ import annotations

import io
import os
import pty
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.cli.console import tell
from inspector.cli.terminal import encodable, painted, screen, set_colour
from inspector.report.columns import text_width

Made = Callable[[str], Path]
#: Widths other than the usual one.
OTHERS = {columns: pytest.param(columns, marks=pytest.mark.gate) for columns in (60, 100, 120)}
fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")


def on_terminal(
    columns: int, *arguments: object, program: tuple[str, ...] = ("-m", "inspector"), **environment: str
) -> str:
    """The output of the command, or of another program of Python, on a terminal of this many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, *program, *map(str, arguments)]
    clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        command, stdout=slave, stderr=slave, env={**clean, "TERM": "xterm", **environment}
    ) as process:
        os.close(slave)
        shown = b""
        try:
            while data := os.read(master, 1 << 16):
                shown += data
        except OSError:  # Linux's error for a closed other end
            pass
        assert process.wait() in (0, 1)  # an audit or a comparison with findings
    os.close(master)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [80, OTHERS[100], OTHERS[120]])
@pytest.mark.parametrize(
    "recipe", ["llama-7b", "llama-3.3-70b-w4a16", "mistral-7b-instruct-v0.2-q4_k_m", "deepseek-v3-fp8", "unheard-of"]
)
def test_the_overview_fits(columns: int, recipe: str, made: Made) -> None:
    """No line is wider than the terminal, and every number of the bridge is there."""
    shown = on_terminal(columns, made(recipe), "--full", NO_COLOR="1").splitlines()
    assert max(map(text_width, shown)) <= columns
    assert any(line.endswith("on disk") or "  on disk" in line for line in shown)


@pytest.mark.parametrize("columns", [80, OTHERS[60], OTHERS[120]])
@pytest.mark.parametrize(
    "arguments",
    [
        ("predict", "llama-7b", "--tensors"),
        ("predict", "{real}/config/intel+intel-extension-for-pytorch__tests__cpu__stable-difusion-config__runwayml__stable-diffusion-v1-5__config.json"),
        ("tensors", "{gpt2}"),
        ("architectures", "llama"),
        ("architectures", "--roles"),
        ("metadata", "{gguf}"),
        ("memory", "llama-3.1-8b", "--sweep"),
        ("diff", "{gpt2}", "{gguf}"),
        ("audit", "{strange}"),
        ("audit", "--rules"),
        ("{gpt2}", "--layers", "--tensors"),
    ],
    ids=lambda arguments: " ".join(arguments[:2])[:40],
)  # fmt: skip
def test_every_command_fits(columns: int, arguments: tuple[str, ...], made: Made, tmp_path: Path) -> None:
    """A table's columns shrink, sentences fold; a U-Net's formulas have 5,000 characters."""
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "model.safetensors").hardlink_to(made("gpt2") / "model.safetensors")
    (strange / "config.json").write_bytes((made("llama-7b") / "config.json").read_bytes())
    places = {
        "real": Path(__file__).parents[1] / "fixtures" / "real",
        "gpt2": made("gpt2"),
        "gguf": made("llama-3.2-1b-q8_0"),
        "strange": strange,
    }
    shown = on_terminal(columns, *(each.format(**places) for each in arguments), NO_COLOR="1").splitlines()
    assert len(shown) > 3
    assert max(map(text_width, shown)) <= columns


def test_no_word_of_a_finding_is_lost(made: Made, tmp_path: Path) -> None:
    """On a narrow terminal the whole message is below its place."""
    (tmp_path / "model.safetensors").hardlink_to(made("gpt2") / "model.safetensors")
    (tmp_path / "config.json").write_bytes((made("llama-7b") / "config.json").read_bytes())
    shown = " ".join(on_terminal(60, "audit", "--full", tmp_path, NO_COLOR="1").split())
    assert "62 of 62 tensors differ in size from what the configuration predicts" in shown
    assert "and 11 tensors like it" in shown


def test_wide_shows_whole_lines(made: Made) -> None:
    """The lines are those of a pipe."""
    assert "num_attention_heads·head_dim × hidden_size" in on_terminal(80, made("llama-7b"), "--full", "--wide")
    assert "num_attention_heads·head_dim × hidden_size" not in on_terminal(80, made("llama-7b"), "--full")


def test_colours_are_for_terminals_that_want_them(made: Made) -> None:
    """The title is bold; NO_COLOR and a dumb terminal turn that off."""
    assert on_terminal(80, made("llama-7b")).startswith("\x1b[1mllama-7b\x1b[0m\n")
    assert "\x1b" not in on_terminal(80, made("llama-7b"), NO_COLOR="1")
    assert "\x1b" not in on_terminal(80, made("llama-7b"), TERM="dumb")


def test_severities_have_colours() -> None:
    """Only where a line begins with one."""
    assert painted("t\nerror: x") == "t\n\x1b[1;31merror\x1b[0m: x"
    assert painted("an error: x") == "an error: x"


def test_verdicts_have_colours() -> None:
    """Green, yellow and red, of words at their places; a bar is one, a name with the same letters is not."""
    words = {
        "complete": "32",
        "fits": "32",
        "incomplete": "33",
        "unverified": "33",
        "damaged": "31",
        "does not fit": "31",
    }
    for word, colour in words.items():
        assert painted(f"{word}: 1 GB") == f"\x1b[1;{colour}m{word}\x1b[0m: 1 GB"
        assert painted(f"{word}ness of complete things") == f"{word}ness of complete things"
    assert painted("llama  13.48 GB  complete") == "llama  13.48 GB  \x1b[32mcomplete\x1b[0m"
    assert painted("llama  13.48 GB  damaged: 1 error") == "llama  13.48 GB  \x1b[31mdamaged\x1b[0m: 1 error"
    assert painted("model.onnx  50.00 kB  not read") == "model.onnx  50.00 kB  \x1b[33mnot read\x1b[0m"
    assert painted("up  65 % ███▌") == "up  65 %\x1b[36m ███▌\x1b[0m"


def test_color_is_asked_for(inspect: Callable[..., Any], made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--color` anywhere in any command comes before NO_COLOR; a pipe gets none by itself."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b" not in inspect(made("gpt2"), "--color", "auto").out
    assert inspect("--color=always", made("gpt2")).out.startswith("\x1b[1mgpt2\x1b[0m\n")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert screen().colour
    assert "\x1b" not in inspect(made("gpt2"), "--color", "never").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" in inspect("memory", "llama-7b", "--gpu", "l4", "--color=always").out
    assert inspect("--color", "pink", "x").err == "inspect: --color 'pink': auto, always or never\n"
    assert inspect("gpt2", "--color").err == "inspect: --color needs auto, always or never\n"
    set_colour("auto")
    assert not screen().colour


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_errors_are_folded_at_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal of 40 columns; a pipe gets one line."""
    message = "llama: no such file or folder; near it: llama-7b and many others"
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stderr", shown := Terminal())
    tell(message)
    lines = shown.getvalue().splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) <= 40
    assert " ".join(line.strip() for line in lines) == f"inspect: {message}"
    monkeypatch.setattr(sys, "stderr", piped := io.StringIO())
    tell(message)
    assert piped.getvalue() == f"inspect: {message}\n"


def test_colours_are_loaded_for_terminals_alone(made: Made) -> None:
    """A pipe waits for no package of colours."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "inspector", str(made("gpt2"))],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert " rich" not in ran.stderr


def test_no_sign_is_lost_where_an_encoding_has_none() -> None:
    """The bridge's minus is then ASCII's, and never a question mark."""
    assert encodable("−523,168,768  32 × q·k → …", "ascii") == "-523,168,768  32 x q*k -> ..."
    assert encodable("−1 × 2", "cp1252") == "-1 × 2"
    assert encodable("模", "ascii") == "?"


def test_a_redirect_in_an_old_encoding_keeps_its_signs(made: Made) -> None:
    """As in a Windows redirect or a log of continuous integration."""
    ran = subprocess.run(
        [sys.executable, "-m", "inspector", "--full", str(made("llama-7b"))],
        env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=True,
    )  # fmt: skip
    assert b"  -523,168,768  label_rounding" in ran.stdout
    assert b"?" not in ran.stdout
