"""Objects in a bucket: S3, or any other storage of fsspec. The only importer of fsspec.

The database's rows list the blobs. Invariants: an object is written completely, under a name that
no other write uses; errors and logs never quote a library, since its messages contain addresses and
keys; no call blocks the loop, and each ends in bounded time.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from functools import partial
from secrets import token_hex
from typing import Any, TypeVar

import msgspec

from agent.errors import ConfigError, StoreError

PATIENCE_S = 30.0  # How long one call to a bucket may take.
_AT_ONCE = 8
_MARK = "switchboard.json"
_LOCAL = frozenset({"file", "local"})
_REMEDY = "Check the bucket, its credentials and the network. Events are still stored."
_T = TypeVar("_T")


class BucketGoneError(StoreError):
    """An object does not exist."""


class BucketDamagedError(StoreError):
    """An object's content has changed."""


class _Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A bucket's metadata."""

    store: str


class Bucket:
    """A storage for objects.

    Args:
        url: of any file system that fsspec knows, as `s3://bucket/prefix`; never shown or logged.
            Credentials come from where its library looks for them.
        patience_s: the time-out of one call.
    """

    def __init__(self, url: str, *, patience_s: float = PATIENCE_S) -> None:
        self._url = url
        self._patience_s = patience_s
        # Of its own: a bucket that hangs must not keep files waiting.
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="bucket")
        self._opened: tuple[Any, str] | None = None

    async def write(self, digest: str, data: bytes) -> str:
        """Write a blob; returns its place, which is unique. Raises StoreError."""
        place = f"{digest[:2]}/{digest}-{token_hex(4)}"
        await self._call("written", partial(self._write, place, data))
        return place

    async def read(self, place: str, digest: str) -> bytes:
        """Read a blob.

        Raises:
            BucketGoneError: it does not exist.
            BucketDamagedError: its content has changed.
            StoreError: the bucket cannot be read.
        """
        data = await self._call("read", partial(self._read, place))
        if data is None:
            raise BucketGoneError(
                f"Blob {digest} is gone: the bucket does not have it.",
                "Restore it from a backup; the event that names it is intact.",
            )
        if hashlib.sha256(data).hexdigest() != digest:
            raise BucketDamagedError(
                f"Blob {digest} is damaged: the bucket does not contain what was stored.",
                "Restore it from a backup; the event that names it is intact.",
            )
        return data

    async def drop(self, places: Iterable[str]) -> None:
        """Delete objects; a missing one is not an error. Raises StoreError."""
        await self._call("written", partial(self._drop, tuple(places)))

    async def places(self, *, older_than_s: float) -> set[str]:
        """List the objects written longer ago than this. Raises StoreError."""
        return await self._call("read", partial(self._places, older_than_s))

    async def store(self) -> str:
        """Return the identity of the bucket's store; empty if it has none. Raises StoreError."""
        data = await self._call("read", partial(self._read, _MARK))
        if data is None:
            return ""
        try:
            return msgspec.json.decode(data, type=_Mark).store
        except msgspec.MsgspecError as error:
            raise StoreError(
                f"The object {_MARK!r} in the bucket is not Switchboard's.", "Use another prefix."
            ) from error

    async def mark(self, store: str) -> None:
        """Bind the bucket to a store. Raises StoreError."""
        data = msgspec.json.encode(_Mark(store=store))
        await self._call("written", partial(self._write, _MARK, data))

    async def _call(self, what: str, function: Callable[[], _T]) -> _T:
        calling = asyncio.get_running_loop().run_in_executor(self._threads, function)
        try:
            return await asyncio.wait_for(calling, self._patience_s)
        except (StoreError, ConfigError):
            raise
        except TimeoutError:
            raise StoreError(
                f"The bucket of store.blobs did not answer within {self._patience_s:g} s.", _REMEDY
            ) from None
        # Each library has errors of its own, and most quote the address.
        except Exception as error:
            raise StoreError(
                f"The bucket of store.blobs cannot be {what} ({type(error).__name__}).", _REMEDY
            ) from None

    # --- in a thread ----------

    def _files(self) -> tuple[Any, str]:
        if self._opened is None:
            options: dict[str, Any] = {"use_listings_cache": False}
            if self._url.partition("://")[0] in _LOCAL:
                options["auto_mkdir"] = True
            # Only where a bucket is named.
            import fsspec

            try:
                files, root = fsspec.url_to_fs(self._url, **options)
            except (ImportError, ValueError) as error:
                raise ConfigError(
                    f"store.blobs names a bucket that cannot be used ({type(error).__name__}).",
                    "Give it as s3://BUCKET/PREFIX. For S3: pip install "
                    "'switchboard-console[s3]'; for others the library that fsspec names.",
                ) from None
            self._opened = files, root.rstrip("/")
        return self._opened

    def _write(self, place: str, data: bytes) -> None:
        files, root = self._files()
        files.pipe_file(f"{root}/{place}", data)

    def _read(self, place: str) -> bytes | None:
        files, root = self._files()
        try:
            return bytes(files.cat_file(f"{root}/{place}"))
        except FileNotFoundError:
            return None

    def _drop(self, places: tuple[str, ...]) -> None:
        files, root = self._files()
        for place in places:
            with suppress(FileNotFoundError):
                files.rm_file(f"{root}/{place}")

    def _places(self, older_than_s: float) -> set[str]:
        files, root = self._files()
        before_s = time.time() - older_than_s
        return {
            path.removeprefix(root).strip("/")
            for path, info in files.find(root, detail=True).items()
            if not path.endswith(f"/{_MARK}") and _written_s(info) <= before_s
        }


def _written_s(info: dict[str, Any]) -> float:
    """Return when an object was written; now if that is unknown."""
    for key in ("LastModified", "mtime", "created", "updated"):
        when = info.get(key)
        if isinstance(when, datetime):
            return when.timestamp()
        if isinstance(when, int | float):
            return float(when)
    return time.time()
