"""Columns: widths as a terminal counts them, and the order in which they shrink."""

from __future__ import annotations

from inspector.report.columns import distinct, least_width, shortened, table, text_width, wrapped

ROWS = [("q_proj", "536,870,912", "num_attention_heads·head_dim × hidden_size"), ("norm", "4,096", "hidden_size")]
HEADERS = ("role", "parameters", "shape")


def test_wide_characters_take_two_columns() -> None:
    """CJK and emoji take two columns, a combining accent none."""
    assert [text_width(text) for text in ("模型", "🙂a", "é", "abc")] == [4, 3, 1, 3]
    assert table([("模型", "x"), ("ab", "y")], (), "ll") == "模型  x\nab    y"


def test_a_shortened_text_fits() -> None:
    """The ellipsis counts; a wide character is not cut in half."""
    assert shortened("attention", 5) == "atte…"
    assert shortened("模型模型", 4) == "模…"
    assert shortened("short", 5) == "short"


def test_without_a_bound_everything_is_shown() -> None:
    """A pipe gets whole lines."""
    assert (
        table(ROWS, HEADERS, "lrl").splitlines()[1] == "q_proj  536,870,912  num_attention_heads·head_dim × hidden_size"
    )


def test_columns_give_way_in_their_order() -> None:
    """First the shape is shortened to its least width, then it disappears."""
    lines = table(ROWS, HEADERS, "lrl", width=40, give=[(2, 10)]).splitlines()
    assert lines[1] == "q_proj  536,870,912  num_attention_head…"
    assert max(map(text_width, lines)) <= 40
    assert table(ROWS, HEADERS, "lrl", width=24, give=[(2, 0)]).splitlines()[1] == "q_proj  536,870,912"


def test_numbers_are_never_cut() -> None:
    """A column that is not marked as shrinkable stays whole, however narrow the terminal."""
    assert "536,870,912" in table(ROWS, HEADERS, "lrl", width=5, give=[(2, 0)])


def test_lines_fold_at_spaces() -> None:
    """Further lines are indented, words longer than a line are cut, and nothing is wider than the terminal."""
    assert wrapped("one two three four", 9) == "one two\n  three\n  four"
    assert wrapped("one two", None) == "one two"
    assert wrapped("a-word-too-long x", 6) == "a-word\n  -too\n  -lon\n  g x"


def test_different_names_stay_different() -> None:
    """They are cut where they are alike; the number of a layer is not."""
    names = [f"model.layers.{n}.self_attn.{role}_proj.weight" for n in range(12) for role in "qkv"]
    for width in (28, 30, 36):
        shown = distinct(names, width)
        assert len(set(shown)) == len(names)
        assert max(map(text_width, shown)) <= width
    least = least_width(names)
    assert len(set(distinct(names, least))) == len(names) > len(set(distinct(names, least - 1)))
    assert distinct(["short"], 8) == ["short"]


def test_names_that_differ_only_in_the_middle_stay_different() -> None:
    """Two repositories in a cache: the ends of their paths are alike, as are their beginnings."""
    names = [f"hostile/cache/models--org--{each}/snapshots/{'a' * 40}" for each in ("one", "two")]
    shown = distinct(names, 47)
    assert len(set(shown)) == 2 and max(map(len, shown)) <= 47


def test_a_column_that_gives_way_leaves_a_mark() -> None:
    """The line of headers ends in an ellipsis."""
    assert table(ROWS, HEADERS, "lrl", width=24, give=[(2, -1)]).splitlines()[0] == "role     parameters …"
    assert table(ROWS, HEADERS, "lrl").splitlines()[0] == "role     parameters  shape"
