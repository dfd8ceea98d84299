"""`inspect browse`: the screen after each key, by Textual's own pilot and on a pseudo-terminal."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import pty
import re
import socket
import struct
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event, Thread

import pytest
from conftest import Ran, write

import inspector

pytest.importorskip("textual")
fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")

from inspector.browsing.app import Browser  # noqa: E402  textual may be missing
from inspector.browsing.contents import Models  # noqa: E402
from inspector.cli.browse import loaded  # noqa: E402

Made = Callable[[str], Path]


def screens(
    targets: tuple[str, ...], *strokes: str, size: tuple[int, int] = (80, 24), **opening: object
) -> list[list[str]]:
    """The screen's lines at first, and after each group of keys: `down down right`, or `/ q_proj`."""

    async def pressed() -> list[list[str]]:
        app = Browser(partial(loaded, targets, opening), targets[0])
        shown = []
        async with app.run_test(size=size) as pilot:
            for group in ("", *strokes):
                await pilot.press(*group.split())
                await pilot.pause()
                while app.content is None or app.jobs:
                    await pilot.pause(0.005)
                await pilot.pause()
                drawn = asyncio.Event()
                app.screen.call_after_refresh(drawn.set)  # a pause ends early on a busy machine
                await drawn.wait()
                await pilot.pause()
                shown.append(
                    ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]
                )
        assert app.failure is None
        return shown

    return asyncio.run(pressed())


def text(screen: list[str]) -> str:
    return "\n".join(line.rstrip() for line in screen)


def letters(word: str) -> str:
    """The keys that type a word."""
    names = {".": "full_stop", "_": "underscore", " ": "space", "*": "asterisk", "[": "left_square_bracket"}
    return " ".join(names.get(letter, letter) for letter in word)


def test_the_first_screen_is_the_groups_of_the_files(made: Made) -> None:
    """The numbers are those of the overview: 32 × 4 projections of 33,554,432 bytes are 4.29 GB."""
    (first,) = screens((str(made("llama-7b")),))
    shown = text(first)
    assert "6.74B parameters, F16, 323 tensors, 13.48 GB" in shown
    assert re.search(r"\+ attention +128 +4\.29 GB +F16", shown)
    assert re.search(r"\+ norm +65 +532\.48 kB +F16", shown)
    assert "q quit" in first[-1]


def nothing() -> Models:
    """A folder without models: the least that can be shown."""
    return Models("nothing", [], lambda _: lambda _: nothing())


def test_an_exit_while_a_thread_works_is_quiet() -> None:
    """Its answer comes after the event loop is closed; an error there would be printed over the user's shell."""
    leave, ended = Event(), []
    models = nothing()

    def slow(_: object) -> Models:
        leave.wait(60)
        ended.append(True)
        return models

    async def left() -> set[Thread]:
        app = Browser(slow, "model")
        async with app.run_test() as pilot:
            await pilot.pause()
            return set(app.jobs)

    (job,) = asyncio.run(left())
    leave.set()
    job.join(60)
    assert ended and not job.is_alive()


def test_branches_open_and_close_by_the_arrows(made: Made) -> None:
    """attention › q_proj › a tensor, whose formula, file and bytes are shown; and back."""
    shown = [
        text(each)
        for each in screens((str(made("llama-7b")),), "down right", "down down down right down", "left left left left")
    ]
    assert re.search(r"- attention +128(?:.*\n){3} ├ \+ q_proj +32 +1\.07 GB", shown[1])
    assert "name       model.layers.0.self_attn.q_proj.weight" in shown[2]
    assert "predicted  num_attention_heads·head_dim × hidden_size = 32·128 × 4096" in shown[2]
    assert "bytes      33,554,432 (33.55 MB, 32.00 MiB)" in shown[2]
    assert "+ attention" in shown[3]


