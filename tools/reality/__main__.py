"""Sound models under the audit: what is said of packages that people download, of what libraries write, of famous names.

    python tools/reality CACHE [--only packages|outputs|recipes|tokenizers] [--half seen|held] [--list] [NAME…]

`CACHE` keeps what was fetched and made. Four corpora:

packages   packages.tsv: wheels and npm's packages by their SHA-256, repositories by their commit
outputs    outputs: what the installed libraries write, with their own counts of parameters
recipes    fixtures/recipes: names, sizes and configurations of well-known checkpoints, without numbers
tokenizers tokenizers.tsv: tokenizer.json of repositories and packages by their SHA-256, in `CACHE/tokenizers/DIGEST/` with
           the first 16 digits; what the tokenizers library itself refuses (25 of them by 0.23.3) is not false

All of it is sound, so an error or a warning is false, except for the rules that `true` in packages.tsv names. A first
screen is false if it states another count than the library, or if it says "complete" of a part. Half of the names,
by their hash, are never looked at while rules are corrected: `--half held` is for afterwards.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KINDS = ("packages", "outputs", "recipes", "tokenizers")


class Case(NamedTuple):
    """Something sound, in a folder."""

    kind: str
    name: str
    folder: Path
    counted: int | None = None  # parameters by somebody else's count
    true: frozenset[str] = frozenset()  # rules whose findings are right

    @property
    def half(self) -> str:
        return half(self.name)


class Seen(NamedTuple):
    """What the inspector said of it."""

    case: Case
    false: tuple[str, ...]  # errors and warnings, as lines
    worst: str  # "error", "warning" or ""
    screen: str  # what is false on the first screen, or ""


def half(name: str) -> str:
    """Which half of the corpus a name is in."""
    return "held" if hashlib.sha256(name.encode()).digest()[0] % 2 else "seen"


# --- packages -------------------------------------------------------------------------------------


def packages(cache: Path, wanted: list[str]) -> Iterator[Case]:
    """Those that could be fetched; each is unpacked once."""
    with (HERE / "packages.tsv").open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows, delimiter="\t"):
            if wanted and row["name"] not in wanted:
                continue
            folder = cache / "packages" / f"{row['from']}-{row['name'].replace('/', '-')}"
            if not folder.exists():
                try:
                    _FETCHED[row["from"]](row["name"], row["version"], row["sha256"], folder)
                except (OSError, ValueError, subprocess.CalledProcessError) as error:
                    print(f"not fetched: {row['name']}: {str(error)[:120]}", file=sys.stderr)
                    shutil.rmtree(folder, ignore_errors=True)
                    continue
            yield Case("packages", row["name"], folder, None, frozenset(row["true"].split()))


def _wheel(name: str, version: str, sha256: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", place]
        subprocess.run([*command, f"{name}=={version}"], check=True, capture_output=True)
        _unpack(next(Path(place).iterdir()), sha256, folder)


def _from_npm(name: str, version: str, sha256: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["npm", "pack", "--silent", f"{name}@{version}"], check=True, capture_output=True, cwd=place)
        _unpack(next(Path(place).glob("*.tgz")), sha256, folder)


def _unpack(file: Path, sha256: str, folder: Path) -> None:
    """Raises ValueError if it is not the file that was looked at."""
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != sha256:
        raise ValueError(f"{file.name} has the digest {found}")
    folder.mkdir(parents=True)
    if zipfile.is_zipfile(file):
        zipfile.ZipFile(file).extractall(folder)
    else:
        with tarfile.open(file) as archive:
            archive.extractall(folder, filter="data")


def _clone(name: str, version: str, sha256: str, folder: Path) -> None:
    del sha256  # the commit is the digest of all it holds
    address = f"https://github.com/{name}"
    inside = ["git", "-C", str(folder)]
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True, capture_output=True)
    subprocess.run([*inside, "fetch", "--depth=1", address, version], check=True, capture_output=True)
    subprocess.run([*inside, "checkout", "FETCH_HEAD"], check=True, capture_output=True)
    shutil.rmtree(folder / ".git")


_FETCHED = {"pypi": _wheel, "npm": _from_npm, "git": _clone}


# --- outputs, recipes -----------------------------------------------------------------------------


def outputs(cache: Path, wanted: list[str]) -> Iterator[Case]:
    """What the installed libraries write; each in a process of its own, once."""
    from outputs import OUTPUTS

    os.environ |= {"KERAS_BACKEND": "torch", "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    warnings.filterwarnings("ignore")
    for name in OUTPUTS:
        folder, stated = cache / "outputs" / name, cache / "outputs" / f"{name}.json"
        if wanted and name not in wanted:
            continue
        if not stated.exists():
            subprocess.run([sys.executable, __file__, str(cache), "--make", name], check=False, capture_output=True)
        if not stated.exists():
            print(f"not made: {name}", file=sys.stderr)
            continue
        yield Case("outputs", name, folder, json.loads(stated.read_text()))


def make(cache: Path, name: str) -> None:
    """One output, in this process."""
    from outputs import OUTPUTS

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / name
        folder.mkdir()
        count = OUTPUTS[name](folder)
        shutil.rmtree(cache / "outputs" / name, ignore_errors=True)
        shutil.copytree(folder, cache / "outputs" / name)
        (cache / "outputs" / f"{name}.json").write_text(json.dumps(count))


def recipes(cache: Path, wanted: list[str]) -> Iterator[Case]:
    """Well-known checkpoints, as sparse files."""
    sys.path.insert(0, str(ROOT / "fixtures"))
    import sparse

    for path in sorted((ROOT / "fixtures/recipes").glob("*.json")):
        if wanted and path.stem not in wanted:
            continue
        recipe = sparse.load(path.stem)
        folder = cache / "recipes" / path.stem
        if not folder.exists():
            sparse.make(recipe, folder)
        yield Case("recipes", path.stem, folder, recipe.get("parameters"))


def tokenizers(cache: Path, wanted: list[str]) -> Iterator[Case]:
    """Those that are in the cache."""
    with (HERE / "tokenizers.tsv").open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows, delimiter="\t"):
            file = cache / "tokenizers" / row["sha256"][:16] / "tokenizer.json"
            if wanted and row["name"] not in wanted:
                continue
            if file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == row["sha256"]:
                yield Case("tokenizers", row["sha256"], file.parent, None, frozenset(("tokenizer", "added-tokens")))
            else:
                print(f"not fetched: {row['name']}: {row['path']}", file=sys.stderr)


# --- judging --------------------------------------------------------------------------------------


def look(case: Case) -> Seen:
    """What the inspector says; the data of recipes is zeros, so it is not read."""
    read = () if case.kind == "recipes" else ("--data",)
    audited = _asked("audit", *read, str(case.folder))
    found = [each for one in audited.get("checkpoints", ()) for each in one["findings"]]
    false = [each for each in found if each["severity"] != "info" and each["rule"] not in case.true]
    worst = next((word for word in ("error", "warning") if any(each["severity"] == word for each in false)), "")
    lines = [f"{each['severity']} {each['rule']} {each['path']}: {each['message']}" for each in false]
    return Seen(case, tuple(lines), worst, _screen(case))


def _screen(case: Case) -> str:
    if case.counted is None:
        return ""
    parameters = _asked(str(case.folder)).get("parameters")
    stated = parameters.get("logical") if isinstance(parameters, dict) else None
    return "" if stated == case.counted else f"{stated} parameters stated, {case.counted} counted by the library"


def _asked(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "inspector", *arguments, "--json"]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    try:
        answer: dict[str, Any] = json.loads(ran.stdout)
    except ValueError:  # no weights, or an error in one line
        return {}
    return answer


def table(seen: list[Seen]) -> Iterator[str]:
    """Counts by kind, and each half apart."""
    yield f"{'':<10} {'half':<5} {'looked at':>9} {'false errors':>13} {'false warnings':>15} {'false first screens':>20}"
    for kind in KINDS:
        for part in ("seen", "held"):
            own = [each for each in seen if each.case.kind == kind and each.case.half == part]
            if own:
                errors, alarms = (sum(each.worst == word for each in own) for word in ("error", "warning"))
                screens = sum(bool(each.screen) for each in own)
                yield f"{kind:<10} {part:<5} {len(own):>9} {errors:>13} {alarms:>15} {screens:>20}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--half", choices=("seen", "held"))
    parser.add_argument("--list", action="store_true", help="the false statements themselves")
    parser.add_argument("--make", metavar="NAME", help=argparse.SUPPRESS)
    asked = parser.parse_intermixed_args()
    (asked.cache / "outputs").mkdir(parents=True, exist_ok=True)
    if asked.make:
        make(asked.cache, asked.make)
        return
    seen = []
    for kind, cases in zip(KINDS, (packages, outputs, recipes, tokenizers), strict=True):
        for case in cases(asked.cache.resolve(), asked.names) if asked.only in (None, kind) else ():
            if asked.half in (None, case.half):
                seen.append(look(case))
                if asked.list and (seen[-1].false or seen[-1].screen):
                    print(case.name, *seen[-1].false, *filter(None, [seen[-1].screen]), sep="\n    ")
    print(*table(seen), sep="\n")


if __name__ == "__main__":
    main()
