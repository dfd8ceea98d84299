"""`inspect memory` of a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import inspector

if TYPE_CHECKING:
    from loopback.server import Hub


def test_memory_of_a_repository_needs_its_headers_alone(hub: Hub, llama: str) -> None:
    """The numbers are those of the folder that it is made from, after reading less than a megabyte."""
    there, here = inspector.memory(llama, context=4096), inspector.memory(hub.repos[llama].folder, context=4096)
    assert (there.weights.nbytes, there.cache, there.total) == (here.weights.nbytes, here.cache, here.total)
    # 32 layers hold keys and values of 4,096 tokens, 4,096 wide, in 2 bytes each.
    assert there.cache == 32 * 2 * 4096 * 4096 * 2
    assert sum(each.sent for each in hub.log) < 1_000_000
