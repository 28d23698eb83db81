"""Change one server's entry in a client's configuration file, and nothing else in it.

Not the knowledge of clients. Invariants: what is written reads back as what was there plus the one
change, or nothing is written; a file that cannot be read whole is left as it is; what was there is
kept beside it. Comments of TOML stay; JSON with comments is refused.
"""

import json
import math
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent.errors import ConfigError
from console.mcp.client_configs import OURS

_BOM = "\ufeff"
_MAX_BYTES = 16 * 1024 * 1024


def fragment(table: str, name: str, entry: Mapping[str, object], *, toml: bool) -> str:
    """Return an entry as a file of its own, to be read or pasted by a person."""
    return changed("", table, name, entry, toml=toml, where="the entry")


def changed(
    text: str, table: str, name: str, entry: Mapping[str, object] | None, *, toml: bool, where: str
) -> str:
    """Return a file's text with a server's entry set, or taken out where it is None.

    Keys of an earlier entry that do not say what is started or reached stay.

    Args:
        text: what the file holds; may be empty.
        table: the key that holds the servers.
        where: the file's name, for errors.

    Raises:
        ConfigError: the text cannot be read, or not be changed without changing more.
    """
    before = _parsed(text, toml=toml, where=where)
    servers = before.get(table, {})
    if not isinstance(servers, dict) or not isinstance(servers.get(name, {}), dict):
        what = table if not isinstance(servers, dict) else f"{table}.{name}"
        kind = "table" if toml else "JSON object"
        raise ConfigError(
            f"{where}: {what} is not a {kind}.",
            f"Make it a {kind}, or remove it. Nothing is changed.",
        )
    if entry is None:
        if name not in servers:
            return text
        wanted = {**before, table: {key: servers[key] for key in servers if key != name}}
    else:
        whole = merged(servers.get(name, {}), entry)
        if servers.get(name) == whole:
            return text
        wanted = {**before, table: {**servers, name: whole}}
    new = _toml(text, table, name, wanted, where) if toml else _json(text, wanted)
    found = _parsed(new, toml=toml, where=where)
    # In TOML a table that only held tables is gone with the last of them.
    if found != wanted and (wanted[table] or {table: {}, **found} != wanted):
        raise _unsafe(where)
    return new


def merged(old: Mapping[str, object], new: Mapping[str, object]) -> dict[str, object]:
    """Return an entry with what a person added to the old one."""
    kept = {key: value for key, value in old.items() if key not in OURS}
    both = kept | dict(new)
    old_env, new_env = old.get("env"), new.get("env")
    if isinstance(old_env, dict) and isinstance(new_env, dict):
        both["env"] = old_env | new_env
    return both


