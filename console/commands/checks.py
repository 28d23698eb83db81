"""What `switchboard doctor` looks at beyond the devices: settings, store, model and terminal.

Not the repair; the devices' own findings are `agent.devices.health.doctor`'s. Invariants: each
check ends within a bound, raises nothing, and gives the remedy with what is wrong; nothing that is
started stays.
"""

import asyncio
import os
import shutil
import sys

import click

from agent.config import PILOT, Settings, load_settings
from agent.devices.adb.client import ServerAddress
from agent.devices.health.doctor import Finding
from agent.devices.health.doctor import examine as examine_devices
from agent.errors import SwitchboardError
from agent.extras import EXTRAS, is_installed
from agent.text import counted, one_line
from console.core.command_settings import settings_for
from console.terminal.ascii_fallback import has_unicode, own_locale

STORE_BOUND_S = 15.0
NEEDED = frozenset({"python", "settings", "adb", "data directory", "store", "model"})
"""What must be in order for anything to work; the rest may be wanted later."""

_KEPT_VARIABLES = ("SWITCHBOARD_DATA_DIR", "ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_PORT")


async def examine(ctx: click.Context) -> list[Finding]:
    """Make every check, in the order in which a person would mend things."""
    try:
        settings = settings_for(ctx)
        there = "" if settings.config_file.exists() else " (none; defaults are used)"
        found = [Finding(name="settings", ok=True, detail=f"{settings.config_file}{there}")]
    except SwitchboardError as error:
        found = [_failing("settings", error)]
        # An empty file instead of the one that cannot be used, so that the rest can be looked at.
        kept = {name: os.environ.get(name, "") for name in _KEPT_VARIABLES}
        settings = load_settings(environ={**kept, "SWITCHBOARD_CONFIG": os.devnull})
    addresses = [ServerAddress.parse(server) for server in settings.adb.server]
    found += await examine_devices(settings.data_dir, addresses, adb_setting=settings.adb.path)
    found += [await _store(settings), _model(settings), _extras()]
    if found[0].ok and is_installed("mcp"):
        found += [await _mcp(settings), *await _mcp_servers(settings)]
    return [*found, _terminal()]


async def _mcp(settings: Settings) -> Finding:
    """Start the MCP server as a client would."""
    from console.mcp.client_configs import program
    from console.mcp.round_trip import round_trip

    command = [*program(), "mcp"]
    said = " ".join(command)
    made = await round_trip(command, settings.data_dir, settings.config_file)
    if made.trouble:
        detail = f"{said}: {one_line(made.trouble, 1000)}"
        remedy = "Start it by hand, and see what it says; what it needs: pip install --upgrade "
        remedy += "'switchboard-console[mcp]'"
        return Finding(name="mcp", ok=False, detail=detail, remedy=remedy)
    core = f"the core of process {made.owner}" if made.owner else "an empty core of its own"
    detail = f"{said} offers {made.tools} tools after {made.took_s:.1f} s, with {core}"
    return Finding(name="mcp", ok=True, detail=detail)


async def _mcp_servers(settings: Settings) -> list[Finding]:
    """Start each MCP server of the settings, as a turn does that is given its tools."""
    from agent.mcp.server_checks import examine_servers

    return [
        Finding(
            name=f"mcp server {one.name}",
            ok=not one.trouble,
            detail=one.trouble or f"offers {counted(len(one.tools), 'tool')}",
            remedy=f"Check mcp.servers.{one.name} in {settings.config_file}.",
        )
        for one in await examine_servers(settings.mcp.servers)
    ]


def _extras() -> Finding:
    """Return which extras are there; one that is not is no fault."""
    there = [name for name in EXTRAS if is_installed(name)]
    absent = [f"{name} ({EXTRAS[name].purpose})" for name in EXTRAS if name not in there]
    detail = f"installed: {', '.join(there) or 'none'}"
    if absent:
        detail += f"; not: {', '.join(absent)}; pip install 'switchboard-console[NAME]'"
    return Finding(name="extras", ok=True, detail=detail)


def _failing(name: str, error: SwitchboardError) -> Finding:
    return Finding(
        name=name,
        ok=False,
        detail=one_line(error.message, 1000),
        remedy=one_line(error.remedy, 1000),
    )


async def _store(settings: Settings) -> Finding:
    from agent.store.database.lock import owner_pid
    from agent.store.embedded.sqlite_store import DATABASE_NAME, SqliteStore

    if settings.store.dsn:
        return await _database(settings)
    where = settings.data_dir / DATABASE_NAME
    owner = owner_pid(settings.data_dir)
    if owner is None and not where.exists():
        return Finding(name="store", ok=True, detail=f"{where} will be made when it is needed")
    try:
        async with asyncio.timeout(STORE_BOUND_S):
            pictures = await _pictures(settings)
            if owner is not None:
                detail = f"{where}, open in process {owner}, {pictures}"
                return Finding(name="store", ok=True, detail=detail)
            async with SqliteStore.open(settings.data_dir) as store:
                sessions = len(await store.sessions(limit=10_000))
    except SwitchboardError as error:
        return _failing("store", error)
    except TimeoutError:
        remedy = "See whether its disk answers."
        return Finding(name="store", ok=False, detail=f"{where} does not open", remedy=remedy)
    detail = f"{where}, {counted(sessions, 'session')}, {pictures}"
    return Finding(name="store", ok=True, detail=detail)


