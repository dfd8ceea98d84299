"""Charts of results as plotly's figures: those of `--html`, for notebooks and further customisation.

    inspector.plots.treemap(result)      # where the bytes are: group → role → layer → tensor
    inspector.plots.waterfall(result)    # the bridge from label to disk
    inspector.plots.heatmap(result)      # layers × roles: bits per weight, bytes, dtype; also of a diff or of values
    inspector.plots.cache(memory)        # memory over the context, and what devices have
    inspector.plots.histogram(values)    # how the numbers of tensors are spread
    inspector.plots.model(result)        # the model drawn, from its input to its head

They need plotly, the extra `plots`; `model` does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.plots.figure import as_figure

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from inspector.comparing.diff import Diff
    from inspector.measuring.values import Values
    from inspector.model import Checkpoint, Reconciliation
    from inspector.plots.drawing import Drawing
    from inspector.sizing.memory import Memory

__all__ = ["cache", "heatmap", "histogram", "model", "treemap", "waterfall"]


def treemap(result: Reconciliation | Checkpoint) -> go.Figure:
    """Where the bytes are: group → role → layer → tensor; parts too small to see are merged."""
    from inspector.plots import byte_map

    return as_figure(byte_map.chart(_reconciliation(result)))


def waterfall(result: Reconciliation | Checkpoint) -> go.Figure:
    """The bridge: from the label, or the prediction, by signed steps to the bytes on disk."""
    from inspector.plots import bridge_bars

    return as_figure(bridge_bars.chart(_reconciliation(result)))


def heatmap(result: Reconciliation | Checkpoint | Diff | Values) -> go.Figure:
    """Layers × roles.

    For a checkpoint: bits per weight, bytes or dtype, chosen by a button; for a comparison: its statuses and, if values
    were compared, their distance; for values: their deviation and extremes.
    """
    from inspector.model import Checkpoint, Reconciliation
    from inspector.plots import layer_map

    if isinstance(result, (Checkpoint, Reconciliation)):
        return as_figure(layer_map.chart(_reconciliation(result)))
    from inspector.comparing.diff import Diff

    if isinstance(result, Diff):
        from inspector.plots import difference_map

        return as_figure(difference_map.chart(result))
    from inspector.plots import values  # needs NumPy, as values do

    return as_figure(values.by_place(result))


def cache(result: Memory) -> go.Figure:
    """Memory over the context, one line per type of cache, with the devices' capacity."""
    from inspector.plots import cache_lines

    return as_figure(cache_lines.chart(result))


def histogram(result: Values) -> go.Figure:
    """The distribution of tensors' numbers, one line each."""
    from inspector.plots import values

    return as_figure(values.histogram(result))


def model(result: Reconciliation | Checkpoint) -> Drawing:
    """The model from its input to its head, as SVG: blocks by role, like layers folded, towers side by side.

    `svg` is the drawing, which notebooks show; `rows` are its numbers under `headers`, bytes as integers.
    """
    from inspector.plots import drawing

    return drawing.drawing(_reconciliation(result))


def _reconciliation(result: Reconciliation | Checkpoint) -> Reconciliation:
    from inspector.bridge.reconciliation import reconcile
    from inspector.model import Checkpoint

    return reconcile(result) if isinstance(result, Checkpoint) else result
