"""The settings of a command: what the group's own options and the command's say, over the rest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from agent.config import Settings, load_settings


def settings_for(ctx: click.Context, overrides: Mapping[str, object] | None = None) -> Settings:
    """Read the settings for a command. Raises ConfigError."""
    said: dict[str, str | None] = ctx.find_root().obj or {}
    config = said.get("config")
    place: dict[str, object] = {"data_dir": said.get("data_dir")}
    if said.get("fleet"):
        from console.core.store_choice import said_on_the_line

        place["store.dsn"] = said_on_the_line(said["fleet"])
    return load_settings(
        overrides={**place, **(overrides or {})},
        config_file=Path(config) if config else None,
    )
