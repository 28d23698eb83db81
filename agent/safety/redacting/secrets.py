"""What is typed into password fields: the phone gets it, and nobody else keeps it.

Not a key store. Invariants: a secret is in this process's memory for the length of a turn only, one
of the vault while the core runs; what is stored, sent to a model or logged has `SECRET` in its
place, also where a screen or an error repeats it.
"""

import re
from collections.abc import Iterable

from agent.language.tokens import has_phrase
from agent.records import Element, UiNode
from agent.safety.redacting.context_words import names_secret
from agent.safety.words import id_words, words

SECRET = "[SECRET]"
"""Stands for a secret; a model that writes it into a field asks the operator for the real one."""

_PLACEHOLDER = re.compile(
    r"\s*[\[<{(]?\s*(?:secret|password|passwort|passcode|pin|your[ _]password|password redacted)"
    r"\s*[\]>})]?\s*",
    re.IGNORECASE,
)
_NAMES = (
    *(("password",), ("passwd",), ("passcode",), ("passphrase",), ("passwort",), ("kennwort",)),
    *(("contrasena",), ("motdepasse",), ("mot", "de", "passe"), ("cvv",), ("cvc",)),
    *(("pin", "code"), ("security", "code"), ("enter", "pin"), ("your", "pin")),
)
SHORTEST = 4  # A shorter secret would be found in every other word.
_GROUPED = 6  # A code of so many digits is shown in groups: "492 817".
VAULT_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_REFERENCE = re.compile(rf"\s*\{{\{{\s*vault:\s*({VAULT_NAME.pattern})\s*\}}\}}\s*")
_MENTION = re.compile(r"\{\{\s*vault\s*:", re.IGNORECASE)


def is_secret_field(field: Element | UiNode) -> bool:
    """Return whether a field takes a password, also while the phone shows what it holds."""
    if field.password:
        return True
    name = field.label if isinstance(field, Element) else field.hint or field.description
    said, ids = words(name), id_words(field.resource_id)
    return (
        said in {("pin",), ("tan",)}
        or names_secret(name)
        or any(has_phrase(said, phrase) or has_phrase(ids, phrase) for phrase in _NAMES)
    )


def is_placeholder(text: str) -> bool:
    """Return whether a model wrote a stand-in for a secret that it does not know."""
    return bool(_PLACEHOLDER.fullmatch(text)) and ("[" in text or "<" in text or "{" in text)


def vault_name(text: str) -> str:
    """Return the entry of the vault that a text stands for, `{{vault:NAME}}`; empty: for none."""
    found = _REFERENCE.fullmatch(text)
    return "" if found is None else found[1]


def mentions_vault(text: str) -> bool:
    """Return whether a text has what begins such a reference, whole or not."""
    return _MENTION.search(text) is not None


def vault_reference(name: str) -> str:
    """Return what stands for an entry of the vault."""
    return f"{{{{vault:{name}}}}}"


_KEYPAD = "\0keypad"  # No element has such a key.


class Secrets:
    """The secrets of one turn.

    Args:
        known: what is hidden from the beginning.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known: list[str] = []
        self._spaced: list[re.Pattern[str]] = []
        self._given: dict[tuple[str, str], str] = {}
        for secret in known:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Hide this from now on."""
        text = secret.strip()
        if len(text) >= SHORTEST and text not in self._known:
            self._known.append(text)
            # The longest first, so that one which holds another is taken whole.
            self._known.sort(key=len, reverse=True)
            if text.isdigit() and len(text) >= _GROUPED:
                self._spaced.append(re.compile(r"[\s\u200b-]?".join(text)))

    def give(self, field: Element, secret: str) -> None:
        """Keep what the operator gave for one field, until it is typed there, and hide it."""
        self.add(secret)
        self._given[field.package, field.key] = secret

    def take(self, field: Element) -> str | None:
        """Take, once, what was given for a field."""
        return self._given.pop((field.package, field.key), None)

    def give_keypad(self, package: str, secret: str) -> None:
        """Keep what the operator gave for an app's keypad, until it is pressed, and hide it."""
        self.add(secret)
        self._given[package, _KEYPAD] = secret

    def take_keypad(self, package: str) -> str | None:
        """Take, once, what was given for an app's keypad."""
        return self._given.pop((package, _KEYPAD), None)

    def hide(self, text: str) -> str:
        """Put `SECRET` in the place of every known secret."""
        for secret in self._known:
            text = text.replace(secret, SECRET)
        for pattern in self._spaced:
            text = pattern.sub(SECRET, text)
        return text
