"""The parts of a composite that are models of other types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from inspector.architectures import expansion
from inspector.architectures.table import Family, Include, Row
from inspector.errors import ConfigError

if TYPE_CHECKING:
    from zoo.derive_study import Study
    from zoo.records import Shape

TOWER_OF_SCOPE = {
    "text_config": "text",
    "thinker_config": "text",
    "llm_config": "text",
    "language_config": "text",
    "vision_config": "vision",
    "audio_config": "audio",
    "audio_encoder_config": "audio",
    "speech_config": "audio",
    "encoder": "encoder",
    "decoder": "decoder",
    "qformer_config": "projector",
    "backbone_config": "vision",
}


class Includer:
    """Finds the parts of a composite that are models of other types."""

    def __init__(self, deriver: Study, families: Mapping[str, Family]) -> None:
        self.deriver = deriver
        self.families = families
        self.skip: list[set[str]] = [set() for _ in deriver.records]

    def find(self) -> list[Include]:
        """All includes; the names that they explain are in `skip`."""
        found: list[Include] = []
        by_class: dict[str, list[int]] = defaultdict(list)
        for at, record in enumerate(self.deriver.records):
            by_class[record.cls].append(at)
        scopes: dict[str, str] = {}
        for record in self.deriver.records:
            scopes.update({s: t for s, t in scopes_of(record.config).items() if t in self.families})
        for scope, model_type in scopes.items():
            left = dict(by_class)
            while left:
                cls = min(left, key=lambda c: c != self.deriver.main)
                include = self._include(scope, model_type, left.pop(cls))
                if include is None:
                    continue
                also = [other for other in left if self._holds(include, left[other], model_type)]
                for other in also:
                    left.pop(other)
                classes = {cls, *also}
                heads = " ".join(self.deriver.heads[c] for c in self.deriver.heads if c in classes)
                include = include._replace(
                    heads="" if len(classes) == len(by_class) else heads, defaults=self._usual(include, by_class[cls])
                )
                for other in classes:
                    self._take(include, by_class[other])
                found.append(include)
        return found

    def _names(self, at: int) -> dict[str, Shape]:
        record = self.deriver.records[at]
        return {record.family_name(n): s for n, s in record.shapes.items() if n not in self.skip[at]}

    def _include(self, scope: str, model_type: str, members: list[int]) -> Include | None:
        family = self.families[model_type]
        typical = next((at for at in members if self.deriver.records[at].variant == "p1"), members[0])
        names = self._names(typical)
        values = self._values(typical, scope, model_type)
        best: tuple[float, Include] | None = None
        for head in dict.fromkeys((family.head, "Model", "body")):
            inner = predicted(family, values, head)
            if not inner:
                continue
            for prefix, strip in _prefixes(inner, names, family.prefix):
                moved = {prefix + n.removeprefix(strip): pair for n, pair in inner.items()}
                lacking = {row.role for n, (row, shape) in moved.items() if names.get(n) != shape}
                kept = {n for n, (row, _) in moved.items() if row.role not in lacking}
                if len(kept) < 0.6 * len(moved) or not kept:
                    continue
                tower = TOWER_OF_SCOPE.get(scope, scope.removesuffix("_config"))
                include = Include(scope, prefix, strip, tower, head, model_type, without=" ".join(sorted(lacking)))
                score = len(kept) * 2 - len(lacking) - len(strip) / 100
                if (best is None or score > best[0]) and self._holds(include, members, model_type):
                    best = score, include
        return best[1] if best else None

    def _usual(self, include: Include, members: list[int]) -> dict[str, Any]:
        """The fields of the part that the whole's default gives, and without which the part would be another."""
        family, part = self.families[include.default_type], include.default_type
        default = next((at for at in members if self.deriver.records[at].variant == "default"), None)
        if default is None:
            return {}
        kept = self._values(default, include.scope, part)
        whole = shapes_of(family, kept, include.head)
        for name in [name for name in kept if name != "model_type"]:
            less = {field: value for field, value in kept.items() if field != name}
            if shapes_of(family, less, include.head) == whole:
                kept = less
        return {name: value for name, value in kept.items() if name != "model_type"}

    def _values(self, at: int, scope: str, model_type: str) -> dict[str, Any]:
        record = self.deriver.records[at]
        nested = record.config.get(scope)
        return {"model_type": model_type, **(nested if isinstance(nested, Mapping) else {})}

    def _holds(self, include: Include, members: list[int], model_type: str) -> bool:
        wrong = 0
        for at in members:
            found = self._included(include, at, model_type)
            names = self._names(at)
            if found is None or any(names.get(n) != shape for n, (_, shape) in found.items()):
                wrong += 1
                if self.deriver.records[at].variant in ("p1", "p2", "default"):
                    return False
        return wrong <= len(members) // 12

    def _included(self, include: Include, at: int, model_type: str) -> dict[str, tuple[Row, Shape]] | None:
        family = self.families[model_type]
        inner = predicted(family, self._values(at, include.scope, model_type), include.head)
        if inner is None:
            return None
        without = include.without.split()
        return {
            include.prefix + n.removeprefix(include.strip): pair
            for n, pair in inner.items()
            if pair[0].role not in without
        }

    def _take(self, include: Include, members: list[int]) -> None:
        for at in members:
            found = self._included(include, at, include.default_type) or {}
            record = self.deriver.records[at]
            self.skip[at] |= {n for n in record.shapes if record.family_name(n) in found}


def _prefixes(inner: Mapping[str, Any], names: Mapping[str, Shape], family_prefix: str) -> list[tuple[str, str]]:
    """Possible places of the included names: (prefix, text removed first)."""
    found: dict[tuple[str, str], int] = {}
    samples = sorted(inner, key=lambda n: (-len(n), n))[:3] + sorted(inner, key=len)[:1]
    for strip in dict.fromkeys(("", family_prefix)):
        for sample in samples:
            core = sample.removeprefix(strip)
            for name in names:
                if name == core or name.endswith("." + core):
                    option = name[: len(name) - len(core)], strip
                    found[option] = found.get(option, 0) + 1
    return sorted(found, key=lambda option: -found[option])[:6]


def predicted(family: Family, values: Mapping[str, Any], head: str) -> dict[str, tuple[Row, Shape]] | None:
    """Stored names with shapes, and the row of each; None if the table does not fit the configuration."""
    try:
        found = {}
        for row, expected, tied in expansion.expand(family, values, head):
            if not tied and (row.persistent or not row.buffer):
                found.update({expected.name_of(key): (row, expected.shape) for key in expected.keys()})
        return found
    except (ConfigError, KeyError, AttributeError):
        return None


def shapes_of(family: Family, values: Mapping[str, Any], head: str) -> dict[str, Shape] | None:
    """Stored names with shapes; None if the table does not fit the configuration."""
    found = predicted(family, values, head)
    return None if found is None else {name: shape for name, (_, shape) in found.items()}


def scopes_of(config: Mapping[str, Any]) -> dict[str, str]:
    """Nested configurations that name a model type."""
    return {
        key: str(value["model_type"])
        for key, value in config.items()
        if isinstance(value, Mapping) and value.get("model_type")
    }
