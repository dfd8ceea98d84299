"""Does the audit decide as the loader would? On random faults in downloads that the real libraries wrote.

    python tools/loading/compare.py make OUT --set a --seed 1 --number 1500    # needs torch, transformers, peft, …
    python tools/loading/compare.py judge OUT [--list missed|alarm|…]       # needs the inspector alone

A stern verdict is of a file that is destroyed, and that the loader goes on without: a template that is a web page.

`make` writes the downloads, copies of them with a fault each, and what the loader did (`OUT/cases.jsonl`). `judge`
audits the copies and counts, by class of fault:

| the loader | the audit |
|---|---|
| refuses | an error is right, a warning weak, silence missed |
| reports missing, unexpected or misshapen weights, or ids without a row | an error or a warning is right, silence missed |
| makes something else, and reports nothing | an error is stern; anything else is right |
| makes the same | an error or a warning is an alarm |
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
Case = dict[str, Any]
COLUMNS = ("right", "weak", "missed", "stern", "alarm")


# --- making ---------------------------------------------------------------------------------------


def make(out: Path, part: str, seed: int, number: int, only: tuple[str, ...]) -> None:
    """Write cases up to this number; existing ones stay."""
    import torch

    torch.set_num_threads(1)
    import diffusers  # noqa: F401  once for all children
    import downloads
    import faults
    import loaders
    import peft  # noqa: F401
    import sentence_transformers  # noqa: F401
    import transformers  # noqa: F401

    seeds = out.parent / "seeds" / part
    for each in {part, "a"}:  # adapters are loaded onto the first set's Llama
        downloads.make(each, out.parent / "seeds" / each, () if each == part else ("llama",))
    names = sorted(each.name for each in seeds.iterdir() if not only or each.name in only)
    base = out.parent / "seeds" / "a" / "llama"
    for name in names:
        loaders.warm(downloads.LOADED[name], seeds / name, base)
    sound = {name: _asked(loaders, downloads.LOADED[name], seeds / name, seeds / name, base) for name in names}
    for name in [name for name in names if sound[name].refused]:  # a fault in it would show nothing
        print(f"{name} left out: refused as it is: {sound[name].refused[:200]}")
        names.remove(name)
    out.mkdir(parents=True, exist_ok=True)
    with (out / "cases.jsonl").open("a") as lines:
        for index in range(number):
            draw = random.Random(f"{seed}-{index}")
            name = names[index % len(names)]
            folder = out / f"{index:05}-{name}"
            if folder.exists():
                continue
            shutil.copytree(seeds / name, folder)
            others = [seeds / each for each in names if each != name]
            kind, detail = faults.mutate(folder, others, draw)
            found = _asked(loaders, downloads.LOADED[name], folder, seeds / name, base)
            case = {"id": folder.name, "class": kind, "detail": detail, "loader": _verdict(found, sound[name])}
            refused = found.refused
            lines.write(json.dumps({**case, "refused": refused, "reported": found.reported[:4]}) + "\n")
            lines.flush()


def _asked(loaders: Any, kind: str, folder: Path, seed: Path, base: Path) -> Any:
    os.environ["SEED"] = str(seed)
    return loaders.ask(kind, folder, base)


def _verdict(found: Any, sound: Any) -> str:
    if found.refused:
        return "refuses"
    if set(found.reported) - set(sound.reported):
        return "reports"
    return "same" if found.made == sound.made else "differs"


# --- judging --------------------------------------------------------------------------------------


def audited(folder: Path) -> tuple[str, str]:
    """The gravest severity in the audit, and its first findings."""
    import inspector

    try:
        result = inspector.audit([folder])
    except inspector.InspectorError as error:
        return "unread", str(error)
    found = [each for model in result.checkpoints for each in model.findings if each.severity != "info"]
    found.sort(key=lambda each: each.severity)
    reported = "; ".join(f"{each.severity[0].upper()} {each.rule}: {each.message[:90]}" for each in found[:3])
    return (found[0].severity if found else "silent"), reported


def judged(case: Case, severity: str) -> str:
    """The audit's verdict compared with the loader's."""
    if case["loader"] == "refuses":
        return {"error": "right", "unread": "right", "warning": "weak"}.get(severity, "missed")
    if case["loader"] == "reports":
        return "right" if severity != "silent" else "missed"
    if case["loader"] == "differs":
        return "stern" if severity in ("error", "unread") else "right"
    return "right" if severity == "silent" else "alarm"


def _one(folder: Path, line: str) -> tuple[Case, str, str]:
    case: Case = json.loads(line)
    severity, reported = audited(folder / case["id"])
    return case, judged(case, severity), f"{severity}: {reported}"


def judge(out: Path, listed: tuple[str, ...], words: str) -> None:
    """Audit every case, count, and list the cases of some kinds."""
    lines = (out / "cases.jsonl").read_text().splitlines()
    with ProcessPoolExecutor(2) as pool:
        rows = list(pool.map(_one, [out] * len(lines), lines, chunksize=20))
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for case, verdict, reported in rows:
        for row in (case["class"], "ALL", f"ALL that the loader {case['loader']}"):
            counts[row][verdict] += 1
        if verdict in listed and words in json.dumps(case):
            print(f"{verdict:7}{case['id']:28}{case['class']}: {case['detail']}")
            print(f"       {case['loader']}: {(case['refused'] or '; '.join(case['reported']))[:200]}")
            print(f"       audit {reported[:300]}")
    print(f"{'':44}{'cases':>7}{'right':>7}{'weak':>7}{'missed':>7}{'stern':>7}{'alarm':>7}")
    for name in sorted(counts, key=lambda each: (each.startswith("ALL"), each)):
        row = counts[name]
        print(f"{name:44}{row.total():7}" + "".join(f"{row[each]:7}" for each in COLUMNS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "judge"])
    parser.add_argument("out", type=Path)
    parser.add_argument("--set", default="a", choices=[*"abcdefg"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, default=1_000)
    parser.add_argument("--only", nargs="*", default=[], help="downloads")
    parser.add_argument("--list", nargs="*", default=[], help=f"of {', '.join(COLUMNS)}")
    parser.add_argument("--words", default="", help="list those cases alone that have them")
    given = parser.parse_args()
    if given.what == "make":
        make(given.out.absolute(), given.set, given.seed, given.number, tuple(given.only))
    else:
        judge(given.out, tuple(given.list), given.words)


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]
    main()
