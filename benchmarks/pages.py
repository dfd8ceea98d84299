"""How large a page is, how long the command takes to write it, and how long a browser takes to show it.

    python benchmarks/pages.py [RUNS]

Needs Chromium. Every look is that of a browser that was just started, and has compiled no script of the page before.
Milliseconds from the start of the navigation:

    text    the browser has painted the page's text and charts
    ready   every table can be searched
    work    of the processor, by the page's own thread until then

The median, and the least in brackets, which says more where the machine does other things. They come from the browser's
trace alone: for a driver such as selenium the engine keeps the place of each error in the source, which takes longer.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import urlopen

sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures"))
sys.path.insert(0, str(Path(__file__).parent))
import sparse
from overview import BIN, deepseek_v3
from websocket import WebSocket, create_connection  # selenium depends on it

#: Title → the recipe, and the limits of its page in bytes and milliseconds.
PAGES = {
    "Llama 7B": ("llama-7b", 2e5, 500),
    "DeepSeek-V3 in BF16, 45,395": ("", 1.5e6, 3000),  # of the list of its tensors
    "DeepSeek-V3 in FP8, 91,991": ("deepseek-v3-fp8", 1.5e6, 3000),
}
#: The trace's name of a moment → our name.
MOMENTS = {"firstContentfulPaint": "text", "ready": "ready"}
CATEGORIES = ["blink.user_timing", "loading", "disabled-by-default-devtools.timeline", "devtools.timeline", "toplevel"]
READY = "document.documentElement.dataset.ready === 'yes'"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Tab:
    """A browser's only tab, through the protocol of its developer tools."""

    def __init__(self, socket: WebSocket, process: int) -> None:
        self._socket, self._sent, self.events = socket, 0, list[dict[str, Any]]()
        self.process = process  # the browser's

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._sent += 1
        self._socket.send(json.dumps({"id": self._sent, "method": method, "params": parameters}))
        while "id" not in (reported := self._next()):
            pass
        result: dict[str, Any] = reported["result"]
        return result

    def until(self, method: str) -> None:
        while not any(each.get("method") == method for each in self.events):
            self._next()

    def _next(self) -> dict[str, Any]:
        reported: dict[str, Any] = json.loads(self._socket.recv())
        self.events.append(reported)
        return reported


@contextmanager
def tab() -> Iterator[Tab]:
    """The tab of a new browser, which ends with it."""
    assert BROWSER, "Chromium is not installed"
    words = ["--headless=new", "--disable-gpu", "--window-size=1280,900", "--remote-debugging-port=0", "about:blank"]
    words += ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's own sandbox does not work for root
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        process = subprocess.Popen([BROWSER, f"--user-data-dir={home}", *words], stderr=subprocess.DEVNULL)
        try:
            reported = Path(home, "DevToolsActivePort")
            while not reported.exists() or not reported.read_text().strip():
                time.sleep(0.05)
            with urlopen(f"http://127.0.0.1:{reported.read_text().split()[0]}/json") as answer:
                [page] = [each for each in json.load(answer) if each["type"] == "page"]
            socket = create_connection(page["webSocketDebuggerUrl"], timeout=120, suppress_origin=True)
            yield Tab(socket, process.pid)
            socket.close()
        finally:
            process.terminate()
            process.wait()


def look(page: Path) -> dict[str, float]:
    """The measurements of one load of a page."""
    with tab() as shown:
        shown.call("Page.enable")
        shown.call("Tracing.start", transferMode="ReportEvents", traceConfig={"includedCategories": CATEGORIES})
        shown.call("Page.navigate", url=page.as_uri())
        shown.until("Page.loadEventFired")
        while not shown.call("Runtime.evaluate", expression=READY)["result"]["value"]:
            time.sleep(0.1)
        shown.call("Tracing.end")
        shown.until("Tracing.tracingComplete")
    parts = (each["params"]["value"] for each in shown.events if each.get("method") == "Tracing.dataCollected")
    return times([event for part in parts for event in part])


def times(trace: list[dict[str, Any]]) -> dict[str, float]:
    """Moments, and the work of the thread of the page's script."""
    [ready] = [each for each in trace if each["name"] == "ready"]
    own = [each for each in trace if (each["pid"], each["tid"]) == (ready["pid"], ready["tid"])]
    begun = max(each["ts"] for each in own if each["name"] == "navigationStart" and each["ts"] < ready["ts"])
    found = {MOMENTS[each["name"]]: (each["ts"] - begun) / 1000 for each in own if each["name"] in MOMENTS}
    work = processor(own, ready) - processor(own, next(each for each in own if each["ts"] == begun))
    return {**{name: found[name] for name in MOMENTS.values()}, "work": work}


def processor(own: list[dict[str, Any]], at: dict[str, Any]) -> float:
    """Milliseconds of processor time of a thread at an event, from the last event before it."""
    before = [each["tts"] for each in own if "tts" in each and each["ts"] <= at["ts"]]
    return max(before, default=0) / 1000


def write(folder: Path, recipe: str) -> tuple[Path, float]:
    """A page, and the seconds that the command took to write it."""
    model = folder / (recipe or "deepseek-v3-bf16.safetensors")
    if recipe:
        sparse.make(sparse.load(recipe), model)
    else:
        sparse.write_safetensors(model, deepseek_v3(), {"format": "pt"})
    page = folder / f"{model.name}.html"
    began = time.perf_counter()
    subprocess.run([BIN / "inspect", model, "--html", page], check=True, stdout=subprocess.DEVNULL)
    return page, time.perf_counter() - began


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    names = (*MOMENTS.values(), "work")
    print(f"{'':29}{'bytes':>10}{'written':>10}" + "".join(f"{name:>14}" for name in names))
    with tempfile.TemporaryDirectory() as folder:
        for title, (recipe, room, limit) in PAGES.items():
            page, written = write(Path(folder), recipe)
            found = [look(page) for _ in range(runs)]
            middle = {name: median(each[name] for each in found) for name in names}
            reported = "".join(f"{middle[name]:7.0f} ({min(each[name] for each in found):4.0f})" for name in names)
            nbytes = page.stat().st_size
            kept = [name for name in MOMENTS.values() if nbytes < room and middle[name] < limit]
            print(f"{title:29}{nbytes:10,}{written:9.1f}s{reported}  in time: {', '.join(kept) or 'none'}", flush=True)


if __name__ == "__main__":
    main()
