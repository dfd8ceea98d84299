"""The words that a field of a configuration may have, and the size that must be a multiple of another: `choices.json`.

    python tools/loading/write_choices.py [--raw FILE] [TYPE…]     # needs torch, transformers

Every model type of Transformers that has a case is built without data, first unchanged, then with one field changed. A
field that refuses an unknown word accepts the words in the type's own source that are not refused. A number of heads or
of groups is a divisor if 13 is refused, and 13 with a size thirteen times as large is not.
"""

from __future__ import annotations

import argparse
import copy
import inspect
import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures"), str(ROOT / "tools"), str(ROOT / "tools" / "zoo")]

import cases  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from build_models import build_model, resolve_class  # noqa: E402
from table_text import layout  # noqa: E402
from transformers.activations import ACT2FN  # noqa: E402
from transformers.models.auto.configuration_auto import CONFIG_MAPPING  # noqa: E402

OUT = ROOT / "inspector" / "auditing" / "data" / "choices.json"
#: A word that no field has, and a number that divides no usual size.
UNKNOWN, ODD = "no_such_word", 13
#: This many names of activation functions stand for all.
_SOME = 8
#: Seconds for one type, and for one model.
_LONG, _SLOW = 90, 8
#: Fields whose words are not a choice of a model, or that rules of their own check.
_OTHERS = re.compile(
    r"model_type|_name_or_path|(torch_)?dtype|transformers_version|tokenizer_class|problem_type|.*token.*|_.*|rope.*"
    r"|.*(file|path|prefix|name|checkpoint|family)|peft_type|task_type"
)
_DIVISOR = re.compile(r"(.*_)?n?_?(heads?|groups?)(_.*)?|n_head")
_SIZE = re.compile(r"(.*_)?(size|dim|dims|width|channels|n_embd|d_model|embd)|d_model|n_embd|dim|.*heads|n_head")
_DEPTH = re.compile(r"(.*_)?(num_hidden_layers|num_layers|n_layers?|encoder_layers|decoder_layers)|depth")
#: Words with which Diffusers' models make layers; with any other word the layers and their weights are missing
#: (`AttnUpBlock2D`, `AttnDownBlock2D`, and the decoder of `VQModel`).
BLOCKS = {
    "UNet2DModel": {"downsample_type": ["conv", "resnet"], "upsample_type": ["conv", "resnet"]},
    "VQModel": {"norm_type": ["group", "spatial"]},
}
Path_ = tuple[str, ...]


def within(own: dict[str, Any], kind: str, at: Path_ = ()) -> Iterator[tuple[str, Path_, str, Any]]:
    """Type, path, field and value of each field, including those of nested configurations."""
    for field, value in own.items():
        if isinstance(value, dict) and isinstance(value.get("model_type"), str):
            yield from within(value, value["model_type"], (*at, field))
        else:
            yield kind, at, field, value


def changed(own: dict[str, Any], at: Path_, **fields: Any) -> dict[str, Any]:
    """A copy with other values of the fields at a place."""
    made = copy.deepcopy(own)
    inner = made
    for step in at:
        inner = inner[step]
    inner.update(fields)
    return made


class Type:
    """A model type that can be built from a configuration."""

    def __init__(self, own: dict[str, Any]) -> None:
        self.kind = own["model_type"]
        self.config = CONFIG_MAPPING[self.kind]
        self.model = resolve_class(own["architectures"][0])
        self.own = own

    def is_built(self, own: dict[str, Any]) -> bool:
        signal.alarm(_SLOW)
        try:
            build_model(self.model, self.config.from_dict(copy.deepcopy(own)))
        except Exception:
            return False
        finally:
            signal.alarm(0)
        return True

    def whole(self) -> dict[str, Any]:
        """Every field, with a single layer if that is enough."""
        full: dict[str, Any] = json.loads(self.config.from_dict(copy.deepcopy(self.own)).to_json_string(use_diff=False))
        full["architectures"] = self.own["architectures"]
        small = copy.deepcopy(full)
        for _, at, field, value in list(within(small, self.kind)):
            if _DEPTH.fullmatch(field) and type(value) is int and value > 1:
                small = changed(small, at, **{field: 1})
        return small if self.is_built(small) else full

    def lines(self) -> list[str]:
        """The source lines of the type."""
        folders = {Path(inspect.getfile(each)).parent for each in (self.config, self.model)}
        return [line for folder in folders for path in sorted(folder.glob("*.py")) for line in path.read_text().splitlines()]  # fmt: skip


