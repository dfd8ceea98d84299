"""Keras models with code in them: a Lambda layer carries marshalled bytecode."""

from __future__ import annotations

import re
import zipfile

from inspector.auditing.rules.archives import FAULTS, Reader
from inspector.auditing.rules.subject import Subject

#: Bytes of a file, or of the configuration in an archive, that are looked through.
MAX_SEARCHED = 1024 * 1024

_LAMBDA = re.compile(rb'"class_name"\s*:\s*"Lambda"')


def has_lambda(subject: Subject, path: str) -> bool:
    """Whether a Keras file's configuration has a Lambda layer."""
    start = subject.head(path, MAX_SEARCHED)
    if start.startswith(b"PK"):
        try:
            with zipfile.ZipFile(Reader(subject, path)) as archive, archive.open("config.json") as stream:
                start = stream.read(MAX_SEARCHED)
        except FAULTS:
            return False
    return _LAMBDA.search(start) is not None
