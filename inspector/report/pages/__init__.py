"""Results → one self-contained HTML page, for people who did not install anything.

A module a command makes a `parts.Page` of a result: a title, a verdict, and sections of texts, tables, charts and
findings. `render.html` writes any page; `saving.save` puts it into a file.
"""
