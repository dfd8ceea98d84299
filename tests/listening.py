"""The command as a program that hears Ctrl-C."""

from __future__ import annotations

#: Run with `python -c`: a shell's background jobs, and what they start, ignore SIGINT unless told otherwise.
LISTENING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from inspector.__main__ import main
main()
"""
