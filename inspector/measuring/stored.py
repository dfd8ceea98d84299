"""The numbers of stored tensors, in bounded pieces of safetensors, GGUF and PyTorch files.

    with closing(Stored(checkpoint)) as data:
        for chunk in data.chunks(tensor, path):     # any tensor of any of the checkpoint's files
            chunk.start, chunk.values, chunk.raw    # index of the first element; float32 or float64; the bytes
        data.values(tensor, path, 1000, 2000)       # elements 1000 to 1999, in the order of the shape

Elements are counted in row-major order; results have one dimension. Dtypes are as in `formats.decoding`: floats of at
most 32 bits and integers of at most 16 as float32, all else as float64, complex numbers as pairs. GGUF's blocks are
dequantized by the `gguf` package. Packed weights of safetensors files are returned as the stored integers;
`measuring.weights` returns the weights that they encode. Remote files are read by ranges, and only as requested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import RLock
from typing import NamedTuple

import numpy as np

from inspector.errors import FormatError, SourceError
from inspector.formats import decoding
from inspector.formats.decoding import Array
from inspector.formats.ggml import TYPES
from inspector.formats.pytorch.layout import View
from inspector.measuring import needs, rank_parts
from inspector.model import Checkpoint, Header, Tensor
from inspector.sources import Place, Source
from inspector.sources.local import LocalFile
from inspector.sources.targets import place_again
from inspector.units import escape, integer, plural

#: Elements of a chunk: 4 MB as float32, which partly fits a processor's cache and needs few calls per second.
CHUNK = 1 << 20
#: The most bytes of a tensor with strides, which is read at once because its elements are not in order.
MAX_STRIDED = 1 << 30
#: Integers that float64 does not represent exactly.
LONG = frozenset({"I64", "U64"})
_BLOCKS = {kind.name: (kind.block, kind.nbytes) for kind in TYPES.values() if kind.block > 1}


class Chunk(NamedTuple):
    """Some consecutive elements of a tensor."""

    start: int  # index of the first, in row-major order
    values: Array  # one dimension; two values for each complex element
    raw: bytes  # as stored


class Opened:
    """Files that are opened on first read, for any thread."""

    def __init__(self, open_: Callable[[str], Source]) -> None:
        self._open, self._lock = open_, RLock()
        self._sources: dict[str, Source] = {}

    def close(self) -> None:
        """Close all of them."""
        for source in self._sources.values():
            source.close()
        self._sources.clear()

    def source(self, path: str) -> Source:
        """A file, opened."""
        with self._lock:
            if path not in self._sources:
                self._sources[path] = self._open(path)
            return self._sources[path]

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Bytes of a file. Raises SourceError if it ends early, or cannot be read."""
        source = self.source(path)
        if isinstance(source, LocalFile):  # read by offset
            return source.read(offset, length)
        with self._lock:  # a network source is for one thread at a time
            return source.read(offset, length)

    def read_into(self, path: str, offset: int, buffer: Array) -> Array:
        """As many bytes as a buffer has, in the buffer if the file is local: without a copy in between."""
        source = self.source(path)
        if isinstance(source, LocalFile):
            return buffer[: source.read_into(buffer.data, offset)]
        return np.frombuffer(self.read(path, offset, buffer.size), np.uint8)


