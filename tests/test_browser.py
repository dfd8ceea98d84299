"""Pages in a real browser: nothing fails, nothing is fetched, no name is executed, and the controls work.

Needs Chromium and its driver (`apt-get install chromium chromium-driver`); without them the tests are skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chromium
import pytest
from conftest import write

if TYPE_CHECKING:
    from conftest import Ran
    from selenium.webdriver import Chrome

pytestmark = [pytest.mark.gate, pytest.mark.once, chromium.NEEDED]


@pytest.fixture(scope="module")
def driver() -> Iterator[Chrome]:
    with chromium.started() as chrome:
        yield chrome


class Shown:
    """A page that the browser shows."""

    def __init__(self, driver: Chrome, path: Path) -> None:
        self.driver = driver
        self._drain()
        driver.get(path.as_uri())
        self.until("document.documentElement.dataset.ready === 'yes'")

    def _drain(self) -> tuple[list[Any], list[Any]]:
        logs: Any = self.driver.get_log  # has no types
        return logs("browser"), logs("performance")

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def until(self, condition: str) -> None:
        chromium.until(self.driver, condition)

    def complaints(self) -> tuple[list[str], list[str]]:
        """The console's messages, and all requests since the page was loaded."""
        console, network = self._drain()
        events = (json.loads(each["message"])["message"] for each in network)
        urls = [each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"]
        return [each["message"] for each in console], [url for url in urls if not url.startswith(("file:", "data:"))]

    def first_row(self) -> list[str]:
        found: list[str] = self.run(
            "return [...document.querySelectorAll('.window tbody tr[aria-rowindex=\"2\"]')].at(-1).innerText.split('\\t')"
        )
        return [text.strip() for text in found]

    def status(self) -> str:
        text: str = self.run("return [...document.querySelectorAll('[role=status]')].at(-1).textContent")
        return text

    def search(self, words: str) -> None:
        self.run(
            "const field = [...document.querySelectorAll('input[type=search]')].at(-1); field.value = arguments[0];"
            "field.dispatchEvent(new Event('input'))",
            words,
        )

    def press(self, column: str) -> None:
        """Press a column's button by the keyboard."""
        from selenium.webdriver.common.by import By
        from selenium.webdriver.common.keys import Keys

        buttons = self.driver.find_elements(By.XPATH, f"//th/button[.='{column}']")
        buttons[-1].send_keys(Keys.ENTER)


#: The theme, and the colour of a chart's text, after an event.
INK = """
dispatchEvent(new Event(arguments[0]));
return [document.documentElement.dataset.theme, getComputedStyle(document.querySelector(".chart svg")).color];
"""
#: Tables that would have to be moved sideways.
WIDE = """
document.querySelectorAll("details").forEach((details) => details.open = true);
return [...document.querySelectorAll(".scroll, .window")].filter((box) => box.scrollWidth > box.clientWidth + 1)
  .map((box) => `${box.getAttribute("aria-label")}: ${box.scrollWidth}`);
"""
COMMANDS = {
    "overview": "{gpt2}",
    "memory": "memory {gpt2} --sweep",
    "diff": "diff {gpt2} {gpt2-xl}",
    "audit": "audit {gpt2} {stranger}",
    "values": "values {small}",
    "predict": "predict {gpt2}",
    "three": "diff {gpt2} {gpt2-xl} {gpt2}",
}
#: Pages without charts.
CHARTLESS = ("audit", "predict", "three")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Two layers with numbers, and one tensor without."""
    import numpy as np

    numbers = np.arange(16, dtype="<f4")
    numbers[3] = np.nan
    names = [f"model.layers.{layer}.mlp.up_proj.weight" for layer in range(2)]
    header = {
        name: {"dtype": "F32", "shape": [4, 2], "data_offsets": [32 * at, 32 * at + 32]}
        for at, name in enumerate(names)
    }
    path = write(tmp_path / "small.safetensors", header)
    with path.open("ab") as file:
        file.write(numbers.tobytes())
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_no_page_fails_or_fetches(
    name: str, driver: Chrome, made: Callable[[str], Path], small: Path, inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """In light and dark, with all charts, on a desktop's screen and a phone's; nothing is wider than the phone."""
    path = {"small": small}
    words = [
        str(path.get(word[1:-1]) or made(word[1:-1])) if word[0] == "{" else word for word in COMMANDS[name].split()
    ]
    assert not inspect(*words, "--html", tmp_path / "page.html").err
    page = Shown(driver, tmp_path / "page.html")
    page.run("document.getElementById('theme').click(); document.documentElement.dataset.theme = 'dark'")
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    )
    width = page.run("return [document.documentElement.scrollWidth, innerWidth]")
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert page.run("return document.documentElement.dataset.theme") in ("light", "dark")
    if name not in CHARTLESS:
        ink = [page.run(INK, event) for event in ("beforeprint", "afterprint")]
        assert ink == [["light", "rgb(27, 31, 36)"], ["dark", "rgb(230, 237, 243)"]]
    assert width == [390, 390]
    assert page.complaints() == ([], [])


@pytest.mark.parametrize("name", COMMANDS)
def test_no_table_is_wider_than_the_page(
    name: str, driver: Chrome, made: Callable[[str], Path], small: Path, inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """Its rows are cards, or it has the columns that fit, with a button for all of them."""
    words = COMMANDS[name].replace("{small}", str(small))
    words = re.sub(r"{([\w-]+)}", lambda match: str(made(match[1])), words)
    inspect(*words.split(), "--html", tmp_path / "page.html")
    wide = {}
    for pixels in (375, 1280):
        screen = {"width": pixels, "height": 800, "deviceScaleFactor": 1, "mobile": pixels < 600}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        wide[pixels] = Shown(driver, tmp_path / "page.html").run(WIDE)
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide == {375: [], 1280: []}


def test_search_sort_and_filters(
    driver: Chrome, made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """Of 92,000 tensors: each answer agrees with the JSON, and only visible rows are drawn."""
    reported = inspect(made("deepseek-v3-fp8"), "--json", "--tensors", "--html", tmp_path / "page.html").json["tensors"]
    page = Shown(driver, tmp_path / "page.html")
    assert page.status() == f"{len(reported):,} rows"
    assert page.run("return document.querySelectorAll('.window tbody tr').length") < 200

    page.search("LAYERS.60 experts.255 scale")
    found = [each for each in reported if all(word in each["name"] for word in ("layers.60", "experts.255", "scale"))]
    page.until(
        f"[...document.querySelectorAll('[role=status]')].at(-1).textContent === '{len(found)} of {len(reported):,} rows'"
    )
    assert page.first_row()[0] == found[0]["name"]

    page.search("")
    page.until(f"[...document.querySelectorAll('[role=status]')].at(-1).textContent === '{len(reported):,} rows'")
    page.press("bytes")
    page.press("bytes")
    largest = max(reported, key=lambda each: each["bytes"])
    assert page.first_row()[:2] == [largest["name"], largest["role"]]
    assert f"{largest['bytes']:,}" in page.first_row()

    page.run(
        "const field = [...document.querySelectorAll('select')].at(-1).closest('.tools').querySelector('select');"
        "field.value = [...field.options].find((each) => each.textContent.startsWith('norm ')).value;"
        "field.dispatchEvent(new Event('change'))"
    )
    norms = [each for each in reported if each["role"] == "norm"]
    assert page.status() == f"{len(norms):,} of {len(reported):,} rows"
    drawn = page.run(
        "const field = [...document.querySelectorAll('select')].at(-1).closest('.tools').querySelector('select');"
        "field.value = ''; field.dispatchEvent(new Event('change'));"
        "const table = [...document.querySelectorAll('.window')].at(-1); const seen = new MutationObserver(() => {});"
        "seen.observe(table, { childList: true, subtree: true });"
        "for (let at = 0; at < 20; at++) { table.scrollTop = at * 5000; table.dispatchEvent(new Event('scroll')); }"
        "return seen.takeRecords().map((each) => each.addedNodes.length).reduce((sum, each) => sum + each, 0)"
    )
    assert 0 < drawn < 20 * 200  # rows for 20 screenfuls
    assert page.complaints() == ([], [])


def test_no_name_runs(driver: Chrome, inspect: Callable[..., Ran], tmp_path: Path) -> None:
    """Names that would be executed if one were taken for markup: in tables, findings and charts."""
    names = [
        *("<img src=x onerror='window.ran=1'>", "</script><script>window.ran=2</script>", "javascript:window.ran=3"),
        *(
            "<a href='javascript:window.ran=4'>x</a>",
            "<svg onload=window.ran=5>",
            "\"'><img src=x onerror=window.ran=6>",
        ),
        *(
            "${window.ran=7}",
            "{{window.ran=8}}",
            "%{label}<img src=x onerror=window.ran=9>",
            "<style>*{display:none}</style>",
        ),
    ]
    header = {
        name if not copy else f"{copy}.{name}": {"dtype": "F32", "shape": [4], "data_offsets": [16 * at, 16 * at + 16]}
        for at, (copy, name) in enumerate((copy, name) for copy in range(8) for name in names)
    }
    header["__metadata__"] = {name: name for name in names}
    model = write(tmp_path / "<img src=x onerror=window.ran=10>.safetensors", header, 16 * 80)
    inspect(model, "--html", tmp_path / "page.html")
    page = Shown(driver, tmp_path / "page.html")
    page.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.search("svg")
    page.until("[...document.querySelectorAll('[role=status]')].at(-1).textContent.includes(' of ')")
    assert page.run("return window.ran === undefined")
    assert page.run("return document.querySelectorAll('main img, main a[href^=javascript]').length") == 0
    assert names[0] in page.run("return document.querySelector('main').innerText")
    assert page.complaints() == ([], [])


def test_a_keyboard_and_a_screen_reader_find_their_way(
    driver: Chrome, made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """Every control has a name and is reached by Tab; charts say what they show."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    inspect(made("llama-3.1-8b-q4_k_m"), "--html", tmp_path / "page.html")
    page = Shown(driver, tmp_path / "page.html")
    tree = driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in tree
        if node.get("role") and not node["ignored"]
    ]
    nameless = [
        role
        for role, name in roles
        if role in ("button", "searchbox", "combobox", "region", "link", "image") and not name
    ]
    assert nameless == []
    assert {"main", "navigation", "heading", "search", "status", "columnheader"} <= {role for role, _ in roles}
    page = Shown(driver, tmp_path / "page.html")  # Tab starts from the last focus: here there was none
    seen = []
    for _ in range(40):
        ActionChains(driver).send_keys(Keys.TAB).perform()
        seen.append(
            page.run("const at = document.activeElement; return at.id || at.textContent.slice(0, 20) || at.tagName")
        )
    assert seen[0] == "Skip to the content"
    assert {"theme", "bits", "bytes", "The numbers as a tab"} <= set(seen)
    page.press("bytes")
    sorts = page.run("return [...document.querySelectorAll('th[aria-sort=ascending]')].map((each) => each.textContent)")
    assert sorts == ["bytes"]
