"""How weights are packed. One file a scheme; the first whose test fits is used."""

from __future__ import annotations

from inspector.model import Config, Header, Packing


def packing_of(config: Config | None, files: tuple[Header, ...]) -> Packing | None:  # noqa: ARG001  GGUF needs none
    """How the files' weights are packed; None for plain tensors."""
    if any(header.format == "gguf" for header in files):
        from inspector.quantization import ggml  # types that only GGUF files have

        return ggml.packing_of(files)
    return None
