"""Does `tensor-names` agree with Transformers on which stored names a class loads?

    python tools/loading/compare_names.py make FILE --seed 1 --number 200    # needs torch, transformers
    python tools/loading/compare_names.py judge FILE                         # needs the inspector alone
    python tools/loading/compare_names.py record FILE…

`make` takes the model types that have a case (fixtures/cases), saves a model's names, changes them in one of the ways
below, and records in FILE what `from_pretrained(output_loading_info=True)` misses and what it does not know. Several
ways are no fault: names that Transformers renames as it loads. `judge` audits a file with these names, and counts: it
must warn exactly where weights are both missing and present under names that are not loaded. `record` takes
from FILEs what `tests/test_loaded_names.py` compares with (`fixtures/loaded_names.jsonl`): a case, a pattern and what takes
its place in every name, and how many tensors Transformers then misses and does not know.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "fixtures"), str(ROOT / "tools"), str(ROOT / "tools" / "zoo")]
Names = dict[str, str]
#: The largest model that is loaded.
MOST_ELEMENTS = 20_000_000
Way = Callable[[random.Random, list[str], str], Names]

#: What programs put before every name.
PREFIXES = (
    *("base_model.model.", "module.", "_orig_mod.", "_forward_module.", "model._forward_module.", "model.", "net."),
    *(
        "language_model.",
        "model.language_model.",
        "transformer.",
        "encoder.",
        "module.model.",
        "state_dict.",
        "thinker.",
    ),
    *("base_model.", "backbone.", "student.", "llm.", "bert.", "roberta."),
)
#: Words of one convention, and of another.
WORDS = (
    *(
        ("layers", "layer"),
        ("layers", "h"),
        ("layers", "blocks"),
        ("layer", "layers"),
        ("h", "layers"),
        ("block", "blocks"),
    ),
    *(
        ("self_attn", "attention"),
        ("self_attn", "attn"),
        ("attention", "self_attn"),
        ("mlp", "feed_forward"),
        ("mlp", "ffn"),
    ),
    *(
        ("q_proj", "query"),
        ("query", "q_proj"),
        ("gate_proj", "w1"),
        ("down_proj", "w2"),
        ("up_proj", "w3"),
        ("fc1", "dense_h_to_4h"),
    ),
    *(
        ("input_layernorm", "ln_1"),
        ("embed_tokens", "wte"),
        ("o_proj", "out_proj"),
        ("norm", "final_layernorm"),
        ("mlp", "block_sparse_moe"),
    ),
    *(("encoder", "blocks"), ("vision_tower", "visual"), ("vision_model", "vision_tower"), ("weight", "kernel")),
)
HEADS = ("output", "embed_out", "head", "lm_head", "score", "classifier", "decoder", "logits", "proj_out", "qa_outputs")


#: Name of a way → old names to new ones, given the name of the body.
WAYS: dict[str, Way] = {}


def way(made: Way) -> Way:
    """Enter a way under its function's name."""
    WAYS[made.__name__] = made
    return made


@way
def prefix(draw: random.Random, names: list[str], base: str) -> Names:
    word = draw.choice(PREFIXES)
    return {each: word + each for each in names}


@way
def infix(draw: random.Random, names: list[str], base: str) -> Names:
    word = draw.choice(("_fsdp_wrapped_module", "_orig_mod", "module", "_checkpoint_wrapped_module"))
    return {each: re.sub(r"\.(\d+)\.", rf".\1.{word}.", each, count=1) for each in names}


@way
def base_layer(draw: random.Random, names: list[str], base: str) -> Names:
    return {each: re.sub(r"(proj|query|key|value|fc\d)\.(weight|bias)$", r"\1.base_layer.\2", each) for each in names}


@way
def dropped(draw: random.Random, names: list[str], base: str) -> Names:
    first = Counter(each.partition(".")[0] for each in names).most_common(1)[0][0]
    return {each: each.removeprefix(f"{first}.") for each in names}


@way
def dropped_second(draw: random.Random, names: list[str], base: str) -> Names:
    return {each: re.sub(r"^([a-z_]+)\.[a-z_]+\.(?=[a-z_]+\.)", r"\1.", each) for each in names}


@way
def without_base(draw: random.Random, names: list[str], base: str) -> Names:
    return {each: each.removeprefix(f"{base}.") for each in names}


