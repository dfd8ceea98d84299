"""The transport that httpx2 imports where Python runs in a browser: synchronous requests, which a worker may send.

The browser follows redirects, decodes bodies, and shows only the headers that a server lets other sites see (CORS).
"""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
from httpx2._transports.base import AsyncBaseTransport, BaseTransport  # httpx2 itself is half imported here
from httpx2._types import SyncByteStream
from js import XMLHttpRequest, countBytes

#: Others are the browser's own, or would have it ask first whether they are allowed.
SENT = frozenset({"authorization", "range", "accept"})
#: Seconds for one answer, its body included.
PATIENCE = 60.0


class _Body(SyncByteStream):
    def __init__(self, data: bytes) -> None:
        self._data = data

    def __iter__(self) -> Iterator[bytes]:
        yield self._data


class JavascriptFetchTransport(BaseTransport):
    """One request, and all of its answer."""

    def __init__(self, *_: object, **__: object) -> None:
        """Proxies and certificates are the browser's."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises httpx2.ConnectError if there is no answer that the browser shows."""
        asked = XMLHttpRequest.new()
        asked.open(request.method, str(request.url), False)
        asked.responseType = "arraybuffer"
        asked.timeout = PATIENCE * 1000
        for name, value in request.headers.items():
            if name in SENT and (name, value) != ("accept", "*/*"):
                asked.setRequestHeader(name, value)
        try:
            asked.send()
        except Exception as error:  # a DOMException, which does not say more
            raise httpx2.ConnectError(
                "no answer that this page may read: there is no network, no such server, or it does not let other "
                "sites read its files (CORS)",
                request=request,
            ) from error
        data = asked.response.to_bytes() if asked.response else b""
        countBytes(len(data))
        lines = (line.partition(":") for line in asked.getAllResponseHeaders().splitlines())
        headers = [(name.lower(), value.strip()) for name, _, value in lines]
        dropped = ("content-encoding", "content-length", "transfer-encoding")
        headers = [each for each in headers if each[0] not in dropped]
        headers.append(("content-length", str(len(data))))
        return httpx2.Response(asked.status, headers=headers, stream=_Body(data), request=request)


class AsyncJavascriptFetchTransport(AsyncBaseTransport):
    """Is imported and never made."""
