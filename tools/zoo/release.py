"""The changes of a new release of Transformers: new or changed model types, with proposed tables.

    python -m zoo.release --work DIR [--list]

Builds every type with its default configuration and compares it with the package's tables. A type that has no table, or
whose table is no longer exact, is then built under many configurations (`build`, `cross`), traced (`trace`) and derived
(`derive`). DIR/proposed/<type>.json is the resulting table, to be reviewed and corrected, for
`inspector/architectures/data/tables/families`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from inspector.architectures import model_types
from inspector.architectures.store import store
from zoo import records
from zoo.check import check_type
from zoo.derive_drafts import load_drafts
from zoo.derive_roles import name_roles
from zoo.write import module_name, source


def run(tool: str, *arguments: str) -> None:
    """One of the stages, in a process of its own."""
    subprocess.run([sys.executable, "-m", f"zoo.{tool}", *arguments], check=True)


def new_and_changed(defaults: Path) -> tuple[list[str], list[str]]:
    """Types without a table, and types whose table was exact at the default and no longer is."""
    types = records.types_in(defaults)
    coverage = store().find("made", "coverage")
    new = [t for t in types if t not in model_types()]
    known = [t for t in types if t in model_types() and coverage.get(t, (0, 0, 0, 0))[1] == 100]
    changed = [t for t in known if not all(v.exact for v in check_type(([defaults], t, "default")))]
    return new, changed


def propose(work: Path, types: list[str]) -> None:
    """Tables of some types, one module each."""
    truth, drafts, proposed = work / "truth", work / "drafts", work / "proposed"
    chosen = ",".join(types)
    run("build", "--out", str(truth), "--types", chosen)
    run("build_crossed", "--truth", str(truth), "--types", chosen)
    run("trace", "--truth", str(truth), "--types", chosen)
    run("derive", "--truth", str(truth), "--drafts", str(drafts), "--types", chosen)
    proposed.mkdir(exist_ok=True)
    for model_type, family in name_roles(load_drafts(drafts)).items():
        (proposed / f"{module_name(model_type)}.json").write_text(source(family))
    run("check", "--truth", str(truth), "--drafts", str(drafts), "--types", chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, default=Path("zoo"), help="where records and proposals go")
    parser.add_argument("--types", default="", help="look at these model types only, comma separated")
    parser.add_argument("--list", action="store_true", help="propose nothing")
    arguments = parser.parse_args()
    defaults = arguments.work / "defaults"
    run("build", "--out", str(defaults), "--defaults", "--types", arguments.types)
    new, changed = new_and_changed(defaults)
    for told, types in (("new", new), ("changed", changed)):
        print(f"{len(types)} {told}: {', '.join(types) or '-'}")
    if not arguments.list and new + changed:
        propose(arguments.work, new + changed)


if __name__ == "__main__":
    main()
