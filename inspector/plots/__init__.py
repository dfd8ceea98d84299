"""Charts of results as plotly's figures: those of `--html`, for notebooks and for whoever changes them further.

    inspector.plots.treemap(result)      # where the bytes are: group → role → layer → tensor
    inspector.plots.waterfall(result)    # the bridge from label to disk
    inspector.plots.heatmap(result)      # layers × roles: bits a weight, bytes, dtype

`pip install 'checkpoint-inspector[plots]'` brings plotly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.plots.figure import as_figure

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from inspector.model import Reconciliation

__all__ = ["heatmap", "treemap", "waterfall"]


def treemap(result: Reconciliation) -> go.Figure:
    """Where the bytes are: group → role → layer → tensor; what is too small to be seen stands together."""
    from inspector.plots import byte_map

    return as_figure(byte_map.chart(result))


def waterfall(result: Reconciliation) -> go.Figure:
    """The bridge: from the label, or the prediction, by signed steps to the bytes on disk."""
    from inspector.plots import bridge_bars

    return as_figure(bridge_bars.chart(result))


def heatmap(result: Reconciliation) -> go.Figure:
    """Layers × roles: bits a weight, bytes or dtype, by a button."""
    from inspector.plots import layer_map

    return as_figure(layer_map.chart(result))
