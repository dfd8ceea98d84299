"""Everything that can go wrong, as one tree.

    InspectorError              one line for a person; the command exits with 2
    ├── UsageError              the request itself makes no sense
    ├── TargetError             nothing inspectable stands at the target
    ├── SourceError             the bytes exist, and could not be had
    │   └── NetworkError        the network or a server failed, which says nothing of the file
    ├── FormatError             the bytes are not what their format says
    ├── TableError              a table of an architecture is not what it should be
    └── ConfigError             a configuration cannot be read, or lacks what a prediction needs
        └── CostError           it asks for more work than any model does

Damage that leaves a header readable is no error: it is a `model.Finding`.
"""

from __future__ import annotations


class InspectorError(Exception):
    """What was found, where, and what to do, in one line."""


class UsageError(InspectorError):
    """The request itself makes no sense: an unknown label, an impossible option."""


class TargetError(InspectorError):
    """There is nothing to inspect at the target."""


class SourceError(InspectorError):
    """The bytes exist, and could not be had: permissions, input/output, network."""


class NetworkError(SourceError):
    """The network or a server failed, which says nothing of the file: trying again may help."""


class FormatError(InspectorError):
    """The bytes are not what their format says, and the header cannot be read.

    `rule` is the code under which an audit reports it.
    """

    def __init__(self, message: str, rule: str = "unreadable-file") -> None:
        super().__init__(message)
        self.rule = rule


class TableError(InspectorError):
    """A table of an architecture is not what it should be: which file, which row, and why."""


class ConfigError(InspectorError):
    """A configuration cannot be read, or lacks what a prediction needs."""


class CostError(ConfigError):
    """A configuration asks for more work than any model does: it is made to exhaust a machine."""
