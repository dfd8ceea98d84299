"""The first screens of `inspect TARGET`, `inspect audit` and `inspect diff`: of whatever model, whole or not, 80 columns and
23 lines, the verdict among the first two."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import cases
import hostile
import numpy as np
import pytest
import sparse
import test_damage
from every import every
from safetensors.numpy import save_file
from test_terminal import on_terminal

import inspector
from inspector import api
from inspector.architectures.data.presets import PRESETS
from inspector.cli.overviews import _folder
from inspector.errors import InspectorError
from inspector.report import audit, comparisons, diff, forecast, models, screen
from inspector.report.columns import fitted, text_width

Made = Callable[[str], Path]
RECIPES = sorted(path.stem for home in (sparse.RECIPES, sparse.EXAMPLES, *sparse.SMALL) for path in home.glob("*.json"))
VERDICT = re.compile(r"^(complete|incomplete|damaged|unverified): ")


def shown(target: Path) -> list[str]:
    """The screen of a target at 80 columns, after checks of what holds for each; empty if it cannot be read."""
    try:
        result = inspector.reconcile(inspector.open(target))
    except InspectorError:
        return []
    folder = _folder(str(target), result)
    for width in (120, 80):
        lines = screen.overview(result, width, folder=folder).split("\n")
        assert len(lines) <= screen.HEIGHT, "\n".join(lines)
        assert max(map(text_width, lines)) <= width, "\n".join(lines)
        assert VERDICT.match(lines[1]), lines[1]
        assert lines[-1].startswith("next: inspect ")
    return lines


#: A case of every seventh file: the tables have 200 families, whose screens differ little.
CASES = sorted(path.stem for path in cases.FOLDER.glob("*.txt"))[::7]
#: Shows each of its arguments as the command does, with a mark before it.
EACH = "import sys; from inspector.__main__ import run; [(print('\\x1e', flush=True), run([each])) for each in sys.argv[1:]]"
#: A progress bar that appears on a busy machine, and is cleared.
BAR = re.compile(r"[^\n]*\n\x1b\[A\x1b\[2K")


def every_model(made: Made, folder: Path, *, families: bool) -> dict[str, Path]:
    """Models of all formats, packings and pipelines, adapters; of families' cases; damaged files and folders."""
    found = {recipe: made(recipe) for recipe in RECIPES}
    for name in CASES if families else ():  # a configuration, and the tensors that its library makes of it
        case = cases.load(cases.FOLDER / f"{name}.txt")[0]
        if sum(map(prod, case.shapes.values())) > 10**12:
            continue  # larger than a file can be
        tensors = [["F32", list(shape), tensor] for tensor, shape in case.shapes.items()]
        files: dict[str, Any] = {"model.safetensors": {"tensors": tensors}}
        found[name] = sparse.make({"files": files, "beside": {"config.json": case.config}}, folder / f"case-{name}")
    for fault, data in test_damage.FILES.items():
        found[fault] = folder / f"file {fault}" / "model.safetensors"
        found[fault].parent.mkdir()
        found[fault].write_bytes(data)
    for fault, change in test_damage.FOLDERS.items():
        found[fault] = hostile.make(change, folder / f"folder {fault}")
    return found


@pytest.mark.parametrize(
    ("columns", "families"),
    [(80, False), *(pytest.param(columns, True, marks=pytest.mark.gate) for columns in (80, 120))],
)
def test_every_model_is_one_screen_of_a_terminal(columns: int, families: bool, made: Made, tmp_path: Path) -> None:
    """On a pseudo-terminal: 23 lines, none wider, what it is in the first and whether it is whole in the second. What cannot
    be read is a sentence."""
    targets = every_model(made, tmp_path, families=families)
    text = on_terminal(columns, *targets.values(), program=("-c", EACH), NO_COLOR="1")
    _, *shown = BAR.sub("", text).split("\x1e\n")
    wrong = {}
    for name, each in zip(targets, shown, strict=True):
        lines = each.rstrip("\n").split("\n")
        state = "damaged" if name == "stranger" else "complete|unverified|incomplete|damaged"
        model = VERDICT.match(lines[1]) and re.match(state, lines[1]) if len(lines) > 1 else None
        if (
            len(lines) > screen.HEIGHT
            or max(map(text_width, lines)) > columns
            or not (
                (model and lines[-1].startswith("next: inspect "))
                or lines[0].startswith("inspect: ")
                or re.match(r"\d+ models?, |no weights here; ", lines[1])
            )
        ):
            wrong[name] = each
    assert wrong == {}
    assert sum(each.startswith("inspect: ") for each in shown) < len(test_damage.FILES)
    assert sum("\ncomplete: " in each for each in shown) > 30


