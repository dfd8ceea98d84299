"""The pieces of public chat templates, as digests: `templates.json`.

    python tools/loading/write_templates.py "llama.cpp b9300 (MIT)" FOLDER ["TRL 1.0 (Apache-2.0)" FOLDER …]

Each folder has the templates of one source: `models/templates` of llama.cpp, which xllamacpp's source distribution
brings, and `trl/chat_templates`. A template's name there is its name in a finding.
"""

from __future__ import annotations

import argparse
import json
from base64 import b64encode
from pathlib import Path

from jinja2 import TemplateSyntaxError

from inspector.auditing.readers.jinja.known import pieces
from inspector.auditing.readers.jinja.statements import tree_of

OUT = Path(__file__).parents[2] / "inspector" / "auditing" / "data" / "templates.json"
ABOUT = (
    "Public chat templates: 3 bytes of BLAKE2b for each piece of a template, in its order "
    "(inspector/auditing/readers/jinja/known.py), written by tools/loading/write_templates.py"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sources", nargs="+", metavar="SOURCE FOLDER")
    given = parser.parse_args().sources
    templates = {}
    for source, folder in zip(given[::2], given[1::2], strict=True):
        for path in sorted(Path(folder).glob("*.jinja")):
            try:
                tree = tree_of(path.read_text("utf-8"))
            except TemplateSyntaxError:
                continue
            digests = b"".join(each.digest for each in pieces(tree)) if tree else b""
            templates[f"{path.stem} ({source.partition(' ')[0]})"] = b64encode(digests).decode()
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(text)}" for name, text in templates.items())
    head = f'"about": {json.dumps(ABOUT)},\n"sources": {json.dumps(given[::2])},'
    OUT.write_text(f'{{\n{head}\n"templates": {{\n{lines}\n}}\n}}\n', "utf-8")


if __name__ == "__main__":
    main()
