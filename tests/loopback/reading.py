"""What the command prints, as data."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from huggingface_hub import constants

from inspector import api
from inspector.report import documents
from loopback.server import Hub


def report(target: str, **options: Any) -> dict[str, Any]:
    """`inspect TARGET --json --tensors`."""
    return documents.overview(api.reconcile(api.open(target, **options)), tensors=True)


def but_source(document: dict[str, Any]) -> dict[str, Any]:
    """A report without what depends on the place."""
    return {key: value for key, value in document.items() if key not in ("source", "target")}


def download(hub: Hub, repo: str, *patterns: str) -> None:
    """What `snapshot_download` leaves in the cache, from a process whose environment has the Hub's address."""
    program = "import sys, huggingface_hub as h; h.snapshot_download(sys.argv[1], allow_patterns=sys.argv[2:] or None)"
    environment = {**os.environ, "HF_ENDPOINT": hub.endpoint, "HF_HUB_CACHE": constants.HF_HUB_CACHE}
    subprocess.run([sys.executable, "-c", program, repo, *patterns], env=environment, check=True, capture_output=True)
