"""The command as a program that receives Ctrl-C."""

from __future__ import annotations

#: Run with `python -c`: background jobs of a shell, and their children, ignore SIGINT unless they restore it.
LISTENING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from inspector.__main__ import main
main()
"""
