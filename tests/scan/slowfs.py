"""An fsspec file system that hangs as long as a file exists: `hangs:///folder`. It is found by its entry point."""

from __future__ import annotations

from pathlib import Path
from time import sleep
from typing import Any

from fsspec.implementations.local import LocalFileSystem


class Hanging(LocalFileSystem):  # type: ignore[misc]
    """Files of this machine; reading below a folder with a file `hang` ends when that file is gone."""

    protocol = ("hangs",)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        plain = self._strip_protocol(path)
        while (Path(plain).parent / "hang").exists():
            sleep(0.05)
        found: bytes = super().cat_file(plain, start=start, end=end, **options)
        return found

    def unstrip_protocol(self, name: str) -> str:
        return f"hangs://{self._strip_protocol(name)}"

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        return super()._strip_protocol(str(path).removeprefix("hangs://"))
