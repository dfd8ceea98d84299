"""The extension of VS Code: its answers, and its view in a real browser, with the editor's API played by editor/host.cjs.

What was tried in a real one stands in docs/vscode.md.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import chromium
import pytest

ROOT = Path(__file__).resolve().parent.parent
HOST = ROOT / "tests" / "editor" / "host.cjs"
EXTENSION = ROOT / "editors" / "vscode"
APP = ROOT / ".app"
NODE = shutil.which("node") or ""
pytestmark = [pytest.mark.once, pytest.mark.skipif(not NODE, reason="Node is not installed")]


def test_slices_of_the_files_that_it_gave_and_nothing_else(tmp_path: Path) -> None:
    """Bounds, files that change, folders, links; a policy without inline scripts; whole files only where there are no others."""
    ran = subprocess.run(
        [NODE, HOST, "check", EXTENSION, tmp_path], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.stdout, ran.stderr) == ("as expected\n", "")


@contextmanager
def editing(file: Path) -> Iterator[str]:
    """The address of an editor that has a file open."""
    with subprocess.Popen(
        [NODE, HOST, "serve", EXTENSION, APP, file], stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as host:
        assert host.stdout
        try:
            yield host.stdout.readline().strip()
        finally:
            host.terminate()


@pytest.mark.gate
@chromium.NEEDED
@pytest.mark.skipif(not (APP / "index.html").exists(), reason="the app is not built: `make app` needs npm")
def test_the_app_as_a_view(made: Callable[[str], Path]) -> None:
    """Shards and the configuration are found beside the file; charts are drawn; only the editor's addresses are asked."""
    first = min(made("llama-7b").glob("*.safetensors"))
    with chromium.started() as driver, editing(first) as address:
        driver.get(address)
        driver.switch_to.frame(driver.find_element("id", "view"))
        chromium.until(driver, "document.documentElement?.dataset.ready === 'yes'")
        text = driver.find_element("id", "head").text
        assert "complete: 6.74B parameters, Llama" in text and "2 safetensors files" in text
        assert driver.find_element("id", "problem").text == ""
        assert driver.execute_script("return document.documentElement.dataset.theme") == "dark"
        driver.execute_script("document.documentElement.dataset.ready = ''")
        driver.find_element("css selector", "[data-view=audit]").click()
        chromium.until(driver, "document.documentElement.dataset.ready === 'yes'")
        assert "0 errors" in driver.find_element("id", "head").text
        assert chromium.complaints(driver) == []
        hosts = {url.split("/")[2] for url in chromium.requested(driver) if url.startswith("http")}
        port = address.rstrip("/").rpartition(":")[2]
        assert hosts == {f"127.0.0.1:{port}", f"localhost:{port}"}