@pytest.mark.parametrize("recipe", ["llama-7b", "stranger"])
def test_a_terminal_shows_the_same_lines(recipe: str, made: Made, tmp_path: Path) -> None:
    """On a pseudo-terminal of 80 × 24."""
    lines = on_terminal(80, made(recipe), NO_COLOR="1").rstrip("\n").split("\n")
    assert lines == shown(made(recipe))
    verdict = {"stranger": "31mdamaged"}.get(recipe, "32mcomplete")
    assert f"\x1b[1;{verdict}\x1b[0m: " in on_terminal(80, made(recipe)).split("\n")[1]


def test_the_numbers_are_those_of_the_files(made: Made) -> None:
    """LLaMA-7B: 32 layers of 3 × 4,096 × 11,008 and 4 × 4,096² numbers, 2 × 32,000 × 4,096 more, at 2 bytes each."""
    lines = shown(made("llama-7b"))
    rows = {line.split("  ")[0]: line.split() for line in lines}
    for group, elements in (("feed forward", 32 * 3 * 4096 * 11008), ("attention", 32 * 4 * 4096**2)):
        assert f"{elements * 2 / 1e9:.2f}" in rows[group]
        assert f"{elements * 200 / 13_476_872_576:.1f}" in rows[group]
    assert f"{2 * 2 * 32000 * 4096 / 1e9:.2f}" in rows["embeddings, head"]
    assert '14.00  "7B" × 2 bytes (F16)' in lines
    assert "−0.52  rounding of the name: the configuration says 6,738,415,616 parameters" in lines
    assert "13.48  GB on disk, every byte explained" in lines


def test_memory_is_what_the_command_says(made: Made) -> None:
    """The totals of `inspect memory` for these contexts."""
    for recipe in ("llama-7b", "mistral-7b-instruct-v0.2-q4_k_m"):
        stated = next(line for line in shown(made(recipe)) if line.startswith("memory: "))
        for context, word in ((4096, "4k tokens"), (32768, "32k")):
            total = inspector.memory(str(made(recipe)), context=context).total
            assert f"{total / 1e9:.2f} GB at {word}" in stated


def test_a_second_copy_is_in_the_second_line(tmp_path: Path) -> None:
    """And how large the folder is."""
    import sparse_torch

    sparse.make(sparse.load("gpt2"), tmp_path / "gpt2")
    sparse_torch.make("gpt2", tmp_path / "gpt2")
    text = " ".join(shown(tmp_path / "gpt2")[1:3])
    assert re.search(r"; the folder is 1\.10 GB: +548\.1\d MB in 1 +more copy \(PyTorch\)", text)


def test_a_wrong_total_is_told(made: Made, tmp_path: Path) -> None:
    """An index that claims another size than its files have."""
    folder = tmp_path / "llama-7b"
    shutil.copytree(made("llama-7b"), folder, copy_function=os.link)
    index = folder / "model.safetensors.index.json"
    text = index.read_text()
    index.unlink()
    index.write_text(text.replace("13476835328", "13476835000"))
    assert "total_size says 13,476,835,000, but 13,476,835,328 were counted" in shown(folder)
    assert not any("were counted" in line for line in shown(made("llama-7b")))


def test_a_tied_head_that_is_stored_again(made: Made) -> None:
    """Falcon-7B: 65,024 × 4,544 numbers of 2 bytes; and a name that rounds to the size asks no question."""
    assert f"+{65024 * 4544 * 2 / 1e9:.2f}  tied head, stored again: 1 × lm_head" in shown(made("falcon-7b"))
    assert "why 1.12 GB" in shown(made("bloom-560m"))


def test_full_shows_every_number(made: Made, inspect: Callable[..., Any]) -> None:
    """What the first screen leaves out."""
    full = inspect(made("llama-7b"), "--full").out
    assert "input_layernorm" in full and "−523,168,768" in full and "model-00002-of-00002.safetensors" in full
    assert "input_layernorm" not in inspect(made("llama-7b")).out


