"""Takes over the releases that are installed: what is new, changed or gone, tables derived, proven and adopted.

    python -m zoo.release --work DIR [--types a,b] [--list]

Every type of Transformers is built with its default configuration and compared with the package's tables, every class
of Diffusers with its default arguments. A type that has no table is built under many configurations (`build`,
`build_crossed`), traced (`trace`) and derived (`derive`). Where a draft is not exact on drawn configurations that
deriving never saw, or on those that are made to contradict its formulas (`build_probes`), these become part of what it
is derived from, and others are drawn. What is exact everywhere, and has no formula that its records do not prove
(`doubts`), is adopted (`adopt`), its cache by running it; the rest is left for a hand, by name and reason. Run again, it
changes nothing.

DIR/report.md says all this, for a pull request. Of other packages (PEFT, sentence-transformers, gguf, vLLM) what no
table has is listed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import importlib.metadata
import json
import multiprocessing
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import table_text

from inspector.architectures import listed_gguf, model_types, predicted_gguf
from inspector.architectures.store import FOLDER, store
from zoo import adopt, check_roles, records
from zoo.check import check_type, coverage, fixtures, forget

#: Seeds of the configurations that deriving never sees: the second for types that the first corrected.
SEEDS = (424, 991)
#: Types that are compared sooner by one process than by several.
FEW = 8
#: Distributions that the tables are made from.
PACKAGES = ("transformers", "diffusers", "peft", "sentence-transformers", "gguf", "xllamacpp", "vllm")
#: What a run leaves in its folder, besides the report.
RECORDED = ("defaults", "diffusers", "truth", "held", "traces", "drafts", "failures.tsv", "caches.jsonl")
#: vLLM's lists of classes, without drafts and those that it has no more.
VLLM_KINDS = ("TEXT_GENERATION", "MULTIMODAL", "EMBEDDING", "TOKEN_CLASSIFICATION", "SEQUENCE_CLASSIFICATION")
RELEASES = FOLDER / "checked" / "releases.json"


#: Lines, and at the end the types that a release does not confirm.
Report = Generator[str, None, list[str]]
Lines = Generator[str, None, None]


def run(tool: str, *arguments: str) -> None:
    """One of the stages, in a process of its own."""
    subprocess.run([sys.executable, "-m", f"zoo.{tool}", *arguments], check=True, stdout=subprocess.DEVNULL)


def installed() -> dict[str, str]:
    """The distributions that are installed, with their versions."""
    found = {}
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def prepared(work: Path, versions: dict[str, str]) -> None:
    """The folder of the work; what was recorded of other releases is removed, so that an interrupted run can go on."""
    stamp = work / "versions.json"
    if stamp.exists() and json.loads(stamp.read_text()) != versions:
        for name in RECORDED:
            shutil.rmtree(work / name, ignore_errors=True)
            (work / name).unlink(missing_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    stamp.write_text(json.dumps(versions))


class Compared(NamedTuple):
    """What comes of comparing a library's default models with the tables."""

    new: list[str]  # types without a table
    changed: list[str]  # types whose table was exact at the default and no longer is
    unbuilt: list[str]  # types that have a table, of which no class could be built
    differing: list[str]  # types that differ at the default, the changed ones among them

    @property
    def behind(self) -> list[str]:
        """Types whose tables this release does not confirm."""
        return sorted({*self.differing, *self.unbuilt})


def compared(defaults: Path, ours: Iterable[str]) -> Compared:
    """A library's default models against the tables of our types."""
    built = records.types_in(defaults)
    covered = store().find("made", "coverage")
    known = [t for t in built if t in model_types()]
    jobs = [([defaults], t, "default") for t in known]
    if len(jobs) < FEW:
        verdicts = [check_type(job) for job in jobs]
    else:
        with multiprocessing.get_context("fork").Pool() as pool:
            verdicts = pool.map(check_type, jobs, chunksize=1)
    differing = [t for t, found in zip(known, verdicts, strict=True) if not all(each.exact for each in found)]
    changed = [t for t in differing if covered.get(t, (0, 0, 0, 0))[1] == 100]
    return Compared([t for t in built if t not in model_types()], changed, sorted({*ours} - {*built}), differing)


def derived(work: Path, types: Sequence[str]) -> None:
    """Records, traces and drafts of some types, and configurations that these never saw."""
    truth, held, drafts = str(work / "truth"), str(work / "held"), str(work / "drafts")
    missing = [t for t in types if not list((work / "truth").glob(f"{t}__*"))]
    if missing:
        chosen = ",".join(missing)
        run("build", "--out", truth, "--types", chosen)
        run("build_crossed", "--truth", truth, "--types", chosen)
        run("trace", "--truth", truth, "--types", chosen)
        run("build", "--out", held, "--seed", str(SEEDS[0]), "--types", chosen)
    run("derive", "--truth", truth, "--drafts", drafts, "--types", ",".join(types), "--missing")
    probed(work, [t for t in types if not any(list((work / name).glob(f"{t}__*__t0*")) for name in ("held", "truth"))])


