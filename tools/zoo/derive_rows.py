"""Rows from name patterns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from inspector.architectures import formula
from inspector.architectures.table import Row, bare
from zoo import derive_expressions as expressions
from zoo import records
from zoo.derive_presence import Presence
from zoo.derive_roles import role_of, tower_of
from zoo.derive_study import Pattern
from zoo.records import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ACTIVE = re.compile(
    r"^(num_experts_per_tok(en)?|moe_topk|moe_k|top_k_experts|num_selected_experts|moe_router_topk|experts_per_token|"
    r"num_experts_per_topk|moe_top_k|top_k|moe_topk_experts|router_top_k|num_active_experts|expert_top_k|experts_top_k|"
    r"moe_num_active_experts|moe_num_experts_per_tok|router_topk)$"
)


class Tabler(Presence):
    """One type's rows."""

    def rows(self, skip: Sequence[set[str]] | None = None) -> list[Row]:
        """The whole table except the included parts."""
        patterns = self.patterns(skip)
        self.stacks = self._stacks(patterns)
        self.dims = {}
        rows: list[Row] = []
        for name, pattern in patterns.items():
            if name.endswith("bias") and self._belongs(patterns, name):
                continue
            for part in self._literal_parts(pattern):
                rows += self._row(part, patterns)
        return rows

    def patterns(self, skip: Sequence[set[str]] | None = None) -> dict[str, Pattern]:
        """All patterns, without each record's names to skip."""
        found: dict[str, Pattern] = {}
        ordered = sorted(range(len(self.records)), key=lambda at: self.records[at].cls != self.main)
        for at in ordered:
            record = self.records[at]
            for name, shape in record.shapes.items():
                if skip and name in skip[at]:
                    continue
                pattern, numbers = records.pattern_of(record.family_name(name))
                found.setdefault(pattern, Pattern(pattern)).cells.setdefault(at, {})[numbers] = shape
        return found

    def _belongs(self, patterns: Mapping[str, Pattern], name: str) -> bool:
        """Whether a bias belongs to its weight's row."""
        weight = patterns.get(name.removesuffix("bias") + "weight")
        if weight is None:
            return False
        bias = patterns[name]
        for at, cells in bias.cells.items():
            for numbers, shape in cells.items():
                full = weight.cells.get(at, {}).get(numbers)
                if full is None or not full or len(shape) != 1 or shape[0] != full[0]:
                    return self._transposed(weight, bias)
        return True

    @staticmethod
    def _transposed(weight: Pattern, bias: Pattern) -> bool:
        """Whether each bias is as long as the weight's last dimension, and at least one is not as long as its first."""
        pairs = [
            (weight.cells.get(at, {}).get(numbers), shape)
            for at, cells in bias.cells.items()
            for numbers, shape in cells.items()
        ]
        matrices = [(full, shape) for full, shape in pairs if full is not None and len(full) == 2]
        told_apart = any(full[0] != full[1] for full, _ in matrices)
        return told_apart and len(matrices) == len(pairs) and all(shape == full[1:] for full, shape in matrices)

    def _row(self, part: tuple[str, Pattern, list[str]], patterns: Mapping[str, Pattern]) -> list[Row]:
        name, pattern, variables = part
        ranks = {len(shape) for cells in pattern.cells.values() for shape in cells.values()}
        if len(ranks) > 1:
            return [
                row for rank in sorted(ranks) for row in self._row((name, of_rank(pattern, rank), variables), patterns)
            ]
        classes = {self.records[at].cls for at in pattern.cells}
        everywhere = set(self.heads)
        if classes != everywhere and pattern.name.startswith(self.prefix):
            made = self._try_row(name, pattern, variables, patterns, everywhere)
            if made is not None:
                return [made]
        made = self._try_row(name, pattern, variables, patterns, classes)
        if made is not None:
            return [made]
        rows = []
        for cls in sorted(classes):
            cells = {at: cells for at, cells in pattern.cells.items() if self.records[at].cls == cls}
            row = self._try_row(name, Pattern(pattern.name, cells), variables, patterns, {cls}, final=True)
            if row is not None:
                rows.append(row)
        return self._merged(rows)

    @staticmethod
    def _merged(rows: list[Row]) -> list[Row]:
        """Join rows that differ only in their classes."""
        merged: dict[Row, list[str]] = {}
        for row in rows:
            merged.setdefault(row._replace(heads=""), []).append(row.heads)
        return [row._replace(heads=" ".join(heads)) for row, heads in merged.items()]

    def _try_row(
        self,
        name: str,
        pattern: Pattern,
        variables: list[str],
        patterns: Mapping[str, Pattern],
        classes: set[str],
        *,
        final: bool = False,
    ) -> Row | None:
        ranks = {len(shape) for cells in pattern.cells.values() for shape in cells.values()}
        when = self._when(name, pattern, variables, classes) if len(ranks) == 1 else None
        if when is None and not final:
            return None
        dims = [self._dim(pattern, variables, at) for at in range(max(ranks))] if len(ranks) == 1 else []
        if when is None or any(dim is None for dim in dims):
            if final:
                why = "presence" if when is None else f"dims {dims}"
                self.missed.append(f"{pattern.name} ({why})")
                if len(ranks) > 1:
                    return None
                dims = [dim or str(self._some(pattern)[at]) for at, dim in enumerate(dims)] or [
                    str(n) for n in self._some(pattern)
                ]
                when = when or ""
            else:
                return None
        if len(dims) > 1 and None not in dims:
            self.dims[bare(name)] = [d for d in dims if d]
        bias, transposed = self._beside(pattern, variables, patterns, classes)
        if bias is None:
            if not final:
                return None
            self.missed.append(f"{pattern.name} (bias)")
        return self._make(name, pattern, classes, when, [d or "?" for d in dims], bias or "", transposed)

    def _beside(
        self, pattern: Pattern, variables: list[str], patterns: Mapping[str, Pattern], classes: set[str]
    ) -> tuple[str | None, bool]:
        """When a weight has a bias, and whether its length is the weight's last dimension."""
        partner = (
            patterns.get(pattern.name.removesuffix("weight") + "bias") if pattern.name.endswith("weight") else None
        )
        if partner is None or not self._belongs(patterns, partner.name):
            return "", False
        cells = {at: cells for at, cells in partner.cells.items() if self.records[at].cls in classes}
        transposed = self._transposed(pattern, partner)
        return self._bias(pattern, Pattern(partner.name, cells), variables), transposed

    @staticmethod
    def _some(pattern: Pattern) -> Shape:
        return next(iter(next(iter(pattern.cells.values())).values()))

    def _make(
        self,
        name: str,
        pattern: Pattern,
        classes: set[str],
        when: str,
        dims: list[str],
        bias: str,
        transposed: bool,
    ) -> Row:
        leaf, tied = "", ""
        last = name.rsplit(".", 1)[-1]
        if last in ("weight", "bias") and "." in name:
            name, leaf = name.rsplit(".", 1)
        fewer = re.fullmatch(r"expert < (\w+)", when)
        if fewer:
            name, when = re.sub(r"\{expert<[^}]*\}", f"{{expert<{fewer[1]}}}", name), ""
        words = when.split(" and ")
        ties = [w for w in words if re.fullmatch(r"not (\w+\.)?tie_word_embeddings|not tie_\w*weights?\w*", w)]
        if ties and " or " not in when:
            tied = " or ".join(w.removeprefix("not ") for w in ties)
            when = " and ".join(w for w in words if w not in ties)
        everywhere = classes == set(self.heads)
        at = next(iter(pattern.cells))
        buffers = self._is_buffer(pattern)
        role, branch = role_of(pattern.name)
        row = Row(
            role,
            name,
            ", ".join(dims),
            bias=bias,
            when=when,
            heads="" if everywhere else " ".join(self.heads[c] for c in self.heads if c in classes),
            tied=tied,
            tower=tower_of(pattern.name),
            branch=branch,
            leaf=leaf,
            transposed=transposed,
        )
        if buffers:
            row = row._replace(buffer=True, persistent=True)
        return self._with_experts(row, at)

    def _is_buffer(self, pattern: Pattern) -> bool:
        if "correction_bias" in pattern.name or "expert_bias" in pattern.name:
            return False
        for at in pattern.cells:
            record = self.records[at]
            return any(records.pattern_of(record.family_name(name))[0] == pattern.name for name in record.buffers)
        return False

    def _with_experts(self, row: Row, at: int) -> Row:
        counts = dict(row.indexes)
        first = formula.dimensions(row.shape)[:1]
        stacked = (
            "expert" not in counts
            and re.search(r"(^|\.)experts(\.|$)|expert", row.name)
            and len(formula.dimensions(row.shape)) >= (2 if row.leaf == "bias" or row.name.endswith("bias") else 3)
        )
        if "expert" in counts:
            active = self._active(counts["expert"], at)
            return row._replace(active=active)
        if stacked and first and re.search(r"expert|moe", first[0]) and "shared" not in row.name:
            return row._replace(stacked=first[0], active=self._active(first[0], at))
        return row

    def _active(self, bound: str, at: int) -> str:
        """The number of active experts: the field beside the one that counts them."""
        named = next((n for n in expressions.mentions(bound) if "expert" in n), bound)
        scope = named.rpartition(".")[0] if "." in named else ""
        for path, value in self.completed[at].items():
            head, _, last = path.rpartition(".")
            if head == scope and ACTIVE.match(last) and isinstance(value, (int, list)):
                return path
        return ""


def of_rank(pattern: Pattern, rank: int) -> Pattern:
    """A pattern's tensors with this many dimensions: a map may be linear in one place, a convolution in another."""
    cells = {at: {n: s for n, s in each.items() if len(s) == rank} for at, each in pattern.cells.items()}
    return Pattern(pattern.name, {at: each for at, each in cells.items() if each})
