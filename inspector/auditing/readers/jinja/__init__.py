"""Chat templates: untrusted Jinja programs, judged without rendering them."""
