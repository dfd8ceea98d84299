"""An S3 server on this machine: moto's, in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import DEVNULL, PIPE, Popen

import pytest

#: Prints its port, and serves until its input ends, at the latest when its parent does.
_SERVER = (
    "import sys; from moto.server import ThreadedMotoServer as S; s = S(ip_address='127.0.0.1', port=0, verbose=False);"
    "s.start(); print(s.get_host_and_port()[1], flush=True); sys.stdin.read()"
)
#: The settings of every S3 client of this process and its children, besides the endpoint.
ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}


@contextmanager
def server() -> Iterator[str]:
    """The endpoint of a server without buckets. Clients that fsspec keeps between tests are dropped."""
    clients = pytest.importorskip("s3fs").S3FileSystem
    process = Popen([sys.executable, "-c", _SERVER], stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True)
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        assert port, "moto's server did not start"
        clients.clear_instance_cache()
        yield f"http://127.0.0.1:{port}"
    finally:
        clients.clear_instance_cache()
        process.kill()
        process.communicate()
