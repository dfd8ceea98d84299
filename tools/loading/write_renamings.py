"""The names that Transformers' classes load, besides those of their tensors: `inspector/auditing/data/renamings.json`.

    python tools/loading/write_renamings.py     # needs torch, transformers

`transforms` has what `conversion_mapping.py` registers for a class or a model type: kind, sources, targets, as
`core_model_loading.WeightTransform` prepared them; `same` the identifiers that have another's. `classes` has, for every
class of a model type with a case, its `base_model_prefix`, its patterns of tensors that may be missing, and its parts
that are models by themselves: where, the field of their configuration, their class and type. Parts matter because
`get_model_conversion_mapping` applies what is registered for each of them to the names below it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "fixtures"), str(ROOT / "tools"), str(ROOT / "tools" / "zoo")]

import cases  # noqa: E402
import transformers  # noqa: E402
from build_models import auto_classes, build_model, exported_classes, resolve_class  # noqa: E402
from transformers import CONFIG_MAPPING, PreTrainedModel, conversion_mapping, core_model_loading  # noqa: E402

OUT = ROOT / "inspector" / "auditing" / "data" / "renamings.json"
#: Kinds of transform: all that renames by patterns; what else there is has code of its own.
KINDS = {
    core_model_loading.WeightRenaming: "rename",
    core_model_loading.PrefixChange: "rename",
    core_model_loading.WeightConverter: "convert",
    core_model_loading.GroupWeightRename: "group",
    core_model_loading.Inkling2IndexOffsetWeightRename: "offset",
}


def transforms() -> tuple[dict[str, Any], dict[str, str]]:
    """Identifier → its transforms, and identifier → the one that has the same."""
    conversion_mapping.get_checkpoint_conversion_mapping("legacy")
    found: dict[str, Any] = {}
    same: dict[str, str] = {}
    first: dict[str, str] = {}
    for name, those in sorted(conversion_mapping._checkpoint_conversion_mapping_cache.items()):
        made = [_transform(each) for each in those]
        other = first.setdefault(json.dumps(made), name)
        if other == name:
            found[name] = made
        else:
            same[name] = other
    return found, same


def _transform(each: Any) -> list[Any]:
    kind = KINDS.get(type(each), "code")
    more = [each.offset] if kind == "offset" else []
    return [kind, each.source_patterns, each.target_patterns, *more]


def classes() -> dict[str, dict[str, Any]]:
    """Class → its prefix, its patterns and its parts."""
    registered = {*conversion_mapping._checkpoint_conversion_mapping_cache}
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(cases.FOLDER.glob("*.txt")):
        for case in cases.load(path):
            kind = case.config.get("model_type")
            if kind not in CONFIG_MAPPING:
                continue
            named = [each for each in case.config.get("architectures") or () if isinstance(each, str)]
            for name in dict.fromkeys((*named, *auto_classes(kind), *exported_classes(kind))):
                if name not in found and (made := _class(name, case.config, registered)):
                    found[name] = made
        print(path.stem, len(found), flush=True)
    return dict(sorted(found.items()))


def _class(name: str, own: dict[str, Any], registered: set[str]) -> dict[str, Any] | None:
    try:
        cls = resolve_class(name)
        config = CONFIG_MAPPING[own["model_type"]].from_dict(json.loads(json.dumps(own)))
        model = build_model(cls, config)
    except Exception:
        return None
    made: dict[str, Any] = {"prefix": cls.base_model_prefix}
    if model._keys_to_ignore_on_load_missing:
        made["spare"] = sorted(model._keys_to_ignore_on_load_missing)
    if parts := list(_parts(model, registered)):
        made["parts"] = parts
    return made


def _parts(model: Any, registered: set[str]) -> Iterator[list[str]]:
    """Place, field, class and model type of each part that is a model; without those whose names nothing renames."""
    fields = {id(value): field for field, value in vars(model.config).items() if hasattr(value, "model_type")}
    for place, part in model.named_modules():
        if place and isinstance(part, PreTrainedModel):
            field = fields.get(id(part.config), "")
            if field or {type(part).__name__, part.config.model_type} & registered:
                yield [place, field, type(part).__name__, part.config.model_type]


def main() -> None:
    transformers.logging.set_verbosity_error()
    found, same = transforms()
    about = "What Transformers' classes rename as they load, by tools/loading/write_renamings.py"
    release = transformers.__version__
    whole = {"about": about, "version": release, "checked_against": release, "same": same}
    lines = [f'"{key}": {json.dumps(value)},' for key, value in whole.items()]
    for section, rows in (("transforms", found), ("classes", classes())):
        inner = [f'"{key}": {json.dumps(value)}' for key, value in rows.items()]
        lines += [f'"{section}": {{', ",\n".join(inner), "}" + ("," if section == "transforms" else "")]
    OUT.write_text("{\n" + "\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
