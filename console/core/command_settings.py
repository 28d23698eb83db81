"""The settings of a command: what the group's own options and the command's say, over the rest."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from agent.config import Settings, load_settings
from agent.errors import UsageError

ONLY_HERE = (
    *("audit", "daemon run", "daemon start", "daemon stop", "demo", "drill", "env", "eval"),
    *("fleet", "host", "operators", "store"),
)
"""Commands that work on this computer's data directory or database, and so on no core elsewhere."""


def settings_for(ctx: click.Context, overrides: Mapping[str, object] | None = None) -> Settings:
    """Read the settings for a command.

    Raises:
        ConfigError: they cannot be used.
        UsageError: they name a core on another computer, and the command works on this one.
    """
    said: dict[str, str | None] = ctx.find_root().obj or {}
    config = said.get("config")
    place: dict[str, object] = {"data_dir": said.get("data_dir")}
    if said.get("fleet"):
        from console.core.store_choice import said_on_the_line

        place["store.dsn"] = said_on_the_line(said["fleet"])
    if said.get("core"):
        place["core.address"] = said["core"]
    settings = load_settings(
        overrides={**place, **(overrides or {})}, config_file=Path(config) if config else None
    )
    path = " ".join(ctx.command_path.split()[1:])
    if settings.core.address and any(f"{path} ".startswith(f"{one} ") for one in ONLY_HERE):
        raise UsageError(
            f"'{path}' needs a core on this computer, but another one is set: "
            f"{settings.core.address[:80]}.",
            "Run it there, or leave out --core (core.address, SWITCHBOARD_CORE_ADDRESS).",
        )
    if settings.core.address and settings.store.dsn:
        raise UsageError(
            "A core on another computer and a database are both set.",
            "Leave out --core or --fleet.",
        )
    return settings


def to_run(command: str) -> str:
    """Return a command line that does what it says when it is run next, from a shell like this one.

    It has the options of this command that say where the data is, which core and settings count,
    and, for a resume, where the model is asked.

    Args:
        command: without the program, as `sessions resume 3f2a`.
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return f"switchboard {command}"
    said: dict[str, str | None] = context.find_root().obj or {}
    words = ["switchboard"]
    for name in ("data_dir", "config", "fleet", "core"):
        if value := said.get(name):
            words += [f"--{name.replace('_', '-')}", value]
    line = f"{shlex.join(words)} {command}"
    base_url: str | None = context.params.get("base_url")
    if base_url and command.startswith("sessions resume"):
        from agent.models.session_endpoint import bare

        line += f" --base-url {shlex.quote(bare(base_url))}"
    return line