@pytest.mark.parametrize("name", [*PRESETS][::4])
def test_a_prediction_is_one_screen(name: str) -> None:
    """With what was asked for; the largest roles, whose numbers and those of the others are in `--full`."""
    result = inspector.predict(name)
    for asked in ({}, {"stated": 10**9}, {"training": True}):
        lines = on_screen(forecast.prediction(result, 80, absent="x\nno weights here", **asked))
        assert any(line.startswith("total ") for line in lines)
        assert lines[3].startswith(f"{result.parameters:,} parameters")
    whole = forecast.prediction(result, full=True)
    assert "smaller role" not in whole and f"{4 * result.parameters:,}"[:4] in whole


@pytest.mark.parametrize("target", ["llama-3.1-70b", "gpt2", "{llama-3.1-8b-q4_k_m}", "{stable-diffusion}"])
def test_quantizations_are_one_screen(target: str, made: Made, inspect: Callable[..., Any]) -> None:
    """Exact bytes are in `--all`: 8 GB hold none of a 70B's, which the longest first line says."""
    named = str(made(target[1:-1])) if target.startswith("{") else target
    text = inspect("quants", named, "--gpu", "8GB").out.rstrip("\n")
    on_screen(text)
    assert "to the byte: --all" in text and not re.search(r"\d,\d{3},\d{3}", text)
    assert re.search(r"\d,\d{3},\d{3}", inspect("quants", named, "--gpu", "8GB", "--all").out)


def test_weights_that_fit_beside_what_is_not_known(made: Made, inspect: Callable[..., Any]) -> None:
    """A diffusion pipeline keeps no tokens: its 6.77 MB of weights fit any card, and no line is a row of `unknown`."""
    lines = on_screen(inspect("memory", made("stable-diffusion"), "--gpu", "8GB").out.rstrip("\n"))
    assert lines[0] == "its weights, 6.8 MB, fit in 8 GB; what running takes besides is unknown"
    assert "its weights fit 8 GB yes" in inspect("memory", made("stable-diffusion")).out


def test_both_sizes_of_a_question_have_one_unit(made: Made) -> None:
    """988,097,824 bytes that the name would make 1.00 GB: not `988.10 MB and not 1.00`."""
    assert "why 0.99 GB and not 1.00" in shown(made("qwen2.5-0.5b"))


def test_a_folder_of_many_models_is_one_screen(tmp_path: Path, inspect: Callable[..., Any]) -> None:
    """Those that are not complete come first; a pipe and `--full` have all by name."""
    for number in range(30):
        file = tmp_path / f"model-{number:02}" / "model.safetensors"
        file.parent.mkdir()
        save_file({"x.weight": np.ones((number + 1, 2), "<f4")}, file)
    (file.parent.parent / "model-17/model.safetensors").write_bytes(b"<html>")
    lines = on_screen(models.lines("all", inspector.models(tmp_path), 80))
    assert "30 models" in lines[1] and "1 unreadable" in lines[1]
    assert lines[4].startswith("model-17 ")
    assert re.fullmatch(r"… \d+ more models: --full", lines[-1])
    assert len(models.lines("all", inspector.models(tmp_path), 80, full=True).split("\n")) == 4 + 30
    assert len(inspect(tmp_path).out.splitlines()) == 4 + 30


def test_lines_begin_with_whole_items(made: Made) -> None:
    """No number stands apart from its unit, and no file from its count."""
    lines = shown(made("gpt-oss-120b"))
    assert lines[1:3] == ["complete: 116.83B parameters (5.71B active), GptOss, mxfp4 at 4.47 bits,", "  65.25 GB"]
    assert lines[4] == "  128 experts (4 active), 1 safetensors file, 687 tensors"


def test_a_class_is_shown_without_its_task(made: Made) -> None:
    """`T5WithLMHeadModel` is T5."""
    assert shown(made("t5-small"))[1] == "complete: 60.51M parameters, T5, F32, 373.64 MB"


def test_a_head_is_tied_where_there_is_one(made: Made) -> None:
    """BERT for masked words has one; MPNet for sentences has the field in its configuration and no head."""
    assert "head tied" in "".join(shown(made("bert-base-uncased"))[2:4])
    assert "head tied" not in "".join(shown(made("all-mpnet-base-v2"))[2:4])