def probed(work: Path, types: Sequence[str]) -> None:
    """Configurations that are made to contradict the drafts of some types."""
    if types:
        run("build_probes", "--out", str(work / "held"), "--drafts", str(work / "drafts"), "--types", ",".join(types))


def corrected(work: Path, types: Sequence[str]) -> None:
    """Derive again from what was held out, and hold out others."""
    truth, held = work / "truth", work / "held"
    for path in (path for t in types for path in held.glob(f"{t}__*")):
        shutil.move(path, truth / path.name)
    chosen = ",".join(types)
    run("trace", "--truth", str(truth), "--types", chosen, "--variants", "default,p1,p2,p3,h1,h2")
    run("build", "--out", str(held), "--seed", str(SEEDS[1]), "--types", chosen)
    run("derive", "--truth", str(truth), "--drafts", str(work / "drafts"), "--types", chosen)
    probed(work, types)


def transformers(work: Path, chosen: str, only_list: bool) -> Report:
    """What a release of Transformers brings, as lines of the report; its tables, where they are proven."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    started = time.process_time()
    defaults = work / "defaults"
    run("build", "--out", str(defaults), "--defaults", "--resume", *(["--types", chosen] if chosen else []))
    outside = {t for name in store().names("families") for t in store().find("families", name).get("outside", ())}
    ours = {t for t, table in model_types().items() if not table.startswith("diffusers_")}
    gone = [] if chosen else sorted(ours - set(CONFIG_MAPPING_NAMES) - outside)
    found = compared(defaults, () if chosen else ours & set(CONFIG_MAPPING_NAMES) - outside)
    wanted = chosen.split(",") if chosen else CONFIG_MAPPING_NAMES
    new, changed = [t for t in found.new if t in wanted], found.changed  # an earlier run may have built others
    unbuilt = sorted(t for t in wanted if t not in model_types() and t not in new)
    for what, types in (
        ("new", new),
        ("changed", changed),
        ("gone", gone),
        ("new, without a class that builds", unbuilt),
        ("not compared, no class builds", found.unbuilt),
    ):
        yield f"- {len(types)} {what}: {_listed(types)}"
    if only_list or not new:
        return found.behind
    derived(work, new)
    first = adopt.proofs(work, new)
    wrong = [p.model_type for p in first if p.against and p.drawn + p.probes > p.drawn_exact + p.probes_exact]
    yield f"- exact before correcting: {_share(first)}"
    if wrong:
        corrected(work, wrong)
    proofs = adopt.adopted(work, new)
    yield f"- {sum(not p.against for p in proofs)} adopted without a hand, {sum(bool(p.against) for p in proofs)} left for one"
    yield "\n| type | result | records | drawn | probes |\n| --- | --- | --- | --- | --- |"
    for p in sorted(proofs, key=lambda p: (bool(p.against), p.model_type)):
        yield f"| {p.model_type} | {f'left: {p.against}' if p.against else 'adopted'} | {p.exact}/{p.records} | {p.drawn_exact}/{p.drawn} | {p.probes_exact}/{p.probes} |"
    asked = adopt.failures(work)
    refused = [f"{t} ({', '.join(f'{cls}: {n}' for cls, n in asked[t].items())})" for t in new if t in asked]
    yield f"\n- variants that were asked for and not built: {'; '.join(refused) or 'none'}"
    finished(work, [p.model_type for p in proofs if not p.against])
    yield f"- caches: {'; '.join(f'{t}: {stated}' for t, stated in measured(work, proofs)) or 'none of these generates'}"
    yield f"- {time.process_time() - started:.0f} s of this process's own work"
    return found.behind


def _share(proofs: Sequence[adopt.Proof]) -> str:
    drawn, probes = sum(p.drawn for p in proofs), sum(p.probes for p in proofs)
    exact = sum(p.drawn_exact for p in proofs), sum(p.probes_exact for p in proofs)
    return f"{exact[0]} of {drawn} drawn configurations, {exact[1]} of {probes} made to contradict the formulas"


def finished(work: Path, types: Sequence[str]) -> None:
    """Roles by use, coverage and cases of adopted types."""
    forget()
    seen = check_roles.seen_of(work / "truth", types)
    check_roles.write(seen.values(), work / "truth")
    table = {t: check_type(([work / "truth", work / "held"], t, "")) for t in types}
    coverage(table)
    fixtures([work / "truth", work / "held"], table)


def measured(work: Path, proofs: Sequence[adopt.Proof]) -> Iterator[tuple[str, str]]:
    """Run the adopted types that generate, and give their tables the cache that explains what was held."""
    from zoo.build_caches import generating

    types = [p.model_type for p in proofs if not p.against and p.model_type in generating()]
    out = work / "caches.jsonl"
    if types:
        run("build_caches", "--seed", str(SEEDS[0]), "--out", str(out), "--types", ",".join(types))
    yield from adopt.caches_of(out)


def diffusers(work: Path) -> Report:
    """What a release of Diffusers brings."""
    from zoo.build_diffusers_models import model_classes

    ours = {t for t, table in model_types().items() if table.startswith("diffusers_")}
    classes = set(model_classes())
    run("build_diffusers", "--out", str(work / "diffusers"), "--defaults", "--missing")
    found = compared(work / "diffusers", ours & classes)
    yield f"- {len(classes - ours)} new: {_listed(sorted(classes - ours))}"
    yield f"- {len(found.changed)} changed: {_listed(found.changed)}"
    yield f"- {len(found.unbuilt)} not compared, not built: {_listed(found.unbuilt)}"
    yield f"- {len(ours - classes)} gone: {_listed(sorted(ours - classes))}"
    return found.behind


def peft(_: Path) -> Lines:
    """Adapter methods that no table has."""
    from peft.mapping import PEFT_TYPE_TO_TUNER_MAPPING

    known = {name.lower().replace("-", "_") for name in store().names("adapters")}
    names = sorted(each.value.lower() for each in PEFT_TYPE_TO_TUNER_MAPPING)
    yield f"- {len(names)} methods, of these without a table of that name: {_listed(n for n in names if n not in known)}"


def gguf(_: Path) -> Lines:
    """Architectures that no table has."""
    from gguf.constants import MODEL_ARCH_NAMES

    unknown = sorted(set(MODEL_ARCH_NAMES.values()) - predicted_gguf())
    yield f"- {len(MODEL_ARCH_NAMES)} architectures, without a table: {_listed(unknown)}"
    known = {each.architecture: each.model_type for each in listed_gguf()}
    alone = sorted(name for name, model_type in known.items() if model_type is None)
    yield f"- known in GGUF alone: {_listed(alone)}"


def vllm(_: Path) -> Lines:
    """Classes of vLLM's registry that no table names; the file is read, for importing it needs a GPU's libraries."""
    from inspector.architectures.data.dialects import type_of_class

    (path,) = (
        each for each in importlib.metadata.files("vllm") or () if each.match("model_executor/models/registry.py")
    )
    lists: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict) and isinstance(node.targets[0], ast.Name):
            lists[node.targets[0].id] = [str(each.value) for each in node.value.keys if isinstance(each, ast.Constant)]
    for kind in VLLM_KINDS:
        names = lists[f"_{kind}_MODELS"]
        yield f"- {len(names)} of {kind}, without a type: {_listed([name for name in names if not type_of_class(name)])}"


def sentence_transformers(_: Path) -> Lines:
    """The modules of a pipeline."""
    models = importlib.import_module("sentence_transformers.models")
    yield f"- modules: {_listed(sorted(name for name in dir(models) if name[0].isupper()))}"


def _listed(names: Iterator[str] | Sequence[str]) -> str:
    return ", ".join(names) or "–"


#: Distribution → what says what it brings.
OTHERS: dict[str, Callable[[Path], Generator[str, None, list[str] | None]]] = {
    "diffusers": diffusers,
    "peft": peft,
    "sentence-transformers": sentence_transformers,
    "gguf": gguf,
    "vllm": vllm,
}


def dated(versions: dict[str, str], behind: dict[str, list[str]]) -> None:
    """Write which releases the tables were compared with, and which types no longer match or were not compared."""
    releases = json.loads(RELEASES.read_text())
    for name, title in (("transformers", "Transformers"), ("diffusers", "diffusers")):
        if name not in versions or name not in behind:
            continue
        before = releases[name]["release"]
        kept = releases[name]["behind"]
        releases[name] = {
            "release": f"{title} {versions[name]}",
            "behind": {each: kept.get(each, before) for each in sorted(behind[name])},
        }
    RELEASES.write_text(table_text.layout(releases))


def report(work: Path, chosen: str, only_list: bool) -> Iterator[str]:
    """The whole report, line by line as it is made."""
    versions = installed()
    yield f"# Releases taken over: {', '.join(f'{name} {version}' for name, version in versions.items())}\n"
    yield "## Transformers\n"
    behind = {"transformers": (yield from transformers(work, chosen, only_list))}
    if chosen:
        return
    for name, asked in OTHERS.items():
        if name in versions:
            yield f"\n## {name}\n"
            try:
                if (without := (yield from asked(work))) is not None:
                    behind[name] = without
            except (ImportError, AttributeError, subprocess.CalledProcessError) as error:
                yield f"- not read: {type(error).__name__}: {error}"
    if not only_list:
        dated(versions, behind)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, default=Path("zoo"), help="where records, drafts and the report go")
    parser.add_argument("--types", default="", help="look at these model types only, comma separated")
    parser.add_argument("--list", action="store_true", help="adopt nothing")
    arguments = parser.parse_args()
    prepared(arguments.work, installed())
    with (arguments.work / "report.md").open("w") as stream:
        for line in report(arguments.work, arguments.types, arguments.list):
            print(line, flush=True)
            print(line, file=stream, flush=True)


if __name__ == "__main__":
    main()
