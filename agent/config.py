"""Settings: defaults < settings file (TOML) < environment < command line.

Not a store and not a prompt: it reads, checks, and writes one key when told to. Invariant: every
value in a Settings passed the check of its key, whichever layer it came from, and what does not
pass is a ConfigError that names the place, the line, the key and the remedy.
"""

import difflib
import math
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from agent.errors import ConfigError
from agent.settings import DEFAULT_MODEL, KEYS, PILOT, SECTIONS, Key, Settings

__all__ = ["DEFAULT_MODEL", "KEYS", "PILOT", "Settings", "load_settings", "write_setting"]


def load_settings(
    *,
    overrides: Mapping[str, object] | None = None,
    config_file: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Read the settings.

    Args:
        overrides: what the command line says, by dotted key; a None says nothing.
        config_file: a file named on the command line; it must exist, as must the one that
            SWITCHBOARD_CONFIG names.
        environ: the environment; the process's own when left out.

    Raises:
        ConfigError: a value that cannot be used, or a file that cannot be read.
    """
    env = os.environ if environ is None else environ
    values: dict[str, object] = dict(_inherited(env))
    said = {name: value for name, value in (overrides or {}).items() if value is not None}
    moved = _directory(str(said.get("data_dir") or env.get("SWITCHBOARD_DATA_DIR") or ""))
    path, must_exist = _find_file(config_file, env, moved)
    in_file = _from_file(path, must_exist)
    values.update(in_file)
    for key in KEYS.values():
        if env.get(key.variable):
            values[key.name] = _checked(key, env[key.variable], key.variable, is_text=True)
    for name, value in said.items():
        if name not in KEYS:
            raise ConfigError(f"There is no setting {name!r}.", _nearest(name))
        values[name] = _checked(KEYS[name], value, "The command line")
    token = KEYS["operator.token_file"]
    core = in_file.get("core.address")
    is_in_file = token.name not in said and not env.get(token.variable)
    if is_in_file and core and values["core.address"] != core:
        # A token proves who shows it wherever it is shown: the file's is for the file's core.
        values.pop(token.name, None)
    return _build(values, path, moved, env)


def parse_setting(name: str, text: str) -> object:
    """Read what somebody typed as the value of a key.

    Raises ConfigError when the key is unknown or the value does not fit.
    """
    if name not in KEYS:
        raise ConfigError(f"There is no setting {name!r}.", _nearest(name))
    return _checked(KEYS[name], text, "What was typed", is_text=True)


def write_setting(path: Path, name: str, value: object) -> None:
    """Set one key in a settings file, keeping its comments and order; the file may be missing.

    Raises ConfigError when the key is unknown, the value does not fit, or the file is broken or
    cannot be written.
    """
    import tomlkit

    if name not in KEYS:
        raise ConfigError(f"There is no setting {name!r}.", _nearest(name))
    checked = _checked(KEYS[name], value, str(path))
    _from_file(path, must_exist=False)
    try:
        document = tomlkit.parse(_read(path))
    except FileNotFoundError:
        document = tomlkit.document()
    table: Any = document
    section, _, key = name.rpartition(".")
    if section:
        table = document.setdefault(section, tomlkit.table())
    table[key] = list(checked) if isinstance(checked, tuple) else checked
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, delete=False
        ) as new:
            new.write(tomlkit.dumps(document))
        Path(new.name).replace(path)
    except OSError as error:
        raise ConfigError(
            f"{path} could not be written: {error.strerror or error}.",
            "Check the file's directory and its mode.",
        ) from error


def _find_file(named: Path | None, env: Mapping[str, str], moved: Path | None) -> tuple[Path, bool]:
    if named is not None:
        return _expanded(str(named)).absolute(), True
    if env.get("SWITCHBOARD_CONFIG"):
        return _expanded(env["SWITCHBOARD_CONFIG"]).absolute(), True
    if moved is not None:
        return moved / "config.toml", False
    import platformdirs

    return platformdirs.user_config_path("switchboard") / "config.toml", False


def _build(
    values: dict[str, object], path: Path, moved: Path | None, env: Mapping[str, str]
) -> Settings:
    data_dir = moved or _directory(str(values.get("data_dir") or ""))
    if data_dir is None:
        import platformdirs

        data_dir = platformdirs.user_data_path("switchboard")
    tree: dict[str, dict[str, object]] = {section: {} for section in SECTIONS}
    for name, value in values.items():
        section, _, key = name.rpartition(".")
        if section:
            tree[section][key] = value
    sections = msgspec.convert(
        {**tree, "data_dir": str(data_dir), "config_file": str(path)}, Settings, dec_hook=_to_path
    )
    model = sections.model
    if not model.name:
        kept = (path.parent / "keys.toml").exists() or (data_dir / "login.json").exists()
        reachable = bool(model.base_url or env.get(model.api_key_env) or kept)
        model = msgspec.structs.replace(model, name=DEFAULT_MODEL if reachable else PILOT)
    return msgspec.structs.replace(sections, model=model)


def _to_path(kind: type, value: object) -> Path:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise NotImplementedError(f"{kind} cannot be made of {value!r}")


def _directory(text: str) -> Path | None:
    return _expanded(text).absolute() if text else None


def _expanded(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ConfigError(
            f"{text} does not name a home directory.", "Write the full path."
        ) from error


def _inherited(env: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    """Read other programs' variables; a settings file is stronger.

    ADB_SERVER_SOCKET and ANDROID_ADB_SERVER_PORT are adb's own (its `--help` names them).
    """
    socket, port = env.get("ADB_SERVER_SOCKET", ""), env.get("ANDROID_ADB_SERVER_PORT", "")
    address = ""
    if socket:
        kind, _, where = socket.partition(":")
        if kind not in {"tcp", "localfilesystem"} or not where:
            raise ConfigError(
                f"ADB_SERVER_SOCKET is {socket!r}; use tcp:[host:]port or localfilesystem:PATH.",
                "Unset it or set adb.server.",
            )
        if kind == "localfilesystem":
            address = socket
        else:
            address = where if ":" in where else f"127.0.0.1:{where}"
    elif port:
        address = f"{env.get('ANDROID_ADB_SERVER_ADDRESS') or '127.0.0.1'}:{port}"
    if address:
        where = "ADB_SERVER_SOCKET" if socket else "ANDROID_ADB_SERVER_PORT"
        yield "adb.server", _checked(KEYS["adb.server"], address, where)
    if env.get("OPENAI_BASE_URL"):
        url = _checked(KEYS["model.base_url"], env["OPENAI_BASE_URL"], "OPENAI_BASE_URL")
        yield "model.base_url", url


_COMMA_LISTS = frozenset(
    {
        *("adb.server", "loop.without", "safety.destinations", "safety.two_people"),
        *("pool.avds", "pool.serials", "pool.apps", "notices.people", "notices.urgent"),
    }
)


def _checked(key: Key, value: object, where: str, *, is_text: bool = False) -> object:
    if key.name in _COMMA_LISTS and isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    if isinstance(value, Path):
        value = str(value)
    wrong = _objection(key, value)
    if not wrong:
        try:
            checked = cast(object, msgspec.convert(value, key.type, strict=not is_text))
        except msgspec.ValidationError as error:
            form = "matching regex" in str(error)
            wrong = "that does not have the form it needs" if form else str(error).replace("`", "")
        else:
            wrong = _objection(key, checked)
            if not wrong:
                return checked
    shown = repr(value) if len(repr(value)) < 80 else repr(value)[:80] + "…"
    if key.is_secret:
        shown = "what is said there"
    has_default = key.default not in (None, "", (), msgspec.NODEFAULT)
    default = f" The default is {_shown(key.default)}." if has_default else ""
    raise ConfigError(
        f"{where}: {key.name} cannot be {shown}: {wrong}.", f"{key.description}{default}"
    )


def _objection(key: Key, value: object) -> str:
    """Return what is wrong with a value that its type does not tell; empty when nothing is."""
    if isinstance(value, float) and not math.isfinite(value):
        return "it is not a finite number"
    if isinstance(value, str) and not value.isprintable():
        return "it holds a control character"
    if isinstance(value, tuple) and key.name == "adb.server":
        for address in value:
            if not isinstance(address, str) or address.startswith("localfilesystem:"):
                continue
            if not 0 < int(address.rpartition(":")[2]) < 65_536:
                return "a port is between 1 and 65535"
    return ""


def _shown(default: object) -> str:
    if isinstance(default, tuple):
        return ", ".join(default)
    return str(default).lower() if isinstance(default, bool) else str(default)


# --- the settings file ----------


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path} line {line} is not UTF-8.", "Save the file as UTF-8.") from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(
            f"The settings file {path} could not be read: {error.strerror or error}.",
            "Check its name and mode, or name another with SWITCHBOARD_CONFIG.",
        ) from error


def _last_place(text: str) -> tuple[int, int]:
    """Return line and column, from 1, of the last thing written in a text."""
    lines = text.rstrip().split("\n")
    return len(lines), max(len(lines[-1]), 1)


def _from_file(path: Path, must_exist: bool) -> dict[str, object]:
    """Read and check a settings file; returns values by dotted key. Raises ConfigError."""
    try:
        text = _read(path)
    except FileNotFoundError as error:
        if not must_exist:
            return {}
        raise ConfigError(
            f"There is no settings file {path}.",
            "Create it, or correct --config or SWITCHBOARD_CONFIG.",
        ) from error
    import tomlkit
    from tomlkit.exceptions import ParseError, TOMLKitError

    try:
        document = tomlkit.parse(text).unwrap()
    except ParseError as error:
        reason = str(error).rpartition(" at line ")[0] or str(error)
        line, column = error.line, error.col
        if "\x00" in reason or column < 1:
            # The parser ran off the end of the file and reports its own mark for that.
            reason = "something that was opened is not closed before the file ends"
            line, column = _last_place(text)
        raise ConfigError(
            f"{path} line {line}, column {column}, is not TOML: {reason}.", "Correct that line."
        ) from error
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not TOML: {error}.", "Correct or remove the file.") from error
    values: dict[str, object] = {}
    for name, value in _flat(document):
        where = f"{path} line {_line_of(text, name)}"
        if name not in KEYS:
            if name in SECTIONS:
                raise ConfigError(
                    f"{where}: {name} is a section, not a value.", f"Write it as [{name}]."
                )
            raise ConfigError(f"{where}: there is no key {name!r}.", _nearest(name))
        values[name] = _checked(KEYS[name], value, where)
    if "data_dir" in values:
        values["data_dir"] = str(path.parent / _expanded(str(values["data_dir"])))
    return values


def _flat(document: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in document.items():
        if name in SECTIONS and isinstance(value, Mapping):
            for key, inner in value.items():
                yield f"{name}.{key}", inner
        else:
            yield name, value


def _line_of(text: str, name: str) -> int:
    """Find the line that sets a key; its section's line, or 1, when it is written unusually."""
    section, _, key = name.rpartition(".")
    inside, found = "", 1
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line)
        if header:
            inside = header[1].replace('"', "").replace("'", "")
            found = number if inside == name or (section and inside == section) else found
            continue
        written = re.match(r"\s*([^=#]+?)\s*=", line)
        if written is None:
            continue
        bare = re.sub(r"[\s\"']", "", written[1])
        if (f"{inside}.{bare}" if inside else bare) == name:
            return number
        if section and not inside and bare == section and key in line:
            return number
    return found


def _nearest(name: str) -> str:
    """Suggest the known key that an unknown one may have meant."""
    candidates = [*KEYS, *SECTIONS]
    near = difflib.get_close_matches(name, candidates, n=1, cutoff=0.5)
    if not near:
        by_leaf = {known.rpartition(".")[2]: known for known in KEYS}
        leaf = difflib.get_close_matches(name.rpartition(".")[2], by_leaf, n=1, cutoff=0.7)
        near = [by_leaf[found] for found in leaf]
    if near:
        return f"The nearest is {near[0]}."
    return f"The keys are {', '.join(KEYS)}."
