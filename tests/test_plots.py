"""Charts in Python: SVG that an XML parser reads, with the numbers of their results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from safetensors.numpy import save_file

import inspector
from inspector import plots
from inspector.measuring.statistics import Tally, pooled
from inspector.plots import byte_map, cache_lines, figure
from inspector.plots.figure import Chart
from inspector.sizing.memory import at_context

Made = Callable[[str], Path]


def drawn(chart: Chart) -> dict[str, list[ElementTree.Element]]:
    """Each view's elements, in order."""
    return {name: list(ElementTree.fromstring(svg).iter()) for name, svg in chart.views}


def titles(elements: list[ElementTree.Element]) -> list[str]:
    """What is shown when a part is pointed at."""
    return [each.text or "" for each in elements if each.tag.endswith("title")]


def test_a_waterfall_has_the_bridges_steps(made: Made) -> None:
    """From 14 GB, as people say: 13,476,872,576 are 96.263 % of it; steps of 0.0003 % are listed, not drawn."""
    chart = plots.waterfall(inspector.reconcile(inspector.open(made("llama-7b"))))
    assert [row[0] for row in chart.rows] == ["14,000,000,000", "−523,168,768", "+4,096", "+37,248", "13,476,872,576"]
    (elements,) = drawn(chart).values()
    bars = [(each.get("x"), each.get("width")) for each in elements if each.tag.endswith("rect")]
    assert bars == [("0%", "100%"), ("96.263%", "3.737%"), ("0%", "96.263%")]
    assert chart.summary.endswith("too small to be seen: buffers 4.10 kB, headers 37.25 kB")


def test_a_heat_map_shows_bits_bytes_and_types(made: Made) -> None:
    """Q4_K_M: v_proj and down_proj of some layers in 6.5625 bits, norms in 32; layers alike are one rectangle."""
    chart = plots.heatmap(inspector.open(made("llama-3.1-8b-q4_k_m")))
    cells = {row[:2]: row[2:] for row in chart.rows}
    assert cells["0", "v_proj"] == (1, 1024 * 4096, 1024 * 4096 * 6.5625 / 8, "6.56", "Q6_K")
    assert cells["0", "q_proj"] == (1, 4096 * 4096, 4096 * 4096 * 4.5 / 8, "4.5", "Q4_K")
    assert ("0", "lm_head") not in cells
    views = drawn(chart)
    assert list(views) == ["bits", "bytes", "dtype"]
    for elements in views.values():
        shown = titles(elements)
        assert [text for text in shown if ": q_proj" in text] == [
            "0–31: q_proj, 9,437,184 bytes in 1 tensor, Q4_K, 4.5 bits per weight"
        ]
        assert len([text for text in shown if ": v_proj" in text]) == 17  # as llama.cpp's quantizer takes turns


def test_columns_stand_in_the_models_order(made: Made) -> None:
    """And not in the file's, which is alphabetical; also in a diff."""
    order = ["embed_tokens", "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    order += ["input_layernorm", "post_attention_layernorm", "norm", "lm_head"]
    result = inspector.reconcile(inspector.open(made("llama-3.1-8b")))
    for chart in (plots.heatmap(result), plots.heatmap(inspector.diff(result, result))):
        for elements in drawn(chart).values():
            assert [each.text for each in elements if each.get("transform")] == order


def test_areas_are_in_proportion_and_fill_their_place() -> None:
    """Four sizes by hand: 6 and 6 below each other on the left of 6 × 4, 4 and 3 beside, 3 and 2 … as in the paper."""
    boxes = byte_map.tiles([6, 6, 4, 3, 2, 2, 1], byte_map._Box(0, 0, 6, 4))
    assert [round(each.width * each.height, 6) for each in boxes] == [6, 6, 4, 3, 2, 2, 1]
    assert [tuple(round(number, 6) for number in each) for each in boxes[:3]] == [
        (0, 0, 3, 2),
        (0, 2, 3, 2),
        (3, 0, 1.714286, 2.333333),
    ]


def test_the_treemaps_table_goes_down_to_layers_and_tensors(made: Made) -> None:
    """Every area of the chart has its row, though the smallest are not drawn: for Llama 7B 6 groups, 13 roles, and 7 × 32 projections."""
    chart = byte_map.chart(inspector.reconcile(inspector.open(made("llama-7b"))))
    levels = [sum(bool(name) for name in row[:4]) for row in chart.rows]
    assert (levels.count(1), levels.count(2)) == (6, 13)
    layers = [row for row in chart.rows if str(row[2]).startswith("layer ")]
    assert len(layers) == 7 * 32
    assert ("attention", "q_proj", "layer 7", "", 1, 4096 * 4096, 4096 * 4096 * 2) in layers


def test_a_treemap_draws_each_part_with_its_bytes(made: Made) -> None:
    """GPT-2's recipe: 148 tensors of 124,439,808 parameters in 4 bytes, and 12 masks of 1024 × 1024 in 4."""
    chart = plots.treemap(inspector.open(made("gpt2")))
    assert sum(row[-1] for row in chart.rows if not row[1]) == 124_439_808 * 4 + 12 * 1024 * 1024 * 4  # type: ignore[misc]
    (elements,) = drawn(chart).values()
    shown = titles(elements)
    assert "wte.weight" not in shown[0]
    assert [text for text in shown if text.startswith("embed_tokens")] == [
        "embed_tokens, 28.2% of all: 38,597,376 parameters, 154,389,504 bytes in 1 tensor, F32"
    ]


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
    """23,034 MiB as reported by the driver, without the 512 that are reserved; the line is at its share of the height."""
    chart = plots.cache(inspector.memory("llama-7b", gpu="l4"))
    assert chart.summary.endswith("; l4, usable 23.62 GB")
    assert round(((23_034 - 512) << 20) / 1e9, 2) == 23.62
    (elements,) = drawn(chart).values()
    (level,) = [each for each in elements if each.get("stroke-dasharray")]
    assert level.get("y1") == level.get("y2") == "17"  # the most that is drawn, below the plot's edge
    points = [each for each in elements if each.tag.endswith("circle")]
    assert len(points) == len(chart.rows)


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (1, [0, 1]),
        (999, [0, 200, 400, 600, 800]),
        (1_234_567, [0, 500_000, 1_000_000]),
        (6 * 10**9, [0, 1e9, 2e9, 3e9, 4e9, 5e9, 6e9]),
    ],
)
def test_an_axis_has_few_round_numbers(most: int, expected: list[int]) -> None:
    assert list(cache_lines._ticks(most)) == expected


