"""The bridge's account book: bytes by cause, with what they are about."""

from __future__ import annotations

from collections import Counter, defaultdict

from inspector.bridge import causes
from inspector.model import Step
from inspector.units import integer

#: Kinds of tensors that a step names one by one: a quantized file has six or seven.
MOST_KINDS = 8


class Ledger:
    """Bytes by cause, with what they are about."""

    def __init__(self) -> None:
        self.bytes: Counter[str] = Counter()
        self.tensors: Counter[str] = Counter()
        self.details: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.sizes: defaultdict[str, Counter[str]] = defaultdict(Counter)  # absolute bytes of each detail
        self.texts: dict[str, str] = {}

    def add(self, cause: str, nbytes: int, what: str = "", tensors: int = 1) -> None:
        """Book a tensor's (or several tensors') bytes; equal `what` are counted together."""
        self.bytes[cause] += nbytes
        self.tensors[cause] += tensors
        if what:
            self.details[cause][what] += tensors
            self.sizes[cause][what] += abs(nbytes)

    def tell(self, cause: str, nbytes: int, detail: str) -> None:
        """Book bytes that are about no tensor, with the whole sentence."""
        self.bytes[cause] += nbytes
        self.texts[cause] = detail

    @property
    def total(self) -> int:
        return sum(self.bytes.values())

    def steps(self) -> tuple[Step, ...]:
        booked = sorted(self.bytes, key=lambda cause: causes.ORDER[cause])
        return tuple(
            Step(cause, self.bytes[cause], self.tensors[cause], self._detail(cause))
            for cause in booked
            if self.bytes[cause] or self.tensors[cause] or cause in self.texts
        )

    def _detail(self, cause: str) -> str:
        counts = self.details[cause]
        largest = self.sizes[cause].most_common(MOST_KINDS)
        told = [f"{integer(counts[what])} × {what}" for what, _ in largest]
        more = len(counts) - len(told)
        if more:
            told.append(f"{more} more kinds")
        return "; ".join(filter(None, (self.texts.get(cause), ", ".join(told)))) or causes.BY_NAME[cause].meaning
