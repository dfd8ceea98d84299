"""The packages that reading values needs."""

from __future__ import annotations

from importlib.util import find_spec

from inspector.errors import UsageError, install_command


def check() -> None:
    """Raises UsageError with a remedy if NumPy is not installed."""
    _need("numpy", "reading tensor data needs NumPy")


def check_blocks() -> None:
    """The same for the package that dequantizes GGUF's blocks."""
    _need("gguf", "reading quantized GGUF tensors needs the gguf package")


def check_parquet() -> None:
    """The same for the package that writes Parquet."""
    _need("pyarrow", "writing Parquet needs pyarrow", extra="tables")


def _need(module: str, what: str, extra: str = "data") -> None:
    if find_spec(module) is None:
        raise UsageError(f"{what}: `{install_command(extra)}`")
