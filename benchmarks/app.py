"""How long the app takes to answer on a file of this machine, from the start of a visit, and what a visit transfers.

    make app && python benchmarks/app.py [RUNS] [RECIPE]

Needs Chromium. A browser is started for each run, and its first visit is cold: nothing is kept, nothing compiled. It is
followed by two more, which are warm. The file is chosen as soon as the page is loaded, and the times are the
page's own clock, which starts with the navigation:

    answer   the report of the file is in the page
    work     seconds of processor of all the browser's processes until then, from the navigation
    MB       that the server sent, until the visit's service worker has kept what it keeps

The least of all runs, and the median in brackets. A limit is kept if the least is below it: what else a machine does
adds to all. The file is Llama 7B's first shard beside the others, or that of another recipe (`deepseek-v3-fp8`).
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "fixtures"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parent))
import sparse
from loopback.app import Host, served
from pages import Tab, tab

#: Visit → the limit of its answer in milliseconds, and of its transfer in MB.
VISITS = {"first": (6000, 25), "second": (2000, 1), "third": (2000, 1)}
#: When each report was there, by the page's clock.
WATCH = """
window.moments = [];
new MutationObserver(() => { if (document.documentElement?.dataset.ready === "yes") moments.push(performance.now()); })
  .observe(document, { subtree: true, attributeFilter: ["data-ready"] });
"""
KEPT = "navigator.serviceWorker.ready.then(() => document.getElementById('head').textContent)"


def work(root: int) -> float:
    """Seconds of processor of a process and of all below it, also of those that have ended."""
    parents, spent = dict[int, int](), dict[int, int]()
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended since
        parents[int(each.parent.name)], spent[int(each.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))

    def below(process: int) -> bool:
        return process == root or (process in parents and below(parents[process]))

    return sum(ticks for process, ticks in spent.items() if below(process)) / os.sysconf("SC_CLK_TCK")


def visit(browser: Tab, address: str, files: list[str]) -> dict[str, float]:
    """One visit, until its report is shown and what it keeps is kept."""

    def run(expression: str) -> Any:
        reported = browser.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return reported["result"]["value"]

    browser.call("Page.navigate", url="about:blank")
    time.sleep(2)  # for what the visit before left to do
    before, sent = work(browser.process), Host.sent
    browser.call("Page.navigate", url=address)
    while not run("location.href !== 'about:blank' && document.readyState === 'complete'"):
        time.sleep(0.01)
    field = browser.call("Runtime.evaluate", expression="document.getElementById('files')")["result"]["objectId"]
    browser.call("DOM.setFileInputFiles", files=files, objectId=field)
    while not run("moments.length"):
        time.sleep(0.05)
    spent = work(browser.process) - before
    assert "complete" in run(KEPT), run("document.body.innerText")
    time.sleep(1)
    return {"answer": run("moments[0]"), "work": spent, "MB": (Host.sent - sent) / 1e6}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    found: dict[str, list[dict[str, float]]] = {name: [] for name in VISITS}
    with tempfile.TemporaryDirectory() as folder, served() as address:
        sparse.make(sparse.load(sys.argv[2] if len(sys.argv) > 2 else "llama-7b"), Path(folder))
        files = [str(each) for each in Path(folder).iterdir()]
        for _ in range(runs):
            with tab() as browser:
                for domain in ("Page", "DOM", "Runtime"):
                    browser.call(f"{domain}.enable")
                browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
                for name in VISITS:
                    found[name].append(visit(browser, address, files))
    print(f"{'':8}{'answer':>20}{'work':>18}{'MB':>8}")
    for name, (limit, room) in VISITS.items():
        least, middle = ({key: of(each[key] for each in found[name]) for key in found[name][0]} for of in (min, median))
        kept = "in time" if least["answer"] < limit and middle["MB"] < room else "too late"
        print(
            f"{name:8}{least['answer']:8.0f} ({middle['answer']:6.0f}) ms{least['work']:8.2f} ({middle['work']:5.2f}) s"
            f"{middle['MB']:8.1f}  {kept}: limits {limit:,} ms, {room} MB"
        )


if __name__ == "__main__":
    main()
