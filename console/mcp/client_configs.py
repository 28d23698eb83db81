"""How MCP clients are told of this server: whose file, under which key, in which form.

Not the writing of files. Invariant: no entry holds the token. Files like `.mcp.json` are shared
with a project, so an entry names the variable that has it, in the client's own notation.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from console.loopback.tokens import MCP_TOKEN

TOKEN_VARIABLE = MCP_TOKEN.variable
OURS = frozenset(
    {
        *("type", "command", "args", "url", "httpUrl", "headers"),
        *("bearer_token_env_var", "http_headers", "env_http_headers"),
    }
)
"""The keys of an entry that say what is started or reached. Others are the person's and stay."""


@dataclass(frozen=True)
class ClientConfig:
    """What one client reads.

    Args:
        title: its name for people.
        file: where it reads, from the folder that `in_project` tells.
        table: the key that holds the servers.
        in_project: the file belongs to the folder that one works in, not to the home directory.
        type_key: the entry says what it is under `type`.
        url_key: the key of an HTTP server's address.
        token: how a header names the token's variable; empty: by `bearer_token_env_var`.
        home_variable: the variable that moves the file's folder.
    """

    title: str
    file: str
    table: str = "mcpServers"
    in_project: bool = False
    type_key: bool = False
    url_key: str = "url"
    token: str = ""
    home_variable: str = ""

    @property
    def is_toml(self) -> bool:
        """Whether the file is TOML; JSON otherwise."""
        return self.file.endswith(".toml")

    def path(self) -> Path:
        """Return the file that it reads here."""
        if self.in_project:
            return Path.cwd() / self.file
        moved = os.environ.get(self.home_variable, "") if self.home_variable else ""
        return Path(moved) / Path(self.file).name if moved else Path.home() / self.file

    def over_pipes(self, options: list[str], places: Mapping[str, str]) -> dict[str, object]:
        """Return the entry with which it starts `switchboard mcp` itself.

        Args:
            places: the variables that say where Switchboard's own files are. Clients start servers
                with few variables of the shell.
        """
        command, *arguments = program()
        entry: dict[str, object] = {"type": "stdio"} if self.type_key else {}
        entry |= {"command": command, "args": [*arguments, "mcp", *options]}
        return entry | ({"env": dict(places)} if places else {})

    def over_http(self, url: str) -> dict[str, object]:
        """Return the entry with which it reaches `switchboard mcp --http`."""
        entry: dict[str, object] = {"type": "http"} if self.type_key else {}
        entry[self.url_key] = url
        if self.token:
            return entry | {"headers": {"Authorization": f"Bearer {self.token}"}}
        return entry | {"bearer_token_env_var": TOKEN_VARIABLE}


CLIENTS: Mapping[str, ClientConfig] = {
    "claude-code": ClientConfig(
        "Claude Code", ".mcp.json", in_project=True, type_key=True, token=f"${{{TOKEN_VARIABLE}}}"
    ),
    "codex": ClientConfig(
        "Codex", ".codex/config.toml", table="mcp_servers", home_variable="CODEX_HOME"
    ),
    "cursor": ClientConfig("Cursor", ".cursor/mcp.json", token=f"${{env:{TOKEN_VARIABLE}}}"),
    "gemini": ClientConfig(
        "Gemini CLI", ".gemini/settings.json", url_key="httpUrl", token=f"${TOKEN_VARIABLE}"
    ),
    "vscode": ClientConfig(
        "VS Code",
        ".vscode/mcp.json",
        table="servers",
        in_project=True,
        type_key=True,
        token=f"${{env:{TOKEN_VARIABLE}}}",
    ),
}
"""By the name that the command line is told."""


def program() -> list[str]:
    """Return the command line of this installation, which works in any folder and any PATH."""
    # Beside the interpreter, as it was called: a virtual environment's is a link to another's.
    script = Path(sys.executable).absolute().with_name("switchboard")
    if script.is_file() and os.access(script, os.X_OK):
        return [str(script)]
    return [str(Path(sys.executable).absolute()), "-m", "console"]
