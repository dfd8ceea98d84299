"""The bridge's ledger: bytes by cause, with an explanation of each entry."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from inspector.bridge import causes
from inspector.model import Step
from inspector.units import integer

#: Kinds of tensors, or sentences, that a step lists: a quantized file has six or seven.
MOST_KINDS = 8


class Ledger:
    """Bytes by cause, with an explanation of each."""

    def __init__(self) -> None:
        self.bytes: Counter[str] = Counter()
        self.tensors: Counter[str] = Counter()
        self._kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)  # cause → what → tensors
        self._sizes: defaultdict[str, Counter[str]] = defaultdict(Counter)  # cause → what → absolute bytes
        self._sentences: defaultdict[str, dict[str, None]] = defaultdict(dict)  # cause → each sentence once, in order

    def add(self, cause: str, nbytes: int, what: str = "", tensors: int = 1) -> None:
        """Book the bytes of one or more tensors; equal `what` are counted together."""
        self.bytes[cause] += nbytes
        self.tensors[cause] += tensors
        if what:
            self._kinds[cause][what] += tensors
            self._sizes[cause][what] += abs(nbytes)

    def tell(self, cause: str, nbytes: int, sentence: str = "") -> None:
        """Book bytes that belong to no tensor, with a whole sentence; each is shown once."""
        self.bytes[cause] += nbytes
        if sentence:
            self._sentences[cause][sentence] = None

    @property
    def total(self) -> int:
        return sum(self.bytes.values())

    def steps(self) -> tuple[Step, ...]:
        """A step for each cause with bookings, in the causes' order."""
        booked = sorted(self.bytes, key=lambda cause: causes.ORDER[cause])
        return tuple(
            Step(cause, self.bytes[cause], self.tensors[cause], self._detail(cause))
            for cause in booked
            if self.bytes[cause] or self.tensors[cause] or cause in self._sentences
        )

    def _detail(self, cause: str) -> str:
        counts = self._kinds[cause]
        kinds = (f"{integer(counts[what])} × {what}" for what, _ in self._sizes[cause].most_common())
        told = (_first(self._sentences.get(cause, ()), "more"), _first(kinds, "more kinds"))
        return "; ".join(filter(None, told)) or causes.BY_NAME[cause].meaning


def _first(told: Iterable[str], others: str) -> str:
    """The first of several texts, and how many remain."""
    listed = list(told)
    more = len(listed) - MOST_KINDS
    return ", ".join([*listed[:MOST_KINDS], *([f"{more} {others}"] if more > 0 else [])])
