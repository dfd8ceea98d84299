"""The command line: exit codes, one-line errors, and JSON that keeps its promises."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran, write
from every import every

from inspector import __main__ as main
from inspector.__main__ import COMMANDS
from inspector.architectures.data.roles import GROUPS
from inspector.cli import console

Made = Callable[[str], Path]
Inspect = Callable[..., Ran]
RECIPES = ("llama-7b", "gpt2", "mixtral-8x7b", "qwen3-0.6b", "bert-base-uncased", "llama-3.1-8b-meta")


def check_sums(document: dict[str, Any]) -> None:
    """Check the sums that hold for every result."""
    bridge = document["reconciliation"]
    start = bridge["nominal"]["bytes"] if bridge["nominal"] else bridge["predicted"] or 0
    assert start + sum(s["bytes"] for s in bridge["steps"]) + bridge["unexplained"]["bytes"] == bridge["on_disk"]
    for file in document["files"]:
        assert file["header"] + file["tensors"] + file["padding"] + file["unused"] == file["size"]
    assert sum(file["size"] for file in document["files"]) == bridge["on_disk"]
    assert sum(tensor["parameters"] for tensor in document["tensors"]) == document["parameters"]["logical"]
    assert sum(role["parameters"] for role in document["roles"]) == document["parameters"]["logical"]
    assert sum(dtype["tensors"] for dtype in document["dtypes"]) == len(document["tensors"])
    assert {role["group"] for role in document["roles"]} <= set(GROUPS)


@pytest.mark.parametrize("name", RECIPES)
def test_json_adds_up(made: Made, inspect: Inspect, name: str) -> None:
    """Files, bridge, roles and tensors sum to the same numbers."""
    ran = inspect(made(name), "--json", "--tensors")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["schema"] == "checkpoint-inspector/1"
    check_sums(ran.json)


def test_overview_shows_the_bridge(made: Made, inspect: Inspect) -> None:
    """The text has each step of the bridge and no gap."""
    out = inspect(made("llama-7b"), "--full").out
    for stated in (
        "14,000,000,000",
        "−523,168,768",
        "label_rounding",
        "+4,096",
        "+37,248",
        "13,476,872,576",
        "unexplained: 0",
    ):
        assert stated in out


def test_the_command_may_be_named(made: Made, inspect: Inspect) -> None:
    """`inspect overview X` is `inspect X`; options may come first."""
    plain = inspect(made("gpt2")).out
    assert inspect("overview", made("gpt2")).out == plain
    assert inspect("--label", "0.1B", made("gpt2")).out != plain


def test_label_is_given_or_read(made: Made, inspect: Inspect) -> None:
    """--label takes precedence over the name."""
    ran = inspect(made("llama-7b"), "--label", "6.7B", "--json")
    assert ran.json["reconciliation"]["nominal"] == {
        "label": "6.7B",
        "parameters": 6_700_000_000,
        "bits": 16,
        "bytes": 13_400_000_000,
    }
    bad = inspect(made("llama-7b"), "--label", "huge")
    assert (bad.code, bad.out) == (2, "")


def test_tensors_in_every_form(made: Made, inspect: Inspect) -> None:
    """The same tensors as text, CSV, JSON and JSON lines."""
    target = made("llama-7b")
    document = inspect("tensors", target, "--json").json
    assert len(document["tensors"]) == 323
    assert [json.loads(line) for line in inspect("tensors", target, "--jsonl").out.splitlines()] == document["tensors"]
    rows = list(csv.DictReader(io.StringIO(inspect("tensors", target, "--csv").out)))
    assert [(row["name"], int(row["bytes"])) for row in rows] == [(t["name"], t["bytes"]) for t in document["tensors"]]
    assert len(inspect("tensors", target).out.splitlines()) == 324


def test_tensors_by_pattern_and_order(made: Made, inspect: Inspect) -> None:
    """A glob, a part of a name, and orders."""
    target = made("llama-7b")
    assert len(inspect("tensors", target, "*.q_proj.weight", "--json").json["tensors"]) == 32
    assert len(inspect("tensors", target, "layers.3.", "--json").json["tensors"]) == 10
    sizes = [t["bytes"] for t in inspect("tensors", target, "--sort", "size", "--json").json["tensors"]]
    assert sizes == sorted(sizes, reverse=True)
    names = [t["name"] for t in inspect("tensors", target, "--sort", "name", "--json").json["tensors"]]
    assert names == sorted(names)


def test_predict_in_both_forms(inspect: Inspect) -> None:
    """Counts, formulas, sizes, rule of thumb, training state."""
    document = inspect("predict", "llama-7b", "--json", "--training", "--tensors").json
    conventions = document["parameters"].pop("conventions")
    assert document["parameters"] == {"predicted": 6_738_415_616, "active": 6_738_415_616, "prediction_heads": 0}
    assert {each["name"]: each["parameters"] for each in conventions} == {
        "without_embeddings": 6_738_415_616 - 2 * 32_000 * 4_096
    }
    assert document["bytes"]["F16"] == 13_476_831_232
    assert sum(role["parameters"] for role in document["roles"]) == 6_738_415_616
    assert {r["role"]: r["formula"] for r in document["roles"]}[
        "q_proj"
    ] == "num_attention_heads·head_dim × hidden_size"
    assert len(document["tensors"]) == 291
    assert document["training"]["F32"]["bytes"] == 16 * 6_738_415_616
    text = inspect("predict", "gpt2", "--label", "123550272", "--training", "--full").out
    assert "rule of thumb" in text and "optimizer state" in text and "without" in text


def test_predict_takes_a_folder_and_a_file(made: Made, inspect: Inspect) -> None:
    """A folder's configuration is read, and a file's."""
    folder = inspect("predict", made("gpt2"), "--json").json
    file = inspect("predict", made("gpt2") / "config.json", "--json").json
    assert folder["parameters"] == file["parameters"]


WRONG = [
    ("no-such-file.safetensors",),
    ("--no-such-option", "x"),
    ("tensors",),
    ("tensors", "x", "--sort", "colour"),
    ("predict", "no-such-preset"),
    ("predict",),
    ("metadata", "x", "y", "z"),
]


@pytest.mark.parametrize("arguments", WRONG)
def test_misuse_is_one_line_and_exit_code_2(inspect: Inspect, arguments: tuple[str, ...]) -> None:
    """Errors go to stderr as `inspect: …`, one line; stdout stays empty."""
    ran = inspect(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("inspect: ") and ran.err.count("\n") == 1


def test_text_from_files_is_escaped(tmp_path: Path, inspect: Inspect) -> None:
    """ESC, line breaks and bidirectional marks in names reach no terminal; JSON keeps the name."""
    name = "evil\x1b[31m\n\u202ename"
    path = write(tmp_path / "x.safetensors", {name: {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}, 1)
    for command in ((path,), ("tensors", path), ("tensors", path, "--csv")):
        out = inspect(*command).out
        assert "\x1b" not in out and "\u202e" not in out
    assert inspect(path, "--tensors", "--json").json["tensors"][0]["name"] == name


@every(("words", "meant"), {
    "--versoin": "--version", "-V": "--version", "x --fulll": "--full", "x -v": "--full", "x --colour never": "--color",
    "x --tabels d": "--tables", "memory x --contxt 4k": "--context", "memory x --vram 8GB": "--gpu",
    "quants x --quantisation nf4": None, "audit x --jsno": "--json", "audit x --xyzzy": None,
}.items())  # fmt: skip
def test_a_misspelt_option_names_the_nearest(words: str, meant: str | None, inspect: Callable[..., Ran]) -> None:
    """One name, of the command's own options and those of every command, and the help that lists them."""
    ran = inspect(*words.split())
    assert (ran.code, ran.out) == (2, "")
    assert (f"(did you mean {meant}?); see `inspect " if meant else "'; see `inspect ") in ran.err


