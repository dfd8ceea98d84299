"""How a server can go wrong or mean harm. Each fault answers a request in the loopback Hub's place."""

from __future__ import annotations

import time

from loopback.server import Fault, _Handler


def status(code: int, **headers: str) -> Fault:
    """Another status, with headers (`retry_after="1"`)."""

    def fault(handler: _Handler) -> bool:
        handler.refuse(code, "as you wished", headers={k.replace("_", "-"): v for k, v in headers.items()})
        return True

    return fault


def redirect(location: str) -> Fault:
    def fault(handler: _Handler) -> bool:
        handler.redirect(location, 302)
        return True

    return fault


def circle(handler: _Handler) -> bool:
    """A redirect to the same address."""
    handler.redirect(handler.path, 302)
    return True


def ignores_range(handler: _Handler) -> bool:
    """200 and the whole file, whatever range was asked for."""
    del handler.headers["range"]
    return False


def other_range(handler: _Handler) -> bool:
    """The right number of bytes, and another place."""
    handler.head(206, {"content-range": "bytes 5-104/1000000", "content-length": "100"})
    handler.write(b"x" * 100)
    return True


def endless(handler: _Handler) -> bool:
    """A body without length that does not end."""
    handler.head(200, {"transfer-encoding": "chunked"})
    for _ in range(100_000):
        handler.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
    return True


def endless_range(handler: _Handler) -> bool:
    """The announced range, and then more and more."""
    handler.head(206, {"content-range": _asked(handler, 10**9), "transfer-encoding": "chunked"})
    for _ in range(100_000):
        handler.write(b"10000\r\n" + b"\0" * 65536 + b"\r\n")
    return True


def bomb(handler: _Handler) -> bool:
    """A little gzip that unpacks to a gigabyte."""
    import zlib

    pack = zlib.compressobj(9, wbits=31)
    body = b"".join(pack.compress(b"\0" * 1_000_000) for _ in range(1000)) + pack.flush()
    handler.head(200, {"content-encoding": "gzip", "content-length": str(len(body))})
    handler.write(body)
    return True


def truncated(handler: _Handler) -> bool:
    """Half of what was announced, and the connection closed."""
    _, _, span = (handler.headers.get("range") or "bytes=0-99").partition("=")
    start, end = map(int, span.split("-"))
    handler.head(206, {"content-range": _asked(handler, 10**6), "content-length": str(end + 1 - start)})
    handler.write(b"\0" * ((end + 1 - start) // 2))
    handler.close_connection = True
    return True


def cut(after: int) -> Fault:
    """The true file, and the connection closed after some bytes of it."""

    def fault(handler: _Handler) -> bool:
        true_write = handler.write

        def write(data: bytes) -> None:
            true_write(data[: max(0, after - handler.sent)])
            if handler.sent >= after:
                handler.wfile.flush()
                handler.close_connection = True
                raise ConnectionResetError

        handler.write = write  # type: ignore[method-assign]
        return False

    return fault


def drips(handler: _Handler) -> bool:
    """A byte now and then."""
    handler.head(206, {"content-range": _asked(handler, 10**6), "content-length": "100000"})
    for _ in range(2000):
        handler.write(b"\0")
        handler.wfile.flush()
        time.sleep(0.05)
    return True


def silent(seconds: float) -> Fault:
    """Nothing, for a while."""

    def fault(handler: _Handler) -> bool:
        time.sleep(seconds)
        return False

    return fault


def _asked(handler: _Handler, size: int) -> str:
    span = (handler.headers.get("range") or "bytes=0-99").partition("=")[2]
    return f"bytes {span}/{size}"