class Stored:
    """The tensor data of a checkpoint's files. Files are opened on first read."""

    def __init__(self, checkpoint: Checkpoint, place: Place | None = None) -> None:
        """
        Args:
            place: where the files are, if already open; else the target is opened again, at the commit that was read.
        """
        needs.check()
        self._own = place is None
        self._place = place or place_again(checkpoint.target, checkpoint.origin)
        self._headers = {header.path: header for header in (*checkpoint.files, *_headers_of_components(checkpoint))}
        self._files = Opened(self._place.open)
        self._views: dict[str, dict[str, tuple[View, int]]] = {}
        self._big: dict[str, bool] = {}
        self._parts = rank_parts.parts_of(checkpoint) if checkpoint.joined else {}
        self.bytes_read = 0  # bytes of tensor data

    def close(self) -> None:
        """Close the files."""
        self._files.close()
        if self._own:
            self._place.close()

    def header(self, path: str) -> Header:
        """Raises FormatError for a file that does not belong to the checkpoint."""
        if path not in self._headers:
            raise FormatError(f"{escape(path)} is not one of the checkpoint's weight files")
        return self._headers[path]

    def chunks(self, tensor: Tensor, path: str, elements: int = CHUNK) -> Iterator[Chunk]:
        """A tensor from its first element to its last, in pieces of `elements`, rounded up to whole blocks.

        Raises:
            FormatError: the dtype has no known definition, or the bytes do not match the shape.
            SourceError: the file ends early, or cannot be read.
        """
        layout = self._layout_of(tensor, path)
        step = -(-elements // layout.elements) * layout.elements
        total = tensor.elements
        for start in range(0, total, step):
            stop = min(start + step, total)
            raw = self._raw_elements(layout, tensor, path, start, stop)
            yield Chunk(start, layout.decode(raw), raw)

    def pieces(self, tensor: Tensor, path: str, elements: int = CHUNK) -> Iterator[tuple[bytes, Array | None]]:
        """The same in bytes; numbers are decoded only if they have more than 16 bits, or no one-to-one patterns.

        64-bit integers are returned unchanged.
        """
        layout = self._layout_of(tensor, path)
        if not decoding.has_patterns(layout.dtype) or layout.big:
            for chunk in self.chunks(tensor, path, elements):
                yield chunk.raw, chunk.values if layout.dtype not in LONG else layout.integers(chunk.raw)
            return
        for start in range(0, tensor.elements, elements):
            yield self._raw_elements(layout, tensor, path, start, min(start + elements, tensor.elements)), None

    def values(self, tensor: Tensor, path: str, start: int = 0, stop: int | None = None) -> Array:
        """The elements from `start` up to, but excluding, `stop`. Raises as `chunks` does."""
        layout = self._layout_of(tensor, path)
        stop = tensor.elements if stop is None else min(stop, tensor.elements)
        if stop <= start:
            return np.empty(0, np.float32)
        first = start // layout.elements * layout.elements
        last = min(-(-stop // layout.elements) * layout.elements, tensor.elements)
        found = layout.decode(self._raw_elements(layout, tensor, path, first, last))
        each = 2 if tensor.dtype in decoding.COMPLEX else 1
        return found[(start - first) * each : (stop - first) * each]

    def integers(self, tensor: Tensor, path: str, start: int = 0, stop: int | None = None) -> Array:
        """The same, with NumPy's own dtypes unconverted: words of packed weights."""
        if tensor.dtype not in decoding.NATIVE:
            return self.values(tensor, path, start, stop)
        layout = self._layout_of(tensor, path)
        raw = self._raw_elements(layout, tensor, path, start, tensor.elements if stop is None else stop)
        return decoding.native(raw, tensor.dtype, big=layout.big)

    def raw(self, tensor: Tensor, path: str, start: int = 0, stop: int | None = None) -> bytes:
        """The bytes of the same elements; `start` and `stop` must be block boundaries."""
        layout = self._layout_of(tensor, path)
        return self._raw_elements(layout, tensor, path, start, tensor.elements if stop is None else stop)

    # --- where the bytes are --------------------------------------------------------------------

    def _layout_of(self, tensor: Tensor, path: str, *, whole: bool = True) -> _Layout:
        """
        Args:
            whole: whether to assemble a tensor that is spread over several files, instead of one file's part.
        """
        header = self.header(path)
        big = self._is_big(header, tensor)
        if whole and tensor.name in self._parts:
            return _plain_layout(tensor.dtype, big=big)._replace(parts=tuple(self._parts[tensor.name]))
        if header.format == "pytorch" and not self._lies_plainly(tensor, header):
            return self._pytorch_layout(tensor, header, big)
        if header.format == "gguf" and tensor.dtype in _BLOCKS:
            layout = _Layout(tensor.dtype, *_BLOCKS[tensor.dtype], big=big)
        else:
            layout = _plain_layout(tensor.dtype, big=big)
        expected = -(-tensor.elements // layout.elements) * layout.nbytes
        if tensor.nbytes != expected and header.format == "numpy" and header.path.endswith(".npz"):
            raise FormatError(
                f"{escape(tensor.name, 200)} is compressed in {escape(path)} and not read: rewrite it with "
                "`numpy.savez`, which does not compress"
            )
        if tensor.nbytes != expected:
            raise FormatError(
                f"{escape(tensor.name, 200)}: its header gives it {plural(tensor.nbytes, 'byte')}, its shape takes "
                f"{integer(expected)}"
            )
        return _with_strides(layout, tensor, header) if header.strides else layout

    @staticmethod
    def _lies_plainly(tensor: Tensor, header: Header) -> bool:
        """Whether the header is enough to find the bytes: all are there, in order, at the stated offset."""
        known = decoding.is_known(tensor.dtype) and not header.strides
        return known and bool(tensor.offset) and tensor.nbytes == tensor.elements * decoding.width(tensor.dtype)

    def _pytorch_layout(self, tensor: Tensor, header: Header, big: bool) -> _Layout:
        if header.path not in self._views:
            from inspector.formats.pytorch import reader  # only its tensors have strides

            self._views[header.path] = reader.placed(self._files.source(header.path), header.path)
        found = self._views[header.path].get(tensor.name)
        if found is None:
            raise FormatError(f"{escape(tensor.name, 200)}: its bytes are not stored plainly in the file")
        view, at = found
        layout = _plain_layout(view.dtype, big=big)._replace(at=at)
        if view.contiguous or not tensor.elements:
            return layout
        if view.extent < tensor.elements:
            raise FormatError(f"{escape(tensor.name, 200)}: a view that repeats its elements: not read")
        if view.extent * view.width > MAX_STRIDED:
            raise FormatError(f"{escape(tensor.name, 200)}: a view with strides over more than 1 GiB: not read")
        return layout._replace(view=view)

    def _raw_elements(self, layout: _Layout, tensor: Tensor, path: str, start: int, stop: int) -> bytes:
        if layout.parts:
            return rank_parts.assembled(layout.parts, layout.nbytes, start, stop, self._raw_part)
        if layout.view is not None:
            return self._elements_in_order(layout, layout.view, path)[start * layout.nbytes : stop * layout.nbytes]
        first = start // layout.elements * layout.nbytes
        last = -(-stop // layout.elements) * layout.nbytes
        return self._read(path, (tensor.offset if layout.at is None else layout.at) + first, last - first)

    def _raw_part(self, part: rank_parts.Part, start: int, stop: int) -> bytes:
        return self._raw_elements(
            self._layout_of(part.tensor, part.path, whole=False), part.tensor, part.path, start, stop
        )

    def _elements_in_order(self, layout: _Layout, view: View, path: str) -> bytes:
        """A tensor with strides, with its elements in order."""
        data = self._read(path, layout.at or 0, view.extent * view.width)
        cells = np.frombuffer(data, np.dtype((np.void, view.width)))
        strides = [step * view.width for step in view.stride]
        return np.lib.stride_tricks.as_strided(cells, view.shape, strides, writeable=False).tobytes()

    def _read(self, path: str, offset: int, length: int) -> bytes:
        size = self.header(path).size
        if offset + length > size:
            raise SourceError(
                f"{escape(path)} ends {plural(offset + length - size, 'byte')} before the end of the tensor"
            )
        data = self._files.read(path, offset, length)
        self.bytes_read += length
        return data

    def _is_big(self, header: Header, tensor: Tensor) -> bool:
        """Whether a tensor's numbers are big-endian: by findings about it or its file, or by a GGUF's version."""
        swapped = any(each.rule == "big-endian" and each.tensor in (None, tensor.name) for each in header.findings)
        if not swapped or header.format != "gguf":
            return swapped
        if header.path not in self._big:
            version = self._files.read(header.path, 4, 4)
            self._big[header.path] = int.from_bytes(version, "little") & 0xFFFF == 0
        return self._big[header.path]


class _Layout(NamedTuple):
    """How a tensor's bytes become numbers."""

    dtype: str
    elements: int  # elements of the smallest whole unit
    nbytes: int  # bytes of that unit
    big: bool = False
    at: int | None = None  # where the tensor begins, if not at its offset
    view: View | None = None  # for a tensor whose elements are not in order
    parts: tuple[rank_parts.Part, ...] = ()  # for a tensor spread over several files

    def integers(self, raw: bytes) -> Array:
        return decoding.native(raw, self.dtype, big=self.big)

    def decode(self, raw: bytes) -> Array:
        if self.dtype in _BLOCKS:
            return _dequantized_blocks(raw, self.dtype, big=self.big)
        return decoding.decoded(raw, self.dtype, big=self.big)


def _with_strides(layout: _Layout, tensor: Tensor, header: Header) -> _Layout:
    """The layout of a tensor not stored in the order of its shape, like NumPy's Fortran arrays."""
    own = (stride for at, stride in header.strides.items() if header.tensors[at].name == tensor.name)
    stride = next(own, None)
    if stride is None or tensor.dtype in decoding.UNITS:
        return layout
    view = View(tensor.name, tensor.dtype, layout.nbytes, tensor.shape, stride, 0, None, tensor.elements)
    return layout if view.extent > tensor.elements else layout._replace(at=tensor.offset, view=view)


def _plain_layout(dtype: str, *, big: bool) -> _Layout:
    if not decoding.is_known(dtype):
        raise FormatError(f"the dtype {escape(dtype, 40)} cannot be decoded here")
    elements = decoding.UNITS[dtype][0] if dtype in decoding.UNITS else 1
    return _Layout(dtype, elements, decoding.width(dtype), big)


def _dequantized_blocks(raw: bytes, dtype: str, *, big: bool) -> Array:
    needs.check_blocks()
    from gguf import GGMLQuantizationType, quants  # 0.1 s, and only for blocks

    if big:
        raise FormatError(f"{dtype} blocks of a big-endian file are not dequantized here")
    try:
        kind = GGMLQuantizationType[dtype]
        with np.errstate(all="ignore"):  # the caller looks for NaNs
            found: Array = quants.dequantize(np.frombuffer(raw, np.uint8), kind)
    except (NotImplementedError, KeyError) as error:
        raise FormatError(f"the gguf package does not dequantize {dtype}") from error
    return found


def _headers_of_components(checkpoint: Checkpoint) -> Iterator[Header]:
    for part in checkpoint.components:
        yield from part.checkpoint.files


# --- whether files change while they are read ----------------------------------------------------

#: Path → size, modification time and inode number.
Stamps = dict[str, tuple[int, int, int]]


def stamps(checkpoint: Checkpoint) -> Stamps:
    """The stamps of each local weight file. Raises SourceError if one is gone or has another size."""
    if checkpoint.origin.kind != "local":
        return {}
    place = Path(checkpoint.origin.location)
    root = place if place.is_dir() else place.parent
    found: Stamps = {}
    for header in checkpoint.files:
        try:
            status = (root / header.path).stat()
        except OSError as error:
            raise SourceError(f"{escape(header.path)} changed while it was being read: {error.strerror}") from error
        if status.st_size != header.size:
            sizes = f"{integer(header.size)} bytes before, {integer(status.st_size)} now"
            raise SourceError(f"{escape(header.path)} changed while it was being read: {sizes}")
        found[header.path] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return found


def check_unchanged(checkpoint: Checkpoint, before: Stamps) -> None:
    """Raises SourceError if a file has changed."""
    for path, stamp in stamps(checkpoint).items():
        if before.get(path) != stamp:
            raise SourceError(
                f"{escape(path)} changed while it was being read: compare again when nothing writes to it"
            )
