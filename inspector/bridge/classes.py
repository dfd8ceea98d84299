"""Which class of its family a checkpoint was saved from, and what of another class it keeps.

`architectures` in config.json is often left from the base: sentence-transformers saves a body beside the name of a
masked language model, and a fine-tune keeps the pooler that its own class never loads. The family's table knows the
tensors of all its classes (Transformers' `from_pretrained` ignores those that the class at hand does not have).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress

from inspector.architectures.data.roles import group_of
from inspector.architectures.naming import Named
from inspector.architectures.prediction import class_name, knows_class, predict_as
from inspector.architectures.table import Family
from inspector.errors import InspectorError
from inspector.model import Expected, Key, Prediction

#: Role → what people call the part. Whatever else is in a head is its head.
PARTS = {
    "embed_positions": "positions",
    "embed_codes": "codebook",
    "pooler": "pooler",
    "nsp_head": "next-sentence head",
    "classifier": "classifier",
    "qa_outputs": "answer head",
}
#: Roles of heads that a task trains.
TASKS = frozenset({"classifier", "qa_outputs"})


def saved_class(prediction: Prediction, named: Named, shapes: Sequence[tuple[int, ...]]) -> Prediction:
    """The prediction of the class that was saved, if the tensors show that it is not the predicted one.

    They have all that the other class has, under its names, and nothing of what only the predicted one has. Of classes
    with the same tensors, it is the one with their shapes: a choice has one number where a label has several.
    """
    stored, names = dict(zip(named.keys(), shapes, strict=True)), frozenset(named.names)
    best, most = prediction, (0, 0)
    for other in others_of(prediction):
        own, common, its = _compared(prediction, other)
        renamed = [new for new, old in common if new != old]
        if (
            not (own or _is_all_there(prediction, other, stored))
            or not (its or renamed)
            or any(key in stored for row in own for key in row.keys())
        ):
            continue
        if not all(key in stored for row in its for key in row.keys()):
            continue
        fitting = sum(stored[key] == row.shape for row in its for key in row.keys())
        shown = sum(row.tensors for row in its) + 1, fitting
        if (not renamed or not names.isdisjoint(renamed)) and shown > most:
            best, most = other, shown
    if best is prediction:
        return prediction
    family, config = _family(prediction), prediction.config
    saved = class_name(family, config, best.head)
    but = f", not of {config.architecture}" if config.architecture else ""
    note = f"the tensors are those of {saved}{but}: predicted as {saved}"
    values = {**best.config.values, "architectures": [saved]} if saved.isidentifier() else best.config.values
    return best._replace(config=best.config._replace(values=values, notes=(*best.config.notes, note)))


def is_unnamed(prediction: Prediction) -> bool:
    """Whether the configuration names no class, as beside `torch.save(model.state_dict())`."""
    return prediction.config.kind == "config.json" and not prediction.config.architecture


def _is_all_there(prediction: Prediction, larger: Prediction, stored: Container[Key]) -> bool:
    """Whether a larger class than that of a configuration without a name was saved: one for a task.

    The heads of pretraining come with published bases too, which are loaded without them.
    """
    rows = [row for row in larger.expected if not (row.buffer or row.spare)]
    if not is_unnamed(prediction) or TASKS.isdisjoint(row.role for row in rows):
        return False
    return all(key in stored for row in rows for key in row.keys())


def _compared(
    prediction: Prediction, other: Prediction
) -> tuple[Sequence[Expected], Sequence[tuple[str, str]], Sequence[Expected]]:
    """The rows of the first class alone; the names of common ones in the other and the first; the other's alone."""
    first, second = (
        {row._replace(name=""): row for row in each.expected if not (row.buffer or row.spare)}
        for each in (prediction, other)
    )
    common = [(_name(row), _name(first[like])) for like, row in second.items() if like in first]
    own, its = (
        [row for like, row in rows.items() if like not in apart] for rows, apart in ((first, second), (second, first))
    )
    return own, common, its


def _name(row: Expected) -> str:
    return next(iter(row.names()), "")


def kept_of(
    prediction: Prediction, tensors: Mapping[int, tuple[Key, int]], names: Mapping[int, str]
) -> Iterator[tuple[str, Sequence[int]]]:
    """What other classes of the family have among unpredicted tensors: a sentence, and their positions.

    Args:
        tensors: position of a tensor → its key, and its number of elements.
        names: position of a tensor → its name.
    """
    left = dict(tensors)
    of_classes = [(other, _keys(other)) for other in others_of(prediction)]
    while left and of_classes:
        found = [[at for at, each in left.items() if each in known] for _, known in of_classes]
        most = max(found, key=len)
        if not most:
            break
        other, _ = of_classes[found.index(most)]
        yield _sentence(prediction, [left[at][0] for at in most], other), most
        left = {at: each for at, each in left.items() if at not in most}
    if heads := [at for at, (key, _) in left.items() if _is_head(prediction, key, names[at])]:
        yield _sentence(prediction, [left[at][0] for at in heads]), heads


def _is_head(prediction: Prediction, key: Key, name: str) -> bool:
    """Whether a tensor is of a head that no class in the table has, such as a part's pooler, or an unknown class's own.

    Transformers loads what its class has and ignores the rest: DPR's encoders list `pooler` in
    `_keys_to_ignore_on_load_unexpected`.
    """
    if prediction.base is not None or prediction.config.kind == "gguf" or key.layer is not None:
        return False
    if prediction.config.family is None:
        return False
    family = _family(prediction)
    apart = not name.startswith(family.prefix or name) and not knows_class(prediction)
    return apart or group_of(key.role) == "head"


def _sentence(prediction: Prediction, keys: Sequence[Key], other: Prediction | None = None) -> str:
    family, config = _family(prediction), prediction.config
    parts = list(dict.fromkeys(PARTS.get(key.role, "head") for key in keys))
    whose = f" of {class_name(family, config, other.head)}" if other else ""
    own = config.architecture or class_name(family, config, prediction.head)
    reason = f"which {own} does not load" if knows_class(prediction) else f"the table does not know {own}"
    return f"the {', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}{whose}, {reason}"


def _keys(prediction: Prediction) -> frozenset[tuple[Key, int]]:
    rows = (*prediction.expected, *prediction.tied, *prediction.optional)
    return frozenset((key, row.elements) for row in rows for key in row.keys())


def others_of(prediction: Prediction) -> Iterator[Prediction]:
    """The predictions of the family's other classes; none for an adapter, or a class that is a piece of the whole."""
    family = prediction.config.family
    if family is None or prediction.base is not None or prediction.head in family.pieces:
        return
    for head in _family(prediction).heads:
        if head != prediction.head:
            with suppress(InspectorError):
                yield predict_as(prediction.config, head)


def _family(prediction: Prediction) -> Family:
    family: Family = prediction.config.family
    return family
