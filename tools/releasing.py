"""A release: the version and the changelog of the next one, and a rehearsal of it.

    python tools/releasing.py cut 0.2.0     writes version and date; a commit and a tag remain to be made
    python tools/releasing.py address ME/checkpoint-inspector    writes the project's place on GitHub into all files
    python tools/releasing.py check         rehearses the next release on a copy of what is committed

`check` cuts the release in a copy, builds it, and checks everything that a user gets: metadata and contents of the
wheel, a fresh installation, the documentation. It publishes nothing.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from datetime import date, datetime, timezone
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: The module that contains the version.
VERSION = "inspector/version.py"
_VERSION = re.compile(r'^__version__ = "(\d+)\.(\d+)\.(\d+)"$', re.MULTILINE)
_RELEASE = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\S+))?$", re.MULTILINE)
UNRELEASED = "Unreleased"
#: The page that names the version to use.
PINNED = "docs/howto/continuous-integration.md"


class RefusalError(Exception):
    """The reason against a release, in a line."""


def main(arguments: list[str]) -> int:
    """Run the command, and return its exit code."""
    try:
        match arguments:
            case ["cut", version]:
                if unnamed(ROOT):
                    raise RefusalError(TO_DO)
                cut(ROOT, version, datetime.now(timezone.utc).date())
            case ["address", place]:
                address(ROOT, place)
            case ["check"]:
                check()
            case _:
                raise RefusalError("usage: python tools/releasing.py cut VERSION | address OWNER/NAME | check")
    except RefusalError as refused:
        print(f"release: {refused}", file=sys.stderr)
        return 1
    return 0


#: The publisher of the project in `[project.urls]`, until there is one.
OWNER = "OWNER"
TO_DO = f"[project.urls] of pyproject.toml still says {OWNER}: python tools/releasing.py address OWNER/NAME"


def unnamed(root: Path) -> bool:
    """Whether the project has no public address yet."""
    return f"/{OWNER}/" in (root / "pyproject.toml").read_text()


#: Files that contain the project's address.
ADDRESSED = ("pyproject.toml", "mkdocs.yml", "README.md", "CONTRIBUTING.md", "docs/index.md", PINNED)


def address(root: Path, place: str) -> None:
    """Write the project's address into the files that contain it. Raises RefusalError for an invalid address."""
    owner, _, name = place.partition("/")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}", owner) or not re.fullmatch(r"[\w.-]{1,100}", name):
        raise RefusalError(f"{place} is no OWNER/NAME")
    found = re.search(
        r'^Homepage = "https://github\.com/([^/"]+)/([^/"]+)"', (root / "pyproject.toml").read_text(), re.M
    )
    if found is None:
        raise RefusalError("[project.urls] of pyproject.toml has no Homepage on GitHub")
    for file in (root / each for each in ADDRESSED):
        text = file.read_text().replace(f"{found[1]}/{found[2]}", place)
        text = text.replace(f"install {found[1]}/hf-inspect", f"install {owner}/hf-inspect")
        file.write_text(text.replace(f" {found[1]} below is whoever publishes the project.", ""))


# --- the cut --------------------------------------------------------------------------------------


def version_of(root: Path) -> tuple[int, int, int]:
    """The version in the package."""
    found = _VERSION.search((root / VERSION).read_text())
    if found is None:
        raise RefusalError(f"{VERSION} has no __version__ of three numbers")
    return int(found[1]), int(found[2]), int(found[3])


def following(root: Path) -> str:
    """The next release: the next minor version if something is unreleased, else the version as it is."""
    major, minor, patch = version_of(root)
    waiting = section(root, UNRELEASED)
    return f"{major}.{minor + 1}.0" if waiting else f"{major}.{minor}.{patch}"


def section(root: Path, version: str) -> str:
    """The changelog's section on a version, without its heading."""
    text = (root / "CHANGELOG.md").read_text()
    for found in _RELEASE.finditer(text):
        if found["version"] == version:
            return text[found.end() :].split("\n## ", 1)[0].strip()
    return ""


def cut(root: Path, version: str, today: date) -> None:
    """Give the unreleased section a version and a date. Raises RefusalError if it is empty or the version no later."""
    numbers = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version)
    if numbers is None:
        raise RefusalError(f"{version} is no version of three numbers")
    if not section(root, UNRELEASED):
        raise RefusalError("nothing is unreleased")
    if tuple(map(int, numbers.groups())) <= version_of(root):
        raise RefusalError(f"{version} is not later than the version that there is")
    module, changelog, page = (root / name for name in (VERSION, "CHANGELOG.md", PINNED))
    before = ".".join(map(str, version_of(root)))
    page.write_text(page.read_text().replace(f"v{before}", f"v{version}"))
    module.write_text(_VERSION.sub(f'__version__ = "{version}"', module.read_text()))
    heading = f"## [{UNRELEASED}]"
    changelog.write_text(changelog.read_text().replace(heading, f"{heading}\n\n## [{version}] - {today}", 1))


