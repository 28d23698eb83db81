"""What a program signs in with at a core that has operators: a key file, or a token.

Invariants: neither a key nor a token is in a command line, a log or an error; a token's file that
others may read is refused; nothing is read before a core asks for it; a token that somebody else
showed never lets them in as the user whose program passed it on.
"""

import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import ClassVar, Protocol

from agent.errors import ConfigError
from agent.rpc.places import place_of
from agent.rpc.rpc_messages import SignInParams
from agent.settings import Settings

KEY_FILE = "operator.key"
"""Beside the settings file: the key of whoever names none."""
SIGN_INS = "sign-ins"
"""Beside the settings file: a token for each core that was signed in at by an account."""
_LONGEST = 200


class Credentials(Protocol):
    """Answers a core that asks who is there."""

    is_all_there_is: ClassVar[bool]
    """Whether who shows it comes in by it or not at all: not as the core's own user either, where
    the core has no operators and asks nobody."""

    def answer(self, challenge: bytes, channel: bytes) -> SignInParams:
        """Return what to sign in with. Raises ConfigError where a file cannot be used."""


@dataclass(frozen=True)
class TokenShown:
    """A token, as whoever asked gave it."""

    is_all_there_is: ClassVar[bool] = True
    token: str = field(repr=False)

    def answer(self, challenge: bytes, channel: bytes) -> SignInParams:
        return SignInParams(token=self.token)


@dataclass(frozen=True)
class IdTokenShown:
    """The ID token of an account, for one sign-in."""

    is_all_there_is: ClassVar[bool] = True
    id_token: str = field(repr=False)
    verifier: bytes = field(repr=False)

    def answer(self, challenge: bytes, channel: bytes) -> SignInParams:
        """Return the ID token, and what its nonce was made of."""
        return SignInParams(id_token=self.id_token, verifier=self.verifier)


@dataclass(frozen=True)
class TokenFile:
    """A file with a token."""

    is_all_there_is: ClassVar[bool] = False
    path: Path

    def answer(self, challenge: bytes, channel: bytes) -> SignInParams:
        """Return the file's token. Raises ConfigError."""
        return SignInParams(token=read_token(self.path))


@dataclass(frozen=True)
class KeyFile:
    """A file with an Ed25519 key."""

    is_all_there_is: ClassVar[bool] = False
    path: Path

    def answer(self, challenge: bytes, channel: bytes) -> SignInParams:
        """Sign the challenge. Raises ConfigError."""
        from agent.operators.keys import sign, signed_words

        public, signature = sign(self.path, signed_words(challenge, channel))
        return SignInParams(public=public, signature=signature)


def credentials_of(settings: Settings) -> Credentials | None:
    """Return what the settings name, or what was kept of a sign-in; None where there is neither."""
    said = settings.operator
    base = settings.config_file.parent
    if said.token_file:
        return TokenFile(base / Path(said.token_file).expanduser())
    if said.key:
        return KeyFile(base / Path(said.key).expanduser())
    kept = sign_in_file(settings)
    if settings.oidc.issuer and kept.is_file():
        return TokenFile(kept)
    usual = base / KEY_FILE
    return KeyFile(usual) if usual.is_file() else None


def script_token(settings: Settings) -> str:
    """Return the token that lets a script allow things; empty without. Raises ConfigError."""
    said = settings.operator.script_token_file
    if not said:
        return ""
    path = settings.config_file.parent / Path(said).expanduser()
    return read_token(path, "operator.script_token_file")


def sign_in_file(settings: Settings) -> Path:
    """Return the file of the token that a sign-in at the core of the settings gave."""
    place = str(place_of(settings))
    name = hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return settings.config_file.parent / SIGN_INS / f"{name}.token"


def keep_token(path: Path, token: str) -> None:
    """Write the token of a sign-in, for this user alone. Raises ConfigError."""
    part = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(token + "\n")
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise ConfigError(
            f"The sign-in cannot be stored in {path}: {error.strerror or error}.",
            "Make the directory of the settings file yours to write.",
        ) from error


def read_token(path: Path, named: str = "SWITCHBOARD_OPERATOR_TOKEN_FILE") -> str:
    """Read the token, or another secret, of a file.

    Args:
        path: the file.
        named: what names it.

    Raises:
        ConfigError: it cannot be read, holds none, or others may read it.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(_LONGEST + 2)
    except OSError as error:
        raise ConfigError(
            f"The token file {path} cannot be read: {error.strerror or error}.", f"Correct {named}."
        ) from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(f"Others may read the token file {path}.", f"Run: chmod 600 '{path}'")
    token = data.decode("ascii", "replace").strip()
    if not token or len(token) > _LONGEST or not token.isprintable() or " " in token:
        raise ConfigError(
            f"The token file {path} does not contain a token.",
            "Write into it what 'switchboard operators token' printed.",
        )
    return token