def test_near_misses_are_helped(made: Made, inspect: Inspect) -> None:
    """A misspelt command or preset is answered with the nearest; no argument is not the current folder."""
    assert "did you mean `inspect tensors`" in inspect("tensor", made("gpt2")).err
    assert "did you mean `inspect audit`" in inspect("verify", made("gpt2"), "--json").err
    assert "did you mean the preset llama-7b" in inspect("predict", "llama7b").err
    assert "the target is empty" in inspect(" ").err
    assert "empty" in inspect("").err
    assert "inspect predict" in inspect(made("gpt2") / "config.json", "--layers").err


def test_a_lost_folder_is_no_command(inspect: Inspect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`lost` resembles `list`, another tool's word for `tensors`; names here are near in any case of letters."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Llama-7B").mkdir()
    assert "did you mean" not in inspect("lost").err
    assert "did you mean `inspect tensors`" in inspect("lists").err
    assert "near it: Llama-7B" in inspect("llama-7b-").err
    assert "near it: Llama-7B" in inspect("LLAMA-7B-").err
    (tmp_path / "audio-1").mkdir()
    assert "(did you mean `inspect audit`?); near it: audio-1" in inspect("audio").err


def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "inspector", *arguments], capture_output=True, text=True, check=False, **more
    )


def test_the_version_costs_nothing() -> None:
    """`--version` answers before click, json or dataclasses are imported."""
    code = "import sys; sys.argv = ['inspect', '--version']; import inspector.__main__ as m; m.main(); print({'click', 'json', 'dataclasses'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[0].startswith("inspect ")
    assert out.splitlines()[1] == "set()"


