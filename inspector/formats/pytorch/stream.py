"""Reads a pickle's bytes forwards, a window at a time; long runs are skipped unread."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

from inspector.formats.pytorch.values import Blob

#: Bytes of the first fetch, and of the largest: most files that are not pickles show it immediately.
FIRST, WINDOW = 1 << 12, 1 << 20
#: A string or bytes longer than this is skipped, and represented by a `Blob`.
LONGEST = 1 << 16
#: Bytes of a line with a name; and of one with a text or a number, which may be passed over.
LONGEST_LINE, MAX_LINE = 1 << 16, 1 << 28
#: Bytes of a long line that distinguish a name from numbers that are not a pickle, and characters that no name has.
NAME_START = 256
_CONTROL = re.compile(rb"[\0-\x1f]")


class PickleError(ValueError):
    """A pickle that no unpickler would read to its end, or that exceeds the limits here."""


class EndError(PickleError):
    """The bytes end before a value does."""


class BeyondError(PickleError):
    """More work than one file may take."""


class Stream:
    """Bytes by position; `read` returns the available bytes of a range."""

    def __init__(self, read: Callable[[int, int], bytes], size: int, start: int = 0) -> None:
        self.size = size
        self._read = read
        self.window = b""  # bytes at hand
        self.at = 0  # position of the next byte in the window
        self._base = start  # position of the window in the stream
        self._ahead = FIRST

    @classmethod
    def of(cls, data: bytes) -> Stream:
        """A stream over bytes in memory."""
        return cls(lambda start, length: data[start : start + length], len(data))

    @property
    def position(self) -> int:
        return self._base + self.at

    def seek(self, position: int) -> None:
        """Go to a position, also backwards."""
        if self._base <= position <= self._base + len(self.window):
            self.at = position - self._base
        else:
            self.window, self._base, self.at, self._ahead = b"", min(position, self.size), 0, FIRST

    def take(self, length: int) -> bytes:
        """Exactly this many bytes, at most `LONGEST`."""
        end = self.at + length
        if end > len(self.window):
            self.fill(length)
            end = self.at + length
        found = self.window[self.at : end]
        self.at = end
        return found

    def run(self, length: int) -> bytes | Blob:
        """This many bytes, or their position if there are too many to keep."""
        if length <= LONGEST:
            return self.take(length)
        start = self.position
        if length > self.size - start:
            raise EndError("it ends in the middle of a value")
        self.seek(start + length)
        return Blob(start, length)

    def line(self) -> bytes:
        """The bytes up to the next newline, as unpicklers read them; the last line may lack one."""
        end = self.window.find(b"\n", self.at)
        if end < 0:
            self.fill(min(LONGEST_LINE, self.size - self.position))
            end = self.window.find(b"\n", self.at, self.at + LONGEST_LINE)
            if end < 0 and len(self.window) - self.at < LONGEST_LINE:
                raise EndError("a line without an end")
            if end < 0 and _CONTROL.search(self.window, self.at, self.at + NAME_START):
                raise PickleError("a name with control characters")
            if end < 0:
                raise BeyondError("an overlong name")
        found = self.window[self.at : end]
        self.at = end + 1
        return found

    def line_or_blob(self) -> bytes | Blob:
        """A line, or where it lies if it is too long to be kept."""
        start = self.position
        with suppress(PickleError):
            return self.line()
        for at in range(start, min(self.size, start + MAX_LINE), WINDOW):
            self.seek(at)
            self.fill(min(WINDOW, self.size - at))
            end = self.window.find(b"\n")
            if end >= 0:
                self.seek(at + end + 1)
                return Blob(start, at + end - start)
        self.seek(start)
        if self.size - start < MAX_LINE:
            raise EndError("a line without an end")
        raise BeyondError("an implausibly long line")

    def again(self, blob: Blob, length: int) -> bytes:
        """The first bytes of what was passed over."""
        return self._read(blob.start, min(blob.size, length))

    def fill(self, length: int) -> None:
        """Have this many bytes in the window."""
        position = self.position
        if not 0 < length <= self.size - position:
            raise EndError("it ends in the middle of a value" if length > 1 else "it has no end")
        self.window = self._read(position, min(max(length, self._ahead), self.size - position))
        self._ahead = min(2 * self._ahead, WINDOW)
        self._base, self.at = position, 0
        if len(self.window) < length or not self.window:
            raise PickleError("its bytes cannot be read")
