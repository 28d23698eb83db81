"""Where a key comes from: the environment, a file only its owner can read, or the system's keyring.

Not the login (that is `agent.models.login`). Invariants: a key stands in no message, no event and
no command line; a file that others can read is refused, not used with a warning; a key is bound to
scheme, host and port, but for that of a variable which the settings name for their own endpoint.
"""

import os
import stat
import tempfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

from agent.errors import ConfigError
from agent.models.catalog import catalog
from agent.models.endpoint import Endpoint, Provider
from agent.models.login_origin import origin_of
from agent.text import one_line

SERVICE = "switchboard"
AZURE_ENDPOINT = "AZURE_OPENAI_ENDPOINT"
"""The variable of Azure's own tools that says which resource the key beside it is for."""
_MAX_KEY_CHARS = 10_000


class Source(StrEnum):
    """Where a key was found."""

    ENVIRONMENT = "environment"
    FILE = "file"
    KEYRING = "keyring"
    NONE = "none"


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A key and where it is from; shown, it does not tell itself."""

    value: str
    source: Source
    where: str = ""

    def __repr__(self) -> str:
        return f"Key({self.source.value}: {self.where})"


def find_key(
    endpoint: Endpoint,
    *,
    variable: str,
    file: Path,
    use_keyring: bool,
    environ: Mapping[str, str] | None = None,
) -> Key:
    """Find the key for an endpoint.

    Args:
        variable: the environment variable that the settings name; the provider's own comes next.
            Empty for an endpoint that the settings do not name.
        file: holds a key for each endpoint, as `"host" = "key"` lines of TOML for https on its
            usual port and `"http://host:8000" = "key"` for any other; it need not exist.
        use_keyring: whether the system's keyring is asked, which may be slow or want a password.
        environ: the process's own environment when left out.

    Raises:
        ConfigError: the file is readable by others, or is no key file; or the keyring is broken; or
            a provider's key would go there without encryption; or the only key is for another
            origin.
    """
    env = os.environ if environ is None else environ
    key = _look_up(endpoint, variable, file, env, use_keyring=use_keyring)
    is_providers = endpoint.row is not None or endpoint.provider is Provider.AZURE
    is_open = not endpoint.is_local and not endpoint.base_url.lower().startswith("https://")
    if key.value and is_providers and is_open:
        raise _unencrypted(endpoint)
    return key


def _look_up(
    endpoint: Endpoint, variable: str, file: Path, env: Mapping[str, str], *, use_keyring: bool
) -> Key:
    withheld: ConfigError | None = None
    for name in variables(endpoint, variable):
        value = env.get(name, "").strip()
        if not value:
            continue
        if name == endpoint.key_variable:
            bound = _bound_to(endpoint, env, is_set=bool(variable))
            if bound != endpoint.origin:
                withheld = _for_another(endpoint, name, bound) if bound else None
                continue
        return Key(value=_usable(value, name), source=Source.ENVIRONMENT, where=name)
    kept = {name: value for name, value in read_key_file(file).items() if _origin_of_name(name)}
    by_origin = {_origin_of_name(name): value for name, value in kept.items()}
    value = by_origin.get(endpoint.origin, "")
    if value:
        return Key(value=_usable(value, str(file)), source=Source.FILE, where=str(file))
    if kept.get(endpoint.host) and endpoint.origin not in by_origin:
        withheld = withheld or _for_https(endpoint, str(file))
    # What runs on this machine mostly wants no key, and a keyring may be slow to ask.
    if use_keyring and not endpoint.is_local:
        value = read_keyring(endpoint.key_name)
        if value:
            return Key(
                value=_usable(value, "the keyring"), source=Source.KEYRING, where=endpoint.key_name
            )
        if endpoint.key_name != endpoint.host and read_keyring(endpoint.host):
            withheld = withheld or _for_https(endpoint, "the keyring")
    if withheld is not None:
        raise withheld
    return Key(value="", source=Source.NONE)


def _bound_to(endpoint: Endpoint, env: Mapping[str, str], *, is_set: bool) -> str:
    """Return the origin that a provider's own variable is for; empty where nothing says it.

    Args:
        is_set: the settings name the endpoint.
    """
    if endpoint.provider is Provider.AZURE:
        own = env.get(AZURE_ENDPOINT, "").strip()
        # A key that says nothing of its resource is for the one that the settings name.
        return origin_of(own) if own else endpoint.origin if is_set else ""
    return "" if endpoint.row is None else origin_of(endpoint.row.base_url)


def _for_another(endpoint: Endpoint, name: str, bound: str) -> ConfigError:
    if not endpoint.origin.startswith("https://"):
        return _unencrypted(endpoint)
    by = f" ({AZURE_ENDPOINT})" if endpoint.provider is Provider.AZURE else ""
    return ConfigError(
        f"The key in {name} is for {bound}{by}, and is not sent to {endpoint.origin} "
        "(model.base_url).",
        f"Correct the address, or keep a key for {endpoint.origin}: switchboard login --key",
    )


def _unencrypted(endpoint: Endpoint) -> ConfigError:
    return ConfigError(
        f"The key for {endpoint.host} is not sent without encryption.",
        f"Write model.base_url as https://{endpoint.host}.",
    )


def _for_https(endpoint: Endpoint, where: str) -> ConfigError:
    """Return the error for a key that is kept by a bare host, where the origin is another."""
    return ConfigError(
        f"The key for {endpoint.host} in {where} is for https://{endpoint.host}, and is not sent "
        f"to {endpoint.origin}.",
        f"Keep it for that address (switchboard login --key), or, if the server needs none, write "
        f'"{endpoint.origin}" = "" into keys.toml.',
    )


def _origin_of_name(name: str) -> str:
    """Return the origin that a line of a key file is for: a bare host is https on its own port."""
    shown = f"[{name}]" if name.count(":") > 1 and "[" not in name else name
    return origin_of(name if "://" in name else f"https://{shown}")


def variables(endpoint: Endpoint, variable: str) -> tuple[str, ...]:
    """Return where to look, in order: one provider's key is not sent to another.

    Args:
        variable: what the settings name; another provider's own variable does not count here.
    """
    own = endpoint.key_variable
    if endpoint.provider is Provider.AZURE:
        return (own, variable)
    if endpoint.row is None:
        return (variable,)
    of_others = {preset.key for preset in catalog().presets.values()} - {own, ""}
    named = () if variable in of_others else (variable,)
    return tuple(dict.fromkeys((*named, *((own,) if own else ()))))


def read_key_file(path: Path) -> dict[str, str]:
    """Read a key file: keys by host or origin. Raises ConfigError; a missing file is empty."""
    import tomllib

    try:
        with path.open("rb") as file:
            check_private(path, os.fstat(file.fileno()))
            tables = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(
            f"The key file {path} could not be read: {error.strerror or error}.",
            "Check who owns it.",
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"The key file {path} is not TOML.",
            'Write a line for each endpoint: "api.openai.com" = "KEY".',
        ) from error
    return {host: value for host, value in tables.items() if isinstance(value, str)}


def keep_in_file(path: Path, name: str, key: str) -> None:
    """Keep a key by its endpoint's name in a file of mode 0600; an empty key takes it out.

    Raises ConfigError when the file cannot be read or written.
    """
    keys = {one: value for one, value in read_key_file(path).items() if one != name}
    if key:
        keys[name] = key
    lines = [f"{_quoted(one)} = {_quoted(value)}\n" for one, value in keys.items()]
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # mkstemp makes it 0600 before anything is in it.
        descriptor, new = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        Path(new).replace(path)
    except OSError as error:
        raise ConfigError(
            f"The key file {path} could not be written: {error.strerror or error}.",
            "Check the directory and its mode.",
        ) from error


def keep_in_keyring(name: str, key: str) -> None:
    """Keep a key by its endpoint's name in the system's keyring; an empty key takes it out.

    Raises ConfigError.
    """
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError

    try:
        if key:
            keyring.set_password(SERVICE, name, key)
        else:
            keyring.delete_password(SERVICE, name)
    except PasswordDeleteError:
        return
    except KeyringError as error:
        raise _no_keyring(error) from error


def read_keyring(name: str) -> str:
    """Return what the system's keyring keeps by a name; empty: nothing. Raises ConfigError."""
    import keyring
    from keyring.errors import KeyringError, NoKeyringError

    try:
        return keyring.get_password(SERVICE, name) or ""
    except NoKeyringError:
        return ""
    except KeyringError as error:
        raise _no_keyring(error) from error


def _no_keyring(error: Exception) -> ConfigError:
    return ConfigError(
        f"The system's keyring cannot be used: {one_line(str(error), 200)}",
        "Unlock it, or keep the key in the environment or in the key file.",
    )


def check_private(path: Path, found: os.stat_result) -> None:
    """Refuse a file that others can read. Raises ConfigError."""
    others = stat.S_IMODE(found.st_mode) & 0o077
    if others:
        raise ConfigError(
            f"The key file {path} can be read by others (mode {stat.S_IMODE(found.st_mode):04o}).",
            f"Run: chmod 600 {path} — and, if others use this machine, create a new key.",
        )
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise ConfigError(f"The key file {path} belongs to another user.", "Create your own.")


def _usable(value: str, where: str) -> str:
    if len(value) > _MAX_KEY_CHARS or not value.isascii() or not value.isprintable():
        # It goes into an HTTP header: a line break in it would end the header.
        raise ConfigError(f"The key from {where} is not a key: it contains an invalid character.")
    return value


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
