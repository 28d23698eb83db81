"""A network namespace for one host, whose ways to the database and to its phones can be cut."""

import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tests.orphans import namespace_name


class Namespace(NamedTuple):
    """A host's place, joined to the rest by two cables."""

    name: str
    database: str  # The address of our end of the cable to the database.
    phones: str  # The address of our end of the cable to the phones.

    def around(self) -> tuple[str, ...]:
        """Return the words before a command that is to run there."""
        return ("ip", "netns", "exec", self.name)

    def cut(self) -> None:
        """Cut the way to the database; the phones stay in reach."""
        _ip("link", "set", f"{self.name}d", "down")

    def heal(self) -> None:
        _ip("link", "set", f"{self.name}d", "up")


def why_not() -> str:
    """Return why this computer lets nobody make a namespace; empty where it does."""
    if os.geteuid() != 0:
        return "network namespaces take root"
    name = namespace_name(random.randrange(256))
    done = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"the kernel makes no network namespace: {done.stderr.strip()}"
    _ip("netns", "del", name)
    return ""


@contextmanager
def namespace() -> Iterator[Namespace]:
    net = random.randrange(1, 250)
    name = namespace_name(net)
    made = Namespace(name, f"10.201.{net}.1", f"10.202.{net}.1")
    _ip("netns", "add", name)
    try:
        for kind, address in (("d", made.database), ("p", made.phones)):
            ours, theirs = f"{name}{kind}", f"{name}{kind}t"
            _ip("link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", name)
            _ip("addr", "add", f"{address}/24", "dev", ours)
            _ip("link", "set", ours, "up")
            _ip("-n", name, "addr", "add", f"{address[:-1]}2/24", "dev", theirs)
            _ip("-n", name, "link", "set", theirs, "up")
        _ip("-n", name, "link", "set", "lo", "up")
        yield made
    finally:
        _ip("netns", "del", name)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