@way
def with_base(draw: random.Random, names: list[str], base: str) -> Names:
    return {each: each if each.startswith(f"{base}.") or not base else f"{base}.{each}" for each in names}


@way
def swapped(draw: random.Random, names: list[str], base: str) -> Names:
    return {each: re.sub(r"^([a-z_]+)\.([a-z_]+)\.(?=[a-z_]+\.)", r"\2.\1.", each) for each in names}


@way
def old_composite(draw: random.Random, names: list[str], base: str) -> Names:
    made = {each: re.sub(r"^model\.language_model\.", "language_model.model.", each) for each in names}
    made = {each: re.sub(r"^model\.(?!language_model\.)", "", other) for each, other in made.items()}
    return {each: re.sub(r"^lm_head\.", "language_model.lm_head.", other) for each, other in made.items()}


@way
def new_composite(draw: random.Random, names: list[str], base: str) -> Names:
    made = {each: re.sub(r"^language_model\.model\.", "model.language_model.", each) for each in names}
    made = {each: re.sub(r"^language_model\.lm_head\.", "lm_head.", other) for each, other in made.items()}
    return {each: re.sub(r"^(?!model\.|lm_head\.)", "model.", other) for each, other in made.items()}


@way
def text_only(draw: random.Random, names: list[str], base: str) -> Names:
    return {each: re.sub(r"(^|\.)language_model\.", r"\1", each) for each in names}


@way
def word(draw: random.Random, names: list[str], base: str) -> Names:
    parts = {part for each in names for part in each.split(".")}
    fitting = [pair for pair in WORDS if pair[0] in parts]
    own, other = draw.choice(fitting or [("weight", "kernel")])
    return {each: ".".join(other if part == own else part for part in each.split(".")) for each in names}


