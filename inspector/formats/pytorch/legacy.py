"""What `torch.save` wrote before 1.6: consecutive pickles, followed by the storages as raw bytes."""

from __future__ import annotations

from inspector.errors import FormatError
from inspector.formats.pytorch import layout
from inspector.formats.pytorch.archive import MAX_OPCODES, check
from inspector.formats.pytorch.found import Found
from inspector.formats.pytorch.machine import Budget
from inspector.formats.pytorch.sequence import IN_A_ROW, is_legacy, programs
from inspector.formats.pytorch.stream import Stream
from inspector.formats.pytorch.tensors import walk
from inspector.formats.zips import Read
from inspector.units import escape

#: The first pickle's bytes after its protocol (`pickle.dumps(MAGIC, protocol=2)`).
START = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."


def read(read_at: Read, size: int, path: str) -> Found:
    """All tensors of a file of pickles.

    Raises:
        FormatError: another program wrote the pickle, it is truncated, or it cannot be followed.
    """
    stream = Stream(read_at, size)
    found = programs(stream, Budget(MAX_OPCODES), most=IN_A_ROW)
    if not is_legacy(found):
        raise FormatError(
            f"{escape(path)} is a pickle that PyTorch did not write: a pickle is never opened here, "
            "because opening one runs its code",
            "not-weights",
        )
    for each in found:
        check(each, path)
    if len(found) < IN_A_ROW:
        raise FormatError(f"{escape(path)}: its pickles end before the storages: a truncated download", "truncated")
    value, keys, end = found[3].value, found[4].value, found[4].end
    if not isinstance(keys, list) or not all(isinstance(key, (str, int)) for key in keys):
        raise FormatError(f"{escape(path)}: its list of storages is invalid", "unreadable-file")
    walked = walk(value)
    sizes = {view.storage: view.length * view.width for view in walked.views if view.storage is not None}
    storages = layout.in_a_row(size, [str(key) for key in keys], sizes, end)
    frame = layout.Frame(pickles=[(0, end)])
    return Found(walked.views, storages, frame, value, walked.malformed, walked.opaque, complete=walked.complete)
