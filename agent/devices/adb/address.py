"""Where an adb server listens, and how people write that down."""

import re
from dataclasses import dataclass
from pathlib import Path

from agent.errors import ConfigError
from agent.text import one_line

_PORT = re.compile(r"[0-9]{1,5}")
_UNIX = "localfilesystem:"  # adb's own name for a unix socket that has a path (SERVICES.TXT).


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where an adb server listens: a TCP port, or a unix socket when `path` is not empty."""

    host: str = "127.0.0.1"
    port: int = 5037
    path: str = ""

    @classmethod
    def unix(cls, path: Path) -> "ServerAddress":
        """Return the address of a unix socket on this machine."""
        return cls(port=0, path=str(path.absolute()))

    @classmethod
    def parse(cls, text: str) -> "ServerAddress":
        """Read `host:port`, `tcp:host:port`, `tcp:port`, `[v6]:port`, a port alone, or
        `localfilesystem:/path`.

        Raises ConfigError for anything else.
        """
        if text.strip().startswith(_UNIX):
            path = Path(text.strip().removeprefix(_UNIX))
            if not path.is_absolute() or "\0" in str(path):
                raise ConfigError(
                    f"{one_line(text, 80)!r} is not the address of an adb server.",
                    "Write the whole path, for example localfilesystem:/run/user/1000/adb.sock.",
                )
            return cls.unix(path)
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

    @property
    def adb_options(self) -> str:
        """Return the options of the adb command that lead to this server, for error messages."""
        if self.path:
            return f" -L {self}"
        return "" if self.port == ServerAddress().port else f" -P {self.port}"

    def __str__(self) -> str:
        if self.path:
            return f"{_UNIX}{self.path}"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
