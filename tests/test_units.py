"""Numbers for people: the figure, the unit, the rounding, and text that is safe to print."""

from __future__ import annotations

import pytest
from every import every

from inspector import units


@pytest.mark.parametrize(
    ("number", "plain", "with_sign"),
    [
        (0, "0", "+0"),
        (999, "999", "+999"),
        (1000, "1,000", "+1,000"),
        (6_738_415_616, "6,738,415,616", "+6,738,415,616"),
        (-523_168_768, "−523,168,768", "−523,168,768"),
    ],
)
def test_integers_are_exact(number: int, plain: str, with_sign: str) -> None:
    """Every digit, in groups of three; the minus sign is the typographic one, as everywhere."""
    assert (units.integer(number), units.signed(number)) == (plain, with_sign)


@every(
    ("nbytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.00 kB"),
        (1004, "1.00 kB"),
        (1005, "1.00 kB"),  # 1.005 in binary is slightly less
        (1006, "1.01 kB"),
        (999_994, "999.99 kB"),
        (999_995, "1.00 MB"),  # not 1000.00 kB
        (999_999, "1.00 MB"),
        (1_000_000, "1.00 MB"),
        (13_476_872_576, "13.48 GB"),
        (4_000_000_000_000, "4.00 TB"),
        (10**15, "1.00 PB"),
        (12 * 10**18, "12000.00 PB"),  # the largest unit takes the rest
        (-13_476_872_576, "−13.48 GB"),
    ],
)
def test_decimal_sizes(nbytes: int, text: str) -> None:
    assert units.decimal(nbytes) == text


@every(
    ("nbytes", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (-999, "−999 B"),
        (1000, "1.00 kB, 1000 B"),
        (1023, "1.02 kB, 1023 B"),
        (1024, "1.02 kB, 1.00 KiB"),
        (1_048_575, "1.05 MB, 1.00 MiB"),  # not 1024.00 KiB
        (13_476_872_576, "13.48 GB, 12.55 GiB"),
        (2**50, "1.13 PB, 1.00 PiB"),
        (-1024, "−1.02 kB, −1.00 KiB"),
    ],
)
def test_sizes_have_decimal_and_binary_side_by_side(nbytes: int, text: str) -> None:
    assert units.size(nbytes) == text


@every(
    ("number", "text"),
    [
        (0, "0"),
        (135, "135"),
        (999, "999"),
        (1000, "1.00K"),
        (124_439_808, "124.44M"),
        (999_999_999, "1.00B"),
        (6_738_415_616, "6.74B"),
        (1_000_000_000_000, "1.00T"),
    ],
)
def test_counts_are_as_model_cards_write_them(number: int, text: str) -> None:
    assert units.count(number) == text


@every(
    ("nbits", "text"),
    [(4, "4"), (4.5, "4.5"), (4.83, "4.83"), (4.8263, "4.83"), (10, "10"), (100, "100"), (32.0, "32"), (0, "0")],
)
def test_bits_keep_their_zeros_before_the_point(nbits: float, text: str) -> None:
    """10 bits are not `1`; zeros after the point are dropped."""
    assert units.bits(nbits) == text


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, "0 shards"), (1, "1 shard"), (2, "2 shards"), (1500, "1,500 shards"), (-1, "−1 shards")],
)
def test_plural(number: int, expected: str) -> None:
    assert units.plural(number, "shard") == expected


def test_plural_of_an_irregular_noun() -> None:
    assert (units.plural(1, "entry", "entries"), units.plural(3, "entry", "entries")) == ("1 entry", "3 entries")


