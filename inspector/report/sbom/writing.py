"""Which kind of document a file's name asks for, and the writing of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from inspector.auditing.run import Audit
from inspector.auditing.subject import Subject
from inspector.errors import UsageError, install_command
from inspector.report import saving
from inspector.report.saving import Output
from inspector.report.sbom import parts
from inspector.units import escape

_CYCLONEDX = Output("CycloneDX document", (b'{"$schema":"http://cyclonedx.org/',))
_SPDX = Output("SPDX 3 document", (b'{"@context":"https://spdx.org/rdf/3',))
#: Ending of a file's name → the kind of document, and the module that makes it.
KINDS = {
    "bom.json": (_CYCLONEDX, "cyclonedx"),
    ".cdx.json": (_CYCLONEDX, "cyclonedx"),
    ".spdx3.json": (_SPDX, "spdx"),
    ".spdx.json": (_SPDX, "spdx"),
}


class Writing:
    """A bill of materials that is to be written when the work is done."""

    def __init__(self, path: str | Path) -> None:
        """
        Raises:
            UsageError: the name asks for no known kind, a package is missing, or the file may not be written.
            SourceError: its folder does not exist.
        """
        self._path = str(path)
        name = Path(path).name.lower()
        kind = next((each for ending, each in KINDS.items() if name.endswith(ending)), None)
        if kind is None:
            raise UsageError(
                f"{escape(self._path)}: name it *.cdx.json for CycloneDX 1.6, or *.spdx3.json for SPDX 3.0"
            )
        self._kind, module = kind
        saving.check(self._path, self._kind)
        try:
            self._document = import_module(f"inspector.report.sbom.{module}").document
        except ImportError as error:
            needed = escape(str(error.name).partition(".")[0], 40)
            raise UsageError(f"a bill of materials needs {needed}: `{install_command('sbom')}`") from error

    def described(self, subject: Subject) -> Any:
        """What is kept of an examined model until the document is written."""
        return parts.described(subject)

    def write(self, of: Audit | Path) -> None:
        """Write the document of an audit, or of the folder with a scan's tables.

        Raises:
            SourceError: it cannot be written.
        """
        bill = parts.of_tables(of) if isinstance(of, Path) else parts.of_audit(of)
        document: Mapping[str, Any] = self._document(bill)
        first = ("$schema", "@context")  # so that the file shows what it is
        ordered = {name: document[name] for name in (*first, *document) if name in document}
        text = json.dumps(ordered, indent=1) + "\n"
        saving.save(self._path, self._kind, lambda place: place.write_text(text, "utf-8", newline="\n"))
