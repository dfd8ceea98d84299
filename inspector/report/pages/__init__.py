"""Results → one self-contained HTML page, for people who have not installed anything.

The `page` of each result's module turns it into a `parts.Page`: a title, a verdict, and sections of texts, tables,
charts and findings. `render.html` writes any page; `saving.save` puts it into a file.
"""
