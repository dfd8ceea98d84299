"""The type of a rule, and the decorator that turns a function into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import Literal, NamedTuple, get_args

from inspector.auditing import data
from inspector.auditing.subject import Subject
from inspector.model import Finding, Severity
from inspector.model.codes import Code

Group = Literal["whole", "consistent", "data", "safe"]
GROUPS: tuple[Group, ...] = get_args(Group)


class Found(NamedTuple):
    """A rule's result, reported under the rule's code."""

    message: str  # one line, unescaped
    path: str | None = None
    tensor: str | None = None
    severity: Severity | None = None  # if different from the rule's own


class NotJudged(NamedTuple):
    """Something that a rule left out because it exceeds one of its bounds: reported as `not-judged`."""

    what: str  # one line, unescaped
    path: str | None = None
    severity: Severity = "error"  # less if a sound model may exceed the bound


Check = Callable[[Subject], Iterator[Found | NotJudged]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that an audit can find."""

    code: Code
    group: Group
    severity: Severity  # the gravest that it reports
    documentation: str  # a summary line, then why it matters and what to do
    check: Check | None = None  # None: found while the files are read

    @property
    def seen(self) -> tuple[str, ...]:
        """What bears out its severity: `fails: safetensors 0.8.0`, one line for each loader, from `data/seen.json`."""
        return tuple(
            f"{what}: {loader}"
            for what, loaders in data.table("seen").items()
            if what != "about"
            for loader, codes in loaders.items()
            if self.code in codes
        )

    @property
    def title(self) -> str:
        return self.documentation.split("\n", 1)[0]

    def findings(self, subject: Subject) -> Iterator[Finding]:
        """What the rule finds for itself."""
        for found in self.check(subject) if self.check else ():
            if isinstance(found, NotJudged):
                yield Finding("not-judged", found.severity, f"{self.code}: {found.what}: not judged", found.path)
            else:
                yield Finding(self.code, found.severity or self.severity, found.message, found.path, found.tensor)


def rule(code: Code, group: Group, severity: Severity) -> Callable[[Check], Rule]:
    """Turn a function into a rule, whose documentation is the function's."""
    return lambda check: Rule(code, group, severity, cleandoc(check.__doc__ or ""), check)
