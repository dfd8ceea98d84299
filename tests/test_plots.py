"""Charts in Python: figures that plotly itself accepts, with the numbers of their results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import inspector
from inspector import plots
from inspector.measuring.statistics import Tally, pooled
from inspector.plots import bridge_bars, byte_map, cache_lines
from inspector.report.pages import render
from inspector.sizing.memory import at_context

Made = Callable[[str], Path]


def test_a_waterfall_has_the_bridges_steps(made: Made) -> None:
    result = inspector.reconcile(inspector.open(made("llama-7b")))
    (trace,) = plots.waterfall(result).data
    assert list(trace.x) == [14_000_000_000, -523_168_768, 4_096, 37_248, 13_476_872_576]
    assert list(trace.measure) == ["absolute", "relative", "relative", "relative", "absolute"]


def test_a_heat_map_shows_bits_bytes_and_types(made: Made) -> None:
    """Q4_K_M: v_proj and down_proj of some layers in 6.5625 bits, norms in 32."""
    figure = plots.heatmap(inspector.open(made("llama-3.1-8b-q4_k_m")))
    bits, nbytes, _ = figure.data
    columns, rows = list(figure.layout.xaxis.ticktext), list(figure.layout.yaxis.ticktext)
    first = rows.index("0")
    assert bits.z[first][columns.index("v_proj")] == 6.5625
    assert bits.z[first][columns.index("q_proj")] == 4.5
    assert nbytes.z[first][columns.index("q_proj")] == 4096 * 4096 * 4.5 / 8
    assert bits.z[first][columns.index("lm_head")] is None
    assert [trace.visible for trace in figure.data] == [True, False, False]


def test_columns_stand_in_the_models_order(made: Made) -> None:
    """And not in the file's, which is alphabetical; also in a diff and in a treemap."""
    order = ["embed_tokens", "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    order += ["input_layernorm", "post_attention_layernorm", "norm", "lm_head"]
    result = inspector.reconcile(inspector.open(made("llama-3.1-8b")))
    assert list(plots.heatmap(result).layout.xaxis.ticktext) == order
    assert list(plots.heatmap(inspector.diff(result, result)).layout.xaxis.ticktext) == order
    (trace,) = plots.treemap(result).data
    layers = [name for name in trace.labels if name.startswith("layer ")]
    assert layers[:12] == [f"layer {number}" for number in range(12)]


def test_the_treemaps_table_goes_down_to_layers_and_tensors(made: Made) -> None:
    """Every area of the chart has its row: for Llama 7B 6 groups, 13 roles, and 7 × 32 projections."""
    chart = byte_map.chart(inspector.reconcile(inspector.open(made("llama-7b"))))
    levels = [sum(bool(name) for name in row[:4]) for row in chart.rows]
    assert len(chart.rows) == len(chart.traces[0]["ids"]) - 1  # except for the total
    assert (levels.count(1), levels.count(2)) == (6, 13)
    layers = [row for row in chart.rows if str(row[2]).startswith("layer ")]
    assert len(layers) == 7 * 32
    assert ("attention", "q_proj", "layer 7", "", 1, 4096 * 4096, 4096 * 4096 * 2) in layers


def test_a_waterfall_stands_on_the_page_without_a_script(made: Made) -> None:
    """From 14 GB, as people say: 13,476,872,576 are 96.263 % of it, and rounding explains the rest but for 0.0003 %."""
    text = render.bars(bridge_bars.chart(inspector.reconcile(inspector.open(made("llama-7b")))))
    places = re.findall(r'x="([\d.]+)%" height="100%" width="([\d.]+)%"', text)
    assert places == [
        ("0.000", "100.000"),
        ("96.263", "3.737"),
        ("96.263", "0.100"),
        ("96.263", "0.100"),
        ("0.000", "96.263"),
    ]


def test_plotly_accepts_the_treemap(made: Made) -> None:
    (trace,) = plots.treemap(inspector.open(made("gpt2"))).data
    # The recipe's header: 148 tensors of 124,439,808 parameters in 4 bytes, and 12 masks of 1024 × 1024 in 4.
    assert trace.values[0] == 124_439_808 * 4 + 12 * 1024 * 1024 * 4


def test_curves_go_through_what_memory_says() -> None:
    """At each context the total is that of `inspector.memory` for it; the cache of Llama 7B is 512 KiB a token."""
    chart = cache_lines.chart(inspector.memory("llama-7b", context=4096))
    rows = {context: (cache, total) for _, context, cache, total in chart.rows}
    assert {context: cache for context, (cache, _) in rows.items()} == {2048: 2048 << 19, 4096: 4096 << 19}
    for context, (_, total) in rows.items():
        assert isinstance(context, int)
        assert total == inspector.memory("llama-7b", context=context).total


def test_another_context_is_as_if_it_was_asked_for() -> None:
    asked = inspector.memory("mistral-7b", context=1000, engine="llama.cpp")
    other = at_context(inspector.memory("mistral-7b", context=50_000, engine="llama.cpp"), 1000)
    assert (other.cache, other.total) == (asked.cache, asked.total)


def test_devices_that_were_named_are_levels() -> None:
    figure = plots.cache(inspector.memory("llama-7b", gpu="l4"))
    (level,) = [trace for trace in figure.data if trace.line.dash == "dash"]
    # 23,034 MiB as reported by the driver, without the 512 that are reserved.
    assert set(level.y) == {(23_034 - 512) << 20}


def test_values_and_differences_are_maps(tmp_path: Path) -> None:
    """A tensor made 1 % larger has the distance 0.01, an equal one 0; deviations are NumPy's."""
    draw = np.random.default_rng(5)
    tensors = {f"model.layers.{at}.self_attn.q_proj.weight": draw.normal(size=(8, 8)) for at in range(2)}
    tuned = {name: each * 1.01 if ".1." in name else each for name, each in tensors.items()}
    for name, each in (("a", tensors), ("b", tuned)):
        save_file(each, tmp_path / f"{name}.safetensors")
    distance, agreement, _ = plots.heatmap(
        inspector.diff(tmp_path / "a.safetensors", tmp_path / "b.safetensors", data=True)
    ).data
    assert [row[0] for row in distance.z] == [0, pytest.approx(0.01)]
    assert [row[0] for row in agreement.z] == [0, 1]  # equal, different
    found = inspector.values(tmp_path / "a.safetensors")
    deviation, largest = plots.heatmap(found).data
    assert [row[0] for row in deviation.z] == [pytest.approx(each.std()) for each in tensors.values()]
    assert [row[0] for row in largest.z] == [pytest.approx(abs(each).max()) for each in tensors.values()]
    assert len(plots.histogram(found).data) == 2


def test_pooled_moments_are_those_of_all_numbers() -> None:
    """As if they had been computed at once; NaNs are counted, too."""
    draw = np.random.default_rng(6)
    parts = [draw.normal(at, at + 1, size=100 * (at + 1)).astype("f4") for at in range(3)]
    parts[1][0], parts[2][:2] = np.nan, np.inf
    tallies = []
    for part in parts:
        tallies.append(Tally())
        tallies[-1].add(part)
    together = pooled(each.summary() for each in tallies)
    every = np.concatenate(parts)
    finite = every[np.isfinite(every)].astype("f8")
    assert (together.total, together.nan, together.inf) == (600, 1, 2)
    assert together.mean == pytest.approx(finite.mean())
    assert together.std == pytest.approx(finite.std())
    assert together.largest == abs(finite).max()


def test_figures_are_json(made: Made) -> None:
    """As notebooks write them."""
    assert json.loads(plots.treemap(inspector.open(made("gpt2"))).to_json())["data"][0]["type"] == "treemap"


def test_without_plotly_a_line_says_what_to_install(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "plotly.graph_objects", None)
    with pytest.raises(inspector.UsageError, match=r"^plotly is not installed: `.+ install .*plotly.*`"):
        plots.treemap(inspector.open(made("gpt2")))