def test_shared_tensors_are_no_tower_of_their_own(made: Made) -> None:
    """T5's embedding is both towers'; RoBERTa's encoder is the whole model: its groups are the rows."""
    rows = {line[:20].rstrip() for line in shown(made("flan-t5-base"))}
    assert {"encoder", "decoder", "embeddings, head"} <= rows
    assert "text" not in rows
    rows = {line[:20].rstrip() for line in shown(made("twitter-roberta-sentiment"))}
    assert {"feed forward", "attention", "embeddings, head"} <= rows


def test_a_training_run_state_is_named(tmp_path: Path) -> None:
    """Both moments of AdamW at four bytes: 323 tensors of 6,738,415,616 parameters and 1,024 frequencies."""
    import sparse_torch

    sparse_torch.make("llama-7b-training", tmp_path)
    (row,) = [line for line in shown(tmp_path) if line.startswith("training state")]
    assert row.split()[2:6] == ["exp_avg,", "exp_avg_sq", f"{8 * 6_738_417_664 / 1e9:.2f}", "80.0"]


def test_terabytes_are_gigabytes_in_tables(tmp_path: Path) -> None:
    """2.35 GB of embeddings are not 0.00 TB."""
    tensors = [["BF16", [1 << 20, 1 << 19], "model.layers.0.mlp.up_proj.weight"],
               ["BF16", [163840, 7168], "model.embed_tokens.weight"]]  # fmt: skip
    lines = shown(sparse.make({"files": {"model.safetensors": {"tensors": tensors}}}, tmp_path))
    rows = {line.split("  ")[0]: line.split() for line in lines}
    assert "1,099.51" in rows["feed forward"]
    assert f"{163840 * 7168 * 2 / 1e9:.2f}" in rows["embeddings"]


