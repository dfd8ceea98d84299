"""Chat templates: Jinja programs from strangers, judged without rendering them."""