def test_without_arguments_the_usage_is_shown() -> None:
    """The help is printed, with the exit code of a usage error."""
    ran = run()
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "\n  inspect model.gguf " in ran.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full here")
def test_output_that_cannot_be_written_is_one_line(made: Made) -> None:
    """A full disk is an error in one line."""
    with Path("/dev/full").open("w") as full:
        code = [sys.executable, "-m", "inspector", str(made("llama-7b"))]
        ran = subprocess.run(code, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (2, "inspect: cannot write the output: No space left on device\n")


def test_a_closed_output_is_not_an_error(made: Made) -> None:
    """With output closed by `>&-`, the exit code is the answer."""
    command = f"{sys.executable} -m inspector {made('llama-7b')} >&-"
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_safetensors_file_loads_only_what_it_needs(made: Made) -> None:
    """Neither the Hub's client, nor numpy, nor another family's table is imported for a local Llama."""
    code = f"import sys; from inspector.__main__ import run; run([{str(made('llama-7b'))!r}]); print([m for m in sys.modules if m.split('.')[0] in ('huggingface_hub', 'numpy', 'gguf', 'httpx') or m.endswith(('.gpt2', '.bert', '.mixtral'))])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"


def test_a_closed_pipe_is_not_an_error(made: Made) -> None:
    """`inspect … | head` ends quietly."""
    command = f"set -o pipefail; {sys.executable} -m inspector tensors {made('mixtral-8x7b')} | head -1"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    assert len(ran.stdout.splitlines()) == 1


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",), ("--jsonl",)], ids=" ".join)
def test_a_reader_that_has_gone_does_not_change_the_exit_code(form: tuple[str, ...], made: Made) -> None:
    """`inspect diff a b | true` is 1 if they differ, whatever was read of it."""
    sides = [str(made(name)) for name in ("llama-7b", "mixtral-8x7b")]
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-m", "inspector", "diff", *sides, *form]
    ran = subprocess.run(command, stdout=writes, stderr=subprocess.PIPE, text=True, check=False)
    version = subprocess.run([*command[:3], "--version"], stdout=writes, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writes)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert (version.returncode, version.stderr) == (0, "")


def test_help_and_no_arguments() -> None:
    """Help begins with what to type, fits 80 columns, and has every command below its question; it is shown without arguments."""
    helped = run("--help")
    assert helped.returncode == 0
    assert max(map(len, helped.stdout.splitlines())) <= 80
    first, *questions = re.split(r"\n(?=\S)", helped.stdout.partition("\n\n")[2])
    assert "inspect model.gguf" in first
    listed = {line.split()[0]: group.split("\n")[0] for group in questions for line in group.split("\n")[1:] if line}
    assert {*COMMANDS} - {"overview"} <= {*listed}
    assert "Other" not in listed.values()
    assert listed["audit"] == "Is it whole, consistent and safe?"
    assert "Usage" in run().stdout + run().stderr


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {"overview"}))
def test_each_commands_help_fits_80_columns(command: str, inspect: Inspect) -> None:
    assert max(map(len, inspect(command, "--help").out.splitlines())) <= 80