def releases(root: Path) -> list[tuple[str, date]]:
    """The releases in the changelog, the last first. Raises RefusalError for a missing date or a wrong order."""
    found = [(each["version"], each["date"]) for each in _RELEASE.finditer((root / "CHANGELOG.md").read_text())]
    if not found or found[0] != (UNRELEASED, None):
        raise RefusalError(f"the changelog does not begin with [{UNRELEASED}]")
    reported = []
    for version, day in found[1:]:
        try:
            reported.append((version, date.fromisoformat(day or "")))
        except ValueError:
            raise RefusalError(f"the changelog's {version} has no date") from None
    keys = [(tuple(map(int, version.split("."))), day) for version, day in reported]
    if keys != sorted(keys, reverse=True):
        raise RefusalError("the changelog's releases are not in the order of their versions and dates")
    return reported


# --- the rehearsal --------------------------------------------------------------------------------


def check() -> None:
    """Rehearse a release on a copy; print each check. Raises RefusalError at the first that fails."""
    version = following(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "source"
        ran(["git", "rev-parse"])  # fails with a message if this is not a checkout
        copy.mkdir()
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x"], cwd=copy, input=archive, check=True)
        if section(copy, UNRELEASED):
            cut(copy, version, datetime.now(timezone.utc).date())
        steps: list[tuple[str, Callable[[], object]]] = [
            (f"changelog: {version} is the last release, and all are dated", lambda: _is_last(copy, version)),
            (f"tag: v{version} is free", lambda: _is_free(version)),
            ("build: source distribution, and the wheel made of it", lambda: _build(copy)),
            ("metadata: as the index asks for it, with addresses", lambda: _metadata(copy, version)),
            ("wheel: its contents", lambda: ran(["check-wheel-contents", *_wheels(copy)], copy)),
            (f"installation from nothing: `inspect --version` says {version}", lambda: _install(copy, version)),
            ("documentation: builds without a complaint", lambda: _document(copy)),
        ]
        for name, step in steps:
            step()
            print(f"ok  {name}", flush=True)
    if unnamed(ROOT):
        print(f"to do before: {TO_DO}")
    print(f"ready: python tools/releasing.py cut {version}, commit, tag v{version}")


def ran(command: list[str], folder: Path = ROOT) -> str:
    """The output of a program. Raises RefusalError, with its last line, if it fails."""
    program = Path(sys.executable).parent / command[0]
    done = subprocess.run(
        [str(program) if program.exists() else command[0], *command[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise RefusalError(f"{' '.join(command[:3])}: {lines[-1] if lines else 'failed'}")
    return done.stdout


def _is_last(copy: Path, version: str) -> None:
    last = releases(copy)[0]
    if last[0] != version:
        raise RefusalError(f"the changelog's last release is {last[0]}, not {version}")
    if ".".join(map(str, version_of(copy))) != version:
        raise RefusalError(f"{VERSION} has a version other than {version}")


def _is_free(version: str) -> None:
    if ran(["git", "tag", "--list", f"v{version}"]).strip():
        raise RefusalError(f"there is a tag v{version} already")


def _build(copy: Path) -> None:
    ran([sys.executable, "-m", "build", "--outdir", "dist"], copy)
    if len(_wheels(copy)) != 1:
        raise RefusalError("the build made no wheel")


def _wheels(copy: Path) -> list[str]:
    return [str(path) for path in (copy / "dist").glob("*.whl")]


def _metadata(copy: Path, version: str) -> None:
    ran(["twine", "check", "--strict", *map(str, (copy / "dist").iterdir())], copy)
    import zipfile

    with zipfile.ZipFile(_wheels(copy)[0]) as wheel:
        name = next(each for each in wheel.namelist() if each.endswith(".dist-info/METADATA"))
        text = wheel.read(name).decode()
    for line in (f"Version: {version}", "Project-URL: Homepage, ", "Project-URL: Changelog, ", "License-Expression: "):
        if line not in text:
            raise RefusalError(f"the wheel's metadata has no line {line!r}")


def _install(copy: Path, version: str) -> None:
    home = copy.parent / "installed"
    venv.create(home, with_pip=True)
    python = str(home / "bin" / "python")
    ran([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *_wheels(copy)], copy.parent)
    for program in ("inspect", "hf-inspect"):
        reported = ran([str(home / "bin" / program), "--version"], copy.parent).strip()
        if reported != f"inspect {version}":
            raise RefusalError(f"{program} --version says {reported!r}")
    if "6,738,415,616" not in ran([str(home / "bin" / "inspect"), "predict", "llama-7b"], copy.parent):
        raise RefusalError("the installed command does not know llama-7b")


def _document(copy: Path) -> None:
    ran([sys.executable, "-m", "mkdocs", "build", "--strict"], copy)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