def test_details_name_the_file_and_the_offset(made: Made) -> None:
    """They agree with `inspect tensors`; on a large screen nothing needs scrolling."""
    result = inspector.reconcile(inspector.open(made("llama-7b")))
    each = next(one for one in result.tensors if one.tensor.name == "model.layers.0.self_attn.q_proj.weight")
    shown = text(screens((str(made("llama-7b")),), "down right down down down right down", size=(120, 40))[-1])
    assert f"offset     {each.tensor.offset:,}" in shown
    assert f"file       {each.file}" in shown


def test_layers_instead_of_roles(made: Made) -> None:
    """`l` sorts the tree by layer: 10 tensors in each, 3 outside. A layer has 202,383,360 parameters, `inv_freq` 64."""
    shown = text(screens((str(made("llama-7b")),), "l", "l down", size=(80, 30))[1])
    assert re.search(r"outside the layers +3 +", shown)
    assert re.search(r"\+ layer 31? +10 +404\.77 MB", shown)


WANTED = {
    "q_proj": 32,  # a part of a name, and a role
    "attention": 160,  # a group of 128, and 32 × post_attention_layernorm
    "layer 3": 10,
    "norm layer 3": 2,
    "*.7.mlp.*": 3,
    "lm_head": 1,
    "nothing": 0,
}


def test_a_search_finds_by_name_role_group_and_layer(made: Made) -> None:
    """Matches are updated with every letter; escape shows all again."""
    strokes = [keys for wanted in WANTED for keys in (f"slash {letters(wanted)}", "escape")]
    shown = [text(screen) for screen in screens((str(made("llama-7b")),), *strokes)[1:]]
    for number, found, after in zip(WANTED.values(), shown[::2], shown[1::2], strict=True):
        assert f" {number} found" in found
        assert "323 tensors" in after


@pytest.mark.gate
def test_of_many_matches_the_first_are_shown(made: Made) -> None:
    """All are counted: 59 layers of 256 experts with 3 weights and their scales are 90,624, shared ones 354."""
    shown = text(screens((str(made("deepseek-v3-fp8")),), f"slash {letters('exp')}")[1])
    assert "90,978 found, the first 500 shown" in shown


