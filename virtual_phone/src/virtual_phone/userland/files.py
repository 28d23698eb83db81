"""The phone's files: a read-only tree shared by all phones and two writable places on the host.

Not a sandbox for foreign code: it serves our own shell and `sync:`. Invariant: nothing outside
the phone's home directory is ever opened. Links are resolved here, by phone paths, and the host
never follows one (O_NOFOLLOW on the last component, lstat on the others), so a link that points
to `/etc/passwd` leads to the phone's file, not to ours.
"""

import errno
import io
import os
import shutil
import stat as modes
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar, cast

from virtual_phone.state.storage import SharedStorage
from virtual_phone.userland.file_stat import (
    GID_SDCARD,
    UID_ROOT,
    UID_SHELL,
    FileStat,
    WrittenFile,
    failure,
)
from virtual_phone.userland.tree import CharDevice, Device, Directory, GeneratedFile, Link, Tree

OwnerT = TypeVar("OwnerT")

MOUNTS = {"/data/local/tmp": "tmp", "/storage/emulated/0": "sdcard"}
"""Writable phone directories and where they lie below the phone's home."""

MAX_LINKS = 40
HOST_CHECK_BYTES = 64 * 1024 * 1024
HOST_RESERVE_BYTES = 512 * 1024 * 1024


