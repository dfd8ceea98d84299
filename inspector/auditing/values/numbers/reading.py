"""A subject's data, read on the user's request."""

from __future__ import annotations

from collections.abc import Callable, Collection

from inspector.auditing.subject import Subject
from inspector.auditing.values.numbers.passing import measure
from inspector.errors import InspectorError, NetworkError, UsageError
from inspector.model import Finding


def read(
    subject: Subject, hashed: Collection[str] = (), progress: Callable[[int], object] = lambda _: None
) -> list[Finding]:
    """Examine all tensors of a model's files, for the rules; what cannot be read is a finding.

    Args:
        hashed: paths of weight files whose SHA-256 is requested.
        progress: called with the number of bytes done since the last call, from several threads.
    """
    try:
        subject.measured = measure(subject.all_headers, subject.place.open, hashed, progress)
    except (NetworkError, UsageError):
        raise
    except InspectorError as error:
        return [Finding("not-judged", "error", f"its data cannot be read: {error}")]
    return []