def test_values_are_read_when_asked_for(tmp_path: Path) -> None:
    """Two values, 1 and −3, whose mean is −1."""
    file = write(tmp_path / "m.safetensors", {"a.weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, 0)
    file.write_bytes(file.read_bytes() + struct.pack("<2f", 1, -3))
    shown = text(screens((str(file),), "v", size=(120, 40))[-1])
    assert re.search(r"min +−3\n", shown) or re.search(r"min +−3 *", shown)
    assert re.search(r"mean +−1", shown)


def test_two_targets_are_compared(made: Made) -> None:
    """Q4_K_M keeps norms in 32 bits, which is another dtype. Only the GGUF has `rope_freqs`."""
    targets = (str(made("llama-3.1-8b")), str(made("llama-3.1-8b-q4_k_m")))
    shown = [text(each) for each in screens(targets, f"slash {letters('rope')}", size=(120, 40))]
    assert re.search(r"\+ norm +65 differ +532\.48 kB +1\.06 MB", shown[0])
    assert "1 found" in shown[1]
    assert "a          has no such tensor" in shown[1]


def test_equal_tensors_are_hidden_until_asked_for(tmp_path: Path) -> None:
    """The key `d` shows equal tensors; `v` compares the values, 1 and 2, of one pair."""
    entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    for name, dtype, value in (("a", "F32", struct.pack("<f", 1)), ("b", "BF16", struct.pack("<f", 2)[2:])):
        header = {"same.weight": entry, "other.weight": {**entry, "dtype": dtype, "data_offsets": [4, 4 + len(value)]}}
        file = write(tmp_path / f"{name}.safetensors", header)
        file.write_bytes(file.read_bytes() + struct.pack("<f", 7) + value)
    targets = tuple(str(tmp_path / f"{name}.safetensors") for name in "ab")
    first, both, compared = map(text, screens(targets, "d", f"slash {letters('other.')} enter v", size=(120, 40)))
    assert ("other.weight" in first, "same.weight" in first) == (True, False)
    assert "same.weight" in both
    assert "different" in compared


def test_an_adapter_is_shown_on_its_base(made: Made) -> None:
    """Of rank 8 for a model of width 256, beside one of 4096: 12 tensors change 6 weights, and none fits."""
    first, opened = screens((str(made("llama-7b")), str(made("lora"))), "right right right right")
    shown = text(first)
    assert "lora on llama-7b" in shown
    assert "6 weights changed, 26,624 parameters added, 12 tensors that do not fit" in shown
    assert re.search(r"down_proj +4 tensors +2 weights +4 no", shown)
    assert re.search(r"8×512 +4096×11008 +no", text(opened))
    assert "expected 8×11008" in text(opened)


def test_a_folder_of_models_lists_them(made: Made) -> None:
    """Enter opens a model, backspace comes back."""
    folder = made("gpt2").parent / "several"
    for name in ("gpt2", "llama-7b"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for file in made(name).iterdir():
            if not (folder / name / file.name).exists():
                (folder / name / file.name).hardlink_to(file)
    first, opened, back = map(text, screens((str(folder),), "down enter", "backspace"))
    assert "2 models; enter opens one" in first
    assert "6.74B parameters" in opened
    assert "2 models; enter opens one" in back


def test_an_index_alone_lists_names(tmp_path: Path, made: Made) -> None:
    """An index does not state sizes."""
    (tmp_path / "model.safetensors.index.json").write_bytes(
        (made("llama-7b") / "model.safetensors.index.json").read_bytes()
    )
    shown = text(screens((str(tmp_path / "model.safetensors.index.json"),))[0])
    assert "an index without its files: 323 tensors, names without sizes" in shown
    assert re.search(r"\+ attention +128", shown)


HOSTILE = "[red]a[/red]\x1b[31m\u202eb\n.weight[link=x]"


def test_names_from_files_are_text(tmp_path: Path) -> None:
    """No markup, no control character, and no bidirectional mark, in any panel."""
    entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    other = {**entry, "data_offsets": [4, 8]}
    file = write(tmp_path / "[bold]x\x1b.safetensors", {HOSTILE: entry, HOSTILE + "2": other}, 8)
    for screen in screens((str(file),), "down", "l", f"slash {letters('[')}", "escape v"):
        shown = "".join(screen)
        assert "[red]a" in shown or "[link=x]" in shown
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e]", shown)


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (120, 40), (200, 60)])
def test_every_size_has_the_tree_and_the_keys(size: tuple[int, int], made: Made) -> None:
    """Lines are as wide as the screen, and show a tree and how to leave."""
    shown = screens((str(made("llama-7b")),), "down right", size=size)[-1]
    assert {len(line) for line in shown} == {size[0]}
    assert "- attention" in text(shown)


# --- on a terminal --------------------------------------------------------------------------------


def on_terminal(*arguments: object, keys: str, until: str = "feed_forward", **environment: str) -> tuple[int, str]:
    """The exit code and all output to a terminal of 80 × 24, where `keys` are pressed once `until` is shown."""
    pid, master = pty.fork()
    if pid == 0:  # pragma: no cover
        os.execve(
            sys.executable,
            [sys.executable, "-m", "inspector", "browse", *map(str, arguments)],
            {**os.environ, "TERM": "xterm-256color", **environment},
        )
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    shown, pressed = b"", False
    try:
        while data := os.read(master, 1 << 16):
            shown += data
            if not pressed and until.encode() in shown:
                os.write(master, keys.encode())
                pressed = True
    except OSError:  # Linux's error for a closed other end
        pass
    _, status = os.waitpid(pid, 0)
    os.close(master)
    return os.waitstatus_to_exitcode(status), shown.decode(errors="replace")


