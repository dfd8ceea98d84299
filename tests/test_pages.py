"""Pages without a browser: their content, that nothing from a file is markup, and where they are written.

`test_browser` opens them in a real one.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import write

import inspector
from inspector.model import Finding
from inspector.plots import byte_map
from inspector.report import saving
from inspector.report.pages import render
from inspector.report.pages.parts import Column, Findings, Page, Report, Section, Table, Text

REAL = Path(__file__).parents[1] / "fixtures/real"

if TYPE_CHECKING:
    from conftest import Ran


class Parsed(HTMLParser):
    """A page's elements with their attributes, its text, and the content of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.raw: list[tuple[str, str]] = []
        self.open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open = tag
        if tag in ("script", "style"):
            self.raw.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        if self.open in ("script", "style"):
            tag, before = self.raw[-1]
            self.raw[-1] = (tag, before + data)
        else:
            self.texts.append(data)

    @property
    def tables(self) -> Any:
        """The long tables, which the page's script decompresses."""
        scripts = [attributes for tag, attributes in self.elements if tag in ("script", "style")]
        at = next(at for at, attributes in enumerate(scripts) if attributes.get("id") == "tables")
        return json.loads(gzip.decompress(base64.b64decode(self.raw[at][1])))

    @property
    def executed(self) -> list[str]:
        """Scripts that a browser would run."""
        kinds = [attributes.get("type") for tag, attributes in self.elements if tag in ("script", "style")]
        return [text for kind, (tag, text) in zip(kinds, self.raw, strict=True) if tag == "script" and kind is None]


def parsed(path: Path) -> Parsed:
    return Parsed(path.read_text("utf-8"))


def cells(column: dict[str, Any]) -> list[Any]:
    """A column of a long table, as the page's script reads it."""
    return [int(value["big"]) if isinstance(value, dict) else value for value in column["values"]]


# --- what stands on a page --------------------------------------------------------------------------


