"""The knowledge, as data: families, roles, naming conventions, configuration dialects, GGUF's words, presets."""
