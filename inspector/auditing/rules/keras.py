"""Keras models with code in them: a Lambda layer carries marshalled bytecode."""

from __future__ import annotations

import re

from inspector.auditing.rules.subject import Subject
from inspector.formats.pytorch import zips

#: Bytes of a file, or of the configuration in an archive, that are looked through.
MAX_SEARCHED = 1024 * 1024

_LAMBDA = re.compile(rb'"class_name"\s*:\s*"Lambda"')


def has_lambda(subject: Subject, path: str) -> bool:
    """Whether a Keras file's configuration has a Lambda layer."""
    start = subject.head(path, MAX_SEARCHED)
    if start.startswith(b"PK"):
        with subject.reading(path) as read:
            try:
                listed = zips.members(read, subject.by_path[path].size)
                start = b"".join(
                    zips.unpacked(read, each, MAX_SEARCHED) for each in listed if each.name == "config.json"
                )
            except zips.ZipError:
                return False
    return _LAMBDA.search(start) is not None
