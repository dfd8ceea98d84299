"""`inspect diff --data` on what llama.cpp's converter makes of tiny models: every pair must be joined, and its values equal.

    python tools/llama_cpp/compare_cases.py SOURCE [--mmproj] [--seed N…] [CLASS…]   # needs torch, transformers, xllamacpp

Each class that the converter knows is built as in `convert_cases`, or written from `remote.txt` where Transformers does
not have it (`--remote` for these alone), filled with random numbers in BF16, and converted to F32, BF16 and Q8_0. Of each file, every tensor must be paired, or be one that the converter is known to leave out or to
make; its values must be equal in F32, equal but for rounding in the others. Then one number of one tensor is changed, and
exactly that tensor must be different. With --write, what element of the model each of a few elements of
the file is goes into `fixtures/conversions.jsonl`, one class for each architecture: where numbers are moved, not changed.

With --mmproj it is the towers beside a language model that are converted (`towers.py`), and the samples go into
`fixtures/conversions_towers.jsonl`, one class for each kind of projector.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import random
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from convert_cases import ROOT, VOCABULARY, Converter, published
from remote import ALSO, ALSO_TOWERS, rename
from remote import TOWERS as RECIPES_OF_TOWERS
from remote import cases as remote_cases
from remote import write as write_remote
from structure import Structure
from towers import FIELDS, fields, publish
from towers import rename as rename_published

import inspector

if TYPE_CHECKING:
    from inspector.comparing.diff import Diff
    from inspector.comparing.pairing import Pair

OUT = ROOT / "fixtures" / "conversions.jsonl"
TOWERS = ROOT / "fixtures" / "conversions_towers.jsonl"
#: Elements of each tensor that are recorded.
SAMPLES = 3
#: Numbers of the model's elements are so far apart that an added constant shows.
APART = 4
LARGEST = 1 << 24  # of the whole numbers that F32 represents exactly
#: Classes whose numbers the converter changes, so that they do not show which element each was.
CHANGED = frozenset(
    {"BitnetForCausalLM", "JAISLMHeadModel", "TalkieForCausalLM", "Rwkv6ForCausalLM#2", "BailingMoeV3ForCausalLM"}
)
#: Tensors whose rows are equal in every model that is converted correctly: the converter takes the first for all.
ALIKE = {"ChameleonForConditionalGeneration": ("q_norm.weight", "k_norm.weight", "q_norm.bias", "k_norm.bias")}
#: Models that are written from recipes.
REMOTE = {each.name: each for each in remote_cases(0)}
REMOTE_TOWERS = {each.name: each for each in remote_cases(0, RECIPES_OF_TOWERS)}
KINDS = {"F32": "ALL_F32", "BF16": "MOSTLY_BF16", "Q8_0": "MOSTLY_Q8_0"}


def saved(
    name: str, seed: int, folder: Path, numbered: bool, towers: bool, structure: Structure | None = None
) -> tuple[str, dict[str, int]]:
    """A model of the class with random numbers, or those of its elements; its type, and each tensor's first number."""
    also = ALSO_TOWERS if towers else {other: of for other, (of, _) in ALSO.items()}
    built = also.get(name, name)
    remote = (REMOTE_TOWERS if towers else REMOTE).get(built)
    if remote is not None:
        recipes = remote_cases(seed, RECIPES_OF_TOWERS) if towers else remote_cases(seed)
        write_remote(next(each for each in recipes if each.name == built), folder, seed, structure)
        model_type = str(remote.case.config.get("model_type", ""))
        if towers:
            publish(name, folder)
    else:
        model_type = _built(built, seed, folder, numbered, towers, structure)
    if built != name:
        rename(name, folder)
    first = _number(folder / "model.safetensors") if numbered else {}
    if not towers:
        words = {f"token {number}": number for number in range(VOCABULARY)}
        (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": words, "type": "x"}, "added_tokens": []}))
    return model_type, first


def _built(name: str, seed: int, folder: Path, numbered: bool, towers: bool, structure: Structure | None = None) -> str:
    """Build and save a model of Transformers; its type."""
    import torch
    import transformers

    _mend(transformers)
    model_class = getattr(transformers, name.partition("#")[0])
    made = model_class.config_class
    config = made(**fields(name, made, seed, structure))
    config.architectures = [model_class.__name__]
    model = model_class(config)
    draw = torch.Generator().manual_seed(seed + 1000)
    with torch.no_grad():
        for key, tensor in model.state_dict(keep_vars=True).items():
            if tensor.is_floating_point():
                tensor.data.copy_(torch.randn(tensor.shape, generator=draw).to(torch.bfloat16))
            if name in ALIKE and key.endswith(ALIKE[name]):
                tensor.data.copy_(tensor.data[:1].expand_as(tensor))
    (model.float() if numbered else model.to(torch.bfloat16)).save_pretrained(folder)
    if towers:
        publish(name, folder)
    else:
        rename_published(name, folder / "model.safetensors")
    return str(config.model_type)


def _mend(transformers: Any) -> None:
    """Let Transformers 5.23 build a draft of Gemma 4, all of whose layers have another model's keys."""
    for config_class in (transformers.Gemma4TextConfig, transformers.Gemma4UnifiedTextConfig):
        modes = config_class.kv_sharing_modes
        if not hasattr(modes, "mended"):
            config_class.kv_sharing_modes = _Modes(modes)


class _Modes(property):
    """`kv_sharing_modes`, also of models without a layer that has its own keys."""

    mended = True

    def __init__(self, old: property) -> None:
        def modes(config: Any) -> list[str | None]:
            all_shared = config.num_kv_shared_layers == config.num_hidden_layers
            return ["reuse"] * config.num_hidden_layers if all_shared else old.fget(config)  # type: ignore[misc]

        super().__init__(modes)


def _number(path: Path) -> dict[str, int]:
    """Put each element's number in its place in a file; the number of each tensor's first."""
    import torch
    from safetensors.torch import load_file, save_file

    tensors, first, count = load_file(path), dict[str, int](), 0
    for name, tensor in tensors.items():
        numbers = torch.arange(tensor.numel()).reshape(tensor.shape)
        if name.endswith("A_log"):  # the values that are exponentiated
            tensors[name] = torch.log(numbers + 1.0)
        elif tensor.is_floating_point():
            tensors[name] = ((numbers + count) * APART).float()
            first[name] = count
            count += tensor.numel()
    if count * APART > LARGEST:
        raise ValueError("not small")
    save_file(tensors, path, metadata={"format": "pt"})
    return first


def converted(converter: Converter, folder: Path, name: str, model_type: str, kind: str, towers: bool) -> Path:
    out = folder.parent / f"{kind}.gguf"
    config = json.loads((folder / "config.json").read_text())  # Transformers renames some fields when it reads them
    recipe = (ALSO_TOWERS if towers else {}).get(name, name)
    as_is = recipe in (REMOTE_TOWERS if towers else REMOTE)
    fields = {**config, **({} if as_is and towers else published(model_type, config))}
    return converter.written(folder, name, fields, out, KINDS[kind], towers, as_is)


def wrong(result: Diff, kind: str) -> Iterator[str]:
    """The differences from the expected result."""
    for pair, data in zip(result.pairs, result.data or (), strict=True):
        side = pair.a or pair.b
        name = side.tensors[0].tensor.name if side else ""
        if data is None:
            if not pair.converter:
                yield f"{name}: {pair.status}"
        elif data.status != "equal" and (data.status != "rounded" or (kind == "F32" and _is_exact(pair))):
            yield f"{name}: {data.status} {data.why}"


def _is_exact(pair: Pair) -> bool:
    """Whether the file has the tensor in F32; convolutions of towers are F16 in any case."""
    return pair.b is not None and pair.b.dtype == "F32"


def tampered(model: Path, path: Path, draw: random.Random) -> bool:
    """Whether one changed number in one tensor of an F32 file is found, and nothing else."""
    import numpy as np

    result = inspector.diff(model, path)
    at = draw.choice([at for at, pair in enumerate(result.pairs) if pair.a and _is_exact(pair)])
    target = result.pairs[at].b
    assert target is not None
    tensor = draw.choice(target.tensors).tensor
    place = tensor.offset + 4 * draw.randrange(tensor.elements)
    with path.open("r+b") as file:
        file.seek(place)
        value = np.frombuffer(file.read(4), np.float32)[0]
        file.seek(place)
        file.write(np.float32(value + 1.5).tobytes())
    found = inspector.diff(model, path, data=True).data or ()
    return [number for number, data in enumerate(found) if data and data.status == "different"] == [at]


def sampled(model: Path, path: Path, first: Mapping[str, int], draw: random.Random) -> dict[str, Any]:
    """A model and its file for the record: their headers, and which element is which."""
    import numpy as np

    opened, file = inspector.open(model), inspector.open(path)
    headers = [tensor for header in opened.files for tensor in header.tensors]
    origins = sorted((number, name) for name, number in first.items())
    taken: dict[str, list[list[Any]]] = {}
    seen: set[str] = set()
    for tensor in file.files[0].tensors:
        stem = ".".join("{}" if word.isdecimal() else word for word in tensor.name.split("."))
        if stem in seen or tensor.dtype != "F32":
            continue
        seen.add(stem)
        values = np.fromfile(path, np.float32, tensor.elements, offset=tensor.offset)
        places = sorted({draw.randrange(tensor.elements) for _ in range(SAMPLES)})
        if any(abs(value) > LARGEST or (value > 0 and value % 1) for value in map(float, values[places])):
            continue  # computed from several tensors
        taken[tensor.name] = [[place, *_origin(float(values[place]), origins)] for place in places]
    config = json.loads((model / "config.json").read_text())
    written = {tensor.name: list(tensor.shape) for tensor in headers}
    return {"config": config, "model": compact(written), "from": taken}


def compact(shapes: Mapping[str, list[int]]) -> list[list[Any]]:
    """[name, shape], or [name with {} for its first number, shape, numbers] for tensors of one shape."""
    groups: dict[tuple[str, tuple[int, ...]], list[int]] = {}
    for name, shape in shapes.items():
        number = re.search(r"\.(\d+)\.", name)
        pattern = name.replace(number[0], ".{}.", 1) if number else name
        groups.setdefault((pattern, tuple(shape)), []).extend([int(number[1])] if number else [])
    return [[name, list(shape), *([sorted(numbers)] if numbers else [])] for (name, shape), numbers in groups.items()]


def _origin(value: float, origins: list[tuple[int, str]]) -> list[Any]:
    """The tensor and element whose number a value is, and the constant added to it; for `A_log` the element alone."""
    if value < 0 or not math.isfinite(value):
        return ["A_log", round(-value) - 1, 0]
    number, added = divmod(round(value), APART)
    start, name = max(origin for origin in origins if origin[0] <= number)
    return [name, number - start, added]


class Shown(NamedTuple):
    """The results for one model's files."""

    name: str  # the converter's name of the class
    seed: int
    changes: str  # of its structure
    faults: Mapping[str, str]  # type of each file → its errors
    tampered: bool  # whether the changed tensor was reported, and nothing else


def compared(
    converter: Converter, name: str, seed: int, folder: Path, towers: bool, draw: random.Random, vary: bool
) -> Shown:
    """Compare a model's files with it; each is printed."""
    structure = Structure(name, seed) if vary else None
    while True:
        model = folder / f"{len(list(folder.iterdir()))}" / "model"
        model.parent.mkdir(parents=True)
        try:
            model_type, _ = saved(name, seed, model, False, towers, structure)
            paths = {kind: converted(converter, model, name, model_type, kind, towers) for kind in KINDS}
            break
        except Exception:  # no model of the class has this structure
            structure = structure.tamer() if structure else None
            if structure is None:
                raise
    changes = " ".join(structure.reported) if structure else ""
    faults = {}
    for kind, path in paths.items():
        faults[kind] = "; ".join(list(wrong(inspector.diff(model, path, data=True), kind))[:6])
        print(f"{name} {seed} {kind}: {faults[kind] or 'right'}", flush=True)
    found = tampered(model, paths["F32"], draw)
    if not found:
        print(f"{name} {seed}: the tensor that was changed is not the one that is reported", flush=True)
    if changes:
        print(f"{name} {seed}: with {changes}", flush=True)
    return Shown(name, seed, changes, faults, found)


def written(
    converter: Converter, name: str, seed: int, model: Path, towers: bool, draw: random.Random
) -> dict[str, Any]:
    """A model's case for the fixtures."""
    model_type, first = saved(name, seed, model, True, towers)
    path = converted(converter, model, name, model_type, "F32", towers)
    case = converter.case(path, f"{name} {seed}")
    if towers:
        kinds = (str(case["keys"][key]) for key in sorted(case["keys"]) if key.endswith("projector_type"))
        case["projector"] = "+".join(kinds)
    return case | sampled(model, path, first, draw)


def _record(path: Path | None, found: Mapping[str, Any]) -> None:
    if path is not None:
        with path.open("a") as file:
            file.write(json.dumps(found) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("--seed", type=int, nargs="*", default=[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--remote", action="store_true")
    parser.add_argument("--mmproj", action="store_true")
    parser.add_argument("--vary", action="store_true", help="draw the models' structure, too")
    parser.add_argument("--record", type=Path, help="append what was found of each model, as JSON")
    parser.add_argument("classes", nargs="*")
    arguments = parser.parse_intermixed_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    import torch
    import transformers

    torch.set_num_threads(1)  # conversions are forked
    converter, counts, towers = Converter(arguments.source), Counter[str](), arguments.mmproj
    names: list[str] = (
        [] if arguments.remote else [each for each in converter.classes(towers) if hasattr(transformers, each)]
    )
    variants = [] if arguments.remote else [name for name in FIELDS if "#" in name]
    recipes = [*REMOTE_TOWERS, *ALSO_TOWERS] if towers else [*variants, *REMOTE, *ALSO]
    draw, cases = random.Random(0), []
    for name in arguments.classes or dict.fromkeys([*names, *recipes]):
        for seed in arguments.seed:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    if not arguments.write:
                        shown = compared(converter, name, seed, Path(folder), towers, draw, arguments.vary)
                        counts.update(f"{kind} {'wrong' if fault else 'right'}" for kind, fault in shown.faults.items())
                        counts[f"tampered {'found' if shown.tampered else 'missed'}"] += 1
                        _record(arguments.record, shown._asdict())
                    elif name not in CHANGED:
                        cases.append(written(converter, name, seed, Path(folder) / "model", towers, draw))
                except Exception as error:  # a class that cannot be built this small, or converted without a tokenizer
                    print(f"{name} {seed}: {error!r:.160}", flush=True)
                    _record(arguments.record, {"name": name, "seed": seed, "why": f"{error!r:.300}"})
    if arguments.write:
        out, unique = (TOWERS, "projector") if towers else (OUT, "architecture")
        kept = out.read_text().splitlines() if (arguments.classes or arguments.remote) and out.exists() else []
        lines = {json.loads(line)[unique]: line for line in kept}
        lines |= {case[unique]: json.dumps(case, separators=(",", ":")) for case in reversed(cases)}
        out.write_text("\n".join(lines[name] for name in sorted(lines)) + "\n")
    print(dict(counts), len(cases))


if __name__ == "__main__":
    main()