@pytest.mark.parametrize("keys", ["q", "\x03"])
def test_leaving_is_clean(keys: str, made: Made) -> None:
    """By q or Ctrl-C: exit code 0, the terminal's own screen and cursor are restored, no traceback."""
    code, shown = on_terminal(made("llama-7b"), keys=keys)
    assert code == 0
    assert "\x1b[?1049l" in shown
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")
    assert "Traceback" not in shown


def test_leaving_waits_for_no_server(tmp_path: Path) -> None:
    """The headers of a server that does not answer are still awaited when q is pressed."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x.gguf"
        code, shown = on_terminal(url, keys="q", until="reading headers")
    assert (code, "Traceback" in shown) == (0, False)
    assert time.monotonic() - began < 55  # requests are given up after a minute


def test_nothing_needs_a_colour(made: Made) -> None:
    """With NO_COLOR no escape sequence sets a colour."""
    code, shown = on_terminal(made("llama-7b"), keys="q", NO_COLOR="1")
    colours = [
        each
        for each in re.findall(r"\x1b\[([0-9;]*)m", shown)
        if re.search(r"(?:^|;)(?:[349][0-7]|[34]8)(?:;|$)", each)
    ]
    assert (code, colours) == (0, [])


def test_an_unreadable_target_is_one_line_on_the_own_screen(tmp_path: Path) -> None:
    """The line is on the terminal's own screen, with exit code 2."""
    (tmp_path / "x.safetensors").write_bytes(b"<html>")
    code, shown = on_terminal(tmp_path / "x.safetensors", keys="", until="never")
    assert code == 2
    after = shown.rpartition("\x1b[?1049l")[2]
    assert "inspect: x.safetensors" in after or "inspect: " in after
    assert "Traceback" not in shown


def test_not_a_terminal_is_one_line(inspect: Callable[..., Ran], made: Made) -> None:
    """A pipe has no keys, which is an error in one line."""
    ran = inspect("browse", made("llama-7b"))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "browse needs a terminal" in ran.err


def test_without_textual_it_says_what_to_install(
    inspect: Callable[..., Ran], made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is one line."""
    known = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "textual" else known(name))
    monkeypatch.setattr("inspector.cli.browse.is_terminal", lambda: True)
    ran = inspect("browse", made("llama-7b"))
    assert (ran.code, ran.out) == (2, "")
    assert re.fullmatch(r"inspect: browsing needs Textual: `.+ install .*'textual>=6'`\n", ran.err)


UNRULY = (
    *(
        "\x1b[31mred",
        "\x1b]52;c;aGk=\x07",
        "\u202egnp",
        "[red]x[/red]",
        "[@click=app.quit]q[/]",
        "[/",
        "a\nb",
        "a\x08b",
    ),
    *("wide\uff37", "e" + "\u0301" * 50, "{{7*7}}", "\x9b2J", "x" * 3_000),
)


def test_names_are_not_markup(tmp_path: Path) -> None:
    """Names, dtypes and files contain neither terminal codes nor Textual's markup."""
    entries = {
        name: {"dtype": "U8" if at else UNRULY[0], "shape": [1], "data_offsets": [at, at + 1]}
        for at, name in enumerate(UNRULY)
    }
    model = write(tmp_path / "[red]\x1b[31m.safetensors", entries, len(UNRULY))
    plain = write(
        tmp_path / "b.safetensors", {name: {**each, "dtype": "U8"} for name, each in entries.items()}, len(UNRULY)
    )
    for targets, reported in (((str(model),), "[red]x[/red]"), ((str(model), str(plain)), r"1 \x1b[31mred, 1 byte")):
        shown = screens(targets, "down right", "down down", "down down down", "enter", size=(120, 40))
        lines = [line for screen in shown for line in screen]
        assert not [line for line in lines if re.search("[\x00-\x1f\x7f-\x9f\u202e]", line)]
        assert any(reported in line for line in lines)
