"""What is known, as data: families, roles, naming conventions, configuration dialects, GGUF's words, presets."""
