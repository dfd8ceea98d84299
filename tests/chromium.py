"""A real browser without a window. Needs Chromium and its driver (`apt-get install chromium chromium-driver`)."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
NEEDED = pytest.mark.skipif(
    not BROWSER or not DRIVER, reason="Chromium or its driver is not installed (CONTRIBUTING.md)"
)
#: Seconds that a busy machine may take.
PATIENCE = 90


@contextmanager
def started() -> Iterator[Chrome]:
    """The browser, with its console and its requests recorded."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER or ""
    for word in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"):
        options.add_argument(word)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium's own sandbox does not work for root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with webdriver.Chrome(options, webdriver.ChromeService(DRIVER)) as chrome:
        chrome.set_script_timeout(PATIENCE)
        yield chrome


def until(driver: Chrome, condition: str) -> None:
    """Wait for a JavaScript expression to be true."""
    end = time.monotonic() + PATIENCE
    while not driver.execute_script(f"return {condition}"):
        assert time.monotonic() < end, condition
        time.sleep(0.05)


def requested(driver: Chrome) -> list[str]:
    """The addresses of all requests since the last call."""
    logs: Any = driver.get_log
    events = (json.loads(each["message"])["message"] for each in logs("performance"))
    return [each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"]


def complaints(driver: Chrome) -> list[str]:
    """What the console has received since the last call."""
    logs: Any = driver.get_log
    return [each["message"] for each in logs("browser")]
