"""Where an adb server listens, and how people write that down."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.errors import ConfigError
from agent.text import one_line

_PORT = re.compile(r"[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where an adb server listens."""

    host: str = "127.0.0.1"
    port: int = 5037

    @classmethod
    def parse(cls, text: str) -> ServerAddress:
        """Read `host:port`, `tcp:host:port`, `tcp:port`, `[v6]:port` or a port alone.

        Raises ConfigError for anything else.
        """
        bare = text.strip().removeprefix("tcp:")
        host, _, port = bare.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not _PORT.fullmatch(port) or not 0 < int(port) <= 0xFFFF:
            raise ConfigError(
                f"{one_line(text, 80)!r} is not the address of an adb server.",
                "Write host:port, for example 127.0.0.1:5037.",
            )
        return cls(host or "127.0.0.1", int(port))

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine, so that it may be started here."""
        return self.host in {"127.0.0.1", "localhost", "::1"}

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
