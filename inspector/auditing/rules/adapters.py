"""Adapters by themselves: their weights, and whether these match their method."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from inspector.auditing.rules.rule import Found, rule
from inspector.auditing.rules.subject import Subject
from inspector.opening.configs import ADAPTER_FILE

_rule = partial(rule, group="consistent")

#: What PEFT calls an adapter's weights.
_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")


@_rule("no-adapter-weights", "error")
def no_adapter_weights(subject: Subject) -> Iterator[Found]:
    """An adapter's configuration without its weights.

    PEFT looks for adapter_model.safetensors, then adapter_model.bin, and fails without either. Download it, or give
    it the name that it had.
    """
    for entry in subject.named(ADAPTER_FILE):
        own = subject.document(entry.path) if entry.name == ADAPTER_FILE else {}
        there = {entry.folder + name for name in _WEIGHTS} & subject.by_path.keys()
        if isinstance(own.get("peft_type"), str) and not there and not subject.alone:
            yield Found(f"no {_WEIGHTS[0]} beside it: download it", entry.path)


@_rule("adapter-pieces", "error")
def adapter_pieces(subject: Subject) -> Iterator[Found]:
    """An adapter's tensors are not those that its method creates for its modules.

    A piece of another shape than the others of its kind is refused by PEFT. A warning where a piece is missing, which
    PEFT fills at random, or does not belong to the method, which it drops: both with a warning at most.
    """
    if any(header.path.rpartition("/")[2] in _WEIGHTS for header in subject.headers):
        from inspector.auditing.rules import pieces  # with PEFT's methods, which most downloads do not need

        yield from pieces.findings(subject, _WEIGHTS)
