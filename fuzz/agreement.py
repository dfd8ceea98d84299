"""Our readers compared with the libraries: `safetensors` and the `gguf` package, on headers with random faults.

    python fuzz/agreement.py [--headers 100000] [--seed 0] [--only safetensors|gguf]

Prints the first disagreements and their number. In a minute 150,000 headers of safetensors are compared, or 10,000 of
GGUF.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import agreement  # noqa: E402  found through the path above
import gguf_agreement  # noqa: E402  the same

COMPARE = {"safetensors": agreement.compare, "gguf": gguf_agreement.compare}
SHOWN = 30


def main() -> int:
    """Compare, and print the number of disagreements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headers", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=COMPARE)
    given = parser.parse_args()
    total = 0
    for name in [given.only] if given.only else COMPARE:
        found = 0
        for found, reported in enumerate(COMPARE[name](given.headers, given.seed), 1):
            if found <= SHOWN:
                print(reported)
        print(f"{name}: {found} disagreements on {given.headers:,} headers, seed {given.seed}")
        total += found
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
