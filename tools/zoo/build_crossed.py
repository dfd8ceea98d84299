"""More records: each change that alone made tensors come or go, made again from p2 and p3.

    python -m zoo.build_crossed --truth DIR [--types a,b] [--jobs N]

What a flag brings is seen in one record (`b_<flag>`, from p1) and has one set of dimensions; under `x2_<flag>` and
`x3_<flag>` it has two more, so that its shapes can be traced to fields as well.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import resource
import warnings
from pathlib import Path
from typing import Any

from zoo import records
from zoo.build import MEMORY_LIMIT
from zoo.build import record as write_record
from zoo.build_configurations import construct
from zoo.build_models import build_model, resolve_class
from zoo.build_templates import template_for
from zoo.records import Record

#: Changes for each type; the first in the order of their names.
MOST = 14


def telling(base: Record, record: Record) -> bool:
    """Whether a change added or removed tensors, or is a flag that changed their shapes."""
    switch = record.variant[:2] in ("b_", "s_", "l_", "d_") or record.variant.endswith((".none", ".v0"))
    patterns = {records.pattern_of(n)[0] for n in record.shapes}
    moved = patterns != {records.pattern_of(n)[0] for n in base.shapes}
    return moved or (switch and record.shapes != base.shapes)


def change_of(base: Record, record: Record) -> dict[str, Any]:
    """The overrides that distinguish a record from its base."""
    return {k: v for k, v in record.overrides.items() if k not in base.overrides or base.overrides[k] != v}


def cross(model_type: str, truth: Path) -> None:
    """The further records of one type."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    found = records.of_type(truth, model_type)
    by_class: dict[str, dict[str, Record]] = {}
    for record in found:
        by_class.setdefault(record.cls, {})[record.variant] = record
    made = 0
    for name, variants in by_class.items():
        base = variants.get("p1")
        singles = [r for v, r in sorted(variants.items()) if v[1:2] == "_" and v[0] in "biflsd"]
        if base is None or not singles or "p2" not in variants:
            continue
        cls = resolve_class(name, model_type)
        template, note = template_for(model_type, cls)
        for record in [r for r in singles if telling(base, r)][:MOST]:
            for start in ("p2", "p3"):
                if start in variants:
                    overrides = {**variants[start].overrides, **change_of(base, record)}
                    paths = {tuple(k.split(".")): v for k, v in overrides.items()}
                    with contextlib.suppress(Exception):
                        model = build_model(cls, construct(template, paths))
                        variant = f"x{start[1]}_{record.variant}"
                        write_record(truth, model_type, base.auto, variant, model, note, paths)
                        made += 1
    print(f"{model_type}\t{made}", flush=True)


def worker(job: tuple[str, Path]) -> None:
    """`cross`, catching any exception."""
    warnings.simplefilter("ignore")
    with contextlib.suppress(Exception):
        cross(*job)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument("--types", default="")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    types = [t for t in arguments.types.split(",") if t] or records.types_in(arguments.truth)
    jobs = [(t, arguments.truth) for t in types]
    with multiprocessing.get_context("fork").Pool(arguments.jobs, maxtasksperchild=10) as pool:
        for _ in pool.imap_unordered(worker, jobs):
            pass


if __name__ == "__main__":
    main()
