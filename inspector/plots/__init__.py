"""Charts of results as SVG: those of `--html`, for notebooks and documents.

    inspector.plots.treemap(result)      # where the bytes are: group → role → layer → tensor
    inspector.plots.waterfall(result)    # the bridge from label to disk
    inspector.plots.heatmap(result)      # layers × roles: bits per weight, bytes, dtype; also of a diff or of values
    inspector.plots.cache(memory)        # memory over the context, and what devices have
    inspector.plots.histogram(values)    # how the numbers of tensors are spread
    inspector.plots.model(result)        # the model drawn, from its input to its head

Each is a `Chart`, which a notebook shows: `svg` is the drawing (`views` has all of them), `rows` are its numbers under
`headers`, bytes as integers, and `summary` says in a sentence what it shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.comparing.diff import Diff
    from inspector.measuring.values import Values
    from inspector.model import Checkpoint, Reconciliation
    from inspector.plots.figure import Chart
    from inspector.sizing.memory import Memory

__all__ = ["cache", "heatmap", "histogram", "model", "treemap", "waterfall"]


def treemap(result: Reconciliation | Checkpoint) -> Chart:
    """Where the bytes are: group → role → layer → tensor; parts too small to see are merged."""
    from inspector.plots import byte_map

    return byte_map.chart(_reconciliation(result))


def waterfall(result: Reconciliation | Checkpoint) -> Chart:
    """The bridge: from the label, or the prediction, by signed steps to the bytes on disk."""
    from inspector.plots import bridge_bars

    return bridge_bars.chart(_reconciliation(result))


def heatmap(result: Reconciliation | Checkpoint | Diff | Values) -> Chart:
    """Layers × roles.

    Views for a checkpoint: bits per weight, bytes, dtype; for a comparison: its statuses and, if values were compared,
    their distance; for values: their deviation and extremes.
    """
    from inspector.model import Checkpoint, Reconciliation
    from inspector.plots import layer_map

    if isinstance(result, (Checkpoint, Reconciliation)):
        return layer_map.chart(_reconciliation(result))
    from inspector.comparing.diff import Diff

    if isinstance(result, Diff):
        from inspector.plots import difference_map

        return difference_map.chart(result)
    from inspector.plots import values  # needs NumPy, as values do

    return values.by_place(result)


def cache(result: Memory) -> Chart:
    """Memory over the context, one line per type of cache, with the devices' capacity."""
    from inspector.plots import cache_lines

    return cache_lines.chart(result)


def histogram(result: Values) -> Chart:
    """The distribution of tensors' numbers, of the first eight rows."""
    from inspector.plots import values

    return values.histogram(result)


def model(result: Reconciliation | Checkpoint) -> Chart:
    """The model from its input to its head: blocks by role, like layers folded, towers side by side."""
    from inspector.plots import drawing

    return drawing.drawing(_reconciliation(result))


def _reconciliation(result: Reconciliation | Checkpoint) -> Reconciliation:
    from inspector.bridge.reconciliation import reconcile
    from inspector.model import Checkpoint

    return reconcile(result) if isinstance(result, Checkpoint) else result
