"""Sources without files."""

from __future__ import annotations


class Growing:
    """A source in memory that, like a remote one, only holds what was requested."""

    def __init__(self, content: bytes, slack: int = 0) -> None:
        self.content, self.size, self.slack, self.length = content, len(content), slack, 0

    def read(self, offset: int, length: int) -> bytes:
        assert offset + length <= self.size
        return self.content[offset : offset + length]

    def prefix(self, length: int) -> memoryview:
        self.length = max(self.length, min(length + self.slack, self.size))
        return memoryview(self.content)[: self.length]

    def close(self) -> None:
        pass