@way
def half(draw: random.Random, names: list[str], base: str) -> Names:
    changed = word(draw, names, base)
    numbers = sorted({int(found[1]) for each in names if (found := re.search(r"\.(\d+)\.", each))})
    some = {*numbers[len(numbers) // 2 :]}
    return {
        each: changed[each] if (found := re.search(r"\.(\d+)\.", each)) and int(found[1]) in some else each
        for each in names
    }


@way
def one(draw: random.Random, names: list[str], base: str) -> Names:
    chosen = draw.choice(names)
    made = {each: each for each in names}
    parts = chosen.split(".")
    at = draw.randrange(len(parts))
    parts[at] = parts[at] + draw.choice(("_", "s", "0")) if not parts[at].isdigit() else parts[at] + ".0"
    return made | {chosen: ".".join(parts)}


@way
def head(draw: random.Random, names: list[str], base: str) -> Names:
    made = {each: each for each in names}
    for each in names:
        first, _, rest = each.partition(".")
        if first in HEADS or each.startswith(("cls.", "generator_", "model.lm_head.")):
            made[each] = f"{draw.choice([other for other in HEADS if other != first])}.{rest}"
    return made


@way
def gamma(draw: random.Random, names: list[str], base: str) -> Names:
    made = {each: re.sub(r"(LayerNorm)\.weight$", r"\1.gamma", each) for each in names}
    return {each: re.sub(r"(LayerNorm)\.bias$", r"\1.beta", other) for each, other in made.items()}


@way
def split_weights(draw: random.Random, names: list[str], base: str) -> Names:
    made = {each: each.replace(".parametrizations.weight.original0", ".weight_g") for each in names}
    return {each: new.replace(".parametrizations.weight.original1", ".weight_v") for each, new in made.items()}


@way
def mixtral(draw: random.Random, names: list[str], base: str) -> Names:
    made = {}
    for each in names:
        new = re.sub(r"(experts\.\d+)\.gate_proj\.", r"\1.w1.", each)
        new = re.sub(r"(experts\.\d+)\.up_proj\.", r"\1.w3.", new)
        new = re.sub(r"(experts\.\d+)\.down_proj\.", r"\1.w2.", new)
        made[each] = re.sub(r"\.mlp\.(gate\.weight|experts)", r".block_sparse_moe.\1", new) if "w1" in new else new
    return made


@way
def llama_experts(draw: random.Random, names: list[str], base: str) -> Names:
    made = {}
    for each in names:
        new = re.sub(r"(experts\.\d+)\.w1\.", r"\1.gate_proj.", each)
        new = re.sub(r"(experts\.\d+)\.w3\.", r"\1.up_proj.", new)
        made[each] = re.sub(r"(experts\.\d+)\.w2\.", r"\1.down_proj.", new)
    return made


@way
def moved_experts(draw: random.Random, names: list[str], base: str) -> Names:
    new = draw.choice(
        ("moe.experts", "mlp.moe.experts", "ffn.experts", "block_sparse_moe.experts", "feed_forward.experts")
    )
    return {each: re.sub(r"(mlp|block_sparse_moe|feed_forward)\.experts", new, each) for each in names}


def make(out: Path, seed: int, number: int, only: tuple[str, ...]) -> None:
    """Write cases up to this number; those of the file stay."""
    import cases
    import torch
    from build_models import build_model, resolve_class, saved_tensors
    from transformers import CONFIG_MAPPING, logging

    logging.set_verbosity_error()
    draw = random.Random(seed)
    paths = sorted(path for path in cases.FOLDER.glob("*.txt") if not only or path.stem in only)
    done = len(out.read_text().splitlines()) if out.exists() else 0
    while done < number:
        case = draw.choice(cases.load(draw.choice(paths)))
        config, elements = case.config, sum(map(_product, case.shapes.values()))
        name = (config.get("architectures") or [""])[0]
        if elements > MOST_ELEMENTS or config.get("model_type") not in CONFIG_MAPPING or not name:
            continue
        try:
            cls = resolve_class(name)
            made = CONFIG_MAPPING[config["model_type"]].from_dict(json.loads(json.dumps(config)))
            model = build_model(cls, made)
            saved = {each: (value[1], tuple(value[0])) for each, value in saved_tensors(model)[0].items()}
            memory = {each: (str(v.dtype), tuple(v.shape)) for each, v in model.state_dict().items()}
        except Exception as error:
            print(name, type(error).__name__, str(error)[:100], file=sys.stderr)
            continue
        for _ in range(3):
            chosen = draw.choice([*sorted(WAYS), "saved", "in_memory", "in_memory"])
            start = memory if chosen == "in_memory" else saved
            names = sorted(start)
            new = WAYS[chosen](draw, names, cls.base_model_prefix) if chosen in WAYS else {each: each for each in names}
            if chosen in WAYS and all(new[each] == each for each in names):
                continue
            tensors = {new[each]: start[each] for each in names}
            state = {each: torch.zeros((), dtype=_dtype(kind)).expand(shape) for each, (kind, shape) in tensors.items()}
            try:
                _, reported = cls.from_pretrained(None, config=made, state_dict=state, output_loading_info=True)
            except Exception as error:
                print(name, chosen, type(error).__name__, str(error)[:100], file=sys.stderr)
                continue
            record = {
                "type": config["model_type"],
                "class": name,
                "way": chosen,
                "config": config,
                "tensors": {each: [kind, list(shape)] for each, (kind, shape) in tensors.items()},
                "missing": sorted(reported["missing_keys"]),
                "unexpected": sorted(reported["unexpected_keys"]),
                "mismatched": len(reported.get("mismatched_keys", ())),
                "errors": len(reported.get("conversion_errors") or ()),
            }
            with out.open("a") as file:
                print(json.dumps(record), file=file)
            done += 1


def _product(shape: tuple[int, ...]) -> int:
    total = 1
    for each in shape:
        total *= each
    return total


def _dtype(kind: str) -> Any:
    import torch

    return getattr(torch, kind.removeprefix("torch."))


PLACE = ROOT / "fixtures" / "loaded_names.jsonl"


def _changes(names: list[str]) -> list[tuple[str, str]]:
    """Patterns, and what takes their place, of those ways that a pattern can say."""
    firsts = {name.partition(".")[0] for name in names}
    wrappers = ("_fsdp_wrapped_module", "_orig_mod", "module", "_checkpoint_wrapped_module")
    return [
        *(("^", word) for word in PREFIXES),
        *((f"^{first}\\.", "") for first in sorted(firsts)),
        *((f"^(?!{first}\\.)", f"{first}.") for first in sorted(firsts)),
        *((rf"(?:(?<=\.)|^){own}(?=\.|$)", other) for own, other in WORDS),
        *((r"^(.*?)\.(\d+)\.", rf"\1.\2.{word}.") for word in wrappers),
        (r"(proj|query|key|value|fc\d)\.(weight|bias)$", r"\1.base_layer.\2"),
        (r"^([a-z_]+)\.[a-z_]+\.(?=[a-z_]+\.)", r"\1."),
        (r"^([a-z_]+)\.([a-z_]+)\.(?=[a-z_]+\.)", r"\2.\1."),
        (r"(^|\.)language_model\.", r"\1"),
        *((f"^{own}\\.", f"{other}.") for own in sorted(firsts & {*HEADS}) for other in HEADS),
    ]


def record(sources: list[Path]) -> None:
    """The cases of files that `make` wrote, those whose names a pattern changes: one of each outcome, of types with both."""
    import cases

    known = {
        json.dumps(case.config): (path.stem, number, list(case.shapes))
        for path in cases.FOLDER.glob("*.txt")
        for number, case in enumerate(cases.load(path))
    }
    rows: list[dict[str, Any]] = []
    seen = Counter[tuple[str, bool]]()
    for line in (line for path in sources for line in path.read_text().splitlines()):
        made = json.loads(line)
        stem, number, names = known[json.dumps(made["config"])]
        fitting = (
            each for each in _changes(names) if {re.sub(*each, name) for name in names} == made["tensors"].keys()
        )
        change, outcome = next(fitting, None), (stem, not made["missing"])
        if change is not None and not seen[outcome]:
            seen[outcome] += 1
            missing, unknown = len(made["missing"]), len(made["unexpected"])
            rows.append({"case": stem, "number": number, "change": change, "missing": missing, "unknown": unknown})
    rows = [row for row in rows if seen[row["case"], True] and seen[row["case"], False]]
    rows.sort(key=lambda row: (row["case"], row["number"], row["change"]))
    PLACE.write_text("".join(json.dumps(row) + "\n" for row in rows))


# --- judging --------------------------------------------------------------------------------------


def judge(source: Path, shown: str) -> None:
    """Audit every case, and print the counts by way, and those that differ."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    families: set[str] = set()
    for number, line in enumerate(source.read_text().splitlines()):
        case = json.loads(line)
        verdict, found = _judged(case)
        counts[case["way"]][verdict] += 1
        families.add(case["type"])
        if shown and verdict in shown.split(","):
            missing, unexpected = case["missing"], case["unexpected"]
            print(f"{number} {case['class']} {case['way']}: {verdict}; misses {len(missing)} {missing[:1]}, does not know {len(unexpected)} {unexpected[:1]}; {found[:2]}")  # fmt: skip
    total: Counter[str] = Counter()
    for way, each in sorted(counts.items()):
        print(f"{way:20}", dict(each))
        total += each
    print(f"{len(families)} types", dict(total))


def _judged(case: dict[str, Any]) -> tuple[str, list[str]]:
    import inspector

    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), case)
        found = [each for model in inspector.audit(folder).checkpoints for each in model.findings]
    warned = [f"{each.rule} {each.tensor} {each.message}" for each in found if each.rule == "tensor-names"]
    lost = [f"{each.rule} {each.message}" for each in found if each.rule in ("missing", "shape")]
    if case["missing"] and case["unexpected"]:
        return ("right" if warned else "an error alone" if lost else "missed"), warned + lost
    return ("alarm" if warned else "right"), warned + lost


_SIZES = {"float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "bool": 1, "int32": 4, "uint8": 1}
_KINDS = {"float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "bool": "BOOL", "int32": "I32", "uint8": "U8"}  # fmt: skip


def _write(folder: Path, case: dict[str, Any]) -> None:
    head, end = {}, 0
    for name, (kind, shape) in case["tensors"].items():
        word = kind.removeprefix("torch.")
        size = _product(tuple(shape)) * _SIZES[word]
        head[name] = {"dtype": _KINDS[word], "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + end)
    (folder / "config.json").write_text(json.dumps(case["config"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("file", type=Path)
    making.add_argument("--seed", type=int, default=0)
    making.add_argument("--number", type=int, default=200)
    making.add_argument("types", nargs="*")
    judging = commands.add_parser("judge")
    judging.add_argument("file", type=Path)
    judging.add_argument("--list", default="")
    recording = commands.add_parser("record")
    recording.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    if options.command == "record":
        record(options.files)
    elif options.command == "make":
        make(options.file, options.seed, options.number, tuple(options.types))
    else:
        judge(options.file, options.list)


if __name__ == "__main__":
    main()
