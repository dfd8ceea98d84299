"""Model types' tables from their records: each name pattern's bounds, shapes and conditions.

    python -m zoo.derive --truth DIR [--types a,b] [--hold p3]

Drafts are kept beside the records, one a type; `write.py` makes modules of them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import re
import signal
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.architectures import family_of
from zoo import derive_expressions as expressions
from zoo import derive_study as study
from zoo import records
from zoo.derive_drafts import Draft, derive, load_drafts, look_up_in, raw_defaults
from zoo.derive_includes import scopes_of
from zoo.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from inspector.architectures.table import Family

#: Seconds of work for one type.
LONGEST = 60.0


def work(model_type: str, truth: Path, drafts: Path, hold: str) -> None:
    """Derive one type and keep its draft."""
    found = records.of_type(truth, model_type)
    parts = {part for record in found for part in scopes_of(record.config).values()} - {model_type}
    families = load_drafts(drafts, parts)
    families |= {t: f for t in parts if t not in families and (f := family_of({"model_type": t}))}
    look_up_in(families)
    found = [r for r in found if not (hold and re.search(hold, r.variant))]
    draft = in_time(model_type, found, raw_defaults(model_type) or found[0].declared, families)
    with (drafts / f"{model_type}.pickle").open("wb") as stream:
        pickle.dump({"family": draft.family, "missed": draft.missed}, stream)
    print(
        f"{model_type}\t{draft.seconds:.1f} s\t{len(draft.family.rows)} rows\t{'; '.join(draft.missed[:4])}", flush=True
    )


class TooLongError(Exception):
    """A type whose search takes more than `LONGEST` seconds of work."""


def in_time(model_type: str, found: list[Record], raw: Mapping[str, Any], families: Mapping[str, Family]) -> Draft:
    """The draft; if the search takes too long, one with single expressions only."""

    def stop(*_: object) -> None:
        raise TooLongError

    signal.signal(signal.SIGPROF, stop)
    usual = study.BUDGET
    for budget in (usual, -1.0):
        study.BUDGET, expressions.HASTE = budget, budget < 0
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        try:
            return derive(model_type, found, raw, families)
        except TooLongError:
            continue
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            study.BUDGET, expressions.HASTE = usual, False
    raise TooLongError(model_type)


def attempt(job: tuple[str, Path, Path, str]) -> None:
    """`work`, with one line if it fails."""
    try:
        work(*job)
    except Exception:
        print(f"{job[0]}\tFAILED {traceback.format_exc()[-700:]}", flush=True)


def levels_of(truth: Path, types: Sequence[str]) -> dict[str, int]:
    """0 for a type without parts, otherwise one more than its deepest part."""
    first: dict[str, Path] = {}
    for path in sorted(truth.glob("*.json.gz")):
        first.setdefault(path.name.split("__")[0], path)
    parts = {t: set(scopes_of(records.read(first[t]).config).values()) - {t} for t in types}
    levels = dict.fromkeys(types, 0)
    for _ in range(4):
        levels = {t: max((levels.get(part, 0) + 1 for part in parts[t]), default=0) for t in types}
    return levels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument("--drafts", type=Path, default=Path("drafts"))
    parser.add_argument("--types", default="")
    parser.add_argument("--hold", default="", help="variants (a regular expression) that the tables are not made from")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--missing", action="store_true", help="only types without a draft")
    arguments = parser.parse_args()
    arguments.drafts.mkdir(exist_ok=True)
    chosen = [t for t in arguments.types.split(",") if t] or records.types_in(arguments.truth)
    if arguments.missing:
        chosen = [t for t in chosen if not (arguments.drafts / f"{t}.pickle").exists()]
    recorded = set(records.types_in(arguments.truth))
    chosen = [t for t in chosen if t in recorded]
    levels = levels_of(arguments.truth, chosen)
    import transformers  # noqa: F401 - once, before the workers are forked

    for level in sorted(set(levels.values())):
        jobs = [(t, arguments.truth, arguments.drafts, arguments.hold) for t in chosen if levels[t] == level]
        with multiprocessing.get_context("fork").Pool(arguments.jobs, maxtasksperchild=8) as pool:
            for _ in pool.imap_unordered(attempt, jobs):
                pass


if __name__ == "__main__":
    main()
