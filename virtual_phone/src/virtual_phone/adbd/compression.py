"""The compressions that a sync peer may ask for: brotli, LZ4 frames, Zstandard.

Not offered in the features, as the peer is on the same machine; a client that insists gets it, as
from a real phone. Invariant: what a peer sends grows to bounded pieces only, however it was packed.
"""

from collections.abc import Iterator
from enum import IntFlag
from typing import Protocol

from virtual_phone.errors import PhoneError

PIECE_BYTES = 256 * 1024
ZSTD_FEED_BYTES = 256
"""Zstandard has no limit on what it returns; one run-length block of 4 bytes makes 128 KiB."""
ZSTD_WINDOW_BYTES = 128 * 1024 * 1024
BROTLI_QUALITY = 1


class SyncFlag(IntFlag):
    """The flags of SND2 and RCV2 (file_sync_protocol.h)."""

    BROTLI = 1
    LZ4 = 2
    ZSTD = 4
    DRY_RUN = 0x80000000


COMPRESSIONS = SyncFlag.BROTLI | SyncFlag.LZ4 | SyncFlag.ZSTD


class CompressionError(PhoneError):
    """The peer asked for a compression there is not, or what it sent is damaged."""


class Inflater(Protocol):
    """Unpacks what a peer sends."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield what the bytes hold; raise CompressionError when they are damaged."""
        ...

    @property
    def finished(self) -> bool:
        """Whether the stream has come to its end."""
        ...


class Deflater(Protocol):
    """Packs what a peer is sent."""

    def pack(self, data: bytes) -> bytes:
        """Return what can be sent so far."""
        ...

    def finish(self) -> bytes: ...


def inflater(flags: int) -> Inflater:
    """Return what unpacks a peer's stream; raise CompressionError for two at once."""
    match flags & COMPRESSIONS:
        case 0:
            return _Plain()
        case SyncFlag.BROTLI:
            return _BrotliInflater()
        case SyncFlag.LZ4:
            return _Lz4Inflater()
        case SyncFlag.ZSTD:
            return _ZstdInflater()
        case _:
            raise CompressionError("multiple compression flags received")


def deflater(flags: int) -> Deflater:
    """Return what packs a stream for a peer; raise CompressionError for two at once."""
    match flags & COMPRESSIONS:
        case 0:
            return _Plain()
        case SyncFlag.BROTLI:
            return _BrotliDeflater()
        case SyncFlag.LZ4:
            return _Lz4Deflater()
        case SyncFlag.ZSTD:
            return _ZstdDeflater()
        case _:
            raise CompressionError("multiple compression flags received")


class _Plain:
    """Bytes as they are."""

    finished = True

    def pieces(self, data: bytes) -> Iterator[bytes]:
        yield data

    def pack(self, data: bytes) -> bytes:
        return data

    def finish(self) -> bytes:
        return b""


class _BrotliInflater:
    def __init__(self) -> None:
        import brotli  # type: ignore[import-untyped]

        self._stream = brotli.Decompressor()
        self._error = brotli.error

    def pieces(self, data: bytes) -> Iterator[bytes]:
        try:
            piece = self._stream.process(data, output_buffer_limit=PIECE_BYTES)
            # More may be to come although it says that it takes more: only nothing means all.
            while piece or not self._stream.can_accept_more_data():
                yield piece
                piece = self._stream.process(b"", output_buffer_limit=PIECE_BYTES)
        except self._error as error:
            raise CompressionError("decompress failed") from error

    @property
    def finished(self) -> bool:
        return bool(self._stream.is_finished())


class _BrotliDeflater:
    def __init__(self) -> None:
        import brotli

        self._stream = brotli.Compressor(quality=BROTLI_QUALITY)

    def pack(self, data: bytes) -> bytes:
        return bytes(self._stream.process(data))

    def finish(self) -> bytes:
        return bytes(self._stream.finish())


class _Lz4Inflater:
    def __init__(self) -> None:
        from lz4.frame import LZ4FrameDecompressor  # type: ignore[import-untyped]

        self._stream = LZ4FrameDecompressor()

    def pieces(self, data: bytes) -> Iterator[bytes]:
        try:
            yield self._stream.decompress(data, max_length=PIECE_BYTES)
            while not self._stream.needs_input and not self._stream.eof:
                yield self._stream.decompress(b"", max_length=PIECE_BYTES)
        except (EOFError, RuntimeError, ValueError) as error:
            raise CompressionError("decompress failed") from error

    @property
    def finished(self) -> bool:
        return bool(self._stream.eof)


class _Lz4Deflater:
    def __init__(self) -> None:
        from lz4.frame import LZ4FrameCompressor

        self._stream = LZ4FrameCompressor()
        self._head = bytes(self._stream.begin())

    def pack(self, data: bytes) -> bytes:
        head, self._head = self._head, b""
        return head + bytes(self._stream.compress(data))

    def finish(self) -> bytes:
        head, self._head = self._head, b""
        return head + bytes(self._stream.flush())


class _ZstdInflater:
    def __init__(self) -> None:
        import zstandard

        window = ZSTD_WINDOW_BYTES
        self._stream = zstandard.ZstdDecompressor(max_window_size=window).decompressobj()
        self._error = zstandard.ZstdError

    def pieces(self, data: bytes) -> Iterator[bytes]:
        view = memoryview(data)
        try:
            for start in range(0, len(data), ZSTD_FEED_BYTES):
                yield self._stream.decompress(view[start : start + ZSTD_FEED_BYTES])
        except self._error as error:
            raise CompressionError("decompress failed") from error

    @property
    def finished(self) -> bool:
        return bool(self._stream.eof)


class _ZstdDeflater:
    def __init__(self) -> None:
        import zstandard

        self._stream = zstandard.ZstdCompressor().compressobj()

    def pack(self, data: bytes) -> bytes:
        return self._stream.compress(data)

    def finish(self) -> bytes:
        return self._stream.flush()
