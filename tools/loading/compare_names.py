"""Does `tensor-names` agree with Transformers on which stored names a class loads?

    python tools/loading/compare_names.py draw FILE --seed 1 --number 200 [TYPE…]    # needs torch, transformers
    python tools/loading/compare_names.py judge FILE                                 # needs the inspector alone
    python tools/loading/compare_names.py record FILE…

`draw` takes models of fixtures/cases, replaces a pattern in every name, and records how many tensors
`from_pretrained(output_loading_info=True)` then misses and does not know. Several changes are not a fault: names that
Transformers renames as it loads. `judge` audits a file with these names, and counts: it must warn exactly where weights
are both missing and present under names that are not loaded. `record` takes from FILEs what `tests/test_loaded_names.py`
compares with (`fixtures/loaded_names.jsonl`): a row of each outcome, of the cases that have both.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures"), str(ROOT / "tools")]

import cases  # noqa: E402  found through the path above

Row = dict[str, Any]
PLACE = ROOT / "fixtures" / "loaded_names.jsonl"
#: The largest model that is loaded.
MOST_ELEMENTS = 20_000_000

#: What programs put before every name, and into each layer's.
PREFIXES = (
    "base_model.model.", "module.", "_orig_mod.", "_forward_module.", "model._forward_module.", "model.", "net.",
    "language_model.", "model.language_model.", "transformer.", "encoder.", "module.model.", "state_dict.", "thinker.",
    "base_model.", "backbone.", "student.", "llm.", "bert.", "roberta.",
)  # fmt: skip
WRAPPERS = ("_fsdp_wrapped_module", "_orig_mod", "module", "_checkpoint_wrapped_module")
#: A word of one convention, and of others.
WORDS = {
    "layers": "layer h blocks", "layer": "layers", "h": "layers", "block": "blocks", "self_attn": "attention attn",
    "attention": "self_attn", "mlp": "feed_forward ffn block_sparse_moe", "q_proj": "query", "query": "q_proj",
    "gate_proj": "w1", "up_proj": "w3", "down_proj": "w2", "w1": "gate_proj", "w3": "up_proj", "w2": "down_proj",
    "fc1": "dense_h_to_4h", "input_layernorm": "ln_1", "embed_tokens": "wte", "o_proj": "out_proj",
    "norm": "final_layernorm", "encoder": "blocks", "vision_tower": "visual", "vision_model": "vision_tower",
    "weight": "kernel",
}  # fmt: skip
HEADS = ("output", "embed_out", "head", "lm_head", "score", "classifier", "decoder", "logits", "proj_out", "qa_outputs")
EXPERTS = ("moe.experts", "mlp.moe.experts", "ffn.experts", "block_sparse_moe.experts", "feed_forward.experts")


def changes(names: Sequence[str]) -> list[tuple[str, str]]:
    """Patterns, and what takes their place in every name, that may change these."""
    firsts = sorted({name.partition(".")[0] for name in names})
    return [
        *(("^", word) for word in PREFIXES),
        *((f"^{first}\\.", "") for first in firsts),
        *((f"^(?!{first}\\.)", f"{first}.") for first in firsts),
        *((rf"(?:(?<=\.)|^){own}(?=\.|$)", other) for own, others in WORDS.items() for other in others.split()),
        *((r"^(.*?)\.(\d+)\.", rf"\1.\2.{word}.") for word in WRAPPERS),
        *((r"(mlp|block_sparse_moe|feed_forward)\.experts", word) for word in EXPERTS),
        *((f"^{own}\\.", f"{other}.") for own in firsts if own in HEADS for other in HEADS),
        (r"(proj|query|key|value|fc\d)\.(weight|bias)$", r"\1.base_layer.\2"),
        (r"^([a-z_]+)\.[a-z_]+\.(?=[a-z_]+\.)", r"\1."),
        (r"^([a-z_]+)\.([a-z_]+)\.(?=[a-z_]+\.)", r"\2.\1."),
        (r"(^|\.)language_model\.", r"\1"),
        (r"^model\.language_model\.", "language_model.model."),
        (r"^language_model\.(model|lm_head)\.", r"\1."),
        (r"(LayerNorm)\.weight$", r"\1.gamma"),
        (r"\.parametrizations\.weight\.original0", ".weight_g"),
        (r"(\.1\..*)weight$", r"\1weight_"),
    ]


def draw(out: Path, seed: int, number: int, only: Sequence[str]) -> None:
    """Append rows up to this number; those of the file stay."""
    from transformers import logging

    logging.set_verbosity_error()
    chance = random.Random(seed)
    paths = sorted(path for path in cases.FOLDER.glob("*.txt") if not only or path.stem in only)
    done = len(out.read_text().splitlines()) if out.exists() else 0
    while done < number:
        path = chance.choice(paths)
        at, case = chance.choice(list(enumerate(cases.load(path))))
        if sum(map(prod, case.shapes.values())) > MOST_ELEMENTS:
            continue
        names = list(case.shapes)
        fitting = [each for each in changes(names) if any(re.sub(*each, name) != name for name in names)]
        for change in chance.sample(fitting, min(3, len(fitting))):
            try:
                missing, unknown = loaded(case.config, {re.sub(*change, name): name for name in names})
            except Exception as error:
                print(path.stem, change, type(error).__name__, str(error)[:100], file=sys.stderr)
                break
            with out.open("a") as file:
                row = {"case": path.stem, "number": at, "change": change, "missing": missing, "unknown": unknown}
                print(json.dumps(row), file=file)
            done += 1


def loaded(config: dict[str, Any], names: dict[str, str]) -> tuple[int, int]:
    """How many tensors the class misses, and does not know, of a file with new names for the sound ones."""
    import torch
    from transformers import CONFIG_MAPPING
    from zoo.build_models import build_model, resolve_class, saved_tensors

    cls = resolve_class(config["architectures"][0])
    made = CONFIG_MAPPING[config["model_type"]].from_dict(json.loads(json.dumps(config)))
    saved = {each: (value[1], value[0]) for each, value in saved_tensors(build_model(cls, made))[0].items()}
    state = {
        new: torch.zeros((), dtype=getattr(torch, saved[own][0].removeprefix("torch."))).expand(*saved[own][1])
        for new, own in names.items()
    }
    _, reported = cls.from_pretrained(None, config=made, state_dict=state, output_loading_info=True)
    return len(reported["missing_keys"]), len(reported["unexpected_keys"])


def rows_of(sources: Sequence[Path]) -> Iterator[Row]:
    """The rows of files."""
    return (json.loads(line) for source in sources for line in source.read_text().splitlines())


def record(sources: Sequence[Path]) -> None:
    """Write the fixture: one row of each outcome, of the cases that have both."""
    one = {(row["case"], not row["missing"]): row for row in [*rows_of(sources)][::-1]}
    rows = [row for (case, outcome), row in one.items() if (case, not outcome) in one]
    rows.sort(key=lambda row: (row["case"], row["number"], row["change"]))
    PLACE.write_text("".join(json.dumps(row) + "\n" for row in rows))


def judge(source: Path, listed: str) -> None:
    """Audit every row, and print the counts, and the rows of some verdicts."""
    counts: Counter[str] = Counter()
    for row in rows_of([source]):
        verdict, found = judged(row)
        counts[verdict] += 1
        if verdict in listed.split(","):
            print(
                f"{row['case']} {row['number']} {row['change']}: {verdict}; {row['missing']}, {row['unknown']}; {found}"
            )
    print(dict(counts))


def judged(row: Row) -> tuple[str, list[str]]:
    """The audit's verdict compared with the class's, and its findings."""
    import hostile

    import inspector

    case = cases.load(cases.FOLDER / f"{row['case']}.txt")[row["number"]]
    pattern, other = row["change"]
    shapes = {re.sub(pattern, other, name): list(shape) for name, shape in case.shapes.items()}
    with tempfile.TemporaryDirectory() as folder:
        head = hostile.safetensors(shapes, data=False)
        with Path(folder, "model.safetensors").open("wb") as file:
            file.write(head)
            file.truncate(len(head) + 2 * sum(map(prod, shapes.values())))
        Path(folder, "config.json").write_text(json.dumps(case.config))
        found = [each for model in inspector.audit(folder).checkpoints for each in model.findings]
    warned = [each.message for each in found if each.rule == "tensor-names"]
    lost = [each.message for each in found if each.rule in ("missing", "shape")]
    if row["missing"] and row["unknown"]:
        return ("right" if warned else "an error alone" if lost else "missed"), (warned + lost)[:2]
    return ("alarm" if warned else "right"), (warned + lost)[:2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["draw", "judge", "record"])
    parser.add_argument("file", type=Path)
    parser.add_argument("more", nargs="*", help="model types to draw, or further files to record")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--list", default="", help="of missed, alarm, an error alone, right")
    given = parser.parse_intermixed_args()
    if given.what == "draw":
        draw(given.file, given.seed, given.number, given.more)
    elif given.what == "judge":
        judge(given.file, given.list)
    else:
        record([given.file, *map(Path, given.more)])


if __name__ == "__main__":
    main()
