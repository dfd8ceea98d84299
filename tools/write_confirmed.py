"""Writes `inspector/sizing/confirmed_types.py`: the types whose caches are compared with the engines' in the fixtures.

    python tools/write_confirmed.py

Run it after one of `fixtures/caches_*.jsonl` was written again; a test compares the two.
"""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import fill

ROOT = Path(__file__).parents[1]
OUT = ROOT / "inspector" / "sizing" / "confirmed_types.py"
#: Engine → the fixture of its answers.
FIXTURES = {
    "transformers": "caches_transformers.jsonl",
    "llama.cpp": "caches_llama_cpp.jsonl",
    "vllm": "caches_vllm.jsonl",
}


def types_of(fixture: str) -> list[str]:
    """The model types, or GGUF architectures, of a fixture's cases."""
    cases = (json.loads(line) for line in (ROOT / "fixtures" / fixture).read_text().splitlines())
    return sorted({case["config"]["model_type"] if "config" in case else case["pairs"][0][2] for case in cases})


def text() -> str:
    """The text of the module."""
    lines = [
        '"""Types whose caches were compared with what an engine itself holds (`tools/write_confirmed.py` writes this)."""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Mapping",
        "",
    ]
    for engine, fixture in FIXTURES.items():
        names = fill(" ".join(types_of(fixture)), 118, break_on_hyphens=False, break_long_words=False)
        lines += [f'{_word(engine)} = """', *names.splitlines(), '"""']
    lines += [
        "",
        "#: Engine → model types, or for llama.cpp GGUF architectures.",
        "CONFIRMED: Mapping[str, frozenset[str]] = {",
    ]
    lines += [f'    "{engine}": frozenset({_word(engine)}.split()),' for engine in FIXTURES]
    return "\n".join([*lines, "}", ""])


def _word(engine: str) -> str:
    return "_" + engine.upper().replace(".", "_")


if __name__ == "__main__":
    OUT.write_text(text())
