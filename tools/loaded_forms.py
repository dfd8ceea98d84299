"""Models as Transformers holds them beside the published form: every pair must be joined, and its values equal.

    python tools/loaded_forms.py [TYPE…] [--seed N…] [--record FILE] [--write]      # needs torch and transformers

Each model type whose names or layouts Transformers changes as it loads a checkpoint is built small, filled with random
numbers, and saved twice: as published, and with `save_original_format=False`. Without TYPE all of them. With --write,
the names and shapes of those that a document of `tables/conversions` describes go into `fixtures/loaded_forms.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures"), str(Path(__file__).parent / "llama_cpp")]

from compare_cases import compact  # noqa: E402
from convert_cases import MOST_PARAMETERS  # noqa: E402
from towers import fields  # noqa: E402

import inspector  # noqa: E402
from inspector.architectures.conversions import LOADED  # noqa: E402
from inspector.architectures.store import store  # noqa: E402

OUT = ROOT / "fixtures" / "loaded_forms.jsonl"

#: The classes of a model type, the largest model first.
AUTOS = ("ForImageTextToText", "ForCausalLM", "ForConditionalGeneration", "ForSeq2SeqLM", "ForPreTraining", "")


def types() -> list[str]:
    """The model types that Transformers converts when it loads them."""
    from transformers import CONFIG_MAPPING, conversion_mapping

    known = conversion_mapping._build_checkpoint_conversion_mapping()
    also = conversion_mapping._MODEL_TO_CONVERSION_PATTERN
    return sorted({name for name in (*known, *also) if name in CONFIG_MAPPING})


def class_of(model_type: str) -> Any:
    """The class of a type's whole model. Raises LookupError."""
    import transformers

    config_class = transformers.CONFIG_MAPPING[model_type]
    for end in AUTOS:
        auto = getattr(transformers, f"AutoModel{end}", None)
        found = auto._model_mapping.get(config_class, None) if auto is not None else None
        if found is not None:
            return found[0] if isinstance(found, tuple) else found
    raise LookupError("no class")


def saved(model_type: str, seed: int, folder: Path) -> str:
    """A model in both forms; the class's name."""
    import torch

    model_class = class_of(model_type)
    config_class = model_class.config_class
    config = config_class(**fields(model_class.__name__, config_class, seed))
    with torch.device("meta"):
        if sum(tensor.numel() for tensor in model_class(config).parameters()) > MOST_PARAMETERS:
            raise ValueError("not small: the configuration has sizes that SIZES does not know")
    config.architectures = [model_class.__name__]
    model = model_class(config)
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor in model.state_dict(keep_vars=True).values():
            if tensor.is_floating_point():
                tensor.data.copy_(torch.randn(tensor.shape, generator=draw).to(torch.bfloat16))
    model = model.to(torch.bfloat16)
    model.save_pretrained(folder / "published")
    model.save_pretrained(folder / "held", save_original_format=False)
    return str(model_class.__name__)


def faults(a: Path, b: Path) -> Iterator[str]:
    result = inspector.diff(a, b, data=True)
    for pair, data in zip(result.pairs, result.data or (), strict=True):
        side = pair.a or pair.b
        name = side.tensors[0].tensor.name if side else ""
        if data is None:
            yield f"{name}: {pair.status}"
        elif data.status != "equal":
            yield f"{name}: {data.status} {data.why}"


def written(model_type: str, folder: Path) -> dict[str, Any]:
    """Both forms' names and shapes."""
    forms = {}
    for form in ("published", "held"):
        opened = inspector.open(folder / form)
        tensors = [tensor for header in opened.files for tensor in header.tensors]
        forms[form] = compact({tensor.name: list(tensor.shape) for tensor in tensors})
    return {"type": model_type, "config": json.loads((folder / "published" / "config.json").read_text()), **forms}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, nargs="*", default=[0])
    parser.add_argument("--record", type=Path, help="append what was found of each model, as JSON")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("types", nargs="*")
    arguments = parser.parse_intermixed_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    described = [name.removeprefix(f"{LOADED}.") for name in store().names("conversions") if name.startswith(LOADED)]
    counts, lines = Counter[str](), []
    for model_type in arguments.types or (described if arguments.write else types()):
        for seed in arguments.seed:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                try:
                    saved(model_type, seed, folder)
                    lines.append(json.dumps(written(model_type, folder), separators=(",", ":")))
                    found = list(faults(folder / "published", folder / "held"))
                    counts["wrong" if found else "right"] += 1
                    stated = "; ".join(found[:6])
                    print(
                        f"{model_type} {seed}: {len(found)} {stated}" if found else f"{model_type} {seed}: right",
                        flush=True,
                    )
                except Exception as error:  # a type that cannot be built this small
                    counts["not built"] += 1
                    stated = f"{error!r:.200}"
                    print(f"{model_type} {seed}: {stated}", flush=True)
                if arguments.record:
                    with arguments.record.open("a") as file:
                        file.write(json.dumps({"type": model_type, "seed": seed, "said": stated}) + "\n")
    if arguments.write:
        OUT.write_text("\n".join(sorted(lines)) + "\n")
    print(dict(counts))


if __name__ == "__main__":
    main()
