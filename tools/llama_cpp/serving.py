"""Does llama.cpp's server start with a model? From the package `xllamacpp`, in a process of its own for each file.

    with Server() as server:
        server.start(Path("model.gguf"))     "" if it does; else its last line, "aborted", or "resources"

More than loading: it also makes a context, reserves the computation's graphs, parses the chat template, and computes
two tokens; an encoder, which it would not use before the first request, is sent one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

#: Lines of its log that give a reason.
REASONS = re.compile(
    r"GGML_ASSERT|GGML_ABORT|fatal error|error loading|failed to|exception|what\(\)|rror", re.IGNORECASE
)
#: Seconds of processor time and bytes of address space of one start.
SECONDS, ADDRESSES = 15, 6 << 30
#: The log line for a model that encodes, with which it does not compute during its start.
ENCODES = re.compile("speculative decoding not supported by this context")
#: Log lines, or kinds of exit, after too little memory or time.
LACKED = re.compile(r"bad_alloc|unable to allocate|failed to allocate|not enough memory|ggml_aligned_malloc")


class Server:
    """A process that starts one server after another, each in a child."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._log = Path(self._folder.name, "log")
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(self._log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "GGML_NO_BACKTRACE": "1"},
        )

    def __enter__(self) -> Server:  # noqa: PYI034 - Python 3.10 has no Self
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        self._folder.cleanup()

    def start(self, path: Path) -> str:
        """The reason why it does not start; "" if it does."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        if not status:
            return ""
        stated = self._log.read_text(errors="replace")
        if status in (-9, -24, -14) or LACKED.search(stated):
            return "resources"
        reported = [line for line in stated.splitlines() if REASONS.search(line)]
        return f"{status} {reported[0][-240:]}" if reported else f"{status} aborted"


def serve(log: str) -> None:
    """Start a server for each path of the standard input, and print how its process ended."""
    import resource
    import signal

    import xllamacpp

    for line in sys.stdin:
        child = os.fork()
        if not child:
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.alarm(4 * SECONDS)
            out = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
            os.dup2(out, 1)
            os.dup2(out, 2)
            given = xllamacpp.CommonParams()
            given.model.path = line.rstrip("\n")
            given.n_ctx, given.warmup, given.fit_params, given.cpuparams.n_threads = 64, False, False, 1
            try:
                server = xllamacpp.Server(given)
            except BaseException as error:
                os.write(2, f"exception {error!r}"[:400].encode())
                os._exit(3)
            if ENCODES.search(Path(log).read_text(errors="replace")):
                given.embedding, given.pooling_type = True, xllamacpp.llama_pooling_type(1)
                answer = xllamacpp.Server(given).handle_embeddings({"input": [[1, 1]]})
                os.write(2, f"{answer}"[:300].encode())
            os._exit(0 if server else 4)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
