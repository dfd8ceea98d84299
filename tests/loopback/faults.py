"""Ways in which a server can fail or attack. Each fault answers a request in place of the loopback Hub."""

from __future__ import annotations

import time
import zlib
from functools import cache

from loopback.server import Fault, Handler

#: The size of the file that the faults refer to.
LARGE = 50_000_000


def status(code: int, **headers: str) -> Fault:
    """Another status, with headers (`retry_after="1"`)."""

    def fault(handler: Handler) -> bool:
        handler.refuse(code, "as you wished", headers={k.replace("_", "-"): v for k, v in headers.items()})
        return True

    return fault


def redirect(location: str) -> Fault:
    def fault(handler: Handler) -> bool:
        handler.redirect(location, 302)
        return True

    return fault


def circle(handler: Handler) -> bool:
    """A redirect to the same address."""
    handler.redirect(handler.path, 302)
    return True


def drips_head(handler: Handler) -> bool:
    """An endless head, one letter of it at a time."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nx: ")
    for _ in range(200):
        handler.wfile.write(b"y")
        handler.wfile.flush()
        time.sleep(0.05)
    return True


def continues(handler: Handler) -> bool:
    """Endless interim responses."""
    for _ in range(200_000):
        handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 50)
    return True


def any_encoding(handler: Handler) -> bool:
    """A refusal with a header in no known encoding."""
    handler.wfile.write(b"HTTP/1.1 418 Odd\r\nx-error-message: \xff\xfe gr\xfc\xdfe\r\ncontent-length: 0\r\n\r\n")
    return True


def brackets(handler: Handler) -> bool:
    """A listing that takes hundreds of times its size in memory."""
    body = b'{"siblings": [' + b"[]," * 7_000_000 + b"[]]}"
    handler.head(200, {"content-type": "application/json", "content-length": str(len(body))})
    handler.write(body)
    return True


def ignores_range(handler: Handler) -> bool:
    """200 and the whole file, whatever range was asked for."""
    del handler.headers["range"]
    return False


def other_range(handler: Handler) -> bool:
    """The right number of bytes, from another place."""
    handler.head(206, {"content-range": "bytes 5-104/1000000", "content-length": "100"})
    handler.write(b"x" * 100)
    return True


def endless(handler: Handler) -> bool:
    """An endless body without a length."""
    handler.head(200, {"transfer-encoding": "chunked"})
    for _ in range(100_000):
        handler.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
    return True


def endless_range(handler: Handler) -> bool:
    """The announced range, and then more without end."""
    handler.head(206, {"content-range": _asked(handler), "transfer-encoding": "chunked"})
    for _ in range(100_000):
        handler.write(b"10000\r\n" + b"\0" * 65536 + b"\r\n")
    return True


def bomb(handler: Handler) -> bool:
    """A small gzip that unpacks to 300 MB."""
    body = _bomb()
    handler.head(200, {"content-encoding": "gzip", "content-length": str(len(body))})
    handler.write(body)
    return True


def packed_range(handler: Handler) -> bool:
    """The requested range, but as gzip."""
    handler.head(206, {"content-range": _asked(handler), "content-encoding": "gzip", "content-length": "2"})
    handler.write(b"{}")
    return True


@cache
def _bomb() -> bytes:
    pack = zlib.compressobj(1, wbits=31)
    return b"".join(pack.compress(b"\0" * 1_000_000) for _ in range(300)) + pack.flush()


def truncated(handler: Handler) -> bool:
    """Half of what was announced, then the connection is closed."""
    _, _, span = (handler.headers.get("range") or "bytes=0-99").partition("=")
    start, end = map(int, span.split("-"))
    handler.head(206, {"content-range": _asked(handler), "content-length": str(end + 1 - start)})
    handler.write(b"\0" * ((end + 1 - start) // 2))
    handler.close_connection = True
    return True


def cut(after: int) -> Fault:
    """The true file, but the connection is closed after some bytes."""

    def fault(handler: Handler) -> bool:
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


def drips(handler: Handler) -> bool:
    """A body that is sent byte by byte, slowly."""
    handler.head(206, {"content-range": _asked(handler), "content-length": "262144"})
    for _ in range(2000):
        handler.write(b"\0")
        handler.wfile.flush()
        time.sleep(0.05)
    return True


def silent(seconds: float) -> Fault:
    """No answer, for a while."""

    def fault(handler: Handler) -> bool:
        time.sleep(seconds)
        return False

    return fault


def _asked(handler: Handler) -> str:
    """The requested range of a file of `LARGE` bytes."""
    span = (handler.headers.get("range") or "bytes=0-99").partition("=")[2]
    return f"bytes {span}/{LARGE}"


def many_fields(handler: Handler) -> bool:
    """A head with endless header fields."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(20_000):
        handler.wfile.write((b"x: " + b"y" * 500 + b"\r\n") * 100)
    return True


def long_field(handler: Handler) -> bool:
    """A head with one field of 300 MB."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nx: ")
    for _ in range(300):
        handler.wfile.write(b"y" * 1_000_000)
    return True


def hints(handler: Handler) -> bool:
    """Endless interim responses of another kind, with fields of their own."""
    for _ in range(200_000):
        handler.wfile.write(b"HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n" * 50)
    return True


def encoded(coding: str) -> Fault:
    """A body in a coding that nobody requested: unpacked, it might have any size."""

    def fault(handler: Handler) -> bool:
        handler.head(200, {"content-encoding": coding, "content-length": "2"})
        handler.write(b"{}")
        return True

    return fault


def tiny_chunks(handler: Handler) -> bool:
    """An endless body of one-byte chunks, whose spaces are valid JSON so far."""
    handler.head(200, {"transfer-encoding": "chunked"})
    for _ in range(2_000_000):
        handler.write(b"1\r\n \r\n" * 100)
    return True


def long_chunk_head(handler: Handler) -> bool:
    """A chunk whose length never ends."""
    handler.head(200, {"transfer-encoding": "chunked"})
    for _ in range(300):
        handler.write(b"1;" + b"x" * 1_000_000)
    return True


def endless_trailer(handler: Handler) -> bool:
    """A body that ends, and trailer fields that do not."""
    handler.head(200, {"transfer-encoding": "chunked"})
    handler.write(b"2\r\n{}\r\n0\r\n")
    for _ in range(300):
        handler.write(b"x: " + b"y" * 1_000_000 + b"\r\n")
    return True


def drips_body(handler: Handler) -> bool:
    """A document of spaces, sent slowly."""
    handler.head(200, {"content-length": "1000000"})
    for _ in range(2000):
        handler.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)
    return True


def partial(range_: str | None, length: int | None = None, code: int = 206) -> Fault:
    """A partial response that states its range, and has this many bytes."""

    def fault(handler: Handler) -> bool:
        asked = (handler.headers.get("range") or "bytes=0-99").partition("=")[2]
        start, end = map(int, asked.split("-"))
        size = end + 1 - start if length is None else length
        stated = {} if range_ is None else {"content-range": range_.format(asked=asked, start=start, end=end)}
        handler.head(code, {**stated, "content-length": str(size)})
        handler.write(b"\0" * size)
        return True

    return fault


def raw(head: bytes) -> Fault:
    """A response of these bytes alone."""

    def fault(handler: Handler) -> bool:
        handler.wfile.write(head)
        handler.close_connection = True
        return True

    return fault
