"""Start the MCP server as a client would, list its tools, and end it.

Invariants: it ends within a bound, whatever the server does; where no core runs, the server's core
is one of an empty directory without the operator's phones, so that nothing of theirs is begun.
"""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import msgspec
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from agent.store.database.lock import owner_pid

BOUND_S = 30.0
_NO_PHONES = '[adb]\nserver = ["127.0.0.1:1"]\n'
"""No adb server is there, and Switchboard starts none but at adb's own port."""
_MAX_TOLD = 2000

# The SDK logs what breaks the protocol, with tracebacks; the finding says it.
logging.getLogger("mcp.client").setLevel(logging.CRITICAL)


class RoundTrip(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it.

    Args:
        tools: how many it offers; 0: it did not answer.
        took_s: until they were listed.
        owner: the process whose core it reached; None: one of its own.
        trouble: why it did not answer; the last that it said itself, where it said something.
    """

    tools: int = 0
    took_s: float = 0.0
    owner: int | None = None
    trouble: str = ""


async def round_trip(
    command: Sequence[str], data_dir: Path, config_file: Path, *, bound_s: float = BOUND_S
) -> RoundTrip:
    """Make it.

    Args:
        command: starts the server.
        data_dir: whose core it is to reach, where one runs.
        config_file: the settings in force; may be missing.
    """
    owner = owner_pid(data_dir)
    with TemporaryDirectory(prefix="switchboard-doctor-", ignore_cleanup_errors=True) as empty:
        environment = _empty(Path(empty)) if owner is None else _theirs(data_dir, config_file)
        return await _made(command, environment, owner, bound_s)


def _empty(folder: Path) -> dict[str, str]:
    (folder / "config.toml").write_text(_NO_PHONES, encoding="utf-8")
    return {"SWITCHBOARD_DATA_DIR": str(folder)}


def _theirs(data_dir: Path, config_file: Path) -> dict[str, str]:
    found = {"SWITCHBOARD_DATA_DIR": str(data_dir)}
    return found | ({"SWITCHBOARD_CONFIG": str(config_file)} if config_file.exists() else {})


async def _made(
    command: Sequence[str], environment: Mapping[str, str], owner: int | None, bound_s: float
) -> RoundTrip:
    program, *arguments = command
    server = StdioServerParameters(command=program, args=arguments, env=dict(environment))
    began_s = time.monotonic()
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        trouble = "it closed the connection"
        try:
            async with (
                asyncio.timeout(bound_s),
                stdio_client(server, errlog=said) as (read, write),
                ClientSession(read, write) as session,
            ):
                await session.initialize()
                tools = (await session.list_tools()).tools
                took_s = time.monotonic() - began_s
                if tools:
                    return RoundTrip(tools=len(tools), took_s=took_s, owner=owner)
                trouble = "it offers no tools"
        except TimeoutError:
            trouble = f"it did not answer within {bound_s:g} s"
        except OSError as error:
            trouble = f"it cannot be started: {error.strerror or error}"
        except (MCPError, ExceptionGroup):
            # The pipe broke off: what it said on stderr tells more.
            pass
        said.seek(0)
        lines = said.read(_MAX_TOLD).split("\n")
        told = " ".join(line.strip() for line in lines if line.strip())
        return RoundTrip(owner=owner, trouble=f"{trouble}. {told}" if told else trouble)
