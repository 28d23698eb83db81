"""docs/settings.md: every setting, made from the settings themselves."""

from enum import Enum
from typing import Annotated, Literal, get_args, get_origin

from agent.config import KEYS
from agent.settings import Key

_HEAD = """# Settings

Made by `switchboard protocol settings`. A setting comes from, in this order: the command line, the
environment, the settings file, the default. Its variable in the environment is `SWITCHBOARD_` and
its name in capitals with `_` for `.`: `SWITCHBOARD_RUN_MAX_STEPS` sets `run.max_steps`. A list is
separated by commas there. Only the file can set `safety.apps`,
`safety.reviewer_command`, `notices.command`, `notices.channels` and `mcp.servers`.

The settings file is TOML, with a table for each section:

```toml
[run]
answer_timeout_s = 120
```

`switchboard doctor` prints its path. `SWITCHBOARD_CONFIG` and `--config` name another file; with
`SWITCHBOARD_DATA_DIR` or `--data-dir` it is `config.toml` in that directory. In the console,
`set run.max_steps 40` in the palette (`ctrl+p`) changes a setting and writes it into the file.
"""


def as_markdown() -> str:
    """Return the page: a table for each section, in the order of the settings file."""
    lines = [_HEAD]
    section = ""
    for key in KEYS.values():
        named = key.name.partition(".")[0]
        if named != section:
            section = named
            lines += [f"## `{section}`", "", "| setting | default | meaning |", "|---|---|---|"]
        lines.append(f"| `{key.name}` | {_default(key)} | {_meaning(key)} |")
        if key.name == _last_of(section):
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _last_of(section: str) -> str:
    return [name for name in KEYS if name.partition(".")[0] == section][-1]


def _default(key: Key) -> str:
    value = key.default.value if isinstance(key.default, Enum) else key.default
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"`{value}`" if isinstance(value, int | str) and value != "" else "–"


def _meaning(key: Key) -> str:
    choices = " ".join(f"`{one}`" for one in _choices(key.type))
    said = key.description.replace("|", "\\|")
    return f"{said} One of {choices}." if choices else said


def _choices(kind: object) -> tuple[str, ...]:
    if get_origin(kind) is Annotated:
        return _choices(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return tuple(str(one) for one in get_args(kind) if one != "")
    return (
        tuple(one.value for one in kind)
        if isinstance(kind, type) and issubclass(kind, Enum)
        else ()
    )