@every(
    ("text", "limit", "shown"),
    [
        ("abcdef", None, "abcdef"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),  # six characters, including the ellipsis
        ("äbc", 3, "äbc"),
        ("äbcd", 3, "äb…"),
        ("\x1b[31mred", None, "\\x1b[31mred"),
        ("tab\there", None, "tab\\there"),
        ("\x7f\x9f", None, "\\x7f\\x9f"),
        ("right\u202eleft", None, "right\\u202eleft"),
        ("none\u200b", None, "none\\u200b"),
        ("\ud800", None, "\\ud800"),
        ("\U000e0041", None, "\\U000e0041"),
        ("naïve 模型", None, "naïve 模型"),
    ],
)
def test_text_from_files_is_escaped_and_cut(text: str, limit: int | None, shown: str) -> None:
    """Control, bidirectional and invisible characters are spelled out; a limit is a number of characters."""
    assert units.escape(text, limit) == shown


@pytest.mark.parametrize(
    ("number", "digits", "plain", "with_sign"),
    [(0.51, 3, "0.510", "+0.510"), (-28, 1, "−28.0", "−28.0"), (4.7964, 3, "4.796", "+4.796"), (0, 2, "0.00", "+0.00")],
)
def test_fixed_digits(number: float, digits: int, plain: str, with_sign: str) -> None:
    assert (units.fixed(number, digits), units.fixed(number, digits, sign=True)) == (plain, with_sign)


@pytest.mark.parametrize(
    ("part", "whole", "text"), [(-859, 1000, "−85.9 %"), (1, 3, "+33.3 %"), (0, 7, "+0.0 %"), (5, 0, "+0.0 %")]
)
def test_percent(part: int, whole: int, text: str) -> None:
    assert units.percent(part, whole) == text


def test_the_first_character_that_is_printable_and_unsafe() -> None:
    """U+034F joins its neighbours, and is invisible; the character before it is an ordinary accent."""
    assert (units.escape("a\u034f"), units.escape("a\u034e")) == ("a\\u034f", "a\u034e")


def test_shapes_are_products() -> None:
    """Up to 32 sizes are written out; a scalar has a word."""
    assert (units.times((4096, 32000)), units.times([7]), units.times(())) == ("4096×32000", "7", "scalar")
    assert units.times([1] * 32) == "×".join("1" * 32)
    assert units.times([1] * 33) == "×".join("1" * 32) + "×… (33 dimensions)"


def test_numbers_that_follow_each_other_are_a_range() -> None:
    """Each number once, in the order that they have."""
    assert units.ranges([0, 1, 2, 5, 7, 8, 9]) == "0–2, 5, 7–9"
    assert (units.ranges([]), units.ranges([3])) == ("", "3")


def test_of_many_numbers_the_first_eight_are_shown() -> None:
    """With an ellipsis only where more follow."""
    assert units.first_few(range(1, 9)) == "1, 2, 3, 4, 5, 6, 7, 8"
    assert units.first_few([*range(1, 9), 1000]) == "1, 2, 3, 4, 5, 6, 7, 8…"
    assert units.first_few([1000]) == "1,000"


@every(
    ("text", "of_tokens", "of_bytes"),
    [
        ("16384", 16_384, None),
        ("16,384", 16_384, None),
        ("16_384", 16_384, None),
        (" 16 384 ", 16_384, None),
        ("1,6384", None, None),
        ("16k", 16_384, None),
        ("128K", 131_072, None),
        ("1.5k", 1536, None),
        ("1.0015m", 1_050_148, 1_050_148),  # 1,050,148.86 rounded down
        ("2Mi", 2_097_152, None),
        ("7b", None, 7),
        ("1.5 GB", None, 1_500_000_000),
        ("24 GiB", None, 25_769_803_776),
        ("24g", None, 25_769_803_776),
        ("0.25tib", None, 274_877_906_944),
        ("1.5.5k", None, None),
        ("-1k", None, None),
        ("k", None, None),
        ("", None, None),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, of_tokens: int | None, of_bytes: int | None) -> None:
    """A thousand tokens are 1,024, GB are decimal, GiB and G binary; anything else is no number."""
    assert (units.written(text, units.TOKENS), units.written(text, units.BYTES)) == (of_tokens, of_bytes)