def read(path: Path) -> str:
    """Return what a file holds; empty where there is none. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise _unwritable(path, error) from error
    if len(content) > _MAX_BYTES:
        raise ConfigError(
            f"{path} is larger than {_MAX_BYTES >> 20} MiB.",
            "Check that it is the client's configuration file.",
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: byte {error.start} is not UTF-8.",
            "Save the file as UTF-8. Nothing is changed.",
        ) from error


def write(path: Path, text: str, *, was: str) -> Path | None:
    """Put a text in place of what was read; returns where that is kept, None where there was none.

    Raises:
        ConfigError: the file was changed meanwhile, or cannot be written.
    """
    # A link, as dotfiles have them, stays one.
    target = path.resolve()
    if read(target) != was:
        raise ConfigError(f"{path} was changed in the meantime.", "Run the command again.")
    try:
        there = target.exists()
        mode = target.stat().st_mode & 0o777 if there else 0o600
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = _backup(target, was, mode) if there else None
        _replace(target, text, mode)
    except OSError as error:
        raise _unwritable(path, error) from error
    return kept


def _backup(target: Path, text: str, mode: int) -> Path:
    for number in range(1000):
        beside = target.with_name(f"{target.name}.bak{number or ''}")
        with suppress(FileExistsError):
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode())
            return beside
    raise FileExistsError(17, "there are 1000 backups beside it")


def _replace(target: Path, text: str, mode: int) -> None:
    with tempfile.NamedTemporaryFile("wb", dir=target.parent, delete=False) as new:
        try:
            new.write(text.encode())
            new.flush()
            os.fchmod(new.fileno(), mode)
            os.fsync(new.fileno())
            Path(new.name).replace(target)
        except BaseException:
            Path(new.name).unlink()
            raise


def _unwritable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"{path} cannot be read or written: {error.strerror or error}.",
        "Check its mode and its folder's, or paste what --print prints.",
    )


def _unsafe(where: str) -> ConfigError:
    return ConfigError(
        f"{where} cannot be changed without changing more of it.",
        "Paste what --print prints into it. Nothing is changed.",
    )


def _parsed(text: str, *, toml: bool, where: str) -> dict[str, Any]:
    text = text.removeprefix(_BOM)
    if not text.strip():
        return {}
    try:
        found = tomllib.loads(text) if toml else _parsed_json(text)
    except json.JSONDecodeError as error:
        what = f"line {error.lineno}, column {error.colno}: {error.msg}"
        hint = " JSON with comments is not changed: paste what --print prints."
        raise _broken(where, what, hint if _has_comments(text) else "") from error
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise _broken(where, str(error)) from error
    except RecursionError as error:
        raise _broken(where, "it is nested too deeply") from error
    if not isinstance(found, dict):
        raise _broken(where, "line 1, column 1: an object is expected")
    return found


def _broken(where: str, what: str, hint: str = "") -> ConfigError:
    return ConfigError(
        f"{where} cannot be read: {what.rstrip('.')}.", f"Correct it.{hint} Nothing is changed."
    )


def _has_comments(text: str) -> bool:
    return re.search(r"^\s*(//|/\*)|[,{\[\]}\"]\s*(//|/\*)", text, re.MULTILINE) is not None


def _parsed_json(text: str) -> Any:
    return json.loads(
        text, object_pairs_hook=_once, parse_float=_finite, parse_constant=_no_constant
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} occurs twice in one object")
    return found


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the number {digits} is too large")
    return number


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _json(text: str, wanted: dict[str, Any]) -> str:
    """Return JSON in the manner of a text: its indent, line ends and byte order mark."""
    indent = re.search(r"^[ \t]+(?=\S)", text, re.MULTILINE)
    new = json.dumps(wanted, indent=indent.group() if indent else 2, ensure_ascii=False)
    try:
        new.encode()
    except UnicodeEncodeError:
        # Half a surrogate pair can only be written as an escape.
        new = json.dumps(wanted, indent=indent.group() if indent else 2)
    new += "\n" if not text or text.endswith("\n") else ""
    if "\r\n" in text:
        new = new.replace("\n", "\r\n")
    return _BOM + new if text.startswith(_BOM) else new


def _toml(text: str, table: str, name: str, wanted: dict[str, Any], where: str) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    start = _BOM if text.startswith(_BOM) else ""
    try:
        document: Any = tomlkit.parse(text.removeprefix(_BOM))
        if table not in document:
            document[table] = tomlkit.table(is_super_table=True)
        entry = wanted[table].get(name)
        servers = document[table]
        if entry is None:
            del servers[name]
        elif name in servers:
            there = servers[name]
            for key in [key for key in there if key not in entry]:
                del there[key]
            for key, value in entry.items():
                if there.get(key) != value:
                    there[key] = value
        else:
            new = tomlkit.table()
            for key, value in entry.items():
                if isinstance(value, dict):
                    inline = tomlkit.inline_table()
                    inline.update(value)
                    value = inline
                new[key] = value
            servers[name] = new
        return start + tomlkit.dumps(document)
    except (TOMLKitError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise _unsafe(where) from error
