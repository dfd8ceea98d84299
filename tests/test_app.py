"""The app in a real browser: numbers are the command's, nothing leaves the machine, and hostile files end nothing.

Needs what `make app` makes in .app, and Chromium with its driver; without them the tests are skipped.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chromium
import pytest
import sparse
from loopback.app import APP, served

if TYPE_CHECKING:
    from conftest import Ran
    from loopback.server import Hub
    from selenium.webdriver import Chrome

pytestmark = [
    pytest.mark.gate,
    pytest.mark.once,
    chromium.NEEDED,
    pytest.mark.skipif(not (APP / "index.html").exists(), reason="the app is not built: `make app` needs npm"),
]


@pytest.fixture(scope="module")
def driver() -> Iterator[Chrome]:
    with chromium.started() as chrome:
        yield chrome


class App:
    """The app, opened in the browser."""

    def __init__(self, driver: Chrome, address: str) -> None:
        self.driver = driver
        chromium.complaints(driver), chromium.requested(driver)  # of what was open before
        driver.get(address)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def choose(self, *paths: Path, into: str = "") -> None:
        """Choose a folder, or files, and wait for what is shown."""
        field = self.driver.find_element("id", into or ("folder" if paths[0].is_dir() else "files"))
        self.run("document.documentElement.dataset.ready = ''")
        field.send_keys("\n".join(map(str, paths)))
        self.ready()

    def press(self, view: str) -> None:
        self.run("document.documentElement.dataset.ready = ''")
        self.driver.find_element("css selector", f"[data-view={view}]").click()
        self.ready()

    def name(self, name: str) -> None:
        """Type a name, and open it."""
        self.run(
            "document.documentElement.dataset.ready = ''; document.getElementById('name').value = arguments[0];"
            "document.getElementById('open').requestSubmit()",
            name,
        )
        self.ready()

    def ready(self) -> None:
        chromium.until(self.driver, "document.documentElement.dataset.ready === 'yes'")

    def text(self, part: str = "main") -> str:
        found: str = self.run("return document.querySelector(arguments[0]).innerText", part)
        return found

    def problem(self) -> str:
        return self.text("#problem") if self.run("return !document.getElementById('problem').hidden") else ""


#: Recipes of each kind; with EVERY_RECIPE in the environment, all are read.
RECIPES = ["bert-base-uncased", "gpt-oss-20b", "gpt2", "llama-3.1-8b-gptq-3bit", "llama-3.1-8b-q4_k_m", "qwen2.5-0.5b"]
EVERY = "EVERY_RECIPE" in os.environ

#: A worker of the test's own, whose answers are kept; `read` gives it the files of a field, and asks for their JSON.
WORKER = """
window.answers = {}; window.own = new Worker("worker.js", { type: "module" });
own.onmessage = ({ data }) => { if (data.id) answers[data.id] = data; };
window.read = (place) => {
  window.given = place;
  const files = [...document.getElementById("folder").files];
  own.postMessage({ id: `mount ${place}`, name: "mount", place, files: files.map((file) => ({ path: file.webkitRelativePath.split("/").slice(1).join("/"), file })) });
  own.postMessage({ id: place, name: "view", view: "json", targets: [place], options: {} });
};
document.getElementById("folder").addEventListener("change", (event) => { event.stopImmediatePropagation(); read(window.place); }, { capture: true });
"""


def compared(document: dict[str, Any]) -> dict[str, Any]:
    """A document without the places, which differ."""
    return {**document, "target": None, "source": {**document["source"], "location": None}}


def test_numbers_are_the_commands(driver: Chrome, made: Callable[[str], Path], inspect: Callable[..., Ran]) -> None:
    """`--json` of recipes of each kind, read in the browser by slices of its files: also how many bytes were read."""
    with served() as address:
        app = App(driver, address)
        app.run("for (const field of document.querySelectorAll('#folder')) field.replaceWith(field.cloneNode())")
        app.run(WORKER)
        names = sorted(path.stem for path in sparse.RECIPES.glob("*.json")) if EVERY else RECIPES
        for name in names:
            app.run("window.place = arguments[0]", name)
            driver.find_element("id", "folder").send_keys(str(made(name)))
            chromium.until(driver, f"window.given === {json.dumps(name)}")  # a folder is listed before it is given
        for name in names:
            chromium.until(driver, f"answers[{json.dumps(name)}]")
            answer = app.run("return answers[arguments[0]].answer", name)
            assert compared(answer["document"]) == compared(inspect(made(name), "--json").json), name
        assert chromium.complaints(driver) == []


#: A header whose metadata end the stack of a browser's Python if nothing bounds them.
NESTED = (100_022).to_bytes(8, "little") + b'{"__metadata__":{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}"

#: For who listens: the button that was pressed keeps the focus, the slider has a name, and the verdict is spoken.
HEARD = """return [document.activeElement.dataset.view, document.getElementById("context").labels[0].textContent,
document.getElementById("status").textContent.includes(document.querySelector(".verdict").textContent)]"""

#: The files of a field, dropped on the page.
DROP = """
const data = new DataTransfer();
for (const [name, bytes] of arguments[0]) data.items.add(new File([new Uint8Array(bytes)], name));
document.documentElement.dataset.ready = "";
document.getElementById("open").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
"""


def test_each_text_that_the_app_replaces_is_in_the_library() -> None:
    """Each key of the app's list is in the library's sources as it is written there."""
    source = (APP.parent / "app" / "python" / "engine.py").read_text("utf-8")
    [known] = [
        ast.literal_eval(each.value)
        for each in ast.parse(source).body
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "_HERE"
    ]
    library = "".join(path.read_text("utf-8") for path in (APP.parent / "inspector").rglob("*.py"))
    assert [words for words in known if words not in library] == []


def test_views_of_files_that_are_dropped(
    driver: Chrome, made: Callable[[str], Path], inspect: Callable[..., Ran], tmp_path: Path
) -> None:
    """Shards, then each view, the drawing's blocks, a second model, hostile files: the tab goes on, and asks only its host."""
    with served() as address:
        app = App(driver, address)
        folder = made("llama-7b")
        app.choose(*sorted(folder.iterdir()))
        assert "complete: 6.74B parameters" in app.text("#head")
        assert "of 13.48 GB" in app.text("#status")
        app.run("document.querySelector('.chart .block[data-group=attention]').dispatchEvent(new MouseEvent('click'))")
        chromium.until(driver, "[...document.querySelectorAll('.status')].at(-1).textContent === '128 of 323 rows'")
        app.press("memory")
        app.run(
            "document.documentElement.dataset.ready = ''; const set = (id, value) => { document.getElementById(id).value = value; };"
            "set('context', 14); set('gpu', 'rtx-4090'); set('cache', 'bf16');"
            "document.getElementById('gpu').dispatchEvent(new Event('change', { bubbles: true }))"
        )
        app.ready()
        assert "65,536" in app.text() and "RTX 4090" in app.text("#head")
        assert app.run(HEARD) == ["memory", "Context: ", True]
        app.press("quants")
        q4 = next(each for each in inspect("quants", folder, "--json").json["quants"] if each["name"] == "Q4_K_M")
        assert f"{q4['bytes']:,}" in app.text()
        app.press("audit")
        assert "0 errors" in app.text("#head") and "takes the command, `inspect audit --data`" in app.text("#head")
        app.press("diff")
        app.choose(made("gpt2"), into="other-folder")
        assert "another structure" in app.text("#head")
        assert chromium.complaints(driver) == []

        hostile = (8).to_bytes(8, "little") + b'{"a": 1}'
        name = "<img src=x onerror='window.ran=1'>.safetensors"
        app.run(DROP, [[name, list(hostile)]])
        app.ready()
        assert "damaged" in app.text("#head") and "onerror" in app.text("#head h1")
        for path, content, stated in (
            ("model.gguf", b"GGUF" + bytes([3, 0, 0, 0]) + b"\xff" * 16, "18,446,744,073,709,551,615 tensors"),
            ("a.bin", b"not a pickle", "is a text file"),
            ("config.json", b"[" * 100_000, "nested too deep"),
            ("model.safetensors", NESTED, "nested too deep"),
        ):
            app.run(DROP, [[path, list(content)]])
            app.ready()
            assert stated in app.problem()
        module = tmp_path / "numpy"  # a folder named like a module that some files need
        module.mkdir()
        (module / "__init__.py").write_text("raise SystemExit")
        (module / "weights.npz").write_bytes(b"PK")
        app.choose(module)
        assert "weights.npz" in app.problem() + app.text("#head")
        gone = tmp_path / "gone.safetensors"
        gone.write_bytes(hostile)
        app.run("document.documentElement.dataset.ready = ''")
        app.run(
            "document.getElementById('files').addEventListener('change', (event) => event.stopImmediatePropagation(), { capture: true, once: true })"
        )
        driver.find_element("id", "files").send_keys(str(gone))
        gone.unlink()
        app.run("document.getElementById('files').dispatchEvent(new Event('change'))")
        app.ready()
        assert "gone.safetensors" in app.problem()
        app.choose(made("gpt2"))
        assert "complete" in app.text("#head")
        assert app.run("return window.ran === undefined")
        assert [url for url in chromium.requested(driver) if not url.startswith((address, "data:", "blob:"))] == []


