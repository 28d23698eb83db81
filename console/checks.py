"""What `switchboard doctor` looks at beyond the devices: settings, store, model and terminal.

Not the repair; the devices' own findings are `agent.devices.doctor`'s. Invariants: each check ends
within a bound, raises nothing, and gives the remedy with what is wrong; nothing is started.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys

import click

from agent.config import PILOT, Settings, load_settings
from agent.devices.client import ServerAddress
from agent.devices.doctor import Finding
from agent.devices.doctor import examine as examine_devices
from agent.errors import SwitchboardError
from agent.text import one_line
from console.lettering import has_unicode, own_locale
from console.setup import settings_for

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
    return [*found, await _store(settings), _model(settings), _terminal()]


def _failing(name: str, error: SwitchboardError) -> Finding:
    return Finding(
        name=name,
        ok=False,
        detail=one_line(error.message, 1000),
        remedy=one_line(error.remedy, 1000),
    )


async def _store(settings: Settings) -> Finding:
    from agent.store.lock import owner_pid
    from agent.store.sqlite import DATABASE_NAME, SqliteStore

    where = settings.data_dir / DATABASE_NAME
    owner = owner_pid(settings.data_dir)
    if owner is not None:
        return Finding(name="store", ok=True, detail=f"{where}, open in process {owner}")
    if not where.exists():
        return Finding(name="store", ok=True, detail=f"{where} will be made when it is needed")
    try:
        async with asyncio.timeout(STORE_BOUND_S), SqliteStore.open(settings.data_dir) as store:
            sessions = len(await store.sessions(limit=10_000))
    except SwitchboardError as error:
        return _failing("store", error)
    except TimeoutError:
        remedy = "See whether its disk answers."
        return Finding(name="store", ok=False, detail=f"{where} does not open", remedy=remedy)
    return Finding(name="store", ok=True, detail=f"{where}, {sessions} sessions")


def _model(settings: Settings) -> Finding:
    from agent.errors import ConfigError
    from agent.models.choice import endpoint_of, key_of, login_file
    from agent.models.keys import Source
    from agent.models.login import TokenFile
    from agent.models.names import current_name

    model = settings.model
    if model.name == PILOT:
        detail = "pilot, the offline stand-in; set OPENAI_API_KEY or model.base_url for a model"
        return Finding(name="model", ok=True, detail=detail)
    name, notice = current_name(model.name)
    endpoint = endpoint_of(settings, name)
    detail = f"{name} at {endpoint.base_url} ({endpoint.provider}, {endpoint.wire} wire)"
    if os.environ.get("OPENAI_BASE_URL") and os.environ["OPENAI_BASE_URL"] == model.base_url:
        detail += ", from OPENAI_BASE_URL"
    try:
        key = key_of(settings, endpoint)
        signed_in = TokenFile(login_file(settings)).read() is not None
    except ConfigError as error:
        return Finding(
            name="model", ok=False, detail=f"{detail}; {error.message}", remedy=error.remedy
        )
    if key.source is not Source.NONE:
        detail += f"; key from the {key.source.value}"
    elif signed_in:
        detail += "; signed in"
    elif not model.base_url:
        return Finding(
            name="model",
            ok=False,
            detail=f"{detail}; there is no key: ${model.api_key_env} is not set",
            remedy=f"Put the key into {model.api_key_env}, or run: switchboard login --key",
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
        remedy = "Make it 60×20 at the least; 160×50 shows everything."
    colours = os.environ.get("COLORTERM") or "256 colours or fewer"
    detail = f"{name or 'no TERM'}, {size.columns}×{size.lines}, {colours}"
    return Finding(name="terminal", ok=not remedy, detail=detail, remedy=remedy)