@every(
    ("word", "meant"),
    [("audti", "audit"), ("memry", "memory"), ("hlp", "--help"), ("Diff", "diff"), ("vram", "memory")],
)
def test_a_lone_word_that_is_almost_a_command_is_not_asked_for(
    word: str, meant: str, inspect: Inspect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Hub is not asked, whatever is in the folder; a file of that name is a target."""
    monkeypatch.setattr("inspector.sources.hub.hub_place", lambda *_: pytest.fail("the Hub was asked"))
    ran = inspect(word)
    assert (ran.code, f"did you mean `inspect {meant}`" in ran.err) == (2, True)


def test_a_file_named_almost_like_a_command(tmp_path: Path, inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audti").mkdir()
    assert "audti has no weights" in inspect("audti").err


def test_a_configuration_is_predicted(made: Made, tmp_path: Path, inspect: Inspect) -> None:
    """As text and as JSON the same as by `inspect predict`; what is not a configuration stays an error."""
    config = made("gpt2") / "config.json"
    assert inspect(config).out == inspect("predict", config).out
    assert inspect(config, "--json", "--tensors").out == inspect("predict", config, "--json", "--tensors").out
    assert "124,439,808 parameters" in inspect(config, made("gpt2")).out
    (tmp_path / "tokenizer.json").write_text('{"version": "1.0"}')
    assert "is a JSON document, not weights" in inspect(tmp_path / "tokenizer.json").err
    (tmp_path / "config.json").write_text('{"model_type": "unheard-of"}')
    assert "no prediction for model_type" in inspect(tmp_path / "config.json").err
    ran = inspect(tmp_path)
    assert (
        ran.code,
        f"no weights beside its config.json; what that says should be there: `inspect predict {tmp_path}`" in ran.err,
    ) == (2, True)
    (tmp_path / "config.json").write_text(config.read_text())
    folder = inspect(tmp_path)
    assert folder.code == 0
    assert folder.out == f"{tmp_path.name}\nno weights here; what its config.json predicts:\n{inspect(config).out}"
    assert inspect(tmp_path, "--json").json == inspect(config, "--json").json
    assert folder.out in inspect(tmp_path, made("gpt2")).out
    # The one that is named, by an address as well, not another beside it.
    (tmp_path / "params.json").write_text(config.read_text().replace('"vocab_size": 50257', '"vocab_size": 7'))
    (tmp_path / "config.json").rename(tmp_path / "other.json")
    (tmp_path / "named.json").write_text(config.read_text())
    assert "124,439,808 parameters" in inspect(f"file://{tmp_path}/named.json").out


def test_a_preset_is_recognised_where_there_is_no_file(inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    ran = inspect("gpt2")
    assert (ran.code, "`inspect predict gpt2`" in ran.err) == (2, True)


class Terminal(io.StringIO):
    """A stderr that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("seconds", "terminal", "shown"), [(0, True, True), (0, False, False), (60, True, False)])
