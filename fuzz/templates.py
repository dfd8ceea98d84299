"""Fuzzing of the judgement of chat templates, compared with Jinja: `make fuzz`, or `python fuzz/templates.py`.

Templates are assembled from pieces. One that is judged harmless is rendered in Jinja's sandbox: the sandbox must have
no objection, and rendering must end within libFuzzer's `-timeout`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures")]

with atheris.instrument_imports(include=["inspector"]):
    from inspector.auditing.readers.jinja import rendered, statements  # noqa: F401  imported late otherwise
    from inspector.auditing.readers.templates import judge

from hostile.templates import HARMLESS, REACHING  # noqa: E402  found through the path above

#: Pieces of templates: the first byte of an input says whether the others are positions in this list, or text.
PIECES = (
    *("{{ ", " }}", "{% ", " %}", "{%- ", "set x = ", "set y = ", "set ns.x = ", "if x", "endif", "else", "elif y"),
    *("for x in y", "for m in messages", "for i in range(9)", "for i in range(9000)", "endfor", "macro f(x)", "f(x)"),
    *("endmacro", "call f()", "endcall", "caller()", "filter upper", "endfilter", "set x", "endset", "with x = y"),
    *("endwith", "messages", "messages[0]", "m.content", "x", "y", "ns", "namespace(x='')", "loop", "loop.index"),
    *("loop(x)", " recursive", "cycler", "joiner()", "lipsum", "self", "dict(a=x)", "['a', x]", "{'a': x}", "('_', y)"),
    *("'_'", "'__class__'", "'a_b'", "'%s%s'", "'{0.x}'", "'init'", "'globals'", "\\x5f", "_", "[1]", "[::-1]", "[x]"),
    *(
        ".x",
        "['x']",
        " ~ ",
        " + ",
        " * ",
        " % ",
        " ** ",
        " - ",
        " // ",
        " and ",
        " or ",
        " not ",
        " in ",
        " if ",
        " else ",
    ),
    *(
        "|join",
        "|join(x)",
        "|list",
        "|first",
        "|last",
        "|replace('a', x)",
        "|attr(x)",
        "|map('upper')",
        "|format(x, y)",
    ),
    *("|map(attribute=x)", "|select('in', x)", "|selectattr(x)", "|groupby(x)", "|sort(attribute=x)", "|batch(x)"),
    *(
        "|upper",
        "|reverse",
        "|string",
        "|tojson",
        "|center(x)",
        "|indent(x)",
        "|length",
        "|sum(start=x)",
        "|wordwrap(x)",
    ),
    *("|slice(x)", "|unique", "|trim", "|default(x)", "|items", "|dictsort", "|xmlattr", "|urlize", "|pprint", "|e"),
    *(
        ".format(x)",
        ".join(x)",
        ".replace('a', x)",
        ".split('_')",
        ".append(x)",
        ".upper()",
        ".items()",
        ".pop()",
        "()",
    ),
    *("(x)", "99", "9999", "60", "3", "1.5", "''", "'aaaaaaaa'", "\n", " ", "(", ")", "[", "]", ",", "do x", "break"),
)


#: A macro that calls itself once is ended by Python's own limit at once.
_AT_ONCE = "it recurses without end"


def text_of(data: bytes) -> str:
    """A template, made of pieces or of the bytes as they are."""
    if data[:1] < b"\x80":
        return "".join(PIECES[each % len(PIECES)] for each in data[1:])
    return data[1:].decode("utf-8", "replace")


def one_input(data: bytes) -> None:
    """Jinja's sandbox renders whatever is judged harmless without an objection."""
    text = text_of(data)
    judgement = judge(text)
    if judgement.reaches or judgement.unread or "{" not in text:
        return
    outcome = rendered.outcome(text)
    assert outcome.get("grave", _AT_ONCE) == _AT_ONCE, (text, outcome)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as corpus:
        for number, text in enumerate((*HARMLESS, *REACHING)):
            Path(corpus, str(number)).write_bytes(b"\xff" + text.encode())
        atheris.Setup([*sys.argv, corpus], one_input)
        atheris.Fuzz()