def words(kind: Type, own: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Type, field and its accepted words, of fields that accept only some."""
    for inner, at, field, value in within(own, kind.kind):
        several = isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)
        if _OTHERS.fullmatch(field) or not (isinstance(value, str) or several) or field == "architectures":
            continue
        put = (lambda word, value=value: [word, *value[1:]]) if several else (lambda word: word)
        if kind.is_built(changed(own, at, **{field: put(UNKNOWN)})):
            continue
        tried = ("gelu_10", "tanh", "leaky_relu")
        if all(kind.is_built(changed(own, at, **{field: put(each)})) for each in tried):
            yield inner, field, "activation"
        elif not several:
            yield inner, field, [each for each in _candidates(kind, field, value) if kind.is_built(changed(own, at, **{field: each}))]  # fmt: skip


def _candidates(kind: Type, field: str, value: Any) -> list[str]:
    """The words in the source near the field's name."""
    return sorted({str(value), *ACT2FN, *_near(kind.lines(), field)})


def divisors(kind: Type, own: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Type, size and divisor."""
    fields = [each for each in within(own, kind.kind) if type(each[3]) is int]
    for inner, at, field, value in fields:
        if value < 1 or not _DIVISOR.fullmatch(field) or kind.is_built(changed(own, at, **{field: ODD})):
            continue
        if not kind.is_built(changed(own, at, **{field: 1})) and value == 1:
            continue
        for _, other_at, size, width in fields:
            if other_at == at and size != field and _SIZE.fullmatch(size) and width % value == 0 and width > 0:
                fits, unfit = ({field: ODD, size: width * ODD + more} for more in (0, 1))
                if kind.is_built(changed(own, at, **fits)) and not kind.is_built(changed(own, at, **unfit)):
                    yield inner, size, field


# --- other libraries -------------------------------------------------------------------------------


def methods() -> dict[str, dict[str, list[str]]]:
    """PEFT's methods → field → words, beside true and false."""
    import peft
    import write_fields

    found: dict[str, dict[str, list[str]]] = {}
    for name in sorted(each.value for each in peft.PeftType):
        fields, put = write_fields.maker(name)
        folder = Path(inspect.getfile(peft.PEFT_TYPE_TO_CONFIG_MAPPING[peft.PeftType(name)])).parent
        lines = [line for path in sorted(folder.glob("*.py")) for line in path.read_text().splitlines()]
        for field in sorted(fields.keys() - _NAMES):
            if _OTHERS.fullmatch(field) or _is_put(put, field, UNKNOWN):
                continue
            taken = [each for each in sorted({str(fields[field]), *_near(lines, field)}) if _is_put(put, field, each)]
            if len(taken := sorted({*taken, *_annotated(peft, name, field)})) > 1:
                found.setdefault(name, {})[field] = taken
    return found


def _annotated(peft: Any, name: str, field: str) -> set[str]:
    """The words in a field's type."""
    kind = peft.PEFT_TYPE_TO_CONFIG_MAPPING[peft.PeftType(name)]
    return set(re.findall(r"'([a-z_]+)'", str(kind.__dataclass_fields__[field].type)))


def _is_put(put: Callable[[str, Any], object], field: str, word: str) -> bool:
    try:
        put(field, word)
    except Exception:
        return False
    return True


def schedulers() -> dict[str, dict[str, list[str]]]:
    """Diffusers' schedulers → field → words, found by a step of each."""
    import diffusers

    found: dict[str, dict[str, list[str]]] = {}
    for name in sorted(dir(diffusers)):
        kind = getattr(diffusers, name, None) if name.endswith("Scheduler") else None
        if not inspect.isclass(kind) or not _steps(kind, {}):
            continue
        lines = Path(inspect.getfile(kind)).read_text().splitlines()
        for field, each in inspect.signature(kind.__init__).parameters.items():
            if isinstance(each.default, str) and not _steps(kind, {field: UNKNOWN}):
                found.setdefault(name, {})[field] = [
                    word for word in sorted({each.default, *_near(lines, field)}) if _steps(kind, {field: word})
                ]
    return found


def names() -> dict[str, list[str]]:
    """The classes that Diffusers exports, the libraries of a pipeline's parts, and Transformers' processors."""
    import diffusers
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING_NAMES

    folders = (Path(diffusers.__file__).parent / "pipelines").iterdir()
    modules = sorted(each.name for each in folders if each.is_dir() and each.name.isidentifier())
    exported = {name for listed in diffusers._import_structure.values() for name in listed if name[:1].isupper()}
    processors = [each for each in PROCESSOR_MAPPING_NAMES.values() if isinstance(each, str)]
    return {
        "diffusers_classes": sorted(exported | {*dir(diffusers)} & exported),
        "diffusers_libraries": ["diffusers", "onnxruntime.training", "transformers", *modules],
        "diffusers_version": [diffusers.__version__],
        "processors": sorted({*processors}),
    }


def _steps(kind: Any, values: dict[str, Any]) -> bool:
    """Whether a scheduler can be made with these values, and take a step."""
    try:
        own = kind(**values)
        own.set_timesteps(4)
        sample = torch.ones(1, 6, 2, 2) if str(values.get("variance_type")).startswith("learned") else torch.ones(1, 3, 2, 2)  # fmt: skip
        own.step(sample, own.timesteps[0], torch.ones(1, 3, 2, 2))
    except Exception:
        return False
    return True


def _near(lines: list[str], field: str) -> set[str]:
    """The words in the source near a name."""
    found: set[str] = set()
    for at, line in enumerate(lines):
        if field in line:
            found.update(re.findall(r"[\"']([A-Za-z0-9_./-]{1,40})[\"']", "\n".join(lines[max(at - 3, 0) : at + 12])))
    return found


#: Fields that name modules, and one that takes any word with a certain ending.
_NAMES = frozenset(
    {"bias", "target_modules", "modules_to_save", "exclude_modules", "feedforward_modules", "layers_pattern"}
)


def asked(name: str) -> dict[str, Any]:
    """The answers for one case's type."""
    found: dict[str, Any] = {"words": [], "divisors": []}
    for each in cases.load(ROOT / "fixtures" / "cases" / f"{name}.txt")[:1]:
        own = each.config
        if own.get("model_type") not in CONFIG_MAPPING or not own.get("architectures"):
            continue
        kind = Type(own)
        full = kind.whole()
        if not kind.is_built(full):
            continue
        for part, ask in (("words", words), ("divisors", divisors)):
            for row in ask(kind, full):
                found[part].append(row)
    return found


def _gather(raw: Path, names: list[str]) -> dict[str, Any]:
    """Run every case in a child of its own, so that none can end the others; existing answers stay."""
    known = json.loads(raw.read_text()) if raw.exists() else {}
    for name in names:
        if name in known:
            continue
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                answer = json.dumps(asked(name))
            except BaseException as error:
                answer = json.dumps({"failed": f"{type(error).__name__}: {str(error)[:100]}"})
            os.write(write, answer.encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as stated:
            known[name] = json.loads(stated.read() or '{"failed": "ended"}')
        os.waitpid(pid, 0)
        raw.write_text(json.dumps(known))
        print(name, str(known[name])[:150], flush=True)
    return known


def packed(known: dict[str, Any]) -> dict[str, Any]:
    """Type → field → words; type → pairs of size and divisor."""
    choices: dict[str, dict[str, Any]] = {}
    pairs: dict[str, set[tuple[str, str]]] = {}
    for name in sorted(known):
        for kind, field, taken in known[name].get("words", ()):
            if len(ACT2FN.keys() & {*taken}) > _SOME:
                taken = "activation"
            if not kind or len(taken) == 1:  # others may be known that no source near the field names
                continue
            before = choices.setdefault(kind, {}).setdefault(field, taken)
            if isinstance(before, list) and isinstance(taken, list):
                choices[kind][field] = sorted({*before, *taken})
        for kind, size, divisor in known[name].get("divisors", ()):
            if kind:
                pairs.setdefault(kind, set()).add((size, divisor))
    _believe_cases(choices, pairs)
    return {
        "about": "Words that fields take, and sizes that others must divide, by tools/loading/write_choices.py",
        "version": transformers.__version__,
        "words": {kind: dict(sorted(own.items())) for kind, own in sorted(choices.items())},
        "divisors": {kind: sorted(map(list, own)) for kind, own in sorted(pairs.items())},
        "peft": methods(),
        "diffusers": dict(sorted({**schedulers(), **BLOCKS}.items())),
        **names(),
    }


def _believe_cases(choices: dict[str, dict[str, Any]], pairs: dict[str, set[tuple[str, str]]]) -> None:
    """Add the words, and leave out the relations, that some case of a type contradicts."""
    for path in sorted(cases.FOLDER.glob("*.txt")):
        for each in cases.load(path):
            stated = {(kind, at, field): value for kind, at, field, value in within(each.config, str(each.config.get("model_type")))}  # fmt: skip
            for (kind, at, field), value in stated.items():
                words = choices.get(kind, {}).get(field)
                if isinstance(words, list) and isinstance(value, str) and value not in words:
                    choices[kind][field] = sorted({*words, value})
                for size, divisor in (
                    sorted(pairs.get(kind, ())) if field in {one for one, _ in pairs.get(kind, ())} else ()
                ):
                    parts = stated.get((kind, at, divisor))
                    if size == field and type(value) is type(parts) is int and parts and value % parts:
                        pairs[kind].discard((size, divisor))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--raw", type=Path, default=Path("choices.raw.json"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError()))
    known = _gather(options.raw, options.names or sorted(each.stem for each in cases.FOLDER.glob("*.txt")))
    if not options.names:
        OUT.write_text(layout(packed(known)), encoding="utf-8")


if __name__ == "__main__":
    main()
