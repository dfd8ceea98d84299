"""The app in a real browser: numbers are the command's, nothing leaves the machine, and hostile files end nothing.

Needs what `make app` makes in .app, and Chromium with its driver; without them the tests are skipped.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chromium
import pytest
import sparse

if TYPE_CHECKING:
    from conftest import Ran
    from selenium.webdriver import Chrome

APP = Path(__file__).resolve().parent.parent / ".app"
pytestmark = [
    pytest.mark.gate,
    pytest.mark.once,
    chromium.NEEDED,
    pytest.mark.skipif(not (APP / "index.html").exists(), reason="the app is not built: `make app` needs npm"),
]


class Quiet(SimpleHTTPRequestHandler):
    """Serves the app's folder, as any static host does."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript", ".wasm": "application/wasm"}

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def served() -> Iterator[str]:
    """The app's address, while it is served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(APP))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def driver() -> Iterator[Chrome]:
    with chromium.started() as chrome:
        yield chrome


class App:
    """The app, opened in the browser."""

    def __init__(self, driver: Chrome, address: str) -> None:
        self.driver = driver
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

    def ready(self) -> None:
        chromium.until(self.driver, "document.documentElement.dataset.ready === 'yes'")

    def text(self, part: str = "main") -> str:
        found: str = self.run("return document.querySelector(arguments[0]).innerText", part)
        return found

    def problem(self) -> str:
        return self.text("#problem") if self.run("return !document.getElementById('problem').hidden") else ""

    def complaints(self) -> list[str]:
        logs: Any = self.driver.get_log
        return [each["message"] for each in logs("browser")]


#: Recipes of each kind; with EVERY_RECIPE in the environment, all are read.
RECIPES = ["bert-base-uncased", "gpt-oss-20b", "gpt2", "llama-3.1-8b-gptq-3bit", "llama-3.1-8b-q4_k_m", "qwen2.5-0.5b"]
EVERY = "EVERY_RECIPE" in os.environ

#: A worker of the test's own, whose answers are kept; `read` gives it the files of a field, and asks for their JSON.
WORKER = """
window.answers = {}; window.own = new Worker("worker.js", { type: "module" });
own.onmessage = ({ data }) => { if (data.id) answers[data.id] = data; };
window.read = (place) => {
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
        for name in names:
            chromium.until(driver, f"answers[{json.dumps(name)}]")
            answer = app.run("return answers[arguments[0]].answer", name)
            assert compared(answer["document"]) == compared(inspect(made(name), "--json").json), name
        assert app.complaints() == []