def test_the_next_commands_name_the_target(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long name too, in a shorter line."""
    folder = made("vit-base-patch16-224")
    monkeypatch.chdir(folder.parent)
    assert (
        shown(Path(folder.name))[-1] == "next: inspect tensors|memory|audit|browse vit-base-patch16-224; more: --full"
    )


def test_an_index_in_a_folder_is_told(made: Made, tmp_path: Path, inspect: Callable[..., Any]) -> None:
    """Its files are named and none is there: that, and not only what a configuration predicts."""
    for name in ("model.safetensors.index.json", "config.json"):
        shutil.copy(made("llama-7b") / name, tmp_path)
    assert "an index alone: 323 tensors in 2 files, none of which is present" in inspect(tmp_path).out
    (tmp_path / "config.json").unlink()
    assert inspect(tmp_path).code == 0


def test_names_of_models_stay_different(tmp_path: Path) -> None:
    """Two quantizations in one folder differ in the last letters of a long name."""
    names = [f"bartowski/Llama-3.1-8B-Instruct-GGUF/Llama-3.1-8B-Q{n}_K_M.gguf" for n in (4, 5)]
    for name in names:
        file = tmp_path / name.replace("GGUF/", "GGUF/x" + name[-8]) / "model.safetensors"
        file.parent.mkdir(parents=True)
        save_file({"x.weight": np.ones((2, 2), "<f4")}, file)
    rows = on_screen(models.lines("all", inspector.models(tmp_path), 80))[4:]
    assert len({row.split()[0] for row in rows}) == 2


def test_the_glossary_has_the_words_of_the_screens() -> None:
    """Groups of tensors, and the states of models and audits; the site adds the causes."""
    text = (Path(__file__).parents[1] / "docs/glossary.md").read_text("utf-8").lower()
    groups = [*screen._GROUPS.values(), "attention", "head", "router", "training state", "adapter"]
    states = ["complete", "incomplete", "damaged", "unverified", "unreadable", "not read", *audit._STATES]
    assert [word for word in (*groups, *states) if word.rstrip("s") not in text] == []


# --- the screens of audits and comparisons ----------------------------------------------------------

#: The first word of an audited model's second line.
AUDITED = re.compile(r"^(sound|doubtful|faulty|unsafe|not judged): ")


def on_screen(text: str) -> list[str]:
    """The lines as a terminal of 80 columns shows them, after checks of what holds for each."""
    lines = [line for each in text.split("\n") for line in fitted(each, 80).split("\n")]
    assert len(lines) <= screen.HEIGHT, text
    assert max(map(text_width, lines)) <= 80, text
    return lines


def audited(*targets: Path) -> list[str]:
    """The screen of an audit, whose last lines are the loaders' releases and the meaning of the exit code."""
    result = inspector.audit(targets)
    lines = on_screen(audit.text(result, 80, exits="exit code 1: there are errors"))
    assert "rules as of " in lines[-2]
    assert lines[-1] == "exit code 1: there are errors"
    rank = ["error", "warning", "note"]
    shown = [rank.index(line.split()[0]) for line in lines if line.split()[:1] and line.split()[0] in rank]
    assert len(result.checkpoints) > 1 or shown == sorted(shown)
    return lines


#: Rules about one model of each kind: damage, missing and misleading files, configurations, tokenizers, GGUF, code.
HOSTILE = (
    *("truncated", "html-page", "missing-shard", "token-id", "tokenizer", "preprocessor", "missing-merges", "dtype"),
    *("gguf-keys", "adapter-targets", "pickle", "remote-code", "tensor-names", "vocabulary-lines"),
)


@every("code", HOSTILE)
def test_an_audit_is_one_screen(code: str, tmp_path: Path) -> None:
    """Findings by cause, errors first, under the verdict; and what a near miss looks like."""
    lines = audited(hostile.make(hostile.CASES[code].trips, tmp_path / "trips"))
    assert AUDITED.match(lines[1])
    assert AUDITED.match(audited(hostile.make(hostile.CASES[code].misses, tmp_path / "misses"))[1])


@every(
    "recipe",
    ["llama-7b", "stranger", "gpt2", "mistral-7b-instruct-v0.2-q4_k_m", "stable-diffusion", "lora", "unheard-of"],
)
def test_an_audit_of_a_recipe_is_one_screen(made: Made, recipe: str) -> None:
    """A sound model, a hostile one, a GGUF, a pipeline, an adapter."""
    lines = audited(made(recipe))
    assert AUDITED.match(lines[1])
    assert (recipe == "stranger") == lines[1].startswith("unsafe: ")


def test_an_audit_of_many_models_is_one_screen(tmp_path: Path) -> None:
    """How many are what, a table with the worst first, then what is wrong with these, as far as there is room."""
    for code in HOSTILE:
        hostile.make(hostile.CASES[code].trips, tmp_path / "zoo" / code)
    lines = audited(tmp_path / "zoo")
    assert re.match(rf"{len(HOSTILE)} models: \d+ unsafe, \d+ faulty, ", lines[0])
    rank = ["unsafe", "faulty", "not judged", "doubtful", "sound"]
    table = [rank.index(word[1]) for line in lines if (word := re.search(rf"  ({'|'.join(rank)})(?:  |$)", line))]
    assert table == sorted(table)
    assert sum(line.startswith("… ") for line in lines) >= 2


def test_a_cause_says_how_many_places_it_has(tmp_path: Path) -> None:
    """One line for a rule: in how many tensors, and how many messages are not shown; `full` has each."""
    result = inspector.audit([hostile.make(hostile.CASES["missing-merges"].trips, tmp_path)])
    missing = [each for each in result.checkpoints[0].findings if each.rule == "missing"]
    (cause,) = [each for each in audit.causes(result.checkpoints[0].findings) if each.rule == "missing"]
    assert (cause.place, len(missing)) == ("8 tensors", 8)
    assert cause.messages(3)[-1].endswith("(and 5 more)")
    assert (
        sum(
            "error  missing  " in line or line.startswith("error    missing  ")
            for line in audit.text(result).split("\n")
        )
        == 1
    )
    full = audit.text(result, full=True)
    assert all(each.message in full for each in missing)


PAIRS = [
    ("gpt2", "gpt2"), ("llama-3.1-8b", "llama-3.1-8b-q4_k_m"), ("llama-7b", "llama-3.1-8b"), ("qwen3-0.6b", "gpt2"),
    ("llama-3.1-8b", "llama-3.1-8b-gptq-3bit"), ("llama-7b", "llama-7b-without-head"), ("llama-7b", "stranger"),
    ("mixtral-8x7b", "mixtral-8x7b-q4_0"), ("bert-base-uncased", "all-mpnet-base-v2"), ("stable-diffusion", "unheard-of"),
]  # fmt: skip


@every("pair", PAIRS)
def test_a_comparison_is_one_screen(made: Made, pair: tuple[str, str]) -> None:
    """What b is to a in the first line, then what changed, however much that is."""
    result = inspector.diff(*map(made, pair))
    lines = on_screen("\n".join(diff.lines(result, width=80)))
    assert lines[0].startswith("b ")


def test_a_comparison_of_many_changes_is_one_screen(tmp_path: Path) -> None:
    """Each role changed in other layers: the largest changes are shown, and a line counts the others, which `full` has."""
    own = {"model_type": "llama", "num_hidden_layers": 12, "hidden_size": 64, "intermediate_size": 128, "vocab_size": 96,
           "num_attention_heads": 4}  # fmt: skip
    rows = inspector.predict(own).expected
    for side in ("a", "b"):
        tensors = [
            [
                "BF16" if side == "a" else "F32" if (key.layer or 0) <= number else "F16",
                list(row.shape),
                row.name_of(key),
            ]
            for number, row in enumerate(rows)
            for key in row.keys()
        ]
        files = {"model.safetensors": {"tensors": tensors}}
        sparse.make(
            {"files": files, "beside": {"config.json": own | {f"x{n}": side for n in range(9)}}}, tmp_path / side
        )
    result = inspector.diff(tmp_path / "a", tmp_path / "b")
    text = "\n".join(diff.lines(result, width=80))
    lines = on_screen(text)
    assert "and 5 further fields" in lines
    (left,) = [line for line in lines if line.endswith(" smaller changes: --full")]
    shown = sum(line.startswith("dtype ") for line in lines)
    whole = sum(line.startswith("dtype ") for line in "\n".join(diff.lines(result)).split("\n"))
    assert left == f"… {whole - shown} smaller changes: --full"
    assert sum(line.startswith("dtype ") for line in "\n".join(diff.lines(result, full=True)).split("\n")) >= whole


def test_three_models_and_a_merge_are_one_screen(tmp_path: Path, inspect: Callable[..., Any]) -> None:
    """Forty roles: the answer first, then what both changed; `--full` has every role. c is half a and half b."""
    draw = np.random.default_rng(3)
    base = {f"model.layers.{at}.mlp.r{n}_proj.weight": draw.normal(size=(8, 8)) for at in range(3) for n in range(40)}
    a = {name: each + ("r1" in name) for name, each in base.items()}  # r1, and r10 to r19
    b = {name: each * 2 if "r1" in name or "r2" in name else each for name, each in base.items()}
    c = {name: (a[name] + b[name]) / 2 for name in base}
    for name, each in (("base", base), ("a", a), ("b", b), ("c", c)):
        save_file(each, tmp_path / f"{name}.safetensors")
    paths = [tmp_path / f"{name}.safetensors" for name in ("base", "a", "b", "c")]
    three = api.three(*(inspector.diff(paths[0], each, data=True) for each in paths[1:3]), data=True)
    lines = on_screen("\n".join(comparisons.three_lines(three, 80)))
    assert lines[0] == "of 120 tensors changed by: 54 neither, 33 only b, 33 both, differently"
    assert lines[7].startswith("both, differently")
    assert lines[-1] == "… 10 more: --full"
    assert len("\n".join(comparisons.three_lines(three, 80, full=True)).split("\n")) == 7 + 22
    changed = inspector.diff(paths[0], paths[3], data=True)
    more = [*comparisons.merge_lines(["a", "b"], api.merge(changed.b, *map(str, paths[1:3])))]
    more += comparisons.rank_lines(api.ranks(changed), 80)
    lines = on_screen("\n".join(diff.lines(changed, width=80, more=more)))
    assert lines[0] == "b is a, fine-tuned in all 3 layers"
    assert lines[3].startswith("b is a linear merge: the nearest sum is 0.5000 · a + 0.5000 · b")


@pytest.mark.parametrize("words", [("audit", "stranger"), ("diff", "llama-3.1-8b", "llama-3.1-8b-q4_k_m")])
def test_a_terminal_shows_these_screens(words: tuple[str, ...], made: Made) -> None:
    """On a pseudo-terminal of 80 × 24, with the verdict in colour."""
    shown = on_terminal(80, words[0], *map(made, words[1:]))
    lines = on_screen(re.sub(r"\x1b\[[\d;]*m", "", shown.rstrip("\n")))
    assert words[0] == "diff" or (AUDITED.match(lines[1]) and "\x1b[1;31munsafe\x1b[0m: " in shown)
    assert words[0] == "audit" or lines[0] == "b has the structure of a"
