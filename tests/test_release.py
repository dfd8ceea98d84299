"""Parts of a release besides the package: the action, the pre-commit hook, `hf inspect`, the changelog, the cut."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import inspector

yaml = pytest.importorskip("yaml")

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parents[1]
Made = Callable[[str], Path]
BIN = Path(sys.executable).parent


def module(path: Path) -> Any:
    """Import a script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


releasing = module(ROOT / "tools" / "releasing.py")


# --- the action -----------------------------------------------------------------------------------


ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
_EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")


class Runner:
    """Run the shell steps of a composite action one after the other, as GitHub's runner does."""

    def __init__(self, folder: Path, checkout: Path, **inputs: str) -> None:
        self.inputs = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()} | inputs
        self.outputs: dict[str, dict[str, str]] = {}
        self.checkout, self.folder = checkout, folder
        self.summary = folder / "summary.md"
        self.log = ""

    def value(self, text: str) -> str:
        """Replace the expressions in a text: an input, or another step's output."""

        def replaced(match: re.Match[str]) -> str:
            kind, _, name = match[1].partition(".")
            if kind == "inputs":
                return self.inputs[name]
            step, _, output = name.partition(".outputs.")
            return self.outputs[step][output]

        return _EXPRESSION.sub(replaced, text)

    def run(self, step: dict[str, Any]) -> int:
        """Run as documented for `shell: bash`: without profiles, ending at the first failure, also within a pipe."""
        output = self.folder / f"{step['id']}.out"
        environment = {
            **os.environ,
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            **{name: self.value(str(value)) for name, value in step.get("env", {}).items()},
        }
        script = self.folder / "script.sh"
        script.write_text(step["run"])
        ran = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.checkout,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.log += ran.stdout + ran.stderr
        lines = output.read_text().splitlines() if output.exists() else []
        self.outputs[step["id"]] = dict(line.split("=", 1) for line in lines)
        return ran.returncode

    def job(self) -> int:
        """The steps after the installation, with the program that runs the tests."""
        steps = [step for step in ACTION["runs"]["steps"] if "run" in step and step["id"] != "install"]
        return next((code for step in steps if (code := self.run(step))), 0)


@pytest.fixture
def checkout(made: Made, tmp_path: Path) -> Path:
    """A repository with a sound model and a malicious one."""
    folder = tmp_path / "checkout"
    for name in ("gpt2", "stranger"):
        shutil.copytree(made(name), folder / name, copy_function=os.link)
    return folder


@pytest.mark.parametrize(
    ("targets", "fail_on", "code"),
    [("gpt2", "error", 0), ("stranger", "error", 1), ("gpt2\nnothere.gguf\n", "error", 2), (".", "warning", 1)],
)
def test_the_actions_verdict_is_the_audits(
    targets: str, fail_on: str, code: int, checkout: Path, tmp_path: Path
) -> None:
    """0 without findings that count, 1 with findings, 2 if something cannot be audited."""
    runner = Runner(tmp_path, checkout, targets=targets, **{"fail-on": fail_on})
    assert runner.job() == code, runner.log
    assert runner.outputs["audit"]["exit-code"] == str(code)
    assert "gpt2" in runner.summary.read_text() or targets == "stranger"


def test_the_action_writes_sarif(checkout: Path, tmp_path: Path) -> None:
    """The malicious model has three findings; `ignore` removes one of them."""
    runner = Runner(tmp_path, checkout, targets="stranger", sarif="out.sarif", ignore="pickle\n")
    assert runner.job() == 1
    results = json.loads((checkout / "out.sarif").read_text())["runs"][0]["results"]
    assert sorted(each["ruleId"] for each in results) == ["template-code", "truncated"]


def test_inputs_of_the_action_are_never_a_command(checkout: Path, tmp_path: Path) -> None:
    """Whatever they contain, they are names of targets."""
    hostile = '$(touch pwned)\n"; touch pwned; "\n--rules'
    runner = Runner(tmp_path, checkout, targets=hostile, ignore="`touch pwned`")
    assert runner.job() == 2
    assert not (checkout / "pwned").exists()
    assert not any(_EXPRESSION.search(step.get("run", "")) for step in ACTION["runs"]["steps"])


def test_the_action_says_what_its_inputs_are() -> None:
    """Each input has a description and is used; the page about it names no other."""
    text = (ROOT / "action.yml").read_text().partition("\nruns:")[2]
    assert [
        name for name, each in ACTION["inputs"].items() if not each["description"] or f"inputs.{name}" not in text
    ] == []
    page = (ROOT / releasing.PINNED).read_text()
    block = yaml.safe_load(re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[0])
    assert set(block[-1]["with"]) <= set(ACTION["inputs"])


# --- pre-commit -----------------------------------------------------------------------------------


HOOK = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("a/model.safetensors", True),
        ("x.gguf", True),
        ("pytorch_model.bin", True),
        ("data.npz", True),
        ("README.md", False),
        ("bin/run", False),
        ("gguf.py", False),
    ],
)
def test_the_hook_is_for_weight_files(name: str, wanted: bool) -> None:
    assert bool(re.search(HOOK["files"], name)) == wanted


