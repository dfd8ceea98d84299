"""What a wheel holds of the tables: all of them in one packed file."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tables(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]
    """Packs the tables for the wheel; `pyproject.toml` leaves out the folder that they are made of."""

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

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        self._folder.cleanup()
