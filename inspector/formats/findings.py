"""Collecting findings while a header is read: a hostile file may have a million of one kind."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from inspector.model import Finding, Severity
from inspector.units import integer, plural

if TYPE_CHECKING:
    from inspector.model.codes import Code

#: Findings of one rule that are listed; the rest are counted.
MOST_PER_RULE = 20


class Findings:
    """Findings about one file, at most `MOST_PER_RULE` of each rule and a count of the others."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._listed: list[Finding] = []
        self._seen: Counter[tuple[Code, Severity]] = Counter()

    def add(self, rule: Code, severity: Severity, message: str, tensor: str | None = None) -> None:
        self._seen[rule, severity] += 1
        if self._seen[rule, severity] <= MOST_PER_RULE:
            self._listed.append(Finding(rule, severity, message, self.path, tensor))

    def check_end(self, end: int, size: int) -> None:
        """Report a file that ends before its contents do, or after them."""
        if size < end:
            what = f"the contents end at byte {integer(end)}, the file at {integer(size)}"
            self.add("truncated", "error", f"{what}: {plural(end - size, 'byte')} missing; download it again")
        elif size > end:
            what = f"{plural(size - end, 'byte')} after the end of the contents, from byte {integer(end)}"
            self.add("trailing", "warning", f"{what}: no reader uses them")

    def all(self) -> tuple[Finding, ...]:
        rest = tuple(
            Finding(rule, severity, f"{plural(seen - MOST_PER_RULE, 'more finding')} of this kind", self.path)
            for (rule, severity), seen in self._seen.items()
            if seen > MOST_PER_RULE
        )
        return (*self._listed, *rest)