def test_the_hook_fails_for_what_should_not_be_committed(checkout: Path) -> None:
    """Its entry point runs with file names appended, as pre-commit calls it."""
    program, *words = HOOK["entry"].split()
    files = sorted(
        str(path.relative_to(checkout)) for path in checkout.rglob("*") if re.search(HOOK["files"], path.name)
    )
    sound = [name for name in files if name.startswith("gpt2")]
    for names, code in ((sound, 0), (files, 1)):
        ran = subprocess.run([BIN / program, *words, *names], cwd=checkout, capture_output=True, text=True, check=False)
        assert ran.returncode == code, ran.stdout + ran.stderr


# --- hf -------------------------------------------------------------------------------------------


def test_hf_runs_it_as_an_extension(tmp_path: Path, made: Made) -> None:
    """`hf` starts the program in an installed extension's manifest: of this package, `hf-inspect`."""
    extensions = pytest.importorskip("huggingface_hub.cli.extensions")
    home = tmp_path / ".local" / "share" / "hf" / "extensions" / "hf-inspect"
    home.mkdir(parents=True)
    manifest = {
        "owner": "OWNER",
        "repo": "hf-inspect",
        "repo_id": "OWNER/hf-inspect",
        "short_name": "inspect",
        "executable_name": "hf-inspect",
        "executable_path": str(BIN / "hf-inspect"),
        "source": "",
        "type": "python",
        "installed_at": "2026-11-22T00:00:00+00:00",
    }
    fields = extensions.ExtensionManifest.__dataclass_fields__  # releases differ in what they record
    (home / "manifest.json").write_text(json.dumps({name: manifest[name] for name in fields if name in manifest}))
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "HF_HOME": str(tmp_path / "hf"),
    }
    hf = "from huggingface_hub.cli.hf import main; main()"  # the command itself may be another environment's
    command = [sys.executable, "-c", hf, "inspect", str(made("gpt2"))]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "124.44M parameters, GPT2, F32" in ran.stdout


# --- the changelog and the cut --------------------------------------------------------------------


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The files that a cut changes."""
    for name in ("CHANGELOG.md", releasing.VERSION, releasing.PINNED):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_changelog_is_by_release_with_dates() -> None:
    """The last release has the version of the package."""
    assert releasing.releases(ROOT)[0][0] == inspector.__version__


def test_a_cut_dates_what_is_unreleased(source: Path) -> None:
    """The version, the changelog and the page that names the version are updated together; nothing is lost."""
    (source / "CHANGELOG.md").write_text(
        "# C\n\n## [Unreleased]\n\n### Added\n\n- new\n\n## [0.1.0] - 2026-11-21\n\n- old\n"
    )
    releasing.cut(source, "0.2.0", date(2026, 12, 1))
    assert (
        (source / "CHANGELOG.md").read_text()
        == "# C\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- new\n\n## [0.1.0] - 2026-11-21\n\n- old\n"
    )
    assert releasing.releases(source) == [("0.2.0", date(2026, 12, 1)), ("0.1.0", date(2026, 11, 21))]
    assert releasing.version_of(source) == (0, 2, 0)
    assert "@v0.2.0" in (source / releasing.PINNED).read_text()


def test_the_address_is_written_everywhere(tmp_path: Path) -> None:
    """No file names the placeholder any more, and a release is no longer refused."""
    for name in releasing.ADDRESSED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    releasing.address(tmp_path, "me/inspector")
    texts = [(tmp_path / name).read_text() for name in releasing.ADDRESSED]
    assert not releasing.unnamed(tmp_path)
    assert [text for text in texts if re.search(r"OWNER/(checkpoint|hf)-inspect", text)] == []
    assert "uses: me/inspector@v" in texts[-1] and "hf extensions install me/hf-inspect" in texts[-1]
    for wrong in ("me", "me/in spector", "../x", "me/a/b"):
        with pytest.raises(releasing.RefusalError):
            releasing.address(tmp_path, wrong)


@pytest.mark.parametrize("version", ["0.1.0", "0.0.9", "1.0", "next"])
def test_a_cut_is_of_a_later_version(version: str, source: Path) -> None:
    with pytest.raises(releasing.RefusalError):
        releasing.cut(source, version, date(2026, 12, 1))


@pytest.mark.parametrize(
    "changelog",
    [
        "## [Unreleased]\n\n## [0.2.0]\n",  # no date
        "## [Unreleased]\n\n## [0.2.0] - soon\n",
        "## [0.2.0] - 2026-12-01\n",  # no section for future changes
        "## [Unreleased]\n\n## [0.1.0] - 2026-11-21\n\n## [0.2.0] - 2026-12-01\n",  # out of order
    ],
)
def test_a_changelog_that_is_none_is_refused(changelog: str, tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text(changelog)
    with pytest.raises(releasing.RefusalError):
        releasing.releases(tmp_path)


def test_documents_name_the_projects_address_and_version() -> None:
    """They agree with `[project.urls]` and the package."""
    urls = re.search(
        r'^Homepage = "(https://github\.com/([^"]+))"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE
    )
    assert urls is not None
    page = (ROOT / releasing.PINNED).read_text()
    assert f"uses: {urls[2]}@v{inspector.__version__}" in page
    assert f"repo: {urls[1]}\n    rev: v{inspector.__version__}" in page
    assert f"repo_url: {urls[1]}\n" in (ROOT / "mkdocs.yml").read_text()
    assert f"install {urls[2].partition('/')[0]}/hf-inspect" in page