def test_every_tensor_is_on_the_page_as_the_json_has_it(
    made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    reported = inspect(made("llama-7b"), "--json", "--tensors", "--html", page).json
    table = next(each for each in parsed(page).tables.values() if each["caption"] == "323 tensors")
    columns = {column["name"]: cells(column) for column in table["columns"]}
    for field in ("name", "bytes", "parameters", "offset", "role", "dtype", "layer"):
        assert columns[field] == [tensor[field] for tensor in reported["tensors"]], field
    assert columns["shape"][:2] == ["32000×4096", "4096"]


def test_the_page_has_the_terminals_words(
    made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """The verdict, the facts and the bridge's numbers come from the same functions."""
    ran = inspect(made("llama-7b"), "--html", tmp_path / "page.html")
    title, verdict, facts = ran.out.splitlines()[:3]
    texts = parsed(tmp_path / "page.html").texts
    assert {title, verdict, facts} <= set(texts)
    for number in (
        "64.2",
        "14.00",
        "−0.52",
        "13.48",
        "rounding of the name: the configuration says 6,738,415,616 parameters",
    ):
        assert number in ran.out
        assert number in texts
    assert {"14,000,000,000", "−523,168,768", "13,476,872,576"} <= set(texts)
    assert "text: 32 layers, all alike, 404.77 MB each" in texts  # no map of one colour


def test_the_charts_add_up(made: Callable[[str], Path]) -> None:
    """Parts of the treemap sum to their whole; nothing is left out. 13,476,835,328: the index's own total_size."""
    chart = byte_map.chart(inspector.reconcile(inspector.open(made("llama-7b"))))
    whole: dict[tuple[Any, ...], int] = {(): 13_476_835_328} | {row[:4]: int(row[6] or 0) for row in chart.rows}
    sums: dict[tuple[Any, ...], int] = {}
    for row in chart.rows:
        own = tuple(name for name in row[:4] if name)
        above = (*own[:-1], *[""] * (5 - len(own))) if own[:-1] else ()
        sums[above] = sums.get(above, 0) + int(row[6] or 0)
    assert sums == {place: whole[place] for place in sums}


#: Recipe → the maximum size of its page in bytes. DeepSeek-V3 has 92,000 tensors.
MOST = {"llama-7b": 200_000, "deepseek-v3-fp8": 1_500_000}


@pytest.mark.gate
@pytest.mark.parametrize("recipe", MOST)
def test_pages_stay_small(
    recipe: str, made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """Experts that are too small to see are drawn together."""
    page = tmp_path / "page.html"
    assert inspect(made(recipe), "--html", page).code == 0
    assert page.stat().st_size < MOST[recipe]


def test_the_command_and_versions_are_shown(
    made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page states them, without secrets of a URL."""
    page = tmp_path / "page.html"
    monkeypatch.setattr(
        "sys.argv", ["inspect", "https://me:hunter2@host/m.gguf?token=hunter3", "--html", "a page.html"]
    )
    inspect(made("gpt2"), "--html", page)
    texts = parsed(page).texts
    assert "inspect https://host/m.gguf --html 'a page.html'" in texts
    assert any(text.startswith(f"checkpoint-inspector {inspector.__version__}, Python 3.") for text in texts)


# --- safety ---------------------------------------------------------------------------------------


def test_the_policy_allows_what_is_written_and_nothing_else(
    made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """The hashes are those of the page's own bytes; no source of anything else is allowed."""
    inspect(made("gpt2"), "--html", tmp_path / "page.html")
    page = parsed(tmp_path / "page.html")
    metas = [attributes for tag, attributes in page.elements if tag == "meta" and "http-equiv" in attributes]
    policy = dict(part.strip().split(" ", 1) for part in (metas[0]["content"] or "").split(";"))
    assert policy["default-src"] == "'none'"
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in page.executed]
    assert policy["script-src"] == " ".join(f"'sha256-{digest}'" for digest in digests)
    assert "unsafe" not in "".join(policy.values())
    assert not re.search(r"https?:", " ".join(policy.values()))


def test_a_page_asks_nobody_for_anything(
    made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    inspect(made("gpt2"), "--html", tmp_path / "page.html")
    for tag, attributes in parsed(tmp_path / "page.html").elements:
        assert not attributes.get("src"), tag
        assert (attributes.get("href") or "#").startswith(("#", "data:,")), tag
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag


PIECES = (
    *(
        "<",
        ">",
        "&",
        '"',
        "'",
        "</script>",
        "<script>",
        "<!--",
        "-->",
        "]]>",
        "<img src=x onerror=alert(1)>",
        "&lt;",
        "\\",
    ),
    *(
        "javascript:alert(1)",
        "\u2028",
        "\u2029",
        "\u202e",
        "\0",
        "\x1b[2J",
        "\r\n",
        "%{label}",
        "${1}",
        "{{7*7}}",
        "007",
    ),
    *(
        "layers.",
        "12",
        "999999999999",
        "<svg/onload=alert(1)>",
        "</title>",
        "</style>",
        "`",
        "=1+1",
        "é",
        "日本",
        "\ud800",
    ),
)


def hostile(draw: random.Random) -> str:
    return "".join(draw.choices(PIECES, k=draw.randint(1, 6)))


#: Elements of a page of harmless texts, with the number of times that each may occur.
PLAIN = Page("title", "verdict", [Section("s", [Text(["t"]), Report("r"), Table("c", [Column("n")], [("x",)])])])


def test_texts_stay_texts() -> None:
    """Four hundred pages of hostile names have the same elements as a harmless page, and the texts are intact."""
    from inspector.units import escape

    usual = [tag for tag, _ in Parsed(render.html(PLAIN, "inspect x")).elements]
    draw = random.Random(19)
    for _ in range(400):
        words = [hostile(draw) for _ in range(7)]
        title, verdict, section, text, caption, name, cell = words
        page = Page(
            title, verdict, [Section(section, [Text([text]), Report("r"), Table(caption, [Column(name)], [(cell,)])])]
        )
        found = Parsed(render.html(page, "inspect x"))
        assert [tag for tag, _ in found.elements] == usual
        reported = "\n".join(found.texts)
        for word in words[1:]:
            assert escape(word).strip() in reported


def test_rows_come_back_letter_by_letter() -> None:
    """Hostile cells of a long table survive the JSON in the page."""
    from inspector.units import escape

    draw = random.Random(20)
    rows = [(hostile(draw), draw.choice((None, draw.randint(0, 2**64 - 1)))) for _ in range(500)]
    table = Table("t", [Column("name"), Column("number", "number")], rows)
    text = render.html(Page("t", "v", [Section("s", [table])]), "inspect x")
    name, number = Parsed(text).tables["t0"]["columns"]
    assert cells(name) == [escape(row[0]) for row in rows]
    assert cells(number) == [row[1] for row in rows]
    block = text.partition('id="tables">')[2].partition("</script>")[0]
    assert re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", block)


def test_numbers_beyond_javascripts_are_texts() -> None:
    """2⁵³ + 1 is not a number in JavaScript."""
    (column,) = render.columns([Column("n", "number")], [(2**53 - 1,), (2**53 + 1,), (None,)])
    assert column["values"] == [2**53 - 1, {"big": "9007199254740993"}, None]


def test_findings_stand_gravest_first() -> None:
    found = [Finding("view", "info", "one"), Finding("hole", "error", "<two>", "f", "t")]
    page = Parsed(render.html(Page("t", "v", [Section("s", [Findings(found)])]), "inspect x"))
    table = [text for text in page.texts if text in ("note", "error", "one", "<two>")]
    assert table == ["error", "<two>", "note", "one"]


# --- files ----------------------------------------------------------------------------------------


def test_on_a_phone_a_row_of_a_wide_table_is_a_card() -> None:
    """Its cells then have their columns' names; a table that fits has no need of them."""
    wide = Table("many", [Column(f"col<{at}>", "number") for at in range(6)], [[10**9] * 6])
    narrow = Table("few", [Column("name"), Column("GB", "number")], [["feed forward and more", 8]])
    text = render.html(Page("t", "v", [Section("s", [wide, narrow])]), "inspect x")
    cards, plain = text.split('<div class="scroll')[1:]
    assert cards.startswith(" cards") and cards.count("<td") == cards.count('data-name="col&lt;') == 6
    assert plain.startswith('"') and "data-name" not in plain


def test_a_comparisons_page_begins_with_what_changed(made: Callable[[str], Path]) -> None:
    """What b is to a, the map, the changes with the largest first, and then the sides; of equal ones a sentence."""
    from inspector.report import diff

    found = diff.page(inspector.diff(made("llama-3.1-8b"), made("llama-3.1-8b-q4_k_m")))
    assert found.verdict == "b has the structure of a"
    order = ["By layer and role", "What changed, the largest first", "What is compared", "Tensors"]
    assert [section.title for section in found.sections] == order
    (changes,) = found.sections[1].parts
    assert isinstance(changes, Table)
    sizes = [int(row[4] or 0) for row in changes.rows]
    assert sizes[0] == 32 * (2 * 14336 + 2 * 4096 + 1024) * 4096 * 2  # gate, up, o, q and k in 16 bits
    assert sizes == sorted(sizes, reverse=True)
    same = diff.page(inspector.diff(made("gpt2"), made("gpt2")))
    assert same.sections[0].parts == [Text(["all 160 pairs: same"])]


def test_weights_are_never_written_over(inspect: Callable[..., Ran], tmp_path: Path) -> None:
    """Nor are folders, devices, or any file that is not a page; nor is `-` a file."""
    model = write(tmp_path / "model.safetensors", {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, 8)
    other = tmp_path / "pytorch_model.bin"
    other.write_bytes(b"PK\3\4")
    before = model.read_bytes()
    link = tmp_path / "link.html"
    link.symlink_to(other)
    places = (model, other, link, tmp_path, "-", "", "/dev/null", tmp_path / "new.gguf", tmp_path / "none/page.html")
    for place in places:
        for words in ((model, "--html"), ("tensors", model, "--parquet")):
            ran = inspect(*words, place)
            assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), place
    assert (model.read_bytes(), other.read_bytes()) == (before, b"PK\3\4")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.html", "model.safetensors", "pytorch_model.bin"]


def test_a_page_replaces_a_page(inspect: Callable[..., Ran], tmp_path: Path, made: Callable[[str], Path]) -> None:
    """It also does through a link, which stays one."""
    page, link = tmp_path / "page.html", tmp_path / "link.html"
    page.write_text("<!DOCTYPE html><p>old")
    page.chmod(0o640)
    link.symlink_to(page)
    assert inspect(made("gpt2"), "--html", link).code == 0
    assert link.is_symlink()
    assert "gpt2" in page.read_text("utf-8")
    assert page.stat().st_mode & 0o777 == 0o640


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    """A failure while writing leaves nothing, and the old file stays."""
    page = tmp_path / "page.html"
    page.write_text("<html>old")

    def fails(place: Path) -> None:
        place.write_text("<html>half")
        raise OSError(28, "No space left on device")

    with pytest.raises(inspector.SourceError, match="No space left"):
        saving.save(str(page), saving.PAGE, fails)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("page.html", "<html>old")]


# --- every command --------------------------------------------------------------------------------

COMMANDS = {
    "memory {gpt2} --gpu l4 --sweep": ("Memory by context length", "l4"),
    "diff {gpt2} {gpt2-xl}": ("Differences by layer and role", "in another shape"),
    "audit {gpt2} {stranger}": ("All findings", "template-code"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_page(
    command: str, made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """The terminal shows the same as without `--html`."""
    words = [str(made(word[1:-1])) if word[0] == "{" else word for word in command.split()]
    page = tmp_path / "page.html"
    ran = inspect(*words, "--html", page)
    assert ran == inspect(*words)
    text = "\n".join(parsed(page).texts)
    assert [word for word in COMMANDS[command] if word not in text] == []


def test_a_folder_of_models_has_its_page(inspect: Callable[..., Ran], tmp_path: Path) -> None:
    """A row for each model, and unreadable ones with the reason."""
    ran = inspect(REAL / "gguf", "--html", tmp_path / "page.html")
    assert ran.code == 0
    texts = parsed(tmp_path / "page.html").texts
    summary = ran.out.splitlines()[1].removesuffix("; name one to inspect it")
    assert {"ggml-vocab-bert-bge.gguf", "test.gguf", summary, "unverified"} <= set(texts)


def test_an_index_alone_has_its_page(inspect: Callable[..., Ran], tmp_path: Path) -> None:
    index = REAL / "index/Decentralised-AI+falcon-40b__pytorch_model.bin.index.json"
    ran = inspect(index, "--full", "--html", tmp_path / "page.html")
    assert ran.code == 0
    assert {ran.out.splitlines()[1], "embed_tokens", "embedding"} <= set(parsed(tmp_path / "page.html").texts)


def test_a_prediction_has_its_page(inspect: Callable[..., Ran], made: Callable[[str], Path], tmp_path: Path) -> None:
    """LLaMA-7B's: roles with formulas, 6,738,415,616 × 2 bytes as GB with the exact number, and its 291 tensors; as well for
    a configuration without weights."""
    ran = inspect("predict", "llama-7b", "--training", "--label", "6607343616", "--html", tmp_path / "page.html")
    assert ran.code == 0
    text = (tmp_path / "page.html").read_text()
    assert '<td class="number" title="13,476,831,232 bytes">13.48 GB</td>' in text
    assert "num_attention_heads·head_dim × hidden_size" in text and "without the output head" in text
    assert "291 tensors" in text
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone/config.json").write_bytes((made("llama-7b") / "config.json").read_bytes())
    assert inspect(tmp_path / "alone", "--html", tmp_path / "alone.html").code == 0
    assert "no weights here; what its config.json predicts" in (tmp_path / "alone.html").read_text()


def test_bytes_of_a_long_table_are_sorted_as_numbers() -> None:
    """`13.48 GB` is for tables that are written out; the page's script gets numbers."""
    long = Table("many", [Column("size", "bytes")], [[10**9 + at] for at in range(render.PLAIN + 1)])
    _, _, tables = render.contents(Page("t", "v", [Section("s", [long])]))
    (own,) = tables.values()
    assert (own["columns"][0]["kind"], own["columns"][0]["values"][:2]) == ("number", [10**9, 10**9 + 1])


def test_a_legend_has_each_number_once() -> None:
    """Of one NaN: 0 and 1, not also the thirds between them, rounded."""
    from inspector.bridge.breakdown import Axes
    from inspector.plots.layer_map import numbers

    drawn = numbers(Axes(("0", "1"), ("up_proj",)), {("0", "up_proj"): 1, ("1", "up_proj"): 0}, {}, "{:.0f}".format)
    assert re.findall(r">(\d)</text>", drawn.partition("</g>")[2]) == ["0", "1"]


def test_hundreds_of_hostile_names_in_one_file(inspect: Callable[..., Ran], tmp_path: Path) -> None:
    """Names, metadata and the file's own name, through the whole command with charts: no foreign elements."""
    draw = random.Random(21)
    names = list(dict.fromkeys(hostile(draw).replace("\ud800", "") or "x" for _ in range(600)))[:400]
    header: dict[str, Any] = {
        name: {"dtype": "F32", "shape": [4], "data_offsets": [16 * at, 16 * at + 16]} for at, name in enumerate(names)
    }
    header["__metadata__"] = {name: name for name in names if name != "__metadata__"}
    model = write(tmp_path / "<script>alert(1)<!--.safetensors", header, 16 * len(names))
    assert inspect(model, "--html", tmp_path / "page.html").code == 0
    page = parsed(tmp_path / "page.html")
    assert {tag for tag, _ in page.elements} <= ELEMENTS
    drawn = [set(attributes) for tag, attributes in page.elements if tag in SHAPES]
    assert all(attributes <= DRAWN for attributes in drawn)
    assert len(page.executed) == 1
    table = next(each for each in page.tables.values() if each["caption"] == f"{len(names)} tensors")
    from inspector.units import escape

    assert cells(table["columns"][0]) == [escape(name) for name in names]


#: What charts consist of, and all of its attributes: none loads or runs anything.
SHAPES = ("svg", "rect", "g", "text", "line", "circle")
DRAWN = frozenset(
    [
        "x",
        "y",
        "width",
        "viewbox",
        "height",
        "rx",
        "fill",
        "fill-opacity",
        "stroke",
        "stroke-opacity",
        "opacity",
        "font-family",
        "font-size",
        "font-weight",
        "text-anchor",
        "xmlns",
        "transform",
        "x1",
        "x2",
        "y1",
        "y2",
        "cx",
        "cy",
        "r",
        "stroke-width",
        "stroke-dasharray",
        "class",
        "role",
        "aria-label",
        "data-group",
        "data-roles",
        "data-tower",
    ]
)
#: All elements of pages: nothing that loads, submits or runs.
ELEMENTS = frozenset(
    [
        "tspan",
        "html",
        "head",
        "meta",
        "title",
        "link",
        "style",
        "body",
        "a",
        "g",
        "text",
        "template",
        "header",
        "h1",
        "h2",
        "p",
        "nav",
        "ul",
        "li",
        "button",
        "main",
        "section",
        "div",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "figure",
        "figcaption",
        "details",
        "summary",
        "pre",
        "br",
        "footer",
        "code",
        "noscript",
        "script",
        "span",
        "svg",
        "rect",
        "line",
        "circle",
    ]
)


def test_the_page_of_a_scan_has_every_row() -> None:
    """Also those that the terminal omits; names are texts, lists are joined."""
    from inspector.report import scan
    from inspector.scanning.queries import Answer, Report

    total = {"checkpoints": 90, "on_disk": 5_000_000_000, "logical": 10**9, "broken": 1, "unreadable": 0}
    broken = Answer(("rule", "checkpoints", "first"), [("<b>", 90 - at, [f"m{at}", "<i>"]) for at in range(90)])
    found = Report(total, [{"number": 1, "finished": "now"}], {"broken": broken, "grown": broken})
    page = Parsed(render.html(scan.page(found, "DIR"), "inspect scan"))
    assert "damaged: 90 checkpoints, 5.00 GB, 1.00B parameters; 1 with errors, 0 unreadable" in page.texts
    (table,) = page.tables.values()
    assert [cells(column)[1] for column in table["columns"]] == ["<b>", 89, "m1, <i>"]


def test_a_targets_password_and_query_are_on_no_page(made: Callable[[str], Path]) -> None:
    """Pages are shared: they have neither password nor query of a URL."""
    from inspector.auditing.examination import Audited
    from inspector.auditing.run import Audit
    from inspector.report import audit, diff, memory

    secret = "https://me:hunter2@host/gpt2?token=hunter2"
    result = inspector.reconcile(inspector.open(made("gpt2")))
    result = result._replace(checkpoint=result.checkpoint._replace(target=secret))
    sized = inspector.memory(result)
    pages = (
        memory.page(sized._replace(model=sized.model._replace(target=secret))),
        diff.page(inspector.diff(result, result)),
        audit.page(Audit((Audited(secret, 1, 1, (Finding("hole", "error", "b"),)),))),
    )
    for page in pages:
        text = render.html(page, "inspect x")
        assert "https://host/gpt2" in text
        assert "hunter2" not in text
