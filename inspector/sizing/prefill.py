"""What Transformers takes for a prompt beyond weights and cache: the tensors that are alive at the peak of a layer.

In elements for each token, of the type that the model computes in: the embeddings, the residual, the block's input and
output (4 × hidden_size), and in the feed-forward its projections, the activation and the product. Experts are computed
for all tokens and their top-k at once; where the router's weights stay in 32 bits, so do the weighted outputs. A window
has a mask of a byte for each pair of tokens. `eager` attention keeps whole score matrices: the scores, the masked ones,
the softmax in 32 bits and its copy. Compared with torch's peaks on a GPU: `fixtures/transformers_peaks.jsonl`.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from inspector.errors import ConfigError
from inspector.model import Expected
from inspector.sizing.engines.engine import Request
from inspector.sizing.model import Model
from inspector.sizing.weights import MAIN
from inspector.tabular import NamedTuple

#: Activation functions that are written out in Python, each step with a tensor of its own (`activations.py`).
WRITTEN_OUT = frozenset({"gelu_new", "gelu_fast", "gelu_python_tanh", "quick_gelu"})
#: Score matrices in 16 bits that are alive at the peak of eager attention.
MATRICES = 5


class Prefill(NamedTuple):
    """Bytes at the peak of a prompt, by implementation of attention."""

    sdpa: int  # also flash_attention_2, which has no score matrix either
    eager: int


def prefill(model: Model, hidden: int, vocabulary: int, request: Request, batch: int) -> Prefill | None:
    """The peak of one forward pass over a prompt; None for layers whose tensors are not known here.

    Args:
        batch: tokens of each sequence's prompt; all sequences are computed together.
    """
    rows = [row for row in model.prediction.expected if row.tower in MAIN] if model.prediction else []
    if not rows or not model.kept or any(group.kind in ("recurrent", "linear", "cross") for group in model.kept):
        return None
    wide = _feed_forward(model, rows, hidden)
    if wide is None:
        return None
    wide //= request.tp  # of the devices that share a layer each has some of its heads and columns
    width, tokens = request.model.nbytes, batch * request.sequences
    heads, head = _number(model, "num_attention_heads n_head"), _number(model, "head_dim")
    head = head or (hidden // heads if heads else 0)
    windows = [group.window for group in model.kept if group.window and group.window < batch]
    rotary = 2 * head * batch + (batch * batch // width if windows else 0)
    logits = request.sequences * vocabulary * (width + 4)
    plain = width * (tokens * (4 * hidden + wide) + rotary)
    heads //= request.tp
    scores = tokens * ((MATRICES * heads + 1) * batch + 2 * hidden + 4 * heads * head)
    return Prefill(max(plain, logits), max(plain, width * (scores + rotary), logits))


def _feed_forward(model: Model, rows: Iterable[Expected], hidden: int) -> int | None:
    """Elements for each token in the widest feed-forward; None if there is none."""
    found = []
    gated = {(row.tower, bool(row.stacked or row.experts)) for row in rows if row.role == "gate_proj"}
    written_out = any(_field(model, name) in WRITTEN_OUT for name in ("hidden_act", "activation_function"))
    in_32_bits = any(row.role == "router_bias" for row in rows)  # DeepSeek-V3's, which are not cast
    for row in rows:
        if row.role not in ("up_proj", "gate_up_proj") or row.part != "weight" or len(row.shape) < 2:
            continue
        sizes = [each for each in row.shape[-2:] if each != hidden] or [hidden]
        experts, fused = bool(row.stacked or row.experts), row.role == "gate_up_proj"
        wide = max(sizes) // (2 if fused else 1)
        if experts:
            top = row.active or 1
            # gathered inputs, both projections at once, activation, product; or outputs, weighted and in their order
            found.append(max(top * (hidden + 4 * wide), top * hidden * (6 if in_32_bits else 4)))
        elif fused or (row.tower, False) in gated:
            found.append((4 if fused else 3) * wide)
        else:
            found.append((5 if written_out else 2) * wide)
    return max(found, default=None)


def _number(model: Model, names: str) -> int:
    values = (_field(model, name) for name in names.split())
    return next((each for each in values if isinstance(each, int) and not isinstance(each, bool)), 0)


def _field(model: Model, name: str) -> object:
    with suppress(ConfigError):
        return model.scope[name] if model.scope is not None else None
    return None
