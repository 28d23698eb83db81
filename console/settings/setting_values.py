"""Settings as an operator types and reads them, and the writing of one from the console.

Not the checks, which are `agent.config`'s. Invariant: what is written is what was checked.
"""

from typing import TYPE_CHECKING

from agent.config import KEYS, parse_setting, write_setting
from agent.errors import ConfigError
from agent.text import one_line

if TYPE_CHECKING:
    from agent.settings import Settings
    from console.base_app import ConsoleApp

AT_ONCE = "ui.theme"  # What is changed at once; the rest counts from the next start.


def as_typed(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def value_in_force(settings: "Settings | None", name: str) -> str:
    """Return a value as it is typed, as this process has it.

    Of a secret one, that there is one; of a secret table, the names in it.
    """
    value: object = settings
    for part in name.split("."):
        value = getattr(value, part, None)
    if KEYS[name].is_secret:
        if value and isinstance(value, dict):
            return f"{', '.join(value)}: set, not shown"
        return "set, not shown" if value else ""
    return as_typed(value)


def write_typed(app: "ConsoleApp", name: str, text: str) -> str:
    """Check a typed value, write it to the settings file and say so.

    Returns:
        The value as it was written.

    Raises:
        ConfigError: it cannot be used, the file cannot be written, or there is none.
    """
    settings = app.settings
    if settings is None:
        raise ConfigError("This console has no settings.", "Start it with the switchboard command.")
    if name in KEYS and KEYS[name].is_secret:
        raise ConfigError(
            f"{name} may contain a password and cannot be set here.",
            f"Write it into {settings.config_file}, or set {KEYS[name].variable}.",
        )
    if name == AT_ONCE and text and text not in app.available_themes:
        known = ", ".join(sorted(app.available_themes))
        raise ConfigError(f"There is no theme {one_line(text, 40)!r}.", f"Themes: {known}")
    value = parse_setting(name, text)
    write_setting(settings.config_file, name, value)
    written = as_typed(value)
    app.written[name] = written
    when = ""
    if name == AT_ONCE:
        app.theme = text or app.theme
    else:
        when = ", from the next start on"
    app.say(f"{name} is {written or 'empty'} in {settings.config_file}{when}.")
    return written
