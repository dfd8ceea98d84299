"""What a rule is, and the decorator that makes a function one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import Literal, NamedTuple, get_args

from inspector.auditing.rules.subject import Subject
from inspector.model import Finding, Severity

Group = Literal["whole", "consistent", "data", "safe"]
GROUPS: tuple[Group, ...] = get_args(Group)


class Found(NamedTuple):
    """What a rule says; its code is the rule's."""

    message: str  # one line, unescaped
    path: str | None = None
    tensor: str | None = None
    severity: Severity | None = None  # where it is not the rule's own


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that an audit can find."""

    code: str
    group: Group
    severity: Severity  # the gravest that it reports
    documentation: str  # first a line, then why it matters and what to do
    check: Callable[[Subject], Iterator[Found]] | None = None  # None: found while the files are read

    @property
    def title(self) -> str:
        return self.documentation.split("\n", 1)[0]

    def findings(self, subject: Subject) -> Iterator[Finding]:
        """What the rule finds for itself."""
        for found in self.check(subject) if self.check else ():
            yield Finding(self.code, found.severity or self.severity, found.message, found.path, found.tensor)


def rule(
    code: str, severity: Severity, *, group: Group | None = None
) -> Callable[[Callable[[Subject], Iterator[Found]]], Rule]:
    """Make a function a rule, in the group that its module is named after where none is given."""

    def make(check: Callable[[Subject], Iterator[Found]]) -> Rule:
        named = next((each for each in GROUPS if check.__module__.endswith(each)), GROUPS[0])
        return Rule(code, named if group is None else group, severity, cleandoc(check.__doc__ or ""), check)

    return make