class PhoneFiles(Generic[OwnerT]):
    """The file system of one phone.

    Args:
        home: the phone's home directory on the host; `home/files` is made when first written.
        tree: the read-only part.
        owner: what the tree's made files are made from.
        booted_at: modification time of the read-only part, seconds since 1970.
        storage: what apps see of /sdcard; makes it, and is told what changes.
    """

    def __init__(
        self,
        home: Path,
        tree: Tree[OwnerT],
        owner: OwnerT,
        booted_at: float,
        storage: SharedStorage,
    ) -> None:
        self._root = home / "files"
        self._tree = tree
        self._owner = owner
        self._booted_at = booted_at
        self._storage = storage
        self.full = False
        storage.full = lambda: self.full
        self._unchecked_bytes = 0
        self.uid = UID_SHELL

    def wipe(self) -> None:
        """Remove everything that was written, as a factory reset does; raise OSError."""
        if self._root.is_dir():
            shutil.rmtree(self._root)

    # --- paths ---

    def resolve(self, path: str, cwd: str = "/", *, follow: bool = True) -> str:
        """Return the absolute phone path without links, `.` and `..`.

        With `follow` false a link in the last place stays. The last component may be missing.

        Raises:
            OSError: ENOENT, ENOTDIR, ELOOP, EINVAL.
        """
        if "\0" in path:
            raise failure(errno.EINVAL, path)
        if not path:
            raise failure(errno.ENOENT, path)
        pending = [part for part in path.split("/") if part]
        must_be_dir = path.endswith("/") or path.endswith("/.")
        current = "/" if path.startswith("/") else cwd
        links = 0
        pending.reverse()
        while pending:
            part = pending.pop()
            if part == ".":
                continue
            if part == "..":
                current = current.rpartition("/")[0] or "/"
                continue
            here = self._lstat(current)
            if here is None:
                raise failure(errno.ENOENT, path)
            if not here.is_dir:
                raise failure(errno.ENOTDIR, path)
            step = f"{current.rstrip('/')}/{part}"
            target = self._link_target(step) if follow or pending or must_be_dir else None
            if target is None:
                current = step
                continue
            links += 1
            if links > MAX_LINKS:
                raise failure(errno.ELOOP, path)
            if target.startswith("/"):
                current = "/"
            pending.extend(reversed([piece for piece in target.split("/") if piece]))
        if must_be_dir:
            found = self._lstat(current)
            if found is not None and not found.is_dir:
                raise failure(errno.ENOTDIR, path)
        return current

    def _host(self, absolute: str) -> Path | None:
        """Return where a resolved path lies on the host, or None when it is read-only."""
        for mount, folder in MOUNTS.items():
            if absolute == mount:
                return self._root / folder
            if absolute.startswith(mount + "/"):
                return self._root / folder / absolute[len(mount) + 1 :]
        return None

    def _writable(self, absolute: str, path: str) -> Path:
        host = self._host(absolute)
        if host is None or absolute in MOUNTS:
            private = absolute.startswith(("/data", "/cache", "/mnt", "/storage"))
            raise failure(errno.EACCES if private else errno.EROFS, path)
        self._make_mounts()
        return host

    def _make_mounts(self) -> None:
        temporary = self._root / MOUNTS["/data/local/tmp"]
        if not temporary.is_dir():
            temporary.mkdir(parents=True, exist_ok=True)
        self._storage.furnish()

    def _link_target(self, absolute: str) -> str | None:
        node = self._tree.get(absolute, self._owner)
        if isinstance(node, Link):
            return node.target
        if node is not None:
            return None
        host = self._host(absolute)
        if host is None:
            return None
        try:
            return os.readlink(host)  # noqa: PTH115 - the raw text, not a Path of the host
        except OSError:
            return None

    # --- looking ---

    def stat(self, path: str, cwd: str = "/", *, follow: bool = True) -> FileStat:
        """Return what is known of a file; raise OSError (ENOENT, ENOTDIR, ELOOP, …)."""
        absolute = self.resolve(path, cwd, follow=follow)
        found = self._lstat(absolute)
        if found is None:
            raise failure(errno.ENOENT, path)
        return found

    def _lstat(self, absolute: str) -> FileStat | None:
        node = self._tree.get(absolute, self._owner)
        if absolute in MOUNTS or node is None:
            host = self._host(absolute)
            if host is None:
                return None
            self._make_mounts()
            try:
                raw = host.lstat()
            except (FileNotFoundError, NotADirectoryError):
                return None
            gid = GID_SDCARD if absolute.startswith("/storage") else UID_SHELL
            return FileStat(
                raw.st_mode,
                raw.st_size,
                raw.st_mtime,
                raw.st_atime,
                raw.st_ctime,
                raw.st_ino,
                0xFE00,
                raw.st_nlink,
                UID_SHELL,
                gid,
            )
        mode, size = modes.S_IFDIR | 0o755, 4096
        match node:
            case Directory(mode=permissions):
                mode = modes.S_IFDIR | permissions
            case Link(target=target):
                mode, size = modes.S_IFLNK | 0o777, len(target)
            case CharDevice():
                mode, size = modes.S_IFCHR | 0o666, 0
            case GeneratedFile(mode=permissions):
                sized = not absolute.startswith(("/proc/", "/sys/"))
                size = len(node.content(self._owner)) if sized else 0
                mode = modes.S_IFREG | permissions
        inode = (hash(absolute) & 0x7FFFFFFF) | 1
        at = self._booted_at
        return FileStat(mode, size, at, at, at, inode, 0xFD00, 1, UID_ROOT, UID_ROOT)

    def exists(self, path: str, cwd: str = "/", *, follow: bool = True) -> bool:
        try:
            self.stat(path, cwd, follow=follow)
        except OSError:
            return False
        return True

    def listdir(self, path: str, cwd: str = "/") -> list[str]:
        """Return the sorted names in a directory; raise OSError."""
        absolute = self.resolve(path, cwd)
        found = self._lstat(absolute)
        if found is None:
            raise failure(errno.ENOENT, path)
        if not found.is_dir:
            raise failure(errno.ENOTDIR, path)
        node = self._tree.get(absolute, self._owner)
        if isinstance(node, Directory) and not node.listable and self.uid != UID_ROOT:
            raise failure(errno.EACCES, path)
        host = self._host(absolute)
        names = set(self._tree.children(absolute, self._owner))
        if host is not None:
            self._require(found, modes.S_IRUSR, path)
            names.update(os.listdir(host))  # noqa: PTH208 - names only, links are not followed
        return sorted(names)

    def readlink(self, path: str, cwd: str = "/") -> str:
        """Return the target of a link; raise OSError (EINVAL when it is none)."""
        absolute = self.resolve(path, cwd, follow=False)
        target = self._link_target(absolute)
        if target is None:
            raise failure(errno.ENOENT if self._lstat(absolute) is None else errno.EINVAL, path)
        return target

    def device(self, path: str, cwd: str = "/") -> Device | None:
        """Return which character device a path is, or None."""
        try:
            node = self._tree.get(self.resolve(path, cwd), self._owner)
        except OSError:
            return None
        return node.device if isinstance(node, CharDevice) else None

    # --- reading and writing ---

    def open_read(self, path: str, cwd: str = "/") -> BinaryIO:
        """Open a regular file for reading; raise OSError."""
        absolute = self.resolve(path, cwd)
        found = self._lstat(absolute)
        if found is None:
            raise failure(errno.ENOENT, path)
        if found.is_dir:
            raise failure(errno.EISDIR, path)
        node = self._tree.get(absolute, self._owner)
        if isinstance(node, GeneratedFile):
            return io.BytesIO(node.content(self._owner))
        host = self._host(absolute)
        if host is None or not found.is_file:
            raise failure(errno.EACCES, path)
        self._require(found, modes.S_IRUSR, path)
        return os.fdopen(os.open(host, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb", 0)

    def open_write(
        self,
        path: str,
        cwd: str = "/",
        *,
        append: bool = False,
        truncate: bool = True,
        mode: int = 0o666,
    ) -> BinaryIO:
        """Create or open a regular file for writing; raise OSError (ENOSPC when full)."""
        absolute = self.resolve(path, cwd)
        found = self._lstat(absolute)
        if found is not None:
            if found.is_dir:
                raise failure(errno.EISDIR, path)
            if self._host(absolute) is not None:
                self._require(found, modes.S_IWUSR, path)
        host = self._writable(absolute, path)
        if self.full:
            raise failure(errno.ENOSPC, path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        flags |= os.O_APPEND if append else (os.O_TRUNC if truncate else 0)
        number = os.open(host, flags, mode & 0o777 & ~0o022)
        return cast(BinaryIO, WrittenFile(number, "ab" if append else "wb", self._storage.changed))

    def check_room(self, count: int = 0) -> None:
        """Raise OSError ENOSPC when `count` more bytes do not fit the phone, or the host.

        The host's free space is looked at once every 64 MiB, so `cat /dev/zero > f` ends.
        """
        self._unchecked_bytes += count
        if self._unchecked_bytes >= HOST_CHECK_BYTES:
            self._unchecked_bytes = 0
            if shutil.disk_usage(self._root).free < HOST_RESERVE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _require(self, found: FileStat, bit: int, path: str) -> None:
        if self.uid != UID_ROOT and not found.mode & bit:
            raise failure(errno.EACCES, path)

    # --- changing the tree ---

    def mkdir(self, path: str, cwd: str = "/", *, mode: int = 0o777) -> None:
        """Make a directory; raise OSError."""
        absolute = self.resolve(path.rstrip("/") or "/", cwd)
        if self._lstat(absolute) is not None:
            raise failure(errno.EEXIST, path)
        host = self._writable(absolute, path)
        self.check_room()
        host.mkdir(mode & 0o777)
        self._storage.changed()

    def unlink(self, path: str, cwd: str = "/") -> None:
        """Remove a file or a link; raise OSError."""
        absolute = self.resolve(path, cwd, follow=False)
        found = self._lstat(absolute)
        if found is None:
            raise failure(errno.ENOENT, path)
        if found.is_dir:
            raise failure(errno.EISDIR, path)
        self._writable(absolute, path).unlink()
        self._storage.changed()

    def rmdir(self, path: str, cwd: str = "/") -> None:
        """Remove an empty directory; raise OSError."""
        absolute = self.resolve(path, cwd, follow=False)
        if self._lstat(absolute) is None:
            raise failure(errno.ENOENT, path)
        self._writable(absolute, path).rmdir()
        self._storage.changed()

    def rename(self, source: str, target: str, cwd: str = "/") -> None:
        """Move within the writable places; raise OSError."""
        start = self.resolve(source, cwd, follow=False)
        if self._lstat(start) is None:
            raise failure(errno.ENOENT, source)
        end = self.resolve(target, cwd, follow=False)
        self._writable(start, source).rename(self._writable(end, target))
        self._storage.changed()

    def symlink(self, target: str, path: str, cwd: str = "/") -> None:
        """Make a symbolic link whose text is a phone path; raise OSError."""
        absolute = self.resolve(path, cwd, follow=False)
        if self._lstat(absolute) is not None:
            raise failure(errno.EEXIST, path)
        os.symlink(target, self._writable(absolute, path))  # noqa: PTH211 - the text is a phone path

    def link(self, source: str, path: str, cwd: str = "/") -> None:
        """Make a hard link; raise OSError."""
        start = self.resolve(source, cwd)
        end = self.resolve(path, cwd, follow=False)
        if self._lstat(end) is not None:
            raise failure(errno.EEXIST, path)
        os.link(self._writable(start, source), self._writable(end, path), follow_symlinks=False)

    def chmod(self, path: str, mode: int, cwd: str = "/") -> None:
        """Set permission bits; raise OSError."""
        absolute = self.resolve(path, cwd)
        if self._lstat(absolute) is None:
            raise failure(errno.ENOENT, path)
        self._writable(absolute, path).chmod(mode & 0o777)

    def set_times(self, path: str, mtime: float, cwd: str = "/", *, follow: bool = True) -> None:
        """Set access and modification time, seconds since 1970; raise OSError."""
        absolute = self.resolve(path, cwd, follow=follow)
        if self._lstat(absolute) is None:
            raise failure(errno.ENOENT, path)
        os.utime(self._writable(absolute, path), (mtime, mtime), follow_symlinks=False)
        self._storage.changed()

    def usage(self, path: str) -> tuple[int, int]:
        """Return (total, free) bytes of the file system that holds a path."""
        total = 128 * 10**9 if self._host(self.resolve(path)) is not None else 3 * 10**9
        return total, 0 if self.full or self._host(self.resolve(path)) is None else total * 3 // 5