def test_a_progress_bar_is_for_long_work_on_a_terminal(
    made: Made, monkeypatch: pytest.MonkeyPatch, seconds: float, terminal: bool, shown: bool
) -> None:
    """It is on stderr, with the number of headers; stdout is the same as without it."""
    stderr, stdout = Terminal() if terminal else io.StringIO(), io.StringIO()
    monkeypatch.setattr(console, "_PATIENCE", seconds)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(sys, "stdout", stdout)
    assert main.run([str(made("llama-7b")), "--json"]) == 0
    assert ("headers" in stderr.getvalue()) == shown
    assert stderr.getvalue().endswith("\n\x1b[A\x1b[2K" if shown else "")  # and gone when the answer is there
    assert len(json.loads(stdout.getvalue())["files"]) == 2


@pytest.mark.parametrize(
    ("marks", "pip", "command"),
    [
        (["pipx_metadata.json"], True, "pipx inject tool 'textual>=6'"),
        (["uv-receipt.toml"], False, "uv pip install --python {} 'textual>=6'"),
        ([], False, "uv pip install --python {} 'textual>=6'"),
        ([], True, f"{sys.executable} -m pip install 'textual>=6'"),
    ],
)
def test_a_missing_package_is_installed_where_the_command_is(
    marks: list[str], pip: bool, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what made the environment: pipx, `uv tool`, `uv venv`, or venv, whose pip is there. There is no index that has the
    package itself."""
    from inspector.errors import install_command

    (tmp_path / "tool").mkdir()
    for name in marks:
        (tmp_path / "tool" / name).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "tool"))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: object() if pip else None)
    assert install_command("browse") == command.format(tmp_path / "tool")


@pytest.mark.once
def test_the_demonstration_installs_what_users_need() -> None:
    """Neither the tests' packages nor the linters'; each step is announced. `make test` installs the rest."""
    root = Path(__file__).parents[1]
    steps = {
        target: subprocess.run(
            ["make", "--dry-run", "--always-make", target], cwd=root, capture_output=True, text=True, check=True
        ).stdout
        for target in ("demo", "lint")
    }
    assert "[dev]" not in steps["demo"] and steps["demo"].count("echo") >= 4
    assert "[dev]" in steps["lint"]


def test_eight_questions_have_their_answers_first(made: Made, inspect: Inspect, tmp_path: Path) -> None:
    """A command each, without options that help has to be read for; the answer is in the first lines that it prints."""
    import shutil

    q4, whole, experts = (made(name) for name in ("llama-3.1-8b-q4_k_m", "llama-7b", "mixtral-8x7b-q4_0"))
    shutil.copytree(whole, lost := tmp_path / "lost", copy_function=os.link)
    (lost / "model-00002-of-00002.safetensors").unlink()
    shutil.copytree(whole, twice := tmp_path / "twice", copy_function=os.link)
    (twice / "first").mkdir()
    for path in whole.glob("*.safetensors"):
        (twice / "first" / path.name).touch()
        os.truncate(twice / "first" / path.name, path.stat().st_size)
        with path.open("rb") as source, (twice / "first" / path.name).open("r+b") as copy:
            copy.write(source.read(1 << 16))  # the header
    for command, words, lines in (
        (("memory", q4, "--gpu", "8GB", "--context", "16k"), "fits in 8 GB with 16,384 tokens", 1),
        ((twice,), "the folder is 26.95 GB: 13.48 GB in 1 more copy", 2),
        (("diff", made("llama-3.1-8b"), q4), "b has the structure of a", 1),
        ((q4,), "Q4_K_M at 4.89 bits", 2),
        ((experts,), "46.70B parameters (12.88B active)", 2),
        (("diff", whole, lost), "without 82 weights", 2),
        ((lost,), "layers 24–31", 5),
        (("diff", made("llama-7b-without-head"), whole), "lm_head", 2),
        ((whole,), "feed forward", 8),
    ):
        assert words in "\n".join(inspect(*command).out.split("\n")[:lines]), command
