"""The read-only part of the phone's file tree: directories, links and files made on demand.

Not the writable part (see `files`). Invariant: shared by every phone of the process; contents
that differ between phones are functions of the phone and cost nothing until they are read.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

OwnerT = TypeVar("OwnerT")


class Device(StrEnum):
    """Character devices that the shell can open."""

    NULL = "null"
    ZERO = "zero"
    RANDOM = "random"
    TTY = "tty"


@dataclass(frozen=True, slots=True)
class Directory:
    """A directory; `mode` are permission bits."""

    mode: int = 0o755
    listable: bool = True


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link."""

    target: str


@dataclass(frozen=True, slots=True)
class CharDevice:
    """A character device."""

    device: Device


@dataclass(frozen=True, slots=True)
class GeneratedFile(Generic[OwnerT]):
    """A file whose bytes are made from the phone when it is read."""

    content: Callable[[OwnerT], bytes]
    mode: int = 0o444


Node = Directory | Link | CharDevice | GeneratedFile[OwnerT]


@dataclass(frozen=True, slots=True)
class Growing(Generic[OwnerT]):
    """What comes and goes below a directory: its nodes by path, and the names in a directory."""

    node: Callable[[OwnerT, str], Node[OwnerT] | None]
    names: Callable[[OwnerT, str], set[str]]


_DIRECTORIES = [
    "/acct",
    "/apex",
    "/cache",
    "/config",
    "/data",
    "/data/app",
    "/data/data",
    "/data/local",
    "/data/local/tmp",
    "/data/local/traces",
    "/data/media",
    "/data/media/0",
    "/data/misc",
    "/data/system",
    "/data/tombstones",
    "/data/user",
    "/debug_ramdisk",
    "/dev",
    "/dev/socket",
    "/linkerconfig",
    "/metadata",
    "/mnt",
    "/mnt/media_rw",
    "/odm",
    "/odm/etc",
    "/oem",
    "/postinstall",
    "/proc",
    "/product",
    "/product/app",
    "/product/priv-app",
    "/second_stage_resources",
    "/storage",
    "/storage/emulated",
    "/storage/emulated/0",
    "/storage/self",
    "/sys",
    "/sys/class",
    "/sys/class/power_supply",
    "/sys/class/power_supply/battery",
    "/system",
    "/system/app",
    "/system/bin",
    "/system/etc",
    "/system/etc/security",
    "/system/fonts",
    "/system/framework",
    "/system/lib",
    "/system/lib64",
    "/system/priv-app",
    "/system/product",
    "/system/system_ext",
    "/system/usr",
    "/system/xbin",
    "/system_ext",
    "/tmp",
    "/vendor",
    "/vendor/bin",
    "/vendor/etc",
]

_PRIVATE = frozenset(
    [
        "/data",
        "/data/app",
        "/data/data",
        "/data/media",
        "/data/media/0",
        "/data/misc",
        "/data/system",
        "/data/user",
        "/data/tombstones",
        "/cache",
        "/metadata",
        "/mnt/media_rw",
        "/debug_ramdisk",
        "/tmp",
    ]
)

_LINKS = {
    "/bin": "/system/bin",
    "/bugreports": "/data/user_de/0/com.android.shell/files/bugreports",
    "/d": "/sys/kernel/debug",
    "/data/user/0": "/data/data",
    "/etc": "/system/etc",
    "/sdcard": "/storage/self/primary",
    "/mnt/sdcard": "/storage/self/primary",
    "/storage/self/primary": "/storage/emulated/0",
    "/system/vendor": "/vendor",
}

_DEVICES = {
    "/dev/null": Device.NULL,
    "/dev/zero": Device.ZERO,
    "/dev/random": Device.RANDOM,
    "/dev/urandom": Device.RANDOM,
    "/dev/tty": Device.TTY,
}


class Tree(Generic[OwnerT]):
    """The read-only nodes by absolute path, and the children of each directory."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node[OwnerT]] = {"/": Directory()}
        self._children: dict[str, set[str]] = {"/": set()}
        self._growing: dict[str, Growing[OwnerT]] = {}
        for path in _DIRECTORIES:
            self.add(path, Directory(0o771 if path in _PRIVATE else 0o755, path not in _PRIVATE))
        for path, target in _LINKS.items():
            self.add(path, Link(target))
        for path, device in _DEVICES.items():
            self.add(path, CharDevice(device))

    def add(self, path: str, node: Node[OwnerT]) -> None:
        """Add one node; its directory has to be there already or is added."""
        parent, _, name = path.rpartition("/")
        parent = parent or "/"
        if parent not in self._nodes:
            self.add(parent, Directory())
        self._nodes[path] = node
        self._children.setdefault(parent, set()).add(name)
        if isinstance(node, Directory):
            self._children.setdefault(path, set())

    def add_programs(self, names: Iterable[str]) -> None:
        """Add a link to toybox in /system/bin for each command of the shell."""
        self.add("/system/bin/toybox", GeneratedFile(lambda _: b"\x7fELF", 0o755))
        for name in names:
            if f"/system/bin/{name}" not in self._nodes:
                self.add(f"/system/bin/{name}", Link("toybox"))

    def add_growing(self, directory: str, growing: Growing[OwnerT]) -> None:
        """Let a directory's further contents depend on the phone, as those of /proc do."""
        self._growing[directory] = growing

    def get(self, path: str, owner: OwnerT) -> Node[OwnerT] | None:
        """Return the node of an absolute, normalized path on the owner's phone."""
        found = self._nodes.get(path)
        if found is None and (growing := self._growing_at(path)) is not None:
            return growing.node(owner, path)
        return found

    def children(self, path: str, owner: OwnerT) -> set[str]:
        """Return the names in a directory on the owner's phone."""
        growing = self._growing_at(path)
        return self._children.get(path, set()) | (growing.names(owner, path) if growing else set())

    def _growing_at(self, path: str) -> Growing[OwnerT] | None:
        return self._growing.get(f"/{path[1:].partition('/')[0]}") if self._growing else None