async def _database(settings: Settings) -> Finding:
    """Look whether the database that the settings name can be worked on."""
    from agent.store.database.lock import owner_pid
    from console.core.store_choice import host_name, open_stored

    try:
        async with asyncio.timeout(STORE_BOUND_S), open_stored(settings) as store:
            sessions = len(await store.sessions(limit=10_000))
            size = await store.blobs.size_bytes()
    except SwitchboardError as error:
        return _failing("store", error)
    except TimeoutError:
        remedy = "See whether its server answers."
        return Finding(name="store", ok=False, detail="the database does not open", remedy=remedy)
    owner = owner_pid(settings.data_dir)
    working = f"process {owner} is its core" if owner is not None else "no core works on it here"
    detail = (
        f"the PostgreSQL database of store.dsn, {counted(sessions, 'session')}, "
        f"pictures {size / 1e9:.2f} GB; this is host {host_name(settings)!r}, {working}"
    )
    return Finding(name="store", ok=True, detail=detail)


async def _pictures(settings: Settings) -> str:
    """Return how much the pictures and caches of all sessions take, and how long they are kept."""
    from agent.store.embedded.blobs import BlobFiles

    took = await asyncio.to_thread(BlobFiles(settings.data_dir / "blobs").size_bytes)
    kept = settings.retention
    bounds = f"kept for {counted(kept.keep_days, 'day')}, up to {kept.keep_gb:g} GB"
    return f"pictures {took / 1e9:.2f} GB ({bounds})"


def _model(settings: Settings) -> Finding:
    from agent.errors import ConfigError
    from agent.models.catalog import catalog
    from agent.models.choice import key_of, login_file
    from agent.models.keys import Source, variables
    from agent.models.login import TokenFile
    from agent.models.login_origin import not_made_for
    from agent.models.session_endpoint import endpoint_of

    model = settings.model
    if model.name == PILOT:
        detail = "pilot, the offline stand-in; to connect a model: switchboard models setup"
        return Finding(name="model", ok=True, detail=detail)
    name, notice = catalog().current(model.name)
    endpoint = endpoint_of(settings, name)
    ending = catalog().ending(name)
    if ending is not None and ending.on is not None:
        notice = f"It will be withdrawn on {ending.on}; {ending.successor} takes its place"
    detail = f"{name} at {endpoint.base_url} ({endpoint.provider}, {endpoint.wire} wire)"
    if os.environ.get("OPENAI_BASE_URL") and os.environ["OPENAI_BASE_URL"] == model.base_url:
        detail += ", from OPENAI_BASE_URL"
    try:
        key = key_of(settings, endpoint)
        login = TokenFile(login_file(settings)).read()
    except ConfigError as error:
        return Finding(
            name="model", ok=False, detail=f"{detail}; {error.message}", remedy=error.remedy
        )
    if key.source is not Source.NONE:
        detail += f"; key from the {key.source.value}"
    elif login is not None and login.is_for(endpoint.base_url):
        detail += "; signed in"
    elif login is not None and not endpoint.is_near:
        mismatch = not_made_for(login.origin, login.issuer, endpoint.base_url)
        return Finding(
            name="model", ok=False, detail=f"{detail}; {mismatch.message}", remedy=mismatch.remedy
        )
    elif not model.base_url and not endpoint.is_local:
        variable = variables(endpoint, model.api_key_env)[0]
        return Finding(
            name="model",
            ok=False,
            detail=f"{detail}; there is no key: ${variable} is not set",
            remedy=f"Put the key into {variable}, or run: switchboard models setup",
        )
    return Finding(name="model", ok=True, detail=f"{detail}. {notice}".removesuffix(". "))


def _terminal() -> Finding:
    name = os.environ.get("TERM", "")
    size = shutil.get_terminal_size()
    if not sys.stdout.isatty():
        return Finding(name="terminal", ok=True, detail="none here: the output is captured")
    remedy = ""
    if name in {"", "dumb"}:
        remedy = "Use a terminal that draws, and set TERM to what it is."
    elif not has_unicode(own_locale()):
        remedy = "Set a UTF-8 locale, like LANG=C.UTF-8."
    elif size.columns < 60 or size.lines < 20:
        remedy = "Make it at least 60×20; 160×50 shows everything."
    colours = os.environ.get("COLORTERM") or "256 colours or fewer"
    if not os.environ.get("COLORTERM") and name.startswith("xterm") and "256color" not in name:
        colours = "16 colours by its name, so phones are shown as text; most are xterm-256color"
    detail = f"{name or 'no TERM'}, {size.columns}×{size.lines}, {colours}"
    return Finding(name="terminal", ok=not remedy, detail=detail, remedy=remedy)