def test_a_hub_by_ranges_and_a_visit_without_a_network(
    driver: Chrome, made: Callable[[str], Path], hub: Hub, tmp_path: Path
) -> None:
    """With and without CORS; the token goes to the Hub alone; the app itself needs no second transfer."""
    from loopback.server import Repo

    hub.cors = True
    hub.repos["org/llama"] = Repo(made("llama-7b"), gated=True, readers=("hf_x",), all_headers=False)
    with served() as address:
        app = App(driver, address)
        chromium.until(driver, "document.documentElement.dataset.started === 'yes'")
        app.run("document.getElementById('hub').value = arguments[0]", hub.endpoint)
        app.name("org/llama")
        assert "gated" in app.problem()
        app.run("document.getElementById('token').value = 'hf_x'")
        app.name("org/llama@main")
        assert "complete: 6.74B parameters" in app.text("#head")
        assert hub.sent() < 1_500_000
        stored = [each for each in hub.answered("/storage/") if each.method == "GET"]
        assert stored and all(each.range and not each.token for each in stored)
        assert app.run("return location.search") == "?model=org%2Fllama%40main"
        hub.cors = False
        app.name("org/other")
        assert "CORS" in app.problem()
        chromium.until(driver, "navigator.serviceWorker.controller !== null")
    driver.get(address)  # nothing is served there any more
    app.choose(made("gpt2"))
    assert "complete" in app.text("#head")