def test_values_and_differences_are_maps(tmp_path: Path) -> None:
    """A tensor made 1 % larger has the distance 0.01, an equal one 0; deviations are NumPy's."""
    draw = np.random.default_rng(5)
    tensors = {f"model.layers.{at}.self_attn.q_proj.weight": draw.normal(size=(8, 8)) for at in range(2)}
    tuned = {name: each * 1.01 if ".1." in name else each for name, each in tensors.items()}
    for name, each in (("a", tensors), ("b", tuned)):
        save_file(each, tmp_path / f"{name}.safetensors")
    differences = plots.heatmap(inspector.diff(tmp_path / "a.safetensors", tmp_path / "b.safetensors", data=True))
    assert [row[5] for row in differences.rows] == [0, pytest.approx(0.01)]
    assert [row[4] for row in differences.rows] == ["equal", "different"]
    assert [name for name, _ in differences.views] == ["distance", "values", "status"]
    found = inspector.values(tmp_path / "a.safetensors")
    deviations = plots.heatmap(found)
    assert [row[3] for row in deviations.rows] == [pytest.approx(each.std()) for each in tensors.values()]
    fills = [each.get("fill") for each in drawn(deviations)["largest"] if titles(list(each))]
    assert figure.SCALE[-1] in fills  # the largest of all has the last colour
    bars = [each for each in drawn(plots.histogram(found))[""] if each.tag.endswith("rect")]
    edges = sum(len(row.summary.histogram.counts) for row in found.rows if row.summary.histogram)
    assert len(bars) == edges


def test_nan_and_infinity_are_the_first_view(tmp_path: Path) -> None:
    """In a values' map, and of the histograms the first."""
    numbers = np.ones((3, 4), "f4")
    numbers[1, 1] = np.nan
    names = [f"model.layers.{at}.mlp.up_proj.weight" for at in range(9)]
    save_file(
        {name: numbers if at == 8 else np.ones((3, 4), "f4") for at, name in enumerate(names)},
        tmp_path / "m.safetensors",
    )
    found = inspector.values(tmp_path / "m.safetensors")
    assert [name for name, _ in plots.heatmap(found).views] == ["NaN and infinity", "deviation", "largest"]
    assert plots.heatmap(found).summary == "9 tensors; NaN or infinity in 1 cell of layer and role"
    assert plots.histogram(found).rows[0][0] == names[8]


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


def test_a_notebook_shows_every_view(made: Made) -> None:
    """The first open, the others folded; in a prompt a chart is one line."""
    chart = plots.heatmap(inspector.open(made("gpt2")))
    markup = chart._repr_html_()
    assert markup.count("<details") == markup.count("<svg") == 3
    assert markup.count(" open>") == 1
    assert repr(chart) == f"<Chart Layers and roles: {chart.summary}>"
    single = plots.treemap(inspector.open(made("gpt2")))
    assert single.svg in single._repr_html_()
    assert "<details" not in single._repr_html_()


def test_names_are_not_markup(tmp_path: Path) -> None:
    """Names of tensors, types and layers stay text in every chart."""
    name = '<img src=x onerror="alert(1)">&lt;'
    save_file({name: np.ones(4, "f4"), f"{name}.2": np.ones(4, "f4")}, tmp_path / "m.safetensors")
    result = inspector.reconcile(tmp_path / "m.safetensors")
    found = inspector.values(tmp_path / "m.safetensors")
    for chart in (plots.treemap(result), plots.heatmap(result), plots.histogram(found), plots.heatmap(found)):
        for elements in drawn(chart).values():
            assert {each.tag.rpartition("}")[2] for each in elements} <= {
                "svg",
                "g",
                "rect",
                "line",
                "text",
                "title",
                "tspan",
            }
    assert any(name in (each.text or "") for each in drawn(plots.histogram(found))[""])
