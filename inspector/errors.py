"""All exceptions, as one tree.

    InspectorError              one line for a person; the command exits with 2
    ├── UsageError              the request itself is invalid
    ├── TargetError             there is nothing to inspect at the target
    ├── SourceError             the bytes exist but could not be read
    │   └── NetworkError        the network or a server failed, which says nothing about the file
    ├── FormatError             the bytes do not conform to their format
    ├── TableError              an architecture's table is invalid
    └── ConfigError             a configuration cannot be read, or lacks what a prediction needs
        └── CostError           it asks for more work than any model needs

Damage that leaves a header readable is not an error: it is a `model.Finding`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from inspector.units import escape

if TYPE_CHECKING:
    from inspector.model.codes import Code


class InspectorError(Exception):
    """One line with what was found, where, and what to do."""


class UsageError(InspectorError):
    """The request itself is invalid: an unknown label, an impossible option."""


class TargetError(InspectorError):
    """There is nothing to inspect at the target.

    `config` is the configuration that stands there alone, if that is all.
    """

    def __init__(self, message: str, config: str | None = None) -> None:
        super().__init__(message)
        self.config = config


class SourceError(InspectorError):
    """The bytes exist but could not be read: permissions, input/output, network."""


class NetworkError(SourceError):
    """The network or a server failed, which says nothing about the file: trying again may help."""


class FormatError(InspectorError):
    """The bytes do not conform to their format, and the header cannot be read.

    `rule` is the code under which an audit reports it.
    """

    def __init__(self, message: str, rule: Code = "unreadable-file") -> None:
        super().__init__(message)
        self.rule = rule


class TableError(InspectorError):
    """An architecture's table is invalid: which file, which row, and why."""


class ConfigError(InspectorError):
    """A configuration cannot be read, or lacks what a prediction needs."""


class ShortListError(ConfigError):
    """A list in a configuration has fewer items than the layers or stages that another field announces."""


class CostError(ConfigError):
    """A configuration asks for more work than any model needs: it is made to exhaust a machine."""


def install_command(extra: str, *packages: str) -> str:
    """The command that adds packages to the environment that runs this, however it was made.

    Args:
        extra: the packages of this extra in pyproject.toml; "" for none.
        packages: others.
    """
    import sys
    from importlib.metadata import PackageNotFoundError, requires
    from importlib.util import find_spec
    from pathlib import Path
    from shlex import join
    from sysconfig import get_path

    try:
        listed = [each.partition(";") for each in requires("checkpoint-inspector") or ()]
    except PackageNotFoundError:  # run from a checkout that is not installed
        listed = []
    own = [name.strip() for name, _, marker in listed if extra and f"extra == '{extra}'" in marker.replace('"', "'")]
    home = Path(sys.prefix)
    command = [sys.executable, "-m", "pip", "install"]
    if (home / "pipx_metadata.json").exists():
        command = ["pipx", "inject", home.name]
    elif find_spec("pip") is None or (home / "uv-receipt.toml").exists():  # `uv venv`, `uv tool install`
        command = ["uv", "pip", "install", "--python", sys.prefix]
    elif sys.prefix == sys.base_prefix and Path(get_path("stdlib"), "EXTERNALLY-MANAGED").exists():
        command.append("--break-system-packages")
    return join([*command, *packages, *own])


@contextmanager
def readable(target: object) -> Iterator[None]:
    """Turn what the system refuses (a folder without permission, a name too long, a user without a home) into one of
    the library's errors. Raises UsageError for an empty target."""
    if target == "":  # an unset variable in a script; the current folder is "."
        raise UsageError("the target is empty: name a file, a folder or a repository")
    try:
        yield
    except OSError as error:
        raise SourceError(f"{escape(str(target), 200)}: {error.strerror or error}") from error
    except RuntimeError as error:
        if "home directory" not in str(error):
            raise
        raise TargetError(f"{escape(str(target), 200)}: no such user") from error
