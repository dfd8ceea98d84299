"""What a wheel holds that no file of the repository is: tables in one packed file or deflated, and the manual page."""

from __future__ import annotations

import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Tables that only audits read.
AUDITED = "inspector/auditing/data"


class Made(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]
    """Packs the tables for the wheel, whose folder `pyproject.toml` leaves out, and writes `man inspect`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from inspector.architectures.store import FOLDER, PACKED, packed

        home = Path(self.root)
        written = Path(self._folder.name) / PACKED.name
        written.write_bytes(packed(FOLDER))
        build_data["force_include"][str(written)] = str(PACKED.relative_to(home))
        for table in sorted((home / AUDITED).glob("*.json")):
            deflated = Path(self._folder.name) / f"{table.name}.z"
            deflated.write_bytes(zlib.compress(table.read_bytes(), 9))
            build_data["force_include"][str(deflated)] = f"{AUDITED}/{deflated.name}"
        from inspector.cli.commands import inspect
        from inspector.cli.shell import page

        manual = Path(self._folder.name) / "inspect.1"
        manual.write_text(page(inspect), encoding="utf-8")
        build_data["shared_data"][str(manual)] = "share/man/man1/inspect.1"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        self._folder.cleanup()
