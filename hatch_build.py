"""What a wheel holds of the tables: all of them as files without spaces, which takes half the room of modules."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _title(module: Path) -> str:
    """The first line of a module's docstring."""
    return module.read_text().split('"""')[1].split("\n")[0]


class Tables(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]
    """Writes the tables for the wheel; `pyproject.toml` leaves out the modules and files that they are made of."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = Path(tempfile.mkdtemp())
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from inspector.architectures import load, table_file

        home = Path(self.root) / "inspector" / "architectures" / "data"
        modules = [path for path in home.glob("families/*.py") if "\nFAMILY = " in path.read_text()]
        texts = {path.stem: table_file.text(load(path.stem), _title(path)) for path in modules}
        texts |= {path.stem: path.read_text() for path in home.glob("tables/*.json")}
        for name, text in sorted(texts.items()):
            written = self._folder / f"{name}.json"
            written.write_text(json.dumps(json.loads(text), separators=(",", ":")))
            build_data["force_include"][str(written)] = f"inspector/architectures/data/tables/{written.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        shutil.rmtree(self._folder)
