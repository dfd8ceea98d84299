"""A static host on this machine for the app, `.app`, as any other would serve it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

APP = Path(__file__).resolve().parents[2] / ".app"


class Host(SimpleHTTPRequestHandler):
    """Serves the app's folder, and counts what it sends."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript", ".wasm": "application/wasm"}
    sent = 0

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """Send a file, and count it."""
        Host.sent += os.fstat(source.fileno()).st_size
        super().copyfile(source, outputfile)


class _Server(ThreadingHTTPServer):
    """Takes all the connections that a browser makes at once."""

    request_queue_size = 64


@contextmanager
def served() -> Iterator[str]:
    """The app's address, while it is served."""
    with _Server(("127.0.0.1", 0), partial(Host, directory=str(APP))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
